/* SPDX-License-Identifier: MIT */
/*
 * The scan: a program run over the tablets of a table, as its rows are asked
 * for; in some modes launches are under way ahead of them.
 */
#ifndef VDBQ_EXEC_SCAN_H
#define VDBQ_EXEC_SCAN_H

#include "exec/build_side/build_side.h"
#include "exec/stream/stream.h"

struct scan_params {
    struct launcher_params launcher;    /* its place outlives the scan; what
                                           programs leave open is found here */
    const struct stream_params *stream; /* outlives the scan                 */
    struct build_side *build_side;      /* rows that the program probes, put
                                           in place here; NULL: none         */
    const uint8_t *texts; /* of each column of the result: what is asked of the
                             numbers of texts (enum texts_use)               */
    const struct ranks *ranks; /* that share its tablets; NULL: it has all   */
};

struct scan;

/* Rows of a table whose scan may rest, at most: its launches have little memory. */
enum { SCAN_REST_ROWS = 1 << 10 };

enum vdbq_status scan_open(const struct scan_params *params, struct scan **scan,
                           struct error *error);
void scan_close(struct scan *scan);
/* As stream_rest(), of a scan of few rows without words and build sides; it holds no
 * tablet then. */
bool scan_rest(struct scan *scan);
/* Opens one that rests for what the params say now: the program, and where it runs,
 * are as they were. On failure it is to be closed. */
enum vdbq_status scan_again(struct scan *scan, const struct scan_params *params,
                            struct error *error);

/* From now on a sink takes the rows; as launcher_sink(). */
void scan_sink(struct scan *scan, struct sink *sink);
/* From now on rows are added to groups. */
enum vdbq_status scan_tables(struct scan *scan, struct launch_tables *tables,
                             struct error *error);
/* From now on rows behind the bound of the sort that takes them are passed over;
 * it outlives the scan. */
void scan_bound(struct scan *scan, const struct launch_bound *bound);
/* The ranges of what is in the tablets' facts; like scan_ranges(), but values
 * may be others. */
bool scan_bounds(struct scan *scan, struct interval *ranges);
/* The rows that a sink, or groups, took so far. */
uint64_t scan_taken_rows(const struct scan *scan);
/* What is known of the values that are not NULL of the result's columns, as
 * far as the facts of all tablets tell: an interval for each. False: nothing,
 * or no memory. */
bool scan_ranges(struct scan *scan, struct interval *ranges);

/* The next result rows, in table order; rows 0: the end. They live until the
 * next call. */
enum vdbq_status scan_batch(struct scan *scan, struct vdbq_batch *batch,
                            struct error *error);

/* Launches are small at first, for a reader that is likely to end after so many
 * rows. */
void scan_few(struct scan *scan, uint64_t rows);
/* As launcher_close_up(). */
void scan_close_up(struct scan *scan);
/* As launcher_stays(). */
bool scan_stays(const struct scan *scan);

/* Starts launches that give the first rows, for who takes them later: of a small
 * table that the device has. */
enum vdbq_status scan_ahead(struct scan *scan, struct error *error);
/* Has the sink take the rows of one launch more; `*more`: it was not the last
 * one. */
enum vdbq_status scan_advance(struct scan *scan, bool *more,
                              struct error *error);

/* The words of a text column of the result; NULL: the program has none. The
 * scan's. */
struct dictionary *scan_dictionary(const struct scan *scan, unsigned column);

/* Adds what the scan has cost so far to `stats`. */
void scan_stats(struct scan *scan, struct vdbq_stats *stats);

#endif
