/* SPDX-License-Identifier: MIT */
/*
 * STEP_JOIN. The right rows are gathered and indexed by their keys; the left
 * ones come batch by batch. What memory it takes beside the right rows is
 * bounded: candidates are found, judged by the condition and given out in
 * rounds.
 */
#include "exec/join.h"

#include <string.h>

#include "exec/condition.h"

struct join_stream {
    struct stream head;
    struct relation right;
    struct relation left;      /* the rows at hand                          */
    struct vdbq_batch pending; /* of the left input, taken up to `taken`    */
    uint64_t taken;
    struct join_search search;
    struct join_pairs pairs;
    struct condition condition;
    bool matched;              /* the left row at hand has a partner        */
    bool right_null;           /* JOIN_MARK: a right key is NULL            */
    uint8_t *partners;         /* JOIN_RIGHT, _FULL: a right row has one    */
    bool left_ended;
    uint64_t right_next;       /* JOIN_RIGHT, _FULL: the row to look at next,
                                  when the left ones have ended             */
    struct relation output;
    struct vdbq_vector *vectors;
};

/* ---------------------------------------------------------------- open -- */

/* About how many pairs there are. */
static uint64_t pairs_most(const struct join_stream *join)
{
    uint64_t left = join->head.inputs[0]->rows_most;
    uint64_t right = join->right.rows;
    if (join->search.index.key_count > 0)
        return left > right ? left : right;
    return right > 0 && left > UINT32_MAX / right ? UINT32_MAX : left * right;
}

static bool any_null(const struct relation_column *column, uint64_t rows)
{
    return column->nulls != NULL && memchr(column->nulls, 1, rows) != NULL;
}

/* Gathers and indexes the right side. */
static enum vdbq_status open_right(struct join_stream *join,
                                   struct error *error)
{
    const struct step_join *step = &join->head.step->join;
    enum vdbq_status status =
        stream_gather(join->head.inputs[1], &join->right, error);
    if (status != VDBQ_OK)
        return status;
    stream_close_input(&join->head, 1);
    if (step->kind == JOIN_MARK)
        join->right_null = any_null(
            &join->right.columns[VECTOR_ITEMS(&step->right_keys, int)[0]],
            join->right.rows);
    if (step->kind == JOIN_RIGHT || step->kind == JOIN_FULL) {
        join->partners = memory_zeroed(join->right.rows, 1);
        if (join->partners == NULL)
            return error_no_memory(error);
    }
    return join_search_init(&join->search, step, &join->right,
                            join->head.inputs[0],
                            join->head.params->threads, error);
}

static enum vdbq_status join_open(struct stream *stream, struct error *error)
{
    struct join_stream *join = (struct join_stream *)stream;
    const struct step *step = stream->step;
    const struct step *left = stream->inputs[0]->step;
    enum vdbq_status status = open_right(join, error);
    stream->rows_most = stream->inputs[0]->rows_most;
    if (status == VDBQ_OK)
        stream->rows_most = pairs_most(join);
    if (status == VDBQ_OK)
        status = relation_init(&join->left, left->columns, left->column_count,
                               error);
    for (unsigned i = 0; i < left->column_count && status == VDBQ_OK; i++)
        relation_words(&join->left, i,
                       words_hold(stream_words(stream->inputs[0], i)));
    if (status == VDBQ_OK && step->join.condition != NULL)
        status = condition_init(
            &join->condition,
            &(struct condition_params){ .stream = stream->params,
                                        .program = step->join.condition,
                                        .left = &join->left,
                                        .right = &join->right,
                                        .pairs = pairs_most(join) },
            error);
    if (status == VDBQ_OK)
        status = relation_init(&join->output, step->columns,
                               step->column_count, error);
    if (status == VDBQ_OK)
        status = join_pairs_room(&join->pairs, PAIRS_FIRST, error);
    join->vectors = memory_zeroed(step->column_count, sizeof *join->vectors);
    if (status == VDBQ_OK && join->vectors == NULL)
        status = error_no_memory(error);
    return status;
}

static void join_close(struct stream *stream)
{
    struct join_stream *join = (struct join_stream *)stream;
    condition_finish(&join->condition);
    join_search_finish(&join->search);
    join_pairs_finish(&join->pairs);
    relation_finish(&join->right);
    relation_finish(&join->left);
    relation_finish(&join->output);
    memory_release(join->partners);
    memory_release(join->vectors);
}

/* ---------------------------------------------------------- left rows -- */

/* Takes the next left rows to hand; none are left where there are 0. */
static enum vdbq_status next_left(struct join_stream *join,
                                  struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    join->left.rows = 0;
    if (join->taken == join->pending.rows) {
        join->taken = 0;
        status = stream_batch(join->head.inputs[0], &join->pending, error);
    }
    if (status != VDBQ_OK || join->pending.rows == 0)
        return status;
    uint64_t rows = join->pending.rows - join->taken;
    rows = rows < LEFT_ROWS_MAX ? rows : LEFT_ROWS_MAX;
    status = relation_append_part(&join->left, &join->pending, join->taken,
                                  rows, error);
    join->taken += rows;
    return status == VDBQ_OK
               ? join_search_begin(&join->search, &join->left, error)
               : status;
}

/* The next candidates, of these left rows or the next ones. */
static enum vdbq_status next_pairs(struct join_stream *join,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (join->pairs.count == join->pairs.room && join->pairs.room < PAIRS_MAX)
        status = join_pairs_room(&join->pairs, join->pairs.room * 4, error);
    join->pairs.count = 0;
    while (status == VDBQ_OK && join->pairs.count == 0 && !join->left_ended) {
        join_search_next(&join->search, &join->pairs);
        if (join->pairs.count > 0)
            break;
        status = stream_pause(join->head.params, error);
        if (status == VDBQ_OK)
            status = next_left(join, error);
        join->left_ended = join->left.rows == 0;
    }
    return status;
}

/* -------------------------------------------------------------- output -- */

/* What x IN (...) is for a left row: 1, 0, or NULL. */
enum { MARK_NULL = 2 };
static uint32_t mark(const struct join_stream *join, uint32_t left)
{
    const struct relation_column *key = join->search.left_keys;
    if (join->matched)
        return 1;
    if (join->right.rows == 0)
        return 0;
    return relation_is_null(key, left) || join->right_null ? MARK_NULL : 0;
}

/* Whether the end of a left row gives an output row. */
static bool ends_with_row(const struct join_stream *join)
{
    switch (join->search.step->kind) {
    case JOIN_SEMI:
        return join->matched;
    case JOIN_MARK:
        return true;
    default:
        return !join->matched;
    }
}

/* Turns the candidates, in place, into output rows: how many. */
static uint64_t settle(struct join_stream *join)
{
    struct join_pairs *pairs = &join->pairs;
    enum join_kind kind = join->search.step->kind;
    bool pairs_go_out = kind != JOIN_SEMI && kind != JOIN_ANTI &&
                        kind != JOIN_MARK;
    bool all = join->search.step->condition == NULL;
    uint64_t count = 0;
    for (uint64_t i = 0; i < pairs->count; i++) {
        uint32_t left = pairs->left[i], right = pairs->right[i];
        bool end = right == RELATION_NO_ROW;
        bool goes = end ? ends_with_row(join)
                        : pairs_go_out && (all || pairs->kept[i]);
        pairs->left[count] = left;
        pairs->right[count] = end && kind == JOIN_MARK ? mark(join, left)
                                                       : right;
        count += goes;
        if (!end && (all || pairs->kept[i]) && join->partners != NULL)
            join->partners[right] = 1;
        join->matched = !end && (join->matched || all || pairs->kept[i]);
    }
    return count;
}

/* Adds the column of JOIN_MARK. */
static enum vdbq_status put_marks(struct join_stream *join, uint64_t count,
                                  struct error *error)
{
    unsigned number = join->left.column_count;
    struct relation_column *column = &join->output.columns[number];
    enum vdbq_status status = relation_flags(&join->output, number, error);
    for (uint64_t i = 0; i < count && status == VDBQ_OK; i++) {
        uint32_t value = join->pairs.right[i];
        ((int32_t *)column->values)[i] = value == 1;
        column->nulls[i] = value == MARK_NULL;
    }
    return status;
}

/* Makes output rows of `count` pairs. */
static enum vdbq_status put_rows(struct join_stream *join, uint64_t count,
                                 struct vdbq_batch *batch, struct error *error)
{
    struct relation *output = &join->output;
    unsigned left_columns = join->left.column_count;
    output->rows = 0;
    enum vdbq_status status = relation_room(output, count, error);
    if (status == VDBQ_OK)
        status = relation_pick(output, 0, &join->left, join->pairs.left, count,
                               error);
    if (status == VDBQ_OK && join->search.step->kind == JOIN_MARK)
        status = put_marks(join, count, error);
    else if (status == VDBQ_OK && output->column_count > left_columns)
        status = relation_pick(output, left_columns, &join->right,
                               join->pairs.right, count, error);
    if (status != VDBQ_OK)
        return status;
    output->rows = count;
    relation_vectors(output, 0, join->vectors);
    batch->column = join->vectors;
    batch->rows = count;
    return VDBQ_OK;
}

/* Right rows without a partner, when there are no left rows any more. */
static enum vdbq_status put_alone(struct join_stream *join,
                                  struct vdbq_batch *batch,
                                  struct error *error)
{
    struct join_pairs *pairs = &join->pairs;
    uint64_t count = 0;
    while (join->partners != NULL && join->right_next < join->right.rows &&
           count < pairs->room) {
        pairs->left[count] = RELATION_NO_ROW;
        pairs->right[count] = (uint32_t)join->right_next;
        count += !join->partners[join->right_next++];
    }
    return count > 0 ? put_rows(join, count, batch, error) : VDBQ_OK;
}

static enum vdbq_status judge(struct join_stream *join, struct error *error)
{
    if (join->search.step->condition == NULL)
        return VDBQ_OK;
    return condition_run(&join->condition,
                         &(struct condition_pairs){
                             .left = &join->left,
                             .right = &join->right,
                             .left_rows = join->pairs.left,
                             .right_rows = join->pairs.right,
                             .count = join->pairs.count },
                         join->pairs.kept, error);
}

static enum vdbq_status join_batch(struct stream *stream,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    struct join_stream *join = (struct join_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    while (status == VDBQ_OK && batch->rows == 0 && !join->left_ended) {
        status = next_pairs(join, error);
        if (status != VDBQ_OK || join->left_ended)
            break;
        status = stream_pause(stream->params, error);
        if (status == VDBQ_OK)
            status = judge(join, error);
        uint64_t count = status == VDBQ_OK ? settle(join) : 0;
        if (count > 0)
            status = put_rows(join, count, batch, error);
    }
    if (status == VDBQ_OK && batch->rows == 0)
        status = put_alone(join, batch, error);
    return status;
}

static struct words *join_words(const struct stream *stream, unsigned column)
{
    const struct join_stream *join = (const struct join_stream *)stream;
    if (column < join->left.column_count)
        return join->left.columns[column].words;
    column -= join->left.column_count;
    return column < join->right.column_count
               ? join->right.columns[column].words
               : NULL;
}

static void join_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    chunks_stats(&((const struct join_stream *)stream)->condition.chunks,
                 stats);
}

const struct stream_kind join_stream = {
    .size = sizeof(struct join_stream),
    .calls = { .batch = join_batch,
               .words = join_words,
               .stats = join_stats,
               .close = join_close },
    .open = join_open,
};
