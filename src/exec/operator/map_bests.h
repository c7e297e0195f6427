/* SPDX-License-Identifier: MIT */
/*
 * Of the texts that a thread makes for rows of groups, the first one of each group,
 * of which alone MIN or MAX wants to know: a row whose text is behind one that its
 * group has gets that one in its place, and its own is not gathered.
 */
#ifndef VDBQ_EXEC_MAP_BESTS_H
#define VDBQ_EXEC_MAP_BESTS_H

#include "data/tablet/gather.h"
#include "exec/rows/row_set.h"
#include "program/steps/steps.h"

struct map_best;

/* Of one thread. Zeroed, it has met none. */
struct map_bests {
    struct map_best
        *slots; /* by the hash of a group's keys; owned            */
    uint32_t asked, behind; /* rows since it was last judged, and those whose
                               text is not gathered                            */
    bool is_off; /* these are few: it costs more than it saves      */
};

void map_bests_finish(struct map_bests *bests); /* accepts a zeroed one */

/* As gather_add(), of the text of a row, whose group's keys are in the columns
 * `keys`. */
bool map_bests_add(struct map_bests *bests, struct step_firsts wanted,
                   const struct row_set_column *keys, uint64_t row,
                   struct gather *gather, struct vdbq_text text,
                   uint32_t *place);

#endif
