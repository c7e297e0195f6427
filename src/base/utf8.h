/* SPDX-License-Identifier: MIT */
/*
 * What is a character of UTF-8: no code too long, none past U+10FFFF, no half of
 * a surrogate. All that reads characters, or asks whether a text is UTF-8, reads
 * them here.
 */
#ifndef VDBQ_BASE_UTF8_H
#define VDBQ_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What stands for a character that is none. */
enum { UTF8_NONE = 0xfffd, UTF8_MAX = 0x10ffff };

/* The character at `at`, which is before `end`, and its bytes; UTF8_NONE of one
 * byte where there is none of UTF-8. */
static inline uint32_t utf8_character(const char *at, const char *end,
                                      unsigned *bytes)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *byte = (const unsigned char *)at;
    unsigned size = *byte < 0x80   ? 1
                    : *byte < 0xc2 ? 0
                    : *byte < 0xe0 ? 2
                    : *byte < 0xf0 ? 3
                    : *byte < 0xf5 ? 4
                                   : 0;
    uint32_t character = size == 1 ? *byte : *byte & (0x7fu >> size);
    bool sound = size > 0 && size <= (size_t)(end - at);

    for (unsigned i = 1; sound && i < size; i++) {
        sound = (byte[i] & 0xc0) == 0x80;
        character = character << 6 | (byte[i] & 0x3fu);
    }
    sound = sound && character >= least[size] && character <= UTF8_MAX
            && (character < 0xd800 || character > 0xdfff);
    *bytes = sound ? size : 1;
    return sound ? character : UTF8_NONE;
}

#endif
