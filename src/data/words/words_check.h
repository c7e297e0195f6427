/* SPDX-License-Identifier: MIT */
/*
 * Proves words of a tablet as memory has them, before anything else reads them.
 */
#ifndef VDBQ_DATA_WORDS_CHECK_H
#define VDBQ_DATA_WORDS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/tablet.h"

/* Whether all bytes are ASCII, as those of most columns' words are: then none
 * of their words needs a look of its own. Any thread. */
bool words_ascii(const void *bytes, size_t size);

/* What is wrong with words of whatever bytes, or NULL. The room that they lie
 * in has `size` bytes, a multiple of 64. Any thread. */
const char *words_fault(const struct tablet_words *words, uint64_t size);

#endif
