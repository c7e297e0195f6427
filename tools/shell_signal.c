/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C: cancels the statement that runs; at the prompt it clears the line.
 * A second one within a second ends the shell. The handler touches nothing
 * but these variables, the clock, vdbq_cancel() and _exit().
 */
#include "shell.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static vdbq *volatile running;
static volatile sig_atomic_t pressed;
static volatile sig_atomic_t pressed_twice;
static volatile int64_t pressed_ns;

int64_t shell_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void on_interrupt(int number)
{
    (void)number;
    int64_t now = shell_now_ns();
    bool again = pressed_ns && now - pressed_ns < 1000000000;
    pressed_ns = now;
    pressed = 1;
    if (again)
        pressed_twice = 1;
    if (!running)
        return;
    if (again)
        _exit(EXIT_INTERRUPTED);
    vdbq_cancel(running);
}

void shell_signals_install(void)
{
    struct sigaction action = { .sa_handler = on_interrupt,
                                .sa_flags = SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void shell_signals_running(vdbq *db)
{
    running = db;
}

bool shell_interrupted(void)
{
    return pressed;
}

bool shell_interrupted_twice(void)
{
    return pressed_twice;
}

void shell_interrupt_clear(void)
{
    pressed = 0;
}
