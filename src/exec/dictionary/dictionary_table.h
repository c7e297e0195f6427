/* SPDX-License-Identifier: MIT */
/*
 * Numbers that words have elsewhere, for rows.
 */
#ifndef VDBQ_EXEC_DICTIONARY_TABLE_H
#define VDBQ_EXEC_DICTIONARY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* One for each word. */
struct dictionary_table {
    const uint32_t *numbers; /* of paged_alloc() */
    uint32_t count;          /* of them, and of the words */
};

/* Gives rows the numbers of their words; DICTIONARY_NONE: there is no such word.
 * `numbers` may be `words`. A thread that is asked to stop leaves some out. Of a
 * table in parts not much is in memory at once: the more rows, the less it costs. */
void dictionary_follow(const struct dictionary_table *table,
                       const uint32_t *words, uint64_t rows, uint32_t *numbers);
/* Whether it is one: it lies in a file. */
bool dictionary_table_parts(const struct dictionary_table *table);

#endif
