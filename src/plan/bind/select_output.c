/* SPDX-License-Identifier: MIT */
/*
 * What a SELECT gives of the rows at hand: its results, for the rows that QUALIFY
 * keeps, different ones with DISTINCT, in the order of ORDER BY.
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

/* The results, and behind them what ORDER BY needs beside them, and QUALIFY. */
struct outputs {
    struct expression **expressions;
    const char **names;
    unsigned count;
    struct vector keys; /* of struct collated_key */
};

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
        if (key.column < 0) {
            key.column = (int)output->count;
            output->expressions[output->count] = term->expression;
            output->names[output->count++] = "";
        }
        collated = (struct collated_key){ key, term->collation };
        if (!vector_append(&output->keys, &collated, 1))
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

/* The rows for which the last column is true, without it. */
static struct node *qualified(struct binder *binder, struct node *node)
{
    unsigned count = node->column_count - 1;
    struct expression *last =
        node_column(binder, node, count, (struct position){ 0 });
    int *columns = arena_alloc(binder->arena, (count + 1) * sizeof *columns);

    if (columns == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        columns[i] = (int)i;
    node = last ? node_filter(binder, node, last) : NULL;
    return node ? node_columns(binder, node, columns, count) : NULL;
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
        node = qualified(binder, node);
    if (node != NULL && selecting->select->distinct)
        node = collate_distinct(binder, node);
    if (node != NULL && output->keys.count > 0)
        node = collate_sort(binder, node, &output->keys, results);
    return node;
}

struct node *select_output(struct selecting *selecting)
{
    struct binder *binder = selecting->binder;
    size_t room = selecting->results.count + selecting->order.count + 2;
    struct outputs output = { .keys = VECTOR_IN(binder->arena,
                                                struct collated_key) };
    struct node *node = NULL;

    output.expressions =
        arena_alloc(binder->arena, room * sizeof(*output.expressions));
    output.names = arena_alloc(binder->arena, room * sizeof(*output.names));
    if (output.expressions == NULL || output.names == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = 0; i < selecting->results.count; i++) {
        const struct result *result = vector_at(&selecting->results, i);
        output.expressions[output.count] = result->expression;
        output.names[output.count++] = result->name;
    }
    if (add_hidden(selecting, &output) != VDBQ_OK)
        return NULL;
    if (selecting->qualify != NULL) {
        output.expressions[output.count] = selecting->qualify;
        output.names[output.count++] = "";
    }
    node = output_node(selecting, &output);
    return node;
}
