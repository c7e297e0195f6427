/* SPDX-License-Identifier: MIT */
/*
 * Division of groups by their keys: see divide_groups.h. Aggregates of DISTINCT
 * values without keys, or with few, are made of the pairs of keys and value
 * (divide_distinct.h), which are groups as any.
 */
#include "cluster/divide/divide_groups.h"

#include <assert.h>
#include <math.h>

#include "cluster/divide/divide_distinct.h"
#include "cluster/divide/divide_exchange.h"
#include "cluster/divide/divide_local.h"
#include "cluster/divide/divide_numbers.h"
#include "cluster/divide/divide_price.h"

/* What it costs, measured with 2 ranks on host cores. */
enum {
    BATCH_NS = 25,  /* a row to be grouped that no program of a scan has */
    ROW_NS = 40,    /* a row to be grouped                           */
    GROUP_NS = 200, /* a rank's group to be sent and merged          */
    MERGE_NS = 25,  /* a row to be merged with other ranks' rows     */
    KEYS_EACH = 64, /* groups of a rank, with fewer of which one may
                               have much more to do than another            */
    GROUPS_FREE = 1 << 16 /* are merged at once: nobody minds              */
};

/* A group whose rows may be exchanged. */
struct grouping {
    const struct steps *steps;
    const struct divide_params *params;
    int top;                        /* the step whose rows it reads          */
    int reader;                     /* the group                             */
    const struct step *input;       /* step `top`                            */
    const struct step_group *group; /* of step `reader`                      */
    bool pairs;                     /* rows go by the pairs of keys and value */
};

/* The step that reads a step alone, as its first input; -1: there is none. */
static int reader_of(const struct steps *steps, int number)
{
    size_t input = 0;
    int reader = divide_reader(steps, number, &input);
    return input == 0 ? reader : -1;
}

/* About how many different keys rows go by. */
static double count_keys(const struct grouping *grouping)
{
    double rows = steps_at(grouping->steps, grouping->reader)->rows;
    return grouping->pairs ? grouping->group->combinations : rows;
}

/* The group that reads the rows of step `top`; false: none, or one whose rows have
 * nothing to go by. */
static bool find_group(const struct steps *steps,
                       const struct divide_params *params, int top,
                       struct grouping *found)
{
    int reader = reader_of(steps, top);
    const struct step *step = reader >= 0 ? steps_at(steps, reader) : NULL;
    if (step == NULL || step->kind != STEP_GROUP || step->group.apart)
        return false;
    *found = (struct grouping){ .steps = steps,
                                .params = params,
                                .top = top,
                                .reader = reader,
                                .input = steps_at(steps, top),
                                .group = &step->group };
    bool few =
        step->group.keys == 0 || step->rows < (double)KEYS_EACH * params->ranks;
    found->pairs = few && divide_has_distinct(&step->group)
                   && divide_distinct_pairs(found->input, &step->group);
    return found->pairs || step->group.keys > 0;
}

/* ---------------------------------------------------------- can it be? -- */

/* Aggregates that may fail: each tells of its own place. */
static unsigned count_failing(const struct grouping *grouping)
{
    unsigned failing = 0;
    for (size_t i = 0; i < grouping->group->aggregates.count; i++) {
        const struct step_aggregate *aggregate =
            vector_at(&grouping->group->aggregates, i);
        failing += aggregate->function == AGGREGATE_SUM;
    }
    return failing;
}

/* Why rows cannot go by the keys of their groups; NULL: they can. */
static const char *why_not(const struct grouping *grouping)
{
    if (!grouping->pairs && count_failing(grouping) > 1)
        return "no: which sum of groups fails first depends on their order";
    return divide_can_number(grouping->input)
                   && divide_can_number(
                       steps_at(grouping->steps, grouping->reader))
               ? NULL
               : "no: its groups have no room for numbers";
}

/* The last step above one that does the same with rows in any order, and has room
 * for numbers, as all between. */
static int find_end(const struct steps *steps, int number)
{
    int reader = reader_of(steps, number);
    while (reader >= 0 && divide_passes(steps_at(steps, reader), 0)
           && divide_is_free(steps_at(steps, reader))
           && divide_can_number(steps_at(steps, reader))) {
        number = reader;
        reader = reader_of(steps, number);
    }
    return number;
}

/* The group without order that reads step `end`, of which each rank can make its
 * part; NULL: there is none. */
static const struct step *next_group(const struct steps *steps, int end)
{
    int reader = reader_of(steps, end);
    const struct step *step = reader >= 0 ? steps_at(steps, reader) : NULL;
    return step != NULL && step->kind == STEP_GROUP
                   && divide_is_free_group(steps, end, &step->group)
               ? step
               : NULL;
}

/* --------------------------------------------------------------- price -- */

/* How many different ones of so many keys come about in a rank's share of rows. */
static double in_share(double keys, double rows, unsigned ranks)
{
    return keys > 0 ? keys * -expm1(-rows / ranks / keys) : 0;
}

/* What is done by one rank alone where rows are not exchanged: groups of all are
 * merged, or pairs, or all rows grouped. */
static double apart_ns(const struct grouping *grouping)
{
    const unsigned ranks = grouping->params->ranks;
    double rows = grouping->input->rows, keys = count_keys(grouping);
    bool distinct = divide_has_distinct(grouping->group);
    if (distinct
        && divide_distinct_alone(grouping->input, grouping->group, ranks))
        return rows * ROW_NS * (ranks - 1) / ranks;
    if (distinct)
        keys = grouping->group->combinations;
    return in_share(keys, rows, ranks) * ranks * GROUP_NS;
}

/* Rows that rank 0 gets where rows are exchanged. */
static double given_rows(const struct grouping *grouping)
{
    const struct steps *steps = grouping->steps;
    int end = find_end(steps, grouping->reader), reader = reader_of(steps, end);
    double rows = steps_at(steps, end)->rows, most = rows;
    const struct step *next = next_group(steps, end);
    const struct step *step = reader >= 0 ? steps_at(steps, reader) : NULL;
    if (grouping->pairs)
        return steps_at(steps, grouping->reader)->rows;
    if (next != NULL)
        most = next->rows * grouping->params->ranks;
    else if (step != NULL && step->kind == STEP_SORT
             && step->sort.limit != UINT64_MAX)
        most = (double)step->sort.limit + (double)step->sort.offset;
    else if (step != NULL && step->kind == STEP_LIMIT)
        most = (double)step->limit.limit + (double)step->limit.offset;
    return fmin(rows, most);
}

/* Whether it costs less. */
static bool costs_less(const struct grouping *grouping)
{
    const unsigned ranks = grouping->params->ranks;
    const double keys = count_keys(grouping), apart = apart_ns(grouping);
    double move = divide_move_ns(grouping->steps, grouping->params->catalogue,
                                 grouping->top);
    return move >= 0 && ranks > 1 && keys >= (double)KEYS_EACH * ranks
           && apart >= (double)GROUPS_FREE * GROUP_NS
           && (move + grouping->input->rows * BATCH_NS) / ranks
                      + given_rows(grouping) * MERGE_NS
                  < apart;
}

/* Whether to exchange, and why. */
static bool is_chosen(const struct grouping *grouping, const char **why)
{
    *why = why_not(grouping);
    if (*why != NULL)
        return false;
    if (grouping->params->exchange == EXCHANGE_AUTO) {
        bool less = costs_less(grouping);
        *why = less ? "of rows by the keys of their groups: costs less than to "
                      "bring the groups of all ranks together"
                    : "no: costs more than to bring the groups of all ranks "
                      "together";
        return less;
    }
    *why = grouping->params->exchange == EXCHANGE_ON
               ? "of rows by the keys of their groups: it is set to on"
               : "no: it is set to off";
    return grouping->params->exchange == EXCHANGE_ON;
}

/* Whether all rows of each group are on one rank, which can group them alone. */
static bool is_local(const struct grouping *grouping)
{
    return divide_local_group(grouping->steps, grouping->params, grouping->top);
}

bool divide_groups_pays(const struct steps *steps,
                        const struct divide_params *params, int top)
{
    struct grouping grouping;
    const char *why;
    return find_group(steps, params, top, &grouping)
           && (is_local(&grouping) || is_chosen(&grouping, &why));
}

/* -------------------------------------------------------------- divide -- */

/* Puts an exchange by all keys of a group behind the step that it reads; the group
 * is one step further down then. */
static bool insert(struct steps *steps, unsigned ranks, int *group)
{
    int from = VECTOR_ITEMS(&steps_at(steps, *group)->inputs, int)[0];
    struct step *made = steps_insert(steps, from, STEP_EXCHANGE);
    bool done = made != NULL;
    if (!done)
        return false;
    ++*group;
    made->exchange.ranks = ranks;
    made->exchange.nulls = EXCHANGE_NULLS_MATCH;
    assert(steps_at(steps, *group)->kind == STEP_GROUP);
    for (int i = 0; done && i < (int)steps_at(steps, *group)->group.keys; i++)
        done = vector_append(&made->exchange.keys, &i, 1);
    return done;
}

/* Has rows exchanged. */
static bool exchange(struct steps *steps, const struct grouping *found,
                     int *top, struct divide_grouped *grouped)
{
    const unsigned ranks = found->params->ranks;
    int group = found->reader;
    if (found->pairs) {
        if (!divide_distinct(steps, top, group))
            return false;
        group = *top;
        steps_at(steps, group)->group.apart = false;
    }
    if (!insert(steps, ranks, &group))
        return false;
    *top = find_end(steps, group);
    const struct step *next = next_group(steps, *top);
    grouped->exchanged = true;
    grouped->numbered = (next == NULL || next->group.keys > 0)
                        && !divide_is_sorted_group(steps, *top);
    return !grouped->numbered
           || divide_number_whole(steps, group - 1, group, top);
}

/* Has each rank group the rows of its part, and go on with its groups, which come in
 * the order of their first rows. */
static bool group_here(struct steps *steps, const struct grouping *found,
                       int scan, int *top, struct divide_grouped *grouped)
{
    int below = found->top;
    int end = find_end(steps, found->reader);
    const struct step *next = next_group(steps, end);
    steps_at(steps, found->reader)->group.local = true;
    grouped->local = true;
    grouped->numbered = (next == NULL || next->group.keys > 0)
                        && !divide_is_sorted_group(steps, end);
    grouped->why = NULL;
    if (!divide_local_scan(steps, found->params, scan))
        return false;
    if (grouped->numbered
        && !divide_local_number(steps, found->params, scan, &below))
        return false;
    const int more = below - found->top; /* steps */
    *top = end + more;
    return !grouped->numbered
           || divide_number_least(steps, found->reader + more, top);
}

bool divide_groups(struct steps *steps, const struct divide_params *params,
                   int scan, int *top, bool parted,
                   struct divide_grouped *grouped)
{
    struct grouping found;
    *grouped = (struct divide_grouped){ 0 };
    if (!find_group(steps, params, *top, &found))
        return true;
    if (is_local(&found))
        return group_here(steps, &found, scan, top, grouped);
    return parted || !is_chosen(&found, &grouped->why)
           || exchange(steps, &found, top, grouped);
}
