/* SPDX-License-Identifier: MIT */
/*
 * Steps that have to see all rows before they give the first: groups, sorts
 * and windows. All is done when the stream is opened; what it gives then are
 * pieces of one relation.
 */
#include <string.h>

#include "exec/group.h"
#include "exec/sort.h"
#include "exec/stream_inner.h"
#include "exec/window.h"

enum { WHOLE_BATCH_ROWS = 1 << 20 };

struct whole_stream {
    struct stream head;
    struct relation rows;
    uint64_t given; /* rows that are out */
    struct vdbq_vector *vectors;
};

static unsigned threads_of(const struct stream_params *params)
{
    return params->threads > 0 ? params->threads : 1;
}

/* The words of a column of the input, for a column of the output. */
static void share_words(struct stream *input, int from,
                        struct relation *output, unsigned to)
{
    if (output->columns[to].type == VDBQ_TEXT)
        relation_words(output, to,
                       words_hold(stream_words(input, (unsigned)from)));
}

/* --------------------------------------------------------------- groups -- */

static enum vdbq_status add_all(const struct stream_params *params,
                                struct stream *input, struct group *group,
                                struct error *error)
{
    struct vdbq_batch batch;
    enum vdbq_status status = stream_batch(input, &batch, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = group_add(group, &batch, error);
        if (status == VDBQ_OK)
            status = stream_pause(params, error);
        if (status == VDBQ_OK)
            status = stream_batch(input, &batch, error);
    }
    return status;
}

static void name_group_words(const struct step_group *step,
                             struct stream *input, struct relation *output)
{
    for (unsigned i = 0; i < step->keys; i++)
        share_words(input, (int)i, output, i);
    for (unsigned i = 0; i < step->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&step->aggregates, i);
        if (aggregate->column >= 0)
            share_words(input, aggregate->column, output, step->keys + i);
    }
}

static enum vdbq_status group_rows(const struct stream_params *params,
                                   const struct step *step,
                                   struct stream *input,
                                   struct relation *output,
                                   struct error *error)
{
    struct group_params own = { .step = &step->group,
                                .columns = input->step->columns,
                                .threads = threads_of(params) };
    struct group *group = NULL;
    enum vdbq_status status = group_create(&own, &group, error);
    if (status == VDBQ_OK)
        status = add_all(params, input, group, error);
    if (status == VDBQ_OK)
        status = group_finish(group, output, error);
    if (status == VDBQ_OK)
        name_group_words(&step->group, input, output);
    group_destroy(group);
    return status;
}

/* --------------------------------------------------------------- sorts -- */

/* Rows of `order` from `offset` on, `limit` at most. */
static enum vdbq_status pick_rows(const struct step_sort *sort,
                                  const struct relation *rows,
                                  const uint32_t *order,
                                  struct relation *output,
                                  struct error *error)
{
    uint64_t first = sort->offset < rows->rows ? sort->offset : rows->rows;
    uint64_t count = rows->rows - first;
    struct relation narrow = *rows;
    if (count > sort->limit)
        count = sort->limit;
    narrow.column_count = output->column_count;
    enum vdbq_status status = relation_room(output, count, error);
    if (status == VDBQ_OK)
        status = relation_pick(output, 0, &narrow, order + first, count,
                               error);
    if (status == VDBQ_OK)
        output->rows += count;
    return status;
}

static enum vdbq_status sort_gathered(const struct stream_params *params,
                                      const struct step_sort *sort,
                                      const struct relation *rows,
                                      struct relation *output,
                                      struct error *error)
{
    unsigned count = (unsigned)sort->keys.count;
    struct sort_key *keys = memory_zeroed(count + 1, sizeof *keys);
    uint32_t *order = memory_zeroed(rows->rows + 1, sizeof *order);
    enum vdbq_status status = VDBQ_OK;
    if (keys == NULL || order == NULL)
        status = error_no_memory(error);
    if (status == VDBQ_OK) {
        sort_keys(rows, sort->keys.items, count, keys);
        status = sort_order(keys, count, (uint32_t)rows->rows,
                            threads_of(params), order, error);
    }
    if (status == VDBQ_OK)
        status = pick_rows(sort, rows, order, output, error);
    memory_release(keys);
    memory_release(order);
    return status;
}

static enum vdbq_status sort_all(const struct stream_params *params,
                                 const struct step *step,
                                 struct stream *input,
                                 struct relation *output,
                                 struct error *error)
{
    struct relation rows = { 0 };
    enum vdbq_status status = stream_gather(input, &rows, error);
    if (status == VDBQ_OK)
        status = sort_gathered(params, &step->sort, &rows, output, error);
    relation_finish(&rows);
    return status;
}

/* The rows are numbered in their order already. */
static enum vdbq_status give_top(const struct step_sort *sort,
                                 const struct sort_top *top,
                                 struct relation *output,
                                 struct error *error)
{
    uint32_t *order = memory_zeroed(top->rows.rows + 1, sizeof *order);
    if (order == NULL)
        return error_no_memory(error);
    for (uint32_t i = 0; i < top->rows.rows; i++)
        order[i] = i;
    enum vdbq_status status =
        pick_rows(sort, &top->rows, order, output, error);
    memory_release(order);
    return status;
}

static enum vdbq_status sort_first(const struct stream_params *params,
                                   const struct step *step,
                                   struct stream *input,
                                   struct relation *output,
                                   struct error *error)
{
    const struct step_sort *sort = &step->sort;
    struct sort_top top = { 0 };
    struct vdbq_batch batch = { 0 };
    enum vdbq_status status = sort_top_init(
        &top, sort->keys.items, (unsigned)sort->keys.count,
        sort->offset + sort->limit, input->step->columns,
        input->step->column_count, error);
    if (status == VDBQ_OK)
        status = stream_batch(input, &batch, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = sort_top_add(&top, &batch, error);
        if (status == VDBQ_OK)
            status = stream_pause(params, error);
        if (status == VDBQ_OK)
            status = stream_batch(input, &batch, error);
    }
    if (status == VDBQ_OK)
        status = sort_top_end(&top, error);
    if (status == VDBQ_OK)
        status = give_top(sort, &top, output, error);
    sort_top_finish(&top);
    return status;
}

static enum vdbq_status sort_rows(const struct stream_params *params,
                                  const struct step *step,
                                  struct stream *input,
                                  struct relation *output,
                                  struct error *error)
{
    const struct step_sort *sort = &step->sort;
    bool few = sort->limit < SORT_TOP_MAX && sort->offset < SORT_TOP_MAX &&
               sort->offset + sort->limit < SORT_TOP_MAX;
    enum vdbq_status status =
        few ? sort_first(params, step, input, output, error)
            : sort_all(params, step, input, output, error);
    for (unsigned i = 0; i < output->column_count && status == VDBQ_OK; i++)
        share_words(input, (int)i, output, i);
    return status;
}

/* -------------------------------------------------------------- windows -- */

static void name_window_words(const struct step_window *step,
                              struct stream *input, unsigned columns,
                              struct relation *output)
{
    for (unsigned i = 0; i < columns; i++)
        share_words(input, (int)i, output, i);
    for (unsigned i = 0; i < step->functions.count; i++) {
        const struct step_window_function *function =
            vector_at(&step->functions, i);
        if (function->aggregate.column >= 0)
            share_words(input, function->aggregate.column, output,
                        columns + i);
    }
}

/* Puts the columns of one relation behind those of another. */
static void move_columns(struct relation *from, struct relation *to,
                         unsigned first)
{
    for (unsigned i = 0; i < from->column_count; i++) {
        struct relation_column moved = from->columns[i];
        from->columns[i] = to->columns[first + i];
        to->columns[first + i] = moved;
    }
}

static enum vdbq_status window_rows(const struct stream_params *params,
                                    const struct step *step,
                                    struct stream *input,
                                    struct relation *output,
                                    struct error *error)
{
    unsigned columns = input->step->column_count;
    struct relation rows = { 0 }, results = { 0 };
    struct window_params own = { .step = &step->window,
                                 .rows = &rows,
                                 .threads = threads_of(params) };
    enum vdbq_status status = stream_gather(input, &rows, error);
    if (status == VDBQ_OK)
        status = relation_init(&results, step->columns + columns,
                               step->column_count - columns, error);
    if (status == VDBQ_OK)
        status = window_run(&own, &results, error);
    if (status == VDBQ_OK) {
        move_columns(&rows, output, 0);
        move_columns(&results, output, columns);
        output->rows = output->rows_room = rows.rows;
        name_window_words(&step->window, input, columns, output);
    }
    relation_finish(&rows);
    relation_finish(&results);
    return status;
}

/* ---------------------------------------------------------------- stream -- */

static enum vdbq_status make_rows(struct stream *stream,
                                  struct relation *output,
                                  struct error *error)
{
    const struct stream_params *params = stream->params;
    const struct step *step = stream->step;
    if (step->kind == STEP_GROUP)
        return group_rows(params, step, stream->inputs[0], output, error);
    if (step->kind == STEP_SORT)
        return sort_rows(params, step, stream->inputs[0], output, error);
    return window_rows(params, step, stream->inputs[0], output, error);
}

static enum vdbq_status whole_open(struct stream *stream, struct error *error)
{
    struct whole_stream *whole = (struct whole_stream *)stream;
    const struct step *step = stream->step;
    whole->vectors =
        memory_zeroed(step->column_count + 1, sizeof *whole->vectors);
    if (whole->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = relation_init(&whole->rows, step->columns,
                                            step->column_count, error);
    if (status == VDBQ_OK)
        status = make_rows(stream, &whole->rows, error);
    stream->rows_most = whole->rows.rows;
    if (status == VDBQ_OK)
        stream_close_input(stream, 0);
    return status;
}

static enum vdbq_status whole_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    struct whole_stream *whole = (struct whole_stream *)stream;
    uint64_t left = whole->rows.rows - whole->given;
    (void)error;
    relation_vectors(&whole->rows, whole->given, whole->vectors);
    batch->rows = left < WHOLE_BATCH_ROWS ? left : WHOLE_BATCH_ROWS;
    batch->column = whole->vectors;
    whole->given += batch->rows;
    return VDBQ_OK;
}

static struct words *whole_words(const struct stream *stream, unsigned column)
{
    const struct whole_stream *whole = (const struct whole_stream *)stream;
    return whole->rows.columns[column].words;
}

static void whole_close(struct stream *stream)
{
    struct whole_stream *whole = (struct whole_stream *)stream;
    relation_finish(&whole->rows);
    memory_release(whole->vectors);
}

const struct stream_kind whole_stream = {
    .size = sizeof(struct whole_stream),
    .calls = { .batch = whole_batch,
               .words = whole_words,
               .close = whole_close },
    .open = whole_open,
};
