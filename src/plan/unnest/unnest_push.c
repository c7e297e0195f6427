/* SPDX-License-Identifier: MIT */
/*
 * A subquery's nodes, each for all tuples of the domain at once: what it makes
 * of its rows, it makes of those of each tuple. Rows of a tuple keep their order
 * among themselves; how rows of different tuples stand to one another does not
 * matter. What does not ask for anything stays as it is, until it meets what
 * does. Each node on the way is made anew.
 */
#include "base/os/stack.h"
#include "base/vector.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/operator.h"
#include "plan/unnest/decorrelate.h"
#include "plan/condition/split.h"
#include "plan/unnest/unnest_inner.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_fails.h"

/* The node below one, pushed into whether it asks or not. */
static struct node *push_below(struct unnesting *unnesting, struct node *below)
{
    return unnest_node_asks(unnesting, below) ? unnest_push(unnesting, below)
                                              : unnest_times(unnesting, below);
}

/* --------------------------------------------------------------- select -- */

/* The results, and the domain's columns behind them. */
static struct node *select_over(struct unnesting *unnesting,
                                const struct node *node, struct node *below,
                                struct expression *where)
{
    struct binder *binder = unnesting->binder;
    unsigned count = node->column_count, width = unnest_width(unnesting);
    unsigned first = node->left->column_count;
    struct expression **results =
        arena_alloc(binder->arena, (count + width + 1) * sizeof(*results));
    struct node *made;

    if (results == NULL)
        return unnest_fail(unnesting);
    for (unsigned i = 0; i < count + width; i++) {
        results[i] = i < count ? unnest_over(unnesting, node->results[i], below,
                                             NULL, first)
                               : node_column(binder, below, first + i - count,
                                             (struct position){ 0 });
        if (results[i] == NULL || unnest_fails(unnesting, results[i]))
            return NULL;
    }
    made = node_select(binder, below, where, results, NULL, count + width);
    for (unsigned i = 0; made != NULL && i < count; i++)
        made->columns[i].name = node->columns[i].name;
    return made;
}

static struct node *push_select(struct unnesting *unnesting, struct node *node)
{
    struct vector parts =
        VECTOR_IN(unnesting->binder->arena, struct expression *);
    struct expression *where = NULL;
    struct node *below;

    if (!unnest_node_asks(unnesting, node->left)) {
        if (node->where != NULL
            && split_condition(unnesting->binder, node->where, &parts)
                   != VDBQ_OK)
            return NULL;
        below = unnest_where(unnesting, node->left, &parts);
    } else {
        below = unnest_push(unnesting, node->left);
        if (below != NULL && node->where != NULL) {
            where = unnest_over(unnesting, node->where, below, NULL,
                                node->left->column_count);
            if (where == NULL || unnest_fails(unnesting, where))
                return NULL;
        }
    }
    return below ? select_over(unnesting, node, below, where) : NULL;
}

/* ---------------------------------------------------------------- limit -- */

/* A number that is compared with row numbers. */
static struct expression *bound_by(struct unnesting *unnesting,
                                   enum ast_operator operator,
                                   const struct node * numbered, uint64_t value)
{
    struct binder *binder = unnesting->binder;
    struct ast_expression place = { 0 };
    struct expression *number =
        node_column(binder, numbered, numbered->column_count - 1, place.at);
    struct expression *bound =
        expression_integer(binder, (int64_t)value, place.at);

    return number && bound
               ? expression_operator(binder, operator, number, bound, &place)
               : NULL;
}

/* The node with the number of each row among those of its tuple, whose columns
 * are those from `first` on. */
static struct node *number_rows(struct unnesting *unnesting, struct node *node,
                                unsigned first)
{
    unsigned count = unnest_width(unnesting);
    int *keys = unnest_numbers(unnesting, count);

    for (unsigned i = 0; keys != NULL && i < count; i++)
        keys[i] = (int)(first + i);
    return keys ? node_number_rows(unnesting->binder, node, keys, count, NULL)
                : NULL;
}

/* So many rows of each tuple; the first `count` columns stay. */
static struct node *limit_rows(struct unnesting *unnesting, struct node *node,
                               unsigned count, unsigned first, uint64_t offset,
                               uint64_t limit)
{
    struct expression *where = NULL, *last;
    int *columns = unnest_numbers(unnesting, count);
    struct node *numbered = number_rows(unnesting, node, first);
    bool ends = limit < INT64_MAX && offset < INT64_MAX - limit;

    if (columns == NULL || numbered == NULL)
        return NULL;
    where = bound_by(unnesting, AST_GT, numbered,
                     offset < INT64_MAX ? offset : INT64_MAX);
    if (where != NULL && ends) {
        last = bound_by(unnesting, AST_LE, numbered, offset + limit);
        where = last ? unnest_and(unnesting, where, last) : NULL;
    }
    node = where ? node_filter(unnesting->binder, numbered, where) : NULL;
    return node ? unnest_columns(unnesting, node, columns, count, first) : NULL;
}

static struct node *push_limit(struct unnesting *unnesting, struct node *node)
{
    struct node *below;

    if (node->right != NULL)
        return unnest_refuse(unnesting);
    below = unnest_push(unnesting, node->left);
    return below ? limit_rows(unnesting, below, node->column_count,
                              node->column_count, node->limit.offset,
                              node->limit.limit)
                 : NULL;
}

static struct node *push_sort(struct unnesting *unnesting, struct node *node)
{
    unsigned first = node->left->column_count;
    struct node *below = unnest_push(unnesting, node->left);
    struct node *sort = below ? node_sort(unnesting->binder, below,
                                          &node->sort.keys, below->column_count)
                              : NULL;
    int *columns = unnest_numbers(unnesting, node->column_count);

    if (sort == NULL || columns == NULL)
        return NULL;
    if (node->sort.limit == UINT64_MAX && node->sort.offset == 0)
        return unnest_columns(unnesting, sort, columns, node->column_count,
                              first);
    return limit_rows(unnesting, sort, node->column_count, first,
                      node->sort.offset, node->sort.limit);
}

/* --------------------------------------------------------------- concat -- */

static struct node *push_concat(struct unnesting *unnesting, struct node *node)
{
    size_t count = node->parts.count;
    struct node **parts =
        arena_alloc(unnesting->binder->arena, (count + 1) * sizeof(*parts));

    if (parts == NULL)
        return unnest_fail(unnesting);
    for (size_t i = 0; i < count; i++) {
        parts[i] =
            push_below(unnesting, VECTOR_ITEMS(&node->parts, struct node *)[i]);
        if (parts[i] == NULL)
            return NULL;
    }
    return node_concat(unnesting->binder, parts, (unsigned)count);
}

/* ------------------------------------------------- nodes with more columns -- */

/* Puts the columns that a node has added, which stand behind the domain's, in
 * front of these. */
static struct node *domain_last(struct unnesting *unnesting,
                                const struct node *node, struct node *made)
{
    unsigned first = node->left->column_count;
    int *columns = unnest_numbers(unnesting, node->column_count);

    if (columns == NULL)
        return NULL;
    for (unsigned i = first; i < node->column_count; i++) {
        columns[i] += (int)unnest_width(unnesting);
        made->columns[columns[i]] = node->columns[i];
    }
    return unnest_columns(unnesting, made, columns, node->column_count, first);
}

/* Partitions are those of a tuple. */
static bool part_functions(struct unnesting *unnesting, const struct node *node,
                           struct vector *functions)
{
    struct binder *binder = unnesting->binder;

    for (size_t i = 0; i < node->window.functions.count; i++) {
        struct step_window_function function = VECTOR_ITEMS(
            &node->window.functions, struct step_window_function)[i];
        struct vector partition = VECTOR_IN(binder->arena, int);
        bool done = vector_append(&partition, function.partition.items,
                                  function.partition.count);
        for (unsigned c = 0; c < unnest_width(unnesting) && done; c++) {
            int column = (int)(node->left->column_count + c);
            done = vector_append(&partition, &column, 1);
        }
        function.partition = partition;
        if (!done || !vector_append(functions, &function, 1))
            return unnest_fail(unnesting) != NULL;
    }
    return true;
}

static struct node *push_window(struct unnesting *unnesting, struct node *node)
{
    struct binder *binder = unnesting->binder;
    struct vector functions =
        VECTOR_IN(binder->arena, struct step_window_function);
    struct node *below = unnest_push(unnesting, node->left), *made;

    if (below == NULL || !part_functions(unnesting, node, &functions))
        return NULL;
    made = node_wider(binder, NODE_WINDOW, below,
                      node->column_count - node->left->column_count);
    if (made == NULL)
        return NULL;
    made->window.functions = functions;
    if (decorrelate_fails(unnesting->binder, node_fails(made)))
        return unnest_refuse(unnesting);
    return domain_last(unnesting, node, made);
}

static struct node *push_map(struct unnesting *unnesting, struct node *node)
{
    struct node *below, *made;

    if (decorrelate_fails(unnesting->binder, node_fails(node)))
        return unnest_refuse(unnesting);
    below = unnest_push(unnesting, node->left);
    made = below ? node_wider(unnesting->binder, NODE_MAP, below,
                              node->column_count - node->left->column_count)
                 : NULL;
    if (made == NULL)
        return NULL;
    made->map = node->map;
    return domain_last(unnesting, node, made);
}

/* ------------------------------------------------- subqueries in subqueries -- */

static bool add_value(struct unnesting *unnesting, struct vector *values,
                      int parameter, const struct node *below, unsigned column)
{
    struct outer_value value = { parameter,
                                 node_column(unnesting->binder, below, column,
                                             (struct position){ 0 }) };

    return value.value != NULL
           && (vector_append(values, &value, 1)
               || unnest_fail(unnesting) != NULL);
}

/* What an inner subquery asks of this one, and what it asks of the rows around
 * both, which are columns of `below` now. */
static bool inner_values(struct unnesting *unnesting, const struct node *node,
                         const struct node *below, struct vector *values)
{
    unsigned first = node->left->column_count;
    struct unnesting asked;

    for (size_t i = 0; i < node->apply.parameters.count; i++) {
        const struct step_parameter *parameter =
            vector_at(&node->apply.parameters, i);
        if (!add_value(unnesting, values, parameter->parameter, below,
                       (unsigned)parameter->column))
            return false;
    }
    if (!unnest_begin_for(unnesting, node->right, &asked))
        return false;
    for (size_t i = 0; i < asked.parameters->count; i++) {
        const struct outer_value *outer = vector_at(asked.parameters, i);
        int column = unnest_column(unnesting, outer->parameter);
        if (!add_value(unnesting, values, outer->parameter, below,
                       first + (unsigned)column))
            return false;
    }
    return true;
}

/* The answers of an inner subquery, as an expression over rows that ask this
 * one, too. */
static struct expression *inner_query(struct unnesting *unnesting,
                                      const struct node *node,
                                      const struct node *below)
{
    struct binder *binder = unnesting->binder;
    const struct node_column *column = &node->columns[node->column_count - 1];
    struct subquery *subquery = arena_alloc(binder->arena, sizeof *subquery);
    struct expression *e = expression_new(binder, EXPRESSION_SUBQUERY,
                                          column->type, (struct position){ 0 });

    if (subquery == NULL || e == NULL)
        return unnest_fail(unnesting), NULL;
    *subquery = (struct subquery){
        .kind = node->kind == NODE_JOIN ? APPLY_IN : node->apply.kind,
        .node = node->right,
        .parameters = VECTOR_IN(binder->arena, struct outer_value)
    };
    if (!inner_values(unnesting, node, below, &subquery->parameters))
        return NULL;
    e->subquery = subquery;
    e->precision = column->precision;
    e->scale = column->scale;
    if (subquery->kind == APPLY_IN)
        e->left = node_column(
            binder, below,
            (unsigned)(node->kind == NODE_JOIN
                           ? VECTOR_ITEMS(&node->join.left_keys, int)[0]
                           : node->apply.column),
            e->at);
    return subquery->kind != APPLY_IN || e->left ? e : NULL;
}

/* A NODE_APPLY, or a mark join whose right side asks: the inner subquery is
 * unnested, its answers standing beside this one's rows. */
static struct node *push_apply(struct unnesting *unnesting, struct node *node)
{
    struct binder *binder = unnesting->binder;
    unsigned last = node->column_count - 1, first = node->left->column_count;
    struct unnesting inner = { .binder = binder };
    struct node *below = push_below(unnesting, node->left), *made;
    struct expression *e = below ? inner_query(unnesting, node, below) : NULL,
                      *value;
    int *columns = unnest_numbers(unnesting, node->column_count);

    if (e == NULL || columns == NULL)
        return NULL;
    inner.parameters = &e->subquery->parameters;
    inner.below = below;
    if (!unnest_begin(&inner))
        return NULL;
    made = unnest_by_domain(&inner, e, &value);
    unnesting->refused |= inner.refused;
    if (made == NULL || unnesting->refused)
        return NULL;
    columns[last] = node_column_for(binder, &made, value);
    return columns[last] < 0 ? NULL
                             : unnest_columns(unnesting, made, columns,
                                              node->column_count, first);
}

/* ---------------------------------------------------------------- late -- */

/* Whether one of the parts is an equality. */
static bool has_key(const struct unnesting *unnesting,
                    const struct vector *parts)
{
    struct expression *inner, *outer;

    for (size_t i = 0; i < parts->count; i++)
        if (decorrelate_equality(unnesting->parameters,
                                 VECTOR_ITEMS(parts, struct expression *)[i],
                                 &inner, &outer))
            return true;
    return false;
}

/* Where a row may belong to many tuples, for no equality says to which, all else
 * that is known of it alone comes first. NULL: a failure, or (`*done` false) it
 * is not like that. */
static struct node *push_late(struct unnesting *unnesting, struct node *node,
                              bool *done)
{
    struct decorrelating decorrelating = {
        .binder = unnesting->binder,
        .parameters = unnesting->parameters,
        .parts = VECTOR_IN(unnesting->binder->arena, struct expression *)
    };
    struct node *made = NULL;
    unsigned count = node->column_count;
    int *columns = unnest_numbers(unnesting, count);

    *done = false;
    if (node->kind == NODE_SELECT || node->kind == NODE_JOIN)
        made = decorrelate_conditions(&decorrelating, node);
    if (made == NULL || columns == NULL) {
        *done = unnesting->binder->error->status != VDBQ_OK;
        return NULL;
    }
    *done = decorrelating.parts.count > 0
            && !has_key(unnesting, &decorrelating.parts);
    if (!*done)
        return NULL;
    node = unnest_where(unnesting, made, &decorrelating.parts);
    return node ? unnest_columns(unnesting, node, columns, count,
                                 made->column_count)
                : NULL;
}

/* ------------------------------------------------------------------ all -- */

/* A NODE_APPLY whose query asks this subquery's rows alone stays beside them. */
static struct node *keep_apply(struct unnesting *unnesting, struct node *node)
{
    struct node *below = unnest_push(unnesting, node->left);
    struct node *made =
        below ? node_wider(unnesting->binder, NODE_APPLY, below, 1) : NULL;

    if (made == NULL)
        return NULL;
    made->right = node->right;
    made->apply = node->apply;
    return domain_last(unnesting, node, made);
}

struct node *unnest_push(struct unnesting *unnesting, struct node *node)
{
    struct node *made;
    bool done;

    if (stack_is_short() || unnesting->refused)
        return unnest_refuse(unnesting);
    if (!unnest_node_asks(unnesting, node))
        return unnest_times(unnesting, node);
    made = push_late(unnesting, node, &done);
    if (done)
        return made;
    switch (node->kind) {
    case NODE_SELECT:
        return push_select(unnesting, node);
    case NODE_JOIN:
        return node->join.kind == JOIN_MARK
                       && unnest_node_asks(unnesting, node->right)
                   ? push_apply(unnesting, node)
                   : unnest_push_join(unnesting, node);
    case NODE_GROUP:
        return unnest_push_group(unnesting, node);
    case NODE_SORT:
        return push_sort(unnesting, node);
    case NODE_LIMIT:
        return push_limit(unnesting, node);
    case NODE_CONCAT:
        return push_concat(unnesting, node);
    case NODE_WINDOW:
        return push_window(unnesting, node);
    case NODE_MAP:
        return push_map(unnesting, node);
    case NODE_APPLY:
        return unnest_node_asks(unnesting, node->right)
                   ? push_apply(unnesting, node)
                   : keep_apply(unnesting, node);
    default:
        return unnest_refuse(unnesting);
    }
}
