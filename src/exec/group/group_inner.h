/* SPDX-License-Identifier: MIT */
/*
 * What the files of grouping share. Each thread has a part: groups of the
 * rows that it took in. Parts are merged at the end; those that have no key in
 * common (partitions) stay apart.
 *
 * Groups lie in stores. What a store holds is taken from the query's account of
 * memory; where that has no more, the store writes its table out as a run, to a
 * temporary file, and starts anew. At the end the runs are merged partition by
 * partition; one that is too large for the memory is written out again, in
 * partitions by the next bits of the hash.
 */
#ifndef VDBQ_EXEC_GROUP_INNER_H
#define VDBQ_EXEC_GROUP_INNER_H

#include "base/hostile.h"
#include "base/threads/parallel.h"
#include "base/vector.h"
#include "cl/sum.h"
#include "exec/aggregate/aggregate.h"
#include "exec/group/group.h"
#include "exec/group/group_narrow.h"
#include "exec/group/group_table.h"
#include "exec/rows/reorder.h"

/* What a group's record holds behind its keys; then its states. */
struct group_head {
    uint64_t first; /* number of its first row */
    uint64_t rows;  /* in the group */
};

/* Values of a DISTINCT aggregate of INTEGER that are in its table for sure: a
 * byte for each of the values from `base` on. */
enum { GROUP_SEEN = 1 << 16 };
struct group_seen {
    uint8_t *flags; /* NULL: they are not looked at */
    uint32_t base;  /* the value of the first flag */
    bool based;     /* there was a value            */
};

/* Groups of a store that were written out. */
enum {
    /* threads from which on many groups are shared out, and pairs of DISTINCT */
    GROUP_RUNS_THREADS = HOSTILE(1, 2),
    /* ... and pairs of many groups: to write them out and to merge both costs two
     * what they gain */
    GROUP_PAIRS_THREADS = HOSTILE(1, 4),
    GROUP_PARTITIONS = 256, /* by eight bits of their keys' hashes */
    GROUP_LEVELS = 8,       /* ... the highest ones first, then the next */
    /* groups of a thread's table, unless it finds ever more rows there */
    GROUP_LOCAL = HOSTILE(2, 1 << 16),
    GROUP_LOCAL_MAX = HOSTILE(8, 1 << 20), /* ... and at most */
    /* groups of all threads that one of them may merge */
    GROUP_MERGED_MAX = HOSTILE(2, 1 << 14)
};
struct group_run {
    uint8_t *records; /* by partitions, owned; NULL: in the group's file    */
    uint64_t offset;  /* ... there, narrow                                  */
    struct group_narrow narrow; /* ... how; owned                           */
    uint32_t ends[GROUP_PARTITIONS]; /* record behind those of each         */
};

/* How a store's table fills. */
struct group_fill {
    uint64_t rows;        /* of the table's rows: those in runs            */
    uint64_t rows_half;   /* ... and until it was half full                */
    uint32_t groups_half; /* groups there were then; 0: it is not          */
    uint32_t groups_most; /* groups at which it is full; 0: not yet set    */
    bool sparse;          /* most rows of the last run made groups of their
                             own                                          */
};

/* A table of groups, or of pairs, and what of it was written out. */
struct group_store {
    struct group_table table; /* owned                                      */
    struct vector runs;       /* struct group_run: what it had before       */
    struct group_fill fill;   /* how it goes on                             */
    unsigned level;           /* which bits of a hash its partitions go by  */
    bool stays;               /* its groups' numbers are in use: it is not
                                 written out                                */
    bool shared;              /* ... is written out when it is full, for all
                                 threads to merge                           */
    const struct group_table *of; /* of pairs: has their groups, by whose hash
                                     and the value's they are parted; NULL:
                                     by that of their keys                  */
    uint64_t held_bytes; /* of the account                             */
    size_t beside_bytes; /* for a group beside the table: its row in the
                                 result, or what writes it out              */
};

/* Room that a thread lends the records of partitions. */
struct group_room {
    struct group_room *next;
    uint8_t *at; /* what nobody has yet */
    size_t left; /* ... its bytes       */
};

/* A column of the input that scattered rows keep (group_scatter.h). */
struct group_kept {
    unsigned column; /* of the input                                       */
    unsigned width;  /* of a value in bytes                                */
    bool nullable;   /* a byte says of each value whether it is NULL       */
    size_t at;       /* bytes of what lies in front of it, of a row        */
};

/* Rows that are added to groups. */
struct group_rows {
    const struct vdbq_vector *columns;
    uint64_t start;          /* the first row's place in these              */
    uint64_t count;          /* of rows                                     */
    uint64_t number;         /* of the first row among all                  */
    const uint32_t *offsets; /* of each row from that number; NULL: they
                                follow each other                           */
    uint64_t coming;         /* rows that will follow at least              */
};

/* Rows that are added to groups before their sums are given room for more. */
enum { GROUP_ADDED_MAX = HOSTILE(GROUP_BLOCK, SUM_DIGITS_MAX) };

struct group_part {
    struct group_store groups;     /* those this thread found               */
    struct group_scatter *scatter; /* rows that it has not looked up; owned,
                                      NULL: it looks all up                 */
    bool scattered;                /* it had some: its groups are in no order */
    bool scatters_no_more;         /* there was no memory                   */
    struct group_seen *seen;       /* one an aggregate, without keys          */
    struct group_store *distinct;  /* one an aggregate: different pairs of
                                     a group's number (where there are keys)
                                     and a value; only DISTINCT ones are
                                     made                                  */
    uint32_t segmented;            /* groups that segments have */
    uint64_t added; /* rows, since all sums had room for GROUP_ADDED_MAX */
    enum vdbq_status status; /* of the last rows added */
    struct error error;      /* why, where they failed */
};

/* Groups of rows in order that one part took at a time: they begin with group
 * `first` of its table, and there are `before` in the segments before. */
struct group_segment {
    const struct group_part *part;
    uint32_t first;
    uint64_t before;
};
enum {
    GROUP_ORDER_ROWS = HOSTILE(3, 1 << 16)
}; /* that are looked at at once */

struct group {
    struct group_params params; /* of the caller; threads are at least 1 */
    unsigned keys; /* columns of the input that are keys, the first ones */
    unsigned aggregate_count;     /* of `aggregates` */
    struct aggregate *aggregates; /* at: behind the keys of a record       */
    int *types;                   /* TYPE_... of the input's keys          */
    size_t bytes;                 /* of a record behind its keys           */
    bool distinct;                /* an aggregate keeps values apart       */
    bool ordered;                 /* all rows came in the order of the key:
                                 group_ordered.h                         */
    int64_t last_key;             /* ... the last one, ...                   */
    unsigned last_part;           /* ... and the part that has it            */
    struct vector segments;       /* ... struct group_segment, in order      */
    uint64_t segmented;           /* ... their groups                        */
    bool runs; /* tables of groups are written out when they are full */
    struct account_share *memory; /* of the caller; or `none`, which has all */
    struct account_share none;    /* ... */
    struct spill_file file;       /* runs that do not fit into memory */
    size_t row_bytes;             /* of a group in the result               */
    unsigned failed_column;   /* of the result: what group_write() told of */
    uint64_t rows;            /* taken in so far                       */
    unsigned part_count;      /* in use                                */
    struct group_part *parts; /* params.threads                        */
    uint8_t *lent;            /* room for the records of pairs         */
    struct group_room *rooms[PARALLEL_THREADS_MAX]; /* ... of partitions: lists,
                                                       one a thread; owned */
    unsigned columns;        /* of the input: those up to the last one used */
    struct group_kept *kept; /* ... those of scattered rows           */
    unsigned kept_count;
    size_t kept_bytes;  /* ... of a row, with its offset         */
    struct arena arena; /* of all arrays above */
};

/* group.c: makes parts until there are so many. */
enum vdbq_status group_make_parts(struct group *group, unsigned count,
                                  struct error *error);
/* ... whether groups, or pairs, that are many are shared out to all threads. */
bool group_is_shared(const struct group *group);
/* group_block.c: takes rows into a part, which says whether it failed. */
void group_add_rows(struct group *group, struct group_part *part,
                    const struct group_rows *rows);
/* The same of rows [at, end) of batches; they may be scattered. */
void group_add_range(struct group *group, const struct batches *batches,
                     struct group_part *part, uint64_t at, uint64_t end);

/* The partition of a hash: of its highest bits, for slots go by the others; of
 * eight bits further down for each level. */
static inline unsigned group_partition(uint64_t hash, unsigned level)
{
    _Static_assert(GROUP_PARTITIONS == 1 << 8, "of eight bits");
    return (unsigned)(hash >> (56 - 8 * level) & 0xff);
}

/* Sees to it that the sums of a part's groups have room for so many rows more,
 * GROUP_ADDED_MAX at most. */
void group_make_room(const struct group *group, struct group_part *part,
                     unsigned count);

/* group_records.c: writes the extras of groups (group_extra) of a table, and
 * asks for their memory where it is far away. */
void group_records(const struct group_table *table, const uint32_t *numbers,
                   unsigned count, uint8_t **records);

/* Gives the sums of all groups of a table room for more rows. */
void group_carry(const struct group *group, const struct group_table *table);

/* Merges `count` records into groups `numbers` of a table. */
void group_merge_records(const struct group *group, struct group_table *table,
                         const uint8_t *records, unsigned count,
                         const uint32_t *numbers);

/* Makes an empty store for the pairs of a DISTINCT aggregate; as
 * group_store_init(). `of` is NULL, or the groups that they are of. */
enum vdbq_status group_pairs_init(struct group *group,
                                  struct group_store *store, unsigned which,
                                  const struct group_table *of,
                                  struct error *error);

/* group_merge.c: merges all parts into the first one, and gives what
 * DISTINCT kept to the aggregates. */
enum vdbq_status group_merge(struct group *group, struct error *error);

/* group_store.c: makes an empty store; its table is as group_table_init().
 * group_store_finish() is due whatever it returns, and accepts a zeroed
 * struct. */
enum vdbq_status group_store_init(const struct group *group,
                                  struct group_store *store, const int *types,
                                  unsigned keys, size_t extra,
                                  struct error *error);
void group_store_finish(struct group *group, struct group_store *store);
/* Makes room for so many rows more: where the table is full, which grows as
 * long as that pays and there is memory, it is written out as a run. */
enum vdbq_status group_store_room(struct group *group,
                                  struct group_store *store, unsigned count,
                                  struct error *error);
/* Writes the table out as a run. */
enum vdbq_status group_store_flush(struct group *group,
                                   struct group_store *store,
                                   struct error *error);
void group_store_forget_runs(struct group_store *store);
/* Notes the partition of each record of the table; ends[p] is where partition p
 * starts. */
void group_store_partitions(const struct group_store *store, uint8_t *parts,
                            uint32_t *ends);
/* Whether runs of the groups are in the file. */
bool group_is_spilled(const struct group *group);
void group_run_finish(struct group_run *run);
/* Records that a run has of a partition; where they begin among all its. */
uint32_t group_run_records(const struct group_run *run, unsigned partition,
                           uint32_t *first);

/* group_spill.c: merges all parts, partition by partition, and gives the groups to
 * `reorder`. There are no parts then. */
enum vdbq_status group_merge_spilled(struct group *group,
                                     struct reorder *reorder,
                                     struct error *error);

/* group_runs.c */
/* Whether parts are merged by partitions: some were written out, or there are
 * many groups. */
bool group_has_runs(const struct group *group);
/* Writes what parts still have in their tables out, too: in memory, or in the
 * file where there is no more; or leaves that to who merges what is in the file.
 * Where memory is short nothing stays scattered. */
enum vdbq_status group_end_runs(struct group *group, struct error *error);
/* Frees the room of partitions, which are no more. */
void group_rooms_finish(struct group *group);
/* Merges runs that are all in memory, and scattered rows: partitions are the
 * group's parts then, unless there is no memory for so many groups and some went
 * to the file. */
enum vdbq_status group_merge_runs(struct group *group, struct error *error);

/* group_write.c: writes the groups of all parts in the order of their first
 * rows; or those of the only one, which has a table, as they lie there. */
enum vdbq_status group_write(struct group *group, struct row_set *row_set,
                             struct error *error);
enum vdbq_status group_write_table(struct group *group, struct row_set *row_set,
                                   struct error *error);

#endif
