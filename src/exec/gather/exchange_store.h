/* SPDX-License-Identifier: MIT */
/*
 * Messages with rows that an exchange has received, kept until the rows are asked
 * for: those of the first rank come first then. They are within the account of
 * memory; what has no room there lies in a temporary file.
 */
#ifndef VDBQ_EXEC_EXCHANGE_STORE_H
#define VDBQ_EXEC_EXCHANGE_STORE_H

#include "base/vector.h"
#include "exec/rows/spill_file.h"
#include "exec/stream/ranks.h"

struct exchange_store {
    struct account_share *memory; /* of the step                            */
    struct spill_file file;
    struct vector messages; /* of struct exchange_kept                      */
    size_t next;            /* of them, to be given out                     */
    uint8_t *given;         /* the bytes of the last one, owned             */
    uint64_t given_bytes;   /* ... of the account                           */
};

/* `files` NULL: os_temporary_files. */
void exchange_store_init(struct exchange_store *store,
                         struct account_share *memory,
                         const struct os_file_calls *files);
void exchange_store_finish(struct exchange_store *store); /* accepts zeroed */

/* Keeps a message of rank `from`, and takes it over, whatever it returns. */
enum vdbq_status exchange_store_add(struct exchange_store *store,
                                    struct rank_message message, unsigned from,
                                    struct error *error);
/* No more come: puts those of each rank behind those of the ranks before it, as
 * they came. */
void exchange_store_order(struct exchange_store *store);
/* Gives the next message; no bytes: there are no more. They live until the next
 * call, and are the store's. */
enum vdbq_status exchange_store_next(struct exchange_store *store,
                                     struct rank_message *message,
                                     unsigned *from, struct error *error);

#endif
