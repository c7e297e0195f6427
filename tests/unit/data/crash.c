/* SPDX-License-Identifier: MIT */
/*
 * Whatever happens to the disk, the program or the memory in the middle of a
 * transaction: what was acknowledged is there, what was not is there as a
 * whole or not at all, and the database opens and can be written again. That is so
 * of one file and of part files.
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
#include "data/check/check.h"
#include "data/database/database.h"
#include "fixtures/chance.h"
#include "fixtures/crash/folders.h"
#include "fixtures/crash/workloads.h"
#include "fixtures/disk.h"
#include "fixtures/failing_memory.h"
#include "fixtures/files.h"
#include "fixtures/sample_tables.h"

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

/* How the database lies in part files, if it does. */
static enum folder_layout layout;

static int one_file(void **state)
{
    (void)state;
    folder_forget();
    layout = FOLDER_NONE;
    return 0;
}

static int by_runs(void **state)
{
    (void)state;
    layout = FOLDER_RUNS;
    return 0;
}

static int by_hash(void **state)
{
    (void)state;
    layout = FOLDER_HASH;
    return 0;
}

static int whole_in_each(void **state)
{
    (void)state;
    layout = FOLDER_WHOLE;
    return 0;
}

/* The first step of a workload that is done on the disk. */
static unsigned first_of(const struct workload *work)
{
    return folder_first(work, layout);
}

/* The disk as it is before the workload. */
static void start(const struct workload *work)
{
    if (layout != FOLDER_NONE)
        folder_start(work, layout, first_format.bytes, first_format.length);
    else if (work->upgrades)
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
    struct database_params params = layout == FOLDER_NONE
                                        ? params_on_disk(work->tablet_rows)
                                        : params_in_folder(work->tablet_rows);
    struct database *database = NULL;

    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        return NULL;
    database_use_computer(database, compute_sample_keys, NULL);
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
    states[first_of(work)] = content(database);
    for (unsigned n = first_of(work); n < work->steps; n++) {
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
    for (unsigned n = first_of(work); n <= work->steps; n++)
        memory_release(states[n]);
}

/* Runs until the disk dies; how many steps were acknowledged, -1: not even
 * the creation. */
static int run_until_death(const struct workload *work)
{
    struct database *database = open_disk(work);
    int done = (int)first_of(work);

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

/* All that the state leads to is as it should be. */
static void assert_sound(struct database *database)
{
    struct vector faults = VECTOR(struct text);
    struct snapshot snapshot;

    if (snapshot_open(database, &snapshot, ERROR) != VDBQ_OK
        || check_snapshot(&snapshot, &faults, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    if (faults.count > 0)
        fail_msg("%s", VECTOR_ITEMS(&faults, struct text)[0].bytes);
    vector_finish(&faults);
    snapshot_close(&snapshot);
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
    assert_sound(database);
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
    for (unsigned n = first_of(work); n < work->steps; n++) {
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
        /* A sample that cannot be read is lost to who opens the database then; a
         * new file has none to be lost. */
        for (unsigned f = layout == FOLDER_NONE ? 0 : 2;
             f < sizeof faults / sizeof *faults; f++) {
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

/* ------------------------------------------------------- several writers -- */

/* Two connections write in turn. Syncs of one fail, and it stays open; the other
 * goes on alone until the power is cut. */
struct in_turn {
    struct database *writers[2];
    bool one_left;
    unsigned who, done; /* the one that writes next; steps */
};

/* Whether the next step was done, by whom it was due or who is left. */
static bool step_in_turn(struct in_turn *turn, const struct workload *work)
{
    enum vdbq_status status =
        do_step(turn->writers[turn->who], work, turn->done);

    if (status != VDBQ_OK && !disk.dead && !turn->one_left) {
        turn->one_left = true;
        turn->who = 1 - turn->who;
        disk.fail_at = 0;
        return true;
    }
    if (status != VDBQ_OK)
        return false;
    turn->done++;
    if (!turn->one_left)
        turn->who = 1 - turn->who;
    return true;
}

/* False: so many syncs there were not. */
static bool fail_in_turn(const struct workload *work, unsigned fail_at,
                         unsigned cut_after)
{
    struct in_turn turn = { .done = first_of(work) };
    bool failed;

    start(work);
    for (unsigned i = 0; i < 2; i++) {
        turn.writers[i] = open_disk(work);
        assert_non_null(turn.writers[i]);
    }
    disk.fail_calls = DISK_SYNC;
    disk.fail_code = EIO;
    disk.fail_at = fail_at;
    disk.fail_on = true;
    while (turn.done < work->steps && !turn.one_left)
        step_in_turn(&turn, work);
    failed = turn.one_left;
    disk.cut_at = failed ? disk.steps + cut_after : 0;
    while (turn.done < work->steps && step_in_turn(&turn, work))
        ;
    if (failed) {
        struct disk_picture image = disk_picture();
        try_picture(&image, work, (int)turn.done);
        free(image.bytes);
    }
    database_close(turn.writers[0]);
    database_close(turn.writers[1]);
    return failed;
}

static void a_sync_of_one_writer_of_two_may_fail(void **state)
{
    (void)state;
    for (unsigned w = 0; w < WORKLOADS; w++) {
        const struct workload *work = &workloads[w];
        run_well(work);
        for (unsigned cut = 1; cut <= 9; cut += FEWER) {
            unsigned at = 1;
            while (fail_in_turn(work, at, cut))
                at++;
            assert_true(at > 2);
        }
        forget_states(work);
    }
    disk_end();
}

/* A commit on top of another connection's takes no more syncs than one on top of
 * one's own, as long as that one is there to tell that its own is durable. */
static void syncs_are_not_done_again(void **state)
{
    const struct workload *work = &workloads[1];
    struct database *writers[2];
    unsigned syncs;

    (void)state;
    disk_start(NULL, 0);
    writers[0] = open_disk(work);
    writers[1] = open_disk(work);
    assert_int_equal(do_step(writers[0], work, 0), VDBQ_OK);
    for (unsigned n = 1; n < 6; n++) {
        syncs = disk.syncs;
        assert_int_equal(do_step(writers[n % 2], work, n), VDBQ_OK);
        assert_int_equal(disk.syncs - syncs, 2);
    }
    database_close(writers[1]);
    syncs = disk.syncs;
    assert_int_equal(do_step(writers[0], work, 6), VDBQ_OK);
    assert_int_equal(disk.syncs - syncs, 3);
    database_close(writers[0]);
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
    for (unsigned n = first_of(work); n < work->steps; n++) {
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
                at += layout == FOLDER_NONE ? 1 : 5;
            assert_true(at > 10);
        }
        forget_states(&workloads[w]);
    }
    disk_end();
}

/* A test of part files. */
#define IN_PARTS(test, how)                                                    \
    {                                                                          \
#test " " #how, test, how, one_file, NULL                              \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PARTS(power_may_be_cut_anywhere, by_runs),
        IN_PARTS(power_may_be_cut_anywhere, by_hash),
        IN_PARTS(power_may_be_cut_anywhere, whole_in_each),
        IN_PARTS(power_may_be_cut_while_others_read, by_hash),
        IN_PARTS(a_killed_writer_and_a_power_cut, by_hash),
        IN_PARTS(calls_may_fail, by_runs),
        IN_PARTS(a_sync_of_one_writer_of_two_may_fail, by_hash),
        IN_PARTS(memory_may_run_out, by_hash),
        cmocka_unit_test(power_may_be_cut_anywhere),
        cmocka_unit_test(power_may_be_cut_while_others_read),
        cmocka_unit_test(a_killed_writer_and_a_power_cut),
        cmocka_unit_test(calls_may_fail),
        cmocka_unit_test(a_failed_sync_poisons),
        cmocka_unit_test(a_sync_of_one_writer_of_two_may_fail),
        cmocka_unit_test(syncs_are_not_done_again),
        cmocka_unit_test(memory_may_run_out),
    };

    chance_start();
    return cmocka_run_group_tests(tests, read_first_format,
                                  forget_first_format);
}
