/* SPDX-License-Identifier: MIT */
/*
 * Rows that the device groups, sorts and gives windows (cl/group.cl, cl/sort.cl,
 * cl/window/window.cl) are those of the host, bit by bit and in the same order:
 * random queries over rows with NULLs, extremes and floats that are no numbers, in
 * several tablets.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/vdbq.h"
#include "base/text.h"

enum { COLUMNS = 8, TABLETS = 3, ROWS = 3000, ROUNDS = 200 };

static uint64_t state = 88172645463325252u;

static uint32_t chance(uint32_t count)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % count;
}

/* ---------------------------------------------------------------- data -- */

static const char schema[] =
    "create table t (id integer primary key, few integer, some integer, "
    "far bigint, edge bigint, f float, d double, word text)";

struct rows {
    int32_t id[ROWS], few[ROWS], some[ROWS];
    int64_t far[ROWS], edge[ROWS];
    float f[ROWS];
    double d[ROWS];
    struct vdbq_text word[ROWS];
    uint8_t nulls[ROWS];
};

/* Of all sizes; in the last tablet some are no numbers. */
static double real(unsigned tablet)
{
    static const double odd[] = { INFINITY, 1e308, -1e308, 5e-324, -0.0 };
    if (tablet == TABLETS - 1 && chance(40) == 0)
        return odd[chance(5)];
    return ldexp((double)chance(1000000) - 500000,
                 (int)chance(tablet * 60 + 1) - (int)tablet * 20);
}

static void fill(struct rows *rows, unsigned tablet)
{
    static const char *const words[] = {
        "", "a", "ab", "b", "zeta", "\303\251"
    };
    static const int64_t edges[] = { INT64_MIN, INT64_MAX, INT64_MAX - 1, -1,
                                     0 };
    for (unsigned i = 0; i < ROWS; i++) {
        const char *word = words[chance(tablet + 4)];
        rows->id[i] = (int32_t)(tablet * ROWS + i);
        rows->few[i] = (int32_t)chance(5) - 2;
        rows->some[i] = (int32_t)chance(900) - 100;
        rows->far[i] = (int64_t)(chance(1000) * UINT64_C(0x123456789abc))
                       * (chance(2) ? 1 : -1);
        rows->edge[i] = edges[chance(5)];
        rows->f[i] = (float)(int)chance(2000) / 7;
        rows->d[i] = real(tablet);
        rows->word[i] = (struct vdbq_text){ word, strlen(word) };
        rows->nulls[i] = chance(9) == 0;
    }
}

static vdbq *open_filled(void)
{
    static struct rows rows;
    vdbq *db;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, schema), VDBQ_OK);
    for (unsigned tablet = 0; tablet < TABLETS; tablet++) {
        vdbq_append *append;
        fill(&rows, tablet);
        const struct vdbq_vector vectors[COLUMNS] = {
            { VDBQ_INTEGER, rows.id, NULL },
            { VDBQ_INTEGER, rows.few, rows.nulls },
            { VDBQ_INTEGER, rows.some, NULL },
            { VDBQ_BIGINT, rows.far, NULL },
            { VDBQ_BIGINT, rows.edge, rows.nulls },
            { VDBQ_FLOAT, rows.f, rows.nulls },
            { VDBQ_DOUBLE, rows.d, tablet > 0 ? rows.nulls : NULL },
            { VDBQ_TEXT, rows.word, rows.nulls }
        };
        assert_int_equal(vdbq_append_open(db, "t", &append), VDBQ_OK);
        assert_int_equal(vdbq_append_rows(append, ROWS, vectors), VDBQ_OK);
        assert_int_equal(vdbq_append_commit(append), VDBQ_OK);
        vdbq_append_close(append);
    }
    return db;
}

/* ------------------------------------------------------------- queries -- */

static const char *const keys[] = { "few",     "some",   "far",  "f",
                                    "word",    "id % 3", "d",    "some / 7",
                                    "few * 2", "id",     "edge", "edge / 2" };
static const char *const aggregates[] = { "count(*)",
                                          "count(few)",
                                          "sum(some)",
                                          "sum(far)",
                                          "sum(d)",
                                          "avg(f)",
                                          "total(few)",
                                          "min(d)",
                                          "max(f)",
                                          "min(word)",
                                          "max(far)",
                                          "count(distinct few)",
                                          "sum(distinct some)",
                                          "count(distinct word)",
                                          "count(distinct edge)",
                                          "sum(some) filter (where few > 0)",
                                          "avg(d) filter (where some < 9)",
                                          "min(few)",
                                          "max(some)" };

static void list(struct text *text, const char *const *from, uint32_t count,
                 unsigned many, const char *before)
{
    for (unsigned i = 0; i < many; i++)
        text_print(text, "%s%s", i > 0 ? ", " : before, from[chance(count)]);
}

static void group_query(struct text *text)
{
    unsigned many = chance(chance(2) ? 4 : 7);
    struct text by = { 0 };
    list(&by, keys, 12, many, "");
    text_print(text, "select %s%s", by.length > 0 ? by.bytes : "",
               many > 0 ? ", " : "");
    list(text, aggregates, 19, 1 + chance(4), "");
    text_print(text, " from t");
    if (chance(3) == 0)
        text_print(text, " where some > %d", (int)chance(1200) - 200);
    if (many > 0)
        text_print(text, " group by %s", by.bytes);
    text_finish(&by);
}

static void sort_query(struct text *text)
{
    unsigned many = 1 + chance(3);
    text_print(text, "select id, word, far, d from t");
    if (chance(3) == 0)
        text_print(text, " where few > %d", (int)chance(5) - 2);
    for (unsigned i = 0; i < many; i++)
        text_print(text, "%s %s %s %s", i > 0 ? "," : " order by",
                   keys[chance(12)], chance(2) ? "desc" : "",
                   chance(2) ? "nulls last" : "");
    if (chance(2) == 0)
        text_print(text, " limit %u offset %u", chance(chance(2) ? 20 : 4000),
                   chance(100));
}

/* Calls over windows, and frames. */
static const char *const functions[] = { "row_number()",
                                         "rank()",
                                         "dense_rank()",
                                         "count(*)",
                                         "count(few) filter (where some > 0)",
                                         "sum(some)",
                                         "sum(far)",
                                         "avg(few)",
                                         "total(far)",
                                         "min(d)",
                                         "max(word)",
                                         "lag(word, 2)",
                                         "lead(far, 1, 7)",
                                         "first_value(f)",
                                         "last_value(some)",
                                         "nth_value(word, 2)" };
static const char *const frames[] = {
    "",
    "",
    " rows unbounded preceding",
    " rows between 3 preceding and 2 following",
    " rows between 2 following and unbounded following",
    " range between current row and unbounded following"
};

/* A call over a window. */
static void add_window(struct text *text, const char *order, unsigned number)
{
    text_print(text, ", %s over (", functions[chance(16)]);
    if (chance(3) > 0)
        text_print(text, "partition by %s ", keys[chance(2)]);
    text_print(text, "order by %s%s%s) as x%u", order,
               chance(2) ? " desc nulls last" : "", frames[chance(6)], number);
}

/* What comes of them is read by nobody else, by a condition, or grouped. */
static void window_query(struct text *text)
{
    static const char *const before[] = {
        "", "select * from (", "select x0, count(*), max(id) from ("
    };
    static const char *const behind[] = {
        "", ") where x0 is not null and id % 7 > 3", ") group by x0"
    };
    const char *order = keys[chance(10)];
    unsigned reader = chance(3), many = 1 + chance(3);
    text_print(text, "%sselect id, word", before[reader]);
    for (unsigned i = 0; i < many; i++)
        add_window(text, chance(2) ? order : keys[chance(10)], i);
    text_print(text, " from t%s", behind[reader]);
}

/* ------------------------------------------------------------- answers -- */

static size_t width_of(enum vdbq_type type)
{
    return type == VDBQ_BIGINT || type == VDBQ_DOUBLE ? 8 : 4;
}

static void add_value(struct text *answer, const struct vdbq_vector *vector,
                      uint64_t row)
{
    size_t width = width_of(vector->type);
    bool null = vector->nulls != NULL && vector->nulls[row] != 0;
    text_add(answer, null ? "N" : "V", 1);
    if (null)
        return;
    if (vector->type == VDBQ_TEXT) {
        const struct vdbq_text *word =
            (const struct vdbq_text *)vector->values + row;
        text_add(answer, word->bytes, word->length);
        text_add(answer, "", 1);
    } else {
        text_add(answer, (const char *)vector->values + row * width, width);
    }
}

/* The rows of a query, or its failure; where it ran. */
static void ask(vdbq *db, const char *sql, const char *steps,
                struct text *answer, char where[96])
{
    struct vdbq_batch batch = { .rows = 1 };
    struct vdbq_stats stats;
    vdbq_query *query;
    enum vdbq_status status;
    assert_int_equal(vdbq_set(db, "steps", steps), VDBQ_OK);
    status = vdbq_prepare(db, sql, -1, &query, NULL);
    where[0] = '\0';
    while (status == VDBQ_OK && batch.rows > 0) {
        status = vdbq_query_batch(query, &batch);
        for (uint64_t row = 0; status == VDBQ_OK && row < batch.rows; row++)
            for (unsigned i = 0; i < batch.columns; i++)
                add_value(answer, &batch.column[i], row);
    }
    if (status == VDBQ_OK) {
        vdbq_query_stats(query, &stats);
        snprintf(where, 96, "%s", stats.steps);
    } else {
        text_print(answer, "%s", vdbq_error(db)->message);
    }
    vdbq_query_close(query);
    assert_false(answer->failed);
}

/* Whether it ran on the device. */
static bool compare(vdbq *db, const char *sql)
{
    struct text host = { 0 }, device = { 0 };
    char where[96];
    ask(db, sql, "host", &host, where);
    ask(db, sql, "device", &device, where);
    if (host.length != device.length
        || (host.length > 0
            && memcmp(host.bytes, device.bytes, host.length) != 0))
        fail_msg("other rows on %s: %s", where, sql);
    text_finish(&host);
    text_finish(&device);
    return strchr(where, '(') != NULL;
}

static void devices_step_as_the_host(void **unused)
{
    vdbq *db = open_filled();
    unsigned ran = 0;
    (void)unused;
    assert_int_equal(vdbq_set(db, "device", "cpu"), VDBQ_OK);
    if (vdbq_device_open(db) != VDBQ_OK) {
        vdbq_close(db);
        skip();
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct text sql = { 0 };
        assert_int_equal(vdbq_set(db, "mode", i % 2 ? "serial" : "mapped"),
                         VDBQ_OK);
        if (i % 4 < 2)
            group_query(&sql);
        else if (i % 4 == 2)
            sort_query(&sql);
        else
            window_query(&sql);
        ran += compare(db, sql.bytes);
        text_finish(&sql);
    }
    assert_true(ran > ROUNDS / 2);
    vdbq_close(db);
}

/* A table that is hashed grows beyond its first size, where more groups come than
 * the plan expected: half of the condition's rows are no more than a guess. */
static void hashed_tables_grow(void **unused)
{
    vdbq *db = open_filled();
    (void)unused;
    assert_int_equal(vdbq_set(db, "device", "cpu"), VDBQ_OK);
    if (vdbq_device_open(db) != VDBQ_OK) {
        vdbq_close(db);
        skip();
    }
    assert_true(
        compare(db, "select id * 1.5, count(*), sum(d) from t group by 1"));
    assert_true(compare(db, "select few, f, max(id) from t group by few, f"));
    assert_true(compare(db, "select id * 1.5, count(*) from t "
                            "where some * id > -1000000000 group by 1"));
    assert_true(compare(db, "select id * 1.5, edge, few, count(*) from t "
                            "where some * id > -1000000000 group by 1, 2, 3"));
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_step_as_the_host),
        cmocka_unit_test(hashed_tables_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
