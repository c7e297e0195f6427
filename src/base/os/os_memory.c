/* SPDX-License-Identifier: MIT */
/*
 * Files in memory: each open makes a new, empty one that nobody else sees,
 * so that there is nothing to sync and a lock is always free.
 */
#include "base/os/os.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"

struct os_file {
    char *bytes;
    size_t size;     /* bytes that the file holds        */
    size_t capacity; /* bytes of room, zeroed from there */
};

enum { FIRST_CAPACITY = 64 << 10 };

static int reserve(struct os_file *file, uint64_t size);

static int memory_open(const char *path, unsigned flags, struct os_file **file)
{
    (void)path;
    (void)flags;
    *file = memory_zeroed(1, sizeof **file);
    return *file == NULL ? ENOMEM : 0;
}

static void memory_close(struct os_file *file)
{
    if (file == NULL)
        return;
    memory_release(file->bytes);
    memory_release(file);
}

static int memory_read(struct os_file *file, void *bytes, size_t size,
                       uint64_t offset)
{
    if (offset > file->size || size > file->size - offset)
        return EIO;
    if (size > 0)
        memcpy(bytes, file->bytes + offset, size);
    return 0;
}

static int memory_write(struct os_file *file, const void *bytes, size_t size,
                        uint64_t offset)
{
    int failure;

    if (size == 0)
        return 0;
    if (offset > UINT64_MAX - size)
        return EFBIG;
    failure = reserve(file, offset + size);
    if (failure != 0)
        return failure;
    memcpy(file->bytes + offset, bytes, size);
    if (offset + size > file->size)
        file->size = (size_t)offset + size;
    return 0;
}

static int memory_sync(struct os_file *file)
{
    (void)file;
    return 0;
}

static int memory_size(struct os_file *file, uint64_t *size_bytes)
{
    *size_bytes = file->size;
    return 0;
}

static int memory_truncate(struct os_file *file, uint64_t size_bytes)
{
    int failure = reserve(file, size_bytes);

    if (failure != 0)
        return failure;
    if (size_bytes < file->size)
        memset(file->bytes + size_bytes, 0, file->size - size_bytes);
    file->size = (size_t)size_bytes;
    return 0;
}

static int memory_lock(struct os_file *file, unsigned byte,
                       enum os_lock_kind kind)
{
    (void)file;
    (void)byte;
    (void)kind;
    return 0;
}

static bool memory_locked(struct os_file *file, unsigned first, unsigned count)
{
    (void)file;
    (void)first;
    (void)count;
    return false;
}

static int memory_mark(struct os_file *file, uint64_t mark)
{
    (void)file;
    (void)mark;
    return 0;
}

static void memory_unmark(struct os_file *file, uint64_t first, uint64_t count)
{
    (void)file;
    (void)first;
    (void)count;
}

static int memory_marked(struct os_file *file, uint64_t first, uint64_t end,
                         uint64_t *mark)
{
    (void)file;
    (void)first;
    *mark = end;
    return 0;
}

const struct os_file_calls os_memory_files = {
    .open = memory_open,
    .close = memory_close,
    .read = memory_read,
    .write = memory_write,
    .sync = memory_sync,
    .size = memory_size,
    .truncate = memory_truncate,
    .lock = memory_lock,
    .locked = memory_locked,
    .mark = memory_mark,
    .unmark = memory_unmark,
    .marked = memory_marked,
    .random = os_random,
};

/* Makes room for `size` bytes; what lies past the file's end is zero. */
static int reserve(struct os_file *file, uint64_t size)
{
    size_t capacity = file->capacity;
    char *bytes;

    if (size <= capacity)
        return 0;
    if (size > SIZE_MAX / 4)
        return ENOMEM;
    if (capacity < FIRST_CAPACITY)
        capacity = FIRST_CAPACITY;
    while (capacity < size)
        capacity += capacity / 2;
    bytes = memory_resize(file->bytes, capacity);
    if (bytes == NULL)
        return ENOMEM;
    memset(bytes + file->capacity, 0, capacity - file->capacity);
    file->bytes = bytes;
    file->capacity = capacity;
    return 0;
}
