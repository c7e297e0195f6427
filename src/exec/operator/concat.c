/* SPDX-License-Identifier: MIT */
/*
 * STEP_CONCAT: the rows of all inputs, one input after the other. Text columns
 * have the words of all inputs together, and the numbers of an input's words
 * become theirs.
 */
#include <assert.h>
#include <string.h>

#include "base/paged.h"
#include "base/threads/stop.h"
#include "exec/dictionary/dictionary_table.h"

#include "exec/stream/stream_inner.h"

struct concat_stream {
    struct stream head; /* first */
    size_t current;     /* the input whose rows come                */
    /* a column: of all inputs; NULL: no text */
    struct dictionary **dictionaries;
    uint32_t **numbers;          /* an input's column: the new number of each
                                  word; NULL: the same one                 */
    uint32_t **room;             /* a column: numbers of the batch           */
    uint64_t *rows_room;         /* likewise: how many                       */
    struct vdbq_vector *vectors; /* of the batch */
};

/* Where the numbers of an input's column are. */
static uint32_t **numbers_of(const struct concat_stream *concat, size_t input,
                             unsigned column)
{
    assert(column < concat->head.step->column_count
           && input < concat->head.step->inputs.count);
    return &concat->numbers[input * concat->head.step->column_count + column];
}

/* Joins the words of one column. */
static enum vdbq_status join_dictionary(struct concat_stream *concat,
                                        unsigned column,
                                        struct dictionary **parts,
                                        uint32_t **numbers, struct error *error)
{
    size_t inputs = concat->head.step->inputs.count, count = 0;
    for (size_t i = 0; i < inputs; i++) {
        struct dictionary *dictionaries =
            stream_dictionary(concat->head.inputs[i], column);
        if (dictionaries == NULL)
            continue;
        uint32_t **to = numbers_of(concat, i, column);
        *to = paged_alloc((dictionaries->count + (size_t)1) * sizeof **to);
        if (*to == NULL)
            return error_no_memory(error);
        parts[count] = dictionaries;
        numbers[count++] = *to;
    }
    if (count == 0)
        return VDBQ_OK;
    concat->dictionaries[column] = dictionary_join(
        parts, count, numbers, stream_threads(concat->head.params));
    return concat->dictionaries[column] != NULL ? VDBQ_OK
                                                : stop_or_no_memory(error);
}

/* Joins the dictionaries of every text column. */
static enum vdbq_status make_dictionary(struct concat_stream *concat,
                                        struct error *error)
{
    const struct step *step = concat->head.step;
    enum vdbq_status status = VDBQ_OK;
    struct dictionary **parts =
        memory_zeroed(step->inputs.count, sizeof *parts);
    uint32_t **numbers = memory_zeroed(step->inputs.count, sizeof *numbers);
    if (parts == NULL || numbers == NULL)
        status = error_no_memory(error);
    for (unsigned i = 0; i < step->column_count && status == VDBQ_OK; i++)
        if (step->columns[i].type == VDBQ_TEXT)
            status = join_dictionary(concat, i, parts, numbers, error);
    memory_release(parts);
    memory_release(numbers);
    return status;
}

/* All inputs are open from the start, for the dictionaries. */
static enum vdbq_status concat_open(struct stream *stream, struct error *error)
{
    struct concat_stream *concat = (struct concat_stream *)stream;
    size_t columns = stream->step->column_count;
    size_t inputs = stream->step->inputs.count;
    concat->dictionaries = memory_zeroed(columns, sizeof *concat->dictionaries);
    concat->numbers = memory_zeroed(columns * inputs, sizeof *concat->numbers);
    concat->room = memory_zeroed(columns, sizeof *concat->room);
    concat->rows_room = memory_zeroed(columns, sizeof *concat->rows_room);
    concat->vectors = memory_zeroed(columns, sizeof *concat->vectors);
    if (!concat->dictionaries || !concat->numbers || !concat->room
        || !concat->rows_room || !concat->vectors)
        return error_no_memory(error);
    for (size_t i = 0; i < inputs; i++)
        stream->rows_most += stream->inputs[i]->rows_most;
    return make_dictionary(concat, error);
}

/* Frees the joined dictionaries; inputs are closed as they end. */
static void concat_close(struct stream *stream)
{
    struct concat_stream *concat = (struct concat_stream *)stream;
    size_t columns = stream->step->column_count;
    for (size_t i = 0; concat->dictionaries != NULL && i < columns; i++)
        dictionary_release(concat->dictionaries[i]);
    for (size_t i = 0; concat->room != NULL && i < columns; i++)
        memory_release(concat->room[i]);
    for (size_t i = 0;
         concat->numbers != NULL && i < columns * stream->step->inputs.count;
         i++)
        paged_release(concat->numbers[i]);
    memory_release(concat->dictionaries);
    memory_release(concat->numbers);
    memory_release(concat->room);
    memory_release(concat->rows_room);
    memory_release(concat->vectors);
}

/* Gives a text column its new numbers. */
static enum vdbq_status renumber(struct concat_stream *concat, unsigned column,
                                 uint64_t rows, struct error *error)
{
    const uint32_t *numbers = *numbers_of(concat, concat->current, column);
    const struct dictionary *dictionaries =
        stream_dictionary(concat->head.inputs[concat->current], column);
    struct vdbq_vector *vector = &concat->vectors[column];
    const uint32_t *from = vector->values;
    if (numbers == NULL)
        return VDBQ_OK;
    if (rows > concat->rows_room[column]) {
        uint32_t *room =
            memory_resize(concat->room[column], rows * sizeof *room);
        if (room == NULL)
            return error_no_memory(error);
        concat->room[column] = room;
        concat->rows_room[column] = rows;
    }
    dictionary_follow(
        &(struct dictionary_table){ numbers, dictionaries->count }, from, rows,
        concat->room[column]);
    vector->values = concat->room[column];
    return stop_pause(error);
}

/* Gives the inputs one after another and closes each at its end. */
static enum vdbq_status concat_batch(struct stream *stream,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct concat_stream *concat = (struct concat_stream *)stream;
    enum vdbq_status status = VDBQ_OK;
    size_t inputs = stream->step->inputs.count;
    batch->rows = 0;
    while (status == VDBQ_OK && concat->current < inputs) {
        status = stream_batch(stream->inputs[concat->current], batch, error);
        if (status != VDBQ_OK || batch->rows > 0)
            break;
        stream_close_input(stream, (unsigned)concat->current++);
        status = stop_pause(error);
    }
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(stream, batch, concat->vectors);
    for (unsigned i = 0; i < batch->columns && status == VDBQ_OK; i++)
        if (concat->dictionaries[i] != NULL)
            status = renumber(concat, i, batch->rows, error);
    return status;
}

/* The joined dictionary of all inputs. */
static struct dictionary *concat_dictionary(const struct stream *stream,
                                            unsigned column)
{
    return ((const struct concat_stream *)stream)->dictionaries[column];
}

const struct stream_kind concat_stream = {
    .size = sizeof(struct concat_stream),
    .calls = { .batch = concat_batch,
               .dictionary = concat_dictionary,
               .close = concat_close },
    .open = concat_open,
};
