/* SPDX-License-Identifier: MIT */
/*
 * Rows of passes in order: a heap of the passes, by the number of the row that
 * each would give next. A batch ends where one needs its next block.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>

enum { ROWS_MIN = 64, ROWS_MAX = 1 << 16, SHARE = 8 };

struct run {
    struct spill_reader reader; /* of a partition's rows */
    struct vdbq_batch batch;    /* rows that were read last */
    const uint64_t *numbers;    /* of its rows           */
    uint64_t at;                /* the next one          */
};

struct pick {
    uint32_t run, row; /* where the row comes from */
};

struct join_merge {
    const struct join_partitions *partitions; /* the join's partitions */
    const struct spill *from;                 /* their output */
    struct run *runs;      /* one a partition that has rows */
    unsigned run_count;    /* of `runs` */
    unsigned *heap;        /* runs that have rows; the first one is next */
    unsigned heap_count;   /* of `heap` */
    struct pick *picks;    /* rows of the batch, in order */
    uint64_t rows_most;    /* of a batch                                 */
    const void **sources;  /* of a column: each run's                    */
    struct row_set output; /* rows of the batch */
    struct vdbq_vector *vectors; /* of the batch */
};

/* ---------------------------------------------------------------- heap -- */

/* Rows come in the order of the left side; partitions break ties. */
static bool is_before(const struct join_merge *merge, unsigned a, unsigned b)
{
    assert(a < merge->run_count && b < merge->run_count);
    const struct run *first = &merge->runs[a], *second = &merge->runs[b];
    uint64_t i = first->numbers[first->at], j = second->numbers[second->at];
    return i < j || (i == j && a < b);
}

/* Moves the run at `at` down to where it belongs. */
static void sift(struct join_merge *merge, unsigned at)
{
    assert(at < merge->heap_count);
    unsigned run = merge->heap[at];
    for (unsigned next; (next = 2 * at + 1) < merge->heap_count; at = next) {
        if (next + 1 < merge->heap_count
            && is_before(merge, merge->heap[next + 1], merge->heap[next]))
            next++;
        if (is_before(merge, run, merge->heap[next]))
            break;
        merge->heap[at] = merge->heap[next];
    }
    merge->heap[at] = run;
}

/* Reads the next block of a run; none: it has no rows. */
static enum vdbq_status refill(struct run *run, unsigned columns,
                               struct error *error)
{
    run->at = 0;
    enum vdbq_status status = spill_read(&run->reader, &run->batch, error);
    if (status == VDBQ_OK && run->batch.rows > 0)
        run->numbers = run->batch.column[columns].values;
    return status;
}

/* -------------------------------------------------------- open, finish -- */

/* Makes room for a batch and for the heap. */
static enum vdbq_status make_room(struct join_merge *merge,
                                  uint64_t share_bytes, struct error *error)
{
    const struct spill *from = merge->from;
    size_t runs = from->partitions.count + 1;
    uint64_t rows = share_bytes / SHARE / from->row_bytes;
    rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    merge->rows_most = rows > ROWS_MIN ? rows : ROWS_MIN;
    merge->runs = memory_zeroed(runs, sizeof *merge->runs);
    merge->heap = memory_zeroed(runs, sizeof *merge->heap);
    merge->sources = memory_zeroed(runs, sizeof *merge->sources);
    merge->picks = memory_zeroed(merge->rows_most, sizeof *merge->picks);
    merge->vectors =
        memory_zeroed(from->column_count + (size_t)1, sizeof *merge->vectors);
    if (!merge->runs || !merge->heap || !merge->sources || !merge->picks
        || !merge->vectors)
        return error_no_memory(error);
    enum vdbq_status status =
        row_set_init(&merge->output, from->columns, from->column_count, error);
    return status == VDBQ_OK
               ? row_set_room(&merge->output, merge->rows_most, error)
               : status;
}

/* Opens each partition that has rows. */
static enum vdbq_status open_runs(struct join_merge *merge, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < merge->from->partitions.count && status == VDBQ_OK;
         i++) {
        struct run *run = &merge->runs[merge->run_count];
        assert(merge->run_count <= i);
        if (spill_rows(merge->from, i) == 0)
            continue;
        merge->heap[merge->heap_count++] = merge->run_count++;
        status = spill_reader_init(
            &run->reader,
            &(struct spill_range){ .spill = merge->from,
                                   .partition = i,
                                   .rows = spill_rows(merge->from, i) },
            error);
        if (status == VDBQ_OK)
            status = refill(run, merge->from->column_count, error);
    }
    for (unsigned i = merge->heap_count; i-- > 0 && status == VDBQ_OK;)
        sift(merge, i);
    return status;
}

enum vdbq_status join_merge_create(const struct join_partitions *partitions,
                                   struct join_merge **merge,
                                   struct error *error)
{
    struct join_merge *made = memory_zeroed(1, sizeof *made);
    *merge = made;
    if (made == NULL)
        return error_no_memory(error);
    made->partitions = partitions;
    made->from = &partitions->output;
    enum vdbq_status status = make_room(made, partitions->share_bytes, error);
    return status == VDBQ_OK ? open_runs(made, error) : status;
}

void join_merge_destroy(struct join_merge *merge)
{
    if (merge == NULL)
        return;
    for (unsigned i = 0; i < merge->run_count; i++)
        spill_reader_finish(&merge->runs[i].reader);
    memory_release(merge->runs);
    memory_release(merge->heap);
    memory_release(merge->sources);
    memory_release(merge->picks);
    memory_release(merge->vectors);
    row_set_finish(&merge->output);
    memory_release(merge);
}

/* ---------------------------------------------------------------- rows -- */

/* Has the first run read on, or leave, where its block is used up. */
static enum vdbq_status read_on(struct join_merge *merge, struct error *error)
{
    if (merge->heap_count == 0)
        return VDBQ_OK;
    struct run *run = &merge->runs[merge->heap[0]];
    if (run->at < run->batch.rows)
        return VDBQ_OK;
    enum vdbq_status status = refill(run, merge->from->column_count, error);
    if (status != VDBQ_OK)
        return status;
    if (run->batch.rows == 0) {
        spill_reader_finish(&run->reader);
        merge->heap[0] = merge->heap[--merge->heap_count];
    }
    if (merge->heap_count > 0)
        sift(merge, 0);
    return VDBQ_OK;
}

/* Whether the next row of a run is behind the pair, or the left row, that
 * failed. */
static bool is_behind(const struct join_merge *merge, const struct run *run)
{
    const struct join_partitions *partitions = merge->partitions;
    uint64_t number = run->numbers[run->at];
    return partitions->failure.status != VDBQ_OK
           && (number > partitions->failed_left
               || (number == partitions->failed_left
                   && run->reader.partition > partitions->failed_pass));
}

/* Picks the next rows, until a block is used up; how many. */
static uint64_t pick_rows(struct join_merge *merge)
{
    uint64_t count = 0;
    while (merge->heap_count > 0 && count < merge->rows_most) {
        unsigned number = merge->heap[0];
        struct run *run = &merge->runs[number];
        assert(run->at < run->batch.rows);
        if (is_behind(merge, run))
            break;
        merge->picks[count++] = (struct pick){ number, (uint32_t)run->at++ };
        if (run->at == run->batch.rows)
            break;
        sift(merge, 0);
    }
    return count;
}

/* Takes the values of one column from all runs. */
static void copy_values(const struct join_merge *merge, unsigned column,
                        uint64_t count)
{
    assert(count <= merge->rows_most);
    const struct row_set_column *to = &merge->output.columns[column];
    const struct pick *picks = merge->picks;
    for (unsigned i = 0; i < merge->run_count; i++)
        merge->sources[i] = merge->runs[i].batch.rows > 0
                                ? merge->runs[i].batch.column[column].values
                                : NULL;
    if (to->width == sizeof(u32))
        for (uint64_t i = 0; i < count; i++)
            ((u32 *)to->values)[i] =
                ((const u32 *)merge->sources[picks[i].run])[picks[i].row];
    else
        for (uint64_t i = 0; i < count; i++)
            ((u64 *)to->values)[i] =
                ((const u64 *)merge->sources[picks[i].run])[picks[i].row];
}

/* Copies NULL flags, where a block has any; `*nulls`: so it was. */
static enum vdbq_status copy_nulls(struct join_merge *merge, unsigned column,
                                   uint64_t count, bool *nulls,
                                   struct error *error)
{
    const struct pick *picks = merge->picks;
    *nulls = false;
    for (unsigned i = 0; i < merge->run_count; i++) {
        merge->sources[i] = merge->runs[i].batch.rows > 0
                                ? merge->runs[i].batch.column[column].nulls
                                : NULL;
        *nulls |= merge->sources[i] != NULL;
    }
    if (!*nulls)
        return VDBQ_OK;
    enum vdbq_status status = row_set_flags(&merge->output, column, error);
    uint8_t *to = merge->output.columns[column].nulls;
    for (uint64_t i = 0; i < count && status == VDBQ_OK; i++) {
        const uint8_t *from = merge->sources[picks[i].run];
        to[i] = from != NULL && from[picks[i].row] != 0;
    }
    return status;
}

enum vdbq_status join_merge_batch(struct join_merge *merge,
                                  struct vdbq_batch *batch, struct error *error)
{
    const struct spill *from = merge->from;
    enum vdbq_status status = read_on(merge, error);
    uint64_t count = status == VDBQ_OK ? pick_rows(merge) : 0;
    row_set_vectors(&merge->output, 0, merge->vectors);
    for (unsigned i = 0; i < from->column_count && count > 0; i++) {
        bool nulls = false;
        if (from->reads != NULL && !from->reads[i])
            continue;
        copy_values(merge, i, count);
        status = copy_nulls(merge, i, count, &nulls, error);
        if (status != VDBQ_OK)
            return status;
        merge->vectors[i].nulls = nulls ? merge->output.columns[i].nulls : NULL;
    }
    batch->column = merge->vectors;
    batch->rows = count;
    return status;
}
