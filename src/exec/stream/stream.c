/* SPDX-License-Identifier: MIT */
/*
 * Opens streams, inputs first, and hands calls to their kinds. What each kind
 * does is in a file of its own.
 */
#include "exec/stream/stream_inner.h"
#include "exec/stream/stream_share.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/os/stack.h"

/* ---------------------------------------------------------------- open -- */

/* Steps whose streams are opened together. */
struct opening {
    const struct stream_params *params;
    const struct steps *steps;
    struct stream_share **shares; /* of each step; NULL: none is read twice */
    uint8_t **texts;              /* steps_texts()                         */
};

static enum vdbq_status open_step(const struct opening *opening, int number,
                                  struct stream **stream, struct error *error);

/* Opens the inputs of a LIMIT: what counts the rows first, for where it gives none
 * nobody asks for what the other would compute. Of several ranks that one sends
 * rows to the others, which wait for them. */
static enum vdbq_status open_limited(const struct opening *opening,
                                     struct stream *head, struct error *error)
{
    const int *inputs = VECTOR_ITEMS(&head->step->inputs, int);
    enum vdbq_status status = VDBQ_OK;
    head->limit = head->step->limit;
    if (head->step->inputs.count == 2)
        status = open_step(opening, inputs[1], &head->inputs[1], error);
    if (status == VDBQ_OK && head->inputs[1] != NULL)
        status = stream_read_limit(head->inputs[1], &head->limit, error);
    bool asks = head->limit.limit > 0 || opening->params->ranks != NULL;
    return status == VDBQ_OK && asks
               ? open_step(opening, inputs[0], &head->inputs[0], error)
               : status;
}

/* Opens the inputs in order; the caller closes them all on failure. */
static enum vdbq_status open_inputs(const struct opening *opening,
                                    struct stream *head, struct error *error)
{
    const struct vector *inputs = &head->step->inputs;
    enum vdbq_status status = VDBQ_OK;
    if (head->step->kind == STEP_LIMIT)
        return open_limited(opening, head, error);
    for (size_t i = 0; i < inputs->count && status == VDBQ_OK; i++)
        status = open_step(opening, VECTOR_ITEMS(inputs, int)[i],
                           &head->inputs[i], error);
    return status;
}

/* What stream_close() frees, where there is no stream yet. */
static void close_head(const struct stream *head)
{
    for (size_t i = 0; head->inputs && i < head->step->inputs.count; i++)
        stream_close(head->inputs[i]);
    memory_release(head->inputs);
    memory_release(head->reads);
    memory_release(head->texts);
}

/* Makes the stream of a head, whose inputs and reads are the stream's then. */
static enum vdbq_status make_stream(const struct stream *head,
                                    struct stream **stream, struct error *error)
{
    const struct stream_kind *kind;
    struct stream *made = NULL;
    enum vdbq_status status = head->params->choose_kind(head, &kind, error);
    if (status == VDBQ_OK) {
        assert(kind->size >= sizeof(struct stream));
        made = memory_zeroed(1, kind->size);
        status = made != NULL ? VDBQ_OK : error_no_memory(error);
    }
    if (status != VDBQ_OK) {
        close_head(head);
        return status;
    }
    *made = *head;
    made->calls = &kind->calls;
    status = kind->open(made, error);
    if (status != VDBQ_OK)
        stream_close(made);
    else
        *stream = made;
    return status;
}

/* The time, where somebody asks for it. */
uint64_t stream_clock(const struct stream_params *params)
{
    return params->stats != NULL && params->stats->counts != NULL ? os_time_ns()
                                                                  : 0;
}

/* The stream of a step, and those of its inputs. */
static enum vdbq_status open_one(const struct opening *opening, int number,
                                 struct stream **stream, struct error *error)
{
    const struct stream_params *params = opening->params;
    const struct steps *steps = opening->steps;
    const struct step *step = steps_at(steps, number);
    struct stream head = {
        .params = params,
        .step = step,
        .memory = { .account = params->account },
        .inputs = memory_zeroed(step->inputs.count + 1, sizeof *head.inputs),
        .reads =
            memory_zeroed(step->column_count + (size_t)1, sizeof *head.reads),
        .texts =
            memory_zeroed(step->column_count + (size_t)1, sizeof *head.texts),
    };
    uint64_t start = stream_clock(params);
    *stream = NULL;
    enum vdbq_status status =
        head.inputs != NULL && head.reads != NULL && head.texts != NULL
            ? open_inputs(opening, &head, error)
            : error_no_memory(error);
    if (status != VDBQ_OK) {
        close_head(&head);
        return status;
    }
    steps_reads(steps, number, head.reads);
    head.any_order = steps_any_order(steps, number);
    memcpy(head.texts, opening->texts[number], step->column_count);
    status = make_stream(&head, stream, error);
    if (status == VDBQ_OK)
        (*stream)->time_ns = stream_clock(params) - start;
    return status;
}

/* One more reader of the rows of a step. */
static enum vdbq_status open_reader(const struct opening *opening, int number,
                                    struct stream **stream, struct error *error)
{
    unsigned count = steps_at(opening->steps, number)->column_count;
    enum vdbq_status status =
        stream_share_open(opening->shares[number], stream, error);
    if (status != VDBQ_OK)
        return status;
    (*stream)->reads = memory_zeroed(count + (size_t)1, sizeof(bool));
    if ((*stream)->reads == NULL) {
        stream_close(*stream);
        *stream = NULL;
        return error_no_memory(error);
    }
    steps_reads(opening->steps, number, (*stream)->reads);
    return VDBQ_OK;
}

/* A stream of the rows of a step that several read. */
static enum vdbq_status open_shared(const struct opening *opening, int number,
                                    struct stream **stream, struct error *error)
{
    struct stream_share **share = &opening->shares[number];
    enum vdbq_status status = VDBQ_OK;
    if (*share == NULL) {
        status = open_one(opening, number, stream, error);
        if (status == VDBQ_OK)
            status = stream_share_take(*stream, share, error);
        *stream = NULL;
    }
    return status == VDBQ_OK ? open_reader(opening, number, stream, error)
                             : status;
}

static enum vdbq_status open_step(const struct opening *opening, int number,
                                  struct stream **stream, struct error *error)
{
    if (stack_is_short())
        return stack_refuse(error, (struct position){ 0 });
    return opening->shares != NULL && steps_readers(opening->steps, number) > 1
               ? open_shared(opening, number, stream, error)
               : open_one(opening, number, stream, error);
}

enum vdbq_status stream_open_at(const struct stream_params *params,
                                const struct steps *steps, enum texts_use use,
                                int number, struct stream **stream,
                                struct error *error)
{
    struct opening opening = { .params = params,
                               .steps = steps,
                               .texts = steps_texts(steps, use) };
    size_t count = steps->steps.count;
    *stream = NULL;
    if (opening.texts == NULL)
        return error_no_memory(error);
    if (steps_share(steps)) {
        opening.shares = memory_zeroed(count, sizeof *opening.shares);
        if (opening.shares == NULL) {
            memory_release(opening.texts);
            return error_no_memory(error);
        }
    }
    enum vdbq_status status = open_step(&opening, number, stream, error);
    for (size_t i = 0; opening.shares != NULL && i < count; i++)
        stream_share_release(opening.shares[i]);
    memory_release(opening.shares);
    memory_release(opening.texts);
    return status;
}

enum vdbq_status stream_open(const struct stream_params *params,
                             const struct steps *steps, enum texts_use use,
                             struct stream **stream, struct error *error)
{
    return stream_open_at(params, steps, use, (int)steps->steps.count - 1,
                          stream, error);
}

void stream_close_input(struct stream *stream, unsigned number)
{
    assert(number < stream->step->inputs.count);
    stream_close(stream->inputs[number]);
    stream->inputs[number] = NULL;
}

/* --------------------------------------------------------------- stats -- */

void stream_stats_init(struct stream_stats *stats)
{
    *stats = (struct stream_stats){ .sum = { .device = "", .mode = "" } };
    stats->sum.build = stats->build;
    stats->sum.steps = stats->steps;
}

void stream_list(const char *name, char *room, size_t size)
{
    size_t length = strlen(room), own = strlen(name);
    if (length == 0 && own < size)
        memcpy(room, name, own + 1);
    else if (strstr(room, name) == NULL)
        snprintf(room + length, size - length, "%s%s", length > 0 ? ", " : "",
                 name);
}

/* Adds what can be added; names are listed elsewhere. */
static void add_figures(const struct vdbq_stats *from, struct vdbq_stats *to)
{
    to->rows_read += from->rows_read;
    to->cells += from->cells;
    to->bytes_read += from->bytes_read;
    to->tablets += from->tablets;
    to->tablets_skipped += from->tablets_skipped;
    to->bytes_in += from->bytes_in;
    to->bytes_out += from->bytes_out;
    to->kernel_ns += from->kernel_ns;
    to->transfer_ns += from->transfer_ns;
    to->compile_ns += from->compile_ns;
    to->builds += from->builds;
    to->builds_cached += from->builds_cached;
    to->load_ns += from->load_ns;
    to->bytes_mapped += from->bytes_mapped;
    to->launches += from->launches;
}

bool stream_most_live(const struct step *step, uint64_t rows)
{
    const double share_least = 1.0 / 16;
    return step->rows >= share_least * (double)rows;
}

void stream_add_times(const struct device_times *times,
                      struct vdbq_stats *stats)
{
    stats->bytes_in += times->bytes_in;
    stats->bytes_out += times->bytes_out;
    stats->kernel_ns += times->kernel_ns;
    stats->transfer_ns += times->transfer_ns;
    stats->compile_ns += times->compile_ns;
    stats->launches += times->launches;
}

/* Adds what a stream that is closed came to. Without memory for it, nobody
 * is told. */
static void keep_count(const struct stream *stream)
{
    struct stream_stats *stats = stream->params->stats;
    const struct step_count count = { .step = stream->step,
                                      .rows = stream->rows,
                                      .time_ns = stream->time_ns,
                                      .memory_bytes = stream->memory.most_bytes,
                                      .spill_bytes = stream->memory.spill_bytes,
                                      .runs = 1,
                                      .seen = stream->asked };
    if (stats != NULL && stats->counts != NULL && !stream->rescans
        && !stream->rests)
        step_count_add(stats->counts, &count);
}

void stream_keep_stats(const struct stream *stream)
{
    struct vdbq_stats own = { .build = "", .steps = "" };
    struct stream_stats *stats = stream->params->stats;
    if (stream->calls->stats == NULL || stats == NULL || stream->rests)
        return;
    stream->calls->stats(stream, &own);
    add_figures(&own, &stats->sum);
    stream_list(own.build, stats->build, sizeof stats->build);
    stream_list(own.steps, stats->steps, sizeof stats->steps);
}

void stream_add_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    if (stream == NULL)
        return;
    for (size_t i = 0; i < stream->step->inputs.count; i++)
        stream_add_stats(stream->inputs[i], stats);
    if (stream->calls->stats != NULL)
        stream->calls->stats(stream, stats);
}

void stream_close(struct stream *stream)
{
    if (stream == NULL)
        return;
    uint64_t start = stream_clock(stream->params);
    stream_keep_stats(stream);
    stream->calls->close(stream);
    account_give_all(&stream->memory);
    for (size_t i = 0; stream->inputs && i < stream->step->inputs.count; i++)
        stream_close(stream->inputs[i]);
    stream->time_ns += stream_clock(stream->params) - start;
    keep_count(stream);
    memory_release(stream->inputs);
    memory_release(stream->reads);
    memory_release(stream->texts);
    memory_release(stream->held);
    memory_release(stream);
}

bool *stream_copy_reads(const struct stream *stream)
{
    unsigned count = stream->step->column_count;
    bool *reads = memory_zeroed(count + (size_t)1, sizeof *reads);
    assert(stream->reads != NULL);
    if (reads != NULL)
        memcpy(reads, stream->reads, count * sizeof *reads);
    return reads;
}

/* ---------------------------------------------------------------- rows -- */

bool stream_row_failed(enum vdbq_status status)
{
    return status != VDBQ_OK && status != VDBQ_NO_MEMORY
           && status != VDBQ_CANCELLED;
}

enum vdbq_status stream_hold(struct stream *stream, struct error *error)
{
    assert(error->status != VDBQ_OK);
    if (stream->held == NULL)
        stream->held = memory_zeroed(1, sizeof *stream->held);
    if (stream->held == NULL)
        return error_no_memory(error);
    *stream->held = *error;
    return VDBQ_OK;
}

enum vdbq_status stream_in_vain(const struct stream_params *params,
                                bool too_few, struct error *error)
{
    assert(params->hope != NULL);
    params->hope->vain = true;
    params->hope->too_few = too_few;
    return error_set(error, VDBQ_LIMIT,
                     "there are not as many rows as the plan hopes for");
}

/* Fails with what is held, if anything is: then that is the end. */
static enum vdbq_status tell_held(struct stream *stream, struct error *error)
{
    if (stream->held == NULL)
        return VDBQ_OK;
    assert(stream->held->status != VDBQ_OK);
    stream->ended = true;
    *error = *stream->held;
    return error->status;
}

enum vdbq_status stream_batch(struct stream *stream, struct vdbq_batch *batch,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    *batch = (struct vdbq_batch){ .columns = stream->step->column_count };
    stream->asked = true;
    if (stream->ended)
        return VDBQ_OK;
    if (stream->last)
        return tell_held(stream, error);
    if (stack_is_short())
        return stack_refuse(error, (struct position){ 0 });
    uint64_t start = stream_clock(stream->params);
    bool held = stream->held != NULL;
    status = stream->calls->batch(stream, batch, error);
    stream->last = !held && stream->held != NULL;
    stream->time_ns += stream_clock(stream->params) - start;
    if (status == VDBQ_OK && batch->rows == 0)
        status = tell_held(stream, error);
    if (status != VDBQ_OK)
        batch->rows = 0;
    stream->rows += batch->rows;
    stream->ended = batch->rows == 0;
    if (stream->ended && !stream->rescans && !stream->params->nested)
        stop_step();
    return status;
}

void stream_close_up(struct stream *stream)
{
    if (stream->calls->close_up != NULL)
        stream->calls->close_up(stream);
}

void stream_few(struct stream *stream, uint64_t rows)
{
    if (stream->calls->few != NULL)
        stream->calls->few(stream, rows);
}

bool stream_stays(const struct stream *stream)
{
    (void)stream;
    return true;
}

/* Whether another batch may be added to those of the stream so far. */
static bool stays(const struct stream *stream, const struct batches *batches)
{
    return batches->count < BATCHES_MAX && !stream->ended && !stream->last
           && stream->calls->stays != NULL && stream->calls->stays(stream);
}

enum vdbq_status stream_batches(struct stream *stream, struct batches *batches,
                                struct error *error)
{
    struct vdbq_batch batch;
    batches->count = 0;
    enum vdbq_status status = stream_batch(stream, &batch, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        batches_add(batches, &batch);
        if (!stays(stream, batches))
            break;
        status = stream_batch(stream, &batch, error);
    }
    return status;
}

struct dictionary *stream_dictionary(const struct stream *stream,
                                     unsigned column)
{
    return stream->calls->dictionary != NULL
               ? stream->calls->dictionary(stream, column)
               : NULL;
}

void stream_retype(const struct stream *stream, struct vdbq_batch *batch,
                   struct vdbq_vector *vectors)
{
    for (unsigned i = 0; i < batch->columns; i++) {
        vectors[i] = batch->column[i];
        vectors[i].type = stream->step->columns[i].type;
    }
    batch->column = vectors;
}

unsigned stream_threads(const struct stream_params *params)
{
    return params->threads > 0 ? params->threads : 1;
}
