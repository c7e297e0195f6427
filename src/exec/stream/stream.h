/* SPDX-License-Identifier: MIT */
/*
 * A stream: the rows of one step, batch by batch, as they are asked for. What
 * must see all rows first (a sort, a group, one side of a join) does so while
 * it is opened; the rest runs as rows are asked for.
 *
 * Which failure a query ends with follows from statement and data alone, as if
 * its steps were run row by row by one thread (the serial order):
 *   1. Steps are opened inputs first, in their order.
 *   2. A step gives all its rows before the first that fails; the call behind
 *      them fails. Within a row the first instruction, or function, that fails
 *      is the one that is told of.
 *   3. A step that takes rows from one that fails does with those before the
 *      failure what it does with any, so that a failure of its own that belongs
 *      to one of them comes first; and where nobody asks for more rows, as
 *      above a LIMIT, the failure is not met.
 *   4. A join judges the pairs of a left row, in the order of right rows, before
 *      those of the next.
 *   5. What must see all rows fails where its input fails.
 */
#ifndef VDBQ_EXEC_STREAM_H
#define VDBQ_EXEC_STREAM_H

#include "base/account.h"
#include "base/os/os.h"
#include "data/pool/pool.h"
#include "data/tablet/dictionary.h"
#include "exec/launch/resident.h"
#include "exec/launch/launcher.h"
#include "exec/launch/run_place.h"
#include "exec/stream/ranks.h"
#include "program/parameter.h"
#include "program/steps/steps.h"

struct recurse_round;
struct stream;
struct stream_kind;

/* What streams have cost, added up when each is closed. */
struct stream_stats {
    struct vdbq_stats sum; /* of all steps so far */
    char build[64];  /* where sum.build points: the builds that ran, listed */
    char steps[512]; /* ... and sum.steps                                   */
    struct vector *counts; /* of struct step_count: what each step came to;
                              NULL: nobody asks                             */
};
void stream_stats_init(struct stream_stats *stats);
/* Adds a name to a list of them, if it is not there yet. */
void stream_list(const char *name, char *room, size_t size);

/* A plan may hope that few rows are found, or that the first ones of an order are
 * enough (step_seek, step_sort). Where that is in vain a step fails, and the caller
 * goes on with a plan that does not hope. */
struct stream_hope {
    uint64_t times; /* seeks of an order's ends find so many times the rows that
                       the plan hopes for                                  */
    bool left_out;  /* they left others out                                */
    bool vain;      /* a step failed for that, and not for what it says ... */
    bool too_few;   /* ... and more rows of an order may do                */
};

/* What all streams of a run share. */
struct stream_params {
    const struct snapshot *snapshot; /* that the query sees */
    /* The place where `program` (NULL: none; rows are only looked at) runs over
     * `rows` rows: of the table, or where that is NULL, of another step. */
    enum vdbq_status (*choose)(void *context, const struct table *table,
                               const struct program *program, uint64_t rows,
                               struct run_place *place, struct error *error);
    void *choose_context; /* for `choose` */
    /* The kind of a stream that has its head and open inputs: operator_kind().
     * A pointer, since kinds are defined on top of streams. */
    enum vdbq_status (*choose_kind)(const struct stream *head,
                                    const struct stream_kind **kind,
                                    struct error *error);
    const struct parameter *parameters; /* of the query; may be NULL       */
    unsigned parameter_count;           /* of `parameters` */
    unsigned threads;                   /* of the host to work with at most;
                                           0: one                          */
    bool nested;                        /* it runs once for each row of a
                                           step: how far it is tells nobody */
    const struct recurse_round *round;  /* of a recursion's term: the rows of
                                           the round before; else NULL    */
    struct stream_stats *stats;         /* added to when a stream closes   */
    struct account *account;            /* of what steps hold; NULL: there
                                           is no limit                     */
    const struct os_file_calls *files;  /* temporary ones; NULL: those of the
                                           system                          */
    struct stream_hope
        *hope;           /* what the steps hope for; NULL: for nothing    */
    struct ranks *ranks; /* that run the query together; NULL: this process
                            runs it alone                                  */
};

/* Opens the rows of the last step, and of its inputs; `use`: what the caller asks
 * of the numbers of texts. `steps` and `params` outlive it. */
enum vdbq_status stream_open(const struct stream_params *params,
                             const struct steps *steps, enum texts_use use,
                             struct stream **stream, struct error *error);
/* The same of step `number` in place of the last one, as its readers read it. */
enum vdbq_status stream_open_at(const struct stream_params *params,
                                const struct steps *steps, enum texts_use use,
                                int number, struct stream **stream,
                                struct error *error);
void stream_close(struct stream *stream); /* accepts NULL */
/* Ends a stream without freeing what follows from its steps alone, so that it can
 * be opened once more; what it has cost is told. It knows nothing of a snapshot
 * then. False: it is one that keeps nothing, or too much, and is to be closed. */
bool stream_rest(struct stream *stream);
/* Opens one that rests for what its params, at the same place, say now: its steps
 * must be good for their snapshot. On failure it is closed. */
enum vdbq_status stream_again(struct stream *stream, struct error *error);

/* The next rows; rows 0: the end. A vector's `type` is that of SQL, its values
 * are the machine's: for VDBQ_TEXT, int32_t numbers of stream_dictionary().
 * They live until the next call. */
enum vdbq_status stream_batch(struct stream *stream, struct vdbq_batch *batch,
                              struct error *error);

/* Adds what the stream and its inputs have cost so far to `stats`. What they
 * closed is in the params' stats already. */
void stream_add_stats(const struct stream *stream, struct vdbq_stats *stats);

/* The words of a text column, the same from opening to end; where no more is asked
 * of it than TEXTS_PASSING, those of the last batch, until the next call of
 * stream_batch(). NULL for other columns. Held by the stream. */
struct dictionary *stream_dictionary(const struct stream *stream,
                                     unsigned column);

#endif
