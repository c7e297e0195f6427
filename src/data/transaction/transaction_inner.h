/* SPDX-License-Identifier: MIT */
/*
 * What a transaction is inside, for the files transaction*.c.
 */
#ifndef VDBQ_DATA_TRANSACTION_INNER_H
#define VDBQ_DATA_TRANSACTION_INNER_H

#include "data/catalogue/catalogue_inner.h"
#include "data/transaction/new_rows.h"
#include "data/transaction/transaction.h"

/* A state that ROLLBACK TO goes back to. */
struct savepoint {
    char *name;              /* owned */
    struct catalogue *state; /* held  */
};

struct transaction {
    struct writer writer;
    uint64_t generation;      /* that the commit will have                 */
    struct catalogue *draft;  /* the next catalogue, without the rows that
                                 are being kept; before there is any
                                 change, the current one                   */
    struct catalogue *marked; /* the draft at transaction_mark(), or NULL  */
    struct vector savepoints; /* struct savepoint: those that are open, the
                                 newest last                             */
    struct vector new_rows;   /* struct new_rows: of tables that rows come to */
    bool waiting; /* of these, there are some of statements that are done  */
    bool apart;   /* ... and they wait on: the statement at hand has nothing
                     to do with their tables                             */
    uint64_t size_before;     /* of the file                               */
    uint64_t catalogue_bytes; /* that were written, with the lists behind  */
    bool prepared;            /* all is written but the head            */
    bool all_known;           /* it is known what all others read          */
    bool passed_on;           /* somebody else may be the writer by now    */
    enum vdbq_status failed;  /* of an earlier call, or OK                 */
};

/* Finds where it may write (file rules 6 and 7). */
enum vdbq_status transaction_find_space(struct transaction *transaction,
                                        struct error *error);
/* Whether it may pay to cut the file once that head is durable. */
bool transaction_may_cut(const struct transaction *transaction,
                         const struct file_head *head);
/* Right after a commit, as the writer still: cuts the file where its end is free
 * and that pays. May fail. */
void transaction_cut(const struct transaction *transaction);
/* Likewise where nothing was committed, however little it pays. */
void transaction_cut_all(struct transaction *transaction);

/* Fails where an earlier call failed. */
enum vdbq_status transaction_check(const struct transaction *transaction,
                                   struct error *error);
/* Notes a failure, so that nothing but an undo or an end of the transaction
 * follows. Returns `status`. */
enum vdbq_status transaction_note(struct transaction *transaction,
                                  enum vdbq_status status);

/* A copy of the draft that may be changed, with room for so many tables,
 * views or indexes more; NULL: no memory. */
struct catalogue *transaction_next(const struct transaction *transaction,
                                   size_t room);
/* Makes it the draft. */
void transaction_take(struct transaction *transaction, struct catalogue *next);

/* Writes the tablets of a table anew that have edits. Fails with IO, CORRUPT,
 * NO_MEMORY, CANCELLED. */
enum vdbq_status transaction_fold(struct transaction *transaction,
                                  uint32_t table_id, struct error *error);

/* Writes the runs of indexes that the draft's tablets lack, and forgets those
 * that belong to none: transaction_runs.c. Fails with IO, CORRUPT, NO_MEMORY,
 * CANCELLED. */
enum vdbq_status transaction_write_runs(struct transaction *transaction,
                                        struct error *error);

/* The rows that come to a table; NULL: none came. */
struct new_rows *transaction_new_rows(const struct transaction *transaction,
                                      uint32_t table_id);
/* Room for the first that come to one; `claimed`: nobody watches their keys.
 * NULL: no memory. */
struct new_rows *transaction_start_rows(struct transaction *transaction,
                                        const struct table *table,
                                        bool claimed);
/* Forgets them, or those that come to any table. */
void transaction_forget(struct transaction *transaction, uint32_t table_id);
void transaction_forget_rows(struct transaction *transaction);
/* File rule 6: whether a snapshot reads what this transaction has written. */
bool transaction_is_read(const struct transaction *transaction);
/* Forgets savepoints, and frees the vector. */
void savepoints_finish(struct vector *savepoints);
/* The table of that id in the draft, or NULL with the error UNKNOWN. */
const struct table *transaction_table(const struct transaction *transaction,
                                      uint32_t table_id, struct error *error);

#endif
