/* SPDX-License-Identifier: MIT */
/*
 * What a call gives for all words of a dictionary, once a map was asked for many of
 * them: many at once cost far less than one after the other.
 */
#ifndef VDBQ_EXEC_MAP_TABLE_H
#define VDBQ_EXEC_MAP_TABLE_H

#include "exec/operator/map_compute.h"

/* Of one function of a map. A zeroed one has nothing. */
struct map_table {
    struct dictionary
        *words;     /* held; the last ones that rows were of          */
    uint64_t asked; /* rows since then                                */
    void *values;   /* of each word; NULL: too few rows were asked    */
};

/* Puts the call's values where map_compute() would, of its only argument, whose words
 * `words` are; `room`: bytes that there are for all that the map holds. False: nothing
 * is done, since the table has not enough of them. */
bool map_table_put(struct map_table *table, const struct map_call *call,
                   struct dictionary *words, uint64_t room);
void map_table_finish(struct map_table *table);

#endif
