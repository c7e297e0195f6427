/* SPDX-License-Identifier: MIT */
/*
 * SQL while memory runs out. Reads records from standard input, a line
 * "KIND BYTES" each and a text of that length:
 *
 *     look    a query that tells a part of the database's state
 *     run     a statement to run
 *     try     the same, first with calls for memory that fail, at points that
 *             hang on the seed
 *
 *     failing SEED TRIES FILE
 *
 * Each statement runs on a database in memory that has all it wants, and on
 * one in FILE. There it may fail with "out of memory" alone, and then has
 * changed nothing (a COMMIT: has undone its transaction); in the end both have
 * the same answer and the same state. tests/failing.py writes the records. The
 * last line is "N passed, N failed".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "fixtures/failing_memory.h"
#include "xxhash.h"

enum { LOOKS_MAX = 256, MESSAGE_MAX = 512 };

/* What became of a statement. */
struct outcome {
    enum vdbq_status status;
    uint64_t hash; /* of its columns and rows                */
    char message[MESSAGE_MAX];
};

static vdbq *good, *tried; /* with all memory; where calls fail */
static char *looks[LOOKS_MAX];
static unsigned look_count, passed, failed;
static uint64_t at_begin;       /* the state where the transaction began ... */
static unsigned looks_at_begin; /* ... as so many queries told it       */
static uint64_t chance_state;

static unsigned chance(unsigned below)
{
    uint64_t x = chance_state += UINT64_C(0x9e3779b97f4a7c15);

    return (unsigned)(XXH3_64bits(&x, sizeof x) % below);
}

/* ------------------------------------------------------------- running -- */

static unsigned width_of(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_INTEGER:
    case VDBQ_SMALLINT:
    case VDBQ_BOOLEAN:
    case VDBQ_DATE:
    case VDBQ_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static uint64_t hash_value(const struct vdbq_vector *vector, uint64_t row,
                           uint64_t hash)
{
    const struct vdbq_text *texts = vector->values;
    unsigned width = width_of(vector->type);

    if (vector->nulls != NULL && vector->nulls[row])
        return XXH3_64bits_withSeed("null", 4, hash);
    if (vector->type == VDBQ_TEXT)
        return XXH3_64bits_withSeed(texts[row].bytes, texts[row].length, hash);
    return XXH3_64bits_withSeed((const char *)vector->values + row * width,
                                width, hash);
}

static enum vdbq_status run_query(vdbq_query *query, uint64_t *hash)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = vdbq_query_run(query);

    if (status == VDBQ_OK && vdbq_query_columns(query) == 0)
        return status;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = vdbq_query_batch(query, &batch);
        for (uint64_t row = 0; status == VDBQ_OK && row < batch.rows; row++)
            for (unsigned i = 0; i < batch.columns; i++)
                *hash = hash_value(&batch.column[i], row, *hash);
    }
    for (unsigned i = 0; i < vdbq_query_columns(query); i++) {
        const char *name = vdbq_query_column_name(query, i);
        *hash = XXH3_64bits_withSeed(name, strlen(name), *hash);
    }
    return status;
}

static struct outcome run(vdbq *db, const char *sql)
{
    struct outcome outcome = { .status = VDBQ_OK };
    vdbq_query *query = NULL;

    outcome.status = vdbq_prepare(db, sql, -1, &query, NULL);
    if (outcome.status == VDBQ_OK && query != NULL)
        outcome.status = run_query(query, &outcome.hash);
    if (outcome.status != VDBQ_OK) {
        outcome.hash = 0;
        snprintf(outcome.message, sizeof outcome.message, "%s",
                 vdbq_error(db)->message);
    }
    vdbq_query_close(query);
    return outcome;
}

static bool same(const struct outcome *a, const struct outcome *b)
{
    return a->status == b->status && a->hash == b->hash
           && strcmp(a->message, b->message) == 0;
}

/* All that the first queries about the state say. */
static uint64_t first_of_state(vdbq *db, unsigned count)
{
    uint64_t hash = 0;

    for (unsigned i = 0; i < count; i++) {
        struct outcome outcome = run(db, looks[i]);
        hash = hash * 31 + outcome.hash + (uint64_t)outcome.status;
    }
    return hash;
}

static uint64_t state_of(vdbq *db)
{
    return first_of_state(db, look_count);
}

/* -------------------------------------------------------------- trying -- */

static void fault(const char *what, const char *sql, unsigned call, bool once,
                  const struct outcome *outcome)
{
    failed++;
    printf("%s: call %u %s: status %d, %s\n    %s\n", what, call,
           once ? "failed" : "and all behind it failed", (int)outcome->status,
           outcome->message, sql);
}

/* Whether running a statement twice is running it once. */
static bool only_reads(const char *sql)
{
    static const char *const words[] = { "select", "with", "values", "from",
                                         "explain" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(sql, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* Runs a statement with that call failing; whether it is done. The state behind
 * one that only reads is looked at when all calls were tried. */
static bool try_call(const char *sql, unsigned call, bool once, uint64_t before,
                     const struct outcome *expected)
{
    struct outcome outcome;

    if (once)
        memory_fail_once_after(call);
    else
        memory_fail_after(call);
    outcome = run(tried, sql);
    memory_fail_never();
    if (outcome.status == VDBQ_NO_MEMORY && !only_reads(sql)
        && state_of(tried) != before)
        fault("a statement without memory changed the database", sql, call,
              once, &outcome);
    else if (outcome.status != VDBQ_NO_MEMORY && !same(&outcome, expected))
        fault("another answer", sql, call, once, &outcome);
    else
        passed++;
    return outcome.status != VDBQ_NO_MEMORY;
}

/* A COMMIT that fails has undone its transaction: then the other database
 * undoes its own. */
static void try_commit(const char *sql)
{
    enum { CALLS = 40 }; /* more than most need */
    unsigned call = chance(CALLS);
    struct outcome outcome, expected;

    memory_fail_once_after(call);
    outcome = run(tried, sql);
    memory_fail_never();
    passed++;
    if (outcome.status == VDBQ_NO_MEMORY) {
        run(good, "rollback");
        if (first_of_state(tried, looks_at_begin) != at_begin)
            fault("a commit without memory changed the database", sql, call,
                  true, &outcome);
        return;
    }
    expected = run(good, sql);
    if (!same(&outcome, &expected))
        fault("another answer", sql, call, true, &outcome);
}

static void run_both(const char *sql, unsigned tries)
{
    uint64_t before = tries > 0 ? state_of(tried) : 0;
    struct outcome expected, outcome;
    unsigned calls;
    bool done = false;

    if (tries > 0 && strncmp(sql, "commit", 6) == 0) {
        try_commit(sql);
        return;
    }
    memory_fail_never();
    expected = run(good, sql);
    calls = memory_calls_made() + 1;
    if (strncmp(sql, "begin", 5) == 0 && expected.status == VDBQ_OK) {
        at_begin = state_of(tried);
        looks_at_begin = look_count;
    }
    for (unsigned i = 0; i < tries && i < calls && !done; i++) {
        unsigned call = tries < calls ? chance(calls) : i;
        done = try_call(sql, call, chance(2) == 0, before, &expected)
               && !only_reads(sql);
    }
    if (done)
        return;
    outcome = run(tried, sql);
    passed++;
    if (!same(&outcome, &expected))
        fault("another answer than elsewhere", sql, 0, false, &outcome);
    if (tries > 0 && only_reads(sql) && state_of(tried) != before)
        fault("a query changed the database", sql, 0, false, &outcome);
}

/* Opening the file, with calls that fail. */
static void try_open(const char *path, unsigned tries)
{
    for (unsigned i = 0; i < tries; i++) {
        struct outcome outcome = { .status = VDBQ_OK };
        vdbq *db;

        memory_fail_once_after(i);
        outcome.status =
            vdbq_open(path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db);
        memory_fail_never();
        vdbq_close(db);
        passed++;
        if (outcome.status != VDBQ_OK && outcome.status != VDBQ_NO_MEMORY)
            fault("opening", path, i, true, &outcome);
    }
}

static void open_both(const char *path)
{
    if (vdbq_open(NULL, VDBQ_OPEN_CREATE, &good) != VDBQ_OK
        || vdbq_open(path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &tried)
               != VDBQ_OK) {
        fprintf(stderr, "%s: %s\n", path, vdbq_error(tried)->message);
        exit(2);
    }
    vdbq_set(good, "device", "host");
    vdbq_set(tried, "device", "host");
}

static void drop(vdbq *db, const char *what, const char *name)
{
    char sql[MESSAGE_MAX];

    snprintf(sql, sizeof sql, "drop %s temp.\"%s\"", what, name);
    run(db, sql);
}

/* What is temporary ends with the connection. */
static void drop_temporary(vdbq *db)
{
    unsigned tables = vdbq_tables(db);

    for (unsigned i = 0; i < tables; i++)
        if (vdbq_table_is_temporary(db, i))
            drop(db, "table", vdbq_table_name(db, i));
    for (unsigned i = 0; i < vdbq_views(db); i++)
        if (vdbq_view_is_temporary(db, i))
            drop(db, "view", vdbq_view_name(db, i));
}

/* What was committed is in the file. */
static void reopen(const char *path)
{
    uint64_t before;

    run(good, "rollback");
    run(tried, "rollback");
    drop_temporary(good);
    before = state_of(good);
    vdbq_close(tried);
    tried = NULL;
    if (vdbq_open(path, VDBQ_OPEN_NO_SYNC, &tried) == VDBQ_OK)
        vdbq_set(tried, "device", "host");
    passed++;
    if (state_of(tried) != before)
        fault("another state of the file", "", 0, false,
              &(struct outcome){ 0 });
}

/* ------------------------------------------------------------- records -- */

/* The text of the next record, the caller's, and its kind; NULL: the end. */
static char *next_record(char *kind)
{
    size_t size;
    char *text;

    if (scanf("%7s %zu", kind, &size) != 2 || getchar() != '\n')
        return NULL;
    text = calloc(1, size + 1);
    if (text != NULL && fread(text, 1, size, stdin) != size) {
        free(text);
        return NULL;
    }
    return text;
}

int main(int argc, char **argv)
{
    char kind[8], *text;

    if (argc != 4)
        return fprintf(stderr, "failing SEED TRIES FILE\n"), 2;
    chance_state = strtoull(argv[1], NULL, 10);
    unsigned tries = (unsigned)strtoul(argv[2], NULL, 10);
    try_open(argv[3], tries);
    open_both(argv[3]);
    while ((text = next_record(kind)) != NULL) {
        if (strcmp(kind, "look") == 0 && look_count < LOOKS_MAX) {
            looks[look_count++] = text;
            continue;
        }
        run_both(text, strcmp(kind, "try") == 0 ? tries : 0);
        free(text);
    }
    reopen(argv[3]);
    vdbq_close(good);
    vdbq_close(tried);
    for (unsigned i = 0; i < look_count; i++)
        free(looks[i]);
    printf("%u passed, %u failed\n", passed, failed);
    return failed > 0;
}
