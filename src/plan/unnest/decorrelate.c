/* SPDX-License-Identifier: MIT */
/*
 * Takes the conditions that name an outer query's columns out of a subquery,
 * so that they can become those of a join (unnest.c). Each node on the way is
 * made anew: it keeps its columns and adds, behind them, those that the
 * conditions need. Where a condition would mean something else outside, as
 * behind a LIMIT, that is refused, and nothing has changed.
 */
#include "plan/unnest/decorrelate.h"

#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/unnest/decorrelate_inner.h"
#include "plan/condition/split.h"
#include "plan/tree/binder.h"
#include "plan/tree/common.h"
#include "plan/tree/node_fails.h"

/* ------------------------------------------------------------- looking -- */

struct looking {
    const struct vector *parameters; /* of struct outer_value */
    bool columns, outer;
};

static bool look(void *context, struct expression **operand)
{
    struct looking *looking = context;
    const struct expression *e = *operand;

    looking->columns |= e->kind == EXPRESSION_COLUMN;
    for (size_t i = 0;
         e->kind == EXPRESSION_PARAMETER && i < looking->parameters->count;
         i++) {
        const struct outer_value *value = vector_at(looking->parameters, i);
        looking->outer |= value->parameter == e->parameter.number;
    }
    return expression_each(*operand, look, context);
}

static struct looking look_at(const struct vector *parameters,
                              const struct expression *e)
{
    struct looking looking = { .parameters = parameters };
    struct expression *place = (struct expression *)(uintptr_t)e;

    look(&looking, &place);
    return looking;
}

bool decorrelate_is_outer(const struct vector *parameters,
                          const struct expression *e)
{
    return look_at(parameters, e).outer;
}

bool decorrelate_fails(struct binder *binder, bool fails)
{
    binder->hoped |= fails && binder->hopes;
    return fails && !binder->hopes;
}

bool decorrelate_equality(const struct vector *parameters,
                          const struct expression *e, struct expression **inner,
                          struct expression **outer)
{
    struct looking left, right;

    if (!is_equality(e))
        return false;
    left = look_at(parameters, e->left);
    right = look_at(parameters, e->right);
    if (left.columns && !left.outer && right.outer && !right.columns) {
        *inner = e->left;
        *outer = e->right;
        return true;
    }
    *inner = e->right;
    *outer = e->left;
    return right.columns && !right.outer && left.outer && !left.columns;
}

bool decorrelate_node_is_outer(const struct vector *parameters,
                               const struct node *node)
{
    if (node == NULL)
        return false;
    if (stack_is_short() || (node->kind == NODE_COMMON && node->common->asks))
        return true; /* nobody can say */
    if (node->where != NULL && decorrelate_is_outer(parameters, node->where))
        return true;
    for (unsigned i = 0; node->results != NULL && i < node->column_count; i++)
        if (decorrelate_is_outer(parameters, node->results[i]))
            return true;
    for (size_t i = 0; i < node->parts.count; i++)
        if (decorrelate_node_is_outer(
                parameters, VECTOR_ITEMS(&node->parts, struct node *)[i]))
            return true;
    return decorrelate_node_is_outer(parameters, node->left)
           || decorrelate_node_is_outer(parameters, node->right);
}

/* ----------------------------------------------------------- renumbering -- */

struct node *decorrelate_refuse(struct decorrelating *decorrelating)
{
    decorrelating->refused = true;
    return NULL;
}

struct node *decorrelate_fail(struct decorrelating *decorrelating)
{
    error_no_memory(decorrelating->binder->error);
    return NULL;
}

/* The parts from number `first` on are over `node` from here on. */
static bool renumber_parts(struct decorrelating *decorrelating, size_t first,
                           const struct node *node, const int *columns)
{
    for (size_t i = first; i < decorrelating->parts.count; i++) {
        struct expression **part = vector_at(&decorrelating->parts, i);
        *part = expression_over(decorrelating->binder, *part, node, columns, 0);
        if (*part == NULL)
            return false;
    }
    return true;
}

struct node *decorrelate_in_front(struct decorrelating *decorrelating,
                                  struct node *node, const int *columns,
                                  unsigned count)
{
    struct binder *binder = decorrelating->binder;
    unsigned all = node->column_count, placed = count;
    struct expression **results =
        arena_alloc(binder->arena, (all + count + 1) * sizeof(*results));
    const char **names =
        arena_alloc(binder->arena, (all + count + 1) * sizeof(*names));
    int *now = arena_alloc(binder->arena, (all + 1) * sizeof *now);
    struct node *select;

    if (results == NULL || names == NULL || now == NULL)
        return decorrelate_fail(decorrelating);
    for (unsigned i = 0; i < all; i++)
        now[i] = -1;
    for (unsigned i = 0; i < count; i++)
        now[columns[i]] = (int)i;
    for (unsigned i = 0; i < all; i++)
        if (now[i] < 0)
            now[i] = (int)placed++;
    for (unsigned i = 0; i < all; i++) {
        results[now[i]] = node_column(binder, node, i, (struct position){ 0 });
        names[now[i]] = node->columns[i].name;
        if (results[now[i]] == NULL)
            return NULL;
    }
    select = node_select(binder, node, NULL, results, names, placed);
    return select && renumber_parts(decorrelating, 0, select, now) ? select
                                                                   : NULL;
}

/* -------------------------------------------------------------- select -- */

/* The results of a SELECT, and more behind them. */
struct widening {
    struct decorrelating *decorrelating;
    struct vector results; /* of struct expression * */
};

/* The number of a result; added where there is none yet. */
static int result_for(struct widening *widening, struct expression *e)
{
    int number = expression_find(&widening->results, 0, e);

    if (number >= 0 || !vector_append(&widening->results, &e, 1))
        return number;
    return (int)widening->results.count - 1;
}

/* A result as a column of the SELECT that is yet to be made. */
static struct expression *result_column(struct widening *widening,
                                        struct expression *e)
{
    struct binder *binder = widening->decorrelating->binder;
    int number = result_for(widening, e);
    struct expression *column =
        number < 0 ? (error_no_memory(binder->error), NULL)
                   : expression_new(binder, EXPRESSION_COLUMN, e->type, e->at);

    if (column == NULL)
        return NULL;
    column->column.number = number;
    column->name = e->name;
    column->precision = e->precision;
    column->scale = e->scale;
    column->nullable = e->nullable;
    column->range = e->range;
    return column;
}

static struct expression *as_result(void *context, struct expression *e,
                                    bool *failed)
{
    struct expression *column;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    column = result_column(context, e);
    *failed = column == NULL;
    return column;
}

/* A part over the results: the inner side of an equality is one of them, so
 * that rows can be grouped by it. */
static struct expression *widen_for(struct widening *widening,
                                    struct expression *part)
{
    struct decorrelating *decorrelating = widening->decorrelating;
    struct ast_expression place = { .at = part->at };
    struct expression *inner, *outer;

    if (!decorrelate_equality(decorrelating->parameters, part, &inner, &outer))
        return expression_replace(decorrelating->binder, part, as_result,
                                  widening);
    inner = result_column(widening, inner);
    return inner ? expression_operator(decorrelating->binder, AST_EQ, inner,
                                       outer, &place)
                 : NULL;
}

/* Splits WHERE into what stays and what is taken out. */
static bool split_where(struct decorrelating *decorrelating,
                        struct expression *where, struct expression **stays)
{
    struct vector parts =
        VECTOR_IN(decorrelating->binder->arena, struct expression *);
    struct ast_expression place = { .at = where->at };
    bool done =
        split_condition(decorrelating->binder, where, &parts) == VDBQ_OK;

    for (size_t i = 0; i < parts.count && done; i++) {
        struct expression *e = VECTOR_ITEMS(&parts, struct expression *)[i];
        if (decorrelate_is_outer(decorrelating->parameters, e)) {
            done = vector_append(&decorrelating->parts, &e, 1)
                   || decorrelate_fail(decorrelating) != NULL;
        } else {
            *stays = *stays ? expression_operator(decorrelating->binder,
                                                  AST_AND, *stays, e, &place)
                            : e;
            done = *stays != NULL;
        }
    }
    return done && !decorrelating->refused;
}

static struct node *widened(struct widening *widening, const struct node *node,
                            struct node *below, struct expression *where)
{
    struct decorrelating *decorrelating = widening->decorrelating;
    unsigned count;
    const char **names;

    if (!vector_append(&widening->results, node->results, node->column_count))
        return decorrelate_fail(decorrelating);
    for (size_t i = 0; i < decorrelating->parts.count; i++) {
        struct expression **part = vector_at(&decorrelating->parts, i);
        *part = widen_for(widening, *part);
        if (*part == NULL)
            return NULL;
    }
    count = (unsigned)widening->results.count;
    names =
        arena_alloc(decorrelating->binder->arena, (count + 1) * sizeof(*names));
    if (names == NULL)
        return decorrelate_fail(decorrelating);
    for (unsigned i = 0; i < count; i++)
        names[i] = i < node->column_count ? node->columns[i].name : "";
    return node_select(decorrelating->binder, below, where,
                       widening->results.items, names, count);
}

static struct node *decorrelate_select(struct decorrelating *decorrelating,
                                       struct node *node)
{
    struct widening widening = {
        .decorrelating = decorrelating,
        .results = VECTOR_IN(decorrelating->binder->arena, struct expression *)
    };
    struct expression *where = NULL;
    struct node *below, *made = NULL;

    for (unsigned i = 0; i < node->column_count; i++)
        if (decorrelate_is_outer(decorrelating->parameters, node->results[i]))
            return decorrelate_refuse(decorrelating);
    below = decorrelate_conditions(decorrelating, node->left);
    if (below != NULL
        && (node->where == NULL
            || split_where(decorrelating, node->where, &where)))
        made = widened(&widening, node, below, where);
    return made;
}

/* --------------------------------------------------------------- joins -- */

/* Where the columns of a join are when its left side has more of them. */
static int *joined_columns(struct decorrelating *decorrelating,
                           const struct node *node, const struct node *left)
{
    unsigned before = node->left->column_count;
    unsigned count =
        before + (node->join.kind == JOIN_MARK ? 1 : node->right->column_count);
    int *columns = arena_alloc(decorrelating->binder->arena,
                               (count + 1) * sizeof *columns);

    if (columns == NULL)
        return decorrelate_fail(decorrelating), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)(i < before ? i : i - before + left->column_count);
    return columns;
}

/* Conditions come from the side whose rows a join keeps or leaves out as they
 * are: the left one, of inner joins the right one, too. */
static bool can_decorrelate_join(const struct decorrelating *decorrelating,
                                 const struct node *node)
{
    if (node->where != NULL
        && decorrelate_is_outer(decorrelating->parameters, node->where))
        return false;
    if (node->join.kind == JOIN_RIGHT || node->join.kind == JOIN_FULL)
        return false;
    return node->join.kind == JOIN_INNER
           || !decorrelate_node_is_outer(decorrelating->parameters,
                                         node->right);
}

/* The condition of a join sees both sides. */
static struct expression *join_where(struct decorrelating *decorrelating,
                                     const struct node *node, struct node *made,
                                     const int *columns)
{
    struct node *both = made;

    if (made->join.kind > JOIN_FULL)
        both = node_join(decorrelating->binder, JOIN_INNER, made->left,
                         made->right);
    return both ? expression_over(decorrelating->binder, node->where, both,
                                  columns, 0)
                : NULL;
}

static struct node *rejoin(struct decorrelating *decorrelating,
                           const struct node *node, struct node *left,
                           struct node *right)
{
    int *columns = joined_columns(decorrelating, node, left);
    struct node *made =
        columns ? node_join(decorrelating->binder, node->join.kind, left, right)
                : NULL;

    if (made == NULL)
        return NULL;
    made->join = node->join;
    made->unnested = node->unnested;
    if (node->unnested && node->join.kind == JOIN_LEFT)
        node_keep_ranges(made);
    if (node->where != NULL) {
        made->where = join_where(decorrelating, node, made, columns);
        if (made->where == NULL)
            return NULL;
    }
    return decorrelate_in_front(decorrelating, made, columns,
                                node->column_count);
}

/* Parts of the right side are over the right side alone, until they are
 * joined with those of the left. */
static struct node *decorrelate_right(struct decorrelating *decorrelating,
                                      struct node *node, unsigned moved)
{
    struct vector before = decorrelating->parts;
    struct node *right;
    bool done = true;

    decorrelating->parts =
        VECTOR_IN(decorrelating->binder->arena, struct expression *);
    right = decorrelate_conditions(decorrelating, node);
    for (size_t i = 0; right != NULL && done && i < decorrelating->parts.count;
         i++) {
        struct expression *e =
            VECTOR_ITEMS(&decorrelating->parts, struct expression *)[i];
        e = expression_moved_by(decorrelating->binder, e, (int)moved);
        done = e != NULL
               && (vector_append(&before, &e, 1)
                   || decorrelate_fail(decorrelating) != NULL);
    }
    decorrelating->parts = before;
    return done ? right : NULL;
}

static struct node *decorrelate_join(struct decorrelating *decorrelating,
                                     struct node *node)
{
    struct node *left, *right = node->right;

    if (!can_decorrelate_join(decorrelating, node))
        return decorrelate_refuse(decorrelating);
    left = decorrelate_conditions(decorrelating, node->left);
    if (left != NULL && node->join.kind == JOIN_INNER)
        right =
            decorrelate_right(decorrelating, node->right, left->column_count);
    return left && right ? rejoin(decorrelating, node, left, right) : NULL;
}

/* -------------------------------------------------------------- others -- */

/* Order does not matter to what asks whether there is a row. */
static struct node *decorrelate_sort(struct decorrelating *decorrelating,
                                     struct node *node)
{
    struct node *below;
    int *columns;

    if (node->sort.limit != UINT64_MAX || node->sort.offset > 0)
        return decorrelate_refuse(decorrelating);
    below = decorrelate_conditions(decorrelating, node->left);
    columns = arena_alloc(decorrelating->binder->arena,
                          (node->column_count + 1) * sizeof *columns);
    if (below == NULL || columns == NULL)
        return columns ? NULL : decorrelate_fail(decorrelating);
    for (unsigned i = 0; i < node->column_count; i++)
        columns[i] = (int)i;
    return decorrelate_in_front(decorrelating, below, columns,
                                node->column_count);
}

/* Without its conditions a node has rows that nobody asks for, and one that asks
 * for nothing is run where perhaps nobody comes to it. */
static bool may_fail(const struct decorrelating *decorrelating,
                     const struct node *node, bool asks)
{
    return decorrelating->parameters->count > 0
           && decorrelate_fails(decorrelating->binder,
                                asks ? node_fails(node)
                                     : node_tree_fails(node));
}

struct node *decorrelate_conditions(struct decorrelating *decorrelating,
                                    struct node *node)
{
    bool asks = decorrelate_node_is_outer(decorrelating->parameters, node);

    if (stack_is_short() || may_fail(decorrelating, node, asks))
        return decorrelate_refuse(decorrelating);
    if (!asks)
        return node;
    switch (node->kind) {
    case NODE_SELECT:
        return decorrelate_select(decorrelating, node);
    case NODE_JOIN:
        return decorrelate_join(decorrelating, node);
    case NODE_GROUP:
        return decorrelate_group(decorrelating, node);
    case NODE_SORT:
        return decorrelate_sort(decorrelating, node);
    default:
        return decorrelate_refuse(decorrelating);
    }
}
