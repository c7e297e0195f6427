/* SPDX-License-Identifier: MIT */
/*
 * RETURNING. Its results are columns of the query that finds or makes the rows
 * which change, behind those that the change needs: one row of results for each
 * of them. Nothing but the table's columns can be named in it, as in SQLite;
 * queries in it read the database as it is before the change.
 */
#include "plan/statement/returning.h"

#include "base/vector.h"
#include "plan/bind/scope.h"
#include "plan/bind/select.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

enum vdbq_status scope_add_rows(struct binder *binder,
                                const struct changed_rows *rows)
{
    const struct table *table = rows->table;
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++)
        status = scope_add(binder, rows->called, table->columns[i].name,
                           (int)(rows->first + i), false);
    if (status == VDBQ_OK && rows->id >= 0)
        status = scope_add(binder, rows->called, "rowid", rows->id, true);
    return status;
}

/* Values that were assigned to columns have their names, and are compared as
 * columns are. */
static void be_columns(const struct changed_rows *rows)
{
    if (rows->id >= 0)
        rows->node->columns[rows->id].name = "rowid";
    for (unsigned i = 0; i < rows->table->column_count; i++) {
        struct node_column *column = &rows->node->columns[rows->first + i];
        column->name = rows->table->columns[i].name;
        column->affine = true;
        column->collating =
            (struct collating){ rows->table->columns[i].collation,
                                COLLATED_BY_COLUMN };
    }
}

static enum vdbq_status bind_returned(struct binder *binder,
                                      const struct changed_rows *rows,
                                      const struct ast_result *list,
                                      struct vector *results)
{
    struct scope scope;
    enum vdbq_status status;

    be_columns(rows);
    scope_enter(binder, &scope);
    scope.node = rows->node;
    status = scope_add_rows(binder, rows);
    if (status == VDBQ_OK)
        status = bind_result_list(binder, list, results);
    scope_leave(binder, &scope);
    return status;
}

/* A result, or NULL where the row does not change. */
static struct expression *where_kept(struct binder *binder,
                                     const struct changed_rows *rows,
                                     struct expression *result)
{
    struct expression *kept, *none;

    if (rows->keeps < 0)
        return result;
    kept = node_column(binder, rows->node, (unsigned)rows->keeps, result->at);
    kept = expression_condition(binder, kept, result->at);
    none = expression_null(binder, result->type, result->at);
    if (kept == NULL || none == NULL)
        return NULL;
    none->precision = result->precision;
    none->scale = result->scale;
    return expression_choice(binder, kept, result, none, result->at);
}

struct node *return_results(struct binder *binder,
                            const struct changed_rows *rows, const int *columns,
                            unsigned count, const struct ast_result *list,
                            struct plan *plan)
{
    struct vector results = VECTOR_IN(binder->arena, struct result);
    enum vdbq_status status = bind_returned(binder, rows, list, &results);
    struct expression **all =
        arena_alloc(binder->arena, (count + results.count + 1) * sizeof(*all));
    const char **names = arena_alloc(binder->arena, (count + results.count + 1)
                                                        * sizeof(*names));

    if (status != VDBQ_OK)
        return NULL;
    if (all == NULL || names == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        all[i] = node_column(binder, rows->node, (unsigned)columns[i],
                             (struct position){ 0 });
        names[i] = rows->node->columns[columns[i]].name;
        if (all[i] == NULL)
            return NULL;
    }
    for (size_t i = 0; i < results.count; i++) {
        const struct result *result = vector_at(&results, i);
        all[count + i] = where_kept(binder, rows, result->expression);
        names[count + i] = result->name;
        if (all[count + i] == NULL)
            return NULL;
    }
    plan->returned = (struct plan_returned){ count, (unsigned)results.count };
    return node_select(binder, rows->node, NULL, all, names,
                       count + (unsigned)results.count);
}

struct node *return_all(struct binder *binder, const struct changed_rows *rows,
                        const struct ast_result *list, struct plan *plan)
{
    unsigned count = rows->table->column_count;
    int *columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)(rows->first + i);
    return return_results(binder, rows, columns, count, list, plan);
}
