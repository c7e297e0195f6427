/* SPDX-License-Identifier: MIT */
/*
 * The text of a CSV file: mapped, since it is read twice and by several
 * threads. What can't be mapped (a pipe) goes to a temporary file without a
 * name first, so that memory holds out whatever the size. A file of another
 * kind is told by its name or its first bytes.
 */
#include "io/import_inner.h"

#include <errno.h>
#include <fcntl.h>
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

/* Copies what is left of `from` to a temporary file and returns that. */
static int spool(int from)
{
    enum { PART = 1 << 18 };
    int fd = open_temporary();
    char *part = malloc(PART);
    ssize_t length = -1;
    while (fd >= 0 && part) {
        length = read(from, part, PART);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0 || !write_all(fd, part, length))
            break;
    }
    free(part);
    if (length == 0 || fd < 0)
        return fd;
    close(fd);
    return -1;
}

/* Endings of files that are no CSV, though text. */
static bool is_other_text(const char *file)
{
    static const char *const endings[] = { ".json", ".jsonl", ".ndjson",
                                           ".md" };
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* Bytes that files of other kinds have in front. */
static const struct magic {
    const char *bytes;
    size_t start, length;
    const char *kind;
    const char *hint;
} magics[] = {
    { "\x1f\x8b", 0, 2, "is compressed by gzip", "gunzip makes it text" },
    { "\x28\xb5\x2f\xfd", 0, 4, "is compressed by zstd",
      "unzstd makes it text" },
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

/* Refuses what is no CSV; notes where the text starts, behind its mark. */
static enum vdbq_status check_kind(struct import *import)
{
    const char *file = import->params->file;
    size_t size = (size_t)(import->end - import->text);
    bool marked = size >= 3 && memcmp(import->text, "\xef\xbb\xbf", 3) == 0;
    import->body = import->text + (marked ? 3 : 0);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const struct magic *magic = &magics[i];
        if (size >= magic->start + magic->length
            && memcmp(import->text + magic->start, magic->bytes, magic->length)
                   == 0)
            return import_fail(import, VDBQ_TYPE, magic->hint,
                               "%s %s: only CSV is read", file, magic->kind);
    }
    if (is_other_text(file))
        return import_fail(import, VDBQ_TYPE, "", "%s: only CSV is read", file);
    return VDBQ_OK;
}

/* Maps an open file, which is the caller's still where that fails. */
static enum vdbq_status map(struct import *import, int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0)
        return fail_file(import, "read");
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return fail_file(import, "read");
    }
    if (status.st_size == 0)
        return import_fail(import, VDBQ_TYPE, "", "the file is empty");
    void *text =
        mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED)
        return fail_file(import, "map");
    posix_madvise(text, (size_t)status.st_size, POSIX_MADV_SEQUENTIAL);
    import->text = text;
    import->fd = fd;
    import->end = import->text + status.st_size;
    return VDBQ_OK;
}

static bool is_regular(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0
           && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

enum vdbq_status import_file_open(struct import *import)
{
    bool standard = strcmp(import->params->file, "-") == 0;
    int fd = standard ? dup(STDIN_FILENO)
                      : open(import->params->file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_file(import, "open");
    if (!is_regular(fd)) {
        int copy = spool(fd);
        close(fd);
        fd = copy;
    }
    if (fd < 0)
        return fail_file(import, "read");
    enum vdbq_status status = map(import, fd);
    if (status == VDBQ_OK)
        return check_kind(import);
    close(fd);
    return status;
}

void import_file_close(struct import *import)
{
    if (!import->text)
        return;
    munmap((void *)import->text, (size_t)(import->end - import->text));
    close(import->fd);
}
