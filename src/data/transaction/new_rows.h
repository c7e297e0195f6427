/* SPDX-License-Identifier: MIT */
/*
 * The rows that a transaction adds to one table: kept until they fill a
 * tablet, or until the commit.
 */
#ifndef VDBQ_DATA_NEW_ROWS_H
#define VDBQ_DATA_NEW_ROWS_H

#include "data/catalogue/sample.h"
#include "data/database/database_inner.h"
#include "data/index/key.h"
#include "data/database/rows.h"
#include "data/database/unique_set.h"
#include "data/file/space.h"

/* Where a transaction writes. */
struct writer {
    struct database *database;
    struct space space;
    struct identity_source identities; /* of tablets that it writes        */
    uint64_t features; /* that these need: of the file's head, features_read */
};

struct new_rows {
    uint32_t table_id;
    struct rows rows;       /* that are in no tablet yet                     */
    struct key_watch keys;  /* where the table has a primary key             */
    bool claimed;           /* no key is watched: unique.c has seen to them,
                               or each was looked for                        */
    struct unique_set seen; /* of those that were looked for                 */
    struct vector builds;   /* struct tablet_build *: full ones, not written */
    struct rows spare;      /* room of one that is; zeroed: there is none    */
    uint64_t work_bytes;    /* for what builds take, by the process's account */
    struct vector written;  /* struct tablet_ref: full ones, and the last    */
    size_t kept;            /* how many of the table's tablets stay, once it
                              is finished; the others are in `written`      */
    struct sampler sampler; /* of all rows that the table will have         */
    struct arena arena;     /* the facts of what was written                 */
};

/* False: no memory. */
bool new_rows_init(struct new_rows *new_rows, const struct table *table);
void new_rows_finish(struct new_rows *new_rows); /* accepts a zeroed one */
/* Waits until no thread looks at the table that was given to new_rows_add(). */
void new_rows_wait(struct new_rows *new_rows);

/* Whether there is anything to commit. */
bool new_rows_any(const struct new_rows *new_rows);
/* Adds checked vectors; builds tablets that are full, on other threads where
 * that pays, and writes them. The table stays until new_rows_wait(). A tablet
 * that cannot be built or written fails this call, or a later one. */
enum vdbq_status new_rows_add(struct new_rows *new_rows, struct writer *writer,
                              const struct table *table, uint64_t rows,
                              const struct vdbq_vector *vectors,
                              struct error *error);
/* Adds one row, or fails and has added none. What it could not write of rows
 * before it is written by a later call. */
enum vdbq_status new_rows_add_row(struct new_rows *new_rows,
                                  struct writer *writer,
                                  const struct table *table,
                                  const struct vdbq_vector *vectors,
                                  struct error *error);
/* Adds the tablet that one of `table` is with another edit. No key is watched. */
enum vdbq_status
new_rows_add_edited(struct new_rows *new_rows, struct writer *writer,
                    const struct table *table, const struct tablet_ref *tablet,
                    const struct tablet_ref *edited, struct error *error);
/* Writes the rows so far, as a tablet that may be small: rows that come next are in
 * another one. */
enum vdbq_status new_rows_cut(struct new_rows *new_rows, struct writer *writer,
                              const struct table *table, struct error *error);
/* Checks the keys and writes the rest, together with small tablets at the
 * table's end. After a failure it may be called again, unless keys were
 * watched that do not ascend. */
enum vdbq_status new_rows_flush(struct new_rows *new_rows,
                                struct writer *writer,
                                const struct table *table, struct error *error);

#endif
