/* SPDX-License-Identifier: MIT */
/*
 * Words of several dictionaries, one behind the other, as they are: nothing is
 * sorted or copied, and of equal texts there may be several. For words that are
 * only looked up or shown. A word's number counts those of the dictionaries
 * before.
 */
#ifndef VDBQ_EXEC_WORD_LIST_H
#define VDBQ_EXEC_WORD_LIST_H

#include "data/tablet/dictionary.h"

struct word_list {
    struct dictionary **parts;
    uint32_t *firsts; /* number of each one's first word; one more is how many
                         words there are                                  */
    size_t count;     /* of `parts` */
    struct dictionary *shown; /* all words, where they are shown; else NULL */
};

/* A list of one dictionary, which lies in `room`. */
struct word_list_room {
    struct dictionary *part;
    uint32_t firsts[2];
};
static inline struct word_list word_list_of(struct dictionary *dictionary,
                                            struct word_list_room *room)
{
    *room = (struct word_list_room){ .part = dictionary,
                                     .firsts = { 0, dictionary->count } };
    return (struct word_list){ .parts = &room->part,
                               .firsts = room->firsts,
                               .count = 1 };
}

static inline uint32_t word_list_count(const struct word_list *list)
{
    return list->firsts[list->count];
}

/* The text of a word. `*part` is where it is looked for: at first 0, then as it
 * was left; numbers only rise from call to call. */
static inline struct vdbq_text word_list_text(const struct word_list *list,
                                              uint32_t number, size_t *part)
{
    while (number >= list->firsts[*part + 1])
        ++*part;
    return dictionary_text(list->parts[*part], number - list->firsts[*part]);
}

#endif
