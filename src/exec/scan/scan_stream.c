/* SPDX-License-Identifier: MIT */
/*
 * STEP_SCAN: a program over a table's tablets, or once. Rows that it probes
 * come first, from the step's inputs.
 */
#include <assert.h>

#include "device/kind.h"
#include "exec/scan/scan.h"
#include "exec/stream/stream_inner.h"

struct scan_stream {
    struct stream head; /* first */
    struct scan *scan;  /* of the table */
    /* rows that its program probes */
    struct build_side *build_side;
    struct run_place place;      /* where it runs */
    struct device *device;       /* that may take its rows; NULL: none        */
    struct vdbq_vector *vectors; /* of the batch, with the types of SQL */
};

/* The table that the program reads; NULL: none. */
static const struct table *table_of(const struct stream *stream)
{
    const struct vector *tables = &stream->step->scan.program.tables;
    if (tables->count == 0)
        return NULL;
    return catalogue_table_id(stream->params->snapshot->catalogue,
                              VECTOR_ITEMS(tables, struct program_table)[0].id);
}

/* About how many rows there are to work on: of the table, or of an input. */
static uint64_t rows_most(const struct stream *stream)
{
    uint64_t most = stream->rows_most;
    for (size_t i = 0; i < stream->step->inputs.count; i++)
        if (stream->inputs[i]->rows_most > most)
            most = stream->inputs[i]->rows_most;
    return most;
}

/* What the scan is opened with, at the place that was chosen. */
static struct scan_params scan_params(const struct scan_stream *made)
{
    const struct stream *stream = &made->head;
    return (struct scan_params){
        .launcher = { .place = &made->place,
                      .program = &stream->step->scan.program,
                      .rows = stream->rows_most,
                      .most_live =
                          stream_most_live(stream->step, stream->rows_most) },
        .stream = stream->params,
        .build_side = made->build_side,
        .texts = stream->texts,
        .ranks = stream->step->scan.ranks > 0 ? stream->params->ranks : NULL,
    };
}

static enum vdbq_status open_scan(struct scan_stream *made, struct error *error)
{
    const struct scan_params scan = scan_params(made);
    return scan_open(&scan, &made->scan, error);
}

/* Takes the build sides, and then chooses where to run. */
static enum vdbq_status scan_stream_open(struct stream *stream,
                                         struct error *error)
{
    struct scan_stream *made = (struct scan_stream *)stream;
    const struct stream_params *params = stream->params;
    const struct table *table = table_of(stream);
    struct run_place *place = &made->place;
    stream->rows_most = table != NULL ? table->rows : 1;
    made->vectors =
        memory_zeroed(stream->step->column_count, sizeof *made->vectors);
    if (made->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = params->choose(params->choose_context, table,
                                             &stream->step->scan.program,
                                             rows_most(stream), place, error);
    if (status != VDBQ_OK)
        return status;
    made->device = table != NULL ? stream_taker(place) : NULL;
    status = build_side_open(stream, made->device, &made->build_side, error);
    return status == VDBQ_OK ? open_scan(made, error) : status;
}

/* Rows on a device stay there, and what takes them is not the stream's. */
static bool scan_stream_rest(struct stream *stream)
{
    struct scan_stream *made = (struct scan_stream *)stream;
    return made->build_side == NULL && made->device == NULL
           && scan_rest(made->scan);
}

/* Whether a scan that rests at one place may go on at another. */
static bool is_same_place(const struct run_place *before,
                          const struct run_place *now)
{
    return before->device == now->device && before->mode == now->mode
           && before->pool == now->pool && stream_taker(now) == NULL;
}

/* Opens the scan for the table as it is now; anew where it is to run elsewhere. */
static enum vdbq_status scan_stream_again(struct stream *stream,
                                          struct error *error)
{
    struct scan_stream *made = (struct scan_stream *)stream;
    const struct stream_params *params = stream->params;
    const struct table *table = table_of(stream);
    struct run_place place;
    assert(table != NULL && made->build_side == NULL);
    stream->rows_most = table->rows;
    enum vdbq_status status = params->choose(params->choose_context, table,
                                             &stream->step->scan.program,
                                             rows_most(stream), &place, error);
    if (status != VDBQ_OK)
        return status;
    bool same =
        is_same_place(&made->place, &place) && table->rows <= SCAN_REST_ROWS;
    if (!same) {
        scan_close(made->scan);
        made->scan = NULL;
    }
    made->place = place;
    made->device = stream_taker(&made->place);
    const struct scan_params scan = scan_params(made);
    return same ? scan_again(made->scan, &scan, error)
                : scan_open(&scan, &made->scan, error);
}

/* The machine's values, with the types that they have in SQL. */
static enum vdbq_status scan_stream_batch(struct stream *stream,
                                          struct vdbq_batch *batch,
                                          struct error *error)
{
    struct scan_stream *scan = (struct scan_stream *)stream;
    enum vdbq_status status = scan_batch(scan->scan, batch, error);
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(stream, batch, scan->vectors);
    return VDBQ_OK;
}

static void scan_stream_close_up(struct stream *stream)
{
    scan_close_up(((struct scan_stream *)stream)->scan);
}

static void scan_stream_few(struct stream *stream, uint64_t rows)
{
    scan_few(((struct scan_stream *)stream)->scan, rows);
}

static bool scan_stream_stays(const struct stream *stream)
{
    return scan_stays(((const struct scan_stream *)stream)->scan);
}

/* Text results share one dictionary, but those that are shown. */
static struct dictionary *scan_stream_words(const struct stream *stream,
                                            unsigned column)
{
    return stream->step->columns[column].type == VDBQ_TEXT ? scan_dictionary(
               ((const struct scan_stream *)stream)->scan, column)
                                                           : NULL;
}

/* What the build sides and the launches took. */
static void scan_stream_stats(const struct stream *stream,
                              struct vdbq_stats *stats)
{
    const struct scan_stream *scan = (const struct scan_stream *)stream;
    build_side_stats(scan->build_side, stats);
    if (scan->scan != NULL)
        scan_stats(scan->scan, stats);
}

/* Closes the scan before the build sides that it reads. */
static void scan_stream_close(struct stream *stream)
{
    struct scan_stream *scan = (struct scan_stream *)stream;
    scan_close(scan->scan);
    build_side_close(scan->build_side);
    memory_release(scan->vectors);
}

/* ---------------------------------------------------- rows on a device -- */

/* Whose device may take the rows as they are. */
static const struct run_place *scan_stream_place(const struct stream *stream)
{
    const struct scan_stream *scan = (const struct scan_stream *)stream;
    return scan->device != NULL ? &scan->place : NULL;
}

/* From now on the sink takes the rows of all launches. */
static void scan_stream_sink(struct stream *stream, struct sink *sink)
{
    scan_sink(((struct scan_stream *)stream)->scan, sink);
}

/* Starts the first launches. */
static enum vdbq_status scan_stream_ahead(struct stream *stream,
                                          struct error *error)
{
    return scan_ahead(((struct scan_stream *)stream)->scan, error);
}

/* Gives the next rows to the sink. */
static enum vdbq_status scan_stream_advance(struct stream *stream, bool *more,
                                            struct error *error)
{
    struct scan *scan = ((struct scan_stream *)stream)->scan;
    enum vdbq_status status = scan_advance(scan, more, error);
    stream->rows = scan_taken_rows(scan);
    return status;
}

/* What is known of a column of the input: nothing of floats, whose ranges are
 * others. */
static struct device_column describe(struct stream *input, unsigned number,
                                     bool known, const struct interval *range)
{
    const struct program *program = &input->step->scan.program;
    struct device_column column =
        device_column_of(&input->step->columns[number],
                         program_result(program, number).null_register >= 0,
                         stream_dictionary(input, number));
    if (!known || column.type == VDBQ_FLOAT || column.type == VDBQ_DOUBLE)
        return column;
    if (!column.ranged || range->low > column.low)
        column.low = range->low;
    if (!column.ranged || range->high < column.high)
        column.high = range->high;
    column.ranged = true;
    return column;
}

/* All columns, whose ranges `find` tells. */
static struct device_column *describe_all(struct stream *input,
                                          bool (*find)(struct scan *,
                                                       struct interval *))
{
    unsigned count = input->step->column_count;
    struct device_column *columns = memory_zeroed(count, sizeof *columns);
    struct interval *ranges = memory_zeroed(count, sizeof *ranges);
    bool known =
        ranges != NULL && find(((struct scan_stream *)input)->scan, ranges);
    for (unsigned i = 0; columns != NULL && i < count; i++)
        columns[i] = describe(input, i, known, known ? &ranges[i] : NULL);
    memory_release(ranges);
    return columns;
}

/* The caller frees them; NULL: no memory. */
static struct device_column *scan_stream_columns(struct stream *input)
{
    return describe_all(input, scan_ranges);
}

static struct device_column *scan_stream_bounds(struct stream *input)
{
    return describe_all(input, scan_bounds);
}

/* The program, if an item of its machine walks alone and the host reads what it
 * writes. */
static const struct program *scan_stream_groups(const struct stream *stream,
                                                struct device **device)
{
    const struct scan_stream *scan = (const struct scan_stream *)stream;
    const struct program *program = &stream->step->scan.program;
    *device = scan->place.device;
    if (scan->place.mode != MODE_MAPPED
        || device_facts(scan->place.device)->kind->group_items > 1)
        return NULL;
    return program_find(program, OP_GROUP) >= 0 ? program : NULL;
}

static enum vdbq_status scan_stream_tables(struct stream *stream,
                                           struct launch_tables *tables,
                                           struct error *error)
{
    return scan_tables(((struct scan_stream *)stream)->scan, tables, error);
}

static void scan_stream_bound(struct stream *stream,
                              const struct launch_bound *bound)
{
    scan_bound(((struct scan_stream *)stream)->scan, bound);
}

static const struct stream_device_calls device_calls = {
    .groups = scan_stream_groups,
    .bounds = scan_stream_bounds,
    .tables = scan_stream_tables,
    .bound = scan_stream_bound,
    .place = scan_stream_place,
    .columns = scan_stream_columns,
    .sink = scan_stream_sink,
    .ahead = scan_stream_ahead,
    .advance = scan_stream_advance,
};

const struct stream_kind scan_stream = {
    .size = sizeof(struct scan_stream),
    .calls = { .batch = scan_stream_batch,
               .stays = scan_stream_stays,
               .close_up = scan_stream_close_up,
               .few = scan_stream_few,
               .dictionary = scan_stream_words,
               .stats = scan_stream_stats,
               .rest = scan_stream_rest,
               .again = scan_stream_again,
               .close = scan_stream_close,
               .device = &device_calls },
    .open = scan_stream_open,
};
