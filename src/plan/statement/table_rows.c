/* SPDX-License-Identifier: MIT */
#include "plan/statement/table_rows.h"

#include <string.h>

#include "base/type.h"
#include "data/catalogue/facts.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"

void table_rows_column(const struct table *table, unsigned number,
                       struct node_column *column)
{
    const struct column *from = &table->columns[number];

    *column = (struct node_column){ .name = from->name,
                                    .type = (int)from->type,
                                    .precision = from->precision,
                                    .scale = from->scale,
                                    .affine = true,
                                    .collating = { from->collation,
                                                   COLLATED_BY_COLUMN } };
}

bool table_rows_nulls(struct binder *binder, enum vdbq_type type, uint64_t rows,
                      struct vdbq_vector *to)
{
    uint8_t *nulls;

    if (!constants_room(binder->arena, type, (size_t)rows, to))
        return error_no_memory(binder->error), false;
    nulls = (uint8_t *)(uintptr_t)to->nulls;
    memset(nulls, 1, (size_t)rows);
    return true;
}

bool table_rows_numbers(struct binder *binder, uint64_t rows,
                        struct vdbq_vector *to)
{
    int64_t *values;

    if (!constants_room(binder->arena, VDBQ_BIGINT, (size_t)rows, to))
        return error_no_memory(binder->error), false;
    values = (int64_t *)(uintptr_t)to->values;
    for (uint64_t i = 0; i < rows; i++)
        values[i] = (int64_t)i;
    return true;
}

bool table_rows_clean(struct binder *binder, const struct vdbq_vector *from,
                      uint64_t rows, struct vdbq_vector *to)
{
    size_t width = type_bytes(from->type);
    const char *values = from->values;
    char *own;

    if (!constants_room(binder->arena, from->type,
                        from->nulls != NULL ? (size_t)rows : 0, to))
        return error_no_memory(binder->error), false;
    if (from->nulls == NULL) {
        to->values = from->values;
        to->nulls = arena_alloc(binder->arena, (size_t)rows + 1);
        return to->nulls ? true : (error_no_memory(binder->error), false);
    }
    own = (char *)(uintptr_t)to->values;
    memcpy((uint8_t *)(uintptr_t)to->nulls, from->nulls, (size_t)rows);
    for (uint64_t i = 0; i < rows; i++)
        if (from->nulls[i] == 0)
            memcpy(own + i * width, values + i * width, width);
    return true;
}

bool table_rows_put(struct binder *binder, const struct table *table,
                    const struct vdbq_vector *from, uint64_t rows,
                    struct node_column *columns, struct vdbq_vector *to)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        table_rows_column(table, i, &columns[i]);
        if (rows == 0
                ? !table_rows_nulls(binder, table->columns[i].type, 0, &to[i])
                : !table_rows_clean(binder, &from[i], rows, &to[i]))
            return false;
    }
    return true;
}

struct node *table_rows_node(struct binder *binder, const struct table *table,
                             const struct vdbq_vector *vectors, uint64_t rows)
{
    unsigned count = table->column_count;
    struct vdbq_vector *values =
        arena_alloc(binder->arena, (count + 1) * sizeof *values);
    struct node_column *columns =
        arena_alloc(binder->arena, (count + 1) * sizeof *columns);

    if (values == NULL || columns == NULL)
        return error_no_memory(binder->error), NULL;
    return table_rows_put(binder, table, vectors, rows, columns, values)
               ? node_values(binder, columns, count, values, (size_t)rows)
               : NULL;
}

bool table_rows_any(struct binder *binder, const struct table *table,
                    struct node_column *columns, struct vdbq_vector *to)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        table_rows_column(table, i, &columns[i]);
        if (!table_rows_nulls(binder, table->columns[i].type, 1, &to[i]))
            return false;
    }
    return true;
}
