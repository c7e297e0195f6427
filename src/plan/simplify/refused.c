/* SPDX-License-Identifier: MIT */
/*
 * Outer joins whose NULLs somebody above refuses: a condition, or a join whose
 * keys are never NULL in a pair. From the top down each node is told in which
 * of its columns a NULL means that the row is not kept; an outer join that has
 * such a column among those of its other side need not make the rows that have
 * no partner there. Kept rows, and their order, stay.
 *
 * What may fail on the way hides what is refused above it: it is run for rows
 * that are not kept, too.
 *
 * And the other way round: where rows with a partner are refused, and nobody reads
 * what stands beside the others, a left join is an anti join, which finds no more
 * than whether there is a partner.
 */
#include "plan/simplify/refused.h"

#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/condition/refuses.h"
#include "plan/condition/split.h"
#include "plan/make/node.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"
#include "plan/tree/node_reads.h"

static bool visit(struct binder *binder, struct node *node,
                  const bool *refused);

/* ---------------------------------------------------------- conditions -- */

/* Flags for columns [first, first + count) of a node. */
struct flags {
    bool *set;
    unsigned first, count;
};

/* Flags the columns with a NULL in which `is_so`: the value is NULL, or the
 * condition is not true. */
static void flag_where_null(const struct expression *e,
                            bool (*is_so)(const struct expression *e,
                                          struct between columns),
                            const struct flags *flags)
{
    for (unsigned i = 0; i < flags->count; i++) {
        int column = (int)(flags->first + i);
        if (is_so(e, (struct between){ column, column + 1 }))
            flags->set[i] = true;
    }
}

static void flag_condition(const struct node *node, const struct flags *flags)
{
    if (node->where != NULL && !node->where->faults)
        flag_where_null(node->where, refuses_null, flags);
}

/* --------------------------------------------------------------- joins -- */

static bool any(const bool *flags, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        if (flags[i])
            return true;
    return false;
}

/* Flags what pairs never have NULL: keys and what lies in a range. */
static void flag_keys(const struct node *join, bool is_right,
                      const struct flags *flags)
{
    const struct step_range_join *range = &join->join.range;
    const struct vector *keys =
        is_right ? &join->join.right_keys : &join->join.left_keys;

    for (size_t i = 0; !join->join.nulls_match && i < keys->count; i++)
        flags->set[VECTOR_ITEMS(keys, int)[i]] = true;
    if (range->side == RANGE_JOIN_NONE)
        return;
    if ((range->side == RANGE_JOIN_RIGHT) == is_right) {
        flags->set[range->column] = true;
        return;
    }
    if (range->low >= 0)
        flags->set[range->low] = true;
    if (range->high >= 0)
        flags->set[range->high] = true;
}

/* Whether rows of a side appear in pairs alone. */
static bool is_paired(enum join_kind kind, bool is_right)
{
    switch (kind) {
    case JOIN_INNER:
    case JOIN_SEMI:
        return true;
    case JOIN_LEFT:
    case JOIN_ANTI:
        return is_right;
    case JOIN_RIGHT:
        return !is_right;
    default:
        return false;
    }
}

static bool visit_side(struct binder *binder, struct node *join,
                       const bool *refused, bool is_right)
{
    struct node *side = is_right ? join->right : join->left;
    struct flags flags = { .first = is_right ? join->left->column_count : 0,
                           .count = side->column_count };

    flags.set = column_flags(binder, flags.count, false);
    if (flags.set == NULL)
        return false;
    if (!is_right || join->join.kind <= JOIN_FULL)
        memcpy(flags.set, refused + flags.first, flags.count);
    if (is_paired(join->join.kind, is_right)) {
        flag_keys(join, is_right, &flags);
        flag_condition(join, &flags);
    }
    return visit(binder, side, flags.set);
}

static bool visit_join(struct binder *binder, struct node *join,
                       const bool *refused)
{
    unsigned middle = join->left->column_count;

    if (join->join.kind <= JOIN_FULL)
        join_tighten(join, any(refused, 0, middle),
                     any(refused, middle, join->column_count));
    return visit_side(binder, join, refused, false)
           && visit_side(binder, join, refused, true);
}

/* -------------------------------------------------------------- others -- */

/* Whether what is refused above a node may be refused below it, as the same
 * columns: `count` of them. */
static bool hands_down(const struct node *node, unsigned *count)
{
    *count = node->left->column_count;
    if (*count > node->column_count)
        *count = node->column_count;
    switch (node->kind) {
    case NODE_GROUP:
        *count = node->group.keys;
        break;
    case NODE_SORT:
        return node->sort.limit == UINT64_MAX && node->sort.offset == 0;
    case NODE_MAP:
        break;
    case NODE_APPLY:
        return !node_tree_fails(node->right);
    default:
        return false;
    }
    return !node_fails(node);
}

static bool results_fail(const struct node *select)
{
    for (unsigned i = 0; i < select->column_count; i++)
        if (select->results[i]->faults)
            return true;
    return false;
}

static bool visit_left(struct binder *binder, struct node *node,
                       const bool *refused)
{
    struct flags below = { .count = node->left->column_count };
    unsigned count;

    below.set = column_flags(binder, below.count, false);
    if (below.set == NULL)
        return false;
    if (node->kind != NODE_SELECT) {
        if (hands_down(node, &count))
            memcpy(below.set, refused, count);
        return visit(binder, node->left, below.set);
    }
    for (unsigned i = 0; i < node->column_count && !results_fail(node); i++)
        if (refused[i])
            flag_where_null(node->results[i], is_null_with, &below);
    flag_condition(node, &below);
    return visit(binder, node->left, below.set);
}

static bool visit_fresh(struct binder *binder, struct node *node)
{
    const bool *none = column_flags(binder, node->column_count, false);

    return none != NULL && visit(binder, node, none);
}

static bool visit(struct binder *binder, struct node *node, const bool *refused)
{
    bool done = true;

    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (!node_has_one_reader(node))
        refused = column_flags(binder, node->column_count, false);
    if (refused == NULL)
        return false;
    if (node->kind == NODE_JOIN)
        return visit_join(binder, node, refused);
    if (node->left != NULL)
        done = visit_left(binder, node, refused);
    if (node->right != NULL && done)
        done = visit_fresh(binder, node->right);
    for (size_t i = 0; i < node->parts.count && done; i++)
        done = visit(binder, VECTOR_ITEMS(&node->parts, struct node *)[i],
                     refused);
    return done;
}

struct node *refuse_nulls(struct binder *binder, struct node *node)
{
    return node_count_readers(binder, node) && visit_fresh(binder, node) ? node
                                                                         : NULL;
}

/* -------------------------------------------------------------- alone -- */

/* Whether a column of a left join is NULL in its rows without a partner, and in no
 * other one. */
static bool tells_partner(const struct node *join, int column)
{
    const struct vector *keys = &join->join.right_keys;
    int middle = (int)join->left->column_count;
    bool is_key = false;

    if (column < middle)
        return false;
    for (size_t i = 0; !join->join.nulls_match && i < keys->count; i++)
        is_key |= VECTOR_ITEMS(keys, int)[i] == column - middle;
    return is_key || !join->right->columns[column - middle].nullable;
}

/* Whether a condition keeps the rows without a partner, and no others. */
static bool asks_alone(const struct node *join, const struct expression *e)
{
    return e->kind == EXPRESSION_OPERATOR && e->operation.op == AST_IS
           && is_null_constant(e->right) && e->left->kind == EXPRESSION_COLUMN
           && tells_partner(join, e->left->column.number);
}

/* Whether nobody reads columns of the right side. */
static bool reads_left(struct binder *binder, const struct node *select,
                       struct expression *rest, bool *done)
{
    const struct node *join = select->left;
    bool *reads = column_flags(binder, join->column_count, false);

    *done = reads != NULL;
    for (unsigned i = 0; *done && i < select->column_count; i++)
        *done = expression_reads(reads, &select->results[i]);
    if (*done && rest != NULL)
        *done = expression_reads(reads, &rest);
    return *done && !any(reads, join->left->column_count, join->column_count);
}

/* The anti join whose rows are those of a left join without a partner. */
static struct node *anti_of(struct binder *binder, const struct node *join)
{
    struct node *anti = node_join(binder, JOIN_ANTI, join->left, join->right);

    if (anti == NULL)
        return NULL;
    anti->join.left_keys = join->join.left_keys;
    anti->join.right_keys = join->join.right_keys;
    anti->join.range = join->join.range;
    anti->where = join->where;
    return anti;
}

/* What is left of a condition where it asks for rows without a partner: `*asks`,
 * whether it does. False: a failure. */
static bool take_alone(struct binder *binder, const struct node *select,
                       struct expression **rest, bool *asks)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);

    if (split_condition(binder, select->where, &parts) != VDBQ_OK)
        return false;
    *rest = NULL;
    *asks = false;
    for (size_t i = 0; i < parts.count; i++) {
        struct expression *part = VECTOR_ITEMS(&parts, struct expression *)[i];
        if (asks_alone(select->left, part)) {
            *asks = true;
            continue;
        }
        struct ast_expression place = { .at = part->at };
        *rest = *rest == NULL
                    ? part
                    : expression_operator(binder, AST_AND, *rest, part, &place);
        if (*rest == NULL)
            return false;
    }
    return true;
}

struct node *anti_joins(struct binder *binder, struct node *node)
{
    const struct node *join = node->left;
    struct expression *rest;
    bool asks, done, left;

    if (node->kind != NODE_SELECT || node->where == NULL
        || join->kind != NODE_JOIN || join->join.kind != JOIN_LEFT
        || (join->where != NULL && join->where->faults))
        return node;
    if (!take_alone(binder, node, &rest, &asks))
        return NULL;
    if (!asks)
        return node;
    left = reads_left(binder, node, rest, &done);
    if (!done || !left)
        return done ? node : NULL;
    node->left = anti_of(binder, join);
    node->where = rest;
    return node->left != NULL ? node : NULL;
}
