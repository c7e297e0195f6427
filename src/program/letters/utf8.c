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

static const uint64_t lowest_bits = UINT64_C(0x0101010101010101);

/* The next eight bytes, with zeros for those behind the end. */
static uint64_t eight_bytes(const char *at, const char *end)
{
    uint64_t bytes = 0;
    if (end - at >= (ptrdiff_t)sizeof bytes) {
        memcpy(&bytes, at, sizeof bytes);
        return bytes;
    }
    for (unsigned i = 0; at + i < end; i++)
        bytes |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return bytes;
}

/* The lowest bit of each of eight bytes that continues a character: whose bit 7 is set
 * and whose bit 6 is not. */
static uint64_t continuing(uint64_t bytes)
{
    return bytes >> 7 & ~(bytes >> 6) & lowest_bits;
}

/* Whether four bytes in a row have their lowest bit. */
static bool four_in_a_row(uint64_t marks)
{
    marks &= marks >> 8;
    return (marks & marks >> 16) != 0;
}

/* The characters of any bytes. */
static size_t count_one_by_one(struct vdbq_text text)
{
    const char *at = text.bytes, *end = text.bytes + text.length;
    size_t count = 0;
    for (; at < end; at += utf8_length(at, end))
        count++;
    return count;
}

/* Each byte that continues none begins a character, unless there are bytes that have no
 * character to continue: at the beginning, or behind one that is complete. */
size_t utf8_count(struct vdbq_text text)
{
    const char *end = text.bytes + text.length;
    bool odd = text.length > 0 && utf8_continues(*text.bytes);
    size_t count = text.length;
    uint64_t before = 0, marks;
    for (size_t i = 0; i < text.length; i += sizeof marks, before = marks) {
        marks = continuing(eight_bytes(text.bytes + i, end));
        odd |=
            four_in_a_row(marks) || four_in_a_row(before >> 40 | marks << 24);
        count -= marks * lowest_bits >> 56;
    }
    return odd ? count_one_by_one(text) : count;
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
