/* SPDX-License-Identifier: MIT */
/*
 * Look-ups by indexes while rows change one by one, by two connections in turns:
 * runs of rows with new keys, and of edits that others wrote (data/index/edited_run.h).
 * What a look-up finds is counted again in an array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/hostile.h"
#include "fixtures/answer.h"

enum {
    ROWS = HOSTILE(120, 70000), /* so many that keys are looked for in runs */
    HOT = HOSTILE(20, 400),     /* of these, those that change most often */
    TOGETHER = 500,             /* that an INSERT brings */
    CHANGES = HOSTILE(300, 800),
    VALUES = 60, /* of each column */
    CONNECTIONS = 2,
    UNIQUES = 3, /* columns: u, v by an expression, w of texts */
    WORD = 16
};

struct row {
    int k, a, s;       /* below 0: NULL */
    int only[UNIQUES]; /* each of one row alone */
    bool gone;
};

static struct row rows[ROWS], before[ROWS];
static vdbq *dbs[CONNECTIONS];
static char path[] = "/tmp/edited_runsXXXXXX";
static uint64_t seed = 1;

static int below(int most)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((seed >> 33) % (uint64_t)most);
}

static int value(void)
{
    return below(12) == 0 ? -1 : below(VALUES);
}

static void do_sql(vdbq *db, const char *sql)
{
    if (vdbq_execute(db, sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
}

/* A value as SQL has it: a number, or of column s a text. */
static const char *literal(char *room, char column, int number)
{
    const char *form = column == 's' ? "'word %d'" : "%d";

    if (number < 0)
        return "NULL";
    snprintf(room, WORD, form, number);
    return room;
}

/* Rows from `first` on, of whatever values. */
static void put(vdbq *db, int first)
{
    static char sql[TOGETHER * 100];
    char k[WORD], a[WORD], s[WORD];
    size_t at = (size_t)snprintf(sql, sizeof sql, "insert into t values ");

    for (int i = first; i < first + TOGETHER && i < ROWS; i++) {
        struct row *row = &rows[i];
        *row = (struct row){ value(), value(), value(), { i, i, i }, false };
        at += (size_t)snprintf(
            sql + at, sizeof sql - at, "%s(%d, %s, %s, %s, %d, %d, 'only %d')",
            i > first ? ", " : "", i, literal(k, 'k', row->k),
            literal(a, 'a', row->a), literal(s, 's', row->s), i, i, i);
    }
    do_sql(db, sql);
}

static void make(vdbq *db)
{
    do_sql(db, "create table t (id integer, k integer, a integer, s text,"
               " u integer unique, v integer, w text unique);"
               "create unique index by_v on t (v * 2);"
               "create unique index by_id on t (id);"
               "create index by_k on t (k); create index by_two on t (a, k);"
               "create index by_s on t (s); create index by_both on t (s, a);"
               "create index by_sum on t (k + a);"
               "create index by_some on t (k) where a > 30; begin");
    for (int i = 0; i < ROWS; i += TOGETHER)
        put(db, i);
    do_sql(db, "commit");
}

static int setup(void **state)
{
    int file = mkstemp(path);
    (void)state;

    assert_true(file >= 0);
    close(file);
    unlink(path);
    for (int i = 0; i < CONNECTIONS; i++) {
        assert_int_equal(vdbq_open(path, VDBQ_OPEN_CREATE, &dbs[i]), VDBQ_OK);
        set_option(dbs[i], "device", "host");
        if (i == 0)
            make(dbs[0]);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < CONNECTIONS; i++)
        vdbq_close(dbs[i]);
    unlink(path);
    return 0;
}

/* -------------------------------------------------------------- changes -- */

static int *cell(struct row *row, char column)
{
    return column == 'k' ? &row->k : column == 'a' ? &row->a : &row->s;
}

/* Changes a row's columns, some of them or all. */
static void update(vdbq *db, int id)
{
    char sql[300], word[WORD];
    size_t at = (size_t)snprintf(sql, sizeof sql, "update t set id = id");
    unsigned which = 1 + (unsigned)below(7);

    for (unsigned i = 0; i < 3; i++) {
        int *to = cell(&rows[id], "kas"[i]);
        if ((which >> i & 1) == 0)
            continue;
        if (!rows[id].gone)
            *to = value();
        at += (size_t)snprintf(sql + at, sizeof sql - at, ", %c = %s", "kas"[i],
                               literal(word, "kas"[i], *to));
    }
    snprintf(sql + at, sizeof sql - at, " where id = %d", id);
    do_sql(db, sql);
}

/* A value of a column that is unique: often one that a row had which is gone. */
static int any_only(int which)
{
    int other = below(HOT);

    return rows[other].gone ? rows[other].only[which] : below(ROWS + 50);
}

/* Gives a row another value of such a column, if no other row has it. */
static void update_only(vdbq *db, int id)
{
    int which = below(UNIQUES), to = any_only(which);
    const char *const forms[] = { "update t set u = %d where id = %d",
                                  "update t set v = %d where id = %d",
                                  "update t set w = 'only %d' where id = %d" };
    enum vdbq_status expected = VDBQ_OK;
    char sql[100];

    for (int i = 0; i < ROWS && !rows[id].gone; i++)
        if (i != id && !rows[i].gone && rows[i].only[which] == to)
            expected = VDBQ_CONSTRAINT;
    snprintf(sql, sizeof sql, forms[which], to, id);
    if (vdbq_execute(db, sql) != expected)
        fail_msg("%s: %s", sql, vdbq_error(db)->message);
    if (expected == VDBQ_OK && !rows[id].gone)
        rows[id].only[which] = to;
}

/* Most changes are of few rows. */
static void change(vdbq *db)
{
    int id = below(below(3) > 0 ? HOT : ROWS), kind = below(40);
    char sql[100];

    if (kind > 15) {
        update(db, id);
        return;
    }
    if (kind > 3) {
        update_only(db, id);
        return;
    }
    rows[id].gone = true;
    snprintf(sql, sizeof sql, "delete from t where id = %d", id);
    do_sql(db, sql);
}

/* -------------------------------------------------------------- look-ups -- */

struct asked {
    const char *where; /* with two values */
    char columns[2];   /* ... of these    */
    bool (*has)(const struct row *row, int x, int y);
};

static bool has_k(const struct row *row, int x, int y)
{
    (void)y;
    return row->k == x;
}

static bool has_both(const struct row *row, int x, int y)
{
    return row->a == x && row->k >= 0 && row->k >= y;
}

static bool has_text(const struct row *row, int x, int y)
{
    (void)y;
    return row->s == x;
}

static bool has_text_and(const struct row *row, int x, int y)
{
    return row->s == x && row->a == y;
}

static bool has_sum(const struct row *row, int x, int y)
{
    return row->k >= 0 && row->a >= 0 && row->k + row->a == x + y;
}

static bool has_some(const struct row *row, int x, int y)
{
    (void)y;
    return row->k == x && row->a > 30;
}

static bool has_either(const struct row *row, int x, int y)
{
    return row->k == x || row->k == y;
}

static const struct asked asked[] = {
    { "k = %s and %s is not null", "kk", has_k },
    { "a = %s and k >= %s", "ak", has_both },
    { "s = %s and %s is not null", "sk", has_text },
    { "s = %s and a = %s", "sa", has_text_and },
    { "k + a = %s + %s", "kk", has_sum },
    { "a > 30 and k = %s and %s is not null", "kk", has_some },
    { "k in (%s, %s)", "kk", has_either },
};

/* Looks up and counts. */
static void look_up(vdbq *db, const struct asked *of)
{
    char where[100], sql[200], first[WORD], second[WORD];
    int x = below(VALUES), y = below(VALUES);
    int64_t count = 0, sum = 0;
    vdbq_query *query;

    snprintf(where, sizeof where, of->where, literal(first, of->columns[0], x),
             literal(second, of->columns[1], y));
    snprintf(sql, sizeof sql,
             "select count(*), coalesce(sum(id), 0) from t where %s", where);
    for (int i = 0; i < ROWS; i++)
        if (!rows[i].gone && of->has(&rows[i], x, y)) {
            count++;
            sum += i;
        }
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    if (vdbq_query_int64(query, 0) != count
        || vdbq_query_int64(query, 1) != sum)
        fail_msg("%s: not %lld rows, %lld", sql, (long long)count,
                 (long long)sum);
    vdbq_query_close(query);
}

static void look_up_some(vdbq *db)
{
    const unsigned kinds = sizeof asked / sizeof *asked;

    for (int i = below(4); i > 0; i--)
        look_up(db, &asked[below((int)kinds)]);
}

/* Changes that are looked up before they end, and may be undone. */
static void transact(vdbq *db)
{
    bool kept = below(2) > 0;

    memcpy(before, rows, sizeof rows);
    do_sql(db, "begin");
    for (int i = below(6); i > 0; i--) {
        change(db);
        look_up_some(db);
    }
    do_sql(db, kept ? "commit" : "rollback");
    if (!kept)
        memcpy(rows, before, sizeof rows);
}

static void finds_what_is_there(void **state)
{
    (void)state;
    for (int i = 0; i < CHANGES; i++) {
        vdbq *db = dbs[below(CONNECTIONS)];
        if (below(10) == 0)
            transact(db);
        else
            change(db);
        look_up_some(dbs[below(CONNECTIONS)]);
    }
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++)
        look_up(dbs[0], &asked[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_there),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
