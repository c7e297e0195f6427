/* SPDX-License-Identifier: MIT */
/*
 * Before the OpenCL loader opens: the variables that drivers read, and the
 * folders of our cache. Variables that the user set stay.
 */
#include "device/cache/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/os.h"
#include "device/cache/scratch.h"

/* Room that POCL needs for a build, which ends the process where it does not
 * find it (measured: 1.2 MB, also where there is nothing left to compile). */
enum { BUILD_ROOM = 4 << 20 };

/* Lists of libraries that the loader reads. Khronos's writes an end behind each
 * entry, in the variable itself: a process that we start would see the first. */
static const char *const lists[] = { "OCL_ICD_FILENAMES", "OPENCL_LAYERS" };
enum { LISTS = sizeof lists / sizeof *lists };
static struct text list_kept[LISTS]; /* as they were; empty: not set */

static bool cache_root_path(struct text *path);
static enum vdbq_status cache_root(struct text *path, struct error *error);
static enum vdbq_status folder_make(struct text *path, const char *name,
                                    struct error *error);
static enum vdbq_status folder_check(const char *path, struct error *error);

/* Has POCL keep each of its threads on a processor of its own: else two may
 * share one for a whole process (measured: up to 1.6 times slower on two
 * cores). It counts processors from 0, so that only a process which may use
 * all of them is helped. */
static void keep_threads_apart(void)
{
    if (os_all_cores())
        setenv("POCL_AFFINITY", "1", 0);
}

static enum vdbq_status keep_lists(struct error *error)
{
    bool failed = false;

    for (unsigned i = 0; i < LISTS; i++) {
        const char *list = getenv(lists[i]);
        text_finish(&list_kept[i]);
        if (list != NULL)
            text_print(&list_kept[i], "%s", list);
        failed |= list_kept[i].failed;
    }
    return failed ? error_no_memory(error) : VDBQ_OK;
}

void environment_restore(void)
{
    for (unsigned i = 0; i < LISTS; i++) {
        const char *list = getenv(lists[i]);
        if (list_kept[i].bytes != NULL
            && (list == NULL || strcmp(list, list_kept[i].bytes) != 0))
            setenv(lists[i], list_kept[i].bytes, 1); /* else as it is cut */
        text_finish(&list_kept[i]);
    }
}

enum vdbq_status environment_prepare(struct error *error)
{
    const char *asked = getenv("POCL_CACHE_DIR");
    enum vdbq_status status = keep_lists(error);

    /* POCL's own choice of POCL_WORK_GROUP_METHOD stays: "loops" does not
     * make vectors of the machine's loops (measured: 3 to 6 times slower),
     * and nothing here has barriers on a CPU, which it is for. */
    keep_threads_apart();
    if (asked != NULL && !scratch_is_one(asked))
        return status;
    if (status == VDBQ_OK && scratch_path() == NULL)
        status = scratch_create(error);
    if (status == VDBQ_OK && setenv("POCL_CACHE_DIR", scratch_path(), 1) != 0)
        status = error_no_memory(error);
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
    return status;
}

bool environment_cache_look(const char *name, struct text *path)
{
    struct error ignored;

    if (!cache_root_path(path))
        return false;
    text_print(path, "/vdbq");
    if (path->failed || folder_check(path->bytes, &ignored) != VDBQ_OK)
        return false;
    text_print(path, "/%s", name);
    return !path->failed && folder_check(path->bytes, &ignored) == VDBQ_OK;
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

/* The folder must be ours alone: programs are loaded from it. */
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
    return error_hint(error,
                      "compiled kernels in it would run with your "
                      "rights; remove it, or: chmod 700 '%s', or set "
                      "XDG_CACHE_HOME to a folder of your own",
                      path);
}

enum vdbq_status environment_has_room(const char *path, struct error *error)
{
    char name[4096];
    int file, code;

    if (snprintf(name, sizeof name, "%s/.room-XXXXXX", path)
        >= (int)sizeof name)
        return error_set(error, VDBQ_IO,
                         "the name of the cache folder has "
                         "more than %zu bytes",
                         sizeof name);
    file = mkstemp(name);
    if (file < 0)
        return error_set(error, VDBQ_IO, "cannot write in '%s': %s", path,
                         strerror(errno));
    code = posix_fallocate(file, 0, BUILD_ROOM);
    close(file);
    unlink(name);
    if (code != 0)
        return error_set(error, VDBQ_IO, "cannot write in '%s': %s", path,
                         strerror(code));
    return VDBQ_OK;
}

enum vdbq_status environment_cache_write(const char *folder, const char *name,
                                         const struct text *bytes,
                                         struct text *path, struct error *error)
{
    struct text temporary = { 0 };
    enum vdbq_status status = environment_cache_folder(folder, path, error);
    int file = -1;
    bool done = false;

    if (status != VDBQ_OK)
        return status;
    text_print(path, "/%s", name);
    text_print(&temporary, "%s.XXXXXX", path->bytes);
    if (!path->failed && !temporary.failed && !bytes->failed)
        file = mkstemp(temporary.bytes);
    if (file >= 0) {
        done =
            write(file, bytes->bytes, bytes->length) == (ssize_t)bytes->length;
        done = close(file) == 0 && done
               && rename(temporary.bytes, path->bytes) == 0;
        if (!done)
            unlink(temporary.bytes);
    }
    if (!done)
        status = error_set(error, VDBQ_IO, "cannot write '%s': %s", path->bytes,
                           strerror(errno));
    text_finish(&temporary);
    return status;
}
