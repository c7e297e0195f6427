/* SPDX-License-Identifier: MIT */
#include "base/os/behind.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The first descriptor that is no standard stream. */
enum { DESCRIPTORS = 3 };

bool behind_find(const char *program, struct text *path)
{
    static const char *const ways[] = { "", "../bin/", "../../bin/" };
    Dl_info library;
    const char *slash;

    if (getauxval(AT_SECURE) != 0
        || dladdr((void *)(uintptr_t)behind_find, &library) == 0)
        return false;
    slash = strrchr(library.dli_fname, '/');
    for (size_t i = 0; slash != NULL && i < sizeof ways / sizeof *ways; i++) {
        text_finish(path);
        text_add(path, library.dli_fname,
                 (size_t)(slash + 1 - library.dli_fname));
        text_print(path, "%s%s", ways[i], program);
        if (!path->failed && access(path->bytes, X_OK) == 0)
            return true;
    }
    return false;
}

/* No stream of ours, and nothing else that is open here. */
static bool shut(posix_spawn_file_actions_t *files)
{
    bool good = true;

    for (int i = 0; i < DESCRIPTORS; i++)
        good = good
               && posix_spawn_file_actions_addopen(files, i, "/dev/null",
                                                   O_RDWR, 0)
                      == 0;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    good = good
           && posix_spawn_file_actions_addclosefrom_np(files, DESCRIPTORS) == 0;
#endif
    return good;
}

/* A session of its own, and no signal ignored or held back. */
static bool set_apart(posix_spawnattr_t *attributes)
{
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    return posix_spawnattr_setsigdefault(attributes, &all) == 0
           && posix_spawnattr_setsigmask(attributes, &none) == 0
           && posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID
                                                       | POSIX_SPAWN_SETSIGDEF
                                                       | POSIX_SPAWN_SETSIGMASK)
                  == 0;
}

int behind_start(const char *path, char *const arguments[])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t process = 0;

    if (posix_spawn_file_actions_init(&files) != 0)
        return 0;
    if (posix_spawnattr_init(&attributes) == 0) {
        if (!shut(&files) || !set_apart(&attributes)
            || posix_spawn(&process, path, &files, &attributes, arguments,
                           environ)
                   != 0)
            process = 0;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return process;
}

bool behind_runs(int process)
{
    return process > 0 && waitpid(process, NULL, WNOHANG) == 0;
}
