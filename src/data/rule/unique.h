/* SPDX-License-Identifier: MIT */
/*
 * Columns that no two rows of a table have alike: UNIQUE, unique indexes, a
 * PRIMARY KEY of several columns. What rows there are is kept as a set of
 * hashes of 128 bits, made from the table when it is first asked and kept by
 * the database as long as the table's tablets are those it was made from: so
 * a row that comes costs the same however many are there.
 */
#ifndef VDBQ_DATA_UNIQUE_H
#define VDBQ_DATA_UNIQUE_H

#include "data/database/database_inner.h"
#include "data/database/unique_set.h"

/* Columns that are unique together, and what says so. Functions that take vectors
 * of rows take those of a rule's columns: of an index of keys these are its keys
 * (rule_values.h), else the table's columns. */
struct unique_rule {
    const char *index;         /* its name; NULL: the table says so     */
    const struct index *keyed; /* ... if it has keys; else NULL         */
    unsigned column_count;     /* at least 1 */
    const unsigned *columns;   /* NULL: the one column `column`         */
    unsigned column;           /* of a rule of one column */
    const struct column *of;   /* all columns of the table, or all keys: texts
                                are alike
                                in their collations ...               */
    const enum collation *collations; /* ... unless these say other ones;
                                         NULL: none do                */
};

/* The rules for a table; `keyed`: its primary key is one in any case. False:
 * no memory. */
bool unique_rules(const struct catalogue *catalogue, const struct table *table,
                  bool keyed, struct vector *rules);

/* The rule of a unique index. */
struct unique_rule unique_rule_of(const struct index *index,
                                  const struct table *table);
/* The numbers of a rule's columns. */
const unsigned *unique_rule_columns(const struct unique_rule *rule);
/* What texts of the i-th of them are compared by. */
enum collation unique_rule_collation(const struct unique_rule *rule,
                                     unsigned i);
/* Whether a rule is about one of the table's columns that are set in `columns`. */
bool unique_rule_reads(const struct unique_rule *rule, const bool *columns);

/* The hash of the columns of one row. False: one of them is NULL, which is
 * like no other row. */
bool unique_hash_row(const struct unique_rule *rule,
                     const struct vdbq_vector *vectors, uint64_t row,
                     struct unique_hash *hash);

/* A row's hash, and its number among others. */
struct unique_hashed {
    struct unique_hash hash;
    uint64_t row;
};
/* For qsort(): by their hashes, then by their numbers. */
int unique_hashed_compare(const void *left, const void *right);

/* The set of all rows of a table of the catalogue. Fails with CONSTRAINT where two
 * of them are alike, IO, CORRUPT, NO_MEMORY, and as keys that are computed. It
 * lives until the next call. */
enum vdbq_status unique_set_of(struct database *database,
                               const struct catalogue *catalogue,
                               const struct table *table,
                               const struct unique_rule *rule,
                               struct unique_set **set, struct error *error);
/* Adds `count` rows to a set, whose hashes all cores compute; `grows`: they are
 * in no tablet yet. Fails with CONSTRAINT at the first row that is like one
 * before it, CANCELLED, NO_MEMORY; the rows before it stay. */
enum vdbq_status unique_set_take(struct unique_set *set,
                                 const struct table *table,
                                 const struct unique_rule *rule,
                                 const struct vdbq_vector *vectors,
                                 uint64_t count, bool grows,
                                 struct error *error);
/* Whether that set is there already. */
bool unique_set_known(const struct database *database,
                      const struct table *table,
                      const struct unique_rule *rule);
/* Adds a value that is not NULL to a message, as SQL would write it. */
void unique_print_value(const struct column *column,
                        const struct vdbq_vector *vector, uint64_t row,
                        struct text *text);
/* CONSTRAINT: says which values are there twice. */
enum vdbq_status unique_twice(const struct table *table,
                              const struct unique_rule *rule,
                              const struct vdbq_vector *vectors, uint64_t row,
                              struct error *error);

/* Rows that were added are in the tablets of the catalogue's tables now, or
 * (`catalogue` NULL) will never be. */
void unique_sets_settle(struct database *database,
                        const struct catalogue *catalogue);
/* Forgets the sets of one table. */
void unique_sets_forget(struct database *database, uint32_t table_id);

#endif
