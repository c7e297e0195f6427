/* SPDX-License-Identifier: MIT */
/*
 * Arrays as parameters: a query with one gives what it gives with its values
 * written into the list, of every type and length, with NULLs, beside other
 * items, after changes and in transactions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/vdbq.h"
#include "base/hostile.h"
#include "fixtures/answer.h"

enum { ROWS = HOSTILE(300, 20000), VALUES_MAX = HOSTILE(100, 5000) };

static vdbq *db;

static void do_sql(const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static int open_table(void **state)
{
    char sql[200];
    (void)state;
    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    do_sql("create table t (id integer primary key, b bigint, x double,"
           " f float, s text, d date, m timestamp, c decimal(12,2), w smallint,"
           " o boolean); create index ib on t (b); create index ix on t (x);"
           "create index s on t (s)");
    do_sql("insert into t values (0, 0, 0, 0, '0', '1970-01-01', '1970-01-01',"
           " 0, 0, false)");
    for (int rows = 1; rows < ROWS; rows *= 2) {
        snprintf(sql, sizeof sql,
                 "insert into t (id) select id + %d from t where id + %d < %d",
                 rows, rows, ROWS);
        do_sql(sql);
    }
    do_sql("update t set b = id * 3000000000, x = id * 0.1, f = id * 0.5,"
           " s = 'text number ' || id, d = cast('1970-01-01' as date) + id,"
           " c = id * 0.25, w = id % 30000, o = id % 2 = 1;"
           "update t set m = d; update t set b = null, s = null"
           " where id % 7 = 3");
    return 0;
}

static int close_table(void **state)
{
    (void)state;
    vdbq_close(db);
    return 0;
}

/* ------------------------------------------------------------- answers -- */

/* Sum of ids and how many there are, as one text. */
static void run(vdbq_query *query, char answer[64])
{
    if (vdbq_query_row(query) != VDBQ_ROW)
        fail_msg("%s", vdbq_error(db)->message);
    snprintf(answer, 64, "%s", vdbq_query_text(query, 0));
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
}

static vdbq_query *prepare(const char *sql)
{
    vdbq_query *query;
    if (vdbq_prepare(db, sql, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    return query;
}

static void ask_sql(const char *sql, char answer[64])
{
    vdbq_query *query = prepare(sql);
    run(query, answer);
    vdbq_query_close(query);
}

/* ------------------------------------------------------------- columns -- */

/* A column, and the type of the array that it is asked with. */
static const struct column {
    const char *name;
    enum vdbq_type type;
    double factor; /* of a number, from its row's id */
} columns[] = {
    { "id", VDBQ_INTEGER, 1 }, { "id", VDBQ_BIGINT, 1 },
    { "id", VDBQ_DOUBLE, 1 },  { "b", VDBQ_BIGINT, 3e9 },
    { "b", VDBQ_DOUBLE, 3e9 }, { "x", VDBQ_DOUBLE, 0.1 },
    { "f", VDBQ_FLOAT, 0.5 },  { "f", VDBQ_DOUBLE, 0.5 },
    { "s", VDBQ_TEXT, 0 },     { "d", VDBQ_DATE, 1 },
    { "d", VDBQ_TEXT, 0 },     { "m", VDBQ_TIMESTAMP, 86400e6 },
    { "c", VDBQ_TEXT, 0 },     { "c", VDBQ_DOUBLE, 0.25 },
    { "w", VDBQ_SMALLINT, 1 }, { "o", VDBQ_BOOLEAN, 1 },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* An array, and its list as SQL. */
static struct {
    union {
        int32_t i32[VALUES_MAX];
        int64_t i64[VALUES_MAX];
        float f32[VALUES_MAX];
        double f64[VALUES_MAX];
        struct vdbq_text text[VALUES_MAX];
    };
    uint8_t nulls[VALUES_MAX];
    char texts[VALUES_MAX][40];
    char list[VALUES_MAX * 40];
} made;

/* What a row has, as SQL writes it without quotes. */
static void write_value(const struct column *column, int id, char text[40])
{
    int32_t days = id;
    int64_t moment = id * INT64_C(86400000000);
    if (strcmp(column->name, "d") == 0)
        vdbq_value_print(VDBQ_DATE, 0, &days, text);
    else if (strcmp(column->name, "m") == 0)
        vdbq_value_print(VDBQ_TIMESTAMP, 0, &moment, text);
    else if (strcmp(column->name, "s") == 0)
        snprintf(text, 40, "text number %d", id);
    else if (strcmp(column->name, "c") == 0)
        snprintf(text, 40, "%.2f", id * 0.25);
    else
        snprintf(text, 40, "%.17g", id * column->factor);
}

static void put(const struct column *column, unsigned i, int id)
{
    double value = id * column->factor;
    write_value(column, id, made.texts[i]);
    switch (column->type) {
    case VDBQ_BIGINT:
    case VDBQ_TIMESTAMP:
        made.i64[i] = (int64_t)value;
        break;
    case VDBQ_FLOAT:
        made.f32[i] = (float)value;
        break;
    case VDBQ_DOUBLE:
        made.f64[i] = value;
        break;
    case VDBQ_TEXT:
        made.text[i] =
            (struct vdbq_text){ made.texts[i], strlen(made.texts[i]) };
        break;
    default:
        made.i32[i] = id;
    }
}

/* Values of rows, of which some come twice and some are no row's. */
static struct vdbq_vector make(const struct column *column, unsigned count,
                               bool nulls)
{
    bool quoted = column->type == VDBQ_TEXT || column->type == VDBQ_DATE
                  || column->type == VDBQ_TIMESTAMP;
    size_t at = 0;
    made.list[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        int id = (int)(i * 7919u % (ROWS + ROWS / 4));
        if (column->type == VDBQ_SMALLINT)
            id %= 30000;
        if (column->type == VDBQ_BOOLEAN)
            id %= 2;
        put(column, i, id);
        made.nulls[i] = nulls && i % 5 == 2;
        at += (size_t)snprintf(made.list + at, sizeof made.list - at,
                               made.nulls[i] ? "%snull"
                               : quoted      ? "%s'%s'"
                                             : "%s%s",
                               i > 0 ? "," : "", made.texts[i]);
    }
    return (struct vdbq_vector){ column->type, &made.i32,
                                 nulls ? made.nulls : NULL };
}

static void compare(vdbq_query *query, const struct column *column,
                    const char *pattern, unsigned count, bool nulls)
{
    static char sql[sizeof made.list + 300];
    char by_array[64], by_list[64];
    struct vdbq_vector array = make(column, count, nulls);
    if (vdbq_bind_array(query, 1, count, &array) != VDBQ_OK)
        fail_msg("%s", vdbq_error(db)->message);
    memset(&made.i32, 0xee, sizeof made.text); /* it was copied */
    run(query, by_array);
    snprintf(sql, sizeof sql, pattern, column->name, made.list);
    ask_sql(sql, by_list);
    if (strcmp(by_array, by_list) != 0)
        fail_msg("%s in %u values of type %s%s: %s instead of %s", column->name,
                 count, vdbq_type_name(column->type), nulls ? " and NULLs" : "",
                 by_array, by_list);
}

/* Every column with arrays of several lengths, in one prepared query each. */
static void check_all(const char *pattern)
{
    static const unsigned counts[] = { 0, 1, 3, 70, VALUES_MAX };
    for (unsigned c = 0; c < COLUMNS; c++) {
        char sql[300];
        snprintf(sql, sizeof sql, pattern, columns[c].name, "?");
        vdbq_query *query = prepare(sql);
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
            /* a long list of anything else is an expression of its own */
            bool is_long = strchr("xfco", *columns[c].name) == NULL
                           && columns[c].type != VDBQ_DOUBLE;
            if (counts[i] > 100 && !is_long)
                continue;
            compare(query, &columns[c], pattern, counts[i], false);
            compare(query, &columns[c], pattern, counts[i], true);
        }
        vdbq_query_close(query);
    }
}

#define SUMS "select count(*) || ' ' || coalesce(sum(id), 0) from t where "

static void test_in(void **state)
{
    (void)state;
    check_all(SUMS "%s in (%s)");
}

static void test_not_in(void **state)
{
    (void)state;
    check_all(SUMS "%s not in (%s)");
}

/* A parameter of its own for each value of a list, or an item that is computed of
 * it. */
static vdbq_query *prepare_each(const struct column *column, const char *in,
                                const char *item, unsigned count)
{
    static char sql[VALUES_MAX * 8 + 300];
    size_t at =
        (size_t)snprintf(sql, sizeof sql, SUMS "%s %s (", column->name, in);
    for (unsigned i = 0; i < count; i++)
        at += (size_t)snprintf(sql + at, sizeof sql - at, "%s%s",
                               i > 0 ? "," : "", item);
    snprintf(sql + at, sizeof sql - at, ")");
    return prepare(sql);
}

static enum vdbq_status bind_one(vdbq_query *query, const struct column *column,
                                 unsigned i)
{
    if (made.nulls[i])
        return vdbq_bind_null(query, i + 1);
    if (column->type == VDBQ_TEXT)
        return vdbq_bind_text(query, i + 1, made.texts[i], -1);
    if (column->type == VDBQ_DOUBLE)
        return vdbq_bind_double(query, i + 1, made.f64[i]);
    return vdbq_bind_int64(query, i + 1, made.i64[i]);
}

/* The list of parameters beside that of the values; the query is run once more with
 * others. */
static void compare_each(const struct column *column, const char *in,
                         const char *item, unsigned count)
{
    static char sql[sizeof made.list + 300];
    vdbq_query *query = prepare_each(column, in, item, count);
    for (unsigned nulls = 0; nulls < 2; nulls++) {
        char by_each[64], by_list[64];
        memset(made.nulls, 0, sizeof made.nulls);
        make(column, count, nulls > 0);
        for (unsigned i = 0; i < count; i++)
            assert_int_equal(bind_one(query, column, i), VDBQ_OK);
        assert_int_equal(vdbq_query_run(query), VDBQ_OK);
        run(query, by_each);
        snprintf(sql, sizeof sql, SUMS "%s %s (%s)", column->name, in,
                 made.list);
        ask_sql(sql, by_list);
        assert_string_equal(by_each, by_list);
    }
    vdbq_query_close(query);
}

/* Whether a column is compared with values of that type as they are: else a long list
 * is too large for a program. */
static bool is_plain(const struct column *column)
{
    const char *plain = column->type == VDBQ_TEXT     ? "s"
                        : column->type == VDBQ_DOUBLE ? "xf"
                        : column->type == VDBQ_BIGINT ? "idb"
                                                      : "";
    return plain[0] != '\0' && strchr(plain, *column->name) != NULL;
}

static void test_each_a_parameter(void **state)
{
    static const unsigned counts[] = { 1, 17, 64, HOSTILE(90, 1500) };
    (void)state;
    for (unsigned c = 0; c < COLUMNS; c++) {
        const struct column *column = &columns[c];
        for (unsigned i = 0;
             is_plain(column) && i < sizeof counts / sizeof *counts; i++) {
            compare_each(column, "in", "?", counts[i]);
            compare_each(column, "not in", "?", counts[i]);
            if (column->type == VDBQ_TEXT)
                continue;
            compare_each(column, "in", "? + 0", counts[i]);
            compare_each(column, "not in", "+?", counts[i]);
        }
    }
}

static void test_beside_others(void **state)
{
    char answer[64];
    int32_t ids[] = { 5, 7 };
    struct vdbq_vector array = { VDBQ_INTEGER, ids, NULL };
    vdbq_query *query = prepare(SUMS "id in (1, ?2, ?1, ?2)");
    (void)state;
    assert_int_equal(vdbq_bind_int64(query, 1, 9), VDBQ_OK);
    assert_int_equal(vdbq_bind_array(query, 2, 2, &array), VDBQ_OK);
    run(query, answer);
    assert_string_equal(answer, "4 22");
    assert_int_equal(vdbq_bind_array(query, 2, 0, &array), VDBQ_OK);
    run(query, answer);
    assert_string_equal(answer, "2 10");
    assert_int_equal(vdbq_bind_int64(query, 2, 8), VDBQ_OK);
    run(query, answer);
    assert_string_equal(answer, "3 18");
    vdbq_bind_clear(query);
    run(query, answer);
    assert_string_equal(answer, "1 1");
    vdbq_query_close(query);
}

/* What changes rows, and what a transaction sees. */
static void test_changes(void **state)
{
    char answer[64];
    int64_t ids[] = { 1, 2, 3, ROWS };
    struct vdbq_vector array = { VDBQ_BIGINT, ids, NULL };
    vdbq_query *sums = prepare(SUMS "id in (?)");
    vdbq_query *delete = prepare("delete from t where id in (?)");
    (void)state;
    do_sql("begin");
    assert_int_equal(vdbq_bind_array(delete, 1, 2, &array), VDBQ_OK);
    assert_int_equal(vdbq_query_run(delete), VDBQ_OK);
    assert_int_equal(vdbq_bind_array(sums, 1, 4, &array), VDBQ_OK);
    run(sums, answer);
    assert_string_equal(answer, "1 3");
    do_sql("insert into t (id) values (1)");
    assert_int_equal(vdbq_query_run(sums), VDBQ_OK);
    run(sums, answer);
    assert_string_equal(answer, "2 4");
    do_sql("rollback");
    assert_int_equal(vdbq_query_run(sums), VDBQ_OK);
    run(sums, answer);
    assert_string_equal(answer, "3 6");
    vdbq_query_close(sums);
    vdbq_query_close(delete);
}

static void expect(enum vdbq_status status, enum vdbq_status wanted,
                   const char *message)
{
    assert_int_equal(status, wanted);
    assert_non_null(strstr(vdbq_error(db)->message, message));
}

static void test_refused(void **state)
{
    int64_t numbers[] = { 1, INT64_MAX };
    struct vdbq_text texts[] = { { "ok", 2 }, { "a\0b", 3 }, { "\xff", 1 } };
    uint8_t first[] = { 1, 0, 0 };
    vdbq_query *query = prepare(SUMS "id in (?) and s = ?2");
    (void)state;
    struct vdbq_vector array = { VDBQ_DECIMAL, numbers, NULL };
    expect(vdbq_bind_array(query, 1, 2, &array), VDBQ_TYPE, "DECIMAL");
    array.type = VDBQ_BIGINT;
    expect(vdbq_bind_array(query, 3, 2, &array), VDBQ_RANGE, "2 parameters");
    array.type = VDBQ_TIMESTAMP;
    expect(vdbq_bind_array(query, 1, 2, &array), VDBQ_RANGE, "value 2");
    array.type = VDBQ_BIGINT;
    assert_int_equal(vdbq_bind_array(query, 2, 1, &array), VDBQ_OK);
    expect(vdbq_query_run(query), VDBQ_TYPE, "parameter 2 has an array");
    assert_int_equal(vdbq_error(db)->line, 1);
    assert_int_equal(vdbq_bind_text(query, 2, "x", 1), VDBQ_OK);
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    array = (struct vdbq_vector){ VDBQ_TEXT, texts, NULL };
    expect(vdbq_bind_array(query, 1, 2, &array), VDBQ_RANGE, "value 2");
    expect(vdbq_bind_array(query, 1, 3, &array), VDBQ_RANGE, "value 2");
    array.values = texts + 1;
    array.nulls = first;
    expect(vdbq_bind_array(query, 1, 2, &array), VDBQ_RANGE, "value 2");
    assert_int_equal(vdbq_bind_array(query, 1, 1, &array), VDBQ_OK);
    expect(vdbq_bind_array(query, 1, 1, NULL), VDBQ_MISUSE, "");
    vdbq_query_close(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in),
        cmocka_unit_test(test_not_in),
        cmocka_unit_test(test_each_a_parameter),
        cmocka_unit_test(test_beside_others),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, open_table, close_table);
}
