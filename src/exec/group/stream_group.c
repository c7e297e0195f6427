/* SPDX-License-Identifier: MIT */
/*
 * STEP_GROUP as a stream: all rows go in while it is opened. Where a
 * device has the rows and takes them itself, that groups them, if it can, and
 * many groups stay there; else the host does.
 */
#include <stdio.h>

#include "exec/device_group/device_group.h"
#include "exec/device_group/device_pairs.h"
#include "exec/group/group_apart.h"
#include "exec/group/machine_group.h"
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"
#include "program/dataflow/determined.h"

enum {
    KEEP_MIN = 1 << 10, /* groups that stay on a device            */
    KEEP_MIN_ASKED = 2  /* ... where it is asked for               */
};

struct group_stream {
    struct stream head;          /* first */
    struct rescan groups;        /* the result's rows, owned */
    struct device_rows kept;     /* ... where they stay on a device */
    struct device_reader reader; /* of these                      */
    bool is_kept;                /* the rows are there */
    struct reorder spilled;      /* ... where they do not fit into memory */
    bool is_spilled;             /* the rows are there */
    struct device_times times;   /* of grouping on a device */
    char where[96];              /* for stats               */
    struct group *group;         /* on the host; owned; NULL: none           */
    bool *nullable;              /* ... that it reads                        */
};

/* The input's column that a column of the groups takes its words from. */
static unsigned words_column(const struct step *step, unsigned column)
{
    if (column < step->group.keys)
        return column;
    return (unsigned)VECTOR_ITEMS(
               &step->group.aggregates,
               struct step_aggregate)[column - step->group.keys]
        .column;
}

/* Text columns keep the dictionaries of the input. */
static void take_dictionary(struct group_stream *group)
{
    const struct step *step = group->head.step;
    for (unsigned i = 0; i < step->column_count; i++)
        if (step->columns[i].type == VDBQ_TEXT)
            row_set_dictionary(
                &group->groups.row_set, i,
                dictionary_hold(stream_dictionary(group->head.inputs[0],
                                                  words_column(step, i))));
}

/* Takes all rows of the input in. */
static enum vdbq_status add_rows(struct group_stream *stream,
                                 struct group *group, struct error *error)
{
    struct stream *input = stream->head.inputs[0];
    struct batches batches;
    enum vdbq_status status =
        batches_init(&batches, input->step->column_count, error);
    do {
        if (status == VDBQ_OK)
            status = stream_batches(input, &batches, error);
        if (status == VDBQ_OK && batches.count > 0)
            status = group_add(group, &batches, error);
        if (status == VDBQ_OK)
            status = stop_pause(error);
    } while (status == VDBQ_OK && batches.count > 0);
    batches_finish(&batches);
    return status;
}

/* ---------------------------------------------------------- on the host -- */

/* Counts the rows as what the stream holds from now on. */
static void hold_rows(struct group_stream *stream)
{
    const struct step *step = stream->head.step;
    uint64_t bytes = stream->groups.row_set.rows
                     * spill_row_bytes(step->columns, step->column_count, NULL);
    account_take_anyway(&stream->head.memory, bytes);
}

/* Which columns of the input may have NULLs: those of a scan say so. NULL: no
 * memory. */
static bool *find_nullable(const struct step *input)
{
    bool *nullable = memory_zeroed(input->column_count + 1, sizeof *nullable);
    for (unsigned i = 0; nullable != NULL && i < input->column_count; i++)
        nullable[i] =
            input->kind != STEP_SCAN
            || program_result(&input->scan.program, i).null_register >= 0;
    return nullable;
}

enum vdbq_status group_of_stream(const struct stream *stream,
                                 struct account_share *memory, bool **nullable,
                                 struct group **group, struct error *error)
{
    const struct step *step = stream->step;
    const struct step *input = stream->inputs[0]->step;
    *group = NULL;
    *nullable = find_nullable(input);
    if (*nullable == NULL)
        return error_no_memory(error);
    return group_create(
        &(struct group_params){ .step = &step->group,
                                .columns = input->columns,
                                .results = step->columns,
                                .reads = stream->reads,
                                .any_order = stream->any_order,
                                .nullable = *nullable,
                                .threads = stream_threads(stream->params),
                                .memory = memory,
                                .files = stream->params->files,
                                .apart = step->group.apart },
        group, error);
}

/* Lets go what grouped. */
static void drop_group(struct group_stream *stream)
{
    group_destroy(stream->group);
    memory_release(stream->nullable);
    stream->group = NULL;
    stream->nullable = NULL;
}

/* Takes all rows of the input in threads of the host. */
static enum vdbq_status group_on_host(struct group_stream *stream,
                                      struct error *error)
{
    enum vdbq_status status =
        group_of_stream(&stream->head, &stream->head.memory, &stream->nullable,
                        &stream->group, error);
    if (status == VDBQ_OK)
        status = add_rows(stream, stream->group, error);
    if (status == VDBQ_OK)
        status = group_finish(stream->group, &stream->groups.row_set,
                              &stream->spilled, error);
    drop_group(stream);
    stream->is_spilled = stream->spilled.rows > 0;
    if (!stream->is_spilled)
        hold_rows(stream);
    snprintf(stream->where, sizeof stream->where, "host%s",
             stream->is_spilled ? " (groups in files)" : "");
    return status;
}

/* -------------------------------------------------------- on the device -- */

/* Whether groups are worth a launch of what reads them: of few the host has
 * made use before that is under way. */
static bool stay(const struct run_place *place, uint64_t groups)
{
    return groups >= (place->settings->steps == STEPS_DEVICE ? KEEP_MIN_ASKED
                                                             : KEEP_MIN);
}

/* Has the groups stay on the device; false: they cannot. */
static enum vdbq_status keep_groups(struct group_stream *stream,
                                    struct device_group *group,
                                    struct error *error)
{
    struct stream *head = &stream->head;
    const struct run_place *place = stream_place(head->inputs[0]);
    if (!stay(place, device_group_count(group)))
        return VDBQ_OK;
    enum vdbq_status status =
        device_group_keep(group, place, head->step->columns, head->reads,
                          &stream->kept, &stream->is_kept, error);
    if (status == VDBQ_OK && stream->is_kept)
        return device_reader_init(&stream->reader, &stream->kept, head->reads,
                                  error);
    device_rows_finish(&stream->kept);
    return status;
}

/* Makes the groups those of a group apart. */
static enum vdbq_status give_groups(struct group_stream *stream,
                                    struct device_group *group,
                                    struct error *error)
{
    struct device_groups groups;
    enum vdbq_status status = device_group_read(group, &groups, error);
    return status == VDBQ_OK ? group_take_device(
               stream->group, &groups, device_group_rows(group), error)
                             : status;
}

/* Does with the groups what is to be done with them. */
static enum vdbq_status end_groups(struct group_stream *stream,
                                   struct device_group *group,
                                   struct error *error)
{
    enum vdbq_status status = device_group_end(group, error);
    if (status == VDBQ_OK && stream->group != NULL)
        return give_groups(stream, group, error);
    if (status == VDBQ_OK)
        status = keep_groups(stream, group, error);
    return status == VDBQ_OK && !stream->is_kept
               ? device_group_finish(group, &stream->groups.row_set, error)
               : status;
}

/* What EXPLAIN ANALYZE says of it. */
static void note_device(struct group_stream *stream,
                        const struct device_group *group, const char *way)
{
    const struct device *device = stream_device(stream->head.inputs[0], NULL);
    stream->times = *device_group_times(group);
    snprintf(stream->where, sizeof stream->where, "%s (%s%s%s)",
             device_facts(device)->name, device_group_text(group), way,
             stream->is_kept ? ", groups stay" : "");
}

/* The device takes the input's rows where they are. */
static enum vdbq_status run_on_device(struct group_stream *stream,
                                      const struct device_group_params *params,
                                      struct error *error)
{
    struct device_group *group;
    enum vdbq_status status = device_group_create(params, &group, error);
    if (status != VDBQ_OK)
        return status;
    stream_sink(stream->head.inputs[0], device_group_sink(group));
    status = stream_drain(stream->head.inputs[0], error);
    if (status == VDBQ_OK)
        status = end_groups(stream, group, error);
    note_device(stream, group,
                device_group_sink(group)->grouped ? ", in the program" : "");
    device_group_destroy(group);
    return status;
}

/* The same by way of the pairs of groups and values that count once. */
static enum vdbq_status run_pairs(struct group_stream *stream,
                                  const struct device_group_params *params,
                                  struct error *error)
{
    struct device_group *group = NULL;
    struct device_pairs pairs;
    struct sink_rows rows;
    enum vdbq_status status =
        device_pairs_take(&pairs, params, stream->head.inputs[0], error);
    if (status == VDBQ_OK)
        status = device_group_create(&pairs.params, &group, error);
    rows = device_rows_all(&pairs.rows);
    if (status == VDBQ_OK && rows.count > 0)
        status = device_group_sink(group)->take(device_group_sink(group), &rows,
                                                error);
    if (status == VDBQ_OK && pairs.others != NULL)
        status = device_pairs_write(&pairs, group, stream->head.step->columns,
                                    &stream->groups.row_set, error);
    else if (status == VDBQ_OK)
        status = end_groups(stream, group, error);
    if (group != NULL)
        note_device(stream, group,
                    pairs.others != NULL ? ", by pairs and beside"
                                         : ", by pairs");
    device_group_destroy(group);
    device_times_add(&stream->times, &pairs.times);
    device_pairs_finish(&pairs);
    return status;
}

/* Whether the device can group where keys that follow from others are none;
 * `*follows`, which the caller frees, says which. */
static bool can_with_fewer(const struct stream *input,
                           struct device_group_params *params, bool **follows)
{
    unsigned keys = params->step->keys;
    if (input->step->kind != STEP_SCAN || keys < 2)
        return false;
    *follows = memory_zeroed(keys, sizeof **follows);
    if (*follows == NULL)
        return false;
    program_determined(&input->step->scan.program, keys, *follows);
    params->follows = *follows;
    if (device_group_can(params))
        return true;
    params->follows = NULL;
    return false;
}

/* Whether it can by way of pairs. */
static bool can_by_pairs(const struct group_stream *stream,
                         const struct device_group_params *params)
{
    const struct stream *input = stream->head.inputs[0];
    return stream->group == NULL && stream_bounded(input)
           && device_pairs_can(params, input->rows_most);
}

/* Groups on the device that has the rows, where there is one and it can;
 * `*done`: so it was. */
static enum vdbq_status group_on_device(struct group_stream *stream, bool *done,
                                        struct error *error)
{
    struct stream *input = stream->head.inputs[0];
    struct device_group_params params = {
        .step = &stream->head.step->group,
        .inputs = input->step->columns,
        .column_count = input->step->column_count,
        .program =
            input->step->kind == STEP_SCAN ? &input->step->scan.program : NULL,
        .rows = input->rows_most,
        .rows_expected = input->step->rows,
        .groups_expected = stream->head.step->rows,
        .threads = stream_threads(stream->head.params)
    };
    struct device_column *columns;
    enum vdbq_status status = VDBQ_OK;
    *done = false;
    params.device = stream_device(input, &params.room);
    if (params.device == NULL)
        return VDBQ_OK;
    params.columns = columns = stream_device_columns(input);
    if (columns == NULL)
        return error_no_memory(error);
    bool *follows = NULL, pairs = false;
    *done =
        device_group_can(&params)
        || (stream->group == NULL && can_with_fewer(input, &params, &follows));
    if (!*done)
        *done = pairs = can_by_pairs(stream, &params);
    if (!*done) {
        params.wide = stream_bounded(input);
        *done = device_group_can(&params);
    }
    if (!*done)
        *done = pairs = can_by_pairs(stream, &params);
    if (*done)
        status = pairs ? run_pairs(stream, &params, error)
                       : run_on_device(stream, &params, error);
    memory_release(follows);
    memory_release(columns);
    return status;
}

/* ----------------------------------------------------- in the machine -- */

/* The program of the input takes its rows into groups. */
static enum vdbq_status run_in_machine(struct group_stream *stream,
                                       struct machine_group *group,
                                       struct error *error)
{
    struct stream *input = stream->head.inputs[0];
    enum vdbq_status status =
        input->calls->device->tables(input, machine_group_tables(group), error);
    if (status == VDBQ_OK)
        status = stream_drain(input, error);
    if (status == VDBQ_OK)
        status = machine_group_finish(group, stream->group,
                                      &stream->groups.row_set, error);
    if (status == VDBQ_OK)
        hold_rows(stream);
    snprintf(stream->where, sizeof stream->where, "in the program");
    return status;
}

/* Groups in the program of a scan, where it can; `*done`: so it was. */
static enum vdbq_status group_in_machine(struct group_stream *stream,
                                         bool *done, struct error *error)
{
    struct stream *input = stream->head.inputs[0];
    const struct stream_device_calls *calls = input->calls->device;
    struct device_group_params params = {
        .step = &stream->head.step->group,
        .inputs = input->step->columns,
        .column_count = input->step->column_count,
        .rows = UINT64_MAX,
        .rows_expected = input->step->rows,
        .threads = stream_threads(stream->head.params)
    };
    struct machine_group *group = NULL;
    struct device_column *columns;
    const struct program *program = calls != NULL && calls->groups != NULL
                                        ? calls->groups(input, &params.device)
                                        : NULL;
    if (program == NULL)
        return VDBQ_OK;
    params.columns = columns = calls->bounds(input);
    if (columns == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        machine_group_create(&params, program, &group, error);
    memory_release(columns);
    *done = group != NULL;
    if (group != NULL)
        status = run_in_machine(stream, group, error);
    machine_group_destroy(group);
    return status;
}

/* ------------------------------------------------------------------ open -- */

enum vdbq_status group_stream_give(struct stream *stream,
                                   struct group_taker *taker, uint64_t *rows,
                                   struct error *error)
{
    struct group_stream *group = (struct group_stream *)stream;
    bool done = false;
    enum vdbq_status status = group_of_stream(
        stream, &stream->memory, &group->nullable, &group->group, error);
    if (status == VDBQ_OK)
        status = group_on_device(group, &done, error);
    if (status == VDBQ_OK && !done)
        status = group_in_machine(group, &done, error);
    if (status == VDBQ_OK && !done)
        status = add_rows(group, group->group, error);
    if (status == VDBQ_OK)
        stream_close_input(stream, 0);
    if (status == VDBQ_OK)
        status = group_give(group->group, taker, error);
    *rows = status == VDBQ_OK ? group_row_count(group->group) : 0;
    drop_group(group);
    return status;
}

/* Fails where what is asked for may be among rows that a seek left out. */
static enum vdbq_status check_hope(const struct group_stream *group,
                                   struct error *error)
{
    const struct stream_params *params = group->head.params;
    const struct row_set *groups = &group->groups.row_set;
    bool known = !group->is_kept && !group->is_spilled && groups->rows == 1
                 && groups->column_count > 0
                 && !row_set_is_null(&groups->columns[0], 0);
    return group->head.step->group.hopes && !known && params->hope->left_out
               ? stream_in_vain(params, true, error)
               : VDBQ_OK;
}

/* All rows are grouped when the stream opens; batches only read them. Groups
 * apart are made when they are asked for. */
static enum vdbq_status group_open(struct stream *stream, struct error *error)
{
    struct group_stream *group = (struct group_stream *)stream;
    const struct step *step = stream->step;
    struct row_set *groups = &group->groups.row_set;
    bool done = false;
    enum vdbq_status status =
        row_set_init(groups, step->columns, step->column_count, error);
    if (status == VDBQ_OK && step->group.apart) {
        take_dictionary(group);
        stream->rows_most = stream->inputs[0]->rows_most;
        return rescan_begin(&group->groups, error);
    }
    if (status == VDBQ_OK)
        status = group_on_device(group, &done, error);
    if (status == VDBQ_OK && !done)
        status = group_in_machine(group, &done, error);
    if (status == VDBQ_OK && !done)
        status = group_on_host(group, error);
    if (status == VDBQ_OK)
        status = rescan_begin(&group->groups, error);
    if (status != VDBQ_OK)
        return status;
    take_dictionary(group);
    stream_close_input(stream, 0);
    stream->rows_most = group->is_kept      ? group->kept.store.rows
                        : group->is_spilled ? group->spilled.rows
                                            : groups->rows;
    return check_hope(group, error);
}

static enum vdbq_status group_batch(struct stream *stream,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    struct group_stream *group = (struct group_stream *)stream;
    if (group->is_kept)
        return device_reader_batch(&group->reader, batch, error);
    if (group->is_spilled)
        return reorder_batch(&group->spilled, batch, error);
    rescan_batch(&group->groups, batch);
    return VDBQ_OK;
}

/* What was spilled is read range by range, what a device has some rows at a
 * time. */
static bool group_stays(const struct stream *stream)
{
    const struct group_stream *group = (const struct group_stream *)stream;
    return !group->is_spilled && !group->is_kept;
}

static struct dictionary *group_dictionary(const struct stream *stream,
                                           unsigned column)
{
    return ((const struct group_stream *)stream)
        ->groups.row_set.columns[column]
        .dictionary;
}

static void group_close(struct stream *stream)
{
    drop_group((struct group_stream *)stream);
    device_reader_finish(&((struct group_stream *)stream)->reader);
    device_rows_finish(&((struct group_stream *)stream)->kept);
    rescan_finish(&((struct group_stream *)stream)->groups);
    reorder_finish(&((struct group_stream *)stream)->spilled);
}

static void group_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    const struct group_stream *group = (const struct group_stream *)stream;
    stats->steps = group->where;
    stream_add_times(&group->times, stats);
    stream_add_times(&group->reader.fetch.times, stats);
}

/* ---------------------------------------------------- rows on a device -- */

/* Whose device has the groups. */
static const struct run_place *group_place(const struct stream *stream)
{
    const struct group_stream *group = (const struct group_stream *)stream;
    return group->is_kept ? &group->kept.place : NULL;
}

static struct device_column *group_columns(struct stream *stream)
{
    return device_rows_columns(&((struct group_stream *)stream)->kept);
}

static void group_sink(struct stream *stream, struct sink *sink)
{
    ((struct group_stream *)stream)->reader.sink = sink;
}

/* Gives all groups. */
static enum vdbq_status group_advance(struct stream *stream, bool *more,
                                      struct error *error)
{
    struct group_stream *group = (struct group_stream *)stream;
    *more = false;
    stream->rows = group->kept.store.rows;
    return device_reader_give(&group->reader, error);
}

static const struct stream_device_calls device_calls = {
    .place = group_place,
    .columns = group_columns,
    .sink = group_sink,
    .advance = group_advance,
};

const struct stream_kind group_stream = {
    .size = sizeof(struct group_stream),
    .calls = { .batch = group_batch,
               .stays = group_stays,
               .dictionary = group_dictionary,
               .stats = group_stats,
               .close = group_close,
               .device = &device_calls },
    .open = group_open,
};
