/* SPDX-License-Identifier: MIT */
/*
 * Look-ups on a device: threads write the ranges of keys that are looked for in
 * each run, all of them travel at once, a launch for each run finds their places,
 * and threads take the rows. The keys of a run stay on a device that keeps
 * tablets (resident.h), and are brought there each time by one that does not.
 */
#include "exec/seek/seek_device.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/parallel.h"
#include "device/kind.h"
#include "exec/launch/resident.h"
#include "exec/stream/stream_inner.h"

enum {
    RANGES_MOST = HOSTILE(4, 1 << 22), /* that travel at once, but those of one
                                          run                              */
    KEYS_MOST = 1 << 30                /* of one run                       */
};

/* A run that the device searches. */
struct look_up {
    struct seek_job *job;
    struct device_memory *keys;     /* of the run                            */
    struct resident_tablet *pinned; /* ... that stay there; NULL: they go    */
    void *ranges;                   /* that are looked for                   */
    uint32_t count;                 /* of these                              */
    const uint32_t *places;         /* ... where they are                    */
    bool failed;                    /* there was no memory                   */
};

/* Runs that are searched at once. */
struct flight {
    struct seek_work *work;
    struct look_up *look_ups;
    unsigned count;
    atomic_uint next; /* that nobody has begun */
};

/* -------------------------------------------------------------- whether -- */

static bool is_listed(const struct seek_work *work)
{
    return work->terms.step->list_columns > 0 && work->terms.ends == NULL;
}

/* Whether keys in so many runs are worth the way to the device. One that does not
 * keep tablets would have to be brought the runs, too. */
static bool pays(const struct seek_work *work, size_t runs)
{
    const struct device *device = work->place.device;
    uint64_t least = device_tuning(device)->look_ups_min;

    if (runs == 0 || seek_keys(work) > KEYS_MOST)
        return false;
    if (HOSTILE(true, false))
        return true;
    return work->place.resident != NULL && !device_facts(device)->shares_memory
           && runs * seek_keys(work) >= least;
}

static bool is_searched(const struct seek_job *job)
{
    return job->run != NULL && job->run->keys != NULL && job->run->rows > 0;
}

/* ---------------------------------------------------------------- ranges -- */

/* Writes what is looked for in a run. */
static void write_ranges(const struct seek_work *work, struct look_up *look_up)
{
    struct seek_job *job = look_up->job;
    const void *block =
        job->slot != NULL ? device_memory_host(job->slot->memory) : NULL;
    struct tablet_terms in;
    bool done = tablet_terms_init(&in, &work->terms, block, job->run);

    if (done) {
        uint32_t most = run_terms_most(&in.terms, job->run);
        look_up->ranges =
            memory_resize(NULL, search_keys_size(run_key_type(job->run), 0,
                                                 2 * (uint64_t)most));
        done = look_up->ranges != NULL;
    }
    if (done)
        look_up->count = run_terms_ranges(&in.terms, job->run, look_up->ranges);
    look_up->failed = !done;
    tablet_terms_finish(&in);
}

static void take_rows(const struct seek_work *work, struct look_up *look_up)
{
    struct seek_job *job = look_up->job;

    look_up->failed =
        !run_terms_take(job->run, look_up->places, look_up->count, &job->found);
    if (!look_up->failed)
        seek_job_end(work, job);
    look_up->failed |= job->failed;
}

/* On whatever thread: the ranges of look-ups, or once these have places their
 * rows. */
static void work_on(void *context, unsigned thread)
{
    struct flight *flight = context;
    unsigned at;

    (void)thread;
    while ((at = atomic_fetch_add(&flight->next, 1)) < flight->count) {
        struct look_up *look_up = &flight->look_ups[at];
        if (look_up->places != NULL)
            take_rows(flight->work, look_up);
        else
            write_ranges(flight->work, look_up);
    }
}

static enum vdbq_status all_threads(struct flight *flight, struct error *error)
{
    unsigned threads = stream_threads(flight->work->params);

    atomic_store(&flight->next, 0);
    parallel_run(threads < flight->count ? threads : flight->count, work_on,
                 flight);
    for (unsigned i = 0; i < flight->count; i++)
        if (flight->look_ups[i].failed)
            return stop_or_no_memory(error);
    return stop_pause(error);
}

/* ------------------------------------------------------------------ keys -- */

static uint64_t keys_size(const struct run *run)
{
    return run->rows * search_width(run_key_type(run), 0);
}

/* Those that stay get a directory, which makes each search shorter. */
static uint64_t kept_size(const struct run *run)
{
    return search_directory_size(run_key_type(run), 0, run->rows);
}

/* What the keys of a run are known by on a device. */
static struct identity keys_identity(const struct seek_work *work,
                                     const struct seek_job *job)
{
    const struct step_seek *step = work->terms.step;
    struct {
        struct identity tablet;
        unsigned columns[SEEK_KEYS_MAX], count;
    } known;

    memset(&known, 0, sizeof known);
    known.tablet = job->keys.identity;
    known.count = step->key_count;
    memcpy(known.columns, step->keys, step->key_count * sizeof *step->keys);
    return identity_of_bytes(&known, sizeof known);
}

/* Room for the keys of a run, on a device that keeps them, or for this once. */
static enum vdbq_status make_room(const struct seek_work *work,
                                  struct look_up *look_up, struct error *error)
{
    const struct seek_job *job = look_up->job;
    enum vdbq_status status;

    if (work->place.resident == NULL)
        return device_memory_create(work->place.device, MEMORY_DEVICE,
                                    keys_size(job->run), &look_up->keys, error);
    status = resident_pin_made(work->place.resident, work->terms.table->id,
                               &job->in, keys_identity(work, job),
                               kept_size(job->run), &look_up->pinned, error);
    if (status == VDBQ_OK)
        look_up->keys = look_up->pinned->memory;
    return status;
}

/* The keys' directory, once they are there. */
static enum vdbq_status make_directory(struct seek_work *work,
                                       const struct look_up *look_up,
                                       struct error *error)
{
    const struct run *run = look_up->job->run;

    return search_directory_make(
        work->place.device,
        &(struct search_params){ .sorted = look_up->keys,
                                 .count = run->rows,
                                 .type = run_key_type(run) },
        &work->times, error);
}

/* Brings the keys of a run to the device, unless they are there. `*fits`: there is
 * room for them. */
static enum vdbq_status bring_keys(struct seek_work *work,
                                   struct look_up *look_up, bool *fits,
                                   struct error *error)
{
    struct error refused;
    enum vdbq_status status = make_room(work, look_up, &refused);

    *fits = status == VDBQ_OK;
    if (!*fits || (look_up->pinned != NULL && look_up->pinned->filled))
        return VDBQ_OK;
    status = device_write(look_up->keys, 0, look_up->job->run->keys,
                          keys_size(look_up->job->run), &work->times, error);
    if (look_up->pinned == NULL)
        return status;
    if (status == VDBQ_OK)
        status = make_directory(work, look_up, error);
    look_up->pinned->filled = status == VDBQ_OK;
    return status;
}

static void finish_look_ups(struct flight *flight)
{
    for (unsigned i = 0; i < flight->count; i++) {
        struct look_up *look_up = &flight->look_ups[i];
        memory_release(look_up->ranges);
        if (look_up->pinned != NULL)
            resident_release(flight->work->place.resident, look_up->pinned);
        else
            device_memory_release(look_up->keys);
    }
    memory_release(flight->look_ups);
}

/* ---------------------------------------------------------------- search -- */

/* What is searched: the ranges of all runs, one behind the other in memory. */
struct together {
    struct search_params *parts;
    char *keys;
    uint32_t *places;
};

static bool put_together(const struct flight *flight, struct together *together)
{
    uint64_t bytes = 0, places = 0;

    for (unsigned i = 0; i < flight->count; i++) {
        const struct look_up *look_up = &flight->look_ups[i];
        bytes += search_keys_size(run_key_type(look_up->job->run), 0,
                                  2 * (uint64_t)look_up->count);
        places += 2 * (uint64_t)look_up->count;
    }
    together->parts = memory_zeroed(flight->count, sizeof *together->parts);
    together->keys = memory_resize(NULL, bytes);
    together->places = memory_resize(NULL, places * sizeof *together->places);
    return together->parts != NULL && together->keys != NULL
           && together->places != NULL;
}

static void fill_parts(struct flight *flight, const struct together *together)
{
    char *keys = together->keys;
    uint32_t *places = together->places;

    for (unsigned i = 0; i < flight->count; i++) {
        struct look_up *look_up = &flight->look_ups[i];
        const struct run *run = look_up->job->run;
        uint64_t count = 2 * (uint64_t)look_up->count;
        together->parts[i] =
            (struct search_params){ .sorted = look_up->keys,
                                    .directory = look_up->pinned != NULL,
                                    .count = run->rows,
                                    .type = run_key_type(run),
                                    .keys = keys,
                                    .key_count = count,
                                    .ascending = true,
                                    .bound = SEARCH_BOUND_PAIRS };
        memcpy(keys, look_up->ranges,
               count * search_width(run_key_type(run), 0));
        keys += search_keys_size(run_key_type(run), 0, count);
        look_up->places = places;
        places += count;
        flight->work->there.keys += look_up->count;
        if (count > 0)
            flight->work->algorithm =
                look_up->pinned == NULL
                    ? SEARCH_BINARY
                    : search_choose(flight->work->place.device, count);
    }
    flight->work->there.runs += flight->count;
}

/* Finds the places of all ranges, and the rows there. */
static enum vdbq_status search(struct flight *flight, struct error *error)
{
    struct seek_work *work = flight->work;
    struct together together = { .parts = NULL };
    struct search_times times = { .in = { 0 } };
    enum vdbq_status status = VDBQ_OK;

    if (!put_together(flight, &together))
        status = error_no_memory(error);
    if (status == VDBQ_OK) {
        fill_parts(flight, &together);
        status = search_parts(work->place.device, together.parts, flight->count,
                              together.places, &times, error);
    }
    if (status == VDBQ_OK)
        status = all_threads(flight, error);
    device_times_add(&work->times, &times.in);
    device_times_add(&work->times, &times.kernel);
    device_times_add(&work->times, &times.out);
    memory_release(together.parts);
    memory_release(together.keys);
    memory_release(together.places);
    return status;
}

/* ---------------------------------------------------------------- flight -- */

/* The next runs, no more ranges than may travel; `*at`: the job behind them. */
static enum vdbq_status list_look_ups(struct flight *flight,
                                      struct seek_job *jobs, size_t count,
                                      size_t *at, struct error *error)
{
    uint64_t keys = seek_keys(flight->work);
    enum vdbq_status status = VDBQ_OK;

    for (; *at < count && status == VDBQ_OK
           && (flight->count == 0 || (flight->count + 1) * keys <= RANGES_MOST);
         ++*at) {
        struct look_up *look_up = &flight->look_ups[flight->count];
        bool fits;
        if (!is_searched(&jobs[*at]))
            continue;
        look_up->job = &jobs[*at];
        status = bring_keys(flight->work, look_up, &fits, error);
        jobs[*at].searched = fits;
        flight->count += fits;
    }
    return status;
}

static enum vdbq_status fly(struct seek_work *work, struct seek_job *jobs,
                            size_t count, size_t *at, struct error *error)
{
    struct flight flight = { .work = work };
    enum vdbq_status status;

    flight.look_ups = memory_zeroed(count, sizeof *flight.look_ups);
    if (flight.look_ups == NULL)
        return error_no_memory(error);
    status = list_look_ups(&flight, jobs, count, at, error);
    if (status == VDBQ_OK && flight.count > 0)
        status = all_threads(&flight, error);
    if (status == VDBQ_OK && flight.count > 0)
        status = search(&flight, error);
    finish_look_ups(&flight);
    return status;
}

enum vdbq_status seek_device_find(struct seek_work *work, struct seek_job *jobs,
                                  size_t count, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    size_t runs = 0, at = 0;

    for (size_t i = 0; i < count && is_listed(work); i++)
        runs += is_searched(&jobs[i]);
    if (!pays(work, runs))
        return VDBQ_OK;
    while (at < count && status == VDBQ_OK)
        status = fly(work, jobs, count, &at, error);
    return status;
}
