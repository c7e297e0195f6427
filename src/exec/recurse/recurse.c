/* SPDX-License-Identifier: MIT */
/*
 * STEP_RECURSE: rounds of a query over the rows of the round before, each as it is
 * asked for, so that who reads a few rows has a few rounds run. The term is planned
 * once; its streams rest between two rounds where they can, else they are opened
 * again.
 *
 * Rows come as a round has them, but that many short rounds are given as one batch.
 * Texts have the words of their round. Where somebody asks more of them, all rounds
 * are run when the stream is opened, for the words of all.
 */
#include <assert.h>

#include "base/held_error.h"
#include "exec/recurse/recurse_round.h"
#include "exec/recurse/recurse_seen.h"
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

enum {
    WAITING_MOST = 1 << 18,  /* rows that wait to be compared             */
    SHORT_ROUND = 1 << 10,   /* rows, up to which it is put with others   */
    TOGETHER_FIRST = 1 << 4, /* rows of the first batch of short rounds   */
    TOGETHER_MOST = 1 << 14  /* ... of any: each has twice as many        */
};

struct recurse_stream {
    struct stream head;            /* first */
    struct stream_params params;   /* of the term                         */
    struct stream *term;           /* open; NULL: it is not               */
    bool rests;                    /* ... it rests                        */
    struct recurse_round round[2]; /* the last one, and room for the next */
    unsigned last;                 /* which is the last one               */
    uint64_t rounds;               /* that were run                       */
    struct recurse_reader reader;  /* of the last one, which is given     */
    struct dictionary **words;     /* of its texts                        */
    bool ended;                    /* no round comes behind the last one  */
    struct held_error held;        /* ... for this failure                */
    struct recurse_seen seen;      /* rows of all rounds: of UNION, or ... */
    struct row_set waiting;        /* rows that are compared later, together */
    struct vdbq_vector *waited;    /* ... their columns                      */
    bool whole;                    /* all rounds were run at once          */
    bool texts;                    /* a column is one of texts            */
    struct rescan together;        /* rows of short rounds                */
    uint64_t together_most;        /* ... of the next batch               */
    struct vdbq_vector *vectors;   /* of the batch                        */
};

static enum vdbq_status run_all(struct recurse_stream *recurse,
                                struct error *error);

static struct recurse_round *last_of(struct recurse_stream *recurse)
{
    return &recurse->round[recurse->last];
}

static const struct step_recurse *step_of(const struct recurse_stream *recurse)
{
    return &recurse->head.step->recurse;
}

/* ---------------------------------------------------------------- open -- */

/* Whether there are texts, and whether more is asked of them than those of a batch. */
static void look_at_texts(struct recurse_stream *recurse)
{
    const struct stream *head = &recurse->head;

    for (unsigned i = 0; i < head->step->column_count; i++) {
        if (head->step->columns[i].type != VDBQ_TEXT)
            continue;
        recurse->texts = true;
        recurse->whole |= head->texts[i] > TEXTS_PASSING;
    }
}

static enum vdbq_status make_rows(struct recurse_stream *recurse,
                                  struct error *error)
{
    struct stream *stream = &recurse->head;
    const struct step *step = stream->step;
    enum vdbq_status status = VDBQ_OK;

    for (int i = 0; i < 2 && status == VDBQ_OK; i++)
        status =
            recurse_round_init(&recurse->round[i], stream->params, step, error);
    if (status == VDBQ_OK && (step->recurse.distinct || recurse->whole))
        status = recurse_seen_init(&recurse->seen, step, &stream->memory,
                                   recurse->whole, error);
    if (status == VDBQ_OK)
        status = row_set_init(&recurse->waiting, step->columns,
                              step->column_count, error);
    if (status == VDBQ_OK)
        status = row_set_init(&recurse->together.row_set, step->columns,
                              step->column_count, error);
    return status == VDBQ_OK ? rescan_begin(&recurse->together, error) : status;
}

static enum vdbq_status recurse_open(struct stream *stream, struct error *error)
{
    struct recurse_stream *recurse = (struct recurse_stream *)stream;
    unsigned count = stream->step->column_count;
    enum vdbq_status status;

    recurse->params = *stream->params;
    recurse->params.nested = true;
    recurse->together_most = TOGETHER_FIRST;
    stream->rows_most =
        stream->step->rows > 0 ? (uint64_t)stream->step->rows : TOGETHER_MOST;
    recurse->words = memory_zeroed(count, sizeof(*recurse->words));
    recurse->vectors = memory_zeroed(count, sizeof *recurse->vectors);
    recurse->waited = memory_zeroed(count, sizeof *recurse->waited);
    if (recurse->words == NULL || recurse->vectors == NULL
        || recurse->waited == NULL)
        return error_no_memory(error);
    look_at_texts(recurse);
    status = make_rows(recurse, error);
    return status == VDBQ_OK && recurse->whole ? run_all(recurse, error)
                                               : status;
}

static void recurse_close(struct stream *stream)
{
    struct recurse_stream *recurse = (struct recurse_stream *)stream;

    stream_close(recurse->term);
    recurse_reader_finish(&recurse->reader);
    for (int i = 0; i < 2; i++)
        recurse_round_finish(&recurse->round[i]);
    recurse_seen_finish(&recurse->seen);
    rescan_finish(&recurse->together);
    row_set_finish(&recurse->waiting);
    memory_release(recurse->waited);
    held_error_finish(&recurse->held);
    memory_release(recurse->words);
    memory_release(recurse->vectors);
}

/* --------------------------------------------------------------- rounds -- */

/* The words of a round's texts are those of the stream that gives it. */
static void take_words(struct recurse_stream *recurse,
                       struct recurse_round *round, const struct stream *from)
{
    for (unsigned i = 0; i < round->rows.column_count; i++) {
        struct row_set_column *column = &round->rows.columns[i];
        if (column->type != VDBQ_TEXT)
            continue;
        dictionary_release(column->dictionary);
        column->dictionary = dictionary_hold(stream_dictionary(from, i));
        recurse->words[i] = column->dictionary;
    }
}

/* Adds those rows of a batch to a round that are new. */
static enum vdbq_status add_new(struct recurse_stream *recurse,
                                struct recurse_round *round,
                                const struct vdbq_batch *batch,
                                struct error *error)
{
    uint64_t first = 0;
    enum vdbq_status status =
        recurse_seen_take(&recurse->seen, batch, recurse->words, error);

    for (uint64_t row = 0; row < batch->rows && status == VDBQ_OK; row++) {
        bool is_new;
        status = recurse_seen_add(&recurse->seen, row, &is_new, error);
        if (status == VDBQ_OK && stop_at(row))
            status = stop_pause(error);
        if (is_new || status != VDBQ_OK)
            continue;
        status = recurse_round_add(round, &recurse->head.memory, batch, first,
                                   row - first, error);
        first = row + 1;
    }
    return status == VDBQ_OK
               ? recurse_round_add(round, &recurse->head.memory, batch, first,
                                   batch->rows - first, error)
               : status;
}

/* Adds rows that waited. */
static enum vdbq_status add_waiting(struct recurse_stream *recurse,
                                    struct recurse_round *round,
                                    struct error *error)
{
    struct row_set *waiting = &recurse->waiting;
    const struct vdbq_batch batch = { .rows = waiting->rows,
                                      .columns = waiting->column_count,
                                      .column = recurse->waited };
    enum vdbq_status status = VDBQ_OK;

    row_set_vectors(waiting, 0, recurse->waited);
    if (waiting->rows > 0)
        status = add_new(recurse, round, &batch, error);
    row_set_clear(waiting);
    return status;
}

/* Takes rows of a batch. Where those that they are compared with lie in a file they
 * wait until they are many. */
static enum vdbq_status take_batch(struct recurse_stream *recurse,
                                   struct recurse_round *round,
                                   const struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status;

    if (!step_of(recurse)->distinct && !recurse->whole)
        return recurse_round_add(round, &recurse->head.memory, batch, 0,
                                 batch->rows, error);
    if (!recurse_table_in_file(&recurse->seen.table))
        return add_new(recurse, round, batch, error);
    status =
        row_set_append_part(&recurse->waiting, batch, 0, batch->rows, error);
    return status == VDBQ_OK && recurse->waiting.rows >= WAITING_MOST
               ? add_waiting(recurse, round, error)
               : status;
}

/* Takes all rows of a stream as a round; a failure of a row is the end behind those
 * before it. */
static enum vdbq_status take_round(struct recurse_stream *recurse,
                                   struct stream *from,
                                   struct recurse_round *round,
                                   struct error *error)
{
    struct vdbq_batch batch;
    enum vdbq_status status;

    if (recurse->texts)
        take_words(recurse, round, from);
    do {
        status = stream_batch(from, &batch, error);
        if (stream_row_failed(status)) {
            held_error_set(&recurse->held, error);
            recurse->ended = true;
            error_clear(error);
            status = VDBQ_OK;
            batch.rows = 0;
        }
        if (status == VDBQ_OK && batch.rows > 0)
            status = take_batch(recurse, round, &batch, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && batch.rows > 0);
    if (status == VDBQ_OK)
        status = add_waiting(recurse, round, error);
    return status == VDBQ_OK ? recurse_round_end(round, error) : status;
}

/* Opens the term for the rows of the last round. */
static enum vdbq_status open_term(struct recurse_stream *recurse,
                                  struct error *error)
{
    enum vdbq_status status;

    recurse->params.round = last_of(recurse);
    if (recurse->term == NULL)
        return stream_open(&recurse->params, step_of(recurse)->term,
                           TEXTS_ORDERED, &recurse->term, error);
    status = stream_again(recurse->term, error);
    if (status != VDBQ_OK) /* it is closed */
        recurse->term = NULL;
    return status;
}

/* Lets go of it, until the next round. */
static void leave_term(struct recurse_stream *recurse)
{
    if (stream_rest(recurse->term))
        return;
    stream_close(recurse->term);
    recurse->term = NULL;
}

/* Runs one more round; `ended`: it has no rows, or fails behind them. */
static enum vdbq_status run_round(struct recurse_stream *recurse,
                                  struct error *error)
{
    struct recurse_round *next = &recurse->round[1 - recurse->last];
    enum vdbq_status status;

    assert(!recurse->ended);
    recurse_round_clear(next);
    if (recurse->rounds++ == 0) {
        status = take_round(recurse, recurse->head.inputs[0], next, error);
        stream_close_input(&recurse->head, 0);
    } else {
        status = open_term(recurse, error);
        if (stream_row_failed(status)) { /* before its first row */
            held_error_set(&recurse->held, error);
            error_clear(error);
            recurse->ended = true;
            status = VDBQ_OK;
        }
        if (status == VDBQ_OK && recurse->term != NULL) {
            status = take_round(recurse, recurse->term, next, error);
            leave_term(recurse);
        }
    }
    recurse->last = 1 - recurse->last;
    recurse_reader_begin(&recurse->reader);
    recurse->ended |= recurse_round_rows(next) == 0;
    return status;
}

/* ----------------------------------------------------------------- rows -- */

/* Runs all rounds, for the words of all texts; rows come from `seen`. */
static enum vdbq_status run_all(struct recurse_stream *recurse,
                                struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    while (status == VDBQ_OK && !recurse->ended)
        status = run_round(recurse, error);
    if (status == VDBQ_OK)
        status = recurse_seen_end(&recurse->seen, error);
    recurse->head.rows_most = recurse->seen.rows.rows;
    return status;
}

/* Puts rounds together until they are no more short ones. */
static enum vdbq_status put_together(struct recurse_stream *recurse,
                                     struct error *error)
{
    struct row_set *rows = &recurse->together.row_set;
    enum vdbq_status status = VDBQ_OK;

    rows->rows = recurse->together.next = 0;
    while (status == VDBQ_OK && rows->rows < recurse->together_most
           && recurse_round_rows(last_of(recurse)) <= SHORT_ROUND) {
        struct vdbq_batch batch;
        status = recurse_reader_batch(&recurse->reader, last_of(recurse),
                                      &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = row_set_append_part(rows, &batch, 0, batch.rows, error);
        else if (status == VDBQ_OK && recurse->ended)
            break;
        else if (status == VDBQ_OK)
            status = run_round(recurse, error);
    }
    if (recurse->together_most < TOGETHER_MOST)
        recurse->together_most *= 2;
    return status;
}

/* The next rows of the last round, or where all were given, of the next one. */
static enum vdbq_status round_batch(struct recurse_stream *recurse,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    while (status == VDBQ_OK && batch->rows == 0) {
        if (recurse->rounds > 0)
            status = recurse_reader_batch(&recurse->reader, last_of(recurse),
                                          batch, error);
        if (status != VDBQ_OK || batch->rows > 0 || recurse->ended)
            break;
        status = run_round(recurse, error);
    }
    return status;
}

static enum vdbq_status next_batch(struct recurse_stream *recurse,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (recurse->whole) {
        rescan_rows(&recurse->seen.rows, &recurse->together.next,
                    recurse->together.vectors, batch);
        return VDBQ_OK;
    }
    if (recurse->rounds == 0)
        status = run_round(recurse, error);
    if (status != VDBQ_OK || recurse->texts
        || recurse_round_rows(last_of(recurse)) > SHORT_ROUND)
        return status == VDBQ_OK ? round_batch(recurse, batch, error) : status;
    status = put_together(recurse, error);
    if (status == VDBQ_OK)
        rescan_batch(&recurse->together, batch);
    if (status == VDBQ_OK && batch->rows == 0)
        status = round_batch(recurse, batch, error);
    return status;
}

static enum vdbq_status recurse_batch(struct stream *stream,
                                      struct vdbq_batch *batch,
                                      struct error *error)
{
    struct recurse_stream *recurse = (struct recurse_stream *)stream;
    enum vdbq_status status;

    batch->rows = 0;
    status = next_batch(recurse, batch, error);
    if (status == VDBQ_OK && batch->rows == 0)
        return held_error_tell(&recurse->held, error);
    if (status == VDBQ_OK)
        stream_retype(stream, batch, recurse->vectors);
    return status;
}

/* The words of all texts, or those of the last round. */
static struct dictionary *recurse_dictionary(const struct stream *stream,
                                             unsigned column)
{
    const struct recurse_stream *recurse =
        (const struct recurse_stream *)stream;

    return recurse->whole
               ? recurse->seen.rows.columns[column].dictionary
               : recurse->round[recurse->last].rows.columns[column].dictionary;
}

/* What the term costs is told when it is closed or rests. */
const struct stream_kind recurse_stream = {
    .size = sizeof(struct recurse_stream),
    .calls = { .batch = recurse_batch,
               .dictionary = recurse_dictionary,
               .close = recurse_close },
    .open = recurse_open,
};
