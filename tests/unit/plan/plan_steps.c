/* SPDX-License-Identifier: MIT */
/*
 * Which steps the planner makes of a query: joins in the place of subqueries,
 * conditions near the tables, no columns that nobody reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fixtures/plan/tables.h"
#include "fixtures/plan/planned.h"

/* That the steps of a statement, without their programs and what is thought
 * of their rows, are these. */
static void becomes(const char *sql, const char *expected)
{
    struct planned planned;
    struct text text = { 0 }, lines = { 0 };

    plan_valid(&planned, sql);
    steps_print(&planned.plan.steps, &text);
    text_print(&lines, "%s", "");
    for (char *line = strtok(text.bytes, "\n"); line != NULL;
         line = strtok(NULL, "\n"))
        if (strncmp(line, "; step ", 7) == 0) {
            char *rows = strstr(line, " (~");
            assert_non_null(rows);
            text_print(&lines, "%.*s\n", (int)(rows - line - 7), line + 7);
        }
    if (strcmp(lines.bytes, expected) != 0)
        fail_msg("%s:\n%s", sql, lines.bytes);
    text_finish(&text);
    text_finish(&lines);
    planned_finish(&planned);
}

/* How often an opcode is in all programs of the steps of a statement. */
static unsigned count_all(const char *sql, enum opcode op)
{
    struct planned planned;
    unsigned count = 0;

    plan_valid(&planned, sql);
    for (size_t i = 0; i < planned.plan.steps.steps.count; i++) {
        const struct step *step = steps_at(&planned.plan.steps, (int)i);
        const struct program *program = &step->scan.program;
        for (int pc = 0;
             step->kind == STEP_SCAN && pc < (int)program->code.count; pc++)
            count += program_at(program, pc)->op == op;
    }
    planned_finish(&planned);
    return count;
}

static void subqueries_become_joins(void **state)
{
    (void)state;
    becomes("select * from test where exists (select 1 from nulls "
            "where a = id and b <> uniformi)",
            "0: scan of table nulls\n"
            "1 of step 0: group by 1 columns: min(1), max(1)\n"
            "2 of step 1: scan of table test, probes nulls (step 1)\n");
    becomes("select * from test where exists (select 1 from nulls "
            "where a = id and (b <> uniformi or b = id))",
            "0: scan of table test\n"
            "1: scan of table nulls\n"
            "2 of step 0, 1: semi join 0 = 0, where\n");
    becomes("select id from test where not exists (select 1 from nulls "
            "where a = id limit 1)",
            "0: scan of table nulls\n"
            "1 of step 0: scan of table test, probes nulls (step 0)\n");
    becomes("select id from test where id in (select i from wide)",
            "0: scan of table wide\n"
            "1 of step 0: scan of table test, probes wide (step 0)\n");
    becomes("select id from test where id not in (select i from wide)",
            "0: scan of table wide\n"
            "1 of step 0: scan of table test, probes wide (step 0)\n");
}

static void nulls_keep_the_mark(void **state)
{
    (void)state;
    becomes("select id from test where id not in (select a from nulls)",
            "0: scan of table test\n"
            "1: scan of table nulls\n"
            "2 of step 0, 1: mark join 0 = 0\n"
            "3 of step 2: scan\n");
}

static void aggregates_of_a_subquery_become_groups(void **state)
{
    (void)state;
    becomes("select (select sum(b) from nulls where a = id) from test",
            "0: scan of table nulls\n"
            "1 of step 0: group by 1 columns: sum(1)\n"
            "2 of step 1: scan of table test, probes nulls (step 1)\n");
}

static void other_conditions_are_tested_for_all_pairs(void **state)
{
    (void)state;
    becomes("select id from test where exists (select 1 from nulls "
            "where a <> id)",
            "0: scan of table nulls\n"
            "1 of step 0: grid of input (step 0) and test\n"
            "2 of step 1: scan of table test, probes nulls (step 1)\n");
}

static void order_makes_ranges(void **state)
{
    (void)state;
    becomes("select id from test where exists (select 1 from nulls "
            "where a < id)",
            "0: scan of table test\n"
            "1: scan of table nulls\n"
            "2 of step 0, 1: semi join right 0 < 0\n");
    becomes("select t.id, u.id from test t join test u "
            "on abs(t.id - u.id) <= 5",
            "0: scan of table test\n"
            "1: scan of table test\n"
            "2 of step 0, 1: inner join 1 <= right 0 <= 2\n"
            "3 of step 2: scan\n");
    becomes("select 1 from test t left join wide w "
            "on t.id > w.small and t.id < w.i and t.id <> w.i + w.small",
            "0: scan of table test\n"
            "1: scan of table wide\n"
            "2 of step 0, 1: left join right 0 < 0 < right 1, where\n"
            "3 of step 2: scan\n");
}

static void conditions_go_down(void **state)
{
    (void)state;
    becomes("select * from test t left join wide w on t.id = w.i "
            "where w.small > 1",
            "0: scan of table test\n"
            "1: scan of table wide\n"
            "2 of step 0, 1: inner join 0 = 3\n");
    becomes("select a, s from (select a, sum(b) as s from nulls group by a) "
            "g where a > 1",
            "0: scan of table nulls\n"
            "1 of step 0: group by 1 columns: sum(1)\n");
    assert_int_equal(count_all("select x from (select id as x from test "
                               "union all select i from wide) u "
                               "where x < 2",
                               OP_INVALID),
                     2);
}

static void branches_give_their_common_parts_away(void **state)
{
    (void)state;
    becomes("select t.id from test t, wide w where (t.id = w.i and "
            "w.small > 1) or (t.id = w.i and t.uniformi > 5)",
            "0: scan of table test\n"
            "1 of step 0: scan of table wide, probes test (step 0)\n");
}

static void nobody_reads_other_columns(void **state)
{
    (void)state;
    assert_int_equal(count_all("select n from (select *, id + 1 as n, "
                               "uniformi * 7 as m from test) t",
                               OP_MUL_I32),
                     0);
    assert_int_equal(count_all("select count(*) from (select id, uniformi "
                               "from test) t",
                               OP_COLUMN_I32),
                     0);
}

static void constants_are_rows(void **state)
{
    (void)state;
    becomes("select sum(x) from (values (1), (2), (3)) v(x)",
            "0: 3 rows of values\n"
            "1 of step 0: group by 0 columns: sum(0)\n");
}

/* What is asked of the texts that the last function of a statement makes, where so
 * much is asked of its results. */
static enum texts_use asked_for(const char *sql, enum texts_use last)
{
    struct planned planned;
    enum texts_use use = TEXTS_PASSING;

    plan_valid(&planned, sql);
    uint8_t **texts = steps_texts(&planned.plan.steps, last);
    assert_non_null(texts);
    for (size_t i = 0; i < planned.plan.steps.steps.count; i++) {
        const struct step *step = steps_at(&planned.plan.steps, (int)i);
        if (step->kind == STEP_MAP)
            use = (enum texts_use)texts[i][step->column_count - 1];
    }
    free(texts);
    planned_finish(&planned);
    return use;
}

static enum texts_use asked(const char *sql)
{
    return asked_for(sql, TEXTS_GIVEN);
}

static void nobody_orders_texts_in_vain(void **state)
{
    (void)state;
    assert_int_equal(asked("select id || uniformi from test"), TEXTS_GIVEN);
    assert_int_equal(asked("select id || uniformi, id + 1 from test"),
                     TEXTS_GIVEN);
    assert_int_equal(asked("select distinct id || uniformi, id + 1 from test"),
                     TEXTS_ORDERED);
    assert_int_equal(asked("select k, l from (select id || uniformi as k, "
                           "uniformi || id as l from test) t where k > l"),
                     TEXTS_ORDERED);
    assert_int_equal(asked("select distinct id || uniformi from test"),
                     TEXTS_COMPARED);
    assert_int_equal(asked("select count(*) from (select distinct "
                           "id || uniformi from test) t"),
                     TEXTS_COMPARED);
    assert_int_equal(asked("select n + 1 from (select id || uniformi as k, "
                           "count(*) as n from test group by k) t"),
                     TEXTS_COMPARED);
    assert_int_equal(asked("select count(*) from (select distinct "
                           "id || uniformi as k from test) t where k > '5'"),
                     TEXTS_ORDERED);
    assert_int_equal(asked("select id || uniformi as k from test order by k"),
                     TEXTS_ORDERED);
    assert_int_equal(asked("select a.id from test a join test b "
                           "on a.id || a.normali5 = b.id || b.uniformi"),
                     TEXTS_COMPARED);
    assert_int_equal(asked("select k from test a left join (select id || "
                           "uniformi as k, normali5 as n from test) b "
                           "on a.uniformi = b.n"),
                     TEXTS_GIVEN);
    assert_int_equal(asked("select k from test a left join (select id || "
                           "uniformi as k, normali5 as n from test) b "
                           "on a.uniformi = b.n order by k"),
                     TEXTS_ORDERED);
}

static void texts_pass_where_batches_are_read_one_by_one(void **state)
{
    static const char *const pass[] = {
        "select id || uniformi from test",
        "select id || uniformi from test limit 3",
        "select upper(id || uniformi) || uniformi from test",
    };
    static const char *const stay[] = {
        "select id || uniformi from test order by uniformi",
        ("with t as (select id, id || uniformi as k from test) "
         "select a.k, b.k from t a join t b on a.id = b.id"),
        "select id || uniformi from test union all select 'x'",
        "select count(id || uniformi) from test",
    };
    (void)state;
    for (size_t i = 0; i < sizeof pass / sizeof *pass; i++)
        assert_int_equal(asked_for(pass[i], TEXTS_PASSING), TEXTS_PASSING);
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        assert_true(asked_for(stay[i], TEXTS_PASSING) > TEXTS_PASSING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subqueries_become_joins),
        cmocka_unit_test(nulls_keep_the_mark),
        cmocka_unit_test(aggregates_of_a_subquery_become_groups),
        cmocka_unit_test(other_conditions_are_tested_for_all_pairs),
        cmocka_unit_test(order_makes_ranges),
        cmocka_unit_test(conditions_go_down),
        cmocka_unit_test(branches_give_their_common_parts_away),
        cmocka_unit_test(nobody_reads_other_columns),
        cmocka_unit_test(constants_are_rows),
        cmocka_unit_test(nobody_orders_texts_in_vain),
        cmocka_unit_test(texts_pass_where_batches_are_read_one_by_one),
    };

    return cmocka_run_group_tests(tests, make_test_database, NULL);
}
