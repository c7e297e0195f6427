/* SPDX-License-Identifier: MIT */
/*
 * A SELECT becomes nodes: what FROM names is joined and filtered, groups are
 * made, HAVING filters them, windows are computed, which QUALIFY tests, and the
 * results are what is left. ORDER BY belongs to it: it may use what the results do not have.
 */
#include "plan/bind/select.h"

#include "base/os/stack.h"
#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/bind.h"
#include "plan/bind/clause.h"
#include "plan/bind/from.h"
#include "plan/bind/query.h"
#include "plan/bind/scope.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/collate.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"

/* -------------------------------------------------------------- results -- */

/* The alias; else a column's name; else the expression as it is written. */
static const char *result_name(const struct binder *binder,
                               const struct ast_result *result,
                               const struct expression *expression)
{
    const struct ast_expression *tree = result->expression;

    if (result->alias.text != NULL)
        return result->alias.text;
    if (tree->kind == AST_COLUMN && expression->name != NULL)
        return expression->name;
    return arena_copy(binder->arena, binder->sql + tree->begin,
                      tree->end - tree->begin);
}

enum vdbq_status bind_result_list(struct binder *binder,
                                  const struct ast_result *list,
                                  struct vector *results)
{
    enum vdbq_status status = VDBQ_OK;

    for (; list != NULL && status == VDBQ_OK; list = list->next) {
        struct result made = { .alias = list->alias.text != NULL };
        if (list->star) {
            status = select_star(binder, list, bind_expression, results);
            continue;
        }
        made.expression = bind_expression(binder, list->expression);
        if (made.expression != NULL)
            made.name = result_name(binder, list, made.expression);
        status = select_add_result(binder, results, &made);
    }
    return status;
}

static enum vdbq_status bind_results(struct selecting *selecting)
{
    struct scope *scope = selecting->binder->scope;
    enum vdbq_status status;

    scope->aggregates = scope->windows = true;
    status = bind_result_list(selecting->binder, selecting->select->results,
                              &selecting->results);
    scope->aggregates = scope->windows = false;
    return status;
}

/* The result of that number, from 1. */
static struct expression *result_at(struct selecting *selecting,
                                    const struct ast_expression *tree)
{
    const struct result *result;

    if (tree->integer < 1
        || (uint64_t)tree->integer > selecting->results.count) {
        error_at(selecting->binder->error, VDBQ_RANGE, tree->at,
                 "there is no result %lld: the query has %zu",
                 (long long)tree->integer, selecting->results.count);
        return NULL;
    }
    result = vector_at(&selecting->results, (size_t)tree->integer - 1);
    return result->expression;
}

/* ---------------------------------------------------------------- WHERE -- */

/* Puts a part of the condition to those of FROM, or to those with random(), which
 * is made of a window: these are tested of the rows that the others leave. */
static enum vdbq_status add_part(struct selecting *selecting,
                                 struct expression *part, struct from *from)
{
    struct binder *binder = selecting->binder;
    struct ast_expression place = { .at = part->at };

    if (!expression_has(part, EXPRESSION_WINDOW))
        return vector_append(&from->conditions, &part, 1)
                   ? VDBQ_OK
                   : error_no_memory(binder->error);
    selecting->random =
        selecting->random == NULL
            ? part
            : expression_operator(binder, AST_AND, selecting->random, part,
                                  &place);
    return selecting->random ? VDBQ_OK : binder->error->status;
}

/* What has no random() stays one part. */
static enum vdbq_status add_parts(struct selecting *selecting,
                                  struct expression *where, struct from *from)
{
    if (stack_is_short())
        return stack_refuse(selecting->binder->error, where->at);
    while (where->kind == EXPRESSION_OPERATOR && where->operation.op == AST_AND
           && expression_has(where, EXPRESSION_WINDOW)) {
        enum vdbq_status status = add_parts(selecting, where->left, from);
        if (status != VDBQ_OK)
            return status;
        where = where->right;
    }
    return add_part(selecting, where, from);
}

/* Each grouping of several has the SELECT anew, with other random numbers. */
static enum vdbq_status refuse_groupings(const struct selecting *selecting)
{
    error_at(selecting->binder->error, VDBQ_SYNTAX, selecting->random->at,
             "random() in WHERE does not go with several groupings");
    return error_hint(selecting->binder->error,
                      "a query in FROM may have it as a column");
}

static enum vdbq_status bind_where(struct selecting *selecting,
                                   struct from *from)
{
    struct binder *binder = selecting->binder;
    struct expression *where;
    enum vdbq_status status;

    if (selecting->select->where == NULL)
        return VDBQ_OK;
    binder->scope->random = true;
    where = bind_condition(binder, selecting->select->where);
    binder->scope->random = false;
    if (where == NULL)
        return binder->error->status;
    status = add_parts(selecting, where, from);
    return status == VDBQ_OK && selecting->random != NULL
                   && select_has_sets(selecting->select)
               ? refuse_groupings(selecting)
               : status;
}

/* Only the rows for which a condition with random() is true. */
static enum vdbq_status test_random(struct selecting *selecting)
{
    struct binder *binder = selecting->binder;

    selecting->node =
        node_extend(binder, selecting->node, &selecting->random, 1);
    if (selecting->node != NULL)
        selecting->node = select_where_last(binder, selecting->node);
    return selecting->node ? VDBQ_OK : binder->error->status;
}

/* ------------------------------------------------------------- GROUP BY -- */

static enum vdbq_status add_key(struct selecting *selecting,
                                struct expression *key)
{
    if (key == NULL)
        return selecting->binder->error->status;
    if (expression_has(key, EXPRESSION_AGGREGATE))
        return error_at(selecting->binder->error, VDBQ_SYNTAX, key->at,
                        "what rows are grouped by is no aggregate");
    if (expression_has(key, EXPRESSION_WINDOW))
        return error_at(selecting->binder->error, VDBQ_SYNTAX, key->at,
                        "what rows are grouped by is no window function");
    if (!vector_append(&selecting->written, &key, 1))
        return error_no_memory(selecting->binder->error);
    key = collation_own_key(selecting->binder, key);
    if (key == NULL)
        return selecting->binder->error->status;
    return vector_append(&selecting->keys, &key, 1)
               ? VDBQ_OK
               : error_no_memory(selecting->binder->error);
}

static enum vdbq_status group_by_all(struct selecting *selecting)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < selecting->results.count && status == VDBQ_OK; i++) {
        const struct result *result = vector_at(&selecting->results, i);
        if (!expression_has(result->expression, EXPRESSION_AGGREGATE))
            status = add_key(selecting, result->expression);
    }
    return status;
}

/* A number is that of a result. */
static struct expression *bind_key(struct selecting *selecting,
                                   const struct ast_expression *tree)
{
    const struct ast_expression *named = named_before_collate(tree);

    if (named->kind != AST_INTEGER)
        return bind_expression(selecting->binder, tree);
    return collated_result(selecting->binder, result_at(selecting, named),
                           tree);
}

/* A key of several groupings, a new one unless it is there already. A query in it
 * would not be known as the same one where a result has it. */
static enum vdbq_status bind_set_key(struct selecting *selecting,
                                     const struct ast_expression *tree,
                                     int *number)
{
    struct expression *key = bind_key(selecting, tree);
    struct error *error = selecting->binder->error;

    *number = key ? expression_find(&selecting->written, 0, key) : -1;
    if (*number >= 0)
        return VDBQ_OK;
    *number = (int)selecting->keys.count;
    if (key == NULL || !expression_has(key, EXPRESSION_SUBQUERY))
        return add_key(selecting, key);
    error_at(error, VDBQ_SYNTAX, tree->at,
             "a key of one of several groupings has no query in it");
    error_hint(error, "a query in FROM can give its value");
    return error->status;
}

static enum vdbq_status bind_set_keys(struct selecting *selecting)
{
    enum vdbq_status status = select_read_sets(selecting);
    size_t count = selecting->terms.count;
    int *keys =
        arena_alloc(selecting->binder->arena, (count + 1) * sizeof *keys);

    if (keys == NULL)
        return error_no_memory(selecting->binder->error);
    for (size_t i = 0; i < count && status == VDBQ_OK; i++)
        status = bind_set_key(
            selecting,
            VECTOR_ITEMS(&selecting->terms, const struct ast_expression *)[i],
            &keys[i]);
    return status == VDBQ_OK ? select_number_sets(selecting, keys) : status;
}

static enum vdbq_status bind_keys(struct selecting *selecting)
{
    enum vdbq_status status = VDBQ_OK;

    if (selecting->select->group_all)
        return group_by_all(selecting);
    if (select_has_sets(selecting->select))
        return bind_set_keys(selecting);
    for (const struct ast_value *value = selecting->select->group;
         value != NULL && status == VDBQ_OK; value = value->next) {
        status = add_key(selecting, bind_key(selecting, value->expression));
    }
    return status;
}

static enum vdbq_status bind_having(struct selecting *selecting)
{
    struct binder *binder = selecting->binder;

    if (selecting->select->having == NULL)
        return VDBQ_OK;
    binder->scope->aggregates = true;
    binder->scope->results_first = selecting->select->group_all;
    selecting->having = bind_condition(binder, selecting->select->having);
    binder->scope->aggregates = false;
    binder->scope->results_first = false;
    return selecting->having ? VDBQ_OK : binder->error->status;
}

/* ------------------------------------------------------------- QUALIFY -- */

static bool has_window(const struct selecting *selecting)
{
    bool has = expression_has(selecting->qualify, EXPRESSION_WINDOW);

    for (size_t i = 0; i < selecting->results.count && !has; i++) {
        const struct result *result = vector_at(&selecting->results, i);
        has = expression_has(result->expression, EXPRESSION_WINDOW);
    }
    return has;
}

static enum vdbq_status bind_qualify(struct selecting *selecting)
{
    struct binder *binder = selecting->binder;
    const struct ast_expression *tree = selecting->select->qualify;
    struct scope *scope = binder->scope;

    if (tree == NULL)
        return VDBQ_OK;
    scope->aggregates = scope->windows = true;
    selecting->qualify = bind_condition(binder, tree);
    scope->aggregates = scope->windows = false;
    if (selecting->qualify == NULL || has_window(selecting))
        return binder->error->status;
    error_at(binder->error, VDBQ_SYNTAX, tree->at,
             "QUALIFY is a condition on window functions, and there is none");
    error_hint(binder->error, "WHERE is one on rows, HAVING one on groups");
    return binder->error->status;
}

/* ------------------------------------------------------------- ORDER BY -- */

/* A result by its number or its name; NULL: it is none, or (`*failed`) a
 * number that no result has. */
static struct expression *named_result(struct selecting *selecting,
                                       const struct ast_expression *tree,
                                       bool *failed)
{
    struct expression *e = NULL;

    *failed = false;
    if (tree->kind == AST_INTEGER) {
        e = result_at(selecting, tree);
        *failed = e == NULL;
        return e;
    }
    if (tree->kind != AST_COLUMN || tree->table.text != NULL)
        return NULL;
    for (size_t i = 0; i < selecting->results.count && e == NULL; i++) {
        const struct result *result = vector_at(&selecting->results, i);
        if (result->alias && name_equal(result->name, tree->column.text))
            e = result->expression;
    }
    return e;
}

/* A result, or an expression over the same columns. */
static struct expression *bind_term(struct selecting *selecting,
                                    const struct ast_expression *tree)
{
    struct binder *binder = selecting->binder;
    bool failed;
    struct expression *e =
        named_result(selecting, named_before_collate(tree), &failed);

    return e != NULL ? collated_result(binder, e, tree)
           : failed  ? NULL
                     : bind_expression(binder, tree);
}

/* Texts are put by their keys. */
static enum vdbq_status bind_distinct_on(struct selecting *selecting)
{
    struct binder *binder = selecting->binder;

    binder->scope->aggregates = binder->scope->windows = true;
    for (const struct ast_value *value = selecting->select->distinct_on;
         value != NULL; value = value->next) {
        struct expression *e = bind_term(selecting, value->expression);
        e = e ? collation_own_key(binder, e) : NULL;
        if (e == NULL)
            return binder->error->status;
        if (!vector_append(&selecting->distinct_on, &e, 1))
            return error_no_memory(binder->error);
    }
    binder->scope->aggregates = binder->scope->windows = false;
    return VDBQ_OK;
}

static enum vdbq_status bind_order(struct selecting *selecting)
{
    struct binder *binder = selecting->binder;
    const struct ast_order *order;

    if (!order_terms(binder, selecting->query,
                     (unsigned)selecting->results.count, &order))
        return binder->error->status;
    binder->scope->aggregates = binder->scope->windows = true;
    for (; order != NULL; order = order->next) {
        struct expression *e = bind_term(selecting, order->expression);
        struct order_term term;
        if (e == NULL)
            return binder->error->status;
        term = order_term(order, e);
        term.result = select_result_of(selecting, e);
        if (!vector_append(&selecting->order, &term, 1))
            return error_no_memory(binder->error);
    }
    binder->scope->aggregates = binder->scope->windows = false;
    return VDBQ_OK;
}

/* ------------------------------------------------------------- the rows -- */

static enum vdbq_status filter_groups(struct selecting *selecting)
{
    if (selecting->having == NULL)
        return VDBQ_OK;
    selecting->node =
        node_filter(selecting->binder, selecting->node, selecting->having);
    selecting->having = NULL;
    return selecting->node ? VDBQ_OK : selecting->binder->error->status;
}

/* ------------------------------------------------------------------ all -- */

/* Everything is bound over the columns of FROM ... */
static enum vdbq_status bind_parts(struct selecting *selecting,
                                   struct from *from)
{
    struct binder *binder = selecting->binder;
    enum vdbq_status status = bind_from(binder, selecting->select->from, from);

    if (status == VDBQ_OK)
        status = check_windows(binder);
    if (status == VDBQ_OK)
        status = bind_results(selecting);
    binder->scope->results = &selecting->results;
    if (status == VDBQ_OK)
        status = bind_where(selecting, from);
    if (status == VDBQ_OK)
        status = bind_keys(selecting);
    if (status == VDBQ_OK)
        status = bind_having(selecting);
    if (status == VDBQ_OK)
        status = bind_qualify(selecting);
    if (status == VDBQ_OK)
        status = bind_order(selecting);
    if (status == VDBQ_OK)
        status = bind_distinct_on(selecting);
    return status;
}

/* HAVING alone makes one group of all rows. */
static bool is_grouped(const struct selecting *selecting)
{
    return selecting->keys.count > 0 || selecting->select->group_all
           || selecting->having != NULL || selecting->binder->scope->aggregated;
}

static struct node *select_in_new_scope(struct binder *binder,
                                        const struct ast_query *query, int set);

/* The SELECT anew, but of it only the rows of one grouping. */
static struct node *bind_part(struct selecting *selecting, unsigned set)
{
    struct binder *binder = selecting->binder;
    struct scope *scope = binder->scope;
    struct node *node;

    binder->scope = scope->outer;
    node = select_in_new_scope(binder, selecting->query, (int)set);
    binder->scope = scope;
    return node;
}

/* Each grouping has a tree of its own. */
static enum vdbq_status group_by_sets(struct selecting *selecting)
{
    size_t count = selecting->sets.count;
    struct node **parts =
        arena_alloc(selecting->binder->arena, (count + 1) * sizeof(*parts));

    if (parts == NULL)
        return error_no_memory(selecting->binder->error);
    for (unsigned i = 0; i < count; i++) {
        parts[i] =
            i == 0 ? select_one_set(selecting, 0) : bind_part(selecting, i);
        if (parts[i] == NULL)
            return selecting->binder->error->status;
    }
    return select_join_sets(selecting, parts);
}

static enum vdbq_status make_groups(struct selecting *selecting)
{
    bool sets;
    enum vdbq_status status = select_find_grouping(selecting, &sets);

    if (status == VDBQ_OK && sets)
        return group_by_sets(selecting);
    return status == VDBQ_OK && is_grouped(selecting) ? select_group(selecting)
                                                      : status;
}

/* ... and then takes its place, one node over the other. */
static struct node *make_nodes(struct selecting *selecting,
                               const struct from *from, int set)
{
    enum vdbq_status status;

    selecting->node =
        node_product(selecting->binder, &from->leaves, &from->conditions);
    if (selecting->node == NULL
        || (selecting->random != NULL && test_random(selecting) != VDBQ_OK))
        return NULL;
    if (set >= 0)
        return select_one_set(selecting, (unsigned)set);
    status = make_groups(selecting);
    if (status == VDBQ_OK)
        status = filter_groups(selecting);
    return status == VDBQ_OK ? select_output(selecting) : NULL;
}

/* Of `set`, where it is not -1, only the rows of that grouping. */
static struct node *select_in_scope(struct binder *binder,
                                    const struct ast_query *query, int set)
{
    struct selecting selecting = {
        .binder = binder,
        .query = query,
        .select = &query->select,
        .results = VECTOR_IN(binder->arena, struct result),
        .order = VECTOR_IN(binder->arena, struct order_term),
        .distinct_on = VECTOR_IN(binder->arena, struct expression *),
        .keys = VECTOR_IN(binder->arena, struct expression *),
        .written = VECTOR_IN(binder->arena, struct expression *),
        .terms = VECTOR_IN(binder->arena, const struct ast_expression *),
        .sets = VECTOR_IN(binder->arena, struct key_set),
        .aggregates = VECTOR_IN(binder->arena, struct expression *)
    };
    struct from from = { .leaves = VECTOR_IN(binder->arena, struct node *),
                         .conditions =
                             VECTOR_IN(binder->arena, struct expression *) };
    struct node *node = NULL;

    if (bind_parts(&selecting, &from) == VDBQ_OK)
        node = make_nodes(&selecting, &from, set);
    return node;
}

static struct node *select_in_new_scope(struct binder *binder,
                                        const struct ast_query *query, int set)
{
    struct scope scope;
    struct node *node;

    scope_enter(binder, &scope);
    scope.windows_named = query->select.windows;
    node = select_in_scope(binder, query, set);
    scope_leave(binder, &scope);
    return node;
}

struct node *bind_select(struct binder *binder, const struct ast_query *query)
{
    return select_in_new_scope(binder, query, -1);
}
