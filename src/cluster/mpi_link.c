/* SPDX-License-Identifier: MIT */
/*
 * A link over MPI. Messages are sent without waiting; their memory is given back
 * when somebody asks what is pending. Where a process dies or hangs, all end
 * (mpi_watch.c).
 */
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/mpi_watch.h"
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
    MPI_Comm world;          /* of all ranks          */
    MPI_Comm ranks;          /* of our messages alone */
    MPI_Comm others;         /* those that rank 0 has started, or rank 0;
                                else MPI_COMM_NULL                     */
    struct sending *sending; /* the oldest first      */
    struct sending **last;
    size_t pending_bytes;
    MPI_Status arrived;  /* of the message that was told of last */
    struct watch *watch; /* NULL: nobody looks after the others  */
    char (*hosts)[MPI_MAX_PROCESSOR_NAME]; /* by rank */
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

static void link_give_up(void *context, unsigned rank, const char *reason)
{
    struct mpi_link *link = context;
    watch_give_up(link->watch, &link->head, rank, reason);
}

/* ---------------------------------------------------------------- cores -- */

/* The share of this machine's cores that is the rank's: of those that mpirun, its
 * parent, may use. */
static unsigned share_of_cores(const struct mpi_link *link, cpu_set_t *whole)
{
    if (sched_getaffinity(getppid(), sizeof *whole, whole) != 0)
        sched_getaffinity(0, sizeof *whole, whole);
    unsigned share = (unsigned)CPU_COUNT(whole) / link->head.local_ranks;
    return share > 0 ? share : 1;
}

static unsigned cores_allowed(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0
               ? (unsigned)CPU_COUNT(&set)
               : 1;
}

/* Open MPI binds each of two ranks to one core, however many there are: a rank
 * that has less than its share takes all back. */
static void take_cores(struct mpi_link *link)
{
    cpu_set_t whole;
    unsigned share = share_of_cores(link, &whole);
    if (cores_allowed() < share)
        sched_setaffinity(0, sizeof whole, &whole);
    link->head.cores = cores_allowed();
    if (link->head.cores < share)
        snprintf(link->notice, sizeof link->notice,
                 "rank %u is bound to %u of its %u cores: mpirun --bind-to "
                 "none leaves it all",
                 link->head.rank, link->head.cores, share);
}

/* -------------------------------------------------------------- open ---- */

/* Learns the machines of all ranks, and counts those of this one. */
static bool find_hosts(struct mpi_link *link)
{
    enum { HOST_BYTES = sizeof *link->hosts };
    char own[HOST_BYTES] = "";
    int length;
    MPI_Get_processor_name(own, &length);
    link->hosts = calloc(link->head.ranks, HOST_BYTES);
    if (link->hosts == NULL)
        return false;
    MPI_Allgather(own, HOST_BYTES, MPI_CHAR, link->hosts, HOST_BYTES, MPI_CHAR,
                  link->ranks);
    for (unsigned r = 0; r < link->head.ranks; r++)
        if (strcmp(link->hosts[r], own) == 0) {
            link->head.local_ranks++;
            link->head.local_rank += r < link->head.rank;
        }
    link->head.host = link->hosts[link->head.rank];
    return true;
}

/* Watches the other ranks, where MPI can be called by a thread beside us. */
static void watch_others(struct mpi_link *link, int level)
{
    const struct watched others = { .link = &link->head,
                                    .world = &link->world,
                                    .hosts = link->hosts[0],
                                    .host_bytes = sizeof *link->hosts,
                                    .bears_first =
                                        link->others != MPI_COMM_NULL };
    if (level == MPI_THREAD_MULTIPLE && watch_ranks(link->watch, &others))
        return;
    watch_stop(link->watch);
    link->watch = NULL;
    snprintf(link->notice, sizeof link->notice, "%s",
             "this MPI takes no calls of several threads: a rank that hangs is "
             "waited for");
}

/* Starts the other ranks; false: MPI cannot. */
static bool spawn(struct mpi_link *link, unsigned ranks,
                  const char *const *arguments)
{
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(arguments[0], (char **)arguments + 1, (int)ranks - 1,
                       MPI_INFO_NULL, 0, MPI_COMM_SELF, &link->others,
                       MPI_ERRCODES_IGNORE)
        != MPI_SUCCESS)
        return false;
    MPI_Intercomm_merge(link->others, 0, &link->world);
    return true;
}

/* Has a communicator of all ranks: those that mpirun started, or rank 0 did. */
static bool join_world(struct mpi_link *link, unsigned ranks,
                       const char *const *arguments)
{
    link->world = MPI_COMM_WORLD;
    if (ranks > 1)
        return spawn(link, ranks, arguments);
    MPI_Comm_get_parent(&link->others);
    if (link->others != MPI_COMM_NULL)
        MPI_Intercomm_merge(link->others, 1, &link->world);
    return true;
}

static bool open_link(struct mpi_link *link)
{
    int rank, ranks;
    MPI_Comm_dup(link->world, &link->ranks);
    MPI_Comm_rank(link->ranks, &rank);
    MPI_Comm_size(link->ranks, &ranks);
    link->last = &link->sending;
    link->head = (struct vdbq_link){ .context = link,
                                     .rank = (unsigned)rank,
                                     .ranks = (unsigned)ranks,
                                     .notice = link->notice,
                                     .send = link_send,
                                     .pending = link_pending,
                                     .arrived = link_arrived,
                                     .receive = link_receive,
                                     .give_up = link_give_up };
    return find_hosts(link);
}

/* Unless the environment says otherwise, ranks that are started here may be more
 * than cores, and reach one another by the loopback interface: Open MPI leaves it
 * out, and then needs a network. */
static void set_defaults(void)
{
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("OMPI_MCA_btl_tcp_if_include", "127.0.0.1/8", 0);
    setenv("OMPI_MCA_oob_tcp_if_include", "127.0.0.1/8", 0);
}

/* Starts MPI, and the other ranks. What Open MPI starts for this has no input: it
 * would take ours. */
static bool start(struct mpi_link *link, unsigned ranks,
                  const char *const *arguments, int *level)
{
    int input = ranks > 1 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
    int none = ranks > 1 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (none >= 0)
        dup2(none, STDIN_FILENO);
    if (ranks > 1)
        set_defaults();
    bool started =
        MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, level) == MPI_SUCCESS
        && join_world(link, ranks, arguments);
    if (input >= 0) {
        dup2(input, STDIN_FILENO);
        close(input);
    }
    if (none >= 0)
        close(none);
    return started;
}

const struct vdbq_link *vdbq_mpi_spawn(unsigned ranks,
                                       const char *const *arguments,
                                       unsigned silence_ms)
{
    int level;
    struct mpi_link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    link->others = MPI_COMM_NULL;
    link->watch = watch_start(silence_ms);
    if (link->watch == NULL || !start(link, ranks, arguments, &level)
        || !open_link(link)) {
        watch_stop(link->watch);
        free(link);
        return NULL;
    }
    take_cores(link);
    watch_others(link, level);
    return &link->head;
}

const struct vdbq_link *vdbq_mpi_open(unsigned silence_ms)
{
    return vdbq_mpi_spawn(1, NULL, silence_ms);
}

/* Takes a message that nobody waits for any more, so that who sent it need not
 * wait: an exchange that failed leaves some. */
static void swallow(struct mpi_link *link)
{
    MPI_Status found;
    int is_there = 0, bytes = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, link->ranks, &is_there, &found);
    if (!is_there)
        return;
    MPI_Get_count(&found, MPI_BYTE, &bytes);
    void *room = malloc((size_t)bytes + 1);
    if (room != NULL)
        MPI_Recv(room, bytes, MPI_BYTE, found.MPI_SOURCE, found.MPI_TAG,
                 link->ranks, MPI_STATUS_IGNORE);
    free(room);
}

/* Waits until all ranks are here. MPI_Finalize() waits for all of them, too, but
 * whatever has become of one. */
static void await_all(struct mpi_link *link)
{
    const struct timespec nap = { .tv_nsec = 200000 };
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(link->ranks, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
        swallow(link);
        nanosleep(&nap, NULL);
    }
}

void vdbq_mpi_close(const struct vdbq_link *opened)
{
    struct mpi_link *link = (struct mpi_link *)opened;
    if (link == NULL)
        return;
    while (link_pending(link) > 0) {
        swallow(link);
        sched_yield();
    }
    await_all(link);
    if (link->watch != NULL)
        watch_ending(link->watch);
    await_all(link); /* none tells another any more that it lives */
    MPI_Comm_free(&link->ranks);
    if (link->others != MPI_COMM_NULL) {
        MPI_Comm_free(&link->world);
        MPI_Comm_disconnect(&link->others);
    }
    MPI_Finalize();
    watch_stop(link->watch);
    free(link->hosts);
    free(link);
}
