/* SPDX-License-Identifier: MIT */
/*
 * What the files of the join share. A finder tells for each left row where
 * its candidates are; the search counts what that gives, so that every thread
 * knows where its share of the pairs goes; rounds make rows of pairs.
 *
 *     join.c         the stream: both sides, and rounds until they end
 *     join_left.c    few left rows taken first, which the right side is
 *                    filtered by
 *     join_search.c  candidates of the left rows at hand, cut by pairs
 *     join_round.c   pairs to output rows
 *     join_index.c   equal keys: the index (join_probe.c looks up in it,
 *                    join_keys.c makes numbers of keys)
 *     range_join.c   bounds: right rows that are sorted
 *                    (range_join_write.c writes what is found)
 *     join_partitions.h   right rows that do not fit into memory
 */
#ifndef VDBQ_EXEC_JOIN_H
#define VDBQ_EXEC_JOIN_H

#include <stdatomic.h>

#include "exec/join/condition.h"
#include "exec/join/range_join.h"
#include "exec/join/join_index.h"
#include "exec/stream/stream_inner.h"

/* For each thread: */
enum {
    LEFT_ROWS_EACH =
        1 << 17,         /* rows of the left input joined at once, at most */
    PAIRS_EACH = 1 << 16 /* pairs of a round, at most ...                   */
};
enum {
    PAIRS_FIRST = 1 << 10
}; /* ... and of the first one, by all threads    */

/* ------------------------------------------------------------- search -- */

struct join_search;

/* How candidates of left rows are found. */
struct join_finder {
    /* For left rows [first, first + rows) at hand, JOIN_BLOCK at most: sets
     * search->starts[i] and counts[i] to where candidates of row i are in
     * the search's list, in ascending order of right rows. Called by several
     * threads, for different rows. */
    void (*find)(const struct join_search *search, uint64_t first,
                 unsigned rows);
    /* Where candidates are in no list: writes those of a row, from number
     * `skip` on. NULL: they are in the list. */
    void (*write)(const struct join_search *search, uint64_t row, uint32_t skip,
                  uint32_t count, uint32_t *right);
};
extern const struct join_finder join_find_all;     /* each right row */
extern const struct join_finder join_find_equal;   /* by the index   */
extern const struct join_finder range_join_search; /* by bounds      */

/* What a left row gives, by the kind of the join: so many slots, each one pair
 * or the row alone. */
enum join_slots {
    SLOTS_PAIRS,     /* its candidates                                      */
    SLOTS_PAIRS_END, /* ... and its end behind them, which asks what became
                        of them                                             */
    SLOTS_OUTER,     /* its candidates, or the row alone                    */
    SLOTS_WITH,      /* the row alone, where it has candidates              */
    SLOTS_WITHOUT,   /* ... where it has none                               */
    SLOTS_ONE        /* the row alone                                       */
};

struct join_search {
    const struct step_join *step; /* of the plan */
    /* how partners are found: by keys or by range */
    const struct join_finder *finder;
    enum join_slots slots;
    bool single;             /* no row has several candidates               */
    unsigned threads;        /* to work with at most                        */
    const uint32_t *list;    /* right rows; NULL: numbers of the list are
                               right rows themselves                       */
    uint64_t right_rows;     /* of the right side */
    struct join_keys keys;   /* join_find_equal                             */
    struct join_index index; /* of the right side's keys */
    struct range_join range; /* range_join_search                           */
    const struct row_set *left; /* the rows at hand                       */
    uint64_t left_room; /* rows that there is room for in these:       */
    uint32_t *starts, *counts;
    uint64_t *before;    /* slots before each block of rows at hand, and
                               of all at the end                           */
    uint64_t slot_count; /* of the rows at hand                         */
};

struct join_search_params {
    const struct step_join *step; /* of the plan */
    const struct row_set *right;  /* stays as it is */
    const struct stream *left;    /* gives the left rows */
    uint32_t *const
        *texts; /* translate the left words (join_keys.h), or NULL */
    bool which; /* somebody asks which right rows are joined, not only
                   how many                                         */
    const struct key_counts *counted; /* has the right rows, which outlives
                                         the search; NULL: `right` has them */
    unsigned threads;                 /* to work with at most */
};
/* Looks at the right rows and chooses a finder. join_search_finish() is due
 * whatever it returns, and accepts a zeroed struct. */
enum vdbq_status join_search_init(struct join_search *search,
                                  const struct join_search_params *params,
                                  struct error *error);
void join_search_finish(struct join_search *search);

/* Takes other left rows to hand, which stay until the next call, and counts
 * their slots. */
enum vdbq_status join_search_begin(struct join_search *search,
                                   const struct row_set *left,
                                   struct error *error);
/* Writes slots [from, from + count): rows, ROW_SET_NO_ROW beside those that
 * are alone. `right` is left as it is where all are. */
void join_search_slots(const struct join_search *search, uint64_t from,
                       uint64_t count, uint32_t *left, uint32_t *right);
/* Whether each left row at hand has one slot. */
bool join_search_plain(const struct join_search *search);

/* --------------------------------------------------------- the stream -- */

/* Slots of a round. */
struct join_pairs {
    uint32_t *left, *right; /* row numbers, one a pair */
    uint8_t *kept;          /* by the condition */
    uint64_t count, room;   /* pairs, and those there is room for */
};

struct join_stream {
    struct stream head;        /* first */
    unsigned threads;          /* that search at the same time */
    struct row_set right;      /* all rows of the right side; where they are
                                  counted, those that are not yet          */
    struct key_counts counted; /* right rows of which nothing matters but how
                                  many have a key; no bits and no counts: they
                                  are in `right`                            */
    struct row_set early;      /* left rows that came before the right ones */
    struct error left_failure; /* what came behind them; status OK: nothing */
    struct vdbq_batch pending; /* left rows, used up to `pending_next`      */
    struct vdbq_vector *early_vectors; /* of the first one                  */
    uint64_t pending_next;             /* of `pending` */
    struct row_set left;         /* the rows at hand: a view of `pending`     */
    uint64_t slot;               /* of theirs: the next round's first one     */
    struct join_search search;   /* finds the partners of left rows */
    struct join_pairs pairs;     /* of this round */
    struct condition condition;  /* what is left of ON */
    bool matched;                /* the left row at hand has a partner        */
    bool right_null;             /* JOIN_MARK: a right key is NULL            */
    bool right_any;              /* ... there is a right row                  */
    atomic_uchar *partners;      /* JOIN_RIGHT, _FULL: a right row has one    */
    bool left_ended;             /* the left side has no more rows */
    uint64_t right_next;         /* JOIN_RIGHT, _FULL: the row to look at next,
                                  when the left ones have ended             */
    struct row_set output;       /* rows of the batch */
    struct vdbq_vector *vectors; /* of the batch */
    /* NULL: the right rows are all at hand */
    struct join_partitions *partitions;
    /* Of a pass over a partition (join_partitions.h), whose left rows have
     * numbers behind their columns if somebody sees the order: */
    bool numbered;
    bool copies; /* rows are in `output`, also those that are as they came   */
    uint32_t *const *texts; /* of each key, what translates left words   */
    const uint64_t *left_numbers;  /* of the rows at hand                   */
    uint64_t failed_left;          /* ... of which one failed: its number   */
    const uint64_t *right_numbers; /* of right rows; JOIN_RIGHT             */
    uint64_t *numbers;             /* of the output rows; room for those of a
                                  round                                     */
};

/* Whether somebody asks which right rows are joined: a condition, right rows
 * without a partner, what joins in partitions, or whoever reads their
 * columns. */
bool join_asks_which(const struct join_stream *join);
/* Notes what JOIN_MARK asks of all right rows, of those that are there now. */
void join_note_right(struct join_stream *join);
/* The right rows are counted, all or some. */
static inline bool join_is_counted(const struct join_stream *join)
{
    return join->counted.values > 0;
}

/* Makes ready to join, when the right rows are there, and how left ones will
 * be looked at. */
enum vdbq_status join_begin(struct join_stream *join, struct error *error);

/* join_view.c: a row set with the words of a stream, which views rows of its
 * batches; row_set_view_finish() is due whatever it returns. */
enum vdbq_status join_view_init(struct row_set *row_set,
                                const struct stream *stream,
                                struct error *error);
/* join_left.c: takes the right side; where the left one is much smaller, those
 * rows alone that may have a partner. */
enum vdbq_status join_materialise(struct join_stream *join,
                                  struct error *error);

/* join_round.c: makes rows of the next slots of the left rows at hand, of
 * which there are some left: maybe none. */
enum vdbq_status join_round(struct join_stream *join, struct vdbq_batch *batch,
                            struct error *error);
/* ... of right rows without a partner, when there are no left rows any more;
 * none: that were all. */
enum vdbq_status join_round_alone(struct join_stream *join,
                                  struct vdbq_batch *batch,
                                  struct error *error);
void join_round_finish(struct join_stream *join);

#endif
