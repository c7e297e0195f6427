/* SPDX-License-Identifier: MIT */
/*
 * Locks of open files. The system does not tell who has one, so a holder may
 * sign: it locks a range whose place and length say who it is and since when.
 * Nothing is written to any file for that, and the signature ends with the
 * locks, also by a kill.
 *
 *   offset               length
 *   2^62 + byte          1             the bytes that connections lock
 *   2^62 + 2^48          milliseconds  a signature: since 1970, and
 *     + (home << 22)                   where the process runs (home_of_us())
 *     + process                        and its number there
 *   2^62 + 2^61 + mark   1             marks, locked shared
 */
#include "base/os/lock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cl/hash.h"

/* Bytes that are locked lie where no file reaches. */
#define LOCK_OFFSET     ((off_t)1 << 62)
#define SIGN_OFFSET     (LOCK_OFFSET + ((off_t)1 << 48))
#define SIGN_LENGTH_MAX ((off_t)1 << 48)
#define MARK_OFFSET     (LOCK_OFFSET + ((off_t)1 << 61))
enum { PROCESS_BITS = 22, HOME_BITS = 16 }; /* Linux has no larger numbers */
_Static_assert((int)OS_PROCESS_BITS == PROCESS_BITS + HOME_BITS, "all told");

/* fcntl() that goes on after a signal; 0 or an errno value. */
static int call(int descriptor, int command, struct flock *lock)
{
    int result;

    do
        result = fcntl(descriptor, command, lock);
    while (result != 0 && errno == EINTR);
    if (result == 0)
        return 0;
    return errno == EACCES ? EAGAIN : errno;
}

int lock_set(int descriptor, unsigned byte, enum os_lock_kind kind)
{
    struct flock lock = { .l_whence = SEEK_SET,
                          .l_start = LOCK_OFFSET + (off_t)byte,
                          .l_len = 1 };

    lock.l_type = kind == OS_UNLOCKED      ? F_UNLCK
                  : kind == OS_LOCK_SHARED ? F_RDLCK
                                           : F_WRLCK;
    return call(descriptor, F_OFD_SETLK, &lock);
}

bool lock_held(int descriptor, unsigned first, unsigned count)
{
    struct flock lock = { .l_whence = SEEK_SET,
                          .l_type = F_WRLCK,
                          .l_start = LOCK_OFFSET + (off_t)first,
                          .l_len = (off_t)count };

    return call(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* --------------------------------------------------------------- marks -- */

/* A range of marks that is locked so, or asked for. */
static struct flock marks(short type, uint64_t first, uint64_t count)
{
    assert(first < OS_MARKS && count > 0 && count <= OS_MARKS - first);
    return (struct flock){ .l_whence = SEEK_SET,
                           .l_type = type,
                           .l_start = MARK_OFFSET + (off_t)first,
                           .l_len = (off_t)count };
}

int lock_mark(int descriptor, uint64_t mark)
{
    struct flock lock = marks(F_RDLCK, mark, 1);

    return call(descriptor, F_OFD_SETLK, &lock);
}

void lock_unmark(int descriptor, uint64_t first, uint64_t count)
{
    struct flock lock = marks(F_UNLCK, first, count);

    call(descriptor, F_OFD_SETLK, &lock);
}

/* The system names any that is in the way: those before it are asked for until
 * there is none. */
int lock_marked(int descriptor, uint64_t first, uint64_t end, uint64_t *mark)
{
    *mark = end;
    while (*mark > first) {
        struct flock lock = marks(F_WRLCK, first, *mark - first);
        int failure = call(descriptor, F_OFD_GETLK, &lock);
        if (failure != 0 || lock.l_type == F_UNLCK)
            return failure;
        if (lock.l_start <= MARK_OFFSET + (off_t)first)
            *mark = first; /* it may begin before what was asked for */
        else
            *mark = (uint64_t)(lock.l_start - MARK_OFFSET);
    }
    return 0;
}

/* ---------------------------------------------------------- signatures -- */

static uint64_t find_home(void);

/* A number of the machine since it was started, and of the container whose
 * processes are counted as ours are; 0: unknown. Found once. */
static uint64_t home_of_us(void)
{
    static atomic_uint_least64_t known; /* one more than it, once it is found */
    uint64_t home = atomic_load(&known);

    if (home == 0) {
        home = find_home() + 1;
        atomic_store(&known, home);
    }
    return home - 1;
}

static uint64_t find_home(void)
{
    char boot[64] = "";
    struct stat space = { 0 };
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

    if (file == NULL || fgets(boot, sizeof boot, file) == NULL
        || stat("/proc/self/ns/pid", &space) != 0)
        boot[0] = '\0';
    if (file != NULL)
        fclose(file);
    if (boot[0] == '\0')
        return 0;
    return hash_mix(text_hash(boot, strlen(boot)), space.st_ino)
               >> (64 - HOME_BITS)
           | 1;
}

uint64_t os_process_told(void)
{
    uint64_t process = (uint64_t)os_process();

    assert(process >> PROCESS_BITS == 0);
    return home_of_us() << PROCESS_BITS | process;
}

struct os_holder os_process_of(uint64_t told)
{
    uint64_t home = told >> PROCESS_BITS;

    return (struct os_holder){
        .process = (int)(told & ((1u << PROCESS_BITS) - 1)),
        .near = home != 0 && home == home_of_us(),
    };
}

static uint64_t milliseconds_now(void)
{
    return (uint64_t)os_clock_us() / 1000;
}

void lock_sign(int descriptor, bool on)
{
    struct flock lock = { .l_whence = SEEK_SET,
                          .l_type = F_UNLCK,
                          .l_start = SIGN_OFFSET,
                          .l_len = 2 * SIGN_LENGTH_MAX };
    uint64_t now = milliseconds_now();

    if (on) {
        if (now == 0 || now >= (uint64_t)SIGN_LENGTH_MAX)
            return;
        lock.l_type = F_WRLCK;
        lock.l_start += (off_t)os_process_told();
        lock.l_len = (off_t)now;
    }
    call(descriptor, F_OFD_SETLK, &lock);
}

bool lock_signature(int descriptor, struct os_holder *holder)
{
    struct flock lock = { .l_whence = SEEK_SET,
                          .l_type = F_WRLCK,
                          .l_start = SIGN_OFFSET,
                          .l_len = 2 * SIGN_LENGTH_MAX };

    if (call(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK
        || lock.l_start < SIGN_OFFSET || lock.l_len <= 0)
        return false;
    *holder = os_process_of((uint64_t)(lock.l_start - SIGN_OFFSET));
    holder->since_ms = (uint64_t)lock.l_len;
    return true;
}
