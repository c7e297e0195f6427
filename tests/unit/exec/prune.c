/* SPDX-License-Identifier: MIT */
/*
 * Tablets that are skipped, and encodings, change no answer: random
 * predicates over a table of many tablets give the same rows, or fail alike,
 * with and without skipping, plain and packed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/vdbq.h"
#include "base/text.h"

enum { COLUMNS = 8, NUMBERS = 6, ROUNDS = 400 };

static uint64_t state = 88172645463325252u;

static uint32_t chance(uint32_t count)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % count;
}

/* --------------------------------------------------------------- data -- */

static const char schema[] =
    "create table t (id integer primary key, i integer, n integer, "
    "b bigint, f float, d double, s text, w text)";

/* Rows of one tablet: values lie around what its number says. */
struct rows {
    int32_t id[2000], i[2000], n[2000];
    int64_t b[2000];
    float f[2000];
    double d[2000];
    struct vdbq_text s[2000], w[2000];
    char words[2000][4];
    uint8_t some[2000], most[2000];
};

static void fill(struct rows *rows, int32_t first, unsigned count,
                 unsigned tablet)
{
    static const int64_t far[] = { 0, INT64_MAX - 40, INT64_MIN, 5000000000 };
    int base = (int)tablet * 20 - 60;
    for (unsigned k = 0; k < count; k++) {
        rows->id[k] = first + (int32_t)k;
        rows->i[k] = base + (int)chance(1u << (tablet % 6));
        rows->n[k] = 100 - base + (int)chance(9);
        rows->b[k] = far[tablet % 4] + (int64_t)chance(30);
        rows->f[k] = (float)base / 4 + (float)chance(16) / 16;
        rows->d[k] = tablet % 3 == 0 ? 2.5 : base + (double)chance(100) / 7;
        snprintf(rows->words[k], sizeof *rows->words, "%c%u",
                 (int)('a' + tablet * 2 + chance(3)), chance(7));
        rows->s[k] = (struct vdbq_text){ rows->words[k], 2 };
        rows->w[k] = (struct vdbq_text){ rows->words[k] + 1, chance(2) };
        rows->some[k] = tablet % 2 == 1 && chance(5) == 0;
        rows->most[k] = tablet % 4 == 2 || chance(3) == 0;
    }
}

/* Each tablet smaller than half of the one before: they stay apart. */
static void append_all(vdbq *db)
{
    static struct rows rows;
    int32_t first = 0;
    unsigned tablet = 0;
    state = 88172645463325252u;
    for (unsigned count = 2000; count > 0; count = count * 2 / 5) {
        vdbq_append *append;
        fill(&rows, first, count, tablet++);
        first += (int32_t)count;
        const struct vdbq_vector vectors[COLUMNS] = {
            { VDBQ_INTEGER, rows.id, NULL },
            { VDBQ_INTEGER, rows.i, NULL },
            { VDBQ_INTEGER, rows.n, rows.some },
            { VDBQ_BIGINT, rows.b, NULL },
            { VDBQ_FLOAT, rows.f, rows.most },
            { VDBQ_DOUBLE, rows.d, rows.some },
            { VDBQ_TEXT, rows.s, rows.some },
            { VDBQ_TEXT, rows.w, rows.most }
        };
        assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
        assert_int_equal(vdbq_append_rows(append, count, vectors), VDBQ_OK);
        assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
        vdbq_append_close(append);
    }
}

static vdbq *open_with(const char *encoding, const char *skip)
{
    vdbq *db;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "encoding", encoding), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "skip", skip), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, schema), VDBQ_OK);
    append_all(db);
    return db;
}

/* --------------------------------------------------------- predicates -- */

static void value(struct text *text, int depth)
{
    static const char *const columns[] = { "id", "i", "n", "b", "f", "d" };
    static const char *const signs[] = { "+", "-", "*", "/", "%" };
    uint32_t kind = chance(depth > 0 ? 10 : 6);
    if (kind < 4) {
        text_print(text, "%s", columns[chance(NUMBERS)]);
    } else if (kind == 4) {
        text_print(text, "%d", (int)chance(240) - 110);
    } else if (kind == 5) {
        text_print(text, "%d.%u", (int)chance(80) - 30, chance(10));
    } else if (kind == 6) {
        text_print(text, "cast(");
        value(text, depth - 1);
        text_print(text, " as %s)", chance(2) ? "double" : "integer");
    } else {
        text_print(text, "(");
        value(text, depth - 1);
        text_print(text, " %s ", signs[chance(chance(2) ? 3 : 5)]);
        value(text, depth - 1);
        text_print(text, ")");
    }
}

static const char *const row_sets[] = { "<", "<=", "=", "<>", ">", ">=" };

/* A condition of texts. */
static void text_predicate(struct text *text)
{
    static const char *const texts[] = { "s",        "w",
                                         "upper(s)", "substr(s, 2)",
                                         "w || 'x'", "substr(s, 1, 1)" };
    const char *one = texts[chance(chance(2) ? 2 : 6)];
    char letter = (char)('a' + chance(20));
    switch (chance(5)) {
    case 0:
        text_print(text, "%s like '%c%%'", one, letter);
        break;
    case 1:
        text_print(text, "length(%s) %s %u", one, row_sets[chance(6)],
                   chance(4));
        break;
    case 2:
        text_print(text, "%s in ('%c', '%c%u', '')", one, letter, letter,
                   chance(7));
        break;
    case 3:
        text_print(text, "cast(substr(%s, 2) as integer) %s %u", one,
                   row_sets[chance(6)], chance(9));
        break;
    default:
        text_print(text, "%s %s '%c%.*s'", one, row_sets[chance(6)], letter,
                   (int)chance(2), "3");
        break;
    }
}

static void predicate(struct text *text, int depth)
{
    uint32_t kind = chance(depth > 0 ? 9 : 5);
    if (kind < 2) {
        text_predicate(text);
    } else if (kind < 4) {
        value(text, 1);
        text_print(text, " %s ", row_sets[chance(6)]);
        value(text, (int)chance(2));
    } else if (kind == 4) {
        value(text, 1);
        text_print(text, " is %snull", chance(2) ? "not " : "");
    } else if (kind == 5) {
        text_print(text, "not (");
        predicate(text, depth - 1);
        text_print(text, ")");
    } else {
        text_print(text, "(");
        predicate(text, depth - 1);
        text_print(text, kind < 8 ? ") and (" : ") or (");
        predicate(text, depth - 1);
        text_print(text, ")");
    }
}

/* -------------------------------------------------------------- answers -- */

/* What a query gives, as text; `skipped` is counted up. */
static void answer(vdbq *db, const char *sql, struct text *text,
                   uint64_t *skipped)
{
    vdbq_query *query;
    enum vdbq_status status = vdbq_prepare(db, sql, -1, &query, NULL);
    struct vdbq_stats stats;
    *text = (struct text){ 0 };
    while (status == VDBQ_OK && (status = vdbq_query_row(query)) == VDBQ_ROW) {
        for (unsigned i = 0; i < vdbq_query_columns(query); i++)
            text_print(text, "%s|",
                       vdbq_query_is_null(query, i)
                           ? "NULL"
                           : vdbq_query_text(query, i));
        status = VDBQ_OK;
    }
    text_print(text, "%s", vdbq_status_text(status));
    if (query != NULL) {
        vdbq_query_stats(query, &stats);
        *skipped += stats.tablets_skipped;
    }
    vdbq_query_close(query);
}

/* Rows before a failure are given or not, as tablets come; its status and
 * whether it comes must agree. */
static void compare(const char *sql, const struct text *one,
                    const struct text *other)
{
    if (strcmp(one->bytes, other->bytes) != 0)
        fail_msg("%s\ngives %.300s\nbut also %.300s", sql, one->bytes,
                 other->bytes);
}

static void skipping_changes_nothing(void **unused)
{
    static const char *const encodings[] = { "plain", "auto", "packed" };
    vdbq *whole = open_with("plain", "off"), *db[3];
    uint64_t none = 0, skipped = 0;
    (void)unused;
    for (unsigned i = 0; i < 3; i++)
        db[i] = open_with(encodings[i], "on");
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct text sql = { 0 }, expected, got;
        text_print(&sql, "select id, n, b, f, d, s, w from t where ");
        predicate(&sql, 3);
        answer(whole, sql.bytes, &expected, &none);
        for (unsigned i = 0; i < 3; i++) {
            answer(db[i], sql.bytes, &got, &skipped);
            compare(sql.bytes, &expected, &got);
            text_finish(&got);
        }
        text_finish(&expected);
        text_finish(&sql);
    }
    assert_int_equal(none, 0);
    print_message("%llu tablets skipped\n", (unsigned long long)skipped);
    assert_true(skipped > ROUNDS);
    for (unsigned i = 0; i < 3; i++)
        vdbq_close(db[i]);
    vdbq_close(whole);
}

/* Tablets skipped by a condition, of 9. */
static uint64_t skips(vdbq *db, const char *condition)
{
    char sql[200];
    struct text text;
    uint64_t skipped = 0;
    snprintf(sql, sizeof sql, "select id from t where %s", condition);
    answer(db, sql, &text, &skipped);
    text_finish(&text);
    return skipped;
}

static void what_is_known_is_used(void **unused)
{
    vdbq *db = open_with("auto", "on");
    uint64_t all;
    (void)unused;
    assert_int_equal(setenv("VDBQ_PASSES", "-use indexes", 1), 0);
    all = skips(db, "id < 0");
    assert_true(all >= 8);
    assert_int_equal(skips(db, "id >= 0"), 0);
    assert_int_equal(skips(db, "id = 2100"), all - 1);
    assert_int_equal(skips(db, "id between 1990 and 2010"), all - 2);
    assert_int_equal(skips(db, "i + 10 > 1000 or id * 2 = 7"), all - 1);
    assert_int_equal(skips(db, "n > 1000"), all); /* NULLs are no 0 */
    assert_int_equal(skips(db, "n < 1 and n is not null and id < 2000"), all);
    assert_int_equal(skips(db, "not (f > -1000.0)"), all);
    assert_int_equal(skips(db, "i is null"), all);
    assert_int_equal(skips(db, "id / 10 < 0"), all);
    assert_int_equal(skips(db, "id / -10 > 0"), all);
    assert_int_equal(skips(db, "id / 100 = 21"), all - 1);
    assert_int_equal(skips(db, "id % 10000 = 2100"), all - 1);
    assert_int_equal(skips(db, "id % 7 > 6 or id % -7 < 0"), all);
    assert_true(skips(db, "id % 7 = 6") <= 3); /* those of few rows */
    assert_int_equal(skips(db, "i % 0 = 1"), all);
    assert_int_equal(unsetenv("VDBQ_PASSES"), 0);
    vdbq_close(db);
}

/* The tablet of number n has words from 'a' + 2n to 'c' + 2n, and a digit. */
static void words_are_used(void **unused)
{
    vdbq *db = open_with("auto", "on");
    uint64_t all;
    (void)unused;
    all = skips(db, "s < 'a' or s = 'zz'");
    assert_true(all >= 8);
    assert_int_equal(skips(db, "s >= 'a'"), 0);
    assert_int_equal(skips(db, "s = 'd3'"), all - 1);
    assert_int_equal(skips(db, "s <= 'bz'"), all - 1);
    assert_int_equal(skips(db, "s < 'd0'"), all - 2);
    assert_int_equal(skips(db, "s like 'D%'"), all - 1);
    assert_int_equal(skips(db, "s in ('b3', 'd3', 'x')"), all - 2);
    assert_int_equal(skips(db, "upper(s) = 'D3'"), all - 1);
    assert_int_equal(skips(db, "length(s) > 2"), all);
    assert_int_equal(skips(db, "s || 'x' < 'a' or w > '7'"), all);
    assert_true(skips(db, "w is not null") > 0); /* of which w is NULL */
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skipping_changes_nothing),
        cmocka_unit_test(what_is_known_is_used),
        cmocka_unit_test(words_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
