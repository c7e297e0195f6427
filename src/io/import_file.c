/* SPDX-License-Identifier: MIT */
/*
 * The text of a CSV file: mapped, since it is read twice and by several
 * threads. What can't be mapped (a pipe) goes to a temporary file without a
 * name first, so that memory holds out whatever the size.
 */
#include "io/import_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
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

/* Maps an open file, and leaves the closing of it to the caller. */
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
    void *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE,
                      fd, 0);
    if (text == MAP_FAILED)
        return fail_file(import, "map");
    posix_madvise(text, (size_t)status.st_size, POSIX_MADV_SEQUENTIAL);
    import->text = text;
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
    close(fd);
    return status;
}

void import_file_close(struct import *import)
{
    if (import->text)
        munmap((void *)import->text, (size_t)(import->end - import->text));
}
