/* SPDX-License-Identifier: MIT */
/*
 * The cache of dictionaries: the same words, not read again, as long as the
 * table is what it was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "data/transaction/transaction.h"
#include "device/device.h"
#include "exec/dictionary/dictionary_cache.h"
#include "fixtures/settings.h"
#include "plan/plan.h"

struct rig {
    struct database *database;
    struct device *device;
    struct pool *pool;
    struct dictionary_cache *cache;
    struct error error;
};

static void expect_ok(struct rig *rig, enum vdbq_status status)
{
    if (status != VDBQ_OK)
        print_error("%s\n", rig->error.message);
    assert_int_equal(status, VDBQ_OK);
}

/* Appends a row to table t, which is made first where there is none. */
static void append(struct rig *rig, const char *word)
{
    const struct column column = { .name = "a", .type = VDBQ_TEXT };
    struct vdbq_text text = { word, strlen(word) };
    struct vdbq_vector vector = { .type = VDBQ_TEXT, .values = &text };
    struct transaction *transaction;
    expect_ok(rig, transaction_begin(rig->database, &transaction, &rig->error));
    if (catalogue_table(transaction_catalogue(transaction), "t") == NULL)
        expect_ok(rig, transaction_create_table(transaction, "t", &column, 1,
                                                NO_KEY, &rig->error));
    uint32_t id = catalogue_table(transaction_catalogue(transaction), "t")->id;
    expect_ok(rig,
              transaction_append(transaction, id, 1, &vector, &rig->error));
    expect_ok(rig, transaction_commit(transaction, &rig->error));
}

/* Tablets have so many rows at most; 0: as many as usual. */
static void open_rig(struct rig *rig, uint64_t tablet_rows)
{
    *rig = (struct rig){ .cache = dictionary_cache_create() };
    expect_ok(rig, database_open(
                       &(struct database_params){
                           .path = ":memory:",
                           .flags = VDBQ_OPEN_CREATE,
                           .files = &os_memory_files,
                           .settings = settings_for_tests(tablet_rows) },
                       &rig->database, &rig->error));
    expect_ok(rig, device_open(&(struct device_params){ .choice = "host" },
                               &rig->device, &rig->error));
    expect_ok(rig, pool_create(rig->database, rig->device, 64 << 20, &rig->pool,
                               &rig->error));
}

static void close_rig(struct rig *rig)
{
    dictionary_cache_destroy(rig->cache);
    pool_destroy(rig->pool);
    device_close(rig->device);
    database_close(rig->database);
}

#define PROGRAM(lines, more, result)                                           \
    "Table 0 0 0 0 \"t\"\nResultColumn 1 0 0 0 \"a\"\nParallel 0 0 " lines     \
    "\nColumn.WORD 0 0 0\n" more "Result " result " 1\nConverge\nFinish\n"
static const char shows[] = PROGRAM("6", "", "0");
static const char compares[] =
    PROGRAM("8", "Text 1 0 0 0 \"x\"\nIsEq.I32 2 0 1\n", "2");
static const char looks_up[] =
    PROGRAM("7", "Lookup.I32 1 0 0 0 \"length(?)\"\n", "1");
static const char numbers_too[] = PROGRAM("7", "Rowid.I64 1\n", "0");
static const char numbers_and_looks_up[] =
    PROGRAM("8", "Rowid.I64 2\nLookup.I32 1 0 0 0 \"length(?)\"\n", "1");

/* The words of column a, as the newest state of the table has them, for what a
 * program does with them, and what is asked of its results; of tablets that are
 * not `unread`. */
static struct dictionary_base *read_asked(struct rig *rig,
                                          const char *program_text,
                                          const bool *unread,
                                          enum texts_use asked)
{
    const uint8_t texts[1] = { (uint8_t)asked };
    struct snapshot snapshot;
    struct program program;
    struct program_pack pack;
    struct dictionary_base *base;
    const struct run_place place = { .pool = rig->pool,
                                     .dictionaries = rig->cache };
    program_init(&program);
    expect_ok(rig, snapshot_open(rig->database, &snapshot, &rig->error));
    const struct table *table = catalogue_table(snapshot.catalogue, "t");
    expect_ok(rig, program_read(program_text, &program, &rig->error));
    expect_ok(rig, plan_describe(table, &program, vector_at(&program.tables, 0),
                                 &rig->error));
    expect_ok(rig, program_check(&program, &rig->error));
    expect_ok(rig, program_pack(&program, &program.arena, &pack, &rig->error));
    expect_ok(
        rig, dictionary_cache_base(
                 &(struct dictionary_cache_params){
                     .place = &place,
                     .table = table,
                     .pack = &pack,
                     .uses = dictionary_base_uses(&pack, texts, &program.arena),
                     .unread = unread },
                 &base, &rig->error));
    program_finish(&program);
    snapshot_close(&snapshot);
    return base;
}

static struct dictionary_base *
read_some_for(struct rig *rig, const char *program_text, const bool *unread)
{
    return read_asked(rig, program_text, unread, TEXTS_ORDERED);
}

static struct dictionary_base *read_words_for(struct rig *rig,
                                              const char *program_text)
{
    return read_some_for(rig, program_text, NULL);
}

static struct dictionary_base *read_words(struct rig *rig)
{
    return read_words_for(rig, shows);
}

/* Few words that are compared are joined as all others are. */
static void test_words_are_shared_by_what_they_are_for(void **state)
{
    (void)state;
    struct rig rig;
    open_rig(&rig, 0);
    append(&rig, "one");
    append(&rig, "two");
    struct dictionary_base *shown = read_words(&rig);
    struct dictionary_base *compared = read_words_for(&rig, compares);
    struct dictionary_base *apart = read_words_for(&rig, looks_up);
    struct dictionary_base *again = read_words_for(&rig, looks_up);
    assert_ptr_equal(shown, compared);
    assert_ptr_not_equal(shown, apart);
    assert_ptr_equal(apart, again);
    dictionary_base_release(shown);
    dictionary_base_release(compared);
    dictionary_base_release(apart);
    dictionary_base_release(again);
    close_rig(&rig);
}

/* Words that are shown are listed, tablet by tablet; they are kept beside those of
 * others, also of the tablets that are read alone. */
static void test_words_that_are_shown_are_not_joined(void **state)
{
    static const bool two[] = { true, false, false };
    (void)state;
    struct rig rig;
    open_rig(&rig, 1);
    append(&rig, "c");
    append(&rig, "a");
    append(&rig, "c");
    struct dictionary_base *joined = read_words(&rig);
    struct dictionary_base *some = read_asked(&rig, shows, two, TEXTS_GIVEN);
    struct dictionary_base *shown = read_asked(&rig, shows, NULL, TEXTS_GIVEN);
    struct dictionary_base *again = read_asked(&rig, shows, two, TEXTS_GIVEN);
    struct dictionary_base *apart = read_words_for(&rig, looks_up);
    assert_ptr_not_equal(joined, shown);
    assert_ptr_not_equal(apart, shown);
    assert_true(again == shown || again == some);
    assert_int_equal(joined->dictionary->count, 2);
    assert_int_equal(shown->dictionary->count, 0);
    const struct dictionary *words = shown->apart[0]->shown;
    assert_int_equal(words->count, 3);
    assert_memory_equal(dictionary_text(words, 0).bytes, "c", 1);
    assert_memory_equal(dictionary_text(words, 1).bytes, "a", 1);
    assert_memory_equal(dictionary_text(words, 2).bytes, "c", 1);
    assert_int_equal(shown->order_codes[2].before, 2);
    assert_int_equal(shown->order_codes[2].count, 0);
    assert_int_equal(some->apart[0]->shown->count, 2);
    assert_int_equal(some->order_codes[2].before, 1);
    dictionary_base_release(joined);
    dictionary_base_release(some);
    dictionary_base_release(shown);
    dictionary_base_release(again);
    dictionary_base_release(apart);
    close_rig(&rig);
}

/* Who reads other columns beside the same texts sees the same words, joined once. */
static void test_words_serve_programs_of_other_columns(void **state)
{
    (void)state;
    struct rig rig;
    open_rig(&rig, 1);
    append(&rig, "b");
    append(&rig, "a");
    struct dictionary_base *joined = read_words(&rig);
    struct dictionary_base *other = read_words_for(&rig, numbers_too);
    struct dictionary_base *again = read_words_for(&rig, numbers_too);
    struct dictionary_base *apart = read_words_for(&rig, numbers_and_looks_up);
    struct dictionary_base *alone = read_words_for(&rig, looks_up);
    assert_ptr_not_equal(joined, other);
    assert_ptr_equal(joined->dictionary, other->dictionary);
    assert_ptr_equal(other, again);
    assert_int_equal(other->inputs, 2);
    assert_false(other->is_text[0]);
    assert_true(other->is_text[1]);
    assert_int_equal(other->order_codes[1].order_codes[0], 1);
    assert_int_equal(other->counts[3], 1);
    assert_ptr_not_equal(apart->dictionary, joined->dictionary);
    assert_ptr_equal(apart->apart[1], alone->apart[0]);
    dictionary_base_release(joined);
    dictionary_base_release(again);
    dictionary_base_release(apart);
    dictionary_base_release(alone);
    close_rig(&rig);
    assert_int_equal(other->dictionary->count, 2); /* while a view is held */
    dictionary_base_release(other);
}

static void test_words_are_kept(void **state)
{
    (void)state;
    struct rig rig;
    open_rig(&rig, 0);
    append(&rig, "one");
    struct dictionary_base *first = read_words(&rig), *again = read_words(&rig);
    assert_ptr_equal(first, again);
    append(&rig, "two");
    struct dictionary_base *longer = read_words(&rig), *kept = read_words(&rig);
    assert_ptr_not_equal(first, longer);
    assert_ptr_equal(longer, kept);
    dictionary_base_release(first);
    dictionary_base_release(again);
    dictionary_base_release(longer);
    dictionary_base_release(kept);
    close_rig(&rig);
}

/* Words of tablets that nobody reads are left out, and serve who reads no more
 * tablets; those of all serve everybody. */
static void test_words_of_some_tablets(void **state)
{
    static const bool two[] = { true, false, false };
    static const bool one[] = { true, true, false };
    static const bool other[] = { false, true, true };
    (void)state;
    struct rig rig;
    open_rig(&rig, 1);
    append(&rig, "c");
    append(&rig, "a");
    append(&rig, "b");
    struct dictionary_base *made = read_some_for(&rig, shows, two);
    struct dictionary_base *within = read_some_for(&rig, shows, one);
    struct dictionary_base *beside = read_some_for(&rig, shows, other);
    struct dictionary_base *all = read_words(&rig);
    struct dictionary_base *last = read_some_for(&rig, looks_up, two);
    assert_int_equal(made->morsels, 3);
    assert_int_equal(made->dictionary->count, 2);
    assert_true(made->left_out[0] && !made->left_out[1]);
    assert_ptr_equal(made, within);
    assert_ptr_not_equal(made, beside);
    assert_int_equal(beside->dictionary->count, 1);
    assert_null(all->left_out);
    assert_int_equal(all->dictionary->count, 3);
    assert_int_equal(last->apart[0]->count, 2);
    dictionary_base_release(made);
    dictionary_base_release(within);
    dictionary_base_release(beside);
    dictionary_base_release(all);
    dictionary_base_release(last);
    close_rig(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_kept),
        cmocka_unit_test(test_words_serve_programs_of_other_columns),
        cmocka_unit_test(test_words_are_shared_by_what_they_are_for),
        cmocka_unit_test(test_words_of_some_tablets),
        cmocka_unit_test(test_words_that_are_shown_are_not_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
