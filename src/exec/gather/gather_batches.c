/* SPDX-License-Identifier: MIT */
/*
 * Batches of the ranks' rows: see gather_batches.h. Columns are the input's: one
 * more than the gather's where numbers say how rows come.
 */
#include "exec/gather/gather_batches.h"

#include <assert.h>

static const struct step *input_of(const struct gather_batches *batches)
{
    return batches->stream->inputs[0]->step;
}

/* Whether a column of the input is read: numbers always are. */
static bool is_read(const struct gather_batches *batches, unsigned column)
{
    return column >= batches->stream->step->column_count
           || batches->stream->reads[column];
}

enum vdbq_status gather_batches_init(struct gather_batches *batches,
                                     struct stream *stream, struct error *error)
{
    unsigned columns = stream->step->column_count;
    *batches = (struct gather_batches){
        .stream = stream,
        .room = memory_zeroed(columns + 1, sizeof *batches->room),
        .rows_room = memory_zeroed(columns + 1, sizeof *batches->rows_room),
        .blank = memory_zeroed(GATHER_ROWS, sizeof(uint64_t)),
    };
    if (!batches->room || !batches->rows_room || !batches->blank)
        return error_no_memory(error);
    return gather_words_join(&batches->words, stream->inputs[0], error);
}

void gather_batches_finish(struct gather_batches *batches)
{
    for (unsigned i = 0;
         batches->room != NULL && i < batches->stream->step->column_count; i++)
        memory_release(batches->room[i]);
    memory_release(batches->room);
    memory_release(batches->rows_room);
    memory_release(batches->blank);
    gather_words_finish(&batches->words);
    *batches = (struct gather_batches){ 0 };
}

bool gather_source_init(struct gather_source *source,
                        const struct gather_batches *batches, unsigned rank)
{
    *source = (struct gather_source){
        .rank = rank,
        .vectors = memory_zeroed(input_of(batches)->column_count + (size_t)1,
                                 sizeof *source->vectors)
    };
    return source->vectors != NULL;
}

void gather_source_finish(struct gather_source *source)
{
    message_end(&source->reader);
    memory_release(source->vectors);
    *source = (struct gather_source){ 0 };
}

struct dictionary *
gather_batches_dictionary(const struct gather_batches *batches, unsigned column)
{
    assert(batches->stream == NULL
           || column < batches->stream->step->column_count);
    return batches->words.joined != NULL
               ? batches->words.joined[column]
               : stream_dictionary(batches->stream->inputs[0], column);
}

/* The next rows of this rank's share. */
static enum vdbq_status own_batch(struct gather_batches *batches,
                                  struct vdbq_batch *batch, struct error *error)
{
    struct ranks *ranks = batches->stream->params->ranks;
    struct rank_clock clock = rank_start(ranks);
    enum vdbq_status status =
        stream_batch(batches->stream->inputs[0], batch, error);
    rank_spend(ranks, RANK_COMPUTE, clock);
    if (ranks != NULL)
        ranks->cost.rows += batch->rows;
    return status;
}

/* --------------------------------------------------------- other ranks -- */

static size_t message_bytes(const struct gather_batches *batches,
                            const struct vdbq_batch *batch, uint64_t rows)
{
    size_t bytes = sizeof(uint64_t);
    for (unsigned i = 0; i < batch->columns; i++)
        if (is_read(batches, i))
            bytes += message_column_bytes(&batch->column[i], rows);
    return bytes;
}

/* Sends rows [first, first + rows) of a batch. */
static enum vdbq_status send_rows(const struct gather_batches *batches,
                                  const struct vdbq_batch *batch,
                                  uint64_t first, uint64_t rows,
                                  struct error *error)
{
    struct message_writer writer;
    if (!message_begin(&writer, message_bytes(batches, batch, rows)))
        return error_no_memory(error);
    message_put(&writer, &rows, sizeof rows);
    for (unsigned i = 0; i < batch->columns; i++)
        if (is_read(batches, i))
            message_put_column(&writer, &batch->column[i], first, rows);
    return message_send(&writer, batches->stream->params->ranks, 0, error);
}

/* Sends a batch, in messages of so many rows. */
static enum vdbq_status send_batch(const struct gather_batches *batches,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    struct ranks *ranks = batches->stream->params->ranks;
    struct rank_clock clock = rank_start(ranks);
    uint64_t rows = 0;
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0; status == VDBQ_OK && at < batch->rows; at += rows) {
        uint64_t left = batch->rows - at;
        rows = left < GATHER_ROWS ? left : GATHER_ROWS;
        status = send_rows(batches, batch, at, rows, error);
    }
    rank_spend(ranks, RANK_EXCHANGE, clock);
    return status;
}

enum vdbq_status gather_batches_send(struct gather_batches *batches,
                                     struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = own_batch(batches, &batch, error);
        if (status == VDBQ_OK)
            status = send_batch(batches, &batch, error);
    }
    return status;
}

/* -------------------------------------------------------------- rank 0 -- */

/* Whether words of a column have other numbers than a rank gave them. */
static bool changes(const struct gather_batches *batches, unsigned rank,
                    unsigned column)
{
    return input_of(batches)->columns[column].type == VDBQ_TEXT
           && is_read(batches, column)
           && gather_words_change(&batches->words, rank, column);
}

/* A column of the message. */
static void take_column(struct gather_batches *batches,
                        struct gather_source *source, unsigned number,
                        uint64_t rows)
{
    struct vdbq_vector *column = &source->vectors[number];
    *column =
        (struct vdbq_vector){ .type = input_of(batches)->columns[number].type,
                              .values = batches->blank };
    if (!is_read(batches, number))
        return;
    message_take_column(&source->reader, rows, column);
    uint32_t *values = (uint32_t *)column->values;
    if (values == NULL || !changes(batches, source->rank, number))
        return;
    for (uint64_t i = 0; i < rows; i++)
        values[i] = gather_words_number(&batches->words, source->rank, number,
                                        values[i]);
}

/* The next rows of another rank. */
static enum vdbq_status take_other(struct gather_batches *batches,
                                   struct gather_source *source,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    struct message_reader *reader = &source->reader;
    message_end(reader);
    enum vdbq_status status = message_receive(
        reader, batches->stream->params->ranks, source->rank, error);
    if (status != VDBQ_OK || reader->message.bytes == NULL)
        return status;
    const uint64_t *rows = message_take(reader, 1, sizeof *rows);
    reader->cut |= rows == NULL || *rows == 0 || *rows > GATHER_ROWS;
    batch->columns = input_of(batches)->column_count;
    for (unsigned i = 0; !reader->cut && i < batch->columns; i++)
        take_column(batches, source, i, *rows);
    status = message_check(reader, error);
    if (status != VDBQ_OK)
        return status;
    batch->rows = *rows;
    batch->column = source->vectors;
    return VDBQ_OK;
}

/* Gives texts of this rank their new numbers. */
static enum vdbq_status renumber(struct gather_batches *batches,
                                 struct vdbq_vector *vector, unsigned column,
                                 uint64_t rows, struct error *error)
{
    const uint32_t *from = vector->values;
    if (rows > batches->rows_room[column]) {
        uint32_t *room =
            memory_resize(batches->room[column], rows * sizeof *room);
        if (room == NULL)
            return error_no_memory(error);
        batches->room[column] = room;
        batches->rows_room[column] = rows;
    }
    for (uint64_t i = 0; i < rows && !stop_at(i); i++)
        batches->room[column][i] =
            gather_words_number(&batches->words, 0, column, from[i]);
    vector->values = batches->room[column];
    return stop_pause(error);
}

/* The next rows of this rank, which has no link to itself. */
static enum vdbq_status take_own(struct gather_batches *batches,
                                 struct gather_source *source,
                                 struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status = own_batch(batches, batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(batches->stream->inputs[0], batch, source->vectors);
    for (unsigned i = 0; status == VDBQ_OK && i < batch->columns; i++)
        if (changes(batches, 0, i))
            status =
                renumber(batches, &source->vectors[i], i, batch->rows, error);
    return status;
}

enum vdbq_status gather_batches_take(struct gather_batches *batches,
                                     struct gather_source *source,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    assert(source->rank < batches->words.ranks);
    batch->rows = 0;
    return source->rank == 0 ? take_own(batches, source, batch, error)
                             : take_other(batches, source, batch, error);
}
