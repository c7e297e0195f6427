/* SPDX-License-Identifier: MIT */
/*
 * What the files of grouping on a device share.
 */
#ifndef VDBQ_EXEC_DEVICE_GROUP_INNER_H
#define VDBQ_EXEC_DEVICE_GROUP_INNER_H

#include "cl/group.h"
#include "exec/aggregate/aggregate.h"
#include "device/kernel.h"
#include "exec/device_group/device_group.h"
#include "exec/sort/device_radix.h"

/* How groups are kept: the control block but for the columns' places, and
 * what the host knows beside it. */
struct device_group_shape {
    struct group_control control; /* what the kernels read */
    struct aggregate aggregates[GROUP_AGGREGATES_MAX]; /* at: in a record */
    /* Of each key the input's column; and what each column of the result is:
     * a key, or, GROUP_KEYS_MAX and above, an aggregate. */
    uint8_t key_columns[GROUP_KEYS_MAX];
    uint8_t results[GROUP_KEYS_MAX + GROUP_AGGREGATES_MAX];
    bool finds;    /* vdbq_group_find is needed                        */
    bool raises;   /* ... and vdbq_group_raise, of each launch         */
    uint64_t bits; /* of values that count once; 0: none               */
};

/* device_group_shape.c: false where the device cannot. */
bool device_group_shape(const struct device_group_params *params,
                        struct device_group_shape *shape);
/* Says how a program of the groups' rows adds them itself; false: it does not. */
bool device_group_offer(const struct device_group_params *params,
                        const struct device_group_shape *shape,
                        struct sink_groups *groups);
/* Bytes in front of a record that goes out. */
size_t device_group_head(const struct group_control *control);
/* All slots of a table, and the bytes of their records. */
uint64_t device_group_slots(const struct group_control *control);
uint64_t device_group_bytes(const struct group_control *control);

struct device_group {
    struct sink sink;          /* first */
    struct sink_groups groups; /* where a program may add rows itself */
    /* of the caller; what they point to outlives this */
    struct device_group_params params;
    struct device_group_shape shape; /* how records look */
    struct group_control sent;       /* what `control` holds           */
    struct device_memory *control;   /* the device's copy of shape.control */
    struct device_memory *records;   /* one a slot */
    struct device_memory *codes;     /* hashed: one a slot; else NULL  */
    struct device_memory *slots;     /* hashed: one a row; else NULL   */
    struct device_memory *bits;      /* or NULL                        */
    struct device_memory *state;     /* what the kernels report */
    bool reported;                   /* ... may have been something         */
    bool *reads;                     /* a column: whether it is needed */
    uint64_t rows;                   /* taken so far                   */
    uint64_t added; /* to sums since there was room for SUM_DIGITS_MAX */
    struct device_radix listed;   /* all rows were taken: the groups' slots  */
    bool ordered;                 /* ... in the order of their first rows    */
    struct device_memory *pinned; /* groups on the host, one of the two      */
    uint8_t *small;
    uint8_t *along; /* ... or those that came along as they were listed, in any
                       order, behind a u64: how many they are                */
    struct device_memory *out; /* where these are on the device              */
    bool ahead;                /* they are listed behind launches under way  */
    struct device_times times; /* of all calls so far */
};

/* device_group_shape.c: the slots of the table that comes after one that was full. */
uint64_t device_group_grown(const struct device_group *group);
/* device_group_end.c: a sink's all_started(). */
enum vdbq_status device_group_all_started(struct sink *sink,
                                          struct error *error);
/* device_group.c: memory of the device; calls a kernel, whose time is added to the
 * group's; waits, and reads what happened. */
enum vdbq_status device_group_memory(struct device_group *group, uint64_t size,
                                     struct device_memory **made,
                                     struct error *error);
enum vdbq_status device_group_call(struct device_group *group,
                                   const struct device_call *call,
                                   struct error *error);
enum vdbq_status device_group_state(struct device_group *group,
                                    struct group_state *state,
                                    struct error *error);

VDBQ_ASSERT_LAYOUT(group_keys, DEVICE_GROUP_KEYS_MAX == GROUP_KEYS_MAX);

/* device_group_write.c: groups that look like that, without bytes. */
struct device_groups device_groups_of(const struct device_group_shape *shape);
/* The same: writes groups in the order of their first rows. */
enum vdbq_status device_groups_write(const struct device_groups *groups,
                                     unsigned threads, struct row_set *row_set,
                                     struct error *error);

#endif
