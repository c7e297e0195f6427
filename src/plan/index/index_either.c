/* SPDX-License-Identifier: MIT */
/*
 * Bounds that branches of an OR have in common: index_either.h. People write the next
 * page of a list so. Each branch compares the column with the same value; it is at
 * that, or on the same side of it in all of them.
 */
#include "plan/index/index_either.h"

#include <assert.h>

#include "base/os/stack.h"
#include "plan/tree/binder.h"

/* The branches of an OR; false: no memory. */
static bool list_branches(struct expression *e, struct vector *branches)
{
    if (e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_OR
        && !stack_is_short())
        return list_branches(e->left, branches)
               && list_branches(e->right, branches);
    return vector_append(branches, &e, 1);
}

/* The side of a value on which an operator finds others, AST_GE or AST_LE; AST_EQ: it
 * finds that alone, AST_NEQ: it is no bound. */
static enum ast_operator side_of(enum ast_operator op)
{
    switch (op) {
    case AST_GT:
    case AST_GE:
        return AST_GE;
    case AST_LT:
    case AST_LE:
        return AST_LE;
    case AST_EQ:
        return AST_EQ;
    default:
        return AST_NEQ;
    }
}

/* Whether a branch has a part that bounds what `bound` compares, on the same side as
 * branches before it. False, too, and `*failed`: no memory. */
static bool bounds(struct binder *binder, struct expression *branch,
                   const struct expression *bound, enum ast_operator *side,
                   bool *failed)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);

    *failed = !index_split(branch, &parts);
    for (size_t i = 0; i < parts.count && !*failed; i++) {
        const struct expression *part =
            VECTOR_ITEMS(&parts, struct expression *)[i];
        enum ast_operator of;
        if (part->kind != EXPRESSION_OPERATOR)
            continue;
        of = side_of(part->operation.op);
        if (of == AST_NEQ || !expression_same(part->left, bound->left)
            || !expression_same(part->right, bound->right)
            || (of != AST_EQ && *side != AST_EQ && of != *side))
            continue;
        if (of != AST_EQ)
            *side = of;
        return true;
    }
    return false;
}

/* Whether all branches bound what a part of the first one does. */
static bool all_bound(struct binder *binder, const struct vector *branches,
                      const struct expression *bound, enum ast_operator *side,
                      bool *failed)
{
    bool all = true;

    *side = side_of(bound->operation.op);
    for (size_t i = 0; i < branches->count && all; i++)
        all = bounds(binder, VECTOR_ITEMS(branches, struct expression *)[i],
                     bound, side, failed);
    return all && *side != AST_EQ;
}

/* The bound as a term, whose share of rows is estimated as that of such a
 * comparison. */
static bool take_bound(struct binder *binder, const struct index_candidates *of,
                       const struct expression *bound, enum ast_operator side,
                       struct index_term *term, bool *failed)
{
    struct expression *condition = arena_alloc(binder->arena, sizeof *bound);

    assert(side == AST_GE || side == AST_LE);
    *failed = condition == NULL;
    *term = (struct index_term){ .part = term->part };
    if (*failed
        || !index_terms_comparison(NULL, of, bound->left, side, bound->right,
                                   term))
        return false;
    *condition = *bound;
    condition->operation.op = side;
    term->condition = condition;
    term->inexact = true;
    return true;
}

bool index_either_read(struct binder *binder, const struct index_candidates *of,
                       struct expression *e, struct index_term *term,
                       bool *failed)
{
    struct vector branches = VECTOR_IN(binder->arena, struct expression *);
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);

    *failed = !list_branches(e, &branches)
              || !index_split(VECTOR_ITEMS(&branches, struct expression *)[0],
                              &parts);
    for (size_t i = 0; i < parts.count && !*failed; i++) {
        const struct expression *part =
            VECTOR_ITEMS(&parts, struct expression *)[i];
        enum ast_operator side;
        if (part->kind == EXPRESSION_OPERATOR
            && side_of(part->operation.op) != AST_NEQ
            && all_bound(binder, &branches, part, &side, failed)
            && take_bound(binder, of, part, side, term, failed))
            return true;
    }
    return false;
}
