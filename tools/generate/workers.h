/* SPDX-License-Identifier: MIT */
/* Threads that do the same work until there is none left. */
#ifndef VDBQ_TOOLS_WORKERS_H
#define VDBQ_TOOLS_WORKERS_H

#include <pthread.h>
#include <stdbool.h>

enum { WORKERS_MAX = 64 };

struct workers {
    pthread_t thread[WORKERS_MAX];
    unsigned count; /* that were started */
};

/* Starts `count` of them, or as many as the system lets it, and WORKERS_MAX at
 * most. False, said on standard error: none; 1 is the exit code. */
bool workers_start(struct workers *workers, unsigned count,
                   void *(*work)(void *), void *context);
/* Waits until all have returned. */
void workers_join(struct workers *workers);

#endif
