/* SPDX-License-Identifier: MIT */
/*
 * Rows are found by the tablet's run (data/index/run.h), if one is kept or it
 * pays to make one, else among all values. Runs that are kept are taken, and
 * tablets brought in, by the thread that asks; several of them are searched at
 * the same time, and runs made. To keep another run may let those go that are
 * kept: so it is kept when all that were gathered with it have been searched.
 *
 * In a tablet that has an edit (data/catalogue/edit.h) rows are found in its
 * base, and those to whose keys the edit gives other values in runs of their own
 * (seek_edited.h): runs and columns in memory stay of use, whatever changes.
 */
#include "exec/seek/seek_edited.h"
#include "exec/seek/seek_find.h"

#include <assert.h>
#include <stdatomic.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/index/index_run.h"
#include "data/index/run_cache.h"
#include "data/index/run_pages.h"
#include "exec/seek/seek_device.h"
#include "exec/seek/seek_ends.h"
#include "exec/seek/seek_keys.h"
#include "exec/seek/seek_sieve.h"
#include "exec/stream/stream_inner.h"

_Static_assert((int)SEEK_KEYS_MAX == (int)RUN_COLUMNS_MAX, "keys of a run");

enum {
    LIST_FEW = 64, /* to look through all values for more than these takes
                            longer than to make a run                        */
    RUN_SMALL =
        HOSTILE(1 << 11, 1 << 15), /* bytes of a run in the file: to read all of
                                      it takes hardly longer than a page */
    JOBS_FEW = 16, /* for which there is room at first, and which is kept */
    LONG_WORK = 1 << 12, /* values to look up, or rows to look at, that are
                            worth waking a thread                            */
    MORE_ROWS = HOSTILE(1, 16), /* by which an end is longer at first, ... */
    MORE_TIMES = 8
};

/* -------------------------------------------------------------- tablets -- */

enum vdbq_status seek_hold(struct seek_work *work, struct seek_job *job,
                           const unsigned *columns, unsigned count, bool others,
                           bool *full, struct error *error)
{
    struct pool_want want = { .table = work->terms.table,
                              .tablet = &job->in,
                              .columns = columns,
                              .column_count = count,
                              .copied = true,
                              .yields = others };
    uint64_t before = pool_load_ns(work->place.pool);
    struct error refused;
    enum vdbq_status status = pool_pin(work->place.pool, &want, &job->slot,
                                       others ? &refused : error);

    work->load_ns += pool_load_ns(work->place.pool) - before;
    *full = others && status == VDBQ_LIMIT;
    if (status != VDBQ_OK) {
        job->slot = NULL;
        if (others)
            *error = refused;
        return *full ? VDBQ_OK : status;
    }
    status = device_memory_take(job->slot->memory, &work->times, error);
    assert(status != VDBQ_OK || device_memory_host(job->slot->memory) != NULL);
    return status;
}

void seek_release(struct seek_work *work, struct seek_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].slot != NULL)
            pool_release(work->place.pool, jobs[i].slot);
        jobs[i].slot = NULL;
        few_rows_finish(&jobs[i].few);
    }
}

/* ----------------------------------------------------------------- runs -- */

struct database *seek_database(const struct seek_work *work)
{
    return database_of(work->params->snapshot->database, work->terms.table->id);
}

struct run_want seek_want(const struct seek_work *work,
                          const struct seek_job *job)
{
    return (struct run_want){ .tablet = &job->keys,
                              .columns = work->terms.step->keys,
                              .count = work->terms.step->key_count };
}

static struct run_tablet tablet_of(const struct seek_work *work,
                                   const struct seek_job *job)
{
    return (struct run_tablet){ job->in.rows,
                                index_is_partial(work->terms.index) };
}

static const struct run *find_run(const struct seek_work *work,
                                  const struct seek_job *job)
{
    struct run_want want = seek_want(work, job);

    return work->place.runs != NULL ? run_cache_find(work->place.runs, &want)
                                    : NULL;
}

/* Whether many values are looked for. */
static bool wants_many(const struct seek_work *work)
{
    return work->terms.list_count > LIST_FEW;
}

/* Whether it pays to make the run of a tablet whose key columns are in memory. */
static bool makes_run(const struct seek_work *work, const struct seek_job *job)
{
    const void *block = device_memory_host(job->slot->memory);
    struct run_want want = seek_want(work, job);

    return wants_many(work)
           || work->terms.step->ends.key_count > 0 /* the order of all keys */
           || run_is_cheap(block, want.columns, want.count)
           || run_cache_pays(work->place.runs, &want, false);
}

/* Looks for the run in the file of a job that has none. */
static void find_in_file(const struct seek_work *work, struct seek_job *job)
{
    const struct catalogue *catalogue = work->params->snapshot->catalogue;
    struct run_want want = seek_want(work, job);

    if (work->place.runs == NULL)
        return;
    job->file =
        catalogue_run(catalogue, job->keys.identity, want.columns, want.count);
    job->whole = job->file != NULL
                 && (wants_many(work) || job->file->size_bytes <= RUN_SMALL
                     || run_cache_pays(work->place.runs, &want, true));
}

/* The ends of a tablet are among those of its edit's base that are longer by so many
 * rows, those that are gone, or have other keys. */
static uint32_t more_of_ends(const struct seek_work *work,
                             const struct seek_job *job)
{
    return job->over != NULL ? job->over->gone_count
                                   + seek_edited_most(&work->terms, job->over)
                             : 0;
}

/* What is looked for in a job's tablet, or in the base of its edit, with ends that are
 * longer by some rows. One row more than a seek hopes for tells that there are too
 * many. tablet_terms_finish() is due whatever it returns. */
static bool terms_in(const struct seek_work *work, const void *block,
                     const struct run *run, uint32_t more,
                     struct tablet_terms *in)
{
    bool done = tablet_terms_init(in, &work->terms, block, run);

    run_ends_more(&in->terms.ends, more);
    if (work->terms.step->most > 0)
        in->terms.most = work->terms.step->most + more + 1;
    return done;
}

/* The part of a run that is searched. */
static enum vdbq_status read_part(const struct seek_work *work,
                                  struct seek_job *job, const void *block,
                                  struct error *error)
{
    struct vector keys = VECTOR(struct run_keys);
    struct tablet_terms in;
    struct run_pages pages;
    bool sound;
    enum vdbq_status status =
        run_pages_open(seek_database(work), job->file, tablet_of(work, job),
                       &pages, &sound, error);

    if (status == VDBQ_OK && sound) {
        bool done =
            terms_in(work, block, &pages.run, more_of_ends(work, job), &in)
            && run_terms_keys(&in.terms, &pages.run, &keys);
        status = done ? run_pages_find(&pages, &keys, &in.terms.ends,
                                       &job->made, error)
                      : stop_or_no_memory(error);
        tablet_terms_finish(&in);
    }
    vector_finish(&keys);
    run_pages_close(&pages);
    return status;
}

/* On whatever thread: reads or makes the run. There may be none, or no memory
 * for it. */
static void bring_run(const struct seek_work *work, struct seek_job *job,
                      const void *block)
{
    struct run_want want = seek_want(work, job);
    struct error error;
    enum vdbq_status status = VDBQ_OK;

    if (job->file != NULL && job->whole)
        status = run_load(seek_database(work), job->file, tablet_of(work, job),
                          work->terms.index == NULL ? block : NULL, &job->made,
                          &error);
    else if (job->file != NULL)
        status = read_part(work, job, block, &error);
    else if (job->makes)
        job->made = run_make(block, want.columns, want.count);
    if (status != VDBQ_OK)
        held_error_set(&job->error, &error);
    job->run = job->made;
}

/* Keeps a run that is whole, if there is room. */
static void keep_run(const struct seek_work *work, struct seek_job *job)
{
    struct run_want want = seek_want(work, job);
    bool part = job->file != NULL && !job->whole;

    if (job->made != NULL
        && (part || work->place.runs == NULL
            || !run_cache_keep(work->place.runs, &want, job->made,
                               work->place.runs_bytes)))
        run_destroy(job->made);
    job->made = NULL;
    job->run = NULL;
}

/* ----------------------------------------------------------------- find -- */

/* Jobs that are gathered: [first, end). */
struct finding {
    struct seek_work *work;
    size_t first, end;
    atomic_size_t next; /* that nobody has begun */
};

void seek_job_end(const struct seek_work *work, struct seek_job *job)
{
    const void *base =
        job->slot != NULL ? device_memory_host(job->slot->memory) : NULL;

    job->vain = job->found.count == 0;
    if (job->over != NULL)
        job->failed = !seek_edited_put(work, job, base);
}

uint64_t seek_keys(const struct seek_work *work)
{
    return work->terms.step->list_columns > 0 ? work->terms.list_count : 1;
}

/* Finds rows, of ends that are longer by so many. */
static bool find_with(const struct seek_work *work, struct seek_job *job,
                      const void *block, uint32_t more)
{
    struct tablet_terms in;
    bool done = terms_in(work, block, job->run, more, &in);

    if (done)
        done = job->run != NULL
                   ? run_terms_find(&in.terms, job->run, &job->found)
                   : run_terms_scan(&in.terms, block, &job->found);
    tablet_terms_finish(&in);
    return done;
}

/* Finds an end in the run of an edit's base. Few of its rows are gone, or have other
 * keys, mostly: so it is longer by more and more, until enough rows are left, or there
 * are no others. */
static bool find_end(const struct seek_work *work, struct seek_job *job,
                     const void *block, uint32_t asked)
{
    const uint32_t most = more_of_ends(work, job);
    bool done = true, enough = false;

    for (uint32_t more = MORE_ROWS; done && !enough; more *= MORE_TIMES) {
        bool last = more >= most;
        job->found.count = 0;
        done = find_with(work, job, block, last ? most : more);
        last |= job->found.count < (size_t)asked + more;
        seek_edited_forget(work, job);
        enough = last || job->found.count >= asked;
    }
    return done;
}

/* On whatever thread: finds the rows of one tablet. */
static void find_in(const struct seek_work *work, struct seek_job *job)
{
    const struct seek_ends *ends = &work->terms.asked;
    const void *block =
        job->slot != NULL ? device_memory_host(job->slot->memory) : NULL;

    if (job->run == NULL)
        bring_run(work, job, block);
    job->unread = job->run == NULL && job->file != NULL;
    if (job->error.status != VDBQ_OK || job->unread)
        return;
    job->failed = job->over != NULL && job->run != NULL
                          && (ends->first == 0) != (ends->last == 0)
                      ? !find_end(work, job, block, ends->first + ends->last)
                      : !find_with(work, job, block, more_of_ends(work, job));
    if (!job->failed)
        seek_job_end(work, job);
}

/* The same, of a job's edit alone where its tablet lacks what is looked for. */
static void find_job(const struct seek_work *work, struct seek_job *job)
{
    if (job->lacks)
        seek_job_end(work, job);
    else
        find_in(work, job);
}

static void find_some(void *context, unsigned thread)
{
    struct finding *finding = context;
    size_t at;

    (void)thread;
    while ((at = atomic_fetch_add(&finding->next, 1)) < finding->end)
        if (!finding->work->jobs[at].searched)
            find_job(finding->work, &finding->work->jobs[at]);
}

/* Whether a job looks at all values of its tablet, or all keys of its run. */
static bool looks_at_all(const struct seek_job *job)
{
    return !job->lacks && job->run == NULL && (job->file == NULL || job->whole);
}

/* About how many values are looked up or at. */
static double weigh(const struct finding *finding)
{
    const struct seek_work *work = finding->work;
    double sum = work->rows;

    for (size_t i = finding->first; i < finding->end; i++)
        sum += looks_at_all(&work->jobs[i]) ? (double)work->jobs[i].ref->rows
                                            : (double)work->terms.list_count;
    return sum;
}

/* Threads that find; a file that one thread alone reads has its runs read by
 * this one. */
static unsigned threads_for(const struct finding *finding)
{
    const struct seek_work *work = finding->work;
    unsigned threads = stream_threads(work->params);
    size_t count = finding->end - finding->first;

    if (weigh(finding) < LONG_WORK
        || !database_reads_anywhere(seek_database(work)))
        return 1;
    return count < threads ? (unsigned)count : threads;
}

static enum vdbq_status hold_columns(struct seek_work *work,
                                     struct seek_job *job, bool others,
                                     bool *full, struct error *error);

/* Finds the rows of a tablet whose run in the file was of no use. */
static enum vdbq_status find_without(struct seek_work *work,
                                     struct seek_job *job, struct error *error)
{
    bool full;
    enum vdbq_status status;

    job->file = NULL;
    job->unread = false;
    seek_edited_find(work, job); /* others that were kept may have driven
                                    these out                            */
    status = hold_columns(work, job, false, &full, error);
    if (status != VDBQ_OK)
        return status;
    if (work->terms.index != NULL)
        status = seek_keys_compute(work, job, error);
    else
        job->makes = makes_run(work, job);
    if (status == VDBQ_OK)
        find_in(work, job);
    seek_release(work, job, 1);
    return status;
}

/* Counts what was searched here: before runs are kept, since these may drive others
 * out. */
static void count_search(struct seek_work *work, const struct seek_job *job)
{
    if (job->run == NULL || job->run->keys == NULL || job->searched)
        return;
    work->here.runs++;
    work->here.keys += seek_keys(work);
}

/* What went wrong, and with it what was made. */
static enum vdbq_status end_job(struct seek_work *work, struct seek_job *job,
                                struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (job->unread && job->error.status == VDBQ_OK)
        status = find_without(work, job, error);
    keep_run(work, job);
    seek_edited_keep(work, job);
    if (status != VDBQ_OK)
        return status;
    if (job->error.status != VDBQ_OK)
        return held_error_tell(&job->error, error);
    return job->failed ? stop_or_no_memory(error) : VDBQ_OK;
}

/* Finds the rows of what was gathered, and lets it go. */
static enum vdbq_status find_gathered(struct finding *finding,
                                      struct error *error)
{
    struct seek_work *work = finding->work;
    unsigned threads = threads_for(finding);
    struct error ignored;
    enum vdbq_status status =
        seek_device_find(work, work->jobs + finding->first,
                         finding->end - finding->first, error);

    atomic_store(&finding->next,
                 status == VDBQ_OK ? finding->first : finding->end);
    if (threads > 1)
        parallel_run(threads, find_some, finding);
    else
        find_some(finding, 0);
    for (size_t i = finding->first; i < finding->end && status == VDBQ_OK; i++)
        seek_sieve_note(work, &work->jobs[i]);
    seek_release(work, work->jobs + finding->first,
                 finding->end - finding->first);
    for (size_t i = finding->first; i < finding->end; i++)
        count_search(work, &work->jobs[i]);
    for (; finding->first < finding->end; finding->first++) {
        struct seek_job *job = &work->jobs[finding->first];
        if (status == VDBQ_OK)
            status = end_job(work, job, error);
        else
            end_job(work, job, &ignored);
    }
    return status == VDBQ_OK ? stop_pause(error) : status;
}

/* ---------------------------------------------------------------- gather -- */

/* Whether keys of the base are read beside new ones. */
static bool reads_beside(const struct seek_work *work,
                         const struct seek_job *job)
{
    bool misses = false;

    for (unsigned i = 0; i < EDITED_LEVELS; i++)
        misses |= seek_edited_misses(work, job, i);
    return misses && work->terms.step->key_count > 1;
}

/* The key columns that must be in memory: all of them where there is no run,
 * else those that are texts. */
static unsigned list_columns(const struct seek_work *work,
                             const struct seek_job *job,
                             unsigned keys[SEEK_KEYS_MAX])
{
    const struct step_seek *step = work->terms.step;
    bool all = (!job->lacks && job->run == NULL && job->file == NULL)
               || reads_beside(work, job);
    unsigned count = 0;

    for (unsigned i = 0; i < step->key_count; i++)
        if (all || (!job->lacks && seek_terms_is_text(&work->terms, i)))
            keys[count++] = step->keys[i];
    return count;
}

/* Brings in the columns that finding the rows of a job needs. */
static enum vdbq_status hold_columns(struct seek_work *work,
                                     struct seek_job *job, bool others,
                                     bool *full, struct error *error)
{
    const struct index *index = work->terms.index;
    unsigned keys[SEEK_KEYS_MAX], count;

    *full = false;
    if (index != NULL)
        return seek_keys_computed(work, job)
                   ? seek_hold(work, job, index->keys->reads,
                               index->keys->read_count, others, full, error)
                   : VDBQ_OK;
    count = list_columns(work, job, keys);
    return count > 0 ? seek_hold(work, job, keys, count, others, full, error)
                     : VDBQ_OK;
}

/* The runs of a job that are kept, or in the file. */
static void find_runs(const struct seek_work *work, struct seek_job *job)
{
    seek_edited_find(work, job);
    job->file = NULL;
    job->whole = false;
    job->run = job->lacks ? NULL : find_run(work, job);
    if (job->run == NULL && !job->lacks)
        find_in_file(work, job);
}

/* Brings in what the next job needs, after what was gathered where there is no
 * room beside that. Runs that are kept may have gone by then. */
static enum vdbq_status hold_next(struct finding *finding, struct error *error)
{
    struct seek_work *work = finding->work;
    struct seek_job *job = &work->jobs[finding->end];
    bool full;
    enum vdbq_status status =
        hold_columns(work, job, finding->end > finding->first, &full, error);

    if (!full)
        return status;
    status = find_gathered(finding, error);
    if (status != VDBQ_OK)
        return status;
    find_runs(work, job);
    return hold_columns(work, job, false, &full, error);
}

/* Gathers one more. */
static enum vdbq_status gather(struct finding *finding, struct error *error)
{
    struct seek_work *work = finding->work;
    struct seek_job *job = &work->jobs[finding->end];
    enum vdbq_status status;

    find_runs(work, job);
    status = hold_next(finding, error);
    if (status == VDBQ_OK && work->terms.index != NULL)
        status = seek_keys_compute(work, job, error);
    job->makes = status == VDBQ_OK && !job->lacks && job->run == NULL
                 && job->file == NULL && work->place.runs != NULL
                 && makes_run(work, job);
    finding->end++;
    return status;
}

/* Of a tablet, or of the base of its edit. */
static struct seek_job job_for(const struct seek_work *work,
                               const struct tablet_ref *ref)
{
    struct seek_job job = { .ref = ref,
                            .in = tablet_base(ref),
                            .keys = tablet_base(ref),
                            .over = ref->edit,
                            .found = VECTOR(uint32_t) };

    job.keys.identity = index_identity(work->terms.index, job.in.identity);
    return job;
}

/* Adds the job of a tablet that has an edit where it lacks what is looked for; false:
 * no memory. */
static bool add_job(struct seek_work *work, const struct tablet_ref *ref,
                    bool lacks)
{
    if (work->job_count == work->job_room) {
        size_t room = work->job_room == 0 ? JOBS_FEW : 2 * work->job_room;
        struct seek_job *jobs =
            memory_resize(work->jobs, room * sizeof *work->jobs);
        if (jobs == NULL)
            return false;
        work->jobs = jobs;
        work->job_room = room;
    }
    work->jobs[work->job_count] = job_for(work, ref);
    work->jobs[work->job_count++].lacks = lacks;
    return true;
}

/* How many tablets from one on have no row that is looked for, by what is known of
 * several together. */
static size_t count_passed(const struct seek_terms *terms, size_t tablet)
{
    const struct column_facts *facts =
        tablet % TABLETS_TOGETHER == 0
            ? table_facts_together(terms->table, tablet)
            : NULL;
    const struct tablet_ref all = { .facts = (struct column_facts *)facts };

    return facts != NULL && seek_terms_pass(terms, &all) ? TABLETS_TOGETHER : 0;
}

/* Adds the job of a tablet that can have rows; `wanted`: NULL, or whether it can by
 * what is known of all. */
static enum vdbq_status list_job(struct seek_work *work, size_t tablet,
                                 const bool *wanted, struct error *error)
{
    const struct tablet_ref *ref = &work->terms.table->tablets[tablet];
    enum vdbq_status status;
    bool lacks;

    if (seek_terms_pass(&work->terms, ref)
        || (wanted != NULL && !wanted[tablet]))
        return VDBQ_OK;
    status = edit_check(ref->edit, error);
    lacks = seek_sieve_lacks(work, ref);
    if (status != VDBQ_OK
        || (lacks && !seek_edited_any(&work->terms, ref->edit)))
        return status;
    return add_job(work, ref, lacks) ? VDBQ_OK : error_no_memory(error);
}

/* The tablets that can have rows. */
static enum vdbq_status list_jobs(struct seek_work *work, struct error *error)
{
    const size_t count = work->terms.table->tablet_count;
    bool *wanted;
    enum vdbq_status status = seek_ends_tablets(&work->terms, &wanted, error);

    work->asked = seek_sieve_ask(work);
    for (size_t i = 0, passed; i < count && status == VDBQ_OK;
         i += passed > 0 ? passed : 1) {
        passed = count_passed(&work->terms, i);
        if (passed == 0)
            status = list_job(work, i, wanted, error);
    }
    memory_release(wanted);
    return status;
}

/* Fails where more rows are found than the step hopes for. */
static enum vdbq_status check_hope(const struct seek_work *work, uint64_t rows,
                                   struct error *error)
{
    const uint64_t most = work->terms.step->most;

    return most > 0 && rows > most ? stream_in_vain(work->params, false, error)
                                   : VDBQ_OK;
}

/* So many rows are found at least, or could be if there are as many, by what is
 * known before. */
static uint64_t least_found(const struct seek_terms *terms)
{
    const struct seek_ends *ends = &terms->asked;

    return ends->key_count > 0 ? ends->first + ends->last
                               : seek_ends_sure(terms);
}

/* ... and notes where an order's ends may leave rows out: unless all tablets have
 * fewer than these, and then all together have. */
static enum vdbq_status check_found(const struct seek_work *work,
                                    struct error *error)
{
    const struct seek_ends *ends = &work->terms.asked;
    uint64_t rows = 0;

    for (size_t i = 0; i < work->job_count; i++)
        rows += work->jobs[i].found.count;
    if (ends->hopes && rows >= ends->first + ends->last)
        work->params->hope->left_out = true;
    return check_hope(work, rows, error);
}

static enum vdbq_status find_all(struct seek_work *work, struct error *error)
{
    struct finding finding = { .work = work };
    unsigned held_most = stream_threads(work->params);
    enum vdbq_status status = list_jobs(work, error);

    while (finding.end < work->job_count && status == VDBQ_OK) {
        status = gather(&finding, error);
        if (status == VDBQ_OK && work->jobs[finding.end - 1].slot != NULL
            && finding.end - finding.first >= held_most)
            status = find_gathered(&finding, error);
    }
    if (status == VDBQ_OK)
        status = find_gathered(&finding, error);
    else
        seek_release(work, work->jobs, work->job_count);
    return status;
}

enum vdbq_status seek_find(struct seek_work *work, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (work->terms.step->most > 0)
        status = check_hope(work, least_found(&work->terms), error);
    if (status == VDBQ_OK)
        status = find_all(work, error);
    return status == VDBQ_OK ? check_found(work, error) : status;
}

void seek_work_end(struct seek_work *work)
{
    for (size_t i = 0; i < work->job_count; i++) {
        vector_finish(&work->jobs[i].found);
        held_error_finish(&work->jobs[i].error);
        run_destroy(work->jobs[i].made);
        for (unsigned k = 0; k < EDITED_LEVELS; k++)
            run_destroy(work->jobs[i].made_edited[k]);
    }
    work->job_count = 0;
    if (work->job_room > JOBS_FEW)
        seek_work_finish(work);
    seek_terms_finish(&work->terms);
}

void seek_work_finish(struct seek_work *work)
{
    assert(work->job_count == 0);
    memory_release(work->jobs);
    work->jobs = NULL;
    work->job_room = 0;
}
