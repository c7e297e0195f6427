/* SPDX-License-Identifier: MIT */
/*
 * STEP_GATHER of rows in the order of their numbers: on each rank these never
 * fall, so that rank 0 merges what comes of all, the rows of each rank in their
 * order. Which rank the next row is of is looked for first, for as many rows as
 * are there of all ranks; then they are copied, column by column.
 */
#include <assert.h>
#include <string.h>

#include "exec/gather/gather_batches.h"

/* Where the next rows of a rank are. */
struct ordered_source {
    struct gather_source rows;
    struct vdbq_batch batch;
    uint64_t next; /* of the batch: the first row that was not given    */
    bool ended;    /* no more come                                      */
};

struct gather_ordered {
    struct stream head; /* first */
    struct gather_batches batches;
    struct ordered_source *sources; /* one a rank                           */
    unsigned count;                 /* of them                              */
    struct ordered_source *last;    /* of the row that was listed last      */
    int64_t number;                 /* ... its number                       */
    bool wrong;                     /* numbers were not as they should be   */
    uint32_t *ranks;                /* of each row that is given: its rank  */
    uint32_t *rows;                 /* ... and its row of the rank's batch  */
    struct vdbq_vector *vectors;    /* of the batch that is given           */
};

/* ---------------------------------------------------------------- open -- */

/* Room for the rows of a column that are given. */
static bool make_column(struct vdbq_vector *vector, enum vdbq_type type)
{
    vector->type = type;
    vector->values = memory_zeroed(GATHER_ROWS, row_set_width(type));
    vector->nulls = memory_zeroed(GATHER_ROWS, 1);
    return vector->values != NULL && vector->nulls != NULL;
}

static bool make_room(struct gather_ordered *gather)
{
    const struct step *step = gather->head.step;
    gather->count = gather->batches.words.ranks;
    gather->sources = memory_zeroed(gather->count, sizeof *gather->sources);
    gather->ranks = memory_zeroed(GATHER_ROWS, sizeof *gather->ranks);
    gather->rows = memory_zeroed(GATHER_ROWS, sizeof *gather->rows);
    gather->vectors =
        memory_zeroed(step->column_count + (size_t)1, sizeof *gather->vectors);
    bool made = gather->sources != NULL && gather->ranks != NULL
                && gather->rows != NULL && gather->vectors != NULL;
    for (unsigned r = 0; made && r < gather->count; r++)
        made =
            gather_source_init(&gather->sources[r].rows, &gather->batches, r);
    for (unsigned i = 0; made && i < step->column_count; i++)
        made = make_column(&gather->vectors[i], step->columns[i].type);
    return made;
}

/* Has rows of each rank at hand that has not ended. */
static enum vdbq_status fill(struct gather_ordered *gather, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 0; status == VDBQ_OK && r < gather->count; r++) {
        struct ordered_source *source = &gather->sources[r];
        if (source->ended || source->next < source->batch.rows)
            continue;
        source->next = 0;
        status = gather_batches_take(&gather->batches, &source->rows,
                                     &source->batch, error);
        source->ended = status == VDBQ_OK && source->batch.rows == 0;
    }
    return status;
}

/* The first rows of each rank are there before any is asked for: what failed when a
 * rank opened its steps fails here, as in one process. */
static enum vdbq_status gather_ordered_open(struct stream *stream,
                                            struct error *error)
{
    struct gather_ordered *gather = (struct gather_ordered *)stream;
    const struct ranks *ranks = stream->params->ranks;
    rank_spend_run(stream->params->ranks, RANK_COMPUTE);
    stream->rows_most = stream->inputs[0]->rows_most;
    enum vdbq_status status =
        gather_batches_init(&gather->batches, stream, error);
    if (status != VDBQ_OK || (ranks != NULL && ranks->rank > 0))
        return status;
    return make_room(gather) ? fill(gather, error) : error_no_memory(error);
}

/* --------------------------------------------------------------- merge -- */

static int64_t number_of(const struct ordered_source *source)
{
    const struct vdbq_vector *numbers =
        &source->batch.column[source->batch.columns - 1];
    assert(numbers->type == VDBQ_BIGINT && source->next < source->batch.rows);
    return ((const int64_t *)numbers->values)[source->next];
}

/* The source of the least number; NULL: all have ended. */
static struct ordered_source *find_least(const struct gather_ordered *gather)
{
    struct ordered_source *least = NULL;
    for (unsigned r = 0; r < gather->count; r++) {
        struct ordered_source *source = &gather->sources[r];
        if (!source->ended
            && (least == NULL || number_of(source) < number_of(least)))
            least = source;
    }
    return least;
}

/* Numbers come out of files: whether those of a rank do not fall, and no other has
 * the same. */
static void look_at_number(struct gather_ordered *gather,
                           struct ordered_source *source)
{
    const int64_t number = number_of(source);
    gather->wrong |=
        gather->last != NULL
        && (number < gather->number
            || (number == gather->number && source != gather->last));
    gather->last = source;
    gather->number = number;
}

/* Lists the next rows, until there are enough or those of one rank at hand are
 * all listed: how many. */
static uint64_t list_rows(struct gather_ordered *gather)
{
    struct ordered_source *least = find_least(gather);
    uint64_t count = 0;
    while (least != NULL && count < GATHER_ROWS) {
        look_at_number(gather, least);
        gather->ranks[count] = least->rows.rank;
        gather->rows[count++] = (uint32_t)least->next++;
        least = least->next < least->batch.rows ? find_least(gather) : NULL;
    }
    return count;
}

/* Copies a column of the listed rows. */
static void copy_column(struct gather_ordered *gather, unsigned column,
                        uint64_t count)
{
    struct vdbq_vector *to = &gather->vectors[column];
    size_t width = row_set_width(to->type);
    uint8_t *nulls = (uint8_t *)to->nulls;
    for (uint64_t i = 0; i < count; i++) {
        const struct vdbq_vector *from =
            &gather->sources[gather->ranks[i]].batch.column[column];
        uint32_t row = gather->rows[i];
        if (width == sizeof(uint32_t))
            ((uint32_t *)to->values)[i] = ((const uint32_t *)from->values)[row];
        else
            ((uint64_t *)to->values)[i] = ((const uint64_t *)from->values)[row];
        nulls[i] = from->nulls != NULL ? from->nulls[row] : 0;
    }
}

static enum vdbq_status wrong_numbers(struct vdbq_batch *batch,
                                      struct error *error)
{
    batch->rows = 0;
    error_set(error, VDBQ_CORRUPT,
              "the part files are damaged: numbers of rows do not ascend, or "
              "two rows have the same");
    return error_hint(error, "distribute the database again");
}

/* The next rows of all ranks. */
static enum vdbq_status merge(struct gather_ordered *gather,
                              struct vdbq_batch *batch, struct error *error)
{
    struct ranks *ranks = gather->head.params->ranks;
    enum vdbq_status status = fill(gather, error);
    struct rank_clock clock = rank_start(ranks);
    if (status != VDBQ_OK)
        return status;
    batch->rows = list_rows(gather);
    if (gather->wrong)
        return wrong_numbers(batch, error);
    batch->columns = gather->head.step->column_count;
    batch->column = gather->vectors;
    for (unsigned i = 0; i < batch->columns; i++)
        if (gather->head.reads[i])
            copy_column(gather, i, batch->rows);
    rank_spend(ranks, RANK_MERGE, clock);
    return stop_pause(error);
}

static enum vdbq_status gather_ordered_batch(struct stream *stream,
                                             struct vdbq_batch *batch,
                                             struct error *error)
{
    struct gather_ordered *gather = (struct gather_ordered *)stream;
    const struct ranks *ranks = stream->params->ranks;
    batch->rows = 0;
    return ranks != NULL && ranks->rank > 0
               ? gather_batches_send(&gather->batches, error)
               : merge(gather, batch, error);
}

/* --------------------------------------------------------------- close -- */

static struct dictionary *gather_ordered_dictionary(const struct stream *stream,
                                                    unsigned column)
{
    return gather_batches_dictionary(
        &((const struct gather_ordered *)stream)->batches, column);
}

static void gather_ordered_close(struct stream *stream)
{
    struct gather_ordered *gather = (struct gather_ordered *)stream;
    for (unsigned r = 0; gather->sources != NULL && r < gather->count; r++)
        gather_source_finish(&gather->sources[r].rows);
    for (unsigned i = 0;
         gather->vectors != NULL && i < stream->step->column_count; i++) {
        memory_release((void *)gather->vectors[i].values);
        memory_release((void *)gather->vectors[i].nulls);
    }
    memory_release(gather->sources);
    memory_release(gather->ranks);
    memory_release(gather->rows);
    memory_release(gather->vectors);
    gather_batches_finish(&gather->batches);
}

const struct stream_kind gather_ordered_stream = {
    .size = sizeof(struct gather_ordered),
    .calls = { .batch = gather_ordered_batch,
               .dictionary = gather_ordered_dictionary,
               .close = gather_ordered_close },
    .open = gather_ordered_open,
};
