/* SPDX-License-Identifier: MIT */
/*
 * STEP_APPLY: rows with the answer of an inner query to each. The inner query
 * runs once for each different tuple of what it depends on; answers are kept.
 * Where they are texts, all are found when the stream is opened, since the
 * words of a stream are known from then on.
 */
#include <assert.h>
#include <string.h>

#include "exec/rows/rescan.h"
#include "exec/rows/row_index.h"
#include "exec/stream/stream_inner.h"

struct apply_stream {
    struct stream head;           /* first */
    struct stream_params params;  /* of the inner query                     */
    struct parameter *parameters; /* ... where these are                    */
    unsigned tuple_count;         /* columns that an answer depends on      */
    int *tuple_columns;           /* of the input                           */
    struct row_set_column *tuple; /* those of the batch at hand            */
    struct vdbq_vector *tuple_vectors; /* likewise                          */
    struct row_set tuples;       /* that were answered                     */
    struct row_index index;      /* of these                               */
    struct row_set answers;      /* one column: the answer to each tuple   */
    struct vector texts;         /* of struct vdbq_text: likewise          */
    struct arena arena;          /* of these                               */
    bool materialised;           /* the rows are all here                  */
    struct rescan input;         /* ... these                              */
    struct row_set column;       /* of the batch: its rows' answers        */
    struct vector numbers;       /* of uint32_t: likewise, their numbers   */
    struct vdbq_vector *vectors; /* of the batch; the last is the answer */
};

static enum vdbq_status answer_texts(struct apply_stream *apply,
                                     struct error *error);

/* ---------------------------------------------------------------- open -- */

/* The step of the plan. */
static const struct step_apply *step_of(const struct apply_stream *apply)
{
    return &apply->head.step->apply;
}

/* The column that the answers are for. */
static const struct step_column *answer_column(const struct apply_stream *apply)
{
    return &apply->head.step->columns[apply->head.step->column_count - 1];
}

/* Parameters of the outer query, and behind or among them those that each row
 * sets. */
static enum vdbq_status make_parameters(struct apply_stream *apply,
                                        struct error *error)
{
    const struct stream_params *outer = apply->head.params;
    const struct vector *set = &step_of(apply)->parameters;
    unsigned count = outer->parameter_count;
    for (size_t i = 0; i < set->count; i++) {
        int number = VECTOR_ITEMS(set, struct step_parameter)[i].parameter;
        assert(number >= 0);
        if ((unsigned)number >= count)
            count = (unsigned)number + 1;
    }
    apply->parameters = memory_zeroed(count, sizeof *apply->parameters);
    if (apply->parameters == NULL)
        return error_no_memory(error);
    if (outer->parameter_count > 0)
        memcpy(apply->parameters, outer->parameters,
               outer->parameter_count * sizeof *apply->parameters);
    apply->params = *outer;
    apply->params.nested = true;
    apply->params.parameters = apply->parameters;
    apply->params.parameter_count = count;
    return VDBQ_OK;
}

/* Which columns an answer depends on. */
static enum vdbq_status make_tuple(struct apply_stream *apply,
                                   struct error *error)
{
    const struct step_apply *step = step_of(apply);
    unsigned set = (unsigned)step->parameters.count;
    apply->tuple_count = set + (step->kind == APPLY_IN);
    apply->tuple_columns =
        memory_zeroed(apply->tuple_count, sizeof *apply->tuple_columns);
    apply->tuple = memory_zeroed(apply->tuple_count, sizeof *apply->tuple);
    apply->tuple_vectors =
        memory_zeroed(apply->tuple_count, sizeof *apply->tuple_vectors);
    if (!apply->tuple_columns || !apply->tuple || !apply->tuple_vectors)
        return error_no_memory(error);
    for (unsigned i = 0; i < set; i++)
        apply->tuple_columns[i] =
            VECTOR_ITEMS(&step->parameters, struct step_parameter)[i].column;
    if (step->kind == APPLY_IN)
        apply->tuple_columns[set] = step->column;
    return row_index_init(&apply->index, apply->tuple_count, true, error);
}

/* Makes the row set of tuples, with the types of the input's columns. */
static enum vdbq_status make_tuples(struct apply_stream *apply,
                                    struct error *error)
{
    const struct step_column *from = apply->head.inputs[0]->step->columns;
    struct step_column *columns =
        memory_zeroed(apply->tuple_count, sizeof *columns);
    if (columns == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < apply->tuple_count; i++)
        columns[i] = from[apply->tuple_columns[i]];
    enum vdbq_status status =
        row_set_init(&apply->tuples, columns, apply->tuple_count, error);
    memory_release(columns);
    return status;
}

/* Nothing is answered before the first batch is asked for. */
static enum vdbq_status apply_open(struct stream *stream, struct error *error)
{
    struct apply_stream *apply = (struct apply_stream *)stream;
    apply->texts = VECTOR(struct vdbq_text);
    apply->numbers = VECTOR(uint32_t);
    stream->rows_most = stream->inputs[0]->rows_most;
    apply->vectors =
        memory_zeroed(stream->step->column_count, sizeof *apply->vectors);
    if (apply->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = make_parameters(apply, error);
    if (status == VDBQ_OK)
        status = make_tuple(apply, error);
    if (status == VDBQ_OK)
        status = make_tuples(apply, error);
    if (status == VDBQ_OK)
        status = row_set_init(&apply->answers, answer_column(apply), 1, error);
    if (status == VDBQ_OK)
        status = row_set_init(&apply->column, answer_column(apply), 1, error);
    if (status == VDBQ_OK && answer_column(apply)->type == VDBQ_TEXT)
        status = answer_texts(apply, error);
    return status;
}

/* Frees whatever was opened. */
static void apply_close(struct stream *stream)
{
    struct apply_stream *apply = (struct apply_stream *)stream;
    row_index_finish(&apply->index);
    row_set_finish(&apply->tuples);
    row_set_finish(&apply->answers);
    row_set_finish(&apply->column);
    rescan_finish(&apply->input);
    vector_finish(&apply->texts);
    vector_finish(&apply->numbers);
    arena_finish(&apply->arena);
    memory_release(apply->parameters);
    memory_release(apply->tuple_columns);
    memory_release(apply->tuple);
    memory_release(apply->tuple_vectors);
    memory_release(apply->vectors);
}

/* --------------------------------------------------------- inner query -- */

/* Gives the parameters the values of a row of the batch at hand. */
static void set_parameters(struct apply_stream *apply, uint64_t row)
{
    const struct vector *set = &step_of(apply)->parameters;
    for (unsigned i = 0; i < set->count; i++) {
        const struct row_set_column *from = &apply->tuple[i];
        assert(i < apply->tuple_count);
        struct parameter *to =
            &apply->parameters[VECTOR_ITEMS(set, struct step_parameter)[i]
                                   .parameter];
        *to = (struct parameter){ .type = from->type,
                                  .null = row_set_is_null(from, row) };
        if (to->null)
            continue;
        if (from->type == VDBQ_TEXT)
            to->text = dictionary_text(
                stream_dictionary(apply->head.inputs[0],
                                  (unsigned)apply->tuple_columns[i]),
                (uint32_t)row_set_integer(from, row));
        else if (from->type == VDBQ_FLOAT || from->type == VDBQ_DOUBLE)
            to->real = row_set_real(from, row);
        else
            to->integer = row_set_integer(from, row);
    }
}

/* Adds an answer of BOOLEAN; 2 is NULL. */
static enum vdbq_status add_truth(struct apply_stream *apply, int truth,
                                  struct error *error)
{
    assert(truth >= 0 && truth <= 2);
    int32_t value = truth == 1;
    uint8_t null = truth == 2;
    struct vdbq_vector vector = { .type = VDBQ_BOOLEAN,
                                  .values = &value,
                                  .nulls = &null };
    struct vdbq_batch batch = { .rows = 1, .columns = 1, .column = &vector };
    return row_set_append(&apply->answers, &batch, 1, error);
}

/* Adds the first value of a batch, or NULL where it has no rows. */
static enum vdbq_status add_scalar(struct apply_stream *apply,
                                   const struct stream *inner,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    struct vdbq_text text = { .bytes = "" };
    const int64_t zero = 0;
    const uint8_t null = 1;
    const struct vdbq_vector none = { .values = &zero, .nulls = &null };
    if (batch->rows == 0)
        batch->column = &none;
    if (answer_column(apply)->type == VDBQ_TEXT && batch->rows > 0
        && (batch->column[0].nulls == NULL || batch->column[0].nulls[0] == 0)) {
        text = dictionary_text(stream_dictionary(inner, 0),
                               ((const uint32_t *)batch->column[0].values)[0]);
        text.bytes = arena_copy(&apply->arena, text.bytes, text.length);
    }
    if (text.bytes == NULL
        || (answer_column(apply)->type == VDBQ_TEXT
            && !vector_append(&apply->texts, &text, 1)))
        return error_no_memory(error);
    return row_set_append_part(&apply->answers, batch, 0, 1, error);
}

/* The value that APPLY_IN looks for, among those of the inner query. Where it
 * is a text that is none of their words, it has the number of none. */
static struct row_set_column value_sought(const struct apply_stream *apply,
                                          uint64_t row,
                                          const struct stream *inner,
                                          uint32_t *number)
{
    unsigned last = apply->tuple_count - 1;
    struct row_set_column value = apply->tuple[last];
    value.values = (char *)value.values + row * value.width;
    value.nulls = NULL;
    if (value.type != VDBQ_TEXT)
        return value;
    struct vdbq_text text =
        dictionary_text(stream_dictionary(apply->head.inputs[0],
                                          (unsigned)apply->tuple_columns[last]),
                        *(const uint32_t *)value.values);
    const struct dictionary *dictionary = stream_dictionary(inner, 0);
    if (dictionary == NULL || !dictionary_find(dictionary, text, number))
        *number = ROW_SET_NO_ROW;
    value.values = number;
    return value;
}

/* Whether row `row`'s value is in a batch: 1, 0, or 2 where that is not known
 * for NULLs. */
static int is_in(const struct apply_stream *apply, uint64_t row,
                 const struct stream *inner, const struct vdbq_batch *batch)
{
    const struct vdbq_vector *vector = &batch->column[0];
    uint32_t number;
    struct row_set_column value = value_sought(apply, row, inner, &number);
    struct row_set_column among = { .type = vector->type,
                                    .width = row_set_width(vector->type),
                                    .values = (void *)vector->values,
                                    .nulls = (uint8_t *)vector->nulls };
    int truth = 0;
    if (row_set_is_null(&apply->tuple[apply->tuple_count - 1], row))
        return 2;
    for (uint64_t i = 0; i < batch->rows && truth != 1; i++) {
        if (row_set_is_null(&among, i))
            truth = 2;
        else if (row_same(&value, 0, &among, i))
            truth = 1;
    }
    return truth;
}

/* Reads the inner query's rows as far as the answer needs them. */
static enum vdbq_status read_answer(struct apply_stream *apply, uint64_t row,
                                    struct stream *inner, struct error *error)
{
    struct vdbq_batch batch;
    enum vdbq_status status = stream_batch(inner, &batch, error);
    int truth = 0;
    if (status != VDBQ_OK)
        return status;
    if (step_of(apply)->kind == APPLY_SCALAR)
        return add_scalar(apply, inner, &batch, error);
    if (step_of(apply)->kind == APPLY_EXISTS)
        return add_truth(apply, batch.rows > 0, error);
    while (status == VDBQ_OK && batch.rows > 0 && truth != 1) {
        int part = is_in(apply, row, inner, &batch);
        truth = part != 0 ? part : truth;
        if (truth != 1)
            status = stream_batch(inner, &batch, error);
    }
    return status == VDBQ_OK ? add_truth(apply, truth, error) : status;
}

/* Runs the inner query for a row's tuple, which has no answer yet. */
static enum vdbq_status answer(struct apply_stream *apply, uint64_t row,
                               struct error *error)
{
    const struct steps *steps = step_of(apply)->inner;
    struct stream *inner;
    struct vdbq_batch tuple = { .rows = 1,
                                .columns = apply->tuple_count,
                                .column = apply->tuple_vectors };
    set_parameters(apply, row);
    enum vdbq_status status = stop_pause(error);
    if (status == VDBQ_OK)
        status =
            stream_open(&apply->params, steps, TEXTS_ORDERED, &inner, error);
    if (status != VDBQ_OK)
        return status;
    status = read_answer(apply, row, inner, error);
    stream_close(inner);
    if (status == VDBQ_OK)
        status = row_set_append_part(&apply->tuples, &tuple, row, 1, error);
    return status == VDBQ_OK ? row_index_add(
               &apply->index, apply->tuples.columns, apply->tuples.rows, error)
                             : status;
}

/* ------------------------------------------------------------- answers -- */

/* Takes a batch's columns that answers depend on to hand. */
static void take_tuple(struct apply_stream *apply,
                       const struct vdbq_batch *batch)
{
    for (unsigned i = 0; i < apply->tuple_count; i++) {
        assert(apply->tuple_columns[i] >= 0
               && (unsigned)apply->tuple_columns[i] < batch->columns);
        const struct vdbq_vector *vector =
            &batch->column[apply->tuple_columns[i]];
        apply->tuple_vectors[i] = *vector;
        apply->tuple[i] = (struct row_set_column){
            .type = vector->type,
            .width = row_set_width(vector->type),
            .values = (void *)vector->values,
            .nulls = (uint8_t *)vector->nulls,
        };
    }
}

/* The number of the answer to a row of the batch at hand. */
static enum vdbq_status find_answer(struct apply_stream *apply, uint64_t row,
                                    uint32_t *number, struct error *error)
{
    uint64_t hash = row_hash(apply->tuple, apply->tuple_count, row);
    *number =
        row_index_find(&apply->index, apply->tuple, row, hash, ROW_SET_NO_ROW);
    if (*number != ROW_SET_NO_ROW)
        return VDBQ_OK;
    *number = (uint32_t)apply->answers.rows;
    assert(apply->answers.rows < ROW_SET_NO_ROW);
    return answer(apply, row, error);
}

/* Makes the column of a batch's answers, which ends before a row of which the
 * inner query fails. */
static enum vdbq_status answer_batch(struct apply_stream *apply,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    apply->column.rows = apply->numbers.count = 0;
    assert(!apply->materialised || apply->input.vectors != NULL);
    take_tuple(apply, batch);
    for (uint64_t row = 0; row < batch->rows && status == VDBQ_OK; row++) {
        uint32_t number;
        status = find_answer(apply, row, &number, error);
        if (status == VDBQ_OK && !vector_append(&apply->numbers, &number, 1))
            status = error_no_memory(error);
    }
    if (stream_row_failed(status)) {
        batch->rows = apply->numbers.count;
        status = stream_hold(&apply->head, error);
    }
    if (status == VDBQ_OK)
        status = row_set_room(&apply->column, batch->rows, error);
    if (status == VDBQ_OK)
        status = row_set_pick(&apply->column, 0, &apply->answers,
                              apply->numbers.items, batch->rows, 1, error);
    return status;
}

/* Finds the answers of all rows before the first of which the inner query
 * fails. */
static enum vdbq_status answer_all(struct apply_stream *apply,
                                   struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    uint64_t answered = 0;
    uint32_t number;
    enum vdbq_status status = rescan_begin(&apply->input, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        rescan_batch(&apply->input, &batch);
        take_tuple(apply, &batch);
        for (uint64_t row = 0; row < batch.rows && status == VDBQ_OK; row++) {
            status = find_answer(apply, row, &number, error);
            answered += status == VDBQ_OK;
        }
    }
    apply->input.next = 0;
    if (!stream_row_failed(status))
        return status;
    apply->input.row_set.rows = answered;
    return stream_hold(&apply->head, error);
}

/* Finds all answers, and makes words of them. */
static enum vdbq_status answer_texts(struct apply_stream *apply,
                                     struct error *error)
{
    enum vdbq_status status =
        stream_materialise_some(&apply->head, &apply->input.row_set, error);
    if (status == VDBQ_OK)
        status = answer_all(apply, error);
    apply->materialised = true;
    if (status != VDBQ_OK || apply->texts.count == 0)
        return status;
    struct row_set_column *column = &apply->answers.columns[0];
    column->dictionary =
        dictionary_make(apply->texts.items, apply->texts.count, column->values);
    return column->dictionary != NULL ? VDBQ_OK : stop_or_no_memory(error);
}

/* ---------------------------------------------------------------- rows -- */

/* Texts are answered for all rows at once, since their dictionary must be whole
   before the first batch. */
static enum vdbq_status apply_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    struct apply_stream *apply = (struct apply_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    if (apply->materialised)
        rescan_batch(&apply->input, batch);
    else
        status = stream_batch(stream->inputs[0], batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    status = answer_batch(apply, batch, error);
    if (status != VDBQ_OK)
        return status;
    memcpy(apply->vectors, batch->column,
           batch->columns * sizeof *apply->vectors);
    row_set_vectors(&apply->column, 0, apply->vectors + batch->columns);
    batch->columns = stream->step->column_count;
    batch->column = apply->vectors;
    return VDBQ_OK;
}

/* The answer's dictionary is its own; the other columns keep theirs. */
static struct dictionary *apply_dictionary(const struct stream *stream,
                                           unsigned column)
{
    const struct apply_stream *apply = (const struct apply_stream *)stream;
    return column < stream->inputs[0]->step->column_count
               ? stream_dictionary(stream->inputs[0], column)
               : apply->answers.columns[0].dictionary;
}

const struct stream_kind apply_stream = {
    .size = sizeof(struct apply_stream),
    .calls = { .batch = apply_batch,
               .dictionary = apply_dictionary,
               .close = apply_close },
    .open = apply_open,
};
