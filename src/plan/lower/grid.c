/* SPDX-License-Identifier: MIT */
/*
 * Grids: a SELECT over inner joins without keys becomes one program with two
 * or three axes, whatever its condition is. Tables are axes as they are, with
 * what is said of each alone part of the program's condition; what else is
 * joined is an axis as a step. More than three are joined in stages: the rows
 * of the first joins are an axis of the last one.
 */
#include "base/vector.h"
#include "plan/code/codegen.h"
#include "plan/code/emit.h"
#include "plan/lower/lowering.h"
#include "plan/operator/operator.h"
#include "plan/make/replace.h"
#include "plan/condition/split.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

/* What a SELECT is computed from. Axes' columns are numbered one after the
 * other, and expressions are brought to these numbers. */
struct grid {
    struct lowering *lowering;
    struct node *axes[VDBQ_AXES_MAX];
    int firsts[VDBQ_AXES_MAX + 1]; /* number of an axis' first column     */
    unsigned count;
    struct vector parts; /* of struct expression *: conditions  */
};

/* Whether a SELECT gives columns of what is below as they are. */
static bool is_filter(const struct node *node)
{
    if (node->kind != NODE_SELECT || node->shared)
        return false;
    for (unsigned i = 0; i < node->column_count; i++)
        if (node->results[i]->kind != EXPRESSION_COLUMN)
            return false;
    return true;
}

/* Axes that a node would be, `most` at most. */
static unsigned axes_of(const struct node *node, unsigned most)
{
    unsigned left, right;

    if (is_filter(node))
        return axes_of(node->left, most);
    if (!node_is_pairs(node) || most < 2)
        return 1;
    right = axes_of(node->right, most - 1);
    left = axes_of(node->left, most - right);
    return left + right;
}

/* ------------------------------------------------------------- columns -- */

/* Where columns go. */
struct moving {
    struct binder *binder;
    const int *map;
};

static struct expression *move_column(void *context, struct expression *e,
                                      bool *failed)
{
    const struct moving *moving = context;
    struct expression *copy;

    if (e->kind != EXPRESSION_COLUMN)
        return NULL;
    copy = arena_alloc(moving->binder->arena, sizeof *copy);
    *failed = copy == NULL;
    if (copy == NULL)
        return error_no_memory(moving->binder->error), NULL;
    *copy = *e;
    copy->column.number = moving->map[e->column.number];
    return copy;
}

/* The expression with the grid's numbers for columns. */
static struct expression *over_axes(const struct grid *grid,
                                    struct expression *e, const int *map)
{
    struct moving moving = { grid->lowering->binder, map };

    return expression_replace(moving.binder, e, move_column, &moving);
}

/* Notes the parts of a condition. */
static bool add_condition(struct grid *grid, struct expression *e,
                          const int *map)
{
    if (e == NULL)
        return true;
    e = over_axes(grid, e, map);
    return e != NULL
           && split_condition(grid->lowering->binder, e, &grid->parts)
                  == VDBQ_OK;
}

/* ---------------------------------------------------------------- axes -- */

static bool add_node(struct grid *grid, struct node *node, unsigned most,
                     int *map);

static bool add_axis(struct grid *grid, struct node *node, int *map)
{
    int first = grid->firsts[grid->count];

    for (unsigned i = 0; i < node->column_count; i++)
        map[i] = first + (int)i;
    grid->axes[grid->count++] = node;
    grid->firsts[grid->count] = first + (int)node->column_count;
    return true;
}

/* A filter, as what is below it and a condition more. */
static bool add_filter(struct grid *grid, struct node *node, unsigned most,
                       int *map)
{
    int *below = lower_numbers(grid->lowering, node->left->column_count);

    if (below == NULL || !add_node(grid, node->left, most, below)
        || !add_condition(grid, node->where, below))
        return false;
    for (unsigned i = 0; i < node->column_count; i++)
        map[i] = below[node->results[i]->column.number];
    return true;
}

static bool add_pairs(struct grid *grid, struct node *node, unsigned most,
                      int *map)
{
    unsigned right = axes_of(node->right, most - 1);

    return add_node(grid, node->left, most - right, map)
           && add_node(grid, node->right, right, map + node->left->column_count)
           && add_condition(grid, node->where, map);
}

/* Adds a node as `most` axes at most; `map` gets its columns' numbers. */
static bool add_node(struct grid *grid, struct node *node, unsigned most,
                     int *map)
{
    bool table = is_filter(node) && node->left->kind == NODE_TABLE;

    if (node_is_pairs(node) && most > 1)
        return add_pairs(grid, node, most, map);
    if (table || (is_filter(node) && most > 1 && axes_of(node, most) > 1))
        return add_filter(grid, node, most, map);
    return add_axis(grid, node, map);
}

/* ----------------------------------------------------------- condition -- */

static bool is_before(const struct expression *a, const struct expression *b)
{
    return a->at.line != b->at.line ? a->at.line < b->at.line
                                    : a->at.column < b->at.column;
}

/* Conditions in the order of the text, so that a program reads as it does;
 * insertion keeps those of one place as they are. */
static void sort_parts(struct grid *grid)
{
    struct expression **parts = VECTOR_ITEMS(&grid->parts, struct expression *);

    for (size_t i = 1; i < grid->parts.count; i++) {
        struct expression *part = parts[i];
        size_t to = i;
        for (; to > 0 && is_before(part, parts[to - 1]); to--)
            parts[to] = parts[to - 1];
        parts[to] = part;
    }
}

/* All conditions as one; false: a failure. */
static bool join_parts(struct grid *grid, struct expression **where)
{
    *where = NULL;
    sort_parts(grid);
    for (size_t i = 0; i < grid->parts.count; i++) {
        struct expression *part =
            VECTOR_ITEMS(&grid->parts, struct expression *)[i];
        struct ast_expression place = { .at = part->at };
        *where = *where ? expression_operator(grid->lowering->binder, AST_AND,
                                              *where, part, &place)
                        : part;
        if (*where == NULL)
            return false;
    }
    return true;
}

/* --------------------------------------------------------------- lower -- */

/* What the program reads, and its conditions and results. */
struct reading {
    struct expression *where;
    struct codegen_result *results;
    unsigned result_count;
    struct codegen_source *sources;
    struct column_place *columns;
    int inputs[VDBQ_AXES_MAX];
    unsigned input_count;
};

static bool *mark_columns(const struct grid *grid, struct reading *reading)
{
    bool *used =
        lower_flags(grid->lowering, (unsigned)grid->firsts[grid->count]);

    if (used == NULL)
        return NULL;
    if (reading->where != NULL)
        expression_reads(used, &reading->where);
    for (unsigned i = 0; i < reading->result_count; i++)
        expression_reads(used, &reading->results[i].expression);
    return used;
}

/* Makes an axis a cursor of the program: a table, or a step. */
static bool lower_axis(const struct grid *grid, unsigned axis, const bool *used,
                       struct reading *reading)
{
    struct node *node = grid->axes[axis];
    struct codegen_source *source = &reading->sources[axis];
    int first = grid->firsts[axis];
    int *map = lower_numbers(grid->lowering, node->column_count);

    if (map == NULL)
        return false;
    if (node->kind == NODE_TABLE) {
        source->table = node->table;
        lower_number_table(node, map);
    } else {
        if (lower_node(grid->lowering, node, used + first, map,
                       &reading->inputs[reading->input_count])
            != VDBQ_OK)
            return false;
        source->input_number = ++reading->input_count;
    }
    for (unsigned i = 0; i < node->column_count; i++)
        reading->columns[first + (int)i] =
            (struct column_place){ (int)axis, map[i], -1, NULL };
    return true;
}

static bool lower_axes(const struct grid *grid, struct reading *reading)
{
    struct arena *arena = grid->lowering->binder->arena;
    bool *used = mark_columns(grid, reading);
    bool done = used != NULL;

    reading->sources =
        arena_alloc(arena, grid->count * sizeof *reading->sources);
    reading->columns =
        arena_alloc(arena, ((size_t)grid->firsts[grid->count] + 1)
                               * sizeof *reading->columns);
    if (reading->sources == NULL || reading->columns == NULL) {
        error_no_memory(grid->lowering->binder->error);
        return false;
    }
    for (unsigned i = 0; i < grid->count && done; i++)
        done = lower_axis(grid, i, used, reading);
    return done;
}

static enum vdbq_status lower_program(const struct grid *grid,
                                      struct reading *reading, int *number)
{
    struct lowering *lowering = grid->lowering;
    struct codegen_source *first = &reading->sources[0];
    enum vdbq_status status =
        lower_add_step(lowering, STEP_SCAN, reading->result_count,
                       reading->inputs, reading->input_count, number);

    if (status != VDBQ_OK
        || !lower_describe_results(lowering, *number, reading->results,
                                   reading->result_count))
        return lower_status(lowering, false);
    for (unsigned i = 0; i < grid->count; i++)
        if (reading->sources[i].input_number > 0)
            reading->sources[i].input =
                steps_at(lowering->steps,
                         reading->inputs[reading->sources[i].input_number - 1]);
    first->columns = reading->columns;
    first->others = first + 1;
    first->other_count = grid->count - 1;
    return codegen_select(lowering->binder, first, reading->where,
                          reading->results, reading->result_count,
                          &steps_at(lowering->steps, *number)->scan.program);
}

/* Brings a SELECT's condition and results to the numbers of the axes. */
static bool read_select(struct grid *grid, struct node *node,
                        struct reading *reading)
{
    int *map = lower_numbers(grid->lowering, node->left->column_count);

    if (map == NULL || !add_node(grid, node->left, VDBQ_AXES_MAX, map)
        || !add_condition(grid, node->where, map)
        || !join_parts(grid, &reading->where))
        return false;
    for (unsigned i = 0; i < reading->result_count; i++) {
        struct codegen_result *result = &reading->results[i];
        result->expression = over_axes(grid, result->expression, map);
        if (result->expression == NULL)
            return false;
    }
    return true;
}

enum vdbq_status lower_grid(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number)
{
    struct grid grid = { .lowering = lowering,
                         .parts = VECTOR(struct expression *) };
    struct reading reading = { 0 };
    enum vdbq_status status;

    reading.results =
        lower_results(lowering, node, needed, map, &reading.result_count);
    status = lower_status(lowering, reading.results != NULL
                                        && read_select(&grid, node, &reading)
                                        && lower_axes(&grid, &reading));
    if (status == VDBQ_OK)
        status = lower_program(&grid, &reading, number);
    vector_finish(&grid.parts);
    return status;
}
