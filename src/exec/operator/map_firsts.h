/* SPDX-License-Identifier: MIT */
/*
 * Of the texts that a thread makes, those that come first: the others get one text
 * that is behind them, and are not gathered.
 */
#ifndef VDBQ_EXEC_MAP_FIRSTS_H
#define VDBQ_EXEC_MAP_FIRSTS_H

#include "data/tablet/gather.h"
#include "program/steps/steps.h"

/* Of one thread. Zeroed, it has met none. */
struct map_firsts {
    uint32_t *places; /* in the gather, of the first ones: a heap, whose head is
                         the last of them                               */
    uint32_t count;   /* of these                                       */
    bool has_behind;  /* ... a text was gathered that is behind them all: */
    uint32_t behind;  /* ... at this place                              */
};

void map_firsts_finish(struct map_firsts *firsts); /* accepts a zeroed one */

/* As gather_add(), of a text of which only this is wanted. */
bool map_firsts_add(struct map_firsts *firsts, struct step_firsts wanted,
                    struct gather *gather, struct vdbq_text text,
                    uint32_t *place);

/* Before the gather is put together: texts that others have driven out are as good
 * as the one that is behind. */
void map_firsts_end(const struct map_firsts *firsts, struct step_firsts wanted,
                    struct gather *gather);

#endif
