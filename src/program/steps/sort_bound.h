/* SPDX-License-Identifier: MIT */
/*
 * The last part of a scan's program whose rows a sort takes that asks for the
 * first ones alone: Behind passes over rows whose first key is behind those that
 * the sort has already, where it has told its bound (launch.h). A NULL goes on
 * to the sort.
 */
#ifndef VDBQ_PROGRAM_SORT_BOUND_H
#define VDBQ_PROGRAM_SORT_BOUND_H

#include "program/steps/steps.h"

/* Adds the part to a checked program over a table's rows, in front of Result,
 * unless it has one or has no room for it, or adds its rows to groups, for another
 * step: jumps of rows that are left out lead to that. False: no memory. */
bool sort_bound_add(struct program *program, const struct step_sort *sort);

/* Whether the program has just the part that sort_bound_add() makes: one that
 * was read, or serves another step, may have another. */
bool sort_bound_fits(const struct program *program,
                     const struct step_sort *sort);

#endif
