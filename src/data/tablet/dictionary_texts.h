/* SPDX-License-Identifier: MIT */
/*
 * The texts of rows, by the numbers of their words. Words that lie in a file are
 * read in the order of their places, however the rows come, and copied, so that
 * few of the file's pages are in memory at once and each is read once.
 */
#ifndef VDBQ_DATA_DICTIONARY_TEXTS_H
#define VDBQ_DATA_DICTIONARY_TEXTS_H

#include "data/tablet/dictionary.h"

/* Zeroed, it has no texts. One thread uses it at a time. */
struct dictionary_texts {
    struct vdbq_text *texts; /* of the rows */
    uint32_t *order;         /* rows by the places of their words */
    uint64_t rows_room;      /* of `texts` */
    uint64_t order_room;     /* of `order` */
    char *bytes;             /* of copied texts */
    uint64_t bytes_room;     /* of `bytes` */
};

/* The most rows at once that are worth it where words lie in a file: each time
 * the file is read from its beginning to its end. */
enum { DICTIONARY_TEXTS_ROWS = 1 << 15 };

/* Makes texts[i] that of numbers[i], as dictionary_text() does. They live until
 * the next call, and no longer than the words. False: no memory. */
bool dictionary_texts_look_up(struct dictionary_texts *texts,
                              const struct dictionary *words,
                              const uint32_t *numbers, uint64_t count);
void dictionary_texts_finish(struct dictionary_texts *texts);

/* Whether words lie in a file; accepts NULL. */
bool dictionary_in_file(const struct dictionary *words);

#endif
