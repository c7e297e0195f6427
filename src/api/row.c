/* SPDX-License-Identifier: MIT */
/*
 * What can be asked of a query: its columns, and the values of its row.
 */
#include <string.h>

#include "api/query.h"

unsigned vdbq_query_columns(const vdbq_query *query)
{
    if (query_explains(query))
        return 1;
    if (!query->planned || query->plan.kind != PLAN_SELECT)
        return 0;
    return steps_last(&query->plan.steps)->column_count;
}

const char *vdbq_query_column_name(const vdbq_query *query, unsigned column)
{
    if (column >= vdbq_query_columns(query))
        return "";
    if (query_explains(query))
        return "program";
    return steps_last(&query->plan.steps)->columns[column].name;
}

enum vdbq_type vdbq_query_column_type(const vdbq_query *query,
                                      unsigned column)
{
    if (column >= vdbq_query_columns(query))
        return VDBQ_TYPE_NONE;
    if (query_explains(query))
        return VDBQ_TEXT;
    return steps_last(&query->plan.steps)->columns[column].type;
}

unsigned vdbq_query_column_scale(const vdbq_query *query, unsigned column)
{
    (void)query;
    (void)column;
    return 0;
}

/* -------------------------------------------------------------- values -- */

/* The vector that holds the value asked for; NULL: there is no such value. */
static const struct vdbq_vector *vector_of(const vdbq_query *query,
                                           unsigned column)
{
    if (query->row >= query->batch.rows || column >= query->batch.columns)
        return NULL;
    const struct vdbq_vector *vector = &query->batch.column[column];
    return vector->nulls && vector->nulls[query->row] ? NULL : vector;
}

bool vdbq_query_is_null(const vdbq_query *query, unsigned column)
{
    return vector_of(query, column) == NULL;
}

/* Cuts the fraction off; what does not fit gives the nearest that does. */
static int64_t whole(double value)
{
    if (value >= 9223372036854775808.0)
        return INT64_MAX;
    if (value < -9223372036854775808.0)
        return INT64_MIN;
    return (int64_t)value;
}

int64_t vdbq_query_int64(const vdbq_query *query, unsigned column)
{
    const struct vdbq_vector *vector = vector_of(query, column);
    if (vector == NULL)
        return 0;
    switch (vector->type) {
    case VDBQ_INTEGER:
        return ((const int32_t *)vector->values)[query->row];
    case VDBQ_BIGINT:
        return ((const int64_t *)vector->values)[query->row];
    default:
        return whole(vdbq_query_double(query, column));
    }
}

double vdbq_query_double(const vdbq_query *query, unsigned column)
{
    const struct vdbq_vector *vector = vector_of(query, column);
    if (vector == NULL)
        return 0;
    switch (vector->type) {
    case VDBQ_INTEGER:
        return ((const int32_t *)vector->values)[query->row];
    case VDBQ_BIGINT:
        return (double)((const int64_t *)vector->values)[query->row];
    case VDBQ_FLOAT:
        return ((const float *)vector->values)[query->row];
    case VDBQ_DOUBLE:
        return ((const double *)vector->values)[query->row];
    default:
        return 0;
    }
}

/* Adds the value as text. */
static void add_value(const vdbq_query *query, unsigned column,
                      const struct vdbq_vector *vector, struct text *cell)
{
    char number[64];
    if (vector->type == VDBQ_TEXT) {
        const struct vdbq_text *text =
            &((const struct vdbq_text *)vector->values)[query->row];
        text_add(cell, text->bytes, text->length);
    } else if (vector->type == VDBQ_FLOAT) {
        float value = ((const float *)vector->values)[query->row];
        text_add(cell, number, text_from_float(value, number));
    } else if (vector->type == VDBQ_DOUBLE) {
        double value = vdbq_query_double(query, column);
        text_add(cell, number, text_from_double(value, number));
    } else {
        text_print(cell, "%lld", (long long)vdbq_query_int64(query, column));
    }
}

const char *vdbq_query_text(vdbq_query *query, unsigned column)
{
    const struct vdbq_vector *vector = vector_of(query, column);
    if (vector == NULL)
        return "";
    while (query->cells.count <= column)
        if (vector_add(&query->cells) == NULL)
            return "";
    struct text *cell = vector_at(&query->cells, column);
    text_finish(cell);
    add_value(query, column, vector, cell);
    return cell->bytes ? cell->bytes : "";
}

void vdbq_query_stats(const vdbq_query *query, struct vdbq_stats *stats)
{
    *stats = query->stats.sum;
    stream_add_stats(query->stream, stats);
}
