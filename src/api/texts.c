/* SPDX-License-Identifier: MIT */
/*
 * Texts of a result: the machine gives numbers of words, the caller gets the
 * words; and the batches of a change, with their texts.
 */
#include "api/query.h"

#include <string.h>

static bool texts_room(struct query_texts *texts, unsigned columns)
{
    if (texts->count > 0)
        return true;
    texts->vectors = memory_zeroed(columns, sizeof *texts->vectors);
    texts->columns = memory_zeroed(columns, sizeof *texts->columns);
    texts->count = columns;
    return texts->vectors && texts->columns;
}

/* Makes the texts of one column. */
static bool make_column(struct query_texts *texts, unsigned column,
                        const struct vdbq_vector *vector, uint64_t rows,
                        const struct dictionary *dictionary)
{
    if (!dictionary_texts_look_up(&texts->columns[column], dictionary,
                                  vector->values, rows))
        return false;
    texts->vectors[column].values = texts->columns[column].texts;
    return true;
}

enum vdbq_status query_texts_make(vdbq_query *query)
{
    struct vdbq_batch *batch = &query->batch;
    struct query_texts *texts = &query->texts;
    bool any = false;
    for (unsigned i = 0; i < batch->columns; i++)
        any |= batch->column[i].type == VDBQ_TEXT;
    if (!any)
        return VDBQ_OK;
    if (!texts_room(texts, batch->columns))
        return error_no_memory(&query->db->error);
    memcpy(texts->vectors, batch->column,
           batch->columns * sizeof *texts->vectors);
    for (unsigned i = 0; i < batch->columns; i++)
        if (batch->column[i].type == VDBQ_TEXT
            && !make_column(texts, i, &batch->column[i], batch->rows,
                            stream_dictionary(query->stream, i)))
            return error_no_memory(&query->db->error);
    batch->column = texts->vectors;
    return VDBQ_OK;
}

void query_texts_finish(struct query_texts *texts)
{
    for (unsigned i = 0; texts->columns != NULL && i < texts->count; i++)
        dictionary_texts_finish(&texts->columns[i]);
    memory_release(texts->vectors);
    memory_release(texts->columns);
    *texts = (struct query_texts){ 0 };
}

enum vdbq_status query_change_batch(vdbq_query *query)
{
    struct vdbq_batch *batch = &query->batch;
    uint64_t start = query_clock(query);
    *batch = (struct vdbq_batch){ 0 };
    enum vdbq_status status =
        stream_batch(query->stream, batch, &query->db->error);
    query->times.steps_ns += query_clock(query) - start;
    return status == VDBQ_OK && batch->rows > 0 ? query_texts_make(query)
                                                : status;
}
