/* SPDX-License-Identifier: MIT */
/*
 * Words of a table's column on a device, which asks them all at once. They stay
 * there between queries, as columns do.
 */
#ifndef VDBQ_EXEC_DEVICE_WORDS_H
#define VDBQ_EXEC_DEVICE_WORDS_H

#include "data/database/database.h"
#include "device/words.h"
#include "exec/dictionary/run_dictionary.h"
#include "exec/launch/run_place.h"

/* Where words of a table may be asked. */
struct words_place {
    const struct run_place *place; /* of the scan                       */
    const struct table *table;     /* whose tablets are the morsels     */
    struct device_times *times;    /* added to                          */
};

/* Words of an input that are apart. */
struct words_asked {
    const struct words_place *where;
    const struct dictionary_base *base;
    unsigned input;  /* of the program; its words are base->apart[input] */
    unsigned column; /* of the table, which it reads                     */
};

/* Whether it is worth it to ask the device: it works on rows where they are, and
 * has room for so many words. */
bool device_words_pays(const struct words_asked *asked);

/* Sets bit i of `bits`, which are 0, for each word i of the list that matches.
 * Fails with LIMIT, DEVICE, NO_MEMORY, CANCELLED. */
enum vdbq_status device_words_ask(const struct words_asked *asked,
                                  const struct words_pattern *pattern,
                                  uint32_t *bits, struct error *error);

#endif
