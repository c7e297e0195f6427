/* SPDX-License-Identifier: MIT */
/* Programs that do nothing but give columns as they are. */
#ifndef VDBQ_PROGRAM_LOADS_H
#define VDBQ_PROGRAM_LOADS_H

#include "program/program.h"

/* Whether the rows' part only loads columns and constants. */
bool program_only_loads(const struct program *program);
/* The column that is in register `to`, or whose NULL flags are; -1: none. */
int program_loaded_column(const struct program *program, bool null, int to);
/* The column that a result is, as it is, with its NULLs; -1: it is none. */
int program_given_column(const struct program *program, unsigned number);
/* Whether it gives columns of its one table as they are, `count` of them. */
bool program_gives(const struct program *program, unsigned count);

#endif
