/* SPDX-License-Identifier: MIT */
/*
 * Blocks of places are passed over, with the device's vectors, where no place
 * has three bytes of the literal. Then eight places are tried at once: bytes of
 * a 64-bit number that become 0 where the text has the literal's first two
 * bytes. Few places do; only there all bytes are compared.
 */
#include "program/functions/literal.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"

enum { PLACES = 8, BLOCK = 64 };
static const uint64_t every_byte = 0x0101010101010101;

void literal_add(struct literal *literal, char byte, bool folds)
{
    char small = (char)(byte | 0x20);
    bool letter = folds && small >= 'a' && small <= 'z';
    literal->bytes[literal->length] = letter ? small : byte;
    literal->cases[literal->length++] = letter ? 0x20 : 0;
}

void literal_finish(struct literal *literal)
{
    struct literal_head *head = &literal->head;
    assert(literal->length > 0);
    head->second = literal->length > 1;
    for (size_t i = 0; i < 2; i++) {
        size_t place = i * head->second;
        head->bytes[i] = every_byte * (unsigned char)literal->bytes[place];
        head->cases[i] = every_byte * (unsigned char)literal->cases[place];
    }
}

bool literal_at(const struct literal *literal, const char *at)
{
    size_t i = 0;
    while (i < literal->length
           && (char)(at[i] | literal->cases[i]) == literal->bytes[i])
        i++;
    return i == literal->length;
}

/* Byte i is 0 if byte at + i of the text is byte `which` of the head. */
static uint64_t differ(const struct literal_head *head, unsigned which,
                       const char *at)
{
    uint64_t text;
    memcpy(&text, at, sizeof text);
    return (text | head->cases[which]) ^ head->bytes[which];
}

/* The highest bit of byte i is set if the literal may be at at + i. */
static uint64_t may_be(const struct literal_head *head, const char *at)
{
    uint64_t text = differ(head, 0, at) | differ(head, 1, at + head->second);
    return (text - every_byte) & ~text & every_byte << 7;
}

/* The first of the places that is one; NULL: none. */
static const char *first_of(const struct literal *literal, uint64_t places,
                            const char *at, const char *last)
{
    for (; places != 0; places &= places - 1) {
        const char *place = at + __builtin_ctzll(places) / 8;
        if (place > last)
            return NULL;
        if (literal_at(literal, place))
            return place;
    }
    return NULL;
}

/* Passes over blocks of places, of which all bytes lie before `end`, as long as
 * the literal is at none of them. */
PARALLEL_CLONES
static const char *pass_blocks(const struct literal *literal, const char *at,
                               const char *end)
{
    const size_t second = literal->head.second, last = literal->length - 1;
    const unsigned char bytes[] = { (unsigned char)literal->bytes[0],
                                    (unsigned char)literal->bytes[second],
                                    (unsigned char)literal->bytes[last] };
    const unsigned char cases[] = { (unsigned char)literal->cases[0],
                                    (unsigned char)literal->cases[second],
                                    (unsigned char)literal->cases[last] };
    for (; (size_t)(end - at) >= BLOCK + last; at += BLOCK) {
        const unsigned char *from = (const unsigned char *)at;
        unsigned char any = 0;
        for (size_t i = 0; i < BLOCK; i++) {
            unsigned char differ =
                (unsigned char)(((from[i] | cases[0]) ^ bytes[0])
                                | ((from[i + second] | cases[1]) ^ bytes[1])
                                | ((from[i + last] | cases[2]) ^ bytes[2]));
            any |= differ == 0;
        }
        if (any)
            break;
    }
    return at;
}

const char *literal_find(const struct literal *literal, const char *at,
                         const char *end)
{
    size_t length = (size_t)(end - at), reads = PLACES + literal->head.second;
    if (length < literal->length)
        return NULL;
    const char *last = end - literal->length, *found = NULL;
    if (length < reads) {
        while (at <= last && !literal_at(literal, at))
            at++;
        return at <= last ? at : NULL;
    }
    /* The last eight places may have been tried in part already. */
    for (const char *last_eight = end - reads; found == NULL; at += PLACES) {
        at = at < last_eight ? at : last_eight;
        found = first_of(literal, may_be(&literal->head, at), at, last);
        if (at == last_eight)
            break;
    }
    return found;
}

const char *literal_find_far(const struct literal *literal, const char *at,
                             const char *end)
{
    const char *found = NULL;
    for (;;) {
        at = pass_blocks(literal, at, end);
        if ((size_t)(end - at) < BLOCK + literal->length)
            return literal_find(literal, at, end);
        found = literal_find(literal, at, at + BLOCK + literal->length - 1);
        if (found != NULL)
            return found;
        at += BLOCK;
    }
}
