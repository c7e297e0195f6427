/* SPDX-License-Identifier: MIT */
/*
 * Samples of tables, through the door: the same rows in the same order give the
 * same sample, whatever road they took; it is there again when the file is
 * opened; and what is wrong with it in the file costs the sample alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/session.h"
#include "cl/hash.h"
#include "data/catalogue/sample.h"
#include "data/file/file.h"
#include "data/tablet/block.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

enum { ROWS = 1500, LONG_ROW = 0 };

static vdbq *open_it(void)
{
    vdbq *db;

    assert_int_equal(vdbq_open(test_path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    return db;
}

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static void reopen(vdbq **db)
{
    vdbq_close(*db);
    *db = open_it();
}

/* ---------------------------------------------------------------- rows -- */

static const char columns[] =
    " (id integer, small smallint, big bigint, f float, d double, s text,"
    " flag boolean, money decimal(9,2), day date, moment timestamp)";

/* The letter e-acute so many times: two bytes each. */
static void put_long(struct text *sql, unsigned letters)
{
    for (unsigned i = 0; i < letters; i++)
        text_print(sql, "\xc3\xa9");
}

/* Values of a row; every sixth value is NULL. Row LONG_ROW, whose number has the
 * smallest hash of all, has a text that is cut within a character. */
static void put_row(struct text *sql, int i)
{
    text_print(sql, "(%d, ", i);
    text_print(sql, i % 6 == 1 ? "null, " : "%d, ", i % 300);
    text_print(sql, i % 6 == 2 ? "null, " : "%d, ", i * 1000003);
    text_print(sql, "%d.25, %s, 'x", i, i % 6 == 3 ? "null" : "0.1");
    if (i == LONG_ROW)
        put_long(sql, 500);
    text_print(sql, "%d', %s, %d.5, date '2020-01-%02d', ", i,
               i % 2 ? "true" : "null", i, i % 28 + 1);
    text_print(sql, "timestamp '2020-01-01 00:00:%02d')", i % 60);
}

/* Rows first .. end - 1. */
static void insert(vdbq *db, const char *table, int first, int end)
{
    struct text sql = { 0 };

    text_print(&sql, "insert into %s values ", table);
    for (int i = first; i < end; i++) {
        text_print(&sql, i > first ? ", " : "");
        put_row(&sql, i);
    }
    run(db, sql.bytes);
    text_finish(&sql);
}

static void create(vdbq *db, const char *table)
{
    struct text sql = { 0 };

    text_print(&sql, "create table %s%s", table, columns);
    run(db, sql.bytes);
    text_finish(&sql);
}

/* ------------------------------------------------------------- samples -- */

static void expect_equal(vdbq *db, const char *table, const char *expected)
{
    struct text text = print_sample(db->database, table);

    assert_string_equal(text.bytes, expected);
    text_finish(&text);
}

/* Of table t, with all rows in one INSERT; in a file of its own. */
static struct text expected_sample(int rows)
{
    struct text text;
    vdbq *db = open_it();

    create(db, "t");
    if (rows > 0)
        insert(db, "t", 0, rows);
    text = print_sample(db->database, "t");
    run(db, "drop table t");
    vdbq_close(db);
    return text;
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

/* What sample.h says, by sorting all numbers. */
static void smallest_hashes(void **state)
{
    uint64_t numbers[ROWS];
    struct snapshot snapshot;
    struct error error;
    const struct sample *sample;
    vdbq *db = open_it();

    (void)state;
    create(db, "t");
    insert(db, "t", 0, ROWS);
    for (uint64_t i = 0; i < ROWS; i++)
        numbers[i] = i;
    qsort(numbers, ROWS, sizeof *numbers, compare_hashes);
    qsort(numbers, SAMPLE_ROWS, sizeof *numbers, compare_numbers);
    assert_int_equal(snapshot_open(db->database, &snapshot, &error), VDBQ_OK);
    sample = catalogue_table(snapshot.catalogue, "t")->sample;
    assert_int_equal(sample->rows, SAMPLE_ROWS);
    assert_memory_equal(sample->numbers, numbers,
                        SAMPLE_ROWS * sizeof *numbers);
    for (uint32_t i = 0; i < SAMPLE_ROWS; i++)
        assert_int_equal(((const int32_t *)sample->columns[0].values)[i],
                         numbers[i]);
    snapshot_close(&snapshot);
    vdbq_close(db);
}

/* ---------------------------------------------------------------- roads -- */

static void take_statements(vdbq **db)
{
    create(*db, "t");
    for (int i = 0, next; i < ROWS; i = next) {
        next = i + 1 + i / 3;
        insert(*db, "t", i, next < ROWS ? next : ROWS);
    }
}

static void take_small_tablets(vdbq **db)
{
    assert_int_equal(vdbq_set(*db, "tablet_rows", "7"), VDBQ_OK);
    take_statements(db);
}

static void take_transactions(vdbq **db)
{
    create(*db, "t");
    insert(*db, "t", 0, 10);
    run(*db, "begin");
    insert(*db, "t", 700, 1000);
    run(*db, "rollback");
    run(*db, "begin");
    insert(*db, "t", 10, 400);
    assert_int_not_equal(
        vdbq_execute(*db, "insert into t (id) values (1), (cast('x' as date))"),
        VDBQ_OK);
    insert(*db, "t", 400, 401);
    run(*db, "commit");
    reopen(db);
    run(*db, "begin");
    insert(*db, "t", 401, ROWS);
    run(*db, "drop table t");
    run(*db, "rollback");
    insert(*db, "t", 401, ROWS);
}

static void take_queries(vdbq **db)
{
    create(*db, "a");
    insert(*db, "a", 0, ROWS);
    run(*db, "create table t as select * from a where id < 1000 order by id;"
             "insert into t select * from a where id >= 1000 order by id;"
             "drop table a");
}

static void take_append(vdbq **db)
{
    vdbq_query *query;
    vdbq_append *append;
    struct vdbq_batch batch = { .rows = 1 };

    create(*db, "a");
    create(*db, "t");
    insert(*db, "a", 0, ROWS);
    assert_int_equal(vdbq_append_open(*db, "t", &append), VDBQ_OK);
    assert_int_equal(
        vdbq_prepare(*db, "select * from a order by id", -1, &query, NULL),
        VDBQ_OK);
    while (batch.rows > 0) {
        assert_int_equal(vdbq_query_batch(query, &batch), VDBQ_OK);
        if (batch.rows > 0)
            assert_int_equal(vdbq_append_rows(append, batch.rows, batch.column),
                             VDBQ_OK);
    }
    vdbq_query_close(query);
    assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
    vdbq_append_close(append);
    run(*db, "drop table a");
}

/* Rows that are in the way go again, and others are changed to what they
 * should be. */
static void take_changes(vdbq **db)
{
    create(*db, "t");
    insert(*db, "t", 0, 600);
    insert(*db, "t", 100, 200);
    run(*db, "create table seen as select rowid as r from t;"
             "delete from t where rowid >= 600; drop table seen");
    run(*db, "update t set small = 0 where id < 10;"
             "update t set small = case when id % 6 <> 1 then id % 300 end "
             "where id < 10");
    insert(*db, "t", 600, ROWS);
}

static void same_by_every_road(void **state)
{
    static void (*const roads[])(vdbq **) = {
        take_statements, take_small_tablets, take_transactions,
        take_queries,    take_append,        take_changes,
    };
    struct text expected = expected_sample(ROWS);

    (void)state;
    for (unsigned i = 0; i < sizeof roads / sizeof *roads; i++) {
        vdbq *db = open_it();
        roads[i](&db);
        expect_equal(db, "t", expected.bytes);
        reopen(&db);
        expect_equal(db, "t", expected.bytes);
        run(db, "drop table t");
        vdbq_close(db);
    }
    text_finish(&expected);
}

/* Few rows are all in the sample, and none is. */
static void small_tables(void **state)
{
    struct text expected;
    vdbq *db = open_it();

    (void)state;
    create(db, "t");
    expect_equal(db, "t", "none");
    vdbq_close(db);
    remove(test_path);
    expected = expected_sample(5);
    db = open_it();
    create(db, "t");
    for (int i = 0; i < 5; i++) {
        insert(db, "t", i, i + 1);
        reopen(&db);
    }
    expect_equal(db, "t", expected.bytes);
    text_finish(&expected);
    run(db, "delete from t");
    expect_equal(db, "t", "none");
    reopen(&db);
    expect_equal(db, "t", "none");
    vdbq_close(db);
}

/* A text is cut behind a character. */
static void long_texts(void **state)
{
    struct snapshot snapshot;
    struct error error;
    struct vdbq_text text;
    const struct sample *sample;
    vdbq *db = open_it();

    (void)state;
    create(db, "t");
    insert(db, "t", 0, ROWS);
    reopen(&db);
    assert_int_equal(snapshot_open(db->database, &snapshot, &error), VDBQ_OK);
    sample = catalogue_table(snapshot.catalogue, "t")->sample;
    assert_int_equal(sample->numbers[0], LONG_ROW);
    text = ((const struct vdbq_text *)sample->columns[5].values)[0];
    assert_true(sample_cuts(text));
    assert_int_equal(text.length, SAMPLE_TEXT_MAX + 1);
    assert_memory_equal(text.bytes, "x\xc3\xa9\xc3\xa9", 5);
    text = ((const struct vdbq_text *)sample->columns[5].values)[1];
    assert_false(sample_cuts(text));
    snapshot_close(&snapshot);
    vdbq_close(db);
}

/* --------------------------------------------------------------- damage -- */

/* The bytes of the database file. */
static struct text read_file(void)
{
    struct text bytes = { 0 };
    char part[4096];
    size_t got;
    FILE *file = fopen(test_path, "rb");

    assert_non_null(file);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        text_add(&bytes, part, got);
    fclose(file);
    return bytes;
}

static void write_file(const struct text *bytes)
{
    FILE *file = fopen(test_path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes->bytes, 1, bytes->length, file),
                     bytes->length);
    fclose(file);
}

/* Where the block of the sample of table t is, and the list behind the
 * catalogue. */
struct places {
    uint64_t sample, sample_size, list;
};

static struct places find_places(void)
{
    struct places places;
    struct snapshot snapshot;
    struct error error;
    const struct file_head *head;
    struct text bytes;
    vdbq *db = open_it();

    assert_int_equal(snapshot_open(db->database, &snapshot, &error), VDBQ_OK);
    places.sample = catalogue_table(snapshot.catalogue, "t")->sample->offset;
    places.sample_size =
        catalogue_table(snapshot.catalogue, "t")->sample->size_bytes;
    snapshot_close(&snapshot);
    vdbq_close(db);
    bytes = read_file();
    head = (const struct file_head *)(const void *)bytes.bytes;
    if (head[0].generation
        < ((const struct file_head *)(const void *)(bytes.bytes + PAGE_BYTES))
              ->generation)
        head =
            (const struct file_head *)(const void *)(bytes.bytes + PAGE_BYTES);
    places.list = head->catalogue + (head->catalogue_size + 7) / 8 * 8;
    text_finish(&bytes);
    return places;
}

static void expect_rows(vdbq *db, const char *sql, const char *count)
{
    vdbq_query *query;

    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_string_equal(vdbq_query_text(query, 0), count);
    vdbq_query_close(query);
}

/* The table is read, has no sample before it is written anew, and rows that
 * are added make none. */
static void expect_lost(const char *sample)
{
    vdbq *db = open_it();

    expect_equal(db, "t", "none");
    expect_rows(db, "select count(*) from t where s like 'x%'", "1500");
    run(db, "insert into t (id) values (-1)");
    expect_equal(db, "t", "none");
    run(db, "delete from t where id = -1");
    expect_equal(db, "t", sample);
    reopen(&db);
    expect_equal(db, "t", sample);
    vdbq_close(db);
}

static void damage_costs_the_sample(void **state)
{
    struct text expected, whole;
    struct places places;
    vdbq *db;

    (void)state;
    expected = expected_sample(ROWS);
    db = open_it();
    create(db, "t");
    insert(db, "t", 0, ROWS);
    vdbq_close(db);
    places = find_places();
    whole = read_file();
    for (uint64_t at = 0; at < places.sample_size; at += 397) {
        whole.bytes[places.sample + at] ^= 1;
        write_file(&whole);
        whole.bytes[places.sample + at] ^= 1;
        expect_lost(expected.bytes);
    }
    for (uint64_t at = 0; at < 32; at++) {
        whole.bytes[places.list + at] ^= 1;
        write_file(&whole);
        whole.bytes[places.list + at] ^= 1;
        expect_lost(expected.bytes);
    }
    write_file(&whole);
    db = open_it();
    expect_equal(db, "t", expected.bytes);
    vdbq_close(db);
    text_finish(&whole);
    text_finish(&expected);
}

/* Gives a changed block and the list checksums that are right. */
static void seal(struct text *bytes, const struct places *places)
{
    uint64_t *list = (uint64_t *)(void *)(bytes->bytes + places->list);

    list[2] = block_checksum(bytes->bytes + places->sample,
                             (size_t)places->sample_size);
    list[3] = block_checksum(list, 24);
}

/* Whole blocks that no table with such facts can have as its sample, or that
 * may be believed: rows stay what they are, whatever is said. */
static void lies_change_no_rows(void **state)
{
    struct text whole;
    struct places places;
    unsigned believed = 0, refused = 0;
    vdbq *db = open_it();

    (void)state;
    create(db, "t");
    insert(db, "t", 0, ROWS);
    vdbq_close(db);
    places = find_places();
    whole = read_file();
    for (uint64_t at = 0; at < places.sample_size; at += 13) {
        struct text sample;
        char before = whole.bytes[places.sample + at];
        whole.bytes[places.sample + at] =
            (char)(at % 3 == 0 ? 0xff : before + 1);
        seal(&whole, &places);
        write_file(&whole);
        whole.bytes[places.sample + at] = before;
        db = open_it();
        sample = print_sample(db->database, "t");
        believed += strcmp(sample.bytes, "none") != 0;
        refused += strcmp(sample.bytes, "none") == 0;
        text_finish(&sample);
        expect_rows(db,
                    "select count(*) from t where s like 'x%' and "
                    "extract(day from day) < 40 and small * big < 1e18 "
                    "or id >= 0",
                    "1500");
        vdbq_close(db);
    }
    assert_true(believed > 10 && refused > 10);
    text_finish(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(smallest_hashes, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(same_by_every_road, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(small_tables, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(long_texts, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(damage_costs_the_sample, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(lies_change_no_rows, make_folder,
                                        remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
