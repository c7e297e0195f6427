/* SPDX-License-Identifier: MIT */
#include "exec/seek/seek_edited.h"

#include <assert.h>

#include "data/index/index_values.h"
#include "data/index/run_cache.h"

/* The columns of the table that keys are made of. */
static const unsigned *reads_of(const struct seek_terms *terms, unsigned *count)
{
    const struct index_keys *keys =
        terms->index != NULL ? terms->index->keys : NULL;

    *count = keys != NULL ? keys->read_count : terms->step->key_count;
    return keys != NULL ? keys->reads : terms->step->keys;
}

bool seek_edited_any(const struct seek_terms *terms, const struct edit *edit)
{
    unsigned count;
    const unsigned *columns = reads_of(terms, &count);

    return edited_level(edit, columns, count, 0) != NULL;
}

uint32_t seek_edited_most(const struct seek_terms *terms,
                          const struct edit *edit)
{
    unsigned count;
    const unsigned *columns = reads_of(terms, &count);
    uint32_t most = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct edit_column *news = edit_column(edit, columns[i]);
        most += news != NULL ? news->count : 0; /* of one base: 2^20 at most */
    }
    return most;
}

/* ----------------------------------------------------------------- runs -- */

const struct edit *seek_edited_level(const struct seek_work *work,
                                     const struct seek_job *job, unsigned level)
{
    unsigned count;
    const unsigned *columns = reads_of(&work->terms, &count);

    return edited_level(job->over, columns, count, level);
}

/* The tablet as the run of a level is named. */
static struct tablet_ref named(const struct seek_work *work,
                               const struct seek_job *job, unsigned level)
{
    struct tablet_ref ref = job->in;

    ref.identity =
        index_identity(work->terms.index, edited_name(job->over, level));
    return ref;
}

void seek_edited_find(const struct seek_work *work, struct seek_job *job)
{
    struct run_want want = seek_want(work, job);

    for (unsigned i = 0; i < EDITED_LEVELS; i++) {
        const struct edit *of = seek_edited_level(work, job, i);
        struct tablet_ref ref;
        if (job->made_edited[i] != NULL)
            continue;
        job->edited[i] = NULL;
        if (of == NULL || work->place.runs == NULL)
            continue;
        ref = named(work, job, i);
        want.tablet = &ref;
        job->edited[i] = edited_run_find(work->place.runs, &want, of);
    }
}

bool seek_edited_misses(const struct seek_work *work,
                        const struct seek_job *job, unsigned level)
{
    return job->edited[level] == NULL
           && seek_edited_level(work, job, level) != NULL;
}

/* Makes those that are missing, of a seek by columns. */
static bool make_runs(const struct seek_work *work, struct seek_job *job,
                      const void *base)
{
    struct edited_run_of of = { .table = work->terms.table,
                                .columns = work->terms.step->keys,
                                .count = work->terms.step->key_count,
                                .base = base };
    bool done = true;

    for (unsigned i = 0; i < EDITED_LEVELS && done; i++) {
        if (!seek_edited_misses(work, job, i))
            continue;
        assert(work->terms.index == NULL);
        of.edit = seek_edited_level(work, job, i);
        job->made_edited[i] = edited_run(&of);
        job->edited[i] = job->made_edited[i];
        done = job->edited[i] != NULL;
    }
    return done;
}

void seek_edited_keep(const struct seek_work *work, struct seek_job *job)
{
    struct run_want want = seek_want(work, job);

    for (unsigned i = 0; i < EDITED_LEVELS; i++) {
        struct tablet_ref ref;
        if (job->made_edited[i] != NULL) {
            ref = named(work, job, i);
            want.tablet = &ref;
            if (work->place.runs == NULL
                || !edited_run_keep(
                    work->place.runs, &want, seek_edited_level(work, job, i),
                    job->made_edited[i], work->place.runs_bytes))
                run_destroy(job->made_edited[i]);
        }
        job->made_edited[i] = NULL;
        job->edited[i] = NULL;
    }
}

/* ------------------------------------------------------------------ put -- */

/* Merges `more` into places; both ascend. */
static bool merge_places(struct vector *places, const uint32_t *more,
                         size_t count)
{
    size_t left = places->count, at;
    uint32_t *items;

    if (count == 0)
        return true;
    if (!vector_append(places, more, count))
        return false;
    items = places->items;
    for (at = places->count; count > 0; at--)
        items[at - 1] = left > 0 && items[left - 1] > more[count - 1]
                            ? items[--left]
                            : more[--count];
    return true;
}

/* What is looked for, in a table of the keys alone. */
struct by_keys {
    struct seek_terms terms;
    struct step_seek step;
    struct column columns[SEEK_KEYS_MAX];
    struct table table;
};

static void by_keys_init(struct by_keys *by, const struct seek_terms *terms)
{
    by->terms = *terms;
    if (terms->index != NULL) /* whose runs are by keys in any case */
        return;
    by->step = *terms->step;
    by->table = (struct table){ .name = "keys",
                                .column_count = terms->step->key_count,
                                .columns = by->columns,
                                .key = NO_KEY };
    for (unsigned i = 0; i < terms->step->key_count; i++) {
        by->columns[i] = terms->table->columns[terms->step->keys[i]];
        by->step.keys[i] = i;
    }
    by->terms.step = &by->step;
    by->terms.table = &by->table;
}

/* Lists the rows of the run of a level that are looked for. */
static bool look_through(const struct seek_work *work,
                         const struct seek_job *job, unsigned level,
                         struct vector *rows)
{
    const struct run *run = job->edited[level];
    uint32_t *items;
    size_t kept = 0;
    struct by_keys by;
    struct tablet_terms in;
    bool done;

    by_keys_init(&by, &work->terms);
    done = tablet_terms_init(&in, &by.terms, run->words.bytes, run);
    if (level > 0) /* of its ends some may not count */
        run_ends_more(&in.terms.ends,
                      job->over->recent_count + job->over->gone_count);
    done = done && run_terms_find(&in.terms, run, rows);
    tablet_terms_finish(&in);
    items = rows->items;
    for (size_t i = 0; i < rows->count; i++)
        if (edited_row_counts(job->over, level, items[i]))
            items[kept++] = items[i];
    rows->count = kept;
    return done;
}

/* Takes places out that are among others; both ascend. */
static void take_out(struct vector *places, const uint32_t *others,
                     uint32_t count)
{
    uint32_t *items = places->items, at = 0;
    size_t left = 0;

    for (size_t i = 0; i < places->count; i++) {
        at = edit_pass(others, count, at, items[i]);
        if (at == count || others[at] != items[i])
            items[left++] = items[i];
    }
    places->count = left;
}

void seek_edited_forget(const struct seek_work *work, struct seek_job *job)
{
    unsigned count;
    const unsigned *columns = reads_of(&work->terms, &count);

    if (job->over == NULL)
        return;
    take_out(&job->found, job->over->gone, job->over->gone_count);
    for (unsigned i = 0; i < count; i++) {
        const struct edit_column *news = edit_column(job->over, columns[i]);
        if (news != NULL)
            take_out(&job->found, news->places, news->count);
    }
}

bool seek_edited_put(const struct seek_work *work, struct seek_job *job,
                     const void *base)
{
    bool done = make_runs(work, job, base);

    seek_edited_forget(work, job);
    for (unsigned i = 0; i < EDITED_LEVELS && done; i++) {
        struct vector rows = VECTOR(uint32_t);
        if (job->edited[i] == NULL || job->edited[i]->rows == 0)
            continue;
        done = look_through(work, job, i, &rows)
               && merge_places(&job->found, rows.items, rows.count);
        vector_finish(&rows);
    }
    return done;
}
