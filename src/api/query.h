/* SPDX-License-Identifier: MIT */
/*
 * What a query is inside. For the files of src/api only.
 */
#ifndef VDBQ_API_QUERY_H
#define VDBQ_API_QUERY_H

#include "api/session.h"
#include "data/database/rows.h"
#include "data/tablet/dictionary_texts.h"
#include "exec/stream/stream.h"
#include "parser/ast.h"
#include "plan/plan.h"

enum query_state {
    QUERY_READY,   /* not run, or to be run again */
    QUERY_RUNNING, /* rows may come               */
    QUERY_ENDED
};
/* How rows of this run are read; not to be mixed. */
enum query_reading { READING_NOT, READING_ROWS, READING_BATCHES };

/* Texts of the batch, made of the numbers of their words. */
struct query_texts {
    struct vdbq_vector *vectors;      /* one a result column */
    struct dictionary_texts *columns; /* likewise */
    unsigned count;                   /* of both */
};

/* Where the time of a run went beside plan and steps; in all nanoseconds. Where that
 * of a change went is known where query_clock() tells it. */
struct query_times {
    uint64_t files_ns;  /* reading files of FROM, since it was told last    */
    uint64_t steps_ns;  /* opening the steps of a change and taking rows    */
    uint64_t write_ns;  /* checking, indexing and writing what changes, with
                           waiting for other writers                        */
    uint64_t commit_ns; /* what is left to be written, and waiting for the
                           disk                                             */
};

/* How a plan is divided among the ranks of a cluster, or among devices. */
struct query_division {
    int gather;        /* the step that brings together what they have; -1:
                          rank 0 runs all of it                              */
    const char *alone; /* ... why; NULL: there is no cluster                 */
    const char *exchange; /* whether a join's sides are exchanged, and why;
                             NULL: there is no such join                   */
    const char *now;      /* ... why the last run was rank 0's alone although it
                          is divided; NULL: it was not                       */
};

/* How DO UPDATE changes any one row, from run to run: upsert_rounds.c. */
struct query_round {
    struct plan plan; /* PLAN_UPSERT                                */
    struct arena arena;
    struct catalogue *planned_for; /* held; NULL: there is no plan       */
};

/* The integer that is the primary key of a row. */
struct inserted_key {
    bool known; /* there is one */
    int64_t key;
};

struct vdbq_query {
    vdbq *db;
    struct vdbq_query *next; /* of the connection's queries            */
    char *text;              /* the statement, or the program          */
    size_t length;           /* of it, in bytes                        */
    struct ast_statement *statement; /* NULL: `text` is a program; a SELECT
                                        without its tree: this is made anew
                                        when it is planned again         */
    struct arena tree;            /* ... of the statement, or its tree      */
    struct arena arena;           /* of text and columns                    */
    bool executes;                /* by EXECUTE, which gave the parameters their
                                     values: nobody else does               */
    struct parameter *parameters; /* one a number of the statement's, whose
                                     texts are owned; NULL: it has none */
    struct plan plan;
    struct arena plan_arena;
    struct query_division division;
    struct session_cluster *cluster; /* that divided the plan; NULL: there
                                        are no other ranks                 */
    bool planned;
    bool replan;             /* parameters are no longer what it is for */
    bool careful;            /* the plan must not hope: query_careful() */
    struct stream_hope hope; /* ... what the run does hope for         */
    unsigned vain;           /* ... which was in vain: so many runs behind
                                one do not hope, ...                     */
    unsigned wary;           /* ... and these are left of them           */
    uint64_t given;          /* rows that the run gave before it was  */
    int64_t now;        /* ... and its time of day; 0: it had none         */
    struct plan former; /* the plan before that, whose names of
                                      columns were handed out; or zeroed   */
    struct arena former_arena;
    struct catalogue *planned_for; /* held; no other has its address   */
    struct query_round round;      /* beside the plan of an INSERT     */

    enum query_state state;
    enum query_reading reading;
    bool failed;              /* the run; it has to be started again    */
    bool begun;               /* it has been run                        */
    struct settings settings; /* of the connection, as the run began        */
    bool home_temporary;      /* the statement changes what is temporary: the
                            database of such is its home                 */
    struct snapshot snapshot; /* of its home                                */
    struct snapshot beside;   /* of the other database; zeroed: none is there */
    uint64_t opened_ns;       /* when `snapshot` was opened                 */
    struct snapshot files;    /* of the database of files; zeroed: none */
    struct catalogue *joined; /* of all these, while rows come; held        */
    struct snapshot seen;     /* what the run reads: not to be closed   */
    struct account account;   /* of what the steps hold                 */
    struct stream_params params;
    struct stream *stream;
    struct stream *resting; /* of the last run, which the next one opens
                                 again, as long as the plan is there; NULL:
                                 it was none that keeps anything        */
    struct vdbq_batch batch;
    struct query_texts texts;
    uint64_t row; /* of the batch, that comes next          */
    struct stream_stats stats;
    struct query_times times;
    uint64_t counted_ns;     /* when stats.sum.total_ns was last counted */
    struct vector counts;    /* of struct step_count: of EXPLAIN ANALYZE */
    struct device *device;   /* that a table is read on, or any; NULL:
                                nothing ran                            */
    struct vector timed;     /* struct device *: which keep times for the
                                run, once each                         */
    enum stand_in stands_in; /* some of it ran on the host in place of the
                                CPU device                             */
    char device_text[96];    /* where `stats` points: what ran, listed */
    char mode_text[64];

    struct inserted_key inserted; /* by the run so far */

    struct rows returned;                 /* what RETURNING gives, or zeroed */
    struct vdbq_vector *returned_vectors; /* ... one a column    */

    struct vector cells;      /* struct text: the row's values that were
                                asked for as text, one a column        */
    struct text lines;        /* EXPLAIN's, joined                      */
    struct vector line_texts; /* of struct vdbq_text, into `lines`     */
    struct vdbq_vector line_vector;
};

/* How many parameters the statement has, whoever gives them values. */
unsigned query_parameter_count(const vdbq_query *query);
/* Room for the parameters' values; frees their texts. */
enum vdbq_status query_parameters_open(vdbq_query *query);
void query_parameters_close(vdbq_query *query);
/* Gives a parameter a value, whose text or array becomes the query's, whatever
 * it returns; the run that had another one ends. */
enum vdbq_status query_bind(vdbq_query *query, unsigned parameter,
                            struct parameter value);

/* The time of the calls on the query, from here on ... */
void query_clock_start(vdbq_query *query);
/* ... and up to here, added to its stats. */
void query_clock_count(vdbq_query *query);
/* The time, where EXPLAIN ANALYZE asks where that of a change goes; else 0. */
uint64_t query_clock(const vdbq_query *query);

/* Has the files of FROM read, and opens their database for the query. */
enum vdbq_status query_files_open(vdbq_query *query);
void query_files_close(vdbq_query *query);
/* temporary.c: finds what database the statement changes, and opens it if it is to
 * have its first temporary table ... */
enum vdbq_status query_find_home(vdbq_query *query);
/* ... and opens what the query sees of the other one. */
enum vdbq_status query_beside_open(vdbq_query *query);
/* All that the query sees where its home has that state: with the other database, and
 * with the files' tables; held. */
enum vdbq_status query_join(vdbq_query *query, const struct catalogue *home,
                            struct catalogue **joined);

/* The next batch of the stream of a change, with its texts, in query->batch; no
 * rows: that was all. */
enum vdbq_status query_change_batch(vdbq_query *query);
/* UPDATE and DELETE of the rows that the query's open stream gives. */
enum vdbq_status query_change_some(vdbq_query *query,
                                   struct transaction *transaction);

/* Whether a run of it changes something and returns rows: RETURNING. */
bool query_returns(const vdbq_query *query);
/* Keeps what is returned of rows first .. first + count - 1: those of the plan's
 * last step, whose columns are `columns`. LIMIT, NO_MEMORY. */
enum vdbq_status query_returned_add(vdbq_query *query,
                                    const struct vdbq_vector *columns,
                                    uint64_t first, uint64_t count);
/* All rows are kept: they can be read once the change is done. */
enum vdbq_status query_returned_end(vdbq_query *query);
/* Puts them into query->batch, which ends the query. */
void query_returned_batch(vdbq_query *query);
void query_returned_forget(vdbq_query *query);

/* returned.c: an INSERT has added that row of the table's columns. */
void query_note_inserted(vdbq_query *query, const struct vdbq_vector *columns,
                         uint64_t row);
/* A run of a statement that changes something has ended: the connection counts
 * what it changed. */
void query_count_changes(vdbq_query *query, enum vdbq_status status);

/* COPY FROM: has the file's rows added in the statement's transaction. */
enum vdbq_status query_copy_from(vdbq_query *query,
                                 struct transaction *transaction);

/* Plans the query for a catalogue and its files, unless that is what it was
 * planned for. */
enum vdbq_status query_plan(vdbq_query *query,
                            const struct catalogue *catalogue);
/* Whether rows of the open transaction wait, the query's plan is one for what the
 * transaction has made, and it neither reads nor changes their tables. */
bool query_is_apart(const vdbq_query *query);
/* Opens the newest snapshot, and plans again if that is not what the plan was
 * made for. */
enum vdbq_status query_snapshot(vdbq_query *query);
/* Opens the stream of the plan's rows, of the query's snapshot. */
enum vdbq_status query_stream(vdbq_query *query);
/* Closes it, if it is open, on all ranks; one that can be opened again rests. */
void query_stream_close(vdbq_query *query);
/* Closes one that rests, before the plan's steps go. */
void query_stream_forget(vdbq_query *query);
/* query_end.c: ends a run: what it held is let go, its rows are gone. */
void query_end(vdbq_query *query);
/* query_careful.c: a plan may hope that nothing fails (plan.h). Whether a run
 * that failed is to go on with one that does not ... */
bool query_hoped(const vdbq_query *query, enum vdbq_status status);
/* ... whether it is to be tried with more rows of an order first, by the same plan, ... */
bool query_hopes_more(vdbq_query *query, enum vdbq_status status);
/* ... and makes the next plan such a one; the failure is forgotten. */
void query_be_careful(vdbq_query *query);
/* Goes on with it behind the rows that were given already. */
enum vdbq_status query_stream_carefully(vdbq_query *query);
/* The next run may hope again; what was kept of the last one is freed. */
void query_hope_again(vdbq_query *query);
/* Frees the plan that is kept for rows that others meet. */
void query_round_forget(vdbq_query *query);
/* That no statement has that name. */
enum vdbq_status query_no_name(vdbq *db, const struct ast_name *name);
/* Whether the statement changes anything, and does so. */
bool query_changes(const vdbq_query *query);
enum vdbq_status query_change(vdbq_query *query);
/* What to say of a change that ends before it began. */
enum vdbq_status query_unchanged(vdbq_query *query, enum vdbq_status status);

/* A value of the row at hand as text, which lives as long as vdbq_query_text() says. False:
 * no memory. */
bool query_text(vdbq_query *query, unsigned column, const char **text);

/* Puts texts in place of the numbers of words in the query's batch. */
enum vdbq_status query_texts_make(vdbq_query *query);
void query_texts_finish(struct query_texts *texts); /* accepts zeroed */

/* Makes the lines of EXPLAIN for a planned query; with ANALYZE it has run. */
enum vdbq_status explain_lines(vdbq_query *query);
/* Whether it is EXPLAIN. */
bool query_explains(const vdbq_query *query);
/* Whether its rows are lines of text: those of EXPLAIN, or of a check. */
bool query_has_lines(const vdbq_query *query);
/* Has the query's lines, each of which ends with a newline, be its rows. */
enum vdbq_status query_lines_end(vdbq_query *query);
/* Makes those of PRAGMA integrity_check. */
enum vdbq_status query_check(vdbq_query *query);

#endif
