/* SPDX-License-Identifier: MIT */
/*
 * The doors: SQL text, program text and CSV that were damaged at random. Any
 * answer is right but a crash, a sanitizer's report, or a database that lost
 * what it had committed. (The file's door is tests/unit/data/corrupt.c.) A run hangs on
 * one printed seed; VDBQ_TEST_SEED repeats it, VDBQ_TEST_ROUNDS lengthens it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "api/vdbq.h"
#include "io/import/import.h"
#include "fixtures/chance.h"

enum { TEXT_MAX = 4096 };

static uint64_t state;
static unsigned rounds = 4000 / FEWER;

static unsigned next_random(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state * 0x2545f4914f6cdd1dull) >> 33) % below;
}

static const char *const statements[] = {
    "select id, a + b * -2, f / 0.5 as x from t where a > 1 and b < 9 or f = 1",
    "select * from t where not (a is null or b between 1 and 5)",
    "select cast(a as double), cast(d as integer), a % 3, -b from t as u",
    "insert into t values (100, 1, 2, 0.5, 1e10, 'a', null, true), "
    "(101, -1, null, .5, -0.0, '', date '2024-02-29', null)",
    "insert into t (id, b) values (7, 9223372036854775807)",
    "create table if not exists u (a bigint primary key, \"b c\" float)",
    "drop table if exists u",
    "explain analyze select 1 + 2 where 3 > 2; -- comment\n /* more */",
    "select upper(s) || 'x', length(s), s like '_%', substr(s, 2, 3) from t "
    "where s >= 'b' or s in ('', 'it''s') order by s desc limit 2",
    "select s, count(*), max(e), min(s) from t group by s having count(*) > 0",
    "select cast(s as integer), cast(a as text), e + 1, c from t where c",
    "select x.s, y.e from t x left join t y on x.s = y.s and x.a < y.b",
    "select t.a, t.* , 0x10 , 'text', [a], `b` from t where a <> b",
    "select x.id, y.s from t x join t y on x.id = y.a and x.b < y.b full join "
    "t z using (id, c) natural left join t as w",
    "select count(*) from t x, t y, t z where x.a + y.b * z.a < z.d and x.c",
    "select * from t x left join t y on x.a between y.id - 1 and y.id + 2 and "
    "abs(x.f - y.f) < 1 right join (select a from t limit 2) q on q.a = x.id",
    "select a in (select id from t) from t x where exists (select 1 from t y "
    "where y.a = x.id) and (a, b) not in (select id, b from t) or e = 1",
};

static const char *const programs[] = {
    "Table 0 0 0 0 \"t\"\nResultColumn 1 0 0 0 \"id\"\n"
    "ResultColumn 2 1 7 0 \"b\"\nParallel 0 0 15 0\nColumn.I32 0 0 0 0\n"
    "Integer.I32 1 5 0 0\nLe.I32 0 1 13 0\nColumnNull 7 1 0 0\n"
    "Or.I32 7 7 11 1\nInvalid 0 0 0 0\nNot.I32 7 0 13 0\nRowid.I32 5 0 0 0\n"
    "Column.I64 6 1 0 0\nResult 5 2 0 0\nConverge 0 0 0 0\nFinish 0 0 0 0\n",
    "ResultColumn 4 0 0 0 \"x\"\nParallel 0 0 8 0\nFloat.F64 1 0.5 0 0\n"
    "Integer.I64 2 -7 0 0\nCast.F64_I64 4 2 3 0\nMul.F64 0 1 3 0\n"
    "Result 0 1 0 0\nConverge 0 0 0 0\nFinish 0 0 0 0\n",
    "Table 0 0 0 0 \"t\"\nResultColumn 2 0 0 0 \"s\"\nParallel 0 0 9 0\n"
    "Column.I64 1 1 0 0\nInteger.I64 2 9223372036854775807 0 0\n"
    "AddChecked.I64 3 1 2 0\nDivChecked.I64 0 3 2 0\nResult 0 1 0 0\n"
    "Converge 0 0 0 0\nFinish 0 0 0 0\n",
    /* Three axes. */
    "Table 0 0 0 0 \"t\"\nTable 0 0 1 0 \"t\"\nTable 0 0 2 0 \"t\"\n"
    "ResultColumn 1 0 0 0 \"id\"\nResultColumn 4 1 4 0 \"d\"\n"
    "Parallel 0 0 15 0\nColumn.I32 0 0 0 0\nRowid.I32 1 0 1 0\n"
    "Lt.I32 0 1 13 0\nRowid.I32 2 0 2 0\nColumn.F64 3 3 2 0\n"
    "ColumnNull 4 3 2 0\nNeq.I32 2 1 13 0\nResult 2 2 0 0\n"
    "Converge 0 0 0 0\nFinish 0 0 0 0\n",
    /* An axis, and two tables that are probed. */
    "Table 0 0 0 0 \"t\"\nTable 0 0 1 0 \"t\"\nTable 0 0 2 0 \"t\"\n"
    "ResultColumn 2 1 4 0 \"b\"\nResultColumn 1 0 0 0 \"s\"\n"
    "Parallel 0 0 16 0\nColumn.I32 0 0 0 0\nProbe.I32 1 0 1 0\n"
    "Rowid.I32 6 0 0 0\nProbe.I32 7 6 2 0\nLt.I32 1 7 14 0\n"
    "ColumnAt.I64 2 2 1 1\nColumnAt.WORD 3 5 2 7\nColumnAtNull 4 2 1 1\n"
    "Result 2 2 0 0\nConverge 0 0 0 0\nFinish 0 0 0 0\n",
};

static const char *const files[] = {
    "id,a,b,f,d\n200,1,2,0.5,1e3\n201,,3,1.5,\r\n202,\"4\",5,-.5,inf\n",
    "200,1,2,0.5,1e3,x,2024-02-29,true\n201,-1,3,1.5,7,\"a\"\"\",,0\n",
    "id,s,e,c\n200,\"a \"\"b\"\"\",2024-02-29,true\n201,\"\",1-1-1 10:00,f\n",
    "n,s,e,c\n20,\"a \"\"b\"\"\",2024-02-29,true\n21,\"\",1-1-1 10:00,false\n",
    "x;y\n1;2.5\n\"3\";\"-4\"\n",
    "\"id\",\"a \"\"b\"\"\"\n1,2\n\n3,4",
};

static const char *const scraps[] = { "(",         ")",
                                      "'",         "\"",
                                      ",",         ";",
                                      "--",        "/*",
                                      "null",      "9223372036854775808",
                                      "1e999",     "0",
                                      "-",         "*",
                                      "select",    "from",
                                      "\n",        "4294967296",
                                      "65536",     "1024",
                                      "99",        "-1",
                                      "\xff",      "cast(",
                                      "not",       "\"\"",
                                      "\r\n",      "nan",
                                      ".",         "''",
                                      "\xc3\xa4",  "\xf0\x9d\x84\x9e",
                                      "%",         "||",
                                      "2024-02-29" };
enum { SCRAPS = sizeof scraps / sizeof *scraps };

/* Replaces a random part of the text. */
static void damage_once(char *text)
{
    size_t length = strlen(text), at = next_random((unsigned)length + 1);
    size_t cut = next_random(4) ? 0 : next_random(12);
    const char *scrap = next_random(3) ? scraps[next_random(SCRAPS)] : "";
    char rest[TEXT_MAX];
    if (next_random(3) == 0) { /* another digit, if one is near */
        at += strcspn(text + at, "0123456789");
        if (text[at] != '\0')
            text[at] = (char)('0' + next_random(10));
        return;
    }
    if (next_random(4) == 0 && length > 0) {
        text[at % length] = (char)(1 + next_random(255));
        return;
    }
    cut = at + cut > length ? length - at : cut;
    snprintf(rest, sizeof rest, "%s", text + at + cut);
    snprintf(text + at, TEXT_MAX - at, "%s%s", scrap, rest);
}

static void damage(const char *from, char text[TEXT_MAX])
{
    snprintf(text, TEXT_MAX, "%s", from);
    for (unsigned times = next_random(4); times > 0; times--)
        damage_once(text);
}

static vdbq *open_table(void)
{
    vdbq *db;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(
        vdbq_execute(db, "create table t (id integer primary key, a integer, "
                         "b bigint, f float, d double, s text, e date, "
                         "c boolean);"
                         "insert into t values "
                         "(1, 5, 50, 0.5, 1e9, 'one', date '2024-02-29', true),"
                         "(2, null, -5, 1.5, null, '', null, false), "
                         "(3, 9, null, null, 0, null, date '1-1-1', null)"),
        VDBQ_OK);
    return db;
}

/* The rows with which every table starts are there, and as they were. */
static void check_table(vdbq *db)
{
    vdbq_query *query;
    int ids = 0;
    if (vdbq_prepare(db, "select id, a from t where id <= 3 and id >= 1", -1,
                     &query, NULL)
        != VDBQ_OK)
        return; /* the table was dropped by a statement that said so */
    while (vdbq_query_row(query) == VDBQ_ROW)
        ids = ids * 10 + (int)vdbq_query_int64(query, 0);
    vdbq_query_close(query);
    assert_int_equal(ids, 123);
}

static void test_sql(void **unused)
{
    (void)unused;
    vdbq *db = open_table();
    char text[TEXT_MAX];
    for (unsigned i = 0; i < rounds; i++) {
        damage(statements[next_random(sizeof statements / sizeof *statements)],
               text);
        enum vdbq_status status = vdbq_execute(db, text);
        assert_int_equal(vdbq_error(db)->status, status);
        assert_true(status == VDBQ_OK || vdbq_error(db)->message[0] != '\0');
        check_table(db);
    }
    vdbq_close(db);
}

static void test_programs(void **unused)
{
    (void)unused;
    vdbq *db = open_table();
    char text[TEXT_MAX];
    unsigned ran = 0;
    for (unsigned i = 0; i < rounds; i++) {
        vdbq_query *query;
        damage(programs[next_random(sizeof programs / sizeof *programs)], text);
        if (vdbq_prepare_program(db, text, &query) == VDBQ_OK) {
            while (vdbq_query_row(query) == VDBQ_ROW)
                vdbq_query_text(query, 0);
            vdbq_query_close(query);
            ran++;
        }
        check_table(db);
    }
    assert_true(ran > rounds / 10 && ran < rounds);
    vdbq_close(db);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_csv(void **unused)
{
    static const struct csv_dialect dialects[] = {
        { 0 }, { ';', 0, 0 }, { 0, CSV_UNQUOTED, 0 }, { ',', '\'', '\\' }
    };
    (void)unused;
    char path[] = "/tmp/vdbq-doors-XXXXXX", text[TEXT_MAX];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    vdbq *db = open_table();
    for (unsigned i = 0; i < rounds / 4; i++) {
        struct import_report report;
        damage(files[next_random(sizeof files / sizeof *files)], text);
        write_file(path, text);
        struct import_params params = { .db = db,
                                        .file = path,
                                        .table = next_random(2) ? "t" : "v",
                                        .header = (int)next_random(3) - 1,
                                        .dialect = dialects[next_random(4)],
                                        .threads = 1 + next_random(2) };
        enum vdbq_status status = import_csv(&params, &report);
        assert_int_equal(status, report.status);
        assert_true(status == VDBQ_OK || report.message[0] != '\0');
        check_table(db);
        vdbq_execute(db, "drop table if exists v");
    }
    vdbq_close(db);
    unlink(path);
}

struct cutting {
    const char *path;
    off_t size;  /* that is left of the file            */
    uint64_t at; /* how much of it has been read by then */
};

/* Cuts the file while it is being read. */
static bool cut(void *context, const struct import_progress *progress)
{
    const struct cutting *cutting = context;
    if (progress->done >= cutting->at)
        assert_int_equal(truncate(cutting->path, cutting->size), 0);
    return true;
}

/* A file that is cut while it is read is an error, at whatever moment. */
static void test_cut(void **unused)
{
    enum { LINES = 700000, LINE = 13, BYTES = LINES * LINE };
    (void)unused;
    char path[] = "/tmp/vdbq-doors-XXXXXX", *text = malloc(BYTES + 1);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && text);
    close(fd);
    for (int i = 0; i < LINES; i++)
        sprintf(text + (size_t)i * LINE, "%06d,abc,1\n", i);
    vdbq *db = open_table();
    for (unsigned i = 0; i < 8; i++) {
        struct import_report report;
        const off_t sizes[] = { 0, 5000, BYTES - 1 };
        struct cutting cutting = { path, sizes[i % 3],
                                   (uint64_t)i * BYTES / 10 };
        write_file(path, text);
        struct import_params params = { .db = db,
                                        .file = path,
                                        .table = "v",
                                        .header = -1,
                                        .threads = 1 + i % 4,
                                        .progress = cut,
                                        .context = &cutting };
        assert_int_equal(import_csv(&params, &report), VDBQ_IO);
        assert_non_null(strstr(report.message, "cut the file"));
        assert_int_equal(vdbq_execute(db, "select * from v"), VDBQ_UNKNOWN);
        check_table(db);
    }
    vdbq_close(db);
    unlink(path);
    free(text);
}

int main(void)
{
    const char *seed = getenv("VDBQ_TEST_SEED");
    const char *length = getenv("VDBQ_TEST_ROUNDS");
    state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) * 2 + 1;
    rounds = length ? (unsigned)strtoul(length, NULL, 10) : rounds;
    print_message("VDBQ_TEST_SEED=%llu\n", (unsigned long long)state);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sql),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
