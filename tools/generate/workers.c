/* SPDX-License-Identifier: MIT */
#include "workers.h"

#include <stdio.h>

bool workers_start(struct workers *workers, unsigned count,
                   void *(*work)(void *), void *context)
{
    unsigned wanted = count < WORKERS_MAX ? count : WORKERS_MAX;
    workers->count = 0;
    while (
        workers->count < wanted
        && pthread_create(&workers->thread[workers->count], NULL, work, context)
               == 0)
        workers->count++;
    if (workers->count == 0)
        fputs("generate: cannot start a thread\n", stderr);
    return workers->count > 0;
}

void workers_join(struct workers *workers)
{
    while (workers->count > 0)
        pthread_join(workers->thread[--workers->count], NULL);
}
