/* SPDX-License-Identifier: MIT */
/*
 * Devices of one process as ranks: three host builds, of which two have threads
 * and connections of their own. The rows are those of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/member.h"
#include "cluster/memory_link.h"
#include "fixtures/files.h"

enum { RANKS = 3, ROWS = 20000 };

static const char *const names[RANKS] = { "one", "two", "three" };

/* A connection with its crew. */
struct crew {
    vdbq *db;
    struct memory_links *links;
    struct hand {
        const struct vdbq_link *link;
        struct follow_params params;
        pthread_t thread;
    } hands[RANKS];
};

static void *follow(void *context)
{
    struct hand *hand = context;
    rank_follow(hand->link, &hand->params);
    return NULL;
}

static vdbq *open_table(void)
{
    vdbq *db;
    char insert[64];
    assert_int_equal(vdbq_open(test_path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "tablet_rows", "1000"), VDBQ_OK);
    assert_int_equal(
        vdbq_execute(db, "create table t (a integer, s text); begin"), VDBQ_OK);
    for (int i = 0; i < ROWS; i++) {
        snprintf(insert, sizeof insert, "insert into t values (%d, 'w%d')", i,
                 i % 3);
        assert_int_equal(vdbq_execute(db, insert), VDBQ_OK);
    }
    assert_int_equal(vdbq_execute(db, "commit"), VDBQ_OK);
    return db;
}

/* Starts the others, each with a device of that choice, and leads them. */
static enum vdbq_status open_crew(struct crew *crew, const char *device)
{
    const struct lead_params params = { .devices = true };
    crew->db = open_table();
    crew->links = memory_links_create(RANKS, names);
    assert_non_null(crew->links);
    for (unsigned r = 1; r < RANKS; r++) {
        crew->hands[r] = (struct hand){ .link = memory_link(crew->links, r),
                                        .params = {
                                            .path = test_path,
                                            .device = device,
                                            .sharers = RANKS,
                                        } };
        pthread_create(&crew->hands[r].thread, NULL, follow, &crew->hands[r]);
    }
    return rank_lead(crew->db, memory_link(crew->links, 0), &params,
                     &crew->db->cluster);
}

static void close_crew(struct crew *crew)
{
    vdbq_close(crew->db);
    vdbq_cluster_dismiss(memory_link(crew->links, 0));
    for (unsigned r = 1; r < RANKS; r++)
        pthread_join(crew->hands[r].thread, NULL);
    memory_links_destroy(crew->links);
}

/* Compares all rows of a query, values joined by ',' and rows by ' '. */
static void expect(vdbq *db, const char *sql, const char *wanted)
{
    vdbq_query *query;
    char got[4096] = "";
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    while (vdbq_query_row(query) == VDBQ_ROW)
        for (unsigned i = 0; i < vdbq_query_columns(query); i++) {
            size_t length = strlen(got);
            const char *between = length > 0 ? " " : "";
            snprintf(got + length, sizeof got - length, "%s%s",
                     i > 0 ? "," : between, vdbq_query_text(query, i));
        }
    vdbq_query_close(query);
    assert_string_equal(got, wanted);
}

/* The text that EXPLAIN gives. */
static void explain(vdbq *db, const char *sql, char *room, size_t size)
{
    vdbq_query *query;
    room[0] = '\0';
    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    while (vdbq_query_row(query) == VDBQ_ROW) {
        size_t length = strlen(room);
        snprintf(room + length, size - length, "%s\n",
                 vdbq_query_text(query, 0));
    }
    vdbq_query_close(query);
}

static void test_rows(void **state)
{
    struct crew crew;
    (void)state;
    assert_int_equal(open_crew(&crew, "host"), VDBQ_OK);
    expect(crew.db, "select a from t where a % 6600 = 0", "0 6600 13200 19800");
    expect(crew.db, "select s, sum(a), min(s) from t group by s",
           "w0,66663333,w0 w1,66670000,w1 w2,66656667,w2");
    expect(crew.db, "select a from t order by s desc, a desc limit 2",
           "19997 19994");
    expect(crew.db, "select a from t limit 2 offset 14000", "14000 14001");
    close_crew(&crew);
}

/* What the connection changes is there for all devices. */
static void test_changes(void **state)
{
    struct crew crew;
    char lines[8192];
    (void)state;
    assert_int_equal(open_crew(&crew, "host"), VDBQ_OK);
    for (int i = 0; i < 20; i++) {
        char insert[64], wanted[64];
        snprintf(insert, sizeof insert, "insert into t values (%d, 'x')",
                 ROWS + i);
        snprintf(wanted, sizeof wanted, "%d,x", ROWS + i);
        assert_int_equal(vdbq_execute(crew.db, insert), VDBQ_OK);
        expect(crew.db, "select max(a + 0), max(s) from t", wanted);
    }
    assert_int_equal(vdbq_execute(crew.db, "begin; delete from t where a > 5"),
                     VDBQ_OK);
    expect(crew.db, "select count(*) from t where a >= 0", "6");
    explain(crew.db, "explain select count(*) from t where a >= 0", lines,
            sizeof lines);
    assert_non_null(strstr(lines, "; devices   the first of 3 alone: a "
                                  "transaction is open"));
    assert_int_equal(vdbq_execute(crew.db, "rollback"), VDBQ_OK);
    close_crew(&crew);
}

static void test_explain(void **state)
{
    struct crew crew;
    char lines[8192];
    (void)state;
    assert_int_equal(open_crew(&crew, "host"), VDBQ_OK);
    explain(crew.db, "explain analyze select s, sum(a) from t group by s",
            lines, sizeof lines);
    assert_non_null(strstr(lines, "; devices   3\n;   one "));
    assert_non_null(strstr(lines, "\n;   three "));
    assert_non_null(strstr(lines, "####################"));
    assert_non_null(strstr(lines, "; rows      20000 read, 3 returned"));
    close_crew(&crew);
}

/* A failure in the share of the last one. */
static void test_fails(void **state)
{
    struct crew crew;
    vdbq_query *query;
    int rows = 0;
    (void)state;
    assert_int_equal(open_crew(&crew, "host"), VDBQ_OK);
    assert_int_equal(vdbq_prepare(crew.db,
                                  "select 9223372036854775807 + case when a < "
                                  "19990 then 0 else 1 end from t",
                                  -1, &query, NULL),
                     VDBQ_OK);
    while (vdbq_query_row(query) == VDBQ_ROW)
        rows++;
    assert_int_equal(rows, 19990);
    assert_int_equal(vdbq_error(crew.db)->status, VDBQ_RANGE);
    vdbq_query_close(query);
    expect(crew.db, "select count(*) from t where a >= 0", "20000");
    close_crew(&crew);
}

/* A query that is left while rows are on their way, and one beside it. */
static void test_left(void **state)
{
    struct crew crew;
    vdbq_query *query;
    (void)state;
    assert_int_equal(open_crew(&crew, "host"), VDBQ_OK);
    assert_int_equal(
        vdbq_prepare(crew.db, "select a, s from t", -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    expect(crew.db, "select count(*) from t where a >= 0", "20000");
    vdbq_query_close(query);
    expect(crew.db, "select count(*) from t where a >= 0", "20000");
    assert_int_equal(
        vdbq_prepare(crew.db, "select a, s from t", -1, &query, NULL), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    close_crew(&crew); /* with the query */
}

static void test_no_device(void **state)
{
    struct crew crew;
    (void)state;
    assert_int_equal(open_crew(&crew, "no such device"), VDBQ_DEVICE);
    assert_non_null(strstr(crew.db->error.message, "device 'no such device'"));
    crew.db->cluster = NULL;
    close_crew(&crew);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_changes, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_explain, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(test_fails, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_left, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_no_device, make_folder,
                                        remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
