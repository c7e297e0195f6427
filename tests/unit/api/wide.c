/* SPDX-License-Identifier: MIT */
/*
 * Groups of several items: the machine as GPUs run it, where the steps of a
 * launch find their places by each other's states, or add their rows to groups.
 * Rows, and their order, are the host's, through tablets of all sizes, steps and
 * modes; so are groups, and a fault. On
 * VDBQ_TEST_DEVICE, where that is a GPU or the simulator Oclgrind; compilers of
 * CPUs take too long for barriers. The simulator, a thousand times slower, is dealt
 * fewer rows, and some of a query's shapes: of each build one, and one of a
 * grouping query's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fixtures/answer.h"
#include "api/station.h"
#include "device/kind.h"

/* Work-items of a group, rows of an item, and how queries are run. */
struct shape {
    unsigned group;
    unsigned tile;
    const char *mode;
    const char *build;
};

static const struct shape shapes[] = {
    { 32, 1, "cached", "interpreted" },    { 32, 4, "streamed", "specialised" },
    { 64, 8, "serial", "interpreted" },    { 128, 2, "cached", "specialised" },
    { 256, 4, "streamed", "interpreted" }, { 32, 16, "cached", "specialised" },
    { 64, 4, "mapped", "specialised" },
};
enum { STREAMED = 1, SERIAL = 2, SHAPES = sizeof shapes / sizeof *shapes };

/* Of all rows, most, few and none; in registers of 4 and 8 bytes, with NULLs,
 * and with none where a condition is; of the first rows, by which those of
 * later launches are prefetched, all and of others few, and the other way. */
static const char *const queries[] = {
    "select id, x, y from t",
    "select id, y, b from t where x > 0",
    "select id from t where x = 3",
    "select b, id from t where b > 700 and y = 6 or b is null",
    "select id, x from t where x > 1000",
    "select id, case when x > 50 then x else null end from t where y <> 2",
    "select id, b from t where id < 95 or x = 3",
    "select id, b from t where id >= 88",
};
/* Groups of a work-group's own table, of one and of some records, and of the
 * common one; with NULLs as keys and as values, and aggregates that share a
 * state; none, few and all rows. */
static const char *const grouped[] = {
    "select count(*), sum(b), avg(b), count(b), min(x), max(b) from t",
    "select count(*), sum(b * -1000000000000), avg(x), max(x) from t "
    "where b is null or x < 20",
    "select count(*), sum(x), min(b) from t where id = x * 31 + 1",
    "select count(*), sum(x), max(b) from t where x * 2 = 77",
    "select y, count(*) from t where x * 2 = 77 group by y",
    "select y, count(*), sum(b), avg(b), count(b), min(b), max(x) from t "
    "group by y",
    "select y, x, count(*), sum(id) from t where x > 3 group by y, x",
    "select bit_and(x | 4), bit_or(b), bit_xor(b), bit_xor(id) from t",
    "select y, bit_and(b), bit_or(x), bit_xor(id * 7919), bit_and(x - 40) "
    "from t where id % 7 <> 2 group by y",
    "select b, bit_xor(id), bit_or(x) from t group by b",
    "select b, sum(x), max(y) from t group by b",
    "select b, y, count(*) from t where id % 3 = 1 group by b, y",
    "select x, min(b) from t where y = 6 group by x",
    /* conditions that leave so few that tiles are refilled behind the first ones */
    "select y, count(*), sum(b), min(x) from t where x < 12 and y > 4 group by "
    "y",
    "select count(*), sum(b), max(id), count(b) from t "
    "where b < 2000 and x = 5 and id > 100",
    "select x, sum(b), count(b) from t where y = 3 and x < 40 and id % 5 = 1 "
    "and (b is null or b > 90) group by x",
    "select y, sum(b + id), min(id) from t where x * 3 < 20 and y <> 2 and "
    "b + y > 100 group by y",
    "select v.y, sum(t.b), max(v.b) from t, t v where t.b = v.id and v.x < 9 "
    "and "
    "t.y > 3 and t.x > 5 group by v.y",
    "select count(*), sum(v.x) from t, t v, t w where t.id = v.id and v.b = "
    "w.id and "
    "v.x < 30 and w.y = 2 and t.x > 40",
};
static const char *const faulty_groups[] = {
    "select y, sum(b * 9000000000000000) from t where x < 100 group by y",
    "select y, sum(b * 9000000000000000) from t where x < 12 and y > 4 group "
    "by y",
};
static const char faulty[] =
    "select id, b * 9000000000000000 from t where x < 100";

static const char *tested = "gpu"; /* the device */
static bool simulated;             /* it is Oclgrind */

/* Rows of the table: a launch takes less than half of them. The simulator is asked for
 * the host's answers about half as many: two launches, and two steps or more. */
enum { ROWS = 3072, ROWS_FEW = ROWS / 2 };

/* Doubles the table, which has tablets of 90 rows, up to so many rows. */
static void fill(vdbq *db, int rows_end)
{
    char sql[256];

    set_option(db, "tablet_rows", "90");
    assert_int_equal(vdbq_execute(db, "create table t (id integer primary key, "
                                      "x integer, y integer, b bigint)"),
                     VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "insert into t values (0, 0, 0, 0), "
                                      "(1, 37, 1, null), (2, 74, 2, 2)"),
                     VDBQ_OK);
    for (int rows = 3; rows < rows_end; rows *= 2) {
        snprintf(sql, sizeof sql,
                 "insert into t select id + %d, (id + %d) * 37 %% 101, "
                 "(id + %d) %% 7, b + %d from t",
                 rows, rows, rows, rows);
        assert_int_equal(vdbq_execute(db, sql), VDBQ_OK);
    }
}

/* A database on the host. */
static vdbq *make(int rows)
{
    vdbq *db;

    assert_int_equal(vdbq_open("", 0, &db), VDBQ_OK);
    set_option(db, "device", "host");
    fill(db, rows);
    return db;
}

/* Whether a query runs in that shape: of any three that follow one another one
 * takes it. */
static bool is_dealt(size_t query, size_t shape)
{
    return !simulated || query % 3 == shape % 3;
}

/* Has the device of a database run groups of that shape; false: it has none
 * that can. */
static bool widen(vdbq *db, const struct shape *shape)
{
    struct station *station;
    struct device *device;
    struct device_tuning tuning;

    if (vdbq_device_open(db) != VDBQ_OK
        || station_choose(db, &db->options.settings, UINT64_MAX, &station)
               != VDBQ_OK)
        return false;
    device = station->device;
    if (!device_facts(device)->kind->runs_beside && !simulated)
        return false;
    tuning = *device_tuning(device);
    tuning.group = shape->group;
    tuning.tile = tuning.tile_specialised = shape->tile;
    device_tuning_set(device, &tuning);
    set_option(db, "mode", shape->mode);
    set_option(db, "build", shape->build);
    return true;
}

static void expect(vdbq *db, const char *sql, struct answer wanted,
                   struct vdbq_stats *stats)
{
    struct answer got = ask(db, sql, stats);

    if (got.status != wanted.status)
        print_error("%s: %s\n", sql, vdbq_error(db)->message);
    assert_int_equal(got.status, wanted.status);
    if (wanted.status != VDBQ_OK)
        return; /* how many rows came before it is the launches' */
    assert_int_equal(got.rows, wanted.rows);
    assert_int_equal(got.hash, wanted.hash);
}

/* Bytes that leave the device where all rows are asked for. */
static uint64_t bytes_of_all(vdbq *db)
{
    struct vdbq_stats stats = { 0 };

    assert_int_equal(ask(db, queries[0], &stats).status, VDBQ_OK);
    return stats.bytes_out;
}

/* The device groups the rows of a query in the program that scans them. */
static void expect_groups(vdbq *db, const char *sql, struct answer wanted)
{
    struct vdbq_stats stats = { 0 };

    expect(db, sql, wanted, &stats);
    assert_non_null(strstr(stats.steps, "in the program"));
}

static void groups_are_those_of_the_host(void **state)
{
    enum { QUERIES = sizeof grouped / sizeof *grouped };
    vdbq *db = make(simulated ? ROWS_FEW : ROWS);
    struct answer wanted[QUERIES];

    (void)state;
    for (size_t i = 0; i < QUERIES; i++)
        wanted[i] = ask(db, grouped[i], NULL);
    struct answer fault = ask(db, faulty_groups[0], NULL);
    assert_int_equal(fault.status, VDBQ_RANGE);
    set_option(db, "device", tested);
    set_option(db, "steps", "device");
    for (size_t shape = 0, taken = 0; shape < SHAPES; shape++) {
        if (shapes[shape].tile >= 8 || shapes[shape].build[0] == 'i')
            continue; /* the program is all that is tested here */
        if (!widen(db, &shapes[shape])) {
            vdbq_close(db);
            skip();
        }
        for (size_t i = 0; i < QUERIES; i++)
            if (is_dealt(i, taken))
                expect_groups(db, grouped[i], wanted[i]);
        for (size_t i = 0; i < 2; i++)
            if (is_dealt(i, taken))
                expect(db, faulty_groups[i], fault, NULL);
        taken++;
    }
    vdbq_close(db);
}

static void rows_are_those_of_the_host(void **state)
{
    enum { QUERIES = sizeof queries / sizeof *queries };
    vdbq *db = make(simulated ? ROWS_FEW : ROWS);
    struct answer wanted[QUERIES];

    (void)state;
    for (size_t i = 0; i < QUERIES; i++)
        wanted[i] = ask(db, queries[i], NULL);
    struct answer fault = ask(db, faulty, NULL);
    assert_int_equal(fault.status, VDBQ_RANGE);
    set_option(db, "device", tested);
    for (size_t shape = 0; shape < SHAPES; shape++) {
        if (!widen(db, &shapes[shape])) {
            vdbq_close(db);
            skip();
        }
        for (size_t i = 0; i < QUERIES; i++)
            if (is_dealt(i, shape))
                expect(db, queries[i], wanted[i], NULL);
        if (is_dealt(QUERIES, shape))
            expect(db, faulty, fault, NULL);
    }
    vdbq_close(db);
}

/* Where launches overlap, columns leave narrow that are packed in all of a
 * launch's tablets. */
static void packed_columns_leave_narrow(void **state)
{
    static const size_t compared[] = { STREAMED, SERIAL };
    vdbq *db = make(ROWS);
    uint64_t bytes[2];

    (void)state;
    set_option(db, "device", tested);
    for (size_t i = 0; i < 2; i++) {
        if (!widen(db, &shapes[compared[i]])) {
            vdbq_close(db);
            skip();
        }
        bytes[i] = bytes_of_all(db);
    }
    assert_true(bytes[0] < bytes[1] / 3 * 2);
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_host),
        cmocka_unit_test(packed_columns_leave_narrow),
        cmocka_unit_test(groups_are_those_of_the_host),
    };

    if (getenv("VDBQ_TEST_DEVICE") != NULL)
        tested = getenv("VDBQ_TEST_DEVICE");
    simulated = strcmp(tested, "oclgrind") == 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
