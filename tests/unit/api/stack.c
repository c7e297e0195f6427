/* SPDX-License-Identifier: MIT */
/*
 * Statements nested in every way, run by a thread with a small stack: each
 * gives rows, or says that it is nested too deeply.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/vdbq.h"
#include "base/text.h"

enum { STACK_BYTES = 256 * 1024 };

/* `start`, `opens` so many times, `middle`, `closes` so many times, `end`; %
 * is the number of the level, of the last one in `end`, # of that before. */
struct nest {
    const char *start, *opens, *middle, *closes, *end;
    unsigned most; /* levels that do not take long to run; 0: any */
};

static const struct nest nests[] = {
    { "select ", "(", "1", ")", "", 0 },
    { "select ", "- ", "i", "", " from t", 0 },
    { "select ", "- ", "1", "", "", 0 },
    { "select i from t where ", "not ", "i", "", "", 0 },
    { "select i", " + i", "", "", " from t", 0 },
    { "select 1", " + 1", "", "", "", 0 },
    { "select ", "i + (", "i", ")", " from t", 0 },
    { "select i from t where ", "i > 0 and (", "i", ")", "", 0 },
    { "select i from t where ", "i = 5 or (i < 9 and (", "i", "))", "", 0 },
    { "select s", " || s", "", "", " from t", 0 },
    { "select ", "cast(", "i", " as bigint)", " from t", 0 },
    { "select ", "cast(cast(", "i", " as text) as integer)", " from t", 0 },
    { "select i", "::bigint", "", "", " from t", 0 },
    { "select ", "abs(", "i", ")", " from t", 0 },
    { "select ", "upper(", "s", ")", " from t", 0 },
    { "select ", "replace(", "s", ", 'a', s)", " from t", 0 },
    { "select ", "coalesce(", "i", ", 1)", " from t", 0 },
    { "select ", "case when i > 0 then ", "i", " end", " from t", 0 },
    { "select ", "case when i > 9 then 0 else ", "i", " end", " from t", 0 },
    { "select ", "case when ", "i", " then 1 end", " from t", 0 },
    { "select ", "case ", "i", " when 1 then 1 end", " from t", 0 },
    { "select case ", "when i = % then % ", "", "", "end from t", 0 },
    { "select ", "i between 0 and (", "i", ")", " from t", 0 },
    { "select ", "i in (", "i", ")", " from t", 0 },
    { "select i from t where i in (0", ", i + %", "", "", ")", 0 },
    { "select ", "s like (", "s", ")", " from t", 0 },
    { "select regexp_matches(s, '", "(a", "b", ")?", "') from t", 99 },
    { "select regexp_matches(s, 'a", "|ab", "", "", "') from t", 1200 },
    { "select regexp_replace(s, '", "(?:x|", "b", "|c)?", "', '') from t", 99 },
    { "select regexp_extract(s || i::text, '", "ab*", "", "", "') from t",
      1200 },
    { "select ", "(", "i", " is null)", " from t", 0 },
    { "select ", "(select ", "1", ")", "", 0 },
    { "select ", "(select 1 + ", "i", " from t limit 1)", " from t", 0 },
    { "select i from t where ", "exists (select 1 from t where i > 0 and ",
      "i = 1", ")", "", 0 },
    { "select i from t a0 where ",
      "exists (select 1 from t a% where a%.i = a#.i and ", "1 = 1", ")", "",
      0 },
    { "select i from t a0 where ",
      "not exists (select 1 from t a% where a%.i = a#.i and ", "1 = 1", ")", "",
      0 },
    { "select i from t where i in ", "(select i from t where i in ", "(1)", ")",
      "", 0 },
    { "select i from t where i not in ", "(select i from t where i not in ",
      "(1)", ")", "", 0 },
    { "select ", "(select max(i) + ", "1", " from t)", " from t", 0 },
    { "select ", "(select sum(a.i) + ", "1", ")", " from t a", 0 },
    { "select ", "(select i + a#.i from t a% where i = ", "1", " limit 1)",
      " from t a0", 7 },
    { "select i from ", "(select i from ", "t", ")", "", 0 },
    { "select i from ", "(select i + 1 as i from ", "t", ")", "", 0 },
    { "select i from ", "(select i from ", "t", " where i > 0)", "", 0 },
    { "select i from ", "(select i from ", "t", " limit 2)", "", 0 },
    { "select i from ", "(select i from ", "t", " order by i limit 9)", "", 0 },
    { "select i from ", "(select max(i) as i, s from ", "t", " group by s)", "",
      0 },
    { "select i from ", "(select distinct i from ", "t", ")", "", 0 },
    { "select i from ", "(select i, sum(i) over () as s from ", "t", ")", "",
      0 },
    { "select s from ", "(select upper(s) as s from ", "t", ")", "", 0 },
    { "select i from ", "(", "t", ")", "", 0 },
    { "", "(", "select 1", ")", "", 0 },
    { "", "(", "select 1", ") limit 1", "", 0 },
    { "select a0.i from t a0", " join t a% on a%.i = a#.i", "", "", "", 0 },
    { "select a0.i from t a0", " left join t a% on a%.i = a#.i", "", "", "",
      0 },
    { "select a0.i from t a0", " full join t a% on a%.i = a#.i", "", "", "",
      60 },
    { "select a0.i from t a0",
      " left join t a% on a%.i = a#.i and "
      "exists (select 1 from t where i = a%.i + a#.i)",
      "", "", "", 5 },
    { "select 1 from t", ", (select 1) b%", "", "", " limit 1", 0 },
    { "select 1", " union select 1", "", "", "", 0 },
    { "select i from t", " union all select i from t", "", "", "", 0 },
    { "select i from t", " except select 7", "", "", "", 0 },
    { "select i from t", " intersect select i from t", "", "", "", 0 },
    { "", "(select 1 union ", "(select 1)", ")", "", 0 },
    { "select i from ", "(select i from t union all (select i from ", "t",
      " limit 2))", "", 0 },
    { "with w0 as (select i from t)", ", w% as (select i + 1 as i from w#)", "",
      "", " select * from w%", 0 },
    { "select ", "(with w as (select ", "1", " as i) select i from w)", "", 0 },
    { "select ", "(values (", "1", "))", "", 0 },
    { "select i from t group by i having ",
      "i in (select sum(i) filter (where ", "i > 0", ") from t)", "", 0 },
    { "select 1 from t group by ", "i + (", "i", ")", "", 0 },
    { "select i from t order by ", "i + (", "i", ")", "", 0 },
    { "select i from t limit ", "1 + (", "1", ")", "", 0 },
    { "insert into u values (", "1 + (", "1", ")", ", 'x')", 0 },
    { "insert into u select ", "(select i + ", "i", " from t limit 1)",
      ", 'x' from t", 0 },
    { "update u set i = ", "case when i > 0 then ", "i", " end", "", 0 },
    { "delete from u where ", "i in (select i from t where ", "i", ")", "", 0 },
    { "explain select ", "- ", "i", "", " from t", 0 },
    { "explain select ", "(select i + ", "i", " from t limit 1)", " from t",
      0 },
    { "describe select ", "(select i + ", "i", " from t limit 1)", " from t",
      0 },
    { "select 1 from v", ", v as v%", "", "", "", 3 },
};

static const unsigned depths[] = { 3, 7, 60, 150, 330, 990 };

static void print_level(struct text *sql, const char *part, unsigned level)
{
    for (const char *at = part; *at != '\0'; at++) {
        if (*at == '%' || *at == '#')
            text_print(sql, "%u", *at == '%' ? level : level - 1);
        else
            text_print(sql, "%c", *at);
    }
}

static void repeat(struct text *sql, const char *part, unsigned count)
{
    for (unsigned i = 1; i <= count; i++)
        print_level(sql, part, i);
}

static void check_failure(const vdbq *db, const char *sql)
{
    const struct vdbq_error *error = vdbq_error(db);

    if (error->status != VDBQ_LIMIT)
        fail_msg("%.80s ...: %d %s", sql, error->status, error->message);
}

static void run(vdbq *db, const char *sql)
{
    vdbq_query *query;
    enum vdbq_status status = vdbq_prepare(db, sql, -1, &query, NULL);

    if (status == VDBQ_OK)
        status = vdbq_query_run(query);
    while (status == VDBQ_OK || status == VDBQ_ROW)
        status = vdbq_query_row(query);
    if (status != VDBQ_DONE)
        check_failure(db, sql);
    vdbq_query_close(query);
}

static void run_nest(vdbq *db, const struct nest *nest, unsigned depth)
{
    struct text sql = { 0 };

    if (nest->most > 0 && depth > nest->most)
        return;
    text_print(&sql, "%s", nest->start);
    repeat(&sql, nest->opens, depth);
    text_print(&sql, "%s", nest->middle);
    repeat(&sql, nest->closes, depth);
    print_level(&sql, nest->end, depth);
    run(db, sql.bytes);
    text_finish(&sql);
}

/* View number `i`, over the one before, with an expression of its own. */
static enum vdbq_status make_view(vdbq *db, unsigned i)
{
    struct text sql = { 0 };
    enum vdbq_status status;

    text_print(&sql, "create view v%u as select ", i);
    repeat(&sql, "i + (", 5);
    text_print(&sql, "i))))) as i from %s%u", i > 0 ? "v" : "t", i - (i > 0));
    status = vdbq_execute(db, sql.bytes);
    text_finish(&sql);
    return status;
}

/* Views over views, as far as the stack goes; v is over half of them. */
static void make_views(vdbq *db)
{
    struct text sql = { 0 };
    unsigned count = 0;

    while (count < 60 && make_view(db, count) == VDBQ_OK)
        count++;
    assert_true(count > 3);
    if (count < 60)
        check_failure(db, "create view");
    text_print(&sql, "create view v as select i from v%u", count / 2);
    assert_int_equal(vdbq_execute(db, sql.bytes), VDBQ_OK);
    text_finish(&sql);
}

/* The failure says what is the matter, and where. */
static void check_message(vdbq *db)
{
    run_nest(db, &nests[1], 990);
    assert_int_equal(vdbq_error(db)->status, VDBQ_LIMIT);
    assert_non_null(strstr(vdbq_error(db)->message, "nested too deeply"));
    assert_true(vdbq_error(db)->line == 1 && vdbq_error(db)->column > 1);
}

static void *run_all(void *unused)
{
    vdbq *db;

    (void)unused;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_execute(db,
                                  "create table t (i integer, s text);"
                                  "insert into t values (1, 'a'), (2, null);"
                                  "create table u (i integer, s text);"
                                  "create view t0 as select i from t"),
                     VDBQ_OK);
    make_views(db);
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++)
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
            run_nest(db, &nests[i], depths[d]);
    check_message(db);
    run(db, "select count(*) from t");
    assert_int_equal(vdbq_error(db)->status, VDBQ_OK);
    vdbq_close(db);
    return NULL;
}

static void small_stacks_suffice(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_all, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_stacks_suffice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
