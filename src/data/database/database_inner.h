/* SPDX-License-Identifier: MIT */
/*
 * What database.c, snapshot.c, transaction.c and projection.c share.
 */
#ifndef VDBQ_DATA_DATABASE_INNER_H
#define VDBQ_DATA_DATABASE_INNER_H

#include "base/vector.h"
#include "data/database/database.h"
#include "data/file/file.h"
#include "data/tablet/tablet.h"

/* A snapshot that is open. */
struct reading {
    struct catalogue *catalogue; /* that it reads; the snapshot holds it  */
    struct file_head head;       /* that led there; zeroed: none did, it is the
                              state of a transaction                      */
};

struct database {
    struct file file;                /* the open file */
    default_parser parse_default;    /* see struct database_params        */
    struct catalogue *current;       /* of the newest commit seen         */
    bool stale;                      /* the heads have been read since, and
                                        are others                        */
    bool calm;                       /* the last two looks at the heads found
                                        the same                          */
    uint64_t current_bytes;          /* of its block: states.h            */
    struct vector listed;            /* struct file_head, of states that it
                                        lists                             */
    struct vector older;             /* struct older_state, that were read
                                        when it was looked for them, and the
                                        state before the last commit      */
    struct vector snapshots;         /* struct reading, one for each that is
                                        open                              */
    unsigned blind;                  /* of these, that no mark tells of, or
                                        none that all writers look for    */
    bool reads_blindly;              /* file rule 5: byte 1 is locked     */
    struct transaction *transaction; /* that is writing, or NULL          */
    struct vector unique_sets;       /* struct unique_set: unique_set.h   */
    uint64_t unique_calls;           /* counts uses of `unique_sets` */
    uint32_t searched_table;         /* where rows were looked for last ... */
    uint64_t searched_rows;          /* ... so many, without a set of all   */
    struct database *temporary;      /* of temporary tables, beside this one;
                                        NULL: there are none               */
    struct run_cache *runs;          /* the caller's, or NULL          */
    index_computer compute;          /* of keys of indexes; NULL: nobody does */
    void *compute_context;           /* for it                         */
};

/* Rows of a full tablet, as the settings have it now. It may have become less
 * than rows that wait for theirs to be full. */
uint32_t database_tablet_rows(const struct database *database);

/* For who has the writer's place: makes the newest commit, perhaps of another
 * connection, or the one that is announced (file rule 16), current. */
enum vdbq_status database_refresh(struct database *database,
                                  struct error *error);
/* Whether the heads are others than those that the current state was read by: that is
 * stale then. */
enum vdbq_status database_look(struct database *database, bool *changed,
                               struct error *error);
/* Makes the state current that the heads tell of. */
enum vdbq_status database_load_newest(struct database *database,
                                      struct error *error);
/* Notes how the tables of the current state, which was committed here, lie in part
 * files, as who loads it is told. */
void database_place(struct database *database);
/* Marks the newest state, so that no writer takes its blocks, and makes it current. */
enum vdbq_status reading_open(struct database *database,
                              struct reading *reading, struct error *error);
/* Takes the mark back, once no snapshot of it is open any more. */
void reading_close(struct database *database, const struct reading *reading);
/* Unlocks byte 1 (file rule 5) if no snapshot needs it. While a transaction is
 * open, which may open the next such snapshot at once, it stays locked. */
void database_unlock_reader(struct database *database);
/* The same for a transaction whose head is written, before the next one becomes the
 * writer: a head leads to all that it has made, and who finds nobody that reads
 * anything else may use free space. */
void database_pass_reader(struct database *database);
/* The head of the newest state. */
enum vdbq_status database_newest(struct database *database,
                                 struct file_head *head, struct error *error);
/* Reads the catalogue that a head of the file points to, or did once, and
 * checks it; `head` was proven. With `places`, it is good for telling which blocks
 * it has, and for nothing else: neither edits nor samples are read. Fails with
 * CORRUPT, IO, NO_MEMORY. */
enum vdbq_status database_load(const struct database *database,
                               const struct file_head *head, bool places,
                               struct catalogue **catalogue,
                               struct error *error);
/* As snapshot_open(), of this catalogue, which is the current one or what the
 * transaction has made of it; NULL: of the newest commit. */
enum vdbq_status snapshot_take(struct database *database,
                               struct catalogue *catalogue,
                               struct snapshot *snapshot, struct error *error);

/* tablet_load() of one without an edit. Where the file has it with packed words, that
 * block goes to `*packed`, the caller's, too; NULL: nobody wants it. */
enum vdbq_status tablet_load_stored(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    struct block *block, struct block *packed,
                                    struct error *error);
/* How many bytes the words of a text column take in memory, as the file says, which
 * is not proven: UINT64_MAX where that cannot be. Of a tablet without an edit, or the
 * base of one. Fails with IO, NO_MEMORY. */
enum vdbq_status tablet_words_told(const struct database *database,
                                   const struct table *table,
                                   const struct tablet_ref *tablet,
                                   unsigned column, uint64_t *bytes,
                                   struct error *error);
/* What tablet_load() checks: that a checksum is a tablet's; that a block with its
 * bytes from the file has it, of which `*size` are the tablet; that those in the
 * file have; and that the catalogue says the same of a column as the tablet. */
enum vdbq_status tablet_check_sum(const struct database *database,
                                  const struct table *table,
                                  const struct tablet_ref *tablet,
                                  uint64_t checksum, struct error *error);
enum vdbq_status tablet_check_block(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    const struct block *block, uint64_t *size,
                                    struct error *error);
enum vdbq_status tablet_check_bytes(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    struct error *error);
enum vdbq_status tablet_check_facts(const struct database *database,
                                    const struct table *table,
                                    const struct tablet_ref *tablet,
                                    const void *head, unsigned column,
                                    struct error *error);

#endif
