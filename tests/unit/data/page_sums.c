/* SPDX-License-Identifier: MIT */
/*
 * Pages of tablets are proven one by one: what is damaged is found where it is
 * read, whatever it is, and costs nobody who does not read it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "data/database/database.h"
#include "data/database/tablet_pages.h"
#include "data/pool/few_rows.h"
#include "data/pool/pool.h"
#include "data/tablet/page_sums.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum { ROWS = 20000, ID = 0, BIG = 1, D = 3, S = 4, COLUMNS = 5 };

static struct settings settings;
static struct database *database;
static struct device *device;
static struct snapshot snapshot;
static const struct table *table;
static const struct tablet_ref *tablet;
static struct tablet head; /* of the tablet */

/* A table of one tablet, which is stored like that. */
static void make(enum encoding_choice encoding)
{
    struct database_params params = params_on_disk(ROWS);
    struct device_params host = { .choice = "host" };
    struct transaction *transaction;

    settings = *params.settings;
    settings.encoding = encoding;
    params.settings = &settings;
    disk_start(NULL, 0);
    assert_int_equal(device_open(&host, &device, ERROR), VDBQ_OK);
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "t", 0, ROWS, 1), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, 1);
    tablet = table->tablets;
    memcpy(&head, disk.bytes + tablet->offset, sizeof head);
}

static int make_with_sums(void **state)
{
    (void)state;
    make(CHOOSE_PACKED);
    assert_true(page_sums_follow(&head, tablet->size_bytes));
    return 0;
}

static int make_without(void **state)
{
    (void)state;
    make(CHOOSE_PLAIN);
    assert_int_equal(head.size, tablet->size_bytes);
    assert_true(page_sums_count(head.size) > 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    snapshot_close(&snapshot);
    database_close(database);
    device_close(device);
    disk_end();
    return 0;
}

/* What a new pool says of a column. */
static enum vdbq_status pin(unsigned column)
{
    const struct pool_want want = {
        .table = table, .tablet = tablet, .columns = &column, .column_count = 1
    };
    struct pool_slot *slot;
    struct pool *pool;
    enum vdbq_status status;

    assert_int_equal(pool_create(database, device, 1 << 24, &pool, ERROR),
                     VDBQ_OK);
    status = pool_pin(pool, &want, &slot, ERROR);
    if (status == VDBQ_OK)
        pool_release(pool, slot);
    pool_destroy(pool);
    return status;
}

static enum vdbq_status load_whole(void)
{
    struct block block;
    enum vdbq_status status =
        tablet_load(database, table, tablet, &block, ERROR);

    block_destroy(&block);
    return status;
}

/* Where the middle of a column's values is in the file. */
static uint64_t middle_of(unsigned column)
{
    const struct tablet *stored = (const void *)(disk.bytes + tablet->offset);
    struct tablet_area areas[TABLET_AREAS_MAX];

    assert_true(tablet_areas(tablet_column(stored, column), ROWS, areas) > 0);
    assert_true(areas[0].size > 4 * SUM_PAGE_BYTES);
    return tablet->offset + areas[0].offset + areas[0].size / 2;
}

/* ------------------------------------------------------------- columns -- */

static void a_column_is_proven_alone(void **state)
{
    uint64_t at = middle_of(D);

    (void)state;
    disk.bytes[at] ^= 1;
    assert_int_equal(pin(ID), VDBQ_OK);
    assert_int_equal(pin(S), VDBQ_OK);
    assert_int_equal(pin(D), VDBQ_CORRUPT);
    assert_non_null(strstr(ERROR->message, "the checksum of its page at byte"));
    assert_int_equal(load_whole(), VDBQ_CORRUPT);
    disk.bytes[at] ^= 1;
    assert_int_equal(pin(D), VDBQ_OK);
    assert_int_equal(load_whole(), VDBQ_OK);
}

/* A few columns are a part of what is read. */
static void others_are_not_read(void **state)
{
    uint64_t before = disk.read_bytes;

    (void)state;
    assert_int_equal(pin(ID), VDBQ_OK);
    assert_true(disk.read_bytes - before < head.size / 4);
}

static void without_sums_all_is_read(void **state)
{
    uint64_t at = middle_of(D);

    (void)state;
    assert_int_equal(pin(ID), VDBQ_OK);
    disk.bytes[at] ^= 1;
    assert_int_equal(pin(ID), VDBQ_CORRUPT);
    assert_int_equal(pin(D), VDBQ_CORRUPT);
}

/* --------------------------------------------------------------- damage -- */

/* Whatever bit is wrong of the tablet or its sums, somebody is told; and nobody
 * crashes of it. */
static void any_bit_is_found(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        uint64_t at = tablet->offset + chance_below(tablet->size_bytes);
        uint8_t bit = (uint8_t)(1u << chance_below(8));
        disk.bytes[at] ^= bit;
        assert_int_equal(load_whole(), VDBQ_CORRUPT);
        pin((unsigned)chance_below(COLUMNS));
        disk.bytes[at] ^= bit;
    }
    assert_int_equal(load_whole(), VDBQ_OK);
}

/* Sums are compared before a page is: none is believed that is not the file's. */
static void wrong_sums_prove_nothing(void **state)
{
    uint64_t sums = tablet->offset + head.size;

    (void)state;
    for (uint64_t at = sums; at < tablet->offset + tablet->size_bytes; at++) {
        disk.bytes[at] ^= 4;
        assert_int_equal(pin(ID), VDBQ_CORRUPT);
        disk.bytes[at] ^= 4;
    }
}

/* ---------------------------------------------------------------- pages -- */

/* Any piece is what the tablet has there. */
static void pieces_are_the_tablets(void **state)
{
    static uint64_t sums[1 << 12];
    static uint8_t bytes[1 << 21];
    const struct tablet_pages pages = { database, table, tablet, head.size,
                                        sums };
    struct page_reader reader = page_reader_start(&pages);

    (void)state;
    assert_true(head.size <= sizeof bytes
                && page_sums_count(head.size) <= 1 << 12);
    assert_int_equal(tablet_pages_learn(&pages, sums, ERROR), VDBQ_OK);
    for (unsigned i = 0; i < 3000; i++) {
        uint64_t at = chance_below(head.size), most = head.size - at;
        uint64_t size =
            chance_below(chance_below(2) ? most + 1 : 100 % (most + 1) + 1);
        bytes[size] = 7;
        assert_int_equal(page_reader_copy(&reader, at, size, bytes, ERROR),
                         VDBQ_OK);
        assert_memory_equal(bytes, disk.bytes + tablet->offset + at, size);
        assert_int_equal(bytes[size], 7);
    }
    page_reader_finish(&reader);
}

/* -------------------------------------------------------------- few rows -- */

static const unsigned all_columns[COLUMNS] = { 0, 1, 2, 3, 4 };

/* Some rows of the tablet; those that are brought in. */
static enum vdbq_status bring(struct pool *pool, struct few_rows *few,
                              const uint32_t *rows, uint64_t count)
{
    const struct pool_want want = { .table = table,
                                    .tablet = tablet,
                                    .columns = all_columns,
                                    .column_count = COLUMNS };
    enum vdbq_status status = few_rows_open(few, pool, &want, ERROR);

    if (status == VDBQ_OK && few->tablet != NULL)
        status = few_rows_bring(few, rows, count, ERROR);
    return status;
}

static void assert_same(const void *whole, const void *few, unsigned column,
                        uint32_t row)
{
    uint64_t one = 0, other = 0;
    struct vdbq_text a, b;

    assert_int_equal(tablet_null(whole, column, row),
                     tablet_null(few, column, row));
    if (tablet_null(whole, column, row))
        return;
    tablet_values_pick(whole, column, &row, 1, &one);
    tablet_values_pick(few, column, &row, 1, &other);
    assert_int_equal(one, other);
    if (column != S)
        return;
    a = tablet_word(whole, column, (uint32_t)one);
    b = tablet_word(few, column, (uint32_t)other);
    assert_int_equal(a.length, b.length);
    assert_memory_equal(a.bytes, b.bytes, a.length);
}

/* Rows are brought in as they are, by few reads. */
static void few_rows_are_the_tablets(void **state)
{
    struct pool *pool;
    struct block whole;

    (void)state;
    assert_int_equal(tablet_load(database, table, tablet, &whole, ERROR),
                     VDBQ_OK);
    assert_int_equal(pool_create(database, device, 1 << 24, &pool, ERROR),
                     VDBQ_OK);
    for (unsigned i = 0; i < 200; i++) {
        uint32_t rows[8], count = 1 + (uint32_t)chance_below(8);
        uint64_t before = disk.read_bytes;
        struct few_rows few;
        for (unsigned k = 0; k < count; k++)
            rows[k] = (uint32_t)chance_below(ROWS);
        assert_int_equal(bring(pool, &few, rows, count), VDBQ_OK);
        assert_non_null(few.tablet);
        for (unsigned k = 0; k < count * COLUMNS; k++)
            assert_same(whole.bytes, few.tablet, k % COLUMNS,
                        rows[k / COLUMNS]);
        assert_true(disk.read_bytes - before
                    <= (count * 4 + 4) * COLUMNS * (uint64_t)SUM_PAGE_BYTES);
        few_rows_finish(&few);
    }
    pool_destroy(pool);
    block_destroy(&whole);
}

static void without_sums_none_are(void **state)
{
    const uint32_t row = 5;
    struct few_rows few;
    struct pool *pool;

    (void)state;
    assert_int_equal(pool_create(database, device, 1 << 24, &pool, ERROR),
                     VDBQ_OK);
    assert_int_equal(bring(pool, &few, &row, 1), VDBQ_OK);
    assert_null(few.tablet);
    few_rows_finish(&few);
    pool_destroy(pool);
}

/* Damage is told by those rows alone that are where it is. */
static void damage_of_a_row_is_told(void **state)
{
    const uint32_t near = ROWS / 2, far = 0;
    struct few_rows few;
    struct pool *pool;

    (void)state;
    disk.bytes[middle_of(D)] ^= 1;
    assert_int_equal(pool_create(database, device, 1 << 24, &pool, ERROR),
                     VDBQ_OK);
    assert_int_equal(bring(pool, &few, &far, 1), VDBQ_OK);
    few_rows_finish(&few);
    assert_int_equal(bring(pool, &few, &near, 1), VDBQ_CORRUPT);
    few_rows_finish(&few);
    pool_destroy(pool);
}

/* Few rows pay while they are few, and until they were many. */
static void many_rows_do_not_pay(void **state)
{
    struct tablet_ref large = *tablet;
    const struct pool_want want = { .table = table,
                                    .tablet = &large,
                                    .columns = all_columns,
                                    .column_count = COLUMNS };
    struct pool *pool;

    (void)state;
    large.size_bytes = 1 << 26;
    assert_int_equal(pool_create(database, device, 1 << 24, &pool, ERROR),
                     VDBQ_OK);
    assert_false(few_rows_pay(pool, &want, 0));
    assert_true(few_rows_pay(pool, &want, 3));
#ifndef VDBQ_HOSTILE
    assert_false(few_rows_pay(pool, &want, 10000));
    assert_false(few_rows_pay(pool,
                              &(struct pool_want){ .table = table,
                                                   .tablet = tablet,
                                                   .columns = all_columns,
                                                   .column_count = COLUMNS },
                              500));
#endif
    pool_destroy(pool);
}

#define WITH(name)                                                             \
    cmocka_unit_test_setup_teardown(name, make_with_sums, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(a_column_is_proven_alone),
        WITH(others_are_not_read),
        cmocka_unit_test_setup_teardown(without_sums_all_is_read, make_without,
                                        tear_down),
        WITH(any_bit_is_found),
        WITH(wrong_sums_prove_nothing),
        WITH(pieces_are_the_tablets),
        cmocka_unit_test_setup_teardown(pieces_are_the_tablets, make_without,
                                        tear_down),
        WITH(few_rows_are_the_tablets),
        WITH(damage_of_a_row_is_told),
        WITH(many_rows_do_not_pay),
        cmocka_unit_test_setup_teardown(without_sums_none_are, make_without,
                                        tear_down),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
