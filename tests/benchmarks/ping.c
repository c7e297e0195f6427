/* SPDX-License-Identifier: MIT */
/*
 * How long messages between two ranks take, as their link sends them:
 *
 *     mpirun -n 2 ping
 *
 * prints, for each size, bytes and nanoseconds of one way: half of the shortest
 * way there and back, and of the median one. For tools/cluster-model.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "cluster/message.h"
#include "cluster/vdbq_mpi.h"

enum {
    SILENCE_MS = 7000,
    ROUNDS = 41, /* of each size: odd, so that there is a median */
    BYTES_MOST = 8 << 20
};

static const struct vdbq_link *link_here;

/* Sends so many bytes to the other rank. */
static bool send(size_t bytes)
{
    void *message = memory_zeroed(bytes, 1);
    return message != NULL
           && link_here->send(link_here->context, 1 - link_here->rank,
                              MESSAGE_DATA, 0, message, bytes);
}

/* Waits for a message and takes it; the bytes that it had, 0: none came. */
static size_t take(void)
{
    const unsigned from = 1 - link_here->rank;
    unsigned kind, run, naps = 0;
    size_t bytes;
    while (!link_here->arrived(link_here->context, from, &kind, &run, &bytes))
        message_wait(link_here, from, WAIT_MS, &naps);
    void *room = memory_zeroed(bytes + 1, 1);
    bool taken = room != NULL
                 && link_here->receive(link_here->context, from, room, bytes);
    memory_release(room);
    return taken ? bytes : 0;
}

/* Sends all back, up to a message of one byte. */
static bool echo(void)
{
    size_t bytes = take();
    while (bytes > 1 && send(bytes))
        bytes = take();
    return bytes == 1;
}

static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Measures messages of so many bytes. */
static bool measure(size_t bytes)
{
    uint64_t ns[ROUNDS];
    for (size_t i = 0; i < ROUNDS; i++) {
        uint64_t start = os_time_ns();
        if (!send(bytes) || take() != bytes)
            return false;
        ns[i] = (os_time_ns() - start) / 2;
    }
    qsort(ns, ROUNDS, sizeof *ns, compare);
    printf("%zu %llu %llu\n", bytes, (unsigned long long)ns[0],
           (unsigned long long)ns[ROUNDS / 2]);
    return true;
}

/* Measures all sizes. */
static bool ping(void)
{
    bool done = true;
    for (size_t bytes = 8; done && bytes <= BYTES_MOST; bytes *= 4)
        done = measure(bytes);
    return send(1) && done;
}

int main(void)
{
    link_here = vdbq_mpi_open(SILENCE_MS);
    if (link_here == NULL || link_here->ranks != 2)
        return 2;
    bool done = link_here->rank == 0 ? ping() : echo();
    while (link_here->pending(link_here->context) > 0)
        ;
    vdbq_mpi_close(link_here);
    return !done;
}
