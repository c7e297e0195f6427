/* SPDX-License-Identifier: MIT */
/*
 * Measures changes on vdbq and on SQLite, in one run on one disk: the command
 * line, and what the benchmarks have in common. tools/benchmark-inserts and
 * tools/benchmark-orders run it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"

const struct engine *const engines[ENGINES] = { &engine_vdbq, &engine_sqlite };

/* What SQLite keeps beside the file. */
static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
enum { ENDINGS = sizeof endings / sizeof *endings };

static int usage(void)
{
    fputs("usage: vdbq-changes inserts|orders FOLDER [SECONDS [ROWS "
          "[PROCESSES]]]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct task task = { .seconds = 2, .rows = 1000000, .processes = 4 };

    if (argc < 3 || argc > 6)
        return usage();
    task.folder = argv[2];
    if (argc > 3)
        task.seconds = strtod(argv[3], NULL);
    if (argc > 4)
        task.rows = strtoll(argv[4], NULL, 10);
    if (argc > 5)
        task.processes = (unsigned)strtoul(argv[5], NULL, 10);
    if (task.seconds <= 0 || task.rows <= 0 || task.processes == 0)
        return usage();
    if (strcmp(argv[1], "inserts") == 0)
        inserts_run(&task);
    else if (strcmp(argv[1], "orders") == 0)
        orders_run(&task);
    else
        return usage();
    return 0;
}

void stop_with(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void engine_must(const struct engine *engine, void *db, const char *sql)
{
    if (engine->run(db, sql) != DONE)
        stop_with("%s: busy: %s", engine->name, sql);
}

int64_t engine_number(const struct engine *engine, void *db, const char *sql)
{
    void *statement = engine->prepare(db, sql);
    int64_t number;

    if (engine->row(statement) != ROW)
        stop_with("%s: no row: %s", engine->name, sql);
    number = engine->integer(statement, 0);
    engine->end(statement);
    engine->finish(statement);
    return number;
}

/* The name of one of the files of a database. */
static void name_file(const char *path, unsigned ending, char name[600])
{
    snprintf(name, 600, "%s%s", path, endings[ending]);
}

void engine_remove(const char *path)
{
    char name[600];

    for (unsigned i = 0; i < ENDINGS; i++) {
        name_file(path, i, name);
        unlink(name);
    }
}

int64_t engine_bytes(const char *path)
{
    char name[600];
    struct stat found;
    int64_t bytes = 0;

    for (unsigned i = 0; i < ENDINGS; i++) {
        name_file(path, i, name);
        if (stat(name, &found) == 0)
            bytes += found.st_size;
    }
    return bytes;
}

double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
