/* SPDX-License-Identifier: MIT */
/*
 * From the tree of a statement and the catalogue to what is to be done: the
 * steps of a SELECT, or the facts of a change. A plan holds for the
 * catalogue it was made from and no other: which opcodes a program may use
 * follows from the values the tables had then.
 *
 * The rooms of the planner, in the order in which each may use those before it:
 *
 *   tree       expressions and nodes: what they are, what is known of them
 *   code       expressions become registers and jumps, SELECTs programs
 *   make       new expressions, with their types, and new nodes
 *   sample     what expressions give for the sample of a table
 *   bind       a query's text becomes a plain tree: names are looked up
 *   rewrite    the tree becomes one that costs less: a list of passes
 *   lower      the tree becomes steps
 *   statement  which kind of statement goes which way
 */
#ifndef VDBQ_PLAN_PLAN_H
#define VDBQ_PLAN_PLAN_H

#include "data/catalogue/catalogue.h"
#include "parser/ast.h"
#include "program/parameter.h"
#include "program/steps/steps.h"

enum plan_kind {
    PLAN_EMPTY, /* nothing is to be done */
    PLAN_SELECT,
    PLAN_CREATE_TABLE,
    PLAN_CREATE_VIEW,
    PLAN_CREATE_INDEX,
    PLAN_ALTER,
    PLAN_DROP_TABLE,
    PLAN_DROP_VIEW,
    PLAN_DROP_INDEX,
    PLAN_REINDEX,
    PLAN_INSERT,
    PLAN_UPSERT,  /* DO UPDATE, for rows that are known */
    PLAN_CHANGE,  /* UPDATE and DELETE of some rows */
    PLAN_REWRITE, /* UPDATE and DELETE of most */
    PLAN_COPY_FROM,
    PLAN_BEGIN,
    PLAN_COMMIT,
    PLAN_ROLLBACK,
    PLAN_SAVEPOINT,
    PLAN_RELEASE,
    PLAN_ROLLBACK_TO,
    PLAN_VACUUM,
    PLAN_CHECK /* PRAGMA integrity_check */
};

struct plan_create {
    const char *name;
    struct column *columns;
    unsigned column_count;
    unsigned key;          /* the primary key's column, or NO_KEY             */
    struct vector uniques; /* of struct unique: columns that are UNIQUE
                              together, or a PRIMARY KEY of several; in the
                              plan's arena                                 */
    struct vector
        checks; /* of struct row_check, likewise                       */
    bool if_not_exists; /* a table of that name is no failure, and is kept */
    bool replaces;      /* ... and is dropped first                        */
    bool from_query;    /* CREATE TABLE AS: the plan's steps fill it       */
};

struct plan_view {
    const char *name;
    const char *sql; /* the CREATE VIEW statement */
    bool if_not_exists;
    bool replaces;  /* a view of that name is dropped first */
    bool temporary; /* it is the connection's own */
};

struct plan_index {
    const char *name;
    uint32_t table_id;
    bool unique;
    bool if_not_exists;
    unsigned column_count;
    unsigned *columns;          /* of the table; with `keys` their numbers */
    enum collation *collations; /* of each; NULL: the columns' own */
    struct index_keys *keys;    /* without an origin; NULL: it is of columns
                                   of all rows                          */
};

/* ALTER TABLE. Where all rows go, the plan's steps give them as they are then. */
struct plan_alter {
    struct alteration alteration;
    const char *table; /* its name before */
    bool nothing;      /* IF EXISTS, IF NOT EXISTS: there is nothing to do */
};

/* DROP TABLE, VIEW, INDEX; REINDEX. */
struct plan_drop {
    const char *name; /* REINDEX: of a table or index; NULL: all of them */
    bool if_exists;   /* that there is none is no failure */
};

/* A parameter that is the value of a column as it is given. */
struct plan_parameter {
    unsigned number; /* of the parameter, from 0 on    */
    unsigned column; /* of the table                   */
    bool nullable;   /* the column takes NULL          */
    uint8_t null;    /* it is NULL; then the value is 0 */
    union {
        int64_t integer; /* BIGINT; INTEGER is in its first bytes */
        double real;
        struct vdbq_text text;
    } value; /* the column's vector points here */
};

/* Rows in the types of the table's columns: `vectors`, or (`from_query`) what
 * the plan's steps give. */
struct plan_insert {
    uint32_t table_id;
    enum conflict conflict;
    unsigned integer_key; /* the primary key, if it is one integer; or NO_KEY */
    bool ignores_broken;  /* OR IGNORE: rows that break NOT NULL or a CHECK are
                            left out, too                                  */
    bool from_query;
    uint64_t rows;
    unsigned column_count;         /* of the table                        */
    struct vdbq_vector *vectors;   /* one a column, in the table's order  */
    struct conflict_target target; /* of ON CONFLICT: other conflicts fail;
                                      count 0: there is none              */
    bool updates;                  /* DO UPDATE, which sets `set_count`
                                      columns                             */
    bool moves; /* ... some of which are unique, so that what a row meets
                   depends on all rows before it                          */
    unsigned set_count;
    unsigned *sets;           /* the table's numbers of them */
    unsigned parameter_count; /* of `parameters`; 0 unless it is one row */
    struct plan_parameter *parameters; /* that plan_insert_fill() has to give
                                          values before each run         */
    bool of_any; /* whatever types parameters have, for it reads no others */
};

/* The first columns of PLAN_UPSERT's last step; behind them are the columns of the
 * table as they are afterwards, of rows that come in any order. */
enum {
    UPSERT_NUMBER, /* of the row that comes, from 0                       */
    UPSERT_MET,    /* that of the row in the table that it meets          */
    UPSERT_KEPT,   /* whether that changes: WHERE is true                 */
    UPSERT_BEFORE
};

/* Rows of an INSERT that meet others, with the table's columns. */
struct plan_conflicts {
    uint64_t rows;
    bool
        any; /* it is one row, whose values each run puts into plan_upsert, that
                 meets one of the table; else these:                       */
    const struct vdbq_vector *coming;
    const struct vdbq_vector
        *before; /* the rows that they meet; NULL: these are
                                         in the table                     */
};

/* PLAN_UPSERT. */
struct plan_upsert {
    struct vdbq_vector
        *coming; /* of any row: a value and a flag of each column,
                                   to be written before the steps are opened;
                                   else NULL                               */
};

/* The plan's steps give the rows that change, in the order of the table: the
 * number of each, then its new values. */
struct plan_change {
    uint32_t table_id;
    unsigned column_count; /* that get new values; 0: the rows go */
    unsigned *columns;     /* the table's numbers of them */
    bool joined;           /* rows come in any order, and one may come several
                              times: that with the least new values counts */
};

/* RETURNING: results, `count` columns of the last step from number `first` on,
 * of each row that changes. */
struct plan_returned {
    unsigned first, count;
};

/* The plan's steps give all rows that the table has from then on. */
struct plan_rewrite {
    uint32_t table_id;
    bool marked; /* one column more tells which of them UPDATE changed */
};

struct plan_copy {
    uint32_t table_id;
    const char *file; /* of the statement's tree */
};

struct plan {
    enum plan_kind kind;
    enum ast_explain explain;
    bool of_values; /* it holds for the parameters' values; else for any of
                       their types                                      */
    bool of_now;    /* it holds for one run: it has the time of day */
    int64_t now;    /* ... which is this; 0: it has not            */
    bool hopes;     /* it computes values that nobody may come to. Where one
                       fails (RANGE or TYPE), a plan with `careful` limits tells
                       what the query gives: the same rows in the same order,
                       and perhaps no failure                           */
    bool hopes_few; /* ... or that few rows are found: struct stream_hope  */
    bool stands; /* of rows, or a change of some: plan_holds() knows by ... */
    bool exact;  /* ... whether it has what is so of these rows alone, ... */
    unsigned table_count;   /* ... which tables it is about         */
    const uint32_t *tables; /* ... by their ids, whether it holds   */
    const char *copy_to;    /* PLAN_SELECT of COPY TO: the file; else NULL */
    const char *tree;       /* of EXPLAIN (TREE): lines about how the steps came
                            to be; else NULL                            */
    struct steps steps;     /* not checked yet; of PLAN_SELECT, and of others
                            that say so; else empty                     */
    struct plan_returned returned; /* of INSERT, UPDATE, DELETE; count 0: it
                                      returns no rows                     */
    union {
        struct plan_create create;
        struct plan_view view;
        struct plan_index index;
        struct plan_alter alter;
        struct plan_drop drop;
        struct plan_insert insert;
        struct plan_upsert upsert;
        struct plan_change change;
        struct plan_rewrite rewrite;
        struct plan_copy copy;
    };
};

/* What the caller sets for a plan: among others, the bytes for rows which one
 * program finds by their keys: so many as these are estimated to take, and at
 * worst twice as many. But for `given` it never decides which rows a query
 * gives, or in what order. */
struct plan_limits {
    uint64_t probed_bytes;                  /* that always can be          */
    uint64_t (*probed_most)(void *context); /* that can be; asked only where
                                               the former is not enough;
                                               NULL: no more than that     */
    void *context;
    uint64_t held_bytes; /* of new values that a change may hold; 0: no limit */
    bool careful;        /* the plan must not hope that no value fails, ... */
    bool hopes_few; /* ... but may, if not so, that few rows are found      */
    bool converts;  /* plan_insert_fill() has failed: the planner is to read
                       the parameters of INSERT itself                  */
    int64_t now;    /* the time of day, as of a plan; 0: it is now      */
    uint64_t given; /* so many first rows of a SELECT are known already */
    const struct vdbq_changes *changes; /* what changes() and its siblings give;
                                           NULL: 0                          */
    const struct plan_conflicts *conflicts; /* what an INSERT is to be planned
                                               for: PLAN_UPSERT; else NULL  */
};

/*
 * Plans a statement. `sql` is the text that it was parsed from; `parameters`
 * are as many as the statement has (NULL: none has a value); `limits` may be
 * NULL: there are none. What is not the steps' own lives in `arena`. The plan
 * is to be finished with plan_finish(); after a failure there is nothing to
 * finish.
 * Fails with UNKNOWN, EXISTS, TYPE, RANGE, CONSTRAINT, SYNTAX, LIMIT,
 * NO_MEMORY; positions count from `sql`.
 */
enum vdbq_status plan_statement(const struct ast_statement *statement,
                                const char *sql, size_t sql_length,
                                const struct catalogue *catalogue,
                                const struct parameter *parameters,
                                const struct plan_limits *limits,
                                struct arena *arena, struct plan *plan,
                                struct error *error);
void plan_finish(struct plan *plan);

/* Whether what a statement makes, changes or drops is a temporary table or view, or an
 * index of one; `temporary`: the catalogue of these, NULL: there are none. */
bool plan_is_temporary(const struct ast_statement *statement,
                       const struct catalogue *temporary);

/* Gives the parameters of a planned INSERT the values of a run. False: one of
 * them does not go into its column as it is. */
bool plan_insert_fill(struct plan_insert *insert,
                      const struct parameter *parameters);
/* Whether a plan that was made for one catalogue does for another one: its tables
 * have the same columns, rules and indexes, and that of INSERT any rows; those that are
 * read the same rows or, where the plan gives rows of one
 * table in its order, rows whose facts are within those that it was made for. It
 * gives what a new plan would give. */
bool plan_holds(const struct plan *plan, const struct catalogue *from,
                const struct catalogue *to);
/* Whether it may do for other rows than those that it was made for. */
bool plan_lasts(const struct plan *plan);

/* What columns have in a row that says nothing of them: of each a vector of one
 * value, in `arena`. Fails with NO_MEMORY, CORRUPT (a DEFAULT of the file). */
enum vdbq_status plan_defaults(const struct catalogue *catalogue,
                               const struct table *table, struct arena *arena,
                               struct vdbq_vector *vectors,
                               struct error *error);

/* Describes a table to a program that is to read it; the name stays as it is.
 * Columns are numbered without the primary key. What it allocates lives in
 * the program. Fails with NO_MEMORY. */
enum vdbq_status plan_describe(const struct table *table,
                               struct program *program,
                               struct program_table *described,
                               struct error *error);

#endif
