/* SPDX-License-Identifier: MIT */
/*
 * Values that another program writes into tablets which are used where they
 * lie, after they were proven: what queries say then is anybody's guess, but
 * none of them reads or writes where it must not. The sanitizers look on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/os/os.h"
#include "data/database/database.h"
#include "data/tablet/tablet_inner.h"
#include "fixtures/chance.h"
#include "fixtures/sample_tables.h"
#include "fixtures/settings.h"

enum { ROWS = 3000 };

static char path[] = "/tmp/vdbq-overwritten-XXXXXX";

static void run(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

static vdbq *open_it(const char *device, const char *steps)
{
    vdbq *db;

    assert_int_equal(vdbq_open(path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db),
                     VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", device), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "steps", steps), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "build", "interpreted"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "map", "on"), VDBQ_OK);
    return db;
}

/* Makes table t, of every type that is used in place, with NULLs. */
static void make(const char *encoding)
{
    vdbq *db = open_it("host", "host");
    char sql[400];

    assert_int_equal(vdbq_set(db, "encoding", encoding), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "tablet_rows", "1000"), VDBQ_OK);
    run(db, "create table t (id integer primary key, i integer, b bigint, "
            "s smallint, f float, d double, y boolean, m decimal(9,2), "
            "day date, at timestamp)");
    run(db, "begin");
    for (unsigned i = 0; i < ROWS; i++) {
        snprintf(sql, sizeof sql,
                 "insert into t values (%u, %u, %u, %u, %u, %u.5, %s, %u.25, "
                 "'2024-01-%02u', '2024-02-%02u 10:11:12')",
                 i * 3 % ROWS + i / (ROWS / 3), i % 17, i % 23, i % 5, i % 7,
                 i % 9, i % 11 == 0 ? "null" : "true", i % 13, i % 28 + 1,
                 i % 25 + 1);
        run(db, sql);
        if (i % 19 == 0)
            run(db, "insert into t (id) select max(id) + 100000 from t");
    }
    run(db, "commit");
    vdbq_close(db);
}

/* Writes noise over all areas of a tablet. */
static void overwrite(int descriptor, const struct tablet_ref *ref,
                      const struct tablet *head)
{
    for (unsigned i = 0; i < head->columns; i++) {
        struct tablet_area areas[TABLET_AREAS_MAX];
        unsigned count = tablet_areas(tablet_column(head, i), ref->rows, areas);
        for (unsigned k = 0; k < count; k++)
            for (uint64_t at = 0; at < areas[k].size; at += 8) {
                uint64_t noise = chance_below(4) == 0
                                     ? chance_below(64) - 32
                                     : chance_below(UINT64_MAX);
                assert_int_equal(
                    pwrite(descriptor, &noise, 8,
                           (off_t)(ref->offset + at + areas[k].offset)),
                    8);
            }
    }
}

static void overwrite_all(void)
{
    const struct database_params params = { .path = path,
                                            .flags = VDBQ_OPEN_READ_ONLY,
                                            .files = &os_files,
                                            .settings = settings_for_tests(0) };
    struct database *database;
    struct snapshot snapshot;
    const struct table *table;
    int descriptor = open(path, O_RDWR);

    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    table = catalogue_table(snapshot.catalogue, "t");
    assert_true(table->tablet_count > 1);
    for (size_t i = 0; i < table->tablet_count; i++) {
        uint8_t head[1024];
        assert_true(tablet_head_size(table->column_count) <= sizeof head);
        assert_int_equal(pread(descriptor, head, sizeof head,
                               (off_t)table->tablets[i].offset),
                         sizeof head);
        overwrite(descriptor, &table->tablets[i],
                  (const struct tablet *)(const void *)head);
    }
    snapshot_close(&snapshot);
    database_close(database);
    close(descriptor);
}

/* Every row's values, and their texts. */
static void read_rows(vdbq_query *query)
{
    while (vdbq_query_row(query) == VDBQ_ROW)
        for (unsigned i = 0; i < vdbq_query_columns(query); i++)
            vdbq_query_text(query, i);
}

/* Whatever becomes of the query; bytes that it read in the file. */
static uint64_t ask(vdbq *db, const char *sql)
{
    struct vdbq_stats stats;
    vdbq_query *query;

    if (vdbq_prepare(db, sql, -1, &query, NULL) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    read_rows(query);
    vdbq_query_stats(query, &stats);
    vdbq_query_close(query);
    return stats.bytes_mapped;
}

static const char *const columns[] = { "id", "i", "b", "s",   "f",
                                       "d",  "y", "m", "day", "at" };

static void ask_of_columns(vdbq *db)
{
    static const char *const forms[] = {
        "select %s from t",
        "select * from t where %s > 3",
        "select %s, count(*), sum(i), avg(d), min(m), max(day) from t "
        "group by %s",
        "select %s, y, s, count(distinct i) from t group by %s, y, s",
        "select * from t order by %s, id desc",
        "select id from t order by %s limit 10",
        "select count(*), min(o.day) from t join t o on t.i = o.i "
        "and t.%s = o.%s",
        "select count(*) from t left join (select %s as k, i from t where "
        "s = 1) o on t.%s = o.k",
        "select distinct cast(%s as text) from t",
        "select id, %s, row_number() over (partition by %s order by id) "
        "from t",
        "create table copy as select id, %s from t",
        "select * from copy order by %s",
        "drop table copy",
    };
    char sql[400];

    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            bool of_numbers = strstr(forms[i], "> 3") != NULL;
            if (of_numbers && c >= 8) /* a date is no number */
                continue;
            snprintf(sql, sizeof sql, forms[i], columns[c], columns[c]);
            if (strstr(sql, "copy") != NULL)
                vdbq_execute(db, sql);
            else
                ask(db, sql);
        }
}

static void ask_of_dates(vdbq *db)
{
    ask(db, "select extract(month from day), extract(year from at), "
            "strftime('%Y-%m-%d %a %b %G %V %H:%M:%S', at), "
            "day + interval '1' month, cast(at as date) from t");
    ask(db, "select substr('abc', i, b), repeat('a', s), 'x' || m, "
            "round(d, s), sqrt(f), abs(b), i / s, b % i from t where i < 100");
}

static void any_values_do_no_harm(const char *device, const char *steps,
                                  const char *encoding)
{
    vdbq *db;

    strcpy(path + sizeof path - 7, "XXXXXX");
    close(mkstemp(path));
    unlink(path);
    make(encoding);
    db = open_it(device, steps);
    assert_true(ask(db, "select * from t where id >= 0") > 0); /* proven */
    overwrite_all();
    assert_true(ask(db, "select * from t where id >= 0") > 0);
    ask_of_columns(db);
    ask_of_dates(db);
    vdbq_close(db);
    unlink(path);
}

static void on_the_host(void **state)
{
    (void)state;
    any_values_do_no_harm("host", "host", "plain");
    any_values_do_no_harm("host", "host", "packed");
}

static void on_a_device(void **state)
{
    (void)state;
    any_values_do_no_harm("cpu", "host", "packed");
    any_values_do_no_harm("cpu", "device", "plain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_host),
        cmocka_unit_test(on_a_device),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
