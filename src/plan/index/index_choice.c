/* SPDX-License-Identifier: MIT */
/*
 * Indexes of a table, and nodes that search them.
 */
#include "plan/index/index_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/hostile.h"
#include "plan/estimate/estimate.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"

enum {
    TABLE_ROWS_FEW = HOSTILE(0, 999), /* of tables that are scanned           */
    /* A row that is found costs as much as so many in a scan, and each of its
     * columns that is fetched as so many more. */
    ROW_COST = HOSTILE(1, 40),
    COLUMN_COST = HOSTILE(0, 10),
    TEXT_COST = HOSTILE(0, 20)
};

/* ---------------------------------------------------------- candidates -- */

static bool add(struct vector *candidates, struct index_candidate candidate)
{
    return vector_append(candidates, &candidate, 1);
}

/* Columns that are unique alone; the key is one of them. */
static bool add_columns(struct binder *binder, const struct table *table,
                        struct vector *candidates)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        unsigned *column;
        if (!table->columns[i].unique && i != table->key)
            continue;
        column = arena_alloc(binder->arena, sizeof *column);
        if (column == NULL)
            return false;
        *column = i;
        if (!add(candidates,
                 (struct index_candidate){ .is_key = i == table->key,
                                           .columns = column,
                                           .count = 1 }))
            return false;
    }
    return true;
}

bool index_candidates(struct binder *binder, const struct node *node,
                      struct vector *candidates)
{
    const struct table *table = node->table;
    const struct catalogue *catalogue = node->catalogue;
    bool done;

    *candidates = VECTOR_IN(binder->arena, struct index_candidate);
    done = add_columns(binder, table, candidates);
    for (unsigned i = 0; i < table->unique_count && done; i++)
        done = add(candidates, (struct index_candidate){
                                   .columns = table->uniques[i].columns,
                                   .count = table->uniques[i].column_count });
    for (size_t i = 0; i < catalogue->index_count && done; i++) {
        const struct index *index = &catalogue->indexes[i];
        if (index->table_id == table->id)
            done =
                add(candidates,
                    (struct index_candidate){ .name = index->name,
                                              .columns = index->columns,
                                              .count = index->column_count });
    }
    if (!done)
        error_no_memory(binder->error);
    return done;
}

/* ------------------------------------------------------------- whether -- */

bool index_is_sought(const struct node *table)
{
    return table->kind == NODE_TABLE && table->table->rows > TABLE_ROWS_FEW;
}

double index_row_cost(const struct node *reader)
{
    double cost = ROW_COST;

    for (unsigned i = 0; i < reader->column_count; i++)
        cost += reader->columns[i].type == VDBQ_TEXT ? TEXT_COST : COLUMN_COST;
    return cost;
}

bool index_pays(const struct node *table, double rows, double row_cost)
{
    return rows * row_cost <= (double)table->table->rows;
}

bool index_pays_alone(const struct node *table, double rows)
{
    return index_pays(table, rows, ROW_COST);
}

bool index_is_safe(const struct node *select)
{
    bool safe = select->where == NULL || !select->where->faults;

    for (unsigned i = 0; i < select->column_count && safe; i++)
        safe = !select->results[i]->faults;
    return safe;
}

/* -------------------------------------------------------------- making -- */

/* The index, for people. */
static const char *describe(struct binder *binder,
                            const struct index_candidate *candidate,
                            const struct table *table)
{
    char text[2 * NAME_BYTES_MAX];

    if (candidate->name != NULL)
        snprintf(text, sizeof text, "index %s", candidate->name);
    else
        snprintf(text, sizeof text, "%s %s%s",
                 candidate->is_key ? "primary key" : "unique",
                 table->columns[candidate->columns[0]].name,
                 candidate->count > 1 ? ", ..." : "");
    return arena_copy(binder->arena, text, strlen(text));
}

struct node *index_seek(struct binder *binder, const struct node *table,
                        const struct index_candidate *candidate, double rows)
{
    struct node *node = node_new(binder, NODE_SEEK, NULL, table->column_count);

    if (node == NULL)
        return NULL;
    memcpy(node->columns, table->columns,
           table->column_count * sizeof *node->columns);
    node->table = table->table;
    node->catalogue = table->catalogue;
    node->called = table->called;
    node->sought = true;
    node->rows = estimate_rows(rows);
    node->seek.index = describe(binder, candidate, table->table);
    if (node->seek.index == NULL)
        return error_no_memory(binder->error), NULL;
    node->seek.rows = table->table->rows;
    for (unsigned i = 0; i < candidate->count && i < SEEK_KEYS_MAX; i++)
        node->seek.keys[node->seek.key_count++] = candidate->columns[i];
    return node;
}
