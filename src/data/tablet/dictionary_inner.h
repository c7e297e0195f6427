/* SPDX-License-Identifier: MIT */
/* What the files that make dictionaries share. */
#ifndef VDBQ_DATA_DICTIONARY_INNER_H
#define VDBQ_DATA_DICTIONARY_INNER_H

#include "data/tablet/dictionary.h"

/* Words of that many texts and bytes, not written yet. NULL: no memory, or
 * more than 4 GiB. */
struct dictionary *dictionary_room(uint32_t count, uint64_t bytes);

/* Words that may be half made where the thread was asked to stop: they are
 * released then, and NULL is returned. */
struct dictionary *dictionary_unless_stopped(struct dictionary *dictionary);

#endif
