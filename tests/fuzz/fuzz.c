/* SPDX-License-Identifier: MIT */
/* Databases, statements and files of the fuzz targets. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    STATEMENTS_MAX = 40,        /* of one text                               */
    BATCHES_MAX = 200,          /* of one query                              */
    NANOSECONDS_MAX = 100000000 /* of a statement, then it is cancelled */
};

static const char filled[] =
    "create table t (id integer primary key, a integer, b bigint, c boolean, "
    "d double, f float, s text, y date, w timestamp, m decimal(9,2));"
    "insert into t values (1, 10, 5000000000, true, 0.5, 1.5, 'a', "
    "'2024-02-29', '2024-02-29 12:30:00', 1.25), (2, null, null, null, null, "
    "null, null, null, null, null), (3, -1, -7, false, -0.0, 1e10, '', "
    "'0001-01-01', '1969-12-31 23:59:59', -99.99), (4, 2147483647, "
    "9223372036854775807, true, 1e300, -1.0, 'it''s 10', '9999-12-31', "
    "'2000-01-01 00:00:00', 0), (7, 10, 0, false, 10.0, 0.25, 'aB%', "
    "'2024-01-01', '2024-01-01 00:00:00', 1.25);"
    "create table u (a integer, s text unique, x double not null default 1, "
    "b bigint);"
    "insert into u values (10, 'a', 1.5, 1), (null, 'b', 2.5, null), "
    "(-1, null, 0.0, 3), (3, '10', 10, 10);"
    "create index i on u (a); create unique index j on t (m, id);"
    "create table e (id integer primary key, s text, x double);"
    "create view v as select a, s, count(*) as n from t group by a, s";

/* ------------------------------------------------------------- numbers -- */

unsigned fuzz_take(struct fuzz_bytes *bytes, unsigned limit)
{
    unsigned value = 0;

    for (unsigned i = 0; i < (limit > 256 ? 2u : 1u); i++)
        value = value * 256 + (bytes->at < bytes->end ? *bytes->at++ : 0u);
    return value % limit;
}

unsigned fuzz_random(uint64_t *state, unsigned limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % limit;
}

/* ----------------------------------------------------------- databases -- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* When the statement at hand has had its time. */
static uint64_t deadline_ns;

static bool goes_on(void *context, uint64_t done, uint64_t all)
{
    (void)context;
    (void)done;
    (void)all;
    return now_ns() < deadline_ns;
}

void fuzz_check_told(vdbq *db, enum vdbq_status status)
{
    if (status != VDBQ_OK && vdbq_error(db)->message[0] == 0)
        abort();
}

vdbq *fuzz_open(const char *path, unsigned flags)
{
    vdbq *db;
    enum vdbq_status status = vdbq_open(path, flags, &db);

    fuzz_check_told(db, status);
    if (status != VDBQ_OK) {
        vdbq_close(db);
        return NULL;
    }
    if (vdbq_set(db, "device", "host") != VDBQ_OK
        || vdbq_set(db, "memory", "16M") != VDBQ_OK
        || vdbq_set(db, "tablet_rows", "3") != VDBQ_OK)
        abort();
    vdbq_on_progress(db, goes_on, NULL);
    return db;
}

vdbq *fuzz_open_filled(void)
{
    vdbq *db = fuzz_open(NULL, 0);

    deadline_ns = UINT64_MAX;
    if (db == NULL || vdbq_execute(db, filled) != VDBQ_OK)
        abort();
    return db;
}

/* ---------------------------------------------------------- statements -- */

static volatile unsigned char seen;

/* Looks at every value, so that a sanitizer sees where it lies. */
static void look_at(const struct vdbq_batch *batch)
{
    for (unsigned c = 0; batch->rows && c < batch->columns; c++) {
        const struct vdbq_vector *vector = &batch->column[c];
        const struct vdbq_text *texts = vector->values;
        for (uint64_t row = 0; row < batch->rows; row++) {
            bool null = vector->nulls != NULL && vector->nulls[row];
            if (!null && vector->type == VDBQ_TEXT)
                for (size_t i = 0; i < texts[row].length; i++)
                    seen ^= (unsigned char)texts[row].bytes[i];
            else if (!null)
                seen ^= ((const unsigned char *)vector->values)[row];
        }
    }
}

void fuzz_read(vdbq *db, vdbq_query *query, enum vdbq_status status)
{
    struct vdbq_batch batch = { .rows = 1 };

    deadline_ns = now_ns() + NANOSECONDS_MAX;
    if (status == VDBQ_OK)
        status = vdbq_query_run(query);
    for (unsigned i = 0; status == VDBQ_OK && batch.rows && i < BATCHES_MAX;
         i++) {
        status = vdbq_query_batch(query, &batch);
        if (status == VDBQ_OK)
            look_at(&batch);
    }
    fuzz_check_told(db, status);
    vdbq_query_close(query);
}

static void bind(vdbq_query *query)
{
    unsigned count = vdbq_query_parameters(query);

    for (unsigned i = 1; i <= count && i < 9; i++)
        if (i % 3 == 1)
            vdbq_bind_int64(query, i, 10);
        else if (i % 3 == 2)
            vdbq_bind_text(query, i, "a%", -1);
}

void fuzz_run(vdbq *db, const char *sql, size_t length)
{
    const char *end = sql + length;

    for (unsigned i = 0; sql < end && i < STATEMENTS_MAX; i++) {
        const char *tail = end;
        vdbq_query *query = NULL;
        deadline_ns = now_ns() + NANOSECONDS_MAX;
        enum vdbq_status status =
            vdbq_prepare(db, sql, end - sql, &query, &tail);
        if (query != NULL)
            bind(query);
        if (query != NULL || status != VDBQ_OK)
            fuzz_read(db, query, status);
        if (tail <= sql)
            break;
        sql = tail;
    }
}

/* --------------------------------------------------------------- files -- */

const char *fuzz_file(const void *bytes, size_t size)
{
    static int fd = -1;
    static char path[40];

    if (fd >= 0)
        close(fd);
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}
