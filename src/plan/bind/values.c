/* SPDX-License-Identifier: MIT */
/*
 * Constants that are rows: VALUES, and the long lists of IN. A program has a
 * register for each constant, so that there is an end to their number; rows
 * have none. What is bound of a literal is forgotten once its value is in a
 * column, so that a million of them take a few bytes each. Parameters in a long list,
 * and what is computed of them, are the values that they have: it is planned with each
 * run.
 */
#include "plan/bind/values.h"

#include <assert.h>
#include <string.h>

#include "plan/bind/clause.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/make/known.h"
#include "plan/make/node.h"
#include "plan/operator/compare.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"
#include "program/parameter.h"

enum {
    LIST_LONG = 64,      /* what a list with fewer constants costs in a
                            program is less than a join                     */
    LITERALS_ONCE = 1024 /* that are bound before they are forgotten        */
};

/* ------------------------------------------------------------- literals -- */

/* Memory of expressions that are soon forgotten, in the place of the binder's. */
struct scratch {
    struct binder *binder;
    struct arena arena, *own; /* own: the binder's */
    unsigned literals;        /* that are in it    */
};

static void scratch_open(struct scratch *scratch, struct binder *binder)
{
    *scratch = (struct scratch){ .binder = binder, .own = binder->arena };
}

/* A literal, bound in scratch memory until the next ones are. */
static struct expression *scratch_bind(struct scratch *scratch,
                                       const struct ast_item *item)
{
    struct ast_expression room;

    assert(ast_item_is_literal(item));
    if (scratch->literals++ % LITERALS_ONCE == 0)
        arena_finish(&scratch->arena);
    scratch->binder->arena = &scratch->arena;
    return bind_literal(scratch->binder, ast_item_read(item, &room));
}

/* The binder has its own memory again. */
static void scratch_leave(struct scratch *scratch)
{
    scratch->binder->arena = scratch->own;
}

static void scratch_close(struct scratch *scratch)
{
    scratch_leave(scratch);
    arena_finish(&scratch->arena);
}

static bool are_literals(const struct ast_item *item)
{
    while (item != NULL && ast_item_is_literal(item))
        item = item->next;
    return item == NULL;
}

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

/* A vector for each column; NULL: no memory. */
static struct vdbq_vector *columns_room(struct binder *binder,
                                        const struct node_column *columns,
                                        unsigned count, size_t rows)
{
    struct vdbq_vector *made =
        arena_alloc(binder->arena, (count + (size_t)1) * sizeof *made);

    for (unsigned i = 0; i < count && made != NULL; i++)
        if (!constants_room(binder->arena, columns[i].type, rows, &made[i]))
            made = NULL;
    if (made == NULL)
        error_no_memory(binder->error);
    return made;
}

struct node *values_node(struct binder *binder, struct node *const *parts,
                         size_t count)
{
    unsigned columns = parts[0]->column_count;
    struct vdbq_vector *values =
        columns_room(binder, parts[0]->columns, columns, count);

    assert(values_are_constant(parts, count));
    if (values == NULL)
        return NULL;
    for (unsigned c = 0; c < columns; c++)
        for (size_t i = 0; i < count; i++)
            if (!constants_put(binder->arena, &values[c], i,
                               parts[i]->results[c]))
                return error_no_memory(binder->error), NULL;
    return node_values(binder, parts[0]->columns, columns, values, count);
}

/* Whether the row has a kind of literal that no row before has in its column:
 * `seen` has a bit for each. */
static bool is_new(const struct ast_row *row, uint32_t *seen)
{
    bool new = false;

    for (const struct ast_item *item = row->items; item != NULL;
         item = item->next, seen++) {
        uint32_t bit = UINT32_C(1) << item->kind;
        new |= (*seen & bit) == 0;
        *seen |= bit;
    }
    return new;
}

bool values_are_literals(const struct ast_query *query)
{
    const struct ast_row *first = query->rows;

    if (query->row_count < LIST_LONG)
        return false;
    for (const struct ast_row *row = first; row != NULL; row = row->next)
        if (row->item_count != first->item_count || !are_literals(row->items))
            return false;
    return true;
}

enum vdbq_status values_samples(struct binder *binder,
                                const struct ast_query *query,
                                struct vector *samples)
{
    uint32_t *seen = arena_alloc(
        binder->arena, (query->rows->item_count + (size_t)1) * sizeof *seen);

    *samples = VECTOR_IN(binder->arena, const struct ast_row *);
    if (seen == NULL)
        return error_no_memory(binder->error);
    for (const struct ast_row *row = query->rows; row != NULL; row = row->next)
        if (is_new(row, seen) && !vector_append(samples, &row, 1))
            return error_no_memory(binder->error);
    return VDBQ_OK;
}

/* Puts a literal into a column, as a value of its type. */
static bool put_literal(struct scratch *scratch, const struct ast_item *item,
                        const struct node_column *column,
                        struct vdbq_vector *values, size_t row)
{
    struct ast_type type = { .type = (enum vdbq_type)column->type,
                             .precision = column->precision,
                             .scale = column->scale };
    struct expression *e = scratch_bind(scratch, item);

    if (e != NULL && !e->constant.null)
        e = expression_cast(scratch->binder, e, type, item->at);
    scratch_leave(scratch);
    if (e == NULL)
        return false;
    assert(e->kind == EXPRESSION_CONSTANT);
    if (constants_put(scratch->own, values, row, e))
        return true;
    error_no_memory(scratch->binder->error);
    return false;
}

struct node *values_of_literals(struct binder *binder,
                                const struct ast_query *query,
                                const struct node_column *columns)
{
    unsigned count = query->rows->item_count;
    struct vdbq_vector *values =
        columns_room(binder, columns, count, query->row_count);
    bool done = values != NULL;
    struct scratch scratch;
    size_t number = 0;

    scratch_open(&scratch, binder);
    for (const struct ast_row *row = query->rows; row != NULL && done;
         row = row->next, number++) {
        unsigned i = 0;
        for (const struct ast_item *item = row->items; item != NULL && done;
             item = item->next, i++)
            done = put_literal(&scratch, item, &columns[i], &values[i], number);
    }
    scratch_close(&scratch);
    return done ? node_values(binder, columns, count, values, query->row_count)
                : NULL;
}

/* ------------------------------------------------------------------- IN -- */

/* Items that the operand is compared with as they are, as a column of its
 * type. */
struct list {
    struct binder *binder;
    struct expression *operand;
    struct vdbq_vector values;
    size_t count; /* that are in it                                       */
    bool plain;   /* all so far are constants that fit                    */
};

static bool has_plain_items(const struct expression *operand)
{
    return is_number(operand->type) || operand->type == VDBQ_TEXT
           || operand->type == VDBQ_DATE || operand->type == VDBQ_TIMESTAMP;
}

/* Whether a DECIMAL has digits that the operand's have no place for. */
static bool has_more_digits(const struct expression *operand,
                            const struct expression *item)
{
    return operand->type == VDBQ_DECIMAL && item->scale > operand->scale
           && item->constant.integer
                      % decimal_power(item->scale - operand->scale)
                  != 0;
}

/* Whether an item is a constant that is compared with the operand as it is:
 * an integer with integers, a float with floats, or a value of the same type. */
static bool is_plain_item(const struct expression *operand,
                          const struct expression *item)
{
    if (item->kind != EXPRESSION_CONSTANT)
        return false;
    if (item->constant.null)
        return true;
    if (is_integer(operand->type))
        return is_integer(item->type);
    if (is_float(operand->type))
        return is_float(item->type);
    return operand->type == item->type
           && (operand->type != VDBQ_DECIMAL || operand->scale == item->scale
               || has_more_digits(operand, item));
}

/* Whether the operand's type cannot hold an item that is no NULL, so that it
 * equals nothing. */
static bool is_out(const struct expression *operand,
                   const struct expression *item)
{
    double real = item->constant.real;

    if (operand->type == VDBQ_FLOAT)
        return (double)(float)real != real;
    if (operand->type == VDBQ_DECIMAL)
        return has_more_digits(operand, item);
    return type_machine((enum vdbq_type)operand->type) == TYPE_I32
           && is_integer(item->type)
           && (item->constant.integer < INT32_MIN
               || item->constant.integer > INT32_MAX);
}

/* Reads an item as the operand is compared with it: '2020-02-29' as a date.
 * `*left_out`: that never equals it. False: a failure. */
static bool list_read(struct list *list, struct expression **item,
                      bool *left_out)
{
    *left_out = false;
    if ((*item)->kind == EXPRESSION_CONSTANT && !(*item)->constant.null
        && !compare_item(list->binder, list->operand, item, left_out))
        return false;
    if (*left_out)
        return true;
    list->plain = is_plain_item(list->operand, *item);
    *left_out =
        list->plain && !(*item)->constant.null && is_out(list->operand, *item);
    return true;
}

/* Adds an item that was read, its text in memory of `arena`. */
static bool list_put(struct list *list, struct arena *arena,
                     const struct expression *item)
{
    if (constants_put(arena, &list->values, list->count++, item))
        return true;
    error_no_memory(list->binder->error);
    return false;
}

/* Room for a list; false: the operand is not compared with such, or a
 * failure. */
static bool list_open(struct list *list, struct binder *binder,
                      struct expression *operand, size_t count)
{
    *list = (struct list){ .binder = binder, .operand = operand };
    if (count < LIST_LONG || operand->kind == EXPRESSION_CONSTANT
        || !has_plain_items(operand))
        return false;
    list->plain =
        constants_room(binder->arena, operand->type, count, &list->values);
    if (!list->plain)
        error_no_memory(binder->error);
    return list->plain;
}

/* The list as rows of one column. */
static enum vdbq_status list_node(struct list *list, struct node **node)
{
    struct binder *binder = list->binder;
    struct node_column column = { .name = "",
                                  .type = list->operand->type,
                                  .precision = list->operand->precision,
                                  .scale = list->operand->scale };
    struct vdbq_vector *values = arena_alloc(binder->arena, sizeof *values);

    if (values == NULL)
        return error_no_memory(binder->error);
    *values = list->values;
    *node = node_values(binder, &column, 1, values, list->count);
    return *node ? VDBQ_OK : binder->error->status;
}

/* Whether a parameter's value is compared with the operand as a literal is: a text
 * with a number is not. */
static bool is_plain_parameter(const struct expression *operand,
                               const struct expression *item)
{
    return item->kind == EXPRESSION_PARAMETER
           && (is_number(operand->type)
                   ? is_number(item->type)
                   : operand->type == VDBQ_TEXT && item->type == VDBQ_TEXT);
}

/* An item as it is put into a list: a parameter by the value that it has, and what is
 * computed of some by that, so that the plan is of these values. NULL: a failure. */
static struct expression *item_known(struct binder *binder,
                                     const struct expression *operand,
                                     struct expression *item)
{
    if (item->kind == EXPRESSION_PARAMETER)
        return is_plain_parameter(operand, item)
                   ? expression_known(binder, item)
                   : item;
    return expression_computed(binder, item);
}

enum vdbq_status values_of_list(struct binder *binder,
                                struct expression *operand,
                                struct expression *const *items, size_t count,
                                struct node **node)
{
    struct list list;

    *node = NULL;
    if (!list_open(&list, binder, operand, count))
        return binder->error->status;
    for (size_t i = 0; i < count && list.plain; i++) {
        struct expression *item = item_known(binder, operand, items[i]);
        bool left_out;
        if (item == NULL)
            return binder->error->status;
        if (!list_read(&list, &item, &left_out)
            || (list.plain && !left_out
                && !list_put(&list, binder->arena, item)))
            return binder->error->status;
    }
    return list.plain ? list_node(&list, node) : VDBQ_OK;
}

/* A known integer. */
static struct expression integer_item(int64_t value)
{
    return (struct expression){ .kind = EXPRESSION_CONSTANT,
                                .type = VDBQ_BIGINT,
                                .constant = { .integer = value } };
}

/* Adds a value that is compared with the operand as it is, unless it never equals
 * that. */
static bool list_plain(struct list *list, struct arena *arena,
                       const struct expression *item)
{
    return (!item->constant.null && is_out(list->operand, item))
           || list_put(list, arena, item);
}

/* Adds a literal; false: a failure. */
static bool list_literal(struct list *list, struct scratch *scratch,
                         const struct ast_item *literal)
{
    struct expression *item;
    bool left_out = false, done;

    if (literal->kind == AST_INTEGER && is_integer(list->operand->type)) {
        const struct expression integer = integer_item(literal->integer);
        return list_plain(list, scratch->own, &integer);
    }
    item = scratch_bind(scratch, literal);
    done = item != NULL && list_read(list, &item, &left_out);

    scratch_leave(scratch);
    if (!done || !list->plain || left_out)
        return done;
    return list_put(list, scratch->own, item);
}

/* Whether values of an array are compared with the operand as they are. */
static bool array_is_plain(const struct expression *operand,
                           const struct vdbq_vector *array)
{
    if (array->type == VDBQ_BIGINT)
        return is_integer(operand->type);
    if (array->type == VDBQ_DOUBLE)
        return is_float(operand->type);
    return operand->type == VDBQ_TEXT;
}

/* One value of an array. */
static struct expression array_item(const struct vdbq_vector *array, uint64_t i)
{
    struct expression item = { .kind = EXPRESSION_CONSTANT,
                               .type = array->type };

    item.constant.null = array->nulls != NULL && array->nulls[i] != 0;
    if (array->type == VDBQ_BIGINT)
        item.constant.integer = ((const int64_t *)array->values)[i];
    else if (array->type == VDBQ_DOUBLE)
        item.constant.real = ((const double *)array->values)[i];
    else
        item.constant.text = ((const struct vdbq_text *)array->values)[i];
    return item;
}

enum vdbq_status values_of_array(struct binder *binder,
                                 struct expression *operand,
                                 const struct parameter *given,
                                 struct node **node)
{
    struct list list;

    *node = NULL;
    if (!array_is_plain(operand, given->array)
        || !list_open(&list, binder, operand, given->array_count))
        return binder->error->status;
    binder->values_used = true;
    for (uint64_t i = 0; i < given->array_count; i++) {
        const struct expression item = array_item(given->array, i);
        if (!list_plain(&list, binder->arena, &item))
            return binder->error->status;
    }
    return list_node(&list, node);
}

enum vdbq_status values_of_items(struct binder *binder,
                                 struct expression *operand,
                                 const struct ast_expression *tree,
                                 struct node **node)
{
    struct scratch scratch;
    struct list list;
    bool done = true;

    *node = NULL;
    if (!are_literals(tree->items)
        || !list_open(&list, binder, operand, tree->item_count))
        return binder->error->status;
    scratch_open(&scratch, binder);
    for (const struct ast_item *item = tree->items;
         item != NULL && done && list.plain; item = item->next)
        done = list_literal(&list, &scratch, item);
    scratch_close(&scratch);
    if (!done)
        return binder->error->status;
    return list.plain ? list_node(&list, node) : VDBQ_OK;
}
