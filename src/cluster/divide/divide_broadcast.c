/* SPDX-License-Identifier: MIT */
/*
 * Rows that all ranks get: see divide_broadcast.h. Exchanges are met while steps are
 * opened, inputs first and from the left; rank 0 opens all from the last one, the
 * others what is below the gather. They must come to the same exchanges in one order.
 */
#include "cluster/divide/divide_broadcast.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/os/stack.h"
#include "cluster/divide/divide_distinct.h"
#include "cluster/divide/divide_price.h"

/* What it costs, measured with 2 ranks on host cores. */
enum {
    SCAN_NS = 3,            /* a row of a table                              */
    PROBE_NS = 8,           /* ... that is looked up in another one          */
    JOIN_NS = 25,           /* a row that a join takes                       */
    MOVES_WORTH_IT = 3,     /* times what moving rows takes: all ranks wait
                                for the slowest one, and keep them           */
    ROWS_WORTH_IT = 1 << 18 /* scanned, below which nobody minds             */
};

struct broadcast divide_broadcast_of(const struct steps *steps, int top)
{
    size_t input = 0;
    int reader = divide_reader(steps, top, &input);
    const struct step *step = reader >= 0 ? steps_at(steps, reader) : NULL;
    bool groups = step != NULL && step->kind == STEP_GROUP && !step->group.apart
                  && !divide_has_distinct(&step->group) && step->rows >= 0
                  && step->rows * 2 < steps_at(steps, top)->rows;
    return (struct broadcast){ .top = groups ? reader : top, .groups = groups };
}

/* ----------------------------------------------------------- can it be? -- */

/* A walk through steps as they are opened. */
struct walk {
    const struct steps *steps;
    const struct broadcasts *broadcasts;
    bool *seen;              /* by step                               */
    int met[BROADCASTS_MAX]; /* tops, as their exchanges are come to  */
    unsigned count;
    bool deep; /* too deep to be walked: nothing is known */
};

static bool is_top(const struct broadcasts *broadcasts, int number)
{
    for (unsigned i = 0; i < broadcasts->count; i++)
        if (broadcasts->items[i].top == number)
            return true;
    return false;
}

/* Opens a step, as stream_open_at() does. */
static void open_step(struct walk *walk, int number)
{
    const struct vector *inputs = &steps_at(walk->steps, number)->inputs;
    walk->deep |= stack_is_short();
    if (walk->seen[number] || walk->deep)
        return;
    walk->seen[number] = true;
    for (size_t i = 0; i < inputs->count; i++)
        open_step(walk, VECTOR_ITEMS(inputs, int)[i]);
    if (is_top(walk->broadcasts, number))
        walk->met[walk->count++] = number;
}

/* Whether two walks met in all exchanges, in one order. */
static bool met_alike(const struct walk *one, const struct walk *other)
{
    bool alike = !one->deep && !other->deep && one->count == other->count
                 && one->count == one->broadcasts->count;
    for (unsigned i = 0; alike && i < one->count; i++)
        alike = one->met[i] == other->met[i];
    return alike;
}

/* Whether who opens step `end` meets in the same exchanges as who opens the last
 * step. Without memory nobody knows, and rank 0 goes on alone. */
static bool all_meet(const struct steps *steps, const struct broadcasts *all,
                     int end)
{
    size_t count = steps->steps.count;
    bool *seen = memory_zeroed(2 * count, sizeof *seen);
    struct walk first = { .steps = steps, .broadcasts = all, .seen = seen };
    if (seen == NULL)
        return false;
    struct walk others = first;
    others.seen = seen + count;
    open_step(&first, (int)count - 1);
    open_step(&others, end);
    bool alike = met_alike(&first, &others);
    memory_release(seen);
    return alike;
}

bool divide_can_broadcast(const struct steps *steps,
                          const struct broadcasts *done,
                          struct broadcast broadcast, int end)
{
    struct broadcasts all = *done;
    if (all.count == BROADCASTS_MAX || broadcast.top == end
        || is_top(done, broadcast.top))
        return false;
    all.items[all.count++] = broadcast;
    return all_meet(steps, &all, end);
}

/* What a step costs that gets so many rows. */
static double step_ns(const struct step *step, double rows)
{
    if (step->kind == STEP_JOIN)
        return rows * JOIN_NS;
    return step->kind == STEP_SCAN
               ? rows * PROBE_NS * (double)(step->scan.program.tables.count - 1)
               : 0;
}

/* What a way costs. Of its table's rows those that its conditions leave are looked
 * up, where there are some. */
static double way_ns(const struct steps *steps, const struct divide_way *way)
{
    double ns = (double)way->rows * SCAN_NS;
    double rows = fmax(steps_at(steps, way->scan)->rows, 0);
    size_t input;
    ns += step_ns(steps_at(steps, way->scan), rows);
    for (int at = way->scan; at != way->top;) {
        at = divide_reader(steps, at, &input);
        ns += step_ns(steps_at(steps, at), rows);
        rows = fmax(steps_at(steps, at)->rows, 0);
    }
    return ns;
}

/* Rank 0 sends groups to the others one after the other. */
bool divide_broadcast_pays(const struct steps *steps,
                           const struct divide_params *params,
                           struct broadcast broadcast,
                           const struct divide_way *way)
{
    if (params->exchange != EXCHANGE_AUTO)
        return params->exchange == EXCHANGE_ON;
    double share = (double)(params->ranks - 1) / params->ranks;
    double move = divide_move_ns(steps, params->catalogue, broadcast.top);
    if (broadcast.groups)
        move *= 1 + params->ranks / 4.0;
    return move >= 0 && (double)way->rows * share >= ROWS_WORTH_IT
           && way_ns(steps, way) * share > move * MOVES_WORTH_IT;
}

/* --------------------------------------------------------------- divide -- */

static int compare_tops(const void *a, const void *b)
{
    const struct broadcast *left = a, *right = b;
    return left->top - right->top;
}

/* Has the groups of all ranks merged by rank 0. */
static bool merge_groups(struct steps *steps, unsigned ranks, int top)
{
    struct step *made = steps_insert(steps, top, STEP_GATHER);
    if (made == NULL)
        return false;
    made->gather.ranks = ranks;
    steps_at(steps, top)->group.apart = true;
    return true;
}

/* Has all ranks get the rows of a step. */
static bool to_all(struct steps *steps, unsigned ranks, int top)
{
    struct step *made = steps_insert(steps, top, STEP_EXCHANGE);
    if (made == NULL)
        return false;
    made->exchange.ranks = ranks;
    made->exchange.nulls = EXCHANGE_NULLS_MATCH;
    return true;
}

bool divide_broadcast(struct steps *steps, const struct divide_params *params,
                      struct broadcasts *broadcasts)
{
    bool done = true;
    qsort(broadcasts->items, broadcasts->count, sizeof *broadcasts->items,
          compare_tops);
    for (unsigned i = broadcasts->count; done && i > 0; i--) {
        struct broadcast item = broadcasts->items[i - 1];
        done = !item.groups || merge_groups(steps, params->ranks, item.top);
        done = done && to_all(steps, params->ranks, item.top + item.groups);
    }
    return done;
}

int divide_moved(const struct broadcasts *broadcasts, int number)
{
    int moved = number;
    for (unsigned i = 0; i < broadcasts->count; i++)
        if (broadcasts->items[i].top < number)
            moved += broadcasts->items[i].groups ? 2 : 1;
    return moved;
}
