/* SPDX-License-Identifier: MIT */
/*
 * Characters of a text, found by their bytes.
 */
#include "program/letters/utf8.h"

#include <string.h>

bool utf8_continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

size_t utf8_length(const char *at, const char *end)
{
    size_t length = 1;
    while (length < 4 && at + length < end && utf8_continues(at[length]))
        length++;
    return length;
}

/* How many characters of one byte begin at `at`, of which it sees seven at most:
 * no byte of these, nor the one behind them, continues another. */
static size_t plain_bytes(const char *at, const char *end)
{
    uint64_t bytes;
    if (end - at < (ptrdiff_t)sizeof bytes)
        return 0;
    memcpy(&bytes, at, sizeof bytes);
    bytes &= UINT64_C(0x8080808080808080);
    size_t plain =
        bytes == 0 ? sizeof bytes : (size_t)__builtin_ctzll(bytes) / 8;
    return plain > 0 ? plain - 1 : 0;
}

bool utf8_is_plain(struct vdbq_text text)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    uint64_t all = 0, bytes;
    if (text.length < sizeof bytes) {
        while (at < end)
            all |= (unsigned char)*at++;
        return (all & 0x80) == 0;
    }
    memcpy(&all, end - sizeof all, sizeof all);
    for (; end - at >= (ptrdiff_t)sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        all |= bytes;
    }
    return (all & UINT64_C(0x8080808080808080)) == 0;
}

/* How many of eight bytes continue a character: their bit 7 is set and bit 6 is not. */
static size_t continuing(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (size_t)(((bytes >> 7 & ~(bytes >> 6) & ones) * ones) >> 56);
}

/* Each byte that continues none begins a character. */
size_t utf8_count(struct vdbq_text text)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    size_t count = text.length;
    uint64_t bytes;
    for (; end - at >= (ptrdiff_t)sizeof bytes; at += sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        count -= continuing(bytes);
    }
    if (at < end && text.length >= sizeof bytes) {
        /* the last eight bytes, without those that were counted */
        memcpy(&bytes, end - sizeof bytes, sizeof bytes);
        return count - continuing(bytes >> 8 * (at + sizeof bytes - end));
    }
    while (at < end)
        count -= utf8_continues(*at++);
    return count;
}

size_t utf8_offset(struct vdbq_text text, size_t count)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    while (count > 0 && at < end) {
        size_t plain = plain_bytes(at, end);
        if (plain > count)
            plain = count;
        at += plain > 0 ? plain : utf8_length(at, end);
        count -= plain > 0 ? plain : 1;
    }
    return (size_t)(at - text.bytes);
}

int utf8_shown(struct vdbq_text text)
{
    enum { SHOWN_MAX = 100 };
    const char *at = text.bytes, *end = at + text.length;
    size_t length = 0;
    while (at + length < end
           && length + utf8_length(at + length, end) <= SHOWN_MAX)
        length += utf8_length(at + length, end);
    return (int)length;
}

size_t utf8_write(int64_t character, char *bytes)
{
    bool none = character < 0 || character > UTF8_MAX
                || (character >= 0xd800 && character < 0xe000);
    unsigned c = none ? UTF8_NONE : (unsigned)character;
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = length; i-- > 1; c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(first[length] | c);
    return length;
}
