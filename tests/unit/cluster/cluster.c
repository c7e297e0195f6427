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
#include <unistd.h>

#include "base/memory.h"
#include "cluster/memory_link.h"
#include "cluster/message.h"
#include "cluster/order.h"
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

static void *follow(void *path)
{
    vdbq_cluster_follow(end_of(1), path != NULL ? path : test_path, 0, 1);
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

/* What a rank that is none says of itself when it is greeted. */
struct pose {
    const char *version, *device, *sees;
};
static char sees_table[256]; /* the statement that makes the table */
static const struct pose sound = { .sees = sees_table };

static unsigned greet_as(const struct pose *pose)
{
    struct {
        struct welcome welcome;
        char sees[256];
    } answer = { .welcome = { .hello = hello_of_this() } };
    unsigned run;
    strcpy(answer.welcome.hello.host, "there");
    strcpy(answer.sees, pose->sees);
    if (pose->version != NULL)
        strcpy(answer.welcome.hello.version, pose->version);
    if (pose->device != NULL)
        strcpy(answer.welcome.device, pose->device);
    free(hear(MESSAGE_HELLO, &run));
    say(MESSAGE_HELLO, run, &answer,
        sizeof answer.welcome + strlen(pose->sees) + 1);
    return run;
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
    assert_int_equal(vdbq_tables(db), 1);
    snprintf(sees_table, sizeof sees_table, "%s", vdbq_table_sql(db, 0));
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

/* Runs a prepared query again, and compares its only number. */
static void expect_again(vdbq_query *query, int64_t wanted)
{
    assert_int_equal(vdbq_query_run(query), VDBQ_OK);
    assert_int_equal(vdbq_query_row(query), VDBQ_ROW);
    assert_int_equal(vdbq_query_int64(query, 0), wanted);
    assert_int_equal(vdbq_query_row(query), VDBQ_DONE);
}

static void remove_parts(const char *folder)
{
    static const char *const names[] = { "layout", "whole", "part.0",
                                         "part.1" };
    char path[160];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* A query that was prepared while its join was co-located is run after changes, by which
 * it is not so any more. */
static void test_parts_change(void **state)
{
    static const char *const key = "a";
    const struct vdbq_part_table hashed[] = { { "t", &key, 1 },
                                              { "u", &key, 1 } };
    char folder[128];
    pthread_t other;
    vdbq_query *join;
    vdbq *db = open_table();
    (void)state;
    snprintf(folder, sizeof folder, "%s.parts", test_path);
    assert_int_equal(vdbq_execute(db, "create table u as select a, s from t"),
                     VDBQ_OK);
    assert_int_equal(vdbq_cluster_distribute(db, folder, 2, hashed, 2),
                     VDBQ_OK);
    vdbq_close(db);
    pthread_create(&other, NULL, follow, folder);
    assert_int_equal(vdbq_open(folder, VDBQ_OPEN_CREATE, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", "host"), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "tablet_rows", "10"), VDBQ_OK);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), VDBQ_OK);
    assert_int_equal(vdbq_tables(db), 2);
    assert_string_equal(vdbq_cluster_parts(db, 0), "by hash (a) in 2 parts");
    assert_int_equal(vdbq_prepare(db,
                                  "select count(*) from t join u on t.a = u.a",
                                  -1, &join, NULL),
                     VDBQ_OK);
    expect_again(join, 100);
    assert_int_equal(vdbq_execute(db, "update u set a = 1 where a = 2"),
                     VDBQ_OK);
    expect_again(join, 100);
    assert_int_equal(vdbq_tables(db), 2);
    assert_non_null(strstr(vdbq_cluster_parts(db, 1), "has changed"));
    assert_int_equal(
        vdbq_execute(db, "insert into t values (1, 'x'), (7, 'x')"), VDBQ_OK);
    expect_again(join, 103);
    assert_int_equal(vdbq_execute(db, "begin; delete from t; rollback"),
                     VDBQ_OK);
    expect_again(join, 103);
    vdbq_query_close(join);
    vdbq_close(db);
    vdbq_cluster_dismiss(end_of(0));
    pthread_join(other, NULL);
    remove_parts(folder);
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

/* A rank that is refused. */
static void *pose_as(void *pose)
{
    greet_as(pose);
    return NULL;
}

static void expect_refused(struct pose pose, enum vdbq_status status,
                           const char *why)
{
    pthread_t other;
    vdbq *db = open_table();
    pthread_create(&other, NULL, pose_as, &pose);
    assert_int_equal(vdbq_cluster_lead(db, end_of(0)), status);
    assert_non_null(strstr(vdbq_error(db)->message, why));
    pthread_join(other, NULL);
    expect(db, "select count(*), sum(a) from t", "100,4950");
    vdbq_close(db);
}

static void test_other_build(void **state)
{
    (void)state;
    expect_refused((struct pose){ .version = "0.1", .sees = sees_table },
                   VDBQ_MISUSE,
                   "rank 1 (there) runs another build: vdbq 0.1 (");
}

static void test_other_device(void **state)
{
    (void)state;
    expect_refused((struct pose){ .device = "Abacus", .sees = sees_table },
                   VDBQ_DEVICE, "rank 1 (there) runs on Abacus, rank 0 on ");
}

static void test_other_tables(void **state)
{
    (void)state;
    expect_refused((struct pose){ .sees = "CREATE TABLE u (b)" }, VDBQ_MISUSE,
                   "rank 1 (there) sees CREATE TABLE u (b), rank 0 CREATE "
                   "TABLE");
}

/* Messages of all kinds that are not what they should be. */
static void test_hello(void **state)
{
    struct hello own = hello_of_this();
    struct welcome welcome = { .hello = own };
    (void)state;
    assert_true(hello_is_ours(&welcome, sizeof welcome));
    assert_false(hello_is_ours(&own, sizeof own - 1));
    own.build++;
    assert_false(hello_is_ours(&own, sizeof own));
    assert_true(welcome_is_whole(&welcome, sizeof welcome));
    assert_false(welcome_is_whole(&welcome, sizeof welcome - 1));
}

/* A rank that is ready, then says what is cut, and ends. */
static void *be_cut(void *context)
{
    const uint64_t rows = 7;
    struct ready ready = { .error = { .status = VDBQ_OK } };
    struct end end = { .error = { .status = VDBQ_OK } };
    unsigned run = greet_as(&sound);
    (void)context;
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

/* ------------------------------------------------------------- garbage -- */

/* What a link was asked to end all ranks for; a real one does not return. */
static unsigned given_up, given_up_for;

static void note_given_up(void *context, unsigned rank, const char *reason)
{
    (void)context;
    assert_string_equal(reason, "sends garbage");
    given_up++;
    given_up_for = rank;
}

static struct vdbq_link watched_end(unsigned rank)
{
    struct vdbq_link link = *end_of(rank);
    link.give_up = note_given_up;
    given_up = given_up_for = 0;
    return link;
}

/* What follows in a message is not what was to follow. */
static void test_cut_ends_all(void **state)
{
    pthread_t other;
    struct vdbq_link link = watched_end(0);
    vdbq *db = open_table();
    (void)state;
    pthread_create(&other, NULL, be_cut, NULL);
    assert_int_equal(vdbq_cluster_lead(db, &link), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "select a from t"), VDBQ_CORRUPT);
    assert_true(given_up == 1 && given_up_for == 1);
    pthread_join(other, NULL);
    vdbq_close(db);
}

/* Is ready by a message that is too short, and ends likewise. */
static void *be_short(void *context)
{
    unsigned run = greet_as(&sound);
    (void)context;
    free(hear(MESSAGE_RUN, &run));
    say(MESSAGE_READY, run, "short", 5);
    free(hear(MESSAGE_STOP, &run));
    say(MESSAGE_END, run, "shorter", 7);
    return NULL;
}

static void test_short_ends_all(void **state)
{
    pthread_t other;
    struct vdbq_link link = watched_end(0);
    vdbq *db = open_table();
    (void)state;
    pthread_create(&other, NULL, be_short, NULL);
    assert_int_equal(vdbq_cluster_lead(db, &link), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "select a from t"), VDBQ_IO);
    assert_string_equal(vdbq_error(db)->message, "rank 1 answers otherwise");
    assert_true(given_up == 2 && given_up_for == 1);
    pthread_join(other, NULL);
    vdbq_close(db);
}

/* An order of which any part is missing, or with something behind it. */
static void test_order(void **state)
{
    const char text[] = "select ?";
    struct {
        struct order order;
        char text[8];
        struct parameter_item item;
        char value[3];
    } bytes = { .order = { .text_bytes = sizeof text - 1, .parameters = 1 } };
    const size_t whole = sizeof bytes.order + sizeof text - 1
                         + sizeof bytes.item + sizeof bytes.value;
    (void)state;
    uint8_t *order = calloc(1, whole + 1);
    bytes.item.value.text.length = 3;
    memcpy(order, &bytes.order, sizeof bytes.order);
    memcpy(order + sizeof bytes.order + sizeof text - 1, &bytes.item,
           sizeof bytes.item);
    for (size_t size = 0; size <= whole + 1; size++)
        assert_int_equal(order_is_whole(order, size), size == whole);
    memset(order + offsetof(struct order, text_bytes), 0xff, 8);
    assert_false(order_is_whole(order, whole));
    free(order);
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
        cmocka_unit_test_setup_teardown(test_parts_change, make_way,
                                        remove_way),
        cmocka_unit_test_setup_teardown(test_beside, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_other_build, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_other_device, make_way,
                                        remove_way),
        cmocka_unit_test_setup_teardown(test_other_tables, make_way,
                                        remove_way),
        cmocka_unit_test(test_hello),
        cmocka_unit_test_setup_teardown(test_cut, make_way, remove_way),
        cmocka_unit_test_setup_teardown(test_cut_ends_all, make_way,
                                        remove_way),
        cmocka_unit_test_setup_teardown(test_short_ends_all, make_way,
                                        remove_way),
        cmocka_unit_test(test_order),
        cmocka_unit_test_setup_teardown(test_misuse, make_way, remove_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
