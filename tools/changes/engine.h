/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks of changes ask of a database, so that each is written
 * once and runs on vdbq and on SQLite alike. A commit is durable in both:
 * SQLite's journal is a WAL with synchronous=FULL.
 *
 * A failure that is no answer ends the process, with the engine's message.
 */
#ifndef VDBQ_TOOLS_CHANGES_ENGINE_H
#define VDBQ_TOOLS_CHANGES_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

/* What became of a statement. */
enum outcome {
    DONE, /* or: there are no more rows         */
    ROW,  /* there is one, to be read           */
    BUSY  /* others write: it is to be repeated */
};

struct engine {
    const char *name;
    /* How a transaction that will write begins. */
    const char *begin;
    /* How a connection to the file is opened, made where it is not there. */
    void *(*open)(const char *path);
    void (*close)(void *db);
    /* Runs statements that give no rows. */
    enum outcome (*run)(void *db, const char *sql);
    void *(*prepare)(void *db, const char *sql);
    void (*finish)(void *statement);
    /* Values of parameters, from 1 on; they stay. */
    void (*bind_integer)(void *statement, unsigned parameter, int64_t value);
    void (*bind_text)(void *statement, unsigned parameter, const char *text);
    /* Runs a statement that gives no rows. */
    enum outcome (*change)(void *statement);
    /* Starts a query, or goes on with it; after ROW its columns, from 0 on,
     * are there until the next call. It is read to its end, or ended. */
    enum outcome (*row)(void *statement);
    int64_t (*integer)(void *statement, unsigned column);
    void (*end)(void *statement);
};

extern const struct engine engine_vdbq, engine_sqlite;
/* Both, vdbq first. */
enum { ENGINES = 2 };
extern const struct engine *const engines[ENGINES];

/* Ends the process with a message, as printf() makes it. */
_Noreturn void stop_with(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Runs statements that cannot be busy. */
void engine_must(const struct engine *engine, void *db, const char *sql);
/* The first column of the only row of a query; 0 where it is NULL. */
int64_t engine_number(const struct engine *engine, void *db, const char *sql);
/* Removes the files of a database. */
void engine_remove(const char *path);
/* Bytes of these, the journal among them. */
int64_t engine_bytes(const char *path);

/* The clock, in seconds. */
double seconds(void);

/* The benchmarks: inserts.c and orders.c. Each prints lines of JSON. */
struct task {
    const char *folder; /* for databases */
    double seconds;     /* of each measurement */
    int64_t rows;       /* of a large table    */
    unsigned processes;
};
void inserts_run(const struct task *task);
void orders_run(const struct task *task);

#endif
