/* SPDX-License-Identifier: MIT */
/*
 * Rows that several steps read. All rows of the step are taken where the first
 * of its readers is opened; each reader is a stream that gives them out. Those
 * that a device has stay there, if they fit. Where the account of memory has no
 * room for others they wait in a temporary file.
 */
#include "exec/stream/stream_share.h"

#include <assert.h>
#include <stdio.h>

#include "exec/rows/rescan.h"
#include "exec/rows/spill.h"
#include "exec/stream/stream_inner.h"

enum { BLOCK_BYTES = 256 << 10 }; /* of rows in the file, at most */

struct stream_share {
    const struct stream_params *params;
    const struct step *step; /* whose rows they are */
    unsigned holders;
    struct row_set rows;         /* all; where they are in the file, some, while
                                they are taken; where a device has them, their
                                words alone                             */
    struct device_rows device;   /* ... all of them                     */
    bool on_device;              /* they are there                      */
    char where[48];              /* ... for stats                       */
    struct account_share memory; /* of these                            */
    bool *reads;                 /* of each column: somebody reads it   */
    struct spill file;           /* rows that memory has no room for    */
    bool in_file;                /* there are such: then all            */
    struct error *failed;        /* comes behind the rows; NULL: nothing */
};

/* One of the readers. */
struct shared_stream {
    struct stream head;          /* first */
    struct stream_share *share;  /* held */
    uint64_t next;               /* row to give out next */
    struct spill_reader reader;  /* of the file, if they are there */
    struct device_reader device; /* of the device, if they are there */
    struct vdbq_vector *vectors;
};

/* ---------------------------------------------------------------- rows -- */

/* Keeps the failure of a row for each reader. */
static enum vdbq_status keep_failure(struct stream_share *share,
                                     enum vdbq_status status,
                                     struct error *error)
{
    if (!stream_row_failed(status))
        return status;
    share->failed = memory_zeroed(1, sizeof *share->failed);
    if (share->failed == NULL)
        return error_no_memory(error);
    *share->failed = *error;
    return VDBQ_OK;
}

/* Counts the memory that the rows have; false: there is no room for it. */
static bool count_rows(struct stream_share *share)
{
    const struct step *step = share->step;
    uint64_t bytes = share->rows.rows_room
                     * spill_row_bytes(step->columns, step->column_count, NULL);
    uint64_t before = share->memory.used_bytes;
    return bytes <= before || account_take(&share->memory, bytes - before);
}

/* Opens the file, which tells the step how much went to it. */
static enum vdbq_status open_file(struct stream_share *share,
                                  struct stream *stream, struct error *error)
{
    uint64_t least = account_least(&share->memory);
    share->in_file = true;
    return spill_init(
        &share->file,
        &(struct spill_params){ .files = share->params->files,
                                .memory = &stream->memory,
                                .columns = share->step->columns,
                                .column_count = share->step->column_count,
                                .reads = share->reads,
                                .plain = true,
                                .partitions = 1,
                                .block_bytes =
                                    least < BLOCK_BYTES ? least : BLOCK_BYTES },
        error);
}

/* Writes the rows at hand to the file, where memory has no room for all. */
static enum vdbq_status put_aside(struct stream_share *share,
                                  struct stream *stream, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    bool first = !share->in_file;
    if (first && count_rows(share))
        return VDBQ_OK;
    if (first)
        status = open_file(share, stream, error);
    if (status == VDBQ_OK)
        status = spill_add(&share->file, 0,
                           &(struct spill_rows){ .from = &share->rows,
                                                 .count = share->rows.rows },
                           error);
    if (first) /* all that there was; from now on a batch at a time */
        row_set_clear(&share->rows);
    if (first)
        account_give_all(&share->memory);
    share->rows.rows = 0;
    return status;
}

/* Adds the rows of a batch. */
static enum vdbq_status add_batch(struct stream_share *share,
                                  struct stream *stream,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    enum vdbq_status status =
        row_set_append(&share->rows, batch, share->params->threads, error);
    if (status == VDBQ_OK)
        status = put_aside(share, stream, error);
    return status == VDBQ_OK ? stop_pause(error) : status;
}

/* Takes all rows, up to the one that fails. */
static enum vdbq_status take_rows(struct stream_share *share,
                                  struct stream *stream, struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status =
        stream_materialise_begin(stream, &share->rows, error);
    if (status == VDBQ_OK)
        status =
            stream_keep(stream, &(struct stream_keep){ .reads = share->reads },
                        &share->device, &share->on_device, error);
    while (status == VDBQ_OK && !share->on_device && batch.rows > 0) {
        status = stream_batch(stream, &batch, error);
        if (status == VDBQ_OK)
            status = add_batch(share, stream, &batch, error);
    }
    return status;
}

/* Brings the rows to the host: the device's budget has no room for them. */
static enum vdbq_status leave_device(struct stream_share *share,
                                     struct stream *stream, struct error *error)
{
    struct device_reader reader;
    struct vdbq_batch batch = { .columns = share->step->column_count,
                                .rows = 1 };
    enum vdbq_status status =
        device_reader_init(&reader, &share->device, share->reads, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = device_reader_batch(&reader, &batch, error);
        if (status == VDBQ_OK)
            status = add_batch(share, stream, &batch, error);
    }
    device_reader_finish(&reader);
    device_rows_finish(&share->device);
    share->on_device = false;
    return status;
}

/* All rows are there: what EXPLAIN ANALYZE tells is the step's. */
static enum vdbq_status end_rows(struct stream_share *share,
                                 struct stream *stream, struct error *error)
{
    struct error refused;
    enum vdbq_status status = VDBQ_OK;
    if (share->on_device
        && device_rows_settle(&share->device, &refused) != VDBQ_OK)
        status = leave_device(share, stream, error);
    if (share->on_device)
        snprintf(share->where, sizeof share->where, "%llu rows on the device",
                 (unsigned long long)share->device.store.rows);
    atomic_fetch_add(&stream->memory.most_bytes, share->memory.most_bytes);
    if (status != VDBQ_OK || !share->in_file)
        return status;
    status = spill_end(&share->file, error);
    row_set_clear(&share->rows);
    share->file.file.memory = NULL; /* the step's ends; nothing is added now */
    return status;
}

enum vdbq_status stream_share_take(struct stream *stream,
                                   struct stream_share **share,
                                   struct error *error)
{
    struct stream_share *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;

    *share = NULL;
    if (made == NULL) {
        stream_close(stream);
        return error_no_memory(error);
    }
    made->params = stream->params;
    made->step = stream->step;
    made->holders = 1;
    made->memory.account = stream->params->account;
    made->reads = stream_copy_reads(stream);
    status = made->reads != NULL ? take_rows(made, stream, error)
                                 : error_no_memory(error);
    status = keep_failure(made, status, error);
    if (status == VDBQ_OK)
        status = end_rows(made, stream, error);
    stream_close(stream);
    if (status != VDBQ_OK) {
        stream_share_release(made);
        return status;
    }
    *share = made;
    return VDBQ_OK;
}

void stream_share_release(struct stream_share *share)
{
    if (share == NULL)
        return;
    assert(share->holders > 0);
    if (--share->holders > 0)
        return;
    row_set_finish(&share->rows);
    device_rows_finish(&share->device);
    account_give_all(&share->memory);
    spill_finish(&share->file);
    memory_release(share->reads);
    memory_release(share->failed);
    memory_release(share);
}

/* -------------------------------------------------------------- stream -- */

static enum vdbq_status shared_batch(struct stream *stream,
                                     struct vdbq_batch *batch,
                                     struct error *error)
{
    struct shared_stream *shared = (struct shared_stream *)stream;
    enum vdbq_status status;

    if (shared->share->on_device) {
        shared->device.reads = stream->reads;
        return device_reader_batch(&shared->device, batch, error);
    }
    if (!shared->share->in_file) {
        rescan_rows(&shared->share->rows, &shared->next, shared->vectors,
                    batch);
        return VDBQ_OK;
    }
    status = spill_read(&shared->reader, batch, error);
    if (status == VDBQ_OK && batch->rows > 0)
        stream_retype(stream, batch, shared->vectors);
    return status;
}

static struct dictionary *shared_dictionary(const struct stream *stream,
                                            unsigned column)
{
    return ((const struct shared_stream *)stream)
        ->share->rows.columns[column]
        .dictionary;
}

static void shared_close(struct stream *stream)
{
    struct shared_stream *shared = (struct shared_stream *)stream;

    spill_reader_finish(&shared->reader);
    device_reader_finish(&shared->device);
    memory_release(shared->vectors);
    stream_share_release(shared->share);
}

static void shared_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    const struct shared_stream *shared = (const struct shared_stream *)stream;
    stats->steps = shared->share->where;
    stream_add_times(&shared->device.fetch.times, stats);
}

/* Whose device has the rows. */
static const struct run_place *shared_place(const struct stream *stream)
{
    const struct stream_share *share =
        ((const struct shared_stream *)stream)->share;
    return share->on_device ? &share->device.place : NULL;
}

static struct device_column *shared_columns(struct stream *stream)
{
    return device_rows_columns(
        &((struct shared_stream *)stream)->share->device);
}

static void shared_sink(struct stream *stream, struct sink *sink)
{
    ((struct shared_stream *)stream)->device.sink = sink;
}

/* Gives all rows. */
static enum vdbq_status shared_advance(struct stream *stream, bool *more,
                                       struct error *error)
{
    struct shared_stream *shared = (struct shared_stream *)stream;
    const struct error *failed = shared->share->failed;
    enum vdbq_status status = device_reader_give(&shared->device, error);
    *more = false;
    if (status != VDBQ_OK || failed == NULL)
        return status;
    *error = *failed;
    return error->status;
}

static const struct stream_device_calls shared_device_calls = {
    .place = shared_place,
    .columns = shared_columns,
    .sink = shared_sink,
    .advance = shared_advance,
};

static const struct stream_calls shared_calls = {
    .batch = shared_batch,
    .dictionary = shared_dictionary,
    .stats = shared_stats,
    .close = shared_close,
    .device = &shared_device_calls,
};

static uint64_t row_count(const struct stream_share *share)
{
    return share->on_device ? share->device.store.rows
           : share->in_file ? spill_rows(&share->file, 0)
                            : share->rows.rows;
}

/* Gives the stream what it needs besides the rows. */
static enum vdbq_status fill_stream(struct shared_stream *shared,
                                    struct error *error)
{
    const struct step *step = shared->share->step;
    enum vdbq_status status = VDBQ_OK;

    shared->head.inputs =
        memory_zeroed(step->inputs.count + 1, sizeof *shared->head.inputs);
    shared->vectors =
        memory_zeroed(step->column_count + (size_t)1, sizeof *shared->vectors);
    if (shared->head.inputs == NULL || shared->vectors == NULL)
        return error_no_memory(error);
    if (shared->share->on_device)
        status = device_reader_init(&shared->device, &shared->share->device,
                                    shared->share->reads, error);
    else if (shared->share->in_file)
        status = spill_reader_init(
            &shared->reader,
            &(struct spill_range){ .spill = &shared->share->file,
                                   .rows = shared->head.rows_most },
            error);
    if (status != VDBQ_OK || shared->share->failed == NULL)
        return status;
    *error = *shared->share->failed;
    return stream_hold(&shared->head, error);
}

enum vdbq_status stream_share_open(struct stream_share *share,
                                   struct stream **stream, struct error *error)
{
    struct shared_stream *made = memory_zeroed(1, sizeof *made);
    enum vdbq_status status;

    *stream = NULL;
    if (made == NULL)
        return error_no_memory(error);
    share->holders++;
    made->share = share;
    made->head = (struct stream){ .calls = &shared_calls,
                                  .params = share->params,
                                  .step = share->step,
                                  .rows_most = row_count(share),
                                  .rescans = true };
    status = fill_stream(made, error);
    if (status != VDBQ_OK)
        stream_close(&made->head);
    else
        *stream = &made->head;
    return status;
}

enum vdbq_status stream_kept(struct stream **stream, struct error *error)
{
    bool *reads = stream_copy_reads(*stream);
    struct stream_share *share = NULL;
    enum vdbq_status status = stream_share_take(*stream, &share, error);
    *stream = NULL;
    if (status == VDBQ_OK)
        status = reads != NULL ? stream_share_open(share, stream, error)
                               : error_no_memory(error);
    stream_share_release(share);
    if (status == VDBQ_OK)
        (*stream)->reads = reads;
    else
        memory_release(reads);
    return status;
}
