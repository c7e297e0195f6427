/* SPDX-License-Identifier: MIT */
/*
 * What all of planning works with: the statement, the catalogue, the memory that
 * everything made lives in, and the first failure. Binding keeps its state in it,
 * too.
 *
 * Functions of the planner that return a pointer return NULL where they fail, with
 * the failure in the binder's error.
 */
#ifndef VDBQ_PLAN_TREE_BINDER_H
#define VDBQ_PLAN_TREE_BINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/tree/collating.h"

struct arena;
struct ast_query;
struct catalogue;
struct common;
struct error;
struct estimate_samples;
struct expression;
struct machine;
struct parameter;
struct plan_basis;
struct plan_limits;
struct scope;
struct trace;
struct vector;
struct view;
struct with_name;

/* What the word DEFAULT is in the rows of a query: in each, `count` values. */
struct row_defaults {
    const struct ast_query *rows;
    struct expression *const *values;
    unsigned count;
};

/* What binding needs to know. */
struct binder {
    const char *sql; /* the statement's text             */
    size_t sql_length;
    const struct catalogue *catalogue;
    const char *schema;  /* of names without one: SCHEMA_MAIN in views of the
                            file, which see nothing else; NULL: any       */
    struct arena *arena; /* of all that is made              */
    struct error *error;
    struct scope *scope; /* of the query being bound         */
    struct with_name *with;
    const struct parameter *parameters; /* of `?`; may be NULL      */
    int value_count;                    /* of these                         */
    int parameter_count;                /* numbers given so far             */
    bool constants;                     /* parameters are constants here    */
    bool values_used;                   /* ... and there was one            */
    struct collating
        collating; /* that COLLATE says of the expression being bound,
                          the first in its text                  */
    const struct row_defaults *defaults; /* of INSERT's VALUES; or NULL */
    /* nobody asks for rows: lists of the catalogue are empty */
    bool columns_only;
    bool bound;  /* all names are: what is compared now is compared as it is */
    bool merges; /* nodes that compute become one with those below as they
                    are made: not while binding */
    const char *passes_out;      /* left out: passes.h; NULL: none        */
    unsigned views;              /* that are open, in one another    */
    const struct view *replaced; /* OR REPLACE: nobody finds it; NULL: none */
    unsigned deep;               /* queries, in one another          */
    unsigned quantified;         /* ANY and ALL, in one another      */
    unsigned randoms;            /* calls of random()                */
    unsigned nodes;              /* that were made                   */
    struct common *commons, *commons_last; /* inner ones first */
    unsigned recursive_reads; /* of a recursive query's own rows, so far */
    unsigned asking;          /* queries being rewritten that ask for values */
    unsigned steps;           /* that were made                   */
    unsigned counts;          /* of nodes' readers, so far        */
    unsigned estimates;       /* of trees, so far                 */
    bool orders;              /* joins: estimate rule 5           */
    const struct plan_limits *limits; /* NULL: none                 */
    bool hopes;       /* what can fail is unnested, too: plan.h            */
    bool hoped;       /* ... and was                                      */
    bool hoped_few;   /* few rows are hoped for: plan.h                   */
    uint64_t lookups; /* of names, so far                 */
    struct vector *meanings;          /* of these names: meaning.h; NULL:
                                         nobody asks                       */
    struct machine *machine;          /* for folding, once needed         */
    struct estimate_samples *samples; /* what looks at samples; NULL: nothing */
    struct plan_basis *basis;         /* what the plan stands on: basis.h */
    struct trace *trace;              /* of EXPLAIN (TREE); else NULL */
    int64_t *now;                     /* the statement's time, in the units of a
                                   TIMESTAMP; 0: not asked for yet  */
};

#endif
