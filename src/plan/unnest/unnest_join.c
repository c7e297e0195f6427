/* SPDX-License-Identifier: MIT */
/*
 * Joins of a subquery for all tuples of the domain at once. A side that asks for
 * nothing is joined as it is, unless the join keeps its rows for each tuple; where
 * both sides have tuples these are keys of the join, NULL being a value of them.
 */
#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/condition/split.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"

/* The sides of a join. One of them has all of the domain's columns behind its
 * own, the other none, or those that it asks for; where both have some, these
 * are keys. */
struct rejoining {
    struct unnesting *unnesting;
    struct unnesting narrow; /* of the side that has not all            */
    const struct node *node; /* the join as it was                      */
    struct node *sides[2];
    int full;  /* the number of the side that has all      */
    bool both; /* the other one has some                   */
    struct step_join join;
    struct expression *where; /* over both sides */
};

/* A side with the domain's columns. */
static bool push_side(struct rejoining *rejoining, struct unnesting *unnesting,
                      int side)
{
    struct node *node =
        side == 0 ? rejoining->node->left : rejoining->node->right;

    rejoining->sides[side] = unnest_node_asks(unnesting, node)
                                 ? unnest_push(unnesting, node)
                                 : unnest_times(unnesting, node);
    return rejoining->sides[side] != NULL;
}

/* Which side has all: the one whose rows stay where they have no partner, for
 * each tuple has its own partners. */
static int full_side(const struct rejoining *rejoining)
{
    const struct node *node = rejoining->node;

    if (node->join.kind == JOIN_INNER)
        return unnest_node_asks(rejoining->unnesting, node->left) ? 0 : 1;
    return node->join.kind == JOIN_RIGHT;
}

static bool push_sides(struct rejoining *rejoining)
{
    const struct node *node = rejoining->node;
    struct node *other;
    bool done;

    rejoining->full = full_side(rejoining);
    other = rejoining->full == 0 ? node->right : node->left;
    rejoining->sides[!rejoining->full] = other;
    rejoining->both = node->join.kind == JOIN_FULL
                      || unnest_node_asks(rejoining->unnesting, other);
    if (!push_side(rejoining, rejoining->unnesting, rejoining->full))
        return false;
    if (!rejoining->both)
        return true;
    rejoining->narrow = *rejoining->unnesting;
    done =
        (node->join.kind == JOIN_FULL
         || unnest_begin_for(rejoining->unnesting, other, &rejoining->narrow))
        && push_side(rejoining, &rejoining->narrow, !rejoining->full);
    rejoining->unnesting->refused |= rejoining->narrow.refused;
    return done;
}

/* Where the columns of both sides, as they were, are in the join of the new
 * ones. */
static int *side_columns(const struct rejoining *rejoining)
{
    unsigned left = rejoining->node->left->column_count;
    unsigned right = rejoining->node->right->column_count;
    int *columns = unnest_numbers(rejoining->unnesting, left + right);

    for (unsigned i = left; columns != NULL && i < left + right; i++)
        columns[i] += (int)(rejoining->sides[0]->column_count - left);
    return columns;
}

/* Where the domain's columns are in a join of both sides. */
static unsigned domain_first(const struct rejoining *rejoining, int side)
{
    return side == 0 ? rejoining->node->left->column_count
                     : rejoining->sides[0]->column_count
                           + rejoining->node->right->column_count;
}

/* A side of a bound: a sum of days or times is a number, and what it bounds is
 * compared with it as one. */
static struct expression *bound_side(const struct rejoining *rejoining,
                                     const struct node *both, int column,
                                     int other)
{
    struct binder *binder = rejoining->unnesting->binder;
    struct position nowhere = { 0 };
    struct expression *e = node_column(binder, both, (unsigned)column, nowhere);
    bool is_number = both->columns[other].type == VDBQ_BIGINT;

    return e != NULL && is_number && e->type != VDBQ_BIGINT
               ? expression_number(binder, e, VDBQ_BIGINT, nowhere)
               : e;
}

/* A range as conditions, for it stands beside no keys. */
static bool add_bound(struct rejoining *rejoining, const struct node *both,
                      int value, int bound, enum ast_operator operator)
{
    struct binder *binder = rejoining->unnesting->binder;
    struct ast_expression place = { 0 };
    struct expression *left, *right, *e;

    if (bound < 0)
        return true;
    left = bound_side(rejoining, both, value, bound);
    right = bound_side(rejoining, both, bound, value);
    e = left && right
            ? expression_operator(binder, operator, left, right, &place)
            : NULL;
    rejoining->where =
        e ? unnest_and(rejoining->unnesting, rejoining->where, e) : NULL;
    return rejoining->where != NULL;
}

static bool add_range(struct rejoining *rejoining, const struct node *both)
{
    const struct step_range_join *range = &rejoining->node->join.range;
    int middle = (int)rejoining->sides[0]->column_count;
    int value = range->side == RANGE_JOIN_RIGHT ? middle : 0;
    int bound = middle - value;

    return range->side == RANGE_JOIN_NONE
           || (add_bound(rejoining, both, range->column + value,
                         range->low < 0 ? -1 : range->low + bound,
                         range->low_open ? AST_GT : AST_GE)
               && add_bound(rejoining, both, range->column + value,
                            range->high < 0 ? -1 : range->high + bound,
                            range->high_open ? AST_LT : AST_LE));
}

/* Where NULL is a value of the domain's columns, it is one of all keys: others
 * that must not be NULL are tested. */
static bool refuse_nulls(struct rejoining *rejoining, const struct node *both)
{
    const struct vector *keys = &rejoining->node->join.left_keys;
    struct unnesting *unnesting = rejoining->unnesting;

    if (!rejoining->join.nulls_match || rejoining->node->join.nulls_match)
        return true;
    for (size_t i = 0; i < keys->count; i++) {
        unsigned column = (unsigned)VECTOR_ITEMS(keys, int)[i];
        struct expression *e;
        if (!both->columns[column].nullable)
            continue;
        e = unnest_null(unnesting, both, column, false);
        rejoining->where =
            e ? unnest_and(unnesting, rejoining->where, e) : NULL;
        if (rejoining->where == NULL)
            return false;
    }
    return true;
}

static bool copy_keys(struct rejoining *rejoining)
{
    struct arena *arena = rejoining->unnesting->binder->arena;
    const struct step_join *join = &rejoining->node->join;

    rejoining->join = *join;
    return (arena_vector_copy(arena, &join->left_keys,
                              &rejoining->join.left_keys)
            && arena_vector_copy(arena, &join->right_keys,
                                 &rejoining->join.right_keys))
           || unnest_fail(rejoining->unnesting) != NULL;
}

/* What both sides have of the domain is equal. */
static bool equal_sides(struct rejoining *rejoining)
{
    struct unnesting *left = rejoining->unnesting, *right = &rejoining->narrow;
    struct node *turned[2] = { rejoining->sides[1], rejoining->sides[0] };
    unsigned firsts[2] = { rejoining->node->left->column_count,
                           rejoining->node->right->column_count };
    struct step_join keys = { .left_keys = VECTOR_IN(left->binder->arena, int),
                              .right_keys =
                                  VECTOR_IN(left->binder->arena, int) };
    struct step_join *join = &rejoining->join;
    bool done;

    if (rejoining->full == 0)
        return unnest_equal(right, rejoining->sides, left, firsts[0], firsts[1],
                            join);
    done = unnest_equal(right, turned, left, firsts[1], firsts[0], &keys)
           && vector_append(&join->left_keys, keys.right_keys.items,
                            keys.right_keys.count)
           && vector_append(&join->right_keys, keys.left_keys.items,
                            keys.left_keys.count);
    join->nulls_match |= keys.nulls_match;
    return done;
}

/* Keys, range and condition, as they are over the new sides. */
static bool connect_sides(struct rejoining *rejoining, const int *columns)
{
    struct unnesting *unnesting = rejoining->unnesting;
    struct node *both = node_join(unnesting->binder, JOIN_INNER,
                                  rejoining->sides[0], rejoining->sides[1]);

    if (both == NULL || !copy_keys(rejoining))
        return false;
    if (rejoining->node->where != NULL) {
        rejoining->where =
            unnest_over(unnesting, rejoining->node->where, both, columns,
                        domain_first(rejoining, rejoining->full));
        if (rejoining->where == NULL
            || unnest_fails(unnesting, rejoining->where))
            return false;
    }
    if (!rejoining->both)
        return true;
    rejoining->join.range.side = RANGE_JOIN_NONE;
    return equal_sides(rejoining) && refuse_nulls(rejoining, both)
           && add_range(rejoining, both);
}

/* The domain's columns of a full join are those of whichever side is there. */
static struct node *either_domain(struct rejoining *rejoining,
                                  struct node *join, unsigned *first)
{
    struct unnesting *unnesting = rejoining->unnesting;
    struct binder *binder = unnesting->binder;
    unsigned width = unnest_width(unnesting);
    struct expression **added =
        arena_alloc(binder->arena, (width + 1) * sizeof(*added));

    if (added == NULL)
        return unnest_fail(unnesting);
    for (unsigned i = 0; i < width; i++) {
        unsigned left = domain_first(rejoining, 0) + i;
        struct expression *is = unnest_null(unnesting, join, left, false);
        struct expression *one =
            node_column(binder, join, left, (struct position){ 0 });
        struct expression *other =
            node_column(binder, join, domain_first(rejoining, 1) + i,
                        (struct position){ 0 });
        added[i] = is && one && other
                       ? expression_choice(binder, is, one, other, is->at)
                       : NULL;
        if (added[i] == NULL)
            return NULL;
    }
    *first = join->column_count;
    return node_extend(binder, join, added, width);
}

/* The join's columns, and then the domain's. */
static struct node *rejoin(struct rejoining *rejoining)
{
    const struct node *node = rejoining->node;
    struct unnesting *unnesting = rejoining->unnesting;
    int *columns = side_columns(rejoining);
    unsigned first;
    struct node *join;

    if (columns == NULL || !connect_sides(rejoining, columns))
        return NULL;
    join = node_join(unnesting->binder, node->join.kind, rejoining->sides[0],
                     rejoining->sides[1]);
    if (join == NULL)
        return NULL;
    join->join = rejoining->join;
    join->where = rejoining->where;
    join->unnested = node->unnested;
    if (node->unnested && node->join.kind == JOIN_LEFT)
        node_keep_ranges(join);
    first = domain_first(rejoining, rejoining->full);
    if (node->join.kind == JOIN_FULL)
        join = either_domain(rejoining, join, &first);
    return join ? unnest_columns(unnesting, join, columns, node->column_count,
                                 first)
                : NULL;
}

/* An inner join whose condition alone asks: what it says is tested of pairs. */
static struct node *push_condition(struct unnesting *unnesting,
                                   const struct node *node)
{
    struct vector parts =
        VECTOR_IN(unnesting->binder->arena, struct expression *);
    struct node *plain =
        node_join(unnesting->binder, JOIN_INNER, node->left, node->right);

    if (plain == NULL
        || split_condition(unnesting->binder, node->where, &parts) != VDBQ_OK)
        return NULL;
    plain->join = node->join;
    return unnest_where(unnesting, plain, &parts);
}

struct node *unnest_push_join(struct unnesting *unnesting, struct node *node)
{
    struct rejoining rejoining = { .unnesting = unnesting, .node = node };

    if (node->join.kind == JOIN_INNER
        && !unnest_node_asks(unnesting, node->left)
        && !unnest_node_asks(unnesting, node->right))
        return push_condition(unnesting, node);
    if ((!unnest_node_asks(unnesting, node->left)
         && decorrelate_fails(unnesting->binder, node_tree_fails(node->left)))
        || (!unnest_node_asks(unnesting, node->right)
            && decorrelate_fails(unnesting->binder,
                                 node_tree_fails(node->right))))
        return unnest_refuse(unnesting);
    return push_sides(&rejoining) ? rejoin(&rejoining) : NULL;
}
