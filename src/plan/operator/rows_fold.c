/* SPDX-License-Identifier: MIT */
/*
 * Values of all rows of a partition: see rows_fold.h. A row that does not count has a
 * NULL instead of its value; where NULL is a value, it is behind those that count.
 */
#include "plan/operator/rows_fold.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* A window function of the value; the lists are its own from here on. */
static struct expression *new_window(struct binder *binder,
                                     const struct rows_fold *fold,
                                     enum window_function function,
                                     struct expression *value, int type,
                                     const struct vector *partition)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_WINDOW, type, fold->at);

    if (e != NULL)
        e->window = arena_alloc(binder->arena, sizeof *e->window);
    if (e == NULL || e->window == NULL)
        return error_no_memory(binder->error), NULL;
    e->left = value;
    e->window->function = function;
    e->window->partition = *partition;
    if (!arena_vector_copy(binder->arena, &fold->order, &e->window->order))
        return error_no_memory(binder->error), NULL;
    e->window->of_group = fold->of_group;
    e->nullable = true;
    e->range = range_full(type);
    e->machine = type_machine((enum vdbq_type)type);
    return e;
}

/* The value where the condition is true; NULL: a failure. */
static struct expression *where(struct binder *binder,
                                struct expression *condition,
                                struct expression *value)
{
    struct expression *null = expression_null(binder, value->type, value->at);

    return null && condition
               ? expression_choice(binder, condition, value, null, value->at)
               : NULL;
}

/* The partition, and within it the rows with one key; false: no memory. */
static bool part_by(struct binder *binder, const struct rows_fold *fold,
                    struct expression *key, struct vector *partition)
{
    *partition = VECTOR_IN(binder->arena, struct expression *);
    return (fold->partition.count == 0
            || vector_append(partition, fold->partition.items,
                             fold->partition.count))
           && vector_append(partition, &key, 1);
}

/* Whether a row is the first one of those with the same key. */
static struct expression *is_first(struct binder *binder,
                                   const struct rows_fold *fold,
                                   struct expression *key)
{
    struct vector partition;
    const struct ast_expression place = { .at = fold->at };
    struct expression *number, *one;

    if (!part_by(binder, fold, key, &partition))
        return error_no_memory(binder->error), NULL;
    number = new_window(binder, fold, WINDOW_ROW_NUMBER, NULL, VDBQ_BIGINT,
                        &partition);
    one = number && expression_fits(binder, number)
              ? expression_integer(binder, 1, fold->at)
              : NULL;
    return one ? expression_operator(binder, AST_EQ, number, one, &place)
               : NULL;
}

struct expression *rows_fold_make(struct binder *binder,
                                  const struct rows_fold *fold)
{
    struct expression *value = fold->value, *key = fold->key, *e;

    if (fold->filter != NULL)
        value = where(binder, fold->filter, value);
    if (fold->filter != NULL && key != NULL)
        key = where(binder, fold->filter, key);
    if (value != NULL && fold->key != NULL)
        value = key ? where(binder, is_first(binder, fold, key), value) : NULL;
    if (value == NULL)
        return NULL;
    e = new_window(binder, fold, fold->function, value, fold->type,
                   &fold->partition);
    if (e == NULL)
        return NULL;
    e->right = fold->separator;
    return expression_fits(binder, e) ? e : NULL;
}

/* ------------------------------------------------------------ one row of all -- */

/* A term before those of an order; false: no memory. */
static bool order_first(struct binder *binder, struct vector *order,
                        struct expression *e, bool descending)
{
    struct vector terms = VECTOR_IN(binder->arena, struct order_term);
    const struct order_term term = { .expression = e,
                                     .descending = descending,
                                     .result = -1 };
    bool done = vector_append(&terms, &term, 1)
                && (order->count == 0
                    || vector_append(&terms, order->items, order->count));

    *order = terms;
    return done;
}

/* The first or the last row's value in the whole partition. */
static struct expression *pick_row(struct binder *binder,
                                   const struct rows_fold *fold,
                                   struct expression *value)
{
    struct expression *e = new_window(binder, fold, fold->function, value,
                                      value->type, &fold->partition);

    if (e == NULL)
        return NULL;
    e->precision = value->precision;
    e->scale = value->scale;
    e->window->frame = (struct step_frame){ .unit = FRAME_ROWS,
                                            .begin = { .unbounded = true },
                                            .end = { .unbounded = true } };
    return expression_fits(binder, e) ? e : NULL;
}

struct expression *rows_fold_row(struct binder *binder,
                                 const struct rows_fold *fold)
{
    struct rows_fold row = *fold;
    struct expression *value = fold->value, *one, *zero, *counts;

    if (fold->filter == NULL)
        return pick_row(binder, fold, value);
    one = expression_integer(binder, 1, fold->at);
    zero = one ? expression_integer(binder, 0, fold->at) : NULL;
    counts = zero ? expression_choice(binder, fold->filter, one, zero, fold->at)
                  : NULL;
    value = counts ? where(binder, fold->filter, value) : NULL;
    if (value == NULL)
        return NULL;
    if (!order_first(binder, &row.order, counts, row.function == WINDOW_FIRST))
        return error_no_memory(binder->error), NULL;
    return pick_row(binder, &row, value);
}

struct expression *rows_fold_mode(struct binder *binder,
                                  const struct rows_fold *fold)
{
    struct rows_fold most = *fold;
    struct expression *value = fold->value, *key = fold->key, *count;
    struct vector alike;

    if (fold->filter != NULL) {
        value = where(binder, fold->filter, value);
        key = value ? where(binder, fold->filter, key) : NULL;
    }
    if (value == NULL || key == NULL)
        return NULL;
    if (!part_by(binder, fold, key, &alike))
        return error_no_memory(binder->error), NULL;
    count =
        new_window(binder, fold, WINDOW_AGGREGATE, value, VDBQ_BIGINT, &alike);
    if (count == NULL)
        return NULL;
    count->window->aggregate = AGGREGATE_COUNT;
    count->nullable = false;
    if (!expression_fits(binder, count))
        return NULL;
    most.function = WINDOW_FIRST;
    if (!order_first(binder, &most.order, count, true))
        return error_no_memory(binder->error), NULL;
    return pick_row(binder, &most, value);
}

/* ---------------------------------------------------------------- groups -- */

struct grouping {
    struct binder *binder;
    const struct vector *keys;
};

/* The keys, then what the partition has so far; false: no memory. */
static bool add_keys(const struct grouping *grouping, struct window *window)
{
    struct vector partition =
        VECTOR_IN(grouping->binder->arena, struct expression *);
    const struct vector *keys = grouping->keys, *own = &window->partition;
    bool done = (keys->count == 0
                 || vector_append(&partition, keys->items, keys->count))
                && (own->count == 0
                    || vector_append(&partition, own->items, own->count));

    assert(window->of_group);
    window->partition = partition;
    window->of_group = false;
    return done;
}

static struct expression *of_group(void *context, struct expression *e,
                                   bool *failed);

/* The windows in the terms of its order; false: a failure. */
static bool order_of_group(struct grouping *grouping, struct window *window)
{
    struct vector terms = VECTOR_IN(grouping->binder->arena, struct order_term);

    for (size_t i = 0; i < window->order.count; i++) {
        struct order_term term =
            VECTOR_ITEMS(&window->order, struct order_term)[i];
        term.expression = expression_replace(grouping->binder, term.expression,
                                             of_group, grouping);
        if (term.expression == NULL)
            return false;
        if (!vector_append(&terms, &term, 1))
            return error_no_memory(grouping->binder->error), false;
    }
    window->order = terms;
    return true;
}

/* expression_replacer: a window that waits for its group's keys. */
static struct expression *of_group(void *context, struct expression *e,
                                   bool *failed)
{
    struct grouping *grouping = context;
    struct binder *binder = grouping->binder;
    struct expression *copy;

    if (e->kind != EXPRESSION_WINDOW || !e->window->of_group)
        return NULL;
    *failed = true;
    copy = arena_alloc(binder->arena, sizeof *copy);
    if (copy == NULL)
        return error_no_memory(binder->error), NULL;
    *copy = *e;
    copy->window = arena_alloc(binder->arena, sizeof *copy->window);
    if (copy->window == NULL)
        return error_no_memory(binder->error), NULL;
    *copy->window = *e->window;
    if (!add_keys(grouping, copy->window))
        return error_no_memory(binder->error), NULL;
    if (e->left != NULL)
        copy->left = expression_replace(binder, e->left, of_group, context);
    if ((e->left != NULL && copy->left == NULL)
        || !order_of_group(grouping, copy->window)
        || !expression_fits(binder, copy))
        return NULL;
    *failed = false;
    return copy;
}

struct expression *rows_fold_of_group(struct binder *binder,
                                      struct expression *e,
                                      const struct vector *keys, bool *failed)
{
    struct grouping grouping = { binder, keys };

    return of_group(&grouping, e, failed);
}
