/* SPDX-License-Identifier: MIT */
/*
 * Each piece has a head, which says whether it is a file's. Files' pieces are
 * in a list beside them: to walk it touches no page of theirs.
 */
#include "base/paged.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/account.h"
#include "base/memory.h"
#include "base/temporary.h"

enum {
    PAGE = 4096,        /* smaller ones are no file's */
    AROUND = 16 << 12,  /* bytes that come with one that is read ... */
    TOGETHER = 4 << 12, /* ... and with one that is written */
    STAY_PART = 8,      /* of the limit, that a thread may leave behind */
    FILES_PART = 2,     /* of it, that pages of files have before they leave */
    BURST_MAX = 40 << 20, /* bytes that come between two looks at them ... */
    BURST_LIMITS = 5 /* ... or so many times the limit, where it is little */
};
static const uint64_t look_ns = 250000; /* between two looks at them */

/* A piece that lies in a file. */
struct mapping {
    struct mapping *next, *before; /* in the list */
    size_t size;                   /* with its head */
    void *memory;
};

union head {
    struct {
        struct mapping *mapping; /* NULL: it lies in memory, ... */
        size_t size; /* ... and has so many bytes, this one's, too */
    };
    max_align_t aligned;
};

static atomic_uint_fast64_t limit = UINT64_MAX, in_memory, in_files, looked_ns;
static atomic_uint_fast64_t left_pages; /* that the process had of all files
                                           when ours had left            */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watched = PTHREAD_ONCE_INIT;
static struct mapping *mappings; /* all, under `lock`, as is the next */
static uint64_t files_bytes;     /* what their pages count for */

static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

/* A child of fork() finds the lock free. */
static void watch_forks(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
}

void paged_limit(uint64_t bytes)
{
    atomic_store(&limit, bytes);
}

uint64_t paged_in_files(void)
{
    return atomic_load(&in_files);
}

/* Bytes that pages of files have at most, by and large: the account has them, so
 * that the pool gives way. */
static uint64_t most_in_pages(void)
{
    uint64_t most = atomic_load(&limit), burst = BURST_MAX;
    if (most < BURST_MAX / BURST_LIMITS)
        burst = most * BURST_LIMITS;
    return most / FILES_PART + burst;
}

/* Puts a mapping into the list. */
static void link_mapping(struct mapping *mapping)
{
    take_lock();
    mapping->next = mappings;
    if (mappings != NULL)
        mappings->before = mapping;
    else
        account_process_take(files_bytes = most_in_pages());
    mappings = mapping;
    give_lock();
}

static void unlink_mapping(struct mapping *mapping)
{
    take_lock();
    if (mapping->next != NULL)
        mapping->next->before = mapping->before;
    if (mapping->before != NULL)
        mapping->before->next = mapping->next;
    else
        mappings = mapping->next;
    if (mappings == NULL)
        account_process_give(files_bytes);
    give_lock();
}

/* Fills a file with zeroes, so that the room is there when it is written; false:
 * there is none. The system keeps what one call writes in one piece, and a byte that
 * is used brings all of its piece into the process; it would choose pieces of up
 * to 2 MiB for what was not written yet. */
static bool fill_file(int file, size_t size)
{
    static const char zeroes[TOGETHER];
    for (size_t at = 0; at < size;) {
        size_t left = size - at;
        ssize_t written =
            pwrite(file, zeroes, left < TOGETHER ? left : TOGETHER, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += (size_t)written;
    }
    return true;
}

/* Memory of zeroes that lies in a file without a name, which has room for all of
 * it; NULL: there is none. */
static void *file_memory(size_t size)
{
    int file = open(temporary_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    void *memory = MAP_FAILED;
    if (file < 0)
        return NULL;
    if (fill_file(file, size))
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory != MAP_FAILED ? memory : NULL;
}

static uint64_t time_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Memory of a file, with its head. */
static void *map(size_t size)
{
    struct mapping *mapping = memory_zeroed(1, sizeof *mapping);
    union head *head = mapping != NULL ? file_memory(size) : NULL;
    if (head == NULL) {
        memory_release(mapping);
        return NULL;
    }
    pthread_once(&watched, watch_forks);
    mapping->size = size;
    mapping->memory = head;
    head->mapping = mapping;
    link_mapping(mapping);
    atomic_fetch_add(&in_files, size);
    return head + 1;
}

bool paged_fits(size_t size)
{
    return size < PAGE || atomic_load(&in_memory) + size <= atomic_load(&limit);
}

/* Zeroed memory of a file; NULL: as much may lie in memory, or there is no room
 * for a file. */
static void *alloc_in_file(size_t size)
{
    if (size > SIZE_MAX / 2 || paged_fits(size))
        return NULL;
    return map(size + sizeof(union head));
}

static void *alloc_in_memory(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size += sizeof(union head);
    union head *head = memory_resize(NULL, size);
    if (head == NULL)
        return NULL;
    *head = (union head){ .size = size };
    atomic_fetch_add(&in_memory, size);
    account_process_take(size);
    return head + 1;
}

void *paged_alloc(size_t size)
{
    void *memory = alloc_in_file(size);
    return memory != NULL ? memory : alloc_in_memory(size);
}

void *paged_zeroed(size_t size)
{
    void *memory = alloc_in_file(size);
    if (memory != NULL)
        return memory;
    memory = alloc_in_memory(size);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

void paged_release(void *memory)
{
    if (memory == NULL)
        return;
    union head *head = (union head *)memory - 1;
    struct mapping *mapping = head->mapping;
    if (mapping == NULL) {
        atomic_fetch_sub(&in_memory, head->size);
        account_process_give(head->size);
        memory_release(head);
        return;
    }
    unlink_mapping(mapping);
    atomic_fetch_sub(&in_files, mapping->size);
    munmap(mapping->memory, mapping->size);
    memory_release(mapping);
}

void paged_copy_much(void *to, const void *from, size_t size)
{
    for (size_t at = 0; at < size; at += PAGED_MUCH) {
        size_t left = size - at;
        memcpy((char *)to + at, (const char *)from + at,
               left < PAGED_MUCH ? left : PAGED_MUCH);
        paged_put_away();
    }
}

/* What has the memory's file; NULL: it lies in none. */
static const struct mapping *mapping_of(const void *memory)
{
    return ((const union head *)memory - 1)->mapping;
}

bool paged_lies_in_file(const void *memory)
{
    return mapping_of(memory) != NULL;
}

uint64_t paged_stay_bytes(void)
{
    return atomic_load_explicit(&limit, memory_order_relaxed) / STAY_PART;
}

void paged_leave(const void *memory, const void *bytes, size_t size)
{
    const struct mapping *mapping = mapping_of(memory);
    if (mapping == NULL || size == 0)
        return;
    size_t first = (size_t)((const char *)bytes - (char *)mapping->memory);
    size_t end = first + size;
    assert(first < mapping->size && end <= mapping->size);
    first -= first % AROUND;
    end = end + AROUND - end % AROUND;
    end = end < mapping->size ? end : mapping->size;
    madvise((char *)mapping->memory + first, end - first, MADV_DONTNEED);
}

/* Pages of files that the process has, be they ours or others'; 0: the system
 * does not tell. */
static uint64_t pages_of_files(void)
{
    char text[128];
    unsigned long pages = 0;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    return sscanf(text, "%*u %*u %lu", &pages) == 1 ? pages : 0;
}

/* Whether so many pages are more than may stay. */
static bool are_many(uint64_t pages)
{
    return pages * PAGE > atomic_load(&limit) / FILES_PART;
}

/* Whether so many pages have come since ours left that they are to leave. Each
 * that is used again is a fault: with a limit of much they stay longer. */
static bool have_many_come(void)
{
    uint64_t pages = pages_of_files(), left = atomic_load(&left_pages);
    if (pages > 0 && pages < left)
        atomic_store(&left_pages, left = pages);
    return pages == 0 || are_many(pages - left);
}

/* Ours have left. Other threads may have used some meanwhile: the least that there
 * were counts, as long as it may be that others' pages are no more. */
static void note_left(void)
{
    uint64_t pages = pages_of_files(), left = atomic_load(&left_pages);
    if (pages < left || !are_many(pages - left))
        return;
    atomic_store(&left_pages, pages);
}

void paged_put_away(void)
{
    if (atomic_load_explicit(&in_files, memory_order_relaxed) == 0)
        return;
    uint_fast64_t now = time_ns(), looked = atomic_load(&looked_ns);
    if (now - looked < look_ns
        || !atomic_compare_exchange_strong(&looked_ns, &looked, now)
        || !have_many_come())
        return;
    take_lock();
    for (const struct mapping *at = mappings; at != NULL; at = at->next)
        madvise(at->memory, at->size, MADV_DONTNEED);
    give_lock();
    note_left();
}
