/* SPDX-License-Identifier: MIT */
/*
 * A rank, not 0, that works like any but for its messages of one kind, which are
 * cut: tests/cluster/test_faults.py runs it beside the shell.
 *
 *     garbage welcome|ready|data|end DATABASE
 */
#include <stdio.h>
#include <string.h>

#include "cluster/message.h"
#include "cluster/vdbq_mpi.h"

static const char *const names[] = { [MESSAGE_HELLO] = "welcome",
                                     [MESSAGE_READY] = "ready",
                                     [MESSAGE_DATA] = "data",
                                     [MESSAGE_END] = "end" };
enum { KINDS = sizeof names / sizeof *names, SILENCE_MS = 7000 };

static const struct vdbq_link *sound;
static unsigned cut; /* kind of message */

static bool send_garbage(void *context, unsigned to, unsigned kind,
                         unsigned run, void *bytes, size_t size)
{
    return sound->send(context, to, kind, run, bytes,
                       kind == cut ? size / 2 : size);
}

int main(int count, char **argument)
{
    if (count != 3)
        return 2;
    while (cut < KINDS
           && (names[cut] == NULL || strcmp(names[cut], argument[1]) != 0))
        cut++;
    sound = cut < KINDS ? vdbq_mpi_open(SILENCE_MS) : NULL;
    if (sound == NULL || sound->rank == 0)
        return 2;
    struct vdbq_link link = *sound;
    link.send = send_garbage;
    enum vdbq_status status = vdbq_cluster_follow(&link, argument[2], 0, 1);
    vdbq_mpi_close(sound);
    return status != VDBQ_OK;
}
