/* SPDX-License-Identifier: MIT */
/*
 * Locks on two bytes of the file (rules 5 and 7 of file.c). Readers and
 * creators wait a little for one another: whoever is in their way holds the
 * lock for a moment only. Nobody waits for a writer.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "data/file.h"

enum { WRITER_BYTE = 0, READER_BYTE = 1, WAIT_MAX = 5000 };

static enum vdbq_status cannot_lock(const struct file *file, int failure,
                                    struct error *error)
{
    return error_set(error, VDBQ_IO, "%s: cannot lock the file: %s",
                     file->path, strerror(failure));
}

enum vdbq_status file_lock_writer(struct file *file, struct error *error)
{
    int failure = file->calls->lock(file->os, WRITER_BYTE, OS_LOCK_EXCLUSIVE);

    if (failure == 0)
        return VDBQ_OK;
    if (failure != EAGAIN)
        return cannot_lock(file, failure, error);
    return error_set(error, VDBQ_BUSY,
                     "%s: another connection is writing to it", file->path);
}

void file_unlock_writer(struct file *file)
{
    file->calls->lock(file->os, WRITER_BYTE, OS_UNLOCKED);
}

enum vdbq_status file_lock_reader(struct file *file, struct error *error)
{
    int failure = EAGAIN;

    for (unsigned i = 0; i < WAIT_MAX && failure == EAGAIN; i++) {
        failure = file->calls->lock(file->os, READER_BYTE, OS_LOCK_SHARED);
        if (failure == EAGAIN)
            file_pause();
    }
    if (failure == 0)
        return VDBQ_OK;
    if (failure != EAGAIN)
        return cannot_lock(file, failure, error);
    return error_set(error, VDBQ_BUSY,
                     "%s: a writer keeps readers out for too long",
                     file->path);
}

void file_unlock_reader(struct file *file)
{
    file->calls->lock(file->os, READER_BYTE, OS_UNLOCKED);
}

enum vdbq_status file_alone(struct file *file, bool reading, bool *alone,
                            struct error *error)
{
    int failure = file->calls->lock(file->os, READER_BYTE, OS_LOCK_EXCLUSIVE);

    *alone = failure == 0;
    if (failure != 0)
        return failure == EAGAIN ? VDBQ_OK
                                 : cannot_lock(file, failure, error);
    failure = file->calls->lock(file->os, READER_BYTE,
                                reading ? OS_LOCK_SHARED : OS_UNLOCKED);
    return failure == 0 ? VDBQ_OK : cannot_lock(file, failure, error);
}

void file_pause(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}
