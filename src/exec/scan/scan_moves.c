/* SPDX-License-Identifier: MIT */
/*
 * STEP_SCAN over another step's rows with a program that does nothing but give
 * columns of them: it is not run. Its rows are the input's, with the columns
 * where they belong, on the host or on a device.
 */
#include "exec/stream/stream_inner.h"

#include <assert.h>
#include <stddef.h>

#include "program/loads.h"

/* A column that is one of the input's. */
struct move {
    unsigned column;
    bool nulls; /* it has some */
};

struct scan_moves {
    struct stream head;          /* first */
    struct move *moves;          /* one a column */
    struct vdbq_vector *vectors; /* of the batch */
    struct sink sink;            /* takes the input's rows on a device ...   */
    struct sink *given;          /* ... and hands them on to this one        */
    bool *reads;                 /* of each column of the input: this one is
                                    one of those that `given` reads          */
    struct output *outputs;      /* where the columns of rows are            */
};

/* ---------------------------------------------------------------- moves -- */

/* A column of the input that is as wide; -1: none. */
static int any_column(const struct step *input, unsigned width)
{
    int column = (int)input->column_count - 1;
    while (column >= 0 && row_set_width(input->columns[column].type) != width)
        column--;
    return column;
}

/* Where result column `number` comes from; one that nobody reads, from any as
 * wide. */
static bool make_move(const struct stream *stream, unsigned number,
                      struct move *move)
{
    const struct program *program = &stream->step->scan.program;
    const struct step *input = stream->inputs[0]->step;
    enum vdbq_type type = stream->step->columns[number].type;
    struct program_result result = program_result(program, number);
    bool reads = stream->reads[number];
    int column = reads ? program_loaded_column(program, false, result.register_)
                       : any_column(input, row_set_width(type));
    if (column < 0
        || row_set_width(input->columns[column].type) != row_set_width(type))
        return false;
    *move = (struct move){ .column = (unsigned)column,
                           .nulls = reads && result.null_register >= 0 };
    return !move->nulls
           || program_loaded_column(program, true, result.null_register)
                  == column;
}

bool scan_moves_can(const struct stream *stream)
{
    const struct program *program = &stream->step->scan.program;
    struct move move;
    bool can = program->tables.count == 1 && program_only_loads(program);
    for (unsigned i = 0; i < stream->step->column_count && can; i++)
        can = make_move(stream, i, &move);
    return can;
}

/* ---------------------------------------------------------------- stream -- */

/* Notes which column of the input each result column is. */
static enum vdbq_status scan_moves_open(struct stream *stream,
                                        struct error *error)
{
    struct scan_moves *scan = (struct scan_moves *)stream;
    unsigned count = stream->step->column_count;
    stream->rows_most = stream->inputs[0]->rows_most;
    scan->moves = memory_zeroed(count, sizeof *scan->moves);
    scan->vectors = memory_zeroed(count, sizeof *scan->vectors);
    scan->outputs = memory_zeroed(count, sizeof *scan->outputs);
    scan->reads = memory_zeroed(stream->inputs[0]->step->column_count + 1,
                                sizeof *scan->reads);
    if (scan->moves == NULL || scan->vectors == NULL || scan->outputs == NULL
        || scan->reads == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < count; i++)
        make_move(stream, i, &scan->moves[i]);
    return VDBQ_OK;
}

/* Points to the input's columns; no value is copied. */
static enum vdbq_status scan_moves_batch(struct stream *stream,
                                         struct vdbq_batch *batch,
                                         struct error *error)
{
    struct scan_moves *scan = (struct scan_moves *)stream;
    const struct step *step = stream->step;
    struct vdbq_batch rows;
    enum vdbq_status status = stream_batch(stream->inputs[0], &rows, error);
    batch->rows = rows.rows;
    if (status != VDBQ_OK || rows.rows == 0)
        return status;
    for (unsigned i = 0; i < step->column_count; i++) {
        assert(scan->moves[i].column < rows.columns);
        scan->vectors[i] = rows.column[scan->moves[i].column];
        scan->vectors[i].type = step->columns[i].type;
        if (!scan->moves[i].nulls)
            scan->vectors[i].nulls = NULL;
    }
    batch->column = scan->vectors;
    return VDBQ_OK;
}

/* The input's batches are this one's. */
static void scan_moves_close_up(struct stream *stream)
{
    stream_close_up(stream->inputs[0]);
}

/* Columns keep their dictionaries. */
static struct dictionary *scan_moves_dictionary(const struct stream *stream,
                                                unsigned column)
{
    const struct scan_moves *scan = (const struct scan_moves *)stream;
    return stream->step->columns[column].type == VDBQ_TEXT ? stream_dictionary(
               stream->inputs[0], scan->moves[column].column)
                                                           : NULL;
}

/* Frees the list of moves. */
static void scan_moves_close(struct stream *stream)
{
    struct scan_moves *scan = (struct scan_moves *)stream;
    memory_release(scan->moves);
    memory_release(scan->vectors);
    memory_release(scan->outputs);
    memory_release(scan->reads);
}

/* ---------------------------------------------------- rows on a device -- */

static const struct run_place *scan_moves_place(const struct stream *stream)
{
    return stream_place(stream->inputs[0]);
}

/* The caller frees them; NULL: no memory. */
static struct device_column *scan_moves_columns(struct stream *stream)
{
    const struct scan_moves *scan = (const struct scan_moves *)stream;
    unsigned count = stream->step->column_count;
    struct device_column *inputs = stream_device_columns(stream->inputs[0]);
    struct device_column *columns = memory_zeroed(count + 1, sizeof *columns);
    for (unsigned i = 0; inputs != NULL && columns != NULL && i < count; i++) {
        columns[i] = inputs[scan->moves[i].column];
        columns[i].type = stream->step->columns[i].type;
        columns[i].nullable &= scan->moves[i].nulls;
    }
    if (inputs == NULL) {
        memory_release(columns);
        columns = NULL;
    }
    memory_release(inputs);
    return columns;
}

/* The scan that a sink is of. */
static struct scan_moves *scan_of(struct sink *sink)
{
    return (struct scan_moves *)(void *)((char *)sink
                                         - offsetof(struct scan_moves, sink));
}

/* Tells where the columns are. */
static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error)
{
    struct scan_moves *scan = scan_of(sink);
    struct sink_rows moved = *rows;
    moved.outputs = scan->outputs;
    for (unsigned i = 0; i < scan->head.step->column_count; i++) {
        scan->outputs[i] = rows->outputs[scan->moves[i].column];
        if (!scan->moves[i].nulls)
            scan->outputs[i].null_register = -1;
    }
    enum vdbq_status status = scan->given->take(scan->given, &moved, error);
    if (status == VDBQ_OK)
        scan->given->rows += rows->count;
    return status;
}

static enum vdbq_status sink_wait(struct sink *sink, struct error *error)
{
    struct sink *given = scan_of(sink)->given;
    return given->wait(given, error);
}

/* Rows go through to the sink. */
static void scan_moves_sink(struct stream *stream, struct sink *sink)
{
    struct scan_moves *scan = (struct scan_moves *)stream;
    for (unsigned i = 0; i < stream->step->column_count; i++)
        if (sink->reads == NULL || sink->reads[i])
            scan->reads[scan->moves[i].column] = true;
    scan->given = sink;
    scan->sink = (struct sink){ .reads = scan->reads,
                                .take = sink_take,
                                .wait = sink_wait,
                                .any_order = sink->any_order };
    stream_sink(stream->inputs[0], &scan->sink);
}

static enum vdbq_status scan_moves_advance(struct stream *stream, bool *more,
                                           struct error *error)
{
    struct scan_moves *scan = (struct scan_moves *)stream;
    enum vdbq_status status = stream_advance(stream->inputs[0], more, error);
    stream->rows = scan->given->rows;
    return status;
}

static const struct stream_device_calls device_calls = {
    .place = scan_moves_place,
    .columns = scan_moves_columns,
    .sink = scan_moves_sink,
    .advance = scan_moves_advance,
};

static void scan_moves_few(struct stream *stream, uint64_t rows)
{
    stream_few(stream->inputs[0], rows);
}

const struct stream_kind scan_moves = {
    .size = sizeof(struct scan_moves),
    .calls = { .batch = scan_moves_batch,
               .close_up = scan_moves_close_up,
               .few = scan_moves_few,
               .dictionary = scan_moves_dictionary,
               .close = scan_moves_close,
               .device = &device_calls },
    .open = scan_moves_open,
};
