/* SPDX-License-Identifier: MIT */
/*
 * The value with the least and the greatest key: collate_extreme.h.
 */
#include "plan/operator/collate_extreme.h"

#include "base/vector.h"
#include "plan/make/call.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* A value and its key, both NULL in rows that FILTER leaves out. */
struct pair {
    struct expression *value, *key;
};

static struct expression *where_kept(struct binder *binder,
                                     struct expression *condition,
                                     struct expression *e)
{
    struct expression *null;

    if (condition == NULL)
        return e;
    null = expression_null(binder, e->type, e->at);
    return null ? expression_choice(binder, condition, e, null, e->at) : NULL;
}

static struct pair pair_of(struct binder *binder,
                           const struct expression *aggregate)
{
    struct pair pair = { 0 };

    pair.value = where_kept(binder, aggregate->condition, aggregate->left);
    if (pair.value != NULL)
        pair.key = where_kept(binder, aggregate->condition, aggregate->right);
    return pair;
}

/* ------------------------------------------------------------- windows -- */

/* A window function of a value; the lists are the window's from here on. */
static struct expression *new_window(struct binder *binder,
                                     struct expression *value,
                                     const struct vector *partition,
                                     const struct vector *order)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_WINDOW, value->type, value->at);

    if (e != NULL)
        e->window = arena_alloc(binder->arena, sizeof *e->window);
    if (e == NULL || e->window == NULL)
        return error_no_memory(binder->error), NULL;
    e->window->function = WINDOW_FIRST;
    e->window->partition = *partition;
    e->window->order = *order;
    e->left = value;
    e->nullable = true;
    e->precision = value->precision;
    e->scale = value->scale;
    e->range = range_full(value->type);
    e->machine = type_machine((enum vdbq_type)value->type);
    return expression_fits(binder, e) ? e : NULL;
}

/* The value whose key is the first one in the order of keys. */
static struct expression *first_by_key(struct binder *binder, struct pair pair,
                                       bool greatest,
                                       const struct vector *partition)
{
    struct vector order = VECTOR_IN(binder->arena, struct order_term);
    struct order_term term = { .expression = pair.key,
                               .descending = greatest,
                               .nulls_last = true,
                               .result = -1 };

    if (!vector_append(&order, &term, 1))
        return error_no_memory(binder->error), NULL;
    return new_window(binder, pair.value, partition, &order);
}

struct expression *collate_extreme_of_group(struct binder *binder,
                                            const struct expression *aggregate,
                                            const struct vector *keys)
{
    struct pair pair = pair_of(binder, aggregate);

    return pair.key
               ? first_by_key(binder, pair,
                              aggregate->aggregate.function == AGGREGATE_MAX,
                              keys)
               : NULL;
}

/* -------------------------------------------------------- running ones -- */

/* Of the rows with the same key, in the window's order, the first one's text. */
static struct expression *first_alike(struct binder *binder, struct pair pair,
                                      const struct vector *partition,
                                      const struct vector *order)
{
    struct vector alike = VECTOR_IN(binder->arena, struct expression *);

    if ((partition->count > 0
         && !vector_append(&alike, partition->items, partition->count))
        || !vector_append(&alike, &pair.key, 1))
        return error_no_memory(binder->error), NULL;
    return new_window(binder, pair.value, &alike, order);
}

/* `key text`, the key in hexadecimal digits: the order of these texts is that of
 * the keys, since a blank is below all digits. */
static struct expression *join_pair(struct binder *binder, struct pair pair)
{
    struct position at = pair.value->at;
    struct expression *parts[2] = { expression_call(binder, "hex", &pair.key, 1,
                                                    at) };

    if (parts[0] == NULL)
        return NULL;
    parts[1] = expression_text(binder, (struct vdbq_text){ " ", 1 }, at);
    parts[0] =
        parts[1] ? expression_call(binder, "concat", parts, 2, at) : NULL;
    parts[1] = pair.value;
    return parts[0] ? expression_call(binder, "concat", parts, 2, at) : NULL;
}

/* What stands behind the blank. */
static struct expression *split_pair(struct binder *binder,
                                     struct expression *joined)
{
    static const char digits[] = "0123456789ABCDEF";
    struct position at = joined->at;
    struct expression *arguments[2] = { joined };

    arguments[1] = expression_text(
        binder, (struct vdbq_text){ digits, sizeof digits - 1 }, at);
    if (arguments[1] == NULL)
        return NULL;
    arguments[0] = expression_call(binder, "ltrim", arguments, 2, at);
    arguments[1] = arguments[0] ? expression_integer(binder, 2, at) : NULL;
    return arguments[1] ? expression_call(binder, "substr", arguments, 2, at)
                        : NULL;
}

struct expression *collate_extreme_over(struct binder *binder,
                                        const struct expression *aggregate,
                                        const struct vector *partition,
                                        const struct vector *order)
{
    struct pair pair = pair_of(binder, aggregate);
    enum aggregate_function function = aggregate->aggregate.function;
    struct expression *e;

    if (pair.key == NULL)
        return NULL;
    if (order->count == 0)
        return first_by_key(binder, pair, function == AGGREGATE_MAX, partition);
    pair.value = first_alike(binder, pair, partition, order);
    e = pair.value ? join_pair(binder, pair) : NULL;
    e = e ? new_window(binder, e, partition, order) : NULL;
    if (e == NULL)
        return NULL;
    e->window->function = WINDOW_AGGREGATE;
    e->window->aggregate = function;
    return split_pair(binder, e);
}
