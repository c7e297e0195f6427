/* SPDX-License-Identifier: MIT */
/*
 * STEP_EXCHANGE: while a rank's own rows are made, each block of them is cut by
 * the hashes of their keys, and what is other ranks' is on its way to them while
 * the next is made; what comes meanwhile is kept. All of it is done while the
 * step is opened, so that all ranks exchange, and in the same order, whatever
 * becomes of the rows.
 *
 * A message has the number of its rows and the columns that are read, and where
 * rows have numbers these; words of their texts come in front of it
 * (exchange_words.h). The last one of each rank has no rows, but how its
 * input ended: a failure of a row is every rank's, behind all rows, and of several
 * the one of the first rank, which is the first in the table's order. Where all rows
 * go to each rank, these see what one process sees, its rows up to the failure.
 */
#include <assert.h>

#include "exec/gather/exchange_cut.h"
#include "exec/gather/exchange_store.h"
#include "exec/gather/exchange_words.h"
#include "exec/gather/message.h"
#include "exec/stream/stream_inner.h"

enum { NUMBER_BITS = 48 }; /* of a row's number, below those of its rank's */

struct exchange {
    struct stream head;  /* first */
    struct ranks *ranks; /* NULL: this process has all rows               */
    struct exchange_store store;
    struct exchange_cut cut;
    struct exchange_words words;
    struct vdbq_vector *vectors; /* of the batch that is given            */
    uint8_t *blank;              /* values of columns that nobody reads   */
    uint64_t passed;             /* rows before the batch at hand         */
    int64_t *numbers;            /* of rows that are passed on            */
    uint64_t numbers_room;       /* ... how many there is room for        */
    bool *ended;                 /* by rank: nothing of it comes any more */
    unsigned ended_count;        /* of them                               */
    unsigned failed;             /* the first rank that has failed        */
    struct error failure;        /* ... if its status is not OK           */
};

/* ------------------------------------------------------------- receive -- */

/* Heeds how a rank's rows ended. */
static enum vdbq_status take_end(struct exchange *exchange, unsigned from,
                                 struct message_reader *reader,
                                 struct error *error)
{
    const struct error *failure = message_take(reader, 1, sizeof *failure);
    enum vdbq_status status = message_check(reader, error);
    if (status != VDBQ_OK)
        return status;
    exchange->ended[from] = true;
    exchange->ended_count++;
    if (failure->status == VDBQ_OK
        || (exchange->failure.status != VDBQ_OK && exchange->failed < from))
        return VDBQ_OK;
    exchange->failed = from;
    exchange->failure = *failure;
    return VDBQ_OK;
}

/* Heeds a message without rows. */
static enum vdbq_status take_told(struct exchange *exchange, bool are_words,
                                  struct message_reader *reader,
                                  struct error *error)
{
    return are_words ? exchange_words_take(&exchange->words, reader, error)
                     : take_end(exchange, reader->from, reader, error);
}

/* Keeps a message, which is taken over; or if it has no rows, heeds it. */
static enum vdbq_status take_message(struct exchange *exchange, unsigned from,
                                     struct rank_message message,
                                     struct error *error)
{
    struct message_reader reader = { .message = message,
                                     .ranks = exchange->ranks,
                                     .from = from };
    const uint64_t *rows = message_take(&reader, 1, sizeof *rows);
    bool are_words = rows != NULL && *rows == EXCHANGE_WORDS;
    if (rows != NULL && *rows > 0 && !are_words)
        return exchange_store_add(&exchange->store, message, from, error);
    enum vdbq_status status = take_told(exchange, are_words, &reader, error);
    message_end(&reader);
    return status;
}

/* Takes what has come of a rank. */
static enum vdbq_status take_from(struct exchange *exchange, unsigned from,
                                  struct error *error)
{
    struct rank_message message = { .size = 1 };
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && !exchange->ended[from] && message.size > 0) {
        status = exchange->ranks->poll(exchange->ranks, from, &message, error);
        if (status == VDBQ_OK && message.bytes != NULL)
            status = take_message(exchange, from, message, error);
    }
    return status;
}

/* Takes what has come of all ranks. */
static enum vdbq_status take_some(struct exchange *exchange,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 0; status == VDBQ_OK && r < exchange->ranks->count; r++)
        if (r != exchange->ranks->rank)
            status = take_from(exchange, r, error);
    return status;
}

static bool is_full(const struct exchange *exchange)
{
    return exchange->ranks->is_full(exchange->ranks);
}

static bool is_unfinished(const struct exchange *exchange)
{
    return exchange->ended_count < exchange->ranks->count;
}

/* Takes what comes while something holds. */
static enum vdbq_status take_while(struct exchange *exchange,
                                   bool (*holds)(const struct exchange *),
                                   struct error *error)
{
    struct rank_clock clock = rank_start(exchange->ranks);
    unsigned naps = 0;
    enum vdbq_status status = take_some(exchange, error);
    while (status == VDBQ_OK && holds(exchange)) {
        struct rank_clock waits = rank_start(exchange->ranks);
        exchange->ranks->nap(&naps);
        rank_spend(exchange->ranks, RANK_WAIT, waits);
        status = take_some(exchange, error);
    }
    rank_spend(exchange->ranks, RANK_EXCHANGE, clock);
    return status;
}

/* ---------------------------------------------------------------- send -- */

/* Sends a message, or keeps it where it is this rank's. */
static enum vdbq_status hand_over(struct exchange *exchange, unsigned to,
                                  struct message_writer *writer,
                                  struct error *error)
{
    if (to != exchange->ranks->rank)
        return message_send(writer, exchange->ranks, to, error);
    return take_message(exchange, to, writer->message, error);
}

/* The number of row `row` of the batch at hand: less than those of the rows
 * behind it, and of all rows of the ranks behind this one. */
static int64_t number_of(const struct exchange *exchange, uint64_t row)
{
    const struct ranks *ranks = exchange->ranks;
    uint64_t rank = ranks != NULL ? ranks->rank : 0;
    assert(rank < 1U << (63 - NUMBER_BITS));
    assert(exchange->passed + row < UINT64_C(1) << NUMBER_BITS);
    return (int64_t)(rank << NUMBER_BITS | (exchange->passed + row));
}

/* Adds the numbers of rows. */
static void put_numbers(const struct exchange *exchange,
                        struct message_writer *writer, const uint32_t *rows,
                        uint64_t count)
{
    int64_t *numbers = message_put(writer, NULL, count * sizeof *numbers);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = number_of(exchange, rows[i]);
}

/* Hands rows of a batch over to a rank. */
static enum vdbq_status send_rows(struct exchange *exchange, unsigned to,
                                  const struct vdbq_batch *batch,
                                  const uint32_t *rows, uint64_t count,
                                  struct error *error)
{
    struct message_writer writer;
    bool numbered = exchange->head.step->exchange.numbered;
    size_t bytes = sizeof count + (numbered ? count * sizeof(int64_t) : 0);
    for (unsigned i = 0; i < batch->columns; i++)
        if (exchange->head.reads[i])
            bytes += message_column_bytes(&batch->column[i], count);
    if (!message_begin(&writer, bytes))
        return error_no_memory(error);
    message_put(&writer, &count, sizeof count);
    for (unsigned i = 0; i < batch->columns; i++)
        if (exchange->head.reads[i])
            message_pick_column(&writer, &batch->column[i], rows, count);
    if (numbered)
        put_numbers(exchange, &writer, rows, count);
    return hand_over(exchange, to, &writer, error);
}

/* Hands the words over that rows of a batch have in a column and a rank lacks. */
static enum vdbq_status send_words(struct exchange *exchange,
                                   const struct exchange_pick *pick,
                                   struct error *error)
{
    struct message_writer writer;
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0; status == VDBQ_OK && at < pick->count;) {
        status =
            exchange_words_pack(&exchange->words, pick, &at, &writer, error);
        if (status == VDBQ_OK && writer.message.bytes != NULL)
            status = hand_over(exchange, pick->to, &writer, error);
    }
    return status;
}

/* Hands the rows of the block that are a rank's over, words first. */
static enum vdbq_status send_part(struct exchange *exchange, unsigned to,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    uint64_t count;
    const uint32_t *rows = exchange_cut_rows(&exchange->cut, to, &count);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; status == VDBQ_OK && i < batch->columns; i++)
        if (exchange_words_travel(&exchange->words, i))
            status = send_words(exchange,
                                &(struct exchange_pick){
                                    to, i, &batch->column[i], rows, count },
                                error);
    return status == VDBQ_OK && count > 0
               ? send_rows(exchange, to, batch, rows, count, error)
               : status;
}

/* Hands a block over, to the rank behind this one first. */
static enum vdbq_status send_block(struct exchange *exchange,
                                   const struct vdbq_batch *batch,
                                   uint64_t first, uint64_t count,
                                   struct error *error)
{
    struct ranks *ranks = exchange->ranks;
    struct rank_clock clock = rank_start(ranks);
    enum vdbq_status status = VDBQ_OK;
    exchange_cut_block(&exchange->cut, batch, first, count);
    for (unsigned i = 1; status == VDBQ_OK && i <= ranks->count; i++)
        status =
            send_part(exchange, (ranks->rank + i) % ranks->count, batch, error);
    rank_spend(ranks, RANK_EXCHANGE, clock);
    return status == VDBQ_OK ? take_while(exchange, is_full, error) : status;
}

/* Hands all rows of this rank over. */
static enum vdbq_status send_all(struct exchange *exchange, struct error *error)
{
    struct vdbq_batch batch;
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK) {
        status = stream_batch(exchange->head.inputs[0], &batch, error);
        if (status != VDBQ_OK || batch.rows == 0)
            return status;
        for (uint64_t at = 0; status == VDBQ_OK && at < batch.rows;
             at += EXCHANGE_BLOCK) {
            uint64_t left = batch.rows - at;
            status = send_block(exchange, &batch, at,
                                left < EXCHANGE_BLOCK ? left : EXCHANGE_BLOCK,
                                error);
        }
        exchange->passed += batch.rows;
    }
    return status;
}

/* Tells all ranks that no more comes of this one. */
static enum vdbq_status send_ends(struct exchange *exchange,
                                  const struct error *failure,
                                  struct error *error)
{
    const uint64_t rows = 0;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 0; status == VDBQ_OK && r < exchange->ranks->count; r++) {
        struct message_writer writer;
        if (!message_begin(&writer,
                           sizeof rows + message_item(sizeof *failure)))
            return error_no_memory(error);
        message_put(&writer, &rows, sizeof rows);
        message_put(&writer, failure, sizeof *failure);
        status = hand_over(exchange, r, &writer, error);
    }
    return status;
}

/* ---------------------------------------------------------------- open -- */

static enum vdbq_status make_room(struct exchange *exchange,
                                  struct error *error)
{
    const struct stream *stream = &exchange->head;
    exchange_store_init(&exchange->store, &exchange->head.memory,
                        stream->params->files);
    exchange->blank = memory_zeroed(EXCHANGE_BLOCK, sizeof(uint64_t));
    exchange->ended =
        memory_zeroed(exchange->ranks->count, sizeof *exchange->ended);
    if (exchange->blank == NULL || exchange->ended == NULL)
        return error_no_memory(error);
    enum vdbq_status status = exchange_cut_init(&exchange->cut, stream, error);
    return status == VDBQ_OK ? exchange_words_init(&exchange->words, stream,
                                                   EXCHANGE_BLOCK, error)
                             : status;
}

/* Hands this rank's rows over, and takes those of all others. */
static enum vdbq_status exchange_all(struct exchange *exchange,
                                     struct error *error)
{
    struct error failure = { 0 };
    enum vdbq_status status = send_all(exchange, error);
    if (status != VDBQ_OK && !stream_row_failed(status))
        return status;
    if (status != VDBQ_OK) {
        failure = *error;
        failure.status = status;
        error_clear(error);
    }
    status = send_ends(exchange, &failure, error);
    if (status == VDBQ_OK)
        status = take_while(exchange, is_unfinished, error);
    exchange_store_order(&exchange->store);
    return status == VDBQ_OK ? exchange_words_end(&exchange->words, error)
                             : status;
}

static enum vdbq_status exchange_open(struct stream *stream,
                                      struct error *error)
{
    struct exchange *exchange = (struct exchange *)stream;
    stream->rows_most = stream->inputs[0]->rows_most;
    exchange->ranks = stream->params->ranks;
    exchange->vectors =
        memory_zeroed(stream->step->column_count, sizeof *exchange->vectors);
    if (exchange->vectors == NULL)
        return error_no_memory(error);
    if (exchange->ranks == NULL)
        return VDBQ_OK;
    enum vdbq_status status = make_room(exchange, error);
    return status == VDBQ_OK ? exchange_all(exchange, error) : status;
}

/* ---------------------------------------------------------------- rows -- */

/* Columns that the input has: those of the step but the numbers. */
static unsigned input_columns(const struct exchange *exchange)
{
    return exchange->head.inputs[0]->step->column_count;
}

/* Takes the numbers of rows, if they have some. */
static void take_numbers(struct exchange *exchange,
                         struct message_reader *reader, uint64_t rows)
{
    if (exchange->head.step->exchange.numbered)
        exchange->vectors[input_columns(exchange)] =
            (struct vdbq_vector){ .type = VDBQ_BIGINT,
                                  .values = message_take(reader, rows,
                                                         sizeof(int64_t)) };
}

/* A column of a message's rows. */
static void take_column(struct exchange *exchange, unsigned number,
                        struct message_reader *reader, uint64_t rows)
{
    struct vdbq_vector *column = &exchange->vectors[number];
    *column =
        (struct vdbq_vector){ .type = exchange->head.step->columns[number].type,
                              .values = exchange->blank };
    if (!exchange->head.reads[number])
        return;
    message_take_column(reader, rows, column);
    if (column->type == VDBQ_TEXT && column->values != NULL)
        exchange_words_follow(&exchange->words, reader->from, number,
                              (uint32_t *)column->values, rows);
}

/* The rows of a message. */
static enum vdbq_status unpack(struct exchange *exchange,
                               struct message_reader *reader,
                               struct vdbq_batch *batch, struct error *error)
{
    const struct step *step = exchange->head.step;
    const uint64_t *rows = message_take(reader, 1, sizeof *rows);
    reader->cut |= rows == NULL || *rows > EXCHANGE_BLOCK;
    for (unsigned i = 0; !reader->cut && i < input_columns(exchange); i++)
        take_column(exchange, i, reader, *rows);
    if (!reader->cut)
        take_numbers(exchange, reader, *rows);
    enum vdbq_status status = message_check(reader, error);
    if (status != VDBQ_OK)
        return status;
    batch->rows = *rows;
    batch->columns = step->column_count;
    batch->column = exchange->vectors;
    return stop_pause(error);
}

/* Numbers the rows of the batch at hand. */
static enum vdbq_status number_rows(struct exchange *exchange,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    if (batch->rows > exchange->numbers_room) {
        int64_t *room =
            memory_resize(exchange->numbers, batch->rows * sizeof *room);
        if (room == NULL)
            return error_no_memory(error);
        exchange->numbers = room;
        exchange->numbers_room = batch->rows;
    }
    for (uint64_t i = 0; i < batch->rows; i++)
        exchange->numbers[i] = number_of(exchange, i);
    exchange->passed += batch->rows;
    exchange->vectors[batch->columns++] =
        (struct vdbq_vector){ .type = VDBQ_BIGINT,
                              .values = exchange->numbers };
    return VDBQ_OK;
}

/* The rows of the whole input, where there are no ranks. */
static enum vdbq_status pass_on(struct exchange *exchange,
                                struct vdbq_batch *batch, struct error *error)
{
    enum vdbq_status status =
        stream_batch(exchange->head.inputs[0], batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(&exchange->head, batch, exchange->vectors);
    return exchange->head.step->exchange.numbered
               ? number_rows(exchange, batch, error)
               : VDBQ_OK;
}

/* Whether rows of a rank are behind one that has failed, where all ranks have all
 * rows: nobody sees them then. */
static bool is_behind_failure(const struct exchange *exchange, unsigned from)
{
    return exchange->head.step->exchange.keys.count == 0
           && exchange->failure.status != VDBQ_OK && from > exchange->failed;
}

static enum vdbq_status exchange_batch(struct stream *stream,
                                       struct vdbq_batch *batch,
                                       struct error *error)
{
    struct exchange *exchange = (struct exchange *)stream;
    struct message_reader reader = { .ranks = exchange->ranks };
    batch->rows = 0;
    if (exchange->ranks == NULL)
        return pass_on(exchange, batch, error);
    enum vdbq_status status = exchange_store_next(
        &exchange->store, &reader.message, &reader.from, error);
    if (status != VDBQ_OK)
        return status;
    if (reader.message.bytes != NULL
        && !is_behind_failure(exchange, reader.from))
        return unpack(exchange, &reader, batch, error);
    if (exchange->failure.status != VDBQ_OK)
        *error = exchange->failure;
    return exchange->failure.status;
}

static struct dictionary *exchange_dictionary(const struct stream *stream,
                                              unsigned column)
{
    const struct exchange *exchange = (const struct exchange *)stream;
    if (column >= stream->inputs[0]->step->column_count)
        return NULL;
    return exchange->ranks != NULL
               ? exchange->words.joined[column]
               : stream_dictionary(stream->inputs[0], column);
}

static void exchange_close(struct stream *stream)
{
    struct exchange *exchange = (struct exchange *)stream;
    exchange_store_finish(&exchange->store);
    exchange_cut_finish(&exchange->cut);
    exchange_words_finish(&exchange->words);
    memory_release(exchange->vectors);
    memory_release(exchange->blank);
    memory_release(exchange->ended);
    memory_release(exchange->numbers);
}

const struct stream_kind exchange_stream = {
    .size = sizeof(struct exchange),
    .calls = { .batch = exchange_batch,
               .dictionary = exchange_dictionary,
               .close = exchange_close },
    .open = exchange_open,
};
