/* SPDX-License-Identifier: MIT */
/*
 * The case of letters: two steps in a table of bytes lead to a row of distances.
 */
#include "program/letters/letter.h"

#include <assert.h>

#include "program/letters/letter_table.h"

enum { BLOCK = 1 << LETTER_SHIFT };
static_assert(LETTER_BEHIND == BLOCK * sizeof letter_blocks, "all blocks");

const char letter_unicode[] = LETTER_UNICODE;

uint32_t letter_changed(uint32_t character, enum letter_change change)
{
    unsigned block, row;

    if (character >= LETTER_BEHIND)
        return character;
    block = letter_blocks[character >> LETTER_SHIFT];
    row = letter_rows[block << LETTER_SHIFT | character % BLOCK];
    return character + (uint32_t)letter_distances[row][change];
}

/* (The first block, of signs and digits, has no letters; nor have those that
 * are the same.) */
uint32_t letter_next(uint32_t from)
{
    while (from < LETTER_BEHIND) {
        unsigned block = letter_blocks[from >> LETTER_SHIFT];
        if (block == 0)
            from = (from | (BLOCK - 1)) + 1;
        else if (letter_rows[block << LETTER_SHIFT | from % BLOCK] == 0)
            from++;
        else
            return from;
    }
    return LETTER_NONE;
}
