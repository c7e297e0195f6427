/* SPDX-License-Identifier: MIT */
/*
 * Indexes of a table, and nodes that search them.
 */
#include "plan/index/index_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hostile.h"
#include "base/os/stack.h"
#include "plan/estimate/estimate.h"
#include "plan/index/index_terms.h"
#include "plan/make/node.h"
#include "plan/operator/collate.h"
#include "plan/plan.h"
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

static bool add(struct index_candidates *candidates,
                struct index_candidate candidate)
{
    return vector_append(&candidates->items, &candidate, 1);
}

/* Columns that are unique alone; the key is one of them. */
static bool add_columns(struct binder *binder, const struct table *table,
                        struct index_candidates *candidates)
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

/* The number of a key that an index has; false: no memory. */
static bool number_key(struct index_candidates *candidates,
                       const struct index *index, unsigned i,
                       const struct expression *e, unsigned *number)
{
    const struct table *table = candidates->table->table;
    bool whole = index->keys->where_sql == NULL;
    const struct index_key key = { e, &index->keys->columns[i], whole };
    size_t at;

    if (e->kind == EXPRESSION_COLUMN) {
        *number = (unsigned)e->column.number;
        return true;
    }
    for (at = 0; at < candidates->keys.count; at++) {
        struct index_key *known = vector_at(&candidates->keys, at);
        if (!expression_same(known->expression, e))
            continue;
        known->whole |= whole;
        break;
    }
    *number = table->column_count + 1 + (unsigned)at;
    return at < candidates->keys.count
           || vector_append(&candidates->keys, &key, 1);
}

bool index_split(struct expression *e, struct vector *parts)
{
    if (e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_AND
        && !stack_is_short())
        return index_split(e->left, parts) && index_split(e->right, parts);
    return vector_append(parts, &e, 1);
}

/* What an index compares of one of its keys: texts in another collation than BINARY
 * by keys of their own, as queries do. NULL: a failure. */
static struct expression *compared_key(struct binder *binder,
                                       const struct index *index,
                                       const struct index_bound *bound,
                                       unsigned i)
{
    return collation_key(binder, bound->keys[i],
                         index->keys->columns[i].collation);
}

/* An index of keys. */
static bool add_bound(struct binder *binder,
                      struct index_candidates *candidates,
                      const struct index *index,
                      const struct index_bound *bound)
{
    struct index_candidate made = { .name = index->name, .keyed = index };
    unsigned *numbers =
        arena_alloc(binder->arena, index->column_count * sizeof *numbers);
    bool done = numbers != NULL;

    made.columns = numbers;
    made.where = VECTOR_IN(binder->arena, struct expression *);
    for (unsigned i = 0; i < index->column_count && done; i++) {
        const struct expression *key = compared_key(binder, index, bound, i);
        done = key != NULL
               && number_key(candidates, index, i, key, &numbers[made.count++]);
    }
    if (done && bound->where != NULL)
        done = index_split(bound->where, &made.where);
    return done && add(candidates, made);
}

static bool add_keyed(struct binder *binder,
                      struct index_candidates *candidates,
                      const struct index *index)
{
    const struct error before = *binder->error;
    const struct index_rows rows = {
        .node = (struct node *)candidates->table,
        .count = candidates->table->table->column_count
    };
    struct index_bound bound;

    if (index_bind(binder, candidates->table->table, index, &rows, &bound))
        return add_bound(binder, candidates, index, &bound);
    if (binder->error->status == VDBQ_NO_MEMORY)
        return false;
    *binder->error = before;
    return true;
}

static bool add_index(struct binder *binder,
                      struct index_candidates *candidates,
                      const struct index *index)
{
    return index->keys != NULL
               ? add_keyed(binder, candidates, index)
               : add(candidates,
                     (struct index_candidate){ .name = index->name,
                                               .columns = index->columns,
                                               .count = index->column_count });
}

bool index_candidates(struct binder *binder, const struct node *node,
                      struct index_candidates *candidates)
{
    const struct table *table = node->table;
    const struct catalogue *catalogue = node->catalogue;
    bool done;

    candidates->table = node;
    candidates->items = VECTOR_IN(binder->arena, struct index_candidate);
    candidates->keys = VECTOR_IN(binder->arena, struct index_key);
    done = add_columns(binder, table, candidates);
    for (unsigned i = 0; i < table->unique_count && done; i++)
        done = add(candidates, (struct index_candidate){
                                   .columns = table->uniques[i].columns,
                                   .count = table->uniques[i].column_count });
    for (size_t i = 0; i < catalogue->index_count && done; i++)
        if (catalogue->indexes[i].table_id == table->id)
            done = add_index(binder, candidates, &catalogue->indexes[i]);
    if (!done)
        error_no_memory(binder->error);
    return done;
}

/* -------------------------------------------------------------- columns -- */

/* An expression below a cast that holds all of its values; NULL: it is none. */
static const struct expression *below_cast(const struct expression *e)
{
    const struct expression *below = e->left;

    if (e->kind != EXPRESSION_CAST)
        return NULL;
    if (is_integer(e->type) && is_integer(below->type)
        && type_bytes((enum vdbq_type)e->type)
               >= type_bytes((enum vdbq_type)below->type))
        return below;
    return e->type == VDBQ_DOUBLE && below->type == VDBQ_FLOAT ? below : NULL;
}

const struct expression *index_terms_column(const struct expression *e)
{
    if (e->kind == EXPRESSION_COLUMN)
        return e;
    e = below_cast(e);
    return e != NULL && e->kind == EXPRESSION_COLUMN ? e : NULL;
}

static int find_key(const struct index_candidates *candidates,
                    const struct expression *e)
{
    const struct index_key *keys = candidates->keys.items;

    for (size_t i = 0; i < candidates->keys.count; i++)
        if (expression_same(keys[i].expression, e))
            return (int)(candidates->table->table->column_count + 1 + i);
    return -1;
}

int index_column(const struct index_candidates *candidates,
                 const struct expression *e)
{
    const struct table *table = candidates->table->table;
    const struct expression *column = index_terms_column(e);
    int number;

    if (column != NULL) {
        number = column->column.number;
        return number < (int)table->column_count ? number
               : number == (int)table->column_count && table->key != NO_KEY
                   ? (int)table->key
                   : -1;
    }
    number = find_key(candidates, e);
    column = below_cast(e);
    return number < 0 && column != NULL ? find_key(candidates, column) : number;
}

const struct index_key *index_key_of(const struct index_candidates *candidates,
                                     unsigned number)
{
    unsigned columns = candidates->table->table->column_count;

    return number > columns ? vector_at(&candidates->keys, number - columns - 1)
                            : NULL;
}

const struct column *index_column_of(const struct index_candidates *candidates,
                                     unsigned number)
{
    const struct index_key *key = index_key_of(candidates, number);

    return key != NULL ? key->column
                       : &candidates->table->table->columns[number];
}

struct column_estimate index_estimate(const struct index_candidates *candidates,
                                      unsigned number)
{
    const struct estimate_nodes nodes = { candidates->table, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    const struct index_key *key = index_key_of(candidates, number);

    return key != NULL ? estimate_expression(&source, key->expression)
                       : candidates->table->columns[number].estimate;
}

bool index_is_inexact(const struct index_candidates *candidates,
                      const struct index_candidate *candidate, unsigned column)
{
    return candidate->keyed != NULL
           && index_column_of(candidates, column)->type == VDBQ_TEXT;
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

uint64_t index_rows_most(const struct node *table, double row_cost)
{
    return (uint64_t)fmin((double)table->table->rows / row_cost, UINT32_MAX);
}

uint64_t index_rows_most_alone(const struct node *table)
{
    return index_rows_most(table, ROW_COST);
}

/* Where a query is run again for each row of others, rows may have been given by
 * then, and the plan that does not hope might give these in another order. */
bool index_may_hope(const struct binder *binder)
{
    return binder->asking == 0
           && (binder->limits == NULL || !binder->limits->careful);
}

bool index_may_hope_few(const struct binder *binder)
{
    return index_may_hope(binder) && binder->limits != NULL
           && binder->limits->hopes_few;
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

/* What is searched: columns, or keys by their numbers. */
static void name_keys(const struct index_candidate *candidate,
                      struct step_seek *seek)
{
    const struct index *keyed = candidate->keyed;
    unsigned count = keyed != NULL ? keyed->column_count : candidate->count;

    seek->origin = keyed != NULL ? keyed->keys->origin : 0;
    for (unsigned i = 0; i < count && i < SEEK_KEYS_MAX; i++)
        seek->keys[seek->key_count++] =
            keyed != NULL ? i : candidate->columns[i];
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
    name_keys(candidate, &node->seek);
    return node;
}
