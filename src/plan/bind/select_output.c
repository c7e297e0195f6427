/* SPDX-License-Identifier: MIT */
/*
 * What a SELECT gives of the rows at hand: its results, for the rows that QUALIFY
 * keeps, different ones with DISTINCT, the first ones with DISTINCT ON, in the order
 * of ORDER BY.
 */
#include "base/vector.h"
#include "plan/bind/select.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/operator/collate_rows.h"
#include "plan/tree/binder.h"

int select_result_of(const struct selecting *selecting,
                     const struct expression *e)
{
    for (size_t i = 0; i < selecting->results.count; i++) {
        const struct result *result = vector_at(&selecting->results, i);
        if (expression_same(result->expression, e))
            return (int)i;
    }
    return -1;
}

/* The results, and behind them what ORDER BY and DISTINCT ON need beside them, and
 * QUALIFY. */
struct outputs {
    struct expression **expressions;
    const char **names;
    unsigned count;
    struct vector keys; /* of struct collated_key: ORDER BY      */
    int *on;            /* the columns that DISTINCT ON names    */
};

/* The column that has the expression, a result's or one that is added. */
static int output_column(const struct selecting *selecting,
                         struct outputs *output, struct expression *e)
{
    int column = select_result_of(selecting, e);

    if (column >= 0)
        return column;
    output->expressions[output->count] = e;
    output->names[output->count] = "";
    return (int)output->count++;
}

static enum vdbq_status add_hidden(struct selecting *selecting,
                                   struct outputs *output)
{
    struct error *error = selecting->binder->error;

    for (size_t i = 0; i < selecting->order.count; i++) {
        const struct order_term *term = vector_at(&selecting->order, i);
        struct step_key key = { .descending = term->descending,
                                .nulls_last = term->nulls_last };
        struct collated_key collated;
        key.column = term->result >= 0
                         ? term->result
                         : select_result_of(selecting, term->expression);
        if (key.column < 0 && selecting->select->distinct)
            return error_at(error, VDBQ_SYNTAX, term->expression->at,
                            "with DISTINCT, rows are ordered by results "
                            "alone");
        if (key.column < 0 && term->expression->kind == EXPRESSION_CONSTANT)
            continue;
        if (key.column < 0)
            key.column = output_column(selecting, output, term->expression);
        collated = (struct collated_key){ key, term->collation };
        if (!vector_append(&output->keys, &collated, 1))
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

struct node *select_where_last(struct binder *binder, struct node *node)
{
    unsigned count = node->column_count - 1;
    struct expression *last =
        node_column(binder, node, count, (struct position){ 0 });

    node = last ? node_filter(binder, node, last) : NULL;
    return node ? node_first_columns(binder, node, count) : NULL;
}

/* The first row of each combination of what DISTINCT ON names. */
static struct node *firsts(const struct selecting *selecting, struct node *node,
                           const struct outputs *output)
{
    unsigned count = (unsigned)selecting->distinct_on.count;

    return count > 0 ? collate_firsts(selecting->binder, node, output->on,
                                      count, &output->keys)
                     : node;
}

static struct node *output_node(struct selecting *selecting,
                                struct outputs *output)
{
    struct binder *binder = selecting->binder;
    unsigned results = (unsigned)selecting->results.count;
    struct node *node =
        node_select(binder, selecting->node, NULL, output->expressions,
                    output->names, output->count);

    if (node != NULL && selecting->qualify != NULL)
        node = select_where_last(binder, node);
    if (node != NULL)
        node = firsts(selecting, node, output);
    if (node != NULL && selecting->select->distinct)
        node = collate_distinct(binder, node);
    if (node != NULL && output->keys.count > 0)
        return collate_sort(binder, node, &output->keys, results);
    return node != NULL && node->column_count > results
               ? node_first_columns(binder, node, results)
               : node;
}

/* Room for all columns that there can be. False: no memory. */
static bool make_room(const struct selecting *selecting, struct outputs *output)
{
    struct arena *arena = selecting->binder->arena;
    size_t on = selecting->distinct_on.count;
    size_t room = selecting->results.count + selecting->order.count + on + 2;

    *output = (struct outputs){ .keys = VECTOR_IN(arena, struct collated_key) };
    output->expressions =
        arena_alloc(arena, room * sizeof(*output->expressions));
    output->names = arena_alloc(arena, room * sizeof(*output->names));
    output->on = arena_alloc(arena, (on + 1) * sizeof(*output->on));
    return output->expressions != NULL && output->names != NULL
           && output->on != NULL;
}

/* What DISTINCT ON and QUALIFY need, which are behind ORDER BY in the columns. */
static void add_tested(const struct selecting *selecting,
                       struct outputs *output)
{
    struct expression *const *on =
        VECTOR_ITEMS(&selecting->distinct_on, struct expression *);

    for (size_t i = 0; i < selecting->distinct_on.count; i++)
        output->on[i] = output_column(selecting, output, on[i]);
    if (selecting->qualify == NULL)
        return;
    output->expressions[output->count] = selecting->qualify;
    output->names[output->count++] = "";
}

struct node *select_output(struct selecting *selecting)
{
    struct outputs output;

    if (!make_room(selecting, &output))
        return error_no_memory(selecting->binder->error), NULL;
    for (size_t i = 0; i < selecting->results.count; i++) {
        const struct result *result = vector_at(&selecting->results, i);
        output.expressions[output.count] = result->expression;
        output.names[output.count++] = result->name;
    }
    if (add_hidden(selecting, &output) != VDBQ_OK)
        return NULL;
    add_tested(selecting, &output);
    return output_node(selecting, &output);
}
