/* SPDX-License-Identifier: MIT */
/*
 * STEP_GATHER of groups apart: each rank groups its rows, rank 0 takes the groups
 * of all, rank by rank, into one group. Numbers of rows of a rank come behind
 * those of the ranks before it, so that groups come in the order of their first
 * rows among all, and what keeps the earliest row keeps that.
 */
#include <assert.h>
#include <string.h>

#include "exec/gather/gather_words.h"
#include "exec/gather/message.h"
#include "exec/group/group_apart.h"
#include "exec/rows/rescan.h"

/* Takes the groups of one rank. */
struct taker {
    struct group_taker head; /* first */
    struct gather_groups *gather;
    unsigned rank;  /* whose they are                                        */
    uint64_t first; /* rows of the ranks before it                           */
    uint8_t *room;  /* own records, which are changed; owned                 */
};

struct gather_groups {
    struct stream head; /* first */
    struct gather_words words;
    struct group *group;  /* of all; NULL: this rank has only its own         */
    bool *nullable;       /* ... that it reads                                */
    struct rescan groups; /* the result's rows                             */
    struct reorder spilled; /* ... where they do not fit into memory         */
};

/* --------------------------------------------------------- other ranks -- */

/* Sends records. */
static enum vdbq_status send_records(struct group_taker *taker,
                                     const uint8_t *records, uint32_t count,
                                     struct error *error)
{
    const struct gather_groups *gather = ((struct taker *)taker)->gather;
    struct ranks *ranks = gather->head.params->ranks;
    size_t bytes = count * group_record_bytes(gather->group);
    struct rank_clock clock = rank_start(ranks);
    uint64_t header = count;
    struct message_writer writer;
    if (!message_begin(&writer, sizeof header + message_item(bytes)))
        return error_no_memory(error);
    message_put(&writer, &header, sizeof header);
    message_put(&writer, records, bytes);
    ranks->cost.rows += count;
    enum vdbq_status status = message_send(&writer, ranks, 0, error);
    rank_spend(ranks, RANK_EXCHANGE, clock);
    return status;
}

/* Behind the last records: the number of rows that they are of. */
static enum vdbq_status send_end(const struct gather_groups *gather,
                                 uint64_t rows, struct error *error)
{
    const uint64_t header[2] = { 0, rows };
    struct message_writer writer;
    if (!message_begin(&writer, sizeof header))
        return error_no_memory(error);
    message_put(&writer, &header[0], sizeof *header);
    message_put(&writer, &header[1], sizeof *header);
    return message_send(&writer, gather->head.params->ranks, 0, error);
}

static enum vdbq_status send_groups(struct gather_groups *gather,
                                    struct error *error)
{
    struct ranks *ranks = gather->head.params->ranks;
    struct taker taker = { .head = { send_records }, .gather = gather };
    struct rank_clock clock = rank_start(ranks);
    uint64_t rows;
    enum vdbq_status status =
        group_stream_give(gather->head.inputs[0], &taker.head, &rows, error);
    rank_spend(ranks, RANK_COMPUTE, clock);
    return status == VDBQ_OK ? send_end(gather, rows, error) : status;
}

/* -------------------------------------------------------------- rank 0 -- */

/* For gather_words: numbers of the words of the rank at hand. */
static uint32_t new_number(void *context, unsigned column, uint32_t number)
{
    const struct taker *taker = context;
    return gather_words_number(&taker->gather->words, taker->rank, column,
                               number);
}

/* Takes records of a rank, which it changes. */
static enum vdbq_status take_records(struct taker *taker, uint8_t *records,
                                     uint32_t count, struct error *error)
{
    struct gather_groups *gather = taker->gather;
    const struct step *step = gather->head.step;
    const struct group_texts texts = { new_number, taker };
    for (unsigned i = 0; i < step->column_count; i++)
        if (step->columns[i].type == VDBQ_TEXT
            && gather_words_change(&gather->words, taker->rank, i))
            group_renumber(gather->group, records, count, i, &texts);
    return group_take(gather->group, records, count, taker->first, error);
}

/* Takes this rank's own. */
static enum vdbq_status take_own(struct group_taker *taker,
                                 const uint8_t *records, uint32_t count,
                                 struct error *error)
{
    struct taker *own = (struct taker *)taker;
    struct ranks *ranks = own->gather->head.params->ranks;
    size_t bytes = count * group_record_bytes(own->gather->group);
    struct rank_clock clock = rank_start(ranks);
    memcpy(own->room, records, bytes);
    enum vdbq_status status = take_records(own, own->room, count, error);
    rank_spend(ranks, RANK_MERGE, clock);
    if (ranks != NULL)
        ranks->cost.rows += count;
    return status;
}

/* The next records of a rank; `*rows` is set where that were the last. */
static enum vdbq_status take_message(struct taker *taker,
                                     struct message_reader *reader,
                                     uint64_t *rows, bool *more,
                                     struct error *error)
{
    size_t width = group_record_bytes(taker->gather->group);
    const uint64_t *count = message_take(reader, 1, sizeof *count);
    reader->cut |= count == NULL || *count > AGGREGATE_BLOCK;
    if (!reader->cut && *count == 0) {
        const uint64_t *told = message_take(reader, 1, sizeof *told);
        *rows = told != NULL ? *told : 0;
        *more = false;
        return message_check(reader, error);
    }
    uint8_t *records = reader->cut ? NULL : message_take(reader, *count, width);
    enum vdbq_status status = message_check(reader, error);
    return status == VDBQ_OK
               ? take_records(taker, records, (uint32_t)*count, error)
               : status;
}

/* Takes all of another rank. */
static enum vdbq_status take_rank(struct gather_groups *gather,
                                  struct taker *taker, struct error *error)
{
    struct ranks *ranks = gather->head.params->ranks;
    enum vdbq_status status = VDBQ_OK;
    uint64_t rows = 0;
    bool more = true;
    while (status == VDBQ_OK && more) {
        struct message_reader reader;
        status = message_receive(&reader, ranks, taker->rank, error);
        struct rank_clock clock = rank_start(ranks);
        if (status == VDBQ_OK)
            status = take_message(taker, &reader, &rows, &more, error);
        message_end(&reader);
        rank_spend(ranks, RANK_MERGE, clock);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    }
    group_took_rows(gather->group, rows);
    taker->first += rows;
    return status;
}

/* Groups this rank's rows. */
static enum vdbq_status take_this(struct gather_groups *gather,
                                  struct taker *taker, struct error *error)
{
    struct ranks *ranks = gather->head.params->ranks;
    struct rank_clock clock = rank_start(ranks);
    uint64_t rows;
    taker->room =
        memory_zeroed(AGGREGATE_BLOCK, group_record_bytes(gather->group));
    enum vdbq_status status =
        taker->room != NULL ? group_stream_give(gather->head.inputs[0],
                                                &taker->head, &rows, error)
                            : error_no_memory(error);
    memory_release(taker->room);
    taker->room = NULL;
    rank_spend(ranks, RANK_COMPUTE, clock);
    if (status != VDBQ_OK)
        return status;
    group_took_rows(gather->group, rows);
    taker->first = rows;
    return VDBQ_OK;
}

/* Takes the groups of all ranks and makes rows of them. */
static enum vdbq_status take_groups(struct gather_groups *gather,
                                    struct error *error)
{
    struct ranks *ranks = gather->head.params->ranks;
    struct taker taker = { .head = { take_own }, .gather = gather };
    enum vdbq_status status = take_this(gather, &taker, error);
    for (taker.rank = 1;
         status == VDBQ_OK && ranks != NULL && taker.rank < ranks->count;
         taker.rank++)
        status = take_rank(gather, &taker, error);
    struct rank_clock clock = rank_start(ranks);
    if (status == VDBQ_OK)
        status = group_finish(gather->group, &gather->groups.row_set,
                              &gather->spilled, error);
    rank_spend(ranks, RANK_MERGE, clock);
    return status;
}

/* ---------------------------------------------------------------- both -- */

/* Text columns have the words of all ranks. */
static void take_words(struct gather_groups *gather)
{
    for (unsigned i = 0; i < gather->head.step->column_count; i++)
        if (gather->words.joined != NULL
            && gather->head.step->columns[i].type == VDBQ_TEXT)
            row_set_dictionary(&gather->groups.row_set, i,
                               dictionary_hold(gather->words.joined[i]));
}

static enum vdbq_status gather_groups_open(struct stream *stream,
                                           struct error *error)
{
    struct gather_groups *gather = (struct gather_groups *)stream;
    const struct step *step = stream->step;
    struct ranks *ranks = stream->params->ranks;
    rank_spend_run(ranks, RANK_COMPUTE);
    enum vdbq_status status = row_set_init(
        &gather->groups.row_set, step->columns, step->column_count, error);
    if (status == VDBQ_OK)
        status = gather_words_join(&gather->words, stream->inputs[0], error);
    if (status == VDBQ_OK)
        status = group_of_stream(stream->inputs[0], &stream->memory,
                                 &gather->nullable, &gather->group, error);
    if (status == VDBQ_OK)
        status = ranks != NULL && ranks->rank > 0 ? send_groups(gather, error)
                                                  : take_groups(gather, error);
    if (status == VDBQ_OK)
        status = rescan_begin(&gather->groups, error);
    take_words(gather);
    stream->rows_most = gather->spilled.rows > 0 ? gather->spilled.rows
                                                 : gather->groups.row_set.rows;
    return status;
}

static enum vdbq_status gather_groups_batch(struct stream *stream,
                                            struct vdbq_batch *batch,
                                            struct error *error)
{
    struct gather_groups *gather = (struct gather_groups *)stream;
    if (gather->spilled.rows > 0)
        return reorder_batch(&gather->spilled, batch, error);
    rescan_batch(&gather->groups, batch);
    return VDBQ_OK;
}

static bool gather_groups_stays(const struct stream *stream)
{
    return ((const struct gather_groups *)stream)->spilled.rows == 0;
}

static struct dictionary *gather_groups_dictionary(const struct stream *stream,
                                                   unsigned column)
{
    return ((const struct gather_groups *)stream)
        ->groups.row_set.columns[column]
        .dictionary;
}

static void gather_groups_close(struct stream *stream)
{
    struct gather_groups *gather = (struct gather_groups *)stream;
    group_destroy(gather->group);
    memory_release(gather->nullable);
    rescan_finish(&gather->groups);
    reorder_finish(&gather->spilled);
    gather_words_finish(&gather->words);
}

const struct stream_kind gather_groups_stream = {
    .size = sizeof(struct gather_groups),
    .calls = { .batch = gather_groups_batch,
               .stays = gather_groups_stays,
               .dictionary = gather_groups_dictionary,
               .close = gather_groups_close },
    .open = gather_groups_open,
};
