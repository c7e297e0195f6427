/* SPDX-License-Identifier: MIT */
/*
 * Narrow result columns. Integers that came to the device packed, or all the
 * same, leave it in as few bytes as all values of the launch can need
 * (cl/launch.h: struct output), for a link is slower than memory, and the host
 * widens them. Part of the launcher.
 */
#ifndef VDBQ_EXEC_NARROW_H
#define VDBQ_EXEC_NARROW_H

#include "exec/launch/launcher.h"

/* Says of each output how narrow it may leave a launch of these morsels;
 * whether any may. */
bool narrow_outputs(const struct program_pack *pack,
                    const struct launcher_request *request,
                    struct output *outputs);

/* Gives `rows` values of a narrow column, at `from`, their own width, at `to`,
 * which does not overlap. */
void narrow_widen(const struct output *output, const void *from, void *to,
                  uint64_t rows);

#endif
