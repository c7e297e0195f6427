/* SPDX-License-Identifier: MIT */
/*
 * What the machine does not compute is extracted out of expressions: functions
 * of the host into a NODE_MAP, subqueries into a NODE_APPLY or a join,
 * windows into a NODE_WINDOW. Each lies over the node whose columns it takes,
 * and adds its own behind them, so that the columns of other expressions keep
 * their numbers. Inner ones go first.
 */
#include "plan/rewrite/extract.h"

#include <string.h>

#include "base/vector.h"
#include "plan/condition/join_key.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/simplify/sink_arguments.h"
#include "plan/texts/fused_calls.h"
#include "plan/unnest/unnest.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* One pass over expressions: what it found, and what stands for it then. */
struct extracting {
    struct binder *binder;
    enum expression_kind kind;
    bool joins_only;      /* subqueries that become no join stay */
    struct vector found;  /* of struct expression *         */
    struct vector stands; /* of struct expression *: beside; NULL: it stays */
    struct fused_calls calls; /* that functions are found with            */
};

/* ------------------------------------------------------------- looking -- */

/* Whether it is extracted as a whole: of the kind, or a call that is computed with
 * a function. */
static bool is_wanted(const struct extracting *extracting, struct expression *e)
{
    if (e->kind == extracting->kind)
        return expression_is_ready(e);
    struct expression *made = extracting->kind == EXPRESSION_FUNCTION
                                  ? fused_call_function(&extracting->calls, e)
                                  : NULL;
    return made != NULL && expression_is_ready(made);
}

static bool collect(void *context, struct expression **operand)
{
    struct extracting *extracting = context;
    struct expression *e = *operand;

    if (is_wanted(extracting, e))
        return expression_find(&extracting->found, 0, e) >= 0
               || vector_append(&extracting->found, operand, 1);
    return expression_each(e, collect, context);
}

/* ----------------------------------------------------------- replacing -- */

static struct expression *stand_in(void *context, struct expression *e,
                                   bool *failed)
{
    const struct extracting *extracting = context;
    int number = expression_find(&extracting->found, 0, e);

    (void)failed;
    return number >= 0 && (size_t)number < extracting->stands.count
               ? VECTOR_ITEMS(&extracting->stands, struct expression *)[number]
               : NULL;
}

/* The expression stands for what was found next. */
static bool keep_stand(struct extracting *extracting, struct expression *e)
{
    bool kept = vector_append(&extracting->stands, &e, 1);

    if (!kept)
        error_no_memory(extracting->binder->error);
    return kept;
}

/* Column `column` of the node does. */
static bool add_stand(struct extracting *extracting, const struct node *node,
                      unsigned column, struct position at)
{
    struct expression *e = node_column(extracting->binder, node, column, at);

    return e != NULL && keep_stand(extracting, e);
}

/* ------------------------------------------------------------- columns -- */

static bool add_number(struct binder *binder, struct vector *numbers, int n)
{
    if (n >= 0 && vector_append(numbers, &n, 1))
        return true;
    if (n >= 0)
        error_no_memory(binder->error);
    return false;
}

static void describe(struct node_column *column, const struct expression *e)
{
    *column = (struct node_column){ .name = "",
                                    .type = e->type,
                                    .precision = e->precision,
                                    .scale = e->scale,
                                    .affine = e->affine,
                                    .nullable = true,
                                    .range = range_full(e->type) };
    if (e->kind == EXPRESSION_LOOKUP) { /* more is known of what it gives */
        column->range = e->range;
        range_add_zero(&column->range);
    }
}

/* The last columns of a node are all that was found. */
static void describe_found(const struct extracting *extracting,
                           struct node *node)
{
    unsigned count = (unsigned)extracting->found.count;
    unsigned first = node->column_count - count;

    for (unsigned i = 0; i < count; i++)
        describe(&node->columns[first + i],
                 VECTOR_ITEMS(&extracting->found, struct expression *)[i]);
}

/* They stand for it. */
static bool add_stands(struct extracting *extracting, struct node *node)
{
    unsigned count = (unsigned)extracting->found.count;
    unsigned first = node->column_count - count;
    bool done = true;

    for (unsigned i = 0; i < count && done; i++) {
        struct expression *e =
            VECTOR_ITEMS(&extracting->found, struct expression *)[i];
        done = add_stand(extracting, node, first + i, e->at);
    }
    return done;
}

/* ----------------------------------------------------------- functions -- */

static bool add_function(struct extracting *extracting, struct node **below,
                         struct expression *e, struct vector *functions)
{
    struct arena *arena = extracting->binder->arena;
    struct step_function function = { .arguments = VECTOR_IN(arena, int),
                                      .then = VECTOR_IN(arena, const char *),
                                      .at = e->at };

    if (!fused_call_add(e, &function.then))
        return error_no_memory(extracting->binder->error), false;
    while (e->kind == EXPRESSION_LOOKUP)
        e = e->left;
    function.name = e->call.function->name;
    for (unsigned i = 0; i < e->call.count; i++) {
        int column =
            node_column_for(extracting->binder, below, e->call.arguments[i]);
        if (column < 0)
            return false;
        if (!vector_append(&function.arguments, &column, 1))
            return error_no_memory(extracting->binder->error), false;
    }
    if (!vector_append(functions, &function, 1))
        return error_no_memory(extracting->binder->error), false;
    return true;
}

/* All functions that were found are one node's. */
static struct node *extract_functions(struct extracting *extracting,
                                      struct node *below)
{
    struct vector functions =
        VECTOR_IN(extracting->binder->arena, struct step_function);
    size_t count = extracting->found.count;
    struct node *node = NULL;
    bool done = true;

    for (size_t i = 0; i < count && done; i++)
        done = add_function(
            extracting, &below,
            VECTOR_ITEMS(&extracting->found, struct expression *)[i],
            &functions);
    if (done)
        node = node_wider(extracting->binder, NODE_MAP, below, (unsigned)count);
    if (node == NULL)
        return NULL;
    node->map.functions = functions;
    describe_found(extracting, node);
    return add_stands(extracting, node) ? node : NULL;
}

/* ---------------------------------------------------------- subqueries -- */

/* IN over a query that is the same for all rows. */
static struct node *mark(struct binder *binder, struct node *below,
                         const struct expression *e)
{
    int column = node_column_for(binder, &below, e->left);
    struct node *node =
        column >= 0 ? node_join(binder, JOIN_MARK, below, e->subquery->node)
                    : NULL;

    if (node == NULL || !add_number(binder, &node->join.left_keys, column)
        || !add_number(binder, &node->join.right_keys, 0))
        return NULL;
    return node;
}

static bool add_parameters(struct binder *binder, struct node **below,
                           const struct subquery *subquery,
                           struct vector *parameters)
{
    for (size_t i = 0; i < subquery->parameters.count; i++) {
        const struct outer_value *value = vector_at(&subquery->parameters, i);
        struct step_parameter parameter = { .parameter = value->parameter,
                                            .column = node_column_for(
                                                binder, below, value->value) };
        if (parameter.column < 0)
            return false;
        if (!vector_append(parameters, &parameter, 1)) {
            error_no_memory(binder->error);
            return false;
        }
    }
    return true;
}

/* The rows of a subquery as far as its answer needs them: of one that is asked
 * once whether it has any, the first. NULL: a failure. */
static struct node *rows_asked(struct binder *binder,
                               const struct subquery *subquery)
{
    bool first =
        subquery->kind == APPLY_EXISTS && subquery->parameters.count == 0;

    return first ? node_limit(binder, subquery->node, 0, 1) : subquery->node;
}

static struct node *apply(struct binder *binder, struct node *below,
                          struct expression *e)
{
    struct vector parameters = VECTOR_IN(binder->arena, struct step_parameter);
    int column = 0;
    struct node *node = NULL;
    bool done = add_parameters(binder, &below, e->subquery, &parameters);

    if (done && e->subquery->kind == APPLY_IN)
        column = node_column_for(binder, &below, e->left);
    if (done && column >= 0)
        node = node_wider(binder, NODE_APPLY, below, 1);
    if (node == NULL)
        return NULL;
    node->right = rows_asked(binder, e->subquery);
    if (node->right == NULL)
        return NULL;
    node->apply.kind = e->subquery->kind;
    node->apply.column = column;
    node->apply.parameters = parameters;
    describe(&node->columns[node->column_count - 1], e);
    node->columns[node->column_count - 1].nullable =
        e->subquery->kind != APPLY_EXISTS;
    if (e->subquery->kind == APPLY_SCALAR)
        node_narrow(e->subquery->node, AGGREGATE_FIRST, 0,
                    &node->columns[node->column_count - 1]);
    return node;
}

/* A node over `below` that has the value of a subquery, and what stands for
 * it there. */
static struct node *extract_subquery(struct extracting *extracting,
                                     struct node *below, struct expression *e)
{
    bool same =
        e->subquery->kind == APPLY_IN && e->subquery->parameters.count == 0;
    bool done;
    struct expression *value;
    struct node *node =
        unnest_value(extracting->binder, below, e, &value, &done);

    if (node != NULL)
        return keep_stand(extracting, value) ? node : NULL;
    if (done)
        return NULL;
    if (extracting->joins_only)
        return vector_append(&extracting->stands, &node, 1)
                   ? below
                   : (error_no_memory(extracting->binder->error), NULL);
    node = same ? mark(extracting->binder, below, e)
                : apply(extracting->binder, below, e);
    return node && add_stand(extracting, node, node->column_count - 1, e->at)
               ? node
               : NULL;
}

static struct node *extract_subqueries(struct extracting *extracting,
                                       struct node *below)
{
    struct node *node = below;

    for (size_t i = 0; i < extracting->found.count && node != NULL; i++)
        node = extract_subquery(
            extracting, node,
            VECTOR_ITEMS(&extracting->found, struct expression *)[i]);
    return node;
}

/* ------------------------------------------------------------- windows -- */

static bool add_order(struct binder *binder, struct node **below,
                      const struct vector *terms, struct vector *keys)
{
    for (size_t i = 0; i < terms->count; i++) {
        const struct order_term *term = vector_at(terms, i);
        struct step_key key = { .descending = term->descending,
                                .nulls_last = term->nulls_last };
        key.column = node_column_for(binder, below, term->expression);
        if (key.column < 0)
            return false;
        if (!vector_append(keys, &key, 1)) {
            error_no_memory(binder->error);
            return false;
        }
    }
    return true;
}

/* The column of an operand; -1: there is none. */
static bool operand_column(struct binder *binder, struct node **below,
                           struct expression *e, int *column)
{
    *column = e != NULL ? node_column_for(binder, below, e) : -1;
    return e == NULL || *column >= 0;
}

/* The columns that a window is parted by. */
static bool add_partition(struct binder *binder, struct node **below,
                          const struct vector *terms, struct vector *columns)
{
    for (size_t i = 0; i < terms->count; i++) {
        struct expression *e = VECTOR_ITEMS(terms, struct expression *)[i];
        int column = node_column_for(binder, below, e);
        if (column < 0)
            return false;
        if (!vector_append(columns, &column, 1))
            return error_no_memory(binder->error), false;
    }
    return true;
}

static bool add_window(struct extracting *extracting, struct node **below,
                       struct expression *e, struct vector *functions)
{
    struct binder *binder = extracting->binder;
    const struct window *window = e->window;
    struct step_window_function made = {
        .function = window->function,
        .frame = window->frame,
        .offset = window->offset,
        .partition = VECTOR_IN(binder->arena, int),
        .order = VECTOR_IN(binder->arena, struct step_key),
        .aggregate = { .function = window->aggregate,
                       .distinct = window->distinct,
                       .at = e->at }
    };

    if (!operand_column(binder, below, e->left, &made.aggregate.column)
        || !operand_column(binder, below, e->condition, &made.aggregate.filter)
        || !operand_column(binder, below, e->right, &made.fallback)
        || !add_partition(binder, below, &window->partition, &made.partition)
        || !add_order(binder, below, &window->order, &made.order))
        return false;
    if (!vector_append(functions, &made, 1))
        return error_no_memory(binder->error), false;
    return true;
}

/* What the values of a window function can be, where more is known than their
 * type. */
static void narrow_window(const struct node *below,
                          const struct step_window_function *function,
                          struct node_column *column)
{
    switch (function->function) {
    case WINDOW_ROW_NUMBER:
    case WINDOW_RANK:
    case WINDOW_DENSE_RANK:
        node_narrow(below, AGGREGATE_COUNT, -1, column);
        break;
    case WINDOW_AGGREGATE:
        node_narrow(below, function->aggregate.function,
                    function->aggregate.column, column);
        break;
    default:
        break;
    }
}

static void narrow_windows(struct node *node)
{
    const struct node *below = node->left;

    for (size_t i = 0; i < node->window.functions.count; i++)
        narrow_window(below, vector_at(&node->window.functions, i),
                      &node->columns[below->column_count + i]);
}

/* What a window is parted by was computed for it: above it is that column. */
static bool add_part_stands(struct extracting *extracting,
                            const struct node *node, size_t number)
{
    const struct step_window_function *function =
        vector_at(&node->window.functions, number);
    const struct window *window =
        VECTOR_ITEMS(&extracting->found, struct expression *)[number]->window;
    bool done = true;

    for (size_t i = 0; i < window->partition.count && done; i++) {
        struct expression *e =
            VECTOR_ITEMS(&window->partition, struct expression *)[i];
        int column = VECTOR_ITEMS(&function->partition, int)[i];
        if (e->kind == EXPRESSION_COLUMN
            || expression_find(&extracting->found, 0, e) >= 0)
            continue;
        if (!vector_append(&extracting->found, &e, 1))
            return error_no_memory(extracting->binder->error), false;
        done = add_stand(extracting, node, (unsigned)column, e->at);
    }
    return done;
}

/* Of all windows that were found. */
static bool add_parts_stands(struct extracting *extracting,
                             const struct node *node)
{
    bool done = true;

    for (size_t i = 0; i < node->window.functions.count && done; i++)
        done = add_part_stands(extracting, node, i);
    return done;
}

static struct node *extract_all_windows(struct extracting *extracting,
                                        struct node *below)
{
    struct vector functions =
        VECTOR_IN(extracting->binder->arena, struct step_window_function);
    size_t count = extracting->found.count;
    struct node *node = NULL;
    bool done = true;

    for (size_t i = 0; i < count && done; i++)
        done =
            add_window(extracting, &below,
                       VECTOR_ITEMS(&extracting->found, struct expression *)[i],
                       &functions);
    if (done)
        node =
            node_wider(extracting->binder, NODE_WINDOW, below, (unsigned)count);
    if (node == NULL)
        return NULL;
    node->window.functions = functions;
    describe_found(extracting, node);
    narrow_windows(node);
    return add_stands(extracting, node) && add_parts_stands(extracting, node)
               ? node
               : NULL;
}

/* ------------------------------------------------------------------ all -- */

static bool stands_any(const struct extracting *extracting)
{
    for (size_t i = 0; i < extracting->stands.count; i++)
        if (VECTOR_ITEMS(&extracting->stands, struct expression *)[i] != NULL)
            return true;
    return false;
}

/* Extracts what is ready of one kind out of all expressions; `*any`: there was
 * some. */
static enum vdbq_status pass(struct extracting *extracting, struct node **node,
                             struct expression **const *expressions,
                             size_t count, bool *any)
{
    struct binder *binder = extracting->binder;
    struct node *extracted;

    if (extracting->kind == EXPRESSION_FUNCTION
        && fused_calls_find(&extracting->calls, expressions, count) != VDBQ_OK)
        return binder->error->status;
    for (size_t i = 0; i < count; i++)
        if (!collect(extracting, expressions[i]))
            return error_no_memory(binder->error);
    if (extracting->found.count == 0) {
        *any = false;
        return VDBQ_OK;
    }
    extracted = extracting->kind == EXPRESSION_FUNCTION
                    ? extract_functions(extracting, *node)
                : extracting->kind == EXPRESSION_SUBQUERY
                    ? extract_subqueries(extracting, *node)
                    : extract_all_windows(extracting, *node);
    if (extracted == NULL)
        return binder->error->status;
    *any = stands_any(extracting);
    *node = extracted;
    for (size_t i = 0; i < count; i++) {
        *expressions[i] =
            expression_replace(binder, *expressions[i], stand_in, extracting);
        if (*expressions[i] == NULL)
            return binder->error->status;
    }
    return VDBQ_OK;
}

static enum vdbq_status extract_kind(struct binder *binder, struct node **node,
                                     struct expression **const *expressions,
                                     size_t count, enum expression_kind kind,
                                     bool joins_only, bool *any)
{
    struct extracting extracting = {
        .binder = binder,
        .kind = kind,
        .joins_only = joins_only,
        .found = VECTOR_IN(binder->arena, struct expression *),
        .stands = VECTOR_IN(binder->arena, struct expression *),
        .calls = { .binder = binder,
                   .uses = VECTOR_IN(binder->arena, struct expression *) }
    };
    enum vdbq_status status = pass(&extracting, node, expressions, count, any);

    return status;
}

static enum vdbq_status extract_all(struct binder *binder, struct node **node,
                                    struct expression **const *expressions,
                                    size_t count, bool joins_only)
{
    bool functions = true, subqueries = true;
    enum vdbq_status status = sink_arguments(binder, node, expressions, count)
                                  ? VDBQ_OK
                                  : binder->error->status;

    while (status == VDBQ_OK && (functions || subqueries)) {
        status = extract_kind(binder, node, expressions, count,
                              EXPRESSION_FUNCTION, false, &functions);
        if (status == VDBQ_OK)
            status = extract_kind(binder, node, expressions, count,
                                  EXPRESSION_SUBQUERY, joins_only, &subqueries);
    }
    return status;
}

enum vdbq_status extract(struct binder *binder, struct node **node,
                         struct expression **const *expressions, size_t count)
{
    return extract_all(binder, node, expressions, count, false);
}

enum vdbq_status extract_key(struct binder *binder, struct node *nodes[2],
                             struct expression *left, struct expression *right,
                             struct step_join *join)
{
    struct expression **const places[2] = { &left, &right };
    enum vdbq_status status = VDBQ_OK;

    for (int i = 0; i < 2 && status == VDBQ_OK; i++)
        status = extract(binder, &nodes[i], &places[i], 1);
    return status == VDBQ_OK ? join_add_key(binder, nodes, left, right, join)
                             : status;
}

enum vdbq_status extract_joins(struct binder *binder, struct node **node,
                               struct expression **const *expressions,
                               size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= expression_has(*expressions[i], EXPRESSION_SUBQUERY);
    return any ? extract_all(binder, node, expressions, count, true) : VDBQ_OK;
}

static bool has_window(struct expression **const *expressions, size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= expression_has(*expressions[i], EXPRESSION_WINDOW);
    return any;
}

/* Operands of windows go first, windows in these among them. */
enum vdbq_status extract_windows(struct binder *binder, struct node **node,
                                 struct expression **const *expressions,
                                 size_t count)
{
    enum vdbq_status status = VDBQ_OK;
    bool any = true;

    while (status == VDBQ_OK && any && has_window(expressions, count)) {
        status = extract(binder, node, expressions, count);
        if (status == VDBQ_OK)
            status = extract_kind(binder, node, expressions, count,
                                  EXPRESSION_WINDOW, false, &any);
    }
    return status;
}
