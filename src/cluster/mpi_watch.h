/* SPDX-License-Identifier: MIT */
/*
 * What looks after the other processes while mpi_link.c carries messages.
 */
#ifndef VDBQ_CLUSTER_MPI_WATCH_H
#define VDBQ_CLUSTER_MPI_WATCH_H

#include <stdbool.h>

#include "cluster/vdbq_cluster.h"

struct watch;

/* Starts the thread that watches, before MPI: from here on SIGTERM is its alone.
 * `silence_ms`: as of vdbq_mpi_open(). NULL: no memory, or no thread. */
struct watch *watch_start(unsigned silence_ms);

/* Ranks that are watched. */
struct watched {
    const struct vdbq_link *link;
    const void *world; /* the MPI_Comm of all ranks                          */
    const char *hosts; /* by rank, each of so many bytes with its NUL; they
                          outlive the watch                               */
    size_t host_bytes;
    bool bears_first; /* others bear that rank 0 is silent: a user may stop his
                         shell, and if it dies MPI ends those it started   */
};
/* MPI is there: the ranks tell one another that they live. Collective; false: no
 * memory. */
bool watch_ranks(struct watch *watch, const struct watched *others);
/* MPI is about to end on all ranks: no more is told. */
void watch_ending(struct watch *watch);
/* It is over, and SIGTERM the process's again. Takes NULL. */
void watch_stop(struct watch *watch);
/* Ends all ranks, since this one cannot go on with another: prints which, and
 * why. Does not return. `watch` may be NULL. */
_Noreturn void watch_give_up(struct watch *watch, const struct vdbq_link *link,
                             unsigned rank, const char *reason);

#endif
