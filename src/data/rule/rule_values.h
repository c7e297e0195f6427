/* SPDX-License-Identifier: MIT */
/*
 * What rows have in the columns of a rule: the vectors that the rows came with,
 * or keys that are computed of them.
 */
#ifndef VDBQ_DATA_RULE_VALUES_H
#define VDBQ_DATA_RULE_VALUES_H

#include "base/vector.h"
#include "data/index/index_values.h"
#include "data/rule/unique.h"

/* What rows belong to. */
struct rule_source {
    struct database *database;
    const struct catalogue *catalogue; /* that has the table */
    const struct table *table;
};

struct rule_values {
    const struct vdbq_vector *vectors; /* by the rule's numbers of columns */
    struct index_values computed;      /* of keys; else zeroed             */
    struct vdbq_vector *own;           /* likewise                         */
    struct arena arena;                /* of these                         */
};

/* Rows come with one vector a column of the table, which outlive what is made.
 * Keys of rows that an index has not are NULL, so that these are like no others.
 * rule_values_finish() is due whatever it returns. Fails as
 * index_values_compute(). */
enum vdbq_status rule_values_make(const struct rule_source *source,
                                  const struct unique_rule *rule, uint64_t rows,
                                  const struct vdbq_vector *vectors,
                                  struct rule_values *values,
                                  struct error *error);
void rule_values_finish(struct rule_values *values); /* accepts zeroed */

/* The same by each of several rules, a vector of struct unique_rule. */
struct rules_values {
    struct rule_values *items;
    size_t count;
};
enum vdbq_status rules_values_make(const struct rule_source *source,
                                   const struct vector *rules, uint64_t rows,
                                   const struct vdbq_vector *vectors,
                                   struct rules_values *values,
                                   struct error *error);
void rules_values_finish(struct rules_values *values); /* accepts zeroed */

/* Proves that rows break no CHECK of their table, and have keys by the indexes that no
 * rule is about; `changed`: by those that read one of the columns that are set, NULL:
 * by all of them. */
enum vdbq_status index_values_prove(const struct rule_source *source,
                                    uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    const bool *changed, struct error *error);
/* row_checks.c: the former alone. Fails with CONSTRAINT: names the CHECK, and the
 * row by its values. */
enum vdbq_status row_checks_prove(const struct rule_source *source,
                                  uint64_t rows,
                                  const struct vdbq_vector *vectors,
                                  const bool *changed, struct error *error);
/* row_checks.c: sets a byte of each row that breaks one to 1, and leaves the others. */
enum vdbq_status row_checks_mark(const struct rule_source *source,
                                 uint64_t rows,
                                 const struct vdbq_vector *vectors,
                                 uint8_t *broken, struct error *error);

#endif
