/* SPDX-License-Identifier: MIT */
/*
 * The clock, random numbers, processes, and how much of the machine this one
 * may use. Containers are limited by control groups: version 2 keeps them in
 * one tree, version 1 in a tree for each controller; a limit holds for all
 * groups below it.
 */
#include "base/os/os.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, LARGE_PAGE = 2 << 20 };

/* Where a kind of limit is found. */
struct limit_place {
    const char *controller; /* "": version 2                */
    const char *root;       /* the tree's folder            */
    const char *file;       /* in the folder of each group  */
};

static uint64_t group_limit(const struct limit_place *place,
                            uint64_t (*read)(const char *path));
static uint64_t read_bytes(const char *path);
static uint64_t read_cores(const char *path);
static uint64_t least(uint64_t a, uint64_t b);

int64_t os_clock_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

uint64_t os_time_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t os_processor_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

struct timespec os_time_after(clockid_t clock, uint64_t ns)
{
    const uint64_t second_ns = 1000000000;
    struct timespec time = { 0 };

    clock_gettime(clock, &time);
    ns += (uint64_t)time.tv_nsec;
    time.tv_sec += (time_t)(ns / second_ns);
    time.tv_nsec = (long)(ns % second_ns);
    return time;
}

int os_random(uint64_t *drawn)
{
    ssize_t got;

    do
        got = getrandom(drawn, sizeof *drawn, 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    return got == (ssize_t)sizeof *drawn ? 0 : EIO;
}

/* This process's number, which each query asks for; 0: not yet known. */
static atomic_int process;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;

static void in_child(void)
{
    atomic_store(&process, 0);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

int os_process(void)
{
    int known = atomic_load(&process);

    if (known != 0)
        return known;
    pthread_once(&process_once, watch_forks);
    known = (int)getpid();
    atomic_store(&process, known);
    return known;
}

void os_process_name(int process, char name[OS_NAME_MAX])
{
    char path[64];
    FILE *file;
    size_t length = 0;

    snprintf(path, sizeof path, "/proc/%d/comm", process);
    file = fopen(path, "re");
    if (file != NULL)
        length = fread(name, 1, OS_NAME_MAX - 1, file);
    if (file != NULL)
        fclose(file);
    name[length] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (char *at = name; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

void os_memory_large(void *memory, uint64_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t start =
        ((uintptr_t)memory + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    uintptr_t end = ((uintptr_t)memory + size) / LARGE_PAGE * LARGE_PAGE;

    if (start < end)
        madvise((void *)start, end - start, MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size;
#endif
}

static uint64_t find_memory(void)
{
    static const struct limit_place v2 = { "", "/sys/fs/cgroup", "memory.max" };
    static const struct limit_place v1 = { "memory", "/sys/fs/cgroup/memory",
                                           "memory.limit_in_bytes" };
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t machine = UINT64_MAX;

    if (pages > 0 && page > 0)
        machine = (uint64_t)pages * (uint64_t)page;
    return least(machine, least(group_limit(&v2, read_bytes),
                                group_limit(&v1, read_bytes)));
}

uint64_t os_memory_bytes(void)
{
    static atomic_uint_fast64_t found; /* 0: not yet */
    uint64_t bytes = atomic_load(&found);

    if (bytes == 0) {
        bytes = find_memory();
        atomic_store(&found, bytes);
    }
    return bytes;
}

unsigned os_cores(void)
{
    static const struct limit_place v2 = { "", "/sys/fs/cgroup", "cpu.max" };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t cores = online > 0 ? (uint64_t)online : 1;
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        cores = least(cores, (uint64_t)CPU_COUNT(&allowed));
    return (unsigned)least(cores, group_limit(&v2, read_cores));
}

bool os_all_cores(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    long configured = sysconf(_SC_NPROCESSORS_CONF);
    cpu_set_t allowed;

    return online > 0 && online == configured
           && sched_getaffinity(0, sizeof allowed, &allowed) == 0
           && CPU_COUNT(&allowed) == online;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The first line of a file; false where there is none. */
static bool read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    bool read;

    if (file == NULL)
        return false;
    read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    return read;
}

/* "1073741824", or "max", which is no limit, as is what cannot be read. */
static uint64_t read_bytes(const char *path)
{
    char line[64];
    uint64_t bytes;

    if (!read_line(path, line, sizeof line)
        || sscanf(line, "%" SCNu64, &bytes) != 1 || bytes == 0)
        return UINT64_MAX;
    return bytes;
}

/* "150000 100000": 1.5 cores, of which two can be used at a time. */
static uint64_t read_cores(const char *path)
{
    char line[64];
    uint64_t quota, period;

    if (!read_line(path, line, sizeof line)
        || sscanf(line, "%" SCNu64 " %" SCNu64, &quota, &period) != 2
        || quota == 0 || period == 0)
        return UINT64_MAX;
    return (quota - 1) / period + 1;
}

/* Whether a comma-separated list has the name. */
static bool list_has(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (;;) {
        size_t part = strcspn(list, ",");
        if (part == length && memcmp(list, name, length) == 0)
            return true;
        if (list[part] == '\0')
            return false;
        list += part + 1;
    }
}

/* This process's group under a controller; "" where it is not told. */
static void find_group(const char *controller, char *group)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_BYTES];

    group[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *list = strchr(line, ':'), *path;
        path = list == NULL ? NULL : strchr(++list, ':');
        if (path == NULL)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (list_has(list, controller))
            strcpy(group, path);
    }
    if (file != NULL)
        fclose(file);
}

/* The least limit of the process's group and those above it. Inside a
 * container the group's own path may not be there; the root then is. */
static uint64_t group_limit(const struct limit_place *place,
                            uint64_t (*read)(const char *path))
{
    char group[PATH_BYTES], path[2 * PATH_BYTES];
    uint64_t limit = UINT64_MAX;
    char *slash;

    find_group(place->controller, group);
    do {
        snprintf(path, sizeof path, "%s%s/%s", place->root, group, place->file);
        limit = least(limit, read(path));
        slash = strrchr(group, '/');
        if (slash != NULL)
            *slash = '\0';
    } while (slash != NULL);
    return limit;
}
