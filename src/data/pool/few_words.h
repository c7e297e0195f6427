/* SPDX-License-Identifier: MIT */
/*
 * Few words of a text column of a tablet: each with its unit, where they are packed,
 * else by itself. They go where the tablet has its words.
 */
#ifndef VDBQ_DATA_FEW_WORDS_H
#define VDBQ_DATA_FEW_WORDS_H

#include "data/database/tablet_pages.h"
#include "data/pool/projection.h"
#include "data/words/unit_unpack.h"

struct few_words {
    struct page_reader *reader;
    const struct projection *projection;
    unsigned column;
    struct packed_words head; /* of the words in the file; the units are 0 where
                                  they are not packed                       */
    struct words_unit *units; /* of packed ones                            */
    bool *there;              /* of each unit: whether it was unpacked     */
    uint8_t *packed;          /* room for one                              */
    struct tablet_words *here; /* in the block                              */
    struct unit_room room;
};

/* Finds the words; all but `reader` is set. few_words_finish() is due whatever it
 * returns. Fails with CORRUPT, IO, NO_MEMORY. */
enum vdbq_status few_words_open(struct few_words *words,
                                const struct projection *projection,
                                unsigned column, uint8_t *block,
                                struct error *error);
/* Brings in one word. Fails likewise. */
enum vdbq_status few_words_bring(struct few_words *words, uint32_t code,
                                 struct error *error);
void few_words_finish(struct few_words *words);

#endif
