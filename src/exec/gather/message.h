/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks, written and read item by item. Each item begins at a
 * multiple of 8 bytes, so that it is used where it lies.
 */
#ifndef VDBQ_EXEC_GATHER_MESSAGE_H
#define VDBQ_EXEC_GATHER_MESSAGE_H

#include <stdbool.h>

#include "exec/rows/row_set.h"
#include "exec/stream/ranks.h"

/* Bytes that an item of so many takes. */
static inline size_t message_item(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

struct message_writer {
    struct rank_message message;
    size_t at; /* bytes that are written */
};
/* For a message whose items take `size` bytes. False: no memory. */
bool message_begin(struct message_writer *writer, size_t size);
/* Adds an item; `bytes` NULL: it is zeroed. Returns where it lies. */
void *message_put(struct message_writer *writer, const void *bytes,
                  size_t size);
/* Columns of rows: whether there are NULL flags, the values, the flags. Bytes of
 * so many rows of one. */
size_t message_column_bytes(const struct vdbq_vector *column, uint64_t rows);
/* Adds rows [first, first + count) of a column, or those of a list. */
void message_put_column(struct message_writer *writer,
                        const struct vdbq_vector *column, uint64_t first,
                        uint64_t count);
void message_pick_column(struct message_writer *writer,
                         const struct vdbq_vector *column, const uint32_t *rows,
                         uint64_t count);
/* Sends what was written. */
enum vdbq_status message_send(struct message_writer *writer,
                              struct ranks *ranks, unsigned to,
                              struct error *error);

struct message_reader {
    struct rank_message message;
    size_t at; /* bytes that were taken                                 */
    struct ranks *ranks; /* that it was received by */
    unsigned from; /* rank that sent it                                     */
    bool cut;      /* an item was asked for that is not there               */
};
/* Receives the next message of a rank, whose bytes are released by
 * message_end(), whatever it returns. */
enum vdbq_status message_receive(struct message_reader *reader,
                                 struct ranks *ranks, unsigned from,
                                 struct error *error);
void message_end(struct message_reader *reader);
/* The next item, of `count` times `width` bytes; NULL: the message is cut. */
void *message_take(struct message_reader *reader, uint64_t count, size_t width);
/* Such a column, of the vector's type, as it lies in the message. */
void message_take_column(struct message_reader *reader, uint64_t rows,
                         struct vdbq_vector *column);
/* Fails where the message was cut, with CORRUPT, if the ranks go on then. */
enum vdbq_status message_check(const struct message_reader *reader,
                               struct error *error);

#endif
