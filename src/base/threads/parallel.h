/* SPDX-License-Identifier: MIT */
/*
 * Work on several cores at once, and code that is compiled for several
 * generations of them.
 */
#ifndef VDBQ_BASE_PARALLEL_H
#define VDBQ_BASE_PARALLEL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

enum { PARALLEL_THREADS_MAX = 64 };

/* Calls work(context, i) for each i below `count`, in a thread each, of which
 * the caller's is one, all for the caller's stop (stop.h); returns when all have
 * ended. Where a thread cannot be had, the caller does its work, too. */
void parallel_run(unsigned count, void (*work)(void *context, unsigned i),
                  void *context);

/* The same one after the other where each is about few rows: to share these out does
 * not pay. */
void parallel_run_rows(unsigned count, uint64_t rows,
                       void (*work)(void *context, unsigned i), void *context);

/* How many threads there are beside the caller's for the calls of a loop; starts
 * them where nobody has. */
unsigned parallel_workers(void);

/* A loop is about to be given: threads that sleep are woken for it, some of them,
 * and look for loops for a millisecond. To wake one takes as long as a device's
 * link moves megabytes. */
void parallel_expect(void);

/* Starts up to `count` threads that take no signals: they are the program's.
 * How many there are, to be joined. */
unsigned parallel_start(pthread_t *threads, unsigned count,
                        void *(*live)(void *context), void *context);

/* memcpy(), by all cores where that pays: they meet the pages of new memory, too,
 * each its own. */
void parallel_copy(void *to, const void *from, size_t size);

/* How many threads, `threads` at most, work on so many rows pays. */
unsigned parallel_threads(unsigned threads, uint64_t rows);

/* For who looks again and again: spares what a core shares with others. */
static inline void parallel_pause(void)
{
#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
}

/* In front of a function: it is compiled several times and the machine that
 * it runs on chooses. The bits of results must not depend on it. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__)         \
    && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)                   \
    && !defined(__SANITIZE_THREAD__)
#define PARALLEL_CLONES                                                        \
    __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define PARALLEL_CLONES
#endif

#endif
