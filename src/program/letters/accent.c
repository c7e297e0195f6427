/* SPDX-License-Identifier: MIT */
/*
 * Characters without their accents: two tables that ascend, in which a
 * character is looked for.
 */
#include "program/letters/accent.h"

#include <stddef.h>

#include "program/letters/accent_table.h"

/* The last row that begins with a character, or with one before it; NULL: none
 * does. */
static const uint32_t *find(const uint32_t rows[][2], size_t count,
                            uint32_t character)
{
    size_t low = 0, behind = count;

    while (low < behind) {
        size_t middle = low + (behind - low) / 2;
        if (rows[middle][0] <= character)
            low = middle + 1;
        else
            behind = middle;
    }
    return low > 0 ? rows[low - 1] : NULL;
}

bool accent_is_mark(uint32_t character)
{
    const uint32_t *range = find(
        accent_marks, sizeof accent_marks / sizeof *accent_marks, character);

    return range != NULL && character <= range[1];
}

uint32_t accent_base(uint32_t character)
{
    const uint32_t *row = find(
        accent_bases, sizeof accent_bases / sizeof *accent_bases, character);

    return row != NULL && row[0] == character ? row[1] : character;
}
