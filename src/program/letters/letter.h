/* SPDX-License-Identifier: MIT */
/*
 * The case of letters, by the simple mappings of one version of Unicode, which
 * letter_table.h names: a character becomes one character. So 'ß' has no
 * capital, and what depends on a language or on letters nearby is not there.
 */
#ifndef VDBQ_PROGRAM_LETTER_H
#define VDBQ_PROGRAM_LETTER_H

#include <stddef.h>
#include <stdint.h>

/* That version: "15.0.0". */
extern const char letter_unicode[];

enum letter_change {
    LETTER_UPPER,
    LETTER_LOWER,
    LETTER_FOLD, /* what all letters have in common that differ in case alone */
    LETTER_NEXT  /* the next of those, and after the last one the first:
                    k -> U+212A, the sign of Kelvin, -> K -> k */
};

/* What a character becomes: itself, if it has no other case or is none. */
uint32_t letter_changed(uint32_t character, enum letter_change change);

/* The first character from `from` on that may have another case; LETTER_NONE:
 * there is none. */
enum { LETTER_NONE = 0x110000 };
uint32_t letter_next(uint32_t from);

#endif
