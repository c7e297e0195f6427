/* SPDX-License-Identifier: MIT */
/*
 * Unpacks one unit of packed words (cl/tablet.h), of whatever bytes. Any thread.
 */
#ifndef VDBQ_DATA_UNIT_UNPACK_H
#define VDBQ_DATA_UNIT_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/tablet.h"

enum { UNIT_NUMBER_MAX = 5 }; /* bytes of a number in a unit */

/* What is left of packed words, from a unit on. */
struct units_left {
    uint64_t words, bytes, packed;
};
/* Whether that unit could be what it says, before it is unpacked. */
static inline bool unit_is_sound(const struct words_unit *unit,
                                 struct units_left left)
{
    uint64_t most = unit->bytes + 2 * (uint64_t)UNIT_NUMBER_MAX * unit->words;

    return unit->words > 0 && unit->words <= left.words
           && unit->bytes <= left.bytes && unit->packed <= left.packed
           && unit->raw <= most && (unit->words == 1 || unit->raw <= UNIT_RAW);
}

/* Where words of a unit go, among all. */
struct unit_place {
    uint32_t *ends; /* of all words */
    char *bytes;    /* likewise */
    uint32_t word;  /* number of its first one ... */
    uint32_t start; /* ... and where that begins */
};

/* What a thread needs for one unit after the other. Zeroed: nothing yet. */
struct unit_room {
    void *context;      /* of Zstandard */
    unsigned char *raw; /* what the unit was compressed from */
    size_t size;        /* of `raw` */
};
void unit_room_finish(struct unit_room *room);

/* Writes the words of a unit whose `packed` bytes these are: what is wrong with
 * them, or NULL. They are UTF-8 and in order, and nothing is written outside of
 * their place, which has room for as many words and bytes as the unit says. Of
 * `raw` these are no more than `bytes` with two numbers for each word. */
const char *unit_unpack(const struct words_unit *unit, const void *packed,
                        const struct unit_place *place, struct unit_room *room);

#endif
