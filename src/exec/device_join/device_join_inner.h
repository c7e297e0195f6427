/* SPDX-License-Identifier: MIT */
/*
 * What the files of joining on a device share: device_join.c makes rows,
 * device_join_index.c looks at keys, device_join_columns.c writes columns of
 * pairs, device_join_judge.c has the condition asked of them.
 */
#ifndef VDBQ_EXEC_DEVICE_JOIN_INNER_H
#define VDBQ_EXEC_DEVICE_JOIN_INNER_H

#include "base/held_error.h"
#include "cl/join.h"
#include "device/kernel.h"
#include "exec/device_join/device_condition.h"
#include "exec/device_join/device_join.h"

/* What is known of each row of one side: the places of its output rows, and
 * which rows of the other side are in them. */
struct join_counts {
    /* one a row: its first partner's place in a list of rows, or its only one */
    struct device_memory *first;
    struct device_memory *places; /* of its output rows, and how many all are */
    uint64_t room;                /* rows that these have room for            */
};

/* Columns that are made of pairs of rows, some pairs at a time. */
struct join_columns {
    struct device_column *columns; /* what is known of them               */
    unsigned count;                /* of columns */
    bool *reads;                   /* which of them are made              */
    struct device_place *places;   /* ... where                           */
    struct output *outputs;        /* ... for those who take them         */
    struct join_output *copies;    /* ... and from where                  */
    unsigned copy_count;           /* of `copies` that are used */
    struct device_memory *sent;    /* has the copies                      */
    struct device_memory *out;     /* the columns; owned                  */
    uint64_t out_room;             /* rows that it has room for           */
};

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

    struct join_columns result; /* what goes out                          */
    struct join_counts pairs;   /* of the left rows at hand               */
    uint64_t total, next;       /* output rows of those that were counted */
    uint64_t rounds;            /* for the statistics */
    u32 most, alone; /* output rows of a left row with partners at most, and of
                        one without                                       */

    /* with a condition, or where right rows without a partner go out: */
    struct join_columns asked; /* columns of pairs that it reads         */
    struct join_counts kept;   /* of left rows: pairs that it kept; of right
                                  ones in the end                         */
    struct device_memory *partners;     /* the right rows of those           */
    uint64_t partner_room;              /* pairs that it has room for        */
    struct device_memory *marked;       /* a byte a right row: it has a partner;
                                       NULL: nobody asks                  */
    struct device_memory *cut;          /* where a round of left rows ends    */
    uint64_t pair_count;                /* of all left rows at hand           */
    uint64_t judged_rows, judged_pairs; /* that the condition was asked of */
    bool ended;             /* rows of the right side alone go out       */
    struct held_error held; /* of a pair: comes behind the rows before it */
};

/* Calls a kernel; its time is added to the join's. */
enum vdbq_status device_join_call(struct device_join *join,
                                  const struct device_call *call,
                                  struct error *error);
/* How the work-groups share `rows` rows: so many of each, and how many they are. */
void device_join_spans(const struct device_join *join, uint64_t rows,
                       uint64_t *span, uint64_t *spans);
/* Makes room for counts of so many rows. */
enum vdbq_status device_join_counts_room(struct device_join *join,
                                         struct join_counts *counts,
                                         uint64_t rows, struct error *error);
/* Adds the counts of rows up, which lie in spans; `*total`: of all of them. It is
 * waited for. */
enum vdbq_status device_join_add_up(struct device_join *join,
                                    const struct join_counts *counts,
                                    uint64_t rows, uint64_t *total,
                                    struct error *error);
void device_join_counts_finish(struct join_counts *counts);

/* device_join_index.c: decides how right rows are found, and sends the words
 * of keys that are texts. */
enum vdbq_status device_join_shape(struct device_join *join,
                                   struct error *error);
/* Tells the device where the keys are. */
enum vdbq_status device_join_control(struct device_join *join,
                                     struct error *error);
void device_join_index_finish(struct device_join *join);

/* device_join_columns.c: columns of both sides, the right ones where `right` says
 * so; all are read. join_columns_finish() is due whatever it returns. */
enum vdbq_status join_columns_init(struct device_join *join,
                                   struct join_columns *columns, bool right,
                                   struct error *error);
void join_columns_finish(struct join_columns *columns);
/* Pairs of which the columns, and `more` bytes of each, are written at once: as many
 * as fit into a share of the memory. */
uint64_t join_columns_most(const struct device_join *join,
                           const struct join_columns *columns, uint64_t more);
/* Makes room for `rows` pairs, and for more, up to `most`, where there was less. */
enum vdbq_status join_columns_room(struct device_join *join,
                                   struct join_columns *columns, uint64_t rows,
                                   uint64_t most, struct error *error);
/* Tells the device what goes where. */
enum vdbq_status join_columns_send(struct device_join *join,
                                   struct join_columns *columns,
                                   struct error *error);
/* Pairs of the counted rows: [start, start + count). */
struct join_pairs_made {
    const struct join_counts *counts;
    struct device_memory *rows; /* in which the counts' `first` are places;
                                   NULL: they are rows themselves          */
    uint64_t start, count;
};
/* Writes the columns of pairs, for which there is room. */
enum vdbq_status join_columns_write(struct device_join *join,
                                    const struct join_columns *columns,
                                    const struct join_pairs_made *pairs,
                                    struct error *error);

/* device_join_judge.c: makes what it takes to ask the condition. */
enum vdbq_status device_join_judge_init(struct device_join *join,
                                        struct error *error);
void device_join_judge_finish(struct device_join *join);
/* Without a condition: marks the partners of the left rows at hand, which give so many
 * output rows, where right ones without a partner go out in the end. */
enum vdbq_status device_join_mark(struct device_join *join, uint64_t pairs,
                                  struct error *error);
/* JOIN_MARK: writes the column of marks of the next rows; of others nothing. */
enum vdbq_status device_join_put_marks(struct device_join *join, uint64_t count,
                                       struct error *error);
/* Asks the condition of pairs until rows go out, or no left row is left. */
enum vdbq_status device_join_judge(struct device_join *join,
                                   struct error *error);

#endif
