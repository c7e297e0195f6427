/* SPDX-License-Identifier: MIT */
/*
 * What was found for the tuples of a domain stands beside the rows that ask for
 * them, by a join.
 */
#include "plan/condition/join_key.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"
#include "plan/unnest/unnest_inner.h"

struct node *unnest_join_domain(struct unnesting *unnesting,
                                enum join_kind kind, struct node *node,
                                unsigned first, struct expression *operand)
{
    struct binder *binder = unnesting->binder;
    struct node *nodes[2] = { unnesting->below, node };
    struct step_join keys = { .left_keys = VECTOR_IN(binder->arena, int),
                              .right_keys = VECTOR_IN(binder->arena, int) };
    struct expression *column =
        operand ? node_column(binder, node, 0, operand->at) : NULL;

    if (operand != NULL
        && (column == NULL
            || join_add_key(binder, nodes, operand, column, &keys) != VDBQ_OK))
        return NULL;
    if (!unnest_equal(unnesting, nodes, NULL, 0, first, &keys))
        return NULL;
    return unnest_join(unnesting, kind, nodes, &keys);
}

struct node *unnest_with_mark(struct unnesting *unnesting, struct node *node)
{
    struct expression *one =
        expression_truth(unnesting->binder, true, (struct position){ 0 });

    return one ? node_extend(unnesting->binder, node, &one, 1) : NULL;
}

struct node *unnest_stand_beside(struct unnesting *unnesting, struct node *node,
                                 struct unnest_beside *beside)
{
    struct node *marked = unnest_with_mark(unnesting, node);
    struct node *join =
        marked ? unnest_join_domain(unnesting, JOIN_LEFT, marked, 0, NULL)
               : NULL;

    if (join == NULL)
        return NULL;
    beside->join = join;
    beside->first = join->left->column_count + unnest_width(unnesting);
    beside->found =
        unnest_null(unnesting, join,
                    join->left->column_count + marked->column_count - 1, false);
    return beside->found ? join : NULL;
}

struct node *unnest_domain_in_front(struct unnesting *unnesting,
                                    struct node *node, unsigned count)
{
    unsigned width = unnest_width(unnesting);
    int *columns = unnest_numbers(unnesting, width + count);

    if (columns == NULL)
        return NULL;
    for (unsigned i = 0; i < width + count; i++)
        columns[i] = (int)(i < width ? count + i : i - width);
    return node_columns(unnesting->binder, node, columns, width + count);
}
