/* SPDX-License-Identifier: MIT */
/*
 * Partitions of rows in a temporary file. Each partition that is being filled
 * has a row set of one block's rows, which are written when it is full.
 */
#include "exec/rows/spill.h"

#include <assert.h>
#include <string.h>

#include "exec/rows/spill_pack.h"

enum {
    ROWS_MIN = 16, /* of a block                              */
    ROWS_MAX = 1 << 16,
    LIST_ROWS = 1 << 10 /* row numbers that are made at once   */
};

struct spill_block {
    uint64_t offset; /* in the file */
    uint64_t size;   /* in bytes, a multiple of 8 */
    uint32_t rows;   /* at least 1 */
};

struct spill_partition {
    uint64_t rows;         /* of all blocks and of the buffer */
    struct vector blocks;  /* of struct spill_block          */
    struct row_set buffer; /* rows that were not written yet */
    uint64_t *numbers;     /* ... theirs; NULL: no memory yet */
};

/* The partition with this number. */
static struct spill_partition *partition_at(const struct spill *spill,
                                            unsigned partition)
{
    assert(partition < spill->partitions.count);
    return vector_at(&spill->partitions, partition);
}

/* Sizes in a block are multiples of 8, so that all columns are aligned. */
static uint64_t padded(uint64_t size)
{
    return (size + 7) / 8 * 8;
}

/* Whether somebody reads this column later; else it is not written. */
static bool keeps(const struct spill *spill, unsigned column)
{
    return spill->reads == NULL || spill->reads[column];
}

/* -------------------------------------------------------- open, finish -- */

uint64_t spill_row_bytes(const struct step_column *columns, unsigned count,
                         const bool *reads)
{
    uint64_t bytes = sizeof(uint64_t);
    for (unsigned i = 0; i < count; i++)
        if (reads == NULL || reads[i])
            bytes += row_set_width(columns[i].type) + 1;
    return bytes;
}

enum vdbq_status spill_init(struct spill *spill,
                            const struct spill_params *params,
                            struct error *error)
{
    assert(params->column_count > 0);
    enum vdbq_status status = VDBQ_OK;
    *spill = (struct spill){
        .columns = params->columns,
        .column_count = params->column_count,
        .reads = params->reads,
        .plain = params->plain,
        .row_bytes = spill_row_bytes(params->columns, params->column_count,
                                     params->reads),
        .partitions = VECTOR(struct spill_partition),
    };
    spill_file_init(&spill->file, params->files, params->memory);
    uint64_t rows = params->block_bytes / spill->row_bytes;
    rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    spill->block_rows = rows > ROWS_MIN ? (uint32_t)rows : ROWS_MIN;
    for (unsigned i = 0; i < params->partitions && status == VDBQ_OK; i++)
        status = spill_partition_add(spill, error);
    return status;
}

/* Frees the memory of a partition whose rows are written. */
static void partition_finish(struct spill_partition *partition)
{
    row_set_finish(&partition->buffer);
    memory_release(partition->numbers);
    partition->numbers = NULL;
}

void spill_finish(struct spill *spill)
{
    for (unsigned i = 0; i < spill->partitions.count; i++) {
        partition_finish(partition_at(spill, i));
        vector_finish(&partition_at(spill, i)->blocks);
    }
    vector_finish(&spill->partitions);
    memory_release(spill->block);
    spill_file_close(&spill->file);
    *spill = (struct spill){ 0 };
}

enum vdbq_status spill_partition_add(struct spill *spill, struct error *error)
{
    struct spill_partition *partition = vector_add(&spill->partitions);
    if (partition == NULL)
        return error_no_memory(error);
    partition->blocks = VECTOR(struct spill_block);
    return VDBQ_OK;
}

uint64_t spill_rows(const struct spill *spill, unsigned partition)
{
    return partition_at(spill, partition)->rows;
}

/* --------------------------------------------------------------- write -- */

/* Bytes in front of a block's values. */
static uint64_t head_bytes(const struct spill *spill)
{
    return padded(spill->column_count + (uint64_t)1);
}

/* Bytes of a block of so many rows at most, as it is in the file and, since no
 * value becomes wider there, unpacked. */
static uint64_t block_bytes(const struct spill *spill, uint64_t rows)
{
    uint64_t bytes = head_bytes(spill) + SPILL_PACK_SLACK;
    if (!spill->plain)
        bytes += spill_pack_size(sizeof(uint64_t), rows);
    for (unsigned i = 0; i < spill->column_count; i++)
        if (keeps(spill, i))
            bytes +=
                spill_pack_size(row_set_width(spill->columns[i].type), rows)
                + padded(rows);
    return bytes;
}

/* Puts NULL flags into the block, at `at`; the place behind them. */
static uint64_t put_flags(uint8_t *block, uint64_t at, const uint8_t *nulls,
                          uint64_t rows)
{
    memcpy(block + at, nulls, rows);
    memset(block + at + rows, 0, padded(rows) - rows);
    return at + padded(rows);
}

/* Puts values into the block, and how wide they are into its head. */
static uint64_t put_values(uint8_t *block, uint64_t at, unsigned column,
                           const void *values, unsigned width, uint64_t rows)
{
    unsigned bytes = spill_pack(values, width, rows, block + at);
    block[column] = (uint8_t)bytes;
    return at + spill_pack_size(bytes, rows);
}

/* Makes the block of a partition's buffer; its size. */
static uint64_t make_block(const struct spill *spill,
                           const struct spill_partition *partition,
                           uint8_t *block)
{
    const struct row_set *rows = &partition->buffer;
    uint64_t at = head_bytes(spill);
    memset(block, 0, at);
    if (!spill->plain)
        at = put_values(block, at, spill->column_count, partition->numbers,
                        sizeof *partition->numbers, rows->rows);
    for (unsigned i = 0; i < spill->column_count; i++) {
        const struct row_set_column *column = &rows->columns[i];
        if (!keeps(spill, i))
            continue;
        at =
            put_values(block, at, i, column->values, column->width, rows->rows);
        if (column->nulls == NULL
            || memchr(column->nulls, 1, rows->rows) == NULL)
            continue;
        block[i] |= SPILL_NULLS;
        at = put_flags(block, at, column->nulls, rows->rows);
    }
    return at;
}

uint8_t *spill_make_block(const struct spill *spill)
{
    return memory_resize(NULL, block_bytes(spill, spill->block_rows));
}

/* Writes the rows of a partition's buffer, by a block that is made when it is
 * NULL. */
static enum vdbq_status flush(struct spill *spill,
                              struct spill_partition *partition, uint8_t **made,
                              struct error *error)
{
    struct spill_block block = { .rows = (uint32_t)partition->buffer.rows };
    if (block.rows == 0)
        return VDBQ_OK;
    if (*made == NULL)
        *made = spill_make_block(spill);
    if (*made == NULL)
        return error_no_memory(error);
    block.size = make_block(spill, partition, *made);
    enum vdbq_status status = spill_file_append(&spill->file, *made, block.size,
                                                &block.offset, error);
    if (status == VDBQ_OK && !vector_append(&partition->blocks, &block, 1))
        status = error_no_memory(error);
    partition->buffer.rows = 0;
    return status;
}

enum vdbq_status spill_partition_end(struct spill *spill, unsigned partition,
                                     struct error *error)
{
    enum vdbq_status status =
        flush(spill, partition_at(spill, partition), &spill->block, error);
    partition_finish(partition_at(spill, partition));
    return status;
}

enum vdbq_status spill_end(struct spill *spill, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < spill->partitions.count && status == VDBQ_OK; i++)
        status = spill_partition_end(spill, i, error);
    memory_release(spill->block);
    spill->block = NULL;
    return status;
}

/* ----------------------------------------------------------------- add -- */

/* Makes the buffer of a partition when its first row comes. */
static enum vdbq_status make_buffer(const struct spill *spill,
                                    struct spill_partition *partition,
                                    struct error *error)
{
    if (partition->numbers != NULL)
        return VDBQ_OK;
    enum vdbq_status status = row_set_init(&partition->buffer, spill->columns,
                                           spill->column_count, error);
    if (status == VDBQ_OK)
        status = row_set_room(&partition->buffer, spill->block_rows, error);
    if (status != VDBQ_OK)
        return status;
    partition->numbers =
        memory_resize(NULL, spill->block_rows * sizeof *partition->numbers);
    return partition->numbers != NULL ? VDBQ_OK : error_no_memory(error);
}

enum vdbq_status spill_make_room(struct spill *spill, unsigned partition,
                                 struct error *error)
{
    return make_buffer(spill, partition_at(spill, partition), error);
}

/* Adds so many rows, for which the buffer has room. */
static enum vdbq_status add_some(const struct spill *spill,
                                 struct spill_partition *partition,
                                 const struct spill_rows *rows,
                                 const uint32_t *list, uint64_t count,
                                 struct error *error)
{
    struct row_set from = *rows->from;
    struct row_set_picking picking = { .to = &partition->buffer,
                                       .from = &from,
                                       .reads = spill->reads };
    from.column_count = spill->column_count;
    enum vdbq_status status = row_set_pick_flags(&picking, error);
    if (status != VDBQ_OK)
        return status;
    row_set_pick_part(&picking, partition->buffer.rows, list, count);
    for (uint64_t i = 0; i < count && !spill->plain; i++)
        partition->numbers[partition->buffer.rows + i] =
            rows->numbers != NULL ? rows->numbers[list[i]]
                                  : rows->number + list[i];
    partition->buffer.rows += count;
    partition->rows += count;
    return VDBQ_OK;
}

/* Numbers of rows [first, first + count): as they are given, or in `own`. */
static const uint32_t *list_of(const struct spill_rows *rows, uint64_t first,
                               uint64_t count, uint32_t *own)
{
    if (rows->rows != NULL)
        return rows->rows + first;
    for (uint64_t i = 0; i < count; i++)
        own[i] = (uint32_t)(first + i);
    return own;
}

enum vdbq_status spill_add(struct spill *spill, unsigned partition,
                           const struct spill_rows *rows, struct error *error)
{
    return spill_add_beside(spill, partition, rows, &spill->block, error);
}

enum vdbq_status spill_add_beside(struct spill *spill, unsigned number,
                                  const struct spill_rows *rows,
                                  uint8_t **block, struct error *error)
{
    struct spill_partition *partition = partition_at(spill, number);
    uint32_t own[LIST_ROWS];
    enum vdbq_status status =
        rows->count > 0 ? make_buffer(spill, partition, error) : VDBQ_OK;
    for (uint64_t at = 0, count; at < rows->count && status == VDBQ_OK;
         at += count) {
        uint64_t room = spill->block_rows - partition->buffer.rows;
        assert(room > 0);
        count = rows->count - at;
        count = count < room ? count : room;
        count = count < LIST_ROWS ? count : LIST_ROWS;
        status = add_some(spill, partition, rows, list_of(rows, at, count, own),
                          count, error);
        if (status == VDBQ_OK && partition->buffer.rows == spill->block_rows)
            status = flush(spill, partition, block, error);
    }
    return status;
}

/* ---------------------------------------------------------------- read -- */

/* All blocks of a partition but the last one are full. */
void spill_reader_seek(struct spill_reader *reader,
                       const struct spill_range *range)
{
    assert(range->spill == reader->spill);
    reader->partition = range->partition;
    reader->block = range->first / reader->spill->block_rows;
    reader->skip = (uint32_t)(range->first % reader->spill->block_rows);
    reader->rows_left = range->rows;
}

enum vdbq_status spill_reader_init(struct spill_reader *reader,
                                   const struct spill_range *range,
                                   struct error *error)
{
    const struct spill *spill = range->spill;
    *reader = (struct spill_reader){
        .spill = spill,
        .blank = memory_zeroed(spill->reads != NULL ? spill->block_rows : 1,
                               sizeof(uint64_t)),
        .head = memory_zeroed(spill->column_count + (size_t)1, 1),
        .vectors = memory_zeroed(spill->column_count + (size_t)1,
                                 sizeof *reader->vectors),
    };
    spill_reader_seek(reader, range);
    return reader->head != NULL && reader->blank != NULL
                   && reader->vectors != NULL
               ? VDBQ_OK
               : error_no_memory(error);
}

void spill_reader_finish(struct spill_reader *reader)
{
    memory_release(reader->memory);
    memory_release(reader->head);
    memory_release(reader->blank);
    memory_release(reader->vectors);
    *reader = (struct spill_reader){ 0 };
}

/* A block that is being unpacked: what is read of it lies at the end of the memory
 * and moves to its start, where it may become wider than it is. */
struct unpacking {
    struct spill_reader *reader;
    const uint8_t *from; /* the next values */
    uint8_t *to;         /* ... and where they go */
    uint64_t rows;       /* of the block */
};

/* Unpacks values of a column, or the numbers; `vector` shows those from `skip`
 * on. */
static void take_values(struct unpacking *unpacking, unsigned column,
                        unsigned width, struct vdbq_vector *vector)
{
    unsigned bytes = unpacking->reader->head[column] & (SPILL_NULLS - 1);
    spill_unpack(unpacking->from, bytes, width, unpacking->rows, unpacking->to);
    unpacking->from += spill_pack_size(bytes, unpacking->rows);
    vector->values = unpacking->to + unpacking->reader->skip * width;
    unpacking->to += padded(unpacking->rows * width);
}

/* The same of NULL flags. */
static void take_flags(struct unpacking *unpacking, struct vdbq_vector *vector)
{
    memmove(unpacking->to, unpacking->from, unpacking->rows);
    unpacking->from += padded(unpacking->rows);
    vector->nulls = unpacking->to + unpacking->reader->skip;
    unpacking->to += padded(unpacking->rows);
}

/* Unpacks a block that was read. */
static void unpack(struct unpacking *unpacking)
{
    struct spill_reader *reader = unpacking->reader;
    const struct spill *spill = reader->spill;
    reader->vectors[spill->column_count] =
        (struct vdbq_vector){ .type = VDBQ_BIGINT, .values = reader->blank };
    if (!spill->plain)
        take_values(unpacking, spill->column_count, sizeof(uint64_t),
                    &reader->vectors[spill->column_count]);
    for (unsigned i = 0; i < spill->column_count; i++) {
        struct vdbq_vector *vector = &reader->vectors[i];
        *vector = (struct vdbq_vector){ .type = spill->columns[i].type,
                                        .values = reader->blank };
        if (!keeps(spill, i))
            continue;
        take_values(unpacking, i, row_set_width(spill->columns[i].type),
                    vector);
        if (reader->head[i] & SPILL_NULLS)
            take_flags(unpacking, vector);
    }
}

/* Whether the head of a block says what its size is: it was in a file. */
static bool is_sound(const struct spill *spill, const uint8_t *head,
                     const struct spill_block *block)
{
    uint64_t size = head_bytes(spill);
    for (unsigned i = 0; i <= spill->column_count; i++) {
        unsigned bytes = head[i] & (SPILL_NULLS - 1), width = sizeof(uint64_t);
        bool numbers = i == spill->column_count;
        if (numbers ? spill->plain : !keeps(spill, i))
            continue;
        if (!numbers)
            width = row_set_width(spill->columns[i].type);
        if (bytes > width)
            return false;
        size += spill_pack_size(bytes, block->rows);
        size += head[i] & SPILL_NULLS ? padded(block->rows) : 0;
    }
    return size == block->size;
}

enum vdbq_status spill_reader_make_room(struct spill_reader *reader,
                                        uint32_t rows, struct error *error)
{
    uint64_t wanted = block_bytes(reader->spill, rows);
    if (wanted > reader->room) {
        memory_release(reader->memory);
        reader->memory = memory_resize(NULL, wanted);
        reader->room = reader->memory != NULL ? wanted : 0;
    }
    return reader->memory != NULL ? VDBQ_OK : error_no_memory(error);
}

/* Reads a block to the end of the reader's memory and unpacks it. */
static enum vdbq_status load(struct spill_reader *reader,
                             const struct spill_block *block,
                             struct error *error)
{
    const struct spill *spill = reader->spill;
    uint64_t wanted = block_bytes(spill, block->rows);
    enum vdbq_status status =
        spill_reader_make_room(reader, block->rows, error);
    if (status != VDBQ_OK)
        return status;
    assert(block->size + SPILL_PACK_SLACK <= wanted);
    uint8_t *at = reader->memory + wanted - SPILL_PACK_SLACK - block->size;
    status =
        spill_file_read(&spill->file, at, block->size, block->offset, error);
    if (status != VDBQ_OK)
        return status;
    if (!is_sound(spill, at, block))
        return error_set(error, VDBQ_IO, "a temporary file has changed");
    memcpy(reader->head, at, spill->column_count + (size_t)1);
    unpack(&(struct unpacking){ .reader = reader,
                                .from = at + head_bytes(spill),
                                .to = reader->memory,
                                .rows = block->rows });
    return VDBQ_OK;
}

enum vdbq_status spill_read(struct spill_reader *reader,
                            struct vdbq_batch *batch, struct error *error)
{
    const struct spill *spill = reader->spill;
    const struct vector *blocks =
        &partition_at(spill, reader->partition)->blocks;
    *batch = (struct vdbq_batch){ .columns = spill->column_count };
    if (reader->rows_left == 0)
        return VDBQ_OK;
    const struct spill_block *block = vector_at(blocks, reader->block);
    enum vdbq_status status = load(reader, block, error);
    if (status != VDBQ_OK)
        return status;
    assert(reader->skip < block->rows);
    uint64_t rows = block->rows - reader->skip;
    rows = rows < reader->rows_left ? rows : reader->rows_left;
    reader->rows_left -= rows;
    reader->skip += (uint32_t)rows;
    if (reader->skip == block->rows) {
        reader->block++;
        reader->skip = 0;
    }
    batch->rows = rows;
    batch->column = reader->vectors;
    return VDBQ_OK;
}
