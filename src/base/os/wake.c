/* SPDX-License-Identifier: MIT */
/*
 * Linux has processes meet at any word of memory that they share: here the first
 * one of the file, as they have mapped it. Nobody writes it for that. Who is woken
 * between his look and his wait misses it, as does he who has the file open on
 * another machine: so a wait is short, and who waits looks again. Where nobody can
 * be woken, it is shorter.
 */
#include "base/os/wake.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/os/os.h"

enum { BLIND_NS = 100000 }; /* that nobody would end */

void wake_sleep(uint64_t ns)
{
    long least = ns < BLIND_NS ? (long)ns : BLIND_NS;

    nanosleep(&(struct timespec){ .tv_nsec = least }, NULL);
}

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>

/* Maps the page; false: it cannot be. Memory that is shared with a child of fork()
 * would keep the file open there. */
static bool meet(struct wake *wake, int descriptor)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page;

    if (wake->page != NULL)
        return true;
    page = mmap(NULL, size, PROT_READ, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED)
        return false;
    madvise(page, size, MADV_DONTFORK);
    wake->page = page;
    return true;
}

/* The system lets only those wait who know the word. It is read from the file, for
 * where that was cut there is no page to look at. */
void wake_wait(struct wake *wake, int descriptor, unsigned place, uint64_t ns)
{
    const struct timespec until = os_time_after(CLOCK_MONOTONIC, ns);
    uint32_t word;

    assert(place < 32);
    if (!meet(wake, descriptor)
        || pread(descriptor, &word, sizeof word, 0) != (ssize_t)sizeof word
        || (syscall(SYS_futex, wake->page, FUTEX_WAIT_BITSET, word, &until,
                    NULL, UINT32_C(1) << place)
                != 0
            && errno != ETIMEDOUT && errno != EINTR))
        wake_sleep(ns);
}

void wake_all(struct wake *wake, int descriptor, unsigned place)
{
    assert(place < 32);
    if (meet(wake, descriptor))
        syscall(SYS_futex, wake->page, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL,
                UINT32_C(1) << place);
}

void wake_finish(struct wake *wake)
{
    if (wake->page != NULL)
        munmap(wake->page, (size_t)sysconf(_SC_PAGESIZE));
    wake->page = NULL;
}
#else
void wake_wait(struct wake *wake, int descriptor, unsigned place, uint64_t ns)
{
    (void)wake, (void)descriptor, (void)place;
    wake_sleep(ns);
}

void wake_all(struct wake *wake, int descriptor, unsigned place)
{
    (void)wake, (void)descriptor, (void)place;
}

void wake_finish(struct wake *wake)
{
    (void)wake;
}
#endif
