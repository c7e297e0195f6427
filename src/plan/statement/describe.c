/* SPDX-License-Identifier: MIT */
/*
 * DESCRIBE and SUMMARIZE: a row for each column of a query.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/query.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/plan.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"
#include "base/type.h"

static struct expression *text_of(struct binder *binder, const char *text)
{
    return expression_text(binder, (struct vdbq_text){ text, strlen(text) },
                           (struct position){ 0 });
}

/* The type as CREATE TABLE writes it. */
static struct expression *type_of(struct binder *binder,
                                  const struct node_column *column)
{
    const char *name = type_name((enum vdbq_type)column->type);
    char room[64], *copy;
    int length = snprintf(room, sizeof room, "%s(%u,%u)", name,
                          column->precision, column->scale);

    if (column->type != VDBQ_DECIMAL)
        return text_of(binder, name);
    copy = arena_copy(binder->arena, room, (size_t)length);
    if (copy == NULL)
        return error_no_memory(binder->error), NULL;
    return text_of(binder, copy);
}

/* One row for each column, in the order of the columns. */
static enum vdbq_status plan_rows(struct binder *binder,
                                  struct node *const *rows, unsigned count,
                                  struct plan *plan)
{
    struct node *node = count == 1 ? rows[0] : node_concat(binder, rows, count);

    plan->kind = PLAN_SELECT;
    return plan_steps(binder, node, plan);
}

/* -------------------------------------------------------------- DESCRIBE -- */

enum { DESCRIPTION_COLUMNS = 5 };

/* The table whose columns the query has, one by one; NULL: it is no table. */
static const struct table *table_of(const struct binder *binder,
                                    const struct ast_query *query)
{
    const struct ast_select *select = &query->select;
    const struct ast_from *from = select->from;
    bool all = query->kind == AST_QUERY_SELECT && query->with == NULL
               && select->result_count == 1 && select->results->star
               && select->results->excluded_count == 0
               && select->results->replaced == NULL && from != NULL
               && from->kind == AST_FROM_TABLE;

    if (!all
        || catalogue_view_in(binder->catalogue, from->schema.text,
                             from->name.text)
               != NULL)
        return NULL;
    return catalogue_table_in(binder->catalogue, from->schema.text,
                              from->name.text);
}

static struct expression *text_or_null(struct binder *binder, const char *text)
{
    struct position at = { 0 };

    return text != NULL ? text_of(binder, text)
                        : expression_null(binder, VDBQ_TEXT, at);
}

/* `table` may be NULL: then nothing more is known of the column. */
static struct node *description_of(struct binder *binder,
                                   const struct node_column *column,
                                   const struct table *table, unsigned number)
{
    static const char *const names[DESCRIPTION_COLUMNS] = {
        "column_name", "column_type", "null", "key", "default"
    };
    const struct column *own = table ? &table->columns[number] : NULL;
    bool key = table != NULL && number == table->key;
    bool filled = own != NULL && (key || own->not_null);
    struct expression *values[DESCRIPTION_COLUMNS];
    struct node *once = node_once(binder);

    values[0] = text_of(binder, column->name);
    values[1] = type_of(binder, column);
    values[2] = text_of(binder, filled ? "NO" : "YES");
    values[3] = text_or_null(binder, key                  ? "PRI"
                                     : own && own->unique ? "UNI"
                                                          : NULL);
    values[4] = text_or_null(binder, own ? own->default_sql : NULL);
    for (unsigned i = 0; i < DESCRIPTION_COLUMNS; i++)
        if (values[i] == NULL)
            return NULL;
    return once ? node_select(binder, once, NULL, values, names,
                              DESCRIPTION_COLUMNS)
                : NULL;
}

enum vdbq_status plan_description(const struct ast_query *query,
                                  struct binder *binder, struct plan *plan)
{
    struct node *node = bind_query(binder, query), **rows;
    const struct table *table = table_of(binder, query);

    if (node == NULL)
        return binder->error->status;
    if (table != NULL && table->column_count != node->column_count)
        table = NULL;
    rows = arena_alloc(binder->arena, (node->column_count + 1) * sizeof(*rows));
    if (rows == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < node->column_count; i++) {
        rows[i] = description_of(binder, &node->columns[i], table, i);
        if (rows[i] == NULL)
            return binder->error->status;
    }
    return plan_rows(binder, rows, node->column_count, plan);
}

/* ------------------------------------------------------------- SUMMARIZE -- */

/* Of what is totalled: min, max, distinct, not NULL, rows, average. */
enum { SUMMARY_FILLED = 3, SUMMARY_ROWS, SUMMARY_AVG };
enum { SUMMARY_COLUMNS = 8 };

static bool add(struct vector *aggregates, enum aggregate_function function,
                int column, bool distinct)
{
    struct step_aggregate aggregate = { .function = function,
                                        .column = column,
                                        .filter = -1,
                                        .distinct = distinct };

    return vector_append(aggregates, &aggregate, 1);
}

/* What is known of all values of one column, in one row. The average is that
 * of column `number`; -1: there is none. */
static struct node *totals_of(struct binder *binder, struct node *below,
                              unsigned column, int number)
{
    struct vector aggregates = VECTOR_IN(binder->arena, struct step_aggregate);
    int c = (int)column;
    struct node *node = NULL;

    if (add(&aggregates, AGGREGATE_MIN, c, false)
        && add(&aggregates, AGGREGATE_MAX, c, false)
        && add(&aggregates, AGGREGATE_COUNT, c, true)
        && add(&aggregates, AGGREGATE_COUNT, c, false)
        && add(&aggregates, AGGREGATE_COUNT, -1, false)
        && (number < 0 || add(&aggregates, AGGREGATE_AVG, number, false)))
        node = node_group(binder, below, 0, &aggregates);
    if (node == NULL && binder->error->status == VDBQ_OK)
        error_no_memory(binder->error);
    return node;
}

/* How many rows in a hundred are NULL. */
static struct expression *null_percentage(struct binder *binder,
                                          const struct node *totals)
{
    struct position at = { 0 };
    struct ast_expression tree = { .at = at };
    struct expression *rows = node_column(binder, totals, SUMMARY_ROWS, at);
    struct expression *filled = node_column(binder, totals, SUMMARY_FILLED, at);
    struct expression *e = expression_real(binder, VDBQ_DOUBLE, 100, at);

    if (rows == NULL || filled == NULL || e == NULL)
        return NULL;
    filled = expression_operator(binder, AST_SUB, rows, filled, &tree);
    e = filled ? expression_operator(binder, AST_MUL, e, filled, &tree) : NULL;
    rows = node_column(binder, totals, SUMMARY_ROWS, at);
    return e && rows ? expression_operator(binder, AST_DIV, e, rows, &tree)
                     : NULL;
}

/* What is totalled, as the columns of a row. */
static bool summary_values(struct binder *binder, const struct node *totals,
                           bool number,
                           struct expression *values[SUMMARY_COLUMNS])
{
    struct position at = { 0 };

    for (unsigned i = 0; i < 2; i++) {
        values[2 + i] = node_column(binder, totals, i, at);
        if (values[2 + i] != NULL)
            values[2 + i] =
                expression_cast_plain(binder, values[2 + i], VDBQ_TEXT, at);
    }
    values[4] = node_column(binder, totals, 2, at);
    values[5] = number ? node_column(binder, totals, SUMMARY_AVG, at)
                       : expression_null(binder, VDBQ_DOUBLE, at);
    values[6] = node_column(binder, totals, SUMMARY_ROWS, at);
    values[7] = null_percentage(binder, totals);
    for (unsigned i = 0; i < SUMMARY_COLUMNS; i++)
        if (values[i] == NULL)
            return false;
    return true;
}

static struct node *summary_of(struct binder *binder,
                               const struct ast_query *query, unsigned column)
{
    static const char *const names[SUMMARY_COLUMNS] = {
        "column_name", "column_type", "min",   "max",
        "distinct",    "avg",         "count", "null_percentage"
    };
    struct node *below = bind_query(binder, query), *totals;
    struct expression *values[SUMMARY_COLUMNS];
    int number = -1, type;

    if (below == NULL)
        return NULL;
    type = below->columns[column].type;
    values[0] = text_of(binder, below->columns[column].name);
    values[1] = type_of(binder, &below->columns[column]);
    if (is_integer(type) || is_float(type) || type == VDBQ_DECIMAL)
        number = (int)column;
    totals = totals_of(binder, below, column, number);
    if (totals == NULL || !summary_values(binder, totals, number >= 0, values))
        return NULL;
    return node_select(binder, totals, NULL, values, names, SUMMARY_COLUMNS);
}

enum vdbq_status plan_summary(const struct ast_query *query,
                              struct binder *binder, struct plan *plan)
{
    struct node *node = bind_query(binder, query), **rows;

    if (node == NULL)
        return binder->error->status;
    rows = arena_alloc(binder->arena, (node->column_count + 1) * sizeof(*rows));
    if (rows == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < node->column_count; i++) {
        rows[i] = summary_of(binder, query, i);
        if (rows[i] == NULL)
            return binder->error->status;
    }
    return plan_rows(binder, rows, node->column_count, plan);
}
