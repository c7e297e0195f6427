/* SPDX-License-Identifier: MIT */
/*
 * Real files. Reads and writes name their offset and are carried on until
 * they are whole. Their locks are in lock.c.
 */
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/inherit.h"
#include "base/os/lock.h"
#include "base/os/wake.h"
#include "base/memory.h"
#include "base/temporary.h"

struct os_file {
    struct own_descriptor own;
    struct wake wake;
};

static int file_open(const char *path, unsigned flags, struct os_file **file);
static int temporary_open(const char *path, unsigned flags,
                          struct os_file **file);
static void file_close(struct os_file *file);
static int file_read(struct os_file *file, void *bytes, size_t size,
                     uint64_t offset);
static int file_write(struct os_file *file, const void *bytes, size_t size,
                      uint64_t offset);
static int file_sync(struct os_file *file);
static int file_size(struct os_file *file, uint64_t *size_bytes);
static int file_truncate(struct os_file *file, uint64_t size_bytes);
static int file_lock(struct os_file *file, unsigned byte,
                     enum os_lock_kind kind);
static bool file_locked(struct os_file *file, unsigned first, unsigned count);
static void file_wait(struct os_file *file, unsigned place, uint64_t ns);
static void file_wake(struct os_file *file, unsigned place);
static bool file_signature(struct os_file *file, struct os_holder *holder);
static int file_mark(struct os_file *file, uint64_t mark);
static void file_unmark(struct os_file *file, uint64_t first, uint64_t count);
static int file_marked(struct os_file *file, uint64_t first, uint64_t end,
                       uint64_t *mark);
static int file_map(struct os_file *file, uint64_t offset, uint64_t size,
                    const void **bytes);
static void file_unmap(const void *bytes, uint64_t size);

/* The calls of files that are opened by `opens`. */
#define FILE_CALLS(opens)                                                      \
    {                                                                          \
        .open = opens, .close = file_close, .read = file_read,                 \
        .write = file_write, .sync = file_sync, .size = file_size,             \
        .truncate = file_truncate, .lock = file_lock, .locked = file_locked,   \
        .wait = file_wait, .wake = file_wake, .signature = file_signature,     \
        .mark = file_mark, .unmark = file_unmark, .marked = file_marked,       \
        .map = file_map, .unmap = file_unmap, .reads_anywhere = true,          \
        .random = os_random,                                                   \
    }
const struct os_file_calls os_files = FILE_CALLS(file_open);
const struct os_file_calls os_temporary_files = FILE_CALLS(temporary_open);

static int above_standard(int opened);
static int open_descriptor(const char *path, unsigned flags, int *descriptor,
                           bool *created);
static int check_regular(int descriptor);
static int sync_folder_of(const char *path);

static int file_open(const char *path, unsigned flags, struct os_file **file)
{
    bool created = false;
    int failure, descriptor;

    *file = memory_zeroed(1, sizeof **file);
    if (*file == NULL)
        return ENOMEM;
    failure = open_descriptor(path, flags, &descriptor, &created);
    if (failure != 0)
        goto release_file;
    failure = check_regular(descriptor);
    if (failure == 0 && created)
        failure = sync_folder_of(path);
    if (failure != 0)
        goto close_descriptor;
    own_open(&(*file)->own, descriptor);
    return 0;

close_descriptor:
    close(descriptor);
    if (created)
        unlink(path);
release_file:
    memory_release(*file);
    *file = NULL;
    return failure;
}

static void file_close(struct os_file *file)
{
    if (file == NULL)
        return;
    if (file->own.number >= 0) /* a child of fork() has no such page */
        wake_finish(&file->wake);
    own_close(&file->own);
    memory_release(file);
}

static int check_place(size_t size, uint64_t offset)
{
    return offset > INT64_MAX || size > INT64_MAX - offset ? EFBIG : 0;
}

/* Adds what a call has moved to `done`; where that is nothing the failure is
 * `nothing`. An interrupted call is made again. */
static int count_moved(ssize_t moved, int nothing, size_t *done)
{
    if (moved < 0)
        return errno == EINTR ? 0 : errno;
    *done += (size_t)moved;
    return moved == 0 ? nothing : 0;
}

static int file_read(struct os_file *file, void *bytes, size_t size,
                     uint64_t offset)
{
    int failure = check_place(size, offset);

    for (size_t done = 0; failure == 0 && done < size;)
        failure = count_moved(pread(file->own.number, (char *)bytes + done,
                                    size - done, (off_t)(offset + done)),
                              EIO, &done);
    return failure;
}

static int file_write(struct os_file *file, const void *bytes, size_t size,
                      uint64_t offset)
{
    int failure = check_place(size, offset);

    for (size_t done = 0; failure == 0 && done < size;)
        failure =
            count_moved(pwrite(file->own.number, (const char *)bytes + done,
                               size - done, (off_t)(offset + done)),
                        ENOSPC, &done);
    return failure;
}

static int file_sync(struct os_file *file)
{
    int result;

    do
        result = fdatasync(file->own.number);
    while (result != 0 && errno == EINTR);
    return result != 0 ? errno : 0;
}

/* Not by fstat(), which has Linux note the exact time of the next write: the sync
 * after that then writes the file's inode, too, and takes twice as long. */
static int file_size(struct os_file *file, uint64_t *size_bytes)
{
    off_t end = lseek(file->own.number, 0, SEEK_END);

    if (end < 0)
        return errno;
    *size_bytes = (uint64_t)end;
    return 0;
}

static int file_truncate(struct os_file *file, uint64_t size_bytes)
{
    int result;

    if (size_bytes > INT64_MAX)
        return EFBIG;
    do
        result = ftruncate(file->own.number, (off_t)size_bytes);
    while (result != 0 && errno == EINTR);
    return result != 0 ? errno : 0;
}

static int file_lock(struct os_file *file, unsigned byte,
                     enum os_lock_kind kind)
{
    return lock_set(file->own.number, byte, kind);
}

static bool file_locked(struct os_file *file, unsigned first, unsigned count)
{
    return lock_held(file->own.number, first, count);
}

static void file_wait(struct os_file *file, unsigned place, uint64_t ns)
{
    wake_wait(&file->wake, file->own.number, place, ns);
}

static void file_wake(struct os_file *file, unsigned place)
{
    wake_all(&file->wake, file->own.number, place);
}

static bool file_signature(struct os_file *file, struct os_holder *holder)
{
    return lock_signature(file->own.number, holder);
}

static int file_mark(struct os_file *file, uint64_t mark)
{
    return lock_mark(file->own.number, mark);
}

static void file_unmark(struct os_file *file, uint64_t first, uint64_t count)
{
    lock_unmark(file->own.number, first, count);
}

static int file_marked(struct os_file *file, uint64_t first, uint64_t end,
                       uint64_t *mark)
{
    return lock_marked(file->own.number, first, end, mark);
}

/* What lies before a place in its page: the system's may be larger than those
 * of the file. */
static uint64_t before_in_page(uint64_t at)
{
    return at % (uint64_t)sysconf(_SC_PAGESIZE);
}

static int file_map(struct os_file *file, uint64_t offset, uint64_t size,
                    const void **bytes)
{
    uint64_t before = before_in_page(offset), file_bytes = 0;
    int failure = file_size(file, &file_bytes);
    char *at;

    if (failure != 0)
        return failure;
    if (offset > file_bytes || size > file_bytes - offset)
        return EIO;
    at = mmap(NULL, before + size, PROT_READ, MAP_SHARED, file->own.number,
              (off_t)(offset - before));
    if (at == MAP_FAILED)
        return errno;
    /* A mapping keeps the file and its locks as a descriptor does. */
    madvise(at, before + size, MADV_DONTFORK);
#ifdef MADV_HUGEPAGE
    /* What is not in memory comes in large pages, whose faults are few. */
    madvise(at, before + size, MADV_HUGEPAGE);
#endif
    *bytes = at + before;
    return 0;
}

static void file_unmap(const void *bytes, uint64_t size)
{
    uint64_t before = before_in_page((uintptr_t)bytes);

    munmap((char *)bytes - before, before + size);
}

/* open() that goes on after a signal. */
static int open_again(const char *path, int how)
{
    int descriptor;

    do
        descriptor = open(path, how | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

/* Opens or, where asked to, makes the file. The descriptor is never that of
 * standard input or output, which any library may write to. */
static int open_descriptor(const char *path, unsigned flags, int *descriptor,
                           bool *created)
{
    int how = flags & OS_OPEN_READ_ONLY ? O_RDONLY : O_RDWR;
    int opened = open_again(path, how);

    while (opened < 0 && errno == ENOENT && (flags & OS_OPEN_CREATE)) {
        opened = open_again(path, how | O_CREAT | O_EXCL);
        *created = opened >= 0;
        if (opened >= 0 || errno != EEXIST)
            break;
        opened = open_again(path, how);
        if (opened < 0 && errno == ENOENT)
            return ENOENT; /* a link to nowhere */
    }
    *descriptor = above_standard(opened);
    return *descriptor < 0 ? errno : 0;
}

/* The same file under a descriptor that is none of the standard ones. */
static int above_standard(int opened)
{
    int above = opened;

    if (opened >= 0 && opened <= STDERR_FILENO) {
        above = fcntl(opened, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        close(opened);
    }
    return above;
}

/* Makes a file in a folder and takes its name away at once. */
static int make_nameless(const char *folder)
{
    static const char name[] = "/vdbq-XXXXXX";
    size_t length = strlen(folder);
    char *path = memory_zeroed(length + sizeof name, 1);
    int descriptor;

    if (path == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(path, folder, length);
    memcpy(path + length, name, sizeof name);
    descriptor = mkstemp(path);
    if (descriptor >= 0)
        unlink(path);
    memory_release(path);
    if (descriptor >= 0)
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    return above_standard(descriptor);
}

static int temporary_open(const char *path, unsigned flags,
                          struct os_file **file)
{
    int failure, descriptor;

    (void)path;
    (void)flags;
    *file = memory_zeroed(1, sizeof **file);
    if (*file == NULL)
        return ENOMEM;
    descriptor = make_nameless(temporary_folder());
    failure = errno;
    if (descriptor >= 0) {
        own_open(&(*file)->own, descriptor);
        return 0;
    }
    memory_release(*file);
    *file = NULL;
    return failure;
}

/* Folders, devices and pipes are no databases. */
static int check_regular(int descriptor)
{
    struct stat facts;

    if (fstat(descriptor, &facts) != 0)
        return errno;
    if (S_ISDIR(facts.st_mode))
        return EISDIR;
    return S_ISREG(facts.st_mode) ? 0 : EINVAL;
}

/* Makes the name of a new file durable. A folder that may not be read, or a
 * file system that cannot sync one, is let through. */
static int sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *folder = memory_zeroed(length + 2, 1);
    int descriptor, failure;

    if (folder == NULL)
        return ENOMEM;
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    descriptor = open_again(folder, O_RDONLY | O_DIRECTORY);
    failure = descriptor < 0 || fsync(descriptor) != 0 ? errno : 0;
    if (descriptor >= 0)
        close(descriptor);
    memory_release(folder);
    return failure == EACCES || failure == EINVAL ? 0 : failure;
}
