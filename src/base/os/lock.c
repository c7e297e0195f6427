/* SPDX-License-Identifier: MIT */
/*
 * Locks of open files. The system does not tell who has one, but it does tell the
 * range. So who locks byte 0 exclusively signs: his range begins before it, so far
 * that it says who he is and since when. Nothing is written to any file for that,
 * and the signature ends with the lock, also by a kill.
 *
 *   offset               length
 *   2^62 - signature     signature + 1   byte 0; a signature is, from its lowest
 *                                        bits on: the process's number (22), where
 *                                        it runs (home_of_us(), 16), and seconds
 *                                        since 1970 (23 of them: 97 days)
 *   2^62 + byte          1               the other bytes that connections lock
 *   2^62 + 2^61 + mark   1               marks, locked shared
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
#define LOCK_OFFSET   ((off_t)1 << 62)
#define MARK_OFFSET   (LOCK_OFFSET + ((off_t)1 << 61))
#define SIGNATURE_MAX (((off_t)1 << 61) - 1)
enum { PROCESS_BITS = 22, HOME_BITS = 16, SECONDS_BITS = 23 };
_Static_assert((int)OS_PROCESS_BITS == PROCESS_BITS + HOME_BITS /* of Linux */
                   && (int)OS_PROCESS_BITS + SECONDS_BITS == 61,
               "all told");

static off_t sign(void);

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
    const off_t before = byte != 0 || kind == OS_LOCK_SHARED ? 0
                         : kind == OS_UNLOCKED               ? SIGNATURE_MAX
                                                             : sign();
    struct flock lock = { .l_whence = SEEK_SET,
                          .l_start = LOCK_OFFSET + (off_t)byte - before,
                          .l_len = before + 1 };

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

    return call(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
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

static uint64_t seconds_now(void)
{
    return (uint64_t)os_clock_us() / 1000000;
}

#define SECONDS_MASK ((UINT64_C(1) << SECONDS_BITS) - 1)

/* The signature of this process, now. */
static off_t sign(void)
{
    return (off_t)((seconds_now() & SECONDS_MASK) << OS_PROCESS_BITS
                   | os_process_told());
}

bool lock_signature(int descriptor, struct os_holder *holder)
{
    struct flock lock = { .l_whence = SEEK_SET,
                          .l_type = F_WRLCK,
                          .l_start = LOCK_OFFSET,
                          .l_len = 1 };
    uint64_t signature, now = seconds_now();

    if (call(descriptor, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_WRLCK
        || lock.l_start < LOCK_OFFSET - SIGNATURE_MAX
        || lock.l_start >= LOCK_OFFSET)
        return false;
    signature = (uint64_t)(LOCK_OFFSET - lock.l_start);
    *holder = os_process_of(signature & ((UINT64_C(1) << OS_PROCESS_BITS) - 1));
    holder->since_ms =
        (now - ((now - (signature >> OS_PROCESS_BITS)) & SECONDS_MASK)) * 1000;
    return true;
}
