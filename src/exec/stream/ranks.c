/* SPDX-License-Identifier: MIT */
/*
 * What ranks spend their time on. Works lie inside one another, as waiting inside
 * of sending; time counts once, as that of the innermost one, which ends first.
 */
#include "exec/stream/ranks.h"

#include <assert.h>
#include <string.h>

#include "base/os/os.h"

enum { SLOT_NS = 1 << 14 }; /* of a timeline, as it begins */

/* -------------------------------------------------------------- timeline -- */

/* Makes each two slots one. */
static void double_slots(struct rank_timeline *timeline)
{
    const size_t half = RANK_SLOTS / 2;
    for (size_t i = 0; i < half; i++)
        for (size_t work = 0; work < RANK_WORKS; work++)
            timeline->ns[i][work] =
                timeline->ns[2 * i][work] + timeline->ns[2 * i + 1][work];
    memset(timeline->ns[half], 0, half * sizeof timeline->ns[half]);
    timeline->slot_ns *= 2;
}

void rank_timeline_widen(struct rank_timeline *timeline, uint64_t slot_ns)
{
    if (timeline->slot_ns == 0)
        timeline->slot_ns = slot_ns;
    while (timeline->slot_ns < slot_ns)
        double_slots(timeline);
    assert(timeline->slot_ns == slot_ns);
}

/* What is left of a slot. */
static uint64_t room_of(const struct rank_timeline *timeline, size_t slot)
{
    uint64_t room = timeline->slot_ns;
    for (size_t work = 0; work < RANK_WORKS; work++)
        room -=
            timeline->ns[slot][work] < room ? timeline->ns[slot][work] : room;
    return room;
}

/* Counts a work from `start` to `end`, since the run began, in what is left of the
 * slots there. */
static void put(struct rank_timeline *timeline, enum rank_work work,
                uint64_t start, uint64_t end)
{
    assert(start <= end);
    if (timeline->slot_ns == 0)
        timeline->slot_ns = SLOT_NS;
    while (end / timeline->slot_ns >= RANK_SLOTS)
        double_slots(timeline);
    while (start < end) {
        size_t slot = start / timeline->slot_ns;
        uint64_t next = (slot + 1) * timeline->slot_ns;
        uint64_t ns = (next < end ? next : end) - start;
        uint64_t room = room_of(timeline, slot);
        timeline->ns[slot][work] += ns < room ? ns : room;
        start += ns;
    }
}

/* ----------------------------------------------------------------- works -- */

struct rank_time rank_now(void)
{
    return (struct rank_time){ .ns = os_time_ns(),
                               .processor_ns = os_processor_ns() };
}

/* What is left of a time without another one. */
static uint64_t without(uint64_t all, uint64_t part)
{
    return all > part ? all - part : 0;
}

static struct rank_time less(struct rank_time all, struct rank_time part)
{
    return (struct rank_time){ .ns = without(all.ns, part.ns),
                               .processor_ns = without(all.processor_ns,
                                                       part.processor_ns) };
}

static void add(struct rank_time *sum, struct rank_time time)
{
    sum->ns += time.ns;
    sum->processor_ns += time.processor_ns;
}

/* On all works so far. */
static struct rank_time all_spent(const struct ranks *ranks)
{
    struct rank_time sum = { 0 };
    for (size_t work = 0; work < RANK_WORKS; work++)
        add(&sum, ranks->cost.spent[work]);
    return sum;
}

struct rank_clock rank_start(const struct ranks *ranks)
{
    if (ranks == NULL)
        return (struct rank_clock){ 0 };
    return (struct rank_clock){ .start = rank_now(),
                                .spent = all_spent(ranks) };
}

void rank_spend(struct ranks *ranks, enum rank_work work,
                struct rank_clock clock)
{
    if (ranks == NULL)
        return;
    struct rank_time end = rank_now();
    struct rank_time within = less(all_spent(ranks), clock.spent);
    assert(work < RANK_WORKS && clock.start.ns >= ranks->begun.ns);
    add(&ranks->cost.spent[work], less(less(end, clock.start), within));
    put(&ranks->cost.timeline, work, clock.start.ns - ranks->begun.ns,
        end.ns - ranks->begun.ns);
}

void rank_spend_run(struct ranks *ranks, enum rank_work work)
{
    if (ranks != NULL)
        rank_spend(ranks, work, (struct rank_clock){ .start = ranks->begun });
}
