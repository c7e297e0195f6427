/* SPDX-License-Identifier: MIT */
/*
 * Conditions that follow by equality: where a = b, what all rows of a join's
 * one side keep to in `a` holds for `b`, too, in all rows of the other side
 * that can have a partner. What is known of a key is found on the way down from
 * it, and through the keys of other joins: a = b and b = c lead from c to a.
 *
 * Only rows without a partner are left out, and only on sides whose rows appear
 * with one, so rows and their order stay as they are; nothing is tested on a
 * side that can fail, for then a failure could be missing.
 *
 * Keys are equal as the machine has them. What is true for one value is true
 * for the other where both have one type in SQL, with one scale; of floats,
 * where 0 equals -0, nothing follows.
 */
#include "plan/rewrite/follow.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/condition/split.h"
#include "plan/make/node.h"
#include "plan/make/replace.h"
#include "plan/rewrite/push.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"

enum {
    FACT_SIZE_MAX = 64, /* of a condition that is tested once more           */
    FACTS_MAX = 32      /* of one key, that are looked for                   */
};

/* What is known of a column. */
struct knowing {
    struct binder *binder;
    const struct node *target; /* all that is found is said of a column of this
                                  node ...                                 */
    unsigned column;           /* ... with that number                     */
    struct vector facts;       /* of struct expression *                   */
    unsigned steps;            /* that may still be taken down the tree    */
};

/* ---------------------------------------------------------------- facts -- */

/* The only column that an expression is about; several, or what only stands
 * for one row, or one run: false. */
static bool find_only_column(void *context, struct expression **operand)
{
    int *column = context;
    const struct expression *e = *operand;

    if (e->kind >= EXPRESSION_FUNCTION)
        return false;
    if (e->kind != EXPRESSION_COLUMN)
        return expression_each(*operand, find_only_column, context);
    if (*column < 0)
        *column = e->column.number;
    return *column == e->column.number;
}

/* Whether a part of a condition says something of that column alone, which is
 * more than that it is known. */
static bool is_fact(struct expression *e, int column)
{
    int only = -1;

    return !e->faults && e->size <= FACT_SIZE_MAX
           && !(e->kind == EXPRESSION_OPERATOR
                && (e->operation.op == AST_IS || e->operation.op == AST_IS_NOT))
           && find_only_column(&only, &e) && only == column;
}

/* The column that a fact is about becomes the one that is asked for. */
static struct expression *said_of_target(void *context, struct expression *e,
                                         bool *failed)
{
    const struct knowing *knowing = context;
    struct expression *column;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    column =
        node_column(knowing->binder, knowing->target, knowing->column, e->at);
    *failed = column == NULL;
    return column;
}

static bool add_fact(struct knowing *knowing, struct expression *e)
{
    e = expression_replace(knowing->binder, e, said_of_target, knowing);
    if (e == NULL)
        return false;
    if (e->faults || e->kind == EXPRESSION_CONSTANT
        || knowing->facts.count == FACTS_MAX
        || expression_find(&knowing->facts, 0, e) >= 0)
        return true;
    return vector_append(&knowing->facts, &e, 1)
           || error_no_memory(knowing->binder->error) == VDBQ_OK;
}

static bool add_where(struct knowing *knowing, struct expression *where,
                      int column)
{
    struct vector parts =
        VECTOR_IN(knowing->binder->arena, struct expression *);
    bool done = split_condition(knowing->binder, where, &parts) == VDBQ_OK;

    for (size_t i = 0; i < parts.count && done; i++) {
        struct expression *e = VECTOR_ITEMS(&parts, struct expression *)[i];
        if (is_fact(e, column))
            done = add_fact(knowing, e);
    }
    return done;
}

/* ----------------------------------------------------------------- down -- */

static bool know(struct knowing *knowing, const struct node *node,
                 unsigned column);

/* Through the keys of a join that are a column of side `of`. */
static bool know_by_keys(struct knowing *knowing, const struct node *join,
                         int of, unsigned column)
{
    const struct node *sides[2] = { join->left, join->right };
    const struct vector *keys[2] = { &join->join.left_keys,
                                     &join->join.right_keys };
    bool done = true;

    if (join->join.nulls_match || !join_needs_partner(join, of))
        return true;
    for (size_t i = 0; i < keys[of]->count && done; i++) {
        unsigned other = (unsigned)VECTOR_ITEMS(keys[!of], int)[i];
        if (VECTOR_ITEMS(keys[of], int)[i] == (int)column)
            done = know(knowing, sides[!of], other);
    }
    return done;
}

static bool know_join(struct knowing *knowing, const struct node *join,
                      unsigned column)
{
    unsigned middle = join->left->column_count;

    if (column < middle)
        return know(knowing, join->left, column)
               && know_by_keys(knowing, join, 0, column);
    if (join->join.kind > JOIN_FULL)
        return true;
    return know(knowing, join->right, column - middle)
           && know_by_keys(knowing, join, 1, column - middle);
}

static bool know_select(struct knowing *knowing, const struct node *node,
                        unsigned column)
{
    const struct expression *e = node->results[column];

    if (e->kind != EXPRESSION_COLUMN)
        return true;
    return (node->where == NULL
            || add_where(knowing, node->where, e->column.number))
           && know(knowing, node->left, (unsigned)e->column.number);
}

/* Whether two columns have values of one type, of which the same is true where
 * they are equal. */
static bool is_same_type(const struct node_column *a,
                         const struct node_column *b)
{
    return a->type == b->type && a->precision == b->precision
           && a->scale == b->scale && !is_float(a->type);
}

/* Finds what holds for all values of a node's column that are not NULL. */
static bool know(struct knowing *knowing, const struct node *node,
                 unsigned column)
{
    if (stack_is_short() || knowing->steps == 0
        || !is_same_type(&node->columns[column],
                         &knowing->target->columns[knowing->column]))
        return true;
    knowing->steps--;
    switch (node->kind) {
    case NODE_SELECT:
        return know_select(knowing, node, column);
    case NODE_JOIN:
        return know_join(knowing, node, column);
    case NODE_GROUP:
        return column >= node->group.keys || know(knowing, node->left, column);
    case NODE_SORT:
    case NODE_LIMIT:
    case NODE_APPLY:
    case NODE_MAP:
    case NODE_WINDOW:
        return column >= node->left->column_count
               || know(knowing, node->left, column);
    default:
        return true;
    }
}

/* ----------------------------------------------------------------- joins -- */

/* A key of a join: its node and column on one side. */
struct key_side {
    struct node **node;
    unsigned column;
};

static struct knowing know_nothing(struct binder *binder,
                                   const struct key_side *of)
{
    return (struct knowing){ .binder = binder,
                             .target = *of->node,
                             .column = of->column,
                             .facts =
                                 VECTOR_IN(binder->arena, struct expression *),
                             .steps = 200 };
}

/* What the join's own condition says of the key on side `of`. */
static bool know_where(struct knowing *knowing, const struct node *join, int of,
                       unsigned column)
{
    unsigned first = of == 0 ? 0 : join->left->column_count;

    return join->where == NULL
           || add_where(knowing, join->where, (int)(first + column));
}

/* Tests what is known of one side of a key on side `side`. */
static bool carry(struct binder *binder, const struct node *join, int side,
                  const struct key_side sides[2])
{
    const struct key_side *from = &sides[!side], *to = &sides[side];
    struct knowing there = know_nothing(binder, to);
    struct knowing here = know_nothing(binder, to);

    if (!know(&there, *from->node, from->column)
        || !know_where(&there, join, !side, from->column))
        return false;
    if (there.facts.count == 0 || node_tree_fails(*to->node))
        return true;
    if (!know(&here, *to->node, to->column))
        return false;
    for (size_t i = 0; i < there.facts.count; i++) {
        struct expression *e =
            VECTOR_ITEMS(&there.facts, struct expression *)[i];
        if (expression_find(&here.facts, 0, e) >= 0)
            continue;
        *to->node = node_push(binder, *to->node, e);
        if (*to->node == NULL)
            return false;
    }
    return true;
}

static bool follow_keys(struct binder *binder, struct node *join)
{
    bool done = true;

    for (size_t i = 0; i < join->join.left_keys.count && done; i++) {
        const struct key_side sides[2] = {
            { &join->left,
              (unsigned)VECTOR_ITEMS(&join->join.left_keys, int)[i] },
            { &join->right,
              (unsigned)VECTOR_ITEMS(&join->join.right_keys, int)[i] }
        };
        for (int to = 0; to < 2 && done; to++)
            if (join_needs_partner(join, to))
                done = carry(binder, join, to, sides);
    }
    return done;
}

/* From the top down: what a join tests of its sides is known to those in
 * them. */
static bool follow_all(struct binder *binder, struct node *node)
{
    if (stack_is_short())
        return stack_refuse(binder->error, (struct position){ 0 }), false;
    if (node->kind == NODE_JOIN && !node->join.nulls_match
        && !follow_keys(binder, node))
        return false;
    for (size_t i = 0; i < node->parts.count; i++)
        if (!follow_all(binder, VECTOR_ITEMS(&node->parts, struct node *)[i]))
            return false;
    return (node->left == NULL || follow_all(binder, node->left))
           && (node->right == NULL || follow_all(binder, node->right));
}

struct node *follow(struct binder *binder, struct node *node)
{
    return node_count_readers(binder, node) && follow_all(binder, node) ? node
                                                                        : NULL;
}
