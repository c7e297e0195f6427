/* SPDX-License-Identifier: MIT */
/*
 * Columns of runs: each run's value, and where runs start (cl/tablet.h). They
 * are for columns that are sorted, or come in order, like the day of an event:
 * a run must have RUN_LEAST rows in the mean, so that reading fills whole
 * vectors with one value, and is never dearer than to unpack codes.
 */
#include "data/tablet/encoding.h"

#include <assert.h>
#include <string.h>

#include "base/type.h"

enum {
    RUN_LEAST = 32,       /* rows of a run, in the mean, ...               */
    RUN_LEAST_TESTED = 4, /* ... or where all that can be is encoded       */
    COUNT_ROWS = 1024,    /* rows of which runs are counted between looks  */
    FACTS_ROWS = 1024,    /* ... and facts of decoded values               */
};

/* -------------------------------------------------------------- write -- */

/* A value as it is stored. */
static int64_t stored_at(const struct vdbq_vector *vector, uint32_t row)
{
    if (vector->nulls != NULL && vector->nulls[row] != 0)
        return 0;
    return vector->type == VDBQ_INTEGER
               ? ((const int32_t *)vector->values)[row]
               : ((const int64_t *)vector->values)[row];
}

/* How many rows from `first` to `end`, but row 0, differ from the one before;
 * without NULLs in a loop that becomes vectors. */
static uint32_t changes(const struct vdbq_vector *vector, uint32_t first,
                        uint32_t end)
{
    const int32_t *narrow = vector->values;
    const int64_t *wide = vector->values;
    uint32_t count = 0;

    first = first > 0 ? first : 1;
    if (vector->nulls != NULL)
        for (uint32_t i = first; i < end; i++)
            count += stored_at(vector, i) != stored_at(vector, i - 1);
    else if (vector->type == VDBQ_INTEGER)
        for (uint32_t i = first; i < end; i++)
            count += narrow[i] != narrow[i - 1];
    else
        for (uint32_t i = first; i < end; i++)
            count += wide[i] != wide[i - 1];
    return count;
}

static bool runs_fit(const struct encoding_source *source,
                     struct tablet_column *column)
{
    bool tested = source->choice == CHOOSE_PACKED;
    uint32_t most = source->rows / (tested ? RUN_LEAST_TESTED : RUN_LEAST);
    uint32_t runs = 1;

    if (type_is_real(source->vector->type))
        return false;
    for (uint32_t row = 0; row < source->rows && runs <= most;
         row += COUNT_ROWS) {
        uint32_t left = source->rows - row;
        runs += changes(source->vector, row,
                        row + (left < COUNT_ROWS ? left : COUNT_ROWS));
    }
    column->base = runs;
    return runs <= most;
}

/* Of a head from a file that is not proven, too. */
static uint64_t runs_size(const struct tablet_column *column, uint32_t rows)
{
    uint64_t runs = column->base > 0 ? (uint64_t)column->base : 0;

    runs = runs < rows ? runs : rows;
    return RUNS_VALUES(runs, column->width) + TABLET_ALIGNED(RUNS_HEADS(rows));
}

static void put_value(uint8_t *values, uint32_t run, uint32_t width,
                      int64_t value)
{
    int32_t narrow = (int32_t)value;

    if (width == sizeof narrow)
        memcpy(values + (size_t)run * width, &narrow, width);
    else
        memcpy(values + (size_t)run * width, &value, width);
}

static void runs_write(const struct encoding_source *source,
                       const struct tablet_column *column, void *values)
{
    uint64_t heads_at = RUNS_VALUES(column->base, column->width);
    struct run_head *heads = (void *)((uint8_t *)values + heads_at);
    uint32_t run = 0;
    int64_t before = 0;

    memset(values, 0, runs_size(column, source->rows));
    for (uint32_t row = 0; row < source->rows; row++) {
        int64_t value = stored_at(source->vector, row);
        struct run_head *head = &heads[row / RUN_ROWS];
        if (row % RUN_ROWS == 0)
            head->before = run;
        if (row > 0 && value == before)
            continue;
        put_value(values, run++, column->width, value);
        head->starts |= 1u << row % RUN_ROWS;
        before = value;
    }
    assert(run == column->base);
}

/* --------------------------------------------------------------- read -- */

static const struct run_head *heads_of(const struct encoded_column *from)
{
    uint64_t at = RUNS_VALUES(from->column->base, from->column->width);

    return (const void *)(from->values + at);
}

/* Writes the values of rows from `first` on, a multiple of RUN_ROWS. */
static void runs_read(const struct encoded_column *from, uint32_t first,
                      uint32_t count, void *values)
{
    const struct run_head *heads = heads_of(from) + first / RUN_ROWS;
    const int32_t *narrow = (const void *)from->values;
    const int64_t *wide = (const void *)from->values;
    uint32_t runs = (uint32_t)from->column->base, begun = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct run_head *head = &heads[i / RUN_ROWS];
        begun = i % RUN_ROWS == 0 ? head->before : begun;
        begun += head->starts >> i % RUN_ROWS & 1;
        uint32_t run = run_clamp(begun - 1, runs);
        if (from->column->width == sizeof *narrow)
            ((int32_t *)values)[i] = narrow[run];
        else
            ((int64_t *)values)[i] = wide[run];
    }
}

/* The heads of the rows, and then the values of their runs. */
static struct encoding_part runs_part(const struct encoded_column *from,
                                      uint32_t first, uint32_t count,
                                      unsigned part)
{
    uint64_t width = from->column->width;
    uint64_t at = RUNS_VALUES(from->column->base, width);
    uint32_t runs = (uint32_t)from->column->base, last = first + count - 1;
    const struct run_head *heads = heads_of(from);
    const struct run_head *head = &heads[first / RUN_ROWS];
    const struct run_head *end = &heads[last / RUN_ROWS];

    if (part == 0)
        return (struct encoding_part){ at + (first / RUN_ROWS) * sizeof *head,
                                       (last / RUN_ROWS - first / RUN_ROWS + 1)
                                           * sizeof *head };
    if (part > 1)
        return (struct encoding_part){ 0, 0 };
    uint32_t low = run_of(head->starts, head->before, first % RUN_ROWS, runs);
    uint32_t high = run_of(end->starts, end->before, last % RUN_ROWS, runs);
    if (high < low) /* heads that no writer wrote */
        return (struct encoding_part){ 0, runs * width };
    return (struct encoding_part){ low * width, (high - low + 1) * width };
}

/* -------------------------------------------------------------- check -- */

/* Whether the heads count as many runs as there are. */
static bool heads_agree(const struct encoded_column *from)
{
    const struct run_head *heads = heads_of(from);
    uint32_t runs = 0, rows = from->rows, last = (rows - 1) / RUN_ROWS;

    for (uint32_t i = 0; i <= last; i++) {
        if (heads[i].before != runs)
            return false;
        runs += bits_count(heads[i].starts);
    }
    return runs == from->column->base && (heads[0].starts & 1) != 0
           && (rows % RUN_ROWS == 0
               || heads[last].starts >> rows % RUN_ROWS == 0);
}

/* The facts of all values. False: one is not 0 where it is NULL. */
static bool count_facts(const struct encoded_column *from,
                        struct column_facts *facts)
{
    int64_t values[FACTS_ROWS];

    *facts = (struct column_facts){ .empty = true };
    for (uint32_t row = 0; row < from->rows; row += FACTS_ROWS) {
        uint32_t left = from->rows - row;
        uint32_t count = left < FACTS_ROWS ? left : FACTS_ROWS;
        const uint8_t *bits = from->null_bits;
        struct column_facts more;
        runs_read(from, row, count, values);
        if (!facts_count(from->type, values, bits ? bits + row / 8 : NULL,
                         count, &more))
            return false;
        facts_join(facts, &more);
    }
    return true;
}

static const char *runs_fault(const struct encoded_column *from)
{
    struct column_facts facts;

    assert(from->column->base >= 1 && from->column->base <= from->rows);
    if (type_is_real(from->type))
        return "a column of runs is not of integers";
    if (!heads_agree(from))
        return "the runs are not as many as it says";
    if (!count_facts(from, &facts))
        return "a value is not 0 where it is NULL";
    return encoding_facts_fault(from, &facts);
}

/* -------------------------------------------------------------- inputs -- */

/* Any row may be of any run: only heads behind the rows are left out. */
static void runs_slice(struct column_input *input, u64 row)
{
    input->row += (u32)row;
}

static u64 runs_bytes(const struct column_input *input, u64 rows)
{
    return RUNS_VALUES(input->base, input->width)
           + RUNS_HEADS(input->row + rows);
}

const struct encoding encoding_runs = { .name = "runs",
                                        .format = TABLET_FORMAT_RUNS,
                                        .feature = 1u << 0,
                                        .version = ENCODING_VERSION(0, 3),
                                        .counts = true,
                                        .fits = runs_fit,
                                        .size = runs_size,
                                        .write = runs_write,
                                        .read = runs_read,
                                        .part = runs_part,
                                        .fault = runs_fault,
                                        .slice = runs_slice,
                                        .bytes = runs_bytes };
