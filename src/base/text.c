/* SPDX-License-Identifier: MIT */
/*
 * Text that grows and names; numbers are in number.c.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

enum { NAME_MAX_COMPARED = 63 }; /* longer names are never "meant" */

static bool reserve(struct text *text, size_t more);
static unsigned edits(unsigned (*rows)[NAME_MAX_COMPARED + 1], const char *a,
                      const char *b, unsigned i, unsigned j);
static unsigned least(unsigned a, unsigned b);

void text_expect(struct text *text, size_t length)
{
    reserve(text, length);
}

void text_add(struct text *text, const char *bytes, size_t length)
{
    char *to = text_room(text, length);

    if (to != NULL && length > 0)
        memcpy(to, bytes, length);
}

char *text_room(struct text *text, size_t length)
{
    if (!reserve(text, length))
        return NULL;
    text->length += length;
    text->bytes[text->length] = '\0';
    return text->bytes + text->length - length;
}

void text_add_times(struct text *text, const char *bytes, size_t length,
                    size_t times)
{
    if (length > 0 && times > SIZE_MAX / length)
        text->failed = true;
    if (!reserve(text, length * times))
        return;
    if (length == 1)
        memset(text->bytes + text->length, *bytes, times);
    for (size_t i = 0; i < times && length > 1; i++)
        memcpy(text->bytes + text->length + i * length, bytes, length);
    text->length += length * times;
    text->bytes[text->length] = '\0';
}

void text_print(struct text *text, const char *format, ...)
{
    va_list values, again;
    bool has_room = text->bytes != NULL && !text->failed;
    size_t room = has_room ? text->capacity - text->length : 0;
    char *end = room > 0 ? text->bytes + text->length : NULL;
    int length;

    va_start(values, format);
    va_copy(again, values);
    length = vsnprintf(end, room, format, values);
    if (length >= 0
        && (size_t)length >= room) { /* there was not room for all */
        if (end != NULL)
            *end = '\0';
        if (reserve(text, (size_t)length))
            vsnprintf(text->bytes + text->length, (size_t)length + 1, format,
                      again);
    }
    text->failed |= length < 0;
    if (!text->failed)
        text->length += (size_t)length;
    va_end(again);
    va_end(values);
}

void text_finish(struct text *text)
{
    memory_release(text->bytes);
    *text = (struct text){ 0 };
}

uint64_t text_hash(const char *bytes, size_t length)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < length; i++)
        hash = hash * 31 + (unsigned char)bytes[i];
    return hash;
}

char letter_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A'))
                                          : letter;
}

bool name_equal(const char *a, const char *b)
{
    while (*a != '\0' && letter_lower(*a) == letter_lower(*b))
        a++, b++;
    return letter_lower(*a) == letter_lower(*b);
}

unsigned name_distance(const char *a, const char *b, unsigned limit)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    unsigned rows[3][NAME_MAX_COMPARED + 1], distance;

    if (a_length > NAME_MAX_COMPARED || b_length > NAME_MAX_COMPARED)
        return name_equal(a, b) ? 0 : limit + 1;
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        rows[i % 3][0] = i;
        for (unsigned j = 1; j <= b_length; j++)
            rows[i % 3][j] = edits(rows, a, b, i, j);
    }
    distance = rows[a_length % 3][b_length];
    return distance > limit ? limit + 1 : distance;
}

/* Edits from the first i letters of `a` to the first j of `b`; row i % 3
 * holds them, and the two rows before it are complete. */
static unsigned edits(unsigned (*rows)[NAME_MAX_COMPARED + 1], const char *a,
                      const char *b, unsigned i, unsigned j)
{
    const unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3];
    const unsigned *higher = rows[(i + 1) % 3];
    bool differ = letter_lower(a[i - 1]) != letter_lower(b[j - 1]);
    unsigned fewest =
        least(above[j - 1] + differ, least(above[j], row[j - 1]) + 1);

    if (differ && i > 1 && j > 1
        && letter_lower(a[i - 1]) == letter_lower(b[j - 2])
        && letter_lower(a[i - 2]) == letter_lower(b[j - 1]))
        fewest = least(fewest, higher[j - 2] + 1);
    return fewest;
}

/* Makes room for `more` bytes and a NUL; a failure sticks. */
static bool reserve(struct text *text, size_t more)
{
    size_t capacity = text->capacity > 0 ? text->capacity : 64;
    char *bytes;

    if (more >= SIZE_MAX / 2 - text->length)
        text->failed = true;
    if (text->failed)
        return false;
    if (text->length + more < text->capacity)
        return true;
    while (capacity <= text->length + more)
        capacity *= 2;
    bytes = memory_resize(text->bytes, capacity);
    text->failed = bytes == NULL;
    if (text->failed)
        return false;
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
