/* SPDX-License-Identifier: MIT */
/*
 * Grouping on a device: what the host hands to the kernels of cl/group.cl.
 *
 * A table of groups has slots. Each has a record: a struct group_record, then
 * a state for each aggregate as the host keeps it (src/exec/aggregate/aggregate.h), so
 * that the host makes the results of both; then, for each sum of floats, a
 * struct group_raise. A slot without rows is not a group.
 *
 * The keys of a row become one number, its code: to the first key's order
 * less its base, times its stride, the next one's is added, and so on. Where
 * the table is hashed a code's slot is found by open addressing; elsewhere
 * the code is the slot. Keys that have more codes together than 64 bits are
 * told by several parts, which are each made so.
 */
#ifndef VDBQ_CL_GROUP_H
#define VDBQ_CL_GROUP_H

#include "types.h"

#define GROUP_KEYS_MAX 8
#define GROUP_PARTS_MAX (GROUP_KEYS_MAX + 1) /* of a code */
#define GROUP_AGGREGATES_MAX 24
#define GROUP_LOCAL_BYTES 24576 /* of a work-group's own table */

/* A column of the rows: offsets into their buffer. */
struct group_column {
    u64 values;
    u64 nulls;    /* bytes, 1 where NULL                              */
    u32 type;     /* TYPE_...                                         */
    u32 nullable; /* 0: no value is NULL                              */
};

struct group_key {
    struct group_column column;
    u64 base;   /* code of the least value (cl/order.h)                  */
    u64 size;   /* codes of values: NULL's comes behind. 0: all codes
                   are taken, a part of its own has them, and a mark says
                   what that cannot                                   */
    u64 stride; /* in its part; of size 0: of its mark in the first one */
    u32 part;   /* of the code                                        */
    u32 unused;
};

/* What is kept, as enum aggregate_kind has it. */
#define GROUP_ROWS 0
#define GROUP_NARROW 1
#define GROUP_WIDE 2
#define GROUP_REAL 3
#define GROUP_BEST 4
#define GROUP_BITS 5
#define GROUP_EARLIEST 6

struct group_aggregate {
    struct group_column value;
    struct group_column filter; /* I32, must be true                   */
    u32 kind;
    u32 has_value;
    u32 has_filter;
    u32 at;       /* of its state in a record                          */
    u32 raise_at; /* GROUP_REAL: of a struct group_raise               */
    u32 distinct; /* 1: a value counts once in a group                 */
    u32 same;     /* the first one that keeps the same: maybe itself   */
    u32 odd;      /* GROUP_BITS: 1: those of an odd number, 0: of any  */
    u64 flip;     /* GROUP_BEST: the state keeps order ^ flip, and
                     GROUP_BITS value ^ flip                           */
    u64 base;     /* distinct: order of the least value                */
    u64 size;     /* ... values there are                              */
    u64 bits;     /* ... where its bits begin: one a slot and value    */
};

struct group_control {
    u32 keys;
    u32 aggregates;
    u64 width;   /* of a record in bytes, a multiple of 8: in 64 bits, as
                    places in tables of more than 4 GB are             */
    u64 slots;   /* that codes are hashed to, a power of two; two more
                    follow: of the code that stands for an empty slot,
                    and of NULL. Else: codes there are                 */
    u32 hashed;
    u32 copies;  /* of the table in local memory, a power of two; 0:
                    it does not fit there                              */
    u32 out;     /* bytes of a record that go to the host              */
    u32 parts;   /* of a code; more than one: it is hashed             */
    struct group_key key[GROUP_KEYS_MAX];
    struct group_aggregate aggregate[GROUP_AGGREGATES_MAX];
};
#define GROUP_EMPTY 0xffffffffffffffffUL /* a part of an empty slot */
/* Marks of a key of size 0: its code is in its part; it is that of an empty slot;
 * the key is NULL. Of an only key the last two have slots of their own. */
#define GROUP_MARK_CODE 0
#define GROUP_MARK_EMPTY 1
#define GROUP_MARK_NULL 2
#define GROUP_MARKS 3

struct group_record {
    u64 before; /* ~ number of its first row */
    u64 rows;
};

/* What rows need of a sum of floats before they are added: cl/sum.h. */
struct group_raise {
    u32 top;     /* the greatest                        */
    u32 special; /* what came so far that is no number  */
};

/* What happened; zeroed before. */
struct group_state {
    u32 full;   /* a code found no slot: nothing was added            */
    u32 count;  /* of groups that were listed                         */
    u32 failed; /* of groups that stay: a sum has no room in 64 bits, or a
                   quotient takes more than a division of reals          */
    u32 unused;
};

/* In front of a record that goes out; further parts of its code follow. */
struct group_out {
    u64 marks; /* of keys of size 0 */
    u64 code;
};

/* A key's code, of its part and the marks; `*null`: there is none. */
static inline u64 group_key_code(u64 size, u64 stride, u32 nullable, u64 part,
                                 u64 marks, u32 *null)
{
    u64 mark = size > 0 ? 0 : marks / stride % GROUP_MARKS;
    u64 code = size > 0 ? part / stride % (size + nullable) : part;
    *null = size > 0 ? code == size : mark == GROUP_MARK_NULL;
    return mark == GROUP_MARK_EMPTY ? GROUP_EMPTY : code;
}

/* A column of groups that stay on the device: a key's or an aggregate's values,
 * and where they go; the bytes for NULL likewise. GROUP_NOWHERE: nobody reads
 * it, or none is NULL. */
struct group_result {
    u64 values;
    u64 nulls;
    u32 is_key;
    u32 number;  /* of the key, or of the aggregate                        */
    u32 sum;     /* ... it comes of a sum: GROUP_SUM_...                   */
    u32 type;    /* TYPE_... of the values                                 */
    u64 divisor; /* ... which is divided by this, as a real; 0: it is not  */
    u32 by_rows; /* ... and by the number of values                        */
    u32 zero;    /* ... of no values it is 0, not NULL                     */
};
#define GROUP_NOWHERE 0xffffffffffffffffUL
#define GROUP_SUM_NONE 0
#define GROUP_SUM_INTEGER 1
#define GROUP_SUM_REAL 2 /* of floats                                      */
#define GROUP_SUM_REST 3 /* ... what the nearest double leaves of it       */

VDBQ_ASSERT_LAYOUT(group_result, sizeof(struct group_result) == 48);
VDBQ_ASSERT_LAYOUT(group_column, sizeof(struct group_column) == 24);
VDBQ_ASSERT_LAYOUT(group_key, sizeof(struct group_key) == 56);
VDBQ_ASSERT_LAYOUT(group_aggregate, sizeof(struct group_aggregate) == 112);
VDBQ_ASSERT_LAYOUT(group_control, sizeof(struct group_control) == 3176);
VDBQ_ASSERT_LAYOUT(group_raise, sizeof(struct group_raise) == 8);
VDBQ_ASSERT_LAYOUT(group_out, sizeof(struct group_out) == 16);

#endif
