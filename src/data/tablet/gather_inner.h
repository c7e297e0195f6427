/* SPDX-License-Identifier: MIT */
/* What the files of gathering share. */
#ifndef VDBQ_DATA_GATHER_INNER_H
#define VDBQ_DATA_GATHER_INNER_H

#include "data/tablet/gather.h"

/* Lets go of all but the numbers. */
void gather_release_texts(struct gather *gather);

/* A zeroed gather gets `count` words from number `first` on as texts, which are not
 * copied. False: no memory. */
bool gather_list(struct gather *gather, const struct dictionary *words,
                 uint32_t first, uint32_t count);

/* dictionary_translate() of words in any order, by their hashes. NULL: no memory. */
uint32_t *gather_translate(const struct dictionary *from,
                           const struct dictionary *to, unsigned threads);

#endif
