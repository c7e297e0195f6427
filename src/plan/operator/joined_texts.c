/* SPDX-License-Identifier: MIT */
/*
 * Texts that are joined: see joined_texts.h. A row that does not count has a
 * NULL instead of its text.
 */
#include "plan/operator/joined_texts.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/make/coerce.h"
#include "plan/make/expression_new.h"
#include "plan/make/replace.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

/* A window function; the lists are its own from here on. */
static struct expression *new_window(struct binder *binder,
                                     const struct joined_texts *joined,
                                     enum window_function function, int type,
                                     const struct vector *partition)
{
    struct expression *e =
        expression_new(binder, EXPRESSION_WINDOW, type, joined->at);

    if (e != NULL)
        e->window = arena_alloc(binder->arena, sizeof *e->window);
    if (e == NULL || e->window == NULL)
        return error_no_memory(binder->error), NULL;
    e->window->function = function;
    e->window->partition = *partition;
    if (!arena_vector_copy(binder->arena, &joined->order, &e->window->order))
        return error_no_memory(binder->error), NULL;
    e->window->of_group = joined->of_group;
    e->nullable = true;
    e->range = range_full(type);
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

/* Whether a row is the first one of those with the same key. */
static struct expression *is_first(struct binder *binder,
                                   const struct joined_texts *joined,
                                   struct expression *key)
{
    struct vector partition = VECTOR_IN(binder->arena, struct expression *);
    const struct ast_expression place = { .at = joined->at };
    struct expression *number, *one;

    if ((joined->partition.count > 0
         && !vector_append(&partition, joined->partition.items,
                           joined->partition.count))
        || !vector_append(&partition, &key, 1))
        return error_no_memory(binder->error), NULL;
    number =
        new_window(binder, joined, WINDOW_ROW_NUMBER, VDBQ_BIGINT, &partition);
    one = number && expression_fits(binder, number)
              ? expression_integer(binder, 1, joined->at)
              : NULL;
    return one ? expression_operator(binder, AST_EQ, number, one, &place)
               : NULL;
}

struct expression *joined_texts(struct binder *binder,
                                const struct joined_texts *joined)
{
    struct expression *value = joined->value, *key = joined->key, *e;

    if (joined->filter != NULL)
        value = where(binder, joined->filter, value);
    if (joined->filter != NULL && key != NULL)
        key = where(binder, joined->filter, key);
    if (value != NULL && joined->key != NULL)
        value =
            key ? where(binder, is_first(binder, joined, key), value) : NULL;
    if (value == NULL)
        return NULL;
    e = new_window(binder, joined, WINDOW_STRING_AGG, VDBQ_TEXT,
                   &joined->partition);
    if (e == NULL)
        return NULL;
    e->left = value;
    e->right = joined->separator;
    return expression_fits(binder, e) ? e : NULL;
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

/* expression_replacer: a window that waits for its group's keys. */
static struct expression *of_group(void *context, struct expression *e,
                                   bool *failed)
{
    const struct grouping *grouping = context;
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
        || !expression_fits(binder, copy))
        return NULL;
    *failed = false;
    return copy;
}

struct expression *joined_texts_of_group(struct binder *binder,
                                         struct expression *e,
                                         const struct vector *keys,
                                         bool *failed)
{
    struct grouping grouping = { binder, keys };

    return of_group(&grouping, e, failed);
}
