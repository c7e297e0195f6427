/* SPDX-License-Identifier: MIT */
/*
 * How many rows a second come by single INSERTs of a prepared statement: each
 * a transaction of its own, or all of them in one; into an empty table and
 * into one of many rows, with keys that ascend and with keys that do not.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

enum {
    LATENCIES_MAX = 1 << 20, /* that are kept         */
    ROWS_AT_ONCE = 1000,     /* of a large table      */
    KEY_STEP = 1000          /* of its keys: there is room between them */
};

/* One way to insert. */
struct way {
    const char *name;
    bool large;     /* into a table of `rows` rows             */
    bool ascending; /* keys are above all others; else between */
    bool together;  /* in one transaction                      */
};
static const struct way ways[] = {
    { "autocommit", false, true, false },
    { "transaction", false, true, true },
    { "autocommit, large table", true, true, false },
    { "autocommit, large table, lower keys", true, false, false },
    { "transaction, large table, lower keys", true, false, true },
};

static const char insert_sql[] = "insert into t values (?, ?, ?, ?)";

/* A measurement that runs. */
struct run {
    const struct engine *engine;
    const struct way *way;
    const struct task *task;
    char path[512];
    void *db;
    void *statement;
    int64_t count; /* of rows that came */
    double took;   /* seconds           */
    double *latencies;
};

/* The key of row `number` of those that come. Lower ones jump about. */
static int64_t key_of(const struct run *run, int64_t number)
{
    int64_t rows = run->way->large ? run->task->rows : 0;

    if (run->way->ascending)
        return rows * KEY_STEP + number;
    return (int64_t)((uint64_t)number * 7919 % (uint64_t)rows) * KEY_STEP + 1
           + number / rows;
}

static void insert(const struct run *run, int64_t key)
{
    const struct engine *engine = run->engine;
    char name[32];

    snprintf(name, sizeof name, "name %lld", (long long)(key % 1000));
    engine->bind_integer(run->statement, 1, key);
    engine->bind_integer(run->statement, 2, key * 31 % 100000);
    engine->bind_integer(run->statement, 3, key * 17 % 1000);
    engine->bind_text(run->statement, 4, name);
    if (engine->change(run->statement) != DONE)
        stop_with("%s: an INSERT was not done", engine->name);
}

/* Fills the table with the rows that are there before. */
static void fill(const struct run *run)
{
    engine_must(run->engine, run->db, run->engine->begin);
    for (int64_t i = 0; i < run->task->rows; i++)
        insert(run, i * KEY_STEP);
    engine_must(run->engine, run->db, "COMMIT");
}

/* Inserts until the time is over. */
static void insert_all(struct run *run)
{
    double start = seconds(), now = start;

    if (run->way->together)
        engine_must(run->engine, run->db, run->engine->begin);
    for (run->count = 0; now < start + run->task->seconds; run->count++) {
        double before = now;
        insert(run, key_of(run, run->count));
        now = seconds();
        if (run->count < LATENCIES_MAX)
            run->latencies[run->count] = now - before;
    }
    if (run->way->together)
        engine_must(run->engine, run->db, "COMMIT");
    run->took = seconds() - start;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* The latency, in milliseconds, that a share of the INSERTs does not exceed. */
static double quantile_ms(const struct run *run, double share)
{
    int64_t kept = run->count < LATENCIES_MAX ? run->count : LATENCIES_MAX;

    return 1e3 * run->latencies[(int64_t)(share * (double)(kept - 1))];
}

/* The time of reading all rows, in milliseconds; they must be there. */
static double scan_ms(const struct run *run)
{
    int64_t rows = run->count + (run->way->large ? run->task->rows : 0);
    double start;

    engine_number(run->engine, run->db, "select sum(a), count(*) from t");
    start = seconds();
    if (engine_number(run->engine, run->db,
                      "select count(*) from t where a + b >= 0")
        != rows)
        stop_with("%s: %s: rows are lost", run->engine->name, run->way->name);
    return 1e3 * (seconds() - start);
}

static void report(struct run *run)
{
    int64_t kept = run->count < LATENCIES_MAX ? run->count : LATENCIES_MAX;
    double scanned = scan_ms(run);

    qsort(run->latencies, (size_t)kept, sizeof *run->latencies, compare);
    printf("{\"benchmark\": \"inserts\", \"engine\": \"%s\", \"way\": \"%s\", "
           "\"rows\": %lld, \"seconds\": %.3f, \"median_ms\": %.4f, "
           "\"p99_ms\": %.4f, \"most_ms\": %.3f, \"scan_ms\": %.3f, "
           "\"bytes\": %lld}\n",
           run->engine->name, run->way->name, (long long)run->count, run->took,
           quantile_ms(run, 0.5), quantile_ms(run, 0.99), quantile_ms(run, 1),
           scanned, (long long)engine_bytes(run->path));
    fflush(stdout);
}

static void measure(const struct engine *engine, const struct way *way,
                    const struct task *task)
{
    struct run run = { .engine = engine, .way = way, .task = task };

    snprintf(run.path, sizeof run.path, "%s/inserts-%s.db", task->folder,
             engine->name);
    engine_remove(run.path);
    run.latencies = malloc(LATENCIES_MAX * sizeof *run.latencies);
    if (run.latencies == NULL)
        stop_with("out of memory");
    run.db = engine->open(run.path);
    engine_must(engine, run.db,
                "create table t (id integer primary key, a integer, "
                "b integer, name text)");
    run.statement = engine->prepare(run.db, insert_sql);
    if (way->large)
        fill(&run);
    insert_all(&run);
    report(&run);
    engine->finish(run.statement);
    engine->close(run.db);
    free(run.latencies);
    engine_remove(run.path);
}

void inserts_run(const struct task *task)
{
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
        for (unsigned k = 0; k < ENGINES; k++)
            measure(engines[k], &ways[i], task);
}
