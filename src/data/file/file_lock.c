/* SPDX-License-Identifier: MIT */
/*
 * Locks on bytes of the file (rules 5 and 7 of file.c), and waiting for them.
 *
 * Writers take turns. Who finds the writer's place taken, or others waiting
 * for it, stands in line: bytes 2 to 31 are its places. Whoever has one locks a
 * place farther ahead that nobody stands before, and then lets his own go: the
 * first one the writer's as soon as that is free, the others the one before
 * theirs when they look, which is now and then. So nobody overtakes, a kill
 * leaves no gap, and there is nothing to write or to clean up. (Behind 30
 * others who comes first is chance.) Who is the writer no longer wakes the first
 * one in line and no other: they would only be in the new writer's way. Who was
 * killed wakes nobody.
 *
 * Readers wait for a writer who looks whether anybody reads, and creators for
 * one another: moments.
 */
#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os/wake.h"
#include "base/threads/stop.h"
#include "data/file/file.h"

enum {
    WRITER_BYTE = 0,
    READER_BYTE = 1,
    LINE_BYTE = 2, /* the first place in line */
    LINE_LENGTH = 30,
    UNCONFIRMED_BYTE = LINE_BYTE + LINE_LENGTH, /* the last one */
    MOMENT_MS = 5000 /* longer than whoever is not stuck takes */
};

/* Looks are this far apart, if nobody wakes who waits. */
#define PAUSE_NS UINT64_C(1000000)
/* As long as a small commit has work to do for after it calls the next writer,
 * whom the system needs some 40 us to wake. */
#define SOON_NS UINT64_C(60000)

struct wait {
    const struct file *file; /* that is waited for */
    bool may_end;            /* by a cancel: not what takes a moment only */
    uint64_t start_ns;       /* when it began */
    uint64_t most_ns;        /* to wait */
};

static enum vdbq_status line_up(struct file *file, uint64_t least_ms,
                                struct error *error);
static void wake_first(const struct file *file);
static enum vdbq_status say_busy(const struct file *file, uint64_t waited_ns,
                                 struct error *error);

/* The system refuses for another reason than a lock. */
static enum vdbq_status cannot_lock(const struct file *file, int failure,
                                    struct error *error)
{
    return error_set(error, VDBQ_IO, "%s: cannot lock the file: %s", file->path,
                     strerror(failure));
}

enum vdbq_status file_lock_writer(struct file *file, struct error *error)
{
    return line_up(file, 0, error);
}

enum vdbq_status file_lock_creator(struct file *file, struct error *error)
{
    return line_up(file, MOMENT_MS, error);
}

void file_call_next(const struct file *file)
{
    if (!file->undisturbed && !file_is_unconfirmed(file))
        wake_first(file);
}

void file_unlock_writer(struct file *file)
{
    file->undisturbed = false;
    file->calls->lock(file->os, WRITER_BYTE, OS_UNLOCKED);
    wake_first(file);
}

/* ------------------------------------------------------------- waiting -- */

/* A wait of at least least_ms, which nobody may cut short. */
static struct wait wait_start(const struct file *file, uint64_t least_ms)
{
    uint64_t now = os_time_ns(), most = file->settings->timeout_ms;

    return (struct wait){ .file = file,
                          .start_ns = now,
                          .may_end = least_ms == 0,
                          .most_ns =
                              (most > least_ms ? most : least_ms) * 1000000 };
}

/* Whether the caller wants to wait no longer. */
static bool is_cancelled(const struct wait *wait)
{
    return wait->may_end && stop_asked();
}

/* Where those wait who wait for a byte: there are fewer places than bytes, so one
 * has two, and who waits for the one is woken for the other, too. */
static unsigned meeting_place(unsigned byte)
{
    return byte == UNCONFIRMED_BYTE ? READER_BYTE : byte;
}

/* Waits until that byte is let go, or a little. False: it has waited for long
 * enough. */
static bool wait_more(const struct wait *wait, unsigned byte)
{
    const struct file *file = wait->file;
    uint64_t waited = os_time_ns() - wait->start_ns, pause = PAUSE_NS;

    if (waited >= wait->most_ns || is_cancelled(wait))
        return false;
    if (pause > wait->most_ns - waited)
        pause = wait->most_ns - waited;
    if (file->calls->wait != NULL)
        file->calls->wait(file->os, meeting_place(byte), pause);
    else
        wake_sleep(pause);
    return true;
}

/* What to say where waiting has ended for nothing. */
static enum vdbq_status give_up(const struct wait *wait, struct error *error)
{
    if (is_cancelled(wait))
        return error_cancelled(error);
    return say_busy(wait->file, os_time_ns() - wait->start_ns, error);
}

/* ------------------------------------------------------------ the line -- */

/* The byte of a place in line; 0 is the writer's. */
static unsigned byte_of(unsigned place)
{
    assert(place <= LINE_LENGTH);
    return place == 0 ? WRITER_BYTE : LINE_BYTE + place - 1;
}

/* Where who has a place in line waits; behind its end with the last one. */
static unsigned waiting_byte(unsigned place)
{
    return byte_of(place < LINE_LENGTH ? place : LINE_LENGTH);
}

/* Whether nobody stands in line before that place. */
static bool is_first(const struct file *file, unsigned place)
{
    return place == 1 || !file->calls->locked(file->os, LINE_BYTE, place - 1);
}

/* Wakes who is to be the next writer. */
static void wake_first(const struct file *file)
{
    unsigned place = 1;

    if (file->calls->wake == NULL || is_first(file, LINE_LENGTH + 1))
        return;
    while (place < LINE_LENGTH && is_first(file, place + 1))
        place++;
    file->calls->wake(file->os, byte_of(place));
}

/* Gives up a place in the line. */
static void leave(const struct file *file, unsigned place)
{
    if (place >= 1 && place <= LINE_LENGTH)
        file->calls->lock(file->os, byte_of(place), OS_UNLOCKED);
}

/* Gives up waiting: the wake may have been this one's. */
static void step_out(const struct file *file, unsigned place)
{
    leave(file, place);
    if (place > 0)
        wake_first(file);
}

/* Stands behind all others in line; behind its end, where that is full. */
static int stand(const struct file *file, unsigned *place)
{
    int failure = EAGAIN;

    for (*place = 1; failure == EAGAIN && *place <= LINE_LENGTH;) {
        if (file->calls->locked(file->os, byte_of(*place),
                                LINE_LENGTH - *place + 1))
            ++*place;
        else
            failure =
                file->calls->lock(file->os, byte_of(*place), OS_LOCK_EXCLUSIVE);
    }
    return failure;
}

/* Takes a place ahead for the own one, or fails with EAGAIN. */
static int move(const struct file *file, unsigned *place, unsigned ahead)
{
    int failure =
        file->calls->lock(file->os, byte_of(ahead), OS_LOCK_EXCLUSIVE);

    if (failure == 0) {
        leave(file, *place);
        *place = ahead;
    }
    return failure;
}

/* Goes ahead in line, or fails with EAGAIN. */
static int step(const struct file *file, unsigned *place)
{
    assert(*place > 0);
    int failure;

    if (!is_first(file, *place))
        return move(file, place, *place - 1);
    failure = move(file, place, 0);
    return failure == EAGAIN && *place > 1 ? move(file, place, 1) : failure;
}

/* Tries to become the writer where nobody waits to. Who has come before others that
 * wait lets them go first. */
static int pass(struct file *file)
{
    int failure = file->calls->lock(file->os, WRITER_BYTE, OS_LOCK_EXCLUSIVE);

    if (failure != 0)
        return failure;
    file->undisturbed = !file->calls->locked(
        file->os, READER_BYTE, UNCONFIRMED_BYTE - READER_BYTE + 1);
    if (file->undisturbed || is_first(file, LINE_LENGTH + 1))
        return 0;
    file_unlock_writer(file);
    return EAGAIN;
}

/* Goes ahead after a wait: who is first may have been called a little before the
 * writer's place is free, and looks again and again for a moment. */
static int step_soon(const struct file *file, unsigned *place)
{
    uint64_t until = os_time_ns() + SOON_NS;
    int failure = step(file, place);

    while (failure == EAGAIN && *place == 1 && os_time_ns() < until) {
        sched_yield(); /* the writer may need this core */
        failure = step(file, place);
    }
    return failure;
}

/* Becomes the writer, in turn. */
static enum vdbq_status line_up(struct file *file, uint64_t least_ms,
                                struct error *error)
{
    struct wait wait = wait_start(file, least_ms);
    unsigned place = 0;
    int failure = pass(file);

    if (failure == EAGAIN)
        failure = stand(file, &place);
    while (place > 0 && (failure == 0 || failure == EAGAIN)) {
        failure = step(file, &place);
        if (failure == EAGAIN && !wait_more(&wait, waiting_byte(place)))
            break;
        if (failure == EAGAIN)
            failure = step_soon(file, &place);
    }
    step_out(file, place);
    if (failure == EAGAIN)
        return give_up(&wait, error);
    if (failure != 0)
        return cannot_lock(file, failure, error);
    file->writer_ms = (uint64_t)os_clock_us() / 1000;
    return VDBQ_OK;
}

/* --------------------------------------------------- not durable yet -- */

/* The one before tells that his head is durable, and then lets it go. Who is
 * undisturbed needs no such lock: he stays the writer for as long. */
enum vdbq_status file_lock_unconfirmed(struct file *file, struct error *error)
{
    struct wait wait = wait_start(file, MOMENT_MS);
    int failure;

    if (file->undisturbed)
        return VDBQ_OK;
    do
        failure =
            file->calls->lock(file->os, UNCONFIRMED_BYTE, OS_LOCK_EXCLUSIVE);
    while (failure == EAGAIN && wait_more(&wait, UNCONFIRMED_BYTE));
    if (failure == 0)
        return VDBQ_OK;
    return failure == EAGAIN ? give_up(&wait, error)
                             : cannot_lock(file, failure, error);
}

void file_unlock_unconfirmed(struct file *file)
{
    if (file->undisturbed)
        return;
    file->calls->lock(file->os, UNCONFIRMED_BYTE, OS_UNLOCKED);
    if (file->calls->wake != NULL)
        file->calls->wake(file->os, meeting_place(UNCONFIRMED_BYTE));
}

bool file_is_unconfirmed(const struct file *file)
{
    return !file->undisturbed
           && file->calls->locked(file->os, UNCONFIRMED_BYTE, 1);
}

/* As long as two syncs take: whoever is killed lets it go. */
enum vdbq_status file_await_confirmed(const struct file *file,
                                      struct error *error)
{
    struct wait wait = wait_start(file, 0);

    wait.most_ns = UINT64_MAX;
    while (file_is_unconfirmed(file))
        if (!wait_more(&wait, UNCONFIRMED_BYTE))
            return error_cancelled(error);
    return VDBQ_OK;
}

/* ------------------------------------------------------ who is in the way -- */

enum { WHO_MAX = OS_NAME_MAX + 64, SINCE_MAX = 64 };

/* The process that writes, by name where it can be seen. */
static void print_who(const struct os_holder *holder, char who[WHO_MAX])
{
    char name[OS_NAME_MAX];

    if (!holder->near) {
        snprintf(who, WHO_MAX, "a program of another machine or container");
        return;
    }
    if (holder->process == os_process()) {
        snprintf(who, WHO_MAX, "another connection of this program");
        return;
    }
    os_process_name(holder->process, name);
    snprintf(who, WHO_MAX, "process %d%s%s%s", holder->process,
             name[0] != '\0' ? " (" : "", name, name[0] != '\0' ? ")" : "");
}

/* When it began to write, in local time; empty where that is not known. */
static void print_since(const struct os_holder *holder, char since[SINCE_MAX])
{
    time_t seconds = (time_t)(holder->since_ms / 1000);
    struct tm parts;

    if (localtime_r(&seconds, &parts) == NULL
        || strftime(since, SINCE_MAX, " since %Y-%m-%d %H:%M:%S", &parts) == 0)
        since[0] = '\0';
}

/* Who has the lock, for how long, and what helps. */
static enum vdbq_status say_busy(const struct file *file, uint64_t waited_ns,
                                 struct error *error)
{
    struct os_holder holder;
    char who[WHO_MAX] = "another connection", since[SINCE_MAX] = "";

    if (file->calls->signature != NULL
        && file->calls->signature(file->os, &holder)) {
        print_who(&holder, who);
        print_since(&holder, since);
    }
    error_set(error, VDBQ_BUSY, "%s: %s has been writing to it%s", file->path,
              who, since);
    return error_hint(error,
                      "waited %llu ms for it to end; the option "
                      "timeout (VDBQ_TIMEOUT) sets how long",
                      (unsigned long long)(waited_ns / 1000000));
}

/* ------------------------------------------------------------- readers -- */

enum vdbq_status file_lock_reader(struct file *file, struct error *error)
{
    struct wait wait = wait_start(file, MOMENT_MS);
    int failure;

    do
        failure = file->calls->lock(file->os, READER_BYTE, OS_LOCK_SHARED);
    while (failure == EAGAIN && wait_more(&wait, READER_BYTE));
    if (failure == 0)
        return VDBQ_OK;
    return failure == EAGAIN ? give_up(&wait, error)
                             : cannot_lock(file, failure, error);
}

void file_unlock_reader(struct file *file)
{
    file->calls->lock(file->os, READER_BYTE, OS_UNLOCKED);
}

bool file_alone(const struct file *file)
{
    return !file->calls->locked(file->os, READER_BYTE, 1);
}

enum vdbq_status file_check_open(const struct file *file, struct error *error)
{
    return !file->read_only
               ? VDBQ_OK
               : error_set(error, VDBQ_READ_ONLY,
                           "%s: the database is open for reading only",
                           file->path);
}
