/* SPDX-License-Identifier: MIT */
/*
 * What a node reads of the nodes below it: what it is for, and of the rest what
 * is read of its own columns.
 */
#include "plan/tree/node_reads.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "plan/tree/binder.h"

bool *column_flags(struct binder *binder, size_t count, bool value)
{
    bool *flags = arena_alloc(binder->arena, count + 1);

    if (flags == NULL)
        return error_no_memory(binder->error), NULL;
    memset(flags, value, count + 1);
    return flags;
}

static void use(bool *used, int column)
{
    if (column >= 0)
        used[column] = true;
}

static void use_all(bool *used, const struct vector *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        use(used, VECTOR_ITEMS(columns, int)[i]);
}

static void use_keys(bool *used, const struct vector *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        use(used, VECTOR_ITEMS(keys, struct step_key)[i].column);
}

bool expression_reads(void *flags, struct expression **operand)
{
    bool *needed = flags;

    if ((*operand)->kind == EXPRESSION_COLUMN)
        needed[(*operand)->column.number] = true;
    return expression_each(*operand, expression_reads, flags);
}

static void read_results(struct node *select, const bool *needed, bool *used)
{
    if (select->where != NULL)
        expression_reads(used, &select->where);
    for (unsigned i = 0; i < select->column_count; i++)
        if (needed[i])
            expression_reads(used, &select->results[i]);
}

/* All keys, and what the aggregates take that are read. */
static void read_group(const struct node *node, const bool *needed, bool *used)
{
    const struct step_group *group = &node->group;

    for (unsigned i = 0; i < group->keys; i++)
        used[i] = true;
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        if (!needed[group->keys + i])
            continue;
        use(used, aggregate->column);
        use(used, aggregate->filter);
    }
}

static void read_windows(const struct vector *functions, bool *used)
{
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_window_function *function = vector_at(functions, i);
        use(used, function->aggregate.column);
        use(used, function->aggregate.filter);
        use(used, function->fallback);
        use_all(used, &function->partition);
        use_keys(used, &function->order);
    }
}

static void read_functions(const struct vector *functions, bool *used)
{
    for (size_t i = 0; i < functions->count; i++) {
        const struct step_function *function = vector_at(functions, i);
        use_all(used, &function->arguments);
    }
}

static void read_query(const struct step_apply *apply, bool *used)
{
    for (size_t i = 0; i < apply->parameters.count; i++)
        use(used,
            VECTOR_ITEMS(&apply->parameters, struct step_parameter)[i].column);
    if (apply->kind == APPLY_IN)
        use(used, apply->column);
}

/* The row's id, where some of the columns that it fetches are read. */
static void read_fetch(const struct node *node, const bool *needed, bool *used)
{
    for (unsigned i = node->left->column_count; i < node->column_count; i++)
        used[node->fetch.row] |= needed[i];
}

static void read_range(const struct step_range_join *range, bool *left,
                       bool *right)
{
    bool is_right = range->side == RANGE_JOIN_RIGHT;

    if (range->side == RANGE_JOIN_NONE)
        return;
    use(is_right ? right : left, range->column);
    use(is_right ? left : right, range->low);
    use(is_right ? left : right, range->high);
}

/* The columns of one side of a join, which are `first` ... of those of both. */
struct side {
    unsigned first;
    bool *left, *right; /* flags */
};

/* Sets the flag of what a condition over both sides reads; a visitor. */
static bool read_sides(void *context, struct expression **operand)
{
    const struct side *side = context;
    int column = (*operand)->column.number;

    if ((*operand)->kind != EXPRESSION_COLUMN)
        return expression_each(*operand, read_sides, context);
    if (column < (int)side->first)
        side->left[column] = true;
    else
        side->right[column - (int)side->first] = true;
    return true;
}

static void read_join(struct node *join, const bool *needed, bool *left,
                      bool *right)
{
    unsigned middle = join->left->column_count;
    struct side sides = { middle, left, right };

    if (join->where != NULL)
        read_sides(&sides, &join->where);
    for (unsigned i = 0; i < middle; i++)
        left[i] |= needed[i];
    for (unsigned i = middle;
         join->join.kind <= JOIN_FULL && i < join->column_count; i++)
        right[i - middle] |= needed[i];
    use_all(left, &join->join.left_keys);
    use_all(right, &join->join.right_keys);
    read_range(&join->join.range, left, right);
}

/* Columns that the node has from the one below, and hands on. */
static void hand_on(const struct node *node, const bool *needed, bool *used)
{
    unsigned count = node->left->column_count;

    if (count > node->column_count)
        count = node->column_count;
    for (unsigned i = 0; i < count; i++)
        used[i] |= needed[i];
}

void node_reads(struct node *node, const bool *needed, bool *left, bool *right)
{
    assert(node->kind != NODE_PRODUCT && node->kind != NODE_OUTER);
    if (node->left == NULL)
        return;
    switch (node->kind) {
    case NODE_SELECT:
        read_results(node, needed, left);
        return;
    case NODE_GROUP:
        read_group(node, needed, left);
        return;
    case NODE_JOIN:
        read_join(node, needed, left, right);
        return;
    case NODE_SEEK:
        for (unsigned i = 0; i < node->seek.from_count; i++)
            left[node->seek.from[i]] = true;
        return;
    case NODE_SORT:
        use_keys(left, &node->sort.keys);
        break;
    case NODE_APPLY:
        read_query(&node->apply, left);
        break;
    case NODE_WINDOW:
        read_windows(&node->window.functions, left);
        break;
    case NODE_MAP:
        read_functions(&node->map.functions, left);
        break;
    case NODE_FETCH:
        read_fetch(node, needed, left);
        break;
    case NODE_RECURSE: /* the term reads all, and all rows are compared */
        for (unsigned i = 0; i < node->column_count; i++)
            left[i] = true;
        return;
    default:
        break;
    }
    hand_on(node, needed, left);
}

bool node_reads_below(struct binder *binder, struct node *node,
                      const bool *needed, bool *below[2])
{
    const struct node *sides[2] = { node->left, node->right };

    for (int side = 0; side < 2; side++) {
        below[side] =
            column_flags(binder, sides[side] ? sides[side]->column_count : 0,
                         side == 1 && node->kind != NODE_JOIN);
        if (below[side] == NULL)
            return false;
    }
    node_reads(node, needed, below[0], below[1]);
    return true;
}
