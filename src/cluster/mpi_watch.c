/* SPDX-License-Identifier: MIT */
/*
 * A thread that sees to it that no process waits for ever: each rank tells rank
 * 0, and rank 0 each other one, that it lives, a few times a second. Who hears
 * nothing of the other for too long says so and ends; mpirun then ends all
 * others, also those that are stopped. MPI cannot go on without one of them.
 *
 * Silence is counted in turns of this thread, not by a clock: a job that was
 * stopped as a whole, or a machine that slept, goes on.
 *
 * While MPI starts and ends, nothing can be told: both may take as long as a rank
 * may be silent, and seven seconds at least. The thread alone takes the signals by
 * which Open MPI ends a job: SIGCONT, in case that a process is stopped, a second
 * later SIGTERM, and SIGKILL at once. From SIGCONT on ranks tell rank 0 each turn
 * that they live, so that it knows at SIGTERM which one does not.
 */
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster/mpi_watch.h"

enum {
    TURN_MS = 100,
    BEAT_TURNS = 5,   /* between two beats                                  */
    PHASE_MS = 7000,  /* that MPI may take to start, or end, at least       */
    LATER_MS = 500,   /* that others wait longer than rank 1 for rank 0     */
    FAREWELL_MS = 60, /* to hear who is left, where nobody was asked before */
    FAREWELL_STEP_MS = 5,
    ENDED_STATUS = 128 + SIGTERM
};
enum phase { PHASE_STARTS, PHASE_RUNS, PHASE_ENDS };

/* Another rank. */
struct other {
    MPI_Request request; /* of what it was told last              */
    bool told;           /* `request` is one                      */
    bool heard;          /* since all were asked                  */
    unsigned silent_ms;  /* since it was heard                    */
};

struct watch {
    pthread_t thread;
    pthread_mutex_t
        lock; /* of what is below, and of calls of MPI by the thread */
    enum phase phase;
    unsigned phase_ms; /* since it began, where it is not PHASE_RUNS       */
    struct watched of;
    MPI_Comm beats;
    struct other *others; /* by rank                                        */
    unsigned turns;
    bool asked;          /* all ranks were, whether they live               */
    unsigned silence_ms; /* that is borne                                   */
    pid_t parent;        /* mpirun, or what it has on this machine; 0: none */
    atomic_bool over;
};

/* -------------------------------------------------------------- telling -- */

/* One line, in one piece: all ranks may write at once. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written; /* there is nobody else to tell */
}

static const char *host_of(const struct watch *watch, unsigned rank)
{
    return watch->of.hosts + rank * watch->of.host_bytes;
}

static void nap(unsigned milliseconds)
{
    const struct timespec time = { .tv_nsec = (long)milliseconds * 1000000 };
    nanosleep(&time, NULL);
}

/* Whether what a rank was told last is on its way. */
static bool is_told(struct other *other)
{
    int done = 1;
    if (other->told)
        MPI_Test(&other->request, &done, MPI_STATUS_IGNORE);
    other->told = !done;
    return done;
}

/* Tells a rank that this one lives, unless it has not taken what it was told last. */
static void tell(struct watch *watch, unsigned rank)
{
    struct other *other = &watch->others[rank];
    assert(watch->phase == PHASE_RUNS && rank < watch->of.link->ranks);
    if (is_told(other))
        other->told = MPI_Isend(NULL, 0, MPI_BYTE, (int)rank, 0, watch->beats,
                                &other->request)
                      == MPI_SUCCESS;
}

/* Hears what has come. */
static void hear(struct watch *watch)
{
    for (;;) {
        int is_there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, watch->beats, &is_there,
                   &status);
        if (!is_there)
            return;
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG,
                 watch->beats, MPI_STATUS_IGNORE);
        watch->others[status.MPI_SOURCE].silent_ms = 0;
        watch->others[status.MPI_SOURCE].heard = true;
    }
}

/* --------------------------------------------------------------- ending -- */

/* Tells rank 0 that this one ends, lest it is taken for the one that died. */
static void say_farewell(struct watch *watch)
{
    tell(watch, 0);
    for (unsigned ms = 0; !is_told(&watch->others[0]) && ms < FAREWELL_MS;
         ms += FAREWELL_STEP_MS)
        nap(FAREWELL_STEP_MS);
}

/* On rank 0: ranks from which nothing is heard any more. */
static unsigned count_missing(const struct watch *watch)
{
    unsigned missing = 0;
    for (unsigned r = 1; r < watch->of.link->ranks; r++)
        missing += !watch->others[r].heard;
    return missing;
}

/* All ranks are asked whether they live. */
static void ask(struct watch *watch)
{
    watch->asked = true;
    if (watch->phase == PHASE_RUNS)
        hear(watch); /* what was on its way */
    for (unsigned r = 0;
         watch->phase == PHASE_RUNS && r < watch->of.link->ranks; r++)
        watch->others[r].heard = false;
}

/* On rank 0, where nobody was asked before. */
static void ask_late(struct watch *watch)
{
    ask(watch);
    for (unsigned ms = 0; ms < FAREWELL_MS && count_missing(watch) > 0;
         ms += FAREWELL_STEP_MS) {
        nap(FAREWELL_STEP_MS);
        hear(watch);
    }
}

/* On rank 0: tells who was the cause, as far as that can be known. */
static void tell_missing(struct watch *watch)
{
    if (watch->asked)
        hear(watch);
    else
        ask_late(watch);
    if (count_missing(watch) == 0)
        say("error: the job was told to end\n");
    for (unsigned r = 1; r < watch->of.link->ranks; r++)
        if (!watch->others[r].heard)
            say("error: rank %u (%s) has died: the job ends on all ranks\n", r,
                host_of(watch, r));
}

/* SIGTERM. */
static _Noreturn void end_as_told(struct watch *watch)
{
    if (watch->phase == PHASE_RUNS && watch->of.link->rank == 0)
        tell_missing(watch);
    else if (watch->phase == PHASE_RUNS)
        say_farewell(watch);
    _exit(ENDED_STATUS);
}

static _Noreturn void end_for(struct watch *watch, unsigned rank,
                              const char *reason)
{
    say("error: rank %u (%s) %s: the job ends on all ranks\n", rank,
        host_of(watch, rank), reason);
    if (watch->of.link->rank > 0)
        say_farewell(watch);
    _exit(EXIT_FAILURE);
}

void watch_give_up(struct watch *watch, const struct vdbq_link *link,
                   unsigned rank, const char *reason)
{
    if (watch != NULL) {
        pthread_mutex_lock(&watch->lock);
        end_for(watch, rank, reason);
    }
    say("error: rank %u %s: the job ends on all %u ranks\n", rank, reason,
        link->ranks);
    _exit(EXIT_FAILURE);
}

/* ------------------------------------------------------------- the turn -- */

/* Looks whether another rank has been silent for too long. */
static void look(struct watch *watch, unsigned rank)
{
    struct other *other = &watch->others[rank];
    unsigned own = watch->of.link->rank;
    char reason[160];
    other->silent_ms += TURN_MS;
    if (other->silent_ms <= watch->silence_ms + (own > 1 ? LATER_MS : 0))
        return;
    snprintf(reason, sizeof reason,
             "has been silent for %.1f s (it is stopped, or cannot be reached; "
             "--silence says how long it may be)",
             (double)watch->silence_ms / 1000);
    end_for(watch, rank, reason);
}

static void run_turn(struct watch *watch)
{
    unsigned ranks = watch->of.link->ranks, own = watch->of.link->rank;
    bool beats = watch->asked || watch->turns++ % BEAT_TURNS == 0;
    hear(watch);
    for (unsigned r = own == 0 ? 1 : 0; r < (own == 0 ? ranks : 1); r++) {
        if (beats)
            tell(watch, r);
        if (own == 0 || !watch->of.bears_first)
            look(watch, r);
    }
}

/* MPI starts, or ends: nothing can be told. */
static void wait_turn(struct watch *watch)
{
    unsigned most = watch->silence_ms > PHASE_MS ? watch->silence_ms : PHASE_MS;
    watch->phase_ms += TURN_MS;
    if (watch->phase_ms <= most)
        return;
    say("error: MPI has not %s on all ranks in %.1f s: the job ends on all "
        "ranks\n",
        watch->phase == PHASE_STARTS ? "started" : "ended",
        (double)most / 1000);
    _exit(EXIT_FAILURE);
}

static void turn(struct watch *watch, int signal_taken)
{
    pthread_mutex_lock(&watch->lock);
    if (signal_taken == SIGTERM)
        end_as_told(watch);
    if (signal_taken == SIGCONT)
        ask(watch);
    if (watch->parent != 0 && getppid() != watch->parent) {
        say("error: mpirun has died: the job ends on all ranks\n");
        _exit(EXIT_FAILURE);
    }
    if (watch->silence_ms > 0 && watch->phase == PHASE_RUNS)
        run_turn(watch);
    else if (watch->silence_ms > 0)
        wait_turn(watch);
    pthread_mutex_unlock(&watch->lock);
}

static sigset_t signals_taken(void)
{
    sigset_t taken;
    sigemptyset(&taken);
    sigaddset(&taken, SIGTERM);
    sigaddset(&taken, SIGCONT);
    return taken;
}

static void *work(void *context)
{
    struct watch *watch = context;
    const struct timespec time = { .tv_nsec = (long)TURN_MS * 1000000 };
    sigset_t all, taken = signals_taken();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (!atomic_load(&watch->over)) {
        int signal_taken = sigtimedwait(&taken, NULL, &time);
        if (!atomic_load(&watch->over))
            turn(watch, signal_taken);
    }
    return NULL;
}

/* ------------------------------------------------------- start and stop -- */

struct watch *watch_start(unsigned silence_ms)
{
    struct watch *watch = calloc(1, sizeof *watch);
    const sigset_t taken = signals_taken();
    if (watch == NULL)
        return NULL;
    watch->silence_ms = silence_ms;
    watch->parent = getenv("OMPI_COMM_WORLD_RANK") != NULL ? getppid() : 0;
    pthread_mutex_init(&watch->lock, NULL);
    pthread_sigmask(SIG_BLOCK, &taken, NULL);
    if (pthread_create(&watch->thread, NULL, work, watch) == 0)
        return watch;
    pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
    free(watch);
    return NULL;
}

bool watch_ranks(struct watch *watch, const struct watched *others)
{
    struct other *made = calloc(others->link->ranks, sizeof *made);
    if (made == NULL)
        return false;
    MPI_Comm_dup(*(const MPI_Comm *)others->world, &watch->beats);
    pthread_mutex_lock(&watch->lock);
    assert(watch->phase == PHASE_STARTS);
    watch->of = *others;
    watch->others = made;
    watch->phase = PHASE_RUNS;
    pthread_mutex_unlock(&watch->lock);
    return true;
}

void watch_ending(struct watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    hear(watch);
    watch->phase = PHASE_ENDS;
    watch->phase_ms = 0;
    pthread_mutex_unlock(&watch->lock);
}

void watch_stop(struct watch *watch)
{
    const sigset_t taken = signals_taken();
    if (watch == NULL)
        return;
    atomic_store(&watch->over, true);
    pthread_kill(watch->thread, SIGTERM); /* which it waits for */
    pthread_join(watch->thread, NULL);
    pthread_sigmask(SIG_UNBLOCK, &taken, NULL);
    free(watch->others);
    free(watch);
}
