/* SPDX-License-Identifier: MIT */
/*
 * Whatever happens to the disk, the program or the memory in the middle of a
 * transaction: what was acknowledged is there, what was not is there as a
 * whole or not at all, and the database opens and can be written again.
 *
 * VDBQ_TEST_SEED repeats a run, VDBQ_TEST_IMAGES sets how many pictures of
 * the disk are made of each moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "data/database/database.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/failing_memory.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

/* ---------------------------------------------------------- workloads -- */

enum { STEPS_MAX = 16 };

/* A workload does its steps one after another, each a transaction. */
struct workload {
    const char *name;
    uint32_t tablet_rows;
    unsigned steps;
    enum vdbq_status (*step)(struct transaction *transaction, unsigned n);
    bool upgrades; /* it starts with a file of format 1, not with none */
};

static enum vdbq_status make_fill_drop(struct transaction *t, unsigned n)
{
    const struct table *table = catalogue_table(transaction_catalogue(t), "a");
    enum vdbq_status status;

    if (n % 3 == 2)
        return transaction_drop_table(t, table->id, ERROR);
    if (n % 3 == 1)
        return append_sample_rows(t, "a", 100, 200, (int)n);
    status = create_sample_table(t, "a", true);
    return status != VDBQ_OK ? status
                             : append_sample_rows(t, "a", 1, 50, (int)n);
}

static enum vdbq_status single_rows(struct transaction *t, unsigned n)
{
    if (n == 0)
        return create_sample_table(t, "single", true);
    return append_sample_rows(t, "single", (int32_t)n, 1, 1);
}

static enum vdbq_status full_tablets(struct transaction *t, unsigned n)
{
    enum vdbq_status status = VDBQ_OK;

    if (n == 0)
        status = create_sample_table(t, "full", false);
    return status != VDBQ_OK
               ? status
               : append_sample_rows(t, "full", (int32_t)n * 20, 13, 2);
}

/* Drops a table and makes another of the same name in one transaction. */
static enum vdbq_status replace(struct transaction *t, unsigned n)
{
    const struct table *old = catalogue_table(transaction_catalogue(t), "r");
    enum vdbq_status status = VDBQ_OK;

    if (old != NULL)
        status = transaction_drop_table(t, old->id, ERROR);
    if (status == VDBQ_OK)
        status = create_sample_table(t, "r", n % 2 == 0);
    return status != VDBQ_OK
               ? status
               : append_sample_rows(t, "r", 0, 40 + n * 30, (int)n);
}

static enum vdbq_status many_tables(struct transaction *t, unsigned n)
{
    char name[8], old_name[8];
    const struct table *old;
    enum vdbq_status status;

    snprintf(name, sizeof name, "m%u", n);
    snprintf(old_name, sizeof old_name, "m%u", n - 3);
    status = create_sample_table(t, name, false);
    if (status == VDBQ_OK)
        status = append_sample_rows(t, name, 7, n * 5, 3);
    old = catalogue_table(transaction_catalogue(t), old_name);
    if (status == VDBQ_OK && old != NULL)
        status = transaction_drop_table(t, old->id, ERROR);
    return status;
}

/* Keys come in falling order: tablets are read to compare. */
static enum vdbq_status falling_keys(struct transaction *t, unsigned n)
{
    enum vdbq_status status = VDBQ_OK;

    if (n == 0)
        status = create_sample_table(t, "falling", true);
    for (int i = 0; i < 3 && status == VDBQ_OK; i++)
        status = append_sample_rows(t, "falling",
                                    1000 - (int32_t)n * 30 - i * 9, 5, 1);
    return status;
}

/* Two tables grow at once. */
static enum vdbq_status two_tables(struct transaction *t, unsigned n)
{
    enum vdbq_status status = VDBQ_OK;

    if (n == 0)
        status = create_sample_table(t, "one", true);
    if (status == VDBQ_OK && n == 0)
        status = create_sample_table(t, "two", false);
    if (status == VDBQ_OK)
        status = append_sample_rows(t, "one", (int32_t)n * 10, 3, 5);
    return status != VDBQ_OK ? status
                             : append_sample_rows(t, "two", 4, n + 1, 6);
}

/* All rows make way for others while the old ones are being read, as UPDATE
 * and DELETE do. */
static enum vdbq_status rewrite(struct transaction *t, unsigned n)
{
    struct snapshot snapshot;
    enum vdbq_status status = VDBQ_OK;

    if (n == 0) {
        status = create_sample_table(t, "w", true);
        return status != VDBQ_OK ? status
                                 : append_sample_rows(t, "w", 0, 50, 1);
    }
    status = transaction_snapshot(t, &snapshot, ERROR);
    if (status == VDBQ_OK)
        status = transaction_clear(
            t, catalogue_table(snapshot.catalogue, "w")->id, ERROR);
    if (status == VDBQ_OK)
        status = append_sample_rows(t, "w", (int32_t)n, 50 - 7 * n, (int)n);
    snapshot_close(&snapshot);
    return status;
}

/* Several statements and savepoints, some undone, that see what was before. */
static enum vdbq_status statements(struct transaction *t, unsigned n)
{
    enum vdbq_status status = VDBQ_OK;

    if (n == 0)
        status = create_sample_table(t, "s", true);
    for (unsigned i = 0; i < 4 && status == VDBQ_OK; i++) {
        struct snapshot snapshot;
        status = n % 2 == 0 ? transaction_mark(t, ERROR)
                            : transaction_save(t, "s", ERROR);
        if (status == VDBQ_OK)
            status =
                append_sample_rows(t, "s", (int32_t)(n * 40 + i * 10), 6, 2);
        if (status == VDBQ_OK)
            status = transaction_settle(t, ERROR);
        if (status == VDBQ_OK && i % 2 == 1 && n % 2 == 0)
            transaction_undo(t);
        else if (status == VDBQ_OK && i % 2 == 1)
            status = transaction_return(t, i, ERROR);
        if (status == VDBQ_OK)
            status = transaction_snapshot(t, &snapshot, ERROR);
        if (status == VDBQ_OK)
            snapshot_close(&snapshot);
    }
    return status;
}

/* Views and indexes come and go; a unique one is kept by all rows. */
static enum vdbq_status names(struct transaction *t, unsigned n)
{
    static unsigned columns[] = { 0 };
    const struct view view = { .name = "v",
                               .sql = "create view v as select 1" };
    struct index index = {
        .name = "i", .unique = true, .column_count = 1, .columns = columns
    };
    enum vdbq_status status = VDBQ_OK;

    if (n == 0)
        return create_sample_table(t, "n", false);
    index.table_id = catalogue_table(transaction_catalogue(t), "n")->id;
    status = n % 2 == 1 ? transaction_create_view(t, &view, ERROR)
                        : transaction_drop_view(t, "v", ERROR);
    if (status == VDBQ_OK)
        status = n % 2 == 1 ? transaction_create_index(t, &index, ERROR)
                            : transaction_drop_index(t, "i", ERROR);
    return status != VDBQ_OK
               ? status
               : append_sample_rows(t, "n", (int32_t)n * 10, 9, 3);
}

/* Indexes of one column and of several, whose runs come and go with tablets. */
static enum vdbq_status indexes(struct transaction *t, unsigned n)
{
    static unsigned columns[] = { 4, 1, 2, 3 };
    struct index index = { .name = "one",
                           .column_count = 1,
                           .columns = columns };
    enum vdbq_status status = VDBQ_OK;

    if (n == 0)
        status = create_sample_table(t, "x", true);
    if (status == VDBQ_OK)
        status = append_sample_rows(t, "x", (int32_t)n * 50, 40, (int)n);
    index.table_id = catalogue_table(transaction_catalogue(t), "x")->id;
    if (status == VDBQ_OK && n == 1)
        status = transaction_create_index(t, &index, ERROR);
    index.name = "several";
    index.column_count = 4;
    if (status == VDBQ_OK && n % 3 == 1)
        status = transaction_create_index(t, &index, ERROR);
    if (status == VDBQ_OK && n % 3 == 0 && n > 0)
        status = transaction_drop_index(t, "several", ERROR);
    if (status == VDBQ_OK && n == 4)
        status = transaction_clear(t, index.table_id, ERROR);
    return status;
}

/* Few rows of many change, and go: edits come, are made again, and go. */
static enum vdbq_status edits(struct transaction *t, unsigned n)
{
    const int64_t some[] = { 3, 90 + n, 200 }, one[] = { 5 * n };
    enum vdbq_status status = VDBQ_OK;

    if (n == 0) {
        status = create_sample_table(t, "e", true);
        return status != VDBQ_OK ? status
                                 : append_sample_rows(t, "e", 0, 300, 1);
    }
    status = change_sample_rows(t, "e", some, 3, 2u << n % 4 | 2, (int)n);
    if (status == VDBQ_OK && n % 2 == 0)
        status = change_sample_rows(t, "e", one, 1, 0, 0);
    if (status == VDBQ_OK && n % 3 == 0)
        status = change_sample_rows(t, "e", some, 2, 16, (int)n);
    return status;
}

static const struct workload workloads[] = {
    { "make, fill, drop", 64, 9, make_fill_drop, false },
    { "single rows", 4, 13, single_rows, false },
    { "single rows, large tablets", 0, 9, single_rows, false },
    { "full tablets", 3, 4, full_tablets, false },
    { "replace", 32, 6, replace, false },
    { "many tables", 16, 8, many_tables, false },
    { "falling keys", 4, 4, falling_keys, false },
    { "two tables", 1, 4, two_tables, false },
    { "rewrite", 16, 6, rewrite, false },
    { "statements", 8, 5, statements, false },
    { "names", 16, 5, names, false },
    { "indexes", 16, 6, indexes, false },
    { "edits", 128, 7, edits, false },
    { "upgrade", 64, 3, make_fill_drop, true },
    { "upgrade, statements", 8, 2, statements, true },
};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static struct text first_format; /* a file of that format */

static int read_first_format(void **state)
{
    (void)state;
    return read_old_database("format1.vdb", &first_format) ? 0 : -1;
}

static int forget_first_format(void **state)
{
    (void)state;
    text_finish(&first_format);
    return 0;
}

/* The disk as it is before the workload. */
static void start(const struct workload *work)
{
    if (work->upgrades)
        disk_start((const uint8_t *)first_format.bytes, first_format.length);
    else
        disk_start(NULL, 0);
}

/* What the database holds after each step, [0] before the first. */
static char *states[STEPS_MAX + 1];

static enum vdbq_status do_step(struct database *database,
                                const struct workload *work, unsigned n)
{
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, ERROR);

    if (status != VDBQ_OK)
        return status;
    status = work->step(transaction, n);
    if (status == VDBQ_OK)
        return transaction_commit(transaction, ERROR);
    transaction_abort(transaction);
    return status;
}

static struct database *open_disk(const struct workload *work)
{
    struct database_params params = params_on_disk(work->tablet_rows);
    struct database *database = NULL;

    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        return NULL;
    return database;
}

static char *content(struct database *database)
{
    struct text text;

    if (print_database(database, &text) != VDBQ_OK
        || print_runs(database, &text) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    assert_false(text.failed);
    return text.bytes;
}

/* Whether another connection reads meanwhile. */
static bool read_along;

/* Its snapshots: of the last states but one and two. */
static struct along {
    struct database *database;
    struct snapshot held[2];
} along;

static void along_start(const struct workload *work)
{
    along = (struct along){ .database = NULL };
    if (read_along)
        along.database = open_disk(work);
}

/* After a step. What fails since the disk died is of no interest. */
static void along_step(unsigned n)
{
    struct snapshot *held = &along.held[n % 2];

    if (along.database == NULL)
        return;
    snapshot_close(held);
    if (snapshot_open(along.database, held, ERROR) != VDBQ_OK)
        assert_true(disk.dead);
}

static void along_end(void)
{
    snapshot_close(&along.held[0]);
    snapshot_close(&along.held[1]);
    database_close(along.database);
}

/* Runs all of it on a good disk and keeps the states. Returns the steps that
 * the disk saw. */
static unsigned run_well(const struct workload *work)
{
    struct database *database;
    unsigned steps;

    start(work);
    database = open_disk(work);
    assert_non_null(database);
    along_start(work);
    states[0] = content(database);
    for (unsigned n = 0; n < work->steps; n++) {
        if (do_step(database, work, n) != VDBQ_OK)
            fail_msg("%s: %s", work->name, ERROR->message);
        states[n + 1] = content(database);
        along_step(n);
    }
    along_end();
    database_close(database);
    steps = disk.steps;
    database = open_disk(work);
    free(states[work->steps]);
    states[work->steps] = content(database);
    database_close(database);
    return steps;
}

static void forget_states(const struct workload *work)
{
    for (unsigned n = 0; n <= work->steps; n++)
        memory_release(states[n]);
}

/* Runs until the disk dies; how many steps were acknowledged, -1: not even
 * the creation. */
static int run_until_death(const struct workload *work)
{
    struct database *database = open_disk(work);
    int done = 0;

    if (database == NULL)
        return -1;
    along_start(work);
    while ((unsigned)done < work->steps
           && do_step(database, work, (unsigned)done) == VDBQ_OK)
        along_step((unsigned)done++);
    along_end();
    database_close(database);
    return done;
}

/* The database is in the state after `done` steps or, where one more had
 * begun, after that; which one. */
static unsigned assert_state(struct database *database,
                             const struct workload *work, int done)
{
    char *found = content(database);
    unsigned first = done < 0 ? 0 : (unsigned)done;
    unsigned state = first;

    if (done >= 0 && first < work->steps && strcmp(found, states[first]) != 0)
        state = first + 1;
    if (strcmp(found, states[state]) != 0)
        fail_msg("%s: after %d steps there is\n%s\nexpected\n%s", work->name,
                 done, found, states[first]);
    memory_release(found);
    return state;
}

/* ---------------------------------------------------------- power cut -- */

/* The disk as it is now, so that pictures can be tried on it. */
struct saved_disk {
    struct disk disk;
};

static struct saved_disk save_disk(void)
{
    struct saved_disk saved = { disk };

    memset(&disk, 0, sizeof disk);
    return saved;
}

static void restore_disk(const struct saved_disk *saved)
{
    disk_end();
    disk = saved->disk;
}

/* Opens a picture of a disk and goes on from there to the end. */
static void try_picture(const struct disk_picture *image,
                        const struct workload *work, int done)
{
    struct saved_disk saved = save_disk();
    struct database *database;
    unsigned state;

    disk_start(image->bytes, image->size);
    database = open_disk(work);
    if (database == NULL)
        fail_msg("%s: after %d steps: %s", work->name, done, ERROR->message);
    if (!image->torn)
        assert_string_equal(database_warning(database), "");
    state = assert_state(database, work, done);
    for (unsigned n = state; n < work->steps; n++)
        assert_int_equal(do_step(database, work, n), VDBQ_OK);
    assert_int_equal(assert_state(database, work, (int)work->steps),
                     work->steps);
    database_close(database);
    restore_disk(&saved);
}

/* Cuts the power at every step of all workloads, and says how many pictures
 * there were. */
static unsigned cut_anywhere(unsigned images)
{
    unsigned tried = 0;

    for (unsigned w = 0; w < WORKLOADS; w++) {
        const struct workload *work = &workloads[w];
        unsigned steps = run_well(work);
        for (unsigned cut = 1; cut <= steps; cut++) {
            start(work);
            disk.cut_at = cut;
            int done = run_until_death(work);
            for (unsigned i = 0; i < images; i++, tried++) {
                struct disk_picture image = disk_picture();
                try_picture(&image, work, done);
                free(image.bytes);
            }
        }
        forget_states(work);
    }
    disk_end();
    return tried;
}

static void power_may_be_cut_anywhere(void **state)
{
    unsigned images = environment_number("VDBQ_TEST_IMAGES", 10);

    (void)state;
    printf("%u pictures of the disk\n", cut_anywhere(images));
}

/* Space of states in between is used again. */
static void power_may_be_cut_while_others_read(void **state)
{
    unsigned images = environment_number("VDBQ_TEST_IMAGES", 10);

    (void)state;
    read_along = true;
    printf("%u pictures of the disk\n", cut_anywhere((images + 1) / 2));
    read_along = false;
}

/* --------------------------------------------------------------- kill -- */

/* A process is killed, what it had not synced is still in the cache, the
 * next one goes on and then the power is cut. */
static void kill_then_cut(const struct workload *work, unsigned kill_at,
                          unsigned cut_after)
{
    struct database *database;
    unsigned state;
    int done;

    start(work);
    disk.cut_at = kill_at;
    done = run_until_death(work);
    disk.dead = false;
    disk.cut_at = 0;
    database = open_disk(work);
    if (database == NULL)
        fail_msg("%s: killed at %u: %s", work->name, kill_at, ERROR->message);
    assert_string_equal(database_warning(database), "");
    state = assert_state(database, work, done);
    disk.cut_at = disk.steps + cut_after;
    while (state < work->steps && do_step(database, work, state) == VDBQ_OK) {
        state++;
        done = (int)state;
    }
    database_close(database);
    for (unsigned i = 0; i < 2; i++) {
        struct disk_picture image = disk_picture();
        struct saved_disk saved = save_disk();
        disk_start(image.bytes, image.size);
        database = open_disk(work);
        if (database == NULL)
            fail_msg("%s: killed at %u, cut at %u: %s", work->name, kill_at,
                     cut_after, ERROR->message);
        /* What the killed one wrote is durable or gone, what the next one
         * acknowledged is there. */
        char *found = content(database);
        bool known = false;
        for (int n = done < 0 ? 0 : done; n <= (int)state + 1; n++)
            known |= n <= (int)work->steps && strcmp(found, states[n]) == 0;
        if (!known)
            fail_msg("%s: killed at %u, cut at %u: an unknown state\n%s",
                     work->name, kill_at, cut_after, found);
        memory_release(found);
        database_close(database);
        free(image.bytes);
        restore_disk(&saved);
    }
}

static void a_killed_writer_and_a_power_cut(void **state)
{
    (void)state;
    for (unsigned w = 0; w < WORKLOADS; w++) {
        const struct workload *work = &workloads[w];
        unsigned steps = run_well(work);
        for (unsigned kill = 1; kill <= steps; kill++)
            for (unsigned cut = 1; cut <= 9; cut++)
                kill_then_cut(work, kill, cut);
        forget_states(work);
    }
    disk_end();
}

/* ------------------------------------------------------------- faults -- */

struct fault {
    unsigned calls;
    int code;
    bool on; /* all after the first, too */
};

/* The step failed: nothing has changed; then it works, after opening again
 * where that is asked for. `sure`: the disk failed only once. */
static struct database *after_fault(struct database *database,
                                    const struct workload *work, unsigned n,
                                    bool sure)
{
    bool poisoned = strstr(ERROR->message, "did not confirm") != NULL;
    struct error first = *ERROR;
    enum vdbq_status status;
    unsigned state;

    assert_true(first.status == VDBQ_IO || first.status == VDBQ_NO_MEMORY);
    state = assert_state(database, work, (int)n);
    if (sure)
        assert_int_equal(state, n);
    status = state > n ? VDBQ_OK : do_step(database, work, n);
    if (status == VDBQ_OK && !poisoned)
        return database;
    if (status != VDBQ_OK) {
        assert_int_equal(status, VDBQ_IO);
        assert_string_not_equal(ERROR->hint, "");
    }
    database_close(database);
    database = open_disk(work);
    assert_non_null(database);
    if (sure)
        assert_string_equal(database_warning(database), "");
    if (assert_state(database, work, (int)n) == n)
        assert_int_equal(do_step(database, work, n), VDBQ_OK);
    return database;
}

/* Runs with a fault at the n-th call; false: it was never reached. */
static bool run_with_fault(const struct workload *work,
                           const struct fault *fault, unsigned at)
{
    struct database *database;
    bool reached = false;

    start(work);
    disk.fail_calls = fault->calls;
    disk.fail_code = fault->code;
    disk.fail_on = fault->on;
    disk.fail_at = at;
    database = open_disk(work);
    if (database == NULL) {
        assert_int_equal(ERROR->status, VDBQ_IO);
        reached = true;
        disk.fail_at = 0;
        database = open_disk(work);
        assert_non_null(database);
    }
    for (unsigned n = 0; n < work->steps; n++) {
        enum vdbq_status status = do_step(database, work, n);
        if (status == VDBQ_OK)
            continue;
        assert_false(reached);
        reached = true;
        disk.fail_at = 0;
        database = after_fault(database, work, n, !fault->on);
    }
    disk.fail_at = 0;
    assert_int_equal(assert_state(database, work, (int)work->steps),
                     work->steps);
    database_close(database);
    return reached;
}

static void calls_may_fail(void **state)
{
    static const struct fault faults[] = { { DISK_READ, EIO, false },
                                           { DISK_READ, EIO, true },
                                           { DISK_WRITE, EIO, false },
                                           { DISK_WRITE, EIO, true },
                                           { DISK_WRITE, ENOSPC, false },
                                           { DISK_WRITE, ENOSPC, true },
                                           { DISK_SYNC, EIO, false },
                                           { DISK_SYNC, EIO, true },
                                           { DISK_WRITE | DISK_SYNC, EIO,
                                             true } };

    (void)state;
    for (unsigned w = 0; w < WORKLOADS; w++) {
        run_well(&workloads[w]);
        for (unsigned f = 0; f < sizeof faults / sizeof *faults; f++) {
            unsigned at = 1;
            while (run_with_fault(&workloads[w], &faults[f], at))
                at++;
            assert_true(at > 2);
        }
        forget_states(&workloads[w]);
    }
    disk_end();
}

/* A failed sync poisons: nothing is written until it is opened again. */
static void a_failed_sync_poisons(void **state)
{
    const struct workload *work = &workloads[1];
    struct database *database;
    struct transaction *transaction;
    unsigned writes;

    (void)state;
    disk_start(NULL, 0);
    database = open_disk(work);
    assert_int_equal(do_step(database, work, 0), VDBQ_OK);
    disk.fail_calls = DISK_SYNC;
    disk.fail_code = EIO;
    disk.fail_at = 1;
    assert_int_equal(do_step(database, work, 1), VDBQ_IO);
    writes = disk.writes;
    disk.fail_at = 0;
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_IO);
    assert_null(transaction);
    assert_string_equal(ERROR->hint, "close the database and open it again");
    assert_int_equal(disk.writes, writes);
    database_close(database);
    database = open_disk(work);
    assert_int_equal(do_step(database, work, 1), VDBQ_OK);
    database_close(database);
    disk_end();
}

/* ------------------------------------------------------------- memory -- */

/* Has the n-th allocation fail, and (`on`) those after it; 0: none. */
static void let_fail(unsigned at, bool on)
{
    if (at == 0)
        memory_fail_never();
    else if (on)
        memory_fail_after(at - 1);
    else
        memory_fail_once_after(at - 1);
}

/* Reads a little, too. */
static enum vdbq_status look(struct database *database)
{
    struct snapshot snapshot;
    enum vdbq_status status = snapshot_open(database, &snapshot, ERROR);

    if (status == VDBQ_OK)
        snapshot_close(&snapshot);
    return status;
}

/* Runs with the n-th allocation of each step failing. */
static bool run_without_memory(const struct workload *work, unsigned at,
                               bool on)
{
    struct database *database;
    bool reached = false;

    start(work);
    let_fail(at, on);
    database = open_disk(work);
    reached = database == NULL;
    if (reached)
        assert_int_equal(ERROR->status, VDBQ_NO_MEMORY);
    let_fail(0, false);
    if (database == NULL)
        database = open_disk(work);
    assert_non_null(database);
    for (unsigned n = 0; n < work->steps; n++) {
        enum vdbq_status status, seen;
        let_fail(at, on);
        seen = look(database);
        status = do_step(database, work, n);
        reached |= memory_has_failed();
        let_fail(0, false);
        assert_true(seen == VDBQ_OK || seen == VDBQ_NO_MEMORY);
        if (status == VDBQ_OK)
            continue;
        assert_int_equal(status, VDBQ_NO_MEMORY);
        assert_int_equal(assert_state(database, work, (int)n), n);
        assert_int_equal(do_step(database, work, n), VDBQ_OK);
    }
    assert_int_equal(assert_state(database, work, (int)work->steps),
                     work->steps);
    database_close(database);
    return reached;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (unsigned w = 0; w < WORKLOADS; w++) {
        run_well(&workloads[w]);
        for (unsigned on = 0; on < 2; on++) {
            unsigned at = 1;
            while (run_without_memory(&workloads[w], at, on != 0))
                at++;
            assert_true(at > 10);
        }
        forget_states(&workloads[w]);
    }
    disk_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_may_be_cut_anywhere),
        cmocka_unit_test(power_may_be_cut_while_others_read),
        cmocka_unit_test(a_killed_writer_and_a_power_cut),
        cmocka_unit_test(calls_may_fail),
        cmocka_unit_test(a_failed_sync_poisons),
        cmocka_unit_test(memory_may_run_out),
    };

    chance_start();
    return cmocka_run_group_tests(tests, read_first_format,
                                  forget_first_format);
}
