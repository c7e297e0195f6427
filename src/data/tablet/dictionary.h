/* SPDX-License-Identifier: MIT */
/*
 * A dictionary: different texts, its words, sorted by their bytes, so that the
 * number of a word stands for it: equal texts have equal numbers, and their
 * order is that of the numbers. The machine computes with these numbers alone.
 * A dictionary never changes once it is made, and is shared by counting its
 * holders. Words that a query makes may be unordered where it never asks their
 * order, and be there several times where it does not even compare them.
 */
#ifndef VDBQ_DATA_DICTIONARY_H
#define VDBQ_DATA_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/vdbq.h"
#include "base/vector.h"
#include "cl/tablet.h"

struct dictionary {
    unsigned holders;
    uint32_t count;
    const uint32_t *ends; /* of word i, in `bytes`; it begins where the one
                             before it ends, the first at 0              */
    const char *bytes;
    bool unordered; /* the words are in any order ...                  */
    bool repeats;   /* ... and may be there several times              */
    const struct dictionary_parts *parts; /* that have the words; NULL: they are
                                             here. With parts, `ends` and
                                             `bytes` are NULL              */
};
/* Words of several dictionaries, one behind the other, as they are. */
struct dictionary_parts {
    struct dictionary **dictionaries; /* held                              */
    uint32_t *firsts;  /* number of each one's first word; one more is how many
                         words there are                                  */
    size_t count;      /* of `dictionaries` */
    bool lies_in_file; /* one of them does */
};

/* Accepts NULL. */
struct dictionary *dictionary_hold(struct dictionary *dictionary);
void dictionary_release(struct dictionary *dictionary); /* accepts NULL */

/* The text of a word; it lives as long as the words. Numbers that no word
 * has (of values that are NULL) give "". */
struct vdbq_text dictionary_text(const struct dictionary *dictionary,
                                 uint32_t number);

/* The number of a text; false: it is none of the words, which are in order, and
 * `*number` is how many are less. */
bool dictionary_find(const struct dictionary *dictionary, struct vdbq_text text,
                     uint32_t *number);

/* What makes words gives NULL where there is no memory, and where the thread
 * was asked to stop: stop_or_no_memory() tells which. */

/* The number in `to`, where no word repeats, of each word of `from`;
 * DICTIONARY_NONE: it has none there. Both may be NULL, as without words. So many
 * threads look for them at most; 0: one. For paged_release(). */
#define DICTIONARY_NONE 0xffffffffu
uint32_t *dictionary_translate(const struct dictionary *from,
                               const struct dictionary *to, unsigned threads);

/* Makes words of texts, in any order, equal ones too. `numbers`, where it is
 * not NULL, gets the number of each. A text whose bytes are NULL is none: it
 * gets 0. NULL: also more than 4 GiB. */
struct dictionary *dictionary_make(const struct vdbq_text *texts, size_t count,
                                   uint32_t *numbers);

/* The same of many texts, by several threads; `numbers` is not NULL. */
struct dictionary *dictionary_make_shared(const struct vdbq_text *texts,
                                          size_t count, uint32_t *numbers);

/* Words that are the texts as they come: the number of each is its place. A text
 * whose bytes are NULL is "". NULL: also more than 4 GiB. */
struct dictionary *dictionary_list(const struct vdbq_text *texts,
                                   uint32_t count);

/* Words of several, one behind the other: they are neither read nor copied, but
 * held. The number of a word counts those of the parts before. NULL: also more
 * than UINT32_MAX words. */
struct dictionary *dictionary_of_parts(struct dictionary *const *parts,
                                       size_t count);

/* The dictionary that has a word, which exists; word i of it has the number
 * `*first` + i. */
const struct dictionary *dictionary_part(const struct dictionary *dictionary,
                                         uint32_t number, uint32_t *first);

/* Words of several, together, in order. `numbers[i]`, where it is not NULL, gets
 * for each word of parts[i] its number in them. One part alone is held, not
 * copied, and stays as it is. Up to so many threads join them; 0: one. */
struct dictionary *dictionary_join(struct dictionary *const *parts,
                                   size_t count, uint32_t *const *numbers,
                                   unsigned threads);

/* The words of an unordered one in order; `numbers` gets for each its number
 * then. So many threads sort them at most; 0: one. */
struct dictionary *dictionary_sorted(struct dictionary *dictionary,
                                     uint32_t *numbers, unsigned threads);

/* How many shares of so many words are worked on, PARALLEL_THREADS_MAX at most: one
 * a thread, or where the work is too much for memory more, one after another. */
unsigned dictionary_shares(unsigned threads, uint32_t words);

/* A copy of the words of a text column of a checked tablet: its codes are
 * their numbers. NULL: no memory. */
struct dictionary *dictionary_of_tablet(const void *block, unsigned column);

/* Such words that are to come: the room for their area, of `size` bytes. It has
 * no words before dictionary_arrived(), once they were written there and are
 * proven. NULL: no memory. */
struct dictionary *dictionary_expected(uint64_t size);
struct tablet_words *dictionary_area(struct dictionary *dictionary);
void dictionary_arrived(struct dictionary *dictionary);
static inline bool dictionary_has_arrived(const struct dictionary *dictionary)
{
    return dictionary->ends != NULL;
}

#endif
