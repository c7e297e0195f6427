/* SPDX-License-Identifier: MIT */
/*
 * Queries that are equal: the same nodes over the same tables, with the same
 * expressions. Where something failed in the statement's text, the message
 * names the place of the one of them that is run.
 */
#include "plan/tree/node_same.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/tree/constants.h"

static bool same_numbers(const struct vector *a, const struct vector *b)
{
    return a->count == b->count
           && (a->count == 0
               || memcmp(a->items, b->items, a->count * sizeof(int)) == 0);
}

static bool same_keys(const struct vector *a, const struct vector *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        const struct step_key *x = vector_at(a, i), *y = vector_at(b, i);
        if (x->column != y->column || x->descending != y->descending
            || x->nulls_last != y->nulls_last)
            return false;
    }
    return a->count == b->count;
}

static bool same_aggregates(const struct step_aggregate *a,
                            const struct step_aggregate *b)
{
    return a->function == b->function && a->column == b->column
           && a->filter == b->filter && a->distinct == b->distinct;
}

static bool same_groups(const struct step_group *a, const struct step_group *b)
{
    if (a->keys != b->keys || a->aggregates.count != b->aggregates.count)
        return false;
    for (size_t i = 0; i < a->aggregates.count; i++)
        if (!same_aggregates(vector_at(&a->aggregates, i),
                             vector_at(&b->aggregates, i)))
            return false;
    return true;
}

static bool same_windows(const struct vector *a, const struct vector *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        const struct step_window_function *x = vector_at(a, i);
        const struct step_window_function *y = vector_at(b, i);
        if (x->function != y->function || x->offset != y->offset
            || x->fallback != y->fallback || !frame_same(&x->frame, &y->frame)
            || !same_aggregates(&x->aggregate, &y->aggregate)
            || !same_numbers(&x->partition, &y->partition)
            || !same_keys(&x->order, &y->order))
            return false;
    }
    return a->count == b->count;
}

static bool same_calls(const struct vector *a, const struct vector *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++)
        if (strcmp(VECTOR_ITEMS(a, const char *)[i],
                   VECTOR_ITEMS(b, const char *)[i])
            != 0)
            return false;
    return a->count == b->count;
}

static bool same_functions(const struct vector *a, const struct vector *b)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++) {
        const struct step_function *x = vector_at(a, i), *y = vector_at(b, i);
        if (strcmp(x->name, y->name) != 0
            || !same_numbers(&x->arguments, &y->arguments)
            || !same_calls(&x->then, &y->then))
            return false;
    }
    return a->count == b->count;
}

static bool same_ranges(const struct step_range_join *a,
                        const struct step_range_join *b)
{
    if (a->side != b->side || a->side == RANGE_JOIN_NONE)
        return a->side == b->side;
    return a->column == b->column && a->low == b->low && a->high == b->high
           && a->low_open == b->low_open && a->high_open == b->high_open;
}

static bool same_values(const struct node *a, const struct node *b)
{
    bool same = a->value_rows == b->value_rows
                && a->column_count == b->column_count && !a->varies
                && !b->varies;

    for (unsigned i = 0; i < a->column_count && same; i++)
        same = a->columns[i].scale == b->columns[i].scale
               && constants_same(&a->values[i], &b->values[i], a->value_rows);
    return same;
}

static bool same_joins(const struct node *a, const struct node *b)
{
    return a->join.kind == b->join.kind
           && a->join.nulls_match == b->join.nulls_match
           && a->unnested == b->unnested
           && same_numbers(&a->join.left_keys, &b->join.left_keys)
           && same_numbers(&a->join.right_keys, &b->join.right_keys)
           && same_ranges(&a->join.range, &b->join.range);
}

static bool same_expressions(struct expression *const *a,
                             struct expression *const *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!expression_same(a[i], b[i]))
            return false;
    return true;
}

/* Whether what their kind alone has is the same. */
static bool same_kinds(const struct node *a, const struct node *b)
{
    switch (a->kind) {
    case NODE_ONCE:
    case NODE_CONCAT:
        return true;
    case NODE_TABLE:
        return a->table == b->table && a->catalogue == b->catalogue;
    case NODE_SELECT:
        return same_expressions(a->results, b->results, a->column_count);
    case NODE_JOIN:
        return same_joins(a, b);
    case NODE_GROUP:
        return same_groups(&a->group, &b->group);
    case NODE_SORT:
        return a->sort.offset == b->sort.offset
               && a->sort.limit == b->sort.limit
               && same_keys(&a->sort.keys, &b->sort.keys);
    case NODE_LIMIT:
        return a->limit.offset == b->limit.offset
               && a->limit.limit == b->limit.limit;
    case NODE_WINDOW:
        return a->window.firsts == b->window.firsts
               && same_windows(&a->window.functions, &b->window.functions);
    case NODE_MAP:
        return same_functions(&a->map.functions, &b->map.functions);
    case NODE_VALUES:
        return same_values(a, b);
    case NODE_COMMON:
        return a->common == b->common;
    case NODE_WORKING:
        return a->recursion == b->recursion;
    case NODE_APPLY:
        return a->apply.parameters.count == 0 /* they are each one's own */
               && b->apply.parameters.count == 0
               && a->apply.kind == b->apply.kind
               && a->apply.column == b->apply.column;
    case NODE_RECURSE:
    case NODE_FETCH:
    case NODE_SEEK:
    case NODE_PRODUCT:
    case NODE_OUTER:
        break;
    }
    return false;
}

static bool same_or_none(const struct node *a, struct node *b, unsigned walk)
{
    return a == NULL || b == NULL ? a == b : node_same(a, b, walk);
}

static bool same_conditions(const struct node *a, const struct node *b)
{
    return a->where == NULL || b->where == NULL
               ? a->where == b->where
               : expression_same(a->where, b->where);
}

static bool same_parts(const struct vector *a, const struct vector *b,
                       unsigned walk)
{
    for (size_t i = 0; a->count == b->count && i < a->count; i++)
        if (!node_same(VECTOR_ITEMS(a, struct node *)[i],
                       VECTOR_ITEMS(b, struct node *)[i], walk))
            return false;
    return a->count == b->count;
}

static bool same_below(const struct node *a, struct node *b, unsigned walk)
{
    return same_or_none(a->left, b->left, walk)
           && same_or_none(a->right, b->right, walk)
           && same_parts(&a->parts, &b->parts, walk);
}

bool node_same(const struct node *a, struct node *b, unsigned walk)
{
    if (a == b || (walk != 0 && b->same_walk == walk && b->same == a))
        return true;
    if (stack_is_short() || a->kind != b->kind
        || a->column_count != b->column_count || !same_conditions(a, b)
        || !same_kinds(a, b) || !same_below(a, b, walk))
        return false;
    b->same = a;
    b->same_walk = walk;
    return true;
}
