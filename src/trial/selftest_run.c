/* SPDX-License-Identifier: MIT */
/*
 * Runs a program on the host and on a device and compares: result rows bit by
 * bit (a value that is not a number equals any other such value), and which
 * instruction failed.
 */
#include "trial/selftest_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exec/launch/column_input.h"

/* All result rows of a run, and how it ended. */
struct outcome {
    enum vdbq_status status;
    char message[ERROR_MESSAGE_MAX + 16]; /* of a fault, with its line */
    uint64_t rows;
    struct vector values; /* bytes: 8 a value, row by row */
};

/* ---------------------------------------------------------------- run -- */

/* Makes every value that is not a number the same one. */
static void unify_nan(enum vdbq_type type, void *value)
{
    float single;
    double real;
    memcpy(&single, value, sizeof single);
    if (type == VDBQ_FLOAT && isnan(single))
        memset(value, 0xff, sizeof single);
    if (type != VDBQ_DOUBLE)
        return;
    memcpy(&real, value, sizeof real);
    if (isnan(real))
        memset(value, 0xff, sizeof real);
}

/* Adds a row of a batch. Rows may be cut into batches differently, but their
 * order is the same. */
static bool keep_row(struct outcome *outcome, const struct vdbq_batch *batch,
                     uint64_t row)
{
    for (unsigned i = 0; i < batch->columns; i++) {
        const struct vdbq_vector *vector = &batch->column[i];
        unsigned width = type_width((int)vector->type);
        char value[8] = { 0 };
        memcpy(value, (const char *)vector->values + row * width, width);
        unify_nan(vector->type, value);
        if (!vector_append(&outcome->values, value, sizeof value))
            return false;
    }
    outcome->rows++;
    return true;
}

/* Takes rows until no more than `most` launches are in flight. */
static enum vdbq_status keep_rows(struct launcher *launcher, unsigned most,
                                  struct outcome *outcome, struct error *error)
{
    struct vdbq_batch batch;
    while (launcher_in_flight(launcher) > most) {
        enum vdbq_status status = launcher_batch(launcher, &batch, error);
        if (status != VDBQ_OK)
            return status;
        for (uint64_t row = 0; row < batch.rows; row++)
            if (!keep_row(outcome, &batch, row))
                return error_no_memory(error);
    }
    return VDBQ_OK;
}

/* The inputs that a program reads, as the self-test's rows have them. */
static void make_inputs(const struct selftest *test,
                        const struct program *program,
                        const struct program_pack *pack,
                        struct column_input *inputs)
{
    const struct program_table *table = vector_at(&program->tables, 0);
    for (unsigned i = 0; i < pack->input_count; i++) {
        int column = pack->inputs[i].column;
        int type = column < 0 ? table->key_type : table->column_types[column];
        inputs[i] = test->encoding != NULL && column >= 0
                        ? selftest_encoded(column, type, *test->encoding)
                        : selftest_input(column, type);
    }
}

/* Rows of a launch. Modes that overlap launches get a full ring and more. */
static uint64_t launch_rows(enum run_mode mode)
{
    bool overlaps = mode == MODE_STREAMED || mode == MODE_CACHED;
    return overlaps ? TABLET_ALIGNED(SELFTEST_ROWS / (LAUNCHER_RING_MAX + 2))
                    : SELFTEST_ROWS;
}

/* The inputs of rows [row, ...) of those that start at row 0. */
static void move_inputs(const struct column_input *from, unsigned count,
                        uint64_t row, struct column_input *to)
{
    for (unsigned i = 0; i < count; i++)
        to[i] = column_input_from(from[i], row);
}

/* Makes a launch's rows the cells of a grid, which has all left rows. */
static void make_grid(const struct selftest *test, uint64_t row,
                      struct launcher_request *request)
{
    struct launcher_grid grid = { .first = row,
                                  .cells = request->morsels[0].rows };
    memcpy(grid.axis_rows, test->axis_rows, sizeof grid.axis_rows);
    request->grid = grid;
    request->morsels[0].rows = SELFTEST_ROWS;
}

/* Starts a launch over rows [row, ...), the way the mode has it. */
static enum vdbq_status start(const struct selftest *test,
                              struct launcher *launcher, enum run_mode mode,
                              const struct selftest_rows *rows, uint64_t row,
                              const struct column_input *all,
                              const struct order_codes *order_codes,
                              struct error *error)
{
    struct column_input inputs[SELFTEST_INPUTS_MAX];
    struct device_copy copy = { .memory = rows->resident,
                                .bytes = device_memory_host(rows->pinned),
                                .size = SELFTEST_BYTES };
    struct launcher_request request = {
        .morsels = { { .inputs = inputs,
                       .order_codes = order_codes,
                       .rows = launch_rows(mode) } },
        .count = 1,
    };
    struct launcher_morsel *morsel = &request.morsels[0];
    if (morsel->rows > SELFTEST_ROWS - row)
        morsel->rows = SELFTEST_ROWS - row;
    bool grid = test->axis_rows[0] > 0;
    move_inputs(all, launcher_pack(launcher)->input_count, grid ? 0 : row,
                inputs);
    if (grid)
        make_grid(test, row, &request);
    if (mode == MODE_MAPPED)
        morsel->data = rows->pinned;
    else if (mode == MODE_CACHED)
        morsel->data = rows->resident;
    else
        morsel->host = copy.bytes;
    if (mode == MODE_CACHED && row == 0) {
        request.copies = &copy;
        request.copy_count = 1;
    }
    return launcher_start(launcher, &request, error);
}

/* Runs all rows, and keeps what comes. */
static enum vdbq_status run_rows(const struct selftest *test,
                                 struct launcher *launcher, enum run_mode mode,
                                 const struct selftest_rows *rows,
                                 const struct column_input *inputs,
                                 const struct order_codes *order_codes,
                                 struct outcome *outcome, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t row = 0; row < SELFTEST_ROWS && status == VDBQ_OK;
         row += launch_rows(mode)) {
        if (!launcher_has_room(launcher))
            status = keep_rows(launcher, launcher_in_flight(launcher) - 1,
                               outcome, error);
        if (status == VDBQ_OK)
            status = start(test, launcher, mode, rows, row, inputs, order_codes,
                           error);
    }
    return status == VDBQ_OK ? keep_rows(launcher, 0, outcome, error) : status;
}

/* Runs the program one way. A fault of a row is an outcome, no failure. */
static enum vdbq_status run(const struct selftest *test,
                            const struct program *program,
                            const struct selftest_way *way,
                            const struct selftest_rows *rows,
                            struct outcome *outcome)
{
    struct column_input inputs[SELFTEST_INPUTS_MAX];
    struct launcher *launcher;
    const struct settings settings = { .build = way->build };
    const struct run_place place = { .device = way->device,
                                     .mode = way->mode,
                                     .settings = &settings };
    struct launcher_params params = { .place = &place,
                                      .program = program,
                                      .most_live = true,
                                      .values = &test->open.values };
    struct run_build_side build_side = test->open.build_side.run;
    build_side.memory = rows->build_side;
    *outcome = (struct outcome){ .values = VECTOR(char) };
    enum vdbq_status status = VDBQ_OK;
    if (program->tables.count > 1) {
        params.build_side = &build_side;
        status = device_write(rows->build_side, 0, test->open.build_side.block,
                              test->open.build_side.size,
                              &(struct device_times){ 0 }, test->error);
    }
    if (status == VDBQ_OK)
        status = launcher_open(&params, &launcher, test->error);
    if (status != VDBQ_OK)
        return status;
    make_inputs(test, program, launcher_pack(launcher), inputs);
    status = run_rows(test, launcher, way->mode, rows, inputs,
                      test->open.order_codes, outcome, test->error);
    outcome->status = status;
    if (status == VDBQ_RANGE) {
        outcome->rows = 0; /* how many came before is the mode's affair */
        vector_finish(&outcome->values);
        snprintf(outcome->message, sizeof outcome->message, "%u %s",
                 test->error->line, test->error->message);
        status = VDBQ_OK;
    }
    launcher_close(launcher);
    if (status == VDBQ_OK)
        status = device_memory_take(rows->pinned, &(struct device_times){ 0 },
                                    test->error);
    return status;
}

/* ------------------------------------------------------------- compare -- */

static enum vdbq_status compare(const struct selftest *test, const char *what,
                                const struct outcome *host,
                                const struct outcome *device)
{
    const char *name = device_facts(test->device.device)->name;
    size_t same = 0;
    if (host->status != device->status
        || strcmp(host->message, device->message) != 0)
        return error_set(test->error, VDBQ_DEVICE,
                         "%s on %s: \"%s\", but on the host: \"%s\"", what,
                         name, device->message, host->message);
    if (host->rows != device->rows)
        return error_set(test->error, VDBQ_DEVICE,
                         "%s on %s: %llu rows, but on the host: %llu", what,
                         name, (unsigned long long)device->rows,
                         (unsigned long long)host->rows);
    while (same < host->values.count
           && VECTOR_ITEMS(&host->values, char)[same]
                  == VECTOR_ITEMS(&device->values, char)[same])
        same++;
    if (same < host->values.count)
        return error_set(test->error, VDBQ_DEVICE,
                         "%s on %s: value %zu differs from the host's", what,
                         name, same / 8);
    return VDBQ_OK;
}

/* Fills what the program leaves open, for all its runs. */
static enum vdbq_status open_values(struct selftest *test,
                                    const struct program *program)
{
    struct program_pack pack;
    struct selftest_open_values *open = &test->open;
    arena_finish(&open->arena);
    *open = (struct selftest_open_values){ 0 };
    enum vdbq_status status =
        program_pack(program, &open->arena, &pack, test->error);
    if (status == VDBQ_OK
        && !selftest_open(program, &pack, &open->arena, &open->values,
                          open->order_codes))
        status = error_no_memory(test->error);
    if (status == VDBQ_OK && program->tables.count > 1
        && !selftest_build_side(&pack, test->hashed,
                                &open->order_codes[pack.input_count - 1],
                                &open->arena, &open->build_side))
        status = error_no_memory(test->error);
    return status;
}

enum vdbq_status selftest_run(struct selftest *test, const char *what,
                              struct program *program)
{
    struct outcome host = { 0 }, device = { 0 };
    for (size_t pc = 0; pc < program->code.count; pc++)
        program_at(program, (int)pc)->at.line = (unsigned)pc + 1;
    enum vdbq_status status = program_check(program, test->error);
    if (status == VDBQ_OK)
        status = open_values(test, program);
    if (status == VDBQ_OK)
        status = run(test, program, &test->host, &test->host_rows, &host);
    if (status == VDBQ_OK)
        status = run(test, program, &test->device, &test->device_rows, &device);
    if (status == VDBQ_OK)
        status = compare(test, what, &host, &device);
    vector_finish(&host.values);
    vector_finish(&device.values);
    return status;
}
