/* SPDX-License-Identifier: MIT */
/*
 * How deep the calling thread may go. What is nested in SQL is bound, planned
 * and run by functions that call themselves; how much of a stack each takes is
 * the compiler's matter, so that bytes are counted, not levels. Functions that
 * can fail ask before they go deeper. What walks over something without a way
 * to fail is bounded by how deep that may be made.
 */
#ifndef VDBQ_BASE_STACK_H
#define VDBQ_BASE_STACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Whether what is left is needed by functions that do not call themselves. */
bool stack_is_short(void);

/* Whether a walk over so many levels fits besides. */
bool stack_holds(size_t levels);

/* That the stack is short. */
enum vdbq_status stack_refuse(struct error *error, struct position at);

#endif
