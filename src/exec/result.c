/* SPDX-License-Identifier: MIT */
/*
 * Step two of the two-step result (Bakkum & Chakradhar, section 4): only rows
 * that exist leave the device, in table order. Where the steps of the machine
 * pack their rows next to one another (a CPU) their descriptors join into
 * segments, and nothing is moved; elsewhere the device moves each step's rows
 * to their places first, and they are one segment.
 */
#include "exec/result.h"

#include <string.h>

#include "cl/tablet.h"

uint64_t result_row_bytes(const struct program *program)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < program_results(program); i++)
        bytes += type_width(program_result(program, i).type) + 1;
    return bytes;
}

enum vdbq_status result_init(struct result *result,
                             const struct result_params *params,
                             struct error *error)
{
    unsigned columns = program_results(params->program);
    *result = (struct result){ .params = *params,
                               .segments = VECTOR(struct segment) };
    result->vectors =
        arena_alloc(&result->arena, columns * sizeof *result->vectors);
    result->outputs =
        arena_alloc(&result->arena, columns * sizeof *result->outputs);
    return result->vectors && result->outputs ? VDBQ_OK
                                              : error_no_memory(error);
}

static void result_release(struct result *result)
{
    device_memory_destroy(result->written);
    device_memory_destroy(result->ordered);
    device_memory_destroy(result->copied);
    device_memory_destroy(result->descriptors);
    result->written = result->ordered = NULL;
    result->copied = result->descriptors = NULL;
    result->rows_room = 0;
}

void result_finish(struct result *result)
{
    result_release(result);
    vector_finish(&result->segments);
    arena_finish(&result->arena);
}

void result_reshape(struct result *result, struct machine_shape shape)
{
    if (shape.step_rows < result->params.shape.step_rows)
        result_release(result); /* more steps need more descriptors */
    result->params.shape = shape;
}

/* --------------------------------------------------------------- room -- */

/* Gives each result column its place for `rows` rows; the bytes in all. */
static u64 place_outputs(struct result *result, uint64_t rows)
{
    const struct program *program = result->params.program;
    u64 at = 0;
    for (unsigned i = 0; i < program_results(program); i++) {
        struct program_result column = program_result(program, i);
        struct output *output = &result->outputs[i];
        *output = (struct output){ .values = at,
                                   .register_ = column.register_,
                                   .null_register = column.null_register,
                                   .width = type_width(column.type) };
        at = TABLET_ALIGNED(at + rows * output->width);
        output->nulls = at;
        if (output->null_register >= 0)
            at = TABLET_ALIGNED(at + rows);
    }
    return at;
}

/* Steps that a launch over `rows` rows has. */
static u64 steps_of(const struct result *result, uint64_t rows)
{
    u64 step = result->params.shape.step_rows;
    return (rows + step - 1) / step;
}

/* Allocates for `rows` rows: what the machine writes, where it is put into
 * order, and where the host reads it. */
static enum vdbq_status result_room(struct result *result, uint64_t rows,
                                    struct error *error)
{
    struct device *device = result->params.device;
    bool mapped = result->params.mapped;
    bool ordered = result->params.shape.ordered;
    u64 size = place_outputs(result, rows);
    enum vdbq_status status = device_memory_create(
        device, mapped && ordered ? MEMORY_PINNED : MEMORY_DEVICE, size,
        &result->written, error);
    if (status == VDBQ_OK && !ordered)
        status = device_memory_create(device,
                                      mapped ? MEMORY_PINNED : MEMORY_DEVICE,
                                      size, &result->ordered, error);
    if (status == VDBQ_OK && !mapped)
        status = device_memory_create(device, MEMORY_PINNED, size,
                                      &result->copied, error);
    if (status == VDBQ_OK)
        status = device_memory_create(
            device, MEMORY_DEVICE,
            steps_of(result, rows) * sizeof(struct descriptor),
            &result->descriptors, error);
    if (status == VDBQ_OK)
        result->rows_room = rows;
    return status;
}

enum vdbq_status result_begin(struct result *result, uint64_t rows,
                              struct output *outputs,
                              struct device_launch *launch,
                              struct device_times *times,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    result->segments.count = result->next = 0;
    if (rows > result->rows_room) {
        result_release(result);
        status = result_room(result, rows, error);
    }
    if (status == VDBQ_OK && result->params.mapped)
        status = device_memory_give(
            result->ordered ? result->ordered : result->written, times, error);
    memcpy(outputs, result->outputs,
           program_results(result->params.program) * sizeof *outputs);
    launch->result = result->written;
    launch->descriptors = result->descriptors;
    return status;
}

/* ------------------------------------------------------------ collect -- */

/* Adds rows behind the last segment, or joins them to it. */
static enum vdbq_status add_segment(struct result *result, u32 start,
                                    u32 count, struct error *error)
{
    struct segment *last =
        result->segments.count > 0
            ? vector_at(&result->segments, result->segments.count - 1)
            : NULL;
    if (count == 0)
        return VDBQ_OK;
    if (last != NULL && last->start + last->count == start) {
        last->count += count;
        return VDBQ_OK;
    }
    last = vector_add(&result->segments);
    if (last == NULL)
        return error_no_memory(error);
    *last = (struct segment){ .start = start, .count = count };
    return VDBQ_OK;
}

/* Makes segments of the descriptors. */
static enum vdbq_status join_descriptors(struct result *result,
                                         unsigned steps,
                                         struct device_times *times,
                                         struct error *error)
{
    struct descriptor *all = memory_zeroed(steps, sizeof *all);
    if (all == NULL)
        return error_no_memory(error);
    enum vdbq_status status = device_read(result->descriptors, 0, all,
                                          steps * sizeof *all, times, error);
    for (unsigned i = 0; i < steps && status == VDBQ_OK; i++)
        status = add_segment(result, all[i].start, all[i].count, error);
    memory_release(all);
    return status;
}

/* Copies one segment of one column to the host. */
static enum vdbq_status copy_segment(struct result *result,
                                     const struct segment *segment,
                                     const struct output *output,
                                     struct device_memory *from,
                                     struct device_times *times,
                                     struct error *error)
{
    u8 *host = device_memory_host(result->copied);
    u64 at = output->values + (u64)segment->start * output->width;
    enum vdbq_status status =
        device_read(from, at, host + at, (u64)segment->count * output->width,
                    times, error);
    at = output->nulls + segment->start;
    if (status == VDBQ_OK && output->null_register >= 0)
        status = device_read(from, at, host + at, segment->count, times,
                             error);
    return status;
}

/* Copies what exists to the host, and nothing else. */
static enum vdbq_status copy_out(struct result *result,
                                 struct device_memory *from,
                                 struct device_times *times,
                                 struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned columns = program_results(result->params.program);
    for (size_t s = 0; s < result->segments.count; s++)
        for (unsigned i = 0; i < columns && status == VDBQ_OK; i++)
            status = copy_segment(result, vector_at(&result->segments, s),
                                  &result->outputs[i], from, times, error);
    result->host = device_memory_host(result->copied);
    return status;
}

enum vdbq_status result_collect(struct result *result,
                                struct device_machine *machine,
                                const struct device_launch *launch,
                                uint64_t rows, struct device_times *times,
                                struct error *error)
{
    struct device_memory *from =
        result->ordered ? result->ordered : result->written;
    unsigned steps = (unsigned)steps_of(result, launch->launch->row_end);
    enum vdbq_status status;
    if (result->ordered == NULL)
        status = join_descriptors(result, steps, times, error);
    else
        status = add_segment(result, 0, (u32)rows, error);
    if (status == VDBQ_OK && result->ordered != NULL && rows > 0)
        status = device_order(machine, launch, result->ordered, steps, times,
                              error);
    if (status != VDBQ_OK)
        return status;
    if (!result->params.mapped)
        return copy_out(result, from, times, error);
    status = device_memory_take(from, times, error);
    result->host = device_memory_host(from);
    return status;
}

void result_batch(struct result *result, struct vdbq_batch *batch)
{
    unsigned columns = program_results(result->params.program);
    *batch = (struct vdbq_batch){ .columns = columns,
                                  .column = result->vectors };
    if (result->next >= result->segments.count)
        return;
    const struct segment *segment = vector_at(&result->segments, result->next);
    for (unsigned i = 0; i < columns; i++) {
        const struct output *output = &result->outputs[i];
        struct program_result column =
            program_result(result->params.program, i);
        result->vectors[i] = (struct vdbq_vector){
            .type = (enum vdbq_type)column.type,
            .values = result->host + output->values +
                      (u64)segment->start * output->width,
            .nulls = output->null_register >= 0
                         ? result->host + output->nulls + segment->start
                         : NULL,
        };
    }
    batch->rows = segment->count;
    result->next++;
}
