/* SPDX-License-Identifier: MIT */
/*
 * Answers of subqueries that give one value, whatever row asks: min, max and the
 * like of rows that are the same for all. The value is a row of its own, which is
 * joined to each row: so the subquery is one of the parts of the query around it,
 * with which it can share what both read, and nothing is looked up row by row.
 *
 * A column that a condition asks to be equal to the answer is the key of that join,
 * so that an index may find the rows that have it.
 *
 * An answer that is known, as the greatest value of a whole table is, is a constant:
 * what is compared with it is then estimated and found like what is compared with any.
 *
 * One that can fail stays, since it is not run where no row asks; but if that is
 * a common subplan which the rows that ask are made of, it fails in any case.
 */
#include "plan/simplify/share.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/condition/split.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/simplify/tree_pass.h"
#include "plan/tree/binder.h"
#include "plan/tree/common.h"
#include "plan/tree/constants.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"
#include "plan/tree/range.h"
#include "plan/tree/unique_key.h"

/* A row of values that a query is computed of. */
struct knowing {
    struct binder *binder;
    const struct node *row; /* NODE_VALUES, of one row */
};

/* Whether a query gives one row at most: its value is NULL where it gives none, as
 * that of a left join is. */
static bool is_one_row(const struct node *node)
{
    return node_is_unique(node, NULL, 0);
}

/* Whether a node's rows are made of those of a common subplan, all of them. */
static bool is_made_of(const struct node *node, const struct common *common)
{
    while (node->kind == NODE_SELECT || node->kind == NODE_APPLY
           || node->kind == NODE_MAP || node->kind == NODE_WINDOW
           || (node->kind == NODE_JOIN && node->join.kind == JOIN_LEFT))
        node = node->left;
    return node->kind == NODE_COMMON && node->common == common;
}

/* Whether a query can fail where `asking`, the rows that ask, would not. */
static bool fails_alone(const struct node *query, const struct node *asking)
{
    if (stack_is_short())
        return true;
    if (query->kind == NODE_COMMON)
        return query->common->fails && !is_made_of(asking, query->common);
    if (node_fails(query))
        return true;
    for (size_t i = 0; i < query->parts.count; i++)
        if (fails_alone(VECTOR_ITEMS(&query->parts, struct node *)[i], asking))
            return true;
    return (query->left != NULL && fails_alone(query->left, asking))
           || (query->right != NULL && fails_alone(query->right, asking));
}

/* ------------------------------------------------------------------ keys -- */

bool share_has_answer(const struct node *join)
{
    return join->kind == NODE_JOIN && join->join.kind == JOIN_LEFT
           && join->join.left_keys.count == 0 && join->where == NULL
           && join->join.range.side == RANGE_JOIN_NONE
           && is_one_row(join->right);
}

/* Whether a condition says that a column of the rows equals one of the answer; that
 * one then is on the right. */
static bool reads_key(const struct node *join, const struct expression *e,
                      int key[2])
{
    unsigned middle = join->left->column_count;
    const struct expression *one = e->left, *other = e->right;

    if (!is_equality(e) || one->kind != EXPRESSION_COLUMN
        || other->kind != EXPRESSION_COLUMN || one->type != other->type
        || one->scale != other->scale || one->machine != other->machine)
        return false;
    key[0] = one->column.number;
    key[1] = other->column.number;
    if (key[0] > key[1]) {
        key[0] = other->column.number;
        key[1] = one->column.number;
    }
    if (key[0] >= (int)middle || key[1] < (int)middle)
        return false;
    key[1] -= (int)middle;
    return true;
}

/* The parts of a condition but one; NULL: there are none, or `*failed`. */
static struct expression *all_but(struct binder *binder,
                                  const struct vector *parts, size_t one,
                                  bool *failed)
{
    struct ast_expression place = { 0 };
    struct expression *rest = NULL;

    for (size_t i = 0; i < parts->count && !*failed; i++) {
        struct expression *part = VECTOR_ITEMS(parts, struct expression *)[i];
        if (i == one)
            continue;
        place.at = part->at;
        rest = rest == NULL
                   ? part
                   : expression_logic(binder, AST_AND, rest, part, &place);
        *failed = rest == NULL;
    }
    return rest;
}

/* Has the answer joined by a key, if the condition says that one equals it; nothing
 * in it may fail, as it is tested for other rows then. */
static struct node *join_by_key(struct binder *binder, struct node *select)
{
    struct vector parts = VECTOR_IN(binder->arena, struct expression *);
    struct node *join = select->left;
    bool failed = false;

    if (select->where == NULL || select->where->faults
        || !share_has_answer(join) || !node_has_one_reader(join))
        return select;
    if (split_condition(binder, select->where, &parts) != VDBQ_OK)
        return NULL;
    for (size_t i = 0; i < parts.count; i++) {
        int key[2];
        if (!reads_key(join, VECTOR_ITEMS(&parts, struct expression *)[i], key))
            continue;
        join->join.kind = JOIN_INNER;
        join->join.left_keys = VECTOR_IN(binder->arena, int);
        join->join.right_keys = VECTOR_IN(binder->arena, int);
        if (!vector_append(&join->join.left_keys, &key[0], 1)
            || !vector_append(&join->join.right_keys, &key[1], 1))
            return error_no_memory(binder->error), NULL;
        select->where = all_but(binder, &parts, i, &failed);
        return failed ? NULL : select;
    }
    return select;
}

/* ----------------------------------------------------------------- known -- */

/* A column of the only row of values, which is a number, as a constant. */
static struct expression *known_value(void *context, struct expression *e,
                                      bool *failed)
{
    struct knowing *knowing = context;
    const struct vdbq_vector *values = knowing->row->values;
    struct expression *known;

    if (e->kind != EXPRESSION_COLUMN || e->type == VDBQ_TEXT)
        return NULL;
    known =
        expression_new(knowing->binder, EXPRESSION_CONSTANT, e->type, e->at);
    *failed = known == NULL;
    if (known == NULL)
        return NULL;
    values += e->column.number;
    known->precision = e->precision;
    known->scale = e->scale;
    known->constant.null = values->nulls != NULL && values->nulls[0] != 0;
    if (!known->constant.null && is_float(e->type))
        known->constant.real = constants_number(values, 0).real;
    else if (!known->constant.null)
        known->constant.integer = constants_number(values, 0).integer;
    range_constant(known);
    return known;
}

/* The answer as a constant, where it is computed of one row of values; NULL: it is
 * not, or `*failed`. */
static struct expression *known_answer(struct binder *binder,
                                       const struct node *query, bool *failed)
{
    struct knowing knowing = { binder, query->left };
    struct expression *e;

    if (query->kind != NODE_SELECT || query->where != NULL
        || query->left->kind != NODE_VALUES || query->left->value_rows != 1
        || query->left->varies)
        return NULL;
    e = expression_replace(binder, query->results[0], known_value, &knowing);
    *failed = e == NULL;
    return e != NULL && e->kind == EXPRESSION_CONSTANT ? e : NULL;
}

/* ---------------------------------------------------------------- answer -- */

static struct node *join_answer(struct binder *binder, struct node *node)
{
    struct expression *known;
    unsigned count;
    struct node *join;
    bool failed = false;
    int *columns;

    if (node->kind == NODE_SELECT)
        return join_by_key(binder, node);
    if (node->kind != NODE_APPLY || node->apply.kind != APPLY_SCALAR
        || node->apply.parameters.count > 0 || !is_one_row(node->right)
        || fails_alone(node->right, node->left))
        return node;
    known = known_answer(binder, node->right, &failed);
    if (known != NULL || failed)
        return failed ? NULL : node_extend(binder, node->left, &known, 1);
    join = node_join(binder, JOIN_LEFT, node->left, node->right);
    if (join == NULL || join->column_count == node->column_count)
        return join;
    count = node->column_count;
    columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);
    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)i;
    return node_columns(binder, join, columns, count);
}

struct node *join_answers(struct binder *binder, struct node *node)
{
    return node_count_readers(binder, node)
               ? tree_pass(binder, node, join_answer)
               : NULL;
}
