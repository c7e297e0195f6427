/* SPDX-License-Identifier: MIT */
/*
 * Joins: both sides give what is read of them, the keys and what the
 * condition needs.
 */
#include <string.h>

#include "base/vector.h"
#include "plan/code/codegen.h"
#include "plan/lower/lowering.h"
#include "plan/lower/probe.h"
#include "plan/make/expression_new.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

/* What a join needs of its sides, and where it is. */
struct sides {
    bool *used[2];
    int *maps[2];
    int inputs[2];
};

static bool start_sides(struct lowering *lowering, const struct node *node,
                        struct sides *sides)
{
    for (int i = 0; i < 2; i++) {
        unsigned count = (i == 0 ? node->left : node->right)->column_count;
        sides->used[i] = lower_flags(lowering, count);
        sides->maps[i] = lower_numbers(lowering, count);
        if (sides->used[i] == NULL || sides->maps[i] == NULL)
            return false;
    }
    return true;
}

/* The columns of both sides, one after the other, as one step's. */
static bool join_columns(struct lowering *lowering, const int inputs[2],
                         struct step *joined)
{
    const struct step *left = steps_at(lowering->steps, inputs[0]);
    const struct step *right = steps_at(lowering->steps, inputs[1]);

    joined->column_count = left->column_count + right->column_count;
    joined->columns =
        arena_alloc(lowering->binder->arena,
                    (joined->column_count + 1) * sizeof *joined->columns);
    if (joined->columns == NULL) {
        error_no_memory(lowering->binder->error);
        return false;
    }
    memcpy(joined->columns, left->columns,
           left->column_count * sizeof *joined->columns);
    memcpy(joined->columns + left->column_count, right->columns,
           right->column_count * sizeof *joined->columns);
    return true;
}

/* Numbers of columns of both sides' nodes, as they are joined. */
static int *both_maps(struct lowering *lowering, const struct node *node,
                      const struct sides *sides)
{
    unsigned left = node->left->column_count;
    unsigned right = node->right->column_count;
    int moved = (int)steps_at(lowering->steps, sides->inputs[0])->column_count;
    int *map = lower_numbers(lowering, left + right);

    if (map == NULL)
        return NULL;
    memcpy(map, sides->maps[0], left * sizeof *map);
    for (unsigned i = 0; i < right; i++)
        map[left + i] = sides->maps[1][i] < 0 ? -1 : sides->maps[1][i] + moved;
    return map;
}

static bool lower_condition(struct lowering *lowering, struct node *node,
                            const struct sides *sides, int number)
{
    struct binder *binder = lowering->binder;
    struct codegen_source source = { 0 };
    struct codegen_result result = { .name = "" };
    struct step joined = { .kind = STEP_JOIN };
    struct program *program;
    int *map;

    if (node->where == NULL)
        return true;
    program = arena_alloc(&lowering->steps->arena, sizeof *program);
    if (program == NULL)
        return error_no_memory(binder->error), false;
    map = both_maps(lowering, node, sides);
    if (map == NULL)
        return false;
    source.columns = lower_places(
        lowering, map, node->left->column_count + node->right->column_count, 0);
    result.expression = expression_truth(binder, true, (struct position){ 0 });
    if (source.columns == NULL || result.expression == NULL
        || !join_columns(lowering, sides->inputs, &joined))
        return false;
    source.input = &joined;
    program_init(program);
    steps_at(lowering->steps, number)->join.condition = program;
    return codegen_select(binder, &source, node->where, &result, 1, program)
           == VDBQ_OK;
}

static void move_range(const struct step_range_join *from,
                       const struct sides *sides, struct step_range_join *to)
{
    int side = from->side == RANGE_JOIN_RIGHT;

    *to = *from;
    if (from->side == RANGE_JOIN_NONE)
        return;
    to->column = sides->maps[side][from->column];
    if (from->low >= 0)
        to->low = sides->maps[!side][from->low];
    if (from->high >= 0)
        to->high = sides->maps[!side][from->high];
}

static bool map_joined(struct lowering *lowering, const struct node *node,
                       const struct sides *sides, int number, int *map)
{
    bool both = node->join.kind <= JOIN_FULL;
    int *maps = both_maps(lowering, node, sides);
    unsigned count = node->column_count;

    if (maps == NULL
        || !lower_add_columns_of(lowering, number, sides->inputs[0]))
        return false;
    if (both && !lower_add_columns_of(lowering, number, sides->inputs[1]))
        return false;
    if (node->join.kind == JOIN_MARK) {
        struct step_column mark = lower_column(&node->columns[--count]);
        map[count] = (int)steps_at(lowering->steps, number)->column_count;
        if (!lower_add_column(lowering, number, &mark))
            return false;
    }
    memcpy(map, maps, count * sizeof *map);
    return true;
}

/* A join that stands alone, as a program; LOWER_NOT_FUSED: it is none. */
static enum vdbq_status lower_alone(struct lowering *lowering,
                                    struct node *node, const bool *needed,
                                    int *map, int *number)
{
    struct probe probe;
    struct node *select;

    *number = LOWER_NOT_FUSED;
    if (!probe_fits(node, &probe))
        return VDBQ_OK;
    select = node_filter(lowering->binder, node, NULL);
    return select ? lower_fused(lowering, select, needed, map, number)
                  : lower_status(lowering, false);
}

/* The steps of both sides, and one for the join. */
static enum vdbq_status add_sides(struct lowering *lowering, struct node *node,
                                  struct sides *sides, int *number)
{
    unsigned count = 1;

    for (int i = 0; i < 2; i++) {
        enum vdbq_status status =
            lower_node(lowering, i == 0 ? node->left : node->right,
                       sides->used[i], sides->maps[i], &sides->inputs[i]);
        if (status != VDBQ_OK)
            return status;
        count += steps_at(lowering->steps, sides->inputs[i])->column_count;
    }
    return lower_add_step(lowering, STEP_JOIN, count, sides->inputs, 2, number);
}

enum vdbq_status lower_join(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number)
{
    struct sides sides;
    struct step_join *join;
    enum vdbq_status status = lower_alone(lowering, node, needed, map, number);

    if (status != VDBQ_OK || *number != LOWER_NOT_FUSED)
        return status;
    if (!start_sides(lowering, node, &sides))
        return lower_status(lowering, false);
    node_reads(node, needed, sides.used[0], sides.used[1]);
    status = add_sides(lowering, node, &sides, number);
    if (status != VDBQ_OK)
        return status;
    join = &steps_at(lowering->steps, *number)->join;
    join->kind = node->join.kind;
    join->nulls_match = node->join.nulls_match;
    move_range(&node->join.range, &sides, &join->range);
    return lower_status(
        lowering, lower_move_numbers(lowering, &node->join.left_keys,
                                     sides.maps[0], &join->left_keys)
                      && lower_move_numbers(lowering, &node->join.right_keys,
                                            sides.maps[1], &join->right_keys)
                      && lower_condition(lowering, node, &sides, *number)
                      && map_joined(lowering, node, &sides, *number, map));
}
