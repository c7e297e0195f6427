/* SPDX-License-Identifier: MIT */
/*
 * The database file.
 *
 *   offset  size  what
 *        0  4096  head A   } each a struct file_head, then zeros
 *     4096  4096  head B   }
 *     8192     .  blocks: tablets and catalogues, each from a multiple of
 *                 4096 on, filled with zeros to the next
 *   copies  4096  head A again   } two pages among the blocks; in a file that
 *       .   4096  head B again   } is new, at 8192
 *
 * A head, little-endian:
 *   offset  size  field
 *        0     8  magic       89 'V' 'D' 'B' 'Q' CR LF 1a
 *        8     4  format      FILE_FORMAT
 *       12     4  page_bytes  4096
 *       16     8  generation  counts commits; a new file's is 0
 *       24     8  catalogue   its offset in the file
 *       32     8  catalogue_size
 *       40     8  catalogue_checksum
 *       48     8  end         of all blocks in use, a multiple of 4096
 *       56     8  copies      where the two pages of second copies are, a
 *                             multiple of 4096; the same in all heads
 *       64     8  checksum    XXH3 of the 64 bytes before it
 *       72     8  features    bits of what may be ignored, ...
 *       80     8  features_read   ... of what must be known to read the file
 *       88     8  features_write  ... and to write it; rule 14
 *       96     4  version_read    of vdbq that knows these to read: 65536 *
 *                                 major + minor
 *      100     4  version_write   ... and these to write
 *      104     8  reserved    0, or a random number: rule 9
 *      112     8  checksum_all    XXH3 of the 112 bytes before it
 * Magic, format, checksums and versions keep their places in every format to
 * come.
 *
 * Format 1 ended a head behind its checksum, had 0 where `copies` is, and no
 * second copies. Such files are read as they are, and upgraded by the first
 * commit (rule 13).
 *
 * Rules, cited by their numbers:
 *  1. What a head in use leads to is never written again. A commit writes
 *     tablets and catalogue to free space, syncs, writes both copies of the
 *     head that is not in use, syncs. Cut short anywhere, the old head or the
 *     new one is whole, and what it leads to is durable.
 *  2. Of the two copies of a head the one counts that is whole; where both
 *     are, that of the larger generation: a commit was cut short between them.
 *     Where one is not, the user is told. Where none is, a commit was cut
 *     short before its sync returned, and there is no such head. The state of
 *     the file is that of the head with the larger generation; where both have
 *     the same one (rule 15), head A is in use, for whoever writes and whoever
 *     follows him must look in the same place (rule 16). A head that is
 *     whole and leads to a damaged catalogue, or ends behind the file's end,
 *     makes the file CORRUPT: no crash leaves one. The other head's state is
 *     used only with VDBQ_OPEN_OLDER, the user is told so, and a commit alone
 *     makes it the newest.
 *  3. A head fits one sector of 512 bytes and is believed by its checksums
 *     alone, so a torn head is no head.
 *  4. Every block is named with its size and checksum by what leads to it,
 *     and is checked before anything else looks at its bytes; of a tablet
 *     that is read in projections, its head is looked at first, to find them
 *     (rule 11), and each page is checked by its sum, which the tablet's
 *     checksum proves (page_sums.h).
 *  5. Whoever has byte 0 locked exclusively is the writer, until his head is
 *     written or announced (rule 16): then he may let it go, as long as he has
 *     byte 32 locked exclusively until he knows that the head is durable (rule
 *     8). Whoever reads what no head leads to, or by a head without FILE_MARKS in
 *     features_write, has byte 1 locked shared, and locks it before he reads the
 *     heads: so did all readers of vdbq 0.2. Who waits to be the writer stands in
 *     line, in bytes 2 to 31: see file_lock.c. That is for fairness; byte 0 alone
 *     decides.
 *  6. Free space is what no extent of the current catalogue, of the catalogues
 *     of older states that are read (rule 7), of the blocks of all these
 *     catalogues, of the second copies of the heads and of what snapshots of
 *     this connection hold covers, and no place of a part (part_files.h),
 *     whoever needs that. It is not kept on disk. What a transaction
 *     has written itself is free again once neither its own catalogue nor any
 *     snapshot of it can name it; what one that is given up has written is cut
 *     off the file, unless a snapshot reads it.
 *  7. Who opens a snapshot marks its state (file_marks.c) before he reads
 *     anything but the heads, and then reads the heads again: unless it still
 *     is the newest he takes the mark back, and looks anew. So a writer finds
 *     the marks of all that is read, but for what those who come after him
 *     read: the current state or his own. A marked state is the current one,
 *     that of the other head, or listed with the current catalogue (states.h);
 *     a commit lists those that its writer found marked. Where a mark is of a
 *     state that the writer does not find, where he could not lock byte 1
 *     exclusively for a moment, and where an older state is being used (rule
 *     2), he knows of no free space, and writes behind the file's end.
 *  8. A head that another connection wrote may not be durable: it may have
 *     been killed before its sync. So before the first block that a
 *     connection writes on top of such a head, it writes all copies of both
 *     heads again, as they count, and syncs. That mends a damaged copy. It does
 *     not where both copies of both heads are whole and alike, and another
 *     connection's mark (file_marks.c) says that these bytes are durable: it
 *     was set after the sync that made them so. Therefore bytes that a mark may
 *     be of are never written as heads unless a sync followed that worked.
 *  9. After a failed sync nothing is known of what the disk holds, and a
 *     second sync that works says nothing. So the connection is poisoned:
 *     it writes no more. If it was a head's sync, the head that was there
 *     is put back, so that the commit, as far as can be told, did not happen;
 *     in other bytes than it had (`reserved`), of which no mark tells (rule 8).
 * 10. Opening, reading and closing write nothing, with one exception: a file
 *     that is empty, or as an interrupted creation leaves it (file_new.c),
 *     is made a new database if that is asked for.
 * 11. What is read from the file is bounded before it is used: counts,
 *     offsets and sizes against the file and against one another.
 * 12. A block that is shown where it lies keeps its bytes as long as a
 *     snapshot names it (rules 1, 6 and 7), and is asked for by nobody after
 *     that; but other programs may write what they like. So what is read there
 *     picks no place in memory: heads and words are copied, and checked.
 * 13. An upgrade writes the head in use, in this format, to two pages of free
 *     space, and syncs; then over the head that is not in use, and syncs. From
 *     then on that is the one in use, and the head of format 1, which leads to
 *     the same state, is what the next commit writes over, and nothing before
 *     it. So each step leaves the state that was there, and there is never a
 *     newer state of which a head of format 1 does not know.
 * 14. A head with features_read that this vdbq does not know makes the file
 *     CORRUPT to it, with the version that is needed; with features_write that
 *     it does not know, the file is for reading only. A head that is written
 *     names those features, of those that its writer knows, that the head
 *     before it named or the new tablets need (encoding.h).
 * 15. The file is cut behind the end of all heads and of all states that are
 *     marked, by the writer who knows these (rule 7). Where the other head ends
 *     farther back and its state is not marked, the current head is written
 *     over it first, and synced. Of part files `end` of all heads is behind the
 *     last place of a part.
 * 16. A head may be announced once all that it leads to is written, durable or
 *     not: where the newest head is in use, and has FILE_AHEAD in features_write,
 *     its bytes are written into the page of the other head, 2048 bytes behind
 *     its beginning, where they count for nothing to who opens the file. Only who
 *     has become the writer while byte 32 is locked takes it for the newest, if
 *     its generation is the next one, and begins with its state; until it is
 *     durable he writes nothing (rule 8), and if it never comes, nothing at all.
 *     The head before it is one that readers still find the newest: its state
 *     counts as marked (rule 7).
 */
#include "data/file/file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "data/file/part_files.h"

static enum vdbq_status write_head(struct file *file, unsigned which,
                                   const struct file_head *head,
                                   struct error *error);
static void take_head(struct file *file, unsigned which,
                      const struct file_head *head);
static void put_back(struct file *file, unsigned which);
static enum vdbq_status no_memory_or_io(const struct file *file, int failure,
                                        const char *what, struct error *error);

enum vdbq_status file_commit(struct file *file, struct file_head *head,
                             struct error *error)
{
    assert(file->current < FILE_HEADS && !file->read_only);
    enum vdbq_status status = file_settle(file, error);

    if (status == VDBQ_OK)
        status = file_write_waiting(file, error);
    if (status == VDBQ_OK)
        status = file_lock_unconfirmed(file, error);
    if (status != VDBQ_OK)
        return status;
    head->copies = file->copies;
    head->features_write = FILE_MARKS | FILE_AHEAD;
    file_seal_head(head, FILE_FORMAT);
    file->unconfirmed = *head;
    return VDBQ_OK;
}

enum vdbq_status file_write_head(struct file *file, struct error *error)
{
    unsigned which = 1 - file->current;
    enum vdbq_status status = file_sync(file, error);

    if (status == VDBQ_OK) {
        if (file->heads[which].format == FILE_FORMAT_FIRST)
            file->heads[which] = file->heads[file->current]; /* rule 13 */
        status = write_head(file, which, &file->unconfirmed, error);
        if (status != VDBQ_OK)
            put_back(file, which);
    }
    if (status != VDBQ_OK)
        file_unlock_unconfirmed(file);
    return status;
}

enum vdbq_status file_confirm(struct file *file, struct error *error)
{
    unsigned which = 1 - file->current;
    enum vdbq_status status = file_sync(file, error);

    if (status == VDBQ_OK) {
        take_head(file, which, &file->unconfirmed);
        file_tell_durable(file);
    } else {
        put_back(file, which);
    }
    file_unlock_unconfirmed(file);
    return status;
}

void file_cut(struct file *file, uint64_t size_bytes)
{
    uint64_t size;

    if (file->poisoned || file->calls->size(file->os, &size) != 0)
        return;
    if (size > size_bytes)
        file->calls->truncate(file->os, size_bytes);
}

/* -------------------------------------------------------------- heads -- */

/* Writes a head, then zeros, to a page. */
static enum vdbq_status write_page(struct file *file, uint64_t offset,
                                   const struct file_head *head,
                                   struct error *error)
{
    assert(offset % PAGE_BYTES == 0);
    uint8_t page[PAGE_BYTES] = { 0 };

    memcpy(page, head, sizeof *head);
    return file_write(file, page, sizeof page, offset, error);
}

/* Writes the copies of a head; one of format 1 has none but the first. */
static enum vdbq_status write_head(struct file *file, unsigned which,
                                   const struct file_head *head,
                                   struct error *error)
{
    assert(which < FILE_HEADS);
    uint64_t page = (uint64_t)which * PAGE_BYTES;
    enum vdbq_status status = write_page(file, page, head, error);

    if (status == VDBQ_OK && file->copies != 0
        && head->format != FILE_FORMAT_FIRST)
        status = write_page(file, file->copies + page, head, error);
    return status;
}

/* Notes that a head was written, durably, and is in use now. */
static void take_head(struct file *file, unsigned which,
                      const struct file_head *head)
{
    assert(which < FILE_HEADS);
    file->first[which] = file->heads[which] = *head;
    file->states[which] = HEAD_VALID;
    file->current = which;
    file->uses_older = file->follows = false;
    error_clear(&file->warning);
}

/* File rule 8: waits for the commit before. */
static enum vdbq_status await_confirmed(struct file *file, struct error *error)
{
    enum vdbq_status status = file_await_confirmed(file, error);
    bool stay = true;

    if (status == VDBQ_OK)
        status = file_heads_stay(file, &stay, error);
    if (status != VDBQ_OK || stay)
        return status;
    file->unfounded = true;
    error_set(error, VDBQ_IO,
              "%s: the disk did not confirm the commit before this one",
              file->path);
    return error_hint(error, "nothing of this transaction was kept; it may be "
                             "tried again");
}

/* Writes both heads again, durably. */
static enum vdbq_status write_heads_again(struct file *file,
                                          struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < FILE_HEADS && status == VDBQ_OK; i++) {
        status = write_head(file, i, &file->heads[i], error);
        file->first[i] = file->heads[i];
    }
    if (status == VDBQ_OK)
        status = file_sync(file, error);
    if (status == VDBQ_OK)
        file_tell_durable(file);
    else
        put_back(file, 1 - file->current);
    return status;
}

/* File rule 8. */
enum vdbq_status file_settle(struct file *file, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (file->settled || (!file->no_sync && file_are_durable(file))) {
        file->settled = true;
        return VDBQ_OK;
    }
    status = await_confirmed(file, error);
    if (status == VDBQ_OK && !file->no_sync && !file_are_durable(file))
        status = write_heads_again(file, error);
    file->settled = status == VDBQ_OK;
    return status;
}

/* File rule 9, after a head could not be written or synced. The failure has
 * been told already; that of putting back adds nothing to it. */
static void put_back(struct file *file, unsigned which)
{
    assert(which < FILE_HEADS);
    const struct file_head head = file_other_bytes(file, which);
    uint64_t page = (uint64_t)which * PAGE_BYTES;
    struct error ignored;

    error_clear(&ignored);
    file->poisoned = true;
    write_page(file, page, &head, &ignored);
    if (file->copies != 0)
        write_page(file, file->copies + page, &head, &ignored);
    file_sync(file, &ignored);
}

enum vdbq_status file_double_head(struct file *file, struct error *error)
{
    unsigned which = 1 - file->current;
    const struct file_head *head = &file->heads[file->current];
    enum vdbq_status status;

    if (memcmp(&file->heads[which], head, sizeof *head) == 0)
        return VDBQ_OK;
    status = file_settle(file, error);
    if (status != VDBQ_OK)
        return status;
    file->settled = false; /* until all copies are durable */
    status = write_head(file, which, head, error);
    file->first[which] = file->heads[which] = *head;
    file->states[which] = HEAD_VALID;
    file->current = 0; /* rule 2: for all who read them */
    if (status == VDBQ_OK)
        status = file_sync(file, error);
    file->settled = status == VDBQ_OK;
    if (status == VDBQ_OK)
        file_tell_durable(file);
    else
        put_back(file, which);
    return status;
}

/* ------------------------------------------------------------ upgrade -- */

bool file_is_first_format(const struct file *file)
{
    return file->copies == 0;
}

/* Writes the second copies of both heads, durably, before any head leads to
 * them. */
static enum vdbq_status write_copies(struct file *file,
                                     const struct file_head *head,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < FILE_HEADS && status == VDBQ_OK; i++)
        status = write_page(file, head->copies + (uint64_t)i * PAGE_BYTES, head,
                            error);
    return status == VDBQ_OK ? file_sync(file, error) : status;
}

enum vdbq_status file_upgrade(struct file *file, uint64_t copies,
                              struct error *error)
{
    unsigned which = 1 - file->current;
    struct file_head head = file->heads[file->current];
    enum vdbq_status status = file_settle(file, error);

    if (head.end < copies + FILE_FIRST)
        head.end = copies + FILE_FIRST;
    head.copies = copies;
    head.features_write = FILE_MARKS;
    file_seal_head(&head, FILE_FORMAT);
    if (status == VDBQ_OK)
        status = write_copies(file, &head, error);
    if (status != VDBQ_OK)
        return status;
    status = write_page(file, (uint64_t)which * PAGE_BYTES, &head, error);
    if (status == VDBQ_OK)
        status = file_sync(file, error);
    if (status != VDBQ_OK) {
        put_back(file, which);
        return status;
    }
    file->copies = copies;
    take_head(file, which, &head);
    return VDBQ_OK;
}

/* -------------------------------------------------- the file's calls -- */

enum vdbq_status file_open(const struct database_params *params,
                           struct file *file, struct error *error)
{
    bool memory = params->files == &os_memory_files;
    const char *path =
        memory || params->path == NULL ? ":memory:" : params->path;
    unsigned flags = 0;
    int failure;

    *file =
        (struct file){ .calls = params->files,
                       .read_only = (params->flags & VDBQ_OPEN_READ_ONLY) != 0,
                       .no_sync =
                           memory || (params->flags & VDBQ_OPEN_NO_SYNC) != 0,
                       .older = (params->flags & VDBQ_OPEN_OLDER) != 0,
                       .settings = params->settings };
    if (file->read_only)
        flags |= OS_OPEN_READ_ONLY;
    else if (memory || (params->flags & VDBQ_OPEN_CREATE) != 0)
        flags |= OS_OPEN_CREATE;
    file->path = memory_zeroed(strlen(path) + 1, 1);
    if (file->path == NULL)
        return error_no_memory(error);
    strcpy(file->path, path);
    failure = file->calls->open(path, flags, &file->os);
    if (failure == 0 && file_waiting_create(file, error) == VDBQ_OK)
        return VDBQ_OK;
    if (failure != 0)
        no_memory_or_io(file, failure, "cannot open the file", error);
    file_close(file);
    return error->status;
}

void file_close(struct file *file)
{
    file_waiting_destroy(file);
    if (file->os != NULL)
        file->calls->close(file->os);
    memory_release(file->path);
    *file = (struct file){ 0 };
}

/* The system's failure as ours. */
static enum vdbq_status no_memory_or_io(const struct file *file, int failure,
                                        const char *what, struct error *error)
{
    if (failure == ENOMEM)
        return error_no_memory(error);
    return error_set(error, VDBQ_IO, "%s: %s: %s", file->path, what,
                     strerror(failure));
}

enum vdbq_status file_read(const struct file *file, void *bytes, size_t size,
                           uint64_t offset, struct error *error)
{
    int failure = file_read_waiting(file, bytes, size, offset)
                      ? 0
                      : file->calls->read(file->os, bytes, size, offset);

    if (failure == 0)
        return VDBQ_OK;
    return error_set(error, VDBQ_IO, "%s: cannot read %zu bytes at %llu: %s",
                     file->path, size, (unsigned long long)offset,
                     strerror(failure));
}

enum vdbq_status file_write(struct file *file, const void *bytes, size_t size,
                            uint64_t offset, struct error *error)
{
    int failure = file->calls->write(file->os, bytes, size, offset);

    if (failure == 0)
        return VDBQ_OK;
    if (failure == ENOMEM)
        return error_no_memory(error);
    return error_set(error, VDBQ_IO, "%s: cannot write %zu bytes at %llu: %s",
                     file->path, size, (unsigned long long)offset,
                     strerror(failure));
}

enum vdbq_status file_sync(struct file *file, struct error *error)
{
    int failure = file->no_sync ? 0 : file->calls->sync(file->os);

    if (failure == 0)
        return VDBQ_OK;
    file->poisoned = true;
    error_set(error, VDBQ_IO, "%s: the disk did not confirm a write: %s",
              file->path, strerror(failure));
    return error_hint(error, "close the database and open it again");
}

enum vdbq_status file_draw_identities(struct file *file,
                                      struct identity_source *identities,
                                      struct error *error)
{
    int failure = file->drawn != 0 ? 0 : file->calls->random(&file->drawn);

    *identities = identity_source_init(file->drawn++);
    return failure == 0 ? VDBQ_OK
                        : no_memory_or_io(file, failure,
                                          "cannot draw a random number", error);
}

bool file_maps(const struct file *file)
{
    return file->calls->map != NULL;
}

enum vdbq_status file_map(const struct file *file, uint64_t offset,
                          uint64_t size, const void **bytes,
                          struct error *error)
{
    int failure = file->calls->map(file->os, offset, size, bytes);

    if (failure == 0)
        return VDBQ_OK;
    return error_set(error, VDBQ_IO, "%s: cannot map %llu bytes at %llu: %s",
                     file->path, (unsigned long long)size,
                     (unsigned long long)offset, strerror(failure));
}

void file_unmap(const struct file *file, const void *bytes, uint64_t size)
{
    file->calls->unmap(bytes, size);
}

bool file_reserve(const struct file *file, struct vector *extents)
{
    return file->calls != &part_files || part_reserve(file->os, extents);
}

uint64_t file_reserved_end(const struct file *file)
{
    return file->calls == &part_files ? part_end(file->os) : 0;
}

enum vdbq_status file_size(const struct file *file, uint64_t *size_bytes,
                           struct error *error)
{
    int failure = file->calls->size(file->os, size_bytes);

    return failure == 0
               ? VDBQ_OK
               : no_memory_or_io(file, failure, "cannot tell its size", error);
}
