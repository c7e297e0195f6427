/* SPDX-License-Identifier: MIT */
/*
 * A database file (or one in memory): snapshots to read, one transaction at
 * a time to write. The rules that make this safe are in file.c.
 */
#ifndef VDBQ_DATA_DATABASE_H
#define VDBQ_DATA_DATABASE_H

#include "data/file/params.h"
#include "data/tablet/tablet.h"

struct database;

/* Opens the file; a new one is made durable before it returns. Fails with
 * IO, CORRUPT (its newest state is damaged, or it is not a database),
 * NO_MEMORY. */
enum vdbq_status database_open(const struct database_params *params,
                               struct database **database, struct error *error);
/* Snapshots must have been closed. Writes nothing. */
void database_close(struct database *database);
bool database_read_only(const struct database *database);
/* What is wrong with the file although it can be used, or ""; as of the last
 * look at it. */
const char *database_warning(const struct database *database);
const char *database_path(const struct database *database);
/* Of part files, how many there are, and their database's number; 0: it is one
 * file. */
unsigned database_parts(const struct database *database, uint64_t *number);
/* From now on what each of them has is read in that one, if there is such a part. */
void database_own_part(struct database *database, unsigned part);
/* Has the rows of tables that lie by hash in them at hand (table_copy()). Fails with
 * CORRUPT where these are not what the layout says, IO, NO_MEMORY. */
enum vdbq_status database_join_parts(struct database *database,
                                     struct error *error);
/* Whether the file may be read on several threads at a time. */
bool database_reads_anywhere(const struct database *database);
/* Whether tablets may be used where they lie in the file. */
bool database_maps(const struct database *database);

/* Opens, beside a database, that of its connection's temporary tables: a file without a
 * name, which is gone when it is closed, and is nobody else's. From then on the other one
 * leads to it (database_of()). Fails with IO, NO_MEMORY. */
enum vdbq_status database_open_temporary(struct database *beside,
                                         const struct settings *settings,
                                         default_parser parse,
                                         struct database **temporary,
                                         struct error *error);
/* Closes it; accepts that there is none. */
void database_close_temporary(struct database *beside);
/* The database that a table is in: this one, or that of temporary tables beside it. */
struct database *database_of(const struct database *database,
                             uint32_t table_id);
/* Its newest state, of one that nobody else writes. */
const struct catalogue *database_state(const struct database *database);

/* Gives it a cache for runs of primary keys, which outlives it. Without one they
 * are made for each key anew. */
struct run_cache;
void database_use_runs(struct database *database, struct run_cache *runs);

/* Rows of which the keys of an index are asked for (struct index_keys). */
struct index_request {
    const struct catalogue *catalogue; /* that has table and index */
    const struct table *table;
    const struct index *index;
    uint64_t rows;                     /* at least 1                         */
    const struct vdbq_vector *vectors; /* one a column of the table; those that
                                          the index reads are there          */
};
/* Adds to rows, of those that the index has, in their order, the number of each
 * from 0 on, and its keys. Fails as the index's expressions do, and with CORRUPT,
 * NO_MEMORY, CANCELLED. */
struct rows;
typedef enum vdbq_status (*index_computer)(void *context,
                                           const struct index_request *request,
                                           struct rows *keys,
                                           struct error *error);
/* This floor knows no SQL: who opens a database brings what computes keys. It
 * is called by threads that call this floor, one at a time. */
void database_use_computer(struct database *database, index_computer compute,
                           void *context);

/* Whether the last transaction failed since it followed a commit of another
 * connection that never came (file rule 16): nothing of it was kept, and the next
 * one follows no such commit. */
bool database_unfounded(const struct database *database);
/* Whether that state of a table's rows may be asked for: it is one of the newest
 * commit seen, or of a snapshot that is open. */
bool database_has_state(const struct database *database, uint32_t table_id,
                        struct identity state);
/* Adds the identities of all tablets that may be asked for: of the newest
 * commit seen, and of all snapshots that are open. A vector of struct identity.
 * False: no memory. */
struct vector;
bool database_visible(const struct database *database,
                      struct vector *identities);

/* A state of the database to read: the newest commit, kept readable (also
 * against writers in other processes) until it is closed. */
struct snapshot {
    struct database *database;   /* NULL: it is not open */
    struct catalogue *catalogue; /* held; what the reader sees */
};
enum vdbq_status snapshot_open(struct database *database,
                               struct snapshot *snapshot, struct error *error);
void snapshot_close(struct snapshot *snapshot); /* accepts a zeroed one */
/* Whether a commit has come after the one that an open snapshot reads, so that what
 * it reads is kept for it. Fails with IO, CORRUPT. */
enum vdbq_status snapshot_is_old(const struct snapshot *snapshot, bool *old,
                                 struct error *error);

struct block;
/* Reads a tablet, as memory has it, into a new `*block`, which is the caller's
 * whatever it returns; checks checksum and layout against the table, and
 * returns CORRUPT with the facts where anything is wrong; IO, NO_MEMORY. */
enum vdbq_status tablet_load(struct database *database,
                             const struct table *table,
                             const struct tablet_ref *tablet,
                             struct block *block, struct error *error);

#endif
