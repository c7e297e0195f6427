/* SPDX-License-Identifier: MIT */
/*
 * What can be asked of a query: its columns, and the values of its row.
 */
#include <string.h>

#include "api/query.h"
#include "base/type.h"
#include "program/functions/function.h"

unsigned vdbq_query_columns(const vdbq_query *query)
{
    if (query == NULL)
        return 0;
    if (query_has_lines(query))
        return 1;
    if (!query->planned)
        return 0;
    return query->plan.kind == PLAN_SELECT
               ? steps_last(&query->plan.steps)->column_count
               : query->plan.returned.count;
}

/* A result column of the plan: those of RETURNING are behind others. */
static const struct step_column *column_of(const vdbq_query *query,
                                           unsigned column)
{
    return &steps_last(&query->plan.steps)
                ->columns[query->plan.returned.first + column];
}

const char *vdbq_query_column_name(const vdbq_query *query, unsigned column)
{
    if (column >= vdbq_query_columns(query))
        return "";
    if (query_has_lines(query))
        return query_explains(query) ? "program" : "integrity_check";
    return column_of(query, column)->name;
}

enum vdbq_type vdbq_query_column_type(const vdbq_query *query, unsigned column)
{
    if (column >= vdbq_query_columns(query))
        return VDBQ_TYPE_NONE;
    if (query_has_lines(query))
        return VDBQ_TEXT;
    return column_of(query, column)->type;
}

unsigned vdbq_query_column_scale(const vdbq_query *query, unsigned column)
{
    if (column >= vdbq_query_columns(query) || query_has_lines(query))
        return 0;
    return column_of(query, column)->scale;
}

const char *vdbq_query_copy_file(const vdbq_query *query)
{
    const struct vdbq_copy *copy = vdbq_query_copy(query);
    return copy != NULL && copy->table == NULL ? copy->file : NULL;
}

const struct vdbq_copy *vdbq_query_copy(const vdbq_query *query)
{
    const struct ast_statement *statement = query ? query->statement : NULL;
    bool copies =
        statement != NULL && statement->explain == AST_RUN
        && (statement->kind == AST_COPY || statement->kind == AST_COPY_FROM);
    return copies ? &statement->copy.said : NULL;
}

/* -------------------------------------------------------------- values -- */

/* The vector that holds the value asked for; NULL: there is no such value. */
static const struct vdbq_vector *vector_of(const vdbq_query *query,
                                           unsigned column)
{
    if (query == NULL || query->row >= query->batch.rows
        || column >= query->batch.columns)
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

/* The place of the row's value in a vector. */
static const void *value_at(const vdbq_query *query,
                            const struct vdbq_vector *vector)
{
    return (const char *)vector->values + query->row * type_bytes(vector->type);
}

/* A value that the machine holds in an integer: 4 or 8 bytes. */
static int64_t integer_at(const vdbq_query *query,
                          const struct vdbq_vector *vector)
{
    const void *value = value_at(query, vector);
    return type_bytes(vector->type) == sizeof(int32_t)
               ? *(const int32_t *)value
               : *(const int64_t *)value;
}

int64_t vdbq_query_int64(const vdbq_query *query, unsigned column)
{
    const struct vdbq_vector *vector = vector_of(query, column);
    if (vector == NULL)
        return 0;
    switch (vector->type) {
    case VDBQ_FLOAT:
    case VDBQ_DOUBLE:
        return whole(vdbq_query_double(query, column));
    case VDBQ_TEXT:
        return text_integer(*(const struct vdbq_text *)value_at(query, vector));
    case VDBQ_DECIMAL:
        return integer_at(query, vector)
               / decimal_power(vdbq_query_column_scale(query, column));
    default:
        return integer_at(query, vector);
    }
}

double vdbq_query_double(const vdbq_query *query, unsigned column)
{
    const struct vdbq_vector *vector = vector_of(query, column);
    if (vector == NULL)
        return 0;
    switch (vector->type) {
    case VDBQ_FLOAT:
        return *(const float *)value_at(query, vector);
    case VDBQ_DOUBLE:
        return *(const double *)value_at(query, vector);
    case VDBQ_TEXT:
        return text_real(*(const struct vdbq_text *)value_at(query, vector));
    case VDBQ_DECIMAL:
        return decimal_to_double(integer_at(query, vector),
                                 vdbq_query_column_scale(query, column));
    default:
        return (double)integer_at(query, vector);
    }
}

/* Adds the value as text. */
static void add_value(const vdbq_query *query, unsigned column,
                      const struct vdbq_vector *vector, struct text *cell)
{
    const struct vdbq_text *text = value_at(query, vector);
    char room[TYPE_TEXT_MAX];
    if (vector->type == VDBQ_TEXT)
        text_add(cell, text->bytes, text->length);
    else
        text_add(cell, room,
                 type_print(vector->type,
                            vdbq_query_column_scale(query, column), text,
                            room));
}

bool query_text(vdbq_query *query, unsigned column, const char **text)
{
    const struct vdbq_vector *vector = vector_of(query, column);
    *text = "";
    if (vector == NULL)
        return true;
    while (query->cells.count <= column)
        if (vector_add(&query->cells) == NULL)
            return false;
    struct text *cell = vector_at(&query->cells, column);
    text_finish(cell);
    add_value(query, column, vector, cell);
    if (cell->bytes != NULL)
        *text = cell->bytes;
    return !cell->failed;
}

const char *vdbq_query_text(vdbq_query *query, unsigned column)
{
    const char *text;
    query_text(query, column, &text);
    return text;
}

void vdbq_query_stats(const vdbq_query *query, struct vdbq_stats *stats)
{
    if (stats == NULL)
        return;
    *stats = (struct vdbq_stats){
        .device = "", .mode = "", .build = "", .steps = ""
    };
    if (query == NULL)
        return;
    *stats = query->stats.sum;
    if (!session_is_inherited(query->db))
        stream_add_stats(query->stream, stats);
}
