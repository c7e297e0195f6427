/* SPDX-License-Identifier: MIT */
/*
 * Step two of the two-step result (Bakkum & Chakradhar, section 4): only rows
 * that exist leave the device, in table order. A dense machine's are one
 * segment; elsewhere (a CPU) the steps of a group pack their rows next to one
 * another, and their descriptors join into segments. Nothing is moved but what
 * left narrow: it is widened.
 */
#include "exec/launch/result.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/parallel.h"
#include "cl/tablet.h"
#include "exec/launch/narrow.h"

uint64_t result_row_bytes(const struct program *program)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < program_results(program); i++)
        bytes += type_width(program_result(program, i).type)
                 + (program_result(program, i).null_register >= 0);
    return bytes;
}

static u64 place_outputs(struct result *result, uint64_t rows);

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
    if (result->vectors == NULL || result->outputs == NULL)
        return error_no_memory(error);
    place_outputs(result, 0); /* where all rows go to groups it stays so */
    return VDBQ_OK;
}

/* Gives back the memory for rows; the next launch makes room again. */
static void result_release(struct result *result)
{
    device_memory_release(result->written);
    device_memory_release(result->copied);
    device_memory_release(result->narrow);
    result->written = result->copied = result->narrow = NULL;
    result->rows_room = 0;
}

void result_finish(struct result *result)
{
    result_release(result);
    vector_finish(&result->segments);
    vector_finish(&result->copies);
    arena_finish(&result->arena);
}

bool result_leaves(const struct result *result)
{
    return !result->params.mapped && result->params.sink == NULL;
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
    enum vdbq_status status =
        device_memory_create(device, mapped ? MEMORY_PINNED : MEMORY_DEVICE,
                             size, &result->written, error);
    if (status == VDBQ_OK && result_leaves(result))
        status = device_memory_create(device, MEMORY_PINNED, size,
                                      &result->copied, error);
    if (status == VDBQ_OK)
        result->rows_room = rows;
    return status;
}

void result_leave_wide(struct result *result)
{
    for (unsigned i = 0; i < program_results(result->params.program); i++)
        result->outputs[i].narrow = 0;
}

enum vdbq_status result_begin(struct result *result, struct machine_shape shape,
                              uint64_t steps, struct device_times *times,
                              struct error *error)
{
    uint64_t rows = steps * shape.step_rows;
    enum vdbq_status status = VDBQ_OK;
    result->segments.count = result->copies.count = result->next = 0;
    result->prefetched = 0;
    result->dense = shape.dense;
    result_leave_wide(result);
    if (rows > result->rows_room) {
        if (result->params.sink != NULL)
            status = result->params.sink->wait(result->params.sink, error);
        if (status != VDBQ_OK)
            return status;
        result_release(result);
        status = result_room(result, rows, error);
    }
    /* Nothing is written where all rows go to groups. */
    if (status == VDBQ_OK && result->params.mapped && result->written != NULL)
        status = device_memory_give(result->written, times, error);
    assert(status != VDBQ_OK || rows <= result->rows_room);
    return status;
}

/* ------------------------------------------------------------ arrange -- */

/* Adds rows behind the last segment, or joins them to it. */
static enum vdbq_status add_segment(struct result *result, u32 start, u32 count,
                                    struct error *error)
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

/* Bytes of a column's value as it leaves the device. */
static u32 leaving_width(const struct output *output)
{
    return output->narrow > 0 ? output->narrow : output->width;
}

/* Where values of a column from row `start` on arrive. A narrow one has half
 * its place, in memory of half the size. */
static u8 *arrival(const struct result *result, const struct output *output,
                   u64 start)
{
    bool narrow = output->narrow > 0;
    u8 *host = device_memory_host(narrow ? result->narrow : result->copied);
    return host + output->values / (narrow ? 2 : 1)
           + start * leaving_width(output);
}

/* Whether a column leaves the device in fewer bytes than its type has. */
static bool any_narrow(const struct result *result)
{
    bool any = false;
    for (unsigned i = 0; i < program_results(result->params.program); i++)
        any |= result->outputs[i].narrow > 0;
    return any;
}

/* Makes sure that there is memory for narrow columns to arrive in. */
static enum vdbq_status narrow_room(struct result *result, struct error *error)
{
    if (!any_narrow(result) || result->narrow != NULL)
        return VDBQ_OK;
    return device_memory_create(result->params.device, MEMORY_PINNED,
                                device_memory_size(result->copied) / 2 + 1,
                                &result->narrow, error);
}

/* Adds a copy of result bytes from the device to the host. */
static enum vdbq_status add_copy(struct result *result, u64 at, void *bytes,
                                 u64 size, struct error *error)
{
    assert(size > 0 && result->written != NULL);
    struct device_copy copy = {
        .memory = result->written, .offset = at, .bytes = bytes, .size = size
    };
    return vector_append(&result->copies, &copy, 1) ? VDBQ_OK
                                                    : error_no_memory(error);
}

/* One segment of all columns is to be copied to the host. */
static enum vdbq_status copy_segment(struct result *result,
                                     const struct segment *segment,
                                     struct error *error)
{
    unsigned columns = program_results(result->params.program);
    u8 *host = device_memory_host(result->copied);
    if (segment->count == 0)
        return VDBQ_OK;
    enum vdbq_status status = narrow_room(result, error);
    for (unsigned i = 0; i < columns && status == VDBQ_OK; i++) {
        const struct output *output = &result->outputs[i];
        u64 width = leaving_width(output);
        u64 nulls = output->nulls + segment->start;
        status = add_copy(result, output->values + segment->start * width,
                          arrival(result, output, segment->start),
                          segment->count * width, error);
        if (status == VDBQ_OK && output->null_register >= 0)
            status =
                add_copy(result, nulls, host + nulls, segment->count, error);
    }
    return status;
}

enum vdbq_status result_prefetch(struct result *result, uint64_t rows,
                                 struct error *error)
{
    assert(rows <= result->rows_room);
    assert(result->dense && result_leaves(result));
    result->prefetched = rows;
    return copy_segment(result, &(struct segment){ .count = (u32)rows }, error);
}

/* The one segment of a dense machine's rows; what was not prefetched of it is
 * to be copied. */
static enum vdbq_status arrange_dense(struct result *result, u32 rows,
                                      struct error *error)
{
    struct segment rest = { .start = (u32)result->prefetched };
    if (rows > rest.start)
        rest.count = rows - rest.start;
    enum vdbq_status status = add_segment(result, 0, rows, error);
    return status == VDBQ_OK && result_leaves(result)
               ? copy_segment(result, &rest, error)
               : status;
}

enum vdbq_status result_arrange(struct result *result,
                                const struct progress *progress, unsigned steps,
                                struct error *error)
{
    const struct descriptor *descriptors = (const void *)(progress + 1);
    enum vdbq_status status = VDBQ_OK;
    result->copies.count = 0;
    if (result->dense)
        return arrange_dense(result, progress->rows, error);
    for (unsigned i = 0; i < steps && status == VDBQ_OK; i++)
        status = add_segment(result, descriptors[i].start, descriptors[i].count,
                             error);
    for (size_t i = 0; result_leaves(result) && i < result->segments.count
                       && status == VDBQ_OK;
         i++)
        status = copy_segment(result, vector_at(&result->segments, i), error);
    return status;
}

void result_none(struct result *result)
{
    result->segments.count = 0;
}

enum vdbq_status result_sink(struct result *result, struct error *error)
{
    assert(result->params.sink != NULL);
    struct sink *sink = result->params.sink;
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0; i < result->segments.count && status == VDBQ_OK; i++) {
        const struct segment *segment = vector_at(&result->segments, i);
        status = sink->take(sink,
                            &(struct sink_rows){ .memory = result->written,
                                                 .outputs = result->outputs,
                                                 .start = segment->start,
                                                 .count = segment->count,
                                                 .number = result->number },
                            error);
        if (status == VDBQ_OK)
            sink->rows += segment->count;
    }
    result_none(result);
    return status;
}

/* Rows that are widened at a time. */
enum { PART_ROWS = 1 << 15 };

/* Rows of a segment that arrived. */
struct arrived {
    const struct result *result;   /* it lies in */
    const struct segment *segment; /* to be widened */
};

/* Widens the narrow columns of part i of the rows; for parallel_run(). */
static void widen_part(void *context, unsigned i)
{
    const struct arrived *arrived = context;
    const struct result *result = arrived->result;
    u64 first = (u64)i * PART_ROWS, rows = arrived->segment->count - first;
    u64 start = arrived->segment->start + first;
    for (unsigned k = 0; k < program_results(result->params.program); k++) {
        const struct output *output = &result->outputs[k];
        if (output->narrow > 0)
            narrow_widen(output, arrival(result, output, start),
                         (u8 *)device_memory_host(result->copied)
                             + output->values + start * output->width,
                         rows < PART_ROWS ? rows : PART_ROWS);
    }
}

/* Widens the narrow columns of a segment. */
static void widen(const struct result *result, const struct segment *segment)
{
    struct arrived arrived = { .result = result, .segment = segment };
    parallel_run((unsigned)((segment->count + PART_ROWS - 1) / PART_ROWS),
                 widen_part, &arrived);
}

enum vdbq_status result_land(struct result *result, struct device_times *times,
                             struct error *error)
{
    struct device_memory *memory = result->copied;
    enum vdbq_status status = VDBQ_OK;
    if (result->written == NULL || result->params.sink != NULL)
        return VDBQ_OK;
    if (result->params.mapped) {
        memory = result->written;
        status = device_memory_take(memory, times, error);
    }
    result->host = device_memory_host(memory);
    for (size_t i = 0; any_narrow(result) && i < result->segments.count; i++)
        widen(result, vector_at(&result->segments, i));
    return status;
}

/* ----------------------------------------------------------- close up -- */

/* Rows of a segment on average, from which on it is worth a batch of its own;
 * and rows that are too few for several threads. */
enum { SEGMENT_ROWS = 1 << 16, FEW_ROWS = 1 << 14 };

/* The rows of all segments. */
static u64 segment_rows(const struct result *result)
{
    u64 rows = 0;
    for (size_t i = 0; i < result->segments.count; i++)
        rows += VECTOR_ITEMS(&result->segments, struct segment)[i].count;
    return rows;
}

/* Moves the segments of a column behind the first; for parallel_run(). */
static void close_column(void *context, unsigned column)
{
    const struct result *result = context;
    const struct segment *segments =
        VECTOR_ITEMS(&result->segments, struct segment);
    const struct output *output = &result->outputs[column];
    u8 *values = (u8 *)result->host + output->values;
    u8 *nulls = (u8 *)result->host + output->nulls;
    u64 to = (u64)segments[0].start + segments[0].count;
    for (size_t i = 1; i < result->segments.count; i++) {
        u64 from = segments[i].start, rows = segments[i].count;
        assert(to <= from);
        memmove(values + to * output->width, values + from * output->width,
                rows * output->width);
        if (output->null_register >= 0)
            memmove(nulls + to, nulls + from, rows);
        to += rows;
    }
}

void result_close_up(struct result *result)
{
    u64 rows = segment_rows(result);
    if (result->segments.count < 2 || rows < FEW_ROWS
        || rows >= result->segments.count * SEGMENT_ROWS)
        return;
    parallel_run(program_results(result->params.program), close_column, result);
    VECTOR_ITEMS(&result->segments, struct segment)[0].count = (u32)rows;
    result->segments.count = 1;
}

/* --------------------------------------------------------------- rows -- */

bool result_has_batch(const struct result *result)
{
    return result->next < result->segments.count;
}

void result_batch(struct result *result, struct vdbq_batch *batch)
{
    unsigned columns = program_results(result->params.program);
    *batch =
        (struct vdbq_batch){ .columns = columns, .column = result->vectors };
    if (!result_has_batch(result))
        return;
    assert(result->host != NULL);
    const struct segment *segment = vector_at(&result->segments, result->next);
    for (unsigned i = 0; i < columns; i++) {
        const struct output *output = &result->outputs[i];
        struct program_result column =
            program_result(result->params.program, i);
        result->vectors[i] = (struct vdbq_vector){
            .type = (enum vdbq_type)column.type,
            .values = result->host + output->values
                      + (u64)segment->start * output->width,
            .nulls = output->null_register >= 0
                         ? result->host + output->nulls + segment->start
                         : NULL,
        };
    }
    batch->rows = segment->count;
    result->next++;
}
