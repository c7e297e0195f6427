/* SPDX-License-Identifier: MIT */
/*
 * The history of the prompt in its file. Each line is appended as it is
 * entered, under a lock, so that shells that run beside one another, and one
 * that is killed, lose none. The form is libedit's: a first line that names
 * it, then a line for each, in which blanks and the like are octal numbers.
 * A file that has become long is replaced by its newer half, never cut.
 */
#include "shell_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, SIZE_MAX_KEPT = 1 << 20 };

#define TITLE "_HiStOrY_V2_\n"
enum { TITLE_BYTES = sizeof TITLE - 1 };

static struct {
    struct shell *shell;
    char path[PATH_ROOM]; /* "": the history is not kept      */
    struct out line;      /* in memory: as it is in the file  */
    struct out last;      /* the line that was added last     */
    bool told;            /* that it can't be kept            */
} kept;

static void find_path(void)
{
    const char *own = getenv("VDBQ_HISTORY");
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path = kept.path;
    int length = 0;
    if (own)
        length = snprintf(path, PATH_ROOM, "%s", own);
    else if (state && *state == '/')
        length = snprintf(path, PATH_ROOM, "%s/vdbq/history", state);
    else if (home && *home)
        length =
            snprintf(path, PATH_ROOM, "%s/.local/state/vdbq/history", home);
    if (length < 0 || length >= PATH_ROOM)
        *path = 0;
}

/* Makes the folders that `path` lies in. */
static void make_folders(const char *path)
{
    char folder[PATH_ROOM];
    for (const char *at = path + 1; (at = strchr(at, '/')); at++) {
        memcpy(folder, path, (size_t)(at - path));
        folder[at - path] = 0;
        mkdir(folder, 0700);
    }
}

/* Says, once, that lines are not kept, and why. */
static void tell(const char *reason)
{
    struct out *err = &kept.shell->err;
    if (!kept.told)
        out_print(err, "note: the history is not kept in %s: %s\n", kept.path,
                  reason);
    out_flush(err);
    kept.told = true;
}

/* ------------------------------------------------------------- the file -- */

/* Opens the file, made where there is none, and locks it; -1 and errno where
 * that can't be done. One that was replaced meanwhile is opened anew. */
static int open_locked(void)
{
    struct stat opened, named;
    for (;;) {
        int fd = open(kept.path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        flock(fd, LOCK_EX); /* where there are no locks, without one */
        bool same = fstat(fd, &opened) == 0 && stat(kept.path, &named) == 0
                    && opened.st_ino == named.st_ino
                    && opened.st_dev == named.st_dev;
        if (same)
            return fd;
        close(fd);
    }
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
    return true;
}

/* Whether the file is a history; NULL: it is, else why not. An empty one
 * becomes one. */
static const char *check_title(int fd, off_t size)
{
    char title[TITLE_BYTES];
    if (size == 0)
        return write_all(fd, TITLE, TITLE_BYTES) ? NULL : strerror(errno);
    if (pread(fd, title, TITLE_BYTES, 0) != TITLE_BYTES
        || memcmp(title, TITLE, TITLE_BYTES) != 0)
        return "it is no history";
    return NULL;
}

/* Ends a line that was cut short by a crash. */
static bool end_line(int fd, off_t size)
{
    char last;
    if (size == 0 || pread(fd, &last, 1, size - 1) != 1 || last == '\n')
        return true;
    return write_all(fd, "\n", 1);
}

/* Adds what is in kept.line; NULL, or why it could not. */
static const char *append_to(int fd)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return strerror(errno);
    if (!S_ISREG(facts.st_mode))
        return "it is no plain file";
    if (facts.st_mode & 077)
        fchmod(fd, 0600);
    const char *reason = check_title(fd, facts.st_size);
    if (reason)
        return reason;
    return end_line(fd, facts.st_size)
                   && write_all(fd, kept.line.bytes, kept.line.length)
               ? NULL
               : strerror(errno);
}

/* Writes the newer half of `size` bytes of a history beside it, and gives
 * that its name. */
static void shorten(int fd, size_t size)
{
    char name[PATH_ROOM + 32], *bytes = malloc(size + 1);
    snprintf(name, sizeof name, "%s.%ld", kept.path, (long)getpid());
    if (!bytes || pread(fd, bytes, size, 0) != (ssize_t)size) {
        free(bytes);
        return;
    }
    bytes[size] = 0;
    const char *half = strchr(bytes + size / 2, '\n');
    int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = half && to >= 0 && write_all(to, TITLE, TITLE_BYTES)
                && write_all(to, half + 1, size - (size_t)(half + 1 - bytes));
    if (to >= 0 && (close(to) != 0 || !good || rename(name, kept.path) != 0))
        unlink(name);
    free(bytes);
}

static void keep_short(void)
{
    struct stat facts;
    int fd = stat(kept.path, &facts) == 0 && S_ISREG(facts.st_mode)
                     && facts.st_size > SIZE_MAX_KEPT
                 ? open_locked()
                 : -1;
    if (fd < 0)
        return;
    if (fstat(fd, &facts) == 0 && facts.st_size > SIZE_MAX_KEPT
        && !check_title(fd, facts.st_size))
        shorten(fd, (size_t)facts.st_size);
    close(fd);
}

/* ------------------------------------------------------------- the lines -- */

/* The line without its end, as it stands in the file. */
static void encode(const char *line, size_t length)
{
    kept.line.length = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)line[i];
        if (c <= ' ' || c == '\\' || c == 0x7f)
            out_print(&kept.line, "\\%03o", (unsigned)c);
        else
            out_char(&kept.line, line[i]);
    }
    out_char(&kept.line, '\n');
}

const char *shell_history_open(struct shell *shell)
{
    kept.shell = shell;
    find_path();
    if (!*kept.path || !out_open(&kept.line, -1) || !out_open(&kept.last, -1))
        return NULL;
    keep_short();
    return kept.path;
}

void shell_history_close(void)
{
    out_close(&kept.line);
    out_close(&kept.last);
    kept.line = kept.last = (struct out){ 0 };
}

void shell_history_add(const char *line, size_t length)
{
    if (!kept.line.bytes)
        return;
    while (length && strchr("\r\n", line[length - 1]))
        length--;
    bool again = kept.last.length == length
                 && memcmp(kept.last.bytes, line, length) == 0;
    if (again)
        return;
    kept.last.length = 0;
    out_bytes(&kept.last, line, length);
    encode(line, length);
    int fd = open_locked();
    if (fd < 0 && errno == ENOENT) {
        mode_t mask = umask(077);
        make_folders(kept.path);
        umask(mask);
        fd = open_locked();
    }
    const char *reason = fd < 0 ? strerror(errno) : append_to(fd);
    if (reason)
        tell(reason);
    if (fd >= 0)
        close(fd);
}
