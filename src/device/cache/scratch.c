/* SPDX-License-Identifier: MIT */
/*
 * Makes and removes the folder. A process has its own locked as long as it
 * lives, so that others can tell it from one that was left behind.
 */
#include "device/cache/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/inherit.h"
#include "base/os/os.h"
#include "base/text.h"
#include "device/cache/environment.h"

#define SCRATCH_PREFIX "vdbq-pocl-"
enum { TRIES_MAX = 100 };

static struct text scratch;        /* its path; empty: there is none      */
static int owner;                  /* the process that made it, no child  */
static struct own_descriptor ours; /* of the folder, locked               */

static enum vdbq_status temporary_create(struct error *error);
static enum vdbq_status make(const char *folder, struct error *error);
static void remove_all(const char *path);
static void remove_left(const char *folder);
static void scratch_remove(void);

/* Whether the name is that of a scratch folder. */
static bool has_prefix(const char *name)
{
    return strncmp(name, SCRATCH_PREFIX, sizeof SCRATCH_PREFIX - 1) == 0;
}

enum vdbq_status scratch_create(struct error *error)
{
    struct text folder = { 0 };
    enum vdbq_status status = environment_cache_folder("pocl", &folder, error);

    if (status == VDBQ_OK && folder.failed)
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = environment_has_room(folder.bytes, error);
    if (status == VDBQ_OK) {
        remove_left(folder.bytes);
        status = make(folder.bytes, error);
    }
    text_finish(&folder);
    return status == VDBQ_IO ? temporary_create(error) : status;
}

const char *scratch_path(void)
{
    return scratch.bytes;
}

enum vdbq_status scratch_check_room(struct error *error)
{
    if (environment_has_room(scratch.bytes, error) == VDBQ_OK)
        return VDBQ_OK;
    error->status = VDBQ_DEVICE;
    return error_hint(error, "kernels are compiled there: make some MiB of "
                             "room, or set XDG_CACHE_HOME to another folder");
}

bool scratch_is_one(const char *path)
{
    const char *slash = strrchr(path, '/');

    return has_prefix(slash != NULL ? slash + 1 : path);
}

/* `error` says why there is no cache folder; that is what the user must hear
 * if this fails, too. */
static enum vdbq_status temporary_create(struct error *error)
{
    const char *place = getenv("TMPDIR");
    char why[ERROR_MESSAGE_MAX];
    struct error second;

    if (place == NULL || place[0] != '/')
        place = "/tmp";
    memcpy(why, error->message, sizeof why);
    if (environment_has_room(place, &second) == VDBQ_OK
        && make(place, &second) == VDBQ_OK)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE,
              "%s; and there is no room for a temporary "
              "one in '%s'",
              why, place);
    return error_hint(error, "set XDG_CACHE_HOME (or TMPDIR) to a folder "
                             "that you can write, with some MiB of room");
}

/* ------------------------------------------------------------------ one -- */

/* Whether the path still leads to the folder of this descriptor. */
static bool is_there(const char *path, int descriptor)
{
    struct stat named, opened;

    return stat(path, &named) == 0 && fstat(descriptor, &opened) == 0
           && named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/* Locks a folder for as long as it is open; -1 where another process has it
 * locked, or has removed it. On file systems without locks: open, at least,
 * where `anyhow`. */
static int lock(const char *path, bool anyhow)
{
    int descriptor =
        open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool locked;

    if (descriptor < 0)
        return -1;
    locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
             || (anyhow && errno != EWOULDBLOCK);
    if (locked && is_there(path, descriptor))
        return descriptor;
    close(descriptor);
    return -1;
}

/* Another process may take a folder that is not locked yet for one that was
 * left behind: then the next one is tried. */
static enum vdbq_status make(const char *folder, struct error *error)
{
    int descriptor = -1;

    for (unsigned i = 0; i < TRIES_MAX && descriptor < 0; i++) {
        text_finish(&scratch);
        text_print(&scratch, "%s/" SCRATCH_PREFIX "XXXXXX", folder);
        if (scratch.failed)
            return error_no_memory(error);
        if (mkdtemp(scratch.bytes) == NULL) {
            error_set(error, VDBQ_IO, "cannot make a folder in '%s': %s",
                      folder, strerror(errno));
            break;
        }
        descriptor = lock(scratch.bytes, true);
    }
    if (descriptor < 0) {
        text_finish(&scratch);
        return VDBQ_IO;
    }
    own_open(&ours, descriptor);
    owner = os_process();
    atexit(scratch_remove);
    return VDBQ_OK;
}

/* Runs when the process ends. */
static void scratch_remove(void)
{
    if (scratch.bytes != NULL && owner == os_process())
        remove_all(scratch.bytes);
    text_finish(&scratch);
}

/* For nftw(): a file or a folder that is empty by now. */
static int remove_one(const char *path, const struct stat *facts, int type,
                      struct FTW *walk)
{
    (void)facts, (void)type, (void)walk;
    remove(path);
    return 0;
}

/* The folder and all that is in it. */
static void remove_all(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ------------------------------------------------- those left behind -- */

/* A folder that nobody has locked is left from a process that was killed. */
static void remove_if_left(const char *folder, const char *name)
{
    struct text path = { 0 };
    int descriptor = -1;

    text_print(&path, "%s/%s", folder, name);
    if (!path.failed)
        descriptor = lock(path.bytes, false);
    if (descriptor >= 0) {
        remove_all(path.bytes);
        close(descriptor);
    }
    text_finish(&path);
}

/* Looks for all folders that were left. */
static void remove_left(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while (entries != NULL && (entry = readdir(entries)) != NULL)
        if (has_prefix(entry->d_name))
            remove_if_left(folder, entry->d_name);
    if (entries != NULL)
        closedir(entries);
}
