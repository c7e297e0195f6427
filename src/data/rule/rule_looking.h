/* SPDX-License-Identifier: MIT */
/*
 * A look into a tablet for rows by a rule: what the files of rule_find.h share.
 */
#ifndef VDBQ_DATA_RULE_LOOKING_H
#define VDBQ_DATA_RULE_LOOKING_H

#include "data/rule/rule_find.h"
#include "data/index/edited_run.h"
#include "data/index/run.h"
#include "data/tablet/block.h"

enum { RULE_HASH_HALVES = 2 /* columns of a run of hashes */ };

/* A tablet that is looked into for some rows. */
struct looking {
    const struct rule_find *find;
    const struct vdbq_vector *vectors; /* of the rows, by the rule            */
    uint64_t first, count;             /* of these: those that are looked for */
    uint8_t *there;          /* 1 of each that is found; NULL: all numbers are
                                asked for                                    */
    const unsigned *columns; /* of the rule */
    const struct run *run;   /* of the base; NULL: there is none */
    const struct run
        *edited[EDITED_LEVELS]; /* of rows with new keys; or NULL */
    bool lacks;                 /* sieves say that the base has none */
    /* what is looked for of the row at hand */
    struct run_value
        values[RUN_COLUMNS_MAX]; /* one a column, or half a hash  */
    struct unique_hash
        hash;       /* of the row, by a rule of keys, or of texts     */
    bool hashed;    /* the rule is one that rule_is_hashed()          */
    uint64_t asked; /* of sieves: the look-up's number; 0: nothing is   */
    const struct tablet_ref *tablet;
    struct block base; /* of the tablet; without bytes: it was not needed */
    struct vector *numbers;
    struct error *error;
};

/* Counts rows that are looked for together: of one table, the last one. */
void rule_count_searched(const struct rule_find *find, uint64_t rows);

/* A value that is not NULL. */
struct run_value rule_value_at(const struct vdbq_vector *vector, uint64_t row);
/* What is looked for of a row; false: a value is NULL, and no row is like it. */
bool rule_take_values(struct looking *looking, uint64_t row);

/* What rule_hashes.c has of it. The name of a tablet's run of hashes: */
struct identity rule_hash_identity(const struct unique_rule *rule,
                                   struct identity tablet);
/* As rule_take_values(). */
bool rule_take_hash(struct looking *looking, uint64_t row);
/* Makes the run of the tablet's base. Fails with IO, CORRUPT, NO_MEMORY, CANCELLED. */
enum vdbq_status rule_hash_run(const struct looking *looking, struct run **run);
/* Lists the places of the base whose rows are alike one that is looked for, without
 * a run. Fails likewise. */
enum vdbq_status rule_hash_scan(struct looking *looking, struct vector *places);
/* Makes the run of rows to which an edit gives other hashes. Fails likewise. */
enum vdbq_status rule_hash_edited(struct looking *looking,
                                  const struct edit *edit, struct run **run);

/* The columns of the table by which its rows are alike, or their keys are computed. */
const unsigned *rule_reads(const struct unique_rule *rule, unsigned *count);

/* Reads the base of the tablet, once. */
enum vdbq_status rule_read_base(struct looking *looking);

/* The keys of a run that rows have which are looked for. */
struct run_keys rule_keys_in(const struct looking *looking,
                             const struct run *run);

/* The base's run or the part of it that is needed, which the cache keeps, or
 * (`*own`) the caller has to destroy. NULL: it is one of hashes, and to make it does
 * not pay yet. */
enum vdbq_status rule_base_run(struct looking *looking, const struct run **run,
                               struct run **own);

/* Asks sieves for a row, if it is the only one. */
void rule_sieve_ask(struct looking *looking);
/* Whether they say that the tablet's base has none like it. */
bool rule_sieve_lacks(const struct looking *looking);
/* The tablet had none, by a run that is the cache's: where that was so often enough,
 * its values are sieved. */
void rule_sieve_note(const struct looking *looking);

/* The run of a level of rows with new keys, which the cache keeps, or (`*own`) the
 * caller has to destroy. NULL: there are no such rows. */
enum vdbq_status rule_edited_run(struct looking *looking, unsigned level,
                                 const struct run **run, struct run **own);

#endif
