/* SPDX-License-Identifier: MIT */
/*
 * Rows in the order of their numbers: see reorder.h. A range is put in order
 * by writing each row's place to where its number is.
 */
#include "exec/rows/reorder.h"

#include <assert.h>
#include <string.h>

enum {
    BATCH_ROWS = 1 << 16, /* that are given out at once                   */
    SHIFT_MIN = 4,        /* so that not every row is a range             */
    SHIFT_MAX = 22,
    BLOCK_ROWS_MIN = 16, /* of a partition in memory                    */
    BLOCK_MAX = 1 << 20  /* bytes of a block: more make nothing faster   */
};

/* -------------------------------------------------------- init, finish -- */

/* Ranges of so many numbers. */
static uint64_t ranges_of(uint64_t numbers, unsigned shift)
{
    return (numbers >> shift) + 1;
}

/* Ranges as large as half of the memory lets them be; larger where there would
 * be too many of them. A row is in memory as it was read, in the block it came
 * from, and as a place in the order. */
static unsigned choose_shift(const struct reorder_params *params, uint64_t row)
{
    uint64_t most = params->room_bytes / 2 / (2 * row + sizeof(uint32_t));
    uint64_t blocks = params->room_bytes / 2 / (row * BLOCK_ROWS_MIN);
    unsigned shift = SHIFT_MIN;
    blocks = blocks < 1                 ? 1
             : blocks > SPILL_PARTS_MAX ? SPILL_PARTS_MAX
                                        : blocks;
    while (shift < SHIFT_MAX && (uint64_t)2 << shift <= most)
        shift++;
    while (ranges_of(params->numbers, shift) > blocks)
        shift++;
    return shift;
}

enum vdbq_status reorder_init(struct reorder *reorder,
                              const struct reorder_params *params,
                              struct error *error)
{
    assert(params->column_count > 0);
    uint64_t row =
        spill_row_bytes(params->columns, params->column_count, params->reads);
    *reorder = (struct reorder){ .shift = choose_shift(params, row),
                                 .any_order = params->any_order,
                                 .threads = params->threads };
    unsigned count = params->any_order
                         ? 1
                         : (unsigned)ranges_of(params->numbers, reorder->shift);
    uint64_t block = params->room_bytes / 2 / count;
    enum vdbq_status status =
        spill_init(&reorder->spill,
                   &(struct spill_params){
                       .files = params->files,
                       .memory = params->memory,
                       .columns = params->columns,
                       .column_count = params->column_count,
                       .reads = params->reads,
                       .plain = params->any_order,
                       .partitions = count,
                       .block_bytes = block < BLOCK_MAX ? block : BLOCK_MAX },
                   error);
    if (status == VDBQ_OK)
        status = row_set_init(&reorder->range, params->columns,
                              params->column_count, error);
    if (status == VDBQ_OK)
        status = row_set_init(&reorder->output, params->columns,
                              params->column_count, error);
    if (status == VDBQ_OK && !params->any_order)
        status = spill_parts_init(&reorder->parts, &reorder->spill,
                                  params->threads, error);
    reorder->vectors =
        memory_zeroed(params->column_count, sizeof *reorder->vectors);
    return status == VDBQ_OK && reorder->vectors == NULL
               ? error_no_memory(error)
               : status;
}

void reorder_finish(struct reorder *reorder)
{
    spill_reader_finish(&reorder->reader);
    spill_parts_finish(&reorder->parts);
    spill_finish(&reorder->spill);
    row_set_finish(&reorder->range);
    row_set_finish(&reorder->output);
    memory_release(reorder->order);
    memory_release(reorder->vectors);
    *reorder = (struct reorder){ 0 };
}

/* ----------------------------------------------------------------- add -- */

/* Numbers of rows that are added. */
struct numbering {
    const uint64_t *numbers;
    unsigned shift;
};

/* For spill_parts: the ranges of rows. */
static void find_ranges(const void *context, uint64_t first, uint64_t count,
                        uint16_t *ranges)
{
    const struct numbering *numbering = context;
    for (uint64_t i = 0; i < count; i++)
        ranges[i] =
            (uint16_t)(numbering->numbers[first + i] >> numbering->shift);
}

enum vdbq_status reorder_add(struct reorder *reorder,
                             const struct row_set *rows,
                             const uint64_t *numbers, struct error *error)
{
    const struct numbering numbering = { .numbers = numbers,
                                         .shift = reorder->shift };
    reorder->rows += rows->rows;
    if (reorder->any_order)
        return spill_add(
            &reorder->spill, 0,
            &(struct spill_rows){ .from = rows, .count = rows->rows }, error);
    return spill_parts_add(&reorder->parts,
                           &(struct spill_slice){ .from = rows,
                                                  .numbers = numbers,
                                                  .find = find_ranges,
                                                  .context = &numbering },
                           error);
}

enum vdbq_status reorder_end(struct reorder *reorder, struct error *error)
{
    spill_parts_finish(&reorder->parts);
    enum vdbq_status status = spill_end(&reorder->spill, error);
    if (status != VDBQ_OK || !reorder->any_order)
        return status;
    const struct spill_range all = { .spill = &reorder->spill,
                                     .rows = reorder->rows };
    return spill_reader_init(&reorder->reader, &all, error);
}

/* ---------------------------------------------------------------- read -- */

/* Notes where the numbers of the rows at hand are in the range. */
static void place(struct reorder *reorder, const struct vdbq_batch *batch,
                  unsigned partition)
{
    const uint64_t *numbers = batch->column[batch->columns].values;
    uint64_t least = (uint64_t)partition << reorder->shift;
    for (uint64_t i = 0; i < batch->rows; i++) {
        uint64_t at = numbers[i] - least;
        assert(at >> reorder->shift == 0);
        assert(reorder->order[at] == ROW_SET_NO_ROW);
        reorder->order[at] = (uint32_t)(reorder->range.rows + i);
    }
}

/* Takes the places that no row has out of the order. */
static void close_gaps(struct reorder *reorder)
{
    uint64_t numbers = UINT64_C(1) << reorder->shift, rows = 0;
    for (uint64_t i = 0; i < numbers; i++) {
        reorder->order[rows] = reorder->order[i];
        rows += reorder->order[i] != ROW_SET_NO_ROW;
    }
    assert(rows == reorder->range.rows);
}

/* Reads the blocks of a partition into the range. */
static enum vdbq_status read_blocks(struct reorder *reorder,
                                    struct spill_reader *reader,
                                    struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = spill_read(reader, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0) {
            place(reorder, &batch, reader->partition);
            status = row_set_append(&reorder->range, &batch, reorder->threads,
                                    error);
        }
    }
    return status;
}

/* Brings a partition into memory. */
static enum vdbq_status load(struct reorder *reorder, unsigned partition,
                             struct error *error)
{
    const struct spill_range all = { .spill = &reorder->spill,
                                     .partition = partition,
                                     .rows = spill_rows(&reorder->spill,
                                                        partition) };
    size_t bytes = sizeof *reorder->order << reorder->shift;
    struct spill_reader reader;
    if (reorder->order == NULL)
        reorder->order = memory_resize(NULL, bytes);
    if (reorder->order == NULL)
        return error_no_memory(error);
    memset(reorder->order, 0xff, bytes);
    reorder->range.rows = reorder->next = 0;
    enum vdbq_status status = row_set_room(&reorder->range, all.rows, error);
    if (status == VDBQ_OK) {
        status = spill_reader_init(&reader, &all, error);
        if (status == VDBQ_OK)
            status = read_blocks(reorder, &reader, error);
        spill_reader_finish(&reader);
    }
    if (status == VDBQ_OK)
        close_gaps(reorder);
    return status;
}

/* Gives out the next rows of the range. */
static enum vdbq_status give(struct reorder *reorder, uint64_t rows,
                             struct error *error)
{
    reorder->output.rows = 0;
    enum vdbq_status status = row_set_room(&reorder->output, rows, error);
    if (status == VDBQ_OK)
        status = row_set_pick(&reorder->output, 0, &reorder->range,
                              reorder->order + reorder->next, rows,
                              reorder->threads, error);
    reorder->output.rows = rows;
    reorder->next += rows;
    row_set_vectors(&reorder->output, 0, reorder->vectors);
    return status;
}

enum vdbq_status reorder_batch(struct reorder *reorder,
                               struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (reorder->any_order)
        return spill_read(&reorder->reader, batch, error);
    while (status == VDBQ_OK && reorder->next == reorder->range.rows
           && reorder->partition < reorder->spill.partitions.count)
        status = load(reorder, reorder->partition++, error);
    uint64_t rows = reorder->range.rows - reorder->next;
    rows = rows < BATCH_ROWS ? rows : BATCH_ROWS;
    *batch = (struct vdbq_batch){ .columns = reorder->output.column_count,
                                  .column = reorder->vectors };
    if (status != VDBQ_OK || rows == 0)
        return status;
    batch->rows = rows;
    return give(reorder, rows, error);
}
