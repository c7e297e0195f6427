/* SPDX-License-Identifier: MIT */
#include "exec/seek/seek_keys.h"

#include <assert.h>

#include "data/index/index_run.h"
#include "data/index/run_cache.h"
#include "exec/stream/stream_inner.h"

/* The rows with other keys of a job's tablet, as their run is named. */
static struct tablet_ref edited_of(const struct seek_work *work,
                                   const struct seek_job *job)
{
    struct tablet_ref edited = *job->ref;

    edited.identity = index_identity(work->terms.index, edited.identity);
    return edited;
}

static struct index_of index_of(const struct seek_work *work)
{
    return (struct index_of){ .database = work->params->snapshot->database,
                              .catalogue = work->params->snapshot->catalogue,
                              .table = work->terms.table,
                              .index = work->terms.index };
}

/* Computes the run of a tablet's keys, whose columns are in memory. */
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

const struct run *seek_keys_edited(const struct seek_work *work,
                                   const struct seek_job *job)
{
    const struct tablet_ref edited = edited_of(work, job);
    struct run_want want = seek_want(work, job);

    want.tablet = &edited;
    return job->over != NULL && work->terms.index != NULL
                   && work->place.runs != NULL
               ? run_cache_find(work->place.runs, &want)
               : NULL;
}

/* Computes it. */
static enum vdbq_status compute_edited(const struct seek_work *work,
                                       struct seek_job *job,
                                       struct error *error)
{
    const struct index_of of = index_of(work);
    assert(job->over != NULL && job->made_edited == NULL);
    const void *block =
        job->slot != NULL ? device_memory_host(job->slot->memory) : NULL;
    enum vdbq_status status =
        index_run_edited(&of, job->ref, block, work->terms.step->key_count,
                         &job->made_edited, error);

    job->edited = job->made_edited;
    return status;
}

void seek_keys_end(const struct seek_work *work, struct seek_job *job)
{
    const struct tablet_ref edited = edited_of(work, job);
    struct run_want want = seek_want(work, job);

    want.tablet = &edited;
    if (job->made_edited != NULL
        && (work->place.runs == NULL
            || !run_cache_keep(work->place.runs, &want, job->made_edited,
                               work->place.runs_bytes)))
        run_destroy(job->made_edited);
    job->made_edited = NULL;
    job->edited = NULL;
}

/* ------------------------------------------------------------------ jobs -- */

bool seek_keys_computed(const struct seek_work *work,
                        const struct seek_job *job)
{
    return (job->run == NULL && job->file == NULL)
           || (job->over != NULL && job->edited == NULL
               && index_reads_base(work->terms.index, job->over));
}

enum vdbq_status seek_keys_compute(const struct seek_work *work,
                                   struct seek_job *job, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (job->run == NULL && job->file == NULL)
        status = compute_run(work, job, error);
    if (status == VDBQ_OK && job->over != NULL && job->edited == NULL)
        status = compute_edited(work, job, error);
    return status;
}

bool seek_keys_put(const struct seek_work *work, struct seek_job *job)
{
    uint32_t *found = job->found.items;
    struct tablet_terms in;
    size_t kept = 0;
    bool gone, done;

    for (size_t i = 0; i < job->found.count; i++) {
        edit_gone_before(job->over, found[i], &gone);
        if (!gone && !index_is_edited(work->terms.index, job->over, found[i]))
            found[kept++] = found[i];
    }
    job->found.count = kept;
    done = tablet_terms_init(&in, &work->terms, NULL, job->edited)
           && run_terms_add(&in.terms, job->edited, &job->found);
    tablet_terms_finish(&in);
    return done;
}
