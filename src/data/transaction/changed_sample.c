/* SPDX-License-Identifier: MIT */
/*
 * The sample of a table whose rows changed: as it was with what became of its rows;
 * or a new one, where it has lost too many of them.
 */
#include "data/transaction/changed_sample.h"

#include "data/catalogue/catalogue_inner.h"
#include "data/database/rows.h"

/* Adds the rows of a sample that do not go, with the numbers that they get. */
static bool add_left(const struct changed_sample *of,
                     const struct sample *before, struct sample *sample)
{
    bool done = true;

    for (uint32_t i = 0; i < before->rows && done; i++) {
        bool goes;
        size_t gone = row_numbers_place(of->numbers, before->numbers[i], &goes);
        if (!goes)
            done = sample_add(sample, before->numbers[i] - gone,
                              before->columns, i);
    }
    return done;
}

/* Gives the rows of a sample that change their new values. */
static bool put_news(const struct changed_sample *of, struct sample *sample)
{
    bool done = true;

    for (uint32_t i = 0; i < sample->rows && done; i++) {
        bool found;
        size_t at = row_numbers_place(of->numbers, sample->numbers[i], &found);
        for (unsigned k = 0; found && k < sample->column_count && done; k++)
            if (of->changed[k])
                done = sample_put(sample, i, k, &of->values[k], at);
    }
    return done;
}

/* The sample of rows that changed; NULL: no memory. Rows that moved up keep
 * their places in it: which rows a sample has is chance, and stays so. */
static struct sample *change_sample(const struct changed_sample *of)
{
    const struct sample *before = of->table->sample;
    bool go = of->changes->column_count == 0;
    struct sample *sample = go ? sample_create(of->table) : sample_copy(before);

    if (sample != NULL
        && (go ? add_left(of, before, sample) : put_news(of, sample)))
        return sample;
    sample_release(sample);
    return NULL;
}

/* Whether rows of a sample neither change nor get other numbers. */
static bool sample_stays(const struct changed_sample *of,
                         const struct sample *sample)
{
    const struct vector numbers =
        VECTOR_OF((uint64_t *)(uintptr_t)sample->numbers, sample->rows);

    return of->changes->column_count > 0
           && !vectors_meet(&of->numbers->numbers, &numbers);
}

/* Whether a sample has lost half of the rows that it should have. */
static bool is_sparse(const struct sample *sample, uint64_t rows)
{
    uint64_t most = rows < SAMPLE_ROWS ? rows : SAMPLE_ROWS;

    return sample->rows < (most + 1) / 2;
}

/* Makes the sample of all rows that a table has, and gives it to it. */
static enum vdbq_status sample_again(const struct changed_sample *of,
                                     struct catalogue *next)
{
    struct database *database = of->database;
    const struct table *table = catalogue_table_id(next, of->table->id);
    struct vdbq_vector *vectors =
        arena_alloc(of->arena, table->column_count * sizeof *vectors);
    struct sampler sampler = { .limit = UINT64_MAX };
    enum vdbq_status status =
        vectors != NULL ? VDBQ_OK : error_no_memory(of->error);

    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++) {
        struct rows rows;
        status =
            rows_load(&rows, database, table, &table->tablets[i], of->error);
        if (status == VDBQ_OK)
            rows_vectors(&rows, vectors);
        if (status == VDBQ_OK
            && !sampler_add(&sampler, table, vectors, 0, rows.count))
            status = error_no_memory(of->error);
        rows_finish(&rows);
    }
    if (status == VDBQ_OK)
        catalogue_sample(next, table->id, sampler.sample);
    sampler_finish(&sampler);
    return status;
}

enum vdbq_status changed_sample_take(const struct changed_sample *of,
                                     struct catalogue *next)
{
    const struct table *table = catalogue_table_id(next, of->table->id);
    struct sample *sample;
    bool sparse;

    if (table->rows == 0) {
        catalogue_sample(next, table->id, NULL);
        return VDBQ_OK;
    }
    if (table->sample == NULL)
        return sample_again(of, next);
    if (sample_stays(of, table->sample))
        return VDBQ_OK;
    sample = change_sample(of);
    if (sample == NULL)
        return error_no_memory(of->error);
    sparse = is_sparse(sample, table->rows);
    if (!sparse)
        catalogue_sample(next, table->id, sample);
    sample_release(sample);
    return sparse ? sample_again(of, next) : VDBQ_OK;
}
