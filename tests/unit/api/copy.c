/* SPDX-License-Identifier: MIT */
/*
 * COPY FROM as a program runs it: with the library's reader and with its own,
 * alone and in a transaction, all of it or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <zlib.h>

#include "api/vdbq.h"

static char path[] = "/tmp/vdbq-copy-XXXXXX";

static vdbq *open_memory(const char *sql)
{
    vdbq *db;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, sql), VDBQ_OK);
    return db;
}

static void write_text(const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static void write_file(const char *text)
{
    write_text(text, strlen(text));
}

/* A COPY of that file: `what` with % in its place. */
static enum vdbq_status copy(vdbq *db, const char *what)
{
    char sql[400];
    const char *mark = strchr(what, '%');
    snprintf(sql, sizeof sql, "copy %.*s'%s'%s", (int)(mark - what), what, path,
             mark + 1);
    return vdbq_execute(db, sql);
}

static int64_t number(vdbq *db, const char *sql)
{
    vdbq_query *query;
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    int64_t value = vdbq_query_int64(query, 0);
    vdbq_query_close(query);
    return value;
}

static void expect_failure(vdbq *db, enum vdbq_status found,
                           enum vdbq_status status, const char *message)
{
    assert_int_equal(found, status);
    if (!strstr(vdbq_error(db)->message, message))
        print_error("%s\n", vdbq_error(db)->message);
    assert_non_null(strstr(vdbq_error(db)->message, message));
}

/* -------------------------------------------------- the library's reader -- */

static void test_reads(void **state)
{
    (void)state;
    vdbq *db = open_memory("create table t (a integer not null, b text unique, "
                           "c integer default 7, d date)");
    vdbq_query *query;
    write_file("b,a\nx,1\ny,2\n");
    expect_failure(db, copy(db, "t from %"), VDBQ_UNKNOWN, "from here");
    vdbq_on_copy(db, vdbq_copy_csv, NULL);
    char sql[200];
    snprintf(sql, sizeof sql, "copy t from '%s'", path);
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_columns(query), 0);
    assert_string_equal(vdbq_query_copy(query)->table, "t");
    assert_null(vdbq_query_copy_file(query));
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    struct vdbq_stats stats;
    vdbq_query_stats(query, &stats);
    assert_int_equal(stats.rows_changed, 2);
    /* the same rows again are no longer unique, and nothing of them stays */
    expect_failure(db, vdbq_query_run(query), VDBQ_CONSTRAINT, "");
    vdbq_query_close(query);
    assert_int_equal(number(db, "select count(*) from t where c = 7"), 2);
    assert_int_equal(copy(db, "t (d, a) from % (header false, delimiter '|')"),
                     VDBQ_TYPE);
    write_file("2024-01-01|3\n-|4\n");
    assert_int_equal(copy(db, "t (d, a) from % (delimiter '|', null '-')"),
                     VDBQ_OK);
    assert_int_equal(number(db, "select a from t where d is null and a > 3"),
                     4);
    write_file("b\nz\n");
    expect_failure(db, copy(db, "t from %"), VDBQ_CONSTRAINT, "NOT NULL");
    write_file("a,b\n5,p\n6x,q\n");
    expect_failure(db, copy(db, "t from %"), VDBQ_TYPE, ":3:1: value '6x'");
    assert_int_equal(vdbq_error(db)->column, 13);
    assert_int_equal(number(db, "select count(*) from t"), 4);
    vdbq_close(db);
}

/* Fills the file with a packed text of so many rows; `cut` bytes are missing. */
static void write_packed(unsigned rows, size_t cut)
{
    gzFile file = gzopen(path, "wb1");
    gzputs(file, "a,b\n");
    for (unsigned i = 0; i < rows; i++)
        gzprintf(file, "%u,\"text %u\"\n", i, i);
    gzclose(file);
    FILE *length = fopen(path, "rb");
    fseek(length, 0, SEEK_END);
    long size = ftell(length);
    fclose(length);
    assert_int_equal(truncate(path, size - (long)cut), 0);
}

static void test_transactions(void **state)
{
    (void)state;
    vdbq *db = open_memory("create table t (a integer, b text)");
    vdbq_on_copy(db, vdbq_copy_csv, NULL);
    write_packed(300000, 0);
    assert_int_equal(vdbq_execute(db, "begin; insert into t values (-1, 'x')"),
                     VDBQ_OK);
    assert_int_equal(copy(db, "t from %"), VDBQ_OK);
    assert_int_equal(number(db, "select count(*) from t"), 300001);
    write_packed(300000, 4);
    expect_failure(db, copy(db, "t from %"), VDBQ_CORRUPT,
                   "ends in the middle");
    assert_int_equal(number(db, "select count(*) from t"), 300001);
    assert_int_equal(vdbq_execute(db, "rollback"), VDBQ_OK);
    assert_int_equal(number(db, "select count(*) from t"), 0);
    expect_failure(db, copy(db, "t from %"), VDBQ_CORRUPT,
                   "ends in the middle");
    assert_int_equal(number(db, "select count(*) from t"), 0);
    write_packed(300000, 0);
    assert_int_equal(copy(db, "t from %"), VDBQ_OK);
    assert_int_equal(number(db, "select sum(a) from t"), 44999850000);
    vdbq_close(db);
}

/* ---------------------------------------------------------------- cancel -- */

static bool stop_at_half(void *context, uint64_t done, uint64_t all)
{
    unsigned *calls = context;
    ++*calls;
    return all < 100000 || done < all / 2;
}

static void test_cancel(void **state)
{
    (void)state;
    unsigned calls = 0;
    vdbq *db = open_memory("create table t (a integer, b text)");
    vdbq_on_copy(db, vdbq_copy_csv, NULL);
    write_packed(2000000, 0);
    vdbq_on_progress(db, stop_at_half, &calls);
    expect_failure(db, copy(db, "t from %"), VDBQ_CANCELLED,
                   "interrupted: nothing was changed");
    assert_true(calls > 1);
    vdbq_on_progress(db, NULL, NULL);
    assert_int_equal(number(db, "select count(*) from t"), 0);
    assert_int_equal(copy(db, "t from %"), VDBQ_OK);
    assert_int_equal(number(db, "select count(*) from t"), 2000000);
    vdbq_close(db);
}

/* -------------------------------------------------- a program's own reader -- */

/* What the reader at hand does. */
struct reader {
    enum { COMMITS, LEAVES_OPEN, FAILS, FAILS_SILENTLY, CHANGES, LOOKS } way;
    vdbq_append *append;
};

static enum vdbq_status append_one(struct reader *reader, vdbq *db,
                                   const char *table)
{
    static const int32_t values[] = { 4, 5 };
    const struct vdbq_vector vectors[] = {
        { .type = VDBQ_INTEGER, .values = values }, { .type = VDBQ_TYPE_NONE }
    };
    enum vdbq_status status = vdbq_append_open(db, table, &reader->append);
    if (status == VDBQ_OK)
        status = vdbq_append_rows(reader->append, 2, vectors);
    return status;
}

static enum vdbq_status read_own(void *context, vdbq *db,
                                 const struct vdbq_copy *copy)
{
    struct reader *reader = context;
    assert_string_equal(copy->delimiter, ";");
    assert_int_equal(copy->header, 1);
    assert_string_equal(copy->format, "mine");
    if (reader->way == CHANGES)
        return vdbq_execute(db, "insert into t values (1, 2)");
    enum vdbq_status status = append_one(reader, db, copy->table);
    if (reader->way != LEAVES_OPEN && status == VDBQ_OK)
        status = vdbq_append_commit(reader->append);
    if (reader->way != LEAVES_OPEN)
        vdbq_append_close(reader->append);
    if (reader->way == LOOKS)
        assert_int_equal(number(db, "select count(*) from t"), 2);
    if (reader->way == FAILS)
        return vdbq_fail(db, VDBQ_IO, "it is a bad file", "take another one");
    return reader->way == FAILS_SILENTLY ? VDBQ_LIMIT : status;
}

static void test_own_reader(void **state)
{
    static const struct {
        enum vdbq_status status;
        const char *message;
        int64_t rows;
    } cases[] = {
        [COMMITS] = { VDBQ_OK, "", 2 },
        [LEAVES_OPEN] = { VDBQ_OK, "", 0 },
        [FAILS] = { VDBQ_IO, "it is a bad file", 0 },
        [FAILS_SILENTLY] = { VDBQ_LIMIT, "the file could not be read", 0 },
        [CHANGES] = { VDBQ_MISUSE, "a COPY statement runs", 0 },
        [LOOKS] = { VDBQ_OK, "", 2 },
    };
    (void)state;
    for (unsigned i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        vdbq *db =
            open_memory("create table t (a integer, b integer default 9)");
        struct reader reader = { .way = i / 2 };
        vdbq_on_copy(db, read_own, &reader);
        if (i % 2)
            assert_int_equal(vdbq_execute(db, "begin"), VDBQ_OK);
        expect_failure(db,
                       copy(db, "t from % with (header, format mine, sep ';')"),
                       cases[i / 2].status, cases[i / 2].message);
        assert_int_equal(number(db, "select count(*) from t where b = 9"),
                         cases[i / 2].rows);
        if (i % 2)
            assert_int_equal(vdbq_execute(db, "commit"), VDBQ_OK);
        assert_int_equal(vdbq_execute(db, "insert into t values (0, 0)"),
                         VDBQ_OK);
        vdbq_close(db);
    }
}

/* Columns of no type have their defaults, in any number of calls. */
static void test_defaults(void **state)
{
    enum { ROWS = 5000 };
    (void)state;
    vdbq *db = open_memory("create table t (a integer, b text default 'bb', "
                           "c double, d decimal(9,2) default 1.25, e text)");
    int32_t *values = calloc(ROWS, sizeof *values);
    struct vdbq_vector vectors[5] = { { .type = VDBQ_INTEGER } };
    vdbq_append *append;
    vectors[0].values = values;
    assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 3, vectors), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 0, vectors), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, ROWS, vectors), VDBQ_OK);
    assert_int_equal(vdbq_append_rows(append, 1, vectors), VDBQ_OK);
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    vdbq_append_close(append);
    assert_int_equal(number(db,
                            "select count(*) from t where a = 0 and b = 'bb' "
                            "and c is null and d = 1.25 and e is null"),
                     ROWS + 4);
    free(values);
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),    cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_cancel),   cmocka_unit_test(test_own_reader),
        cmocka_unit_test(test_defaults),
    };
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
