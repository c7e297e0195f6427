/* SPDX-License-Identifier: MIT */
/*
 * A CHECK is kept as text, like an index of expressions, and bound anew where rows are
 * held against it.
 */
#include "plan/statement/table_checks.h"

#include "base/vector.h"
#include "plan/bind/bind.h"
#include "plan/bind/scope.h"
#include "plan/index/index_bind.h"
#include "plan/statement/row_expression.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_rows.h"
#include "plan/tree/binder.h"

/* The numbers of columns that are read; of none the first one, which does not matter.
 * False: no memory. */
static bool list_reads(struct binder *binder, const struct table *table,
                       const bool *reads, struct row_check *check)
{
    unsigned count = table->column_count;

    check->reads = arena_alloc(binder->arena, count * sizeof *check->reads);
    if (check->reads == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (reads[i])
            check->reads[check->read_count++] = i;
    if (check->read_count == 0)
        check->reads[check->read_count++] = 0;
    return true;
}

/* One of them, in the scope of the table's columns. */
static enum vdbq_status add_check(struct binder *binder,
                                  const struct table *table,
                                  const struct ast_constraint *constraint,
                                  struct vector *checks)
{
    const struct row_expressions of = {
        .binder = binder,
        .what = "a CHECK",
        .reads = arena_alloc(binder->arena, table->column_count * sizeof(bool))
    };
    struct row_check check = { .name = constraint->name.text };
    struct expression *e;
    bool any;

    if (of.reads == NULL)
        return error_no_memory(binder->error);
    if (check.name != NULL
        && ddl_check_name(&constraint->name, "constraint", binder->error)
               != VDBQ_OK)
        return binder->error->status;
    if (checks->count == CHECKS_MAX)
        return error_at(binder->error, VDBQ_LIMIT, constraint->at,
                        "a table has at most %d CHECKs", (int)CHECKS_MAX);
    e = bind_condition(binder, constraint->check);
    if (e == NULL
        || row_expression_check(&of, constraint->check, e, &any) != VDBQ_OK)
        return binder->error->status;
    check.sql = row_expression_text(&of, constraint->check);
    if (check.sql == NULL)
        return binder->error->status;
    return list_reads(binder, table, of.reads, &check)
                   && vector_append(checks, &check, 1)
               ? VDBQ_OK
               : error_no_memory(binder->error);
}

enum vdbq_status table_checks_add(struct binder *binder,
                                  const struct table *table,
                                  const struct ast_constraint *list,
                                  struct vector *checks)
{
    struct index_rows rows = { .count = table->column_count };
    struct scope scope;
    enum vdbq_status status;

    if (list == NULL)
        return VDBQ_OK;
    rows.node = table_rows_node(binder, table, NULL, 0);
    if (rows.node == NULL)
        return binder->error->status;
    scope_enter(binder, &scope);
    scope.node = rows.node;
    status = index_scope(binder, table, &rows);
    for (; list != NULL && status == VDBQ_OK; list = list->next)
        if (list->check != NULL)
            status = add_check(binder, table, list, checks);
    scope_leave(binder, &scope);
    return status;
}

/* ------------------------------------------------------------------ altered -- */

static enum vdbq_status refuse(const struct binder *binder,
                               const struct row_check *check, const char *what,
                               const char *name, struct position at)
{
    struct text text = { 0 };

    row_check_sql(check, &text);
    if (text.failed)
        error_no_memory(binder->error);
    else
        error_at(binder->error, VDBQ_CONSTRAINT, at, "%s names the %s %s",
                 text.bytes, what, name);
    text_finish(&text);
    return binder->error->status == VDBQ_NO_MEMORY
               ? VDBQ_NO_MEMORY
               : error_hint(binder->error,
                            "CREATE TABLE makes another table without it, and "
                            "INSERT INTO ... SELECT fills that");
}

enum vdbq_status table_checks_free(const struct binder *binder,
                                   const struct table *table, unsigned column,
                                   struct position at)
{
    for (unsigned i = 0; i < table->check_count; i++)
        for (unsigned k = 0; k < table->checks[i].read_count; k++)
            if (table->checks[i].reads[k] == column)
                return refuse(binder, &table->checks[i], "column",
                              table->columns[column].name, at);
    return VDBQ_OK;
}

enum vdbq_status table_checks_renamed(struct binder *binder,
                                      const struct table *table,
                                      const char *name, struct position at)
{
    struct table called = *table;
    struct index_rows rows = { .count = table->column_count };

    called.name = name;
    if (table->check_count > 0)
        rows.node = table_rows_node(binder, &called, NULL, 0);
    if (table->check_count > 0 && rows.node == NULL)
        return binder->error->status;
    for (unsigned i = 0; i < table->check_count; i++) {
        const struct row_check *check = &table->checks[i];
        struct index_keys keys;
        struct index_bound bound;
        const struct index index =
            row_check_index(&called, check, check->sql, &keys);
        if (index_bind(binder, &called, &index, &rows, &bound))
            continue;
        return binder->error->status == VDBQ_NO_MEMORY
                   ? VDBQ_NO_MEMORY
                   : refuse(binder, check, "table", table->name, at);
    }
    return VDBQ_OK;
}
