/* SPDX-License-Identifier: MIT */
/*
 * The groups of a SELECT. Keys, arguments and filters of aggregates become the
 * columns of a node below NODE_GROUP; what is computed of the groups then
 * names the columns of that.
 */
#include "base/vector.h"
#include "plan/operator/collate_extreme.h"
#include "plan/bind/select.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* HAVING, QUALIFY, results, ORDER BY, DISTINCT ON. */
struct expression ***select_places(struct selecting *selecting, size_t *count)
{
    struct expression ***places =
        arena_alloc(selecting->binder->arena,
                    (selecting->results.count + selecting->order.count
                     + selecting->distinct_on.count + 2)
                        * sizeof(*places));

    *count = 0;
    if (places == NULL) {
        error_no_memory(selecting->binder->error);
        return NULL;
    }
    if (selecting->having != NULL)
        places[(*count)++] = &selecting->having;
    if (selecting->qualify != NULL)
        places[(*count)++] = &selecting->qualify;
    for (size_t i = 0; i < selecting->results.count; i++) {
        struct result *result = vector_at(&selecting->results, i);
        places[(*count)++] = &result->expression;
    }
    for (size_t i = 0; i < selecting->order.count; i++) {
        struct order_term *term = vector_at(&selecting->order, i);
        if (term->result < 0)
            places[(*count)++] = &term->expression;
    }
    for (size_t i = 0; i < selecting->distinct_on.count; i++)
        places[(*count)++] =
            &VECTOR_ITEMS(&selecting->distinct_on, struct expression *)[i];
    return places;
}

static int key_of(const struct selecting *selecting, const struct expression *e)
{
    return expression_find(&selecting->keys, 0, e);
}

static int aggregate_of(const struct selecting *selecting,
                        const struct expression *e)
{
    return expression_find(&selecting->aggregates, 0, e);
}

/* --------------------------------------------------- aggregates in use -- */

struct expression *select_first(struct binder *binder,
                                struct expression *column)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_AGGREGATE, column->type, column->at);

    if (e == NULL)
        return NULL;
    e->aggregate.function = AGGREGATE_FIRST;
    e->left = column;
    e->precision = column->precision;
    e->scale = column->scale;
    e->nullable = true;
    e->range = range_full(e->type);
    return e;
}

bool select_collect(struct selecting *selecting, struct expression *e,
                    bool (*visit)(void *context, struct expression **operand))
{
    if (e->kind == EXPRESSION_COLUMN)
        e = select_first(selecting->binder, e);
    if (e == NULL)
        return false;
    if (e->kind != EXPRESSION_AGGREGATE)
        return expression_each(e, visit, selecting);
    return aggregate_of(selecting, e) >= 0
           || vector_append(&selecting->aggregates, &e, 1);
}

static bool collect(void *context, struct expression **operand)
{
    struct selecting *selecting = context;
    struct expression *e = *operand;

    if (key_of(selecting, e) >= 0)
        return true;
    return select_collect(selecting, e, collect);
}

/* Makes those of the order of values out of others. */
static enum vdbq_status expand_quantiles(struct selecting *selecting)
{
    size_t count;
    struct expression ***places = select_places(selecting, &count);

    if (places == NULL)
        return selecting->binder->error->status;
    for (size_t i = 0; i < count; i++) {
        *places[i] = quantile_expand(selecting, *places[i]);
        if (*places[i] == NULL)
            return selecting->binder->error->status;
    }
    return VDBQ_OK;
}

/* Finds every aggregate in use. */
static enum vdbq_status collect_aggregates(struct selecting *selecting)
{
    size_t count;
    struct expression ***places = select_places(selecting, &count);

    if (places == NULL)
        return selecting->binder->error->status;
    for (size_t i = 0; i < count; i++)
        if (!collect(selecting, places[i]))
            return error_no_memory(selecting->binder->error);
    return VDBQ_OK;
}

/* -------------------------------------------------------- what is grouped -- */

/* What is grouped: keys, then arguments and filters of aggregates. */
struct grouping {
    struct vector columns;    /* of struct expression *     */
    struct vector aggregates; /* of struct step_aggregate   */
};

/* The column that an expression gets; -1 for NULL. False: no memory. */
static bool group_column(struct grouping *grouping, size_t keys,
                         struct expression *e, int *column)
{
    *column = e != NULL ? expression_find(&grouping->columns, keys, e) : -1;
    if (e == NULL || *column >= 0)
        return true;
    *column = (int)grouping->columns.count;
    return vector_append(&grouping->columns, &e, 1);
}

/* False: no memory. */
static bool add_aggregate(struct grouping *grouping, size_t keys,
                          const struct expression *e)
{
    struct step_aggregate aggregate = { .function = e->aggregate.function,
                                        .distinct = e->aggregate.distinct,
                                        .at = e->at };

    return group_column(grouping, keys, e->left, &aggregate.column)
           && group_column(grouping, keys, e->condition, &aggregate.filter)
           && vector_append(&grouping->aggregates, &aggregate, 1);
}

/* The aggregate as groups compute it: MIN or MAX by keys is the value of any
 * row. */
static struct expression *computed(const struct selecting *selecting,
                                   struct expression *aggregate)
{
    struct expression *e;

    if (aggregate->right == NULL)
        return aggregate;
    e = collate_extreme_of_group(selecting->binder, aggregate,
                                 &selecting->keys);
    return e ? select_first(selecting->binder, e) : NULL;
}

/* False: no memory, or the failure that is told. */
static bool fill_grouping(const struct selecting *selecting,
                          struct grouping *grouping)
{
    size_t keys = selecting->keys.count;
    bool done =
        keys == 0
        || vector_append(&grouping->columns, selecting->keys.items, keys);

    for (size_t i = 0; i < selecting->aggregates.count && done; i++) {
        const struct expression *e =
            computed(selecting, VECTOR_ITEMS(&selecting->aggregates,
                                             struct expression *)[i]);
        done = e != NULL && add_aggregate(grouping, keys, e);
    }
    return done;
}

static struct node *group_node(struct selecting *selecting,
                               const struct grouping *grouping)
{
    struct binder *binder = selecting->binder;
    struct node *node =
        node_select(binder, selecting->node, NULL, grouping->columns.items,
                    NULL, (unsigned)grouping->columns.count);

    return node ? node_group(binder, node, (unsigned)selecting->keys.count,
                             &grouping->aggregates)
                : NULL;
}

/* ------------------------------------------------- what is over the groups -- */

static struct expression *grouped(void *context, struct expression *e,
                                  bool *failed)
{
    const struct selecting *selecting = context;
    struct expression *column;
    int number = key_of(selecting, e);

    if (number < 0 && e->kind == EXPRESSION_COLUMN)
        e = select_first(selecting->binder, e);
    if (number < 0 && e != NULL && e->kind == EXPRESSION_AGGREGATE)
        number = (int)selecting->keys.count + aggregate_of(selecting, e);
    if (number < 0) {
        *failed = e == NULL;
        return NULL;
    }
    column = node_column(selecting->binder, selecting->node, (unsigned)number,
                         e->at);
    *failed = column == NULL;
    return column;
}

enum vdbq_status select_replace(struct selecting *selecting,
                                expression_replacer replacer)
{
    struct binder *binder = selecting->binder;
    size_t count;
    struct expression ***places = select_places(selecting, &count);

    if (places == NULL)
        return binder->error->status;
    for (size_t i = 0; i < count; i++) {
        *places[i] =
            expression_replace(binder, *places[i], replacer, selecting);
        if (*places[i] == NULL)
            return binder->error->status;
    }
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- all -- */

enum vdbq_status select_group(struct selecting *selecting)
{
    struct grouping grouping = {
        .columns = VECTOR_IN(selecting->binder->arena, struct expression *),
        .aggregates = VECTOR_IN(selecting->binder->arena, struct step_aggregate)
    };
    enum vdbq_status status = expand_quantiles(selecting);
    struct node *node = NULL;

    if (status == VDBQ_OK)
        status = collect_aggregates(selecting);
    if (status == VDBQ_OK && !fill_grouping(selecting, &grouping)) {
        status = selecting->binder->error->status;
        if (status == VDBQ_OK)
            status = error_no_memory(selecting->binder->error);
    }
    if (status == VDBQ_OK)
        node = group_node(selecting, &grouping);
    if (status == VDBQ_OK && node == NULL)
        status = selecting->binder->error->status;
    if (status == VDBQ_OK) {
        selecting->node = node;
        status = select_replace(selecting, grouped);
    }
    return status;
}
