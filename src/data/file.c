/* SPDX-License-Identifier: MIT */
/*
 * The database file.
 *
 *   offset  size  what
 *        0  4096  head A   } each a struct file_head, then zeros
 *     4096  4096  head B   }
 *     8192     .  blocks: tablets and catalogues, each from a multiple of
 *                 4096 on, filled with zeros to the next
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
 *       56     8  reserved    0
 *       64     8  checksum    XXH3 of the 64 bytes before it
 * Magic, format and checksum keep their places in every format to come.
 *
 * Rules, cited by their numbers:
 *  1. What a head in use leads to is never written again. A commit writes
 *     tablets and catalogue to free space, syncs, writes the head that is
 *     not in use, syncs. Cut short anywhere, the old head or the new one is
 *     whole, and what it leads to is durable.
 *  2. The state of the file is that of the whole head with the larger
 *     generation. Where its catalogue is damaged it is the other head's. A
 *     whole head that ends behind the file's end makes the file CORRUPT:
 *     no crash leaves one, so the file was cut.
 *  3. A head fits one sector of 512 bytes and is believed by its checksum
 *     alone, so a torn head is no head.
 *  4. Every block is named with its size and checksum by what leads to it,
 *     and is checked before anything else looks at its bytes; of a tablet
 *     that is read in portions, its head is looked at first, to find them
 *     (rule 11). One that was checked whole is afterwards checked by sums of
 *     its columns that were taken then (proof.h).
 *  5. Whoever has byte 0 locked exclusively is the writer. Whoever has a
 *     snapshot open has byte 1 locked shared, and locks it before he reads
 *     the heads. Who waits to be the writer stands in line, in bytes 2 to 31:
 *     see file_lock.c. That is for fairness; byte 0 alone decides.
 *  6. Free space is what no extent of the current catalogue, of the current
 *     catalogue's own block and of the catalogues that snapshots of this
 *     connection hold covers. It is not kept on disk. What a transaction has
 *     written itself is free again once neither its own catalogue nor any
 *     snapshot of it can name it; what one that is given up has written is
 *     cut off the file, unless a snapshot reads it.
 *  7. A writer uses it only where, after he became the writer, he could lock
 *     byte 1 exclusively for a moment: then no other connection reads, and
 *     those that start to read meanwhile find the current head or his own.
 *     Else he writes behind the file's end.
 *  8. A head that another connection wrote may not be durable: it may have
 *     been killed before its sync. So before the first block that a
 *     connection writes on top of such a head, it writes both heads again,
 *     as they are, and syncs.
 *  9. After a failed sync nothing is known of what the disk holds, and a
 *     second sync that works says nothing. So the connection is poisoned:
 *     it writes no more. If it was the head's sync, the head that was there
 *     is put back, so that the commit, as far as can be told, did not happen.
 * 10. Opening, reading and closing write nothing, with one exception: a file
 *     that is empty, or as an interrupted creation leaves it (file_new.c),
 *     is made a new database if that is asked for.
 * 11. What is read from the file is bounded before it is used: counts,
 *     offsets and sizes against the file and against one another.
 * 12. A block that is shown where it lies keeps its bytes as long as a
 *     snapshot names it (rules 1, 6 and 7), and is asked for by nobody after
 *     that; but other programs may write what they like. So what is read there
 *     picks no place in memory: heads and words are copied, and checked.
 */
#include "data/file.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct file_head) == 72, "layout of file_head");
_Static_assert(sizeof(struct file_head) <= 512, "file rule 3");
_Static_assert(offsetof(struct file_head, format) == 8, "layout");
_Static_assert(offsetof(struct file_head, generation) == 16, "layout");
_Static_assert(offsetof(struct file_head, catalogue) == 24, "layout");
_Static_assert(offsetof(struct file_head, catalogue_checksum) == 40, "layout");
_Static_assert(offsetof(struct file_head, end) == 48, "layout");
_Static_assert(offsetof(struct file_head, checksum) == 64, "layout");

static const uint8_t magic[8] = { 0x89, 'V', 'D', 'B', 'Q',
                                  '\r', '\n', 0x1a };

static enum vdbq_status settle(struct file *file, struct error *error);
static enum vdbq_status write_head(struct file *file, unsigned which,
                                   const struct file_head *head,
                                   struct error *error);
static void put_back(struct file *file, unsigned which);
static enum head_state judge(const struct file_head *head, uint64_t size);
static enum vdbq_status no_memory_or_io(const struct file *file, int failure,
                                        const char *what,
                                        struct error *error);

enum vdbq_status file_commit(struct file *file, struct file_head *head,
                             struct error *error)
{
    unsigned which = 1 - file->current;
    enum vdbq_status status = settle(file, error);

    if (status == VDBQ_OK)
        status = file_sync(file, error);
    if (status != VDBQ_OK)
        return status;
    file_seal_head(head);
    status = write_head(file, which, head, error);
    if (status == VDBQ_OK)
        status = file_sync(file, error);
    if (status != VDBQ_OK) {
        put_back(file, which);
        return status;
    }
    file->heads[which] = *head;
    file->states[which] = HEAD_VALID;
    file->current = which;
    return VDBQ_OK;
}

enum vdbq_status file_write_block(struct file *file, const struct block *block,
                                  uint64_t offset, struct error *error)
{
    enum vdbq_status status = settle(file, error);

    if (status != VDBQ_OK)
        return status;
    return file_write(file, block->bytes, (size_t)page_round(block->size),
                      offset, error);
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

/* Reads one head; where the file ends before it, nothing but zeros. */
static enum vdbq_status read_head(const struct file *file, unsigned which,
                                  struct file_head *head, struct error *error)
{
    uint64_t offset = (uint64_t)which * PAGE_BYTES, size;
    enum vdbq_status status = file_size(file, &size, error);

    memset(head, 0, sizeof *head);
    if (status != VDBQ_OK || size < offset + sizeof *head)
        return status;
    return file_read(file, head, sizeof *head, offset, error);
}

static enum vdbq_status read_both(const struct file *file,
                                  struct file_head heads[FILE_HEADS],
                                  struct error *error)
{
    enum vdbq_status status = read_head(file, 0, &heads[0], error);

    return status != VDBQ_OK ? status : read_head(file, 1, &heads[1], error);
}

/* A head that is being written by another connection may be read in halves:
 * what was read twice in the same way is believed. */
enum vdbq_status file_read_heads(struct file *file, bool *changed,
                                 struct error *error)
{
    struct file_head heads[FILE_HEADS], before[FILE_HEADS];
    enum vdbq_status status = read_both(file, heads, error);

    *changed = false;
    if (status != VDBQ_OK)
        return status;
    if (file->known && memcmp(heads, file->heads, sizeof heads) == 0)
        return VDBQ_OK;
    do {
        memcpy(before, heads, sizeof heads);
        status = file_size(file, &file->size_bytes, error);
        if (status == VDBQ_OK)
            status = read_both(file, heads, error);
        if (status != VDBQ_OK)
            return status;
    } while (memcmp(heads, before, sizeof heads) != 0);
    for (unsigned i = 0; i < FILE_HEADS; i++)
        file->states[i] = judge(&heads[i], file->size_bytes);
    memcpy(file->heads, heads, sizeof heads);
    file->known = true;
    file->settled = false;
    *changed = true;
    return VDBQ_OK;
}

uint64_t file_next_generation(const struct file *file)
{
    uint64_t newest = 0;

    for (unsigned i = 0; i < FILE_HEADS; i++)
        if (file->states[i] == HEAD_VALID
            && file->heads[i].generation > newest)
            newest = file->heads[i].generation;
    return newest + 1;
}

void file_seal_head(struct file_head *head)
{
    memcpy(head->magic, magic, sizeof magic);
    head->format = FILE_FORMAT;
    head->page_bytes = PAGE_BYTES;
    head->reserved = 0;
    head->checksum =
        block_checksum(head, offsetof(struct file_head, checksum));
}

/* Whether everything in a head of this format makes sense. */
static bool is_sound(const struct file_head *head)
{
    return head->page_bytes == PAGE_BYTES && head->reserved == 0
        && head->generation < INT64_MAX && head->end % PAGE_BYTES == 0
        && head->end <= INT64_MAX && head->catalogue % PAGE_BYTES == 0
        && head->catalogue >= FILE_FIRST && head->catalogue <= head->end
        && head->catalogue_size > 0
        && head->catalogue_size <= head->end - head->catalogue;
}

static enum head_state judge(const struct file_head *head, uint64_t size)
{
    uint64_t checksum =
        block_checksum(head, offsetof(struct file_head, checksum));

    if (memcmp(head->magic, magic, sizeof magic) != 0)
        return HEAD_NONE;
    if (head->checksum != checksum)
        return HEAD_DAMAGED;
    if (head->format > FILE_FORMAT)
        return HEAD_NEWER;
    if (head->format != FILE_FORMAT || !is_sound(head))
        return HEAD_DAMAGED;
    return head->end > size ? HEAD_SHORT : HEAD_VALID;
}

/* Says what one head is about; false: nothing that explains the file. */
static bool explain(const struct file *file, unsigned which,
                    struct error *error)
{
    const struct file_head *head = &file->heads[which];

    if (file->states[which] == HEAD_NEWER)
        error_set(error, VDBQ_CORRUPT,
                  "%s: the file has format %u, this vdbq reads up to %u",
                  file->path, (unsigned)head->format, (unsigned)FILE_FORMAT);
    else if (file->states[which] == HEAD_SHORT)
        error_set(error, VDBQ_CORRUPT,
                  "%s: the file is too short: %llu bytes, head %u needs %llu",
                  file->path, (unsigned long long)file->size_bytes, which,
                  (unsigned long long)head->end);
    else
        return false;
    return true;
}

enum vdbq_status file_no_head(const struct file *file, struct error *error)
{
    if (explain(file, 0, error) || explain(file, 1, error))
        return VDBQ_CORRUPT;
    if (file->size_bytes == 0)
        return error_set(error, VDBQ_CORRUPT,
                         "%s: not a vdbq database: the file is empty",
                         file->path);
    if (file->states[0] == HEAD_NONE && file->states[1] == HEAD_NONE)
        return error_set(error, VDBQ_CORRUPT, "%s: not a vdbq database",
                         file->path);
    return error_set(error, VDBQ_CORRUPT,
                     "%s: no head of the file is whole (%llu bytes)",
                     file->path, (unsigned long long)file->size_bytes);
}

static enum vdbq_status write_head(struct file *file, unsigned which,
                                   const struct file_head *head,
                                   struct error *error)
{
    uint8_t page[PAGE_BYTES] = { 0 };

    memcpy(page, head, sizeof *head);
    return file_write(file, page, sizeof page, (uint64_t)which * PAGE_BYTES,
                      error);
}

/* File rule 8. */
static enum vdbq_status settle(struct file *file, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (file->settled || file->no_sync)
        return VDBQ_OK;
    for (unsigned i = 0; i < FILE_HEADS && status == VDBQ_OK; i++)
        status = write_head(file, i, &file->heads[i], error);
    if (status == VDBQ_OK)
        status = file_sync(file, error);
    file->settled = status == VDBQ_OK;
    return status;
}

/* File rule 9, after a head could not be written or synced. The failure has
 * been told already; that of putting back adds nothing to it. */
static void put_back(struct file *file, unsigned which)
{
    struct error ignored;

    error_clear(&ignored);
    file->poisoned = true;
    if (write_head(file, which, &file->heads[which], &ignored) == VDBQ_OK)
        file_sync(file, &ignored);
}

/* -------------------------------------------------- the file's calls -- */

enum vdbq_status file_open(const struct database_params *params,
                           struct file *file, struct error *error)
{
    bool memory = params->files == &os_memory_files;
    const char *path = memory || params->path == NULL ? ":memory:"
                                                      : params->path;
    unsigned flags = 0;
    int failure;

    *file = (struct file){
        .calls = params->files,
        .read_only = (params->flags & VDBQ_OPEN_READ_ONLY) != 0,
        .no_sync = memory || (params->flags & VDBQ_OPEN_NO_SYNC) != 0,
        .wait = params->wait
    };
    if (file->read_only)
        flags |= OS_OPEN_READ_ONLY;
    else if (memory || (params->flags & VDBQ_OPEN_CREATE) != 0)
        flags |= OS_OPEN_CREATE;
    file->path = memory_zeroed(strlen(path) + 1, 1);
    if (file->path == NULL)
        return error_no_memory(error);
    strcpy(file->path, path);
    failure = file->calls->open(path, flags, &file->os);
    if (failure == 0)
        return VDBQ_OK;
    no_memory_or_io(file, failure, "cannot open the file", error);
    memory_release(file->path);
    *file = (struct file){ 0 };
    return error->status;
}

void file_close(struct file *file)
{
    if (file->os != NULL)
        file->calls->close(file->os);
    memory_release(file->path);
    *file = (struct file){ 0 };
}

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
    int failure = file->calls->read(file->os, bytes, size, offset);

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

enum vdbq_status file_draw_identities(const struct file *file,
                                 struct identity_source *identities,
                                 struct error *error)
{
    uint64_t drawn = 0;
    int failure = file->calls->random(&drawn);

    *identities = identity_source_init(drawn);
    return failure == 0 ? VDBQ_OK
         : no_memory_or_io(file, failure, "cannot draw a random number",
                           error);
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

enum vdbq_status file_size(const struct file *file, uint64_t *size_bytes,
                           struct error *error)
{
    int failure = file->calls->size(file->os, size_bytes);

    return failure == 0 ? VDBQ_OK
         : no_memory_or_io(file, failure, "cannot tell its size", error);
}
