/* SPDX-License-Identifier: MIT */
/*
 * The rows that a transaction adds to one table: gathered until they fill a
 * tablet, or until the commit.
 */
#ifndef VDBQ_DATA_GATHER_H
#define VDBQ_DATA_GATHER_H

#include "data/database/database_inner.h"
#include "data/index/key.h"
#include "data/database/rows.h"
#include "data/file/space.h"

/* Where a transaction writes. */
struct writer {
    struct database *database;
    struct space space;
    struct identity_source identities; /* of tablets that it writes        */
    uint64_t features; /* that these need: of the file's head, features_read */
};

struct gather {
    uint32_t table_id;
    struct rows rows;      /* that are in no tablet yet                     */
    struct key_watch keys; /* where the table has a primary key             */
    bool claimed;          /* unique.c has seen to the keys: none is watched */
    struct vector written; /* struct tablet_ref: full ones, and the last    */
    size_t kept;           /* how many of the table's tablets stay, once it
                              is finished; the others are in `written`      */
    struct arena arena;    /* the facts of what was written                 */
};

/* False: no memory. */
bool gather_init(struct gather *gather, const struct table *table);
void gather_finish(struct gather *gather); /* accepts a zeroed one */

/* Whether there is anything to commit. */
bool gather_any(const struct gather *gather);
/* Adds checked vectors; writes tablets that are full. */
enum vdbq_status gather_add(struct gather *gather, struct writer *writer,
                            const struct table *table, uint64_t rows,
                            const struct vdbq_vector *vectors,
                            struct error *error);
/* Checks the keys and writes the rest, together with small tablets at the
 * table's end. */
enum vdbq_status gather_flush(struct gather *gather, struct writer *writer,
                              const struct table *table, struct error *error);

#endif
