/* SPDX-License-Identifier: MIT */
/*
 * Joins whose right rows are too many for the memory that there is. Where nothing
 * matters of them but how many have a key (key_counts.h), they are counted as they
 * come, and the join goes on as if they were there. Else both sides are cut into
 * partitions by their keys (one partition, where there are none), which go to a
 * temporary file, each row with its number; a partition is joined by itself, in
 * passes: each is a join of its left rows, or of those that found no partner so
 * far, with as many right rows as fit. What passes give goes to a file again, and
 * is merged by the numbers of the left rows.
 *
 *     join_partitions.c   memory that is counted, what goes in and out
 *     join_cut.c     the cut
 *     join_gather.h  rows that come back, several blocks at once
 *     join_pass.c    a pass: a join stream over rows of files
 *     join_passes.c  which passes the kind of a join takes
 *     join_merge.c   their rows in order, where somebody sees it
 *
 * Without keys a partition's rows would all have pairs: left rows then come a
 * few at a time, so that the file of rows to merge stays small.
 *
 * Where nobody sees the order of the join's rows, none has a number, and what a pass
 * gives goes out as it is made: it is in no file.
 */
#ifndef VDBQ_EXEC_JOIN_PARTITIONS_H
#define VDBQ_EXEC_JOIN_PARTITIONS_H

#include "exec/join/join.h"
#include "exec/join/join_gather.h"
#include "exec/rows/spill_parts.h"

/* Of the number of a right row that stands alone: behind all left rows. */
#define JOIN_ALONE (UINT64_C(1) << 63)

/* -------------------------------------------------------------- memory -- */

/* Counts `bytes` in all as this join's; false: there is no room for them. */
bool join_memory(struct join_stream *join, uint64_t bytes);
/* Bytes that it may have, with those it has. */
uint64_t join_memory_room(const struct join_stream *join);

/* To be called when rows were added to the right side: where they are too
 * many they are put aside, and the right side is empty. */
enum vdbq_status join_right_added(struct join_stream *join,
                                  struct error *error);
/* To be called when all were. */
enum vdbq_status join_right_ended(struct join_stream *join,
                                  struct error *error);

/* ------------------------------------------------------------- the cut -- */

/* A side that is cut. */
struct join_cut {
    const struct join_partitions *partitions; /* of the join */
    struct spill spill;                       /* its rows, by partition */
    struct spill_parts parts;                 /* puts them there */
    struct row_set rows;       /* that are cut: a view of a batch          */
    const struct vector *keys; /* of int: its columns                       */
    uint64_t count;    /* rows so far: the next one's number            */
    const bool *reads; /* of each column, owned                         */
};

/* Right rows of a partition that are at hand together. */
struct join_block {
    struct row_set rows; /* of the right side */
    uint64_t *numbers;   /* of the rows on the right side */
    uint64_t room;       /* of the numbers                                */
};

/* What comes next of a partition that is being joined. */
enum join_turn {
    JOIN_TURN_END,      /* nothing                                            */
    JOIN_TURN_BLOCK,    /* right rows are taken to hand, and pairs go out     */
    JOIN_TURN_NARROW,   /* left rows that have no partner are looked for      */
    JOIN_TURN_NARROWED, /* ... and are the rest                               */
    JOIN_TURN_REST      /* there are no right rows: the rest goes out         */
};

/* A partition that is being joined. */
struct join_partition {
    enum join_turn turn;      /* what comes next                        */
    struct spill_range left;  /* all its left rows                      */
    struct spill_range rest;  /* ... without a partner so far           */
    unsigned rests;           /* that were made                         */
    struct join_block block;  /* right rows                             */
    struct join_gather right; /* reads those that come behind them      */
};

struct join_merge;
struct join_passing;

struct join_partitions {
    struct join_stream *join; /* that goes through the disk */
    bool any_order;           /* nobody sees the order of rows: they have no
                             numbers, and are not merged                   */
    uint64_t share_bytes; /* of memory, for all that it does               */
    unsigned count;       /* of partitions, a power of two                 */
    uint64_t block_bytes; /* of the file, for each partition               */
    uint64_t block_rows;  /* right rows that a pass takes at most          */
    struct join_cut left, right; /* the rows of each side, by partition */
    uint32_t **texts;            /* a key: for each word of the left side, its
                              number on the right one; NULL: the same       */
    struct row_set_column *keys; /* of the rows that are cut               */
    uint32_t **numbers; /* ... of a text: its words'                     */
    struct join_partition partition; /* the one that is being joined        */
    unsigned next;               /* any order: partition behind it          */
    struct join_passing *giving; /* any order: the pass whose rows go out;
                             NULL: there is none                            */
    struct spill output;         /* rows of the passes, a partition each; in any
                              order nothing is written there                */
    struct spill rest[2]; /* left rows without a partner so far            */
    uint64_t left_next;   /* left rows come a few at a time: the next one  */
    uint64_t left_most;   /* ... and how many at once                      */
    struct join_merge *merge; /* gives the results; NULL: none were made yet */
    struct error failure;     /* of the first left row for which something
                              failed; status OK: none did                   */
    uint64_t failed_left; /* ... its number ...                            */
    unsigned failed_pass; /* ... and of the output, the partition of its pass */
    unsigned passes;      /* for `text` */
    char text[96];        /* for the statistics */
};

/* join_cut.c. Opens the partitions of the step's input 0 (left) or 1. */
enum vdbq_status join_cut_init(struct join_partitions *partitions,
                               struct join_cut *cut, unsigned input,
                               struct error *error);
/* The view's rows are the input's: only the spilled ones are freed. Accepts a
 * zeroed struct. */
void join_cut_finish(struct join_cut *cut);
/* Room for a slice of rows that is divided into partitions, and the numbers of
 * the left side's words on the right one. */
enum vdbq_status join_cut_make_room(struct join_partitions *partitions,
                                    struct error *error);
enum vdbq_status join_cut_make_texts(struct join_partitions *partitions,
                                     struct error *error);
/* Divides the rows of a batch, from `first` on, slice by slice. */
enum vdbq_status join_cut_batch(struct join_partitions *partitions,
                                struct join_cut *cut,
                                const struct vdbq_batch *batch, uint64_t first,
                                struct error *error);
/* Frees what cutting alone takes. */
void join_cut_end(struct join_partitions *partitions);
/* Frees the numbers of the left side's words, which passes use, too. */
void join_cut_texts_finish(struct join_partitions *partitions);

/* Cuts the left side, and begins to join. */
enum vdbq_status join_partitions_left(struct join_stream *join,
                                      struct error *error);
/* Something failed for a left row of that number, in the pass whose rows are
 * that partition of the output. */
void join_partitions_failed(struct join_partitions *partitions,
                            const struct error *error, uint64_t left,
                            unsigned pass);
/* Accepts NULL. */
void join_partitions_destroy(struct join_partitions *partitions);
/* The next rows of the join; rows 0: the end. */
enum vdbq_status join_partitions_batch(struct join_stream *join,
                                       struct vdbq_batch *batch,
                                       struct error *error);
/* "join in 64 partitions (64 passes)" */
const char *join_partitions_text(const struct join_partitions *partitions);

/* ---------------------------------------------------------------- pass -- */

struct join_pass {
    struct join_partitions *partitions; /* of the join */
    enum join_kind kind;     /* of this pass; may differ from the step's */
    struct spill_range left; /* rows to join */
    const struct join_block *right; /* rows to join with */
    struct spill *to;   /* gets the rows, in its last partition; the output:
                           they go out, maybe as they are asked for         */
    struct spill *rest; /* JOIN_MARK: gets left rows that are not marked
                              true, which are not for `to`; or NULL         */
};
/* Puts all rows of a pass where they go. */
enum vdbq_status join_pass_run(const struct join_pass *pass,
                               struct error *error);
/* A pass whose rows are asked for instead. join_pass_close() is due whatever it
 * returns, and accepts NULL. */
enum vdbq_status join_pass_open(const struct join_pass *pass,
                                struct join_passing **passing,
                                struct error *error);
enum vdbq_status join_pass_batch(struct join_passing *passing,
                                 struct vdbq_batch *batch, struct error *error);
void join_pass_close(struct join_passing *passing);

/* -------------------------------------------------------------- passes -- */

/* Joins all partitions, or the next left rows, into `output`. */
enum vdbq_status join_passes_run(struct join_partitions *partitions,
                                 struct error *error);
/* In any order: the next rows; rows 0: the end. */
enum vdbq_status join_passes_batch(struct join_partitions *partitions,
                                   struct vdbq_batch *batch,
                                   struct error *error);
/* Ends what was begun. */
void join_passes_finish(struct join_partitions *partitions);
/* Whether left rows are still to come. */
bool join_passes_more(const struct join_partitions *partitions);

/* --------------------------------------------------------------- merge -- */

/* Merges the output of passes by the rows' numbers, then by the passes, up to
 * what failed. What it is given outlives it. */
enum vdbq_status join_merge_create(const struct join_partitions *partitions,
                                   struct join_merge **merge,
                                   struct error *error);
void join_merge_destroy(struct join_merge *merge); /* accepts NULL */
enum vdbq_status join_merge_batch(struct join_merge *merge,
                                  struct vdbq_batch *batch,
                                  struct error *error);

#endif
