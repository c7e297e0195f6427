/* SPDX-License-Identifier: MIT */
/*
 * For tests of streams: a database of two tables with a key column k (INTEGER)
 * and a value column v (BIGINT), both with NULLs; steps over them made by
 * hand; and their rows as text.
 */
#ifndef VDBQ_TESTS_STREAM_FIXTURE_H
#define VDBQ_TESTS_STREAM_FIXTURE_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os.h"
#include "base/type.h"
#include "exec/stream.h"

enum { SIDE_ROWS_MAX = 70000 };

/* The rows of a table. */
struct side {
    int32_t k[SIDE_ROWS_MAX];
    int64_t v[SIDE_ROWS_MAX];
    uint8_t k_null[SIDE_ROWS_MAX], v_null[SIDE_ROWS_MAX];
    uint32_t rows;
};

struct fixture {
    struct database *database;
    struct snapshot snapshot;
    struct device *device;
    struct pool *pool;
    struct side sides[2]; /* of tables "l" and "r" */
    struct steps steps;
    atomic_bool cancelled;
    struct stream_stats stats;
    struct stream_params params;
    enum run_mode mode;
    unsigned chosen; /* times that a scan asked for its place */
    struct error error;
};

static inline void expect_ok(enum vdbq_status status, const struct error *error)
{
    if (status != VDBQ_OK)
        fail_msg("%s", error->message);
}

static inline enum vdbq_status
choose_host(void *context, const struct table *table, uint64_t rows,
            struct stream_place *place, struct error *error)
{
    struct fixture *fixture = context;
    (void)table;
    (void)rows;
    (void)error;
    fixture->chosen++;
    *place = (struct stream_place){ .device = fixture->device,
                                    .pool = fixture->pool,
                                    .mode = fixture->mode };
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- data -- */

/* Rows that anyone can compute: keys 0 .. keys - 1, some NULL. */
static inline void fill_side(struct side *side, uint32_t rows, uint32_t keys,
                             uint32_t seed)
{
    side->rows = rows;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t chance = (i + seed) * 2654435761u >> 8;
        side->k[i] = (int32_t)(chance % keys);
        side->k_null[i] = chance / 64 % 7 == 0;
        side->v[i] = (int64_t)(chance / 512 % 10);
        side->v_null[i] = chance / 4096 % 5 == 0;
    }
}

static inline void write_side(struct transaction *transaction, const char *name,
                              const struct side *side, struct error *error)
{
    const struct column columns[] = { { .name = "k", .type = VDBQ_INTEGER },
                                      { .name = "v", .type = VDBQ_BIGINT } };
    const struct vdbq_vector vectors[] = {
        { VDBQ_INTEGER, side->k, side->k_null },
        { VDBQ_BIGINT, side->v, side->v_null },
    };
    expect_ok(
        transaction_create_table(transaction, name, columns, 2, NO_KEY, error),
        error);
    const struct table *table =
        catalogue_table(transaction_catalogue(transaction), name);
    if (side->rows > 0)
        expect_ok(transaction_append(transaction, table->id, side->rows,
                                     vectors, error),
                  error);
}

/* Opens a database with both sides, which were filled. */
static inline void fixture_open(struct fixture *fixture)
{
    struct error *error = &fixture->error;
    struct transaction *transaction;
    expect_ok(
        database_open(&(struct database_params){ .path = "test",
                                                 .flags = VDBQ_OPEN_CREATE,
                                                 .files = &os_memory_files,
                                                 .tablet_rows = 256 },
                      &fixture->database, error),
        error);
    expect_ok(transaction_begin(fixture->database, &transaction, error), error);
    write_side(transaction, "l", &fixture->sides[0], error);
    write_side(transaction, "r", &fixture->sides[1], error);
    expect_ok(transaction_commit(transaction, error), error);
    expect_ok(snapshot_open(fixture->database, &fixture->snapshot, error),
              error);
    expect_ok(device_open(&(struct device_params){ .choice = "host" },
                          &fixture->device, error),
              error);
    expect_ok(pool_create(fixture->database, fixture->device, 1 << 26,
                          &fixture->pool, error),
              error);
    steps_init(&fixture->steps);
    stream_stats_init(&fixture->stats);
    fixture->chosen = 0;
    atomic_store(&fixture->cancelled, false);
    fixture->params = (struct stream_params){
        .snapshot = &fixture->snapshot,
        .choose = choose_host,
        .choose_context = fixture,
        .cancelled = &fixture->cancelled,
        .stats = &fixture->stats,
    };
}

static inline void fixture_close(struct fixture *fixture)
{
    steps_finish(&fixture->steps);
    pool_destroy(fixture->pool);
    device_close(fixture->device);
    snapshot_close(&fixture->snapshot);
    database_close(fixture->database);
}

/* --------------------------------------------------------------- steps -- */

/* Adds a step with up to two inputs (-1: none). */
static inline struct step *add_step(struct steps *steps, enum step_kind kind,
                                    int first, int second)
{
    struct step *step = steps_add(steps, kind);
    assert_non_null(step);
    if (first >= 0)
        assert_true(vector_append(&step->inputs, &first, 1));
    if (second >= 0)
        assert_true(vector_append(&step->inputs, &second, 1));
    return step;
}

/* Gives a step the columns of another, and behind them others. */
static inline void take_columns(struct steps *steps, struct step *step,
                                int from, int beside)
{
    const struct step *a = steps_at(steps, from);
    const struct step *b = beside >= 0 ? steps_at(steps, beside) : NULL;
    unsigned count = a->column_count + (b != NULL ? b->column_count : 0);
    step->columns =
        arena_alloc(&steps->arena, (count + 4) * sizeof *step->columns);
    assert_non_null(step->columns);
    memcpy(step->columns, a->columns, a->column_count * sizeof *a->columns);
    if (b != NULL)
        memcpy(step->columns + a->column_count, b->columns,
               b->column_count * sizeof *b->columns);
    step->column_count = count;
}

/* Adds a column behind those of the step; there is room for four. */
static inline void add_column(struct step *step, const char *name,
                              enum vdbq_type type)
{
    step->columns[step->column_count++] =
        (struct step_column){ .name = name, .type = type };
}

/* Reads a program whose table has the columns given. */
static inline void read_program(struct program *program, const char *text,
                                const struct step_column *columns,
                                unsigned count, const struct table *from)
{
    struct error error;
    expect_ok(program_read(text, program, &error), &error);
    if (program->tables.count == 0)
        return;
    struct program_table *table = vector_at(&program->tables, 0);
    int *types = arena_alloc(&program->arena, count * sizeof *types);
    for (unsigned i = 0; i < count; i++)
        types[i] = type_machine(columns[i].type);
    table->column_types = types;
    table->column_count = count;
    table->key_type = TYPE_I64;
    table->id = from != NULL ? from->id : 0;
    table->input = from == NULL;
}

static const struct step_column side_columns[] = {
    { .name = "k", .type = VDBQ_INTEGER }, { .name = "v", .type = VDBQ_BIGINT }
};
static const char all_rows[] = "Table 0 0 0 \"t\"\n"
                               "ResultColumn 1 1 2 \"k\"\n"
                               "ResultColumn 2 1 3 \"v\"\n"
                               "Parallel 0 0 10\n"
                               "Column.I32 0 0 0\n"
                               "Column.I64 1 1 0\n"
                               "ColumnNull 2 0 0\n"
                               "ColumnNull 3 1 0\n"
                               "Result 0 2\n"
                               "Converge\n"
                               "Finish\n";

/* Adds a scan of table "l" or "r"; its number. */
static inline int add_side(struct fixture *fixture, struct steps *steps,
                           const char *name)
{
    struct step *step = add_step(steps, STEP_SCAN, -1, -1);
    read_program(&step->scan.program, all_rows, side_columns, 2,
                 catalogue_table(fixture->snapshot.catalogue, name));
    assert_true(steps_describe(steps, step));
    return (int)steps->steps.count - 1;
}

/* Adds a scan over the rows of a step. */
static inline int add_rows(struct steps *steps, int input, const char *text)
{
    struct step *step = add_step(steps, STEP_SCAN, input, -1);
    const struct step *from = steps_at(steps, input);
    read_program(&step->scan.program, text, from->columns, from->column_count,
                 NULL);
    assert_true(steps_describe(steps, step));
    return (int)steps->steps.count - 1;
}

/* ---------------------------------------------------------------- rows -- */

static inline void print_cell(const struct stream *stream,
                              const struct vdbq_vector *vector, unsigned column,
                              uint64_t row, struct text *text)
{
    if (vector->nulls != NULL && vector->nulls[row])
        text_print(text, "NULL ");
    else if (vector->type == VDBQ_INTEGER || vector->type == VDBQ_BOOLEAN)
        text_print(text, "%" PRId32 " ",
                   ((const int32_t *)vector->values)[row]);
    else if (vector->type == VDBQ_BIGINT)
        text_print(text, "%" PRId64 " ",
                   ((const int64_t *)vector->values)[row]);
    else if (vector->type == VDBQ_DOUBLE)
        text_print(text, "%g ", ((const double *)vector->values)[row]);
    else {
        struct vdbq_text word =
            words_text(stream_words(stream, column),
                       ((const uint32_t *)vector->values)[row]);
        text_print(text, "'%.*s' ", (int)word.length, word.bytes);
    }
}

static inline void print_batch(const struct stream *stream,
                               const struct vdbq_batch *batch,
                               struct text *text)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        for (unsigned i = 0; i < batch->columns; i++)
            print_cell(stream, &batch->column[i], i, row, text);
        text_print(text, "\n");
    }
}

/* Runs the steps to their end; the rows as text. */
static inline enum vdbq_status try_rows(struct fixture *fixture,
                                        struct text *text)
{
    struct stream *stream = NULL;
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = steps_check(&fixture->steps, &fixture->error);
    if (status == VDBQ_OK)
        status = stream_open(&fixture->params, &fixture->steps,
                             (int)fixture->steps.steps.count - 1, &stream,
                             &fixture->error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(stream, &batch, &fixture->error);
        if (status == VDBQ_OK)
            print_batch(stream, &batch, text);
    }
    stream_close(stream);
    return status;
}

/* That the steps give these rows. */
static inline void expect_rows(struct fixture *fixture, const char *expected)
{
    struct text text = { 0 };
    expect_ok(try_rows(fixture, &text), &fixture->error);
    assert_string_equal(text.bytes ? text.bytes : "", expected);
    text_finish(&text);
}

#endif
