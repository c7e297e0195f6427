/* SPDX-License-Identifier: MIT */
/*
 * Nodes become steps, from below. On the way down each node is told which of
 * its columns are needed; on the way up it says where they are: steps carry
 * nothing that nobody reads.
 */
#include "plan/lower/lower.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "plan/code/codegen.h"
#include "plan/code/emit.h"
#include "plan/lower/lowering.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

/* -------------------------------------------------------------- select -- */

/* Where the rows of a SELECT come from; the input's step, -1: none, or -2: a
 * failure. */
static int lower_source(struct lowering *lowering, struct node *node,
                        const bool *needed, struct codegen_source *source)
{
    struct node *below = node->left;
    bool *used = lower_flags(lowering, below->column_count);
    int *columns = lower_numbers(lowering, below->column_count);
    int input;

    if (used == NULL || columns == NULL)
        return -2;
    if (below->kind == NODE_ONCE)
        return -1;
    if (below->kind == NODE_TABLE) {
        source->table = below->table;
        lower_number_table(below->table, columns);
        source->columns =
            lower_places(lowering, columns, below->column_count, 0);
        return source->columns ? -1 : -2;
    }
    if (node->where != NULL)
        lower_mark_columns(used, &node->where);
    for (unsigned i = 0; i < node->column_count; i++)
        if (needed[i])
            lower_mark_columns(used, &node->results[i]);
    input = lower_node(lowering, below, used, columns);
    source->columns = lower_places(lowering, columns, below->column_count, 0);
    return input >= 0 && source->columns ? input : -2;
}

/* Whether a SELECT gives its input's rows as they are. */
static bool is_input(const struct lowering *lowering, const struct node *node,
                     int input, const struct column_place *columns,
                     const struct codegen_result *results, unsigned count)
{
    if (input < 0 || node->where != NULL
        || steps_at(lowering->steps, input)->column_count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (results[i].expression->kind != EXPRESSION_COLUMN
            || columns[results[i].expression->column.number].column != (int)i)
            return false;
    return true;
}

static int lower_select(struct lowering *lowering, struct node *node,
                        const bool *needed, int *map)
{
    struct codegen_source source = { 0 };
    int input, number = lower_fused(lowering, node, needed, map);
    struct codegen_result *results;
    unsigned count;

    if (number != LOWER_NOT_FUSED)
        return number;
    if (lower_is_grid(node->left))
        return lower_grid(lowering, node, needed, map);
    input = lower_source(lowering, node, needed, &source);
    if (input == -2)
        return -1;
    results = lower_results(lowering, node, needed, map, &count);
    if (results == NULL)
        return -1;
    if (is_input(lowering, node, input, source.columns, results, count))
        return input;
    number = lower_add_step(lowering, STEP_SCAN, count, &input, input >= 0);
    if (number < 0 || !lower_describe_results(lowering, number, results, count))
        return -1;
    if (input >= 0) {
        source.input = steps_at(lowering->steps, input);
        source.input_number = 1;
    }
    return codegen_select(lowering->binder, &source, node->where, results,
                          count,
                          &steps_at(lowering->steps, number)->scan.program)
                   == VDBQ_OK
               ? number
               : -1;
}

/* A node as a SELECT of all its columns. */
static int lower_selected(struct lowering *lowering, struct node *node,
                          const bool *needed, int *map)
{
    struct node *select = node_filter(lowering->binder, node, NULL);

    return select ? lower_select(lowering, select, needed, map) : -1;
}

/* ------------------------------------------------------------------ all -- */

static int lower_kind(struct lowering *lowering, struct node *node,
                      const bool *needed, int *map)
{
    switch (node->kind) {
    case NODE_ONCE:
    case NODE_TABLE:
        return lower_selected(lowering, node, needed, map);
    case NODE_SELECT:
        return lower_select(lowering, node, needed, map);
    case NODE_JOIN:
        return lower_is_grid(node) ? lower_selected(lowering, node, needed, map)
                                   : lower_join(lowering, node, needed, map);
    case NODE_GROUP:
        return lower_group(lowering, node, needed, map);
    case NODE_SORT:
        return lower_sort(lowering, node, needed, map);
    case NODE_LIMIT:
        return lower_limit(lowering, node, needed, map);
    case NODE_CONCAT:
        return lower_concat(lowering, node, map);
    case NODE_APPLY:
        return lower_apply(lowering, node, needed, map);
    case NODE_WINDOW:
        return lower_window(lowering, node, needed, map);
    case NODE_VALUES:
        return lower_values(lowering, node, needed, map);
    case NODE_PRODUCT:
    case NODE_OUTER:
        assert(!"rewriting leaves no such node");
        break;
    case NODE_MAP:
        break;
    }
    return lower_map(lowering, node, needed, map);
}

/* The number of the node's step, or -1: a failure. */
int lower_node(struct lowering *lowering, struct node *node, const bool *needed,
               int *map)
{
    int number;

    if (stack_is_short()) {
        stack_refuse(lowering->binder->error, (struct position){ 0 });
        return -1;
    }
    number = lower_kind(lowering, node, needed, map);
    if (number >= 0)
        steps_at(lowering->steps, number)->rows = node->rows;
    return number;
}

enum vdbq_status lower(struct binder *binder, struct node *node,
                       struct steps *steps)
{
    struct lowering lowering = { binder, steps };
    bool *needed = lower_flags(&lowering, node->column_count);
    int *map = lower_numbers(&lowering, node->column_count);

    if (needed == NULL || map == NULL)
        return binder->error->status;
    memset(needed, true, node->column_count);
    estimate_node(node);
    if (lower_node(&lowering, node, needed, map) < 0)
        return binder->error->status;
    for (unsigned i = 0; i < node->column_count; i++) {
        const char *name = arena_copy(&steps->arena, node->columns[i].name,
                                      strlen(node->columns[i].name));
        assert(map[i] == (int)i);
        if (name == NULL)
            return error_no_memory(binder->error);
        steps_last(steps)->columns[i].name = name;
    }
    return VDBQ_OK;
}
