/* SPDX-License-Identifier: MIT */
/*
 * Constants that are rows: VALUES, and the long lists of IN. A program has a
 * register for each constant, so that there is an end to their number; rows
 * have none.
 */
#include "plan/bind/values.h"

#include <assert.h>
#include <string.h>

#include "plan/operator/compare.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"

/* What a list with fewer constants costs in a program is less than a join. */
enum { LIST_LONG = 64 };

/* --------------------------------------------------------------- VALUES -- */

/* Whether a part of VALUES is constants and nothing else. */
static bool is_constant_row(const struct node *part)
{
    if (part->kind != NODE_SELECT || part->left->kind != NODE_ONCE
        || part->where != NULL)
        return false;
    for (unsigned i = 0; i < part->column_count; i++)
        if (part->results[i]->kind != EXPRESSION_CONSTANT
            || part->results[i]->type != part->columns[i].type)
            return false;
    return true;
}

bool values_are_constant(struct node *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_constant_row(parts[i]))
            return false;
    return true;
}

struct node *values_node(struct binder *binder, struct node *const *parts,
                         size_t count)
{
    unsigned columns = parts[0]->column_count;
    struct expression **values =
        arena_alloc(binder->arena, (columns * count + 1) * sizeof(*values));

    assert(values_are_constant(parts, count));
    if (values == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            values[c * count + i] = parts[i]->results[c];
    return node_values(binder, parts[0]->columns, columns, values, count);
}

/* ------------------------------------------------------------------- IN -- */

static bool has_plain_items(const struct expression *operand)
{
    return is_integer(operand->type) || operand->type == VDBQ_TEXT
           || operand->type == VDBQ_DATE || operand->type == VDBQ_TIMESTAMP;
}

/* Whether an item is a constant that is compared with the operand as it is:
 * an integer with integers, or a value of the same type. */
static bool is_plain_item(const struct expression *operand,
                          const struct expression *item)
{
    if (item->kind != EXPRESSION_CONSTANT)
        return false;
    if (item->constant.null)
        return true;
    return is_integer(operand->type) ? is_integer(item->type)
                                     : operand->type == item->type;
}

/* Items as the operand is compared with them: '2020-02-29' as a date. Those
 * that it never equals are left out of `*count`. */
static enum vdbq_status read_items(struct binder *binder,
                                   struct expression *operand,
                                   struct expression **items, size_t *count,
                                   bool *plain)
{
    size_t kept = 0;

    *plain = true;
    for (size_t i = 0; i < *count && *plain; i++) {
        struct expression *item = items[i];
        bool never = false;
        if (item->kind == EXPRESSION_CONSTANT && !item->constant.null
            && !compare_item(binder, operand, &item, &never))
            return binder->error->status;
        if (never)
            continue;
        *plain = is_plain_item(operand, item);
        items[kept++] = item;
    }
    *count = kept;
    return VDBQ_OK;
}

/* An item as a value of the column, or NULL where the column cannot hold it,
 * so that it equals nothing: `*left_out`. */
static struct expression *list_value(struct binder *binder,
                                     const struct node_column *column,
                                     struct expression *item, bool *left_out)
{
    bool narrow = type_machine((enum vdbq_type)column->type) == TYPE_I32;

    *left_out = narrow && !item->constant.null && is_integer(item->type)
                && (item->constant.integer < INT32_MIN
                    || item->constant.integer > INT32_MAX);
    return item->constant.null ? expression_null(binder, column->type, item->at)
                               : item;
}

/* The items as rows of one column. */
static struct node *list_node(struct binder *binder,
                              const struct expression *operand,
                              struct expression **items, size_t count)
{
    struct node_column column = { .name = "", .type = operand->type };
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        bool left_out;
        struct expression *e = list_value(binder, &column, items[i], &left_out);
        if (e == NULL)
            return NULL;
        if (!left_out)
            items[kept++] = e;
    }
    return node_values(binder, &column, 1, items, kept);
}

enum vdbq_status values_of_list(struct binder *binder,
                                struct expression *operand,
                                struct expression **items, size_t count,
                                struct node **node)
{
    struct expression **read;
    bool plain;

    *node = NULL;
    if (count < LIST_LONG || operand->kind == EXPRESSION_CONSTANT
        || !has_plain_items(operand))
        return VDBQ_OK;
    read = arena_alloc(binder->arena, count * sizeof(*read));
    if (read == NULL)
        return error_no_memory(binder->error);
    memcpy(read, items, count * sizeof(*read));
    if (read_items(binder, operand, read, &count, &plain) != VDBQ_OK)
        return binder->error->status;
    if (!plain)
        return VDBQ_OK;
    *node = list_node(binder, operand, read, count);
    return *node ? VDBQ_OK : binder->error->status;
}
