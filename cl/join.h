/* SPDX-License-Identifier: MIT */
/*
 * Joining on a device: what the host hands to the kernels of cl/join.cl.
 *
 * The keys of the right rows are told apart by slots: equal keys have one
 * slot, and each slot one key. A dense index numbers its slots by the key's
 * value; a hashed one finds them by open addressing, with a tag of its key in
 * each. A slot keeps the row that came first. Where no other one came, or nobody
 * asks for others, that is all (`single`); else the right rows are sorted by their
 * slots, those of a slot stay in their order, and spans[s] tells where those of
 * slot s stand.
 */
#ifndef VDBQ_CL_JOIN_H
#define VDBQ_CL_JOIN_H

#include "types.h"

#define JOIN_KEYS_MAX 8
#define JOIN_NONE 0xffffffffU        /* a row, or a slot, that there is not */
#define JOIN_EMPTY 0xffffffffffffffffUL /* a slot that no row has           */
#define JOIN_NO_NULLS 0xffffffffffffffffUL

/* A column of rows: offsets into their buffer. */
struct join_column {
    u64 values;
    u64 nulls;    /* bytes, 1 where NULL; JOIN_NO_NULLS: none is NULL */
    u32 type;     /* TYPE_...                                         */
    u32 reserved; /* 0 */
};

struct join_key {
    struct join_column left, right;
    u64 words;      /* texts: where the numbers start that the left words
                       have on the right side, among those of all keys */
    u32 word_count; /* ... of the left words                           */
    u32 translated; /* 0: both sides have the same words               */
};

struct join_control {
    u32 keys;
    u32 hashed;
    u32 tagged;      /* hashed: a tag is all of a key; no right key that
                        something equals is NULL                        */
    u32 nulls_match; /* NULL equals NULL                                */
    u64 slots;       /* hashed: a power of two                          */
    i64 base;        /* dense: the value of slot 0                      */
    u32 most;        /* output rows of a left row with partners, at most */
    u32 alone;       /* ... of one without                              */
    u32 single;      /* a slot's row is its only one, or stands for all  */
    u32 reserved;    /* 0 */
    struct join_key key[JOIN_KEYS_MAX];
};

/* Where the right rows of a slot stand: [start, end). */
struct join_span {
    u32 start, end;
};

/* A column that goes out. */
struct join_output {
    u64 values, nulls;       /* in the left or right rows' buffer       */
    u64 to_values, to_nulls; /* in the output's; JOIN_NO_NULLS: without */
    u32 width;
    u32 right; /* 1: it is one of the right rows */
};

VDBQ_ASSERT_LAYOUT(join_column, sizeof(struct join_column) == 24);
VDBQ_ASSERT_LAYOUT(join_key, sizeof(struct join_key) == 64);
VDBQ_ASSERT_LAYOUT(join_control, sizeof(struct join_control) == 560);
VDBQ_ASSERT_LAYOUT(join_span, sizeof(struct join_span) == 8);
VDBQ_ASSERT_LAYOUT(join_output, sizeof(struct join_output) == 40);

#endif
