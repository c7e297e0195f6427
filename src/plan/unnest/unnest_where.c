/* SPDX-License-Identifier: MIT */
/*
 * The first meeting of a subquery's rows with the domain: what a condition says
 * to be equal is the key of that join, what it says of the order of values its
 * range, and what it says of the domain alone leaves tuples out before.
 */
#include <string.h>

#include "base/vector.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/unnest/decorrelate.h"
#include "plan/condition/join_key.h"
#include "plan/condition/range_join.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"

/* ----------------------------------------------------------------- keys -- */

/* A value of the domain, on the left side of a join. */
static struct expression *left_value(struct binder *binder,
                                     const struct node *left,
                                     const struct unnesting *left_of,
                                     unsigned first, struct expression *value)
{
    int column =
        left_of != NULL ? expression_find(&left_of->values, 0, value) : -1;

    return left_of == NULL ? value
                           : node_column(binder, left, first + (unsigned)column,
                                         (struct position){ 0 });
}

bool unnest_equal(struct unnesting *unnesting, struct node *nodes[2],
                  const struct unnesting *left_of, unsigned left,
                  unsigned right, struct step_join *join)
{
    struct binder *binder = unnesting->binder;

    for (unsigned i = 0; i < unnest_width(unnesting); i++) {
        struct expression *one = left_value(
            binder, nodes[0], left_of, left,
            VECTOR_ITEMS(&unnesting->values, struct expression *)[i]);
        struct expression *other =
            node_column(binder, nodes[1], right + i, (struct position){ 0 });
        if (one == NULL || other == NULL)
            return false;
        join->nulls_match |= one->nullable && other->nullable;
        if (join_add_key(binder, nodes, one, other, join) != VDBQ_OK)
            return false;
    }
    return true;
}

/* ------------------------------------------------------- the first meeting -- */

/* A subquery's rows and the domain, while they are joined. */
struct meeting {
    struct unnesting *unnesting;
    unsigned count;         /* columns of the rows                      */
    struct node *nodes[2];  /* the rows, the domain                     */
    struct step_join join;  /* keys and range                           */
    struct vector equal;    /* of struct expression *: key conditions ... */
    struct vector others;   /* ... and others, as they were written     */
    struct vector alone;    /* ... and those about the domain alone     */
    struct expression *own; /* what is about the rows alone             */
    bool *known;            /* of each column of the domain             */
};

static bool has_columns(void *found, struct expression **operand)
{
    if ((*operand)->kind == EXPRESSION_COLUMN)
        *(bool *)found = true;
    return expression_each(*operand, has_columns, found);
}

/* The domain's column, if that is all that the outer side of an equality is, is
 * never NULL where the equality holds. */
static void note_known(struct meeting *meeting, const struct expression *outer)
{
    if (outer->kind == EXPRESSION_PARAMETER)
        meeting->known[unnest_column(meeting->unnesting,
                                     outer->parameter.number)] = true;
}

static bool sort_part(struct meeting *meeting, struct expression *e)
{
    struct unnesting *unnesting = meeting->unnesting;
    struct expression *inner, *outer;
    struct vector *to = &meeting->others;
    bool columns = false;

    if (!unnest_asks(unnesting, e)) {
        if (unnest_fails(unnesting, e))
            return false;
        meeting->own = unnest_and(unnesting, meeting->own, e);
        return meeting->own != NULL;
    }
    has_columns(&columns, &e);
    if (!columns)
        to = &meeting->alone;
    else if (decorrelate_equality(unnesting->parameters, e, &inner, &outer)) {
        note_known(meeting, outer);
        to = &meeting->equal;
    }
    return vector_append(to, &e, 1) || unnest_fail(unnesting) != NULL;
}

static bool add_keys(struct meeting *meeting)
{
    struct unnesting *unnesting = meeting->unnesting;

    for (size_t i = 0; i < meeting->equal.count; i++) {
        struct expression *inner, *outer;
        decorrelate_equality(
            unnesting->parameters,
            VECTOR_ITEMS(&meeting->equal, struct expression *)[i], &inner,
            &outer);
        outer = unnest_over(unnesting, outer, meeting->nodes[1], NULL, 0);
        if (outer == NULL || unnest_fails(unnesting, outer)
            || unnest_fails(unnesting, inner)
            || join_add_key(unnesting->binder, meeting->nodes, inner, outer,
                            &meeting->join)
                   != VDBQ_OK)
            return false;
    }
    return true;
}

/* The other parts, over the columns of both; a range is made of them where
 * there are no keys. */
static bool add_others(struct meeting *meeting, struct vector *parts)
{
    struct unnesting *unnesting = meeting->unnesting;
    unsigned middle = meeting->nodes[0]->column_count;
    struct node *both = node_join(unnesting->binder, JOIN_INNER,
                                  meeting->nodes[0], meeting->nodes[1]);

    for (size_t i = 0; both != NULL && i < meeting->others.count; i++) {
        struct expression *e = unnest_over(
            unnesting, VECTOR_ITEMS(&meeting->others, struct expression *)[i],
            both, NULL, middle);
        if (e == NULL || unnest_fails(unnesting, e))
            return false;
        if (!vector_append(parts, &e, 1))
            return unnest_fail(unnesting) != NULL;
    }
    return both != NULL
           && (meeting->join.left_keys.count > 0
               || join_add_range(unnesting->binder, meeting->nodes, middle,
                                 parts, &meeting->join.range)
                      == VDBQ_OK);
}

/* Where the columns of both are when the left node has got more of them than
 * `middle`. */
static int *moved(struct unnesting *unnesting, struct node *const nodes[2],
                  unsigned middle)
{
    unsigned count = middle + nodes[1]->column_count;
    int *columns = unnest_numbers(unnesting, count);

    for (unsigned i = middle; columns != NULL && i < count; i++)
        columns[i] += (int)(nodes[0]->column_count - middle);
    return columns;
}

static struct node *meet(struct meeting *meeting, unsigned middle,
                         const struct vector *parts)
{
    struct unnesting *unnesting = meeting->unnesting;
    struct node *join = node_join(unnesting->binder, JOIN_INNER,
                                  meeting->nodes[0], meeting->nodes[1]);
    int *columns = moved(unnesting, meeting->nodes, middle);
    int *own = unnest_numbers(unnesting, meeting->count);

    if (join == NULL || columns == NULL || own == NULL)
        return NULL;
    join->join.left_keys = meeting->join.left_keys;
    join->join.right_keys = meeting->join.right_keys;
    join->join.range = meeting->join.range;
    for (size_t i = 0; i < parts->count; i++) {
        struct expression *e = VECTOR_ITEMS(parts, struct expression *)[i];
        if (e == NULL)
            continue;
        e = unnest_over(unnesting, e, join, columns, 0);
        join->where = e ? unnest_and(unnesting, join->where, e) : NULL;
        if (join->where == NULL)
            return NULL;
    }
    return unnest_columns(unnesting, join, own, meeting->count,
                          meeting->nodes[0]->column_count);
}

struct node *unnest_where(struct unnesting *unnesting, struct node *node,
                          const struct vector *parts)
{
    struct arena *arena = unnesting->binder->arena;
    struct vector others = VECTOR_IN(arena, struct expression *);
    struct meeting meeting = { .unnesting = unnesting,
                               .count = node->column_count,
                               .nodes = { node, NULL },
                               .join = { .left_keys = VECTOR_IN(arena, int),
                                         .right_keys = VECTOR_IN(arena, int) },
                               .equal = VECTOR_IN(arena, struct expression *),
                               .others = VECTOR_IN(arena, struct expression *),
                               .alone = VECTOR_IN(arena, struct expression *),
                               .known = arena_alloc(
                                   arena, unnest_width(unnesting) + 1) };
    unsigned middle;

    if (meeting.known == NULL)
        return unnest_fail(unnesting);
    if (decorrelate_fails(unnesting->binder, node_tree_fails(node)))
        return unnest_refuse(unnesting);
    memset(meeting.known, false, unnest_width(unnesting) + 1);
    for (size_t i = 0; i < parts->count; i++)
        if (!sort_part(&meeting, VECTOR_ITEMS(parts, struct expression *)[i]))
            return NULL;
    if (meeting.own != NULL)
        meeting.nodes[0] = node_filter(unnesting->binder, node, meeting.own);
    meeting.nodes[1] = unnest_domain(unnesting, &meeting.alone, meeting.known);
    if (meeting.nodes[0] == NULL || meeting.nodes[1] == NULL
        || !add_keys(&meeting))
        return NULL;
    middle = meeting.nodes[0]->column_count;
    return add_others(&meeting, &others) ? meet(&meeting, middle, &others)
                                         : NULL;
}
