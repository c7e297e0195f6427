/* SPDX-License-Identifier: MIT */
/*
 * Runs in a file: what is found by them is the same, and little of them is read; one
 * that is damaged is not believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/database/database_inner.h"
#include "data/index/run_block.h"
#include "data/index/run_pages.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/model/run_model.h"
#include "fixtures/sample_tables.h"

/* ----------------------------------------------------------------- file -- */

enum { RUN_AT = 1 << 16 };

static struct database *database; /* on the disk */

static void open_disk(void)
{
    struct database_params params = params_on_disk(ROWS_MAX);

    disk_start(NULL, 0);
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
}

static void close_disk(void)
{
    database_close(database);
    disk_end();
}

/* Writes a run to the disk. */
static struct run_ref write_run(const struct run *run, uint32_t page_rows)
{
    struct run_ref ref = { .column_count = run->column_count,
                           .offset = RUN_AT };
    struct block written = run_block(run, page_rows, &ref);

    assert_non_null(written.bytes);
    assert_int_equal(file_write_block(&database->file, &written, RUN_AT, ERROR),
                     VDBQ_OK);
    assert_int_equal(file_write_waiting(&database->file, ERROR), VDBQ_OK);
    block_destroy(&written);
    for (unsigned i = 0; i < run->column_count; i++)
        ref.columns[i] = run->columns[i].column;
    return ref;
}

/* The tablet, whose runs are of all its rows. */
static struct run_tablet all_rows(void)
{
    return (struct run_tablet){ .rows = rows };
}

/* All of it is read back. */
static void check_all(const struct run *run, const struct run_ref *ref)
{
    struct run *read;

    assert_int_equal(
        run_load(database, ref, all_rows(), block.bytes, &read, ERROR),
        VDBQ_OK);
    assert_non_null(read);
    assert_int_equal(read->rows, run->rows);
    for (uint32_t i = 0; i < run->rows; i++) {
        assert_true(run_key(read, i) == run_key(run, i));
        assert_int_equal(run_row(read, i), run_row(run, i));
    }
    run_destroy(read);
}

static void test_reads_back(void **state)
{
    (void)state;
    open_disk();
    for (unsigned n = 0; n < 100; n++) {
        make_tablet();
        for (unsigned i = 0; i < 10; i++) {
            struct asked asked = any_question();
            struct run *run = run_make(block.bytes, asked.of, asked.count);
            struct run_ref ref = write_run(run, 1 + chance(50));
            struct run_pages pages;
            bool sound;
            check_all(run, &ref);
            assert_int_equal(run_pages_open(database, &ref, all_rows(), &pages,
                                            &sound, ERROR),
                             VDBQ_OK);
            assert_true(sound);
            check_found(&asked, NULL, &pages);
            run_pages_close(&pages);
            run_destroy(run);
        }
        block_destroy(&block);
    }
    close_disk();
}

/* Ends are found in the pages that are read for them. */
static void test_reads_ends(void **state)
{
    (void)state;
    open_disk();
    for (unsigned n = 0; n < 200; n++) {
        struct asked asked = any_question();
        struct run_terms terms = any_ends(&asked);
        struct run_pages pages;
        struct run_ref ref;
        struct run *run;
        bool sound;
        make_tablet();
        run = run_make(block.bytes, asked.of, asked.count);
        ref = write_run(run, 1 + chance(20));
        assert_int_equal(
            run_pages_open(database, &ref, all_rows(), &pages, &sound, ERROR),
            VDBQ_OK);
        assert_true(sound);
        check_ends(&asked, &terms, run, &pages);
        run_pages_close(&pages);
        run_destroy(run);
        block_destroy(&block);
    }
    close_disk();
}

/* How many rows have the value of a row in the first column. */
static uint32_t count_equal(uint32_t row)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows && row < rows; i++)
        count += !nulls[0][i] && compare(0, i, row) == 0;
    return count;
}

/* Rows of an end are found in few pages. */
static void check_ends_read(const struct run_ref *ref, struct run_ends ends)
{
    const unsigned of[] = { 0 };
    const struct run_terms terms = { .columns = of, .ends = ends };
    struct vector found = VECTOR(uint32_t);
    struct run_pages pages;
    bool sound;

    disk.read_bytes = 0;
    assert_int_equal(
        run_pages_open(database, ref, all_rows(), &pages, &sound, ERROR),
        VDBQ_OK);
    assert_true(sound);
    find_in_pages(&terms, &pages, &found);
    run_pages_close(&pages);
    assert_int_equal(found.count, 5);
    assert_true(disk.read_bytes
                < ref->head_bytes + (ref->size_bytes - ref->head_bytes) / 4);
    vector_finish(&found);
}

/* A search reads the head and the pages that it needs, whatever else there is. */
static void test_reads_little(void **state)
{
    const unsigned of[] = { 0 };
    struct asked asked = { .of = { 0 }, .count = 1, .equal_count = 1 };
    struct run_pages pages;
    struct run_ref ref;
    struct run *run;
    bool sound;

    (void)state;
    open_disk();
    do {
        block_destroy(&block);
        make_tablet();
        asked.equal[0] = any_row(0);
        run = run_make(block.bytes, of, 1);
        ref = write_run(run, 10);
        run_destroy(run);
    } while (rows < 500 || asked.equal[0] == rows
             || count_equal(asked.equal[0]) > 10);
    asked.low = asked.high = rows;
    disk.read_bytes = 0;
    assert_int_equal(
        run_pages_open(database, &ref, all_rows(), &pages, &sound, ERROR),
        VDBQ_OK);
    assert_true(sound);
    check_found(&asked, NULL, &pages);
    run_pages_close(&pages);
    assert_true(disk.read_bytes
                < ref.head_bytes + (ref.size_bytes - ref.head_bytes) / 4);
    check_ends_read(&ref, (struct run_ends){ .first = 5, .columns = 1 });
    check_ends_read(&ref, (struct run_ends){ .last = 5, .columns = 1 });
    block_destroy(&block);
    close_disk();
}

/* A run that is damaged, and has (`meant`) the checksums of what it is, is not
 * read, or has rows of the tablet, whose keys ascend. */
static void check_damaged(struct run_ref ref, bool meant)
{
    struct run *read;

    if (meant)
        ref.checksum =
            block_checksum(disk.bytes + RUN_AT, (size_t)ref.head_bytes);
    assert_int_equal(run_load(database, &ref, all_rows(), NULL, &read, ERROR),
                     VDBQ_OK);
    assert_true(meant || read == NULL);
    for (uint32_t i = 0; read != NULL && i < read->rows; i++) {
        assert_true(run_row(read, i) < rows);
        assert_true(i == 0 || run_key(read, i - 1) <= run_key(read, i));
    }
    run_destroy(read);
}

static void test_damage(void **state)
{
    (void)state;
    open_disk();
    for (unsigned n = 0; n < 40; n++) {
        struct asked asked;
        struct run *run;
        struct run_ref ref;
        make_tablet();
        asked = any_question();
        run = run_make(block.bytes, asked.of, asked.count);
        ref = write_run(run, 1 + chance(50));
        run_destroy(run);
        for (unsigned i = 0; i < 200; i++) {
            bool meant = chance(2) == 0;
            uint64_t at = chance(meant ? ref.head_bytes : ref.size_bytes);
            uint8_t change = (uint8_t)(1 + chance(255));
            disk.bytes[RUN_AT + at] ^= change;
            check_damaged(ref, meant);
            disk.bytes[RUN_AT + at] ^= change;
        }
        block_destroy(&block);
    }
    close_disk();
}

/* ------------------------------------------------------------- some rows -- */

/* A run that was written, or NULL. */
static struct run *read_as(const struct run_ref *ref, uint32_t tablet_rows,
                           bool some)
{
    const struct run_tablet of = { tablet_rows, some };
    struct run *read;

    assert_int_equal(run_load(database, ref, of, NULL, &read, ERROR), VDBQ_OK);
    return read;
}

/* Has a run be of every other row of a tablet of twice as many. */
static void spread(struct run *run)
{
    if (run->order == NULL) {
        run->order = memory_resize(NULL, run->rows * sizeof *run->order);
        for (uint32_t i = 0; i < run->rows; i++)
            run->order[i] = i;
    }
    for (uint32_t i = 0; i < run->rows; i++)
        run->order[i] = 2 * run->order[i] + 1;
    run->tablet_rows = 2 * run->rows;
}

static void refuse(const struct run_ref *ref, uint32_t tablet_rows, bool some)
{
    struct run *read = read_as(ref, tablet_rows, some);

    assert_null(read);
}

/* A run of some rows is one where it may be, and names no row that the tablet has
 * not, and none twice. */
static void test_some_rows(void **state)
{
    const unsigned of[] = { 0 };

    (void)state;
    open_disk();
    for (unsigned n = 0; n < 100; n++) {
        struct run *run, *read;
        struct run_ref ref;
        make_tablet();
        run = run_make(block.bytes, of, 1);
        spread(run);
        ref = write_run(run, 1 + chance(50));
        read = read_as(&ref, 2 * rows, true);
        assert_non_null(read);
        assert_int_equal(read->rows, rows);
        for (uint32_t i = 0; i < rows; i++)
            assert_int_equal(run_row(read, i), run_row(run, i));
        run_destroy(read);
        refuse(&ref, 2 * rows, false);
        refuse(&ref, 2 * rows - 1, true);
        refuse(&ref, rows, true);
        run->order[chance(rows)] = 2 * rows;
        ref = write_run(run, 1 + chance(50));
        refuse(&ref, 2 * rows, true);
        if (rows > 1) {
            spread(run);
            for (uint32_t i = 0; i < rows; i++)
                run->order[i] = 1 + (uint32_t)chance(2) * (i > 1);
            run->tablet_rows = 2 * rows;
            ref = write_run(run, 1 + chance(50));
            refuse(&ref, 2 * rows, true);
        }
        run_destroy(run);
        block_destroy(&block);
    }
    close_disk();
}

/* A tablet of which an index has no row has a run, too. */
static void test_no_rows(void **state)
{
    struct run *run = run_make_empty(2, 77), *read;
    struct run_keys all = run_keys_all(run);
    struct run_ref ref;
    uint32_t begin;

    (void)state;
    open_disk();
    ref = write_run(run, 10);
    read = read_as(&ref, 77, true);
    assert_non_null(read);
    assert_int_equal(read->rows, 0);
    assert_int_equal(run_find(read, all, 0, &begin), 0);
    run_destroy(read);
    refuse(&ref, 77, false);
    run_destroy(run);
    close_disk();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_back),   cmocka_unit_test(test_reads_ends),
        cmocka_unit_test(test_reads_little), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_some_rows),    cmocka_unit_test(test_no_rows),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
