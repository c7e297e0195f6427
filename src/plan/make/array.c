/* SPDX-License-Identifier: MIT */
/*
 * Arrays: array.h. A literal of a list keeps its value alone, and is bound like
 * any other; so a long array is planned as a long list is.
 */
#include "plan/make/array.h"

#include <assert.h>

#include "plan/tree/binder.h"
#include "program/parameter.h"

/* A list that is being written, of items one behind the other. */
struct array_items {
    struct binder *binder;
    struct ast_item *first, **last;
    uint64_t count;
};

const struct parameter *array_given(const struct binder *binder,
                                    const struct ast_expression *parameter)
{
    const struct parameter *given = binder->parameters;

    if (given == NULL || parameter->kind != AST_PARAMETER)
        return NULL;
    given += parameter->integer - 1;
    return given->array != NULL ? given : NULL;
}

/* The array that an item stands for; NULL: it is something else. */
static const struct parameter *array_of(const struct binder *binder,
                                        const struct ast_item *item)
{
    return ast_item_is_literal(item) ? NULL
                                     : array_given(binder, item->expression);
}

const struct parameter *array_alone(const struct binder *binder,
                                    const struct ast_expression *in)
{
    return in->item_count == 1 ? array_of(binder, in->items) : NULL;
}

/* One value as a literal at the place of the parameter. */
static void set_literal(struct ast_item *item, const struct vdbq_vector *array,
                        uint64_t i)
{
    if (array->nulls != NULL && array->nulls[i] != 0) {
        item->kind = AST_NULL;
    } else if (array->type == VDBQ_BIGINT) {
        item->kind = AST_INTEGER;
        item->integer = ((const int64_t *)array->values)[i];
    } else if (array->type == VDBQ_DOUBLE) {
        item->kind = AST_DECIMAL;
        item->decimal = ((const double *)array->values)[i];
    } else {
        assert(array->type == VDBQ_TEXT);
        item->kind = AST_STRING;
        item->string = ((const struct vdbq_text *)array->values)[i].bytes;
    }
}

/* Adds an item, or each value of its array. False: no memory. */
static bool add_items(struct array_items *list, const struct ast_item *from)
{
    const struct parameter *given = array_of(list->binder, from);
    uint64_t count = given != NULL ? given->array_count : 1;
    struct ast_item *items =
        arena_alloc(list->binder->arena, (count + 1) * sizeof *items);

    if (items == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        items[i] = *from;
        items[i].next = NULL;
        if (given != NULL)
            set_literal(&items[i], given->array, i);
        *list->last = &items[i];
        list->last = &items[i].next;
    }
    list->count += count;
    return true;
}

static bool has_array(const struct binder *binder,
                      const struct ast_expression *in)
{
    const struct ast_item *item = in->items;

    while (item != NULL && array_of(binder, item) == NULL)
        item = item->next;
    return item != NULL;
}

const struct ast_expression *array_list(struct binder *binder,
                                        const struct ast_expression *in)
{
    struct array_items list = { .binder = binder, .last = &list.first };
    struct ast_expression *made;
    bool done = true;

    assert(in->kind == AST_IN && in->query == NULL);
    if (!has_array(binder, in))
        return in;
    binder->values_used = true;
    made = arena_alloc(binder->arena, sizeof *made);
    for (const struct ast_item *item = in->items; item != NULL && done;
         item = item->next)
        done = add_items(&list, item);
    if (made == NULL || !done)
        return error_no_memory(binder->error), NULL;
    if (list.count > UINT32_MAX) {
        error_at(binder->error, VDBQ_LIMIT, in->at,
                 "a list has %llu values, more than there can be",
                 (unsigned long long)list.count);
        return NULL;
    }
    *made = *in;
    made->items = list.first;
    made->item_count = (unsigned)list.count;
    return made;
}
