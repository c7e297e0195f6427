/* SPDX-License-Identifier: MIT */
/*
 * Before the OpenCL loader opens. POCL has no device where it finds no cache
 * folder, fails builds where it cannot write there, and runs whatever shared
 * object it finds in it. So it gets a folder of ours that was looked at
 * first, or a private temporary one. Variables that the user set stay.
 */
#include "device/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

/* Room that a build needs in the cache, tried before it is trusted. */
enum { CACHE_ROOM = 1 << 20 };

static char temporary_folder[512]; /* "" or ours to remove at the end    */
static pid_t temporary_owner;      /* the process that made it, no child */

static enum vdbq_status cache_for_pocl(struct error *error);
static enum vdbq_status temporary_create(struct text *path,
                                         struct error *error);
static void temporary_remove(void);
static bool cache_root_path(struct text *path);
static enum vdbq_status cache_root(struct text *path, struct error *error);
static enum vdbq_status folder_make(struct text *path, const char *name,
                                    struct error *error);
static enum vdbq_status folder_check(const char *path, struct error *error);
static enum vdbq_status folder_has_room(const char *path,
                                        struct error *error);

/* Has POCL keep each of its threads on a processor of its own: else two may
 * share one for a whole process (measured: up to 1.6 times slower on two
 * cores). It counts processors from 0, so that only a process which may use
 * all of them is helped. */
static void keep_threads_apart(void)
{
    if (os_all_cores())
        setenv("POCL_AFFINITY", "1", 0);
}

enum vdbq_status environment_prepare(struct error *error)
{
    /* POCL's own choice of POCL_WORK_GROUP_METHOD stays: "loops" does not
     * make vectors of the machine's loops (measured: 3 to 6 times slower),
     * and nothing here has barriers on a CPU, which it is for. */
    keep_threads_apart();
    if (getenv("POCL_CACHE_DIR") != NULL)
        return VDBQ_OK;
    return cache_for_pocl(error);
}

static enum vdbq_status cache_for_pocl(struct error *error)
{
    struct text path = { 0 };
    enum vdbq_status status = environment_cache_folder("pocl", &path, error);

    if (status == VDBQ_IO)
        status = temporary_create(&path, error);
    if (status == VDBQ_OK && (path.failed ||
                              setenv("POCL_CACHE_DIR", path.bytes, 1) != 0))
        status = error_no_memory(error);
    text_finish(&path);
    return status;
}

enum vdbq_status environment_cache_folder(const char *name, struct text *path,
                                          struct error *error)
{
    enum vdbq_status status = cache_root(path, error);

    if (status == VDBQ_OK)
        status = folder_make(path, "vdbq", error);
    if (status == VDBQ_OK)
        status = folder_make(path, name, error);
    if (status == VDBQ_OK)
        status = folder_has_room(path->bytes, error);
    return status;
}

bool environment_cache_path(const char *name, struct text *path)
{
    if (!cache_root_path(path))
        return false;
    text_print(path, "/vdbq/%s", name);
    return !path->failed;
}

/* Adds the folder that holds the caches of all programs. A relative
 * XDG_CACHE_HOME is to be ignored, as that specification says. */
static bool cache_root_path(struct text *path)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache != NULL && cache[0] == '/')
        text_print(path, "%s", cache);
    else if (home != NULL && home[0] == '/')
        text_print(path, "%s/.cache", home);
    else
        return false;
    return true;
}

/* The same, made where its parent is there. */
static enum vdbq_status cache_root(struct text *path, struct error *error)
{
    if (!cache_root_path(path))
        return error_set(error, VDBQ_IO,
                         "there is no cache folder: neither XDG_CACHE_HOME "
                         "nor HOME is set");
    if (path->failed)
        return error_no_memory(error);
    if (mkdir(path->bytes, 0700) != 0 && errno != EEXIST)
        return error_set(error, VDBQ_IO, "cannot make the folder '%s': %s",
                         path->bytes, strerror(errno));
    return VDBQ_OK;
}

/* Goes on from `path` to its folder `name`, which is made where it is not
 * there and must be ours alone where it is. */
static enum vdbq_status folder_make(struct text *path, const char *name,
                                    struct error *error)
{
    text_print(path, "/%s", name);
    if (path->failed)
        return error_no_memory(error);
    if (mkdir(path->bytes, 0700) == 0 || errno == EEXIST)
        return folder_check(path->bytes, error);
    return error_set(error, VDBQ_IO, "cannot make the folder '%s': %s",
                     path->bytes, strerror(errno));
}

static enum vdbq_status folder_check(const char *path, struct error *error)
{
    struct stat facts;
    const char *fault = NULL;

    if (lstat(path, &facts) != 0)
        return error_set(error, VDBQ_IO, "cannot look at '%s': %s", path,
                         strerror(errno));
    if (!S_ISDIR(facts.st_mode))
        fault = "is not a folder";
    else if (facts.st_uid != geteuid())
        fault = "belongs to another user";
    else if (facts.st_mode & (S_IWGRP | S_IWOTH))
        fault = "can be written by others";
    if (fault == NULL)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE, "the cache folder '%s' %s", path, fault);
    return error_hint(error, "compiled kernels in it would run with your "
                      "rights; remove it, or: chmod 700 '%s', or set "
                      "XDG_CACHE_HOME to a folder of your own", path);
}

/* Whether a file of CACHE_ROOM bytes can be written there. */
static enum vdbq_status folder_has_room(const char *path, struct error *error)
{
    char name[4096];
    int file, code;

    if (snprintf(name, sizeof name, "%s/.room-XXXXXX", path) >=
        (int)sizeof name)
        return error_set(error, VDBQ_IO, "the name of the cache folder has "
                         "more than %zu bytes", sizeof name);
    file = mkstemp(name);
    if (file < 0)
        return error_set(error, VDBQ_IO, "cannot write in '%s': %s", path,
                         strerror(errno));
    code = posix_fallocate(file, 0, CACHE_ROOM);
    close(file);
    unlink(name);
    if (code != 0)
        return error_set(error, VDBQ_IO, "cannot write in '%s': %s", path,
                         strerror(code));
    return VDBQ_OK;
}

/* ---------------------------------------------------------- temporary -- */

/* A private folder for this process, where there is no cache. `error` says
 * why there is none; that is what the user must hear if this fails, too. */
static enum vdbq_status temporary_create(struct text *path,
                                         struct error *error)
{
    const char *place = getenv("TMPDIR");
    struct error second;
    char why[ERROR_MESSAGE_MAX];

    if (place == NULL || place[0] != '/')
        place = "/tmp";
    memcpy(why, error->message, sizeof why);
    text_finish(path);
    snprintf(temporary_folder, sizeof temporary_folder,
             "%s/vdbq-kernels-XXXXXX", place);
    temporary_owner = getpid();
    if (mkdtemp(temporary_folder) == NULL)
        temporary_folder[0] = '\0';
    if (temporary_folder[0] == '\0' ||
        folder_has_room(temporary_folder, &second) != VDBQ_OK) {
        temporary_remove();
        error_set(error, VDBQ_DEVICE, "%s; and there is no room for a "
                  "temporary one in '%s'", why, place);
        return error_hint(error, "set XDG_CACHE_HOME (or TMPDIR) to a folder "
                          "that you can write, with some MiB of room");
    }
    atexit(temporary_remove);
    text_print(path, "%s", temporary_folder);
    return VDBQ_OK;
}

static int remove_one(const char *path, const struct stat *facts, int type,
                      struct FTW *walk)
{
    (void)facts, (void)type, (void)walk;
    remove(path);
    return 0;
}

static void temporary_remove(void)
{
    if (temporary_folder[0] != '\0' && temporary_owner == getpid())
        nftw(temporary_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    temporary_folder[0] = '\0';
}
