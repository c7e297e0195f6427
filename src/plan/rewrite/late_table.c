/* SPDX-License-Identifier: MIT */
/*
 * Late materialisation from a table: which of its columns are fetched later. The
 * texts that a SELECT's condition reads are, too, where they are many: what is only
 * asked of words needs no order of them all, and what is carried does.
 */
#include <assert.h>

#include "base/type.h"
#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/rewrite/late.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

/* Rows of a table from which on it pays, and rows for each different text of a column
 * that is read, at most: where more have the same, they cost little to carry. */
enum { TABLE_ROWS_MIN = 1000, ROWS_A_WORD = 8 };

static bool is_text(const struct node *node, unsigned column)
{
    return node->columns[column].type == VDBQ_TEXT;
}

/* Whether ids of its rows are what STEP_FETCH can find rows by. */
static bool has_ids(const struct table *table)
{
    return table->key == NO_KEY
           || type_is_integer(table->columns[table->key].type);
}

static bool has_many_rows(const struct node *node)
{
    return has_ids(node->table) && node->table->rows >= TABLE_ROWS_MIN;
}

/* The column that has the rows' ids. */
static unsigned id_column(const struct node *node)
{
    assert(node->kind == NODE_TABLE);
    return node->column_count - 1;
}

/* The table with the row's id in the place of the first text. */
static struct node *table_with_id(struct binder *binder, struct node *node,
                                  unsigned place)
{
    unsigned count = node->column_count;
    int *columns = arena_alloc(binder->arena, count * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)(i == place ? id_column(node) : i);
    return node_columns(binder, node, columns, count);
}

/* The key stays: it is the id. */
struct node *late_table(struct binder *binder, struct node *node,
                        const bool *wanted, struct vector *sources)
{
    struct late_source source = { .table = node,
                                  .row = node->column_count,
                                  .columns = VECTOR_IN(binder->arena,
                                                       struct late_column) };

    if (!has_many_rows(node))
        return node;
    for (unsigned i = 0; i < node->table->column_count; i++) {
        struct late_column column = { i, (int)i };
        if (!wanted[i] || i == node->table->key)
            continue;
        if (is_text(node, i) && source.row == node->column_count)
            source.row = i;
        if (!vector_append(&source.columns, &column, 1))
            return error_no_memory(binder->error), NULL;
    }
    if (source.row == node->column_count)
        return node;
    if (!vector_append(sources, &source, 1))
        return error_no_memory(binder->error), NULL;
    return table_with_id(binder, node, source.row);
}

/* --------------------------------------------------------------- selects -- */

/* What a SELECT does with columns of its table. */
struct reading {
    const bool *wanted; /* of its results: these are only shown              */
    bool *asked;        /* of the table's columns: the condition reads it    */
    bool *computed;     /* ... a result does that is not only shown          */
};

/* False: no memory. */
static bool find_reading(struct binder *binder, struct node *select,
                         struct reading *reading)
{
    unsigned count = select->left->column_count;

    reading->asked = column_flags(binder, count, false);
    reading->computed = column_flags(binder, count, false);
    if (reading->asked == NULL || reading->computed == NULL)
        return false;
    if (select->where != NULL)
        expression_reads(reading->asked, &select->where);
    for (unsigned i = 0; i < select->column_count; i++)
        if (!reading->wanted[i]
            || select->results[i]->kind != EXPRESSION_COLUMN)
            expression_reads(reading->computed, &select->results[i]);
    return true;
}

static bool has_many_texts(const struct node *node, unsigned column)
{
    return is_text(node, column)
           && node->columns[column].estimate.distinct
                  >= (double)node->table->rows / ROWS_A_WORD;
}

/* The column of the table that a result shows, and that is fetched; -1: none. */
static int fetched_column(const struct node *select, unsigned result,
                          const struct reading *reading)
{
    const struct node *node = select->left;
    const struct expression *e = select->results[result];
    unsigned column;

    if (!reading->wanted[result] || e->kind != EXPRESSION_COLUMN)
        return -1;
    column = (unsigned)e->column.number;
    if (column >= node->table->column_count || column == node->table->key
        || reading->computed[column])
        return -1;
    return !reading->asked[column] || has_many_texts(node, column) ? (int)column
                                                                   : -1;
}

/* Notes what is fetched; false: no memory. */
static bool list_fetched(const struct node *select,
                         const struct reading *reading,
                         struct late_source *source)
{
    for (unsigned i = 0; i < select->column_count; i++) {
        struct late_column column = { i, fetched_column(select, i, reading) };
        if (column.from < 0)
            continue;
        if (is_text(select->left, (unsigned)column.from)
            && source->row == select->column_count)
            source->row = i;
        if (!vector_append(&source->columns, &column, 1))
            return false;
    }
    return true;
}

/* A copy whose result `place` is the row's id. */
static struct node *select_id(struct binder *binder, const struct node *select,
                              unsigned place)
{
    struct node *copy = late_copy(binder, select);
    struct expression **results = arena_alloc(
        binder->arena, (select->column_count + (size_t)1) * sizeof *results);

    if (copy == NULL || results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < select->column_count; i++)
        results[i] = select->results[i];
    results[place] = node_column(binder, select->left, id_column(select->left),
                                 results[place]->at);
    if (results[place] == NULL)
        return NULL;
    copy->columns[place] = select->left->columns[id_column(select->left)];
    copy->results = results;
    return copy;
}

struct node *late_over_table(struct binder *binder, struct node *node,
                             const bool *wanted, struct vector *sources)
{
    struct reading reading = { .wanted = wanted };
    struct late_source source = { .table = node->left,
                                  .row = node->column_count,
                                  .columns = VECTOR_IN(binder->arena,
                                                       struct late_column) };

    if (!has_many_rows(node->left))
        return node;
    if (!find_reading(binder, node, &reading))
        return NULL;
    if (!list_fetched(node, &reading, &source))
        return error_no_memory(binder->error), NULL;
    if (source.row == node->column_count)
        return node;
    if (!vector_append(sources, &source, 1))
        return error_no_memory(binder->error), NULL;
    return select_id(binder, node, source.row);
}
