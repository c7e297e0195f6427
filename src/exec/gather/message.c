/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks: see message.h. Their times are the rank's.
 */
#include "exec/gather/message.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

bool message_begin(struct message_writer *writer, size_t size)
{
    *writer = (struct message_writer){ .message = { .size = size } };
    writer->message.bytes = memory_zeroed(size + 1, 1);
    return writer->message.bytes != NULL;
}

void *message_put(struct message_writer *writer, const void *bytes, size_t size)
{
    uint8_t *item = writer->message.bytes + writer->at;
    assert(writer->at + message_item(size) <= writer->message.size);
    if (bytes != NULL)
        memcpy(item, bytes, size);
    writer->at += message_item(size);
    return item;
}

/* ------------------------------------------------------------- columns -- */

size_t message_column_bytes(const struct vdbq_vector *column, uint64_t rows)
{
    return sizeof(uint64_t) + message_item(rows * row_set_width(column->type))
           + (column->nulls != NULL ? message_item(rows) : 0);
}

void message_put_column(struct message_writer *writer,
                        const struct vdbq_vector *column, uint64_t first,
                        uint64_t count)
{
    const uint64_t nullable = column->nulls != NULL;
    size_t width = row_set_width(column->type);
    message_put(writer, &nullable, sizeof nullable);
    message_put(writer, (const uint8_t *)column->values + first * width,
                count * width);
    if (nullable)
        message_put(writer, column->nulls + first, count);
}

/* Copies values of rows of a list. */
static void pick_values(void *to, const struct vdbq_vector *from,
                        const uint32_t *rows, uint64_t count)
{
    const uint32_t *words = from->values;
    const uint64_t *longs = from->values;
    if (row_set_width(from->type) == sizeof *words)
        for (uint64_t i = 0; i < count; i++)
            ((uint32_t *)to)[i] = words[rows[i]];
    else
        for (uint64_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = longs[rows[i]];
}

void message_pick_column(struct message_writer *writer,
                         const struct vdbq_vector *column, const uint32_t *rows,
                         uint64_t count)
{
    const uint64_t nullable = column->nulls != NULL;
    size_t width = row_set_width(column->type);
    message_put(writer, &nullable, sizeof nullable);
    pick_values(message_put(writer, NULL, count * width), column, rows, count);
    if (!nullable)
        return;
    uint8_t *nulls = message_put(writer, NULL, count);
    for (uint64_t i = 0; i < count; i++)
        nulls[i] = column->nulls[rows[i]];
}

void message_take_column(struct message_reader *reader, uint64_t rows,
                         struct vdbq_vector *column)
{
    const uint64_t *nullable = message_take(reader, 1, sizeof *nullable);
    column->values = message_take(reader, rows, row_set_width(column->type));
    column->nulls = NULL;
    if (nullable != NULL && *nullable)
        column->nulls = message_take(reader, rows, 1);
}

/* --------------------------------------------------------- their travel -- */

enum vdbq_status message_send(struct message_writer *writer,
                              struct ranks *ranks, unsigned to,
                              struct error *error)
{
    struct rank_message message = writer->message;
    assert(writer->at == message.size);
    *writer = (struct message_writer){ 0 };
    ranks->cost.bytes += message.size;
    return ranks->send(ranks, to, message, error);
}

enum vdbq_status message_receive(struct message_reader *reader,
                                 struct ranks *ranks, unsigned from,
                                 struct error *error)
{
    struct rank_clock clock = rank_start(ranks);
    *reader = (struct message_reader){ .ranks = ranks, .from = from };
    enum vdbq_status status =
        ranks->receive(ranks, from, &reader->message, error);
    rank_spend(ranks, RANK_WAIT, clock);
    return status;
}

void message_end(struct message_reader *reader)
{
    memory_release(reader->message.bytes);
    *reader = (struct message_reader){ 0 };
}

void *message_take(struct message_reader *reader, uint64_t count, size_t width)
{
    size_t left = reader->message.size - reader->at;
    if (reader->cut || count > left / width
        || message_item(count * width) > left) {
        reader->cut = true;
        return NULL;
    }
    void *item = reader->message.bytes + reader->at;
    reader->at += message_item(count * width);
    return item;
}

enum vdbq_status message_check(const struct message_reader *reader,
                               struct error *error)
{
    if (!reader->cut)
        return VDBQ_OK;
    if (reader->ranks != NULL)
        reader->ranks->garbled(reader->ranks, reader->from);
    return error_set(error, VDBQ_CORRUPT, "rank %u sent a message that is cut",
                     reader->from);
}
