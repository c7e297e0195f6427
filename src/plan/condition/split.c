/* SPDX-License-Identifier: MIT */
/*
 * Conditions taken apart: at ANDs, and at ORs whose branches have parts in
 * common. (a AND b) OR (a AND c) is a AND (b OR c), also where one of them is
 * NULL. A CASE that is never true in its ELSE holds where both its WHEN and its
 * THEN do. What is always true is left out.
 */
#include "plan/condition/split.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* The branches of an OR, each as its parts. */
struct branches {
    struct binder *binder;
    struct vector parts; /* of struct expression *: of all branches        */
    struct vector ends;  /* of size_t: in `parts`, of each                 */
};

static size_t branch_first(const struct branches *branches, size_t i)
{
    return i == 0 ? 0 : VECTOR_ITEMS(&branches->ends, size_t)[i - 1];
}

static size_t branch_end(const struct branches *branches, size_t i)
{
    return VECTOR_ITEMS(&branches->ends, size_t)[i];
}

static struct expression *part_at(const struct branches *branches, size_t i)
{
    return VECTOR_ITEMS(&branches->parts, struct expression *)[i];
}

/* Whether a branch has a part; a NULL stands for one that was taken out. */
static bool branch_has(const struct branches *branches, size_t branch,
                       const struct expression *e, size_t *at)
{
    for (size_t i = branch_first(branches, branch);
         i < branch_end(branches, branch); i++)
        if (part_at(branches, i) != NULL
            && expression_same(part_at(branches, i), e)) {
            *at = i;
            return true;
        }
    return false;
}

static bool all_have(const struct branches *branches,
                     const struct expression *e)
{
    size_t at;

    for (size_t i = 1; i < branches->ends.count; i++)
        if (!branch_has(branches, i, e, &at))
            return false;
    return true;
}

static void take_out(struct branches *branches, const struct expression *e)
{
    size_t at;

    for (size_t i = 0; i < branches->ends.count; i++)
        if (branch_has(branches, i, e, &at))
            VECTOR_ITEMS(&branches->parts, struct expression *)[at] = NULL;
}

/* The parts of each branch of an OR. */
static enum vdbq_status read_branches(struct branches *branches,
                                      struct expression *e)
{
    enum vdbq_status status = VDBQ_OK;

    while (status == VDBQ_OK && e->kind == EXPRESSION_OPERATOR
           && e->operation.op == AST_OR) {
        status = read_branches(branches, e->left);
        e = e->right;
    }
    if (status == VDBQ_OK)
        status = split_condition(branches->binder, e, &branches->parts);
    if (status == VDBQ_OK
        && !vector_append(&branches->ends, &branches->parts.count, 1))
        status = error_no_memory(branches->binder->error);
    return status;
}

/* What is left of a branch; NULL: nothing, or a failure. */
static struct expression *rest_of(const struct branches *branches, size_t i,
                                  struct position at, bool *failed)
{
    struct ast_expression place = { .at = at };
    struct expression *rest = NULL;

    for (size_t k = branch_first(branches, i); k < branch_end(branches, i);
         k++) {
        struct expression *e = part_at(branches, k);
        if (e != NULL && rest != NULL)
            e = expression_operator(branches->binder, AST_AND, rest, e, &place);
        else if (e == NULL)
            e = rest;
        *failed |= e == NULL && rest != NULL;
        rest = e;
    }
    return rest;
}

/* The OR of what is left; one branch of which nothing is left is true, and so
 * are all together then. */
static enum vdbq_status add_rests(const struct branches *branches,
                                  struct position at, struct vector *parts)
{
    struct ast_expression place = { .at = at };
    struct expression *any = NULL;
    bool failed = false;

    for (size_t i = 0; i < branches->ends.count; i++) {
        struct expression *rest = rest_of(branches, i, at, &failed);
        if (failed)
            return branches->binder->error->status;
        if (rest == NULL)
            return VDBQ_OK;
        any = any ? expression_operator(branches->binder, AST_OR, any, rest,
                                        &place)
                  : rest;
        if (any == NULL)
            return branches->binder->error->status;
    }
    return vector_append(parts, &any, 1)
               ? VDBQ_OK
               : error_no_memory(branches->binder->error);
}

static enum vdbq_status add_factors(struct branches *branches,
                                    struct expression *e, struct vector *parts)
{
    size_t end, before = parts->count;

    if (read_branches(branches, e) != VDBQ_OK)
        return branches->binder->error->status;
    end = branch_end(branches, 0);
    for (size_t i = 0; i < end; i++) {
        struct expression *part = part_at(branches, i);
        if (part == NULL || !all_have(branches, part))
            continue;
        if (!vector_append(parts, &part, 1))
            return error_no_memory(branches->binder->error);
        take_out(branches, part);
    }
    if (parts->count > before)
        return add_rests(branches, e->at, parts);
    return vector_append(parts, &e, 1)
               ? VDBQ_OK
               : error_no_memory(branches->binder->error);
}

static enum vdbq_status split_or(struct binder *binder, struct expression *e,
                                 struct vector *parts)
{
    struct branches branches = { .binder = binder,
                                 .parts = VECTOR_IN(binder->arena,
                                                    struct expression *),
                                 .ends = VECTOR_IN(binder->arena, size_t) };
    enum vdbq_status status = add_factors(&branches, e, parts);

    return status;
}

/* Whether a condition is known to be false or NULL for all rows. */
static bool is_never_true(const struct expression *e)
{
    if (e->kind == EXPRESSION_CHOICE)
        return is_never_true(e->left) && is_never_true(e->right);
    return e->kind == EXPRESSION_CONSTANT && known_truth(e) != 1;
}

/* Whether it is both that hold, in whatever order they are tested. */
static bool is_choice_of_one(const struct expression *e)
{
    return e->kind == EXPRESSION_CHOICE && !e->left->faults
           && is_never_true(e->right);
}

enum vdbq_status split_condition(struct binder *binder, struct expression *e,
                                 struct vector *parts)
{
    if (stack_is_short())
        return stack_refuse(binder->error, e->at);
    if (is_choice_of_one(e)) {
        enum vdbq_status status = split_condition(binder, e->condition, parts);
        return status == VDBQ_OK ? split_condition(binder, e->left, parts)
                                 : status;
    }
    while (e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_AND) {
        enum vdbq_status status = split_condition(binder, e->left, parts);
        if (status != VDBQ_OK)
            return status;
        e = e->right;
    }
    if (e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_OR)
        return split_or(binder, e, parts);
    if (known_truth(e) == 1)
        return VDBQ_OK;
    return vector_append(parts, &e, 1) ? VDBQ_OK
                                       : error_no_memory(binder->error);
}
