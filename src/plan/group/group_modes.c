/* SPDX-License-Identifier: MIT */
/*
 * The most frequent values of groups:
 *
 *   SELECT k, mode(x), sum(y) FROM t GROUP BY k
 *
 * takes of each k the first value of a window over t's rows, whose order is how many
 * of them have the same k and x: another window. Where k and x have few different
 * values, the rows are grouped by both first, and counted; the window is then over
 * these groups, and what else is asked of k is made of theirs.
 *
 * Groups come in the order of their first rows. So the first group of those that
 * have the most rows is that of the first row of these, and has its value. Sums that
 * might overflow are left out: the sum of some rows might where that of all does not.
 */
#include "plan/group/group_modes.h"

#include <assert.h>

#include "base/vector.h"
#include "plan/estimate/estimate.h"
#include "plan/group/group_parts.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/simplify/tree_pass.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"
#include "plan/tree/rows_most.h"

enum { ROWS_A_GROUP = 3 }; /* that the groups by key and value have at least */

/* A group over the first rows of an order by counts. */
struct modes {
    struct binder *binder;
    const struct node *group, *select;
    const struct node *first, *count; /* windows, the one over the other   */
    struct node *below;               /* the rows that are counted         */
    int *places; /* of their columns over the groups by key and value; -1: it is
                      not there                                              */
    unsigned keys; /* of these groups                                        */
    unsigned counted, value; /* their columns: how many rows they have, and what
                                is the same in these                         */
};

/* ------------------------------------------------------------- the proof -- */

/* A window that gives one function, which nothing else reads. */
static const struct step_window_function *only_function(const struct node *node)
{
    return node->kind == NODE_WINDOW && node->common == NULL
                   && !node->window.firsts && node->window.functions.count == 1
               ? vector_at(&node->window.functions, 0)
               : NULL;
}

/* Whether a window counts the rows of its partitions. */
static bool counts(const struct node *node)
{
    const struct step_window_function *function = only_function(node);

    return function != NULL && function->function == WINDOW_AGGREGATE
           && function->aggregate.function == AGGREGATE_COUNT
           && function->aggregate.column >= 0 && !function->aggregate.distinct
           && function->aggregate.filter < 0
           && function->frame.unit == FRAME_DEFAULT
           && function->order.count == 0;
}

/* Whether a window gives its partitions a value of the first row by what the window
 * below it gives. */
static bool takes_first(const struct node *node)
{
    const struct step_window_function *function = only_function(node);
    const struct step_key *key;

    if (function == NULL || function->function != WINDOW_FIRST
        || !step_window_gives_one(function) || function->order.count != 1)
        return false;
    key = vector_at(&function->order, 0);
    return key->column == (int)node->left->left->column_count
           && function->aggregate.column < key->column;
}

static bool begin(struct modes *modes, const struct node *node)
{
    const struct node *select = node->left;

    if (node->kind != NODE_GROUP || node->common != NULL
        || select->kind != NODE_SELECT || select->common != NULL
        || select->where != NULL || only_function(select->left) == NULL
        || !counts(select->left->left) || !takes_first(select->left))
        return false;
    modes->group = node;
    modes->select = select;
    modes->first = select->left;
    modes->count = select->left->left;
    modes->below = select->left->left->left;
    return true;
}

static bool has_part(const struct node *window, int column)
{
    const struct step_window_function *function = only_function(window);
    size_t i = 0;

    while (i < function->partition.count
           && VECTOR_ITEMS(&function->partition, int)[i] != column)
        i++;
    return i < function->partition.count;
}

/* The column that a result of the SELECT is; -1: it is computed. */
static int column_of(const struct modes *modes, unsigned result)
{
    const struct expression *e = modes->select->results[result];

    return e->kind == EXPRESSION_COLUMN ? e->column.number : -1;
}

static bool is_key(const struct modes *modes, int column)
{
    for (unsigned i = 0; i < modes->group->group.keys; i++)
        if (column_of(modes, i) == column)
            return true;
    return false;
}

/* Whether the group has the partitions of first rows, which are made of those that
 * are counted. */
static bool has_partitions(const struct modes *modes)
{
    const struct vector *parts = &only_function(modes->first)->partition;
    bool has = true;

    for (unsigned i = 0; i < modes->group->group.keys && has; i++)
        has = has_part(modes->first, column_of(modes, i));
    for (size_t i = 0; i < parts->count && has; i++) {
        int column = VECTOR_ITEMS(parts, int)[i];
        has = is_key(modes, column) && has_part(modes->count, column);
    }
    return has;
}

/* Whether a result of the SELECT reads no window; -1: there is none. */
static bool is_below(const struct modes *modes, int result)
{
    unsigned count = modes->first->column_count;
    bool *reads;

    if (result < 0)
        return true;
    reads = column_flags(modes->binder, count, false);
    if (reads == NULL)
        return false;
    expression_reads(reads, &modes->select->results[result]);
    return !reads[count - 1] && !reads[count - 2];
}

/* Whether an aggregate is what the window of first rows gives. */
static bool is_mode(const struct modes *modes,
                    const struct step_aggregate *aggregate)
{
    return aggregate->function == AGGREGATE_FIRST && aggregate->filter < 0
           && column_of(modes, (unsigned)aggregate->column)
                  == (int)modes->first->column_count - 1;
}

static bool aggregates_are_of_parts(const struct modes *modes)
{
    const struct node *group = modes->group;
    enum aggregate_function function;

    for (size_t i = 0; i < group->group.aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->group.aggregates, i);
        int type = group->columns[group->group.keys + i].type;
        if (!is_mode(modes, aggregate)
            && (!aggregate_of_parts(aggregate, type, &function)
                || !is_below(modes, aggregate->column)
                || !is_below(modes, aggregate->filter)))
            return false;
    }
    return !node_sum_overflows(group);
}

/* ------------------------------------------------ groups by key and value -- */

/* Rows that are to be grouped: what they are computed as, and how they are asked. */
struct rows {
    struct expression **results;
    unsigned count;
    struct vector aggregates; /* of struct step_aggregate */
};

/* A column of the rows below, if it is not there yet; false: a failure. */
static bool add_column(struct modes *modes, struct rows *rows, int column)
{
    struct position at = { 0 };

    if (modes->places[column] >= 0)
        return true;
    modes->places[column] = (int)rows->count;
    rows->results[rows->count] =
        node_column(modes->binder, modes->below, (unsigned)column, at);
    return rows->results[rows->count++] != NULL;
}

/* The group's keys, then what else is counted by. */
static bool add_keys(struct modes *modes, struct rows *rows)
{
    const struct vector *parts = &only_function(modes->count)->partition;
    bool done = true;

    for (unsigned i = 0; i < modes->group->group.keys && done; i++)
        done = add_column(modes, rows, column_of(modes, i));
    for (size_t i = 0; i < parts->count && done; i++)
        done = add_column(modes, rows, VECTOR_ITEMS(parts, int)[i]);
    modes->keys = rows->count;
    return done;
}

static int add_read(const struct modes *modes, struct rows *rows, int result)
{
    if (result < 0)
        return -1;
    rows->results[rows->count] = modes->select->results[result];
    return (int)rows->count++;
}

/* An aggregate of a column of the rows below, and where it comes to stand. */
static bool add_aggregate(const struct modes *modes, struct rows *rows,
                          enum aggregate_function function, int column,
                          unsigned *place)
{
    struct step_aggregate made = { .function = function,
                                   .column = (int)rows->count,
                                   .filter = -1 };
    struct position at = { 0 };

    *place = modes->keys + (unsigned)rows->aggregates.count;
    rows->results[rows->count] =
        node_column(modes->binder, modes->below, (unsigned)column, at);
    return rows->results[rows->count++] != NULL
           && vector_append(&rows->aggregates, &made, 1);
}

/* The parts of the group's aggregates. */
static bool add_parts(const struct modes *modes, struct rows *rows)
{
    const struct vector *asked = &modes->group->group.aggregates;
    bool done = true;

    for (size_t i = 0; i < asked->count && done; i++) {
        struct step_aggregate one =
            VECTOR_ITEMS(asked, struct step_aggregate)[i];
        if (is_mode(modes, &one))
            continue;
        one.column = add_read(modes, rows, one.column);
        one.filter = add_read(modes, rows, one.filter);
        done = vector_append(&rows->aggregates, &one, 1);
    }
    return done;
}

/* How many rows there are, and the first one's value, unless that is a key; equal
 * floats may differ in their sign. */
static bool add_counted(struct modes *modes, struct rows *rows)
{
    int counted = only_function(modes->count)->aggregate.column;
    int value = only_function(modes->first)->aggregate.column;
    bool done =
        add_aggregate(modes, rows, AGGREGATE_COUNT, counted, &modes->counted);

    if (modes->places[value] < 0 || is_float(modes->below->columns[value].type))
        return done
               && add_aggregate(modes, rows, AGGREGATE_FIRST, value,
                                &modes->value);
    modes->value = (unsigned)modes->places[value];
    return done;
}

static struct node *make_counted(struct modes *modes)
{
    struct binder *binder = modes->binder;
    size_t asked = modes->group->group.aggregates.count;
    struct rows rows = { .aggregates =
                             VECTOR_IN(binder->arena, struct step_aggregate) };
    struct node *made;

    rows.results =
        arena_alloc(binder->arena, (modes->below->column_count + 2 * asked + 2)
                                       * sizeof(*rows.results));
    if (rows.results == NULL || !add_keys(modes, &rows)
        || !add_parts(modes, &rows) || !add_counted(modes, &rows))
        return error_no_memory(binder->error), NULL;
    made =
        node_select(binder, modes->below, NULL, rows.results, NULL, rows.count);
    made = made == NULL ? NULL : tree_merge(binder, made);
    return made == NULL
               ? NULL
               : node_group(binder, made, modes->keys, &rows.aggregates);
}

/* Whether the groups by key and value are few. */
static bool is_better(const struct modes *modes, struct node *counted)
{
    estimate_node(modes->binder, modes->below);
    estimate_node(modes->binder, counted);
    return modes->keys > 0
           && counted->rows * ROWS_A_GROUP <= modes->below->rows;
}

/* -------------------------------------------------------- groups of groups -- */

/* The first value by counts, of the groups by key and value. */
static struct node *make_first(const struct modes *modes, struct node *counted)
{
    struct step_window_function function = *only_function(modes->first);
    struct step_key key =
        VECTOR_ITEMS(&function.order, const struct step_key)[0];
    struct node *made = node_wider(modes->binder, NODE_WINDOW, counted, 1);
    struct vector functions =
        VECTOR_IN(modes->binder->arena, struct step_window_function);

    function.partition = VECTOR_IN(modes->binder->arena, int);
    function.order = VECTOR_IN(modes->binder->arena, struct step_key);
    for (int i = 0; made != NULL && i < (int)modes->group->group.keys; i++)
        if (!vector_append(&function.partition, &i, 1))
            return error_no_memory(modes->binder->error), NULL;
    key.column = (int)modes->counted;
    function.aggregate.column = (int)modes->value;
    if (made == NULL || !vector_append(&function.order, &key, 1)
        || !vector_append(&functions, &function, 1))
        return error_no_memory(modes->binder->error), NULL;
    made->columns[counted->column_count] =
        modes->first->columns[modes->first->column_count - 1];
    made->window.functions = functions;
    return made;
}

/* The keys, then of each aggregate what the groups by key and value have of it. */
static struct node *make_select(const struct modes *modes, struct node *first)
{
    const struct node *group = modes->group;
    unsigned keys = group->group.keys, part = modes->keys;
    struct expression **results = arena_alloc(
        modes->binder->arena, (group->column_count + 1) * sizeof(*results));
    struct position at = { 0 };

    if (results == NULL)
        return error_no_memory(modes->binder->error), NULL;
    for (unsigned i = 0; i < group->column_count; i++) {
        unsigned column =
            i < keys ? i
            : is_mode(modes, vector_at(&group->group.aggregates, i - keys))
                ? first->column_count - 1
                : part++;
        results[i] = node_column(modes->binder, first, column, at);
        if (results[i] == NULL)
            return NULL;
    }
    assert(part == modes->counted);
    return node_select(modes->binder, first, NULL, results, NULL,
                       group->column_count);
}

static struct node *make_second(const struct modes *modes, struct node *counted)
{
    struct node *made = make_first(modes, counted);

    if (made != NULL)
        made = make_select(modes, made);
    return made == NULL ? NULL
                        : group_of_parts(modes->binder, made, modes->group);
}

struct node *group_modes(struct binder *binder, struct node *node)
{
    struct modes modes = { .binder = binder };
    struct node *counted;

    if (!begin(&modes, node) || !has_partitions(&modes)
        || !aggregates_are_of_parts(&modes))
        return node;
    modes.places =
        arena_alloc(binder->arena, modes.below->column_count * sizeof(int));
    if (modes.places == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < modes.below->column_count; i++)
        modes.places[i] = -1;
    counted = make_counted(&modes);
    if (counted == NULL)
        return NULL;
    return is_better(&modes, counted) ? make_second(&modes, counted) : node;
}
