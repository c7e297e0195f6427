/* SPDX-License-Identifier: MIT */
/*
 * Words on a device, and what is asked of them: what the host and the kernels of
 * words.cl both know. The memory of some words has where each ends, 4 bytes a
 * word, and then their bytes, which begin at a multiple of 8.
 */
#ifndef VDBQ_CL_WORDS_H
#define VDBQ_CL_WORDS_H

#include "cl/types.h"

enum { WORDS_LITERALS_MAX = 12, WORDS_BYTES_MAX = 192 };

/* A pattern of literals with any characters between them. */
struct words_pattern {
    u32 count;                      /* of its literals                        */
    u32 any;                        /* there are such places; without one, all is
                                       one literal, and the whole word        */
    u32 begins, ends;               /* the first literal begins the word; the last
                                       one ends it                            */
    u32 least;                      /* bytes of all literals                  */
    u8 lengths[WORDS_LITERALS_MAX]; /* of each                                */
    u8 bytes[WORDS_BYTES_MAX];      /* of all, one behind the other: a letter that
                                       may be in either case is small         */
    u8 cases[WORDS_BYTES_MAX];      /* of each byte: the bit in which it may differ */
};

/* Where the bytes of so many words begin. */
#define WORDS_BYTES_AT(count) (((u64)(count) * 4 + 7) / 8 * 8)

#endif
