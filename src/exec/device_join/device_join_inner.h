/* SPDX-License-Identifier: MIT */
/*
 * What the files of joining on a device share: device_join.c makes rows,
 * device_join_index.c looks at keys.
 */
#ifndef VDBQ_EXEC_DEVICE_JOIN_INNER_H
#define VDBQ_EXEC_DEVICE_JOIN_INNER_H

#include "cl/join.h"
#include "exec/device_join/device_join.h"

struct device_join {
    struct device_join_params params; /* of the caller */
    struct device_times times;        /* of all calls so far */
    struct device_store right, left;  /* rows of both sides, on the device */

    struct join_control shape;     /* what `control` holds                */
    struct device_memory *control; /* `shape`, for the kernels; owned */
    struct device_memory *words;   /* numbers of all keys' words, or NULL */
    struct device_memory *slots;   /* what each has; NULL: nobody asks    */
    /* where a slot has several right rows, which all are sorted then; else NULL */
    struct device_memory *spans; /* one a slot: which of `rows`         */
    struct device_memory *rows;  /* the right ones by slot              */

    struct device_column *columns; /* that go out                         */
    unsigned column_count;         /* of the result */
    bool *reads;                   /* which of them are made              */
    struct device_place *places;   /* ... where                           */
    struct output *outputs;        /* ... for those who take them         */
    struct join_output *copies;    /* ... and from where                  */
    unsigned copy_count;           /* of `copies` that are used */
    struct device_memory *sent;    /* has the copies                      */
    struct device_memory *out;     /* columns of a round; owned */
    uint64_t out_room;             /* rows that it has room for           */
    uint64_t round_rows;           /* of a round at most                  */

    uint64_t counted_room; /* left rows that these have room for: */
    /* one a left row: its first partner's place in `rows`, or its only one */
    struct device_memory *first;
    struct device_memory *counted; /* places of their output rows         */
    uint64_t total, next;          /* output rows of those at hand        */
    uint64_t rounds;               /* for the statistics */
};

/* device_join_index.c: decides how right rows are found, and sends the words
 * of keys that are texts. */
enum vdbq_status device_join_shape(struct device_join *join,
                                   struct error *error);
/* Tells the device where the keys are. */
enum vdbq_status device_join_control(struct device_join *join,
                                     struct error *error);
void device_join_index_finish(struct device_join *join);

#endif
