/* SPDX-License-Identifier: MIT */
/*
 * Chooses the build of the machine between launches; adapt.h has the rule.
 */
#include "exec/launch/adapt.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "device/kind.h"
#include "exec/launch/launcher.h"

/* A gain under this is noise. */
static const double gain_min = 1.05;

/* Rows of a query from which on its program is sighted: fewer are done in less
 * time than the machine takes to load. */
enum { SIGHTED_ROWS = 1 << 17 };

static bool pays_at_once(const struct adapt *adapt);
static bool loads_sooner(const struct adapt *adapt, struct device_times *times);
static bool pays_behind(const struct adapt *adapt, uint64_t missed_ns,
                        bool built);

/* Groups of several items are a GPU's: there a load that asks who is live
 * waits for all that decides it. */
static enum load_eager eager_of(const struct launcher_params *params)
{
    if (device_tuning(params->place->device)->group > 1)
        return params->most_live ? EAGER_ALL : EAGER_FIRST;
    return EAGER_NONE;
}

enum vdbq_status adapt_init(struct adapt *adapt,
                            const struct adapt_params *params,
                            struct device_times *times, struct error *error)
{
    const struct launcher_params *launcher = params->launcher;
    struct device *device = launcher->place->device;
    enum device_build build = launcher->place->settings->build;
    struct device_machine_params machine = {
        .build = BUILD_INTERPRETED,
        .registers = launcher->program->registers,
        .axes = program_axes(launcher->program)
    };
    *adapt = (struct adapt){
        .device = device,
        .program = launcher->program,
        .pack = params->pack,
        .interpreted = machine,
        .specialised = machine,
        .adaptive =
            build == BUILD_AUTO && device_facts(device)->kind->specialises,
        .cost = program_cost(launcher->program),
        .rows = launcher->rows,
        .rows_left = launcher->rows,
        .build = build == BUILD_AUTO ? BUILD_INTERPRETED : build,
        .encodings = arena_alloc(params->arena, params->pack->input_count + 1),
    };
    if (adapt->encodings == NULL)
        return error_no_memory(error);
    adapt->specialised.build = BUILD_SPECIALISED;
    adapt->loads = (struct program_loads){ .encodings = adapt->encodings,
                                           .eager = eager_of(launcher),
                                           .few_live = !launcher->most_live };
    if (adapt->adaptive || adapt->build == BUILD_SPECIALISED)
        return VDBQ_OK;
    enum vdbq_status status = device_machine(adapt->device, &adapt->interpreted,
                                             &adapt->slow, times, error);
    adapt->machine = adapt->slow;
    return status;
}

void adapt_again(struct adapt *adapt, uint64_t rows)
{
    assert(!adapt->adaptive && adapt->build == BUILD_INTERPRETED);
    assert(adapt->launches_specialised == 0 && !adapt->timed);
    adapt->rows = adapt->rows_left = rows;
    adapt->launches = 0;
    memset(adapt->rates, 0, sizeof adapt->rates);
}

void adapt_finish(struct adapt *adapt)
{
    const struct adapt_rate *slow = &adapt->rates[BUILD_INTERPRETED];
    const struct adapt_rate *fast = &adapt->rates[BUILD_SPECIALISED];
    if (slow->kernel_ns > 0 && fast->kernel_ns > 0)
        device_gain_note(adapt->device,
                         (double)slow->kernel_ns / (double)slow->rows
                             * (double)fast->rows / (double)fast->kernel_ns);
    if (adapt->timed)
        device_times_release(adapt->device);
    text_finish(&adapt->body);
    *adapt = (struct adapt){ 0 };
}

/* --------------------------------------------------------------- text -- */

/* Takes the encodings of a launch's inputs into those that are known; whether
 * a text fits that was made before. */
static bool encodings_fit(struct adapt *adapt,
                          const struct launcher_request *request)
{
    bool made = adapt->body.bytes != NULL, fits = made;
    for (unsigned i = 0; i < adapt->pack->input_count; i++) {
        unsigned char *known = &adapt->encodings[i];
        if (!made)
            *known =
                (unsigned char)(1 + request->morsels[0].inputs[i].encoding);
        for (unsigned morsel = 0; morsel < request->count; morsel++)
            if (*known != 0
                && *known != 1 + request->morsels[morsel].inputs[i].encoding) {
                *known = 0;
                fits = false;
            }
    }
    return fits;
}

/* Writes the text of the specialised kernel for the encodings seen last. */
static enum vdbq_status make_body(struct adapt *adapt, struct error *error)
{
    text_finish(&adapt->body);
    program_specialise(adapt->program, adapt->pack, &adapt->loads,
                       &adapt->body);
    adapt->specialised.body = adapt->body.bytes;
    adapt->specialised.groups = adapt->loads.sink != SINK_RESULT;
    return adapt->body.failed ? error_no_memory(error) : VDBQ_OK;
}

/* ------------------------------------------------------------- decide -- */

/* From now on every launch runs this machine, and nobody waits for a better
   one. */
static void take_specialised(struct adapt *adapt,
                             struct device_machine *machine)
{
    assert(machine != NULL);
    adapt->machine = machine;
    adapt->build = BUILD_SPECIALISED;
    adapt->watching = false;
}

/* The interpreted machine; where the other may follow, rates are measured. */
static enum vdbq_status take_interpreted(struct adapt *adapt,
                                         struct device_times *times,
                                         struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (adapt->watching && !adapt->timed) {
        status = device_times_hold(adapt->device, error);
        adapt->timed = status == VDBQ_OK;
    }
    if (status == VDBQ_OK)
        status = device_machine(adapt->device, &adapt->interpreted,
                                &adapt->slow, times, error);
    adapt->build = BUILD_INTERPRETED;
    adapt->machine = adapt->slow;
    return status;
}

/* The machine to go on with: the specialised one where it is there, or where
 * a cache holds it and this query alone is worth fetching it, or neither is in
 * memory, or where the interpreted one is far: to ask for these takes a look at the
 * disk. */
static enum vdbq_status choose_adaptive(struct adapt *adapt,
                                        struct device_times *times,
                                        struct error *error)
{
    struct device_machine *machine =
        device_machine_find(adapt->device, &adapt->specialised, times);
    enum vdbq_status status = VDBQ_OK;
    adapt->watching = device_tuning(adapt->device)->gain >= gain_min;
    if (machine != NULL && adapt->watching) {
        take_specialised(adapt, machine);
        return VDBQ_OK;
    }
    adapt->wanted = adapt->watching && adapt->rows >= SIGHTED_ROWS
                    && device_sight(adapt->device, adapt->specialised.body);
    bool only = adapt->slow == NULL
                && device_machine_is_far(adapt->device, &adapt->interpreted);
    if (machine == NULL
        && (only
            || (adapt->watching
                && (pays_at_once(adapt) || loads_sooner(adapt, times)))))
        status = device_machine(adapt->device, &adapt->specialised, &machine,
                                times, error);
    if (status != VDBQ_OK)
        return status;
    if (machine != NULL && (only || adapt->watching)) {
        take_specialised(adapt, machine);
        return VDBQ_OK;
    }
    return take_interpreted(adapt, times, error);
}

/* Finds the machine for a launch and those behind it. */
static enum vdbq_status choose(struct adapt *adapt,
                               const struct launcher_request *request,
                               struct device_times *times, struct error *error)
{
    if (encodings_fit(adapt, request))
        return VDBQ_OK;
    enum vdbq_status status = make_body(adapt, error);
    if (status != VDBQ_OK)
        return status;
    return adapt->adaptive ? choose_adaptive(adapt, times, error)
                           : device_machine(adapt->device, &adapt->specialised,
                                            &adapt->machine, times, error);
}

/* The part of an interpreted launch's time that the specialised one saves. */
static double saving(const struct adapt *adapt)
{
    return 1 - 1 / device_tuning(adapt->device)->gain;
}

/* Whether loading the kernel that the cache holds costs less than it saves in
   the rows that are left. */
static bool pays_at_once(const struct adapt *adapt)
{
    const struct device_tuning *tuning = device_tuning(adapt->device);
    const struct device_shape *shape =
        device_shape(adapt->device, adapt->specialised.body);
    double all_ns = (double)adapt->rows_left * adapt->cost * tuning->cost_ns;
    return shape != NULL && shape->built
           && all_ns * saving(adapt) > (double)tuning->cached_ns;
}

/* Whether neither machine was loaded by this process, and the disk has both: the
 * interpreted one is larger, and would be of use until the other is there alone. */
static bool loads_sooner(const struct adapt *adapt, struct device_times *times)
{
    const struct device_shape *shape =
        device_shape(adapt->device, adapt->specialised.body);
    return adapt->rows >= SIGHTED_ROWS && adapt->slow == NULL && shape != NULL
           && shape->built
           && device_machine_find(adapt->device, &adapt->interpreted, times)
                  == NULL
           && device_machine_is_kept(adapt->device, &adapt->specialised);
}

/* While it is built, rows go by that gain nothing. */
static bool pays_behind(const struct adapt *adapt, uint64_t missed_ns,
                        bool built)
{
    const struct device_tuning *tuning = device_tuning(adapt->device);
    const struct adapt_rate *rate = &adapt->rates[BUILD_INTERPRETED];
    double price = (double)(built ? tuning->cached_ns : tuning->compile_ns);
    double left_ns =
        (double)adapt->rows_left * (double)rate->kernel_ns / (double)rate->rows
        - price;
    if (left_ns < 0)
        left_ns = 0;
    return (double)missed_ns + left_ns * saving(adapt) > price;
}

bool adapt_groups(const struct adapt *adapt,
                  const struct device_machine *machine)
{
    return adapt->loads.sink != SINK_RESULT && machine != adapt->slow;
}

void adapt_ran(struct adapt *adapt, const struct device_machine *machine,
               uint64_t rows, uint64_t kernel_ns)
{
    bool slow = machine == adapt->slow;
    struct adapt_rate *rate =
        &adapt->rates[slow ? BUILD_INTERPRETED : BUILD_SPECIALISED];
    if (kernel_ns > 0) { /* else nobody kept its time */
        rate->rows += rows;
        rate->kernel_ns += kernel_ns;
    }
    adapt->rows_left -= rows < adapt->rows_left ? rows : adapt->rows_left;
    if (!adapt->watching || !slow)
        return;
    struct device_shape *shape =
        device_shape(adapt->device, adapt->specialised.body);
    if (shape == NULL)
        return;
    shape->missed_ns += (uint64_t)((double)kernel_ns * saving(adapt));
    if (!shape->started && !adapt->asked && rate->rows > 0
        && (adapt->wanted
            || pays_behind(adapt, shape->missed_ns, shape->built))) {
        adapt->asked = true;
        shape->started =
            device_machine_behind(adapt->device, &adapt->specialised);
    }
}

enum vdbq_status adapt_machine(struct adapt *adapt,
                               const struct launcher_request *request,
                               struct device_times *times,
                               struct device_machine **machine,
                               struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    struct device_machine *found = NULL;
    if (adapt->adaptive || adapt->build == BUILD_SPECIALISED)
        status = choose(adapt, request, times, error);
    if (status != VDBQ_OK)
        return status;
    if (adapt->watching)
        found = device_machine_find(adapt->device, &adapt->specialised, times);
    if (found != NULL)
        take_specialised(adapt, found);
    adapt->launches++;
    if (adapt->build == BUILD_SPECIALISED && adapt->launches_specialised++ == 0)
        adapt->launches_first = adapt->launches;
    assert(adapt->machine != NULL);
    assert(adapt->launches_specialised <= adapt->launches);
    *machine = adapt->machine;
    return VDBQ_OK;
}

const char *adapt_text(struct adapt *adapt)
{
    assert(adapt->launches_specialised <= adapt->launches);
    unsigned slow = adapt->launches - adapt->launches_specialised;
    if (adapt->launches == 0)
        return adapt->build == BUILD_INTERPRETED ? "interpreted"
                                                 : "specialised";
    if (adapt->launches_specialised == 0)
        return "interpreted";
    if (slow == 0)
        return "specialised";
    assert(adapt->launches_first > 0);
    if (slow == adapt->launches_first - 1)
        snprintf(adapt->text, sizeof adapt->text,
                 "adaptive (specialised from launch %u)",
                 adapt->launches_first);
    else
        snprintf(adapt->text, sizeof adapt->text,
                 "adaptive (%u of %u launches specialised)",
                 adapt->launches_specialised, adapt->launches);
    return adapt->text;
}
