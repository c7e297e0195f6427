/* SPDX-License-Identifier: MIT */
/*
 * Step two of the two-step result (Bakkum & Chakradhar, section 4): only rows
 * that exist leave the device, in table order. A dense machine's are one
 * segment; elsewhere (a CPU) the steps of a group pack their rows next to one
 * another, and their descriptors join into segments. Nothing is moved.
 */
#include "exec/result.h"

#include <string.h>

#include "cl/tablet.h"

uint64_t result_row_bytes(const struct program *program)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < program_results(program); i++)
        bytes += type_width(program_result(program, i).type) +
                 (program_result(program, i).null_register >= 0);
    return bytes;
}

enum vdbq_status result_init(struct result *result,
                             const struct result_params *params,
                             struct error *error)
{
    unsigned columns = program_results(params->program);
    *result = (struct result){ .params = *params,
                               .segments = VECTOR(struct segment),
                               .copies = VECTOR(struct device_copy) };
    result->vectors =
        arena_alloc(&result->arena, columns * sizeof *result->vectors);
    result->outputs =
        arena_alloc(&result->arena, columns * sizeof *result->outputs);
    return result->vectors && result->outputs ? VDBQ_OK
                                              : error_no_memory(error);
}

static void result_release(struct result *result)
{
    device_memory_release(result->written);
    device_memory_release(result->copied);
    result->written = result->copied = NULL;
    result->rows_room = 0;
}

void result_finish(struct result *result)
{
    result_release(result);
    vector_finish(&result->segments);
    vector_finish(&result->copies);
    arena_finish(&result->arena);
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

/* Allocates for `rows` rows: what the machine writes, and where the host
 * reads it. */
static enum vdbq_status result_room(struct result *result, uint64_t rows,
                                    struct error *error)
{
    struct device *device = result->params.device;
    bool mapped = result->params.mapped;
    u64 size = place_outputs(result, rows);
    enum vdbq_status status = device_memory_create(
        device, mapped ? MEMORY_PINNED : MEMORY_DEVICE, size,
        &result->written, error);
    if (status == VDBQ_OK && !mapped && result->params.sink == NULL)
        status = device_memory_create(device, MEMORY_PINNED, size,
                                      &result->copied, error);
    if (status == VDBQ_OK)
        result->rows_room = rows;
    return status;
}

enum vdbq_status result_begin(struct result *result,
                              struct machine_shape shape, uint64_t steps,
                              struct device_times *times,
                              struct error *error)
{
    uint64_t rows = steps * shape.step_rows;
    enum vdbq_status status = VDBQ_OK;
    result->segments.count = result->copies.count = result->next = 0;
    result->foreseen = 0;
    result->dense = shape.dense;
    if (rows > result->rows_room) {
        if (result->params.sink != NULL)
            status = result->params.sink->wait(result->params.sink, error);
        if (status != VDBQ_OK)
            return status;
        result_release(result);
        status = result_room(result, rows, error);
    }
    if (status == VDBQ_OK && result->params.mapped)
        status = device_memory_give(result->written, times, error);
    return status;
}

/* ------------------------------------------------------------ arrange -- */

bool result_stays(const struct result *result)
{
    return result->params.mapped || result->params.sink != NULL;
}

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

static enum vdbq_status add_copy(struct result *result, u64 at, u64 size,
                                 struct error *error)
{
    u8 *host = device_memory_host(result->copied);
    struct device_copy copy = {
        .memory = result->written,
        .offset = at,
        .bytes = host + at,
        .size = size,
    };
    return vector_append(&result->copies, &copy, 1) ? VDBQ_OK
                                                    : error_no_memory(error);
}

/* One segment of all columns is to be copied to the host. */
static enum vdbq_status copy_segment(struct result *result,
                                     const struct segment *segment,
                                     struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned columns = program_results(result->params.program);
    if (segment->count == 0)
        return VDBQ_OK;
    for (unsigned i = 0; i < columns && status == VDBQ_OK; i++) {
        const struct output *output = &result->outputs[i];
        status = add_copy(result,
                          output->values + (u64)segment->start * output->width,
                          (u64)segment->count * output->width, error);
        if (status == VDBQ_OK && output->null_register >= 0)
            status = add_copy(result, output->nulls + segment->start,
                              segment->count, error);
    }
    return status;
}

enum vdbq_status result_foresee(struct result *result, uint64_t rows,
                                struct error *error)
{
    result->foreseen = rows;
    return copy_segment(result, &(struct segment){ .count = (u32)rows },
                        error);
}

/* The one segment of a dense machine's rows; what was not foreseen of it is to
 * be copied. */
static enum vdbq_status arrange_dense(struct result *result, u32 rows,
                                      struct error *error)
{
    struct segment rest = { .start = (u32)result->foreseen };
    if (rows > rest.start)
        rest.count = rows - rest.start;
    enum vdbq_status status = add_segment(result, 0, rows, error);
    return status == VDBQ_OK && !result_stays(result)
               ? copy_segment(result, &rest, error)
               : status;
}

enum vdbq_status result_arrange(struct result *result,
                                const struct progress *progress,
                                unsigned steps, struct error *error)
{
    const struct descriptor *descriptors = (const void *)(progress + 1);
    enum vdbq_status status = VDBQ_OK;
    result->copies.count = 0;
    if (result->dense)
        return arrange_dense(result, progress->rows, error);
    for (unsigned i = 0; i < steps && status == VDBQ_OK; i++)
        status = add_segment(result, descriptors[i].start,
                             descriptors[i].count, error);
    for (size_t i = 0; !result_stays(result) && i < result->segments.count &&
                       status == VDBQ_OK;
         i++)
        status = copy_segment(result, vector_at(&result->segments, i), error);
    return status;
}

enum vdbq_status result_sink(struct result *result, struct error *error)
{
    struct sink *sink = result->params.sink;
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < result->segments.count && status == VDBQ_OK; i++) {
        const struct segment *segment = vector_at(&result->segments, i);
        status = sink->take(
            sink,
            &(struct sink_rows){ .memory = result->written,
                                 .outputs = result->outputs,
                                 .start = segment->start,
                                 .count = segment->count },
            error);
        if (status == VDBQ_OK)
            sink->rows += segment->count;
    }
    result->segments.count = 0;
    return status;
}

enum vdbq_status result_land(struct result *result,
                             struct device_times *times, struct error *error)
{
    struct device_memory *memory = result->copied;
    enum vdbq_status status = VDBQ_OK;
    if (result->params.sink != NULL)
        return VDBQ_OK;
    if (result->params.mapped) {
        memory = result->written;
        status = device_memory_take(memory, times, error);
    }
    result->host = device_memory_host(memory);
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
