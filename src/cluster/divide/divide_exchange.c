/* SPDX-License-Identifier: MIT */
/*
 * Division of joins by keys: see divide_exchange.h.
 */
#include "cluster/divide/divide_exchange.h"

#include <assert.h>

#include "cluster/divide/divide_local.h"
#include "cluster/divide/divide_numbers.h"
#include "cluster/divide/divide_price.h"

/* What a row costs, measured with 2 ranks on host cores. */
enum {
    BUILD_NS = 60,          /* to be built into a side of a join          */
    ORDER_NS = 250,         /* of a group, to be put into order by rank 0 */
    MERGE_NS = 25,          /* to be merged with other ranks' rows by it  */
    ROWS_WORTH_IT = 1 << 17 /* built, below which nobody minds            */
};

/* A join that may be it. */
struct found {
    int join;          /* the step; -1: there is none                     */
    double right_rows; /* that come to it, about                         */
    double move_ns;    /* to send both sides' rows; below 0: not known   */
    double
        order_ns; /* to put into order what rank 0 gets; below 0: not known */
};

static int input_of(const struct step *step, size_t number)
{
    return VECTOR_ITEMS(&step->inputs, int)[number];
}

/* Instructions of a program that fail for some rows: which one is told of first
 * follows from their order. */
static unsigned count_faults(const struct program *program)
{
    unsigned faults = 0;
    for (size_t pc = 0; pc < program->code.count; pc++)
        faults +=
            op_facts(program_at(program, (int)pc)->op)->effect == EFFECT_FAULT;
    return faults;
}

unsigned divide_faults(const struct step *step)
{
    if (step->kind == STEP_SCAN)
        return count_faults(&step->scan.program);
    if (step->kind != STEP_JOIN)
        return DIVIDE_FAULTS_MANY;
    return step->join.condition != NULL ? count_faults(step->join.condition)
                                        : 0;
}

bool divide_is_free(const struct step *step)
{
    return divide_faults(step) == 0;
}

/* Whether all steps above one, up to step `top`, do. */
static bool all_free(const struct steps *steps, int number, int top)
{
    size_t input;
    while (number != top) {
        number = divide_reader(steps, number, &input);
        if (!divide_is_free(steps_at(steps, number)))
            return false;
    }
    return true;
}

/* Whether none of the steps above one, up to step `top`, fails for some row. */
static bool none_fails(const struct steps *steps, int number, int top)
{
    bool free = divide_is_free(steps_at(steps, number));
    return free && all_free(steps, number, top);
}

const struct step_group *divide_group_of(const struct steps *steps, int top)
{
    size_t input;
    int reader = divide_reader(steps, top, &input);
    const struct step *step = reader >= 0 ? steps_at(steps, reader) : NULL;
    return step != NULL && step->kind == STEP_GROUP ? &step->group : NULL;
}

static bool is_float(const struct step_column *column)
{
    int type = step_machine_type(column->type);
    return type == TYPE_F32 || type == TYPE_F64;
}

/* Whether an aggregate is the same for rows in any order, or by groups, of which
 * the first row is known. Of floats that are equal min and max give the bits of
 * the first. */
static bool is_free_aggregate(const struct step *input,
                              const struct step_aggregate *aggregate,
                              bool grouped)
{
    if (aggregate->distinct)
        return false;
    switch (aggregate_row(aggregate->function)->keeps) {
    case AGGREGATE_KEEPS_NOTHING:
    case AGGREGATE_KEEPS_SUM:
    case AGGREGATE_KEEPS_BITS:
        return true;
    case AGGREGATE_KEEPS_BEST:
        return !is_float(&input->columns[aggregate->column]);
    case AGGREGATE_KEEPS_FIRST:
        return grouped && aggregate->filter < 0;
    default:
        return false;
    }
}

/* Of floats that are equal the first is the key. */
bool divide_is_free_group(const struct steps *steps, int top,
                          const struct step_group *group)
{
    const struct step *input = steps_at(steps, top);
    bool free = true;
    for (unsigned i = 0; i < group->keys; i++)
        free &= !is_float(&input->columns[i]);
    for (size_t i = 0; i < group->aggregates.count; i++)
        free &= is_free_aggregate(input, vector_at(&group->aggregates, i),
                                  group->keys > 0);
    return free;
}

/* Whether an order has a key of each column before number `count`. */
static bool sorts_by(const struct step_sort *sort, unsigned count)
{
    for (unsigned column = 0; column < count; column++) {
        bool found = false;
        for (size_t i = 0; i < sort->keys.count; i++) {
            const struct step_key *key = vector_at(&sort->keys, i);
            found |= key->column == (int)column;
        }
        if (!found)
            return false;
    }
    return true;
}

bool divide_is_sorted_group(const struct steps *steps, int number)
{
    const struct step *group = steps_at(steps, number);
    size_t input;
    const int reader = divide_reader(steps, number, &input);
    return group->kind == STEP_GROUP && reader >= 0
           && steps_at(steps, reader)->kind == STEP_SORT
           && sorts_by(&steps_at(steps, reader)->sort, group->group.keys);
}

/* Whether an aggregate of a group tells of its first row. */
static bool tells_first(const struct step_group *group)
{
    bool tells = false;
    for (size_t i = 0; i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&group->aggregates, i);
        tells |=
            aggregate_row(aggregate->function)->keeps == AGGREGATE_KEEPS_FIRST;
    }
    return tells;
}

bool divide_needs_numbers(const struct steps *steps, int top)
{
    const struct step_group *group = divide_group_of(steps, top);
    size_t input;
    if (group == NULL)
        return true;
    return group->keys > 0
           && (tells_first(group)
               || !divide_is_sorted_group(steps,
                                          divide_reader(steps, top, &input)));
}

bool divide_sees_all(const struct steps *steps, int top)
{
    size_t input;
    int reader = divide_reader(steps, top, &input);
    return reader >= 0
           && (steps_at(steps, reader)->kind == STEP_GROUP
               || steps_at(steps, reader)->kind == STEP_SORT);
}

bool divide_can_carry(const struct steps *steps, int number, int top)
{
    size_t input;
    bool can = divide_can_number(steps_at(steps, number));
    while (can && number != top) {
        number = divide_reader(steps, number, &input);
        can = divide_can_number(steps_at(steps, number));
    }
    return can;
}

/* Why what comes of a join would be seen to be of rows in another order; NULL: it
 * would not, where rows that need them have numbers. */
static const char *why_seen(const struct steps *steps, int scan, int number,
                            int top)
{
    const struct step_group *group = divide_group_of(steps, top);
    int left = input_of(steps_at(steps, number), 0);
    if (!none_fails(steps, number, top)
        || (group != NULL && !divide_is_free_group(steps, top, group)))
        return "no: what comes of the join depends on the order of rows";
    if (!divide_sees_all(steps, top) && !none_fails(steps, scan, left))
        return "no: rows in front of one that fails would come late";
    return !divide_needs_numbers(steps, top)
                   || divide_can_carry(steps, number, top)
               ? NULL
               : "no: its rows have no room for numbers";
}

/* Whether a step scans a table that each part has. */
static bool is_everywhere(const struct steps *steps,
                          const struct divide_params *params, int number)
{
    return divide_is_everywhere(
        divide_scanned(params->catalogue, steps_at(steps, number)));
}

/* Why both sides of a join cannot be exchanged; NULL: they can. */
static const char *why_not(const struct steps *steps,
                           const struct divide_params *params, int scan,
                           int number, int top)
{
    const struct step *step = steps_at(steps, number);
    const struct step_join *join = &step->join;
    int right = input_of(step, 1);
    if (join->left_keys.count == 0)
        return "no: the join has no keys";
    if (join->kind == JOIN_MARK)
        return "no: IN asks for NULLs among all keys";
    if (divide_scanned(params->catalogue, steps_at(steps, right)) == NULL
        || steps_readers(steps, right) != 1)
        return "no: the join's right side is no scan of a table";
    if (is_everywhere(steps, params, right)
        || is_everywhere(steps, params, scan))
        return "no: a table of the join is whole in each part";
    return why_seen(steps, scan, number, top);
}

/* What it costs rank 0 to put groups, or rows of step `top` but those that a
 * limit leaves out, into order. A sort has to be done anyway. */
static double order_ns(const struct steps *steps, int top)
{
    size_t input;
    int reader = divide_reader(steps, top, &input);
    const struct step *step = steps_at(steps, reader >= 0 ? reader : top);
    if (step->kind == STEP_SORT || !divide_needs_numbers(steps, top))
        return 0;
    if (step->kind == STEP_GROUP)
        return step->rows * ORDER_NS;
    return (step->kind == STEP_LIMIT ? step : steps_at(steps, top))->rows
           * MERGE_NS;
}

/* What it costs to send the rows of both sides of a join; below 0: not known. */
static double move_both(const struct steps *steps,
                        const struct catalogue *catalogue,
                        const struct step *join)
{
    double left = divide_move_ns(steps, catalogue, input_of(join, 0));
    double right = divide_move_ns(steps, catalogue, input_of(join, 1));
    return left >= 0 && right >= 0 ? left + right : -1;
}

/* Looks for the join that builds most rows and can be exchanged. */
static struct found find_join(const struct steps *steps,
                              const struct divide_params *params, int scan,
                              int top, const char **why)
{
    struct found best = { .join = -1 };
    size_t input;
    for (int at = scan; at != top;) {
        at = divide_reader(steps, at, &input);
        const struct step *step = steps_at(steps, at);
        if (step->kind != STEP_JOIN)
            continue;
        const char *refusal = why_not(steps, params, scan, at, top);
        double rows = steps_at(steps, input_of(step, 1))->rows;
        if (best.join < 0)
            *why = refusal;
        if (refusal == NULL && (best.join < 0 || rows > best.right_rows))
            best = (struct found){
                .join = at,
                .right_rows = rows,
                .move_ns = move_both(steps, params->catalogue, step),
                .order_ns = order_ns(steps, top),
            };
    }
    return best;
}

/* Whether it costs less. Each of n ranks moves an nth of both sides' rows, and
 * builds an nth of the right ones in place of all. */
static bool costs_less(const struct found *found, unsigned ranks)
{
    double spared = found->right_rows * (ranks - 1) / ranks;
    return found->move_ns >= 0 && found->order_ns >= 0
           && spared >= ROWS_WORTH_IT
           && spared * BUILD_NS > found->move_ns / ranks + found->order_ns;
}

/* Whether to exchange, and why. */
static bool is_chosen(const struct found *found,
                      const struct divide_params *params, const char **why)
{
    bool less = costs_less(found, params->ranks);
    if (params->exchange == EXCHANGE_AUTO) {
        *why = less ? "of both sides of a join by its keys: costs less than to "
                      "build one on each rank"
                    : "no: costs more than to build one side of the join on "
                      "each rank";
        return less;
    }
    *why = params->exchange == EXCHANGE_ON
               ? "of both sides of a join by its keys: it is set to on"
               : "no: it is set to off";
    return params->exchange == EXCHANGE_ON;
}

/* What becomes of rows with NULL keys. */
static enum exchange_nulls nulls_of(const struct step_join *join, bool left)
{
    if (join->nulls_match)
        return EXCHANGE_NULLS_MATCH;
    return left && (join->kind == JOIN_LEFT || join->kind == JOIN_ANTI)
               ? EXCHANGE_NULLS_STAY
               : EXCHANGE_NULLS_DROP;
}

/* Puts an exchange behind the join's input `side`; the join is one step further
 * down then. */
static bool insert(struct steps *steps, unsigned ranks, int *join, size_t side)
{
    int from = input_of(steps_at(steps, *join), side);
    struct step *made = steps_insert(steps, from, STEP_EXCHANGE);
    if (made == NULL)
        return false;
    const struct step_join *step = &steps_at(steps, ++*join)->join;
    const struct vector *keys =
        side == 0 ? &step->left_keys : &step->right_keys;
    assert(input_of(steps_at(steps, *join), side) == from + 1);
    made->exchange.ranks = ranks;
    made->exchange.nulls = nulls_of(step, side == 0);
    return vector_append(&made->exchange.keys, keys->items, keys->count);
}

bool divide_exchange(struct steps *steps, const struct divide_params *params,
                     int scan, int *top, struct divide_exchanged *exchanged)
{
    *exchanged = (struct divide_exchanged){ .left = -1 };
    struct found found = find_join(steps, params, scan, *top, &exchanged->why);
    if (found.join < 0 || !is_chosen(&found, params, &exchanged->why))
        return true;
    int left = input_of(steps_at(steps, found.join), 0);
    int right = input_of(steps_at(steps, found.join), 1);
    steps_at(steps, right)->scan.ranks = params->ranks;
    steps_at(steps, scan)->scan.ranks = params->ranks;
    exchanged->left = left + 1 + (right < left);
    exchanged->numbered = divide_needs_numbers(steps, *top);
    *top += 2;
    return insert(steps, params->ranks, &found.join, 0)
           && insert(steps, params->ranks, &found.join, 1);
}
