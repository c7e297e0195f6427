/* SPDX-License-Identifier: MIT */
/*
 * The self-test: programs of selftest_data.c for every opcode, over both kinds
 * of rows, in every mode and build; then searches.
 */
#include "trial/selftest.h"

#include <stdio.h>
#include <string.h>

#include "data/tablet/encoding.h"
#include "device/kind.h"
#include "trial/selftest_run.h"
#include "trial/selftest_search.h"
#include "trial/selftest_words.h"

/* Value opcodes that share a program. */
enum { GROUP_MAX = 16 };

/* ---------------------------------------------------------------- ops -- */

static enum vdbq_status test_values(struct selftest *test,
                                    const enum opcode *ops, unsigned count)
{
    struct program program;
    program_init(&program);
    enum vdbq_status status =
        selftest_values(&program, ops, count)
            ? selftest_run(test, op_facts(ops[0])->mnemonic, &program)
            : error_no_memory(test->error);
    program_finish(&program);
    test->opcodes += count;
    return status;
}

static enum vdbq_status test_jump(struct selftest *test, enum opcode op)
{
    enum vdbq_status status = VDBQ_OK;
    for (int validity = 0; validity <= 1 && status == VDBQ_OK; validity++) {
        struct program program;
        program_init(&program);
        status = selftest_jump(&program, op, validity)
                     ? selftest_run(test, op_facts(op)->mnemonic, &program)
                     : error_no_memory(test->error);
        program_finish(&program);
    }
    test->opcodes++;
    return status;
}

static enum vdbq_status test_fail(struct selftest *test)
{
    struct program program;
    program_init(&program);
    enum vdbq_status status = selftest_fail(&program)
                                  ? selftest_run(test, "Fail", &program)
                                  : error_no_memory(test->error);
    program_finish(&program);
    test->opcodes++;
    return status;
}

/* All opcodes over build rows together, with both kinds of indexes. */
static enum vdbq_status test_probe(struct selftest *test)
{
    enum vdbq_status status = VDBQ_OK;
    for (int hashed = 0; hashed <= 1 && status == VDBQ_OK; hashed++) {
        struct program program;
        program_init(&program);
        test->hashed = hashed;
        status =
            selftest_probe(&program) ? selftest_run(
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
static enum vdbq_status test_grid(struct selftest *test)
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
                     ? selftest_run(test, "Column (grid)", &program)
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
static enum vdbq_status test_ops(struct selftest *test)
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
static enum vdbq_status test_encoding(struct selftest *test,
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
static enum vdbq_status test_encodings(struct selftest *test)
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
static enum vdbq_status test_way(struct selftest *test, bool tame)
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

static enum vdbq_status test_ways(struct selftest *test)
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

static enum vdbq_status make_rows(struct device *device,
                                  struct selftest_rows *rows,
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

static void free_rows(struct selftest_rows *rows)
{
    device_memory_destroy(rows->pinned);
    device_memory_destroy(rows->resident);
    device_memory_destroy(rows->build_side);
}

enum vdbq_status selftest(struct device *device, struct device *host,
                          vdbq_report report, void *context,
                          struct error *error)
{
    struct selftest test = { .host = { .device = host, .mode = MODE_MAPPED },
                             .device = { .device = device },
                             .report = report,
                             .context = context,
                             .error = error };
    enum vdbq_status status = make_rows(host, &test.host_rows, error);
    if (status == VDBQ_OK)
        status = make_rows(device, &test.device_rows, error);
    if (status == VDBQ_OK)
        status = test_ways(&test);
    if (status == VDBQ_OK)
        status = selftest_search(&test);
    if (status == VDBQ_OK)
        status = selftest_words(&test);
    arena_finish(&test.open.arena);
    free_rows(&test.host_rows);
    free_rows(&test.device_rows);
    return status;
}
