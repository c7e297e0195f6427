/* SPDX-License-Identifier: MIT */
/*
 * What files that make joins share: keys, and which sides an expression is of.
 */
#include "plan/condition/join_key.h"

#include <assert.h>

#include "plan/make/convert.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"

struct seeking {
    unsigned middle;
    int sides;
};

static bool find_sides(void *context, struct expression **operand)
{
    struct seeking *seeking = context;
    const struct expression *e = *operand;

    if (e->kind != EXPRESSION_COLUMN)
        return expression_each(*operand, find_sides, context);
    seeking->sides |=
        (unsigned)e->column.number < seeking->middle ? SIDE_LEFT : SIDE_RIGHT;
    return true;
}

int expression_sides(struct expression *e, unsigned middle)
{
    struct seeking seeking = { middle, 0 };

    find_sides(&seeking, &e);
    return seeking.sides;
}

enum vdbq_status join_add_key(struct binder *binder, struct node *nodes[2],
                              struct expression *left, struct expression *right,
                              struct step_join *join)
{
    struct expression *sides[2] = { left, right };
    int columns[2];
    bool wide = type_machine((enum vdbq_type)left->type)
                != type_machine((enum vdbq_type)right->type);

    for (int i = 0; i < 2; i++) {
        if (wide)
            sides[i] = expression_cast_plain(binder, sides[i], VDBQ_BIGINT,
                                             sides[i]->at);
        columns[i] =
            sides[i] ? node_column_for(binder, &nodes[i], sides[i]) : -1;
        if (columns[i] < 0)
            return binder->error->status;
    }
    assert((unsigned)columns[0] < nodes[0]->column_count
           && (unsigned)columns[1] < nodes[1]->column_count);
    if (!vector_append(&join->left_keys, &columns[0], 1)
        || !vector_append(&join->right_keys, &columns[1], 1))
        return error_no_memory(binder->error);
    return VDBQ_OK;
}
