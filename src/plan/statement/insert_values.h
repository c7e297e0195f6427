/* SPDX-License-Identifier: MIT */
/*
 * The rows of an INSERT as vectors: VALUES of constants, or one row of defaults.
 */
#ifndef VDBQ_PLAN_STATEMENT_INSERT_VALUES_H
#define VDBQ_PLAN_STATEMENT_INSERT_VALUES_H

#include "plan/plan.h"
#include "plan/tree/binder.h"

/* A column of the table while its values come in. */
struct filling {
    const struct column *column;
    bool key;
    bool named; /* rows have a value for it  */
    void *values;
    uint8_t *nulls; /* NULL until the first NULL */
    int parameter;  /* from 1 on, that plan_insert_fill() puts there; 0: none */
};

struct inserting {
    struct binder *binder;
    const struct ast_insert *insert;
    const struct ast_query *rows;       /* that are written in the statement */
    const struct ast_result *returning; /* NULL: nothing */
    const struct table *table;
    struct filling *fillings; /* one a column of the table                 */
    unsigned *order;          /* the column that the i-th value goes to    */
    unsigned value_count;     /* of a row                                  */
    bool adds_key;            /* the last of these is no value of the rows' */
    bool reads;               /* values other than constants were bound    */
};

/* Finds the columns that the statement names, or all of the table. Fails with
 * NO_MEMORY, NOT_FOUND and EXISTS. */
enum vdbq_status insert_columns(struct inserting *inserting);

/* A value as its column's type. REPLACE has the column's DEFAULT in the place of a NULL
 * that the column does not take. NULL: a failure. */
struct expression *insert_assigned(const struct inserting *inserting,
                                   struct expression *e,
                                   const struct column *column);

/* The statement's VALUES, whose parameters plan_insert_fill() puts in their places;
 * `*computed`: some are no constants, and there are no vectors. */
enum vdbq_status insert_values(struct inserting *inserting, struct plan *plan,
                               bool *computed);
/* One row of defaults. */
enum vdbq_status insert_defaults(struct inserting *inserting,
                                 struct plan *plan);

/* insert_key.c: puts in the place of the statement one that says the primary key, an
 * integer without a DEFAULT, where its rows do not: the column is left out, or all of
 * VALUES have NULL or DEFAULT there. Each row gets one more than the row before it, and
 * the first one more than the greatest of the table, or 1, as in SQLite. `made` is
 * room for it. False: no memory. */
bool insert_key_fill(struct inserting *inserting, struct ast_insert *made);
/* The number of the primary key's column, if that is one integer; else NO_KEY. */
unsigned insert_key_of(const struct table *table);

#endif
