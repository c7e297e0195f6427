/* SPDX-License-Identifier: MIT */
/*
 * STEP_EXCHANGE: while a rank's own rows are made, each block of them is cut by
 * the hashes of their keys, and what is other ranks' is on its way to them while
 * the next is made; what comes meanwhile is kept. All of it is done while the
 * step is opened, so that all ranks exchange, and in the same order, whatever
 * becomes of the rows.
 *
 * A message has the number of its rows and the columns that are read, and where
 * rows have numbers these. The last one of each rank has no rows, but how its
 * input ended: a failure of a row is every rank's, behind all rows, and of several
 * the one of the first rank, which is the first in the table's order.
 */
#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "exec/gather/exchange_store.h"
#include "exec/gather/message.h"
#include "exec/rows/row_index.h"
#include "exec/stream/stream_inner.h"

enum {
    BLOCK_ROWS = 1 << 16, /* rows that are cut at once                     */
    NUMBER_BITS = 48      /* of a row's number, below those of its rank's */
};

struct exchange {
    struct stream head;  /* first */
    struct ranks *ranks; /* NULL: this process has all rows               */
    struct exchange_store store;
    struct row_set_column *keys; /* of the batch at hand                  */
    struct vdbq_vector *vectors; /* of the batch that is given            */
    uint8_t *blank;              /* values of columns that nobody reads   */
    uint32_t *targets;           /* of a block's rows: the rank of each   */
    uint32_t *rows;              /* ... the rows, those of a rank together */
    uint64_t *ends;              /* ... by rank: where these end          */
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

/* Keeps a message, which is taken over; or if it has no rows, heeds it. */
static enum vdbq_status take_message(struct exchange *exchange, unsigned from,
                                     struct rank_message message,
                                     struct error *error)
{
    struct message_reader reader = { .message = message,
                                     .ranks = exchange->ranks,
                                     .from = from };
    const uint64_t *rows = message_take(&reader, 1, sizeof *rows);
    if (rows != NULL && *rows > 0)
        return exchange_store_add(&exchange->store, message, from, error);
    enum vdbq_status status = take_end(exchange, from, &reader, error);
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
    uint64_t start = os_time_ns();
    unsigned naps = 0;
    enum vdbq_status status = take_some(exchange, error);
    while (status == VDBQ_OK && holds(exchange)) {
        exchange->ranks->nap(&naps);
        status = take_some(exchange, error);
    }
    exchange->ranks->cost.wait_ns += os_time_ns() - start;
    return status;
}

/* ---------------------------------------------------------------- send -- */

/* The rank of a row; that of none, `count`. */
static uint32_t target_of(const struct exchange *exchange, uint64_t row)
{
    const struct step_exchange *step = &exchange->head.step->exchange;
    unsigned keys = (unsigned)step->keys.count;
    if (step->nulls != EXCHANGE_NULLS_MATCH
        && row_has_null(exchange->keys, keys, row))
        return step->nulls == EXCHANGE_NULLS_STAY ? exchange->ranks->rank
                                                  : exchange->ranks->count;
    /* Joins look at the lower half of the hash. */
    uint64_t high = row_hash(exchange->keys, keys, row) >> 32;
    return (uint32_t)(high * exchange->ranks->count >> 32);
}

/* Cuts a block, rows of the batch at hand from `first` on: a counting sort. */
static void cut(struct exchange *exchange, uint64_t first, uint64_t count)
{
    unsigned ranks = exchange->ranks->count;
    uint64_t start = 0;
    assert(count <= BLOCK_ROWS);
    memset(exchange->ends, 0, (ranks + 1) * sizeof *exchange->ends);
    for (uint64_t i = 0; i < count; i++) {
        exchange->targets[i] = target_of(exchange, first + i);
        exchange->ends[exchange->targets[i]]++;
    }
    for (unsigned r = 0; r <= ranks; r++) {
        uint64_t rows = exchange->ends[r];
        exchange->ends[r] = start;
        start += rows;
    }
    for (uint64_t i = 0; i < count; i++)
        exchange->rows[exchange->ends[exchange->targets[i]]++] =
            (uint32_t)(first + i);
}

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

/* Hands a block over, to the rank behind this one first. */
static enum vdbq_status send_block(struct exchange *exchange,
                                   const struct vdbq_batch *batch,
                                   uint64_t first, uint64_t count,
                                   struct error *error)
{
    uint64_t start = os_time_ns();
    enum vdbq_status status = VDBQ_OK;
    cut(exchange, first, count);
    for (unsigned i = 1; status == VDBQ_OK && i <= exchange->ranks->count;
         i++) {
        unsigned to = (exchange->ranks->rank + i) % exchange->ranks->count;
        uint64_t from = to > 0 ? exchange->ends[to - 1] : 0;
        if (exchange->ends[to] > from)
            status = send_rows(exchange, to, batch, exchange->rows + from,
                               exchange->ends[to] - from, error);
    }
    exchange->ranks->cost.exchange_ns += os_time_ns() - start;
    return status == VDBQ_OK ? take_while(exchange, is_full, error) : status;
}

/* Has the columns of a batch at hand that are keys. */
static void take_keys(struct exchange *exchange, const struct vdbq_batch *batch)
{
    const struct vector *keys = &exchange->head.step->exchange.keys;
    for (size_t i = 0; i < keys->count; i++) {
        const struct vdbq_vector *column =
            &batch->column[VECTOR_ITEMS(keys, int)[i]];
        exchange->keys[i] =
            (struct row_set_column){ .type = column->type,
                                     .width = row_set_width(column->type),
                                     .values = (void *)column->values,
                                     .nulls = (uint8_t *)column->nulls };
    }
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
        take_keys(exchange, &batch);
        for (uint64_t at = 0; status == VDBQ_OK && at < batch.rows;
             at += BLOCK_ROWS) {
            uint64_t left = batch.rows - at;
            status = send_block(exchange, &batch, at,
                                left < BLOCK_ROWS ? left : BLOCK_ROWS, error);
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

static bool has_room(struct exchange *exchange)
{
    const struct step *step = exchange->head.step;
    unsigned ranks = exchange->ranks->count;
    exchange->keys =
        memory_zeroed(step->exchange.keys.count, sizeof *exchange->keys);
    exchange->blank = memory_zeroed(BLOCK_ROWS, sizeof(uint64_t));
    exchange->targets = memory_zeroed(BLOCK_ROWS, sizeof *exchange->targets);
    exchange->rows = memory_zeroed(BLOCK_ROWS, sizeof *exchange->rows);
    exchange->ends = memory_zeroed(ranks + 1, sizeof *exchange->ends);
    exchange->ended = memory_zeroed(ranks, sizeof *exchange->ended);
    return exchange->keys != NULL && exchange->blank != NULL
           && exchange->targets != NULL && exchange->rows != NULL
           && exchange->ends != NULL && exchange->ended != NULL;
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
    return status;
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
    exchange_store_init(&exchange->store, &stream->memory,
                        stream->params->files);
    return has_room(exchange) ? exchange_all(exchange, error)
                              : error_no_memory(error);
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

/* The rows of a message. */
static enum vdbq_status unpack(struct exchange *exchange,
                               struct message_reader *reader,
                               struct vdbq_batch *batch, struct error *error)
{
    const struct step *step = exchange->head.step;
    const uint64_t *rows = message_take(reader, 1, sizeof *rows);
    reader->cut |= rows == NULL || *rows > BLOCK_ROWS;
    for (unsigned i = 0; !reader->cut && i < input_columns(exchange); i++) {
        struct vdbq_vector *column = &exchange->vectors[i];
        *column = (struct vdbq_vector){ .type = step->columns[i].type,
                                        .values = exchange->blank };
        if (exchange->head.reads[i])
            message_take_column(reader, *rows, column);
    }
    if (!reader->cut)
        take_numbers(exchange, reader, *rows);
    enum vdbq_status status = message_check(reader, error);
    if (status != VDBQ_OK)
        return status;
    batch->rows = *rows;
    batch->columns = step->column_count;
    batch->column = exchange->vectors;
    return VDBQ_OK;
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
    if (reader.message.bytes != NULL)
        return unpack(exchange, &reader, batch, error);
    if (exchange->failure.status != VDBQ_OK)
        *error = exchange->failure;
    return exchange->failure.status;
}

static struct dictionary *exchange_dictionary(const struct stream *stream,
                                              unsigned column)
{
    return column < stream->inputs[0]->step->column_count
               ? stream_dictionary(stream->inputs[0], column)
               : NULL;
}

static void exchange_close(struct stream *stream)
{
    struct exchange *exchange = (struct exchange *)stream;
    exchange_store_finish(&exchange->store);
    memory_release(exchange->keys);
    memory_release(exchange->vectors);
    memory_release(exchange->blank);
    memory_release(exchange->targets);
    memory_release(exchange->rows);
    memory_release(exchange->ends);
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
