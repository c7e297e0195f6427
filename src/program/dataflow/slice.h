/* SPDX-License-Identifier: MIT */
/*
 * Slices: what a program of several axes says of one of them alone, and what
 * is left to say.
 */
#ifndef VDBQ_PROGRAM_SLICE_H
#define VDBQ_PROGRAM_SLICE_H

#include "program/program.h"

/*
 * Makes a program over one axis of a checked program: it keeps the rows that
 * the conditions about that axis alone keep, as far as these cannot fail, and
 * gives the columns that the whole program reads of it, in the order of the
 * pack's inputs; NULL flags where the whole program asks for them. Without such
 * columns it gives a number. The slice is checked. Fails as program_check().
 */
enum vdbq_status program_slice(const struct program *program,
                               const struct program_pack *pack, int cursor,
                               struct program *slice, struct error *error);

/*
 * Makes the program that gives the same for rows of axes that slices have
 * kept: without the conditions that these are. Axes that are steps have no
 * slices. The rest is checked, and has a pack of its own, whose inputs slices
 * are to give. Fails as program_check().
 */
enum vdbq_status program_rest(const struct program *program,
                              const struct program_pack *pack,
                              struct program *rest, struct error *error);

/* The inputs of an axis: these and `count` more of the pack's lists. */
const struct program_input *program_axis_inputs(const struct program_pack *pack,
                                                int cursor, unsigned *count);

#endif
