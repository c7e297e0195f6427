/* SPDX-License-Identifier: MIT */
/*
 * STEP_VALUES: rows that the plan has, all in one batch. Texts become numbers
 * of words here, like those of any column.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"

#include "exec/stream/stream_inner.h"

struct values_stream {
    struct stream head;          /* first */
    struct row_set rows;         /* copied when the stream opens */
    struct vdbq_vector *vectors; /* of the batch */
    bool given;                  /* the only batch was given */
};

/* Makes the dictionary of a text column. */
static enum vdbq_status copy_texts(struct values_stream *values,
                                   unsigned column, struct error *error)
{
    assert(values->head.step->columns[column].type == VDBQ_TEXT);
    const struct step_values *step = &values->head.step->values;
    struct dictionary *dictionary =
        dictionary_make(step->vectors[column].values, step->rows,
                        values->rows.columns[column].values);
    if (dictionary == NULL)
        return stop_or_no_memory(error);
    row_set_dictionary(&values->rows, column, dictionary);
    return VDBQ_OK;
}

/* Copies a column of the step; the machine wants its own widths. */
static enum vdbq_status copy_column(struct values_stream *values,
                                    unsigned column, struct error *error)
{
    const struct step_values *step = &values->head.step->values;
    const struct vdbq_vector *from = &step->vectors[column];
    struct row_set_column *to = &values->rows.columns[column];
    enum vdbq_status status = VDBQ_OK;
    bool flags = from->nulls != NULL && step->rows > 0;
    if (flags)
        status = row_set_flags(&values->rows, column, error);
    if (status != VDBQ_OK)
        return status;
    if (flags)
        memcpy(to->nulls, from->nulls, step->rows);
    if (from->type == VDBQ_TEXT)
        return copy_texts(values, column, error);
    if (step->rows > 0)
        memcpy(to->values, from->values, step->rows * to->width);
    return VDBQ_OK;
}

/* Bytes of all rows; their words are beside them. */
static uint64_t rows_bytes(const struct step *step)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < step->column_count; i++)
        bytes += row_set_width(step->columns[i].type) + 1;
    return bytes * step->values.rows;
}

/* Copies all rows, which the plan has anyway. */
static enum vdbq_status values_open(struct stream *stream, struct error *error)
{
    struct values_stream *values = (struct values_stream *)stream;
    const struct step *step = stream->step;
    enum vdbq_status status =
        row_set_init(&values->rows, step->columns, step->column_count, error);
    stream->rows_most = step->values.rows;
    account_take_anyway(&stream->memory, rows_bytes(step));
    if (status == VDBQ_OK)
        status = row_set_room(&values->rows, step->values.rows, error);
    for (unsigned i = 0; i < step->column_count && status == VDBQ_OK; i++)
        status = copy_column(values, i, error);
    values->rows.rows = step->values.rows;
    values->vectors =
        memory_zeroed(step->column_count, sizeof *values->vectors);
    if (status == VDBQ_OK && values->vectors == NULL)
        status = error_no_memory(error);
    return status;
}

/* All rows are one batch. */
static enum vdbq_status values_batch(struct stream *stream,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct values_stream *values = (struct values_stream *)stream;
    (void)error;
    batch->rows = values->given ? 0 : values->rows.rows;
    row_set_vectors(&values->rows, 0, values->vectors);
    batch->column = values->vectors;
    values->given = true;
    return VDBQ_OK;
}

/* Of the dictionary made when the stream opened. */
static struct dictionary *values_dictionary(const struct stream *stream,
                                            unsigned column)
{
    return ((const struct values_stream *)stream)
        ->rows.columns[column]
        .dictionary;
}

/* Frees the copied rows. */
static void values_close(struct stream *stream)
{
    struct values_stream *values = (struct values_stream *)stream;
    row_set_finish(&values->rows);
    memory_release(values->vectors);
}

const struct stream_kind values_stream = {
    .size = sizeof(struct values_stream),
    .calls = { .batch = values_batch,
               .dictionary = values_dictionary,
               .close = values_close },
    .open = values_open,
};
