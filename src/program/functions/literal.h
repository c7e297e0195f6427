/* SPDX-License-Identifier: MIT */
/*
 * A literal: bytes that are looked for in many texts, of which ASCII letters may
 * match in either case. Characters of UTF-8 need no steps of their own: where
 * the literal begins with the first byte of one, it is found at such alone.
 */
#ifndef VDBQ_PROGRAM_LITERAL_H
#define VDBQ_PROGRAM_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two bytes of the literal, each eight times: as many places are tried at once. */
struct literal_head {
    uint64_t bytes[2], cases[2]; /* as in the literal */
    size_t second;               /* where the second one is: 0 or 1 */
};

struct literal {
    char *bytes;   /* letters that match in either case are small   */
    char *cases;   /* of each byte: the bit in which it may differ */
    size_t length; /* at least 1 */
    struct literal_head head;
};

/* Room for a byte more is there; it `folds` if it matches in either case. */
void literal_add(struct literal *literal, char byte, bool folds);
/* Once all bytes are there. */
void literal_finish(struct literal *literal);

/* Whether the bytes at `at`, of which there are enough, are the literal. */
bool literal_at(const struct literal *literal, const char *at);
/* The first place where the literal is in [at, end); NULL: none. The other one
 * is for long texts in which it is rare. */
const char *literal_find(const struct literal *literal, const char *at,
                         const char *end);
const char *literal_find_far(const struct literal *literal, const char *at,
                             const char *end);

#endif
