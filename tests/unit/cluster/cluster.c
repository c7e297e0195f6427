/* SPDX-License-Identifier: MIT */
/*
 * Ranks without MPI: rank 0 is this thread, the other one another thread, and
 * between them is a link through memory. What a rank may be told that a sound one
 * never says is told by a script in its place.
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
#include "cluster/memory_link.h"
#include "cluster/message.h"
#include "fixtures/files.h"

static struct memory_links *links;

static const struct vdbq_link *end_of(unsigned rank)
{
    return memory_link(links, rank);
}

static int make_way(void **state)
{
    static const char *const names[] = { "here", "there" };
    links = memory_links_create(2, names);
    return links != NULL ? make_folder(state) : 1;
}

static int remove_way(void **state)
{
    memory_links_destroy(links);
    return remove_folder(state);
}

/* ---------------------------------------------------------------- ranks -- */

static void *follow(void *context)
{
    (void)context;
    vdbq_cluster_follow(end_of(1), test_path, 0, 1);
    return NULL;
}

/* Waits for a message of rank 0; the caller releases it. */
static uint8_t *hear(unsigned wanted, unsigned *run)
{
    unsigned kind, naps = 0;
    size_t size;
    while (!end_of(1)->arrived(end_of(1)->context, 0, &kind, run, &size))
        message_wait(end_of(1), 0, WAIT_MS, &naps);
    assert_int_equal(kind, wanted);
    uint8_t *bytes = calloc(1, size + 1);
    end_of(1)->receive(end_of(1)->context, 0, bytes, size);
    return bytes;
}

static void say(enum message_kind kind, unsigned run, const void *bytes,
                size_t size)
{
    assert_true(message_post(end_of(1), 0, kind, run, bytes, size));
}

/* A table of 100 rows in tablets of ten. */
static vdbq *open_table(void)
{
    vdbq *db;
    char insert[64];
    assert_int_equal(vdbq_open(test_path, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "tablet_rows", "10"), VDBQ_OK);
    assert_int_equal(
        vdbq_execute(db, "create table t (a integer, s text); begin"), VDBQ_OK);
    for (int i = 0; i < 100; i++) {
        snprintf(insert, sizeof insert, "insert into t values (%d, 'w%d')", i,
                 i % 3);
        assert_int_equal(vdbq_execute(db, insert), VDBQ_OK);
    }
    assert_int_equal(vdbq_execute(db, "commit"), VDBQ_OK);
    return db;
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
            snprintf(got + length, sizeof got - length, "%s%s",
                     i > 0        ? ","
                     : length > 0 ? " "
                                  : "",
                     vdbq_query_text(query, i));
        }
    vdbq_query_close(query);
    assert_string_equal(got, wanted);
}

static void test_two(void **state)
{
    pthread_t other;
    vdbq *db = open_table();
    (void)state;
    pthread_create(&other, NULL, follow, NULL);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), VDBQ_OK);
    expect(db, "select a from t where a % 33 = 0", "0 33 66 99");
    expect(db, "select s, sum(a), min(s) from t group by s",
           "w0,1683,w0 w1,1617,w1 w2,1650,w2");
    expect(db, "select upper(s), count(*) from t where a > 60 group by 1",
           "W1,13 W2,13 W0,13");
    expect(db, "select a, s from t order by s desc, a desc limit 2",
           "98,w2 95,w2");
    expect(db, "select a from t limit 2 offset 70", "70 71");
    assert_int_equal(vdbq_execute(db, "insert into t values (1000, 'x')"),
                     VDBQ_OK);
    expect(db, "select max(a + 1), max(s) from t", "1001,x");
    vdbq_close(db);
    vdbq_cluster_dismiss(end_of(0));
    pthread_join(other, NULL);
}

/* Two queries are open: the second is rank 0's alone, with the same rows. */
static void test_beside(void **state)
{
    pthread_t other;
    vdbq_query *first;
    vdbq *db = open_table();
    (void)state;
    pthread_create(&other, NULL, follow, NULL);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), VDBQ_OK);
    assert_int_equal(vdbq_prepare(db, "select a from t", -1, &first, NULL),
                     VDBQ_OK);
    assert_int_equal(vdbq_query_row(first), VDBQ_ROW);
    expect(db, "select s, sum(a) from t group by s", "w0,1683 w1,1617 w2,1650");
    int64_t sum = vdbq_query_int64(first, 0);
    while (vdbq_query_row(first) == VDBQ_ROW)
        sum += vdbq_query_int64(first, 0);
    assert_int_equal(sum, 4950);
    vdbq_query_close(first);
    vdbq_close(db);
    vdbq_cluster_dismiss(end_of(0));
    pthread_join(other, NULL);
}

/* A rank of another build. */
static void *be_another_build(void *context)
{
    struct welcome welcome = { .hello = hello_of_this(), .host = "there" };
    unsigned run;
    (void)context;
    strcpy(welcome.hello.version, "0.1");
    free(hear(MESSAGE_HELLO, &run));
    say(MESSAGE_HELLO, run, &welcome, sizeof welcome);
    return NULL;
}

static void test_other_build(void **state)
{
    pthread_t other;
    vdbq *db = open_table();
    (void)state;
    pthread_create(&other, NULL, be_another_build, NULL);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), VDBQ_MISUSE);
    assert_non_null(strstr(vdbq_error(db)->message,
                           "rank 1 (there) runs another build: vdbq 0.1"));
    pthread_join(other, NULL);
    expect(db, "select count(*), sum(a) from t", "100,4950");
    vdbq_close(db);
}

/* A rank that is ready, then says what is cut, and ends. */
static void *be_cut(void *context)
{
    struct welcome welcome = { .hello = hello_of_this(), .host = "there" };
    const uint64_t rows = 7;
    struct ready ready = { .error = { .status = VDBQ_OK } };
    struct end end = { .error = { .status = VDBQ_OK } };
    unsigned run;
    (void)context;
    free(hear(MESSAGE_HELLO, &run));
    say(MESSAGE_HELLO, run, &welcome, sizeof welcome);
    struct order *order = (struct order *)hear(MESSAGE_RUN, &run);
    ready.state = order->state;
    ready.plan = order->plan;
    free(order);
    say(MESSAGE_READY, run, &ready, sizeof ready);
    say(MESSAGE_DATA, run, &rows, sizeof rows);
    free(hear(MESSAGE_STOP, &run));
    say(MESSAGE_END, run, &end, sizeof end);
    return NULL;
}

static void test_cut(void **state)
{
    pthread_t other;
    vdbq *db = open_table();
    (void)state;
    pthread_create(&other, NULL, be_cut, NULL);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "select a from t"), VDBQ_CORRUPT);
    assert_string_equal(vdbq_error(db)->message,
                        "rank 1 sent a message that is cut");
    pthread_join(other, NULL);
    vdbq_close(db);
}

static void test_misuse(void **state)
{
    vdbq *db;
    (void)state;
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), VDBQ_MISUSE);
    assert_int_equal(vdbq_cluster_lead(db, end_of(1)), VDBQ_MISUSE);
    assert_int_equal(vdbq_cluster_lead(db, NULL), VDBQ_MISUSE);
    assert_int_equal(vdbq_cluster_lead(NULL, end_of(0)), VDBQ_MISUSE);
    assert_int_equal(vdbq_cluster_follow(end_of(0), test_path, 0, 0),
                     VDBQ_MISUSE);
    vdbq_cluster_dismiss(NULL);
    vdbq_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_beside, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_other_build, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_cut, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_misuse, make_way, remove_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
