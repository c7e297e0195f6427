/* SPDX-License-Identifier: MIT */
/*
 * Readers that overlap, of many connections, while others write, are killed,
 * and come in between any two calls to the system: a snapshot stays as it is,
 * what is committed is there, and the file has room for what is read, but
 * does not grow on.
 *
 * VDBQ_TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "data/file/file.h"
#include "data/tablet/block.h"
#include "data/database/database.h"
#include "fixtures/chance.h"
#include "fixtures/disk.h"
#include "fixtures/sample_tables.h"

enum {
    TABLET_ROWS = 40,
    TABLES = 3,
    CONNECTIONS = 6, /* of which the last one comes in between others' calls */
    INTRUDER = CONNECTIONS - 1,
    HELD_MAX = 3, /* snapshots, by each */
    STEPS = 400,
    ROWS_MAX = 200,
    /* One state, with its catalogue: as much as three tables of that size. */
    STATE_BYTES = TABLES * (ROWS_MAX * 48 + 8 * 4096) + 4 * 4096
};

/* ------------------------------------------------------------ the model -- */

/* A table of a state: its rows follow from these. */
struct content {
    unsigned number; /* in its name */
    uint32_t rows;
    int salt;
};

/* A state, its tables in the order in which they were made. */
struct state {
    struct content tables[TABLES];
    unsigned count;
};

static struct state *states; /* all that were committed, the newest last */
static size_t state_count;
static const struct state *pending; /* that is being committed, or NULL */

static void name_table(char name[8], unsigned number)
{
    snprintf(name, 8, "t%u", number);
}

/* The state in which a table was made anew. */
static struct state after(const struct state *before, struct content made)
{
    struct state state = { .count = 0 };

    for (unsigned i = 0; i < before->count; i++)
        if (before->tables[i].number != made.number)
            state.tables[state.count++] = before->tables[i];
    state.tables[state.count++] = made;
    return state;
}

static void commit_state(const struct state *state)
{
    states = realloc(states, (state_count + 1) * sizeof *states);
    states[state_count++] = *state;
}

static enum vdbq_status make_table(struct transaction *transaction,
                                   const struct content *made)
{
    const struct table *old;
    enum vdbq_status status = VDBQ_OK;
    char name[8];

    name_table(name, made->number);
    old = catalogue_table(transaction_catalogue(transaction), name);
    if (old != NULL)
        status = transaction_drop_table(transaction, old->id, ERROR);
    if (status == VDBQ_OK)
        status = create_sample_table(transaction, name, true);
    return status == VDBQ_OK ? append_sample_rows(transaction, name, 1,
                                                  made->rows, made->salt)
                             : status;
}

static char *print(const struct snapshot *snapshot)
{
    struct text text = { 0 };

    if (print_snapshot(snapshot, &text) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return text.bytes;
}

/* What a snapshot of a state prints, made elsewhere. */
static char *expect(const struct state *state)
{
    struct database_params params = params_on_disk(TABLET_ROWS);
    struct transaction *transaction;
    struct database *database;
    struct snapshot snapshot;
    char *text;

    params.files = &os_memory_files;
    assert_int_equal(database_open(&params, &database, ERROR), VDBQ_OK);
    assert_int_equal(transaction_begin(database, &transaction, ERROR), VDBQ_OK);
    for (unsigned i = 0; i < state->count; i++)
        assert_int_equal(make_table(transaction, &state->tables[i]), VDBQ_OK);
    assert_int_equal(transaction_commit(transaction, ERROR), VDBQ_OK);
    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    text = print(&snapshot);
    snapshot_close(&snapshot);
    database_close(database);
    return text;
}

/* ------------------------------------------------------ the connections -- */

struct held {
    struct snapshot snapshot;
    char *text; /* NULL: it is not open */
};

static struct connection {
    struct database *database; /* NULL: it is closed */
    struct held held[HELD_MAX];
} connections[CONNECTIONS];

static struct os_file_calls crossed; /* as disk_calls, where others come in */
static bool inside;                  /* one of them is */
static unsigned intrusions;

static struct database *connect(void)
{
    struct database_params params = params_on_disk(TABLET_ROWS);
    struct database *database;

    params.files = &crossed;
    if (database_open(&params, &database, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    return database;
}

static struct content draw_content(void)
{
    static int salt;

    return (struct content){ .number = (unsigned)chance_below(TABLES),
                             .rows = 1 + (uint32_t)chance_below(ROWS_MAX),
                             .salt = ++salt };
}

/* Commits, and notes the state: others may read it before it is noted. */
static enum vdbq_status finish(struct transaction *transaction,
                               const struct state *next)
{
    enum vdbq_status status;

    assert_null(pending);
    pending = next;
    status = transaction_commit(transaction, ERROR);
    pending = NULL;
    if (status == VDBQ_OK)
        commit_state(next);
    return status;
}

/* Commits a table that is made anew. Fails with BUSY while another writes, and
 * as the disk does. */
static enum vdbq_status commit(struct database *database)
{
    struct content made = draw_content();
    struct transaction *transaction;
    enum vdbq_status status = transaction_begin(database, &transaction, ERROR);
    struct state next;

    if (status != VDBQ_OK)
        return status;
    next = after(&states[state_count - 1], made);
    status = make_table(transaction, &made);
    if (status != VDBQ_OK) {
        transaction_abort(transaction);
        return status;
    }
    return finish(transaction, &next);
}

/* -------------------------------------------------------------- reading -- */

static void assert_unchanged(const struct held *held)
{
    char *now = print(&held->snapshot);

    assert_string_equal(now, held->text);
    memory_release(now);
}

/* Whether that is what a snapshot of a state prints. */
static bool prints(const struct state *state, const char *text)
{
    char *expected = expect(state);
    bool same = strcmp(expected, text) == 0;

    memory_release(expected);
    return same;
}

/* Opens a snapshot: it is of a state that was the newest meanwhile. */
static void hold(struct database *database, struct held *held)
{
    size_t first = state_count - 1;
    bool found = false;

    if (snapshot_open(database, &held->snapshot, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    held->text = print(&held->snapshot);
    for (size_t i = first; i < state_count && !found; i++)
        found = prints(&states[i], held->text);
    assert_true(found || (pending != NULL && prints(pending, held->text)));
}

static void let_go(struct held *held)
{
    if (held->text == NULL)
        return;
    assert_unchanged(held);
    snapshot_close(&held->snapshot);
    memory_release(held->text);
    held->text = NULL;
}

/* ---------------------------------------------------------- in between -- */

/* Between two calls of another connection. */
static void intrude(void)
{
    struct connection *connection = &connections[INTRUDER];
    struct held *held = &connection->held[chance_below(HELD_MAX)];
    struct error before = *ERROR;
    enum vdbq_status status = VDBQ_OK;

    if (inside || disk.dead || connection->database == NULL
        || chance_below(12) != 0)
        return;
    inside = true;
    if (chance_below(3) == 0 && held->text == NULL)
        hold(connection->database, held);
    else if (chance_below(3) == 0)
        let_go(held);
    else if (pending == NULL)
        status = commit(connection->database);
    if (status != VDBQ_OK && status != VDBQ_BUSY)
        fail_msg("%s", ERROR->message);
    intrusions += status == VDBQ_OK;
    *ERROR = before;
    inside = false;
}

static int crossed_read(struct os_file *file, void *bytes, size_t size,
                        uint64_t offset)
{
    intrude();
    return disk_calls.read(file, bytes, size, offset);
}

static int crossed_mark(struct os_file *file, uint64_t mark)
{
    int failure;

    intrude();
    failure = disk_calls.mark(file, mark);
    intrude();
    return failure;
}

static int crossed_marked(struct os_file *file, uint64_t first, uint64_t end,
                          uint64_t *mark)
{
    int failure = disk_calls.marked(file, first, end, mark);

    intrude();
    return failure;
}

/* Who looks whether anybody has byte 1 has it for himself for a moment, and readers
 * wait for that: nobody comes in between. */
static int crossed_lock(struct os_file *file, unsigned byte,
                        enum os_lock_kind kind)
{
    int failure = disk_calls.lock(file, byte, kind);

    if (byte != 1 || kind != OS_LOCK_EXCLUSIVE)
        intrude();
    return failure;
}

static void disconnect(struct connection *connection)
{
    for (unsigned i = 0; i < HELD_MAX; i++)
        let_go(&connection->held[i]);
    database_close(connection->database);
    connection->database = NULL;
}

/* --------------------------------------------------------------- writing -- */

/* A transaction that is read and given up, or goes on to the end; a snapshot
 * of what it had made stays. */
static void write_and_read(struct connection *connection, struct held *held)
{
    struct content made = draw_content(), more = draw_content();
    struct state next;
    struct transaction *transaction;

    if (transaction_begin(connection->database, &transaction, ERROR) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
    next = after(&states[state_count - 1], made);
    assert_int_equal(make_table(transaction, &made), VDBQ_OK);
    if (held->text == NULL) {
        assert_int_equal(
            transaction_snapshot(transaction, &held->snapshot, ERROR), VDBQ_OK);
        held->text = print(&held->snapshot);
    }
    next = after(&next, more);
    assert_int_equal(make_table(transaction, &more), VDBQ_OK);
    if (chance_below(2) == 0) {
        transaction_abort(transaction);
        return;
    }
    if (finish(transaction, &next) != VDBQ_OK)
        fail_msg("%s", ERROR->message);
}

/* Whether the newest state is that one. */
static bool is_newest(struct database *database, const struct state *state)
{
    struct snapshot snapshot;
    char *now;
    bool same;

    assert_int_equal(snapshot_open(database, &snapshot, ERROR), VDBQ_OK);
    now = print(&snapshot);
    same = prints(state, now);
    snapshot_close(&snapshot);
    memory_release(now);
    return same;
}

/* A writer is killed between two calls; what it has written may be the newest
 * state, though nobody was told. */
static void be_killed(void)
{
    struct content made = draw_content();
    struct state next = after(&states[state_count - 1], made);
    struct transaction *transaction;
    struct database *database;

    inside = true; /* nobody comes in between */
    database = connect();
    disk.cut_at = disk.steps + 1 + (unsigned)chance_below(8);
    if (transaction_begin(database, &transaction, ERROR) == VDBQ_OK) {
        if (make_table(transaction, &made) == VDBQ_OK)
            transaction_commit(transaction, ERROR);
        else
            transaction_abort(transaction);
    }
    disk.dead = false;
    disk.cut_at = 0;
    database_close(database);
    database = connect();
    if (!is_newest(database, &states[state_count - 1])) {
        assert_true(is_newest(database, &next));
        commit_state(&next);
    }
    database_close(database);
    inside = false;
}

/* ------------------------------------------------------------- the tests -- */

static void do_something(void)
{
    struct connection *connection = &connections[chance_below(INTRUDER)];
    struct held *held = &connection->held[chance_below(HELD_MAX)];
    unsigned what = (unsigned)chance_below(12);
    enum vdbq_status status = VDBQ_OK;

    if (connection->database == NULL)
        connection->database = connect();
    if (what < 4 && held->text == NULL)
        hold(connection->database, held);
    else if (what < 5)
        let_go(held);
    else if (what < 9)
        status = commit(connection->database);
    else if (what < 10)
        write_and_read(connection, held);
    else if (what < 11)
        disconnect(connection);
    else
        be_killed();
    if (status != VDBQ_OK)
        fail_msg("%s", ERROR->message);
}

static int start(void **state)
{
    static const struct state empty;

    (void)state;
    crossed = disk_calls;
    crossed.read = crossed_read;
    crossed.mark = crossed_mark;
    crossed.marked = crossed_marked;
    crossed.lock = crossed_lock;
    disk_start(NULL, 0);
    state_count = 0;
    commit_state(&empty);
    inside = false;
    connections[INTRUDER].database = connect();
    return 0;
}

static int end(void **state)
{
    (void)state;
    inside = true;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        disconnect(&connections[i]);
    disk_end();
    return 0;
}

/* Whatever comes in between: no snapshot changes, and none is missing. */
static void snapshots_stay_whatever_comes_in_between(void **state)
{
    size_t most = 0;

    for (unsigned round = 0; round < fewer(8); round++) {
        for (unsigned i = 0; i < STEPS; i++) {
            do_something();
            most = disk.size > most ? disk.size : most;
        }
        inside = true;
        assert_true(is_newest(connections[INTRUDER].database,
                              &states[state_count - 1]));
        end(state);
        start(state);
    }
    printf("%u came in between; the file had up to %zu KiB\n", intrusions,
           most / 1024);
    assert_true(intrusions > 0);
}

/* Readers of all ages, none of them for long: what they do not read is used
 * again. The writer may be another one each time. */
static void readers_that_overlap_let_space_be_used(void **state)
{
    struct held held[4] = { { .text = NULL } };
    enum { READ = 5, MOST = READ + 4 };

    (void)state;
    inside = true;
    for (unsigned i = 0; i < INTRUDER; i++)
        connections[i].database = connect();
    for (unsigned i = 0; i < fewer(600); i++) {
        struct held *next = &held[i % 4];
        let_go(next);
        hold(connections[i % INTRUDER].database, next);
        for (unsigned k = 0; k < 3; k++)
            assert_int_equal(
                commit(connections[chance_below(INTRUDER)].database), VDBQ_OK);
        if (disk.size > MOST * STATE_BYTES)
            fail_msg("%u: the file has %zu bytes", i, disk.size);
        if (i % 50 == 0) { /* writers that know nothing of what was before */
            struct connection *other = &connections[(i + 2) % INTRUDER];
            for (unsigned k = 0; k < 4; k++)
                if (held[k].snapshot.database == other->database)
                    let_go(&held[k]);
            disconnect(other);
            other->database = connect();
        }
    }
    for (unsigned i = 0; i < 4; i++)
        let_go(&held[i]);
}

/* Takes the list of what is read from all heads, as one that is damaged. */
static void forget_list(void)
{
    const struct file_head *first = (struct file_head *)disk.bytes;
    uint64_t pages[] = { 0, PAGE_BYTES, first->copies,
                         first->copies + PAGE_BYTES };

    for (unsigned i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct file_head *head = (struct file_head *)(disk.bytes + pages[i]);
        head->features &= ~FILE_STATES;
        head->checksum_all =
            block_checksum(head, offsetof(struct file_head, checksum_all));
    }
}

/* Who does not find a state that is read writes behind the end. */
static void a_state_that_nobody_finds_keeps_all_space(void **state)
{
    struct held held = { .text = NULL };
    struct database *writer;
    size_t size;

    (void)state;
    inside = true;
    connections[0].database = connect();
    assert_int_equal(commit(connections[0].database), VDBQ_OK);
    hold(connections[0].database, &held);
    for (unsigned i = 0; i < 20; i++) {
        size = disk.size;
        forget_list();
        writer = connect();
        assert_int_equal(commit(writer), VDBQ_OK);
        database_close(writer);
    }
    assert_true(disk.size > size);
    let_go(&held);
    size = disk.size;
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(commit(connections[0].database), VDBQ_OK);
    assert_true(disk.size <= size);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(snapshots_stay_whatever_comes_in_between),
        TEST(readers_that_overlap_let_space_be_used),
        TEST(a_state_that_nobody_finds_keeps_all_space),
    };

    chance_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
