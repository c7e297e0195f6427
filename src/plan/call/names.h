/* SPDX-License-Identifier: MIT */
/*
 * Names of tables and columns.
 */
#ifndef VDBQ_PLAN_CALL_NAMES_H
#define VDBQ_PLAN_CALL_NAMES_H

#include "base/error.h"
#include "data/catalogue/catalogue.h"
#include "parser/ast.h"

struct binder;

/* The schema that is meant by a name of a table or view that is there, ... */
const char *named_schema(const struct binder *binder,
                         const struct ast_name *name);
/* ... or that is to be made. */
const char *new_schema(const struct ast_name *name);
/* Fails with UNKNOWN where there is none. */
const struct table *find_table(const struct binder *binder,
                               const struct ast_name *name);

/* Number of the column; UNKNOWN with a hint where there is none. */
enum vdbq_status find_column(const struct table *table,
                             const struct ast_name *name, unsigned *column,
                             struct error *error);

/* A hint to a failure just set: the column that was meant. */
void hint_column(const struct table *table, const char *name,
                 struct error *error);

/* The name most like `name`, if it is like enough. */
struct likely {
    const char *name; /* NULL: none */
    unsigned distance;
};

void likely_name(struct likely *likely, const char *name, const char *other);

#endif
