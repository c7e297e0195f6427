/* SPDX-License-Identifier: MIT */
/*
 * Widths of characters, for carets under source lines and for boxes. The
 * table holds the ranges that matter on terminals, not all of Unicode.
 */
#include "io/utf8.h"

size_t utf8_read(const char *bytes, size_t length, uint32_t *character)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t size = at[0] < 0x80             ? 1
                  : (at[0] & 0xe0) == 0xc0 ? 2
                  : (at[0] & 0xf0) == 0xe0 ? 3
                  : (at[0] & 0xf8) == 0xf0 ? 4
                                           : 0;
    *character = at[0];
    if (size <= 1 || size > length)
        return 1;
    uint32_t value = at[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (at[i] & 0x3f);
    }
    *character = value;
    return size;
}

unsigned utf8_character_width(uint32_t character)
{
    static const struct {
        uint32_t first, last;
        unsigned width;
    } ranges[] = {
        { 0x0300, 0x036f, 0 },   { 0x0483, 0x0489, 0 },
        { 0x0591, 0x05bd, 0 },   { 0x064b, 0x065f, 0 },
        { 0x0e34, 0x0e3a, 0 },   { 0x0e47, 0x0e4e, 0 },
        { 0x1100, 0x115f, 2 },   { 0x1160, 0x11ff, 0 },
        { 0x1ab0, 0x1aff, 0 },   { 0x1dc0, 0x1dff, 0 },
        { 0x200b, 0x200f, 0 },   { 0x202a, 0x202e, 0 },
        { 0x2060, 0x2064, 0 },   { 0x20d0, 0x20ff, 0 },
        { 0x2e80, 0xa4cf, 2 },   { 0xac00, 0xd7a3, 2 },
        { 0xf900, 0xfaff, 2 },   { 0xfe00, 0xfe0f, 0 },
        { 0xfe20, 0xfe2f, 0 },   { 0xfe30, 0xfe6f, 2 },
        { 0xfeff, 0xfeff, 0 },   { 0xff00, 0xff60, 2 },
        { 0xffe0, 0xffe6, 2 },   { 0x1f300, 0x1f64f, 2 },
        { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 },
        { 0x1fa70, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
        { 0xe0100, 0xe01ef, 0 },
    };
    if (character < ranges[0].first)
        return 1;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return ranges[i].width;
    return 1;
}

size_t utf8_width(const char *bytes, size_t length)
{
    size_t width = 0;
    while (length) {
        uint32_t character;
        size_t size = utf8_read(bytes, length, &character);
        width += utf8_character_width(character);
        bytes += size;
        length -= size;
    }
    return width;
}
