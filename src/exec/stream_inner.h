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
    /* Frees all but the struct itself; may find it half opened. */
    void (*close)(struct stream *stream);
};

/* The head of every stream's struct, which is one block of memory. */
struct stream {
    const struct stream_calls *calls;
    const struct stream_params *params;
    const struct steps *steps;
    const struct step *step;
    bool ended; /* ... or failed: there are no more rows */
};

/* Makes a zeroed stream of `size` bytes; NULL: no memory. */
void *stream_create(const struct stream_calls *calls, size_t size,
                    const struct stream_params *params,
                    const struct steps *steps, const struct step *step,
                    struct error *error);

/* Opens input `number` of the stream's step. */
enum vdbq_status stream_input(const struct stream *stream, unsigned number,
                              struct stream **input, struct error *error);

/* Fails with CANCELLED where the query is to stop. To be asked between
 * batches, and in loops every STREAM_PAUSE_ROWS rows or so. */
enum { STREAM_PAUSE_ROWS = 1 << 16 };
enum vdbq_status stream_pause(const struct stream_params *params,
                              struct error *error);

/* Makes `relation` of all rows that are left of a stream, words included;
 * relation_finish() is due whatever it returns. */
enum vdbq_status stream_gather(struct stream *stream,
                               struct relation *relation,
                               struct error *error);

/* ---------------------------------------------------------- the kinds -- */

/* Each opens the stream of one kind of step. */
typedef enum vdbq_status stream_opener(const struct stream_params *params,
                                       const struct steps *steps,
                                       const struct step *step,
                                       struct stream **stream,
                                       struct error *error);
stream_opener scan_stream_open;
stream_opener join_open;
stream_opener concat_open;
stream_opener apply_open;
stream_opener limit_open;
stream_opener map_open;
stream_opener whole_open;

/* Kinds of which all rows come at once make them by a function: `input` is
 * the first input, which may be read batch by batch or gathered; `output` is
 * empty and has the step's columns. */
typedef enum vdbq_status relation_maker(const struct stream_params *params,
                                        const struct step *step,
                                        struct stream *input,
                                        struct relation *output,
                                        struct error *error);
relation_maker group_rows;  /* STEP_GROUP  */
relation_maker sort_rows;   /* STEP_SORT   */
relation_maker window_rows; /* STEP_WINDOW */

#endif
