/* SPDX-License-Identifier: MIT */
/*
 * Which result columns follow from others: rows of the same values there have the
 * same value here, too.
 */
#ifndef VDBQ_PROGRAM_DETERMINED_H
#define VDBQ_PROGRAM_DETERMINED_H

#include "program/program.h"

/* Marks those of the first `count` result columns of a checked program that
 * follow from others of these, which are not marked themselves: `follows` has
 * room for each. What rows have in common is the value of an integer that is
 * not NULL; nothing follows from a float, whose equal values may have other
 * bits. Without memory nothing is marked. */
void program_determined(const struct program *program, unsigned count,
                        bool *follows);

#endif
