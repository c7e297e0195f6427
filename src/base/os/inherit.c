/* SPDX-License-Identifier: MIT */
/*
 * A list of the process's descriptors, which its children close as they start:
 * the system calls us there. The lock is held over fork(), so that the list is
 * whole in the child, whatever other threads did.
 */
#include "base/os/inherit.h"

#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct own_descriptor *first; /* guarded by the lock */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    for (struct own_descriptor *at = first; at != NULL; at = at->next) {
        close(at->number);
        at->number = -1;
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

void own_open(struct own_descriptor *descriptor, int number)
{
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    *descriptor = (struct own_descriptor){ .number = number, .next = first };
    if (first != NULL)
        first->previous = descriptor;
    first = descriptor;
    pthread_mutex_unlock(&lock);
}

void own_close(struct own_descriptor *descriptor)
{
    pthread_mutex_lock(&lock);
    if (descriptor->next != NULL)
        descriptor->next->previous = descriptor->previous;
    if (descriptor->previous != NULL)
        descriptor->previous->next = descriptor->next;
    else
        first = descriptor->next;
    pthread_mutex_unlock(&lock);
    if (descriptor->number >= 0)
        close(descriptor->number);
    descriptor->number = -1;
}
