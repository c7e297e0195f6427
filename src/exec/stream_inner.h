/* SPDX-License-Identifier: MIT */
/*
 * Streams from the inside: what each kind of step brings along. For the files
 * of src/exec alone.
 */
#ifndef VDBQ_EXEC_STREAM_INNER_H
#define VDBQ_EXEC_STREAM_INNER_H

#include "exec/relation.h"
#include "exec/stream.h"

/* What a kind of stream does. */
struct stream_calls {
    /* The next rows, as stream_batch(); it is not called again behind the
     * end or a failure. */
    enum vdbq_status (*batch)(struct stream *stream, struct vdbq_batch *batch,
                              struct error *error);
    /* As stream_words(); NULL: no column is a text. */
    struct words *(*words)(const struct stream *stream, unsigned column);
    /* Adds what it has cost itself; may be NULL. */
    void (*stats)(const struct stream *stream, struct vdbq_stats *stats);
    /* Frees what the kind's struct holds, not the struct; may find it half
     * opened. The inputs are still there. */
    void (*close)(struct stream *stream);
};

/* The head of every stream's struct, which is one block of memory. */
struct stream {
    const struct stream_calls *calls;
    const struct stream_params *params;
    const struct step *step;
    struct stream **inputs; /* one for each of the step's; NULL: closed    */
    uint64_t rows_most;     /* about how many rows come, for choosing where
                               to run what reads them                      */
    bool ended;             /* ... or failed: there are no more rows       */
};

/* Closes an input whose rows are all taken, for what it holds. */
void stream_close_input(struct stream *stream, unsigned number);

/* Fails with CANCELLED where the query is to stop. To be asked between
 * batches, and in loops every STREAM_PAUSE_ROWS rows or so. */
enum { STREAM_PAUSE_ROWS = 1 << 16 };
enum vdbq_status stream_pause(const struct stream_params *params,
                              struct error *error);

/* Puts the batch's vectors into `vectors`, with the types that the step's
 * columns have in SQL. */
void stream_retype(const struct stream *stream, struct vdbq_batch *batch,
                   struct vdbq_vector *vectors);

/* Makes `relation` of all rows that are left of a stream, words included;
 * relation_finish() is due whatever it returns. */
enum vdbq_status stream_gather(struct stream *stream,
                               struct relation *relation,
                               struct error *error);

/* Adds what a device took. */
void stream_add_times(const struct device_times *times,
                      struct vdbq_stats *stats);

/* ------------------------------------------------------------- scans -- */

/* The scan of a stream of a table's rows, and its device, where that takes
 * rows itself; NULL: there is none. */
struct scan *stream_scan(struct stream *stream, struct device **device);
/* What is known of its columns, to be released; NULL: no memory. */
struct device_column *stream_scan_columns(struct stream *stream);

/* ---------------------------------------------------------- the kinds -- */

/* A kind of step's stream: the size of its struct, which begins with a struct
 * stream, and what to do when its inputs are open. */
struct stream_kind {
    size_t size;
    struct stream_calls calls;
    enum vdbq_status (*open)(struct stream *stream, struct error *error);
};
extern const struct stream_kind scan_stream, scan_rows, scan_grid,
    join_stream, concat_stream, apply_stream, limit_stream, map_stream, group_stream,
    sort_stream, window_stream, values_stream;

#endif
