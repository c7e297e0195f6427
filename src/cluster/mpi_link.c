/* SPDX-License-Identifier: MIT */
/*
 * A link over MPI: the only file that knows it. Messages are sent without
 * waiting; their memory is given back when somebody asks what is pending. Where
 * a process dies, MPI ends all.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cluster/vdbq_mpi.h"

enum { KINDS = 8 };

/* A message on its way. */
struct sending {
    MPI_Request request;
    void *bytes;
    size_t size;
    struct sending *next;
};

struct mpi_link {
    struct vdbq_link head;   /* first */
    MPI_Comm ranks;          /* of our messages alone */
    struct sending *sending; /* the oldest first      */
    struct sending **last;
    size_t pending_bytes;
    MPI_Status arrived; /* of the message that was told of last */
    char host[MPI_MAX_PROCESSOR_NAME];
    char notice[128];
};

/* ------------------------------------------------------------ messages -- */

/* Gives back the memory of what was sent. */
static void settle(struct mpi_link *link)
{
    for (struct sending **at = &link->sending; *at != NULL;) {
        struct sending *sending = *at;
        int done = 0;
        MPI_Test(&sending->request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            at = &sending->next;
            continue;
        }
        link->pending_bytes -= sending->size;
        *at = sending->next;
        vdbq_free(sending->bytes);
        free(sending);
    }
    link->last = &link->sending;
    while (*link->last != NULL)
        link->last = &(*link->last)->next;
}

static bool link_send(void *context, unsigned to, unsigned kind, unsigned run,
                      void *bytes, size_t size)
{
    struct mpi_link *link = context;
    struct sending *sending = calloc(1, sizeof *sending);
    int tag = (int)(run * KINDS + kind);
    settle(link);
    if (sending == NULL || size > INT32_MAX
        || MPI_Isend(bytes, (int)size, MPI_BYTE, (int)to, tag, link->ranks,
                     &sending->request)
               != MPI_SUCCESS) {
        vdbq_free(bytes);
        free(sending);
        return false;
    }
    sending->bytes = bytes;
    sending->size = size + sizeof *sending;
    link->pending_bytes += sending->size;
    *link->last = sending;
    link->last = &sending->next;
    return true;
}

static size_t link_pending(void *context)
{
    struct mpi_link *link = context;
    settle(link);
    return link->pending_bytes;
}

static bool link_arrived(void *context, unsigned from, unsigned *kind,
                         unsigned *run, size_t *size)
{
    struct mpi_link *link = context;
    int is_there = 0, bytes = 0;
    MPI_Iprobe((int)from, MPI_ANY_TAG, link->ranks, &is_there, &link->arrived);
    if (!is_there)
        return false;
    MPI_Get_count(&link->arrived, MPI_BYTE, &bytes);
    *kind = (unsigned)link->arrived.MPI_TAG % KINDS;
    *run = (unsigned)link->arrived.MPI_TAG / KINDS;
    *size = (size_t)bytes;
    return true;
}

static bool link_receive(void *context, unsigned from, void *bytes, size_t size)
{
    struct mpi_link *link = context;
    return MPI_Recv(bytes, (int)size, MPI_BYTE, (int)from,
                    link->arrived.MPI_TAG, link->ranks, MPI_STATUS_IGNORE)
           == MPI_SUCCESS;
}

/* ---------------------------------------------------------------- cores -- */

static unsigned cores_allowed(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (unsigned)CPU_COUNT(&set)
               : 1;
}

/* Open MPI binds each of two ranks to one core, however many there are: takes
 * the share of the machine's cores that is the rank's. */
static void take_cores(struct mpi_link *link)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned all = online > 0 ? (unsigned)online : 1;
    unsigned share = all / link->head.local_ranks, bound = cores_allowed();
    cpu_set_t set;
    if (share > 1 && bound < share) {
        CPU_ZERO(&set);
        for (unsigned i = 0; i < all; i++)
            CPU_SET(i, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    link->head.cores = cores_allowed();
    if (link->head.cores < share)
        snprintf(link->notice, sizeof link->notice,
                 "rank %u is bound to %u of its %u cores: mpirun --bind-to "
                 "none leaves it all",
                 link->head.rank, link->head.cores, share);
}

/* -------------------------------------------------------------- open ---- */

/* Counts the ranks of this machine. */
static void find_local(struct mpi_link *link)
{
    MPI_Comm local;
    int rank = 0, ranks = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &local);
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &ranks);
    MPI_Comm_free(&local);
    link->head.local_rank = (unsigned)rank;
    link->head.local_ranks = (unsigned)ranks;
}

const struct vdbq_link *vdbq_mpi_open(void)
{
    int level, rank, ranks, length;
    struct mpi_link *link = calloc(1, sizeof *link);
    if (link == NULL
        || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level)
               != MPI_SUCCESS) {
        free(link);
        return NULL;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &link->ranks);
    MPI_Comm_rank(link->ranks, &rank);
    MPI_Comm_size(link->ranks, &ranks);
    MPI_Get_processor_name(link->host, &length);
    link->last = &link->sending;
    link->head = (struct vdbq_link){ .context = link,
                                     .rank = (unsigned)rank,
                                     .ranks = (unsigned)ranks,
                                     .host = link->host,
                                     .notice = link->notice,
                                     .send = link_send,
                                     .pending = link_pending,
                                     .arrived = link_arrived,
                                     .receive = link_receive };
    find_local(link);
    take_cores(link);
    return &link->head;
}

void vdbq_mpi_close(const struct vdbq_link *opened)
{
    struct mpi_link *link = (struct mpi_link *)opened;
    if (link == NULL)
        return;
    while (link_pending(link) > 0)
        sched_yield();
    MPI_Comm_free(&link->ranks);
    MPI_Finalize();
    free(link);
}
