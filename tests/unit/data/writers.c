/* SPDX-License-Identifier: MIT */
/*
 * Writers that wait for one another: in this process and in others, in turn,
 * not for longer than they want to; and what they are told of who is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/threads/stop.h"
#include "data/database/database.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

enum { LONG_MS = 1800000, TRIALS = 8 };
#define LONG_WAIT_NS UINT64_C(3000000000)

static struct stop stop;
/* Of connections that wait for nobody, and of others. */
static struct settings hasty, patient;

static int begin_test(void **state)
{
    atomic_store(&stop.cancelled, false);
    hasty = patient = settings_default();
    hasty.timeout_ms = 0;
    patient.timeout_ms = LONG_MS;
    return make_folder(state);
}

static struct database *open_by(const struct os_file_calls *files,
                                const struct settings *settings)
{
    const struct database_params params = { .path = test_path,
                                            .flags = VDBQ_OPEN_CREATE
                                                     | VDBQ_OPEN_NO_SYNC,
                                            .files = files,
                                            .settings = settings };
    struct database *database;

    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return database;
}

static struct database *open_it(const struct settings *settings)
{
    return open_by(&os_files, settings);
}

static struct transaction *begin(struct database *database)
{
    struct transaction *transaction;

    if (transaction_begin(database, &transaction, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return transaction;
}

static void expect_busy(struct database *database, const char *who)
{
    struct transaction *transaction;

    assert_int_equal(transaction_begin(database, &transaction, ERROR),
                     VDBQ_BUSY);
    assert_null(transaction);
    if (strstr(ERROR->message, who) == NULL
        || strstr(ERROR->message, " has been writing to it since 20") == NULL)
        fail_msg("\"%s\" does not tell of \"%s\"", ERROR->message, who);
}

/* ------------------------------------------------------------ one waits -- */

static void who_waits_for_himself_is_told(void **state)
{
    struct database *one = open_it(&hasty), *two = open_it(&patient);
    struct transaction *transaction = begin(one);
    uint64_t start = os_time_ns(), waited;

    (void)state;
    patient.timeout_ms = 60;
    expect_busy(two, "another connection of this program");
    waited = os_time_ns() - start;
    assert_true(waited >= 60000000);
    patient.timeout_ms = 0; /* from now on */
    expect_busy(two, "another connection of this program");
    transaction_abort(transaction);
    transaction_abort(begin(two));
    database_close(one);
    database_close(two);
}

static void *commit_soon(void *context)
{
    usleep(50000);
    transaction_abort(context);
    return NULL;
}

static void *cancel_soon(void *context)
{
    usleep(50000);
    atomic_store(&stop.cancelled, true);
    return context;
}

static void the_place_is_taken_when_it_is_free(void **state)
{
    struct database *one = open_it(&hasty), *two = open_it(&patient);
    struct transaction *transaction = begin(one);
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, commit_soon, transaction),
                     0);
    transaction_abort(begin(two));
    pthread_join(thread, NULL);
    database_close(one);
    database_close(two);
}

#ifdef __linux__
/* Looks only where it is woken. */
static void wait_long(struct os_file *file, unsigned place, uint64_t ns)
{
    (void)ns;
    os_files.wait(file, place, LONG_WAIT_NS);
}

static void *begin_and_end(void *context)
{
    transaction_abort(begin(context));
    return NULL;
}

/* One waits for the writer, the next one for his place in line: how long. */
static uint64_t wait_in_line(struct database *writer, struct database *next,
                             struct database *last)
{
    struct transaction *transaction = begin(writer);
    uint64_t start = os_time_ns();
    pthread_t threads[2];

    assert_int_equal(
        pthread_create(&threads[0], NULL, commit_soon, transaction), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, begin_and_end, next), 0);
    begin_and_end(last);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return os_time_ns() - start;
}

/* Who is woken between his look and his wait misses it, so that one trial of a few
 * has to do. */
static void who_lets_a_place_go_wakes_who_waits(void **state)
{
    struct os_file_calls calls = os_files;
    struct database *one = open_it(&hasty), *two, *three;
    uint64_t waited = LONG_WAIT_NS;

    (void)state;
    calls.wait = wait_long;
    two = open_by(&calls, &patient);
    three = open_by(&calls, &patient);
    for (unsigned i = 0; i < TRIALS && waited >= LONG_WAIT_NS; i++)
        waited = wait_in_line(one, two, three);
    assert_true(waited < LONG_WAIT_NS);
    database_close(one);
    database_close(two);
    database_close(three);
}
#endif

static void a_cancel_ends_the_wait(void **state)
{
    struct database *one = open_it(&hasty), *two = open_it(&patient);
    struct transaction *transaction = begin(one), *other;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, NULL), 0);
    struct stop_work former = stop_enter(&stop);
    assert_int_equal(transaction_begin(two, &other, ERROR), VDBQ_CANCELLED);
    stop_leave(former);
    pthread_join(thread, NULL);
    transaction_abort(transaction);
    atomic_store(&stop.cancelled, false);
    transaction_abort(begin(two)); /* it stands in no line any more */
    database_close(one);
    database_close(two);
}

/* ------------------------------------------------------ other processes -- */

/* A process that writes, and waits for its end; it says when it has begun. */
static pid_t start_holder(void)
{
    int pipes[2];
    char byte;
    pid_t child;

    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        begin(open_it(&patient));
        if (write(pipes[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(pipes[0], &byte, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return child;
}

static void a_process_is_named_and_may_be_killed(void **state)
{
    struct database *database = open_it(&hasty);
    pid_t holder = start_holder();
    char who[64];

    (void)state;
    snprintf(who, sizeof who, "process %d (unit_writers)", (int)holder);
    expect_busy(database, who);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    transaction_abort(begin(database));
    database_close(database);
}

/* Opening and closing the file elsewhere in the holder's process lets neither
 * its lock nor its name go. */
static void other_connections_do_not_let_it_go(void **state)
{
    struct database *one = open_it(&hasty), *two = open_it(&hasty);
    struct transaction *transaction = begin(one);
    char who[64];
    int result;
    pid_t child;

    (void)state;
    database_close(open_it(&hasty));
    database_close(two);
    snprintf(who, sizeof who, "process %d (", (int)getpid());
    child = fork();
    if (child == 0) {
        expect_busy(open_it(&hasty), who);
        _exit(0);
    }
    waitpid(child, &result, 0);
    assert_int_equal(result, 0);
    transaction_abort(transaction);
    database_close(one);
}

enum { CHILDREN = 8, TURNS_MIN = 20, TURNS_MAX = 5 * TURNS_MIN };

/* Writes again and again until everybody has had his turns, and counts. */
static void take_turns(atomic_uint *turns, unsigned who)
{
    struct database *database = open_it(&patient);
    bool all = false;

    while (!all) {
        struct transaction *transaction;
        if (transaction_begin(database, &transaction, ERROR) != VDBQ_OK)
            _exit(1);
        atomic_fetch_add(&turns[who], 1);
        usleep(500);
        transaction_abort(transaction);
        all = true;
        for (unsigned i = 0; i < CHILDREN; i++)
            all &= atomic_load(&turns[i]) >= TURNS_MIN;
    }
    _exit(0);
}

/* Nobody starves: while the last one comes to so many turns, nobody has many
 * times as many. One who is killed in line keeps nobody from moving on. All
 * wait for the first transaction's end, so that they start at once. */
static void writers_take_turns(void **state)
{
    atomic_uint *turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct database *database = open_it(&hasty);
    struct transaction *transaction = begin(database);
    pid_t children[CHILDREN], killed;
    int result;

    (void)state;
    assert_ptr_not_equal(turns, MAP_FAILED);
    for (unsigned i = 0; i < CHILDREN; i++) {
        children[i] = fork();
        if (children[i] == 0)
            take_turns(turns, i);
    }
    killed = fork();
    if (killed == 0)
        take_turns(turns, CHILDREN);
    usleep(100000);
    transaction_abort(transaction);
    database_close(database);
    while (atomic_load(&turns[CHILDREN]) == 0)
        usleep(100);
    kill(killed, SIGKILL);
    waitpid(killed, NULL, 0);
    for (unsigned i = 0; i < CHILDREN; i++) {
        assert_int_equal(waitpid(children[i], &result, 0), children[i]);
        assert_int_equal(result, 0);
    }
    for (unsigned i = 0; i < CHILDREN; i++)
        assert_true(atomic_load(&turns[i]) <= TURNS_MAX);
    munmap(turns, 4096);
}

#define TEST(name)                                                             \
    cmocka_unit_test_setup_teardown(name, begin_test, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_waits_for_himself_is_told),
        TEST(the_place_is_taken_when_it_is_free),
#ifdef __linux__
        TEST(who_lets_a_place_go_wakes_who_waits),
#endif
        TEST(a_cancel_ends_the_wait),
        TEST(a_process_is_named_and_may_be_killed),
        TEST(other_connections_do_not_let_it_go),
        TEST(writers_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
