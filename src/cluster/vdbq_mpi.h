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
 * link. */
VDBQ_API const struct vdbq_link *vdbq_mpi_open(void);
/* Ends MPI: all ranks must call it. Accepts NULL. */
VDBQ_API void vdbq_mpi_close(const struct vdbq_link *link);

#endif
