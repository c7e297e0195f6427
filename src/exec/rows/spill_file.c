/* SPDX-License-Identifier: MIT */
/*
 * A temporary file: see spill_file.h.
 */
#include "exec/rows/spill_file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/threads/stop.h"

void spill_file_init(struct spill_file *file, const struct os_file_calls *files,
                     struct account_share *memory)
{
    *file = (struct spill_file){
        .files = files != NULL ? files : &os_temporary_files,
        .memory = memory,
        .made = true,
    };
    pthread_rwlock_init(&file->lock, NULL);
}

void spill_file_close(struct spill_file *file)
{
    if (!file->made)
        return;
    if (file->file != NULL)
        file->files->close(file->file);
    pthread_rwlock_destroy(&file->lock);
    *file = (struct spill_file){ 0 };
}

/* Says what could not be done with the temporary file, and what helps. */
static enum vdbq_status file_failed(const char *what, int failure,
                                    struct error *error)
{
    if (failure == ENOMEM)
        return error_no_memory(error);
    error_set(error, VDBQ_IO, "a temporary file cannot be %s: %s", what,
              strerror(failure));
    return error_hint(error,
                      "rows that do not fit into VDBQ_MEMORY go to "
                      "files in TMPDIR: give more memory, or name a folder "
                      "with more room");
}

/* The lock is held, here and below. */
static enum vdbq_status append(struct spill_file *file, const void *bytes,
                               uint64_t size, struct error *error)
{
    int failure = 0;
    if (stop_asked())
        return error_cancelled(error);
    if (file->file == NULL)
        failure = file->files->open("", OS_OPEN_CREATE, &file->file);
    if (failure != 0)
        return file_failed("made", failure, error);
    failure = file->files->write(file->file, bytes, size, file->bytes);
    if (failure != 0)
        return file_failed("written", failure, error);
    file->bytes += size;
    account_spilled(file->memory, size);
    return VDBQ_OK;
}

static enum vdbq_status append_pieces(struct spill_file *file,
                                      const struct spill_pieces *pieces,
                                      struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t size = 0; status == VDBQ_OK;) {
        const void *piece = pieces->piece(pieces->context, &size);
        if (piece == NULL)
            break;
        status = append(file, piece, size, error);
    }
    return status;
}

enum vdbq_status spill_file_append(struct spill_file *file, const void *bytes,
                                   uint64_t size, uint64_t *offset,
                                   struct error *error)
{
    assert(file->made && size > 0);
    pthread_rwlock_wrlock(&file->lock);
    *offset = file->bytes;
    enum vdbq_status status = append(file, bytes, size, error);
    pthread_rwlock_unlock(&file->lock);
    return status;
}

enum vdbq_status spill_file_append_pieces(struct spill_file *file,
                                          const struct spill_pieces *pieces,
                                          uint64_t *offset, struct error *error)
{
    assert(file->made);
    pthread_rwlock_wrlock(&file->lock);
    *offset = file->bytes;
    enum vdbq_status status = append_pieces(file, pieces, error);
    pthread_rwlock_unlock(&file->lock);
    return status;
}

enum vdbq_status spill_file_read(const struct spill_file *file, void *bytes,
                                 uint64_t size, uint64_t offset,
                                 struct error *error)
{
    /* Who reads leaves the file as it is, but for the lock. */
    pthread_rwlock_t *lock = (pthread_rwlock_t *)(uintptr_t)&file->lock;
    if (stop_asked())
        return error_cancelled(error);
    pthread_rwlock_rdlock(lock);
    assert(file->file != NULL && offset + size <= file->bytes);
    int failure = file->files->read(file->file, bytes, size, offset);
    pthread_rwlock_unlock(lock);
    return failure == 0 ? VDBQ_OK : file_failed("read", failure, error);
}
