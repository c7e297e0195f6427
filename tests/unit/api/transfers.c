/* SPDX-License-Identifier: MIT */
/*
 * Processes that move money between 2,000 accounts, and others that count all
 * of it meanwhile: no sum is ever another, nobody fails, writers have equal
 * shares, and the file stays small.
 *
 * VDBQ_TEST_SECONDS says how long (2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/vdbq.h"
#include "base/os/os.h"
#include "fixtures/answer.h"
#include "fixtures/chance.h"
#include "fixtures/files.h"

enum {
    ACCOUNTS = 2000,
    EACH = 1000,
    READERS = 4,
    WRITERS_MAX = 4,
    SECONDS = 2,
    FILE_MAX = 4 << 20,
    /* percent of an equal share that each writer has, at least: of two, and of more
     * than this machine may have cores for beside what else runs */
    SHARE_OF_TWO = 80,
    SHARE_OF_FOUR = 60
};

/* What the processes tell. */
struct told {
    atomic_uint transfers[WRITERS_MAX];
    atomic_uint sums[READERS];
    atomic_llong largest; /* size of the file, in bytes */
};

static vdbq *open_file(void)
{
    vdbq *db;

    assert_int_equal(
        vdbq_open(test_path, VDBQ_OPEN_CREATE | VDBQ_OPEN_NO_SYNC, &db),
        VDBQ_OK);
    set_option(db, "device", "host");
    set_option(db, "timeout", "600000");
    return db;
}

/* Ends a child that has failed. */
static void must(vdbq *db, enum vdbq_status status)
{
    if (status == VDBQ_OK)
        return;
    print_error("%s\n", vdbq_error(db)->message);
    _exit(1);
}

static vdbq_query *prepare(vdbq *db, const char *sql)
{
    vdbq_query *query;

    must(db, vdbq_prepare(db, sql, -1, &query, NULL));
    return query;
}

static void make_accounts(void)
{
    vdbq *db = open_file();
    vdbq_query *query;

    must(db, vdbq_execute(db, "create table account (id integer primary key, "
                              "balance integer); begin"));
    query = prepare(db, "insert into account values (?, 1000)");
    for (int i = 0; i < ACCOUNTS; i++) {
        vdbq_bind_int64(query, 1, i);
        must(db, vdbq_query_run(query));
    }
    vdbq_query_close(query);
    must(db, vdbq_execute(db, "commit"));
    vdbq_close(db);
}

/* ------------------------------------------------------------- processes -- */

static void note_size(struct told *told)
{
    struct stat found;

    if (stat(test_path, &found) == 0
        && found.st_size > atomic_load(&told->largest))
        atomic_store(&told->largest, found.st_size);
}

static void write_transfers(struct told *told, unsigned who, uint64_t until)
{
    vdbq *db = open_file();
    vdbq_query *query =
        prepare(db, "update account set balance = balance + ?2 where id = ?1");

    srand(who + 1);
    while (os_time_ns() < until) {
        must(db, vdbq_execute(db, "begin"));
        for (int amount = -7; amount <= 7; amount += 14) {
            vdbq_bind_int64(query, 1, rand() % ACCOUNTS);
            vdbq_bind_int64(query, 2, amount);
            must(db, vdbq_query_run(query));
        }
        must(db, vdbq_execute(db, "commit"));
        atomic_fetch_add(&told->transfers[who], 1);
        note_size(told);
    }
}

static void read_sums(struct told *told, unsigned who, uint64_t until)
{
    vdbq *db = open_file();
    vdbq_query *query = prepare(db, "select sum(balance) from account");

    while (os_time_ns() < until) {
        must(db, vdbq_query_run(query));
        if (vdbq_query_row(query) != VDBQ_ROW
            || vdbq_query_int64(query, 0) != ACCOUNTS * EACH) {
            print_error("a sum is %lld\n",
                        (long long)vdbq_query_int64(query, 0));
            _exit(1);
        }
        atomic_fetch_add(&told->sums[who], 1);
    }
}

static pid_t start(void (*work)(struct told *told, unsigned who,
                                uint64_t until),
                   struct told *told, unsigned who, uint64_t until)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        work(told, who, until);
        _exit(0);
    }
    return child;
}

/* Runs them all, to their end. */
static void run(struct told *told, unsigned writers, unsigned readers)
{
    uint64_t seconds = environment_number("VDBQ_TEST_SECONDS", SECONDS);
    uint64_t until = os_time_ns() + seconds * 1000000000;
    pid_t children[WRITERS_MAX + READERS];
    unsigned count = 0;
    int result;

    for (unsigned i = 0; i < writers; i++)
        children[count++] = start(write_transfers, told, i, until);
    for (unsigned i = 0; i < readers; i++)
        children[count++] = start(read_sums, told, i, until);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
}

/* ------------------------------------------------------------- the tests -- */

static int begin_test(void **state)
{
    pid_t child;
    int result;

    make_folder(state);
    *state = mmap(NULL, sizeof(struct told), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(*state, MAP_FAILED);
    child = fork(); /* this process goes without devices and threads */
    if (child == 0) {
        make_accounts();
        _exit(0);
    }
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    return 0;
}

static int end_test(void **state)
{
    munmap(*state, sizeof(struct told));
    return remove_folder(state);
}

static void readers_keep_the_file_small(void **state)
{
    struct told *told = *state;
    unsigned sums = 0;

    run(told, 1, READERS);
    for (unsigned i = 0; i < READERS; i++)
        sums += atomic_load(&told->sums[i]);
    printf("%u transfers, %u sums, the file had up to %lld KiB\n",
           atomic_load(&told->transfers[0]), sums,
           atomic_load(&told->largest) / 1024);
    assert_true(atomic_load(&told->transfers[0]) > 0 && sums > 0);
    assert_true(atomic_load(&told->largest) < FILE_MAX);
}

/* Each has its share of the commits, at least that percentage of an equal one. */
static void share(struct told *told, unsigned writers, unsigned least)
{
    unsigned all = 0;

    run(told, writers, 0);
    for (unsigned i = 0; i < writers; i++)
        all += atomic_load(&told->transfers[i]);
    for (unsigned i = 0; i < writers; i++) {
        printf("writer %u: %u of %u\n", i, atomic_load(&told->transfers[i]),
               all);
        assert_true((uint64_t)atomic_load(&told->transfers[i]) * 100 * writers
                    >= (uint64_t)all * least);
    }
}

static void two_writers_have_equal_shares(void **state)
{
    share(*state, 2, SHARE_OF_TWO);
}

static void four_writers_have_equal_shares(void **state)
{
    share(*state, 4, SHARE_OF_FOUR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(readers_keep_the_file_small),
        TEST(two_writers_have_equal_shares),
        TEST(four_writers_have_equal_shares),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
