/* SPDX-License-Identifier: MIT */
/*
 * Rows of passes in order. Each pass gave its rows by the numbers of the left
 * rows; passes break ties. Rows of a window of numbers are taken from all passes
 * at once: they are counted by their numbers, which tells the place of each, and
 * copied there pass by pass. So no row is compared with another.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>
#include <string.h>

enum { ROWS_MIN = 64, ROWS_MAX = 1 << 16, SHARE = 8 };

struct run {
    struct spill_reader reader; /* of a partition's rows */
    struct vdbq_batch batch;    /* rows that were read last */
    const uint64_t *numbers;    /* of its rows           */
    uint64_t at;                /* the next one          */
    uint64_t taken;             /* rows from there on that the window has */
};

struct join_merge {
    const struct join_partitions *partitions; /* the join's partitions */
    const struct spill *from;                 /* their output */
    struct run *runs;      /* that have rows, in the order of partitions */
    unsigned run_count;    /* of `runs` */
    uint32_t *starts;      /* of each number of a window: where its rows go */
    uint32_t *places;      /* of each row of a window, run by run: likewise */
    uint64_t rows_most;    /* of a batch, and numbers of a window         */
    struct row_set output; /* rows of the batch */
    struct vdbq_vector *vectors; /* of the batch */
};

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

/* Makes room for a batch and for a window. */
static enum vdbq_status make_room(struct join_merge *merge,
                                  uint64_t share_bytes, struct error *error)
{
    const struct spill *from = merge->from;
    size_t runs = from->partitions.count + 1;
    uint64_t rows = share_bytes / SHARE / from->row_bytes;
    rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    merge->rows_most = rows > ROWS_MIN ? rows : ROWS_MIN;
    merge->runs = memory_zeroed(runs, sizeof *merge->runs);
    merge->starts = memory_zeroed(merge->rows_most, sizeof *merge->starts);
    merge->places = memory_zeroed(merge->rows_most, sizeof *merge->places);
    merge->vectors =
        memory_zeroed(from->column_count + (size_t)1, sizeof *merge->vectors);
    if (!merge->runs || !merge->starts || !merge->places || !merge->vectors)
        return error_no_memory(error);
    enum vdbq_status status =
        row_set_init(&merge->output, from->columns, from->column_count, error);
    return status == VDBQ_OK
               ? row_set_room(&merge->output, merge->rows_most, error)
               : status;
}

/* Opens a partition as the run behind the others. */
static enum vdbq_status open_run(struct join_merge *merge, unsigned partition,
                                 struct error *error)
{
    return spill_reader_init(
        &merge->runs[merge->run_count++].reader,
        &(struct spill_range){ .spill = merge->from,
                               .partition = partition,
                               .rows = spill_rows(merge->from, partition) },
        error);
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
        status = open_run(merge, i, error);
        if (status == VDBQ_OK)
            status = refill(run, merge->from->column_count, error);
    }
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
    memory_release(merge->starts);
    memory_release(merge->places);
    memory_release(merge->vectors);
    row_set_finish(&merge->output);
    memory_release(merge);
}

/* -------------------------------------------------------------- windows -- */

/* Numbers from `first` on, up to `end`, which is behind them. */
struct window {
    uint64_t first, end;
};

/* Has runs read on, or leave, whose blocks are used up. */
static enum vdbq_status read_on(struct join_merge *merge, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned kept = 0;
    for (unsigned i = 0; i < merge->run_count; i++) {
        struct run *run = &merge->runs[i];
        if (run->at == run->batch.rows && status == VDBQ_OK)
            status = refill(run, merge->from->column_count, error);
        if (status == VDBQ_OK && run->batch.rows == 0)
            spill_reader_finish(&run->reader);
        else
            merge->runs[kept++] = *run;
    }
    merge->run_count = kept;
    return status;
}

/* The next window: all its rows are in memory, and none of them is of the left
 * row that failed, or behind it. It is empty where that takes a look at a single
 * number. */
static struct window next_window(const struct join_merge *merge)
{
    const struct join_partitions *partitions = merge->partitions;
    struct window window = { .first = UINT64_MAX, .end = UINT64_MAX };
    for (unsigned i = 0; i < merge->run_count; i++) {
        const struct run *run = &merge->runs[i];
        uint64_t next = run->numbers[run->at];
        uint64_t last = run->numbers[run->batch.rows - 1];
        window.first = next < window.first ? next : window.first;
        if (run->reader.rows_left > 0 && last < window.end)
            window.end = last;
    }
    if (window.end - window.first > merge->rows_most)
        window.end = window.first + merge->rows_most;
    if (partitions->failure.status != VDBQ_OK
        && partitions->failed_left < window.end)
        window.end = partitions->failed_left;
    if (window.end < window.first)
        window.end = window.first;
    return window;
}

/* Counts the rows of each number of a window, and lets it end where they would
 * be more than `room`. */
static void count_rows(struct join_merge *merge, struct window *window,
                       uint64_t room)
{
    uint64_t first = window->first, rows = 0;
    memset(merge->starts, 0, (window->end - first) * sizeof *merge->starts);
    for (unsigned i = 0; i < merge->run_count; i++) {
        const struct run *run = &merge->runs[i];
        for (uint64_t k = run->at;
             k < run->batch.rows && run->numbers[k] < window->end; k++)
            merge->starts[run->numbers[k] - first]++;
    }
    for (uint64_t i = 0; i < window->end - first; i++) {
        uint32_t count = merge->starts[i];
        if (rows + count > room)
            window->end = first + i;
        merge->starts[i] = (uint32_t)rows;
        rows += count;
    }
}

/* Takes a window's rows from all runs, and tells the place of each; how many. */
static uint64_t place_rows(struct join_merge *merge, struct window window)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < merge->run_count; i++) {
        struct run *run = &merge->runs[i];
        uint64_t k = run->at;
        for (; k < run->batch.rows && run->numbers[k] < window.end; k++)
            merge->places[count++] =
                merge->starts[run->numbers[k] - window.first]++;
        run->taken = k - run->at;
    }
    assert(count <= merge->rows_most);
    return count;
}

/* Whether rows of the number are of the left row that failed, in a pass behind
 * the one that did, or of one behind it. */
static bool is_behind(const struct join_merge *merge, const struct run *run,
                      uint64_t number)
{
    const struct join_partitions *partitions = merge->partitions;
    return partitions->failure.status != VDBQ_OK
           && (number > partitions->failed_left
               || (number == partitions->failed_left
                   && run->reader.partition > partitions->failed_pass));
}

/* Takes rows of one number, from the first run that has any; how many. */
static uint64_t place_number(struct join_merge *merge, uint64_t number,
                             uint64_t room)
{
    struct run *found = NULL;
    uint64_t count = 0;
    for (unsigned i = 0; i < merge->run_count; i++) {
        struct run *run = &merge->runs[i];
        run->taken = 0;
        if (found == NULL && run->numbers[run->at] == number)
            found = run;
    }
    if (found == NULL || is_behind(merge, found, number))
        return 0;
    for (uint64_t k = found->at;
         k < found->batch.rows && count < room && found->numbers[k] == number;
         k++, count++)
        merge->places[count] = (uint32_t)count;
    found->taken = count;
    return count;
}

/* Takes the next rows, at most `room`; how many. */
static uint64_t take_rows(struct join_merge *merge, uint64_t room)
{
    if (merge->run_count == 0)
        return 0;
    struct window window = next_window(merge);
    if (window.end > window.first)
        count_rows(merge, &window, room);
    return window.end > window.first ? place_rows(merge, window)
                                     : place_number(merge, window.first, room);
}

/* ---------------------------------------------------------------- rows -- */

/* Copies the values of one column from a run to their places behind `row`. */
static void copy_values(const struct run *run, const uint32_t *places,
                        unsigned column, const struct row_set_column *to,
                        uint64_t row)
{
    const void *values = run->batch.column[column].values;
    if (to->width == sizeof(u32)) {
        const u32 *from = (const u32 *)values + run->at;
        u32 *into = (u32 *)to->values + row;
        for (uint64_t i = 0; i < run->taken; i++)
            into[places[i]] = from[i];
    } else {
        const u64 *from = (const u64 *)values + run->at;
        u64 *into = (u64 *)to->values + row;
        for (uint64_t i = 0; i < run->taken; i++)
            into[places[i]] = from[i];
    }
}

/* Copies NULL flags likewise; a block without any has values only. */
static void copy_nulls(const struct run *run, const uint32_t *places,
                       unsigned column, uint8_t *to, uint64_t row)
{
    const uint8_t *nulls = run->batch.column[column].nulls;
    for (uint64_t i = 0; i < run->taken; i++)
        to[row + places[i]] = nulls != NULL && nulls[run->at + i] != 0;
}

/* Gives the column of the output flags, where a block has any. */
static enum vdbq_status make_flags(struct join_merge *merge, unsigned column,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool nulls = false;
    for (unsigned i = 0; i < merge->run_count; i++)
        nulls |= merge->runs[i].taken > 0
                 && merge->runs[i].batch.column[column].nulls != NULL;
    if (nulls && merge->output.columns[column].nulls == NULL)
        status = row_set_flags(&merge->output, column, error);
    return status;
}

/* Copies a column of the rows that were taken, to be behind `row`. */
static enum vdbq_status copy_column(struct join_merge *merge, unsigned column,
                                    uint64_t row, struct error *error)
{
    const struct row_set_column *to = &merge->output.columns[column];
    const uint32_t *places = merge->places;
    enum vdbq_status status = make_flags(merge, column, error);
    for (unsigned i = 0; i < merge->run_count && status == VDBQ_OK; i++) {
        const struct run *run = &merge->runs[i];
        copy_values(run, places, column, to, row);
        if (to->nulls != NULL)
            copy_nulls(run, places, column, to->nulls, row);
        places += run->taken;
    }
    return status;
}

/* Copies rows that were taken, which are then behind us. */
static enum vdbq_status copy_rows(struct join_merge *merge, uint64_t row,
                                  struct error *error)
{
    const struct spill *from = merge->from;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < from->column_count && status == VDBQ_OK; i++)
        if (from->reads == NULL || from->reads[i])
            status = copy_column(merge, i, row, error);
    for (unsigned i = 0; i < merge->run_count; i++)
        merge->runs[i].at += merge->runs[i].taken;
    return status;
}

/* Windows follow each other until the batch is about full. */
enum vdbq_status join_merge_batch(struct join_merge *merge,
                                  struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t rows = 0, count = 1;
    while (status == VDBQ_OK && count > 0 && rows <= merge->rows_most / 2) {
        status = read_on(merge, error);
        count =
            status == VDBQ_OK ? take_rows(merge, merge->rows_most - rows) : 0;
        if (count > 0)
            status = copy_rows(merge, rows, error);
        rows += count;
    }
    row_set_vectors(&merge->output, 0, merge->vectors);
    batch->column = merge->vectors;
    batch->rows = rows;
    return status;
}
