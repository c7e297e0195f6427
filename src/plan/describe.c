/* SPDX-License-Identifier: MIT */
/*
 * DESCRIBE and SUMMARIZE: a row for each column of a query.
 */
#include "plan/plan_inner.h"

#include <string.h>

static struct expression *text_of(struct binder *binder, const char *text)
{
    return expression_text(binder,
                           (struct vdbq_text){ text, strlen(text) },
                           (struct position){ 0 });
}

/* The type as CREATE TABLE writes it. */
static const char *type_text_of(struct binder *binder,
                                const struct node_column *column)
{
    const char *name = vdbq_type_name((enum vdbq_type)column->type);
    struct text text = { 0 };
    const char *copy;

    if (column->type != VDBQ_DECIMAL)
        return name;
    text_print(&text, "%s(%u,%u)", name, column->precision, column->scale);
    copy = text.bytes ? arena_copy(binder->arena, text.bytes, text.length)
                      : NULL;
    text_finish(&text);
    return copy != NULL ? copy : name;
}

/* One row for each column, in the order of the columns. */
static enum vdbq_status plan_rows(struct binder *binder,
                                  struct node *const *rows, unsigned count,
                                  struct plan *plan)
{
    struct node *node =
        count == 1 ? rows[0] : node_concat(binder, rows, count);

    plan->kind = PLAN_SELECT;
    return node ? lower(binder, node, &plan->steps) : binder->error->status;
}

/* -------------------------------------------------------------- DESCRIBE -- */

static struct node *description_of(struct binder *binder,
                                   const struct node_column *column)
{
    static const char *const names[] = { "column_name", "column_type",
                                         "null" };
    struct expression *values[3];
    struct node *once = node_once(binder);

    values[0] = text_of(binder, column->name);
    values[1] = text_of(binder, type_text_of(binder, column));
    values[2] = text_of(binder, column->nullable ? "YES" : "NO");
    if (once == NULL || values[0] == NULL || values[1] == NULL
        || values[2] == NULL)
        return NULL;
    return node_select(binder, once, NULL, values, names, 3);
}

enum vdbq_status plan_description(const struct ast_query *query,
                                  struct binder *binder, struct plan *plan)
{
    struct node *node = bind_query(binder, query), **rows;

    if (node == NULL)
        return binder->error->status;
    rows = arena_alloc(binder->arena,
                       (node->column_count + 1) * sizeof(*rows));
    if (rows == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < node->column_count; i++) {
        rows[i] = description_of(binder, &node->columns[i]);
        if (rows[i] == NULL)
            return binder->error->status;
    }
    return plan_rows(binder, rows, node->column_count, plan);
}

/* ------------------------------------------------------------- SUMMARIZE -- */

enum { SUMMARY_AVG = 5, SUMMARY_COLUMNS = 7 };

static bool add(struct vector *aggregates, enum aggregate_function function,
                int column, bool distinct)
{
    struct step_aggregate aggregate = { .function = function,
                                        .column = column,
                                        .filter = -1,
                                        .distinct = distinct };

    return vector_append(aggregates, &aggregate, 1);
}

/* What is known of all values of one column, in one row. */
static struct node *totals_of(struct binder *binder, struct node *below,
                              unsigned column, bool number)
{
    struct vector aggregates = VECTOR(struct step_aggregate);
    int c = (int)column;
    struct node *node = NULL;

    if (add(&aggregates, AGGREGATE_MIN, c, false)
        && add(&aggregates, AGGREGATE_MAX, c, false)
        && add(&aggregates, AGGREGATE_COUNT, c, true)
        && add(&aggregates, AGGREGATE_COUNT, c, false)
        && add(&aggregates, AGGREGATE_COUNT, -1, false)
        && (!number || add(&aggregates, AGGREGATE_AVG, c, false)))
        node = node_group(binder, below, 0, &aggregates);
    vector_finish(&aggregates);
    if (node == NULL && binder->error->status == VDBQ_OK)
        error_no_memory(binder->error);
    return node;
}

/* min, max, distinct, count, rows, avg: as the columns of a row. */
static bool summary_values(struct binder *binder, const struct node *totals,
                           bool number,
                           struct expression *values[SUMMARY_COLUMNS])
{
    struct position at = { 0 };

    for (unsigned i = 0; i < 2; i++) {
        values[2 + i] = node_column(binder, totals, i, at);
        if (values[2 + i] != NULL)
            values[2 + i] = expression_cast_plain(binder, values[2 + i],
                                                  VDBQ_TEXT, at);
    }
    values[4] = node_column(binder, totals, 2, at);
    values[5] = number ? node_column(binder, totals, SUMMARY_AVG, at)
                       : expression_null(binder, VDBQ_DOUBLE, at);
    values[6] = node_column(binder, totals, 3, at);
    for (unsigned i = 0; i < SUMMARY_COLUMNS; i++)
        if (values[i] == NULL)
            return false;
    return true;
}

static struct node *summary_of(struct binder *binder,
                               const struct ast_query *query, unsigned column)
{
    static const char *const names[SUMMARY_COLUMNS] = {
        "column_name", "column_type", "min", "max", "distinct", "avg", "count"
    };
    struct node *below = bind_query(binder, query), *totals;
    struct expression *values[SUMMARY_COLUMNS], **places[SUMMARY_COLUMNS];
    bool number;

    if (below == NULL)
        return NULL;
    number = is_integer(below->columns[column].type)
             || is_float(below->columns[column].type);
    totals = totals_of(binder, below, column, number);
    values[0] = text_of(binder, below->columns[column].name);
    values[1] = text_of(binder,
                        type_text_of(binder, &below->columns[column]));
    if (totals == NULL || !summary_values(binder, totals, number, values))
        return NULL;
    for (unsigned i = 0; i < SUMMARY_COLUMNS; i++)
        places[i] = &values[i];
    if (lift(binder, &totals, places, SUMMARY_COLUMNS) != VDBQ_OK)
        return NULL;
    return node_select(binder, totals, NULL, values, names, SUMMARY_COLUMNS);
}

enum vdbq_status plan_summary(const struct ast_query *query,
                              struct binder *binder, struct plan *plan)
{
    struct node *node = bind_query(binder, query), **rows;

    if (node == NULL)
        return binder->error->status;
    rows = arena_alloc(binder->arena,
                       (node->column_count + 1) * sizeof(*rows));
    if (rows == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < node->column_count; i++) {
        rows[i] = summary_of(binder, query, i);
        if (rows[i] == NULL)
            return binder->error->status;
    }
    return plan_rows(binder, rows, node->column_count, plan);
}
