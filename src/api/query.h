/* SPDX-License-Identifier: MIT */
/*
 * What a query is inside. For the files of src/api only.
 */
#ifndef VDBQ_API_QUERY_H
#define VDBQ_API_QUERY_H

#include "api/session.h"
#include "exec/scan.h"
#include "parser/ast.h"
#include "plan/plan.h"

enum query_state {
    QUERY_READY,   /* not run, or to be run again */
    QUERY_RUNNING, /* rows may come               */
    QUERY_ENDED
};
/* How rows of this run are read; not to be mixed. */
enum query_reading { READING_NOT, READING_ROWS, READING_BATCHES };

struct vdbq_query {
    vdbq *db;
    struct vdbq_query *next; /* of the connection's queries            */
    char *text;              /* the statement, or the program          */
    size_t length;           /* of it, in bytes                        */
    struct ast_statement *statement; /* NULL: `text` is a program      */
    struct arena arena;      /* of text, tree and columns              */
    struct plan plan;
    struct arena plan_arena;
    bool planned;
    uint64_t generation;     /* of the catalogue it was planned for    */

    enum query_state state;
    enum query_reading reading;
    struct snapshot snapshot;
    struct scan *scan;
    struct station *station;
    struct run_choice choice;
    struct vdbq_batch batch;
    uint64_t row;            /* of the batch, that comes next          */
    struct vdbq_stats stats;
    char build_text[64];     /* where `stats` points after the scan    */

    struct vector cells;     /* struct text: the row's values that were
                                asked for as text, one a column        */
    struct text lines;       /* EXPLAIN's, joined                      */
    struct vector line_texts; /* of struct vdbq_text, into `lines`     */
    struct vdbq_vector line_vector;
};

/* Makes the lines of EXPLAIN for a planned query; with ANALYZE it has run. */
enum vdbq_status explain_lines(vdbq_query *query);
/* Whether its rows are lines of EXPLAIN. */
bool query_explains(const vdbq_query *query);

#endif
