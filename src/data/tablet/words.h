/* SPDX-License-Identifier: MIT */
/*
 * Words: different texts, sorted by their bytes, so that the number of a word
 * stands for it: equal texts have equal numbers, and their order is that of
 * the numbers. The machine computes with these numbers alone. Words never
 * change once they are made, and are shared by counting their holders.
 */
#ifndef VDBQ_DATA_WORDS_H
#define VDBQ_DATA_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/vdbq.h"
#include "base/vector.h"

struct words {
    unsigned holders;
    uint32_t count;
    const uint32_t *ends; /* of word i, in `bytes`; it begins where the one
                             before it ends, the first at 0              */
    const char *bytes;
};

struct words *words_hold(struct words *words); /* accepts NULL */
void words_release(struct words *words);       /* accepts NULL */

/* The text of a word; it lives as long as the words. Numbers that no word
 * has (of values that are NULL) give "". */
struct vdbq_text words_text(const struct words *words, uint32_t number);

/* The number of a text; false: it is none of the words, and `*number` is how
 * many are less. */
bool words_find(const struct words *words, struct vdbq_text text,
                uint32_t *number);

/* The number in `to` of each word of `from`; WORDS_NONE: it has none there.
 * Both may be NULL, as without words. To be released; NULL: no memory. */
#define WORDS_NONE 0xffffffffu
uint32_t *words_translate(const struct words *from, const struct words *to);

/* Makes words of texts, in any order, equal ones too. `numbers`, where it is
 * not NULL, gets the number of each. A text whose bytes are NULL is none: it
 * gets 0. NULL: no memory, or more than 4 GiB. */
struct words *words_make(const struct vdbq_text *texts, size_t count,
                         uint32_t *numbers);

/* Words of several, together. `numbers[i]`, where it is not NULL, gets for
 * each word of parts[i] its number in them. One part alone is held, not
 * copied. NULL: no memory. */
struct words *words_join(struct words *const *parts, size_t count,
                         uint32_t *const *numbers);

/* A copy of the words of a text column of a checked tablet: its codes are
 * their numbers. NULL: no memory. */
struct words *words_of_tablet(const void *block, unsigned column);

#endif
