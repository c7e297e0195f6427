/* SPDX-License-Identifier: MIT */
/*
 * The keys of rows as one long number: the first key in its highest bits, each of
 * as many bits as its values need. Its words are of 32 bits; word 0 has the
 * lowest.
 */
#ifndef VDBQ_EXEC_SORT_FIELDS_H
#define VDBQ_EXEC_SORT_FIELDS_H

#include "exec/sort/sort.h"

struct sort_field;

/* Values of a key that were looked at; at first `least` is UINT64_MAX. */
struct sort_extent {
    uint64_t least, most; /* of their codes        */
    bool nulls;           /* a NULL is there       */
};
/* Looks at rows [first, end) of a key, too. */
void sort_extent_add(struct sort_extent *extent, const struct sort_key *key,
                     uint32_t first, uint32_t end);

struct sort_fields {
    struct sort_field *fields; /* owned: one or two a key                  */
    unsigned count;            /* of `fields`                              */
    unsigned words;            /* of the number; 0: all rows are equal     */
    unsigned highest_bits;     /* of its highest word, all in low places   */
    unsigned partition;        /* its lowest bit of the keys that part rows */
};

/* Looks through the values of `rows` rows; the first `partition` keys part them.
 * sort_fields_finish() is due where it succeeded. */
enum vdbq_status sort_fields_init(struct sort_fields *fields,
                                  const struct sort_key *keys,
                                  unsigned key_count, unsigned partition,
                                  uint32_t rows, unsigned threads,
                                  struct error *error);
void sort_fields_finish(struct sort_fields *fields);

/* Puts a word of the rows' numbers into the upper halves of elements that have
 * the numbers of rows in their lower ones. */
void sort_fields_put(const struct sort_fields *fields, unsigned word,
                     uint64_t *elements, uint32_t count);

/* The bits of a word that are of the keys that part rows. */
uint32_t sort_fields_parting(const struct sort_fields *fields, unsigned word);

#endif
