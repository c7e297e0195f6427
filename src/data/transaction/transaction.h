/* SPDX-License-Identifier: MIT */
/*
 * A transaction: what one writer at a time adds to a database, takes from it
 * and makes durable. The rules that make this safe are in file.c.
 */
#ifndef VDBQ_DATA_TRANSACTION_H
#define VDBQ_DATA_TRANSACTION_H

#include "data/database/database.h"

struct transaction;

/* Takes the writer's place, for which it waits its turn, and starts from the
 * newest commit. Fails with BUSY, CANCELLED, READ_ONLY, IO. */
enum vdbq_status transaction_begin(struct database *database,
                                   struct transaction **transaction,
                                   struct error *error);
/* The state that the transaction has made so far, with the tables it created
 * and without those it dropped; rows appended are not in it before
 * transaction_settle(). Lives until the next call on the transaction. */
const struct catalogue *
transaction_catalogue(const struct transaction *transaction);

enum vdbq_status transaction_create_table(struct transaction *transaction,
                                          const char *name,
                                          const struct column *columns,
                                          unsigned column_count, unsigned key,
                                          struct error *error);
enum vdbq_status transaction_drop_table(struct transaction *transaction,
                                        uint32_t table_id, struct error *error);

/* Renames a table or its columns, or gives it other columns, without rows: these are to
 * be appended anew. Settles. */
enum vdbq_status transaction_alter(struct transaction *transaction,
                                   const struct alteration *alteration,
                                   struct error *error);

/* Columns of a new table that are unique together. */
enum vdbq_status transaction_constrain(struct transaction *transaction,
                                       uint32_t table_id,
                                       const struct unique *uniques,
                                       unsigned count, struct error *error);

/* CHECKs of a new table. */
enum vdbq_status transaction_add_checks(struct transaction *transaction,
                                        uint32_t table_id,
                                        const struct row_check *checks,
                                        unsigned count, struct error *error);

/* Views and indexes: names that no table, view or index has (EXISTS). A
 * unique index over rows that are alike fails with CONSTRAINT; keys that cannot be
 * computed fail as their expressions do. The origin of keys is drawn here. */
enum vdbq_status transaction_create_view(struct transaction *transaction,
                                         const struct view *view,
                                         struct error *error);
enum vdbq_status transaction_drop_view(struct transaction *transaction,
                                       const char *name, struct error *error);
enum vdbq_status transaction_create_index(struct transaction *transaction,
                                          const struct index *index,
                                          struct error *error);
enum vdbq_status transaction_drop_index(struct transaction *transaction,
                                        const char *name, struct error *error);

/* Has the runs of an index, of all indexes of a table, or (NULL) of all tables made
 * anew by the commit. UNKNOWN: no table and no index has the name. */
enum vdbq_status transaction_reindex(struct transaction *transaction,
                                     const char *name, struct error *error);

/* Appends rows: one vector for each column, of its type. Rows are kept
 * in memory and written as tablets fill up and at the commit. Fails with
 * CONSTRAINT for a NULL in the primary key (a key that is there twice is
 * found here or at the commit), IO, NO_MEMORY. */
enum vdbq_status transaction_append(struct transaction *transaction,
                                    uint32_t table_id, uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    struct error *error);

/* Likewise; `conflict`: what becomes of keys that are there twice. With
 * REPLACE and IGNORE they are found here. */
enum vdbq_status transaction_insert(struct transaction *transaction,
                                    uint32_t table_id, uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    enum conflict conflict,
                                    struct error *error);

/* Likewise; rows whose keys are there already are left out, and `added` tells
 * of each row whether it was not (1) or was (0). */
enum vdbq_status transaction_insert_free(struct transaction *transaction,
                                         uint32_t table_id, uint64_t rows,
                                         const struct vdbq_vector *vectors,
                                         uint8_t *added, struct error *error);

/* Likewise; a key that is there twice fails. Where there is a set of all keys it
 * has the new ones, too, so that it need not be made again. */
enum vdbq_status transaction_insert_checked(struct transaction *transaction,
                                            uint32_t table_id, uint64_t rows,
                                            const struct vdbq_vector *vectors,
                                            struct error *error);

/* Whether transaction_add_row() knows how to add rows to that table. */
bool transaction_takes_row(const struct transaction *transaction,
                           uint32_t table_id);
/* Adds one row, with vectors of one value each, or fails and has changed nothing:
 * no mark is needed before it, and no undo after it. Rows that came so wait for
 * others until something else is asked of the transaction. Fails with CONSTRAINT,
 * RANGE, IO, CORRUPT, NO_MEMORY, CANCELLED; where earlier rows can be kept no
 * more, all that follows but an undo fails, too. */
enum vdbq_status transaction_add_row(struct transaction *transaction,
                                     uint32_t table_id,
                                     const struct vdbq_vector *vectors,
                                     struct error *error);

/* Rows of one table that change, or go. */
struct row_changes {
    uint64_t count;                    /* of rows, each once                 */
    const struct vdbq_vector *numbers; /* BIGINT: of each in the table, from 0
                                       on, ascending                      */
    unsigned column_count;             /* that get new values; 0: rows go    */
    const unsigned *columns;           /* the table's numbers of them        */
    const struct vdbq_vector *vectors; /* the new values, one a column    */
};

/* Changes rows, or takes them out. The others stay in their order, and tablets
 * that hold no row which changes stay as they are. What must be unique is
 * checked when all rows have changed. Fails with CONSTRAINT, RANGE, TYPE, IO,
 * CORRUPT, NO_MEMORY; MISUSE for numbers that are not as they should be. */
enum vdbq_status transaction_change(struct transaction *transaction,
                                    uint32_t table_id,
                                    const struct row_changes *changes,
                                    struct error *error);

/* Takes all rows out of a table. Its tablets stay for those who read them. */
enum vdbq_status transaction_clear(struct transaction *transaction,
                                   uint32_t table_id, struct error *error);

/* Takes all tablets out of a table but those from number `first` on and before `end`.
 * The tablets stay for those who read them; none is read. */
enum vdbq_status transaction_keep(struct transaction *transaction,
                                  uint32_t table_id, size_t first, size_t end,
                                  struct error *error);

/* Whether rows that came by transaction_add_row() wait, of tables other than these. */
bool transaction_waits_apart(const struct transaction *transaction,
                             const uint32_t *table_ids, unsigned count);
/* From now on (false: no longer) they wait whatever is asked of the transaction,
 * which is nothing about their tables; an undo leaves them. */
void transaction_set_apart(struct transaction *transaction, bool apart);
/* Writes the rows appended so far, so that they are in the transaction's
 * catalogue and can be read. Fails as a commit does. */
enum vdbq_status transaction_settle(struct transaction *transaction,
                                    struct error *error);
/* Settles, and marks the state that transaction_undo() goes back to, also
 * after a failure. */
enum vdbq_status transaction_mark(struct transaction *transaction,
                                  struct error *error);
void transaction_undo(struct transaction *transaction);

/* Settles, and opens a savepoint: a state that can be gone back to as long as
 * the transaction and the savepoint are open. Savepoints are nested; several
 * may have one name, of which the newest is meant. */
enum vdbq_status transaction_save(struct transaction *transaction,
                                  const char *name, struct error *error);
/* Opens those that another transaction has open, which began before. */
enum vdbq_status transaction_save_as(struct transaction *transaction,
                                     const struct transaction *other,
                                     struct error *error);
/* Which savepoint has that name, in any case of letters: its number from 0,
 * the oldest, on; or -1. */
long transaction_savepoint(const struct transaction *transaction,
                           const char *name);
/* Forgets that savepoint and those opened after it; what was done stays. */
enum vdbq_status transaction_release(struct transaction *transaction,
                                     size_t savepoint, struct error *error);
/* Goes back to that savepoint, which stays open, and forgets those opened after
 * it. What failed before is forgotten, too. */
enum vdbq_status transaction_return(struct transaction *transaction,
                                    size_t savepoint, struct error *error);
/* Settles, and opens what the transaction has made so far for reading. It
 * may be read on whatever becomes of the transaction. */
enum vdbq_status transaction_snapshot(struct transaction *transaction,
                                      struct snapshot *snapshot,
                                      struct error *error);

/* Writes all that a commit writes but the head, so that little is left that can fail; an
 * abort, or the commit, follows. */
enum vdbq_status transaction_prepare(struct transaction *transaction,
                                     struct error *error);
/* Makes everything durable, lets the writer's place go and frees the
 * transaction, whatever it returns. On failure nothing has changed. */
enum vdbq_status transaction_commit(struct transaction *transaction,
                                    struct error *error);
/* Forgets everything and frees the transaction; accepts NULL. */
void transaction_abort(struct transaction *transaction);

#endif
