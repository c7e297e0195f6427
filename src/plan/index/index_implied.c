/* SPDX-License-Identifier: MIT */
/*
 * What follows of what: of x > 5 x > 3, of x = 7 x > 3, of all that is NULL where
 * x is x IS NOT NULL, and of a thing itself. Where that is not seen, the index is
 * not used.
 */
#include "plan/index/index_implied.h"

#include "base/os/stack.h"
#include "data/tablet/dictionary_sort.h"
#include "plan/condition/refuses.h"
#include "plan/operator/compare.h"
#include "plan/tree/expression.h"

/* A comparison with a constant. */
struct compared {
    const struct expression *value, *constant;
    enum ast_operator op;
};

/* False: it is none. */
static bool read_compared(const struct expression *e, struct compared *compared)
{
    if (e->kind != EXPRESSION_OPERATOR || !is_comparison(e->operation.op))
        return false;
    *compared = (struct compared){ e->left, e->right, e->operation.op };
    if (e->left->kind == EXPRESSION_CONSTANT)
        *compared = (struct compared){ e->right, e->left,
                                       compare_mirrored(e->operation.op) };
    return compared->constant->kind == EXPRESSION_CONSTANT
           && !compared->constant->constant.null;
}

/* Whether constants can be compared as they are. */
static bool are_alike(const struct expression *a, const struct expression *b)
{
    if (is_integer(a->type) || is_float(a->type))
        return is_float(a->type) ? is_float(b->type) : is_integer(b->type);
    return a->type == b->type && a->scale == b->scale;
}

/* How one constant is ordered beside another one. */
static int order_of(const struct expression *a, const struct expression *b)
{
    const struct expression_constant *one = &a->constant, *other = &b->constant;

    if (a->type == VDBQ_TEXT)
        return text_compare(one->text, other->text);
    if (is_float(a->type))
        return (one->real > other->real) - (one->real < other->real);
    return (one->integer > other->integer) - (one->integer < other->integer);
}

/* Whether x OP a implies x OTHER b, where a is ordered so beside b. */
static bool reaches(enum ast_operator op, enum ast_operator other, int order)
{
    bool same = op == other || (op == AST_LT && other == AST_LE)
                || (op == AST_GT && other == AST_GE);

    switch (op) {
    case AST_EQ:
        return comparison_holds(other, order);
    case AST_LT:
    case AST_LE:
        if (other == AST_NEQ)
            return order < 0 || (op == AST_LT && order == 0);
        return (other == AST_LT || other == AST_LE)
               && (order < 0 || (same && order == 0));
    case AST_GT:
    case AST_GE:
        if (other == AST_NEQ)
            return order > 0 || (op == AST_GT && order == 0);
        return (other == AST_GT || other == AST_GE)
               && (order > 0 || (same && order == 0));
    default:
        return op == other && order == 0;
    }
}

/* Both compare one value with constants. */
static bool implies_bound(const struct expression *part,
                          const struct expression *where)
{
    struct compared one, other;

    return read_compared(part, &one) && read_compared(where, &other)
           && expression_same(one.value, other.value)
           && are_alike(one.constant, other.constant)
           && reaches(one.op, other.op, order_of(one.constant, other.constant));
}

/* `where` is that a value is not NULL. */
static bool implies_known(const struct expression *part,
                          const struct expression *where)
{
    const struct expression *value = where->left;

    if (where->operation.op != AST_IS_NOT || !is_null_constant(where->right))
        return false;
    if (value->kind == EXPRESSION_COLUMN)
        return refuses_null(part, (struct between){ value->column.number,
                                                    value->column.number + 1 });
    return part->kind == EXPRESSION_OPERATOR
           && is_comparison(part->operation.op)
           && (expression_same(part->left, value)
               || expression_same(part->right, value));
}

static bool is_operator(const struct expression *e, enum ast_operator op)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == op;
}

static bool implies(const struct expression *part,
                    const struct expression *where)
{
    if (stack_is_short())
        return false;
    if (expression_same(part, where))
        return true;
    if (is_operator(where, AST_AND))
        return implies(part, where->left) && implies(part, where->right);
    if (is_operator(part, AST_OR))
        return implies(part->left, where) && implies(part->right, where);
    if (is_operator(where, AST_OR))
        return implies(part, where->left) || implies(part, where->right);
    if (where->kind != EXPRESSION_OPERATOR)
        return false;
    return implies_bound(part, where) || implies_known(part, where);
}

bool index_is_implied_by(const struct index_candidate *candidate,
                         const struct vector *parts, size_t count)
{
    struct expression *const *where =
        VECTOR_ITEMS(&candidate->where, struct expression *);
    bool implied = true;

    for (size_t i = 0; i < candidate->where.count && implied; i++) {
        implied = false;
        for (size_t k = 0; k < count && !implied; k++)
            implied =
                implies(VECTOR_ITEMS(parts, struct expression *)[k], where[i]);
    }
    return implied;
}

bool index_is_implied(const struct index_candidate *candidate,
                      const struct index_terms *terms)
{
    return index_is_implied_by(candidate, &terms->parts, terms->safe);
}
