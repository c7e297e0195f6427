/* SPDX-License-Identifier: MIT */
/*
 * Look-ups of many rows by keys of every type: what each key gives is compared
 * with a query for that key alone; several connections in threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/hostile.h"
#include "fixtures/answer.h"

enum {
    ROWS = HOSTILE(300, 20000),
    KEYS = HOSTILE(150, 4000),
    ONE_BY_ONE = 150, /* keys that a query is asked for each */
    THREADS = 4
};

static vdbq *db;

static void do_sql(const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* Rows do not lie in the order of any column. */
static void fill(void)
{
    char sql[200];
    do_sql("create table t (id integer primary key, b bigint, x double,"
           " f float, s text, d date, c decimal(12,2), o boolean);"
           "create index by_b on t (b); create index by_two on t (b, x);"
           "create table plain (k integer, n text collate nocase);"
           "insert into plain values (5, 'a'), (6, 'b'), (5, 'c')");
    do_sql("insert into t (id) values (0)");
    for (int rows = 1; rows < ROWS; rows *= 2) {
        snprintf(sql, sizeof sql,
                 "insert into t (id) select id + %d from t where id + %d < %d",
                 rows, rows, ROWS);
        do_sql(sql);
    }
    do_sql("update t set b = id * 7919 % 5003 * 3000000000, x = id * 7 % 1009,"
           " f = id % 100 * 0.5, s = 'text number ' || (id * 31 % 7001),"
           " d = cast('1970-01-01' as date) + id, c = id * 0.25,"
           " o = id % 2 = 1; update t set b = null, s = null where id % 7 = 3");
}

static int open_table(void **state)
{
    (void)state;
    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    fill();
    return 0;
}

static int close_table(void **state)
{
    (void)state;
    vdbq_close(db);
    return 0;
}

static vdbq_lookup *open_lookup(vdbq *on, const char *table, const char *by,
                                const char *results)
{
    vdbq_lookup *lookup;
    if (vdbq_lookup_open(on, table, by, results, &lookup) != VDBQ_OK)
        fail_msg("%s", vdbq_error(on)->message);
    return lookup;
}

static struct vdbq_batch rows_of(vdbq *on, vdbq_lookup *lookup, uint64_t count,
                                 const struct vdbq_vector *keys)
{
    struct vdbq_batch batch;
    if (vdbq_lookup_rows(lookup, count, keys, &batch) != VDBQ_OK)
        fail_msg("%s", vdbq_error(on)->message);
    assert_int_equal(batch.rows, count);
    return batch;
}

/* ---------------------------------------------------------------- types -- */

static union {
    int32_t i32[KEYS];
    int64_t i64[KEYS];
    float f32[KEYS];
    double f64[KEYS];
    struct vdbq_text text[KEYS];
} values;
static uint8_t nulls[KEYS];
static char texts[KEYS][40];

static const struct column {
    const char *name, *by; /* of the column, and what is given for it */
    enum vdbq_type type;   /* of the keys    */
} columns[] = {
    { "id", "id", VDBQ_INTEGER }, { "id", "id", VDBQ_BIGINT },
    { "b", "b", VDBQ_BIGINT },    { "b", "by_b", VDBQ_BIGINT },
    { "x", "x", VDBQ_DOUBLE },    { "x", "x", VDBQ_FLOAT },
    { "f", "f", VDBQ_FLOAT },     { "f", "f", VDBQ_DOUBLE },
    { "s", "s", VDBQ_TEXT },      { "d", "d", VDBQ_DATE },
    { "c", "c", VDBQ_DECIMAL },   { "o", "o", VDBQ_BOOLEAN },
};

/* A key, and how SQL writes it: of some row, of none, the same twice. */
static void put(const struct column *column, unsigned i)
{
    int id = (int)(i * 7919u % (ROWS + ROWS / 3));
    char *text = texts[i];
    if (strcmp(column->name, "b") == 0)
        values.i64[i] = id % 5003 * INT64_C(3000000000);
    else if (column->type == VDBQ_BIGINT)
        values.i64[i] = id;
    else if (column->type == VDBQ_DECIMAL)
        values.i64[i] = id * 25;
    else if (column->type == VDBQ_FLOAT)
        values.f32[i] = (float)(id % 300) / 2;
    else if (column->type == VDBQ_DOUBLE)
        values.f64[i] = id % 300 / 2.0;
    else if (column->type != VDBQ_TEXT)
        values.i32[i] = column->type == VDBQ_BOOLEAN ? id % 2 : id;
    if (column->type == VDBQ_TEXT) {
        snprintf(text, sizeof texts[i], "text number %d", id);
        values.text[i] = (struct vdbq_text){ text, strlen(text) };
    } else {
        size_t width = column->type == VDBQ_BIGINT
                               || column->type == VDBQ_DOUBLE
                               || column->type == VDBQ_DECIMAL
                           ? 8
                           : 4;
        vdbq_value_print(column->type, 2, (const char *)&values + i * width,
                         text);
    }
    nulls[i] = i % 11 == 10;
}

/* The first row that has a key: its id; -1: none has. */
static int64_t ask_one(const struct column *column, const char *key)
{
    char sql[200];
    bool quoted = column->type == VDBQ_TEXT || column->type == VDBQ_DATE;
    int64_t id = -1;
    vdbq_query *query;
    snprintf(sql, sizeof sql, "select id from t where %s = %s%s%s limit 1",
             column->name, quoted ? "'" : "", key, quoted ? "'" : "");
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    if (vdbq_query_row(query) == VDBQ_ROW)
        id = vdbq_query_int64(query, 0);
    vdbq_query_close(query);
    return id;
}

static void check_column(const struct column *column, unsigned count)
{
    vdbq_lookup *lookup =
        open_lookup(db, "t", column->by, "id * 2, 'row ' || id");
    struct vdbq_vector keys = { column->type, &values, nulls };
    for (unsigned i = 0; i < count; i++)
        put(column, i);
    struct vdbq_batch batch = rows_of(db, lookup, count, &keys);
    assert_int_equal(batch.columns, 3);
    for (unsigned i = 0; i < count; i += count / ONE_BY_ONE + 1) {
        int64_t id = nulls[i] ? -1 : ask_one(column, texts[i]);
        char row[40];
        snprintf(row, sizeof row, "row %d", (int)id);
        for (unsigned c = 0; c < 3; c++)
            if (batch.column[c].nulls[i] != (id < 0))
                fail_msg("%s = %s: row %d", column->by, texts[i], (int)id);
        if (id < 0)
            continue;
        struct vdbq_text text =
            ((const struct vdbq_text *)batch.column[2].values)[i];
        assert_int_equal(((const int32_t *)batch.column[0].values)[i], id);
        assert_int_equal(text.length, strlen(row));
        assert_memory_equal(text.bytes, row, text.length);
    }
    vdbq_lookup_close(lookup);
}

static void test_types(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++) {
        const struct column *column = &columns[i];
        bool is_long = strchr("xfco", *column->name) == NULL;
        check_column(column, 0);
        check_column(column, 40);
        check_column(column, is_long ? KEYS : 60);
    }
}

/* Without a key the row's number is told; the first of several rows counts. */
static void test_numbers(void **state)
{
    int32_t keys[] = { 6, 7, 5, 6 };
    struct vdbq_vector vector = { VDBQ_INTEGER, keys, NULL };
    vdbq_lookup *lookup = open_lookup(db, "plain", "k", NULL);
    struct vdbq_batch batch = rows_of(db, lookup, 4, &vector);
    (void)state;
    assert_int_equal(batch.columns, 1);
    assert_int_equal(batch.column[0].type, VDBQ_BIGINT);
    const int64_t *numbers = batch.column[0].values;
    const uint8_t none[] = { 0, 1, 0, 0 };
    assert_memory_equal(batch.column[0].nulls, none, 4);
    assert_int_equal(numbers[0], 1);
    assert_int_equal(numbers[2], 0);
    assert_int_equal(numbers[3], 1);
    vdbq_lookup_close(lookup);
}

/* -------------------------------------------------------------- changes -- */

static int64_t b_of(vdbq_lookup *lookup, int32_t id)
{
    struct vdbq_vector vector = { VDBQ_INTEGER, &id, NULL };
    struct vdbq_batch batch = rows_of(db, lookup, 1, &vector);
    return batch.column[1].nulls[0]
               ? -1
               : ((const int64_t *)batch.column[1].values)[0];
}

static void test_changes(void **state)
{
    vdbq_lookup *lookup = open_lookup(db, "t", "id", "b");
    int64_t before = b_of(lookup, 1);
    (void)state;
    do_sql("begin; update t set b = 77 where id = 1;"
           "delete from t where id = 2; insert into t (id, b) values (-5, 8)");
    assert_int_equal(b_of(lookup, 1), 77);
    assert_int_equal(b_of(lookup, 2), -1);
    assert_int_equal(b_of(lookup, -5), 8);
    do_sql("rollback");
    assert_int_equal(b_of(lookup, 1), before);
    assert_int_equal(b_of(lookup, -5), -1);
    do_sql("begin; update t set b = 78 where id = 1; commit");
    assert_int_equal(b_of(lookup, 1), 78);
    vdbq_lookup_close(lookup);
}

static void expect(enum vdbq_status status, enum vdbq_status wanted,
                   const char *message)
{
    assert_int_equal(status, wanted);
    assert_non_null(strstr(vdbq_error(db)->message, message));
}

static void test_refused(void **state)
{
    int64_t keys[] = { 1 };
    struct vdbq_vector vector = { VDBQ_BIGINT, keys, NULL };
    struct vdbq_batch batch;
    vdbq_lookup *lookup;
    (void)state;
    expect(vdbq_lookup_open(db, "no", "id", NULL, &lookup), VDBQ_UNKNOWN, "no");
    assert_null(lookup);
    expect(vdbq_lookup_open(db, "t", "no", NULL, &lookup), VDBQ_UNKNOWN, "no");
    expect(vdbq_lookup_open(db, "t", "by_two", NULL, &lookup), VDBQ_TYPE,
           "2 columns");
    expect(vdbq_lookup_open(db, "plain", "by_b", NULL, &lookup), VDBQ_UNKNOWN,
           "by_b");
    expect(vdbq_lookup_open(db, "plain", "n", NULL, &lookup), VDBQ_TYPE,
           "COLLATE");
    expect(vdbq_lookup_open(db, "t", "id", "nothing", &lookup), VDBQ_UNKNOWN,
           "nothing");
    lookup = open_lookup(db, "t", "s", NULL);
    expect(vdbq_lookup_rows(lookup, 1, &vector, &batch), VDBQ_TYPE, "BIGINT");
    assert_int_equal(batch.rows, 0);
    vdbq_lookup_close(lookup);
    lookup = open_lookup(db, "t", "id", NULL);
    expect(vdbq_lookup_rows(lookup, UINT32_MAX, &vector, &batch), VDBQ_RANGE,
           "too many");
    rows_of(db, lookup, 1, &vector);
    /* vdbq_close() closes it */
}

/* -------------------------------------------------------------- threads -- */

static char path[] = "/tmp/vdbq-lookup-XXXXXX";

/* A connection of its own, which looks all rows up, some at a time. */
static void *look_up_all(void *failed)
{
    enum { AT_ONCE = 100 };
    vdbq *own;
    vdbq_lookup *lookup;
    *(bool *)failed =
        vdbq_open(path, 0, &own) != VDBQ_OK
        || vdbq_set(own, "device", "host") != VDBQ_OK
        || vdbq_lookup_open(own, "t", "id", "id + 1", &lookup) != VDBQ_OK;
    for (int32_t from = 0; !*(bool *)failed && from < ROWS; from += AT_ONCE) {
        int32_t ids[AT_ONCE];
        struct vdbq_vector keys = { VDBQ_INTEGER, ids, NULL };
        struct vdbq_batch batch;
        for (int i = 0; i < AT_ONCE; i++)
            ids[i] = (from + i) * 7919 % ROWS;
        *(bool *)failed =
            vdbq_lookup_rows(lookup, AT_ONCE, &keys, &batch) != VDBQ_OK;
        for (int i = 0; !*(bool *)failed && i < AT_ONCE; i++)
            *(bool *)failed =
                batch.column[1].nulls[i] != 0
                || (batch.column[1].type == VDBQ_BIGINT
                        ? ((const int64_t *)batch.column[1].values)[i]
                        : ((const int32_t *)batch.column[1].values)[i])
                       != ids[i] + 1;
    }
    vdbq_close(own);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    bool failed[THREADS];
    int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    close(file);
    unlink(path);
    vdbq *memory = db;
    assert_int_equal(vdbq_open(path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    set_option(db, "device", "host");
    fill();
    vdbq_close(db);
    db = memory;
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, look_up_all, &failed[i]), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    unlink(path);
    for (unsigned i = 0; i < THREADS; i++)
        assert_false(failed[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),   cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_changes), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, open_table, close_table);
}
