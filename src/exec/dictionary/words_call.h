/* SPDX-License-Identifier: MIT */
/*
 * Calls that are computed for many words at once.
 */
#ifndef VDBQ_EXEC_WORDS_CALL_H
#define VDBQ_EXEC_WORDS_CALL_H

#include "data/tablet/dictionary.h"
#include "program/functions/function.h"

/* Computes a call that function_words_width() has values for, of words [first, end) of
 * a dictionary without parts; `values` has one for each of its words. A thread that is
 * asked to stop leaves some out. */
void words_call(const struct function_lookup *lookup,
                const struct dictionary *dictionary, uint32_t first,
                uint32_t end, void *values);

#endif
