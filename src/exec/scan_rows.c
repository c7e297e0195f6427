/* SPDX-License-Identifier: MIT */
/*
 * STEP_SCAN over an input: a program over the rows of another step, in
 * chunks. A failure comes where its row would have come.
 */
#include "exec/chunk.h"
#include "exec/stream_inner.h"

struct scan_rows {
    struct stream head;
    struct stream *input;      /* whose rows are run over: the others' are
                                  inner rows                               */
    struct inner *inner;
    struct chunks chunks;
    struct vdbq_batch pending; /* of the input: rows that are not in a chunk
                                  yet, from `taken` on                     */
    uint64_t taken;
    bool fed;                  /* nothing is left to start                 */
    struct error held;         /* ... since this happened; status OK: not  */
    struct vdbq_vector *vectors; /* of the batch, with the types of SQL    */
};

/* Opens the program for rows with the input's words. */
static enum vdbq_status open_chunks(struct scan_rows *scan,
                                    struct error *error)
{
    const struct stream *input = scan->input;
    unsigned count = input->step->column_count;
    struct words **words = memory_zeroed(count, sizeof *words);
    if (words == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < count; i++)
        words[i] = stream_words(input, i);
    enum vdbq_status status =
        chunks_init(&scan->chunks,
                    &(struct chunk_params){
                        .stream = scan->head.params,
                        .program = &scan->head.step->scan.program,
                        .inner = scan->inner,
                        .words = words,
                        .rows = input->rows_most },
                    error);
    memory_release(words);
    return status;
}

static enum vdbq_status scan_rows_open(struct stream *stream,
                                       struct error *error)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    const struct program_table *table = stream->step->scan.program.tables.items;
    scan->input = stream->inputs[table->input - 1];
    stream->rows_most = scan->input->rows_most;
    scan->vectors = memory_zeroed(stream->step->column_count,
                                  sizeof *scan->vectors);
    if (scan->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = inner_gather(stream, &scan->inner, error);
    return status == VDBQ_OK ? open_chunks(scan, error) : status;
}

/* Fetches the input's next rows where all are in chunks; notes its end. */
static enum vdbq_status fetch(struct scan_rows *scan, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (scan->taken < scan->pending.rows)
        return VDBQ_OK;
    status = stream_pause(scan->head.params, error);
    if (status == VDBQ_OK)
        status = stream_batch(scan->input, &scan->pending, error);
    scan->taken = 0;
    scan->fed = status != VDBQ_OK || scan->pending.rows == 0;
    return status;
}

/* Fills the next chunk and starts it. */
static enum vdbq_status start_chunk(struct scan_rows *scan,
                                    struct error *error)
{
    struct chunk *chunk;
    enum vdbq_status status = fetch(scan, error);
    if (status != VDBQ_OK || scan->fed)
        return status;
    status = chunks_begin(&scan->chunks, &chunk, error);
    while (status == VDBQ_OK && !scan->fed && chunk->rows < chunk->rows_room) {
        uint64_t left = scan->pending.rows - scan->taken;
        uint64_t room = chunk->rows_room - chunk->rows;
        uint64_t rows = left < room ? left : room;
        chunk_add(&scan->chunks, chunk, &scan->pending, scan->taken, rows);
        scan->taken += rows;
        if (chunk->rows < chunk->rows_room)
            status = fetch(scan, error);
    }
    if (status != VDBQ_OK) {
        scan->held = *error;
        status = chunk->rows > 0 ? VDBQ_OK : status;
    }
    return status == VDBQ_OK ? chunks_start(&scan->chunks, error) : status;
}

/* Starts chunks while there is room. */
static void feed(struct scan_rows *scan, struct error *error)
{
    while (!scan->fed && chunks_have_room(&scan->chunks)) {
        if (start_chunk(scan, error) == VDBQ_OK)
            continue;
        scan->held = *error;
        scan->fed = true;
    }
}

static enum vdbq_status scan_rows_batch(struct stream *stream,
                                        struct vdbq_batch *batch,
                                        struct error *error)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    while (status == VDBQ_OK && batch->rows == 0) {
        feed(scan, error);
        if (chunks_in_flight(&scan->chunks) == 0)
            break;
        status = chunks_batch(&scan->chunks, batch, error);
    }
    if (status == VDBQ_OK && batch->rows == 0 && scan->held.status != VDBQ_OK) {
        *error = scan->held;
        return error->status;
    }
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    stream_retype(stream, batch, scan->vectors);
    return VDBQ_OK;
}

static struct words *scan_rows_words(const struct stream *stream,
                                     unsigned column)
{
    return stream->step->columns[column].type == VDBQ_TEXT
               ? ((const struct scan_rows *)stream)->chunks.words.words
               : NULL;
}

static void scan_rows_stats(const struct stream *stream,
                            struct vdbq_stats *stats)
{
    const struct scan_rows *scan = (const struct scan_rows *)stream;
    inner_stats(scan->inner, stats);
    chunks_stats(&scan->chunks, stats);
}

static void scan_rows_close(struct stream *stream)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    chunks_finish(&scan->chunks);
    inner_close(scan->inner);
    memory_release(scan->vectors);
}

const struct stream_kind scan_rows = {
    .size = sizeof(struct scan_rows),
    .calls = { .batch = scan_rows_batch,
               .words = scan_rows_words,
               .stats = scan_rows_stats,
               .close = scan_rows_close },
    .open = scan_rows_open,
};
