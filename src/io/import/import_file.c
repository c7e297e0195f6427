/* SPDX-License-Identifier: MIT */
/*
 * The file that a CSV text is in: mapped, since it is read twice and by several
 * threads, but for a packed one. What can't be read twice (a pipe) goes to a
 * temporary file without a name first, so that memory holds out whatever the
 * size. A file of another kind is told by its name or its first bytes.
 */
#include "io/import/import_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum vdbq_status fail_file(struct import *import, const char *what)
{
    const char *reason = strerror(errno);
    return import_fail(import, VDBQ_IO, "", "cannot %s %s: %s", what,
                       import->params->file, reason);
}

static bool write_all(int fd, const char *bytes, ssize_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, (size_t)length);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            length -= written;
        }
    }
    return true;
}

static int open_temporary(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];
    if (!folder || !*folder || strlen(folder) > sizeof path - 32)
        folder = "/tmp";
    strcpy(path, folder);
    strcat(path, "/vdbq-import-XXXXXX");
    int fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Waits for something to read; false: the import is to end. */
static bool wait_for(struct import *import, int fd)
{
    enum { ASKED_AFTER_MS = 50 };
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    while (import_goes_on(import, 0, 0))
        if (poll(&wait, 1, ASKED_AFTER_MS) != 0)
            return true;
    errno = ECANCELED;
    return false;
}

/* Copies what is left of `from` to a temporary file and returns that. */
static int spool(struct import *import, int from)
{
    enum { PART = 1 << 18 };
    int fd = open_temporary();
    char *part = malloc(PART);
    ssize_t length = -1;
    while (fd >= 0 && part && wait_for(import, from)) {
        length = read(from, part, PART);
        if (length < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (length <= 0 || !write_all(fd, part, length))
            break;
        length = -1;
    }
    int problem = errno;
    free(part);
    if (length == 0 || fd < 0)
        return fd;
    close(fd);
    errno = problem;
    return -1;
}

/* Endings of files that are no CSV, though text. */
static bool is_other_text(const char *file)
{
    static const char *const endings[] = { ".json", ".jsonl", ".ndjson",
                                           ".md" };
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (packing_name_ends(file, endings[i]))
            return true;
    return false;
}

/* Bytes that texts of other kinds have in front. */
static const struct magic {
    const char *bytes;
    size_t start, length;
    const char *kind;
    const char *hint;
} magics[] = {
    { "\x1f\x8b", 0, 2, "is compressed by gzip twice",
      "gunzip takes one of them away" },
    { "\x28\xb5\x2f\xfd", 0, 4, "is compressed by zstd twice",
      "unzstd takes one of them away" },
    { "1AY&SY", 4, 6, "is compressed by bzip2", "bunzip2 makes it text" },
    { "\xfd"
      "7zXZ",
      0, 5, "is compressed by xz", "unxz makes it text" },
    { "PK\3\4", 0, 4, "is a ZIP archive or a spreadsheet",
      "unzip it, or save the sheet as CSV" },
    { "PAR1\x15", 0, 5, "is a Parquet file", "save it as CSV" },
    { "SQLite format 3", 0, 15, "is an SQLite database",
      "sqlite3 -csv -header FILE 'select * from TABLE' makes CSV of a table" },
    { "\xff\xfe", 0, 2, "is UTF-16", "iconv -f UTF-16 -t UTF-8 converts it" },
    { "\xfe\xff", 0, 2, "is UTF-16", "iconv -f UTF-16 -t UTF-8 converts it" },
};

enum vdbq_status import_file_check(struct import *import, const char *bytes,
                                   size_t size)
{
    const char *file = import->params->file;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const struct magic *magic = &magics[i];
        if (size >= magic->start + magic->length
            && memcmp(bytes + magic->start, magic->bytes, magic->length) == 0)
            return import_fail(import, VDBQ_TYPE, magic->hint,
                               "%s %s: only CSV is read", file, magic->kind);
    }
    if (is_other_text(file))
        return import_fail(import, VDBQ_TYPE, "", "%s: only CSV is read", file);
    return VDBQ_OK;
}

static enum vdbq_status map(struct import *import)
{
    struct import_text *text = &import->text;
    void *bytes =
        mmap(NULL, text->file_bytes, PROT_READ, MAP_PRIVATE, text->fd, 0);
    if (bytes == MAP_FAILED)
        return fail_file(import, "map");
    posix_madvise(bytes, text->file_bytes, POSIX_MADV_SEQUENTIAL);
    text->map = bytes;
    text->map_end = text->map + text->file_bytes;
    return VDBQ_OK;
}

/* What the file is packed by, if it is. */
static enum vdbq_status open_packed(struct import *import)
{
    struct import_text *text = &import->text;
    char bytes[4];
    ssize_t length = pread(text->fd, bytes, sizeof bytes, 0);
    if (length < 0)
        return fail_file(import, "read");
    text->packing = packing_of_bytes(bytes, (size_t)length);
    if (!text->packing)
        return VDBQ_OK;
    text->unpack = unpack_open(text->fd, text->packing);
    return text->unpack
               ? VDBQ_OK
               : import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
}

/* Looks at what was opened, and maps it. */
static enum vdbq_status look_at(struct import *import)
{
    struct import_text *text = &import->text;
    struct stat status;
    if (fstat(text->fd, &status) < 0)
        return fail_file(import, "read");
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return fail_file(import, "read");
    }
    text->file_bytes = (uint64_t)status.st_size;
    if (text->file_bytes == 0)
        return import_fail(import, VDBQ_TYPE, "", "the file is empty");
    enum vdbq_status opened = open_packed(import);
    return opened == VDBQ_OK && !text->packing ? map(import) : opened;
}

static bool is_regular(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0
           && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/* A pipe without a writer is not waited for here but where it is read. */
enum vdbq_status import_file_open(struct import *import)
{
    bool standard = strcmp(import->params->file, "-") == 0;
    int fd = standard ? dup(STDIN_FILENO)
                      : open(import->params->file,
                             O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_file(import, "open");
    if (!is_regular(fd)) {
        int copy = spool(import, fd);
        close(fd);
        fd = copy;
    }
    if (fd < 0)
        return errno == ECANCELED ? import_fail_stopped(import)
                                  : fail_file(import, "read");
    import->text.fd = fd;
    import->text.open = true;
    return look_at(import);
}

void import_file_close(struct import *import)
{
    struct import_text *text = &import->text;
    unpack_close(text->unpack);
    if (text->map)
        munmap((void *)text->map, text->file_bytes);
    if (text->open)
        close(text->fd);
    *text = (struct import_text){ 0 };
}
