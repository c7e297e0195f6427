/* SPDX-License-Identifier: MIT */
/*
 * Rows that an index finds (NODE_SEEK) as a step, which gives the columns that
 * are read, in the order in which a SELECT names them.
 */
#include <assert.h>
#include <string.h>

#include "plan/lower/lowering.h"
#include "plan/tree/binder.h"

/* A text that is looked for outlives the statement's tree. */
static bool own_text(struct arena *arena, struct seek_value *value)
{
    if (value->text.bytes == NULL)
        return true;
    value->text.bytes =
        arena_copy(arena, value->text.bytes, value->text.length);
    return value->text.bytes != NULL;
}

static bool own_texts(struct arena *arena, struct step_seek *seek)
{
    bool owned =
        own_text(arena, &seek->low.value) && own_text(arena, &seek->high.value);

    for (unsigned i = 0; i < seek->equal_count && owned; i++)
        owned = own_text(arena, &seek->equals[i]);
    return owned;
}

/* The step, without columns. */
static enum vdbq_status add_step(struct lowering *lowering,
                                 const struct node *node, unsigned columns,
                                 const struct lower_keys *keys, int *number)
{
    struct arena *arena = &lowering->steps->arena;
    enum vdbq_status status = lower_add_step(
        lowering, STEP_SEEK, columns, &keys->step, node->left != NULL, number);
    struct step_seek *seek;
    struct vector none;

    if (status != VDBQ_OK)
        return status;
    seek = &steps_at(lowering->steps, *number)->seek;
    none = seek->columns;
    *seek = node->seek;
    seek->columns = none;
    memcpy(seek->from, keys->columns, sizeof seek->from);
    seek->table = node->table->id;
    seek->name =
        arena_copy(arena, node->table->name, strlen(node->table->name));
    seek->index = arena_copy(arena, node->seek.index, strlen(node->seek.index));
    if (seek->name == NULL || seek->index == NULL || !own_texts(arena, seek))
        return error_no_memory(lowering->binder->error);
    steps_at(lowering->steps, *number)->rows = node->rows;
    return VDBQ_OK;
}

/* Adds a column of the table, described as `column`; its row id is its key. Behind
 * that, and as the id where there is no key, comes the row's number. */
static bool add_column(struct lowering *lowering, const struct node *node,
                       unsigned from, const struct node_column *column,
                       int number)
{
    const struct table *table = node->table;
    bool id = from == table->column_count && table->key != NO_KEY;
    int place = (int)(id                           ? table->key
                      : from > table->column_count ? table->column_count
                                                   : from);
    struct step_column described = lower_column(column);

    if (!lower_add_column(lowering, number, &described))
        return false;
    if (vector_append(&steps_at(lowering->steps, number)->seek.columns, &place,
                      1))
        return true;
    error_no_memory(lowering->binder->error);
    return false;
}

/* A step has one column at least: the row's number, for which no tablet is read. */
static bool add_any(struct lowering *lowering, const struct node *node,
                    int number)
{
    const struct node_column row = { .name = "row", .type = VDBQ_BIGINT };

    return steps_at(lowering->steps, number)->column_count > 0
           || add_column(lowering, node, node->table->column_count + 1, &row,
                         number);
}

enum vdbq_status lower_seek(struct lowering *lowering, struct node *node,
                            const bool *needed, const struct lower_keys *keys,
                            int *map, int *number)
{
    enum vdbq_status status =
        add_step(lowering, node, node->column_count, keys, number);

    for (unsigned i = 0; i < node->column_count && status == VDBQ_OK; i++) {
        if (!needed[i])
            continue;
        map[i] = (int)steps_at(lowering->steps, *number)->column_count;
        status = lower_status(lowering, add_column(lowering, node, i,
                                                   &node->columns[i], *number));
    }
    if (status == VDBQ_OK)
        status = lower_status(lowering, add_any(lowering, node, *number));
    return status;
}

bool lower_is_sought(const struct node *select, const bool *needed)
{
    bool sought = select->kind == NODE_SELECT && select->where == NULL
                  && select->left->kind == NODE_SEEK && !select->left->shared;

    for (unsigned i = 0; i < select->column_count && sought; i++)
        sought = !needed[i] || select->results[i]->kind == EXPRESSION_COLUMN;
    return sought;
}

enum vdbq_status lower_sought(struct lowering *lowering, struct node *select,
                              const bool *needed, const struct lower_keys *keys,
                              int *map, int *number)
{
    const struct node *node = select->left;
    enum vdbq_status status =
        add_step(lowering, node, select->column_count, keys, number);

    for (unsigned i = 0; i < select->column_count && status == VDBQ_OK; i++) {
        if (!needed[i])
            continue;
        assert(select->results[i]->kind == EXPRESSION_COLUMN);
        map[i] = (int)steps_at(lowering->steps, *number)->column_count;
        status = lower_status(
            lowering, add_column(lowering, node,
                                 (unsigned)select->results[i]->column.number,
                                 &select->columns[i], *number));
    }
    if (status == VDBQ_OK)
        status = lower_status(lowering, add_any(lowering, node, *number));
    return status;
}
