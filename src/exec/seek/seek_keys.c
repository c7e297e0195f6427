/* SPDX-License-Identifier: MIT */
#include "exec/seek/seek_keys.h"

#include <assert.h>

#include "data/index/index_run.h"
#include "exec/seek/seek_edited.h"
#include "exec/stream/stream_inner.h"

static struct index_of index_of(const struct seek_work *work)
{
    return (struct index_of){ .database = seek_database(work),
                              .catalogue = work->params->snapshot->catalogue,
                              .table = work->terms.table,
                              .index = work->terms.index };
}

/* Whether the run of the tablet, or of the base of its edit, is to be computed. */
static bool misses_run(const struct seek_job *job)
{
    return !job->lacks && job->run == NULL && job->file == NULL;
}

/* Computes it, of columns that are in memory. */
static enum vdbq_status compute_run(const struct seek_work *work,
                                    struct seek_job *job, struct error *error)
{
    const struct index_of of = index_of(work);
    assert(job->slot != NULL && job->made == NULL);
    enum vdbq_status status =
        index_run(&of, &job->in, device_memory_host(job->slot->memory),
                  work->terms.step->key_count, &job->made, error);

    job->run = job->made;
    return status;
}

/* Computes the run of a level of the rows with other keys. */
static enum vdbq_status compute_edited(const struct seek_work *work,
                                       struct seek_job *job, unsigned level,
                                       struct error *error)
{
    const struct index_of of = index_of(work);
    const void *block =
        job->slot != NULL ? device_memory_host(job->slot->memory) : NULL;
    assert(job->over != NULL && job->made_edited[level] == NULL);
    enum vdbq_status status = index_run_edited(
        &of, &job->in, seek_edited_level(work, job, level), block,
        work->terms.step->key_count, &job->made_edited[level], error);

    job->edited[level] = job->made_edited[level];
    return status;
}

bool seek_keys_computed(const struct seek_work *work,
                        const struct seek_job *job)
{
    bool reads = misses_run(job);

    for (unsigned i = 0; i < EDITED_LEVELS && !reads; i++)
        reads = seek_edited_misses(work, job, i)
                && index_reads_base(work->terms.index,
                                    seek_edited_level(work, job, i));
    return reads;
}

enum vdbq_status seek_keys_compute(const struct seek_work *work,
                                   struct seek_job *job, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (misses_run(job))
        status = compute_run(work, job, error);
    for (unsigned i = 0; i < EDITED_LEVELS && status == VDBQ_OK; i++)
        if (seek_edited_misses(work, job, i))
            status = compute_edited(work, job, i, error);
    return status;
}
