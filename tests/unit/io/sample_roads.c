/* SPDX-License-Identifier: MIT */
/*
 * The sample of a table of several tablets follows from its rows and their order
 * alone: by every road on which rows come, on as many threads and into as large
 * tablets as there may be, it is what sample.h says.
 */
#include "io/import/import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/session.h"
#include "cl/hash.h"
#include "data/database/database_inner.h"
#include "data/catalogue/sample.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

/* Two tablets that threads build, rows behind them, and a CSV file that is
 * read in several parts. */
enum { ROWS = 140000, CSV_BYTES_MIN = 3 << 20 };

static const char columns[] = "id integer, k smallint, x double, s text";
static const char types[] = "integer,smallint,double,text";

/* What a sample must not depend on. */
static const struct circumstance {
    unsigned threads;
    const char *tablet_rows;
} circumstances[] = {
    { 1, "0" }, { 1, "777" }, { 2, "65536" }, { 3, "65536" }, { 3, "777" },
};

static char csv_path[sizeof test_path + 8];

/* ----------------------------------------------------------------- rows -- */

static bool has_k(int id)
{
    return id % 6 != 1;
}

static double x_of(int id)
{
    return id * 0.25;
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = hash_number(*(const uint64_t *)a);
    uint64_t right = hash_number(*(const uint64_t *)b);

    return left < right ? -1 : left > right;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

static void print_row(struct text *text, int id)
{
    double x = x_of(id);
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    text_print(text, "%d: %x ", id, (unsigned)id);
    text_print(text, has_k(id) ? "%x" : "NULL", (unsigned)id % 300);
    text_print(text, " %" PRIx64 " 'x%d'\n", bits, id);
}

/* What sample.h says, by sorting all numbers. */
static struct text expected_sample(void)
{
    uint64_t *numbers = calloc(ROWS, sizeof *numbers);
    struct text text = { 0 };

    assert_non_null(numbers);
    for (uint64_t i = 0; i < ROWS; i++)
        numbers[i] = i;
    qsort(numbers, ROWS, sizeof *numbers, compare_hashes);
    qsort(numbers, SAMPLE_ROWS, sizeof *numbers, compare_numbers);
    for (unsigned i = 0; i < SAMPLE_ROWS; i++)
        print_row(&text, (int)numbers[i]);
    free(numbers);
    return text;
}

static void write_csv(void)
{
    FILE *file = fopen(csv_path, "w");

    assert_non_null(file);
    fprintf(file, "id,k,x,s\n");
    for (int id = 0; id < ROWS; id++) {
        fprintf(file, "%d,", id);
        if (has_k(id))
            fprintf(file, "%d", id % 300);
        fprintf(file, ",%.10f,x%d\n", x_of(id), id);
    }
    assert_true(ftell(file) > CSV_BYTES_MIN);
    assert_int_equal(fclose(file), 0);
}

/* ---------------------------------------------------------------- roads -- */

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* `made_of`: the types of a table that is made; NULL: it is there. */
static void import(vdbq *db, const struct circumstance *in, const char *table,
                   const char *made_of)
{
    struct import_report report;
    const struct import_params params = {
        .db = db,
        .file = csv_path,
        .table = table,
        .dialect = { .delimiter = ',', .quote = '"' },
        .header = 1,
        .types = made_of,
        .threads = in->threads,
    };

    if (import_csv(&params, &report) != VDBQ_OK)
        fail_msg("%s: %s", table, report.message);
    assert_int_equal(report.rows, ROWS);
}

/* vdbq_file_reader: the file stays the same, so it is read once. */
static enum vdbq_status read_file(void *context, vdbq *files, const char *name)
{
    assert_string_equal(name, csv_path);
    if (vdbq_tables(files) == 0)
        import(files, context, name, types);
    return VDBQ_OK;
}

/* Rows that come one batch after another. */
static void append(vdbq *db, const char *table)
{
    enum { BATCH = 30000 };
    static int32_t ids[BATCH], ks[BATCH];
    static uint8_t nulls[BATCH];
    static double xs[BATCH];
    static char bytes[BATCH][8];
    static struct vdbq_text texts[BATCH];
    const struct vdbq_vector vectors[] = { { VDBQ_INTEGER, ids, NULL },
                                           { VDBQ_SMALLINT, ks, nulls },
                                           { VDBQ_DOUBLE, xs, NULL },
                                           { VDBQ_TEXT, texts, NULL } };
    vdbq_append *append;

    assert_int_equal(vdbq_append_open(db, table, &append), VDBQ_OK);
    for (int id = 0; id < ROWS;) {
        unsigned count = 0;
        for (; count < BATCH && id < ROWS; count++, id++) {
            ids[count] = id;
            ks[count] = id % 300;
            nulls[count] = !has_k(id);
            xs[count] = x_of(id);
            texts[count].bytes = bytes[count];
            texts[count].length =
                (size_t)snprintf(bytes[count], sizeof *bytes, "x%d", id);
        }
        assert_int_equal(vdbq_append_rows(append, count, vectors), VDBQ_OK);
    }
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    vdbq_append_close(append);
}

/* SQL that fills table t from `source`, or from the file, which is %s. */
static const char *const roads[] = {
    "insert into t select * from source order by id",
    "insert into t select * from source where id < 70001 order by id;"
    "insert into t select * from source where id >= 70001 order by id",
    "insert into t select * from '%s'",
    "drop table t; create table t as select * from source order by id",
    "drop table t; create table t as select * from '%s'",
    "drop table t; create table t as select * from source order by id desc;"
    "insert into t select * from t order by id;"
    "delete from t where rowid < 140000",
    "drop table t; create table t as select case when b = 1 then -1 else id end"
    " as id, k, x, s from source, (values (0), (1)) as v (b) order by"
    " source.id, b; delete from t where id = -1",
    "insert into t select * from source order by id;"
    "begin; delete from t; rollback",
    "insert into t select * from source order by id;"
    "update t set k = null, s = 'none' where id % 3 = 0;"
    "update t set s = 'x' || id, k = case when id % 6 <> 1 then id % 300 end"
    " where id % 3 = 0",
    "insert into t select id, 0, 0, 'none' from source order by id;"
    "update t set k = case when id % 6 <> 1 then id % 300 end, x = id * 0.25,"
    " s = 'x' || id",
};

/* ---------------------------------------------------------------- tests -- */

/* Tablets are written on as many threads as the circumstance says. */
static vdbq *open_it(const struct circumstance *in)
{
    static struct settings writing;
    vdbq *db;

    assert_int_equal(
        vdbq_open(test_path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db),
        VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "tablet_rows", in->tablet_rows), VDBQ_OK);
    vdbq_on_file(db, read_file, (void *)(uintptr_t)in);
    writing = db->options.settings;
    writing.cores = in->threads;
    db->database->file.settings = &writing;
    return db;
}

static void expect(struct database *database, const char *table,
                   const char *road, const struct circumstance *in,
                   const char *expected)
{
    struct text text = print_sample(database, table);

    if (strcmp(text.bytes, expected) != 0)
        fail_msg("%s\non %u threads, tablets of %s:\n%s", road, in->threads,
                 in->tablet_rows, text.bytes);
    text_finish(&text);
}

static void create(vdbq *db, const char *table)
{
    char sql[200];

    snprintf(sql, sizeof sql, "create table %s (%s)", table, columns);
    run(db, sql);
}

static void take_road(vdbq *db, const char *road)
{
    char sql[1000];

    create(db, "t");
    snprintf(sql, sizeof sql, "%s", road);
    if (strstr(road, "'%s'") != NULL)
        snprintf(sql, sizeof sql, "%.*s%s%s", (int)(strchr(road, '%') - road),
                 road, csv_path, strchr(road, '%') + 2);
    run(db, sql);
}

/* Those that are no statements: the API, and CSV into a table that is there,
 * and that is not. */
static void take_other_roads(vdbq *db, const struct circumstance *in,
                             const char *expected)
{
    create(db, "source");
    append(db, "source");
    expect(db->database, "source", "append", in, expected);
    create(db, "t");
    import(db, in, "t", NULL);
    expect(db->database, "t", "import", in, expected);
    run(db, "drop table t");
    import(db, in, "t", types);
    expect(db->database, "t", "import of a table", in, expected);
    run(db, "drop table t");
}

static void the_rows_alone_tell(void **state)
{
    struct text expected = expected_sample();

    (void)state;
    snprintf(csv_path, sizeof csv_path, "%s.csv", test_path);
    write_csv();
    for (size_t i = 0; i < sizeof circumstances / sizeof *circumstances; i++) {
        const struct circumstance *in = &circumstances[i];
        vdbq *db = open_it(in);
        take_other_roads(db, in, expected.bytes);
        for (size_t r = 0; r < sizeof roads / sizeof *roads; r++) {
            take_road(db, roads[r]);
            expect(db->database, "t", roads[r], in, expected.bytes);
            run(db, "drop table t");
        }
        expect(db->files->database, csv_path, "FROM a file", in,
               expected.bytes);
        vdbq_close(db);
        unlink(test_path);
    }
    text_finish(&expected);
    unlink(csv_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_rows_alone_tell, make_folder,
                                        remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
