/* SPDX-License-Identifier: MIT */
/*
 * Outer joins. What ON says of both sides becomes keys and a condition of the
 * join; what it says of the side alone whose rows appear with a partner only
 * is tested before the join.
 */
#include "plan/rewrite/outer.h"

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/condition/range_join.h"
#include "plan/condition/join_key.h"
#include "plan/rewrite/extract.h"
#include "plan/rewrite/order.h"
#include "plan/tree/binder.h"

/* An outer join that is being made. */
struct outer {
    struct binder *binder;
    enum join_kind kind;
    struct node *nodes[2];
    unsigned counts[2]; /* columns that they had at first            */
    struct step_join keys;
    struct vector parts[2]; /* of struct expression *: what is a condition
                               of one side, over its columns             */
    struct vector both;     /* of both, over the columns at first        */
};

/* ---------------------------------------------------------------- sides -- */

static int sides_of(const struct outer *outer, struct expression *e)
{
    return expression_sides(e, outer->counts[0]);
}

static struct expression *over_side(const struct outer *outer,
                                    struct expression *e, int side)
{
    return expression_over(outer->binder, e, outer->nodes[side], NULL,
                           side > 0 ? outer->counts[0] : 0);
}

/* ---------------------------------------------------------------- parts -- */

static enum vdbq_status keep(const struct outer *outer, struct vector *parts,
                             struct expression *e)
{
    if (e == NULL)
        return outer->binder->error->status;
    return vector_append(parts, &e, 1) ? VDBQ_OK
                                       : error_no_memory(outer->binder->error);
}

/* A part about one side. Where rows of that side are left over, they are so
 * whether it holds or not: then it is a condition of the join. */
static enum vdbq_status add_one_sided(struct outer *outer, struct expression *e,
                                      int side)
{
    struct binder *binder = outer->binder;
    enum join_kind preserving = side == 0 ? JOIN_RIGHT : JOIN_LEFT;
    struct expression **places[1] = { &e };

    e = over_side(outer, e, side);
    if (e == NULL)
        return binder->error->status;
    if (outer->kind == preserving && !e->faults)
        return filter_by(binder, &outer->nodes[side], e);
    if (extract(binder, &outer->nodes[side], places, 1) != VDBQ_OK)
        return binder->error->status;
    return keep(outer, &outer->parts[side], e);
}

/* Whether an equality has one side of the join on each of its own, without a
 * subquery; `*turned`: the right one on its left. */
static bool is_key(const struct outer *outer, const struct expression *e,
                   bool *turned)
{
    int left, right;

    if (!is_equality(e) || e->faults || expression_has(e, EXPRESSION_SUBQUERY))
        return false;
    left = sides_of(outer, e->left);
    right = sides_of(outer, e->right);
    *turned = left == SIDE_RIGHT;
    return (left == SIDE_LEFT && right == SIDE_RIGHT)
           || (left == SIDE_RIGHT && right == SIDE_LEFT);
}

static enum vdbq_status add_part(struct outer *outer, struct expression *e)
{
    int sides = sides_of(outer, e);
    struct expression *left, *right;
    bool turned;

    if (sides == 0
        && needs_extraction(e)) /* of either: of that not preserved */
        sides = outer->kind == JOIN_RIGHT ? SIDE_LEFT : SIDE_RIGHT;
    if (sides == SIDE_LEFT || sides == SIDE_RIGHT)
        return add_one_sided(outer, e, sides == SIDE_RIGHT);
    if (!is_key(outer, e, &turned))
        return keep(outer, &outer->both, e);
    left = over_side(outer, turned ? e->right : e->left, 0);
    right = left ? over_side(outer, turned ? e->left : e->right, 1) : NULL;
    return right ? extract_key(outer->binder, outer->nodes, left, right,
                               &outer->keys)
                 : outer->binder->error->status;
}

/* ----------------------------------------------------------------- join -- */

/* Where the columns that were there at first are now. */
static int *places_of(const struct outer *outer)
{
    unsigned count = outer->counts[0] + outer->counts[1];
    unsigned added = outer->nodes[0]->column_count - outer->counts[0];
    int *columns =
        arena_alloc(outer->binder->arena, (count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(outer->binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)(i < outer->counts[0] ? i : i + added);
    return columns;
}

/* Adds a part to the condition of the join. */
static bool restrict_join(const struct outer *outer, struct node *join,
                          struct expression *part)
{
    struct ast_expression place = { 0 };

    if (part != NULL && join->where != NULL) {
        place.at = part->at;
        part = expression_operator(outer->binder, AST_AND, join->where, part,
                                   &place);
    }
    join->where = part;
    return part != NULL;
}

static bool add_conditions(const struct outer *outer, struct node *join,
                           const int *columns)
{
    struct binder *binder = outer->binder;
    bool done = true;

    for (size_t i = 0; i < outer->both.count && done; i++) {
        struct expression *part =
            VECTOR_ITEMS(&outer->both, struct expression *)[i];
        if (part != NULL)
            done = restrict_join(
                outer, join, expression_over(binder, part, join, columns, 0));
    }
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < outer->parts[side].count && done; i++)
            done = restrict_join(
                outer, join,
                expression_moved_by(
                    binder,
                    VECTOR_ITEMS(&outer->parts[side], struct expression *)[i],
                    side == 0 ? 0 : (int)outer->nodes[0]->column_count));
    return done;
}

/* What both sides' order says, where there are no keys. */
static enum vdbq_status add_range(struct outer *outer)
{
    if (outer->keys.left_keys.count > 0)
        return VDBQ_OK;
    return join_add_range(outer->binder, outer->nodes, outer->counts[0],
                          &outer->both, &outer->keys.range);
}

/* The join, with the columns that both sides had at first. */
static struct node *finish_join(struct outer *outer)
{
    struct binder *binder = outer->binder;
    unsigned count = outer->counts[0] + outer->counts[1];
    struct node *join;
    int *columns;

    if (add_range(outer) != VDBQ_OK)
        return NULL;
    columns = places_of(outer);
    if (columns == NULL)
        return NULL;
    join = node_join(binder, outer->kind, outer->nodes[0], outer->nodes[1]);
    if (join == NULL)
        return NULL;
    join->join.left_keys = outer->keys.left_keys;
    join->join.right_keys = outer->keys.right_keys;
    join->join.range = outer->keys.range;
    if (!add_conditions(outer, join, columns))
        return NULL;
    return join->column_count == count
               ? join
               : node_columns(binder, join, columns, count);
}

/* Whether a part needs pairs of rows, and a node over them, to be known. */
static bool needs_pairs(const struct outer *outer, const struct vector *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct expression *e = VECTOR_ITEMS(parts, struct expression *)[i];
        bool turned;
        if (needs_extraction(e) && !is_key(outer, e, &turned)
            && sides_of(outer, e) == (SIDE_LEFT | SIDE_RIGHT))
            return true;
    }
    return false;
}

static struct node *join_by_parts(struct outer *outer,
                                  const struct vector *parts)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < parts->count && status == VDBQ_OK; i++)
        status = add_part(outer, VECTOR_ITEMS(parts, struct expression *)[i]);
    return status == VDBQ_OK ? finish_join(outer) : NULL;
}

struct node *join_on(struct binder *binder, enum join_kind kind,
                     struct node *const nodes[2], const struct vector *parts)
{
    struct outer outer = {
        .binder = binder,
        .kind = kind,
        .nodes = { nodes[0], nodes[1] },
        .counts = { nodes[0]->column_count, nodes[1]->column_count },
        .keys = { .left_keys = VECTOR_IN(binder->arena, int),
                  .right_keys = VECTOR_IN(binder->arena, int) },
        .parts = { VECTOR_IN(binder->arena, struct expression *),
                   VECTOR_IN(binder->arena, struct expression *) },
        .both = VECTOR_IN(binder->arena, struct expression *)
    };
    struct node *join;

    if (needs_pairs(&outer, parts))
        return join_by_pairs(binder, kind, nodes, parts);
    join = join_by_parts(&outer, parts);
    return join;
}
