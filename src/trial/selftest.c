/* SPDX-License-Identifier: MIT */
/*
 * Runs the programs of selftest_data.c on the host and on a device and
 * compares: result rows bit by bit (a value that is not a number equals any
 * other such value), and which instruction failed.
 */
#include "trial/selftest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/tablet/encoding.h"
#include "device/kind.h"
#include "exec/launch/column_input.h"
#include "trial/selftest_data.h"

/* Value opcodes that share a program. */
enum { GROUP_MAX = 16 };

/* A way to run a program. */
struct way {
    struct device *device;
    enum run_mode mode;
    enum device_build build;
};

/* The rows, on one device. */
struct rows {
    struct device_memory *pinned;
    struct device_memory *resident; /* for MODE_CACHED */
    struct device_memory *build_side;
};

/* What the program at hand leaves open. */
struct open_values {
    struct arena arena;
    struct run_values values;
    struct order_codes order_codes[SELFTEST_INPUTS_MAX];
    struct selftest_build_side build_side;
};

struct testing {
    struct way host;
    struct way device;
    struct rows host_rows;
    struct rows device_rows;
    const struct selftest_encoding *encoding; /* of columns; NULL: plain */
    bool hashed;                              /* indexes of build rows */
    uint32_t axis_rows[VDBQ_AXES_MAX - 1];    /* of a grid at hand           */
    struct open_values open;
    unsigned opcodes;
    vdbq_report report;
    void *context;
    struct error *error;
};

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
static void make_inputs(const struct testing *test,
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
static void make_grid(const struct testing *test, uint64_t row,
                      struct launcher_request *request)
{
    struct launcher_grid grid = { .first = row,
                                  .cells = request->morsels[0].rows };
    memcpy(grid.axis_rows, test->axis_rows, sizeof grid.axis_rows);
    request->grid = grid;
    request->morsels[0].rows = SELFTEST_ROWS;
}

/* Starts a launch over rows [row, ...), the way the mode has it. */
static enum vdbq_status
start(const struct testing *test, struct launcher *launcher, enum run_mode mode,
      const struct rows *rows, uint64_t row, const struct column_input *all,
      const struct order_codes *order_codes, struct error *error)
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
static enum vdbq_status run_rows(const struct testing *test,
                                 struct launcher *launcher, enum run_mode mode,
                                 const struct rows *rows,
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
static enum vdbq_status run(const struct testing *test,
                            const struct program *program,
                            const struct way *way, const struct rows *rows,
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

static enum vdbq_status compare(const struct testing *test, const char *what,
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
static enum vdbq_status open_values(struct testing *test,
                                    const struct program *program)
{
    struct program_pack pack;
    struct open_values *open = &test->open;
    arena_finish(&open->arena);
    *open = (struct open_values){ 0 };
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

/* Checks a program and runs it both ways. */
static enum vdbq_status test_program(struct testing *test, const char *what,
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

/* ---------------------------------------------------------------- ops -- */

static enum vdbq_status test_values(struct testing *test,
                                    const enum opcode *ops, unsigned count)
{
    struct program program;
    program_init(&program);
    enum vdbq_status status =
        selftest_values(&program, ops, count)
            ? test_program(test, op_facts(ops[0])->mnemonic, &program)
            : error_no_memory(test->error);
    program_finish(&program);
    test->opcodes += count;
    return status;
}

static enum vdbq_status test_jump(struct testing *test, enum opcode op)
{
    enum vdbq_status status = VDBQ_OK;
    for (int validity = 0; validity <= 1 && status == VDBQ_OK; validity++) {
        struct program program;
        program_init(&program);
        status = selftest_jump(&program, op, validity)
                     ? test_program(test, op_facts(op)->mnemonic, &program)
                     : error_no_memory(test->error);
        program_finish(&program);
    }
    test->opcodes++;
    return status;
}

static enum vdbq_status test_fail(struct testing *test)
{
    struct program program;
    program_init(&program);
    enum vdbq_status status = selftest_fail(&program)
                                  ? test_program(test, "Fail", &program)
                                  : error_no_memory(test->error);
    program_finish(&program);
    test->opcodes++;
    return status;
}

/* All opcodes over build rows together, with both kinds of indexes. */
static enum vdbq_status test_probe(struct testing *test)
{
    enum vdbq_status status = VDBQ_OK;
    for (int hashed = 0; hashed <= 1 && status == VDBQ_OK; hashed++) {
        struct program program;
        program_init(&program);
        test->hashed = hashed;
        status =
            selftest_probe(&program) ? test_program(
                test, hashed ? "Probe (hashed)" : "Probe (dense)", &program)
                                     : error_no_memory(test->error);
        program_finish(&program);
    }
    for (int i = 0; i < OPCODES; i++)
        test->opcodes += op_facts((enum opcode)i)->form == FORM_PROBE
                         || op_facts((enum opcode)i)->form == FORM_COLUMN_AT;
    return status;
}

/* All opcodes that load, over grids with long and short rows. */
static enum vdbq_status test_grid(struct testing *test)
{
    static const uint32_t shapes[][VDBQ_AXES_MAX - 1] = {
        { SELFTEST_BUILD_ROWS, 0 },
        { 3, 0 },
        { 1, 0 },
        { 7, 300 },
        { 200, 3 },
        { 1, 1 }
    };
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && status == VDBQ_OK;
         i++) {
        struct program program;
        program_init(&program);
        memcpy(test->axis_rows, shapes[i], sizeof shapes[i]);
        status = selftest_grid(&program, shapes[i][1] > 0 ? 3 : 2)
                     ? test_program(test, "Column (grid)", &program)
                     : error_no_memory(test->error);
        program_finish(&program);
    }
    memset(test->axis_rows, 0, sizeof test->axis_rows);
    return status;
}

/* Whether an opcode joins the group, or is tested alone: one that may fail,
 * and one that fixes the type of the key. */
static bool is_alone(enum opcode op)
{
    return op_facts(op)->effect == EFFECT_FAULT
           || op_facts(op)->form == FORM_ROWID;
}

/* Runs every opcode over the rows that are in place. */
static enum vdbq_status test_ops(struct testing *test)
{
    enum opcode group[GROUP_MAX];
    unsigned count = 0;
    enum vdbq_status status = VDBQ_OK;
    for (int i = 0; i < OPCODES && status == VDBQ_OK; i++) {
        enum opcode op = (enum opcode)i;
        if (selftest_jumps(op))
            status = test_jump(test, op);
        else if (op == OP_FAIL)
            status = test_fail(test);
        else if (selftest_gives_value(op) && is_alone(op))
            status = test_values(test, &op, 1);
        else if (selftest_gives_value(op))
            group[count++] = op;
        if (count == GROUP_MAX && status == VDBQ_OK) {
            status = test_values(test, group, count);
            count = 0;
        }
    }
    if (count > 0 && status == VDBQ_OK)
        status = test_values(test, group, count);
    if (status == VDBQ_OK)
        status = test_probe(test);
    return status == VDBQ_OK ? test_grid(test) : status;
}

/* Runs the opcodes that load, over columns of an encoding. */
static enum vdbq_status test_encoding(struct testing *test,
                                      struct selftest_encoding encoding)
{
    static const enum opcode loads[] = { OP_COLUMN_I32, OP_COLUMN_I64,
                                         OP_COLUMN_F32, OP_COLUMN_F64,
                                         OP_COLUMN_NULL };
    enum vdbq_status status;

    test->encoding = &encoding;
    status = test_values(test, loads, sizeof loads / sizeof *loads);
    test->encoding = NULL;
    test->opcodes -= sizeof loads / sizeof *loads;
    return status;
}

/* Every encoding, with codes of some widths where it has codes. */
static enum vdbq_status test_encodings(struct testing *test)
{
    static const u32 bits[] = { 1, 7, 8, 13, 16, 20, 31, 32 };
    static const u32 rows[] = { 0, 64, 0, 192, 256, 0, 448, 64 };
    enum vdbq_status status = VDBQ_OK;

    for (u32 i = ENCODING_PLAIN + 1; i < ENCODINGS; i++) {
        unsigned widths =
            encoding_at(i)->bits > 0 ? sizeof bits / sizeof *bits : 1;
        for (unsigned k = 0; k < widths && status == VDBQ_OK; k++)
            status = test_encoding(
                test, (struct selftest_encoding){
                          i, encoding_at(i)->bits > 0 ? bits[k] : 0, rows[k] });
    }
    return status;
}

/* Puts the rows in place and runs every opcode one way. */
static enum vdbq_status test_way(struct testing *test, bool tame)
{
    char line[256];
    selftest_fill(device_memory_host(test->host_rows.pinned), tame);
    selftest_fill(device_memory_host(test->device_rows.pinned), tame);
    test->opcodes = 0;
    enum vdbq_status status = test_ops(test);
    if (status == VDBQ_OK && tame)
        status = test_encodings(test);
    if (status != VDBQ_OK)
        return status;
    snprintf(line, sizeof line,
             "ok: %u opcodes, %d %s rows, %s, %s, as on the host",
             test->opcodes, SELFTEST_ROWS, tame ? "tame" : "edge",
             run_mode_name(test->device.mode),
             test->device.build == BUILD_SPECIALISED ? "specialised"
                                                     : "interpreted");
    test->report(test->context, line);
    return VDBQ_OK;
}

static enum vdbq_status test_ways(struct testing *test)
{
    enum vdbq_status status = VDBQ_OK;
    bool specialises = device_facts(test->device.device)->kind->specialises;
    for (int build = BUILD_INTERPRETED; build <= BUILD_SPECIALISED; build++)
        for (int mode = 0; mode < RUN_MODES; mode++)
            for (int tame = 0; tame <= 1 && status == VDBQ_OK; tame++) {
                test->device.mode = (enum run_mode)mode;
                test->device.build = (enum device_build)build;
                if (specialises || build == BUILD_INTERPRETED)
                    status = test_way(test, tame);
            }
    return status;
}

static enum vdbq_status make_rows(struct device *device, struct rows *rows,
                                  struct error *error)
{
    enum vdbq_status status = device_memory_create(
        device, MEMORY_PINNED, SELFTEST_BYTES, &rows->pinned, error);
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE, SELFTEST_BYTES,
                                      &rows->resident, error);
    if (status == VDBQ_OK)
        status = device_memory_create(device, MEMORY_DEVICE, SELFTEST_BYTES,
                                      &rows->build_side, error);
    return status;
}

static void free_rows(struct rows *rows)
{
    device_memory_destroy(rows->pinned);
    device_memory_destroy(rows->resident);
    device_memory_destroy(rows->build_side);
}

enum vdbq_status selftest(struct device *device, struct device *host,
                          vdbq_report report, void *context,
                          struct error *error)
{
    struct testing test = { .host = { .device = host, .mode = MODE_MAPPED },
                            .device = { .device = device },
                            .report = report,
                            .context = context,
                            .error = error };
    enum vdbq_status status = make_rows(host, &test.host_rows, error);
    if (status == VDBQ_OK)
        status = make_rows(device, &test.device_rows, error);
    if (status == VDBQ_OK)
        status = test_ways(&test);
    arena_finish(&test.open.arena);
    free_rows(&test.host_rows);
    free_rows(&test.device_rows);
    return status;
}
