/* SPDX-License-Identifier: MIT */
/*
 * STEP_GATHER of rows. Rank 0 gives its own, then those of rank 1, and so on:
 * since each has a share of the tablets side by side, they come in the order in
 * which one process would give them, and so does a failure. The others send
 * their rows, column by column as they are, and give none.
 */
#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "exec/gather/gather_words.h"
#include "exec/gather/message.h"

enum { MESSAGE_ROWS = 1 << 16 }; /* at most */

struct gather_rows {
    struct stream head; /* first */
    struct gather_words words;
    unsigned rank;                /* whose rows come                       */
    struct message_reader reader; /* ... the message with those given last */
    struct vdbq_vector *vectors;  /* of the batch                          */
    uint32_t **room;              /* a column: new numbers of own texts    */
    uint64_t *rows_room;          /* likewise: how many                    */
    uint8_t *blank;               /* values of columns that nobody reads   */
};

static enum vdbq_status gather_rows_open(struct stream *stream,
                                         struct error *error)
{
    struct gather_rows *gather = (struct gather_rows *)stream;
    unsigned columns = stream->step->column_count;
    message_computed(stream->params->ranks);
    stream->rows_most = stream->inputs[0]->rows_most;
    gather->vectors = memory_zeroed(columns, sizeof *gather->vectors);
    gather->room = memory_zeroed(columns, sizeof *gather->room);
    gather->rows_room = memory_zeroed(columns, sizeof *gather->rows_room);
    gather->blank = memory_zeroed(MESSAGE_ROWS, sizeof(uint64_t));
    if (!gather->vectors || !gather->room || !gather->rows_room
        || !gather->blank)
        return error_no_memory(error);
    return gather_words_join(&gather->words, stream->inputs[0], error);
}

/* The next rows of this rank's share. */
static enum vdbq_status own_batch(struct gather_rows *gather,
                                  struct vdbq_batch *batch, struct error *error)
{
    struct ranks *ranks = gather->head.params->ranks;
    uint64_t start = os_time_ns();
    enum vdbq_status status =
        stream_batch(gather->head.inputs[0], batch, error);
    if (ranks != NULL) {
        ranks->cost.compute_ns += os_time_ns() - start;
        ranks->cost.rows += batch->rows;
    }
    return status;
}

/* --------------------------------------------------------- other ranks -- */

static size_t message_bytes(const struct gather_rows *gather,
                            const struct vdbq_batch *batch, uint64_t rows)
{
    size_t bytes = sizeof(uint64_t);
    for (unsigned i = 0; i < batch->columns; i++)
        if (gather->head.reads[i])
            bytes += message_column_bytes(&batch->column[i], rows);
    return bytes;
}

/* Sends rows [first, first + rows) of a batch. */
static enum vdbq_status send_rows(const struct gather_rows *gather,
                                  const struct vdbq_batch *batch,
                                  uint64_t first, uint64_t rows,
                                  struct error *error)
{
    struct message_writer writer;
    if (!message_begin(&writer, message_bytes(gather, batch, rows)))
        return error_no_memory(error);
    message_put(&writer, &rows, sizeof rows);
    for (unsigned i = 0; i < batch->columns; i++)
        if (gather->head.reads[i])
            message_put_column(&writer, &batch->column[i], first, rows);
    return message_send(&writer, gather->head.params->ranks, 0, error);
}

/* Sends a batch, in messages of so many rows. */
static enum vdbq_status send_batch(const struct gather_rows *gather,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    struct rank_cost *cost = &gather->head.params->ranks->cost;
    uint64_t start = os_time_ns(), waited = cost->wait_ns, rows = 0;
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0; status == VDBQ_OK && at < batch->rows; at += rows) {
        uint64_t left = batch->rows - at;
        rows = left < MESSAGE_ROWS ? left : MESSAGE_ROWS;
        status = send_rows(gather, batch, at, rows, error);
    }
    cost->exchange_ns += os_time_ns() - start - (cost->wait_ns - waited);
    return status;
}

/* Sends all rows of this rank. */
static enum vdbq_status send_all(struct gather_rows *gather,
                                 struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = own_batch(gather, &batch, error);
        if (status == VDBQ_OK)
            status = send_batch(gather, &batch, error);
    }
    return status;
}

/* -------------------------------------------------------------- rank 0 -- */

/* A column of the message. */
static void take_column(struct gather_rows *gather, unsigned number,
                        uint64_t rows)
{
    struct message_reader *reader = &gather->reader;
    struct vdbq_vector *column = &gather->vectors[number];
    column->type = gather->head.step->columns[number].type;
    column->values = gather->blank;
    column->nulls = NULL;
    if (!gather->head.reads[number])
        return;
    message_take_column(reader, rows, column);
    uint32_t *values = (uint32_t *)column->values;
    if (column->type != VDBQ_TEXT || values == NULL
        || !gather_words_change(&gather->words, gather->rank, number))
        return;
    for (uint64_t i = 0; i < rows; i++)
        values[i] = gather_words_number(&gather->words, gather->rank, number,
                                        values[i]);
}

/* The next rows of another rank; rows 0: it has no more. */
static enum vdbq_status take_batch(struct gather_rows *gather,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    struct message_reader *reader = &gather->reader;
    batch->rows = 0;
    message_end(reader);
    enum vdbq_status status = message_receive(
        reader, gather->head.params->ranks, gather->rank, error);
    if (status != VDBQ_OK || reader->message.bytes == NULL)
        return status;
    const uint64_t *rows = message_take(reader, 1, sizeof *rows);
    reader->cut |= rows == NULL || *rows == 0 || *rows > MESSAGE_ROWS;
    batch->columns = gather->head.step->column_count;
    for (unsigned i = 0; !reader->cut && i < batch->columns; i++)
        take_column(gather, i, *rows);
    status = message_check(reader, error);
    if (status != VDBQ_OK)
        return status;
    batch->rows = *rows;
    batch->column = gather->vectors;
    return VDBQ_OK;
}

/* Gives texts of this rank their new numbers. */
static enum vdbq_status renumber(struct gather_rows *gather, unsigned column,
                                 uint64_t rows, struct error *error)
{
    struct vdbq_vector *vector = &gather->vectors[column];
    const uint32_t *from = vector->values;
    if (rows > gather->rows_room[column]) {
        uint32_t *room =
            memory_resize(gather->room[column], rows * sizeof *room);
        if (room == NULL)
            return error_no_memory(error);
        gather->room[column] = room;
        gather->rows_room[column] = rows;
    }
    for (uint64_t i = 0; i < rows && !stop_at(i); i++)
        gather->room[column][i] =
            gather_words_number(&gather->words, 0, column, from[i]);
    vector->values = gather->room[column];
    return stop_pause(error);
}

static enum vdbq_status own_rows(struct gather_rows *gather,
                                 struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status = own_batch(gather, batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(&gather->head, batch, gather->vectors);
    for (unsigned i = 0; status == VDBQ_OK && i < batch->columns; i++)
        if (gather->head.reads[i] && batch->column[i].type == VDBQ_TEXT
            && gather_words_change(&gather->words, 0, i))
            status = renumber(gather, i, batch->rows, error);
    return status;
}

static enum vdbq_status gather_rows_batch(struct stream *stream,
                                          struct vdbq_batch *batch,
                                          struct error *error)
{
    struct gather_rows *gather = (struct gather_rows *)stream;
    const struct ranks *ranks = stream->params->ranks;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    if (ranks != NULL && ranks->rank > 0)
        return send_all(gather, error);
    while (status == VDBQ_OK && batch->rows == 0
           && gather->rank < gather->words.ranks) {
        status = gather->rank == 0 ? own_rows(gather, batch, error)
                                   : take_batch(gather, batch, error);
        gather->rank += status == VDBQ_OK && batch->rows == 0;
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    return status;
}

static struct dictionary *gather_rows_dictionary(const struct stream *stream,
                                                 unsigned column)
{
    const struct gather_rows *gather = (const struct gather_rows *)stream;
    return gather->words.joined != NULL
               ? gather->words.joined[column]
               : stream_dictionary(stream->inputs[0], column);
}

static void gather_rows_close(struct stream *stream)
{
    struct gather_rows *gather = (struct gather_rows *)stream;
    for (unsigned i = 0; gather->room != NULL && i < stream->step->column_count;
         i++)
        memory_release(gather->room[i]);
    memory_release(gather->room);
    memory_release(gather->rows_room);
    memory_release(gather->vectors);
    memory_release(gather->blank);
    message_end(&gather->reader);
    gather_words_finish(&gather->words);
}

const struct stream_kind gather_rows_stream = {
    .size = sizeof(struct gather_rows),
    .calls = { .batch = gather_rows_batch,
               .dictionary = gather_rows_dictionary,
               .close = gather_rows_close },
    .open = gather_rows_open,
};
