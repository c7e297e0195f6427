/* SPDX-License-Identifier: MIT */
/*
 * Outer joins on conditions about both sides of which something is to be
 * extracted into a node of its own: that needs the pairs of rows first. So the
 * rows of the side that is kept get numbers, the pairs are an inner join, and
 * the numbered rows are joined to those by their numbers. Numbered rows may
 * stand in two places: conditions never go below a window (push.c).
 */
#include "base/vector.h"
#include "plan/make/common.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/rewrite/order.h"
#include "plan/rewrite/outer.h"
#include "plan/tree/binder.h"

/* Rows that are to stand in two places. */
static struct node *twice(struct binder *binder, struct node *node)
{
    return node != NULL && common_part(binder, node) ? node : NULL;
}

/* The parts of ON over the pairs: columns from number `middle` on lie so much
 * further. */
static enum vdbq_status add_parts(struct binder *binder,
                                  const struct vector *parts,
                                  const int *columns, struct node *both,
                                  struct vector *conditions)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct expression *e =
            expression_over(binder, VECTOR_ITEMS(parts, struct expression *)[i],
                            both, columns, 0);
        if (e == NULL)
            return binder->error->status;
        if (!vector_append(conditions, &e, 1))
            return error_no_memory(binder->error);
    }
    return VDBQ_OK;
}

/* Where columns of both sides are when the left one has `added` more. */
static int *places(struct binder *binder, unsigned left, unsigned right,
                   unsigned added)
{
    int *columns =
        arena_alloc(binder->arena, (left + right + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < left + right; i++)
        columns[i] = (int)(i < left ? i : i + added);
    return columns;
}

/* The pairs that the condition keeps; `counts`: columns without numbers. */
static struct node *join_pairs(struct binder *binder,
                               struct node *const sides[2],
                               const unsigned counts[2],
                               const struct vector *parts)
{
    struct vector leaves = VECTOR_IN(binder->arena, struct node *);
    struct vector conditions = VECTOR_IN(binder->arena, struct expression *);
    int *columns = places(binder, counts[0], counts[1],
                          sides[0]->column_count - counts[0]);
    struct node *both =
        columns ? node_join(binder, JOIN_INNER, sides[0], sides[1]) : NULL;
    struct node *pairs = NULL;

    if (both != NULL && !vector_append(&leaves, sides, 2))
        return error_no_memory(binder->error), NULL;
    if (both != NULL
        && add_parts(binder, parts, columns, both, &conditions) == VDBQ_OK)
        pairs = node_product(binder, &leaves, &conditions);
    if (pairs != NULL)
        pairs = filter_product(binder, pairs);
    return pairs ? join_product(binder, pairs) : NULL;
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
        || !vector_append(&node->join.right_keys, &columns[1], 1)) {
        error_no_memory(binder->error);
        return NULL;
    }
    return node;
}

/* LEFT or RIGHT. */
static struct node *join_half(struct binder *binder, enum join_kind kind,
                              struct node *const nodes[2],
                              const struct vector *parts)
{
    bool is_left = kind == JOIN_LEFT;
    unsigned counts[2] = { nodes[0]->column_count, nodes[1]->column_count };
    struct node *kept = twice(binder, node_number_rows(binder, nodes[!is_left],
                                                       NULL, 0, NULL)),
                *node;
    struct node *sides[2] = { is_left ? kept : nodes[0],
                              is_left ? nodes[1] : kept };
    unsigned number = is_left ? counts[0] : counts[0] + counts[1];
    unsigned added = is_left ? counts[0] + 2 : counts[1] + 1;
    int *columns = places(binder, counts[0], counts[1], added);

    node = kept && columns ? join_pairs(binder, sides, counts, parts) : NULL;
    if (node == NULL)
        return NULL;
    sides[0] = is_left ? kept : node;
    sides[1] = is_left ? node : kept;
    node =
        join_numbers(binder, kind, sides, number, is_left ? number : counts[1]);
    return node ? node_columns(binder, node, columns, counts[0] + counts[1])
                : NULL;
}

/* Rows of the right side alone, with NULLs in the place of the left one. */
static struct node *behind_nulls(struct binder *binder, const struct node *left,
                                 struct node *rows, unsigned right)
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
            is_left
                ? expression_null(binder, left->columns[i].type, nowhere)
                : node_column(binder, rows, i - left->column_count, nowhere);
        if (results[i] == NULL)
            return NULL;
        if (is_left)
            results[i]->scale = left->columns[i].scale;
    }
    return node_select(binder, rows, NULL, results, NULL, count);
}

/* The right rows without a partner; the pairs are made once more, since a
 * node belongs to one place. */
static struct node *alone(struct binder *binder, struct node *const nodes[2],
                          const struct vector *parts)
{
    unsigned counts[2] = { nodes[0]->column_count, nodes[1]->column_count };
    struct node *kept = node_number_rows(binder, nodes[1], NULL, 0, NULL),
                *pairs, *node = NULL;
    struct node *sides[2] = { node_number_rows(binder, nodes[0], NULL, 0, NULL),
                              kept };

    pairs = kept && sides[0] ? join_pairs(binder, sides, counts, parts) : NULL;
    sides[0] = kept;
    sides[1] = pairs;
    if (pairs != NULL)
        node = join_numbers(binder, JOIN_ANTI, sides, counts[1],
                            counts[0] + 1 + counts[1]);
    return node ? behind_nulls(binder, nodes[0], node, counts[1]) : NULL;
}

/* What a left join gives, and then the right rows without a partner. */
static struct node *join_full(struct binder *binder,
                              struct node *const given[2],
                              const struct vector *parts)
{
    struct node *nodes[2] = { twice(binder, given[0]),
                              twice(binder, given[1]) };
    struct node *right =
        nodes[1] ? node_number_rows(binder, nodes[1], NULL, 0, NULL) : NULL;
    struct node *sides[2] = { nodes[0], right }, *united[2];
    struct node *wide =
        right && nodes[0] ? join_half(binder, JOIN_LEFT, sides, parts) : NULL;
    unsigned count = given[0]->column_count + given[1]->column_count;
    int *columns =
        places(binder, given[0]->column_count, given[1]->column_count, 0);

    if (wide == NULL || columns == NULL)
        return NULL;
    united[0] = node_columns(binder, wide, columns, count);
    united[1] = united[0] ? alone(binder, nodes, parts) : NULL;
    return united[1] ? node_concat(binder, united, 2) : NULL;
}

struct node *join_by_pairs(struct binder *binder, enum join_kind kind,
                           struct node *const nodes[2],
                           const struct vector *parts)
{
    return kind == JOIN_FULL ? join_full(binder, nodes, parts)
                             : join_half(binder, kind, nodes, parts);
}
