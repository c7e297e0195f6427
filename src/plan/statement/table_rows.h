/* SPDX-License-Identifier: MIT */
/*
 * Rows for a table that are known as they are planned: constants of a node,
 * which have flags, and 0 where they are NULL. What fails has told the binder.
 */
#ifndef VDBQ_PLAN_STATEMENT_TABLE_ROWS_H
#define VDBQ_PLAN_STATEMENT_TABLE_ROWS_H

#include "base/error.h"
#include "plan/tree/node.h"

struct binder;

/* Describes a column like one of a table, of which no value is known. */
void table_rows_column(const struct table *table, unsigned number,
                       struct node_column *column);

/* A vector of any origin as constants, in the binder's arena where it has to be
 * copied. */
bool table_rows_clean(struct binder *binder, const struct vdbq_vector *from,
                      uint64_t rows, struct vdbq_vector *to);
/* NULLs of a type, and numbers from 0 on. */
bool table_rows_nulls(struct binder *binder, enum vdbq_type type, uint64_t rows,
                      struct vdbq_vector *to);
bool table_rows_numbers(struct binder *binder, uint64_t rows,
                        struct vdbq_vector *to);

/* Rows that have all columns of a table: descriptions and constants of these.
 * Without rows the vectors may be NULL. */
bool table_rows_put(struct binder *binder, const struct table *table,
                    const struct vdbq_vector *from, uint64_t rows,
                    struct node_column *columns, struct vdbq_vector *to);
/* The same as a node. NULL: a failure. */
struct node *table_rows_node(struct binder *binder, const struct table *table,
                             const struct vdbq_vector *vectors, uint64_t rows);

/* Descriptions, and room for one row of which nothing is known yet. */
bool table_rows_any(struct binder *binder, const struct table *table,
                    struct node_column *columns, struct vdbq_vector *to);

#endif
