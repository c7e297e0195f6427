/* SPDX-License-Identifier: MIT */
/*
 * libvdbq-mpi: the processes that mpirun has started, as ranks of vdbq_cluster.h.
 * It is a library of its own, which programs open where they need it, so that
 * others do not load MPI.
 */
#ifndef VDBQ_MPI_H
#define VDBQ_MPI_H

#include "vdbq_cluster.h"

/* Initialises MPI and makes a link of all its processes; on one that mpirun has
 * bound to fewer cores than are its share, it takes these back. NULL: MPI cannot
 * be initialised. Once in a process, and on its main thread, as all calls on the
 * link.
 *
 * A thread watches the other ranks from here on. Where one is silent for so many
 * milliseconds (0: that is borne for ever), or mpirun sends SIGTERM, which is
 * blocked on this thread and those that it starts, it prints the rank, its
 * machine and the reason on stderr, and ends the process. */
VDBQ_API const struct vdbq_link *vdbq_mpi_open(unsigned silence_ms);
/* The same in a process that mpirun has not started: it is rank 0, and starts
 * ranks - 1 others on this machine (MPI_Comm_spawn()), which call vdbq_mpi_open().
 * They run the program `arguments[0]` with the arguments behind it, up to NULL. They
 * bear it that rank 0 is silent: a shell may be put in the background; where it
 * dies, Open MPI ends them. NULL: MPI cannot. */
VDBQ_API const struct vdbq_link *vdbq_mpi_spawn(unsigned ranks,
                                                const char *const *arguments,
                                                unsigned silence_ms);
/* Ends MPI: all ranks must call it. Accepts NULL. */
VDBQ_API void vdbq_mpi_close(const struct vdbq_link *link);

#endif
