/* SPDX-License-Identifier: MIT */
/*
 * Which lists of the catalogue there are, by their names.
 */
#ifndef VDBQ_PLAN_LEAF_LISTS_H
#define VDBQ_PLAN_LEAF_LISTS_H

#include <stdbool.h>

struct listed;

/* Whether it is the schema of the database's own tables; NULL: it is. */
bool schema_is_main(const char *schema);

/* What PRAGMA and SHOW list; NULL: there is no such. */
const struct listed *lists_pragma(const char *name);
/* The same by the name of a function, pragma_table_info. */
const struct listed *lists_function(const char *name);
/* A table that is one: sqlite_master, and those of the schema information_schema.
 * NULL: there is no such. */
const struct listed *lists_table(const char *schema, const char *name);

#endif
