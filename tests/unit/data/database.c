/* SPDX-License-Identifier: MIT */
/*
 * One connection: tables are made, filled, kept; keys are there once; what
 * cannot be is refused with a message that says why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "base/os/os.h"
#include "base/text.h"
#include "data/tablet/block.h"
#include "data/database/database.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

static struct database *open_sized(uint32_t tablet_rows)
{
    struct database_params params = params_on_disk(tablet_rows);
    struct database *database = NULL;

    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    return database;
}

static struct database *start(uint32_t tablet_rows)
{
    disk_start(NULL, 0);
    return open_sized(tablet_rows);
}

static struct transaction *begin(struct database *database)
{
    struct transaction *transaction;

    if (transaction_begin(database, &transaction, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return transaction;
}

static void commit(struct transaction *transaction)
{
    if (transaction_commit(transaction, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
}

static void create(struct database *database, const char *name, bool key)
{
    struct transaction *transaction = begin(database);

    assert_int_equal(create_sample_table(transaction, name, key), VDBQ_OK);
    commit(transaction);
}

static void append(struct database *database, const char *name, int32_t first,
                   uint32_t count)
{
    struct transaction *transaction = begin(database);

    assert_int_equal(append_sample_rows(transaction, name, first, count, 1),
                     VDBQ_OK);
    commit(transaction);
}

/* The ids of a table, in order, checked to be first, first + 1 ... */
static void assert_ids(struct database *database, const char *name,
                       int32_t first, uint64_t count, size_t tablets)
{
    struct snapshot snapshot;
    const struct table *table;
    uint64_t row = 0;

    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, name);
    assert_int_equal(table->rows, count);
    assert_int_equal(table->tablet_count, tablets);
    for (size_t i = 0; i < tablets; i++) {
        const struct tablet_ref *tablet = &table->tablets[i];
        struct block block;
        int32_t *ids = malloc(tablet->rows * sizeof *ids);
        assert_int_equal(tablet->row_first, row);
        if (tablet_load(database, table, tablet, &block, ERROR) != VDBQ_OK)
            fail_msg("%s", ERROR->message);
        tablet_values(block.bytes, 0, ids);
        for (uint32_t k = 0; k < tablet->rows; k++)
            assert_int_equal(ids[k], first + (int32_t)row++);
        free(ids);
        block_destroy(&block);
    }
    snapshot_close(&snapshot);
}

static void stop(struct database *database)
{
    database_close(database);
    disk_end();
}

/* ------------------------------------------------------------- tables -- */

static void a_new_database_is_empty(void **state)
{
    struct database *database = start(0);
    struct snapshot snapshot;

    (void)state;
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    assert_int_equal(snapshot.catalogue->generation, 0);
    assert_int_equal(snapshot.catalogue->table_count, 0);
    snapshot_close(&snapshot);
    snapshot_close(&snapshot);
    assert_string_equal(database_path(database), "disk");
    assert_false(database_read_only(database));
    assert_true(disk.durable_size == disk.size && disk.log_count == 0);
    stop(database);
}

static void tables_are_kept(void **state)
{
    struct database *database = start(0);
    struct text before, after;

    (void)state;
    create(database, "first", true);
    create(database, "Second", false);
    append(database, "second", 5, 1000);
    assert_int_equal(print_database(database, &before), VDBQ_OK);
    database_close(database);
    database = open_sized(0);
    assert_int_equal(print_database(database, &after), VDBQ_OK);
    assert_string_equal(before.bytes, after.bytes);
    assert_non_null(strstr(after.bytes, "\n 1003 1003003009 0x1"));
    text_finish(&before);
    text_finish(&after);
    stop(database);
}

static void table_sql_quotes_what_needs_it(void **state)
{
    struct column columns[] = { { .name = "id", .type = VDBQ_INTEGER },
                                { .name = "two words", .type = VDBQ_BIGINT },
                                { .name = "select", .type = VDBQ_FLOAT },
                                { .name = "q\"q", .type = VDBQ_DOUBLE },
                                { .name = "_9\xc3\xa4", .type = VDBQ_DOUBLE } };
    struct table table = {
        .name = "T_1", .columns = columns, .column_count = 5, .key = 0
    };
    struct text text = { 0 };

    (void)state;
    table_sql(&table, &text);
    assert_string_equal(
        text.bytes,
        "CREATE TABLE T_1 (id INTEGER PRIMARY KEY, \"two words\" BIGINT, "
        "\"select\" FLOAT, \"q\"\"q\" DOUBLE, \"_9\xc3\xa4\" DOUBLE)");
    text_finish(&text);
}

static void names_are_without_case(void **state)
{
    struct database *database = start(0);
    struct transaction *transaction;
    const struct column twice[] = { { .name = "a", .type = VDBQ_FLOAT },
                                    { .name = "A", .type = VDBQ_FLOAT } };

    (void)state;
    create(database, "Table_One", true);
    transaction = begin(database);
    assert_int_equal(create_sample_table(transaction, "TABLE_ONE", false),
                     VDBQ_EXISTS);
    assert_string_equal(ERROR->message, "there is a table TABLE_ONE already");
    assert_int_equal(
        transaction_create_table(transaction, "x", twice, 2, NO_KEY, ERROR),
        VDBQ_EXISTS);
    assert_int_equal(create_sample_table(transaction, "x", false), VDBQ_OK);
    assert_non_null(catalogue_table(transaction_catalogue(transaction), "X"));
    commit(transaction);
    stop(database);
}

static void limits_of_tables_hold(void **state)
{
    struct database *database = start(0);
    struct transaction *transaction = begin(database);
    struct column *columns = calloc(COLUMNS_MAX + 1, sizeof *columns);
    char(*names)[16] = calloc(COLUMNS_MAX + 1, sizeof *names);
    char *name = calloc(NAME_BYTES_MAX + 2, 1);

    (void)state;
    for (unsigned i = 0; i <= COLUMNS_MAX; i++) {
        snprintf(names[i], sizeof names[i], "c%u", i);
        columns[i] = (struct column){ .name = names[i], .type = VDBQ_FLOAT };
    }
    memset(name, 'n', NAME_BYTES_MAX + 1);
    assert_int_equal(transaction_create_table(transaction, "wide", columns,
                                              COLUMNS_MAX + 1, NO_KEY, ERROR),
                     VDBQ_LIMIT);
    assert_int_equal(transaction_create_table(transaction, "none", columns, 0,
                                              NO_KEY, ERROR),
                     VDBQ_LIMIT);
    assert_int_equal(create_sample_table(transaction, name, false), VDBQ_LIMIT);
    assert_int_equal(create_sample_table(transaction, "", false), VDBQ_LIMIT);
    columns[3].type = VDBQ_TYPE_NONE;
    assert_int_equal(transaction_create_table(transaction, "text", columns, 4,
                                              NO_KEY, ERROR),
                     VDBQ_TYPE);
    columns[3].type = VDBQ_FLOAT;
    name[NAME_BYTES_MAX] = '\0';
    assert_int_equal(transaction_create_table(transaction, name, columns,
                                              COLUMNS_MAX, NO_KEY, ERROR),
                     VDBQ_OK);
    commit(transaction);
    database_close(database);
    database = open_sized(0);
    transaction = begin(database);
    assert_int_equal(
        catalogue_table(transaction_catalogue(transaction), name)->column_count,
        COLUMNS_MAX);
    transaction_abort(transaction);
    free(columns);
    free(names);
    free(name);
    stop(database);
}

static void drop_and_create_in_one_commit(void **state)
{
    struct database *database = start(8);
    struct transaction *transaction;
    const struct table *table;
    uint32_t id;

    (void)state;
    create(database, "t", true);
    append(database, "t", 0, 30);
    transaction = begin(database);
    table = catalogue_table(transaction_catalogue(transaction), "t");
    id = table->id;
    assert_int_equal(append_sample_rows(transaction, "t", 30, 20, 1), VDBQ_OK);
    assert_int_equal(transaction_drop_table(transaction, id, ERROR), VDBQ_OK);
    assert_int_equal(transaction_drop_table(transaction, id, ERROR),
                     VDBQ_UNKNOWN);
    assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
    assert_int_equal(append_sample_rows(transaction, "t", 3, 20, 1), VDBQ_OK);
    table = catalogue_table(transaction_catalogue(transaction), "t");
    assert_int_not_equal(table->id, id);
    commit(transaction);
    assert_ids(database, "t", 3, 20, 3);
    stop(database);
}

static void an_abort_changes_nothing(void **state)
{
    struct database *database = start(8);
    struct transaction *transaction;
    size_t size;

    (void)state;
    create(database, "t", true);
    append(database, "t", 0, 10);
    size = disk.size;
    transaction = begin(database);
    assert_int_equal(append_sample_rows(transaction, "t", 10, 4000, 1),
                     VDBQ_OK);
    assert_int_equal(create_sample_table(transaction, "other", false), VDBQ_OK);
    assert_true(disk.size > size); /* these are more than wait in memory */
    transaction_abort(transaction);
    transaction_abort(NULL);
    assert_int_equal(disk.size, size);
    assert_ids(database, "t", 0, 10, 2);
    append(database, "t", 10, 10);
    database_close(database);
    database = open_sized(8);
    assert_ids(database, "t", 0, 20, 4); /* 8, 2, 8, 2 rows */
    stop(database);
}

/* Statements one after the other make tablets in place of those before. */
static void what_is_replaced_is_not_written(void **state)
{
    struct database *database = start(64);
    struct transaction *transaction;
    unsigned writes;

    (void)state;
    create(database, "t", true);
    writes = disk.writes;
    transaction = begin(database);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(transaction_mark(transaction, ERROR), VDBQ_OK);
        assert_int_equal(append_sample_rows(transaction, "t", i, 1, 1),
                         VDBQ_OK);
    }
    assert_int_equal(disk.writes, writes);
    commit(transaction);
    assert_in_range(disk.writes - writes, 3, 5); /* 2 of them are heads */
    assert_ids(database, "t", 0, 40, 2);
    stop(database);
}

static void an_empty_transaction_writes_nothing(void **state)
{
    struct database *database = start(0);
    struct transaction *transaction;
    unsigned writes;

    (void)state;
    create(database, "t", false);
    writes = disk.writes;
    transaction = begin(database);
    assert_int_equal(append_sample_rows(transaction, "t", 0, 0, 1), VDBQ_OK);
    commit(transaction);
    transaction_abort(begin(database));
    database_close(database);
    database_close(open_sized(0));
    assert_int_equal(disk.writes, writes);
    disk_end();
}

/* ------------------------------------------------------------- append -- */

/* The ancestor counted tablets wrongly and had an undefined tail where rows
 * filled tablets exactly. */
static void rows_fill_tablets_exactly(void **state)
{
    static const uint32_t tablet_rows[] = { 1, 2, 3, 64, 100 };

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        for (uint32_t rows = 1; rows <= 4 * tablet_rows[i]; rows++) {
            uint32_t size = tablet_rows[i];
            struct database *database;
            if (size > 10 && rows % size > 1 && rows % size < size - 1)
                continue;
            database = start(size);
            create(database, "t", true);
            append(database, "t", -7, rows);
            assert_ids(database, "t", -7, rows, (rows + size - 1) / size);
            stop(database);
        }
}

static void pieces_of_any_size_keep_their_order(void **state)
{
    static const uint32_t tablet_rows[] = { 1, 2, 3, 50, 0 };

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct database *database = start(tablet_rows[i]);
        struct transaction *transaction;
        uint32_t row = 0;
        struct snapshot snapshot;
        size_t tablets;
        create(database, "t", i % 2 == 0);
        for (unsigned k = 0; k < 20; k++) {
            transaction = begin(database);
            for (unsigned p = chance_below(4) + 1; p > 0; p--) {
                uint32_t count = (uint32_t)chance_below(40);
                assert_int_equal(append_sample_rows(transaction, "t",
                                                    (int32_t)row, count, 1),
                                 VDBQ_OK);
                row += count;
            }
            commit(transaction);
        }
        assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
        tablets = snapshot.catalogue->tables[0].tablet_count;
        snapshot_close(&snapshot);
        assert_ids(database, "t", 0, row, tablets);
        stop(database);
    }
}

static void single_rows_neither_scatter_nor_repeat(void **state)
{
    struct database *database = start(0);
    const uint32_t rows = 1000;
    uint64_t written;

    (void)state;
    create(database, "t", true);
    written = disk.written_bytes;
    for (uint32_t i = 0; i < rows; i++)
        append(database, "t", (int32_t)i, 1);
    assert_ids(database, "t", 0, rows, 6); /* 1000 = 512+256+128+64+32+8 */
    written = disk.written_bytes - written;
    assert_true(written < rows * 5 * (uint64_t)PAGE_BYTES);
    assert_true(disk.size < 100 * PAGE_BYTES);
    stop(database);
}

static void space_is_used_again(void **state)
{
    struct database *database = start(1000);
    size_t size = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        struct transaction *transaction = begin(database);
        const struct table *old =
            catalogue_table(transaction_catalogue(transaction), "t");
        if (old != NULL)
            assert_int_equal(
                transaction_drop_table(transaction, old->id, ERROR), VDBQ_OK);
        assert_int_equal(create_sample_table(transaction, "t", true), VDBQ_OK);
        assert_int_equal(append_sample_rows(transaction, "t", i, 5000, 1),
                         VDBQ_OK);
        commit(transaction);
        if (i == 2)
            size = disk.size;
        if (i % 7 == 0) { /* also by another connection */
            database_close(database);
            database = open_sized(1000);
        }
    }
    assert_true(disk.size <= size);
    assert_ids(database, "t", 39, 5000, 5);
    stop(database);
}

static void vectors_must_fit(void **state)
{
    struct database *database = start(0);
    struct transaction *transaction;
    const int64_t wrong = 1;
    const struct vdbq_vector vectors[5] = { { VDBQ_BIGINT, &wrong, NULL },
                                            { VDBQ_BIGINT, &wrong, NULL },
                                            { VDBQ_FLOAT, &wrong, NULL },
                                            { VDBQ_DOUBLE, &wrong, NULL },
                                            { VDBQ_TEXT, &wrong, NULL } };
    uint32_t id;

    (void)state;
    create(database, "t", false);
    transaction = begin(database);
    id = transaction_catalogue(transaction)->tables[0].id;
    assert_int_equal(transaction_append(transaction, 77, 1, vectors, ERROR),
                     VDBQ_UNKNOWN);
    assert_int_equal(transaction_append(transaction, id, 1, vectors, ERROR),
                     VDBQ_TYPE);
    assert_string_equal(ERROR->message, "table t, column id: the values to be "
                                        "added are not of its type");
    assert_int_equal(append_sample_rows(transaction, "t", 0, 1, 1), VDBQ_TYPE);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_TYPE);
    assert_ids(database, "t", 0, 0, 0);
    stop(database);
}

/* --------------------------------------------------------------- keys -- */

static void make_keyed(struct database *database, enum vdbq_type type)
{
    const struct column column = { .name = "k", .type = type };
    struct transaction *transaction = begin(database);
    const struct table *old =
        catalogue_table(transaction_catalogue(transaction), "k");

    if (old != NULL)
        assert_int_equal(transaction_drop_table(transaction, old->id, ERROR),
                         VDBQ_OK);
    assert_int_equal(
        transaction_create_table(transaction, "k", &column, 1, 0, ERROR),
        VDBQ_OK);
    commit(transaction);
}

/* Adds keys, given as doubles, to table k. */
static enum vdbq_status add_keys(struct transaction *transaction,
                                 const double *keys, uint32_t count)
{
    const struct table *table =
        catalogue_table(transaction_catalogue(transaction), "k");
    enum vdbq_type type = table->columns[0].type;
    int32_t *narrow = malloc(count * sizeof *narrow + 1);
    int64_t *wide = malloc(count * sizeof *wide + 1);
    float *floats = malloc(count * sizeof *floats + 1);
    struct vdbq_vector vector = { .type = type };
    enum vdbq_status status;

    for (uint32_t i = 0; i < count; i++) {
        narrow[i] = type == VDBQ_INTEGER ? (int32_t)keys[i] : 0;
        wide[i] = type == VDBQ_BIGINT ? (int64_t)keys[i] : 0;
        floats[i] = (float)keys[i];
    }
    vector.values = type == VDBQ_INTEGER  ? (const void *)narrow
                    : type == VDBQ_BIGINT ? (const void *)wide
                    : type == VDBQ_FLOAT  ? (const void *)floats
                                          : keys;
    status = transaction_append(transaction, table->id, count, &vector, ERROR);
    free(narrow);
    free(wide);
    free(floats);
    return status;
}

/* Adds keys in one transaction, in two pieces. */
static enum vdbq_status put_keys(struct database *database, const double *keys,
                                 uint32_t count, uint32_t first_piece)
{
    struct transaction *transaction = begin(database);
    enum vdbq_status status = add_keys(transaction, keys, first_piece);

    if (status == VDBQ_OK)
        status = add_keys(transaction, keys + first_piece, count - first_piece);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

#define KEYS(...)                                                              \
    (const double[]){ __VA_ARGS__ },                                           \
        sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)

static const enum vdbq_type types[] = { VDBQ_INTEGER, VDBQ_BIGINT, VDBQ_FLOAT,
                                        VDBQ_DOUBLE };

static void a_key_is_there_once(void **state)
{
    (void)state;
    for (unsigned t = 0; t < 4; t++)
        for (uint32_t size = 1; size < 6; size++) {
            struct database *database = start(size);
            make_keyed(database, types[t]);
            assert_int_equal(put_keys(database, KEYS(1, 2, 5, 5), 2),
                             VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(1, 2, 5, 2), 3),
                             VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(-5, 0, 7, 3), 1), VDBQ_OK);
            assert_int_equal(put_keys(database, KEYS(8, 9, 1), 2), VDBQ_OK);
            assert_int_equal(put_keys(database, KEYS(10, 11, 0), 1),
                             VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(9), 0), VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(-5), 1), VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(2, 12, 13, 14, 15, 13), 2),
                             VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(20, 21, 22, 23, 24, 6), 3),
                             VDBQ_OK);
            assert_int_equal(
                put_keys(database, KEYS(30, 31, 32, 33, 34, 32), 5),
                VDBQ_CONSTRAINT);
            assert_int_equal(put_keys(database, KEYS(-9, 40, 24), 2),
                             VDBQ_CONSTRAINT);
            assert_non_null(strstr(ERROR->message, "there twice: 24"));
            stop(database);
        }
}

static void keys_of_any_order(void **state)
{
    enum { COUNT = 3000 };
    double *keys = malloc(COUNT * sizeof *keys);
    struct database *database = start(100);

    (void)state;
    for (unsigned t = 0; t < 4; t++) {
        for (unsigned i = 0; i < COUNT; i++)
            keys[i] = (double)i * 3 - COUNT;
        for (unsigned i = COUNT - 1; i > 0; i--) {
            unsigned k = (unsigned)chance_below(i + 1);
            double key = keys[i];
            keys[i] = keys[k];
            keys[k] = key;
        }
        make_keyed(database, types[t]);
        assert_int_equal(put_keys(database, keys, COUNT / 2, 77), VDBQ_OK);
        assert_int_equal(put_keys(database, keys + COUNT / 2, COUNT / 2, 900),
                         VDBQ_OK);
        for (unsigned i = 0; i < 50; i++) {
            double key = keys[i * 11];
            assert_int_equal(put_keys(database, &key, 1, 0), VDBQ_CONSTRAINT);
            key += 1;
            assert_int_equal(put_keys(database, &key, 1, 0), VDBQ_OK);
        }
    }
    free(keys);
    stop(database);
}

static void extreme_keys(void **state)
{
    struct database *database = start(2);

    (void)state;
    make_keyed(database, VDBQ_BIGINT);
    assert_int_equal(put_keys(database, KEYS(-0x1p63, 0x1p62, 0), 2), VDBQ_OK);
    assert_int_equal(put_keys(database, KEYS(-0x1p63), 1), VDBQ_CONSTRAINT);
    assert_string_equal(ERROR->message, "table k: the primary key k is there "
                                        "twice: -9223372036854775808");
    make_keyed(database, VDBQ_DOUBLE);
    assert_int_equal(put_keys(database, KEYS(-INFINITY, INFINITY, 0.0), 1),
                     VDBQ_OK);
    assert_int_equal(put_keys(database, KEYS(INFINITY), 1), VDBQ_CONSTRAINT);
    assert_int_equal(put_keys(database, KEYS(-0.0), 1), VDBQ_CONSTRAINT);
    assert_int_equal(put_keys(database, KEYS(0x1p-1074, -0x1p-1074), 1),
                     VDBQ_OK);
    make_keyed(database, VDBQ_FLOAT);
    assert_int_equal(put_keys(database, KEYS(-0.0, 0.0), 1), VDBQ_CONSTRAINT);
    assert_int_equal(put_keys(database, KEYS(2.5, -1, 2.5), 1),
                     VDBQ_CONSTRAINT);
    assert_string_equal(ERROR->message,
                        "table k: the primary key k is there twice: 2.5");
    stop(database);
}

/* Both ends of BIGINT, as no double can say them. */
static void keys_at_the_ends(void **state)
{
    const int64_t keys[][2] = { { INT64_MAX - 1, INT64_MAX },
                                { INT64_MIN, INT64_MAX },
                                { INT64_MIN, INT64_MIN + 1 },
                                { 1, INT64_MIN } };
    struct database *database = start(2);

    (void)state;
    make_keyed(database, VDBQ_BIGINT);
    for (unsigned i = 0; i < 4; i++) {
        const struct vdbq_vector vector = { VDBQ_BIGINT, keys[i], NULL };
        struct transaction *transaction = begin(database);
        uint32_t id = transaction_catalogue(transaction)->tables[0].id;
        enum vdbq_status status =
            transaction_append(transaction, id, 2, &vector, ERROR);
        if (status == VDBQ_OK)
            status = transaction_commit(transaction, ERROR);
        else
            transaction_abort(transaction);
        assert_int_equal(status, i % 2 == 0 ? VDBQ_OK : VDBQ_CONSTRAINT);
    }
    stop(database);
}

static void a_key_is_not_null(void **state)
{
    struct database *database = start(0);
    struct transaction *transaction;
    const int32_t ids[] = { 1, 2, 3 };
    const uint8_t nulls[] = { 0, 0, 1 };
    const struct vdbq_vector vector = { VDBQ_INTEGER, ids, nulls };
    uint32_t id;

    (void)state;
    make_keyed(database, VDBQ_INTEGER);
    transaction = begin(database);
    id = transaction_catalogue(transaction)->tables[0].id;
    assert_int_equal(transaction_append(transaction, id, 3, &vector, ERROR),
                     VDBQ_CONSTRAINT);
    assert_string_equal(ERROR->message, "table k: the primary key k is NULL "
                                        "in row 3 of those to be added");
    transaction_abort(transaction);
    make_keyed(database, VDBQ_FLOAT);
    assert_int_equal(put_keys(database, KEYS(1, (double)NAN), 1),
                     VDBQ_CONSTRAINT);
    assert_non_null(strstr(ERROR->message, "in row 1 of"));
    stop(database);
}

/* More than looking at the heads reads; less than a tablet of these has. */
enum { HEADS_BYTES = 12000 };

/* Adds rows of which no key need be compared with others: what the commit reads
 * besides is of tablets whose runs it makes. */
static void append_unread(struct database *database, int first, int rows)
{
    struct transaction *transaction = begin(database);
    uint64_t read = disk.read_bytes;

    for (int i = 0; i < rows; i += 500)
        assert_int_equal(
            append_sample_rows(transaction, "t", first + i, 500, 1), VDBQ_OK);
    assert_int_equal(transaction_settle(transaction, ERROR), VDBQ_OK);
    assert_true(disk.read_bytes - read < HEADS_BYTES);
    commit(transaction);
}

static void keys_in_order_read_nothing(void **state)
{
    struct database *database = start(1000);

    (void)state;
    create(database, "t", true);
    append(database, "t", 0, 10000);
    append_unread(database, 10000, 10000);
    append_unread(database, -2000, 1500); /* below all: no tablet touches it */
    append(database, "t", 30000, 2000);
    stop(database);
}

/* ------------------------------------------------------ kinds of files -- */

static void memory_databases_are_like_others(void **state)
{
    const struct settings settings = settings_default();
    const struct database_params params = { .files = &os_memory_files,
                                            .settings = &settings };
    struct database *one, *two;

    (void)state;
    assert_int_equal(database_open(&params, &one, ERROR), VDBQ_OK);
    assert_int_equal(database_open(&params, &two, ERROR), VDBQ_OK);
    assert_string_equal(database_path(one), ":memory:");
    create(one, "t", true);
    create(two, "t", false);
    for (int i = 0; i < 50; i++)
        append(one, "t", i * 100, 100);
    append(two, "t", 1, 3);
    assert_ids(two, "t", 1, 3, 1);
    assert_ids(one, "t", 0, 5000, 3); /* 3200 + 1600 + 200 */
    database_close(one);
    database_close(two);
}

static void without_syncs_nothing_is_synced(void **state)
{
    struct database_params params = params_on_disk(0);
    struct database *database;

    (void)state;
    disk_start(NULL, 0);
    params.flags |= VDBQ_OPEN_NO_SYNC;
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    create(database, "t", true);
    append(database, "t", 0, 100);
    assert_int_equal(disk.syncs, 0);
    assert_ids(database, "t", 0, 100, 1);
    stop(database);
}

static void a_commit_takes_two_syncs(void **state)
{
    struct database *database = start(10);
    unsigned syncs;

    (void)state;
    create(database, "t", true);
    syncs = disk.syncs;
    append(database, "t", 0, 1000);
    assert_int_equal(disk.syncs - syncs, 2);
    stop(database);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_database_is_empty),
        cmocka_unit_test(tables_are_kept),
        cmocka_unit_test(table_sql_quotes_what_needs_it),
        cmocka_unit_test(names_are_without_case),
        cmocka_unit_test(limits_of_tables_hold),
        cmocka_unit_test(drop_and_create_in_one_commit),
        cmocka_unit_test(an_abort_changes_nothing),
        cmocka_unit_test(what_is_replaced_is_not_written),
        cmocka_unit_test(an_empty_transaction_writes_nothing),
        cmocka_unit_test(rows_fill_tablets_exactly),
        cmocka_unit_test(pieces_of_any_size_keep_their_order),
        cmocka_unit_test(single_rows_neither_scatter_nor_repeat),
        cmocka_unit_test(space_is_used_again),
        cmocka_unit_test(vectors_must_fit),
        cmocka_unit_test(a_key_is_there_once),
        cmocka_unit_test(keys_of_any_order),
        cmocka_unit_test(extreme_keys),
        cmocka_unit_test(keys_at_the_ends),
        cmocka_unit_test(a_key_is_not_null),
        cmocka_unit_test(keys_in_order_read_nothing),
        cmocka_unit_test(memory_databases_are_like_others),
        cmocka_unit_test(without_syncs_nothing_is_synced),
        cmocka_unit_test(a_commit_takes_two_syncs),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
