/* SPDX-License-Identifier: MIT */
/*
 * Tables larger than memory: right answers, and a process that does not grow
 * with the table. And what makes that fast: columns that come alone, loads
 * ahead of the scan, proofs that are not made twice and still find bytes that
 * change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/pool/pool.h"
#include "base/os/os.h"
#include "program/program.h"
#include "data/tablet/block.h"
#include "data/database/database.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/sample_tables.h"
#include "fixtures/settings.h"

enum { TABLET_ROWS = 40000, TABLETS = 80, ROWS = TABLET_ROWS * TABLETS };
enum { ID, BIG, F, D }; /* columns of the fixture's table */
enum { GROWTH_MAX = 24 << 20 };

static char path[] = "/tmp/vdbq-larger-XXXXXX";
static struct database *database;
static struct device *device;
static struct snapshot snapshot;
static const struct table *table;
static uint64_t table_bytes;

static int set_up(void **state)
{
    struct settings *settings = settings_for_tests(TABLET_ROWS);
    struct database_params params = { .path = path,
                                      .flags =
                                          VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC,
                                      .files = &os_files,
                                      .settings = settings };
    struct device_params host = { .choice = "host" };
    struct transaction *transaction;

    (void)state;
    settings->encoding = CHOOSE_PLAIN;
    close(mkstemp(path));
    assert_int_equal(device_open(&host, &device, ERROR), VDBQ_OK);
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    for (int i = 0; i < TABLETS; i++)
        assert_int_equal(append_sample_rows(transaction, "t", i * TABLET_ROWS,
                                            TABLET_ROWS, 1),
                         VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, TABLETS);
    for (size_t i = 0; i < TABLETS; i++)
        table_bytes += table->tablets[i].size_bytes;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    snapshot_close(&snapshot);
    database_close(database);
    device_close(device);
    return unlink(path);
}

/* ------------------------------------------------------------ the pool -- */

static struct pool *make_pool(uint64_t budget_bytes)
{
    struct pool *pool;

    assert_int_equal(pool_create(database, device, budget_bytes, &pool, ERROR),
                     VDBQ_OK);
    return pool;
}

static struct pool_want want(size_t tablet, const unsigned *columns,
                             unsigned count)
{
    return (struct pool_want){ .table = table,
                               .tablet = &table->tablets[tablet],
                               .columns = columns,
                               .column_count = count };
}

static struct pool_slot *pin(struct pool *pool, struct pool_want what)
{
    struct pool_slot *slot;

    if (pool_pin(pool, &what, &slot, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return slot;
}

/* The slot has that column of the tablet, as a load of all of it has. */
static void assert_has(const struct pool_slot *slot, size_t tablet,
                       unsigned column)
{
    const struct tablet_ref *ref = &table->tablets[tablet];
    const void *bytes = device_memory_host(slot->memory);
    static uint8_t values[TABLET_ROWS * 8], expected[TABLET_ROWS * 8];
    struct block whole;

    assert_int_equal(tablet_load(database, table, ref, &whole, ERROR), VDBQ_OK);
    tablet_values(whole.bytes, column, expected);
    tablet_values(bytes, column, values);
    assert_memory_equal(values, expected,
                        (size_t)ref->rows
                            * type_width((int)table->columns[column].type));
    for (uint32_t i = 0; i < ref->rows; i++)
        assert_int_equal(tablet_null(bytes, column, i),
                         tablet_null(whole.bytes, column, i));
    assert_memory_equal(slot->whole, whole.bytes, tablet_head_size(4));
    assert_memory_equal(slot->tablet, bytes, tablet_head_size(4));
    block_destroy(&whole);
}

static void columns_come_alone(void **state)
{
    static const unsigned some[] = { BIG }, others[] = { ID, F };
    uint64_t whole = page_round(table->tablets[0].size_bytes);
    struct pool *pool = make_pool(whole * 3);
    struct pool_slot *slot = pin(pool, want(0, some, 1)), *again, *more;

    (void)state;
    assert_has(slot, 0, BIG);
    assert_true(pool_bytes(pool) < whole / 2);
    again = pin(pool, want(0, some, 1));
    assert_ptr_equal(again, slot);
    more = pin(pool, want(0, others, 2)); /* what is in use stays as it is */
    assert_ptr_not_equal(more, slot);
    assert_has(more, 0, ID);
    assert_has(more, 0, F);
    pool_release(pool, slot);
    pool_release(pool, again);
    pool_release(pool, more);
    more = pin(pool, want(0, NULL, 0)); /* what is not joins */
    for (unsigned i = ID; i <= D; i++)
        assert_has(more, 0, i);
    pool_release(pool, more);
    slot = pin(pool, want(0, some, 1));
    assert_ptr_equal(slot, more);
    pool_release(pool, slot);
    pool_destroy(pool);
}

/* A program that reads no column of the table, only row numbers. */
static void no_column_needs_no_room(void **state)
{
    static const unsigned none[] = { 0 };
    struct pool *pool = make_pool(PAGE_BYTES);
    struct pool_slot *slot = pin(pool, want(3, none, 0));

    (void)state;
    assert_int_equal(slot->tablet->rows, TABLET_ROWS);
    assert_int_equal(pool_bytes(pool), PAGE_BYTES);
    pool_release(pool, slot);
    pool_destroy(pool);
}

/* Random columns of random tablets, some of them asked for before. */
static void loads_ahead_are_right(void **state)
{
    uint64_t budget = page_round(table->tablets[0].size_bytes) * 4;
    struct pool *pool = make_pool(budget);

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        const unsigned columns[2] = { (unsigned)chance_below(2),
                                      2 + (unsigned)chance_below(2) };
        size_t first = (size_t)chance_below(TABLETS - 6);
        for (size_t k = first; k < first + chance_below(6); k++) {
            struct pool_want next = want(k, columns, 2);
            pool_ahead(pool, &next);
            assert_true(pool_bytes(pool) <= budget);
        }
        if (chance_below(4) > 0) {
            unsigned alone = (unsigned)chance_below(4);
            struct pool_slot *slot =
                pin(pool, chance_below(3) > 0 ? want(first, columns, 2)
                                              : want(first, &alone, 1));
            assert_true(pool_bytes(pool) <= budget);
            if (slot->tablet->size > tablet_head_size(4)
                && chance_below(8) == 0)
                assert_int_equal(slot->tablet->rows, TABLET_ROWS);
            pool_release(pool, slot);
            slot = pin(pool, want(first, columns, 2));
            if (i % 10 == 0) {
                assert_has(slot, first, columns[0]);
                assert_has(slot, first, columns[1]);
            }
            pool_release(pool, slot);
        }
        if (chance_below(5) == 0)
            pool_settle(pool);
    }
    pool_settle(pool);
    pool_destroy(pool);
}

/* Bytes of a wide column of a tablet in the pool. */
static uint64_t column_bytes(void)
{
    const unsigned columns[1] = { BIG };
    struct pool *pool = make_pool(page_round(table->tablets[0].size_bytes));
    struct pool_slot *slot = pin(pool, want(0, columns, 1));
    uint64_t size = pool_bytes(pool);

    pool_release(pool, slot);
    pool_destroy(pool);
    return size;
}

/* What comes ahead leaves half of the budget to others. */
static void loads_ahead_leave_half(void **state)
{
    const unsigned columns[1] = { BIG };
    uint64_t size = column_bytes(), budget = size * 4;
    struct pool *pool = make_pool(budget);

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct pool_want next = want(i, columns, 1);
        pool_ahead(pool, &next);
        assert_true(pool_bytes(pool) <= budget / 2);
    }
    assert_true(pool_bytes(pool) >= size);
    pool_settle(pool);
    pool_destroy(pool);
}

/* Changes a byte of a file that is open as a database. */
static void flip(uint64_t offset)
{
    int file = open(path, O_RDWR);
    uint8_t byte;

    assert_int_equal(pread(file, &byte, 1, (off_t)offset), 1);
    byte ^= 1;
    assert_int_equal(pwrite(file, &byte, 1, (off_t)offset), 1);
    close(file);
}

/* Asks for a wide column of tablet 1, and for others so that it leaves. */
static enum vdbq_status ask(struct pool *pool, unsigned column, bool ahead)
{
    struct pool_want asked = want(1, &column, 1);
    struct pool_slot *slot;
    enum vdbq_status status;

    for (size_t i = 10; i < 18; i++)
        pool_release(pool, pin(pool, want(i, &column, 1)));
    if (ahead)
        pool_ahead(pool, &asked);
    status = pool_pin(pool, &asked, &slot, ERROR);
    pool_release(pool, slot);
    pool_settle(pool);
    return status;
}

static void changed_bytes_are_found_again(void **state)
{
    const struct tablet_ref *ref = &table->tablets[1];
    struct pool *pool = make_pool(4 * column_bytes());
    struct block block;
    uint64_t values, nulls;

    (void)state;
    assert_int_equal(tablet_load(database, table, ref, &block, ERROR), VDBQ_OK);
    values = ref->offset + tablet_column(block.bytes, BIG)->values;
    nulls = ref->offset + tablet_column(block.bytes, BIG)->nulls;
    block_destroy(&block);
    flip(values + 77);
    assert_int_equal(ask(pool, D, false), VDBQ_CORRUPT); /* its first time */
    assert_int_equal(ask(pool, D, true), VDBQ_CORRUPT);
    flip(values + 77);
    assert_int_equal(ask(pool, D, true), VDBQ_OK);
    flip(values + 77);
    assert_int_equal(ask(pool, D, true), VDBQ_OK); /* not what is read */
    assert_int_equal(ask(pool, BIG, true), VDBQ_CORRUPT);
    assert_int_equal(ask(pool, BIG, false), VDBQ_CORRUPT);
    flip(values + 77);
    assert_int_equal(ask(pool, BIG, false), VDBQ_OK);
    flip(nulls + 5);
    assert_int_equal(ask(pool, BIG, true), VDBQ_CORRUPT);
    flip(nulls + 5);
    flip(ref->offset + sizeof(struct tablet) + 40); /* column ID's minimum */
    assert_int_equal(ask(pool, BIG, true), VDBQ_CORRUPT);
    flip(ref->offset + sizeof(struct tablet) + 40);
    assert_int_equal(ask(pool, BIG, true), VDBQ_OK);
    pool_destroy(pool);
}

/* ------------------------------------------------------------- queries -- */

/* The largest resident set of this process so far, in bytes. */
static uint64_t peak_bytes(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}

/* What `sql` gives: rows, and the sum of its first column. */
static bool sum_up(vdbq *db, const char *sql, uint64_t *rows, int64_t *sum)
{
    struct vdbq_batch batch = { .rows = 1 };
    vdbq_query *query;
    bool good = vdbq_prepare(db, sql, -1, &query, NULL) == VDBQ_OK;

    *rows = 0;
    *sum = 0;
    while (good && batch.rows > 0) {
        good = vdbq_query_batch(query, &batch) == VDBQ_OK;
        for (uint64_t i = 0; good && i < batch.rows; i++)
            *sum += ((const int32_t *)batch.column[0].values)[i];
        *rows += batch.rows;
    }
    vdbq_query_close(query);
    return good;
}

/* In a process of its own, which has no threads yet: 0 where everything is
 * right. */
static int read_all(const char *file, uint64_t memory_bytes)
{
    const int64_t last = ROWS - 1;
    uint64_t rows, before;
    int64_t sum;
    char size[32];
    vdbq *db;

    snprintf(size, sizeof size, "%llu", (unsigned long long)memory_bytes);
    if (vdbq_open(file, VDBQ_OPEN_READ_ONLY, &db) != VDBQ_OK
        || vdbq_set(db, "device", "host") != VDBQ_OK
        || vdbq_set(db, "memory", size) != VDBQ_OK
        || vdbq_set(db, "device_memory", size) != VDBQ_OK)
        return 1;
    before = peak_bytes();
    for (unsigned i = 0; i < 3; i++) {
        if (!sum_up(db, "select id, big, f, d from t where f >= 0", &rows, &sum)
            || rows != ROWS || sum != last * (last + 1) / 2)
            return 2;
        if (!sum_up(db, "select id from t where big is null", &rows, &sum)
            || rows != ROWS / 5)
            return 3;
    }
    vdbq_close(db);
    printf("%llu bytes of tablets, %llu of memory: the process grew by %llu\n",
           (unsigned long long)table_bytes, (unsigned long long)memory_bytes,
           (unsigned long long)(peak_bytes() - before));
    fflush(stdout);
    if (!SANITIZED && peak_bytes() - before > memory_bytes + GROWTH_MAX)
        return 4;
    return 0;
}

static void memory_stays_flat(void **state)
{
    char size[32];
    int status;
    pid_t child;

    (void)state;
    snprintf(size, sizeof size, "%llu", (unsigned long long)table_bytes / 10);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "unit_larger", size, path, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_stays_flat),
        cmocka_unit_test(columns_come_alone),
        cmocka_unit_test(no_column_needs_no_room),
        cmocka_unit_test(loads_ahead_are_right),
        cmocka_unit_test(loads_ahead_leave_half),
        cmocka_unit_test(changed_bytes_are_found_again),
    };

    if (argc == 3)
        return read_all(argv[2], strtoull(argv[1], NULL, 10));
    chance_start();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
