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
 * the code is the slot.
 */
#ifndef VDBQ_CL_GROUP_H
#define VDBQ_CL_GROUP_H

#include "types.h"

#define GROUP_KEYS_MAX 8
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
                   are taken, NULL has a slot of its own              */
    u64 stride;
};

/* What is kept, as enum aggregate_kind has it. */
#define GROUP_ROWS 0
#define GROUP_NARROW 1
#define GROUP_WIDE 2
#define GROUP_REAL 3
#define GROUP_BEST 4
#define GROUP_EARLIEST 5

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
    u32 unused;
    u64 flip;     /* GROUP_BEST: the state keeps order ^ flip          */
    u64 base;     /* distinct: order of the least value                */
    u64 size;     /* ... values there are                              */
    u64 bits;     /* ... where its bits begin: one a slot and value    */
};

struct group_control {
    u32 keys;
    u32 aggregates;
    u32 width;   /* of a record in bytes, a multiple of 8              */
    u32 hashed;
    u64 slots;   /* that codes are hashed to, a power of two; two more
                    follow: of the code that stands for an empty slot,
                    and of NULL. Else: codes there are                 */
    u32 copies;  /* of the table in local memory, a power of two; 0:
                    it does not fit there                              */
    u32 out;     /* bytes of a record that go to the host              */
    struct group_key key[GROUP_KEYS_MAX];
    struct group_aggregate aggregate[GROUP_AGGREGATES_MAX];
};
#define GROUP_EMPTY 0xffffffffffffffffUL

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

/* In front of a record that goes out. */
struct group_out {
    u64 code;
    u64 null; /* 1: the key is NULL, `code` says nothing */
};

/* A column of groups that stay on the device: a key's or an aggregate's values,
 * and where they go; the bytes for NULL likewise. GROUP_NOWHERE: nobody reads
 * it, or none is NULL. */
struct group_result {
    u64 values;
    u64 nulls;
    u32 is_key;
    u32 number;  /* of the key, or of the aggregate                        */
    u32 is_sum;  /* ... it comes of a sum of integers                      */
    u32 type;    /* TYPE_... of the values                                 */
    u64 divisor; /* ... which is divided by this, as a real; 0: it is not  */
    u32 by_rows; /* ... and by the number of values                        */
    u32 zero;    /* ... of no values it is 0, not NULL                     */
};
#define GROUP_NOWHERE 0xffffffffffffffffUL

VDBQ_ASSERT_LAYOUT(group_result, sizeof(struct group_result) == 48);
VDBQ_ASSERT_LAYOUT(group_column, sizeof(struct group_column) == 24);
VDBQ_ASSERT_LAYOUT(group_key, sizeof(struct group_key) == 48);
VDBQ_ASSERT_LAYOUT(group_aggregate, sizeof(struct group_aggregate) == 112);
VDBQ_ASSERT_LAYOUT(group_control, sizeof(struct group_control) == 3104);
VDBQ_ASSERT_LAYOUT(group_raise, sizeof(struct group_raise) == 8);
VDBQ_ASSERT_LAYOUT(group_out, sizeof(struct group_out) == 16);

#endif
