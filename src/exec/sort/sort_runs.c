/* SPDX-License-Identifier: MIT */
/*
 * Runs of rows: see sort_runs.h. Memory limits how many are merged at once,
 * since each needs a block; where there are more, neighbours become longer
 * runs, pass by pass.
 */
#include "exec/sort/sort_runs.h"

#include <assert.h>

#include "base/memory.h"

enum {
    BLOCKS = 128, /* that the memory has room for; half of them are read   */
    BLOCK_MIN = 1 << 10,
    BLOCK_MAX = 1 << 20,
    RUNS_MIN = 4,        /* that are merged at once in any case            */
    PASS_ROWS = 1 << 12, /* that a pass copies at once                     */
};

/* Makes an empty spill for runs. */
static enum vdbq_status make_spill(const struct sort_runs *runs,
                                   struct spill *spill, struct error *error)
{
    const struct sort_runs_params *params = &runs->params;
    return spill_init(
        spill,
        &(struct spill_params){ .files = params->files,
                                .memory = params->memory,
                                .columns = params->columns,
                                .column_count = params->column_count,
                                .reads = params->reads,
                                .plain = true,
                                .block_bytes = runs->block_bytes },
        error);
}

enum vdbq_status sort_runs_init(struct sort_runs *runs,
                                const struct sort_runs_params *params,
                                struct error *error)
{
    uint64_t bytes = params->room_bytes / BLOCKS;
    bytes = bytes > BLOCK_MIN ? bytes : BLOCK_MIN;
    *runs = (struct sort_runs){ .params = *params,
                                .block_bytes =
                                    bytes < BLOCK_MAX ? bytes : BLOCK_MAX };
    runs->extents = memory_zeroed(params->key_count, sizeof *runs->extents);
    if (runs->extents == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < params->key_count; i++)
        runs->extents[i].least = UINT64_MAX;
    return make_spill(runs, &runs->spill, error);
}

void sort_runs_finish(struct sort_runs *runs)
{
    sort_merge_destroy(runs->merge);
    spill_finish(&runs->spill);
    memory_release(runs->extents);
    *runs = (struct sort_runs){ 0 };
}

/* Ends the run that was written last. */
static enum vdbq_status end_run(struct spill *spill, struct error *error)
{
    return spill_partition_end(spill, (unsigned)spill->partitions.count - 1,
                               error);
}

/* Adds rows to the run that is written. */
static enum vdbq_status add_rows(struct spill *spill,
                                 const struct row_set *rows,
                                 const uint32_t *order, uint64_t count,
                                 struct error *error)
{
    return spill_add(
        spill, (unsigned)spill->partitions.count - 1,
        &(struct spill_rows){ .from = rows, .rows = order, .count = count },
        error);
}

/* Notes what values the keys of rows have. */
static void note_extents(struct sort_runs *runs, const struct row_set *rows)
{
    for (unsigned i = 0; i < runs->params.key_count; i++) {
        struct sort_key key;
        sort_keys(rows, &runs->params.keys[i], 1, &key);
        sort_extent_add(&runs->extents[i], &key, 0, (uint32_t)rows->rows);
    }
}

enum vdbq_status sort_runs_add(struct sort_runs *runs,
                               const struct row_set *rows,
                               const uint32_t *order, uint64_t count,
                               struct error *error)
{
    assert(runs->merge == NULL && count <= rows->rows);
    runs->rows += count;
    note_extents(runs, rows);
    enum vdbq_status status = spill_partition_add(&runs->spill, error);
    if (status == VDBQ_OK)
        status = add_rows(&runs->spill, rows, order, count, error);
    return status == VDBQ_OK ? end_run(&runs->spill, error) : status;
}

/* ---------------------------------------------------------------- merge -- */

/* Runs that are merged at once. */
static unsigned runs_at_once(const struct sort_runs *runs)
{
    uint64_t most = runs->params.room_bytes / 2 / runs->block_bytes;
    return most < RUNS_MIN ? RUNS_MIN : most > BLOCKS ? BLOCKS : (unsigned)most;
}

static enum vdbq_status open_merge(const struct sort_runs *runs, unsigned first,
                                   unsigned count, struct sort_merge **merge,
                                   struct error *error)
{
    return sort_merge_create(
        &(struct sort_merge_params){ .spill = &runs->spill,
                                     .first = first,
                                     .count = count,
                                     .keys = runs->params.keys,
                                     .extents = runs->extents,
                                     .key_count = runs->params.key_count },
        merge, error);
}

/* Writes the rows of a merge as a run. */
static enum vdbq_status copy_merge(struct sort_merge *merge, struct spill *to,
                                   struct row_set *rows, struct error *error)
{
    enum vdbq_status status = spill_partition_add(to, error);
    do {
        rows->rows = 0;
        if (status == VDBQ_OK)
            status = sort_merge_rows(merge, PASS_ROWS, rows, error);
        if (status == VDBQ_OK)
            status = add_rows(to, rows, NULL, rows->rows, error);
    } while (status == VDBQ_OK && rows->rows > 0);
    return status == VDBQ_OK ? end_run(to, error) : status;
}

/* Merges neighbours, as many as can be at once, into the runs of `to`. */
static enum vdbq_status merge_neighbours(const struct sort_runs *runs,
                                         struct spill *to, struct row_set *rows,
                                         struct error *error)
{
    unsigned count = (unsigned)runs->spill.partitions.count;
    unsigned some = runs_at_once(runs);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < count && status == VDBQ_OK; i += some) {
        struct sort_merge *merge;
        status = open_merge(runs, i, count - i < some ? count - i : some,
                            &merge, error);
        if (status == VDBQ_OK)
            status = copy_merge(merge, to, rows, error);
        sort_merge_destroy(merge);
    }
    return status;
}

/* Makes fewer, longer runs. */
static enum vdbq_status run_pass(struct sort_runs *runs, struct error *error)
{
    struct spill longer = { 0 };
    struct row_set rows;
    enum vdbq_status status = row_set_init(&rows, runs->params.columns,
                                           runs->params.column_count, error);
    if (status == VDBQ_OK)
        status = make_spill(runs, &longer, error);
    if (status == VDBQ_OK)
        status = merge_neighbours(runs, &longer, &rows, error);
    row_set_finish(&rows);
    if (status != VDBQ_OK) {
        spill_finish(&longer);
        return status;
    }
    spill_finish(&runs->spill);
    runs->spill = longer;
    return VDBQ_OK;
}

enum vdbq_status sort_runs_begin(struct sort_runs *runs, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    assert(runs->merge == NULL);
    while (status == VDBQ_OK
           && runs->spill.partitions.count > runs_at_once(runs))
        status = run_pass(runs, error);
    if (status == VDBQ_OK)
        status = open_merge(runs, 0, (unsigned)runs->spill.partitions.count,
                            &runs->merge, error);
    return status;
}

enum vdbq_status sort_runs_rows(struct sort_runs *runs, uint64_t rows,
                                struct row_set *output, struct error *error)
{
    assert(runs->merge != NULL);
    return sort_merge_rows(runs->merge, rows, output, error);
}
