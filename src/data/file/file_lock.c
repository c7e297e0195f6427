/* SPDX-License-Identifier: MIT */
/*
 * Locks on bytes of the file (rules 5 and 7 of file.c), and waiting for them.
 *
 * Writers take turns. Who finds the writer's place taken, or others waiting
 * for it, stands in line: bytes 2 to 31 are its places, and whoever has one
 * locks the place before it as soon as that is free, and then lets his own go;
 * the place before the first is the writer's. So nobody overtakes, a kill
 * leaves no gap, and there is nothing to write or to clean up. (Behind 30
 * others who comes first is chance.)
 *
 * Readers wait for a writer who looks whether anybody reads, and creators for
 * one another: moments.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/threads/stop.h"
#include "data/file/file.h"

enum {
    WRITER_BYTE = 0,
    READER_BYTE = 1,
    LINE_BYTE = 2, /* the first place in line */
    LINE_LENGTH = 30,
    MOMENT_MS = 5000 /* longer than whoever is not stuck takes */
};

/* Looks are this far apart, or a share of what has been waited: one in 8, one in 64
 * where nobody else is before the writer's place, which then is taken soon after it
 * is free, though a commit takes milliseconds. */
enum { SHARE = 8, SHARE_FIRST = 64 };
#define PAUSE_MIN_NS 50000u
#define PAUSE_MAX_NS 2000000u

struct wait {
    const struct file *file; /* that is waited for */
    bool may_end;            /* by a cancel: not what takes a moment only */
    uint64_t start_ns;       /* when it began */
    uint64_t moved_ns;       /* when there was last some progress */
    uint64_t most_ns;        /* to wait */
};

static enum vdbq_status line_up(struct file *file, uint64_t least_ms,
                                struct error *error);
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

void file_unlock_writer(struct file *file)
{
    if (file->calls->sign != NULL)
        file->calls->sign(file->os, false);
    file->calls->lock(file->os, WRITER_BYTE, OS_UNLOCKED);
}

/* ------------------------------------------------------------- waiting -- */

/* A wait of at least least_ms, which nobody may cut short. */
static struct wait wait_start(const struct file *file, uint64_t least_ms)
{
    uint64_t now = os_time_ns(), most = file->settings->timeout_ms;

    return (struct wait){ .file = file,
                          .start_ns = now,
                          .moved_ns = now,
                          .may_end = least_ms == 0,
                          .most_ns =
                              (most > least_ms ? most : least_ms) * 1000000 };
}

/* Whether the caller wants to wait no longer. */
static bool is_cancelled(const struct wait *wait)
{
    return wait->may_end && stop_asked();
}

/* Waits a little: such a share of the time since there was some progress. False:
 * it has waited for long enough. */
static bool wait_more(const struct wait *wait, unsigned share)
{
    uint64_t now = os_time_ns(), waited = now - wait->start_ns;
    uint64_t pause = (now - wait->moved_ns) / share;

    if (waited >= wait->most_ns || is_cancelled(wait))
        return false;
    pause = pause < PAUSE_MIN_NS   ? PAUSE_MIN_NS
            : pause > PAUSE_MAX_NS ? PAUSE_MAX_NS
                                   : pause;
    if (pause > wait->most_ns - waited)
        pause = wait->most_ns - waited;
    nanosleep(&(struct timespec){ .tv_nsec = (long)pause }, NULL);
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

/* Gives up a place in the line. */
static void leave(const struct file *file, unsigned place)
{
    if (place >= 1 && place <= LINE_LENGTH)
        file->calls->lock(file->os, byte_of(place), OS_UNLOCKED);
}

/* Goes one place ahead, or fails with EAGAIN. */
static int step(const struct file *file, unsigned *place)
{
    assert(*place > 0);
    int failure =
        file->calls->lock(file->os, byte_of(*place - 1), OS_LOCK_EXCLUSIVE);

    if (failure == 0)
        leave(file, (*place)--);
    return failure;
}

/* Tries to become the writer where nobody waits to. */
static int pass(const struct file *file, unsigned *place)
{
    assert(*place > 0);
    int failure;

    if (file->calls->locked(file->os, LINE_BYTE, LINE_LENGTH))
        return EAGAIN;
    failure = file->calls->lock(file->os, WRITER_BYTE, OS_LOCK_EXCLUSIVE);
    if (failure == 0)
        *place = 0;
    return failure;
}

/* Becomes the writer, in turn. */
static enum vdbq_status line_up(struct file *file, uint64_t least_ms,
                                struct error *error)
{
    struct wait wait = wait_start(file, least_ms);
    unsigned place = LINE_LENGTH + 1; /* behind its end */
    int failure = pass(file, &place);

    while (place > 0 && (failure == 0 || failure == EAGAIN)) {
        failure = step(file, &place);
        if (failure == 0)
            wait.moved_ns = os_time_ns();
        else if (failure == EAGAIN
                 && !wait_more(&wait, place == 1 ? SHARE_FIRST : SHARE))
            break;
    }
    leave(file, place);
    if (failure == EAGAIN)
        return give_up(&wait, error);
    if (failure != 0)
        return cannot_lock(file, failure, error);
    if (file->calls->sign != NULL)
        file->calls->sign(file->os, true);
    file->writer_ms = (uint64_t)os_clock_us() / 1000;
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
    while (failure == EAGAIN && wait_more(&wait, SHARE));
    if (failure == 0)
        return VDBQ_OK;
    return failure == EAGAIN ? give_up(&wait, error)
                             : cannot_lock(file, failure, error);
}

void file_unlock_reader(struct file *file)
{
    file->calls->lock(file->os, READER_BYTE, OS_UNLOCKED);
}

enum vdbq_status file_alone(struct file *file, bool reading, bool *alone,
                            struct error *error)
{
    int failure = file->calls->lock(file->os, READER_BYTE, OS_LOCK_EXCLUSIVE);

    *alone = failure == 0;
    if (failure != 0)
        return failure == EAGAIN ? VDBQ_OK : cannot_lock(file, failure, error);
    failure = file->calls->lock(file->os, READER_BYTE,
                                reading ? OS_LOCK_SHARED : OS_UNLOCKED);
    return failure == 0 ? VDBQ_OK : cannot_lock(file, failure, error);
}
