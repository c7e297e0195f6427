/* SPDX-License-Identifier: MIT */
/*
 * Part files as one file: see part_files.h. What is in a part is read there, and
 * all else is read and written in `whole`, on whose bytes locks and marks are, too.
 */
#include "data/file/part_files.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "base/os/wake.h"
#include "data/file/space.h"

struct os_file {
    struct part_layout layout;
    const struct os_file_calls *calls; /* of `whole` */
    struct os_file *whole;
    struct os_file **parts; /* of each, of os_files */
    unsigned own; /* part that is read for what each has; none: `whole` is */
};

enum { READER_BYTE = 1 }; /* file rule 5: keeps what a part has as it is */

const struct os_file_calls *part_whole_calls = &os_files;

int part_heads(struct os_file *file, uint64_t *sum)
{
    uint8_t heads[PART_HEADS_BYTES];
    int failure = os_files.read(file, heads, sizeof heads, 0);
    *sum = failure == 0 ? XXH3_64bits(heads, sizeof heads) : 0;
    return failure;
}

static void close_parts(struct os_file *file)
{
    if (file == NULL)
        return;
    for (unsigned k = 0; file->parts != NULL && k < file->layout.parts; k++)
        os_files.close(file->parts[k]);
    if (file->whole != NULL)
        file->calls->close(file->whole);
    memory_release(file->parts);
    part_layout_finish(&file->layout);
    memory_release(file);
}

/* Opens a part so that who writes to it as to a database keeps what is read, and
 * sees whether it is what was made. */
static enum vdbq_status open_part(struct os_file *file, const char *folder,
                                  unsigned part, struct error *error)
{
    char path[PART_PATH_MAX];
    uint64_t sum = 0;
    part_path_of(folder, part, path);
    int failure = os_files.open(path, OS_OPEN_READ_ONLY, &file->parts[part]);
    if (failure == ENOMEM)
        return error_no_memory(error);
    if (failure != 0) {
        error_set(error, VDBQ_IO, "%s: part %u of %u cannot be opened: %s",
                  path, part, file->layout.parts, strerror(failure));
        return error_hint(error, "all parts must be in the folder");
    }
    failure = os_files.lock(file->parts[part], READER_BYTE, OS_LOCK_SHARED);
    if (failure == 0)
        failure = part_heads(file->parts[part], &sum);
    if (failure == 0 && sum == file->layout.heads[part])
        return VDBQ_OK;
    error_set(error, VDBQ_CORRUPT,
              "%s: not part %u of %u of the database %016" PRIx64
              " as it was made",
              path, part, file->layout.parts, file->layout.database);
    return error_hint(error, "it is another one's, or was changed or damaged: "
                             "distribute the database again");
}

/* Opens `whole`, which is never made. */
static enum vdbq_status open_whole(struct os_file *file, const char *folder,
                                   unsigned flags, struct error *error)
{
    char path[PART_PATH_MAX];
    part_path(folder, "whole", path);
    int failure =
        file->calls->open(path, flags & OS_OPEN_READ_ONLY, &file->whole);
    if (failure == 0)
        return VDBQ_OK;
    file->whole = NULL;
    if (failure == ENOMEM)
        return error_no_memory(error);
    return error_set(error, VDBQ_IO, "%s: cannot open the file: %s", path,
                     strerror(failure));
}

static enum vdbq_status open_all(struct os_file *file, const char *folder,
                                 unsigned flags, struct error *error)
{
    enum vdbq_status status = part_layout_read(folder, &file->layout, error);
    if (status != VDBQ_OK)
        return status;
    file->parts = memory_zeroed(file->layout.parts, sizeof *file->parts);
    if (file->parts == NULL)
        return error_no_memory(error);
    status = open_whole(file, folder, flags, error);
    for (unsigned k = 0; status == VDBQ_OK && k < file->layout.parts; k++)
        status = open_part(file, folder, k, error);
    return status;
}

bool part_folder(const char *path)
{
    char layout[PART_PATH_MAX];
    struct os_file *file = NULL;
    part_path(path, "layout", layout);
    const bool found = os_files.open(layout, OS_OPEN_READ_ONLY, &file) == 0;
    os_files.close(file);
    return found;
}

static enum vdbq_status open_folder(const char *folder, unsigned flags,
                                    struct os_file **file, struct error *error)
{
    *file = memory_zeroed(1, sizeof **file);
    if (*file == NULL)
        return error_no_memory(error);
    (*file)->own = UINT_MAX;
    (*file)->calls = part_whole_calls;
    enum vdbq_status status = open_all(*file, folder, flags, error);
    if (status == VDBQ_OK)
        return VDBQ_OK;
    close_parts(*file);
    *file = NULL;
    return status;
}

enum vdbq_status part_check(const char *folder, bool reads, struct error *error)
{
    struct os_file *file;
    enum vdbq_status status =
        open_folder(folder, reads ? OS_OPEN_READ_ONLY : 0, &file, error);
    close_parts(file);
    return status;
}

unsigned part_count(const struct os_file *file, uint64_t *database)
{
    *database = file->layout.database;
    return file->layout.parts;
}

void part_own(struct os_file *file, unsigned part)
{
    assert(part < file->layout.parts);
    file->own = part;
}

struct table_parts *part_tables(const struct os_file *file, size_t *count)
{
    *count = file->layout.table_count;
    return file->layout.tables;
}

enum vdbq_status part_tell(struct os_file *file, struct catalogue *catalogue,
                           const char *folder, struct error *error)
{
    return part_layout_tell(&file->layout, catalogue, folder, error);
}

enum vdbq_status part_prove(const struct os_file *file,
                            const struct vector *extents, const char *folder,
                            struct error *error)
{
    return part_layout_prove(&file->layout, extents, folder, error);
}

bool part_reserve(const struct os_file *file, struct vector *extents)
{
    const struct part_layout *layout = &file->layout;
    bool added = true;
    for (size_t i = 0; added && i < layout->range_count; i++)
        added = extents_add(extents, layout->ranges[i].offset,
                            layout->ranges[i].size);
    return added;
}

uint64_t part_end(const struct os_file *file)
{
    return part_layout_end(&file->layout);
}

/* ---------------------------------------------------------- the calls -- */

static int parts_open(const char *path, unsigned flags, struct os_file **file)
{
    struct error error = { 0 };
    enum vdbq_status status = open_folder(path, flags, file, &error);
    return status == VDBQ_OK ? 0 : status == VDBQ_NO_MEMORY ? ENOMEM : EIO;
}

/* The part that is read for a range; NULL: `whole` is. */
static struct os_file *file_of(const struct os_file *file,
                               const struct part_range *range)
{
    const unsigned parts = file->layout.parts;
    const unsigned part = range->part < parts ? range->part : file->own;
    return part < parts ? file->parts[part] : NULL;
}

/* Where some bytes are. */
struct place {
    const struct os_file_calls *calls; /* of the file */
    struct os_file *file;
    uint64_t offset; /* in it                                    */
    uint64_t size;   /* how much of what is wanted lies in it    */
};

static struct place place_in(const struct os_file *file, struct os_file *part,
                             uint64_t offset, uint64_t size)
{
    return part != NULL
               ? (struct place){ &os_files, part, offset, size }
               : (struct place){ file->calls, file->whole, offset, size };
}

/* The place of what begins at an offset of the database. */
static struct place place_in_database(const struct os_file *file,
                                      uint64_t offset, uint64_t size)
{
    const struct part_layout *layout = &file->layout;
    const size_t at = part_range_at(layout, offset);
    const struct part_range *range =
        at < layout->range_count ? &layout->ranges[at] : NULL;
    const bool inside = range != NULL && range->offset <= offset;
    uint64_t left = size;
    if (range != NULL)
        left = (inside ? range->offset + range->size : range->offset) - offset;
    return place_in(file, inside ? file_of(file, range) : NULL, offset,
                    left < size ? left : size);
}

/* ... or at a part_place(). */
static struct place place_of(const struct os_file *file, uint64_t offset,
                             uint64_t size)
{
    unsigned part;
    uint64_t inside;
    if (!part_of_place(offset, &part, &inside))
        return place_in_database(file, offset, size);
    assert(part < file->layout.parts);
    return place_in(file, file->parts[part], inside, size);
}

static int parts_read(struct os_file *file, void *bytes, size_t size,
                      uint64_t offset)
{
    int failure = 0;
    for (size_t done = 0; failure == 0 && done < size;) {
        const struct place place = place_of(file, offset + done, size - done);
        failure = place.calls->read(place.file, (char *)bytes + done,
                                    (size_t)place.size, place.offset);
        done += (size_t)place.size;
    }
    return failure;
}

static int parts_map(struct os_file *file, uint64_t offset, uint64_t size,
                     const void **bytes)
{
    const struct place place = place_of(file, offset, size);
    return place.calls->map != NULL
               ? place.calls->map(place.file, place.offset, size, bytes)
               : EIO;
}

static void parts_unmap(const void *bytes, uint64_t size)
{
    os_files.unmap(bytes, size);
}

static int parts_size(struct os_file *file, uint64_t *size_bytes)
{
    return file->calls->size(file->whole, size_bytes);
}

/* Whether bytes are in a part, so that nothing is written there. */
static bool is_reserved(const struct os_file *file, uint64_t offset,
                        uint64_t size)
{
    const struct part_layout *layout = &file->layout;
    const size_t at = part_range_at(layout, offset);
    return at < layout->range_count
           && layout->ranges[at].offset < offset + size;
}

static int parts_write(struct os_file *file, const void *bytes, size_t size,
                       uint64_t offset)
{
    return is_reserved(file, offset, size)
               ? EROFS
               : file->calls->write(file->whole, bytes, size, offset);
}

static int parts_sync(struct os_file *file)
{
    return file->calls->sync(file->whole);
}

static int parts_truncate(struct os_file *file, uint64_t size_bytes)
{
    return size_bytes < part_end(file)
               ? EROFS
               : file->calls->truncate(file->whole, size_bytes);
}

/* ------------------------------------------ locks, marks, who waits -- */

static int parts_lock(struct os_file *file, unsigned byte,
                      enum os_lock_kind kind)
{
    return file->calls->lock(file->whole, byte, kind);
}

static bool parts_locked(struct os_file *file, unsigned first, unsigned count)
{
    return file->calls->locked(file->whole, first, count);
}

static void parts_wait(struct os_file *file, unsigned at, uint64_t ns)
{
    if (file->calls->wait != NULL)
        file->calls->wait(file->whole, at, ns);
    else
        wake_sleep(ns);
}

static void parts_wake(struct os_file *file, unsigned at)
{
    if (file->calls->wake != NULL)
        file->calls->wake(file->whole, at);
}

static bool parts_signature(struct os_file *file, struct os_holder *holder)
{
    return file->calls->signature != NULL
           && file->calls->signature(file->whole, holder);
}

static int parts_mark(struct os_file *file, uint64_t mark)
{
    return file->calls->mark(file->whole, mark);
}

static void parts_unmark(struct os_file *file, uint64_t first, uint64_t count)
{
    file->calls->unmark(file->whole, first, count);
}

static int parts_marked(struct os_file *file, uint64_t first, uint64_t end,
                        uint64_t *mark)
{
    return file->calls->marked(file->whole, first, end, mark);
}

const struct os_file_calls part_files = {
    .open = parts_open,
    .close = close_parts,
    .read = parts_read,
    .write = parts_write,
    .sync = parts_sync,
    .size = parts_size,
    .truncate = parts_truncate,
    .lock = parts_lock,
    .locked = parts_locked,
    .wait = parts_wait,
    .wake = parts_wake,
    .signature = parts_signature,
    .mark = parts_mark,
    .unmark = parts_unmark,
    .marked = parts_marked,
    .map = parts_map,
    .unmap = parts_unmap,
    .reads_anywhere = true,
    .random = os_random,
};
