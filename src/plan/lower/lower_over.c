/* SPDX-License-Identifier: MIT */
/*
 * Steps over the rows of others: groups, sorts, limits and rows one after the
 * other; and those that add columns: subqueries, windows, functions of the
 * host.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "plan/lower/lowering.h"
#include "plan/make/node_select.h"
#include "program/steps/group_sink.h"
#include "program/steps/sort_bound.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

static int moved(const int *map, int column)
{
    return column < 0 ? column : map[column];
}

/* Adds an item to a list of the step, which owns its vectors from then on;
 * returns it there. */
static void *add_to(struct lowering *lowering, struct vector *list,
                    const void *item)
{
    if (!vector_append(list, item, 1))
        return error_no_memory(lowering->binder->error), NULL;
    return vector_at(list, list->count - 1);
}

/* Adds a needed column to a step of groups: a key, or an aggregate of the rows
 * below, whose columns are at `below`. */
static bool add_grouped(struct lowering *lowering, const struct node *node,
                        unsigned column, const int *below, int number)
{
    const struct step_group *group = &node->group;
    struct step_column added = lower_column(&node->columns[column]);
    struct step_aggregate aggregate;

    if (!lower_add_column(lowering, number, &added))
        return false;
    if (column < group->keys) {
        assert(below[column] == (int)column);
        return true;
    }
    aggregate = VECTOR_ITEMS(&group->aggregates,
                             struct step_aggregate)[column - group->keys];
    aggregate.column = moved(below, aggregate.column);
    aggregate.filter = moved(below, aggregate.filter);
    return add_to(lowering,
                  &steps_at(lowering->steps, number)->group.aggregates,
                  &aggregate)
           != NULL;
}

/* About how many different rows there are of some columns of a node. */
static double combinations(const struct node *node, const bool *used)
{
    double all = 1;
    for (unsigned i = 0; i < node->column_count; i++)
        if (used[i])
            all *= fmax(node->columns[i].estimate.distinct, 1);
    return fmin(all, fmax(node->rows, 1));
}

enum vdbq_status lower_group(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number)
{
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count), input;
    enum vdbq_status status =
        lower_status(lowering, used != NULL && below != NULL);

    if (status != VDBQ_OK)
        return status;
    node_reads(node, needed, used, NULL);
    status = lower_node(lowering, node->left, used, below, &input);
    if (status == VDBQ_OK)
        status = lower_add_step(lowering, STEP_GROUP, node->column_count,
                                &input, 1, number);
    if (status != VDBQ_OK)
        return status;
    struct step_group *group = &steps_at(lowering->steps, *number)->group;
    group->keys = node->group.keys;
    group->hopes = node->group.hopes;
    group->combinations = combinations(node->left, used);
    for (unsigned i = 0; i < node->column_count; i++) {
        if (i >= node->group.keys && !needed[i])
            continue;
        map[i] = (int)steps_at(lowering->steps, *number)->column_count;
        if (!add_grouped(lowering, node, i, below, *number))
            return lower_status(lowering, false);
    }
    struct step *below_step = steps_at(lowering->steps, input);
    if (below_step->kind == STEP_SCAN
        && !group_sink_add(&below_step->scan.program,
                           &steps_at(lowering->steps, *number)->group))
        return error_no_memory(lowering->binder->error);
    return VDBQ_OK;
}

/* Adds the columns that the step below has, at the same places, and the keys. */
static bool fill_sort(struct lowering *lowering, const struct node *node,
                      const int *below, int number, int *map)
{
    struct step_sort *sort = &steps_at(lowering->steps, number)->sort;

    for (unsigned i = 0; i < node->column_count; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        if (below[i] < 0)
            continue;
        map[i] = below[i];
        assert(below[i]
               == (int)steps_at(lowering->steps, number)->column_count);
        if (!lower_add_column(lowering, number, &column))
            return false;
    }
    sort->offset = node->sort.offset;
    sort->limit = node->sort.limit;
    sort->hopes = node->sort.hopes;
    return lower_move_keys(lowering, &node->sort.keys, below, &sort->keys);
}

/* Has the scan below pass over rows behind those that the sort asks for. */
static bool bound_scan(struct lowering *lowering, int input, int number)
{
    struct step *below = steps_at(lowering->steps, input);
    const struct step_sort *sort = &steps_at(lowering->steps, number)->sort;
    return below->kind != STEP_SCAN || sort->limit == UINT64_MAX
           || sort_bound_add(&below->scan.program, sort);
}

enum vdbq_status lower_sort(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number)
{
    unsigned below_count = node->left->column_count;
    bool *used = lower_flags(lowering, below_count);
    int *below = lower_numbers(lowering, below_count), input;
    enum vdbq_status status =
        lower_status(lowering, used != NULL && below != NULL);

    if (status != VDBQ_OK)
        return status;
    node_reads(node, needed, used, NULL);
    status = lower_node(lowering, node->left, used, below, &input);
    if (status == VDBQ_OK)
        status = lower_add_step(lowering, STEP_SORT, node->column_count, &input,
                                1, number);
    return status != VDBQ_OK
               ? status
               : lower_status(lowering,
                              fill_sort(lowering, node, below, *number, map)
                                  && bound_scan(lowering, input, *number));
}

/* The step of a node of which all columns are read, where they are. */
enum vdbq_status lower_whole(struct lowering *lowering, struct node *node,
                             int *number)
{
    bool *all = lower_flags(lowering, node->column_count);
    int *same = lower_numbers(lowering, node->column_count);

    if (all == NULL || same == NULL)
        return lower_status(lowering, false);
    memset(all, true, node->column_count);
    return lower_node(lowering, node, all, same, number);
}

/* node->right, where there is one, is the row of numbers that a LIMIT reads
 * when it runs. */
enum vdbq_status lower_limit(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number)
{
    unsigned count = node->right != NULL ? 2 : 1;
    int inputs[2];
    enum vdbq_status status =
        lower_node(lowering, node->left, needed, map, &inputs[0]);

    if (status == VDBQ_OK && count == 2)
        status = lower_whole(lowering, node->right, &inputs[1]);
    if (status != VDBQ_OK)
        return status;
    status = lower_add_step(lowering, STEP_LIMIT,
                            steps_at(lowering->steps, inputs[0])->column_count,
                            inputs, count, number);
    if (status != VDBQ_OK
        || !lower_add_columns_of(lowering, *number, inputs[0]))
        return lower_status(lowering, false);
    steps_at(lowering->steps, *number)->limit = node->limit;
    return VDBQ_OK;
}

/* -------------------------------------------------------------- concat -- */

/* The numbers of the columns that are needed, and where they are then. */
static int *number_needed(struct lowering *lowering, const struct node *node,
                          const bool *needed, int *map, unsigned *count)
{
    int *columns = lower_numbers(lowering, node->column_count);

    *count = 0;
    for (unsigned i = 0; columns != NULL && i < node->column_count; i++)
        if (needed[i]) {
            map[i] = (int)*count;
            columns[(*count)++] = (int)i;
        }
    return columns;
}

/* The steps of all parts, with these columns alone. */
static enum vdbq_status lower_parts(struct lowering *lowering,
                                    struct node *node, const int *columns,
                                    unsigned count, struct vector *inputs)
{
    for (size_t i = 0; i < node->parts.count; i++) {
        struct node *part = VECTOR_ITEMS(&node->parts, struct node *)[i];
        int input;
        enum vdbq_status status;
        if (count < node->column_count)
            part = node_columns(lowering->binder, part, columns, count);
        if (part == NULL)
            return lower_status(lowering, false);
        status = lower_whole(lowering, part, &input);
        if (status != VDBQ_OK)
            return status;
        if (!vector_append(inputs, &input, 1))
            return error_no_memory(lowering->binder->error);
    }
    return VDBQ_OK;
}

enum vdbq_status lower_concat(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number)
{
    struct vector inputs = VECTOR(int);
    unsigned count;
    int *columns = number_needed(lowering, node, needed, map, &count);
    enum vdbq_status status = lower_status(lowering, columns != NULL);

    if (status == VDBQ_OK)
        status = lower_parts(lowering, node, columns, count, &inputs);
    if (status == VDBQ_OK)
        status = lower_add_step(lowering, STEP_CONCAT, node->column_count,
                                inputs.items, (unsigned)inputs.count, number);
    if (status == VDBQ_OK && count == 0) /* rows that are counted alone */
        status = lower_status(
            lowering, lower_add_columns_of(lowering, *number,
                                           VECTOR_ITEMS(&inputs, int)[0]));
    vector_finish(&inputs);
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++) {
        struct step_column column = lower_column(&node->columns[columns[i]]);
        status = lower_status(lowering,
                              lower_add_column(lowering, *number, &column));
    }
    return status;
}

/* ---------------------------------------------------------- added columns -- */

/* A node whose columns are those below and some more: what is below, and a step
 * over it; `used` has a flag for each column below. */
static enum vdbq_status lower_wider(struct lowering *lowering,
                                    struct node *node, enum step_kind kind,
                                    const bool *needed, bool *used, int *below,
                                    int *map, int *number)
{
    unsigned count = node->left->column_count;
    enum vdbq_status status;
    int input;

    node_reads(node, needed, used, NULL);
    status = lower_node(lowering, node->left, used, below, &input);
    if (status != VDBQ_OK)
        return status;
    status = lower_add_step(lowering, kind,
                            steps_at(lowering->steps, input)->column_count
                                + node->column_count - count,
                            &input, 1, number);
    if (status != VDBQ_OK || !lower_add_columns_of(lowering, *number, input))
        return lower_status(lowering, false);
    memcpy(map, below, count * sizeof *map);
    for (unsigned i = count; i < node->column_count; i++) {
        struct step_column column = lower_column(&node->columns[i]);
        map[i] = (int)steps_at(lowering->steps, *number)->column_count;
        if (!lower_add_column(lowering, *number, &column))
            return lower_status(lowering, false);
    }
    return VDBQ_OK;
}

/* The query that is applied: its rows' columns as far as they matter. */
static enum vdbq_status lower_inner(struct lowering *lowering,
                                    struct node *node, struct steps *inner)
{
    struct node *query = node->right;
    struct lowering inside = { lowering->binder, inner };
    bool *needed = lower_flags(lowering, query->column_count);
    int *map = lower_numbers(lowering, query->column_count), number;
    enum vdbq_status status =
        lower_status(lowering, needed != NULL && map != NULL);

    if (status != VDBQ_OK)
        return status;
    needed[0] = node->apply.kind != APPLY_EXISTS;
    status = lower_node(&inside, query, needed, map, &number);
    assert(status != VDBQ_OK || !needed[0] || map[0] == 0);
    return status;
}

/* The parameters of what is applied, as columns of the step below. */
static bool add_parameters(struct lowering *lowering, const struct node *node,
                           const int *below, struct step_apply *apply)
{
    const struct vector *parameters = &node->apply.parameters;

    for (size_t i = 0; i < parameters->count; i++) {
        struct step_parameter parameter =
            VECTOR_ITEMS(parameters, struct step_parameter)[i];
        parameter.column = below[parameter.column];
        if (add_to(lowering, &apply->parameters, &parameter) == NULL)
            return false;
    }
    return true;
}

enum vdbq_status lower_apply(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number)
{
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count);
    enum vdbq_status status =
        lower_status(lowering, used != NULL && below != NULL);
    struct step_apply *apply;

    if (status != VDBQ_OK)
        return status;
    status = lower_wider(lowering, node, STEP_APPLY, needed, used, below, map,
                         number);
    if (status != VDBQ_OK)
        return status;
    apply = &steps_at(lowering->steps, *number)->apply;
    apply->inner = arena_alloc(&lowering->steps->arena, sizeof *apply->inner);
    if (apply->inner == NULL)
        return error_no_memory(lowering->binder->error);
    steps_init(apply->inner);
    apply->kind = node->apply.kind;
    apply->column = apply->kind == APPLY_IN ? below[node->apply.column] : -1;
    return add_parameters(lowering, node, below, apply)
               ? lower_inner(lowering, node, apply->inner)
               : lower_status(lowering, false);
}

static bool add_window(struct lowering *lowering,
                       const struct step_window_function *from,
                       const int *below, int number)
{
    struct step_window_function function = *from, *added;

    function.aggregate.column = moved(below, from->aggregate.column);
    function.aggregate.filter = moved(below, from->aggregate.filter);
    function.fallback = moved(below, from->fallback);
    function.partition = VECTOR(int);
    function.order = VECTOR(struct step_key);
    added =
        add_to(lowering, &steps_at(lowering->steps, number)->window.functions,
               &function);
    return added != NULL
           && lower_move_numbers(lowering, &from->partition, below,
                                 &added->partition)
           && lower_move_keys(lowering, &from->order, below, &added->order);
}

enum vdbq_status lower_window(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number)
{
    const struct vector *functions = &node->window.functions;
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count);
    enum vdbq_status status =
        lower_status(lowering, used != NULL && below != NULL);

    if (status != VDBQ_OK)
        return status;
    status = lower_wider(lowering, node, STEP_WINDOW, needed, used, below, map,
                         number);
    if (status == VDBQ_OK)
        steps_at(lowering->steps, *number)->window.firsts = node->window.firsts;
    for (size_t i = 0; i < functions->count && status == VDBQ_OK; i++)
        status =
            lower_status(lowering, add_window(lowering, vector_at(functions, i),
                                              below, *number));
    return status;
}

/* Copies of the calls that are computed with a function; false: no memory. */
static bool copy_calls(struct lowering *lowering, const struct vector *from,
                       struct vector *to)
{
    for (size_t i = 0; i < from->count; i++) {
        const char *call = VECTOR_ITEMS(from, const char *)[i];
        call = arena_copy(&lowering->steps->arena, call, strlen(call));
        if (call == NULL || !vector_append(to, &call, 1))
            return error_no_memory(lowering->binder->error), false;
    }
    return true;
}

static bool add_function(struct lowering *lowering,
                         const struct step_function *from, const int *below,
                         int number)
{
    struct step_function function = {
        .name = from->looks_up ? arena_copy(&lowering->steps->arena, from->name,
                                            strlen(from->name))
                               : from->name,
        .looks_up = from->looks_up,
        .arguments = VECTOR(int),
        .then = VECTOR(const char *),
        .at = from->at
    };
    if (function.name == NULL)
        return error_no_memory(lowering->binder->error), false;
    struct step_function *added = add_to(
        lowering, &steps_at(lowering->steps, number)->map.functions, &function);

    return added != NULL
           && lower_move_numbers(lowering, &from->arguments, below,
                                 &added->arguments)
           && copy_calls(lowering, &from->then, &added->then);
}

enum vdbq_status lower_map(struct lowering *lowering, struct node *node,
                           const bool *needed, int *map, int *number)
{
    const struct vector *functions = &node->map.functions;
    bool *used = lower_flags(lowering, node->left->column_count);
    int *below = lower_numbers(lowering, node->left->column_count);
    enum vdbq_status status =
        lower_status(lowering, used != NULL && below != NULL);

    if (status != VDBQ_OK)
        return status;
    status =
        lower_wider(lowering, node, STEP_MAP, needed, used, below, map, number);
    for (size_t i = 0; i < functions->count && status == VDBQ_OK; i++)
        status = lower_status(
            lowering,
            add_function(lowering, vector_at(functions, i), below, *number));
    return status;
}

/* -------------------------------------------------------------- fetching -- */

/* Adds a column of the table to the step, behind the input's. */
static bool add_fetched(struct lowering *lowering, const struct node *node,
                        unsigned added, int number)
{
    struct step_column column =
        lower_column(&node->columns[node->left->column_count + added]);

    return lower_add_column(lowering, number, &column)
           && add_to(lowering,
                     &steps_at(lowering->steps, number)->fetch.columns,
                     vector_at(&node->fetch.columns, added))
                  != NULL;
}

/* The step over what is below; it gives those of the table's columns that are
 * needed. */
static enum vdbq_status add_fetch(struct lowering *lowering,
                                  const struct node *node, const bool *needed,
                                  int input, int *map, int *number)
{
    unsigned before = node->left->column_count;
    unsigned from = steps_at(lowering->steps, input)->column_count;
    const char *name = node->table->name;
    struct step_fetch *fetch;
    enum vdbq_status status =
        lower_add_step(lowering, STEP_FETCH, from + node->column_count - before,
                       &input, 1, number);

    if (status != VDBQ_OK || !lower_add_columns_of(lowering, *number, input))
        return lower_status(lowering, false);
    fetch = &steps_at(lowering->steps, *number)->fetch;
    fetch->table = node->table->id;
    fetch->row = map[node->fetch.row];
    fetch->name = arena_copy(&lowering->steps->arena, name, strlen(name));
    if (fetch->name == NULL)
        return error_no_memory(lowering->binder->error);
    for (unsigned i = before; i < node->column_count; i++) {
        if (!needed[i])
            continue;
        map[i] = (int)steps_at(lowering->steps, *number)->column_count;
        if (!add_fetched(lowering, node, i - before, *number))
            return lower_status(lowering, false);
    }
    return VDBQ_OK;
}

enum vdbq_status lower_fetch(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number)
{
    unsigned before = node->left->column_count;
    bool *used = lower_flags(lowering, before), any = false;
    enum vdbq_status status = lower_status(lowering, used != NULL);
    int input;

    if (status != VDBQ_OK)
        return status;
    node_reads(node, needed, used, NULL);
    for (unsigned i = before; i < node->column_count; i++)
        any |= needed[i];
    status = lower_node(lowering, node->left, used, map, &input);
    *number = input;
    return status == VDBQ_OK && any
               ? add_fetch(lowering, node, needed, input, map, number)
               : status;
}

enum vdbq_status lower_seek_keys(struct lowering *lowering,
                                 const struct node *seek,
                                 struct lower_keys *keys)
{
    bool *used;
    int *map;
    enum vdbq_status status;

    *keys = (struct lower_keys){ .step = -1 };
    if (seek->left == NULL)
        return VDBQ_OK;
    used = lower_flags(lowering, seek->left->column_count);
    map = lower_numbers(lowering, seek->left->column_count);
    status = lower_status(lowering, used != NULL && map != NULL);
    if (status != VDBQ_OK)
        return status;
    for (unsigned i = 0; i < seek->seek.from_count; i++)
        used[seek->seek.from[i]] = true;
    status = lower_node(lowering, seek->left, used, map, &keys->step);
    for (unsigned i = 0; i < seek->seek.from_count && status == VDBQ_OK; i++)
        keys->columns[i] = map[seek->seek.from[i]];
    return status;
}
