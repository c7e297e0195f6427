/* SPDX-License-Identifier: MIT */
/* What the files that make dictionaries share. */
#ifndef VDBQ_DATA_DICTIONARY_INNER_H
#define VDBQ_DATA_DICTIONARY_INNER_H

#include "data/tablet/dictionary.h"

/* Words of that many texts and bytes, not written yet. NULL: no memory, or
 * more than 4 GiB. */
struct dictionary *dictionary_room(uint32_t count, uint64_t bytes);

/* Where word i begins, or would behind the last. */
static inline uint32_t dictionary_start(const struct dictionary *dictionary,
                                        uint32_t i)
{
    return i > 0 ? dictionary->ends[i - 1] : 0;
}

/* The first of words [first, end), which are in order, that is not less than a text;
 * `end`: there is none. Near ones are tried first, in steps that grow. */
uint32_t dictionary_seek(const struct dictionary *dictionary, uint32_t first,
                         uint32_t end, struct vdbq_text text);

/* Writes the next word, number `number`, behind `end` bytes; returns how many
 * bytes there are then. */
uint32_t dictionary_put(struct dictionary *dictionary, uint32_t number,
                        uint32_t end, struct vdbq_text text);

/* Writes words [first, end) of one behind `count` words of `bytes` bytes of
 * another, which has room for them. */
void dictionary_copy(struct dictionary *to, uint32_t count, uint32_t bytes,
                     const struct dictionary *from, uint32_t first,
                     uint32_t end);

/* Words that may be half made where the thread was asked to stop: they are
 * released then, and NULL is returned. */
struct dictionary *dictionary_unless_stopped(struct dictionary *dictionary);

#endif
