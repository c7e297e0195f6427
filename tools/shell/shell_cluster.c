/* SPDX-License-Identifier: MIT */
/*
 * --cluster and --ranks: see shell_cluster.h. libvdbq-mpi is opened while the
 * program runs: MPI costs each start some milliseconds.
 */
#include "shell_cluster.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <vdbq_mpi.h>

/* The calls of libvdbq-mpi. */
struct calls {
    const struct vdbq_link *(*open)(unsigned silence_ms);
    const struct vdbq_link *(*spawn)(unsigned ranks,
                                     const char *const *arguments,
                                     unsigned silence_ms);
    void (*close)(const struct vdbq_link *link);
};

static struct calls calls;

/* Finds a function; a pointer to data may not become one to a function. */
static bool find(void *library, const char *name, void *call)
{
    void *found = dlsym(library, name);
    memcpy(call, &found, sizeof found);
    return found != NULL;
}

static bool load(struct shell *shell)
{
    void *library = dlopen(VDBQ_MPI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (library != NULL && find(library, "vdbq_mpi_open", &calls.open)
        && find(library, "vdbq_mpi_spawn", &calls.spawn)
        && find(library, "vdbq_mpi_close", &calls.close))
        return true;
    shell_fail(shell, NULL, VDBQ_IO, "", "cannot load %s: %s", VDBQ_MPI_LIBRARY,
               dlerror());
    return false;
}

/* The command line's --cores; NULL: there is none. */
static const char *cores_asked(const struct options *options)
{
    for (unsigned i = options->sets; i > 0; i--)
        if (strcmp(options->set[i - 1].name, "cores") == 0)
            return options->set[i - 1].value;
    return NULL;
}

/* Starts the other ranks: shells as this one, without a script. */
static const struct vdbq_link *spawn(const struct options *options)
{
    enum { ARGUMENTS = 12 };
    char self[4096], silence[16];
    const char *arguments[ARGUMENTS] = { self, "--batch", "--cluster",
                                         "--silence", silence };
    unsigned count = 5;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    snprintf(silence, sizeof silence, "%u", options->silence_ms);
    if ((options->open_flags & VDBQ_OPEN_OLDER) != 0)
        arguments[count++] = "--accept-older";
    if (cores_asked(options) != NULL) {
        arguments[count++] = "--cores";
        arguments[count++] = cores_asked(options);
    }
    arguments[count++] = "--";
    arguments[count] = options->database;
    return calls.spawn(options->ranks, arguments, options->silence_ms);
}

/* Whether ranks can be started as the options say. */
static bool check_options(struct shell *shell, const struct options *options)
{
    if (options->database == NULL)
        return shell_fail(shell, NULL, VDBQ_MISUSE,
                          options->ranks > 0 ? "vdbq --ranks 4 FILE"
                                             : "mpirun -n 4 vdbq --cluster "
                                               "FILE",
                          "--%s needs a database file that all ranks see",
                          options->ranks > 0 ? "ranks" : "cluster");
    if (options->ranks > 0
        && (options->cluster || getenv("OMPI_COMM_WORLD_SIZE") != NULL))
        return shell_fail(shell, NULL, VDBQ_MISUSE, "vdbq --ranks 4 FILE", "%s",
                          "--ranks starts processes itself: without mpirun and "
                          "--cluster");
    return true;
}

bool shell_cluster_open(struct shell *shell, const struct options *options)
{
    if (!options->cluster && options->ranks == 0)
        return true;
    if (!check_options(shell, options) || !load(shell))
        return false;
    shell->link =
        options->ranks > 0 ? spawn(options) : calls.open(options->silence_ms);
    if (shell->link == NULL)
        return shell_fail(shell, NULL, VDBQ_IO, "", "%s",
                          "MPI cannot start the ranks");
    if (shell->link->notice[0] != '\0') {
        out_print(&shell->err, "warning: %s\n", shell->link->notice);
        out_flush(&shell->err);
    }
    return true;
}

bool shell_cluster_leads(const struct shell *shell)
{
    return shell->link == NULL || shell->link->rank == 0;
}

/* Threads of a rank: what the command line says, else its share. */
static unsigned cores_of(const struct shell *shell,
                         const struct options *options)
{
    unsigned share = shell->link->cores / shell->link->local_ranks;
    const char *asked = cores_asked(options);
    if (asked != NULL)
        return (unsigned)strtoul(asked, NULL, 10);
    return share > 0 ? share : 1;
}

bool shell_cluster_lead(struct shell *shell, const struct options *options)
{
    char cores[16];
    if (shell->link == NULL)
        return true;
    snprintf(cores, sizeof cores, "%u", cores_of(shell, options));
    if (vdbq_set(shell->db, "cores", cores) == VDBQ_OK
        && vdbq_cluster_lead(shell->db, shell->link) == VDBQ_OK)
        return true;
    return shell_fail_db(shell, &(struct place){ .name = NULL });
}

void shell_cluster_follow(struct shell *shell, const struct options *options)
{
    vdbq_cluster_follow(shell->link, shell->path, options->open_flags,
                        cores_of(shell, options));
}

void shell_cluster_close(struct shell *shell)
{
    vdbq_cluster_dismiss(shell->link);
    if (shell->link != NULL)
        calls.close(shell->link);
    shell->link = NULL;
}
