/* SPDX-License-Identifier: MIT */
/*
 * A program that works behind this process, with no terminal, no descriptor
 * and no signal of ours. It goes on where this process ends.
 */
#ifndef VDBQ_BASE_BEHIND_H
#define VDBQ_BASE_BEHIND_H

#include <stdbool.h>

#include "base/text.h"

/* Adds the path of the program that was installed, or built, with the library:
 * beside it, or in the `bin` of the folders around it. False where there is
 * none, or where the process has rights that its user has not. */
bool behind_find(const char *program, struct text *path);

/* Starts it; `arguments` end with NULL, the first is its name. Its number; 0
 * where it cannot be started. */
int behind_start(const char *path, char *const arguments[]);

/* Whether it, a child of this very process, still runs. */
bool behind_runs(int process);

#endif
