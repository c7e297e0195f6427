/* SPDX-License-Identifier: MIT */
/*
 * Loads. Of a tablet that is proven each column is a job of its own, so that
 * one tablet may keep several threads busy; any other is one job.
 */
#include "data/pool/load.h"

#include <string.h>

#include "base/account.h"
#include "base/held_error.h"
#include "base/hostile.h"
#include "base/os/os.h"
#include "base/threads/stop.h"
#include "data/pool/projection_inner.h"
#include "data/tablet/block.h"

/* Smaller tablets are loaded by who waits for them: a thread would take longer to
 * wake up. */
enum { SMALL_BYTES = HOSTILE(1, 1 << 16) };

struct load_job {
    struct thread_pool_job job; /* first */
    struct load *load;          /* that it belongs to */
    unsigned column;            /* if it is of one          */
    uint64_t time_ns;           /* that the job took */
    struct held_error error;    /* why it failed */
};

struct load {
    struct projection projection; /* what is loaded */
    /* that runs the jobs; NULL: load_finish() does */
    struct thread_pool *workers;
    uint8_t *block;                  /* where it goes */
    bool proven;                     /* when it began */
    struct tablet_ref base;          /* that is projected for ... */
    const struct tablet_ref *edited; /* a tablet with an edit; NULL: none  */
    struct projection_bound bound;   /* ... of that                        */
    unsigned job_count;              /* of `jobs` */
    struct load_job jobs[];
};

/* Its head becomes the projection's, which nobody else reads any more. */
static void take_head(const struct load *load)
{
    size_t size = projection_head_size(&load->projection);

    memcpy(load->projection.head, load->block, size);
    memcpy(load->projection.here, load->block, size);
}

/* On whatever thread. */
static void run_job(struct thread_pool_job *thread_pool_job)
{
    struct load_job *job = (struct load_job *)thread_pool_job;
    const struct load *load = job->load;
    uint64_t start = os_time_ns();
    struct stop_work former = stop_help(&stop_never); /* stop rule 3 */
    struct error error;
    enum vdbq_status status;

    if (load->edited != NULL)
        status = projection_edited(&load->projection, load->edited,
                                   load->bound.choice, load->block, &error);
    else if (load->proven)
        status = projection_put_column(&load->projection, job->column,
                                       load->block, &error);
    else
        status = projection_put(&load->projection, load->block, &error);
    if (status != VDBQ_OK)
        held_error_set(&job->error, &error);
    stop_leave(former);
    job->time_ns = os_time_ns() - start;
}

/* Those of the threads that load a tablet; NULL: none does. */
static struct thread_pool *helpers(struct thread_pool *workers,
                                   const struct tablet_ref *tablet)
{
    return tablet->size_bytes < SMALL_BYTES ? NULL : workers;
}

/* How many of the columns are wanted. */
static unsigned count_wanted(const struct projection *projection)
{
    unsigned count = 0;

    for (unsigned i = 0; i < projection->table->column_count; i++)
        count += projection->wanted[i];
    return count;
}

/* A load with a job for each column that is wanted, or for all together. */
static struct load *load_create(const struct projection *projection)
{
    bool proven = projection_proven(projection);
    unsigned jobs = proven ? count_wanted(projection) : 1;
    struct load *load =
        memory_zeroed(1, sizeof *load + jobs * sizeof load->jobs[0]);

    if (load == NULL)
        return NULL;
    load->projection = *projection;
    load->proven = proven;
    for (unsigned i = 0; load->job_count < jobs; i++)
        if (!proven || projection->wanted[i])
            load->jobs[load->job_count++] = (struct load_job){
                .job = { .run = run_job }, .load = load, .column = i
            };
    return load;
}

enum vdbq_status load_start(struct thread_pool *workers,
                            const struct projection *projection, uint8_t *block,
                            struct load **load, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    struct load *made;

    if (projection_proven(projection))
        status = projection_put_head(projection, block, error);
    if (status != VDBQ_OK)
        return status;
    made = load_create(projection);
    if (made == NULL)
        return error_no_memory(error);
    made->block = block;
    if (projection_reads(projection))
        made->workers = helpers(workers, projection->tablet);
    projection->proof->users++;
    for (unsigned i = 0; made->workers != NULL && i < made->job_count; i++)
        thread_pool_start(workers, &made->jobs[i].job);
    *load = made;
    return VDBQ_OK;
}

enum vdbq_status load_start_edited(struct thread_pool *workers,
                                   const struct projection *base,
                                   const struct tablet_ref *edited,
                                   const struct projection_bound *bound,
                                   uint8_t *block, struct load **load,
                                   struct error *error)
{
    struct load *made = memory_zeroed(1, sizeof *made + sizeof made->jobs[0]);

    if (made == NULL)
        return error_no_memory(error);
    made->projection = *base;
    made->base = *base->tablet;
    made->projection.tablet = &made->base;
    made->edited = edited;
    made->bound = *bound;
    made->block = block;
    made->workers = helpers(workers, edited);
    made->job_count = 1;
    made->jobs[0] =
        (struct load_job){ .job = { .run = run_job }, .load = made };
    made->projection.proof->users++;
    if (made->workers != NULL)
        thread_pool_start(made->workers, &made->jobs[0].job);
    *load = made;
    return VDBQ_OK;
}

enum vdbq_status load_finish(struct load *load, uint64_t *time_ns,
                             struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    /* There is no job where a tablet is proven and none of its columns read. */
    for (unsigned i = 0; i < load->job_count; i++) {
        struct load_job *job = &load->jobs[i];
        thread_pool_finish(load->workers, &job->job);
        *time_ns += job->time_ns;
        if (status == VDBQ_OK)
            status = held_error_tell(&job->error, error);
        held_error_finish(&job->error);
    }
    if (load->edited != NULL && status == VDBQ_OK)
        take_head(load);
    account_process_give(load->bound.work);
    load->projection.proof->users--;
    memory_release(load);
    return status;
}
