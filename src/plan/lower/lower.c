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
#include "plan/estimate/estimate.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_needs.h"
#include "plan/tree/node_reads.h"

/* -------------------------------------------------------------- select -- */

/* Where the rows of a SELECT come from; `*input`: the step, NO_INPUT: a table
 * or a single row. */
enum { NO_INPUT = -1 };
static enum vdbq_status lower_source(struct lowering *lowering,
                                     struct node *node, const bool *needed,
                                     struct codegen_source *source, int *input)
{
    struct node *below = node->left;
    bool *used = lower_flags(lowering, below->column_count);
    int *columns = lower_numbers(lowering, below->column_count);
    enum vdbq_status status = VDBQ_OK;

    *input = NO_INPUT;
    if (used == NULL || columns == NULL)
        return lower_status(lowering, false);
    if (below->kind == NODE_ONCE)
        return VDBQ_OK;
    if (below->kind == NODE_TABLE) {
        source->table = below->table;
        lower_number_table(below, columns);
    } else {
        node_reads(node, needed, used, NULL);
        status = lower_node(lowering, below, used, columns, input);
    }
    if (status != VDBQ_OK)
        return status;
    source->columns = lower_places(lowering, columns, below->column_count, 0);
    return lower_status(lowering, source->columns != NULL);
}

/* Whether a SELECT gives its input's rows as they are. */
static bool is_input(const struct lowering *lowering, const struct node *node,
                     int input, const struct column_place *columns,
                     const struct codegen_result *results, unsigned count)
{
    if (input == NO_INPUT || node->where != NULL
        || steps_at(lowering->steps, input)->column_count != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (results[i].expression->kind != EXPRESSION_COLUMN
            || columns[results[i].expression->column.number].column != (int)i)
            return false;
    return true;
}

/* A SELECT that is a program of its own, over one input at most. */
static enum vdbq_status lower_scan(struct lowering *lowering, struct node *node,
                                   const bool *needed, int *map, int *number)
{
    struct codegen_source source = { 0 };
    struct codegen_result *results;
    unsigned count;
    int input;
    enum vdbq_status status =
        lower_source(lowering, node, needed, &source, &input);

    if (status != VDBQ_OK)
        return status;
    results = lower_results(lowering, node, needed, map, &count);
    if (results == NULL)
        return lower_status(lowering, false);
    if (is_input(lowering, node, input, source.columns, results, count)) {
        *number = input;
        return VDBQ_OK;
    }
    status = lower_add_step(lowering, STEP_SCAN, count, &input,
                            input != NO_INPUT, number);
    if (status != VDBQ_OK
        || !lower_describe_results(lowering, *number, results, count))
        return lower_status(lowering, false);
    if (input != NO_INPUT) {
        source.input = steps_at(lowering->steps, input);
        source.input_number = 1;
    }
    return codegen_select(lowering->binder, &source, node->where, results,
                          count,
                          &steps_at(lowering->steps, *number)->scan.program);
}

static enum vdbq_status lower_select(struct lowering *lowering,
                                     struct node *node, const bool *needed,
                                     int *map, int *number)
{
    enum vdbq_status status = lower_fused(lowering, node, needed, map, number);
    struct lower_keys keys;

    if (status != VDBQ_OK || *number != LOWER_NOT_FUSED)
        return status;
    if (lower_is_sought(node, needed)) {
        status = lower_seek_keys(lowering, node->left, &keys);
        return status == VDBQ_OK
                   ? lower_sought(lowering, node, needed, &keys, map, number)
                   : status;
    }
    return node_is_pairs(node->left)
               ? lower_grid(lowering, node, needed, map, number)
               : lower_scan(lowering, node, needed, map, number);
}

static enum vdbq_status lower_found(struct lowering *lowering,
                                    struct node *node, const bool *needed,
                                    int *map, int *number)
{
    struct lower_keys keys;
    enum vdbq_status status = lower_seek_keys(lowering, node, &keys);

    return status == VDBQ_OK
               ? lower_seek(lowering, node, needed, &keys, map, number)
               : status;
}

/* A node as a SELECT of all its columns. */
static enum vdbq_status lower_selected(struct lowering *lowering,
                                       struct node *node, const bool *needed,
                                       int *map, int *number)
{
    struct node *select = node_filter(lowering->binder, node, NULL);

    return select ? lower_select(lowering, select, needed, map, number)
                  : lower_status(lowering, false);
}

/* ------------------------------------------------------------------ all -- */

static enum vdbq_status lower_kind(struct lowering *lowering, struct node *node,
                                   const bool *needed, int *map, int *number)
{
    switch (node->kind) {
    case NODE_ONCE:
    case NODE_TABLE:
        return lower_selected(lowering, node, needed, map, number);
    case NODE_SELECT:
        return lower_select(lowering, node, needed, map, number);
    case NODE_JOIN:
        return node_is_pairs(node)
                   ? lower_selected(lowering, node, needed, map, number)
                   : lower_join(lowering, node, needed, map, number);
    case NODE_GROUP:
        return lower_group(lowering, node, needed, map, number);
    case NODE_SORT:
        return lower_sort(lowering, node, needed, map, number);
    case NODE_LIMIT:
        return lower_limit(lowering, node, needed, map, number);
    case NODE_CONCAT:
        return lower_concat(lowering, node, needed, map, number);
    case NODE_APPLY:
        return lower_apply(lowering, node, needed, map, number);
    case NODE_WINDOW:
        return lower_window(lowering, node, needed, map, number);
    case NODE_FETCH:
        return lower_fetch(lowering, node, needed, map, number);
    case NODE_SEEK:
        return lower_found(lowering, node, needed, map, number);
    case NODE_VALUES:
        return lower_values(lowering, node, needed, map, number);
    case NODE_RECURSE:
        return lower_recurse(lowering, node, map, number);
    case NODE_WORKING:
        return lower_working(lowering, node, map, number);
    case NODE_PRODUCT:
    case NODE_OUTER:
    case NODE_COMMON:
        assert(!"rewriting leaves no such node");
        break;
    case NODE_MAP:
        break;
    }
    return lower_map(lowering, node, needed, map, number);
}

/* Where a shared node was lowered: once for each query that is applied. */
struct step_of {
    struct step_of *next;
    const struct steps *steps;
    int number;
    int *map;
};

/* The step of a shared node, with what any of its readers needs. */
static enum vdbq_status lower_first(struct lowering *lowering,
                                    struct node *node)
{
    struct step_of *step = arena_alloc(lowering->binder->arena, sizeof *step);
    enum vdbq_status status;

    if (step == NULL)
        return error_no_memory(lowering->binder->error);
    step->steps = lowering->steps;
    step->map = lower_numbers(lowering, node->column_count);
    if (step->map == NULL)
        return lower_status(lowering, false);
    status = lower_kind(lowering, node, node->needs, step->map, &step->number);
    step->next = node->step;
    node->step = step;
    return status;
}

static const struct step_of *step_in(const struct node *node,
                                     const struct steps *steps)
{
    const struct step_of *step = node->step;

    while (step != NULL && step->steps != steps)
        step = step->next;
    return step;
}

/* The step of a shared node: the first time it is made. */
static enum vdbq_status lower_shared(struct lowering *lowering,
                                     struct node *node, const bool *needed,
                                     int *map, int *number)
{
    const struct step_of *step = step_in(node, lowering->steps);

    if (step == NULL) {
        enum vdbq_status status = lower_first(lowering, node);
        if (status != VDBQ_OK)
            return status;
        step = node->step;
    }
    for (unsigned i = 0; i < node->column_count; i++)
        assert(!needed[i] || step->map[i] >= 0);
    (void)needed;
    memcpy(map, step->map, node->column_count * sizeof *map);
    *number = step->number;
    return VDBQ_OK;
}

enum vdbq_status lower_node(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number)
{
    enum vdbq_status status;

    if (stack_is_short())
        return stack_refuse(lowering->binder->error, (struct position){ 0 });
    status = node->shared ? lower_shared(lowering, node, needed, map, number)
                          : lower_kind(lowering, node, needed, map, number);
    if (status == VDBQ_OK) {
        struct step *step = steps_at(lowering->steps, *number);
        step->rows = node->rows;
        step->sampled |= node->sampled;
    }
    return status;
}

enum vdbq_status lower(struct binder *binder, struct node *node,
                       struct steps *steps)
{
    struct lowering lowering = { binder, steps };
    bool *needed = lower_flags(&lowering, node->column_count);
    int *map = lower_numbers(&lowering, node->column_count), number;
    enum vdbq_status status;

    if (needed == NULL || map == NULL)
        return lower_status(&lowering, false);
    memset(needed, true, node->column_count);
    estimate_node(binder, node);
    if (!node_needs(binder, node, needed))
        return lower_status(&lowering, false);
    status = lower_node(&lowering, node, needed, map, &number);
    if (status != VDBQ_OK)
        return status;
    for (unsigned i = 0; i < node->column_count; i++) {
        const char *name = arena_copy(&steps->arena, node->columns[i].name,
                                      strlen(node->columns[i].name));
        assert(map[i] == (int)i);
        if (name == NULL)
            return error_no_memory(binder->error);
        steps_last(steps)->columns[i].name = name;
    }
    lower_firsts(steps);
    return VDBQ_OK;
}
