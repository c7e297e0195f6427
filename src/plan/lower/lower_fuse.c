/* SPDX-License-Identifier: MIT */
/*
 * Which nodes become one program, and their steps: what joins bring comes
 * first, the scan over the base last. The walk down the left sides ends where
 * a node is neither SELECT nor a join that can be probed, and where the
 * program would get too big: what is left then is a program of its own.
 */
#include <string.h>

#include "base/vector.h"
#include "plan/code/codegen.h"
#include "plan/lower/fuse.h"
#include "plan/lower/lowering.h"
#include "plan/lower/probe.h"
#include "plan/plan.h"
#include "plan/tree/binder.h"
#include "plan/tree/node_reads.h"

enum {
    PROBES_MAX = VDBQ_CURSORS_MAX - 1,
    /* Registers that parts of the code may take, at most. */
    REGISTERS_A_PART = 4, /* of an expression */
    REGISTERS_A_PROBE = 6,
    REGISTERS_A_KEY = 14,
    /* So many times the bytes that a program may probe may its rows take that
     * are estimated to take no more than these. */
    PROBED_WRONG = 2
};

/* The walk down. */
struct walk {
    struct lowering *lowering;
    struct spine *spine;
    unsigned probes;
    size_t registers;       /* that the program needs, at most             */
    struct probe_room room; /* of the rows of the right sides              */
};

static bool find_spine(struct walk *walk, struct node *node,
                       const bool *needed);
static bool lower_inputs(struct lowering *lowering, struct spine *spine,
                         struct vector *inputs);
static enum vdbq_status add_scan(struct lowering *lowering,
                                 const struct spine *spine,
                                 const struct vector *inputs,
                                 const bool *needed, int *map, int *number);

enum vdbq_status lower_fused(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number)
{
    struct spine spine = { .levels = VECTOR(struct level), .base_step = -1 };
    struct walk walk = { .lowering = lowering, .spine = &spine };
    struct vector inputs = VECTOR(int);
    enum vdbq_status status =
        lower_status(lowering, find_spine(&walk, node, needed));

    *number = LOWER_NOT_FUSED;
    if (status == VDBQ_OK && walk.probes > 0) {
        status =
            lower_status(lowering, lower_inputs(lowering, &spine, &inputs));
        if (status == VDBQ_OK)
            status = add_scan(lowering, &spine, &inputs, needed, map, number);
    }
    vector_finish(&spine.levels);
    vector_finish(&inputs);
    return status;
}

/* ---------------------------------------------------------------- walk -- */

static unsigned count_flags(const bool *flags, unsigned count)
{
    unsigned set = 0;

    for (unsigned i = 0; i < count; i++)
        set += flags[i];
    return set;
}

/* The most registers that an expression takes: a column two. */
static size_t registers_of(const struct expression *e)
{
    if (e == NULL)
        return 0;
    return e->kind == EXPRESSION_COLUMN ? 2 : 2 + e->size * REGISTERS_A_PART;
}

/* What a SELECT reads of the node below. */
static bool look_select(struct walk *walk, struct level *level, bool **below)
{
    struct node *node = level->node;

    *below = lower_flags(walk->lowering, node->left->column_count);
    if (*below == NULL)
        return false;
    if (node->where != NULL)
        expression_reads(*below, &node->where);
    walk->registers += registers_of(node->where);
    for (unsigned i = 0; i < node->column_count; i++) {
        if (!level->needed[i])
            continue;
        expression_reads(*below, &node->results[i]);
        walk->registers += registers_of(node->results[i]);
    }
    return true;
}

/* What a join reads of its sides; the right one gets its key. */
static bool look_join(struct walk *walk, struct level *level, bool **below)
{
    struct lowering *lowering = walk->lowering;
    struct node *node = level->node;
    unsigned left = node->left->column_count;
    unsigned right = node->right->column_count;
    bool both = node->join.kind <= JOIN_FULL;
    bool *used = lower_flags(lowering, left + right);

    level->build = probe_build(lowering->binder, &level->probe, &level->key);
    if (used == NULL || level->build == NULL
        || !probe_rest(lowering->binder, &level->probe, &level->rest))
        return false;
    memcpy(used, level->needed, both ? left + right : left);
    if (level->rest != NULL)
        expression_reads(used, &level->rest);
    for (unsigned i = 0; i < probe_parts(&level->probe); i++) {
        struct probe_part part;
        if (!probe_part(lowering->binder, &level->probe, i, &part))
            return false;
        used[part.left->column.number] = true;
    }
    *below = lower_flags(lowering, left);
    level->build_needed = lower_flags(lowering, level->build->column_count);
    level->build_map = lower_numbers(lowering, level->build->column_count);
    if (*below == NULL || level->build_needed == NULL
        || level->build_map == NULL)
        return false;
    memcpy(*below, used, left);
    memcpy(level->build_needed, used + left, right);
    level->build_needed[level->key] = true;
    return true;
}

/* Adds what a join needs to what the program does. */
static void count_join(struct walk *walk, const struct level *level)
{
    unsigned columns =
        count_flags(level->build_needed, level->build->column_count);
    walk->probes++;
    walk->registers += REGISTERS_A_PROBE
                       + REGISTERS_A_KEY * probe_parts(&level->probe)
                       + registers_of(level->rest) + 2 * columns;
    walk->room = probe_room_sum(walk->room, probe_room(&level->probe, columns));
}

/* Whether the rows of the right sides have no room. What is estimated is to
 * fit; if it was wrong, there is room for some more. */
static bool is_too_large(const struct plan_limits *limits,
                         struct probe_room room)
{
    if (limits == NULL || room.most <= limits->probed_bytes)
        return false;
    if (limits->probed_most == NULL)
        return true;
    uint64_t most = limits->probed_most(limits->context);
    return room.likely > most || room.most / PROBED_WRONG > most;
}

static bool is_too_big(const struct walk *walk)
{
    return walk->probes > PROBES_MAX || walk->registers > VDBQ_REGISTERS_MAX
           || is_too_large(walk->lowering->binder->limits, walk->room);
}

/* Whether a node can be a level at all. */
static bool is_level(const struct node *node, struct level *level)
{
    if (node->kind == NODE_SELECT)
        return node->left->kind != NODE_ONCE;
    return probe_fits(node, &level->probe);
}

/* Adds a level, where the program then is not too big; `*below` gets what it
 * reads of the node below. */
static bool add_level(struct walk *walk, struct level *level, bool **below,
                      bool *added)
{
    struct walk before = *walk;
    bool is_join = level->node->kind == NODE_JOIN;
    bool done = is_join ? look_join(walk, level, below)
                        : look_select(walk, level, below);

    *added = false;
    if (!done)
        return false;
    if (is_join)
        count_join(walk, level);
    if (is_too_big(walk)) {
        *walk = before;
        return true;
    }
    *added = true;
    if (!vector_append(&walk->spine->levels, level, 1))
        return error_no_memory(walk->lowering->binder->error), false;
    return true;
}

/* SELECTs that stand below the lowest join stay levels, and joins get their
 * cursors from there on. */
static bool find_spine(struct walk *walk, struct node *node, const bool *needed)
{
    struct spine *spine = walk->spine;
    struct lowering *lowering = walk->lowering;
    bool *read = lower_flags(lowering, node->column_count);
    bool added = true;

    if (read == NULL)
        return false;
    memcpy(read, needed, node->column_count);
    walk->registers = count_flags(needed, node->column_count);
    while (added) {
        struct level level = { .node = node, .needed = read };
        bool *below = NULL;
        added = (!node->shared || spine->levels.count == 0)
                && is_level(node, &level);
        if (added && !add_level(walk, &level, &below, &added))
            return false;
        if (added) {
            node = node->left;
            read = below;
        }
    }
    for (unsigned i = 0, left = walk->probes; i < spine->levels.count; i++) {
        struct level *level = vector_at(&spine->levels, i);
        if (level->node->kind == NODE_JOIN)
            level->cursor = (int)left--;
    }
    spine->base = node;
    spine->base_needed = read;
    spine->base_map = lower_numbers(lowering, node->column_count);
    return spine->base_map != NULL;
}

/* --------------------------------------------------------------- steps -- */

/* Lowers a node that the program reads; `*number`: its step. */
static bool add_input(struct lowering *lowering, struct vector *inputs,
                      struct node *node, const bool *needed, int *map,
                      int *number)
{
    if (lower_node(lowering, node, needed, map, number) != VDBQ_OK)
        return false;
    if (!vector_append(inputs, number, 1))
        return error_no_memory(lowering->binder->error), false;
    return true;
}

static bool lower_base(struct lowering *lowering, struct spine *spine,
                       struct vector *inputs)
{
    if (spine->base->kind == NODE_TABLE) {
        lower_number_table(spine->base, spine->base_map);
        return true;
    }
    return add_input(lowering, inputs, spine->base, spine->base_needed,
                     spine->base_map, &spine->base_step);
}

/* The base's step, where it has one, then those of the right sides in the
 * order of their cursors. */
static bool lower_inputs(struct lowering *lowering, struct spine *spine,
                         struct vector *inputs)
{
    bool done = lower_base(lowering, spine, inputs);

    for (size_t i = spine->levels.count; i-- > 0 && done;) {
        struct level *level = vector_at(&spine->levels, i);
        if (level->node->kind != NODE_JOIN)
            continue;
        done = add_input(lowering, inputs, level->build, level->build_needed,
                         level->build_map, &level->build_step);
    }
    return done;
}

/* Whether a sample had a say in what any level keeps. */
static bool is_sampled(const struct spine *spine)
{
    bool sampled = false;

    for (size_t i = 0; i < spine->levels.count; i++) {
        const struct level *level = vector_at(&spine->levels, i);
        sampled |= level->node->sampled;
    }
    return sampled;
}

static enum vdbq_status add_scan(struct lowering *lowering,
                                 const struct spine *spine,
                                 const struct vector *inputs,
                                 const bool *needed, int *map, int *number)
{
    const struct level *top = vector_at(&spine->levels, 0);
    unsigned count;
    struct codegen_result *results =
        lower_results(lowering, top->node, needed, map, &count);
    enum vdbq_status status = lower_status(lowering, results != NULL);

    if (status == VDBQ_OK)
        status = lower_add_step(lowering, STEP_SCAN, count,
                                VECTOR_ITEMS(inputs, int),
                                (unsigned)inputs->count, number);
    if (status != VDBQ_OK
        || !lower_describe_results(lowering, *number, results, count))
        return lower_status(lowering, false);
    steps_at(lowering->steps, *number)->sampled = is_sampled(spine);
    return fuse_code(lowering, spine, results, count,
                     &steps_at(lowering->steps, *number)->scan.program);
}
