/* SPDX-License-Identifier: MIT */
/*
 * The modes: whatever moves, and however little memory there is, the rows are
 * the same and come in the same order; so do faults. On the host and on the
 * first CPU device where there is one (or VDBQ_TEST_DEVICE).
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

#include "base/os/os.h"
#include "fixtures/answer.h"
#include "fixtures/settings.h"
#include "api/station.h"
#include "cl/launch.h"
#include "data/transaction/transaction.h"
#include "device/opencl/find.h"

enum { TABLET_ROWS = 1000, TABLETS = 120, ROWS = TABLET_ROWS * TABLETS - 333 };
/* In the first tablet of a launch in every mode: of all but the first launch
 * LAUNCH_MORSELS tablets are part. */
enum { FAULT_ROW = (1 + 2 * LAUNCH_MORSELS) * TABLET_ROWS + 17 };

static const char *const modes[] = { "serial", "streamed", "mapped", "cached" };
enum { MODES = sizeof modes / sizeof *modes };

static char path[] = "/tmp/vdbq-modes-XXXXXX";
static struct error error;
static uint64_t table_bytes;  /* of all tablets  */
static uint64_t tablet_bytes; /* of the largest */

/* ---------------------------------------------------------------- data -- */

static int64_t value_of(uint64_t row)
{
    return (int64_t)(row * 2654435761u % 1009);
}

/* Appends rows [first, first + count); every seventh x is NULL, and one is
 * too large to double. */
static void append(struct transaction *transaction, uint32_t table,
                   uint64_t first, uint64_t count)
{
    int32_t *ids = calloc(count, sizeof *ids);
    int64_t *values = calloc(count, sizeof *values);
    double *reals = calloc(count, sizeof *reals);
    uint8_t *nulls = calloc(count, 1);
    const struct vdbq_vector vectors[] = {
        { .type = VDBQ_INTEGER, .values = ids },
        { .type = VDBQ_BIGINT, .values = values, .nulls = nulls },
        { .type = VDBQ_DOUBLE, .values = reals },
    };
    for (uint64_t i = 0; i < count; i++) {
        uint64_t row = first + i;
        ids[i] = (int32_t)row * 2;
        values[i] = row == FAULT_ROW ? INT64_MAX / 2 + 1 : value_of(row);
        nulls[i] = row % 7 == 0 && row != FAULT_ROW;
        reals[i] = (double)row / 3;
    }
    assert_int_equal(
        transaction_append(transaction, table, count, vectors, &error),
        VDBQ_OK);
    free(ids);
    free(values);
    free(reals);
    free(nulls);
}

/* Makes a file of small tablets: how a full one is cut is the writer's. */
static int make_file(void **state)
{
    static const struct column columns[] = {
        { .name = "id", .type = VDBQ_INTEGER },
        { .name = "x", .type = VDBQ_BIGINT },
        { .name = "y", .type = VDBQ_DOUBLE }
    };
    struct settings *settings = settings_for_tests(TABLET_ROWS);
    struct database_params params = { .path = path,
                                      .flags = VDBQ_OPEN_CREATE,
                                      .files = &os_files,
                                      .settings = settings };
    struct database *database;
    struct transaction *transaction;
    struct snapshot snapshot;

    (void)state;
    settings->encoding = CHOOSE_PLAIN; /* bytes are counted here */
    assert_true(mkstemp(path) >= 0);
    assert_int_equal(database_open(&params, &database, &error), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, &error),
                     VDBQ_OK);
    assert_int_equal(
        transaction_create_table(transaction, "t", columns, 3, 0, &error),
        VDBQ_OK);
    append(transaction, 0, 0, ROWS);
    assert_int_equal(transaction_commit(transaction, &error), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, &error), VDBQ_OK);
    const struct table *table = catalogue_table(snapshot.catalogue, "t");
    assert_int_equal(table->tablet_count, TABLETS);
    for (size_t i = 0; i < table->tablet_count; i++) {
        table_bytes += table->tablets[i].size_bytes;
        if (table->tablets[i].size_bytes > tablet_bytes)
            tablet_bytes = table->tablets[i].size_bytes;
    }
    snapshot_close(&snapshot);
    database_close(database);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* ------------------------------------------------------------- options -- */

static void set_bytes(vdbq *db, const char *option, uint64_t bytes)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    set_option(db, option, text);
}

/* The file, on a device; NULL: there is none. */
static vdbq *open_on(const char *device)
{
    vdbq *db;
    assert_int_equal(vdbq_open(path, 0, &db), VDBQ_OK);
    set_option(db, "device", device);
    if (vdbq_device_open(db) == VDBQ_OK)
        return db;
    vdbq_close(db);
    return NULL;
}

static const char *device_name(int number)
{
    const char *tested = getenv("VDBQ_TEST_DEVICE");
    return number == 0 ? "host" : tested != NULL ? tested : "cpu";
}

/* Runs a test on the host and on a device. */
static void on_devices(void (*test)(vdbq *db))
{
    for (int i = 0; i < 2; i++) {
        vdbq *db = open_on(device_name(i));
        if (db != NULL)
            test(db);
        vdbq_close(db);
    }
}

static void expect(vdbq *db, const char *mode, const char *sql,
                   struct answer wanted)
{
    struct vdbq_stats stats;
    set_option(db, "mode", mode);
    struct answer got = ask(db, sql, &stats);
    if (got.status != wanted.status)
        print_error("%s: %s: %s\n", mode, sql, vdbq_error(db)->message);
    assert_int_equal(got.status, wanted.status);
    assert_string_equal(stats.mode, mode);
    assert_int_equal(got.rows, wanted.rows);
    assert_int_equal(got.hash, wanted.hash);
}

/* --------------------------------------------------------------- tests -- */

static const char *const queries[] = {
    "select id, x, y * 3 from t where x > 500 and id <> 82034",
    "select x from t where y < 100 and x < 9000",
    "select id, y from t",
    "select y from t where x > 8000 and id + 0 = 3" /* no index */,
    "select 1 + 1",
};
static const char faulty[] = "select id, x + x, y from t where x + x > 20";

static void check_budgets(vdbq *db, uint64_t memory, uint64_t device_memory)
{
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        bool has_table = strstr(queries[i], "from") != NULL;
        set_option(db, "mode", "mapped");
        set_bytes(db, "memory", 1u << 30);
        set_bytes(db, "device_memory", 0);
        struct answer wanted = ask(db, queries[i], NULL);
        assert_int_equal(wanted.status, VDBQ_OK);
        set_bytes(db, "memory", memory);
        set_bytes(db, "device_memory", device_memory);
        for (int mode = 0; mode < MODES; mode++)
            for (int again = 0; again < 2; again++)
                if (has_table || strcmp(modes[mode], "cached") != 0)
                    expect(db, modes[mode], queries[i], wanted);
    }
}

static void check_tenth(vdbq *db)
{
    check_budgets(db, table_bytes / 10, table_bytes / 10);
}

/* Room for one tablet: the ring has one launch. */
static void check_one(vdbq *db)
{
    check_budgets(db, (tablet_bytes + 4095) / 4096 * 4096, tablet_bytes);
}

static void test_larger_than_memory(void **state)
{
    (void)state;
    on_devices(check_tenth);
    on_devices(check_one);
}

/* The rows before the tablet with the fault come in every mode. */
static void check_fault(vdbq *db)
{
    set_option(db, "mode", "mapped");
    struct answer wanted = ask(db, faulty, NULL);
    assert_int_equal(wanted.status, VDBQ_RANGE);
    assert_true(wanted.rows > FAULT_ROW / 2);
    for (int mode = 0; mode < MODES; mode++)
        expect(db, modes[mode], faulty, wanted);
}

static void test_fault(void **state)
{
    (void)state;
    on_devices(check_fault);
}

static bool stop_soon(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    assert_true(done <= total);
    return done < 20 * TABLET_ROWS;
}

static void check_cancel(vdbq *db)
{
    for (int mode = 0; mode < MODES; mode++) {
        set_option(db, "mode", modes[mode]);
        vdbq_on_progress(db, stop_soon, NULL);
        struct answer got = ask(db, queries[2], NULL);
        assert_int_equal(got.status, VDBQ_CANCELLED);
        assert_true(got.rows >= 20 * TABLET_ROWS && got.rows < ROWS);
        vdbq_on_progress(db, NULL, NULL);
        assert_int_equal(ask(db, queries[2], NULL).rows, ROWS);
    }
}

static void test_cancel(void **state)
{
    (void)state;
    on_devices(check_cancel);
}

/* Of the first rows only: how many a batch has depends on what is cached. */
static uint64_t hash_first(const struct vdbq_batch *batch)
{
    struct vdbq_batch first = *batch;
    assert_true(first.rows >= 100);
    first.rows = 100;
    return hash_batch(&first, 0);
}

/* Queries that are open side by side, closed in any state. */
static void check_open_queries(vdbq *db)
{
    for (int i = 0; i < 2 * MODES; i++) {
        struct vdbq_batch batch;
        vdbq_query *first, *second;
        set_option(db, "mode", modes[i % MODES]);
        assert_int_equal(vdbq_prepare(db, queries[0], -1, &first, NULL),
                         VDBQ_OK);
        assert_int_equal(vdbq_query_batch(first, &batch), VDBQ_OK);
        uint64_t hash = hash_first(&batch);
        set_option(db, "mode", modes[i * 7 / 3 % MODES]);
        assert_int_equal(vdbq_prepare(db, queries[2], -1, &second, NULL),
                         VDBQ_OK);
        assert_int_equal(vdbq_query_batch(second, &batch), VDBQ_OK);
        vdbq_query_close(i % 2 == 0 ? first : second);
        assert_int_equal(vdbq_query_run(i % 2 == 0 ? second : first), VDBQ_OK);
        assert_int_equal(vdbq_query_batch(i % 2 == 0 ? second : first, &batch),
                         VDBQ_OK);
        if (i % 2 == 1)
            assert_int_equal(hash_first(&batch), hash);
        vdbq_query_close(i % 2 == 0 ? second : first);
    }
}

static void test_open_queries(void **state)
{
    (void)state;
    on_devices(check_open_queries);
}

/* ------------------------------------------------------- failing calls -- */

static struct opencl_calls real;
static unsigned calls_left; /* until a call fails */

static bool fails(void)
{
    return calls_left > 0 && --calls_left == 0;
}

static cl_int CL_API_CALL failing_write(cl_command_queue queue, cl_mem buffer,
                                        cl_bool waits, size_t offset,
                                        size_t size, const void *bytes,
                                        cl_uint count, const cl_event *events,
                                        cl_event *event)
{
    return fails() ? CL_OUT_OF_RESOURCES
                   : real.EnqueueWriteBuffer(queue, buffer, waits, offset, size,
                                             bytes, count, events, event);
}

static cl_int CL_API_CALL failing_read(cl_command_queue queue, cl_mem buffer,
                                       cl_bool waits, size_t offset,
                                       size_t size, void *bytes, cl_uint count,
                                       const cl_event *events, cl_event *event)
{
    return fails() ? CL_OUT_OF_RESOURCES
                   : real.EnqueueReadBuffer(queue, buffer, waits, offset, size,
                                            bytes, count, events, event);
}

static cl_int CL_API_CALL
failing_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
               const size_t *offset, const size_t *global, const size_t *local,
               cl_uint count, const cl_event *events, cl_event *event)
{
    return fails()
               ? CL_OUT_OF_RESOURCES
               : real.EnqueueNDRangeKernel(queue, kernel, dimensions, offset,
                                           global, local, count, events, event);
}

static cl_int CL_API_CALL failing_wait(cl_uint count, const cl_event *events)
{
    return fails() ? CL_OUT_OF_RESOURCES : real.WaitForEvents(count, events);
}

static cl_int CL_API_CALL failing_flush(cl_command_queue queue)
{
    return fails() ? CL_OUT_OF_RESOURCES : real.Flush(queue);
}

static void replace_calls(void)
{
    real = opencl_calls;
    opencl_calls.EnqueueWriteBuffer = failing_write;
    opencl_calls.EnqueueReadBuffer = failing_read;
    opencl_calls.EnqueueNDRangeKernel = failing_kernel;
    opencl_calls.WaitForEvents = failing_wait;
    opencl_calls.Flush = failing_flush;
}

/* The n-th call fails: so does the query, unless it can do without, and what
 * it left is no trap for the next one. Tablets on the device start anew each
 * time, on a new budget. */
static void check_failing(const char *mode, uint64_t step)
{
    vdbq *db = open_on(device_name(1));
    set_option(db, "mode", mode);
    struct answer wanted = ask(db, queries[0], NULL);
    unsigned failed = 0;

    assert_int_equal(wanted.status, VDBQ_OK);
    replace_calls();
    for (unsigned n = 1;; n++) {
        set_bytes(db, "device_memory", table_bytes + n);
        assert_int_equal(vdbq_device_open(db), VDBQ_OK);
        calls_left = (unsigned)(n * step);
        struct answer got = ask(db, queries[0], NULL);
        bool came = calls_left == 0;
        calls_left = 0;
        failed += got.status == VDBQ_DEVICE;
        if (got.status == VDBQ_DEVICE) {
            assert_true(came);
            got = ask(db, queries[0], NULL);
        }
        assert_int_equal(got.status, VDBQ_OK);
        assert_int_equal(got.rows, wanted.rows);
        assert_int_equal(got.hash, wanted.hash);
        if (!came)
            break;
    }
    opencl_calls = real;
    assert_true(failed > 3);
    vdbq_close(db);
}

static void test_failing_calls(void **state)
{
    (void)state;
    vdbq *db = open_on(device_name(1));
    if (db == NULL)
        skip();
    vdbq_close(db);
    for (int mode = 0; mode < MODES; mode++)
        check_failing(modes[mode], 29);
}

/* --------------------------------------------------------------- cached -- */

static struct resident *store(const vdbq *db)
{
    return db->stations->resident;
}

/* A column comes once; a change drops what it replaced, and no more. */
static void check_cached(vdbq *db)
{
    struct vdbq_stats stats;
    uint64_t rows = ROWS;

    set_option(db, "mode", "cached");
    ask(db, queries[2], &stats);
    assert_true(stats.bytes_in >= ROWS * 12);
    uint64_t bytes = resident_bytes(store(db));
    assert_true(bytes >= table_bytes / 2 && bytes <= table_bytes);
    ask(db, queries[2], &stats);
    assert_true(stats.bytes_in < ROWS);
    assert_int_equal(stats.launches,
                     (TABLETS + LAUNCH_MORSELS - 1) / LAUNCH_MORSELS);
    assert_int_equal(stats.bytes_read, ROWS * 12);
    ask(db, queries[0], &stats);
    assert_true(stats.bytes_in >= ROWS * 8 && stats.bytes_in < ROWS * 10);
    for (int i = 0; i < 3; i++) {
        char sql[80];
        snprintf(sql, sizeof sql, "insert into t values (%d, 5, 6)", 1 + 2 * i);
        assert_int_equal(vdbq_execute(db, sql), VDBQ_OK);
        assert_int_equal(ask(db, queries[2], &stats).rows, ++rows);
        assert_true(stats.bytes_in < ROWS * 4);
    }
    assert_int_equal(vdbq_execute(db, "drop table t"), VDBQ_OK);
    assert_int_equal(vdbq_execute(db, "create table u (a integer);"
                                      "insert into u values (1)"),
                     VDBQ_OK);
    assert_int_equal(ask(db, "select a from u", NULL).rows, 1);
    assert_true(resident_bytes(store(db)) < 1000);
}

/* Changes the file: the last test. */
static void test_cached(void **state)
{
    (void)state;
    vdbq *db = open_on(getenv("VDBQ_TEST_DEVICE") ? device_name(1) : "host");
    assert_non_null(db);
    check_cached(db);
    vdbq_close(db);
}

static void test_auto(void **state)
{
    struct vdbq_stats stats;

    (void)state;
    vdbq *db = open_on("host");
    set_option(db, "mode", "auto");
    assert_int_equal(ask(db, queries[2], &stats).rows, ROWS);
    assert_string_equal(stats.mode, "mapped");
    set_option(db, "mode", "cached");
    set_bytes(db, "device_memory", tablet_bytes / 2);
    assert_int_equal(ask(db, queries[2], NULL).status, VDBQ_LIMIT);
    assert_non_null(strstr(vdbq_error(db)->hint, "VDBQ_DEVICE_MEMORY"));
    vdbq_close(db);
}

/* --------------------------------------------------------------- grids -- */

static const char *const grids[] = {
    "select a.id, b.id, b.x from t a, t b where a.y * b.y > 100000 and "
    "a.id < 40",
    "select a.id, b.x, c.id from t a, t b, t c where a.y * b.y > 100000 and "
    "a.id < 40 and c.id * 2 + a.id = 44 and c.id < 50",
};

/* Build rows that are there in parts, as the budget has room for: the same
 * rows, by more launches. Where not even a part fits, it says so. */
static void check_parts(vdbq *db)
{
    struct vdbq_stats whole, parts;

    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        set_bytes(db, "device_memory", 0);
        set_option(db, "mode", "mapped");
        struct answer wanted = ask(db, grids[i], &whole);
        assert_int_equal(wanted.status, VDBQ_OK);
        assert_true(wanted.rows > 1000);
        set_bytes(db, "device_memory", ROWS * 8);
        for (int mode = 0; mode < MODES - 1; mode++) {
            set_option(db, "mode", modes[mode]);
            struct answer got = ask(db, grids[i], &parts);
            assert_int_equal(got.status, VDBQ_OK);
            assert_int_equal(got.rows, wanted.rows);
            assert_int_equal(got.hash, wanted.hash);
            assert_true(parts.launches > whole.launches + 10);
        }
        set_bytes(db, "device_memory", 100);
        assert_int_equal(ask(db, grids[i], NULL).status, VDBQ_LIMIT);
        assert_non_null(strstr(vdbq_error(db)->hint, "VDBQ_DEVICE_MEMORY"));
    }
}

static void test_grid_parts(void **state)
{
    (void)state;
    on_devices(check_parts);
}

/* What counts a grid's rows where they are gives the same, and moves next to
 * nothing to the host. */
static void test_grid_rows_stay(void **state)
{
    static const char sql[] =
        "select b.x < 500, count(*), sum(b.id), max(a.y) from t a, t b "
        "where a.y * b.y > 1000 and a.id < 100 group by b.x < 500";
    struct vdbq_stats host, device;
    vdbq *db = open_on(device_name(1));

    (void)state;
    if (db == NULL)
        skip();
    set_option(db, "mode", "streamed");
    set_option(db, "steps", "host");
    struct answer wanted = ask(db, sql, &host);
    set_option(db, "steps", "device");
    struct answer got = ask(db, sql, &device);
    assert_int_equal(wanted.status, VDBQ_OK);
    assert_int_equal(got.status, VDBQ_OK);
    assert_int_equal(got.rows, 3);
    assert_int_equal(got.hash, wanted.hash);
    assert_true(host.bytes_out > 1000000);
    assert_true(device.bytes_out < host.bytes_out / 100);
    vdbq_close(db);
}

/* ---------------------------------------------------------------- kept -- */

/* Released memory serves again, unless it is much larger. */
static void test_kept(void **state)
{
    struct device *device;
    struct device_memory *first, *second;

    (void)state;
    assert_int_equal(device_open(&(struct device_params){ .choice = "host" },
                                 &device, &error),
                     VDBQ_OK);
    assert_int_equal(
        device_memory_create(device, MEMORY_PINNED, 1000000, &first, &error),
        VDBQ_OK);
    device_memory_release(first);
    assert_int_equal(
        device_memory_create(device, MEMORY_DEVICE, 1000000, &second, &error),
        VDBQ_OK);
    assert_ptr_not_equal(first, second);
    device_memory_release(second);
    assert_int_equal(
        device_memory_create(device, MEMORY_PINNED, 500000, &second, &error),
        VDBQ_OK);
    assert_ptr_not_equal(first, second);
    device_memory_release(second);
    assert_int_equal(
        device_memory_create(device, MEMORY_PINNED, 900000, &second, &error),
        VDBQ_OK);
    assert_ptr_equal(first, second);
    assert_non_null(device_memory_host(second));
    device_memory_release(second);
    device_memory_release(NULL);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_larger_than_memory),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_open_queries),
        cmocka_unit_test(test_failing_calls),
        cmocka_unit_test(test_grid_parts),
        cmocka_unit_test(test_grid_rows_stay),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_cached),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
