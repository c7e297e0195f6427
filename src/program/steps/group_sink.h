/* SPDX-License-Identifier: MIT */
/*
 * The last part of a scan's program that adds its rows to the groups of the
 * step above (cl/sink): Group, a Key for each key, an instruction for
 * each thing that aggregates keep, Grouped. A run that has no table for the
 * groups passes over all of them, and the rows come out as result rows.
 *
 * A record of a group is a struct group_record (cl/group.h), then of each
 * aggregate the number of rows that it passed over and its state.
 */
#ifndef VDBQ_PROGRAM_GROUP_SINK_H
#define VDBQ_PROGRAM_GROUP_SINK_H

#include "cl/launch.h"
#include "program/steps/steps.h"

enum { GROUP_SINK_AGGREGATES_MAX = 24 };

/* Adds the part to a checked program, in front of Result, unless it has one,
 * has no room for it, or there are no opcodes for such groups. False: no
 * memory. */
bool group_sink_add(struct program *program, const struct step_group *group);

/* Whether the program has just the part that group_sink_add() makes: one that
 * was read, or serves another step, may have another. */
bool group_sink_fits(const struct program *program,
                     const struct step_group *group);

/* Bytes of a record; `group` is one that fits. */
unsigned group_sink_record(const struct program *program,
                           const struct step_group *group);
/* The first aggregate that keeps the same as this one, which may be itself: its
 * state serves both, and the other is not written. */
size_t group_sink_same(const struct step_group *group, size_t number);

#endif
