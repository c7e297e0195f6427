/* SPDX-License-Identifier: MIT */
/*
 * From the tree of a statement and the catalogue to what is to be done: the
 * steps of a SELECT, or the facts of a change. A plan holds for the
 * catalogue it was made from and no other: which opcodes a program may use
 * follows from the values the tables had then.
 */
#ifndef VDBQ_PLAN_PLAN_H
#define VDBQ_PLAN_PLAN_H

#include "data/catalogue.h"
#include "parser/ast.h"
#include "program/steps.h"

enum plan_kind {
    PLAN_EMPTY, /* nothing is to be done */
    PLAN_SELECT,
    PLAN_CREATE_TABLE,
    PLAN_DROP_TABLE,
    PLAN_INSERT
};

struct plan_create {
    const char *name;
    struct column *columns;
    unsigned column_count;
    unsigned key;       /* the primary key's column, or NO_KEY             */
    bool if_not_exists; /* a table of that name is no failure, and is kept */
};

struct plan_drop {
    const char *name;
    bool if_exists; /* that there is no such table is no failure */
};

/* Rows in the types of the table's columns. */
struct plan_insert {
    uint32_t table_id;
    uint64_t rows;
    unsigned column_count;       /* of the table                        */
    struct vdbq_vector *vectors; /* one a column, in the table's order  */
};

struct plan {
    enum plan_kind kind;
    enum ast_explain explain;
    union {
        struct steps steps; /* PLAN_SELECT; not checked yet */
        struct plan_create create;
        struct plan_drop drop;
        struct plan_insert insert;
    };
};

/*
 * Plans a statement. `sql` is the text that it was parsed from. What is not
 * the program's own lives in `arena`. The plan is to be finished with
 * plan_finish(); after a failure there is nothing to finish.
 * Fails with UNKNOWN, EXISTS, TYPE, RANGE, CONSTRAINT, SYNTAX, LIMIT,
 * NO_MEMORY; positions count from `sql`.
 */
enum vdbq_status plan_statement(const struct ast_statement *statement,
                                const char *sql, size_t sql_length,
                                const struct catalogue *catalogue,
                                struct arena *arena, struct plan *plan,
                                struct error *error);
void plan_finish(struct plan *plan);

/* Describes a table to a program that is to read it; the name stays as it is.
 * Columns are numbered without the primary key. What it allocates lives in
 * the program. Fails with NO_MEMORY. */
enum vdbq_status plan_describe(const struct table *table,
                               struct program *program,
                               struct program_table *described,
                               struct error *error);

#endif
