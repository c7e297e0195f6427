/* SPDX-License-Identifier: MIT */
/*
 * Outer joins on conditions of which something is to be lifted into a node of
 * its own: that needs the pairs of rows first. So the rows of the side that
 * is kept get numbers, the pairs are an inner join with a filter over it, and
 * the numbered rows are joined to those by their numbers.
 */
#include "plan/plan_inner.h"

#include <string.h>

bool needs_lifting(const struct vector *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct expression *e =
            VECTOR_ITEMS(parts, struct expression *)[i];
        if (expression_has(e, EXPRESSION_SUBQUERY)
            || expression_has(e, EXPRESSION_FUNCTION))
            return true;
    }
    return false;
}

/* The same rows, with their numbers behind. */
static struct node *numbered(struct binder *binder, struct node *below)
{
    struct step_window_function number = {
        .function = WINDOW_ROW_NUMBER,
        .aggregate = { .column = -1, .filter = -1 },
        .fallback = -1,
        .partition = VECTOR(int),
        .order = VECTOR(struct step_key)
    };
    struct node *node = node_wider(binder, NODE_WINDOW, below, 1);

    if (node == NULL)
        return NULL;
    node->columns[below->column_count] =
        (struct node_column){ .name = "", .type = VDBQ_BIGINT,
                              .range.high = INT64_MAX };
    node->window.functions = VECTOR(struct step_window_function);
    if (!vector_append(&node->window.functions, &number, 1)
        || !arena_vector(binder->arena, &node->window.functions)) {
        error_no_memory(binder->error);
        return NULL;
    }
    return node;
}

/* Columns behind the left side's lie one further, behind its numbers. */
struct moving {
    struct binder *binder;
    const struct node *node;
    unsigned left, by;
};

static struct expression *moved(void *context, struct expression *e,
                                bool *failed)
{
    const struct moving *moving = context;
    unsigned column = (unsigned)e->column;
    struct expression *to;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    if (column >= moving->left)
        column += moving->by;
    to = node_column(moving->binder, moving->node, column, e->at);
    *failed = to == NULL;
    return to;
}

/* The pairs that a part of the condition keeps. */
static struct node *filtered(struct moving *moving, struct node *pairs,
                             struct expression *part)
{
    struct expression *e, **places[1] = { &e };

    e = expression_replace(moving->binder, part, moved, moving);
    if (e == NULL || lift(moving->binder, &pairs, places, 1) != VDBQ_OK)
        return NULL;
    return node_filter(moving->binder, pairs, e);
}

static struct node *all_filtered(struct moving *moving,
                                 const struct vector *parts)
{
    struct node *pairs = (struct node *)(uintptr_t)moving->node;

    for (size_t i = 0; i < parts->count && pairs != NULL; i++)
        pairs = filtered(moving, pairs,
                         VECTOR_ITEMS(parts, struct expression *)[i]);
    return pairs;
}

/* Joins by numbers: column `left` of one side, `right` of the other. */
static struct node *join_numbers(struct binder *binder, enum join_kind kind,
                                 struct node *sides[2], unsigned left,
                                 unsigned right)
{
    struct node *node = node_join(binder, kind, sides[0], sides[1]);
    int columns[2] = { (int)left, (int)right };

    if (node == NULL)
        return NULL;
    if (!vector_append(&node->join.left_keys, &columns[0], 1)
        || !vector_append(&node->join.right_keys, &columns[1], 1)
        || !arena_vector(binder->arena, &node->join.left_keys)
        || !arena_vector(binder->arena, &node->join.right_keys)) {
        error_no_memory(binder->error);
        return NULL;
    }
    return node;
}

/* Columns [0, left) and [from, from + right) of a node. */
static struct node *two_parts(struct binder *binder, struct node *node,
                              unsigned left, unsigned from, unsigned right)
{
    struct expression **results = arena_alloc(
        binder->arena, (left + right + 1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < left + right; i++) {
        unsigned column = i < left ? i : from + i - left;
        results[i] =
            node_column(binder, node, column, (struct position){ 0 });
        if (results[i] == NULL)
            return NULL;
    }
    return node_select(binder, node, NULL, results, NULL, left + right);
}

static struct node *join_left(struct binder *binder, const struct node *join,
                              const struct vector *parts)
{
    unsigned left = join->left->column_count;
    unsigned right = join->right->column_count;
    struct node *sides[2] = { numbered(binder, join->left), NULL }, *node;
    struct moving moving = { .binder = binder, .left = left, .by = 1 };

    moving.node = sides[0] ? node_join(binder, JOIN_INNER, sides[0],
                                       join->right) : NULL;
    sides[1] = moving.node ? all_filtered(&moving, parts) : NULL;
    node = sides[1] ? join_numbers(binder, JOIN_LEFT, sides, left, left)
                    : NULL;
    return node ? two_parts(binder, node, left, 2 * (left + 1), right) : NULL;
}

static struct node *join_right(struct binder *binder,
                               const struct node *join,
                               const struct vector *parts)
{
    unsigned left = join->left->column_count;
    unsigned right = join->right->column_count, pair;
    struct node *sides[2] = { NULL, numbered(binder, join->right) }, *node;
    struct moving moving = { .binder = binder, .left = left };

    moving.node = sides[1] ? node_join(binder, JOIN_INNER, join->left,
                                       sides[1]) : NULL;
    sides[0] = moving.node ? all_filtered(&moving, parts) : NULL;
    if (sides[0] == NULL)
        return NULL;
    pair = sides[0]->column_count;
    node = join_numbers(binder, JOIN_RIGHT, sides, left + right, right);
    return node ? two_parts(binder, node, left, pair, right) : NULL;
}

/* Rows of the right side alone, with NULLs in the place of the left one. */
static struct node *behind_nulls(struct binder *binder,
                                 const struct node *left, struct node *rows,
                                 unsigned right)
{
    unsigned count = left->column_count + right;
    struct expression **results =
        arena_alloc(binder->arena, (count + 1) * sizeof(*results));
    struct position nowhere = { 0 };

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        bool is_left = i < left->column_count;
        results[i] =
            is_left ? expression_null(binder, left->columns[i].type, nowhere)
                    : node_column(binder, rows, i - left->column_count,
                                  nowhere);
        if (results[i] == NULL)
            return NULL;
        if (is_left)
            results[i]->scale = left->columns[i].scale;
    }
    return node_select(binder, rows, NULL, results, NULL, count);
}

/* What a left join gives, and then the right rows without a partner. */
static struct node *join_full(struct binder *binder, const struct node *join,
                              const struct vector *parts)
{
    unsigned left = join->left->column_count;
    unsigned right = join->right->column_count;
    struct node *first = numbered(binder, join->left);
    struct node *second = first ? numbered(binder, join->right) : NULL;
    struct moving moving = { .binder = binder, .left = left, .by = 1 };
    struct node *pairs, *sides[2], *united[2];

    moving.node = second ? node_join(binder, JOIN_INNER, first, second)
                         : NULL;
    pairs = moving.node ? all_filtered(&moving, parts) : NULL;
    if (pairs == NULL)
        return NULL;
    sides[0] = first;
    sides[1] = pairs;
    united[0] = join_numbers(binder, JOIN_LEFT, sides, left, left);
    united[0] = united[0] ? two_parts(binder, united[0], left,
                                      2 * (left + 1), right) : NULL;
    sides[0] = second;
    united[1] = united[0] ? join_numbers(binder, JOIN_ANTI, sides, right,
                                         left + 1 + right) : NULL;
    united[1] = united[1] ? behind_nulls(binder, join->left, united[1], right)
                          : NULL;
    return united[1] ? node_concat(binder, united, 2) : NULL;
}

struct node *join_lifted(struct binder *binder, const struct node *join,
                         const struct vector *parts)
{
    if (join->join.kind == JOIN_LEFT)
        return join_left(binder, join, parts);
    if (join->join.kind == JOIN_RIGHT)
        return join_right(binder, join, parts);
    return join_full(binder, join, parts);
}
