/* SPDX-License-Identifier: MIT */
/*
 * A temporary file that is only appended to, and read anywhere: it has no name,
 * and is gone when it is closed (os_temporary_files). What is written is counted
 * for EXPLAIN ANALYZE. Several threads may append and read.
 */
#ifndef VDBQ_EXEC_SPILL_FILE_H
#define VDBQ_EXEC_SPILL_FILE_H

#include <pthread.h>

#include "base/account.h"
#include "base/error.h"
#include "base/os/os.h"

struct spill_file {
    const struct os_file_calls *files; /* how it is opened, written, read   */
    struct os_file *file;              /* NULL: nothing was written yet     */
    uint64_t bytes;                    /* its size: where the next goes     */
    struct account_share *memory;      /* of the step it is for; or NULL    */
    pthread_rwlock_t lock;             /* to be written: held by who appends */
    bool made;                         /* ... which there is                */
};

/* `files` NULL: os_temporary_files. spill_file_close() accepts a zeroed
 * struct. */
void spill_file_init(struct spill_file *file, const struct os_file_calls *files,
                     struct account_share *memory);
void spill_file_close(struct spill_file *file);

/* Appends; `*offset`: where. The first call opens the file. Fails with IO, and
 * a hint of what helps; NO_MEMORY. */
enum vdbq_status spill_file_append(struct spill_file *file, const void *bytes,
                                   uint64_t size, uint64_t *offset,
                                   struct error *error);
/* The same of pieces, which lie one behind the other then: `piece` gives the
 * next one until it has no more, which is NULL. It may not fail. */
struct spill_pieces {
    const void *(*piece)(void *context, uint64_t *size);
    void *context;
};
enum vdbq_status spill_file_append_pieces(struct spill_file *file,
                                          const struct spill_pieces *pieces,
                                          uint64_t *offset,
                                          struct error *error);
/* Reads what was appended. */
enum vdbq_status spill_file_read(const struct spill_file *file, void *bytes,
                                 uint64_t size, uint64_t offset,
                                 struct error *error);

#endif
