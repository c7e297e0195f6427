/* SPDX-License-Identifier: MIT */
/*
 * The operating system: files through one replaceable table of calls, the
 * clock, the machine's memory. Calls return 0 or an errno value.
 */
#ifndef VDBQ_BASE_OS_H
#define VDBQ_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct os_file; /* opened by the calls that made it */

enum os_open_flags { OS_OPEN_CREATE = 1, OS_OPEN_READ_ONLY = 2 };

/* Byte ranges of a file that connections lock; see data/file/file.c. */
enum os_lock_kind { OS_UNLOCKED, OS_LOCK_SHARED, OS_LOCK_EXCLUSIVE };

/* Who holds a file's locks, or sets marks, as he told himself: for people to
 * read. */
struct os_holder {
    bool near;         /* its process is of this machine, or container     */
    int process;       /* its number there                                 */
    uint64_t since_ms; /* when it told so, since 1970                      */
};

/* File operations. Tests replace them to cut, fail or reorder writes. */
struct os_file_calls {
    int (*open)(const char *path, unsigned flags, struct os_file **file);
    void (*close)(struct os_file *file);
    /* All `size` bytes or an error; EIO where the file ends before. */
    int (*read)(struct os_file *file, void *bytes, size_t size,
                uint64_t offset);
    int (*write)(struct os_file *file, const void *bytes, size_t size,
                 uint64_t offset);
    int (*sync)(struct os_file *file);
    int (*size)(struct os_file *file, uint64_t *size_bytes);
    int (*truncate)(struct os_file *file, uint64_t size_bytes);
    /* Never waits: EAGAIN where another connection holds it. Who locks byte 0
     * exclusively signs by that. */
    int (*lock)(struct os_file *file, unsigned byte, enum os_lock_kind kind);
    /* Whether another connection has one of these bytes locked, or there is no
     * telling. */
    bool (*locked)(struct os_file *file, unsigned first, unsigned count);
    /* Waits until another connection wakes a place, one of 32, and for so long at
     * most; and wakes all who wait there. A call that comes just before a wait
     * wakes nobody. NULL, both: who waits sleeps. */
    void (*wait)(struct os_file *file, unsigned place, uint64_t ns);
    void (*wake)(struct os_file *file, unsigned place);
    /* Who has byte 0 locked exclusively, to the second; false: nobody else, or
     * there is no telling. NULL: nobody else has the file open. */
    bool (*signature)(struct os_file *file, struct os_holder *holder);
    /* Marks: numbers below OS_MARKS that connections set, any number of them
     * the same one, until they take them back or close the file, be it by a
     * kill. mark() sets one, unmark() takes `count` of this connection's back,
     * and marked() finds the lowest from `first` on and below `end` that
     * another has set; none: `*mark` is `end`. */
    int (*mark)(struct os_file *file, uint64_t mark);
    void (*unmark)(struct os_file *file, uint64_t first, uint64_t count);
    int (*marked)(struct os_file *file, uint64_t first, uint64_t end,
                  uint64_t *mark);
    /* Shows `size` bytes, 4096-byte aligned as `offset` is, where they lie in
     * the file until unmap(); EIO where it ends before. They change as the
     * file does, and are no more where it is cut. NULL: it has no such place. */
    int (*map)(struct os_file *file, uint64_t offset, uint64_t size,
               const void **bytes);
    void (*unmap)(const void *bytes, uint64_t size);
    bool reads_anywhere; /* read() may be called on other threads, too */
    /* Draws 64 bits that no other process, and no later call, draws. */
    int (*random)(uint64_t *drawn);
};

/* Real files. Opening one for the first time also syncs its folder. */
extern const struct os_file_calls os_files;
/* Files that exist in memory until they are closed; paths are ignored. */
extern const struct os_file_calls os_memory_files;
/* Real files that have no name, in the folder TMPDIR (without it, /tmp): each
 * open makes a new one, and it is gone when it is closed, or the process ends;
 * paths are ignored. */
extern const struct os_file_calls os_temporary_files;

/* Marks are below it. */
#define OS_MARKS (UINT64_C(1) << 60)

/* This process, and where it runs, as a number of OS_PROCESS_BITS bits; and
 * what such a number says, but since when. */
enum { OS_PROCESS_BITS = 38 };
uint64_t os_process_told(void);
struct os_holder os_process_of(uint64_t told);

/* Draws from the system's source of random numbers. */
int os_random(uint64_t *drawn);
/* Nanoseconds of a clock that only goes forward. */
uint64_t os_time_ns(void);
/* Processor time that all threads of this process have taken. */
uint64_t os_processor_ns(void);
/* The time of a clock (CLOCK_MONOTONIC, say) that comes so long after now. */
struct timespec os_time_after(clockid_t clock, uint64_t ns);
/* This process's number. */
int os_process(void);
/* What a process of this machine is called, in printable ASCII; "" where
 * there is no telling. */
enum { OS_NAME_MAX = 64 };
void os_process_name(int process, char name[OS_NAME_MAX]);
/* Microseconds since 1970-01-01 UTC, as the machine's clock is set. */
int64_t os_clock_us(void);
/* The machine's memory, or the limit put on this process's group, as it was when
 * it was asked for first: to find that reads files. */
uint64_t os_memory_bytes(void);
/* Asks for large pages for memory that was not written yet, where there are
 * such and it is long enough: what is written and read all over it has shorter
 * ways then (4M rows into an index, in no order: 110 to 32 ns a row). */
void os_memory_large(void *memory, uint64_t size);
/* Compute units this process may use. */
unsigned os_cores(void);
/* Whether the process may run on every processor that is online. */
bool os_all_cores(void);

#endif
