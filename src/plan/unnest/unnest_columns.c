/* SPDX-License-Identifier: MIT */
/*
 * Columns and expressions of a subquery that is unnested.
 */
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/unnest/decorrelate.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"

/* Where columns and parameters are now. */
struct placing {
    struct unnesting *unnesting;
    const struct node *node; /* NULL: parameters become values, columns stay */
    const int *columns;      /* NULL: as they were                       */
    unsigned first;          /* of the domain's columns                  */
};

static struct expression *placed_value(const struct placing *placing,
                                       const struct expression *e, int column,
                                       bool *failed)
{
    struct expression *placed;

    if (placing->node == NULL)
        return VECTOR_ITEMS(&placing->unnesting->values,
                            struct expression *)[column];
    placed = node_column(placing->unnesting->binder, placing->node,
                         placing->first + (unsigned)column, e->at);
    *failed = placed == NULL;
    return placed;
}

static struct expression *place_part(void *context, struct expression *e,
                                     bool *failed)
{
    const struct placing *placing = context;
    struct expression *placed = NULL;
    int column;

    if (e->kind == EXPRESSION_PARAMETER) {
        column = unnest_column(placing->unnesting, e->parameter.number);
        return column < 0 ? NULL : placed_value(placing, e, column, failed);
    }
    if (e->kind != EXPRESSION_COLUMN || placing->node == NULL)
        return NULL;
    column = placing->columns != NULL ? placing->columns[e->column.number]
                                      : e->column.number;
    placed = node_column(placing->unnesting->binder, placing->node,
                         (unsigned)column, e->at);
    *failed = placed == NULL;
    return placed;
}

struct expression *unnest_over(struct unnesting *unnesting,
                               struct expression *e, const struct node *node,
                               const int *columns, unsigned first)
{
    struct placing placing = { unnesting, node, columns, first };

    return expression_replace(unnesting->binder, e, place_part, &placing);
}

struct expression *unnest_valued(struct unnesting *unnesting,
                                 struct expression *e)
{
    struct placing placing = { unnesting, NULL, NULL, 0 };

    return expression_replace(unnesting->binder, e, place_part, &placing);
}

bool unnest_fails(struct unnesting *unnesting, const struct expression *e)
{
    bool fails = decorrelate_fails(unnesting->binder, e->faults);

    if (fails)
        unnest_refuse(unnesting);
    return fails;
}

struct expression *unnest_and(struct unnesting *unnesting, struct expression *a,
                              struct expression *b)
{
    struct ast_expression place = { .at = b->at };

    return a == NULL
               ? b
               : expression_operator(unnesting->binder, AST_AND, a, b, &place);
}

struct expression *unnest_null(struct unnesting *unnesting,
                               const struct node *node, unsigned column,
                               bool is)
{
    struct binder *binder = unnesting->binder;
    struct ast_expression place = { 0 };

    return expression_null_test(binder, is ? AST_IS : AST_IS_NOT,
                                node_column(binder, node, column, place.at),
                                &place);
}

int *unnest_numbers(struct unnesting *unnesting, unsigned count)
{
    int *columns =
        arena_alloc(unnesting->binder->arena, (count + 1) * sizeof *columns);

    if (columns == NULL)
        unnest_fail(unnesting);
    for (unsigned i = 0; columns != NULL && i < count; i++)
        columns[i] = (int)i;
    return columns;
}

struct node *unnest_columns(struct unnesting *unnesting, struct node *node,
                            const int *columns, unsigned count, unsigned first)
{
    unsigned width = unnest_width(unnesting);
    int *all = unnest_numbers(unnesting, count + width);

    if (all == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        all[i] = columns[i];
    for (unsigned i = 0; i < width; i++)
        all[count + i] = (int)(first + i);
    return node_columns(unnesting->binder, node, all, count + width);
}

struct node *unnest_join(struct unnesting *unnesting, enum join_kind kind,
                         struct node *const nodes[2],
                         const struct step_join *keys)
{
    struct node *join = node_join(unnesting->binder, kind, nodes[0], nodes[1]);

    if (join == NULL)
        return NULL;
    join->join.left_keys = keys->left_keys;
    join->join.right_keys = keys->right_keys;
    join->join.nulls_match = keys->nulls_match;
    join->unnested = true;
    join->asked = true;
    if (kind == JOIN_LEFT)
        node_keep_ranges(join);
    return join;
}
