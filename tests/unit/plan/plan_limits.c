/* SPDX-License-Identifier: MIT */
/*
 * The planner at its ends: no memory at any point of any statement, and
 * statements that are nested deep or go on for long. Each ends in a plan or in
 * a failure that says why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "fixtures/chance.h"
#include "fixtures/plan/tables.h"
#include "plan/plan.h"

/* Statements of all kinds. */
static const char *const statements[] = {
    "select 1",
    "select 1 + 2 * 3, 'a' || 'b', null, 1.5, true",
    "select * from test",
    "select id + uniformi from test where normali5 > 1",
    "select t.id from test t, wide w where t.id = w.i",
    "select * from test t join nulls n on t.id = n.a and t.uniformi > n.b",
    "select * from test t left join nulls n on t.id = n.a and n.b > 1",
    "select * from test t right join nulls n on t.id = n.a where t.id > 1",
    "select * from test t full join wide w on t.id = w.k",
    "select * from test natural join empty",
    "select * from test t full join empty e using (id)",
    "select * from nulls n left join test t on n.a in (select i from wide)",
    "select * from nulls n left join test t on n.a + t.id in "
    "(select i from wide)",
    "select a, count(*), sum(b), avg(x) from nulls group by a",
    "select a, min(b) from nulls group by a having max(b) > 2 order by 2",
    "select count(distinct a), sum(b) filter (where a > 1) from nulls",
    "select distinct a, b from nulls order by b desc, a limit 3 offset 1",
    "select id from test limit (select max(a) from nulls) offset 1",
    "select a + 1 from nulls group by all",
    "select * from (select a, sum(b) as s from nulls group by a) t "
    "where a > 1 and s > 2",
    "select * from (select id from test union all select i from wide) t "
    "where id > 2",
    "select id from test union select i from wide order by 1",
    "select id from test intersect select a from nulls",
    "select id from test except select a from nulls",
    "select * from test where exists (select 1 from nulls where a = id)",
    "select * from test where not exists (select 1 from nulls n where "
    "n.a = id and n.b <> uniformi)",
    "select * from test where id in (select a from nulls)",
    "select * from test where id not in (select a from nulls where b = id)",
    "select id in (select a from nulls) from test",
    "select (select sum(b) from nulls where a = id) from test",
    "select (select count(*) + 1 from nulls where a = id and b > 1) "
    "from test",
    "select (select b from nulls where a = id limit 1) from test",
    "select id from test where id > (select avg(a) from nulls where "
    "b = uniformi)",
    "with t as (select a from nulls), u(z) as (select a + 1 from t) "
    "select * from t, u where a = z",
    "values (1, 2.5, 'a'), (null, 3, 'b')",
    "select * from (values (1), (2)) v(x) where x > 1",
    "select case a when 1 then b when 2 then 3 else x end from nulls",
    "select coalesce(a, b, 3), nullif(a, b), iif(a > b, 1, 2) from nulls",
    "select abs(a), sign(b), round(x, 1), sqrt(x), power(a, 2), mod(a, 2), "
    "greatest(a, b, 3), least(a, b) from nulls",
    "select upper(s), length(s), s like 'a%', s || t, substr(s, 2) "
    "from texts",
    "select s from texts where s in ('a', 'b') and t > s order by t",
    "select s || t, count(*) from texts group by s || t",
    "select d + interval '1' month, extract(year from d), "
    "d - cast('2020-01-01' as date) from texts",
    "select cast(m as integer), m * 2, m / 3, cast(s as double) from texts",
    "select a between 1 and 2, a is null, a is true, not a from nulls",
    "select row_number() over (order by a), sum(b) over (partition by a), "
    "lag(a, 1, 0) over (order by b) from nulls",
    "select a, a from nulls where (a = 1 and b = 2) or (a = 1 and b = 3)",
    "select id from test where id in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, "
    "13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, "
    "31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, "
    "49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, null)",
    "select count(*) from test a, test b, test c, test d where a.id = b.id "
    "and b.id = c.id and c.id = d.id and a.uniformi > 1",
    "insert into test values (7, 1, 2, 3, 4.5, 5, 6)",
    "insert into nulls (a, x) select id, uniformf from test",
    "insert into nulls default values",
    "insert into test (uniformi) values (1), (default)",
    "insert into test select id + 10, 1, 2, 3, 4, 5, 6 from test limit 50%",
    "delete from test order by uniformi limit 1",
    "select last_value(a ignore nulls) over (order by b), median(a) over () "
    "from nulls",
    "insert or replace into wide values (1, 2, 3, 4), (5, 6, 7, 8)",
    "update nulls set a = b + 1, x = null where a in (select id from test)",
    "update test set uniformf = 1 ",
    "delete from test where id > 2",
    "delete from nulls where exists (select 1 from test where id = a)",
    "create table made (a int primary key, b text not null default 'x', "
    "c decimal(9, 2), unique (b, c))",
    "create table made as select a, sum(b) as s from nulls group by a",
    "create view seen (p, q) as select a, b from nulls",
    "create unique index found on test (id, uniformi desc)",
    "drop table if exists test",
    "drop view if exists seen",
    "describe test",
    "summarize select a, x from nulls",
    "begin",
    "commit",
    "savepoint one",
    "release one",
    "rollback to one",
    "copy (select * from test) to 'file.csv'",
    "explain select * from test"
};

/* ------------------------------------------------------------ no memory -- */

static long calls_left; /* of memory that is given; then there is none */
static size_t least;    /* bytes of what counts                        */

static void *give(void *old, size_t size)
{
    if (size >= least && calls_left-- <= 0)
        return NULL;
    return realloc(old, size);
}

/* Plans with so much memory; true: it was enough. */
static bool plan_with(const char *sql, long calls, size_t counted,
                      size_t filled)
{
    struct memory_calls before = memory_calls;
    struct arena trees = { 0 }, arena = { 0 };
    struct ast_statement *statement;
    struct error error = { 0 };
    struct plan plan;
    enum vdbq_status status;
    size_t consumed;

    assert_int_equal(
        sql_parse(sql, strlen(sql), &trees, &statement, &consumed, &error),
        VDBQ_OK);
    if (filled > 0)
        assert_non_null(arena_alloc(&arena, filled));
    calls_left = calls;
    least = counted;
    memory_calls.resize = give;
    status =
        plan_statement(statement, sql, strlen(sql), &test_database.catalogue,
                       NULL, NULL, &arena, &plan, &error);
    memory_calls = before;
    if (status == VDBQ_OK)
        plan_finish(&plan);
    else if (status != VDBQ_NO_MEMORY || error.status != VDBQ_NO_MEMORY)
        fail_msg("%s: call %ld: %d %s", sql, calls, status, error.message);
    arena_finish(&arena);
    arena_finish(&trees);
    return status == VDBQ_OK;
}

/* The n-th piece of memory is not given, for all n. */
static void every_call_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        long calls = 0;
        while (!plan_with(statements[i], calls, 0, 0))
            calls++;
        assert_true(calls < 100000);
    }
}

/* The arena's block ends at every place, and there is no other. */
static void the_arena_may_end_anywhere(void **state)
{
    enum { STEP = 48 * FEWER, BLOCKS = 4000 };

    (void)state;
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        for (long blocks = 0; blocks < 3; blocks++)
            for (size_t room = 16; room < 4000; room += STEP)
                plan_with(statements[i], blocks, BLOCKS, 4064 - room);
}

/* -------------------------------------------------------- deep and long -- */

static void repeat(struct text *text, const char *part, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        text_print(text, "%s", part);
}

/* `status`: what planning ends with, or the parser. */
static void ends(struct text *sql, enum vdbq_status status)
{
    struct arena arena = { 0 };
    struct ast_statement *statement;
    struct error error = { 0 };
    struct plan plan;
    size_t consumed, length = strlen(sql->bytes);
    enum vdbq_status got =
        sql_parse(sql->bytes, length, &arena, &statement, &consumed, &error);

    if (got == VDBQ_OK) {
        got = plan_statement(statement, sql->bytes, length,
                             &test_database.catalogue, NULL, NULL, &arena,
                             &plan, &error);
        if (got == VDBQ_OK)
            got = steps_check(&plan.steps, &error);
        if (got == VDBQ_OK)
            plan_finish(&plan);
    }
    if (got != status)
        fail_msg("%.60s ...: %d %s", sql->bytes, got, error.message);
    arena_finish(&arena);
    text_finish(sql);
}

static void nested(const char *start, const char *opens, const char *middle,
                   const char *closes, unsigned count, enum vdbq_status status)
{
    struct text sql = { 0 };

    text_print(&sql, "%s", start);
    repeat(&sql, opens, count);
    text_print(&sql, "%s", middle);
    repeat(&sql, closes, count);
    ends(&sql, status);
}

static void deep_nesting_ends(void **state)
{
    (void)state;
    nested("select ", "(", "1", ")", 900, VDBQ_OK);
    nested("select ", "(", "1", ")", 5000, VDBQ_LIMIT);
    nested("select ", "- ", "1", "", 900, VDBQ_OK);
    nested("select a from ", "(select a from ", "nulls", ")", 300, VDBQ_OK);
    nested("select a from ", "(select a from ", "nulls", ")", 1500, VDBQ_LIMIT);
    nested("select ", "(select ", "1", ")", 300, VDBQ_OK);
    nested("select ", "(select ", "1", ")", 1500, VDBQ_LIMIT);
    nested("select id from test where id in ",
           "(select a from nulls where a in ", "(1)", ")", 300, VDBQ_OK);
    nested("select id from test t where ",
           "exists (select 1 from nulls where a = t.id and ", "1 = 1 ", ")",
           150, VDBQ_OK);
}

static void listed(const char *start, const char *format, unsigned count,
                   const char *end, enum vdbq_status status)
{
    struct text sql = { 0 };

    text_print(&sql, "%s", start);
    for (unsigned i = 0; i < count; i++) {
        text_print(&sql, "%s", i > 0 ? " " : "");
        text_print(&sql, format, i, i);
    }
    text_print(&sql, "%s", end);
    ends(&sql, status);
}

static void long_lists_end(void **state)
{
    (void)state;
    listed("select 1 ", "union select %u", 200, "", VDBQ_OK);
    listed("select a from nulls ", "union all select %u", 200, "", VDBQ_OK);
    listed("select case a ", "when %u then %u", 100, " end from nulls",
           VDBQ_OK);
    listed("select case a ", "when %u then %u", 5000, " end from nulls",
           VDBQ_LIMIT);
    listed("select case ", "when a > %u then %u", 200000, " end from nulls",
           VDBQ_LIMIT);
    listed("select id from test where id in (0 ", ", %u", 10000, ")", VDBQ_OK);
    listed("select id from test where id not in (0 ", ", %u", 10000, ")",
           VDBQ_OK);
    listed("select s from texts where s in ('a' ", ", 'b%u'", 10000, ")",
           VDBQ_OK);
    listed("select count(*) from (values (0)", ", (%u)", 100000, ") v",
           VDBQ_OK);
    listed("select id from test where id > 5 ", "and id <> %u", 300, "",
           VDBQ_OK);
    listed("select id from test where id > 5 ", "or id = %u", 300, "", VDBQ_OK);
    listed("select * from test where id = 1 ", "or id = %u", 20000, "",
           VDBQ_LIMIT);
}

/* Each name uses the one before it twice, the first one is of `first`. */
static void names_of_names(const char *start, const char *first,
                           const char *end, enum vdbq_status status)
{
    struct text sql = { 0 };

    text_print(&sql, "%swith t0 as (select %s as a from nulls)", start, first);
    for (int i = 1; i < 40; i++)
        text_print(&sql, ", t%d as (select x.a from t%d x, t%d y)", i, i - 1,
                   i - 1);
    text_print(&sql, " select max(a) from t39%s", end);
    ends(&sql, status);
}

/* They are bound once, but for those that ask for values of queries around. */
static void names_of_names_end(void **state)
{
    (void)state;
    names_of_names("", "a", "", VDBQ_OK);
    names_of_names("select (", "o.a", ") from nulls o", VDBQ_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(the_arena_may_end_anywhere),
        cmocka_unit_test(deep_nesting_ends),
        cmocka_unit_test(long_lists_end),
        cmocka_unit_test(names_of_names_end),
    };

    return cmocka_run_group_tests(tests, make_test_database, NULL);
}
