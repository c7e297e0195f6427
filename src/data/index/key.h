/* SPDX-License-Identifier: MIT */
/*
 * The primary key: no NULL, no value twice. Keys of every type are compared
 * as codes: whole numbers in the order of the keys.
 *
 * Keys that come in growing order, above all that are there, cost one
 * comparison each. The first that does not ends that: from the tablet it
 * goes into on, codes are kept until the commit, sorted, and compared with
 * the tablets whose range they touch. Keys that are texts have no codes: all
 * of a transaction are kept, and compared with the words of every tablet.
 */
#ifndef VDBQ_DATA_KEY_H
#define VDBQ_DATA_KEY_H

#include "base/vector.h"
#include "data/database/database.h"

struct key_watch {
    enum vdbq_type type;   /* of the key */
    bool any;              /* `last` is a key                         */
    uint64_t last;         /* code of the largest key while in order  */
    bool loose;            /* a key came out of order                 */
    size_t tablets_before; /* tablets that this transaction had written
                              when that was; those are in order        */
    struct vector codes;   /* uint64_t: of all keys from there on     */
    struct vector texts;   /* struct vdbq_text: keys that are, instead */
    struct arena arena;    /* their bytes                             */
    struct dictionary *dictionary; /* of them, once they are sorted           */
};

/* A watch for a table with a primary key, whose keys so far are known. */
struct key_watch key_watch_init(const struct table *table);
void key_watch_finish(struct key_watch *watch); /* accepts a zeroed one */

/* How many keys are kept for the commit. */
size_t key_count(const struct key_watch *watch);

/* Keys in memory: `count` values of the key's type. */
struct key_values {
    const void *values; /* of the key's type */
    uint64_t count;     /* of `values` */
};

/* Fails with CONSTRAINT where one of the keys is NULL. */
enum vdbq_status key_check_nulls(const struct table *table, uint64_t rows,
                                 const struct vdbq_vector *vectors,
                                 struct error *error);
/* Whether keys grow, above all that the table has. */
bool key_grows(const struct table *table, uint64_t rows,
               const struct vdbq_vector *vectors);
/* Whether more keys grow, above all that were noted. */
bool key_watch_grows(const struct key_watch *watch, struct key_values more);
/* Notes more keys. `waiting` are those noted before that are in no tablet
 * yet, `tablets` how many the transaction has written. False: no memory. */
bool key_watch_add(struct key_watch *watch, struct key_values more,
                   struct key_values waiting, size_t tablets);

/* Sorts the keys that came out of order. Fails with CONSTRAINT where two of
 * them are equal. */
enum vdbq_status key_sort(struct key_watch *watch, const struct table *table,
                          struct error *error);
/* Compares sorted keys with those of tablets, loading them where they must
 * be. Fails with CONSTRAINT for one that is in both, IO, CORRUPT. */
enum vdbq_status key_compare(const struct key_watch *watch,
                             struct database *database,
                             const struct table *table,
                             const struct tablet_ref *tablets, size_t count,
                             struct error *error);

#endif
