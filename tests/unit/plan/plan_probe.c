/* SPDX-License-Identifier: MIT */
/*
 * The programs of joins that are probed, and which joins these are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "fixtures/plan/tables.h"
#include "fixtures/plan/planned.h"

/* How many steps of that kind a statement becomes, with these limits. */
static unsigned steps_within(const char *sql, enum step_kind kind,
                             const struct plan_limits *limits)
{
    struct arena arena = { 0 };
    struct plan plan;
    struct error error;
    struct ast_statement *statement;
    unsigned count = 0;
    size_t consumed;

    if (sql_parse(sql, strlen(sql), &arena, &statement, &consumed, &error)
            != VDBQ_OK
        || plan_statement(statement, sql, strlen(sql), &test_database.catalogue,
                          NULL, limits, &arena, &plan, &error)
               != VDBQ_OK
        || steps_check(&plan.steps, &error) != VDBQ_OK)
        fail_msg("%s: %s", sql, error.message);
    for (size_t i = 0; i < plan.steps.steps.count; i++)
        count += steps_at(&plan.steps, (int)i)->kind == kind;
    plan_finish(&plan);
    arena_finish(&arena);
    return count;
}

static unsigned joins_of(const char *sql)
{
    return steps_within(sql, STEP_JOIN, NULL);
}

static void inner_join_is_one_program(void **state)
{
    (void)state;
    lists("select normali5, x, id from nulls join test on a = id "
          "where x < 1 and uniformi > 60",
          "Table 1 0 0 0 nulls\n"
          "Table 0 0 1 0 test\n"
          "ResultColumn 1 0 0 0 normali5\n"
          "ResultColumn 4 1 0 0 x\n"
          "ResultColumn 1 0 0 0 id\n"
          "Parallel 0 0 20 0\n"
          "Column.F64 6 2 0 0\n"
          "ColumnNull 0 2 0 0\n"
          "Float.F64 1 1.0 0 0\n"
          "Or.I32 0 0 18 0\n"
          "Ge.F64 6 1 18 0\n"
          "Column.I32 7 0 0 0\n"
          "ColumnNull 2 0 0 0\n"
          "And.I32 2 2 18 0\n"
          "Probe.I32 3 7 1 0\n"
          "Integer.I32 4 0 0 0\n"
          "Lt.I32 3 4 18 0\n"
          "ColumnAt.I32 5 1 1 3\n"
          "Result 5 3 0 0\n"
          "Converge 0 0 0 0\n"
          "Finish 0 0 0 0\n");
}

static void left_join_keeps_rows(void **state)
{
    (void)state;
    lists("select b, normali5 from nulls left join test on a = id",
          "Table 1 0 0 0 nulls\n"
          "Table 0 0 1 0 test\n"
          "ResultColumn 1 1 5 0 b\n"
          "ResultColumn 1 1 6 0 normali5\n"
          "Parallel 0 0 16 0\n"
          "Column.I32 0 0 0 0\n"
          "ColumnNull 1 0 0 0\n"
          "Probe.I32 2 0 1 0\n"
          "Integer.I32 3 -1 0 0\n"
          "Choose.I32 4 3 2 1\n"
          "Column.I32 7 1 0 0\n"
          "ColumnNull 5 1 0 0\n"
          "ColumnAt.I32 8 1 1 4\n"
          "ColumnAtNull 6 1 1 4\n"
          "Result 7 2 0 0\n"
          "Converge 0 0 0 0\n"
          "Finish 0 0 0 0\n");
}

static void marks_are_rows_that_are_there(void **state)
{
    (void)state;
    lists("select id in (select i from wide) from test",
          "Table 0 0 0 0 test\n"
          "Table 0 0 1 0 wide\n"
          "ResultColumn 1 0 0 0 id in (select i from wide)\n"
          "Parallel 0 0 11 0\n"
          "Rowid.I32 0 0 0 0\n"
          "Probe.I32 1 0 1 0\n"
          "Integer.I32 2 0 0 0\n"
          "IsLt.I32 3 1 2 0\n"
          "Negate.I32 4 3 0 0\n"
          "Result 4 1 0 0\n"
          "Converge 0 0 0 0\n"
          "Finish 0 0 0 0\n");
}

static void several_keys_are_packed(void **state)
{
    (void)state;
    lists("select x from nulls where exists (select 1 from test "
          "where uniformi = a and normali5 = b)",
          "Table 1 0 0 0 nulls\n"
          "Table 0 0 1 0 test\n"
          "ResultColumn 4 1 17 0 x\n"
          "Parallel 0 0 27 0\n"
          "Column.I32 0 0 0 0\n"
          "ColumnNull 1 0 0 0\n"
          "Cast.I64_I32 2 0 2 0\n"
          "Integer.I64 3 -99 0 0\n"
          "Sub.I64 4 2 3 0\n"
          "Integer.I64 5 199 0 0\n"
          "Column.I32 6 1 0 0\n"
          "ColumnNull 7 1 0 0\n"
          "Cast.I64_I32 2 6 8 0\n"
          "Integer.I64 9 -20 0 0\n"
          "Sub.I64 10 8 9 0\n"
          "Integer.I64 11 25 0 0\n"
          "Mul.I64 12 4 11 0\n"
          "Add.I64 13 12 10 0\n"
          "Either.I32 14 1 7 0\n"
          "And.I32 14 14 25 0\n"
          "Probe.I64 15 13 1 0\n"
          "Integer.I32 16 0 0 0\n"
          "Lt.I32 15 16 25 0\n"
          "Column.F64 18 2 0 0\n"
          "ColumnNull 17 2 0 0\n"
          "Result 18 1 0 0\n"
          "Converge 0 0 0 0\n"
          "Finish 0 0 0 0\n");
}

static void what_can_be_probed(void **state)
{
    (void)state;
    assert_int_equal(joins_of("select 1 from nulls left join test on a = id"),
                     0);
    assert_int_equal(joins_of("select 1 from test left join nulls on a = id"),
                     1);
    assert_int_equal(joins_of("select 1 from test t join nulls on "
                              "a = uniformi"),
                     1);
    assert_int_equal(joins_of("select 1 from nulls left join test on a = id "
                              "and b < uniformi"),
                     0);
    assert_int_equal(joins_of("select 1 from nulls left join test on a = id "
                              "and b / uniformi < 1"),
                     0);
    assert_int_equal(joins_of("select 1 from nulls right join test "
                              "on a = id"),
                     1);
    assert_int_equal(joins_of("select 1 from nulls n join nulls m "
                              "on n.x = m.x"),
                     1);
    assert_int_equal(joins_of("select 1 from texts t where s in "
                              "(select t from texts)"),
                     0);
    assert_int_equal(joins_of("select 1 from texts where d in "
                              "(select d from texts where m > 1)"),
                     0);
    assert_int_equal(joins_of("select most from wide where exists (select 1 "
                              "from wide w where w.most = wide.small and "
                              "w.small = wide.small)"),
                     1);
    assert_int_equal(joins_of("select id from test where id not in "
                              "(select a from nulls)"),
                     1);
}

static void a_spine_is_one_scan(void **state)
{
    const char *sql =
        "select q.m, q.id, v.most from (select a + 1 as m, b + 0 as k, t.id "
        "from "
        "nulls left join test t on a = t.id where x > 0) q join test u on "
        "q.k = u.id left join wide v on u.uniformi = v.k where m < 2 or v.k > "
        "7";

    (void)state;
    assert_int_equal(joins_of(sql), 0);
    assert_int_equal(steps_within(sql, STEP_SCAN, NULL), 4);
}

static uint64_t what_is_given(void *context)
{
    return *(uint64_t *)context;
}

static void large_sides_are_joined(void **state)
{
    uint64_t most = 200000;
    struct plan_limits limits = { .probed_bytes = 100000 };
    const char *sql = "select 1 from nulls join test on a = id";

    (void)state;
    assert_int_equal(steps_within(sql, STEP_JOIN, &limits), 1);
    limits.probed_most = what_is_given;
    limits.context = &most;
    assert_int_equal(steps_within(sql, STEP_JOIN, &limits), 1);
    most = 1000000;
    assert_int_equal(steps_within(sql, STEP_JOIN, &limits), 0);
    limits.probed_bytes = 1000000;
    limits.probed_most = NULL;
    assert_int_equal(steps_within(sql, STEP_JOIN, &limits), 0);
}

/* The least room with which a statement's join is probed. */
static uint64_t least_room(const char *sql)
{
    uint64_t too_little = 0, most;
    struct plan_limits limits = { .probed_most = what_is_given,
                                  .context = &most };
    for (uint64_t step = 1 << 24; step > 0; step /= 2) {
        most = too_little + step;
        if (steps_within(sql, STEP_JOIN, &limits) > 0)
            too_little = most;
    }
    return too_little + 1;
}

/* All rows have to fit into twice the room, and those that are thought to be
 * left into the room. */
static void sides_are_as_large_as_estimated(void **state)
{
    uint64_t all = least_room("select 1 from nulls join test on a = id");
    uint64_t few = least_room("select 1 from nulls join (select id from test "
                              "where id = 2) as t on a = id");

    (void)state;
    assert_true(few < all);
    assert_true(few >= all / 2);
}

static void many_joins_are_several_scans(void **state)
{
    struct text sql = { 0 };

    (void)state;
    text_print(&sql, "select count(*) from nulls");
    for (int i = 0; i < 40; i++)
        text_print(&sql, " join test t%d on a = t%d.id", i, i);
    assert_int_equal(joins_of(sql.bytes), 0);
    assert_int_equal(steps_within(sql.bytes, STEP_SCAN, NULL), 40 + 3);
    text_finish(&sql);
}

static unsigned scans_for_columns(unsigned count)
{
    struct text sql = { 0 };
    unsigned scans;

    text_print(&sql, "select id");
    for (unsigned i = 1; i < count; i++)
        text_print(&sql, ", b");
    text_print(&sql, " from nulls left join test on a = id");
    scans = steps_within(sql.bytes, STEP_SCAN, NULL);
    text_finish(&sql);
    return scans;
}

static void too_many_registers_are_two_programs(void **state)
{
    (void)state;
    assert_int_equal(scans_for_columns(200), 2);
    assert_int_equal(scans_for_columns(500), 3);
}

static void only_rows_are_found_without_a_key(void **state)
{
    (void)state;
    assert_int_equal(joins_of("select a, m from nulls, (select max(id) as m "
                              "from test) t"),
                     0);
    assert_int_equal(joins_of("select a, m from nulls left join (select "
                              "max(id) as m from test) t on b < m"),
                     0);
    assert_int_equal(joins_of("select a, id from nulls left join test on "
                              "b < id"),
                     1);
    assert_int_equal(joins_of("select a, id from nulls left join test on "
                              "true"),
                     1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inner_join_is_one_program),
        cmocka_unit_test(left_join_keeps_rows),
        cmocka_unit_test(marks_are_rows_that_are_there),
        cmocka_unit_test(several_keys_are_packed),
        cmocka_unit_test(what_can_be_probed),
        cmocka_unit_test(a_spine_is_one_scan),
        cmocka_unit_test(large_sides_are_joined),
        cmocka_unit_test(sides_are_as_large_as_estimated),
        cmocka_unit_test(many_joins_are_several_scans),
        cmocka_unit_test(too_many_registers_are_two_programs),
        cmocka_unit_test(only_rows_are_found_without_a_key),
    };

    return cmocka_run_group_tests(tests, make_test_database, NULL);
}
