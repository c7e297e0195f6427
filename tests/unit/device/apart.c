/* SPDX-License-Identifier: MIT */
/*
 * Statements that are stopped while the driver compiles for them. The compiler
 * here ends when the test lets it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "api/vdbq.h"
#include "device/opencl/opencl_calls.h"
#include "fixtures/device_rig.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool shut;       /* the compiler does not end   */
    atomic_uint all; /* calls of it                 */
    cl_int (*real)(cl_program, cl_uint, const cl_device_id *, const char *,
                   void(CL_CALLBACK *)(cl_program, void *), void *);
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .opened = PTHREAD_COND_INITIALIZER };

/* In place of clBuildProgram(). */
static cl_int slow_build(cl_program program, cl_uint count,
                         const cl_device_id *devices, const char *options,
                         void(CL_CALLBACK *told)(cl_program, void *),
                         void *context)
{
    atomic_fetch_add(&gate.all, 1);
    pthread_mutex_lock(&gate.lock);
    while (gate.shut)
        pthread_cond_wait(&gate.opened, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    return gate.real(program, count, devices, options, told, context);
}

static void gate_set(bool shut)
{
    pthread_mutex_lock(&gate.lock);
    gate.shut = shut;
    pthread_cond_broadcast(&gate.opened);
    pthread_mutex_unlock(&gate.lock);
}

/* What a progress function is told, and what it does. */
struct watch {
    const vdbq *db;
    unsigned waited; /* times that a compiler was waited for */
    bool stops;      /* then the statement is to stop        */
    bool opens;      /* then the compiler may end            */
};

static bool progress(void *context, uint64_t done, uint64_t all)
{
    struct watch *watch = context;
    const char *waits = vdbq_waits_for(watch->db);

    assert_true(done <= all);
    if (waits == NULL)
        return true;
    assert_non_null(strstr(waits, "compiling"));
    watch->waited++;
    if (watch->opens)
        gate_set(false);
    return !watch->stops;
}

/* Has a device open once, so that the next time it need not compile what tries it:
 * a statement that opens it waits for that. */
static void try_device(void)
{
    const struct device_params params = { .choice = rig_tested() };
    struct device *device;
    struct error error;

    assert_int_equal(device_open(&params, &device, &error), VDBQ_OK);
    device_close(device);
}

/* A database on the device, which is open; the compiler does not end from here
 * on. */
static vdbq *open_shut(struct watch *watch)
{
    vdbq *db;

    try_device();
    assert_int_equal(vdbq_open(NULL, 0, &db), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "device", rig_tested()), VDBQ_OK);
    assert_int_equal(vdbq_set(db, "build", "interpreted"), VDBQ_OK);
    assert_int_equal(
        vdbq_execute(db, "create table t (a integer, s text);"
                         "insert into t values (1, 'x'), (2, 'y'), (3, 'x')"),
        VDBQ_OK);
    gate.real = opencl_calls.BuildProgram;
    opencl_calls.BuildProgram = slow_build;
    *watch = (struct watch){ .db = db, .stops = true };
    vdbq_on_progress(db, progress, watch);
    gate_set(true);
    return db;
}

/* Waits until the compiler is called: a statement may be stopped before. Returns
 * how often it was. */
static unsigned await_build(void)
{
    enum { MOST_MS = 30000 };
    const struct timespec nap = { .tv_nsec = 1000000 };

    for (unsigned ms = 0; gate.all == 0 && ms < MOST_MS; ms++)
        nanosleep(&nap, NULL);
    return gate.all;
}

static void close_opened(vdbq *db)
{
    gate_set(false);
    vdbq_close(db);
    opencl_calls.BuildProgram = gate.real;
}

/* Runs the query; its first value, or -1 where it fails. */
static int64_t answer(vdbq *db, const char *sql, enum vdbq_status *status)
{
    vdbq_query *query;
    int64_t value = -1;

    assert_int_equal(vdbq_prepare(db, sql, -1, &query, NULL), VDBQ_OK);
    *status = vdbq_query_run(query);
    if (*status == VDBQ_OK && (*status = vdbq_query_row(query)) == VDBQ_ROW) {
        *status = VDBQ_OK;
        value = vdbq_query_int64(query, 0);
    }
    vdbq_query_close(query);
    return value;
}

static const char grouped[] = "select sum(a) from t where a > 1";

/* The statement ends at once; the next one takes what was left. */
static void test_stopped_statement_leaves_its_build(void **state)
{
    enum vdbq_status status;
    struct watch watch;
    unsigned builds;
    vdbq *db;

    (void)state;
    rig_need_device();
    db = open_shut(&watch);
    answer(db, grouped, &status);
    assert_int_equal(status, VDBQ_CANCELLED);
    assert_true(watch.waited > 0);
    builds = await_build();
    answer(db, grouped, &status);
    assert_int_equal(status, VDBQ_CANCELLED);
    assert_int_equal(gate.all, builds); /* none was begun beside it */
    watch.stops = false;
    watch.opens = true;
    assert_int_equal(answer(db, grouped, &status), 5);
    assert_int_equal(status, VDBQ_OK);
    assert_null(vdbq_waits_for(db));
    close_opened(db);
}

/* A device that closes waits for a build that nobody took. */
static void test_device_closes_with_a_build_left(void **state)
{
    enum vdbq_status status;
    struct watch watch;
    vdbq *db;

    (void)state;
    rig_need_device();
    db = open_shut(&watch);
    answer(db, grouped, &status);
    assert_int_equal(status, VDBQ_CANCELLED);
    close_opened(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stopped_statement_leaves_its_build),
        cmocka_unit_test(test_device_closes_with_a_build_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
