/* SPDX-License-Identifier: MIT */
/*
 * STEP_SCAN with an input: a program over the rows of another step, in
 * chunks. A failure comes where its row would have come. A program that does
 * nothing but give columns of its input is not run: its rows are the input's.
 */
#include "exec/chunk.h"
#include "exec/stream_inner.h"

struct scan_rows {
    struct stream head;
    struct chunks chunks;
    struct vdbq_batch pending; /* of the input: rows that are not in a chunk
                                  yet, from `taken` on                     */
    uint64_t taken;
    bool fed;                  /* nothing is left to start                 */
    struct error held;         /* ... since this happened; status OK: not  */
    struct vdbq_vector *vectors; /* of the batch, with the types of SQL    */
    struct move *moves;        /* one a column; NULL: the program runs     */
};

/* ---------------------------------------------------------------- moves -- */

/* A column that is one of the input's. */
struct move {
    unsigned column;
    bool nulls; /* it has some */
};

/* The column that the instruction `op` writes to register `to`, or -1. */
static int column_of(const struct program *program, bool null, int to)
{
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (op_operands(in->op)[1] == 'f' && in->a == to &&
            (in->op == OP_COLUMN_NULL) == null)
            return in->b;
    }
    return -1;
}

/* Whether the rows' part only loads columns and constants. */
static bool only_loads(const struct program *program)
{
    struct program_part part = program_part(program);
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        if (op_operands(in->op)[1] != 'f' && in->op != OP_INTEGER_I32 &&
            in->op != OP_RESULT)
            return false;
    }
    return true;
}

/* Where result column `number` comes from; one that nobody reads, from any as
 * wide. */
static bool make_move(const struct stream *stream, unsigned number,
                      struct move *move)
{
    const struct program *program = &stream->step->scan.program;
    const struct step *input = stream->inputs[0]->step;
    unsigned width = relation_width(stream->step->columns[number].type);
    struct program_result result = program_result(program, number);
    int column = column_of(program, false, result.register_);
    if (!stream->reads[number])
        for (column = (int)input->column_count - 1; column >= 0; column--)
            if (relation_width(input->columns[column].type) == width)
                break;
    if (column < 0 || stream->step->columns[number].type == VDBQ_TEXT ||
        relation_width(input->columns[column].type) != width)
        return false;
    *move = (struct move){ .column = (unsigned)column,
                           .nulls = stream->reads[number] &&
                                    result.null_register >= 0 };
    return !move->nulls ||
           column_of(program, true, result.null_register) == column;
}

/* Notes the moves, if the program does nothing else. */
static enum vdbq_status make_moves(struct scan_rows *scan, struct error *error)
{
    unsigned count = scan->head.step->column_count;
    struct move *moves;
    bool made = true;
    if (!only_loads(&scan->head.step->scan.program))
        return VDBQ_OK;
    moves = memory_zeroed(count, sizeof *moves);
    if (moves == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < count && made; i++)
        made = make_move(&scan->head, i, &moves[i]);
    if (made)
        scan->moves = moves;
    else
        memory_release(moves);
    return VDBQ_OK;
}

/* The input's next rows, with the columns where they belong. */
static enum vdbq_status move_batch(struct scan_rows *scan,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    const struct step *step = scan->head.step;
    enum vdbq_status status =
        stream_batch(scan->head.inputs[0], &scan->pending, error);
    batch->rows = scan->pending.rows;
    if (status != VDBQ_OK || batch->rows == 0)
        return status;
    for (unsigned i = 0; i < step->column_count; i++) {
        scan->vectors[i] = scan->pending.column[scan->moves[i].column];
        scan->vectors[i].type = step->columns[i].type;
        if (!scan->moves[i].nulls)
            scan->vectors[i].nulls = NULL;
    }
    batch->column = scan->vectors;
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- runs -- */

/* Opens the program for rows with the input's words. */
static enum vdbq_status open_chunks(struct scan_rows *scan,
                                    struct error *error)
{
    const struct stream *input = scan->head.inputs[0];
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
    stream->rows_most = stream->inputs[0]->rows_most;
    scan->vectors = memory_zeroed(stream->step->column_count,
                                  sizeof *scan->vectors);
    if (scan->vectors == NULL)
        return error_no_memory(error);
    enum vdbq_status status = make_moves(scan, error);
    return status == VDBQ_OK && scan->moves == NULL ? open_chunks(scan, error)
                                                    : status;
}

/* Fetches the input's next rows where all are in chunks; notes its end. */
static enum vdbq_status fetch(struct scan_rows *scan, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (scan->taken < scan->pending.rows)
        return VDBQ_OK;
    status = stream_pause(scan->head.params, error);
    if (status == VDBQ_OK)
        status = stream_batch(scan->head.inputs[0], &scan->pending, error);
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
    if (scan->moves != NULL)
        return move_batch(scan, batch, error);
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
    chunks_stats(&((const struct scan_rows *)stream)->chunks, stats);
}

static void scan_rows_close(struct stream *stream)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    chunks_finish(&scan->chunks);
    memory_release(scan->vectors);
    memory_release(scan->moves);
}

const struct stream_kind scan_rows = {
    .size = sizeof(struct scan_rows),
    .calls = { .batch = scan_rows_batch,
               .words = scan_rows_words,
               .stats = scan_rows_stats,
               .close = scan_rows_close },
    .open = scan_rows_open,
};
