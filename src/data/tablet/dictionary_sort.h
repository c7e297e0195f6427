/* SPDX-License-Identifier: MIT */
/* The order of texts, and sorting many of them. */
#ifndef VDBQ_DATA_DICTIONARY_SORT_H
#define VDBQ_DATA_DICTIONARY_SORT_H

#include <stdbool.h>
#include <stdint.h>

#include "api/vdbq.h"

/* Less than 0, 0 or more: as memcmp, and a text before those it begins. */
int text_compare(struct vdbq_text a, struct vdbq_text b);

/* Writes the places of different texts in their order. False: no memory, or
 * the thread was asked to stop. */
bool dictionary_sort(const struct vdbq_text *texts, uint32_t count,
                     uint32_t *order);

#endif
