/* SPDX-License-Identifier: MIT */
/*
 * Projections: some columns of a tablet, brought from the file into a block of
 * their own. It begins with a head as the tablet's, whose columns lie where
 * the projection has them; a projection of all columns is the tablet itself.
 *
 * Or the columns stay in place: the block is the tablet where it lies in the
 * file. Its bytes may change after they were proven (file rule 12), so that
 * nothing of it may be read but values and NULL bits, and these only where any
 * of them will do.
 */
#ifndef VDBQ_DATA_PROJECTION_H
#define VDBQ_DATA_PROJECTION_H

#include "data/database/database.h"
#include "data/pool/proof.h"
#include "data/tablet/dictionary.h"
#include "data/tablet/tablet_pack.h"

struct projection {
    struct database *database;
    const struct table *table;
    const struct tablet_ref *tablet;
    bool *wanted; /* one a column                              */
    bool codes;   /* the block gets of texts no words          */
    bool counted; /* with `codes`: only how many words there are is asked,
                     not whether they are sound                */
    /* one a column: whether its words are wanted in a dictionary of their own,
     * and that, which may have arrived before; with `codes` others are filled */
    const bool *apart;
    struct dictionary **dictionaries;
    bool copied;               /* the block must not be that                */
    bool in_place;             /* the block is the tablet, in the file      */
    struct tablet *head;       /* as it is in the file, with room for the
                              columns' descriptions                     */
    struct tablet *here;       /* likewise, as it lies in the projection    */
    struct words_place *words; /* one a column: of a text column's words in
                                  the tablet                              */
    struct tablet_proof *proof;
    unsigned threads; /* that unpack its words at most; 0: one */
};

/* Reads `head` and proves that its columns lie inside the tablet. Fails with
 * CORRUPT, IO, NO_MEMORY. */
enum vdbq_status projection_read_head(const struct projection *projection,
                                      struct error *error);
/* Finds out where words are and what they take, if some are wanted, and proves
 * that they lie inside the tablet; makes room for those that are apart. Fails
 * likewise. */
enum vdbq_status projection_find_words(const struct projection *projection,
                                       struct error *error);
/* Whether the wanted columns may stay in place: no bits of theirs do any harm,
 * which words and their codes could. */
bool projection_may_stay(const struct projection *projection);
/* Writes `here`; returns the bytes of memory that the projection takes: in
 * place, those of the pages that its columns lie in. */
uint64_t projection_lay_out(const struct projection *projection);

/* The block of a projection in place, to be read only. Fails with IO. */
enum vdbq_status projection_map(const struct projection *projection,
                                const void **block, struct error *error);
void projection_unmap(struct database *database, const void *block,
                      uint64_t tablet_bytes);

/*
 * What fills the block, or in place looks at it, touches nothing but it, the
 * proof and the error, so that any thread may do it while the projection stays
 * as it is; one that is proven may be filled column by column on several. What
 * they find is as sure as after tablet_load(), for the columns that are wanted.
 * They fail with CORRUPT, IO, NO_MEMORY.
 */

/* Whether codes may come without words in the block: those of all texts that are
 * wanted were compared with theirs before, or will be, where these are apart. */
bool projection_codes_known(const struct projection *projection);
/* Whether the sums of the tablet's pages are known, so that columns may be read
 * alone. */
bool projection_proven(const struct projection *projection);
/* Learns them where few bytes tell them, unless they are known. */
enum vdbq_status projection_learn_told(const struct projection *projection,
                                       struct error *error);
/* Whether bytes are to be read for it: all but what is in place and known. */
bool projection_reads(const struct projection *projection);
/* The most bytes that the tablet takes which comes of a base, whose projection it
 * is, with an edit over it; and those that are needed beside them while it is
 * made. Reads the base's head, and finds its words. */
struct projection_bound {
    uint64_t most, work;
    enum encoding_choice choice; /* as the settings had it: it counts for what
                                    is made, whenever that is             */
};
enum vdbq_status projection_bound(const struct projection *base,
                                  const struct edit *edit,
                                  struct projection_bound *bound,
                                  struct error *error);
/* Fills the block with that tablet. */
enum vdbq_status projection_edited(const struct projection *base,
                                   const struct tablet_ref *edited,
                                   enum encoding_choice choice, uint8_t *block,
                                   struct error *error);
/* Fills the block with all of a projection, which is proven then. */
enum vdbq_status projection_put(const struct projection *projection,
                                uint8_t *block, struct error *error);
/* Checks the head of a proven projection, and puts it in place. */
enum vdbq_status projection_put_head(const struct projection *projection,
                                     uint8_t *block, struct error *error);
/* ... and then each column. */
enum vdbq_status projection_put_column(const struct projection *projection,
                                       unsigned column, uint8_t *block,
                                       struct error *error);

#endif
