/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C: cancels the statement that runs; at the prompt it clears the line.
 * A second one within a second ends the shell.
 *
 * No thread takes the signal but one of ours that waits for it: compilers set
 * handlers of their own, which take their files away and fail, and programs
 * that they start are ended by it. Who has it blocked has neither.
 */
#include "shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vdbq *running; /* guarded by it */
static atomic_bool pressed;
static atomic_bool pressed_twice;
static int64_t pressed_ns;       /* the watcher's               */
static int wake[2] = { -1, -1 }; /* a byte in it: it was pressed */

int64_t shell_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_interrupt(void)
{
    int64_t now = shell_now_ns();
    bool again = pressed_ns && now - pressed_ns < 1000000000;
    pressed_ns = now;
    if (again)
        atomic_store(&pressed_twice, true);
    ssize_t written = write(wake[1], "", 1);
    (void)written; /* a pipe that is full wakes, too */
    atomic_store(&pressed, true);
    pthread_mutex_lock(&lock);
    if (running && again)
        _exit(EXIT_INTERRUPTED);
    vdbq_cancel(running);
    pthread_mutex_unlock(&lock);
}

static void *watch(void *signals)
{
    int number;
    sigset_t all;
    sigfillset(&all); /* other signals are for other threads */
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;)
        if (sigwait(signals, &number) == 0)
            on_interrupt();
    return NULL;
}

/* Before any other thread is started: they have the signal blocked, too. */
void shell_signals_install(void)
{
    static sigset_t interrupt;
    pthread_t watcher;
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return;
    pthread_sigmask(SIG_BLOCK, &interrupt, NULL);
    if (pthread_create(&watcher, NULL, watch, &interrupt) == 0)
        pthread_detach(watcher);
    else
        pthread_sigmask(SIG_UNBLOCK, &interrupt, NULL); /* it ends the shell */
}

void shell_signals_running(vdbq *db)
{
    pthread_mutex_lock(&lock);
    running = db;
    pthread_mutex_unlock(&lock);
}

bool shell_wait_input(int fd)
{
    struct pollfd wait[2] = { { .fd = fd, .events = POLLIN },
                              { .fd = wake[0], .events = POLLIN } };
    while (!shell_interrupted())
        if (poll(wait, 2, -1) < 0 ? errno != EINTR : wait[0].revents)
            return true;
    return false;
}

bool shell_interrupted(void)
{
    return atomic_load(&pressed);
}

bool shell_interrupted_twice(void)
{
    return atomic_load(&pressed_twice);
}

void shell_interrupt_clear(void)
{
    char bytes[64];
    while (read(wake[0], bytes, sizeof bytes) > 0)
        continue;
    atomic_store(&pressed, false);
}
