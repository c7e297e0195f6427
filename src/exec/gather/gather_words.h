/* SPDX-License-Identifier: MIT */
/*
 * The words of text columns that all ranks have, and what the numbers of each
 * rank's words become. Ranks that read the same tablets mostly have the same
 * words, which a hash tells: then no word travels.
 */
#ifndef VDBQ_EXEC_GATHER_WORDS_H
#define VDBQ_EXEC_GATHER_WORDS_H

#include "exec/stream/stream_inner.h"

/* What becomes of the words of a column of one rank. */
struct gather_numbers {
    uint32_t *numbers; /* of each word, the new one; NULL: they are the same */
    uint32_t count;    /* of words                                           */
};

struct gather_words {
    unsigned columns;
    unsigned ranks;
    struct dictionary **joined;     /* of each column, held; NULL: no text   */
    struct gather_numbers *numbers; /* [rank * columns + column]             */
};

/* On all ranks: makes the words of all columns of a stream those of all ranks; of
 * another rank than 0 they stay as they are. gather_words_finish() is due
 * whatever it returns. */
enum vdbq_status gather_words_join(struct gather_words *words,
                                   const struct stream *stream,
                                   struct error *error);
void gather_words_finish(struct gather_words *words); /* accepts zeroed */

/* The new number of one of a rank's words; of what is none, one that is none. */
uint32_t gather_words_number(const struct gather_words *words, unsigned rank,
                             unsigned column, uint32_t number);
/* Whether there is anything to be done to a rank's numbers. */
bool gather_words_change(const struct gather_words *words, unsigned rank,
                         unsigned column);

#endif
