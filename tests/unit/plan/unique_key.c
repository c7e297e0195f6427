/* SPDX-License-Identifier: MIT */
/*
 * The proof that columns of a query's rows are unique: plan/tree/unique_key.c.
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

#include "plan/bind/query.h"
#include "plan/make/fold.h"
#include "plan/rewrite/rewrite.h"
#include "plan/tree/binder.h"
#include "plan/tree/unique_key.h"

static unsigned pair[] = { 1, 2 };
static unsigned single[] = { 3 };
static struct unique uniques[] = { { 2, pair } };
static struct index indexes[] = {
    { .name = "i",
      .table_id = 2,
      .unique = true,
      .column_count = 1,
      .columns = single },
    { .name = "j", .table_id = 1, .column_count = 1, .columns = single }
};

/* `test` is also UNIQUE (uniformi, normali5), `wide` has a unique index of i,
 * and of `nulls` b is UNIQUE. */
static int make_unique_database(void **state)
{
    make_test_database(state);
    test_database.tables[0].uniques = uniques;
    test_database.tables[0].unique_count = 1;
    test_database.columns[1][1].unique = true;
    test_database.catalogue.indexes = indexes;
    test_database.catalogue.index_count = 2;
    return 0;
}

/* Whether columns of a query's rows, "0 2" the first and the third, are
 * proven unique. */
static bool is_unique(const char *sql, const char *columns)
{
    struct arena arena = { 0 };
    struct error error;
    struct ast_statement *statement;
    struct binder binder = { .sql = sql,
                             .sql_length = strlen(sql),
                             .catalogue = &test_database.catalogue,
                             .arena = &arena,
                             .error = &error };
    struct node *node = NULL;
    int numbers[COLUMNS];
    unsigned count = 0;
    size_t consumed;
    bool unique;

    for (const char *at = columns; *at != '\0'; at++)
        if (*at != ' ')
            numbers[count++] = *at - '0';
    if (sql_parse(sql, strlen(sql), &arena, &statement, &consumed, &error)
        == VDBQ_OK)
        node = bind_query(&binder, statement->query);
    if (node != NULL)
        node = rewrite(&binder, node);
    if (node == NULL)
        fail_msg("%s: %s", sql, error.message);
    unique = node_is_unique(node, numbers, count);
    fold_finish(&binder);
    arena_finish(&arena);
    return unique;
}

static void yes(const char *sql, const char *columns)
{
    if (!is_unique(sql, columns))
        fail_msg("%s: %s are not unique", sql, columns);
}

static void no(const char *sql, const char *columns)
{
    if (is_unique(sql, columns))
        fail_msg("%s: %s are unique", sql, columns);
}

static void tables_promise(void **state)
{
    (void)state;
    yes("select id, uniformi, normali5 from test", "0");
    yes("select id, uniformi, normali5 from test", "12");
    yes("select id, uniformi, normali5 from test", "210");
    no("select id, uniformi, normali5 from test", "1");
    no("select id, uniformi, normali5 from test", "");
    yes("select rowid, a, b from nulls", "0");
    yes("select rowid, a, b from nulls", "12");
    no("select rowid, a, b from nulls", "1");
    yes("select most, k, i from wide", "1");
    yes("select most, k, i from wide", "2");
    no("select most, k, i from wide", "0");
    yes("select * from \"Mixed Case\"", "");
}

static void computed_columns_promise_nothing(void **state)
{
    (void)state;
    no("select id / 2, id from test", "0");
    yes("select cast(id as bigint) from test", "0");
    yes("select id, id + 1 from test where id > 2", "0");
    no("select cast(k as double) from wide", "0");
}

static void conditions_fix_columns(void **state)
{
    (void)state;
    yes("select normali5 from test where uniformi = 70", "0");
    no("select normali5 from test where uniformi > 70", "0");
    no("select normali5 from test where uniformi = 70 or id = 1", "0");
    yes("select uniformi from test where id = 3", "");
}

static void groups_have_keys(void **state)
{
    (void)state;
    yes("select a, x, count(*) from nulls group by a, x", "01");
    no("select a, x, count(*) from nulls group by a, x", "0");
    yes("select b, x, count(*) from nulls group by b, x", "0");
    yes("select distinct a, x from nulls", "10");
    yes("select a from nulls union select x from nulls", "0");
    no("select id from test union all select id from test", "0");
    yes("select count(*) from nulls", "");
}

static void rows_stay_unique(void **state)
{
    (void)state;
    yes("select id, uniformf from test order by uniformf", "0");
    yes("select id from test limit 3", "0");
    yes("select uniformf from test order by 1 limit 1", "");
    yes("select id, rank() over (order by uniformi) from test", "0");
    no("select id, rank() over (order by uniformi) from test", "1");
    yes("select id, (select max(a) from nulls where a < id) from test", "0");
    yes("select x from (values (1)) v(x)", "");
    no("select x from (values (1), (2)) v(x)", "0");
}

static void joins_of_one_partner(void **state)
{
    (void)state;
    yes("select t.id, w.most from test t, wide w where t.uniformi = w.k", "0");
    no("select t.id, w.k from test t, wide w where t.uniformi = w.k", "1");
    no("select t.id, n.a from test t, nulls n where t.id = n.a", "0");
    yes("select t.id, n.rowid from test t, nulls n where t.id = n.a", "1");
    yes("select t.id, n.rowid from test t, nulls n", "01");
    no("select t.id, n.rowid from test t, nulls n", "0");
    yes("select t.id, w.i from test t join wide w on t.id = w.i", "1");
    yes("select t.id from test t where id in (select a from nulls)", "0");
    yes("select t.id from test t where not exists "
        "(select 1 from nulls where a = id)",
        "0");
}

static void outer_joins_leave_rows_alone(void **state)
{
    (void)state;
    yes("select t.id, w.k from test t left join wide w on t.id = w.i", "0");
    yes("select t.id, w.k from test t left join wide w on t.id = w.i", "1");
    no("select t.id, n.rowid from test t left join nulls n on t.id = n.a", "0");
    yes("select t.id, n.rowid from test t left join nulls n on t.id = n.a",
        "1");
    yes("select t.id, w.k from test t right join wide w on t.id = w.i", "0");
    yes("select t.id, w.k from test t full join wide w on t.id = w.i", "0");
    yes("select t.id, w.k from test t full join wide w on t.id = w.i", "1");
    no("select 1 from (select id from test where id = 1) t "
       "full join wide w on t.id = w.i",
       "");
    no("select 1 from nulls n left join "
       "(select id from test where id = 1) t on n.a = t.id",
       "");
}

/* A proof that would ask too much is given up. */
static void many_joins_end(void **state)
{
    struct text sql = { 0 };

    (void)state;
    text_print(&sql, "select t0.uniformi from test t0");
    for (int i = 1; i < 60; i++)
        text_print(&sql, " left join test t%d on t%d.id = t%d.id", i, i - 1, i);
    no(sql.bytes, "0");
    text_finish(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_promise),
        cmocka_unit_test(computed_columns_promise_nothing),
        cmocka_unit_test(conditions_fix_columns),
        cmocka_unit_test(groups_have_keys),
        cmocka_unit_test(rows_stay_unique),
        cmocka_unit_test(joins_of_one_partner),
        cmocka_unit_test(outer_joins_leave_rows_alone),
        cmocka_unit_test(many_joins_end),
    };
    return cmocka_run_group_tests(tests, make_unique_database, NULL);
}
