/* SPDX-License-Identifier: MIT */
/*
 * Tablets that are used where they lie in the file: the same values, proven
 * once, under the same budget; words are copied. What a writer of ours does
 * never shows there, and what another program does is no danger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/pool/pool.h"
#include "base/os/os.h"
#include "data/tablet/block.h"
#include "data/database/database.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"
#include "fixtures/settings.h"

enum { TABLET_ROWS = 5000, TABLETS = 20 };
enum { ID, BIG, F, D, S, COLUMNS }; /* columns of the fixture's table */

static char path[] = "/tmp/vdbq-mapped-XXXXXX";
static struct database *database;
static struct device *device;
static struct snapshot snapshot;
static const struct table *table;

/* ---------------------------------------------- files that are counted -- */

static struct os_file_calls counted;
static atomic_uint maps, unmaps;
static _Atomic uint64_t read_bytes;
static int map_failure; /* of every map; 0: none */

static int counted_map(struct os_file *file, uint64_t offset, uint64_t size,
                       const void **bytes)
{
    int failure = map_failure != 0 ? map_failure
                                   : os_files.map(file, offset, size, bytes);

    maps += failure == 0;
    return failure;
}

static void counted_unmap(const void *bytes, uint64_t size)
{
    unmaps++;
    os_files.unmap(bytes, size);
}

static int counted_read(struct os_file *file, void *bytes, size_t size,
                        uint64_t offset)
{
    read_bytes += size;
    return os_files.read(file, bytes, size, offset);
}

/* ------------------------------------------------------------ the table -- */

static struct database *open_it(void)
{
    struct settings *settings = settings_for_tests(TABLET_ROWS);
    const struct database_params params = { .path = path,
                                            .flags = VDBQ_OPEN_CREATE
                                                     | VDBQ_OPEN_NO_SYNC,
                                            .files = &counted,
                                            .settings = settings };
    struct database *opened;

    settings->encoding = CHOOSE_PLAIN;
    assert_int_equal(database_open(&params, &opened, ERROR), VDBQ_OK);
    return opened;
}

/* Makes all rows of table t anew. */
static void fill(struct database *of, int salt)
{
    struct transaction *transaction;
    const struct table *old;

    assert_int_equal(transaction_begin(of, &transaction, ERROR), VDBQ_OK);
    old = catalogue_table(transaction_catalogue(transaction), "t");
    if (old != NULL)
        assert_int_equal(transaction_drop_table(transaction, old->id, ERROR),
                         VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(
        append_sample_rows(transaction, "t", 0, TABLET_ROWS * TABLETS, salt),
        VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
}

static void look(void)
{
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, TABLETS);
}

static int set_up(void **state)
{
    struct device_params host = { .choice = "host" };

    (void)state;
    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    counted = os_files;
    counted.map = counted_map;
    counted.unmap = counted_unmap;
    counted.read = counted_read;
    counted.reads_anywhere =
        false; /* no thread pool, but where a test wants one */
    maps = unmaps = 0;
    assert_int_equal(device_open(&host, &device, ERROR), VDBQ_OK);
    database = open_it();
    fill(database, 1);
    look();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    snapshot_close(&snapshot);
    database_close(database);
    device_close(device);
    assert_int_equal(maps, unmaps);
    return unlink(path);
}

static struct pool *make_pool(uint64_t budget_bytes)
{
    struct pool *pool;

    assert_int_equal(pool_create(database, device, budget_bytes, &pool, ERROR),
                     VDBQ_OK);
    pool_map(pool);
    return pool;
}

static enum vdbq_status try_pin(struct pool *pool, size_t tablet,
                                const unsigned *columns, unsigned count,
                                struct pool_slot **slot)
{
    const struct pool_want want = { .table = table,
                                    .tablet = &table->tablets[tablet],
                                    .columns = columns,
                                    .column_count = count };

    return pool_pin(pool, &want, slot, ERROR);
}

static struct pool_slot *pin(struct pool *pool, size_t tablet,
                             const unsigned *columns, unsigned count)
{
    struct pool_slot *slot;

    if (try_pin(pool, tablet, columns, count, &slot) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return slot;
}

/* The bytes of a plain column that a device sees; freed by the caller. */
static uint8_t *bytes_seen(const struct pool_slot *slot, unsigned column,
                           size_t *size)
{
    const struct tablet_column *from = tablet_column(slot->tablet, column);
    struct device_times times = { 0 };
    uint8_t *bytes;

    *size = (size_t)slot->tablet->rows * from->width;
    bytes = malloc(*size);
    assert_int_equal(
        device_read(slot->memory, from->values, bytes, *size, &times, ERROR),
        VDBQ_OK);
    return bytes;
}

/* The device sees the column as it is after a load of the whole tablet. */
static void assert_sees(const struct pool_slot *slot, size_t tablet,
                        unsigned column)
{
    const struct tablet_ref *ref = &table->tablets[tablet];
    struct block whole;
    size_t size;
    uint8_t *seen = bytes_seen(slot, column, &size);
    const struct tablet_column *from;

    assert_int_equal(tablet_load(database, table, ref, &whole, ERROR), VDBQ_OK);
    from = tablet_column(whole.bytes, column);
    assert_memory_equal(seen, (uint8_t *)whole.bytes + from->values, size);
    assert_memory_equal(slot->whole, whole.bytes, tablet_head_size(COLUMNS));
    free(seen);
    block_destroy(&whole);
}

/* Writes over a column of a tablet, as another program might. */
static void overwrite(size_t tablet, unsigned column,
                      const struct pool_slot *slot)
{
    const struct tablet_column *at = tablet_column(slot->whole, column);
    uint64_t noise[TABLET_ROWS];
    int descriptor = open(path, O_WRONLY);

    for (size_t i = 0; i < TABLET_ROWS; i++)
        noise[i] = chance_below(UINT64_MAX);
    assert_int_equal(
        pwrite(descriptor, noise, (size_t)slot->whole->rows * at->width,
               (off_t)(table->tablets[tablet].offset + at->values)),
        (size_t)slot->whole->rows * at->width);
    close(descriptor);
}

/* ---------------------------------------------------------------- tests -- */

static const unsigned numbers[] = { BIG, D }, mixed[] = { BIG, S };

static void the_same_values(void **state)
{
    struct pool *pool = make_pool(64 << 20);

    (void)state;
    for (size_t i = 0; i < TABLETS; i++) {
        struct pool_slot *slot = pin(pool, i, numbers, 2);
        assert_true(slot->in_place);
        assert_sees(slot, i, BIG);
        assert_sees(slot, i, D);
        assert_int_equal(tablet_column(slot->tablet, F)->values, 0);
        pool_release(pool, slot);
    }
    assert_int_equal(maps, TABLETS);
    pool_destroy(pool);
}

static void words_are_copied(void **state)
{
    struct pool *pool = make_pool(64 << 20);
    struct pool_slot *slot = pin(pool, 0, mixed, 2), *other;

    (void)state;
    assert_false(slot->in_place);
    assert_non_null(device_memory_host(slot->memory));
    assert_sees(slot, 0, BIG);
    other = pin(pool, 0, numbers, 2);
    assert_true(other->in_place);
    assert_sees(other, 0, D);
    pool_release(pool, slot);
    pool_release(pool, other);
    pool_destroy(pool);
}

/* What leaves is mapped no more, and its bytes were counted. */
static void the_budget_holds(void **state)
{
    uint64_t pages = 2 * (page_round(TABLET_ROWS * 8) + 2 * PAGE_BYTES);
    uint64_t budget = 3 * (pages + 2 * PAGE_BYTES);
    struct pool *pool = make_pool(budget);

    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        size_t tablet = (size_t)chance_below(TABLETS);
        bool words = chance_below(4) == 0;
        struct pool_slot *slot = pin(pool, tablet, words ? mixed : numbers, 2);
        assert_true(pool_bytes(pool) <= budget);
        assert_true(pool_bytes(pool) >= 2 * page_round(TABLET_ROWS * 8)
                    || !slot->in_place);
        assert_true(maps - unmaps <= 3);
        pool_release(pool, slot);
    }
    pool_destroy(pool);
}

/* The first time the columns are read, after that a tablet's head alone. */
static void proven_once(void **state)
{
    struct pool *pool = make_pool(1 << 18);
    uint64_t before = read_bytes;

    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        before = read_bytes;
        for (size_t i = 0; i < TABLETS; i++)
            pool_release(pool, pin(pool, i, numbers, 2));
        if (round > 0)
            assert_int_equal(read_bytes - before,
                             TABLETS * tablet_head_size(COLUMNS));
        else
            assert_true(read_bytes - before
                        >= TABLETS * table->tablets[0].size_bytes / 2);
    }
    assert_true(unmaps > TABLETS);
    pool_destroy(pool);
}

/* What comes next is brought in, and what leaves is unmapped, on threads. */
static void with_a_workers(void **state)
{
    struct pool *pool;

    (void)state;
    counted.reads_anywhere = true;
    pool = make_pool(1 << 19);
    for (size_t i = 0; i < 5 * TABLETS; i++) {
        const struct pool_want next = { .table = table,
                                        .tablet =
                                            &table->tablets[(i + 1) % TABLETS],
                                        .columns = numbers,
                                        .column_count = 2 };
        struct pool_slot *slot =
            pin(pool, i % TABLETS, i % 7 == 0 ? mixed : numbers, 2);
        pool_ahead(pool, &next);
        assert_sees(slot, i % TABLETS, BIG);
        assert_true(pool_bytes(pool) <= 1 << 19);
        pool_release(pool, slot);
    }
    pool_settle(pool);
    pool_destroy(pool);
    assert_true(maps > TABLETS);
}

static void damage_is_found_before(void **state)
{
    struct pool *pool = make_pool(64 << 20);
    struct pool_slot *slot = pin(pool, 1, numbers, 2), *damaged;

    (void)state;
    overwrite(0, F, slot); /* nobody wants it; tablets 0 and 1 are alike */
    assert_int_equal(try_pin(pool, 0, numbers, 2, &damaged), VDBQ_CORRUPT);
    assert_null(damaged);
    pool_release(pool, slot);
    pool_destroy(pool);
}

/* What changes later is what is seen then; what is copied is checked. */
static void damage_shows_after(void **state)
{
    static const unsigned words[] = { S };
    struct pool *pool = make_pool(1 << 18);
    struct pool_slot *slot = pin(pool, 0, numbers, 2);
    size_t size;
    uint8_t *before = bytes_seen(slot, BIG, &size), *after;

    (void)state;
    overwrite(0, BIG, slot);
    overwrite(0, S, slot);
    after = bytes_seen(slot, BIG, &size);
    assert_memory_not_equal(before, after, size);
    free(before);
    free(after);
    pool_release(pool, slot);
    assert_int_equal(try_pin(pool, 0, words, 1, &slot), VDBQ_CORRUPT);
    pool_destroy(pool);
}

static void a_file_cut_before_is_told(void **state)
{
    struct pool *pool = make_pool(1 << 18);
    struct pool_slot *slot = pin(pool, TABLETS - 1, numbers, 2);

    (void)state;
    pool_release(pool, slot);
    for (size_t i = 0; i + 1 < TABLETS; i++)
        pool_release(pool, pin(pool, i, numbers, 2)); /* it leaves */
    assert_int_equal(truncate(path, (off_t)(table->tablets[TABLETS - 1].offset
                                            + PAGE_BYTES)),
                     0);
    assert_int_equal(try_pin(pool, TABLETS - 1, numbers, 2, &slot), VDBQ_IO);
    assert_non_null(strstr(ERROR->message, "map"));
    pool_destroy(pool);
}

static void a_map_may_fail(void **state)
{
    struct pool *pool = make_pool(1 << 18);
    struct pool_slot *slot;

    (void)state;
    map_failure = ENOMEM;
    assert_int_equal(try_pin(pool, 0, numbers, 2, &slot), VDBQ_IO);
    assert_null(slot);
    assert_int_equal(pool_bytes(pool), 0);
    pool_release(pool, pin(pool, 0, mixed, 2));
    map_failure = 0;
    slot = pin(pool, 1, numbers, 2);
    assert_sees(slot, 1, D);
    pool_release(pool, slot);
    pool_destroy(pool);
}

/* As long as a snapshot names a tablet, no writer of ours changes it. */
static void writers_keep_off(void **state)
{
    struct pool *pool = make_pool(64 << 20);
    struct database *writer = open_it();
    struct pool_slot *slots[TABLETS];
    struct snapshot old;

    (void)state;
    for (size_t i = 0; i < TABLETS; i++)
        slots[i] = pin(pool, i, numbers, 2);
    for (int salt = 2; salt < 8; salt++)
        fill(salt % 2 == 0 ? writer : database, salt);
    for (size_t i = 0; i < TABLETS; i++) {
        assert_sees(slots[i], i, BIG);
        pool_release(pool, slots[i]);
    }
    old = snapshot; /* and what is idle is not taken for what came later */
    look();
    snapshot_close(&old);
    for (int salt = 8; salt < 12; salt++) {
        snapshot_close(&snapshot);
        fill(writer, salt);
        look();
        for (size_t i = 0; i < TABLETS; i++) {
            slots[i] = pin(pool, i, numbers, 2);
            assert_sees(slots[i], i, BIG);
            pool_release(pool, slots[i]);
        }
    }
    database_close(writer);
    pool_destroy(pool);
}

static void memory_has_no_place(void **state)
{
    const struct settings settings = settings_default();
    const struct database_params params = { .files = &os_memory_files,
                                            .settings = &settings };
    struct database *memory;

    (void)state;
    assert_int_equal(database_open(&params, &memory, ERROR), VDBQ_OK);
    assert_false(database_maps(memory));
    assert_true(database_maps(database));
    database_close(memory);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_same_values),     TEST(words_are_copied),
        TEST(the_budget_holds),    TEST(proven_once),
        TEST(with_a_workers),      TEST(damage_is_found_before),
        TEST(damage_shows_after),  TEST(a_file_cut_before_is_told),
        TEST(a_map_may_fail),      TEST(writers_keep_off),
        TEST(memory_has_no_place),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
