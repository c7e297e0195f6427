/* SPDX-License-Identifier: MIT */
/*
 * The pool: tablets come in once, stay while there is room, and the budget
 * holds whatever is asked for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/pool/pool_inner.h"
#include "base/hostile.h"
#include "base/memory.h"
#include "data/tablet/block.h"
#include "data/database/database_inner.h"
#include "data/tablet/dictionary_sort.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/failing_memory.h"
#include "fixtures/sample_tables.h"

enum {
    TABLET_ROWS = 500,
    TABLETS = 40,
    HELD = HOSTILE(2, 3),      /* tablets that are pinned at once          */
    KEPT = HOSTILE(2, TABLETS) /* that stay where memory is no limit       */
};

static struct database *database;
static struct device *device;
static struct snapshot snapshot;
static const struct table *table;
static uint64_t slot_bytes; /* of a full tablet */

static int set_up(void **state)
{
    struct device_params host = { .choice = "host" };

    (void)state;
    disk_start(NULL, 0);
    assert_int_equal(device_open(&host, &device, ERROR), VDBQ_OK);
    assert_int_equal(
        sample_database(TABLET_ROWS, TABLET_ROWS * TABLETS - 300, &database),
        VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, TABLETS);
    slot_bytes = page_round(table->tablets[0].size_bytes);
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

static struct pool *make_pool(uint64_t budget_bytes)
{
    struct pool *pool;

    assert_int_equal(pool_create(database, device, budget_bytes, &pool, ERROR),
                     VDBQ_OK);
    return pool;
}

/* Makes table r anew, and pins its tablet as a query of the newest state does, which
 * may have asked for it ahead. */
static void replace_and_pin(struct pool *pool, int salt, bool ahead)
{
    struct transaction *transaction;
    struct snapshot newest;
    struct pool_want want;
    struct pool_slot *slot;
    const struct table *old;

    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    old = catalogue_table(transaction_catalogue(transaction), "r");
    if (old != NULL)
        assert_int_equal(transaction_drop_table(transaction, old->id, ERROR),
                         VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "r", true), VDBQ_OK);
    assert_int_equal(
        append_sample_rows(transaction, "r", 0, 100 + (uint32_t)salt % 7, salt),
        VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &newest, ERROR), VDBQ_OK);
    want =
        (struct pool_want){ .table = catalogue_table(newest.catalogue, "r") };
    want.tablet = want.table->tablets;
    assert_true(!ahead || pool_ahead(pool, &want));
    assert_int_equal(pool_pin(pool, &want, &slot, ERROR), VDBQ_OK);
    assert_int_equal(block_checksum(device_memory_host(slot->memory),
                                    (size_t)want.tablet->size_bytes),
                     want.tablet->checksum);
    pool_release(pool, slot);
    snapshot_close(&newest);
}

/* Pins all columns of a tablet. */
static enum vdbq_status pin_whole(struct pool *pool, size_t tablet,
                                  struct pool_slot **slot)
{
    const struct pool_want want = { .table = table,
                                    .tablet = &table->tablets[tablet] };

    return pool_pin(pool, &want, slot, ERROR);
}

static struct pool_slot *pin(struct pool *pool, size_t tablet)
{
    struct pool_slot *slot;

    if (pin_whole(pool, tablet, &slot) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return slot;
}

/* The slot holds that tablet, bytes and head. */
static void assert_holds(struct pool_slot *slot, size_t tablet)
{
    const struct tablet_ref *ref = &table->tablets[tablet];
    const void *bytes = device_memory_host(slot->memory);
    const struct tablet_column *column = tablet_column(slot->tablet, 0);

    assert_non_null(bytes);
    assert_int_equal((uintptr_t)bytes % TABLET_ALIGN, 0);
    assert_int_equal(block_checksum(bytes, (size_t)ref->size_bytes),
                     ref->checksum);
    assert_memory_equal(slot->tablet, bytes, sizeof *slot->tablet);
    assert_int_equal(column->minimum, (int64_t)tablet * TABLET_ROWS);
}

static void what_is_in_stays(void **state)
{
    struct pool *pool = make_pool(slot_bytes * KEPT);
    uint64_t read;

    (void)state;
    for (size_t i = 0; i < KEPT; i++) {
        struct pool_slot *slot = pin(pool, i);
        assert_holds(slot, i);
        pool_release(pool, slot);
    }
    read = disk.read_bytes;
    assert_true(pool_load_ns(pool) > 0);
    for (size_t i = 0; i < KEPT; i++) {
        struct pool_slot *slot = pin(pool, i);
        assert_holds(slot, i);
        pool_release(pool, slot);
    }
    assert_int_equal(disk.read_bytes, read);
    pool_destroy(pool);
}

/* How a column of texts is wanted. */
enum texts { WORDS, CODES, APART };

static unsigned text_column(void)
{
    unsigned column = 0;

    while (table->columns[column].type != VDBQ_TEXT)
        column++;
    return column;
}

/* Pins the column of texts alone. */
static struct pool_slot *pin_texts(struct pool *pool, enum texts as)
{
    unsigned column = text_column();
    struct pool_want want = { .table = table,
                              .tablet = &table->tablets[1],
                              .columns = &column,
                              .column_count = 1,
                              .codes = as == CODES,
                              .apart = as == APART };
    struct pool_slot *slot;

    if (pool_pin(pool, &want, &slot, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return slot;
}

/* Codes come alone once they were compared with their words, and with these for
 * who wants them. */
static void codes_come_without_their_words(void **state)
{
    struct pool *pool = make_pool(slot_bytes * TABLETS);
    static const enum texts wants[] = { CODES, CODES, WORDS, CODES };
    static const bool words[] = { true, false, true, true };
    uint64_t first = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof wants / sizeof *wants; i++) {
        struct pool_slot *slot;
        uint64_t sum = 0;
        if (i == 1)
            pool_empty(pool);
        slot = pin_texts(pool, wants[i]);
        const char *block = device_memory_host(slot->memory);
        assert_int_equal(slot->tablet->variable_size > 0, words[i]);
        for (unsigned k = 0; k < slot->tablet->columns; k++)
            if (tablet_column(slot->tablet, k)->type == TYPE_WORD)
                sum = block_checksum(
                    block + tablet_column(slot->tablet, k)->values,
                    tablet_column(slot->tablet, k)->bits * TABLET_ROWS / 8);
        first = i == 0 ? sum : first;
        assert_int_equal(sum, first);
        pool_release(pool, slot);
    }
    pool_destroy(pool);
}

/* The words of the column, held, which come apart; its codes stay in the pool. */
static struct dictionary *take_apart(struct pool *pool, bool in_block)
{
    struct pool_slot *slot = pin_texts(pool, APART);
    struct dictionary *words =
        dictionary_hold(slot->dictionaries[text_column()]);

    assert_int_equal(slot->tablet->variable_size > 0, in_block);
    pool_release(pool, slot);
    return words;
}

static void assert_words(struct pool *pool, const struct dictionary *words)
{
    unsigned column = text_column();
    struct pool_slot *slot = pin_texts(pool, WORDS);
    const void *block = device_memory_host(slot->memory);

    assert_int_equal(words->count, tablet_words(block, column)->count);
    for (uint32_t i = 0; i < words->count; i++)
        assert_int_equal(text_compare(dictionary_text(words, i),
                                      tablet_word(block, column, i)),
                         0);
    pool_release(pool, slot);
}

/* Words that come apart are there once, whoever wants them, and live as long as
 * somebody holds them. */
static void words_come_apart(void **state)
{
    struct pool *pool = make_pool(slot_bytes * TABLETS);
    struct dictionary *words = take_apart(pool, false), *again;
    uint64_t read = disk.read_bytes;

    (void)state;
    pool_release(pool, pin_texts(pool, CODES));
    again = take_apart(pool, false);
    assert_int_equal(disk.read_bytes, read);
    assert_ptr_equal(again, words);
    dictionary_release(again);
    assert_words(pool, words); /* whose slot takes those over */
    again = take_apart(pool, true);
    assert_ptr_equal(again, words);
    dictionary_release(again);
    pool_empty(pool);
    assert_words(pool, words);
    again = take_apart(pool, true); /* a copy of those in the block */
    assert_ptr_not_equal(again, words);
    assert_words(pool, again);
    pool_destroy(pool);
    dictionary_release(again);
    assert_true(dictionary_text(words, words->count - 1).length > 0);
    dictionary_release(words);
}

/* Slots of tablets that were replaced make way, or their memory goes on, and what
 * was proven of them is forgotten; those of tablets that are there, or that a
 * snapshot sees, stay. */
static void tablets_that_are_no_more_leave(void **state)
{
    enum { LIVE = HOSTILE(1, TABLETS) }; /* beside the one that is replaced */
    struct pool *pool = make_pool(UINT64_C(1) << 30);
    static struct os_file_calls anywhere;
    uint64_t live = 0, most = 0, proven;

    (void)state;
    anywhere = disk_calls;
    anywhere.reads_anywhere = true; /* so that some come ahead */
    database->file.calls = &anywhere;
    for (size_t i = 0; i < LIVE; i++)
        pool_release(pool, pin(pool, i));
    live = pool_bytes(pool);
    proven = pool->proofs.used_bytes;
    for (int i = 0; i < 400; i++) {
        replace_and_pin(pool, i, i >= 200);
        most = pool_bytes(pool) > most ? pool_bytes(pool) : most;
        assert_true(pool->proofs.used_bytes <= 4 * proven);
    }
    assert_true(most <= 3 * live);
    disk.reads = 0;
    for (size_t i = 0; i < LIVE; i++)
        pool_release(pool, pin(pool, i));
    assert_int_equal(disk.reads, 0);
    pool_destroy(pool);
    database->file.calls = &disk_calls;
}

static void the_budget_holds(void **state)
{
    uint64_t budget = slot_bytes * HELD + 100;
    struct pool *pool = make_pool(budget);

    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        struct pool_slot *slots[HELD];
        size_t tablets[HELD];
        unsigned count = (unsigned)chance_below(HELD) + 1;
        for (unsigned k = 0; k < count; k++) {
            tablets[k] = (size_t)chance_below(TABLETS);
            slots[k] = pin(pool, tablets[k]);
            assert_true(pool_bytes(pool) <= budget);
        }
        for (unsigned k = 0; k < count; k++) {
            assert_holds(slots[k], tablets[k]);
            pool_release(pool, slots[k]);
        }
    }
    pool_destroy(pool);
}

static void the_least_recently_used_leaves(void **state)
{
    struct pool *pool = make_pool(slot_bytes * HELD);
    uint64_t read;

    (void)state;
    for (size_t i = 0; i < HELD; i++)
        pool_release(pool, pin(pool, i));
    pool_release(pool, pin(pool, 0));
    pool_release(pool, pin(pool, HELD)); /* 1 leaves */
    read = disk.read_bytes;
    for (size_t i = 0; i <= HELD; i++)
        if (i != 1)
            pool_release(pool, pin(pool, i));
    assert_int_equal(disk.read_bytes, read);
    pool_release(pool, pin(pool, 1));
    assert_true(disk.read_bytes > read);
    pool_destroy(pool);
}

/* What others use is taken from idle slots; what is pinned stays. */
static void others_share_the_budget(void **state)
{
    struct pool *pool = make_pool(slot_bytes * HELD);
    struct pool_slot *slots[HELD];
    atomic_uint_fast64_t others = 0;

    (void)state;
    pool_share(pool, &others);
    for (size_t i = 0; i < HELD; i++)
        pool_release(pool, pin(pool, i));
    assert_true(pool_bytes(pool) > slot_bytes * (HELD - 1));
    others = slot_bytes * (HELD - 1);
    pool_release(pool, pin(pool, HELD));
    assert_true(pool_bytes(pool) <= slot_bytes);
    for (size_t i = 0; i < HELD; i++)
        slots[i] = pin(pool, i);
    assert_true(pool_bytes(pool) <= slot_bytes * HELD);
    for (size_t i = 0; i < HELD; i++)
        pool_release(pool, slots[i]);
    pool_destroy(pool);
}

/* The ancestor ended in an assertion where every slot was in use. */
static void a_full_pool_says_so(void **state)
{
    struct pool *pool = make_pool(slot_bytes * 2);
    struct pool_slot *one = pin(pool, 0), *two = pin(pool, 1), *three;

    (void)state;
    assert_int_equal(pin_whole(pool, 2, &three), VDBQ_LIMIT);
    assert_null(three);
    assert_non_null(strstr(ERROR->hint, "VDBQ_MEMORY"));
    three = pin(pool, 1);
    assert_ptr_equal(three, two);
    pool_release(pool, two);
    assert_int_equal(pin_whole(pool, 2, &two),
                     VDBQ_LIMIT); /* still pinned once */
    pool_release(pool, three);
    two = pin(pool, 2);
    assert_holds(one, 0);
    assert_holds(two, 2);
    pool_release(pool, one);
    pool_release(pool, two);
    pool_destroy(pool);
    pool = make_pool(slot_bytes - 1);
    assert_int_equal(pin_whole(pool, 0, &one), VDBQ_LIMIT);
    assert_int_equal(pool_bytes(pool), 0);
    pool_destroy(pool);
    pool_destroy(NULL);
}

enum { HOLDERS = 4, HELD_MAX = 3 };

/* Somebody who keeps some slots until others need the room. */
struct keeper {
    struct pool_holder holder; /* first */
    struct pool *pool;
    struct pool_slot *slots[HELD_MAX];
    size_t tablets[HELD_MAX];
    unsigned count, asked;
};

static enum vdbq_status let_go(struct pool_holder *holder, struct error *error)
{
    struct keeper *keeper = (struct keeper *)holder;

    (void)error;
    keeper->asked++;
    while (keeper->count > 0) {
        keeper->count--;
        assert_holds(keeper->slots[keeper->count],
                     keeper->tablets[keeper->count]);
        pool_release(keeper->pool, keeper->slots[keeper->count]);
    }
    return VDBQ_OK;
}

/* Pins a tablet more, and keeps it. */
static void keep(struct keeper *keeper, size_t tablet)
{
    struct pool_slot *slot = pin(keeper->pool, tablet);

    keeper->slots[keeper->count] = slot;
    keeper->tablets[keeper->count++] = tablet;
}

/* However much holders keep, there is room for what somebody needs; who yields
 * does not disturb them. */
static void holders_let_go(void **state)
{
    struct pool *pool = make_pool(slot_bytes * 2);
    struct keeper keepers[HOLDERS] = { 0 };
    const struct pool_want yields = { .table = table,
                                      .tablet = &table->tablets[9],
                                      .yields = true };
    struct pool_slot *slot;

    (void)state;
    for (unsigned i = 0; i < HOLDERS; i++) {
        keepers[i].holder.let_go = let_go;
        keepers[i].pool = pool;
        pool_join(pool, &keepers[i].holder);
    }
    for (unsigned i = 0; i < 500; i++) {
        struct keeper *keeper = &keepers[chance_below(HOLDERS)];
        if (keeper->count == HELD_MAX)
            let_go(&keeper->holder, ERROR);
        keep(keeper, (size_t)chance_below(TABLETS));
        assert_true(pool_bytes(pool) <= slot_bytes * 2);
    }
    pool_empty(pool);
    for (unsigned i = 0; i < HOLDERS; i++)
        let_go(&keepers[i].holder, ERROR);
    keep(&keepers[0], 0);
    keep(&keepers[1], 1);
    keepers[0].asked = 0;
    assert_int_equal(pool_pin(pool, &yields, &slot, ERROR), VDBQ_LIMIT);
    assert_int_equal(keepers[0].asked, 0);
    pool_leave(pool, &keepers[0].holder);
    pool_leave(pool, &keepers[0].holder);
    pool_release(pool, pin(pool, 9));
    assert_int_equal(keepers[0].asked, 0);
    assert_int_equal(keepers[1].count, 0);
    pool_release(pool, keepers[0].slots[0]);
    pool_destroy(pool);
}

static void sizes_may_differ(void **state)
{
    struct pool *pool = make_pool(slot_bytes * 2);

    (void)state;
    assert_true(page_round(table->tablets[TABLETS - 1].size_bytes)
                < slot_bytes);
    for (unsigned i = 0; i < 100; i++) {
        size_t tablet =
            i % 3 == 0 ? TABLETS - 1 : (size_t)chance_below(TABLETS);
        struct pool_slot *slot = pin(pool, tablet);
        assert_holds(slot, tablet);
        assert_true(pool_bytes(pool) <= slot_bytes * 2);
        pool_release(pool, slot);
    }
    pool_destroy(pool);
}

static void memory_on_the_device_is_taken_back(void **state)
{
    struct pool *pool = make_pool(slot_bytes);
    struct device_times times = { 0 };
    struct pool_slot *slot = pin(pool, 0);

    (void)state;
    assert_int_equal(device_memory_give(slot->memory, &times, ERROR), VDBQ_OK);
    assert_int_equal(slot->tablet->rows, TABLET_ROWS);
    pool_release(pool, slot);
    slot = pin(pool, 1);
    assert_holds(slot, 1);
    pool_release(pool, slot);
    pool_destroy(pool);
}

/* A failure to load leaves nothing behind. */
static void faults_are_passed_up(void **state)
{
    struct pool *pool = make_pool(slot_bytes * 2);
    const struct tablet_ref *tablet = &table->tablets[5];
    struct pool_slot *slot;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        disk.bytes[tablet->offset + 999] ^= 4;
        assert_int_equal(pin_whole(pool, 5, &slot), VDBQ_CORRUPT);
        disk.bytes[tablet->offset + 999] ^= 4;
        disk.fail_calls = DISK_READ;
        disk.fail_code = EIO;
        disk.fail_at = 1;
        disk.calls = 0;
        assert_int_equal(pin_whole(pool, 5, &slot), VDBQ_IO);
        disk.fail_at = 0;
        assert_null(slot);
        pool_release(pool, NULL);
        pool_release(pool, pin(pool, 1));
        pool_release(pool, pin(pool, 2));
    }
    slot = pin(pool, 5);
    assert_holds(slot, 5);
    pool_release(pool, slot);
    pool_destroy(pool);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 24; at++) {
        struct pool *pool = make_pool(slot_bytes * 2);
        for (size_t i = 0; i < 4; i++) {
            struct pool_want want = { .table = table,
                                      .tablet = &table->tablets[i],
                                      .apart = at % 2 > 0 };
            struct pool_slot *slot;
            enum vdbq_status status;
            memory_fail_once_after(at / 2);
            status = pool_pin(pool, &want, &slot, ERROR);
            memory_fail_never();
            if (status == VDBQ_OK)
                pool_release(pool, slot);
            else
                assert_int_equal(status, VDBQ_NO_MEMORY);
        }
        pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_stays),
        cmocka_unit_test(codes_come_without_their_words),
        cmocka_unit_test(words_come_apart),
        cmocka_unit_test(tablets_that_are_no_more_leave),
        cmocka_unit_test(the_budget_holds),
        cmocka_unit_test(the_least_recently_used_leaves),
        cmocka_unit_test(others_share_the_budget),
        cmocka_unit_test(a_full_pool_says_so),
        cmocka_unit_test(holders_let_go),
        cmocka_unit_test(sizes_may_differ),
        cmocka_unit_test(memory_on_the_device_is_taken_back),
        cmocka_unit_test(faults_are_passed_up),
        cmocka_unit_test(memory_may_run_out),
    };

    chance_start();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
