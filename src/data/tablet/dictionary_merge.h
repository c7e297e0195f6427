/* SPDX-License-Identifier: MIT */
/* Merging sorted words of many dictionaries: which of them come in which order. */
#ifndef VDBQ_DATA_DICTIONARY_MERGE_H
#define VDBQ_DATA_DICTIONARY_MERGE_H

#include "data/tablet/dictionary.h"

/* Words [first, end) of a dictionary. */
struct merge_span {
    const struct dictionary *dictionary; /* NULL: it has no words */
    uint32_t first, end;
    uint32_t *numbers; /* gets the number of each among the merged words */
};

/* Different words of spans, in their order, that are not written yet. */
struct merge {
    const struct merge_span *spans;
    size_t span_count;
    uint32_t *sources; /* of each word: a span that has it; room for as many as
                          all spans have                                   */
    uint32_t count;    /* different words */
    uint64_t bytes;    /* of them         */
};

/* Finds the order of the words of all spans: sets `sources`, `count`, `bytes` and
 * the spans' numbers. False: no memory, or the thread was asked to stop. */
bool dictionary_merge(struct merge *merge);

/* Writes the merged words behind `count` words of `bytes` bytes of a dictionary
 * that has room for them. False: no memory, or as above. */
bool dictionary_merge_write(const struct merge *merge,
                            struct dictionary *dictionary, uint32_t count,
                            uint32_t bytes);

#endif
