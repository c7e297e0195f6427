/* SPDX-License-Identifier: MIT */
/*
 * What a run of all ranks came to: what rank 0 learns from it, the numbers of
 * the query, and what EXPLAIN says: which part each rank has done, and how long
 * that took beside the others.
 */
#include <assert.h>

#include "cluster/divide/divide.h"
#include "cluster/leader.h"

enum { BAR_WIDTH = 20 };
static const char LETTERS[RANK_WORKS + 1] = "cxwmr";

static const struct rank_cost *cost_of(const struct leader *leader,
                                       unsigned rank)
{
    return rank == 0 ? &leader->ranks.cost : &leader->members[rank].end.cost;
}

/* ------------------------------------------------------------- numbers -- */

void leader_learn(struct leader *leader)
{
    uint64_t number;
    if (database_parts(leader->db->database, &number) > 0)
        return; /* its part is a rank's share */
    for (unsigned r = 0; r < leader->link->ranks; r++) {
        const struct member *member = &leader->members[r];
        const struct vdbq_stats *stats = &member->end.stats;
        if (member->end.error.status != VDBQ_OK || stats->builds > 0)
            return;
        leader->runs[r] = (struct share_run){
            .rows = stats->rows_read,
            .ns = cost_of(leader, r)->spent[RANK_COMPUTE].ns
        };
    }
    shares_learn(&leader->shares, leader->runs);
}

/* Adds what another rank did to the query's numbers. */
static void add_stats(const struct vdbq_stats *of, struct vdbq_stats *sum)
{
    sum->rows_read += of->rows_read;
    sum->cells += of->cells;
    sum->bytes_read += of->bytes_read;
    sum->bytes_mapped += of->bytes_mapped;
    sum->tablets_skipped += of->tablets_skipped;
    sum->bytes_in += of->bytes_in;
    sum->bytes_out += of->bytes_out;
    sum->kernel_ns += of->kernel_ns;
    sum->transfer_ns += of->transfer_ns;
    sum->builds += of->builds;
    sum->builds_cached += of->builds_cached;
    sum->launches += of->launches;
}

void leader_add(const struct leader *leader, struct vdbq_stats *sum)
{
    for (unsigned r = 1; r < leader->link->ranks; r++)
        add_stats(&leader->members[r].end.stats, sum);
}

/* ------------------------------------------------------------- explain -- */

/* The time of a rank beside that of the slowest one, as a bar. */
static void bar(uint64_t ns, uint64_t most_ns, char room[BAR_WIDTH + 1])
{
    unsigned long_one =
        most_ns > 0 ? (unsigned)((double)ns / (double)most_ns * BAR_WIDTH + 0.5)
                    : 0;
    assert(long_one <= BAR_WIDTH);
    for (unsigned i = 0; i < BAR_WIDTH; i++)
        room[i] = i < long_one ? '#' : '.';
    room[BAR_WIDTH] = '\0';
}

/* Of the slowest rank. */
static uint64_t most_ns(const struct leader *leader)
{
    uint64_t most = 0;
    for (unsigned r = 0; r < leader->link->ranks; r++) {
        uint64_t ns = cost_of(leader, r)->spent[RANK_COMPUTE].ns;
        most = ns > most ? ns : most;
    }
    return most;
}

static void explain_cost(const struct rank_cost *cost, struct text *lines)
{
    text_print(lines,
               "%llu rows, %llu bytes sent, compute %.3f ms, "
               "exchange %.3f ms, wait %.3f ms, merge %.3f ms, rest %.3f ms",
               (unsigned long long)cost->rows, (unsigned long long)cost->bytes,
               (double)cost->spent[RANK_COMPUTE].ns / 1e6,
               (double)cost->spent[RANK_EXCHANGE].ns / 1e6,
               (double)cost->spent[RANK_WAIT].ns / 1e6,
               (double)cost->spent[RANK_MERGE].ns / 1e6,
               (double)cost->spent[RANK_REST].ns / 1e6);
}

static void explain_rank(const struct leader *leader, unsigned rank,
                         struct text *lines)
{
    const struct member *member = &leader->members[rank];
    text_print(lines, ";   rank %-5u ", rank);
    explain_cost(cost_of(leader, rank), lines);
    text_print(lines, "  (%s, %u threads)\n", member->host, member->cores);
}

/* The longest slots of a rank's timeline. */
static uint64_t longest_slot_ns(const struct leader *leader)
{
    uint64_t longest = 0;
    for (unsigned r = 0; r < leader->link->ranks; r++) {
        uint64_t ns = cost_of(leader, r)->timeline.slot_ns;
        longest = ns > longest ? ns : longest;
    }
    return longest;
}

/* The letter of the work that took most of a slot, of what is left over '.'. */
static char letter_of(const struct rank_timeline *timeline, size_t slot)
{
    const uint64_t *ns = timeline->ns[slot];
    uint64_t most = timeline->slot_ns;
    char letter = '.';
    for (size_t work = 0; work < RANK_WORKS; work++)
        most -= ns[work] < most ? ns[work] : most;
    for (size_t work = 0; work < RANK_WORKS; work++)
        if (ns[work] > most) {
            most = ns[work];
            letter = LETTERS[work];
        }
    return letter;
}

static void explain_timeline(const struct leader *leader, unsigned rank,
                             uint64_t slot_ns, struct text *lines)
{
    const struct rank_cost *cost = cost_of(leader, rank);
    struct rank_timeline timeline = cost->timeline;
    char letters[RANK_SLOTS];
    int length = 0;
    rank_timeline_widen(&timeline, slot_ns);
    for (int i = 0; i < RANK_SLOTS; i++) {
        letters[i] = letter_of(&timeline, (size_t)i);
        if (letters[i] != '.')
            length = i + 1;
    }
    text_print(lines, ";   rank %-5u ", rank);
    for (size_t work = 0; work < RANK_WORKS; work++)
        text_print(lines, "%c %.3f ", LETTERS[work],
                   (double)cost->spent[work].processor_ns / 1e6);
    text_print(lines, " %.*s\n", length, letters);
}

/* What each rank had of processors for each work, and what it did when, a letter
 * for a slot. */
static void explain_timelines(const struct leader *leader, struct text *lines)
{
    uint64_t slot_ns = longest_slot_ns(leader);
    text_print(lines,
               "; timeline  ms of processors: c compute, x exchange, w wait, "
               "m merge, r rest; each letter %.3f ms\n",
               (double)slot_ns / 1e6);
    for (unsigned r = 0; r < leader->link->ranks; r++)
        explain_timeline(leader, r, slot_ns, lines);
}

/* A device: the bar is of the time in the steps that are shared. */
static void explain_device(const struct leader *leader, unsigned rank,
                           struct text *lines)
{
    const struct member *member = &leader->members[rank];
    const struct rank_cost *cost = cost_of(leader, rank);
    char room[BAR_WIDTH + 1];
    bar(cost->spent[RANK_COMPUTE].ns, most_ns(leader), room);
    text_print(lines, ";   %-9s %s %llu rows and %llu bytes read, ",
               member->host, room,
               (unsigned long long)member->end.stats.rows_read,
               (unsigned long long)member->end.stats.bytes_read);
    explain_cost(cost, lines);
    text_print(lines, "\n");
}

/* The table that a step is the first one to scan, of those that lay by hash and do not
 * any more; NULL: it scans none. */
static const struct table *left_at(const vdbq_query *query, int number)
{
    const struct steps *steps = &query->plan.steps;
    const struct table *table =
        divide_scanned(query->planned_for, steps_at(steps, number));
    if (table == NULL || table_parts_left(table) == NULL)
        return NULL;
    for (int i = 0; i < number; i++)
        if (divide_scanned(query->planned_for, steps_at(steps, i)) == table)
            return NULL;
    return table;
}

/* Why tables by hash are so no more, and nothing of them is co-located. */
static void explain_parts(const vdbq_query *query, struct text *lines)
{
    for (int i = 0; i < (int)query->plan.steps.steps.count; i++) {
        const struct table *table = left_at(query, i);
        if (table == NULL)
            continue;
        text_print(lines, "; parts     table ");
        name_sql(table->name, lines);
        text_print(lines, " is not co-located: %s\n", table_parts_left(table));
    }
}

void leader_explain(const vdbq_query *query, struct text *lines)
{
    const struct leader *leader = leader_of_query(query);
    const bool devices = leader->params.devices;
    const char *alone = query->division.alone != NULL ? query->division.alone
                                                      : query->division.now;
    if (alone != NULL) {
        text_print(lines,
                   devices ? "; devices   the first of %u alone: %s\n"
                           : "; cluster   rank 0 of %u alone: %s\n",
                   leader->link->ranks, alone);
        return;
    }
    text_print(lines,
               devices ? "; devices   %u\n" : "; cluster   on %u ranks\n",
               leader->link->ranks);
    if (query->division.exchange != NULL && !devices)
        text_print(lines, "; exchange  %s\n", query->division.exchange);
    if (!devices)
        explain_parts(query, lines);
    if (query->plan.explain != AST_EXPLAIN_ANALYZE || leader->ran == 0)
        return;
    for (unsigned r = 0; r < leader->link->ranks; r++)
        if (devices)
            explain_device(leader, r, lines);
        else
            explain_rank(leader, r, lines);
    if (!devices)
        explain_timelines(leader, lines);
}
