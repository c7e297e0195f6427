/* SPDX-License-Identifier: MIT */
/*
 * Tablets whose words are packed, as files have them, and the same tablets as
 * memory has them.
 */
#ifndef VDBQ_DATA_TABLET_PACK_H
#define VDBQ_DATA_TABLET_PACK_H

#include "base/error.h"
#include "data/tablet/block.h"
#include "data/words/words_pack.h"

/* The feature of files that have such tablets (file rule 14). */
#define FEATURE_PACKED_WORDS (UINT64_C(1) << 1)
/* All features of tablets, those of encodings, too; and the first vdbq that
 * knows some of them, 0: there are none. */
uint64_t tablet_features(void);
uint32_t tablet_version(uint64_t features);

/* Packs the words of those columns where that pays; the block is another one
 * then. `packed`: one a column, its words where a file has them packed, or NULL;
 * NULL: of all columns. Whether there are any. Without memory the block stays as it
 * is. */
bool tablet_pack(struct block *block, const struct packed_words *const *packed);

/* Whether some words are packed, by a head that is proven. */
bool tablet_is_packed(const struct tablet *head);
/* Makes the tablet that memory has of one that a file has, whose head is
 * proven; that goes to `packed`, or, where that is NULL, away. Fails with CORRUPT
 * and what is wrong, NO_MEMORY; the block stays. */
enum vdbq_status tablet_unpack(struct block *block, struct block *packed,
                               struct error *error);

/* Where the words of a text column are in a tablet of a file, and what they
 * take here and there. False: not behind `*at`, inside the area for words; else
 * `*at` is where they end. `start` are the area's first bytes. */
struct words_place {
    uint64_t offset; /* in the tablet */
    struct words_sizes sizes;
};
bool tablet_words_place(const struct tablet *head, unsigned column,
                        const void *start, uint64_t *at,
                        struct words_place *place);
/* Where these first bytes are; 0: the column has no words, or the head has no
 * room for them there. */
uint64_t tablet_words_offset(const struct tablet *head, unsigned column);

#endif
