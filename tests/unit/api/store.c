/* SPDX-License-Identifier: MIT */
/*
 * Stores of values by keys: against a sorted array in C, through puts, gets,
 * deletes, scans of ranges, transactions and reopening; keys of several types,
 * values of all sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/hostile.h"
#include "fixtures/answer.h"

enum {
    KEYS = 97,
    STEPS = HOSTILE(150, 1500),
    LONG_BYTES = HOSTILE(1 << 16, 20 << 20)
};

static char path[] = "/tmp/vdbq-store-XXXXXX";
static vdbq *db;
static vdbq_store *store;

static void ok(enum vdbq_status status)
{
    if (status != VDBQ_OK)
        fail_msg("%s", vdbq_error(db)->message);
}

static int make_path(void **state)
{
    int file = mkstemp(path);
    (void)state;
    if (file < 0)
        return -1;
    close(file);
    unlink(path);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void open_store(const char *sql)
{
    ok(vdbq_open(path, VDBQ_OPEN_CREATE, &db));
    set_option(db, "device", "host");
    ok(vdbq_execute(db, sql));
    ok(vdbq_store_open(db, "kv", "v", &store));
}

static struct vdbq_item text_item(const char *bytes, size_t length)
{
    return (struct vdbq_item){ .type = VDBQ_TEXT, .text = { bytes, length } };
}

static struct vdbq_item number_item(int64_t number)
{
    return (struct vdbq_item){ .type = VDBQ_BIGINT, .integer = number };
}

/* ------------------------------------------------------------ the model -- */

/* Value of each key; 0: the key is not there. */
static struct {
    bool texts; /* keys are texts, else numbers */
    int values[KEYS];
    char key[16], value[64];
} model;

static struct vdbq_item key_item(int key)
{
    if (!model.texts)
        return number_item(key * 1000 - 20000);
    snprintf(model.key, sizeof model.key, "key %03d", key);
    return text_item(model.key, strlen(model.key));
}

static struct vdbq_item value_item(int value)
{
    snprintf(model.value, sizeof model.value, "%*d", 1 + value % 50, value);
    return text_item(model.value, strlen(model.value));
}

static void check_value(const struct vdbq_item *item, int value)
{
    struct vdbq_item wanted = value_item(value);
    assert_int_equal(item->type, VDBQ_TEXT);
    assert_int_equal(item->text.length, wanted.text.length);
    assert_memory_equal(item->text.bytes, wanted.text.bytes,
                        wanted.text.length);
}

static void check_get(int number)
{
    struct vdbq_item key = key_item(number), value;
    enum vdbq_status status = vdbq_store_get(store, &key, &value);
    assert_int_equal(status, model.values[number] ? VDBQ_ROW : VDBQ_DONE);
    if (model.values[number])
        check_value(&value, model.values[number]);
}

static bool same_items(const struct vdbq_item *a, const struct vdbq_item *b)
{
    return a->type == b->type && a->integer == b->integer
           && a->text.length == b->text.length
           && (a->text.length == 0
               || memcmp(a->text.bytes, b->text.bytes, a->text.length) == 0);
}

/* Keys from `from` to before `to`; below 0: no bound. */
static void check_scan(int from, int to)
{
    struct vdbq_item low = key_item(from < 0 ? 0 : from), high, key, value;
    char low_text[16];
    memcpy(low_text, model.key, sizeof low_text);
    if (model.texts)
        low.text.bytes = low_text;
    high = key_item(to < 0 ? 0 : to);
    ok(vdbq_store_scan(store, from < 0 ? NULL : &low, to < 0 ? NULL : &high));
    for (int k = from < 0 ? 0 : from; k < (to < 0 ? KEYS : to); k++) {
        if (!model.values[k])
            continue;
        struct vdbq_item wanted = key_item(k);
        assert_int_equal(vdbq_store_next(store, &key, &value), VDBQ_ROW);
        assert_true(same_items(&key, &wanted));
        check_value(&value, model.values[k]);
    }
    assert_int_equal(vdbq_store_next(store, &key, &value), VDBQ_DONE);
}

static void step(int i)
{
    int number = i * 31 % KEYS;
    struct vdbq_item key = key_item(number);
    bool was_there;
    if (i % 4 == 3) {
        ok(vdbq_store_delete(store, &key, &was_there));
        assert_int_equal(was_there, model.values[number] != 0);
        model.values[number] = 0;
    } else {
        struct vdbq_item value = value_item(i + 1);
        ok(vdbq_store_put(store, &key, &value));
        model.values[number] = i + 1;
    }
    check_get(number);
    check_get((number + 1) % KEYS);
    if (i % 16 == 0) {
        check_scan(-1, -1);
        check_scan(i % KEYS, (i + 20) % KEYS);
        check_scan(i % KEYS, -1);
        check_scan(-1, i % KEYS);
    }
}

static void run_model(const char *sql, bool texts)
{
    memset(&model, 0, sizeof model);
    model.texts = texts;
    open_store(sql);
    for (int i = 0; i < STEPS; i++) {
        if (i % 40 == 10)
            ok(vdbq_execute(db, "begin"));
        step(i);
        if (i % 40 == 30)
            ok(vdbq_execute(db, "commit"));
        if (i % 200 == 199) { /* vdbq_close() closes the store */
            vdbq_close(db);
            open_store("");
        }
    }
    vdbq_close(db);
    unlink(path);
}

static void test_texts(void **state)
{
    (void)state;
    run_model("create table kv (k text primary key, v text)", true);
}

static void test_numbers(void **state)
{
    (void)state;
    run_model("create table kv (v text, k integer primary key, o text)", false);
}

/* ---------------------------------------------------------------- others -- */

/* Other columns stay as they are; names that need quotes; each type of value. */
static void test_columns(void **state)
{
    struct vdbq_item key = number_item(1), value = number_item(7), none = { 0 };
    vdbq_store *other;
    (void)state;
    open_store("create table kv (k integer primary key, v integer,"
               " o text default 'x', \"a \"\"name\" date, c decimal(9,2))");
    ok(vdbq_store_put(store, &key, &value));
    ok(vdbq_execute(db, "update kv set o = 'mine'"));
    value = number_item(8);
    ok(vdbq_store_put(store, &key, &value));
    assert_int_equal(
        ask(db, "select 1 from kv where v = 8 and o = 'mine'", NULL).rows, 1);
    ok(vdbq_store_put(store, &key, &none));
    assert_int_equal(vdbq_store_get(store, &key, &value), VDBQ_ROW);
    assert_int_equal(value.type, VDBQ_TYPE_NONE);
    ok(vdbq_store_open(db, "kv", "a \"name", &other));
    value = text_item("2024-02-29", 10);
    ok(vdbq_store_put(other, &key, &value));
    assert_int_equal(vdbq_store_get(other, &key, &value), VDBQ_ROW);
    assert_int_equal(value.text.length, 10);
    assert_memory_equal(value.text.bytes, "2024-02-29", 10);
    vdbq_store_close(other);
    ok(vdbq_store_open(db, "kv", "c", &other));
    value = text_item("12.5", 4);
    ok(vdbq_store_put(other, &key, &value));
    assert_int_equal(vdbq_store_get(other, &key, &value), VDBQ_ROW);
    assert_memory_equal(value.text.bytes, "12.50", 5);
    vdbq_close(db);
    unlink(path);
}

/* Texts from nothing to megabytes come back, after reopening, too. */
static void test_long(void **state)
{
    enum { SIZES = 6 };
    static const size_t sizes[SIZES] = { 0, 1, 100, 5000, 1 << 16, LONG_BYTES };
    char *bytes = malloc(LONG_BYTES);
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < LONG_BYTES; i++)
        bytes[i] = (char)('a' + i * 7 % 26);
    open_store("create table kv (k integer primary key, v text)");
    for (int i = 0; i < SIZES; i++) {
        struct vdbq_item key = number_item(i);
        struct vdbq_item value = text_item(bytes, sizes[i]);
        ok(vdbq_store_put(store, &key, &value));
    }
    vdbq_close(db);
    open_store("");
    for (int i = 0; i < SIZES; i++) {
        struct vdbq_item key = number_item(i), value;
        assert_int_equal(vdbq_store_get(store, &key, &value), VDBQ_ROW);
        assert_int_equal(value.text.length, sizes[i]);
        assert_memory_equal(value.text.bytes, bytes, sizes[i]);
    }
    vdbq_close(db);
    unlink(path);
    free(bytes);
}

/* ------------------------------------------------------------------ keys -- */

static struct vdbq_item real_item(double real)
{
    return (struct vdbq_item){ .type = VDBQ_DOUBLE, .real = real };
}

/* Three keys of a type, in order, as they are given and as they come back. */
struct typed_keys {
    const char *type;
    struct vdbq_item keys[3];
};

static void check_same(const struct vdbq_item *a, const struct vdbq_item *b)
{
    assert_int_equal(a->type, b->type);
    if (a->type == VDBQ_BIGINT)
        assert_int_equal(a->integer, b->integer);
    else if (a->type == VDBQ_DOUBLE)
        assert_true(a->real == b->real);
    else {
        assert_int_equal(a->text.length, b->text.length);
        assert_memory_equal(a->text.bytes, b->text.bytes, a->text.length);
    }
}

/* Keys of one type are put in any order, come in theirs, and go one by one. */
static void check_keys(const struct typed_keys *typed)
{
    static const int order[] = { 2, 0, 1 };
    struct vdbq_item key, value;
    char sql[100];
    bool there;

    snprintf(sql, sizeof sql, "create table kv (k %s primary key, v integer)",
             typed->type);
    open_store(sql);
    for (int i = 0; i < 3; i++) {
        value = number_item(order[i]);
        ok(vdbq_store_put(store, &typed->keys[order[i]], &value));
    }
    ok(vdbq_store_scan(store, &typed->keys[1], NULL));
    for (int i = 1; i < 3; i++) {
        assert_int_equal(vdbq_store_next(store, &key, &value), VDBQ_ROW);
        check_same(&key, &typed->keys[i]);
        assert_int_equal(value.integer, i);
    }
    assert_int_equal(vdbq_store_next(store, &key, &value), VDBQ_DONE);
    ok(vdbq_store_delete(store, &typed->keys[1], &there));
    assert_true(there);
    ok(vdbq_store_delete(store, &typed->keys[1], &there));
    assert_false(there);
    assert_int_equal(vdbq_store_get(store, &typed->keys[1], &value), VDBQ_DONE);
    assert_int_equal(vdbq_store_get(store, &typed->keys[2], &value), VDBQ_ROW);
    vdbq_close(db);
    unlink(path);
}

static void test_key_types(void **state)
{
    const struct typed_keys types[] = {
        { "smallint", { number_item(-3), number_item(0), number_item(9) } },
        { "bigint",
          { number_item(INT64_MIN), number_item(0), number_item(INT64_MAX) } },
        { "double", { real_item(-1e300), real_item(0.5), real_item(1e300) } },
        { "float", { real_item(-2), real_item(0.25), real_item(1 << 20) } },
        { "date",
          { text_item("1969-12-31", 10), text_item("1970-01-01", 10),
            text_item("2024-02-29", 10) } },
        { "timestamp",
          { text_item("1969-12-31 23:59:59", 19),
            text_item("1970-01-01 00:00:01", 19),
            text_item("2024-02-29 12:00:00", 19) } },
        { "decimal(9,2)",
          { text_item("-12.50", 6), text_item("0.01", 4),
            text_item("100.00", 6) } },
        { "text", { text_item("", 0), text_item("a", 1), text_item("ab", 2) } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        check_keys(&types[i]);
}

/* --------------------------------------------------------------- threads -- */

enum { THREADS = 4, KEYS_EACH = HOSTILE(10, 50) };

/* A connection of its own, which puts keys that no other one has, reads each, and
 * deletes every other one. */
static void *use_store(void *context)
{
    int first = *(int *)context;
    vdbq *own;
    vdbq_store *mine;
    bool failed = vdbq_open(path, VDBQ_OPEN_NO_SYNC, &own) != VDBQ_OK
                  || vdbq_set(own, "device", "host") != VDBQ_OK
                  || vdbq_set(own, "timeout", "60000") != VDBQ_OK
                  || vdbq_store_open(own, "kv", "v", &mine) != VDBQ_OK;

    for (int i = first; !failed && i < first + KEYS_EACH; i++) {
        struct vdbq_item key = number_item(i), value = number_item(i * 3);
        failed =
            vdbq_store_put(mine, &key, &value) != VDBQ_OK
            || vdbq_store_get(mine, &key, &value) != VDBQ_ROW
            || value.integer != i * 3
            || (i % 2 == 0 && vdbq_store_delete(mine, &key, NULL) != VDBQ_OK);
    }
    vdbq_close(own);
    *(int *)context = failed ? -1 : first;
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    int firsts[THREADS];

    (void)state;
    open_store("create table kv (k integer primary key, v bigint)");
    for (int i = 0; i < THREADS; i++) {
        firsts[i] = i * 1000;
        assert_int_equal(
            pthread_create(&threads[i], NULL, use_store, &firsts[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(firsts[i], i * 1000);
    ok(vdbq_store_scan(store, NULL, NULL));
    for (int i = 0; i < THREADS * KEYS_EACH / 2; i++) {
        struct vdbq_item key, value;
        assert_int_equal(vdbq_store_next(store, &key, &value), VDBQ_ROW);
        assert_int_equal(key.integer % 2, 1);
        assert_int_equal(value.integer, 3 * key.integer);
    }
    vdbq_close(db);
    unlink(path);
}

/* --------------------------------------------------------------- refused -- */

static void expect(enum vdbq_status status, enum vdbq_status wanted,
                   const char *message)
{
    assert_int_equal(status, wanted);
    assert_non_null(strstr(vdbq_error(db)->message, message));
}

static void test_refused(void **state)
{
    struct vdbq_item key = number_item(1), value = text_item("\xff", 1);
    vdbq_store *none;
    (void)state;
    open_store("create table kv (k integer primary key, v text not null);"
               "create table bare (a integer, b text)");
    expect(vdbq_store_open(db, "bare", "b", &none), VDBQ_TYPE,
           "no primary key");
    expect(vdbq_store_open(db, "kv", "k", &none), VDBQ_TYPE, "primary key");
    expect(vdbq_store_open(db, "kv", "x", &none), VDBQ_UNKNOWN, "x");
    expect(vdbq_store_open(db, "x", "v", &none), VDBQ_UNKNOWN, "x");
    assert_null(none);
    expect(vdbq_store_next(store, &key, &value), VDBQ_MISUSE, "");
    expect(vdbq_store_put(store, &key, &value), VDBQ_RANGE, "UTF-8");
    value.type = VDBQ_DATE;
    expect(vdbq_store_put(store, &key, &value), VDBQ_TYPE, "DATE");
    value.type = VDBQ_TYPE_NONE;
    expect(vdbq_store_put(store, &key, &value), VDBQ_CONSTRAINT, "v");
    assert_int_equal(vdbq_store_get(store, &key, &value), VDBQ_DONE);
    vdbq_close(db);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_columns),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_key_types), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
