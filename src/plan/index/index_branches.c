/* SPDX-License-Identifier: MIT */
/*
 * (a, b, c) > (1, 2, 3) comes as a >= 1 AND (a > 1 OR b >= 2 AND (b > 2 OR c > 3)),
 * and people write a > 1 OR a = 1 AND ... No range of an index on (a, b, c) has just
 * these rows, but each of three has a part of them: a > 1; a = 1 AND b > 2;
 * a = 1 AND b = 2 AND c > 3. One step splits off the first of these; what is left is
 * such a condition of the columns behind it.
 */
#include "plan/index/index_branches.h"

#include <assert.h>

#include "plan/index/index_choice.h"
#include "plan/make/logic.h"
#include "plan/tree/binder.h"

/* Where a condition is split. */
struct split {
    size_t either;             /* the part that is an OR                   */
    size_t bound;              /* the part a >= 1; SIZE_MAX: it is none    */
    struct expression *beyond; /* a > 1                                    */
    struct expression *rest;   /* what else may hold for the row instead   */
};

static bool is_operation(const struct expression *e, enum ast_operator op)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == op;
}

/* Whether an expression compares by `op` what another one compares. */
static bool compares(const struct expression *e, enum ast_operator op,
                     const struct expression *other)
{
    return is_operation(e, op) && expression_same(e->left, other->left)
           && expression_same(e->right, other->right);
}

/* The number of the part that compares so; SIZE_MAX: there is none. */
static size_t find_part(const struct vector *parts, enum ast_operator op,
                        const struct expression *other)
{
    for (size_t i = 0; i < parts->count; i++)
        if (compares(VECTOR_ITEMS(parts, struct expression *)[i], op, other))
            return i;
    return SIZE_MAX;
}

/* Whether rows for which `rest` holds, of those that the parts keep, have the value
 * that `beyond` excludes: that one, and no other one. False, too: no memory. */
static bool is_at(struct binder *binder, const struct vector *parts,
                  struct split *split, bool *failed)
{
    enum ast_operator op = split->beyond->operation.op;
    struct vector own = VECTOR_IN(binder->arena, struct expression *);

    split->bound =
        find_part(parts, op == AST_GT ? AST_GE : AST_LE, split->beyond);
    if (split->bound != SIZE_MAX)
        return true;
    *failed = !index_split(split->rest, &own);
    return !*failed && find_part(&own, AST_EQ, split->beyond) != SIZE_MAX;
}

/* Reads an OR, its sides in either order. */
static bool read_or(struct binder *binder, const struct vector *parts,
                    struct split *split, bool *failed)
{
    struct expression *e =
        VECTOR_ITEMS(parts, struct expression *)[split->either];
    struct expression *sides[] = { e->left, e->right };

    for (unsigned i = 0; i < 2 && !*failed; i++) {
        split->beyond = sides[i];
        split->rest = sides[1 - i];
        if ((is_operation(split->beyond, AST_GT)
             || is_operation(split->beyond, AST_LT))
            && is_at(binder, parts, split, failed))
            return true;
    }
    return false;
}

/* False: there is no such place, or `*failed`. */
static bool find_split(struct binder *binder, const struct vector *parts,
                       struct split *split, bool *failed)
{
    for (size_t i = 0; i < parts->count && !*failed; i++) {
        split->either = i;
        if (is_operation(VECTOR_ITEMS(parts, struct expression *)[i], AST_OR)
            && read_or(binder, parts, split, failed))
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------- make -- */

/* Adds a part to a condition that may be NULL; NULL: no memory. */
static struct expression *with(struct binder *binder, struct expression *all,
                               struct expression *part)
{
    const struct ast_expression place = { .at = part->at };

    return all == NULL ? part
                       : expression_logic(binder, AST_AND, all, part, &place);
}

/* a = 1 of a > 1; NULL: no memory. */
static struct expression *equal(struct binder *binder,
                                const struct expression *beyond)
{
    struct expression *e = arena_alloc(binder->arena, sizeof *e);

    if (e == NULL)
        return error_no_memory(binder->error), NULL;
    *e = *beyond;
    e->operation.op = AST_EQ;
    return e;
}

/* Makes both conditions, with the other parts in each. */
static bool make_both(struct binder *binder, const struct vector *parts,
                      const struct split *split, struct expression **beyond,
                      struct expression **at)
{
    bool bound = split->bound != SIZE_MAX;
    struct expression *same = bound ? equal(binder, split->beyond) : NULL;
    struct expression *others = NULL;
    bool done = same != NULL || !bound;

    for (size_t i = 0; i < parts->count && done; i++) {
        if (i == split->either || i == split->bound)
            continue;
        others =
            with(binder, others, VECTOR_ITEMS(parts, struct expression *)[i]);
        done = others != NULL;
    }
    if (!done)
        return false;
    *beyond = with(binder, others, split->beyond);
    *at = bound ? with(binder, others, same) : others;
    if (*beyond != NULL && (*at != NULL || !bound))
        *at = with(binder, *at, split->rest);
    return *beyond != NULL && *at != NULL;
}

/* Splits a condition once; `*beyond` becomes NULL where it cannot be. */
static bool split_once(struct binder *binder, struct expression **where,
                       struct expression **beyond)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    struct split split;
    bool failed = false;

    *beyond = NULL;
    if (!index_split(*where, &parts))
        return error_no_memory(binder->error), false;
    if (find_split(binder, &parts, &split, &failed))
        return make_both(binder, &parts, &split, beyond, where);
    if (failed)
        error_no_memory(binder->error);
    return !failed;
}

bool index_branches(struct binder *binder, struct expression *where,
                    struct vector *branches)
{
    struct expression *beyond = where;

    assert(branches->width == sizeof where);
    while (where != NULL && beyond != NULL
           && branches->count + 1 < SEEK_KEYS_MAX) {
        if (!split_once(binder, &where, &beyond))
            return false;
        if (beyond != NULL && !vector_append(branches, &beyond, 1))
            return error_no_memory(binder->error), false;
    }
    if (vector_append(branches, &where, 1))
        return true;
    error_no_memory(binder->error);
    return false;
}
