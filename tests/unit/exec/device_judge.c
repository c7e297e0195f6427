/* SPDX-License-Identifier: MIT */
/*
 * Joining with a condition on a device: every kind, with and without keys,
 * duplicates, NULLs, empty sides, left rows that come in parts, rounds of any size,
 * and pairs for which the condition fails, against comparing each row with each; and
 * IN as a value. The variable VDBQ_TEST_DEVICE names another device than "cpu".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "exec/device_join/device_join.h"
#include "fixtures/failing_memory.h"
#include "fixtures/random_rows.h"
#include "fixtures/two_tables.h"

enum { COLUMNS = 2, ROWS_MAX = 400, NO_ROW = -1 };

/* Rows of one side: k may be NULL, v is asked by the condition. */
struct rows {
    uint32_t count;
    int32_t k[ROWS_MAX];
    uint8_t null[ROWS_MAX];
    int64_t v[ROWS_MAX];
};

static const struct device_column columns[COLUMNS] = {
    { .type = VDBQ_INTEGER, .nullable = true }, { .type = VDBQ_BIGINT }
};
static const struct step_column pair_columns[2 * COLUMNS] = {
    { .name = "k", .type = VDBQ_INTEGER },
    { .name = "v", .type = VDBQ_BIGINT },
    { .name = "k", .type = VDBQ_INTEGER },
    { .name = "v", .type = VDBQ_BIGINT }
};

/* (l.v + r.v) % 3 = 0, where the sum fits. */
static const char condition_text[] = "Table 0 0 0 0 \"pairs\"\n"
                                     "ResultColumn 1 0 0 0 \"one\"\n"
                                     "Parallel 0 0 13\n"
                                     "Column.I64 0 1\n"
                                     "Column.I64 1 3\n"
                                     "AddChecked.I64 2 0 1\n"
                                     "Integer.I64 3 3\n"
                                     "Mod.I64 4 2 3\n"
                                     "Integer.I64 5 0\n"
                                     "Neq.I64 4 5 11 0\n"
                                     "Integer.I32 6 1\n"
                                     "Result 6 1\n"
                                     "Converge\n"
                                     "Finish\n";

static struct rows left, right;
static struct device *device;
static struct program program;
static struct error failure;

static void ok(enum vdbq_status status)
{
    expect_ok(status, &failure);
}

static void fill(struct rows *rows, uint32_t count, uint32_t keys)
{
    rows->count = count;
    for (uint32_t i = 0; i < count; i++) {
        rows->k[i] = (int32_t)random_below(keys);
        rows->null[i] = random_below(7) == 0;
        rows->v[i] = random_below(100);
    }
}

/* ---------------------------------------------------------------- naive -- */

/* The pairs that must come, in order; NO_ROW: NULLs, or no column. */
struct pairs {
    int32_t left[(ROWS_MAX + 1) * (ROWS_MAX + 1)];
    int32_t right[(ROWS_MAX + 1) * (ROWS_MAX + 1)];
    size_t count;
    bool fails; /* behind them */
};
static struct pairs pairs;

static void add_pair(int64_t a, int64_t b)
{
    pairs.left[pairs.count] = (int32_t)a;
    pairs.right[pairs.count++] = (int32_t)b;
}

static bool equal_keys(const struct step_join *step, uint32_t a, uint32_t b)
{
    return step->left_keys.count == 0
           || (!left.null[a] && !right.null[b] && left.k[a] == right.k[b]);
}

/* Adds what a left row gives, and marks its partners; false: a pair fails. */
static bool join_row(const struct step_join *step, uint32_t a, bool *marked)
{
    enum join_kind kind = step->kind;
    bool go_out = kind != JOIN_SEMI && kind != JOIN_ANTI, found = false;
    for (uint32_t b = 0; b < right.count; b++) {
        if (!equal_keys(step, a, b))
            continue;
        if (left.v[a] > INT64_MAX - right.v[b])
            return false;
        if ((left.v[a] + right.v[b]) % 3 != 0)
            continue;
        found = marked[b] = true;
        if (go_out)
            add_pair(a, b);
    }
    if (kind == JOIN_SEMI ? found
                          : !found && kind != JOIN_INNER && kind != JOIN_RIGHT)
        add_pair(a, NO_ROW);
    return true;
}

static void naive(const struct step_join *step)
{
    bool marked[ROWS_MAX] = { false };
    bool alone = step->kind == JOIN_RIGHT || step->kind == JOIN_FULL;
    pairs.count = 0;
    pairs.fails = false;
    for (uint32_t a = 0; a < left.count && !pairs.fails; a++)
        pairs.fails = !join_row(step, a, marked);
    for (uint32_t b = 0; b < right.count && alone && !pairs.fails; b++)
        if (!marked[b])
            add_pair(NO_ROW, b);
}

/* ---------------------------------------------------------------- check -- */

/* Compares a column of output rows with what they must be. */
static void check_column(const struct sink_rows *rows, unsigned number,
                         size_t first)
{
    const struct output *output = &rows->outputs[number];
    const struct rows *side = number >= COLUMNS ? &right : &left;
    const int32_t *from = number >= COLUMNS ? pairs.right : pairs.left;
    bool wide = number % COLUMNS == 1;
    struct device_times times = { 0 };
    int64_t *values = malloc(rows->count * sizeof *values);
    uint8_t *nulls = calloc(1, rows->count);
    ok(device_read(rows->memory, output->values, values,
                   rows->count * (wide ? 8 : 4), &times, &failure));
    if (output->null_register >= 0)
        ok(device_read(rows->memory, output->nulls, nulls, rows->count, &times,
                       &failure));
    for (uint64_t i = 0; i < rows->count; i++) {
        int32_t row = from[first + i];
        assert_int_equal(nulls[i],
                         row == NO_ROW || (!wide && side->null[row] != 0));
        if (nulls[i])
            continue;
        if (wide)
            assert_int_equal(values[i], side->v[row]);
        else
            assert_int_equal(((const int32_t *)values)[i], side->k[row]);
    }
    free(values);
    free(nulls);
}

/* Takes the output rows that are there; whether a pair fails behind them. */
static bool check_rounds(struct device_join *join, size_t *done)
{
    struct sink_rows rows = { .count = 1 };
    unsigned count;
    enum vdbq_status status = VDBQ_OK;
    device_join_columns(join, &count);
    while (rows.count > 0 && status == VDBQ_OK) {
        status = device_join_next(join, &rows, &failure);
        if (status == VDBQ_RANGE)
            return true;
        ok(status);
        assert_true(*done + rows.count <= pairs.count);
        for (unsigned i = 0; i < count && rows.count > 0; i++)
            check_column(&rows, i, *done);
        *done += rows.count;
    }
    return false;
}

/* Rows [at, at + count) of a side, as a row set over its memory. */
static struct row_set some_rows(struct rows *side, uint32_t at, uint32_t count,
                                struct row_set_column made[COLUMNS])
{
    made[0] = (struct row_set_column){ .type = VDBQ_INTEGER,
                                       .width = 4,
                                       .values = (uint8_t *)(side->k + at),
                                       .nulls = side->null + at };
    made[1] = (struct row_set_column){ .type = VDBQ_BIGINT,
                                       .width = 8,
                                       .values = (uint8_t *)(side->v + at) };
    return (struct row_set){ .rows = count,
                             .column_count = COLUMNS,
                             .columns = made };
}

/* What a join needs beside its rows. */
struct bench {
    struct settings settings;
    struct run_place place;
    struct stream_params stream;
    struct device_condition condition;
    struct device_join *join;
};

static enum vdbq_status bench_open(struct bench *bench,
                                   const struct step_join *step,
                                   uint64_t round_rows)
{
    static struct dictionary *const none[2 * COLUMNS];
    bool shares = device_facts(device)->shares_memory;
    *bench = (struct bench){ .place = { .device = device } };
    bench->place.settings = &bench->settings;
    bench->place.mode = shares ? MODE_MAPPED : MODE_CACHED;
    enum vdbq_status status = device_condition_init(
        &bench->condition,
        &(struct device_condition_params){ .stream = &bench->stream,
                                           .place = &bench->place,
                                           .program = &program,
                                           .dictionaries = none },
        &failure);
    if (status != VDBQ_OK)
        return status;
    return device_join_create(
        &(struct device_join_params){
            .step = step,
            .device = device,
            .left = columns,
            .right = columns,
            .left_count = COLUMNS,
            .right_count = COLUMNS,
            .left_dictionaries = none,
            .right_dictionaries = none,
            .mark_type = VDBQ_BOOLEAN,
            .condition = step->condition != NULL ? &bench->condition : NULL,
            .round_rows = round_rows },
        &bench->join, &failure);
}

static void bench_close(struct bench *bench)
{
    device_join_destroy(bench->join);
    device_condition_finish(&bench->condition);
}

/* Indexes the right rows. */
static enum vdbq_status take_right(struct bench *bench)
{
    struct row_set_column made[COLUMNS];
    struct row_set all = some_rows(&right, 0, right.count, made);
    enum vdbq_status status =
        device_store_fill(device_join_right(bench->join), &all, &failure);
    return status == VDBQ_OK ? device_join_index(bench->join, &failure)
                             : status;
}

/* Hands left rows [at, at + count) to the join. */
static enum vdbq_status take_left(struct bench *bench, uint32_t at,
                                  uint32_t count)
{
    struct row_set_column made[COLUMNS];
    struct row_set some = some_rows(&left, at, count, made);
    device_join_left(bench->join)->rows = 0;
    enum vdbq_status status =
        device_store_fill(device_join_left(bench->join), &some, &failure);
    return status == VDBQ_OK ? device_join_begin(bench->join, &failure)
                             : status;
}

/* Joins the two sides, the left rows in up to `parts` parts. */
static void check(const struct step_join *step, uint64_t round_rows,
                  uint32_t parts)
{
    struct bench bench;
    uint32_t share = (left.count + parts) / parts;
    bool failed = false;
    size_t done = 0;
    naive(step);
    ok(bench_open(&bench, step, round_rows));
    ok(take_right(&bench));
    for (uint32_t at = 0; at < left.count && !failed; at += share) {
        ok(take_left(&bench, at,
                     left.count - at < share ? left.count - at : share));
        failed = check_rounds(bench.join, &done);
    }
    if (!failed) {
        ok(device_join_end(bench.join, &failure));
        failed = check_rounds(bench.join, &done);
    }
    assert_int_equal(failed, pairs.fails);
    assert_int_equal(done, pairs.count);
    bench_close(&bench);
}

/* ---------------------------------------------------------------- tests -- */

static const enum join_kind kinds[] = { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT,
                                        JOIN_FULL,  JOIN_SEMI, JOIN_ANTI };

static struct step_join step_of(enum join_kind kind, bool keys)
{
    const int key = 0;
    struct step_join step = { .kind = kind,
                              .left_keys = VECTOR(int),
                              .right_keys = VECTOR(int),
                              .condition = &program };
    assert_true(!keys
                || (vector_append(&step.left_keys, &key, 1)
                    && vector_append(&step.right_keys, &key, 1)));
    return step;
}

static void step_finish(struct step_join *step)
{
    vector_finish(&step->left_keys);
    vector_finish(&step->right_keys);
}

/* Opens the device; tests skip where there is none. */
static int open_device(void **state)
{
    const char *name = getenv("VDBQ_TEST_DEVICE");
    struct device_params params = { .choice = name != NULL ? name : "cpu" };
    (void)state;
    if (device_open(&params, &device, &failure) != VDBQ_OK)
        device = NULL;
    program_init(&program);
    read_program(&program, condition_text, pair_columns, 2 * COLUMNS, NULL);
    ok(program_check(&program, &failure));
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    program_finish(&program);
    device_close(device);
    return 0;
}

static void rows_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 2, 40, 150, 400 };
    static const uint64_t rounds[] = { 0, 1, 7, 300, 5000 };
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned i = 0; i < 90; i++) {
        struct step_join step = step_of(kinds[i % 6], i % 5 != 0);
        uint32_t most = i % 5 == 0 ? 5 : 6; /* all pairs are many */
        fill(&left, counts[random_below(most)], 1 + random_below(300));
        fill(&right, counts[random_below(most)], 1 + random_below(300));
        check(&step, rounds[random_below(5)], 1 + random_below(3));
        step_finish(&step);
    }
}

/* Rows of pairs before the first that fails come, and no others. */
static void failures_come_behind_rows(void **state)
{
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned i = 0; i < 60; i++) {
        struct step_join step = step_of(kinds[i % 6], i % 4 != 0);
        fill(&left, 90, 20);
        fill(&right, 80, 20);
        left.v[random_below(90)] = INT64_MAX;
        if (i % 3 == 0)
            right.v[random_below(80)] = INT64_MAX;
        check(&step, i % 2 ? 0 : 1 + random_below(200), 1 + i % 2);
        step_finish(&step);
    }
}

/* What x IN (...) is for a left row; -1: NULL. */
static int mark_of(uint32_t a)
{
    bool null = left.null[a] != 0;
    for (uint32_t b = 0; b < right.count; b++) {
        if (!left.null[a] && !right.null[b] && left.k[a] == right.k[b])
            return 1;
        null |= right.null[b] != 0;
    }
    return null && right.count > 0 ? -1 : 0;
}

/* Takes the output rows of JOIN_MARK; how many came. */
static uint64_t check_marks(struct device_join *join, uint64_t done)
{
    struct sink_rows rows;
    int32_t marks[ROWS_MAX];
    uint8_t nulls[ROWS_MAX];
    struct device_times times = { 0 };
    do {
        ok(device_join_next(join, &rows, &failure));
        const struct output *output = &rows.outputs[COLUMNS];
        if (rows.count == 0)
            break;
        assert_true(done + rows.count <= left.count);
        ok(device_read(rows.memory, output->values, marks,
                       rows.count * sizeof *marks, &times, &failure));
        ok(device_read(rows.memory, output->nulls, nulls, rows.count, &times,
                       &failure));
        for (uint64_t i = 0; i < rows.count; i++)
            assert_int_equal(nulls[i] ? -1 : marks[i],
                             mark_of((uint32_t)(done + i)));
        done += rows.count;
    } while (true);
    return done;
}

static void marks_are_as_naive_ones(void **state)
{
    static const uint32_t counts[] = { 0, 1, 30, 400 };
    (void)state;
    if (device == NULL)
        skip();
    for (unsigned i = 0; i < 40; i++) {
        struct step_join step = step_of(JOIN_MARK, true);
        struct bench bench;
        step.condition = NULL;
        fill(&left, counts[i % 4], 60);
        fill(&right, counts[random_below(4)], 40);
        for (uint32_t b = 0; b < right.count; b++)
            right.null[b] &= i % 3 == 0;
        ok(bench_open(&bench, &step, i % 2 ? 0 : 7));
        ok(take_right(&bench));
        uint32_t half = left.count / 2;
        ok(take_left(&bench, 0, half));
        uint64_t done = check_marks(bench.join, 0);
        ok(take_left(&bench, half, left.count - half));
        assert_int_equal(check_marks(bench.join, done), left.count);
        bench_close(&bench);
        step_finish(&step);
    }
}

/* Joins once; every failure is handed up, and frees everything. */
static enum vdbq_status run_once(const struct step_join *step)
{
    struct bench bench;
    struct sink_rows rows = { .count = 1 };
    enum vdbq_status status = bench_open(&bench, step, 50);
    if (status == VDBQ_OK)
        status = take_right(&bench);
    if (status == VDBQ_OK)
        status = take_left(&bench, 0, left.count);
    while (status == VDBQ_OK && rows.count > 0)
        status = device_join_next(bench.join, &rows, &failure);
    if (status == VDBQ_OK)
        status = device_join_end(bench.join, &failure);
    bench_close(&bench);
    return status;
}

static void missing_memory_is_told(void **state)
{
    struct step_join step = step_of(JOIN_FULL, true);
    enum vdbq_status status = VDBQ_NO_MEMORY;
    (void)state;
    if (device == NULL)
        skip();
    fill(&left, 30, 10);
    fill(&right, 20, 10);
    for (unsigned calls = 0; status != VDBQ_OK; calls++) {
        memory_fail_after(calls);
        status = run_once(&step);
        memory_fail_never();
        assert_true(status == VDBQ_OK || status == VDBQ_NO_MEMORY);
    }
    step_finish(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_as_naive_ones),
        cmocka_unit_test(failures_come_behind_rows),
        cmocka_unit_test(marks_are_as_naive_ones),
        cmocka_unit_test(missing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
