/* SPDX-License-Identifier: MIT */
/*
 * `*` and `t.*` among the results of a SELECT.
 */
#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/scope.h"
#include "plan/bind/select.h"
#include "plan/tree/binder.h"

enum vdbq_status select_add_result(struct binder *binder,
                                   struct vector *results,
                                   const struct result *result)
{
    if (result->expression == NULL)
        return binder->error->status;
    return result->name != NULL && vector_append(results, result, 1)
               ? VDBQ_OK
               : error_no_memory(binder->error);
}

enum vdbq_status select_star(struct binder *binder,
                             const struct ast_result *result,
                             struct vector *results)
{
    const char *table = result->table.text;
    enum vdbq_status status = VDBQ_OK;
    bool any = false;

    for (size_t i = 0; i < binder->scope->columns.count && status == VDBQ_OK;
         i++) {
        const struct scope_column *column =
            vector_at(&binder->scope->columns, i);
        struct result made = { .name = column->name };
        bool is_id = column->hidden && name_equal(column->name, "rowid");
        if (is_id
            || (table == NULL ? column->hidden
                              : !name_equal(column->table, table)))
            continue;
        any = true;
        made.expression =
            scope_value(binder, binder->scope, column, result->at);
        status = select_add_result(binder, results, &made);
    }
    if (status != VDBQ_OK || any)
        return status;
    if (table != NULL)
        return error_at(binder->error, VDBQ_UNKNOWN, result->table.at,
                        "no such table in this statement: %s", table);
    return error_at(binder->error, VDBQ_UNKNOWN, result->at,
                    "* stands for the columns of a table, and there is no "
                    "FROM");
}
