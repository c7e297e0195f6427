/* SPDX-License-Identifier: MIT */
/*
 * Streams from the inside: what each kind of step brings along. For the files
 * of src/exec alone.
 */
#ifndef VDBQ_EXEC_STREAM_INNER_H
#define VDBQ_EXEC_STREAM_INNER_H

#include "base/threads/stop.h"
#include "exec/rows/batches.h"
#include "exec/rows/row_set.h"
#include "exec/launch/launch_bound.h"
#include "exec/launch/device_rows.h"
#include "exec/launch/launch_tables.h"
#include "exec/launch/sink.h"
#include "exec/stream/stream.h"

/* What a kind of stream does. */
struct stream_calls {
    /* The next rows, as stream_batch(); it is not called again behind the
     * end or a failure. */
    enum vdbq_status (*batch)(struct stream *stream, struct vdbq_batch *batch,
                              struct error *error);
    /* Whether the rows of the last batch stay while the next one is asked for,
     * when no row of it fails; NULL: they never do. */
    bool (*stays)(const struct stream *stream);
    /* As stream_close_up(); NULL: batches are as they are. */
    void (*close_up)(struct stream *stream);
    /* As stream_few(); NULL: it makes no use of it. */
    void (*few)(struct stream *stream, uint64_t rows);
    /* As stream_dictionary(); NULL: no column is a text. */
    struct dictionary *(*dictionary)(const struct stream *stream,
                                     unsigned column);
    /* Adds what it has cost itself; may be NULL. */
    void (*stats)(const struct stream *stream, struct vdbq_stats *stats);
    /* As stream_rest(), once the inputs rest: what it has cost stays there to be
     * told; and as stream_again(), once they are open. Both NULL: it is closed. */
    bool (*rest)(struct stream *stream);
    enum vdbq_status (*again)(struct stream *stream, struct error *error);
    /* Frees what the kind's struct holds, not the struct; may find it half
     * opened. The inputs are still there. */
    void (*close)(struct stream *stream);
    /* For rows that may stay on a device; NULL: they come as batches alone. */
    const struct stream_device_calls *device;
};

/* The same for rows on a device: as the functions below. */
struct stream_device_calls {
    const struct run_place *(*place)(const struct stream *stream);
    struct device_column *(*columns)(struct stream *stream);
    void (*sink)(struct stream *stream, struct sink *sink);
    /* The program that may add rows to groups, each item of `*device` to a table
     * of its own; NULL: there is none. These three are of scans alone. */
    const struct program *(*groups)(const struct stream *stream,
                                    struct device **device);
    /* As `columns`, but where the file is mapped a value may be another. */
    struct device_column *(*bounds)(struct stream *stream);
    /* Groups take the rows, and no batch gives any. */
    enum vdbq_status (*tables)(struct stream *stream,
                               struct launch_tables *tables,
                               struct error *error);
    /* Rows behind the bound of a sort are passed over; of scans alone. */
    void (*bound)(struct stream *stream, const struct launch_bound *bound);
    /* Starts what gives the first rows; NULL: nothing runs before it is waited
     * for. */
    enum vdbq_status (*ahead)(struct stream *stream, struct error *error);
    enum vdbq_status (*advance)(struct stream *stream, bool *more,
                                struct error *error);
};

/* The head of every stream's struct, which is one block of memory. */
struct stream {
    const struct stream_calls *calls;   /* of its kind */
    const struct stream_params *params; /* of the query's run */
    const struct step *step;            /* of the plan */
    struct stream **inputs; /* one for each of the step's; NULL: closed, or the
                               first one of a LIMIT that gives no row      */
    uint64_t rows_most;     /* about how many rows come, for choosing where
                               to run what reads them                      */
    bool *reads;            /* of each column: somebody reads it; values of
                               others need not be written                  */
    bool any_order;         /* nobody sees in which order its rows come    */
    uint8_t *texts;         /* of each column: what is asked of the numbers of
                               its texts, an enum texts_use                */
    bool ended;             /* ... or failed: there are no more rows       */
    struct error *held;     /* comes behind the last rows: stream_hold();
                               NULL: nothing                               */
    bool last;              /* ... which were given                        */
    bool asked;             /* for rows                                    */
    bool rescans;           /* rows that another stream of the step gave   */
    bool rests;             /* it has no rows, and what it cost was told   */
    uint64_t rows;          /* that came so far                            */
    struct account_share memory; /* what it holds of the query's account    */
    uint64_t time_ns; /* of opening, of batches and of closing, with the
                               inputs'; where somebody asks                */

    struct step_limit limit; /* STEP_LIMIT: what it says in this run */
};

/* Reads what a LIMIT says in this run from the row of its second input. */
enum vdbq_status stream_read_limit(struct stream *counts,
                                   struct step_limit *limit,
                                   struct error *error);

/* Whether a failure may be that of a row, so that those before it come. */
bool stream_row_failed(enum vdbq_status status);
/* Has a stream fail with a copy of the error where its rows end. A batch that
 * calls it gives the last rows, those before the one that failed. */
enum vdbq_status stream_hold(struct stream *stream, struct error *error);

/* Fails, as what the plan hopes for is not so: there are more rows, or `too_few`
 * among those of an order. */
enum vdbq_status stream_in_vain(const struct stream_params *params,
                                bool too_few, struct error *error);

/* Tells a stream that the threads of its reader share each batch: short ones
 * are best put together. Before the first is asked for. */
void stream_close_up(struct stream *stream);
/* Tells a stream that its reader is likely to end after so many rows: the first are
 * best made without many others. Before the first is asked for. */
void stream_few(struct stream *stream, uint64_t rows);
/* For the `stays` of a stream that has all its rows. */
bool stream_stays(const struct stream *stream);
/* The next batches, as many as are there at the same time; none: the end. */
enum vdbq_status stream_batches(struct stream *stream, struct batches *batches,
                                struct error *error);

/* The time where somebody asks what steps take; else 0. */
uint64_t stream_clock(const struct stream_params *params);

/* Adds what a stream that ends has cost to what all have; of one that rests that
 * was done. */
void stream_keep_stats(const struct stream *stream);

/* Closes an input whose rows are all taken, for what it holds. */
void stream_close_input(struct stream *stream, unsigned number);

/* A copy of its `reads`, which the caller frees; NULL: no memory. */
bool *stream_copy_reads(const struct stream *stream);
/* Threads that a step may work with, at least 1. */
unsigned stream_threads(const struct stream_params *params);

/* Puts the batch's vectors into `vectors`, with the types that the step's
 * columns have in SQL. */
void stream_retype(const struct stream *stream, struct vdbq_batch *batch,
                   struct vdbq_vector *vectors);

/* Makes `row_set` of all rows that are left of a stream, words included;
 * row_set_finish() is due whatever it returns. stream_materialise_begin() makes
 * it with the words alone. */
enum vdbq_status stream_materialise_begin(struct stream *stream,
                                          struct row_set *row_set,
                                          struct error *error);
enum vdbq_status stream_materialise(struct stream *stream,
                                    struct row_set *row_set,
                                    struct error *error);
/* Adds the next rows to what stream_materialise_begin() made, batch by batch until
 * it has so many. `*ended`: there were no more. */
enum vdbq_status stream_materialise_more(struct stream *stream,
                                         struct row_set *row_set, uint64_t rows,
                                         bool *ended, struct error *error);
/* As stream_materialise() of a stream's first input, whose failure the stream holds. */
enum vdbq_status stream_materialise_some(struct stream *stream,
                                         struct row_set *row_set,
                                         struct error *error);

/* Adds what a device took. */
void stream_add_times(const struct device_times *times,
                      struct vdbq_stats *stats);

/* Whether a scan over so many rows keeps so large a share of them, as the
 * planner thinks, that most tiles of a GPU have one that is kept. */
bool stream_most_live(const struct step *step, uint64_t rows);

/* ---------------------------------------------------- rows on a device -- */

/* The device of a place that takes rows where they are; NULL: it takes none. */
struct device *stream_taker(const struct run_place *place);
/* The place whose device has a stream's rows and takes them itself; the
 * stream's. NULL: there is none. */
const struct run_place *stream_place(const struct stream *stream);
/* That device, or NULL. `*room`: bytes of its memory that a step may take; may
 * be NULL. */
struct device *stream_device(const struct stream *stream, uint64_t *room);
/* Whether no more rows come than `rows_most`. */
bool stream_bounded(const struct stream *stream);
/* Of these rows, so many as an estimate that is wrong by half allows for. */
uint64_t stream_rows_likely(const struct stream *stream);
/* What is known of the columns, to be released; NULL: no memory. */
struct device_column *stream_device_columns(struct stream *stream);
/* What its type, and of a text its words, tell of a column. */
struct device_column device_column_of(const struct step_column *column,
                                      bool nullable,
                                      const struct dictionary *dictionary);
/* A sink takes the rows, and no batch gives any: before the first are asked
 * for. */
void stream_sink(struct stream *stream, struct sink *sink);
/* A scan may pass over rows behind the sort's bound, which outlives it: before
 * the first are asked for. */
void stream_bound(struct stream *stream, const struct step_sort *sort,
                  const struct launch_bound *bound);
/* Has the sink take some more rows, maybe none; `*more`: they were not the
 * last ones. */
enum vdbq_status stream_advance(struct stream *stream, bool *more,
                                struct error *error);
/* The same to the end. */
enum vdbq_status stream_drain(struct stream *stream, struct error *error);
/* Which rows stay on a device. */
struct stream_keep {
    const bool *reads; /* of each column: it is read; outlives the rows       */
    const struct device_column *made; /* columns behind the stream's for what is
                                         made of the rows                    */
    unsigned made_count;              /* of these: they are read              */
};
/* Has all rows of a stream stay on its device, the columns that are read. `*can`
 * false: they cannot, for want of room or since nobody knows how many may come,
 * and none was asked for. A failure of a row leaves those before it.
 * device_rows_finish() is due whatever it returns. */
enum vdbq_status stream_keep(struct stream *stream,
                             const struct stream_keep *keep,
                             struct device_rows *rows, bool *can,
                             struct error *error);
/* The same in two halves: what several streams begin runs at once, where the device
 * has the room. Where `*can` is true and nothing failed, the end is due. */
enum vdbq_status stream_keep_begin(struct stream *stream,
                                   const struct stream_keep *keep,
                                   struct device_rows *rows, bool *can,
                                   struct error *error);
enum vdbq_status stream_keep_end(struct stream *stream,
                                 struct device_rows *rows, struct error *error);
/* Whether rows that a place's device has are so few that the host has worked on
 * them before launches are under way. */
bool stream_is_few(const struct run_place *place, uint64_t rows);

/* -------------------------------------------------------- materialised -- */

/* Puts in a stream's place one that has all its rows where they are best kept: on its
 * device if that has room for them. It was closed then; NULL where that fails. */
enum vdbq_status stream_kept(struct stream **stream, struct error *error);
/* Puts in a stream's place one that has all its rows in memory; it was closed
 * then. */
enum vdbq_status stream_materialised(struct stream **stream,
                                     struct error *error);
/* The rows of such a stream, while none was given out; of others NULL. */
const struct row_set *stream_row_set(const struct stream *stream);

/* Whether the stream that has this head, of a STEP_SCAN over another step's
 * rows, may be a scan_moves. */
bool scan_moves_can(const struct stream *stream);

/* ---------------------------------------------------------- the kinds -- */

/* A kind of step's stream: the size of its struct, which begins with a struct
 * stream, and what to do when its inputs are open. */
struct stream_kind {
    size_t size; /* of its struct, which begins with struct stream */
    struct stream_calls calls;
    enum vdbq_status (*open)(struct stream *stream, struct error *error);
};
extern const struct stream_kind scan_stream, scan_rows, scan_moves, scan_grid,
    join_stream, concat_stream, apply_stream, limit_stream, map_stream,
    group_stream, sort_stream, window_stream, values_stream, fetch_stream,
    seek_stream, device_join_stream, gather_rows_stream, gather_groups_stream,
    gather_ordered_stream, exchange_stream, recurse_stream, working_stream;

/* Which kind joins two open inputs; the second may become another stream. */
enum vdbq_status join_choose(const struct step *step, struct stream **inputs,
                             const struct stream_kind **kind,
                             struct error *error);

#endif
