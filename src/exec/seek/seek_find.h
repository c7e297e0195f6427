/* SPDX-License-Identifier: MIT */
/*
 * Finding rows: for each tablet that can have some of what a seek looks for,
 * their numbers. Tablets are shared out over the process's workers where that
 * pays.
 */
#ifndef VDBQ_EXEC_SEEK_FIND_H
#define VDBQ_EXEC_SEEK_FIND_H

#include "base/held_error.h"
#include "data/index/edited_run.h"
#include "data/index/run_cache.h"
#include "data/pool/few_rows.h"
#include "exec/seek/seek_terms.h"

/* A tablet that is looked through. */
struct seek_job {
    const struct tablet_ref *ref;
    struct tablet_ref in;    /* ... or the base of its edit, where rows are
                                places                                        */
    struct tablet_ref keys;  /* ... as runs of it are named                   */
    const struct edit *over; /* ... that edit; NULL: it is the tablet         */
    struct pool_slot *slot; /* while columns of it are in memory; or NULL     */
    struct few_rows few;    /* ... or while only its rows are                 */
    const struct run *run;  /* while it is searched; NULL: all values are     */
    const struct run_ref *file; /* the run in the file; NULL: there is none,
                                   or it is of no use                         */
    bool whole;       /* all of that is read, not what is needed alone  */
    bool makes;       /* without a run, one is made                     */
    struct run *made; /* ... or read; until it is kept                  */
    /* of rows to which the edit gives other keys; NULL: there are none   */
    const struct run *edited[EDITED_LEVELS];
    struct run *made_edited[EDITED_LEVELS]; /* ... until they are kept    */
    bool lacks;  /* sieves say that the tablet, without its edit, has none */
    bool vain;   /* ... and so it turned out                               */
    bool unread; /* the run in the file is of no use, and nothing was found   */
    struct held_error error; /* of reading it                              */
    struct vector found; /* of uint32_t: its rows, ascending               */
    bool searched;       /* ... by the device                              */
    uint64_t to;         /* rows that were found in tablets before it      */
    bool failed;         /* there was no memory, or it was to stop         */
};

/* What was searched. */
struct seek_searches {
    uint64_t runs, keys;
};

struct seek_work {
    const struct stream_params *params;
    struct seek_terms terms;
    struct run_place place; /* whose pool has the tablets, and runs       */
    struct seek_job *jobs;  /* in the table's order                       */
    size_t job_count;
    size_t job_room; /* for so many there is memory                       */
    double rows;     /* that are expected; below 0: not known      */
    uint64_t asked;  /* of sieves: the look-up's number; 0: nothing is */
    struct device_times times; /* of bringing tablets in, and of searches    */
    uint64_t load_ns;          /* of bringing tablets in                     */
    struct seek_searches here, there; /* on the host, on the device          */
    enum search_algorithm algorithm;  /* ... that the device took last       */
};

/* The database that its table is in. */
struct database *seek_database(const struct seek_work *work);
/* The run of a job, as caches and the file name it. */
struct run_want seek_want(const struct seek_work *work,
                          const struct seek_job *job);
/* Finds the rows of all tablets. seek_work_end() is due whatever it returns, and
 * seek_work_finish() at last. */
enum vdbq_status seek_find(struct seek_work *work, struct error *error);
/* Frees what was found, but not the room for a few jobs. */
void seek_work_end(struct seek_work *work);
void seek_work_finish(struct seek_work *work); /* accepts a zeroed one */

/* On whatever thread: what is due when rows were found. */
void seek_job_end(const struct seek_work *work, struct seek_job *job);
/* How many keys are looked for in each run that is searched. */
uint64_t seek_keys(const struct seek_work *work);

/* Brings columns of a job's tablet in. `*full`: others are held, beside which
 * there is no room for it, so that it is to be tried again without them. */
enum vdbq_status seek_hold(struct seek_work *work, struct seek_job *job,
                           const unsigned *columns, unsigned count, bool others,
                           bool *full, struct error *error);
/* Lets tablets of jobs go; those that hold none are left as they are. */
void seek_release(struct seek_work *work, struct seek_job *jobs, size_t count);

#endif
