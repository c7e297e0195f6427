/* SPDX-License-Identifier: MIT */
/*
 * Announced heads (rule 16 of file.c): the next writer works on a state while its
 * blocks and its head become durable.
 */
#include <assert.h>

#include "data/file/file.h"

/* Where the head of that page is announced: in the other one. */
static uint64_t ahead_at(unsigned which)
{
    assert(which < FILE_HEADS);
    return (uint64_t)(FILE_HEADS - 1 - which) * PAGE_BYTES + PAGE_BYTES / 2;
}

/* File rule 16: who does not know of it must not write where the newest head says
 * so. Where an older state is used, the newest head is not the one that it is on. */
bool file_may_announce(const struct file *file)
{
    return !file->uses_older
           && (file->heads[file->current].features_write & FILE_AHEAD) != 0;
}

enum vdbq_status file_announce(struct file *file, struct error *error)
{
    assert(file_may_announce(file));
    enum vdbq_status status =
        file_write(file, &file->unconfirmed, sizeof file->unconfirmed,
                   ahead_at(1 - file->current), error);

    if (status != VDBQ_OK)
        file_unlock_unconfirmed(file);
    return status;
}

/* Whether what was announced comes after the newest head. */
static bool is_next(const struct file *file, unsigned newest,
                    const struct file_head *ahead)
{
    return file_judge(ahead, file->size_bytes) == HEAD_VALID
           && ahead->format == FILE_FORMAT && ahead->copies == file->copies
           && ahead->generation == file->heads[newest].generation + 1;
}

/* Takes the announced head for written, if there is one. */
static enum vdbq_status follow(struct file *file, bool *changed,
                               struct error *error)
{
    struct file_head ahead;
    struct error ignored = { 0 };
    unsigned newest, which;
    enum vdbq_status status = file_size(file, &file->size_bytes, error);

    if (status != VDBQ_OK || file_newest(file, &newest, &ignored) != VDBQ_OK)
        return status;
    which = FILE_HEADS - 1 - newest;
    status = file_read(file, &ahead, sizeof ahead, ahead_at(which), error);
    if (status != VDBQ_OK || !is_next(file, newest, &ahead))
        return status;
    file->first[which] = file->heads[which] = ahead;
    file->states[which] = HEAD_VALID;
    file->settled = false;
    file->follows = *changed = true;
    return VDBQ_OK;
}

/* Rule 16: who announced has the lock before the writer's place is free, and
 * until his head is durable. So where nobody has it the heads tell all; else they
 * are read later than that, and have what was announced already, or do not. */
enum vdbq_status file_read_ahead(struct file *file, bool *changed,
                                 struct error *error)
{
    bool unconfirmed = file_is_unconfirmed(file);
    enum vdbq_status status = file_read_heads(file, changed, error);

    file->follows = false;
    return status == VDBQ_OK && unconfirmed ? follow(file, changed, error)
                                            : status;
}
