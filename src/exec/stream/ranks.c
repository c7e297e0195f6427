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

/* Spent so far. */
static uint64_t spent_ns(const struct ranks *ranks)
{
    uint64_t spent = 0;
    for (size_t work = 0; work < RANK_WORKS; work++)
        spent += ranks->cost.ns[work];
    return spent;
}

struct rank_clock rank_start(const struct ranks *ranks)
{
    if (ranks == NULL)
        return (struct rank_clock){ 0 };
    return (struct rank_clock){ .start_ns = os_time_ns(),
                                .spent_ns = spent_ns(ranks) };
}

void rank_spend(struct ranks *ranks, enum rank_work work,
                struct rank_clock clock)
{
    if (ranks == NULL)
        return;
    uint64_t end = os_time_ns(), within = spent_ns(ranks) - clock.spent_ns;
    uint64_t all = end - clock.start_ns;
    assert(work < RANK_WORKS && clock.start_ns >= ranks->begun_ns);
    ranks->cost.ns[work] += all > within ? all - within : 0;
    put(&ranks->cost.timeline, work, clock.start_ns - ranks->begun_ns,
        end - ranks->begun_ns);
}

void rank_computed(struct ranks *ranks)
{
    if (ranks != NULL)
        rank_spend(ranks, RANK_COMPUTE,
                   (struct rank_clock){ .start_ns = ranks->begun_ns });
}
