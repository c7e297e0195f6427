/* SPDX-License-Identifier: MIT */
/*
 * The parser: the trees of every kind of statement, and of what expressions
 * have beside operators on numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/text.h"
#include "fixtures/tree.h"

static void patterns_bind_as_like(void **state)
{
    (void)state;
    check_tree("a glob b || c = d or a not regexp b and c similar to d",
               "(or (= (glob a (|| b c)) d) (and (notregexp a b) (similar c "
               "d)))");
    check_tree("a ~ b is c !~ d", "(notregexp (is (regexp a b) c) d)");
    check_tree("glob glob glob(regexp, similar) not similar to similar",
               "(notsimilar (glob glob (glob regexp similar)) similar)");
}

static void powers_bind_below_products(void **state)
{
    (void)state;
    check_tree("a * b ^ c ^ -d", "(* a (power (power b c) (neg d)))");
    check_tree("-a ** 2 || b", "(power (neg a) (|| 2 b))");
}

static void forms_mean_calls(void **state)
{
    (void)state;
    check_tree("d + interval (a * 2) months", "(+ d (to_months (* a 2)))");
    check_tree("d + interval ((a)) year + b", "(+ (+ d (to_years a)) b)");
    check_tree("percentile_cont(0.5) within group (order by a + b)",
               "(quantile_cont (+ a b) 0.5d)");
    check_tree("interval + within", "(+ interval within)");
}

static void collate_binds_below_signs(void **state)
{
    (void)state;
    check_tree("a = b || c collate nocase", "(= a (|| b (collate NOCASE c)))");
    check_tree("-a collate rtrim collate \"binary\"",
               "(collate BINARY (collate RTRIM (neg a)))");
    check_tree("a::text collate nocase in (b)",
               "(in (collate NOCASE (cast text a)) b)");
    check_tree("not a collate nocase is null",
               "(not (is (collate NOCASE a) null))");
}

static void rows_are_read(void **state)
{
    (void)state;
    check_tree("(a, 1) in ((b, -c)) = (d)",
               "(= (in (row a 1) (row b (neg c))) d)");
    check_tree("(a + 1, b) = (1, 2, c)", "(= (row (+ a 1) b) (row 1 2 c))");
}

static void functions_are_read(void **state)
{
    (void)state;
    check_tree("now()", "(now)");
    check_tree("count(*) + sum(distinct a)", "(+ (count *) (sum distinct a))");
    check_tree("f(all a, 1 and 2, 'x')", "(f a (and 1 2) 'x')");
    check_tree("left(a, 1) || replace(b, c, d) || \"odd one\"(1)",
               "(|| (|| (left a 1) (replace b c d)) (odd one 1))");
    check_tree("sum(a) filter (where b > 1) over (partition by c, d "
               "order by e desc nulls last, f)",
               "(sum a filter (> b 1) over( c d order e desc last f))");
    check_tree("rank() over ()", "(rank over())");
    check_first("rank() over () as over", "(rank over())");
    check_tree("extract(year from a + 1)", "(extract 'year' (+ a 1))");
    check_tree("substring(a from 2 for 3)", "(substring a 2 3)");
    check_first("substring(a from 2 for 3), 1", "(substring a 2 3)");
    check_tree("trim('x' from a)", "(trim a 'x')");
    check_tree("date(a) > date '2020-01-01'",
               "(> (date a) (cast date '2020-01-01'))");
    check_tree("timestamp '2020-01-01' + interval '3' month",
               "(+ (cast timestamp '2020-01-01') 3month)");
    check_tree("a - interval 2 weeks + interval '-1 quarter'",
               "(+ (- a 14day) -3month)");
}

static void queries_in_expressions(void **state)
{
    (void)state;
    check_tree("(select 1)", "(query {select 1})");
    check_tree("((select 1)) + 1", "(+ (query {select 1}) 1)");
    check_tree("((select 1) + 1)", "(+ (query {select 1}) 1)");
    check_tree("((select 1) union select 2)",
               "(query {union {select 1} {select 2}})");
    check_tree("not exists (select * from t)",
               "(not (exists {select * from t}))");
    check_tree("a in (select b from t) or c in u",
               "(or (in a {select b from t}) (in c {select * from u}))");
    check_tree("a in ((select 1))", "(in a {select 1})");
    check_tree("a in ((select 1), 2)", "(in a (query {select 1}) 2)");
    check_tree("a in ((select 1) + 1)", "(in a (+ (query {select 1}) 1))");
    check_tree("a not in (values (1), (2))", "(notin a {values [ 1 ] [ 2 ]})");
}

static void parameters_are_numbered(void **state)
{
    (void)state;
    check_tree("? + ?5 + ? + :a + :b + :a + ?1",
               "(+ (+ (+ (+ (+ (+ ?1 ?5) ?6) ?7:a) ?8:b) ?7:a) ?1)");
    assert_int_equal(parsed.statement->parameter_count, 8);
    assert_int_equal(parse("select ?32766"), VDBQ_OK);
    assert_int_equal(parse("select ?32767"), VDBQ_LIMIT);
    assert_int_equal(parse("select ?32766, ?"), VDBQ_LIMIT);
    assert_int_equal(parse("select ?0"), VDBQ_LIMIT);
    assert_int_equal(parse("select ?99999999999999999999"), VDBQ_LIMIT);
}

/* Statements and their trees. */
static const struct {
    const char *sql, *tree;
} statements[] = {
    /* queries */
    { "select distinct a, b, from t", "{select distinct a b from t}" },
    { "select distinct on (a, b + 1) a, c from t",
      "{select distinct on( a (+ b 1)) a c from t}" },
    { "from t", "{select * from t}" },
    { "from t where a", "{select * from t where a}" },
    { "from t u select a, u.* group by a",
      "{select a u.* from t as u group a}" },
    { "select a from 'a b.csv' as f", "{select a from 'a b.csv' as f}" },
    { "select a, sum(b) from t where c group by a, 2, having d "
      "order by 1 desc, b asc nulls first limit 10 offset 5",
      "{select a (sum b) from t where c group a 2 having d order 1 desc "
      "b first limit 10 offset 5}" },
    { "select a from t group by all limit 5, ?",
      "{select a from t group all limit ?1 offset 5} 1 parameters" },
    { "select 1 union select 2 union all select 3 intersect select 4 "
      "except values (5)",
      "{except {intersect {unionall {union {select 1} {select 2}} "
      "{select 3}} {select 4}} {values [ 5 ]}}" },
    { "select sum(a) over w, avg(b) over (v order by c), 1 from t "
      "window w as (partition by window), v as (w rows 1 preceding) "
      "qualify qualify > 2 order by 1",
      "{select (sum a over(=w)) (avg b over(v order c)) 1 from t "
      "window w( window) window v(w) qualify (> qualify 2) order 1}" },
    { "select 1 intersect all select 2 except all select 3",
      "{exceptall {intersectall {select 1} {select 2}} {select 3}}" },
    { "select 1 union (select 2 order by 1) order by 2",
      "{union {select 1} {select 2 order 1} order 2}" },
    { "(select 1 limit 1) limit 2",
      "{select * from {select 1 limit 1} limit 2}" },
    { "((select 1))", "{select 1}" },
    { "(select 1) except ((from t) union all table_)", NULL },
    { "values (1, 'a'), (?, null) order by 1 limit 1",
      "{values [ 1 'a' ] [ ?1 null ] order 1 limit 1} 1 parameters" },
    { "with a as (select 1), b(x, y) as (values (1, 2)) select * from a, b",
      "{with a {select 1} with b(x y) {values [ 1 2 ]} "
      "select * from (comma a b)}" },
    { "with a as (select 1) (with b as (select 2) select 3)",
      "{with a {select 1} select * from {with b {select 2} select 3}}" },
    { "explain analyze with a as (from t) from a order by 1",
      "analyze {with a {select * from t} select * from a order 1}" },
    /* joins */
    { "select * from a, b as x join c on x.d = c.d cross join e",
      "{select * from (cross (inner (comma a b as x) c on (= x.d c.d)) e)}" },
    { "from a left join b using (x, y) right outer join c on 1 "
      "full join d on 2 natural join e natural left outer join f",
      "{select * from (naturalleft (naturalinner (full (right (left a b "
      "using(x y)) c on 1) d on 2) e) f)}" },
    { "from a semi join b on 1 left join c on 2",
      "{select * from (left (semi a b on (exists {select 1 from b where "
      "1})) c on 2)}" },
    { "from a semi -- of b\n/* all */ join b on 1",
      "{select * from (semi a b on (exists {select 1 from b where 1}))}" },
    { "from a semi anti join b using (x)",
      "{select * from (anti a as semi b on (not (exists {select 1 from "
      "{select x as  x from b} where (= x  x)})))}" },
    { "from (a inner join (b, c) on 1)",
      "{select * from (inner a (comma b c) on 1)}" },
    { "from (select 1) as q(a, b), (values (1)) v(c), ((select 2)) w",
      "{select * from (comma (comma {select 1} as q(a b) {values [ 1 ]} "
      "as v(c)) {select 2} as w)}" },
    { "from ((select 1) union select 2) q",
      "{select * from {union {select 1} {select 2}} as q}" },
    { "from ((select 1) join t)", "{select * from (inner {select 1} t)}" },
    { "select left.a left from left left join right", NULL },
    { "select left.a from left left join right",
      "{select left.a from (left left right)}" },
    /* definitions */
    { "create table t (a int primary key not null, b varchar(10) default "
      "'x' unique, c decimal(8, 2) null default -1.5, primary key (a, b), "
      "unique (c),)",
      "create t [a integer key notnull] [b text unique default 'x'] "
      "[c decimal:8,2 default (neg 1.5d)] key order a b unique order c" },
    { "create table t (a text, unique (a collate nocase desc))",
      "create t [a text] unique order (collate NOCASE a) desc" },
    { "create table t (a numeric, b date default (1 + 2),)",
      "create t [a decimal:18,3] [b date default (+ 1 2)]" },
    { "create table if not exists t as select 1", "create t?{select 1}" },
    { "create table t as from 'x.csv'", "create t{select * from 'x.csv'}" },
    { "create view v (a, b) as select 1, 2", "view v(a b){select 1 2}" },
    { "create view if not exists v as (from t)", "view v?{select * from t}" },
    { "create index i on t (a, b desc)", "index i on t order a b desc" },
    { "create unique index if not exists i on t (a asc)",
      "index unique i? on t order a" },
    { "drop view if exists v", "drop view v?" },
    { "drop index i", "drop index i" },
    { "reindex", "reindex all" },
    { "reindex reindex", "reindex reindex" },
    { "analyze", "analyze all" },
    { "analyze analyze", "analyze analyze" },
    { "pragma table_list", "pragma table_list" },
    { "pragma main.x('it''s')", "pragma x 'it's'" },
    { "pragma pragma = -1", "pragma pragma '-1'" },
    /* changes */
    { "insert or ignore into t (a, b) select 1, 2 limit 1",
      "insert ignore t(a b) {select 1 2 limit 1}" },
    { "insert or replace into t (select 1)", "insert replace t {select 1}" },
    { "replace into t values (1)", "insert replace t {values [ 1 ]}" },
    { "insert into t default values", "insert t default" },
    { "insert into t (a) with x as (from y) from x",
      "insert t(a) {with x {select * from y} select * from x}" },
    { "update t as u set a = 1, b = u.a or 2 where c",
      "update t as u a=1 b=(or u.a 2) where c" },
    { "update t set date = :d", "update t date=?1:d 1 parameters" },
    { "delete from t x where a", "delete t as x where a" },
    { "delete from t", "delete t" },
    /* the rest */
    { "begin", "begin" },
    { "begin transaction immediate", "begin" },
    { "begin exclusive transaction", "begin" },
    { "begin deferred", "begin" },
    { "start transaction", "begin" },
    { "commit", "commit" },
    { "end transaction", "commit" },
    { "rollback", "rollback" },
    { "savepoint one", "savepoint one" },
    { "savepoint savepoint", "savepoint savepoint" },
    { "release one", "release one" },
    { "release savepoint \"a b\"", "release a b" },
    { "release savepoint", "release savepoint" },
    { "rollback to one", "rollback to one" },
    { "rollback transaction to savepoint one", "rollback to one" },
    { "vacuum", "vacuum" },
    { "pragma Integrity_Check", "check" },
    { "copy t to 'it''s.csv'", "copy 'it's.csv' {select * from t}" },
    { "copy (select 1) to 'x'", "copy 'x' {select 1}" },
    { "copy t (a, b) to 'x' (header, null '')",
      "copy 'x'  header 1 null ''{select a as a b as b from t}" },
    { "copy t from 'x'", "copy t from 'x'" },
    { "copy \"from\" (a, \"to\") from 'x' with (sep '\\t', quote '', escape "
      "'\\', nullstr NA, format csv, header off)",
      "copy from from 'x' a to header 0 format 'csv' delimiter '\t' quote '' "
      "escape '\\' null 'NA'" },
    { "describe t", "describe {select * from t}" },
    { "describe select 1", "describe {select 1}" },
    { "explain summarize from t", "explain summarize {select * from t}" },
    { "summarize t", "summarize {select * from t}" },
    { "desc t", "describe {select * from t}" },
    { "explain query plan select 1", "explain {select 1}" },
    { "prepare p as select ?, :a", "prepare p as 13-25" },
    { "execute p", "execute p" },
    { "explain execute \"a b\" (1, (2), 'x')",
      "explain execute a b of 3 at 23-34" },
    { "deallocate prepare p", "deallocate p" },
    { "deallocate all", "deallocate all" },
};

static void statements_have_their_trees(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct text tree = { 0 };
        enum vdbq_status status = parse(statements[i].sql);
        if (statements[i].tree == NULL) {
            assert_int_equal(status, VDBQ_SYNTAX);
            continue;
        }
        if (status != VDBQ_OK)
            fail_msg("%s: %s", statements[i].sql, parsed.error.message);
        print_statement(&tree, parsed.statement);
        assert_string_equal(tree.bytes, statements[i].tree);
        text_finish(&tree);
    }
}

/* Whatever is cut or changed gives a status, and where it fails a place. */
static void check_damaged(const char *sql, size_t length)
{
    enum vdbq_status status = parse_bytes(sql, length);

    assert_true(parsed.consumed <= length);
    if (status == VDBQ_OK)
        assert_non_null(parsed.statement);
    else
        assert_true(parsed.error.line > 0 && parsed.error.message[0] != '\0');
}

static void damaged_text_is_told(void **state)
{
    static const char bytes[] = "(),.'\"*:?;-1a \xc3";
    char sql[400];

    (void)state;
    for (unsigned i = 0; i < sizeof statements / sizeof *statements; i++) {
        size_t length = strlen(statements[i].sql);
        for (size_t at = 0; at < length; at++) {
            check_damaged(statements[i].sql, at);
            strcpy(sql, statements[i].sql);
            sql[at] = bytes[(i + at) % (sizeof bytes - 1)];
            check_damaged(sql, length);
        }
    }
}

static void bits_bind_as_in_sqlite(void **state)
{
    (void)state;
    check_tree("a & b | c << d + 1 < e", "(< (<< (| (& a b) c) (+ d 1)) e)");
    check_tree("a not like ~b >> -c", "(notlike a (>> (bitnot b) (neg c)))");
    check_tree("a // b * c || d", "(* (/ a b) (|| c d))");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_bind_as_like),
        cmocka_unit_test(powers_bind_below_products),
        cmocka_unit_test(forms_mean_calls),
        cmocka_unit_test(bits_bind_as_in_sqlite),
        cmocka_unit_test(collate_binds_below_signs),
        cmocka_unit_test(rows_are_read),
        cmocka_unit_test(functions_are_read),
        cmocka_unit_test(queries_in_expressions),
        cmocka_unit_test(parameters_are_numbered),
        cmocka_unit_test(statements_have_their_trees),
        cmocka_unit_test(damaged_text_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, finish_parse);
}
