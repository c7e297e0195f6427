/* SPDX-License-Identifier: MIT */
/*
 * Joins with a condition on a device: cl/join.cl makes pairs, a program tells the
 * numbers of those that it keeps, rising, and here is found out what becomes of
 * the rows. What is written is what vdbq_join_expand reads.
 */
#include "../kernel.cl"
#include "judged.h"

#define NO_ROW 0xffffffffU

/* Left rows [start, cut[0]) have so many pairs at most, or are one; cut[1]: the
 * place of the next one's first pair. */
KERNEL void vdbq_judged_cut(GLOBAL const u64 *restrict places,
                            GLOBAL u64 *restrict cut, u64 rows, u64 start,
                            u64 most)
{
    u64 row;
    if (get_global_id(0) > 0)
        return;
    row = row_at(places, places[start] + most, start, rows + 1);
    row = row > start ? row : start + 1;
    cut[0] = row;
    cut[1] = places[row];
}

/* Notes the right row of each pair that was kept, and marks it where somebody
 * asks for those without a partner. */
KERNEL void vdbq_judged_pairs(GLOBAL const u64 *restrict places,
                              GLOBAL const u64 *restrict kept,
                              GLOBAL const u32 *restrict first,
                              GLOBAL const u32 *restrict rows,
                              GLOBAL u32 *restrict partners,
                              GLOBAL u8 *restrict marked,
                              struct judged judged)
{
    for (u64 i = get_global_id(0); i < judged.kept; i += get_global_size(0)) {
        u64 number = judged.every ? i : kept[i] - judged.number;
        u64 place = judged.first + number;
        u64 row = row_at(places, place, judged.start, judged.stop);
        u32 partner = first[row];
        if (partner != NO_ROW && !judged.single)
            partner = rows[partner + place - places[row]];
        if (!judged.every)
            partners[i] = partner;
        if (judged.marks && partner != NO_ROW)
            marked[partner] = 1;
    }
}

/* How many of the pairs that were kept have places before this one. */
static u64 kept_before(GLOBAL const u64 *kept, const struct judged *judged,
                       u64 place)
{
    u64 low = 0, high = judged->kept;
    u64 number = place - judged->first + judged->number;
    while (low < high) {
        u64 middle = low + (high - low) / 2;
        if (kept[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The output rows of a left row that was judged. One of whose pairs some were not
 * asked gives the kept ones alone. */
static u32 rows_of(const struct judged *judged, u32 found, u64 end)
{
    if (end > judged->end)
        return judged->most == JUDGED_ALL ? found : 0;
    if (found == 0)
        return judged->alone;
    return found < judged->most ? found : judged->most;
}

SUM_BEFORE(u64)

/* Puts the sum of what a work-group's items counted behind the places. */
static void put_sum(LOCAL u64 *room, GLOBAL u64 *places, u64 rows, u64 sum)
{
    u64 all;
    sum_before(room, sum, &all);
    if (get_local_id(0) == 0)
        places[rows + 1 + get_group_id(0)] = all;
}

#define EACH_OF_SPAN(span, rows)                                              \
    for (u64 i = get_group_id(0) * (span) + get_local_id(0),                  \
             end_ = (get_group_id(0) + 1) * (span);                           \
         i < end_ && i < (rows); i += VDBQ_GROUP)

/* Counts the output rows of each left row; other ones than were judged have
 * none. `first`: where its kept pairs begin. */
KERNEL void vdbq_judged_count(GLOBAL const u64 *restrict places,
                              GLOBAL const u64 *restrict kept,
                              GLOBAL u32 *restrict first,
                              GLOBAL u64 *restrict counts,
                              struct judged judged)
{
    LOCAL u64 room[VDBQ_GROUP];
    u64 sum = 0;
    EACH_OF_SPAN(judged.span, judged.rows)
    {
        u32 from = 0, found = 0, rows = 0;
        if (i >= judged.start && i < judged.stop) {
            from = (u32)kept_before(kept, &judged, places[i]);
            found = (u32)kept_before(kept, &judged, places[i + 1]) - from;
            rows = rows_of(&judged, found, places[i + 1]);
        }
        first[i] = found > 0 ? from : NO_ROW;
        counts[i] = rows;
        sum += rows;
    }
    put_sum(room, counts, judged.rows, sum);
}

/* Counts the right rows that are not marked: each is one output row. */
KERNEL void vdbq_judged_alone(GLOBAL const u8 *restrict marked,
                              GLOBAL u32 *restrict first,
                              GLOBAL u64 *restrict counts, u64 rows, u64 span)
{
    LOCAL u64 room[VDBQ_GROUP];
    u64 sum = 0;
    EACH_OF_SPAN(span, rows)
    {
        first[i] = NO_ROW;
        counts[i] = marked[i] == 0;
        sum += counts[i];
    }
    put_sum(room, counts, rows, sum);
}

/* ----------------------------------------------------------------- marks -- */

/* Whether any of the flags from an offset on is set. */
KERNEL void vdbq_judged_null(GLOBAL const u8 *restrict rows,
                             GLOBAL u8 *restrict any, u64 nulls, u64 count)
{
    u32 found = 0;
    for (u64 i = get_global_id(0); i < count; i += get_global_size(0))
        found |= rows[nulls + i];
    if (found)
        any[0] = 1;
}

/* Writes the column of marks. `any`: a right key is NULL. */
KERNEL void vdbq_judged_mark(GLOBAL const u32 *restrict first,
                             GLOBAL const u8 *restrict left,
                             GLOBAL const u8 *restrict any,
                             GLOBAL u8 *restrict out, struct marks marks)
{
    GLOBAL i32 *to = (GLOBAL i32 *)(out + marks.to_values);
    for (u64 i = get_global_id(0); i < marks.count; i += get_global_size(0)) {
        u64 row = marks.start + i;
        u32 null = any[0] != 0 ||
                   (marks.keys != MARKS_NO_NULLS && left[marks.keys + row] != 0);
        to[i] = first[row] != NO_ROW;
        out[marks.to_nulls + i] = marks.any && null && first[row] == NO_ROW;
    }
}
