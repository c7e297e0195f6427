/* SPDX-License-Identifier: MIT */
/*
 * Proves words of a tablet as memory has them, before anything else reads them.
 */
#ifndef VDBQ_DATA_WORDS_CHECK_H
#define VDBQ_DATA_WORDS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cl/tablet.h"

/* Whether all bytes are ASCII, as those of most columns' words are: then none
 * of their words needs a look of its own. Any thread. */
bool words_ascii(const void *bytes, size_t size);

/* Whether a word comes behind the last one in the order of bytes: they differ. */
static inline bool word_behind(const char *last, uint32_t last_length,
                               const char *word, uint32_t length)
{
    int order = memcmp(last, word, last_length < length ? last_length : length);

    return order < 0 || (order == 0 && last_length < length);
}

/* What is wrong with words of whatever bytes, or NULL. The room that they lie
 * in has `size` bytes, a multiple of 64. Any thread. */
const char *words_fault(const struct tablet_words *words, uint64_t size);

#endif
