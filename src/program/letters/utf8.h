/* SPDX-License-Identifier: MIT */
/*
 * Characters of a text. Texts are UTF-8, but no byte is trusted to be: a byte
 * that is none counts as a character of its own or as part of the one before
 * it, so that every text has characters.
 */
#ifndef VDBQ_PROGRAM_UTF8_H
#define VDBQ_PROGRAM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/type.h"

/* What stands for a character that is none. */
enum { UTF8_NONE = 0xfffd, UTF8_MAX = 0x10ffff };

/* Whether the byte continues a character of UTF-8. */
bool utf8_continues(char byte);
/* Bytes of the character at `at`, up to `end`; at least 1. */
size_t utf8_length(const char *at, const char *end);
/* Characters of a text, and bytes of its first `count` ones. */
size_t utf8_count(struct vdbq_text text);
size_t utf8_offset(struct vdbq_text text, size_t count);

/* Writes a character, at most 4 bytes; those that are none become UTF8_NONE. */
size_t utf8_write(int64_t character, char *bytes);

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
