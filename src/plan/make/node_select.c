/* SPDX-License-Identifier: MIT */
/*
 * Nodes that compute (NODE_SELECT). One over another becomes a single one
 * where nothing is computed twice by that.
 */
#include "plan/make/node_select.h"

#include <assert.h>

#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_readers.h"

/* ------------------------------------------------------------- merging -- */

/* A node that computes over one that computes. */
struct merging {
    struct binder *binder;
    const struct node *below;
    unsigned *uses; /* of each result of `below` */
};

static bool count_uses(void *context, struct expression **operand)
{
    const struct merging *merging = context;

    if ((*operand)->kind != EXPRESSION_COLUMN)
        return expression_each(*operand, count_uses, context);
    assert((unsigned)(*operand)->column.number < merging->below->column_count);
    merging->uses[(*operand)->column.number]++;
    return true;
}

/* Whether nothing is computed twice when the results below stand in the place
 * of the columns that name them. */
static bool can_merge(const struct merging *merging, struct expression *where,
                      struct expression *const *results, unsigned count)
{
    const struct node *below = merging->below;

    if (where != NULL)
        count_uses((void *)(uintptr_t)merging, &where);
    for (unsigned i = 0; i < count; i++) {
        struct expression *result = results[i];
        count_uses((void *)(uintptr_t)merging, &result);
    }
    for (unsigned i = 0; i < below->column_count; i++)
        if (merging->uses[i] > 1
            && below->results[i]->kind > EXPRESSION_PARAMETER)
            return false;
    return true;
}

static struct expression *result_below(void *context, struct expression *e,
                                       bool *failed)
{
    const struct merging *merging = context;

    (void)failed;
    return e->kind == EXPRESSION_COLUMN
               ? merging->below->results[e->column.number]
               : NULL;
}

/* Both conditions, over what is below `below`. */
static struct expression *merged_where(const struct merging *merging,
                                       struct expression *where)
{
    struct ast_expression place = { 0 };
    struct expression *before = merging->below->where;

    where = expression_replace(merging->binder, where, result_below,
                               (void *)(uintptr_t)merging);
    if (where == NULL || before == NULL)
        return where;
    return expression_logic(merging->binder, AST_AND, before, where, &place);
}

/* Makes `node`, over `below`, one that is over what lies below that: if other
 * nodes read `below`, that has one reader more. */
static struct node *merge(const struct merging *merging, struct node *node)
{
    const struct node *below = merging->below;

    node->left = below->left;
    if (!node_has_one_reader(below))
        node_add_reader(node->left);
    if (node->where == NULL)
        node->where = below->where;
    else
        node->where = merged_where(merging, node->where);
    if (node->where == NULL && below->where != NULL)
        return NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        node->results[i] =
            expression_replace(merging->binder, node->results[i], result_below,
                               (void *)(uintptr_t)merging);
        if (node->results[i] == NULL)
            return NULL;
    }
    return node;
}

struct node *node_merge(struct binder *binder, struct node *node)
{
    const struct node *below = node->left;
    struct merging merging = { .binder = binder, .below = below };

    assert(node->kind == NODE_SELECT && below != NULL);
    if (below->kind != NODE_SELECT || below->shared)
        return node;
    merging.uses = arena_alloc(binder->arena, (below->column_count + 1)
                                                  * sizeof *merging.uses);
    if (merging.uses == NULL)
        return error_no_memory(binder->error), NULL;
    return can_merge(&merging, node->where, node->results, node->column_count)
               ? merge(&merging, node)
               : node;
}

/* -------------------------------------------------------------- making -- */

struct node_column node_column_of(const struct expression *e)
{
    struct node_column column = { .name = e->name != NULL ? e->name : "",
                                  .type = e->type,
                                  .precision = e->precision,
                                  .scale = e->scale,
                                  .affine = e->affine,
                                  .collating = e->collating,
                                  .nullable = e->nullable,
                                  .range = e->range };

    return column;
}

struct node *node_select(struct binder *binder, struct node *below,
                         struct expression *where,
                         struct expression *const *results,
                         const char *const *names, unsigned count)
{
    struct node *node = node_new(binder, NODE_SELECT, below, count);

    if (node == NULL)
        return NULL;
    node->results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*node->results));
    if (node->results == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    node->where = where;
    for (unsigned i = 0; i < count; i++) {
        node->results[i] = results[i];
        node->columns[i] = node_column_of(results[i]);
        if (names != NULL)
            node->columns[i].name = names[i];
    }
    return binder->merges ? node_merge(binder, node) : node;
}

/* -------------------------------------------------- all columns, and more -- */

/* Columns of `below` as results, with room for `more`. */
static struct expression **all_columns(struct binder *binder,
                                       const struct node *below, unsigned more)
{
    struct expression **results = arena_alloc(
        binder->arena, (below->column_count + more + 1) * sizeof(*results));

    if (results == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    for (unsigned i = 0; i < below->column_count; i++) {
        results[i] = node_column(binder, below, i, (struct position){ 0 });
        if (results[i] == NULL)
            return NULL;
    }
    return results;
}

struct node *node_filter(struct binder *binder, struct node *below,
                         struct expression *where)
{
    struct expression **results = all_columns(binder, below, 0);

    if (results == NULL)
        return NULL;
    return node_select(binder, below, where, results, NULL,
                       below->column_count);
}

struct node *node_columns(struct binder *binder, struct node *below,
                          const int *columns, unsigned count)
{
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        results[i] = node_column(binder, below, (unsigned)columns[i],
                                 (struct position){ 0 });
        if (results[i] == NULL)
            return NULL;
    }
    return node_select(binder, below, NULL, results, NULL, count);
}

struct node *node_first_columns(struct binder *binder, struct node *below,
                                unsigned count)
{
    struct expression **results = all_columns(binder, below, 0);

    assert(count <= below->column_count);
    return results ? node_select(binder, below, NULL, results, NULL, count)
                   : NULL;
}

struct node *node_extend(struct binder *binder, struct node *below,
                         struct expression *const *added, unsigned count)
{
    struct expression **results = all_columns(binder, below, count);

    if (results == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        results[below->column_count + i] = added[i];
    return node_select(binder, below, NULL, results, NULL,
                       below->column_count + count);
}

struct node *node_number_rows(struct binder *binder, struct node *below,
                              const int *keys, unsigned count,
                              const struct vector *order)
{
    struct step_window_function number = {
        .function = WINDOW_ROW_NUMBER,
        .aggregate = { .column = -1, .filter = -1 },
        .fallback = -1,
        .partition = VECTOR_IN(binder->arena, int),
        .order =
            order != NULL ? *order : VECTOR_IN(binder->arena, struct step_key)
    };
    struct node *node = node_wider(binder, NODE_WINDOW, below, 1);

    if (node == NULL)
        return NULL;
    node->columns[below->column_count] = (struct node_column){
        .name = "", .type = VDBQ_BIGINT, .range.high = INT64_MAX
    };
    node->window.functions =
        VECTOR_IN(binder->arena, struct step_window_function);
    if ((count > 0 && !vector_append(&number.partition, keys, count))
        || !vector_append(&node->window.functions, &number, 1))
        return error_no_memory(binder->error), NULL;
    return node;
}

/* Whether a node hands a column of the one below it on, under its number. */
static bool hands_on(const struct node *node, int column)
{
    return column < (int)node->column_count
           && node->results[column]->kind == EXPRESSION_COLUMN
           && node->results[column]->column.number == column;
}

static bool reads_handed_on(void *context, struct expression **operand)
{
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN)
        return hands_on(context, e->column.number);
    return expression_each(*operand, reads_handed_on, context);
}

/* The column that holds an expression already, computed by the node or by one
 * below it that nodes in between hand on; -1: there is none. */
static int column_with(struct node *node, struct expression *e)
{
    for (struct node *at = node;
         at->kind == NODE_SELECT && reads_handed_on(at, &e); at = at->left)
        for (int i = 0; i < (int)at->column_count; i++) {
            const struct node *above = node;
            if (!expression_same(at->results[i], e))
                continue;
            while (above != at && hands_on(above, i))
                above = above->left;
            if (above == at)
                return i;
        }
    return -1;
}

int node_column_for(struct binder *binder, struct node **node,
                    struct expression *e)
{
    struct node *wider;
    int column;

    if (e->kind == EXPRESSION_COLUMN)
        return e->column.number;
    column = column_with(*node, e);
    if (column >= 0)
        return column;
    wider = node_extend(binder, *node, &e, 1);
    if (wider == NULL)
        return -1;
    *node = wider;
    return (int)wider->column_count - 1;
}
