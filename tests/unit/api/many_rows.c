/* SPDX-License-Identifier: MIT */
/*
 * More than 2^32 rows: tablets of sequences and constants store nothing, so
 * that a table of 4,296,015,872 rows is a file of 17 MB, written here tablet
 * by tablet. Counts, sums, row numbers, LIMIT and OFFSET are those of 64 bits;
 * what would need memory for all rows says that there is not enough.
 *
 *     id  0, 1, 2 ...           k  the tablet's number, from 0    d  0.5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/memory.h"
#include "data/tablet/block.h"
#include "data/database/database_inner.h"
#include "data/catalogue/facts.h"
#include "data/transaction/transaction_inner.h"
#include "exec/rows/row_set.h"

enum { TABLETS = 4097, COLUMNS = 3 };
#define ROWS_EACH ((uint64_t)TABLET_ROWS_MAX)
#define ROWS      (TABLETS * ROWS_EACH)

static char folder[64], path[96];
static vdbq *db;

/* ---------------------------------------------------------- the table -- */

/* What differs between tablets: integers that begin somewhere. */
static void set_column(struct tablet_column *column, struct column_facts *facts,
                       int64_t first, int64_t last)
{
    column->base = column->minimum = facts->minimum = first;
    column->maximum = facts->maximum = last;
}

/* The first tablet, as rows give it. */
static struct block first_tablet(const struct table *table,
                                 struct column_facts *facts)
{
    static int64_t id[TABLET_ROWS_MAX];
    static int32_t k[TABLET_ROWS_MAX];
    static double d[TABLET_ROWS_MAX];
    const struct vdbq_vector vectors[COLUMNS] = {
        { .type = VDBQ_BIGINT, .values = id },
        { .type = VDBQ_INTEGER, .values = k },
        { .type = VDBQ_DOUBLE, .values = d }
    };
    const struct tablet_source source = { .table = table,
                                          .rows = TABLET_ROWS_MAX,
                                          .vectors = vectors };
    struct tablet_column columns[COLUMNS];
    for (int64_t i = 0; i < TABLET_ROWS_MAX; i++) {
        id[i] = i;
        d[i] = 0.5;
    }
    struct block block = block_create(tablet_describe(&source, columns, facts));
    assert_non_null(block.bytes);
    assert_int_equal(columns[0].encoding, ENCODING_SEQUENCE);
    assert_int_equal(columns[1].encoding, ENCODING_CONSTANT);
    tablet_build(&source, columns, block.bytes);
    return block;
}

/* Writes the tablet of that number, which is the first one but for its
 * place. */
static void write_tablet(struct writer *writer, const struct block *like,
                         struct tablet_ref *ref, int64_t number)
{
    struct block block = block_create(like->size);
    struct tablet_column *columns =
        (void *)((char *)block.bytes + sizeof(struct tablet));
    int64_t first = number * TABLET_ROWS_MAX;
    struct error error;
    memcpy(block.bytes, like->bytes, like->size);
    set_column(&columns[0], &ref->facts[0], first, first + TABLET_ROWS_MAX - 1);
    set_column(&columns[1], &ref->facts[1], number, number);
    ref->rows = TABLET_ROWS_MAX;
    ref->offset = space_take(&writer->space, page_round(block.size));
    ref->size_bytes = block.size;
    ref->checksum = block_checksum(block.bytes, block.size);
    ref->identity = identity_give(&writer->identities);
    assert_int_equal(
        file_write_block(&writer->database->file, &block, ref->offset, &error),
        VDBQ_OK);
    block_destroy(&block);
}

/* Writes all tablets, and gives them to the table. */
static void write_tablets(struct transaction *transaction,
                          const struct table *table)
{
    static struct column_facts facts[TABLETS][COLUMNS];
    static struct tablet_ref refs[TABLETS];
    struct block block = first_tablet(table, facts[0]);
    for (int64_t i = 0; i < TABLETS; i++) {
        memcpy(facts[i], facts[0], sizeof facts[i]);
        refs[i].facts = facts[i];
        write_tablet(&transaction->writer, &block, &refs[i], i);
    }
    block_destroy(&block);
    struct catalogue *next = transaction_next(transaction, 0);
    assert_non_null(next);
    assert_true(catalogue_extend(next, table->id, 0, refs, TABLETS));
    transaction_take(transaction, next);
}

static void make_table(void)
{
    const struct column columns[COLUMNS] = {
        { .name = "id", .type = VDBQ_BIGINT },
        { .name = "k", .type = VDBQ_INTEGER },
        { .name = "d", .type = VDBQ_DOUBLE }
    };
    const struct settings settings = settings_default();
    const struct database_params params = { .path = path,
                                            .flags = VDBQ_OPEN_CREATE,
                                            .files = &os_files,
                                            .settings = &settings };
    struct database *database;
    struct transaction *transaction;
    struct error error;
    assert_int_equal(database_open(&params, &database, &error), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, &error),
                     VDBQ_OK);
    assert_int_equal(transaction_create_table(transaction, "t", columns,
                                              COLUMNS, NO_KEY, &error),
                     VDBQ_OK);
    const struct catalogue *made = transaction_catalogue(transaction);
    write_tablets(transaction, &made->tables[made->table_count - 1]);
    assert_int_equal(transaction_commit(transaction, &error), VDBQ_OK);
    database_close(database);
}

static int start(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/vdbq-many-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/many.vdb", folder);
    make_table();
    return vdbq_open(path, 0, &db) == VDBQ_OK
                   && vdbq_set(db, "device", "host") == VDBQ_OK
               ? 0
               : -1;
}

static int end(void **state)
{
    (void)state;
    vdbq_close(db);
    unlink(path);
    return rmdir(folder);
}

/* ------------------------------------------------------------- queries -- */

/* All rows of a query as text: values with a comma between, rows with a
 * semicolon. */
static void expect(const char *sql, const char *text)
{
    char got[256] = "";
    vdbq_query *query;
    if (vdbq_prepare(db, sql, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    while (vdbq_query_row(query) == VDBQ_ROW)
        for (unsigned i = 0, count = vdbq_query_columns(query); i < count; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s",
                     vdbq_query_text(query, i), i + 1 < count ? "," : ";");
    assert_int_equal(vdbq_error(db)->status, VDBQ_OK);
    assert_string_equal(got, text);
    vdbq_query_close(query);
}

static void test_rows_behind(void **state)
{
    (void)state;
    expect("select id, k from t where id > 4294967294 and id < 4294967298",
           "4294967295,4095;4294967296,4096;4294967297,4096;");
    expect("select rowid from t where id = 4294967297", "4294967297;");
    expect("select id from t where rowid = 4296015871", "4296015871;");
    expect("select id from t where id in (4294967296, 3, 4296015871, 1e10)",
           "3;4294967296;4296015871;");
    expect("select id from t where k = 4096 limit 2 offset 1048574",
           "4296015870;4296015871;");
    expect("select count(*), sum(id), min(id), max(rowid) from t "
           "where id >= 4294967296",
           "1048576,4504149382660096,4294967296,4296015871;");
}

static void test_steps_behind(void **state)
{
    (void)state;
    expect("select id from t where k >= 4096 order by id desc limit 2",
           "4296015871;4296015870;");
    expect("select id, row_number() over (order by id desc) from t "
           "where id > 4296015869",
           "4296015870,2;4296015871,1;");
    expect("select a.id, b.id from t a join t b on a.id = b.id + 4294967296 "
           "where b.id < 3 and a.id >= 4294967296",
           "4294967296,0;4294967297,1;4294967298,2;");
    expect("select id % 2, count(*), max(id) from t where id >= 4294967296 "
           "group by 1",
           "0,524288,4296015870;1,524288,4296015871;");
}

static void test_counts(void **state)
{
    (void)state;
    expect("select count(*) from t", "4296015872;");
    expect("select sum(cast(k as bigint)) from t", "8798240505856;");
}

static void test_limit(void **state)
{
    (void)state;
    expect("select id from t limit 2 offset 4294967300",
           "4294967300;4294967301;");
    expect("select count(*), max(id) from "
           "(select id from t limit 4294967300)",
           "4294967300,4294967299;");
}

/* Rows that a step holds have numbers of 32 bits. */
static void test_held_rows(void **state)
{
    (void)state;
    struct row_set held = { 0 };
    struct error error;
    assert_int_equal(row_set_room(&held, UINT64_C(1) << 32, &error),
                     VDBQ_LIMIT);
    held.rows = UINT64_C(0xffffff00);
    assert_int_equal(row_set_room(&held, UINT64_MAX, &error), VDBQ_LIMIT);
    assert_int_equal(row_set_room(&held, 0x1000, &error), VDBQ_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows_behind),
                                        cmocka_unit_test(test_steps_behind),
                                        cmocka_unit_test(test_counts),
                                        cmocka_unit_test(test_limit),
                                        cmocka_unit_test(test_held_rows) };
    return cmocka_run_group_tests(tests, start, end);
}
