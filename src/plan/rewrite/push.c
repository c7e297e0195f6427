/* SPDX-License-Identifier: MIT */
/*
 * Conditions go down, towards the tables, as far as they mean the same there:
 * rows that nobody keeps need not be joined, grouped or sorted first. On the
 * way an outer join whose NULLs a condition refuses becomes an inner one.
 * What can fail stays where it was written.
 */
#include "plan/rewrite/push.h"

#include "base/os/stack.h"
#include "plan/make/node_select.h"
#include "plan/make/operator.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"

/* Past that, a condition with results in the place of columns is too much to
 * be computed once more. */
enum { PUSHED_PARTS_MAX = 1000 };

/* ------------------------------------------------------------- columns -- */

/* Columns [low, high) of a node. */
struct between {
    int low, high;
};

static bool is_within(void *context, struct expression **operand)
{
    const struct between *columns = context;
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN)
        return e->column.number >= columns->low
               && e->column.number < columns->high;
    return expression_each(*operand, is_within, context);
}

static bool needs_only(struct expression *e, unsigned low, unsigned high)
{
    struct between columns = { (int)low, (int)high };

    return is_within(&columns, &e);
}

/* ---------------------------------------------------------- outer joins -- */

/* Whether a value is NULL where these columns are. */
static bool is_null_with(const struct expression *e, struct between columns)
{
    switch (e->kind) {
    case EXPRESSION_COLUMN:
        return e->column.number >= columns.low
               && e->column.number < columns.high;
    case EXPRESSION_CAST:
    case EXPRESSION_LOOKUP:
        return is_null_with(e->left, columns);
    case EXPRESSION_MATH:
        return is_null_with(e->left, columns)
               || (e->right != NULL && is_null_with(e->right, columns));
    case EXPRESSION_OPERATOR:
        if (e->operation.op == AST_NOT)
            return is_null_with(e->left, columns);
        return (e->operation.op <= AST_MOD || is_comparison(e->operation.op))
               && (is_null_with(e->left, columns)
                   || is_null_with(e->right, columns));
    default:
        return false;
    }
}

/* Whether a condition is not true where these columns are NULL. */
static bool refuses_null(const struct expression *e, struct between columns)
{
    if (e->kind != EXPRESSION_OPERATOR)
        return is_null_with(e, columns);
    if (e->operation.op == AST_AND)
        return refuses_null(e->left, columns)
               || refuses_null(e->right, columns);
    if (e->operation.op == AST_OR)
        return refuses_null(e->left, columns)
               && refuses_null(e->right, columns);
    if (e->operation.op == AST_IS_NOT)
        return is_null_constant(e->right) && is_null_with(e->left, columns);
    return is_null_with(e, columns);
}

/* Rows that the condition refuses need not be made. */
static void tighten(struct node *join, const struct expression *e)
{
    int middle = (int)join->left->column_count;
    struct between left = { 0, middle };
    struct between right = { middle, (int)join->column_count };
    bool not_left, not_right;

    if (join->join.kind > JOIN_FULL)
        return;
    not_left = refuses_null(e, left);
    not_right = refuses_null(e, right);
    if (not_right && join->join.kind == JOIN_LEFT)
        join->join.kind = JOIN_INNER;
    if (not_right && join->join.kind == JOIN_FULL)
        join->join.kind = JOIN_RIGHT;
    if (not_left && join->join.kind == JOIN_RIGHT)
        join->join.kind = JOIN_INNER;
    if (not_left && join->join.kind == JOIN_FULL)
        join->join.kind = JOIN_LEFT;
}

/* ---------------------------------------------------------------- nodes -- */

/* Tests the condition below: of what is there the columns from `first` on are
 * the node's. */
static struct node *push_into(struct binder *binder, struct node *node,
                              struct node **below, struct expression *e,
                              unsigned first)
{
    e = expression_over(binder, e, *below, NULL, first);
    *below = e ? node_push(binder, *below, e) : NULL;
    return *below ? node : NULL;
}

static struct node *push_join(struct binder *binder, struct node *node,
                              struct expression *e)
{
    unsigned middle = node->left->column_count;
    enum join_kind kind;

    tighten(node, e);
    kind = node->join.kind;
    if (kind != JOIN_RIGHT && kind != JOIN_FULL && needs_only(e, 0, middle))
        return push_into(binder, node, &node->left, e, 0);
    if ((kind == JOIN_INNER || kind == JOIN_RIGHT)
        && needs_only(e, middle, node->column_count))
        return push_into(binder, node, &node->right, e, middle);
    return node_filter(binder, node, e);
}

static struct node *push_concat(struct binder *binder, struct node *node,
                                struct expression *e)
{
    for (size_t i = 0; i < node->parts.count; i++) {
        struct node **part = vector_at(&node->parts, i);
        if (push_into(binder, node, part, e, 0) == NULL)
            return NULL;
    }
    return node;
}

static struct expression *result_of(void *context, struct expression *e,
                                    bool *failed)
{
    const struct node *node = context;

    (void)failed;
    return e->kind == EXPRESSION_COLUMN ? node->results[e->column.number]
                                        : NULL;
}

/* Whether conditions go on down from a node of that kind. */
static bool leads_down(const struct node *node)
{
    return node->kind != NODE_ONCE && node->kind != NODE_TABLE
           && node->kind != NODE_VALUES && node->kind != NODE_LIMIT
           && node->kind != NODE_WINDOW;
}

static struct node *push_select(struct binder *binder, struct node *node,
                                struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *inner = expression_replace(binder, e, result_of, node);

    if (inner == NULL)
        return NULL;
    if (inner->faults || inner->size > PUSHED_PARTS_MAX)
        return node_filter(binder, node, e);
    if (leads_down(node->left)) {
        node->left = node_push(binder, node->left, inner);
        return node->left ? node : NULL;
    }
    node->where = node->where ? expression_operator(binder, AST_AND,
                                                    node->where, inner, &place)
                              : inner;
    return node->where ? node : NULL;
}

struct node *node_push(struct binder *binder, struct node *node,
                       struct expression *e)
{
    bool below = !e->faults;

    if (stack_is_short())
        return stack_refuse(binder->error, e->at), NULL;
    switch (node->kind) {
    case NODE_SELECT:
        return push_select(binder, node, e);
    case NODE_JOIN:
        if (below)
            return push_join(binder, node, e);
        break;
    case NODE_CONCAT:
        if (below)
            return push_concat(binder, node, e);
        break;
    case NODE_GROUP:
        below &= node->group.keys > 0 && needs_only(e, 0, node->group.keys);
        break;
    case NODE_SORT:
        below &= node->sort.limit == UINT64_MAX && node->sort.offset == 0;
        break;
    case NODE_MAP:
    case NODE_APPLY:
        below &= needs_only(e, 0, node->left->column_count);
        break;
    default:
        below = false;
        break;
    }
    return below ? push_into(binder, node, &node->left, e, 0)
                 : node_filter(binder, node, e);
}
