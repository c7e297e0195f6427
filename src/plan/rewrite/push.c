/* SPDX-License-Identifier: MIT */
/*
 * Conditions go down, towards the tables, as far as they mean the same there:
 * rows that nobody keeps need not be joined, grouped or sorted first. On the
 * way an outer join whose NULLs a condition refuses becomes an inner one.
 * What can fail stays where it was written.
 */
#include "plan/rewrite/push.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/condition/refuses.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"
#include "plan/tree/node_readers.h"
#include "plan/tree/passes.h"

/* Past that, a condition with results in the place of columns is too much to
 * be computed once more. */
enum { PUSHED_PARTS_MAX = 1000 };

/* ------------------------------------------------------------- columns -- */

static bool is_within(void *context, struct expression **operand)
{
    const struct between *columns = context;
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN)
        return e->column.number >= columns->low
               && e->column.number < columns->high;
    return expression_each(*operand, is_within, context);
}

bool push_needs_only(struct expression *e, unsigned low, unsigned high)
{
    struct between columns = { (int)low, (int)high };

    return is_within(&columns, &e);
}

/* ---------------------------------------------------------- outer joins -- */

/* Rows that the condition refuses need not be made. */
static void tighten(struct node *join, const struct expression *e)
{
    int middle = (int)join->left->column_count;
    struct between left = { 0, middle };
    struct between right = { middle, (int)join->column_count };

    if (join->join.kind <= JOIN_FULL)
        join_tighten(join, refuses_null(e, left), refuses_null(e, right));
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
    if (kind != JOIN_RIGHT && kind != JOIN_FULL
        && push_needs_only(e, 0, middle))
        return push_into(binder, node, &node->left, e, 0);
    if ((kind == JOIN_INNER || kind == JOIN_RIGHT)
        && push_needs_only(e, middle, node->column_count))
        return push_into(binder, node, &node->right, e, middle);
    return node_filter(binder, node, e);
}

static struct expression *result_of(void *context, struct expression *e,
                                    bool *failed)
{
    const struct node *node = context;

    (void)failed;
    return e->kind == EXPRESSION_COLUMN ? node->results[e->column.number]
                                        : NULL;
}

/* Whether a condition is one number for all rows: that it keeps all, or (`kept` false)
 * none. */
static bool is_decided(const struct expression *e, bool kept)
{
    return e->kind == EXPRESSION_CONSTANT && e->type != VDBQ_TEXT
           && !is_float(e->type)
           && kept == (!e->constant.null && e->constant.integer != 0);
}

/* Whether a part of a UNION ALL has no row that a condition keeps, as it has one value in
 * all of them. `*none` is not set where that fails. */
static bool find_none(struct binder *binder, struct node *part,
                      struct expression *e, bool *none)
{
    struct expression *inner;

    *none = false;
    if (part->kind != NODE_SELECT)
        return true;
    inner = expression_replace(binder, e, result_of, part);
    *none = inner != NULL && is_decided(inner, false);
    return inner != NULL;
}

/* Leaves the parts out that have no row which the condition keeps, but for the last one
 * where all are so. */
static bool leave_out(struct binder *binder, struct node *node,
                      struct expression *e)
{
    struct node **parts = node->parts.items;
    size_t kept = 0, count = node->parts.count;

    for (size_t i = 0; i < count; i++) {
        bool none;
        if (!find_none(binder, parts[i], e, &none))
            return false;
        if (!none || (kept == 0 && i + 1 == count))
            parts[kept++] = parts[i];
    }
    node->parts.count = kept;
    return true;
}

/* The only part of a UNION ALL that is left, in its place. */
static struct node *only_part(const struct node *node)
{
    struct node *part = VECTOR_ITEMS(&node->parts, struct node *)[0];

    for (unsigned i = 0; i < node->column_count; i++)
        part->columns[i].name = node->columns[i].name;
    part->called = node->called;
    return part;
}

static struct node *push_concat(struct binder *binder, struct node *node,
                                struct expression *e)
{
    if (!leave_out(binder, node, e))
        return NULL;
    for (size_t i = 0; i < node->parts.count; i++) {
        struct node **part = vector_at(&node->parts, i);
        if (push_into(binder, node, part, e, 0) == NULL)
            return NULL;
    }
    return node->parts.count == 1 ? only_part(node) : node;
}

/* Whether all functions of a window node part the rows by a column, too. */
static bool parts_by(const struct node *window, int column)
{
    for (size_t i = 0; i < window->window.functions.count; i++) {
        const struct step_window_function *function =
            vector_at(&window->window.functions, i);
        bool found = false;
        for (size_t k = 0; k < function->partition.count && !found; k++)
            found = VECTOR_ITEMS(&function->partition, int)[k] == column;
        if (!found)
            return false;
    }
    return true;
}

/* Whether the columns of an expression are the same in all rows of each
 * partition; 0 and -0 are not. */
static bool is_of_partition(void *window, struct expression **operand)
{
    const struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN)
        return !is_float(e->type) && parts_by(window, e->column.number);
    return expression_each(*operand, is_of_partition, window);
}

/* Whether a condition keeps or refuses whole partitions. Where all rows are one,
 * the window may number the rows of an outer join, and stand in two places. */
static bool passes_window(struct binder *binder, struct node *window,
                          struct expression *e)
{
    return pass_is_on(binder, "filter partitions")
           && expression_has(e, EXPRESSION_COLUMN) && !e->faults
           && !node_fails(window) && is_of_partition(window, &e);
}

/* Whether a condition goes on down from a node. */
static bool leads_down(struct binder *binder, struct node *node,
                       struct expression *e)
{
    if (node->kind == NODE_WINDOW)
        return passes_window(binder, node, e);
    return node->kind != NODE_ONCE && node->kind != NODE_TABLE
           && node->kind != NODE_VALUES && node->kind != NODE_LIMIT
           && node->kind != NODE_COMMON && node->kind != NODE_WORKING
           && node->kind != NODE_RECURSE;
}

static struct node *push_select(struct binder *binder, struct node *node,
                                struct expression *e)
{
    struct ast_expression place = { .at = e->at };
    struct expression *inner = expression_replace(binder, e, result_of, node);

    if (inner == NULL)
        return NULL;
    if (is_decided(inner, true))
        return node;
    if (inner->faults || inner->size > PUSHED_PARTS_MAX)
        return node_filter(binder, node, e);
    if (leads_down(binder, node->left, inner)) {
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
    if (!node_has_one_reader(node)) /* the others want all its rows */
        return node_filter(binder, node, e);
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
        below &=
            node->group.keys > 0 && push_needs_only(e, 0, node->group.keys);
        break;
    case NODE_SORT:
        below &= node->sort.limit == UINT64_MAX && node->sort.offset == 0;
        break;
    case NODE_WINDOW:
        below = passes_window(binder, node, e);
        break;
    case NODE_MAP:
    case NODE_APPLY:
        below &= push_needs_only(e, 0, node->left->column_count);
        break;
    default:
        below = false;
        break;
    }
    return below ? push_into(binder, node, &node->left, e, 0)
                 : node_filter(binder, node, e);
}
