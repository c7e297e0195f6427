/* SPDX-License-Identifier: MIT */
/*
 * Chooses the build of the machine between launches; adapt.h has the rule.
 */
#include "exec/adapt.h"

#include <stdio.h>

/* A gain under this is noise. */
static const double gain_min = 1.05;

static enum vdbq_status start_adaptive(struct adapt *adapt,
                                       struct device_times *times,
                                       struct error *error);
static bool pays_at_once(const struct adapt *adapt);
static bool pays_behind(const struct adapt *adapt, uint64_t missed_ns,
                        bool built);

enum vdbq_status adapt_init(struct adapt *adapt,
                            const struct adapt_params *params,
                            struct device_times *times, struct error *error)
{
    struct device_machine_params machine = {
        .build = BUILD_INTERPRETED,
        .registers = params->program->registers,
        .axes = program_axes(params->program)
    };
    *adapt = (struct adapt){
        .device = params->device,
        .interpreted = machine,
        .specialised = machine,
        .watching = params->adaptive && !device_facts(params->device)->is_host,
        .cost = program_cost(params->program),
        .rows_left = params->rows,
        .build = params->adaptive ? BUILD_INTERPRETED : params->build,
    };
    adapt->specialised.build = BUILD_SPECIALISED;
    if (adapt->watching || adapt->build == BUILD_SPECIALISED)
        program_specialise(params->program, params->pack, &adapt->body);
    if (adapt->body.failed)
        return error_no_memory(error);
    adapt->specialised.body = adapt->body.bytes;
    if (adapt->watching)
        return start_adaptive(adapt, times, error);
    return device_machine(adapt->device,
                          adapt->build == BUILD_SPECIALISED
                              ? &adapt->specialised
                              : &adapt->interpreted,
                          &adapt->machine, times, error);
}

void adapt_finish(struct adapt *adapt)
{
    const struct adapt_rate *slow = &adapt->rates[BUILD_INTERPRETED];
    const struct adapt_rate *fast = &adapt->rates[BUILD_SPECIALISED];
    if (slow->kernel_ns > 0 && fast->kernel_ns > 0)
        device_gain_note(adapt->device,
                         (double)slow->kernel_ns / (double)slow->rows *
                             (double)fast->rows / (double)fast->kernel_ns);
    text_finish(&adapt->body);
    *adapt = (struct adapt){ 0 };
}

/* ------------------------------------------------------------- decide -- */

static void take_specialised(struct adapt *adapt,
                             struct device_machine *machine)
{
    adapt->machine = machine;
    adapt->build = BUILD_SPECIALISED;
    adapt->launches_first = adapt->launches > 0 ? adapt->launches + 1 : 0;
    adapt->watching = false;
}

/* The machine to start with: the specialised one where it is there, or where
 * a cache holds it and this query alone is worth fetching it. */
static enum vdbq_status start_adaptive(struct adapt *adapt,
                                       struct device_times *times,
                                       struct error *error)
{
    struct device_machine *machine =
        device_machine_find(adapt->device, &adapt->specialised, times);
    enum vdbq_status status = VDBQ_OK;
    adapt->watching = device_tuning(adapt->device)->gain >= gain_min;
    if (adapt->watching && machine == NULL && pays_at_once(adapt))
        status = device_machine(adapt->device, &adapt->specialised, &machine,
                                times, error);
    if (status != VDBQ_OK)
        return status;
    if (adapt->watching && machine != NULL) {
        take_specialised(adapt, machine);
        return VDBQ_OK;
    }
    return device_machine(adapt->device, &adapt->interpreted, &adapt->machine,
                          times, error);
}

/* The part of an interpreted launch's time that the specialised one saves. */
static double saving(const struct adapt *adapt)
{
    return 1 - 1 / device_tuning(adapt->device)->gain;
}

static bool pays_at_once(const struct adapt *adapt)
{
    const struct device_tuning *tuning = device_tuning(adapt->device);
    const struct device_shape *shape =
        device_shape(adapt->device, adapt->specialised.body);
    double all_ns = (double)adapt->rows_left * adapt->cost * tuning->cost_ns;
    return shape != NULL && shape->built &&
           all_ns * saving(adapt) > (double)tuning->cached_ns;
}

/* While it is built, rows go by that gain nothing. */
static bool pays_behind(const struct adapt *adapt, uint64_t missed_ns,
                        bool built)
{
    const struct device_tuning *tuning = device_tuning(adapt->device);
    const struct adapt_rate *rate = &adapt->rates[BUILD_INTERPRETED];
    double price = (double)(built ? tuning->cached_ns : tuning->compile_ns);
    double left_ns = (double)adapt->rows_left * (double)rate->kernel_ns /
                     (double)rate->rows - price;
    if (left_ns < 0)
        left_ns = 0;
    return (double)missed_ns + left_ns * saving(adapt) > price;
}

void adapt_ran(struct adapt *adapt, const struct device_machine *machine,
               uint64_t rows, uint64_t kernel_ns)
{
    enum device_build build =
        machine == adapt->machine ? adapt->build : BUILD_INTERPRETED;
    struct adapt_rate *rate = &adapt->rates[build];
    rate->rows += rows;
    rate->kernel_ns += kernel_ns;
    adapt->rows_left -= rows < adapt->rows_left ? rows : adapt->rows_left;
    if (!adapt->watching)
        return;
    struct device_shape *shape =
        device_shape(adapt->device, adapt->specialised.body);
    if (shape == NULL)
        return;
    shape->missed_ns += (uint64_t)((double)kernel_ns * saving(adapt));
    if (!shape->started && rate->rows > 0 &&
        pays_behind(adapt, shape->missed_ns, shape->built))
        shape->started =
            device_machine_behind(adapt->device, &adapt->specialised);
}

struct device_machine *adapt_machine(struct adapt *adapt,
                                     struct device_times *times)
{
    struct device_machine *machine = NULL;
    if (adapt->watching)
        machine = device_machine_find(adapt->device, &adapt->specialised,
                                      times);
    if (machine != NULL)
        take_specialised(adapt, machine);
    adapt->launches++;
    return adapt->machine;
}

const char *adapt_text(struct adapt *adapt)
{
    if (adapt->build == BUILD_INTERPRETED)
        return "interpreted";
    if (adapt->launches_first == 0)
        return "specialised";
    snprintf(adapt->text, sizeof adapt->text,
             "adaptive (specialised from launch %u)", adapt->launches_first);
    return adapt->text;
}
