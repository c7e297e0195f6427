/* SPDX-License-Identifier: MIT */
/*
 * The keys of an index for rows in memory, as a query.
 */
#ifndef VDBQ_PLAN_STATEMENT_INDEX_ROWS_H
#define VDBQ_PLAN_STATEMENT_INDEX_ROWS_H

#include "plan/plan.h"

/* Rows of a table, of which the columns that the index reads are there. */
struct plan_index_rows {
    const struct catalogue *catalogue;
    const struct table *table;
    const struct index *index; /* that has keys */
    uint64_t rows;
    const struct vdbq_vector *vectors; /* one a column of the table */
};

/* Plans steps that give, of those rows that the index has, in their order, the
 * number of each (BIGINT, from 0 on) and its keys. Vectors outlive the plan.
 * plan_finish() is due where it returns OK. */
enum vdbq_status plan_index_rows(const struct plan_index_rows *of,
                                 const struct plan_limits *limits,
                                 struct arena *arena, struct plan *plan,
                                 struct error *error);

#endif
