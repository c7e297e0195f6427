/* SPDX-License-Identifier: MIT */
/*
 * A device with one small program on it, for the tests of the device floor:
 * "the values of an INTEGER column that are greater than LIMIT", over rows
 * whose values anyone can compute.
 */
#ifndef VDBQ_TESTS_DEVICE_RIG_H
#define VDBQ_TESTS_DEVICE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cl/opcodes.h"
#include "cl/tablet.h"
#include "device/job.h"

enum { RIG_LIMIT = 60 };

/* The program as the machine reads it. */
struct rig_control {
    struct launch launch;
    struct code code[6];
    i64 constants[1];
    struct feed feeds[1];
    struct output outputs[1];
};

/* The same program as calls. */
static const char rig_body[] =
    "static void run_constants(struct machine *m, i32 first, i32 end)\n"
    "{ (void)first; (void)end; op_INTEGER_I32(m, 0, 1, 0, 0, 0); }\n"
    "static void run_step(struct machine *m, i32 first, i32 end)\n"
    "{\n"
    "    (void)first; (void)end;\n"
    "    op_COLUMN_I32(m, 1, 0, 0, 0, 0);\n"
    "    op_GT_I32(m, 2, 0, 1, 4, 1);\n"
    "    op_INVALID(m, 3, 0, 0, 0, 0);\n"
    "    result_begin(m, 4);\n"
    "    result_values(m, 4, 0, 4, 0, m->outputs);\n"
    "    result_end(m);\n"
    "}\n";

struct rig {
    struct device *device;
    struct device_machine *machine;
    struct rig_control program;
    struct device_job *job;
    struct device_memory *control, *data, *result;
    struct progress *start, *end; /* with the descriptors */
    struct device_times times;
    uint64_t rows;
    unsigned steps;
};

/* "cpu", or what the variable VDBQ_TEST_DEVICE names. */
static inline const char *rig_tested(void)
{
    const char *name = getenv("VDBQ_TEST_DEVICE");
    return name != NULL ? name : "cpu";
}

/* Skips a test where there is no OpenCL device. */
static inline void rig_need_device(void)
{
    struct text text = { 0 };
    unsigned count = device_list(&text);

    text_finish(&text);
    if (count == 0)
        skip();
}

/* The value of row i; about one in five is greater than RIG_LIMIT. */
static inline int32_t rig_value(uint64_t i)
{
    return (int32_t)(i * 2654435761u % 201) - 100;
}

static inline void rig_program(struct rig *rig)
{
    rig->program = (struct rig_control){
        .launch = { .piece_rows = { (u32)rig->rows },
                    .piece_first = ONE_PIECE,
                    .code = offsetof(struct rig_control, code),
                    .constants = offsetof(struct rig_control, constants),
                    .feeds = offsetof(struct rig_control, feeds),
                    .outputs = offsetof(struct rig_control, outputs),
                    .code_end = 5,
                    .feed_count = 1,
                    .output_count = 1 },
        .code = { { .op = OP_INTEGER_I32, .a = 1 },
                  { .op = OP_COLUMN_I32 },
                  { .op = OP_GT_I32, .a = 0, .b = 1, .c = 4, .d = 1 },
                  { .op = OP_INVALID },
                  { .op = OP_RESULT, .a = 0, .b = 1 },
                  { .op = OP_CONVERGE } },
        .constants = { RIG_LIMIT },
        .feeds = { { .width = 4, .encoding = ENCODING_PLAIN } },
        .outputs = { { .register_ = 0, .null_register = -1, .width = 4 } },
    };
}

/* Makes one of the rig's memories unless an earlier call failed. */
static inline enum vdbq_status
rig_memory(struct rig *rig, enum vdbq_status before, enum memory_place place,
           uint64_t size, struct device_memory **memory, struct error *error)
{
    if (before != VDBQ_OK)
        return before;
    return device_memory_create(rig->device, place, size, memory, error);
}

/* Where the control block's memory has the progress. */
static inline uint64_t rig_progress_at(void)
{
    return (sizeof(struct rig_control) + 63) / 64 * 64;
}

static inline uint64_t rig_progress_bytes(const struct rig *rig)
{
    return sizeof(struct progress) + rig->steps * sizeof(struct descriptor);
}

/* Opens a device and builds the machine; rig_close() is due whatever comes. */
static inline enum vdbq_status rig_open(struct rig *rig, const char *choice,
                                        enum device_build build, uint64_t rows,
                                        struct error *error)
{
    struct device_params params = { .choice = choice };
    struct device_machine_params machine = { .build = build,
                                             .registers = 2,
                                             .body = build == BUILD_SPECIALISED
                                                         ? rig_body
                                                         : NULL };
    enum vdbq_status status;
    uint64_t room = rows * 4 + 64, step_rows;

    *rig = (struct rig){ .rows = rows };
    rig_program(rig);
    status = device_open(&params, &rig->device, error);
    if (status == VDBQ_OK)
        status = device_machine(rig->device, &machine, &rig->machine,
                                &rig->times, error);
    if (status != VDBQ_OK)
        return status;
    step_rows = device_machine_shape(rig->machine).step_rows;
    rig->steps = (unsigned)((rows + step_rows - 1) / step_rows);
    rig->program.launch.steps = rig->steps;
    rig->program.launch.steps_per_item =
        device_machine_shape(rig->machine).steps_per_item;
    rig->start = calloc(1, rig_progress_bytes(rig));
    rig->end = calloc(1, rig_progress_bytes(rig));
    if (rig->start == NULL || rig->end == NULL)
        return error_no_memory(error);
    rig->start->fault = NO_FAULT;
    status = device_job_create(rig->device, &rig->job, error);
    status = rig_memory(rig, status, MEMORY_DEVICE,
                        rig_progress_at() + rig_progress_bytes(rig),
                        &rig->control, error);
    status = rig_memory(rig, status, MEMORY_PINNED, room, &rig->data, error);
    return rig_memory(rig, status, MEMORY_DEVICE, room, &rig->result, error);
}

static inline void rig_close(struct rig *rig)
{
    device_job_destroy(rig->job);
    device_memory_destroy(rig->control);
    device_memory_destroy(rig->data);
    device_memory_destroy(rig->result);
    device_close(rig->device);
    free(rig->start);
    free(rig->end);
}

/* Fills the column and starts the program. */
static inline enum vdbq_status rig_start(struct rig *rig, struct error *error)
{
    int32_t *values = device_memory_host(rig->data);
    const struct device_copy copies[] = {
        { rig->control, 0, &rig->program, sizeof rig->program },
        { rig->control, rig_progress_at(), rig->start,
          rig_progress_bytes(rig) },
    };
    struct device_job_params params = {
        .machine = rig->machine,
        .in = copies,
        .in_count = 2,
        .launch = { .launch = &rig->program.launch,
                    .control = rig->control,
                    .progress_at = rig_progress_at(),
                    .pieces = { rig->data },
                    .result = rig->result },
        .progress = rig->end,
        .progress_size = rig_progress_bytes(rig),
    };
    enum vdbq_status status;

    for (uint64_t i = 0; values != NULL && i < rig->rows; i++)
        values[i] = rig_value(i);
    status = device_memory_give(rig->data, &rig->times, error);
    if (status == VDBQ_OK)
        status = device_job_start(rig->job, &params, error);
    return status;
}

/* Waits for the program that was started. */
static inline enum vdbq_status rig_end(struct rig *rig, struct error *error)
{
    enum vdbq_status status = device_job_run(rig->job, error);

    return status == VDBQ_OK ? device_job_wait(rig->job, &rig->times, error)
                             : status;
}

/* Fills the column and runs the program once. */
static inline enum vdbq_status rig_run(struct rig *rig, struct error *error)
{
    enum vdbq_status status = rig_start(rig, error);

    return status == VDBQ_OK ? rig_end(rig, error) : status;
}

/* Compares rows [0, count) with what the program must give. */
static inline void rig_check_rows(const struct rig *rig, const int32_t *rows,
                                  uint64_t count)
{
    uint64_t at = 0;

    for (uint64_t i = 0; i < rig->rows; i++) {
        if (rig_value(i) <= RIG_LIMIT)
            continue;
        assert_true(at < count);
        assert_int_equal(rows[at++], rig_value(i));
    }
    assert_int_equal(at, count);
}

/* Reads the rows of the steps in their order: those that descriptors name,
 * those between the states of a dense machine. */
static inline uint64_t rig_gather(struct rig *rig, int32_t *rows)
{
    bool dense = device_machine_shape(rig->machine).dense;
    const struct descriptor *steps = (const void *)(rig->end + 1);
    const u32 *states = (const void *)(rig->end + 1);
    struct error error;
    uint64_t count = 0;

    for (unsigned s = 0; s < rig->steps; s++) {
        u32 start = dense ? (u32)count : steps[s].start;
        u32 kept = dense ? states[s] - STATE_END - start : steps[s].count;
        assert_int_equal(device_read(rig->result, start * 4ull, rows + count,
                                     kept * 4ull, &rig->times, &error),
                         VDBQ_OK);
        count += kept;
    }
    assert_int_equal(rig->end->rows, dense ? count : 0);
    assert_int_equal(rig->end->fault, NO_FAULT);
    return count;
}

#endif
