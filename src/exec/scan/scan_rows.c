/* SPDX-License-Identifier: MIT */
/*
 * STEP_SCAN over an input: a program over the rows of another step, in
 * morsels. A failure comes where its row would have come. Where the device has
 * the rows already, the program runs over them there.
 */
#include "exec/scan/host_morsel.h"

#include <assert.h>

#include "base/held_error.h"
#include "exec/stream/stream_inner.h"

/* Rows that the device has. */
struct taker {
    struct sink sink;   /* takes them                                  */
    bool *reads;        /* the columns that the program reads          */
    struct vector rows; /* of struct sink_rows: taken the last time    */
    size_t next;        /* of them, which is run over ...              */
    uint64_t done;      /* ... up to this row                          */
};

struct scan_rows {
    struct stream head;            /* first */
    struct stream *input;          /* whose rows are run over: the others' are
                                  build rows                               */
    struct build_side *build_side; /* build sides of the program; NULL: none */
    struct host_morsels morsels;   /* rows on their way through the program */
    struct taker taker;          /* where the device has the rows            */
    struct device *device;       /* ... that is it; NULL: batches come       */
    struct sink *given;          /* takes the result rows there; NULL: none  */
    struct vdbq_batch pending;   /* of the input: rows that are not in a morsel
                                  yet, from `pending_next` on                     */
    uint64_t pending_next;       /* of `pending` */
    bool few;                    /* the reader is likely to end soon         */
    bool fed;                    /* nothing is left to start                 */
    struct held_error held;      /* ... since this happened                  */
    struct vdbq_vector *vectors; /* of the batch, with the types of SQL    */
};

/* What the program is opened with, at the place that was chosen. */
static struct host_morsels_params morsels_params(const struct scan_rows *scan,
                                                 const struct run_place *place)
{
    const struct stream *input = scan->input;
    return (struct host_morsels_params){
        .stream = scan->head.params,
        .place = place,
        .program = &scan->head.step->scan.program,
        .build_side = scan->build_side,
        .texts = scan->head.texts,
        .rows = input->rows_most,
        .most_live = stream_most_live(scan->head.step, input->rows_most)
    };
}

/* Opens the program for rows with the input's words. */
static enum vdbq_status open_morsels(struct scan_rows *scan,
                                     const struct run_place *place,
                                     struct error *error)
{
    const struct stream *input = scan->input;
    unsigned count = input->step->column_count;
    struct dictionary **dictionaries =
        memory_zeroed(count, sizeof *dictionaries);
    struct host_morsels_params params = morsels_params(scan, place);
    if (dictionaries == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < count; i++)
        dictionaries[i] = stream_dictionary(input, i);
    params.dictionaries = dictionaries;
    enum vdbq_status status = host_morsels_init(&scan->morsels, &params, error);
    memory_release(dictionaries);
    return status;
}

/* Notes rows, to be run over before the next ones are asked for. */
static enum vdbq_status
sink_take(struct sink *sink, const struct sink_rows *rows, struct error *error)
{
    struct taker *taker = (struct taker *)sink;
    return vector_append(&taker->rows, rows, 1) ? VDBQ_OK
                                                : error_no_memory(error);
}

/* There are none in use whenever others are asked for. */
static enum vdbq_status sink_wait(struct sink *sink, struct error *error)
{
    (void)sink;
    (void)error;
    return VDBQ_OK;
}

/* Takes the input's rows on the device that has them, if the program runs
 * there, too. */
static enum vdbq_status take_rows(struct scan_rows *scan, struct error *error)
{
    struct stream *input = scan->input;
    struct taker *taker = &scan->taker;
    struct device *device = stream_device(input, NULL);
    taker->rows = VECTOR(struct sink_rows);
    if (device == NULL || device != stream_taker(&scan->morsels.place))
        return VDBQ_OK;
    taker->reads =
        memory_zeroed(input->step->column_count + 1, sizeof *taker->reads);
    if (taker->reads == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < scan->morsels.pack->input_count; i++)
        if (scan->morsels.inputs[i].column >= 0)
            taker->reads[scan->morsels.inputs[i].column] = true;
    taker->sink = (struct sink){ .reads = taker->reads,
                                 .take = sink_take,
                                 .wait = sink_wait };
    stream_sink(input, &taker->sink);
    scan->device = device;
    return VDBQ_OK;
}

/* Chooses where the program runs. */
static enum vdbq_status choose(const struct scan_rows *scan,
                               struct run_place *place, struct error *error)
{
    const struct stream *stream = &scan->head;
    return stream->params->choose(stream->params->choose_context, NULL,
                                  &stream->step->scan.program,
                                  scan->input->rows_most, place, error);
}

/* Takes the build sides before the first row. */
static enum vdbq_status scan_rows_open(struct stream *stream,
                                       struct error *error)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    const struct program_table *table = stream->step->scan.program.tables.items;
    scan->input = stream->inputs[table->input - 1];
    stream->rows_most = scan->input->rows_most;
    stream_close_up(scan->input);
    scan->vectors =
        memory_zeroed(stream->step->column_count, sizeof *scan->vectors);
    if (scan->vectors == NULL)
        return error_no_memory(error);
    struct run_place place;
    enum vdbq_status status = choose(scan, &place, error);
    if (status == VDBQ_OK)
        status = build_side_open(stream, stream_taker(&place),
                                 &scan->build_side, error);
    if (status == VDBQ_OK)
        status = open_morsels(scan, &place, error);
    return status == VDBQ_OK ? take_rows(scan, error) : status;
}

/* Where the rows are few, and nothing is probed, all that was made stays. */
static bool scan_rows_rest(struct stream *stream)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    if (scan->build_side != NULL || scan->device != NULL
        || scan->held.status != VDBQ_OK
        || !host_morsels_can_rest(&scan->morsels))
        return false;
    scan->pending = (struct vdbq_batch){ .rows = 0 };
    scan->pending_next = 0;
    scan->few = scan->fed = false;
    return true;
}

/* Opens the program for other rows; anew where it is to run elsewhere now. */
static enum vdbq_status scan_rows_again(struct stream *stream,
                                        struct error *error)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    struct run_place place;
    enum vdbq_status status = choose(scan, &place, error);
    assert(scan->pending.rows == 0 && scan->device == NULL);
    stream->rows_most = scan->input->rows_most;
    stream_close_up(scan->input);
    if (status != VDBQ_OK)
        return status;
    if (place.device == scan->morsels.place.device
        && place.mode == scan->morsels.place.mode) {
        const struct host_morsels_params params = morsels_params(scan, &place);
        return host_morsels_again(&scan->morsels, &params, error);
    }
    host_morsels_finish(&scan->morsels);
    status = open_morsels(scan, &place, error);
    return status == VDBQ_OK ? take_rows(scan, error) : status;
}

/* ------------------------------------------------------ rows of the host -- */

/* Fetches the input's next rows where all are in morsels; notes its end. */
static enum vdbq_status fetch(struct scan_rows *scan, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (scan->pending_next < scan->pending.rows)
        return VDBQ_OK;
    status = stop_pause(error);
    if (status == VDBQ_OK)
        status = stream_batch(scan->input, &scan->pending, error);
    scan->pending_next = 0;
    scan->fed = status != VDBQ_OK || scan->pending.rows == 0;
    return status;
}

/* Fills the next morsel and starts it; for a reader of few with the rows that are
 * there. */
static enum vdbq_status start_morsel(struct scan_rows *scan,
                                     struct error *error)
{
    struct host_morsel *morsel;
    enum vdbq_status status = fetch(scan, error);
    if (status != VDBQ_OK || scan->fed)
        return status;
    status = host_morsels_begin(&scan->morsels, &morsel, error);
    bool more = true;
    while (status == VDBQ_OK && more && !scan->fed) {
        uint64_t left = scan->pending.rows - scan->pending_next;
        assert(scan->pending_next < scan->pending.rows);
        uint64_t room = morsel->rows_room - morsel->rows;
        uint64_t rows = left < room ? left : room;
        host_morsel_add(&scan->morsels, morsel, &scan->pending,
                        scan->pending_next, rows);
        scan->pending_next += rows;
        more = morsel->rows < morsel->rows_room && !scan->few;
        if (more)
            status = fetch(scan, error);
    }
    if (status != VDBQ_OK) {
        held_error_set(&scan->held, error);
        status = morsel->rows > 0 ? VDBQ_OK : status;
    }
    return status == VDBQ_OK ? host_morsels_start(&scan->morsels, error)
                             : status;
}

/* Whether another morsel is to be started; for a reader of few one at a time. */
static bool may_start(const struct scan_rows *scan)
{
    return !scan->fed && host_morsels_have_room(&scan->morsels)
           && (!scan->few || host_morsels_in_flight(&scan->morsels) == 0);
}

/* Starts morsels while there is room. */
static void start_morsels(struct scan_rows *scan, struct error *error)
{
    while (may_start(scan)) {
        if (start_morsel(scan, error) == VDBQ_OK)
            continue;
        held_error_set(&scan->held, error);
        scan->fed = true;
    }
}

/* Rows come from the host: starts launches until one has rows. */
static enum vdbq_status host_batch(struct scan_rows *scan,
                                   struct vdbq_batch *batch,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && batch->rows == 0) {
        start_morsels(scan, error);
        if (host_morsels_in_flight(&scan->morsels) == 0)
            break;
        status = host_morsels_batch(&scan->morsels, batch, error);
    }
    return status == VDBQ_OK && batch->rows == 0
               ? held_error_tell(&scan->held, error)
               : status;
}

/* ------------------------------------------- rows that the device has -- */

/* Starts launches over the rows that were taken while there is room. */
static enum vdbq_status start_device_rows(struct scan_rows *scan,
                                          struct error *error)
{
    struct taker *taker = &scan->taker;
    uint64_t most = launcher_rows_max(scan->morsels.launcher);
    enum vdbq_status status = VDBQ_OK;
    while (status == VDBQ_OK && taker->next < taker->rows.count
           && host_morsels_have_room(&scan->morsels)) {
        const struct sink_rows *rows = vector_at(&taker->rows, taker->next);
        assert(taker->done <= rows->count);
        uint64_t left = rows->count - taker->done;
        uint64_t some = left < most ? left : most;
        if (some > 0)
            status = host_morsels_start_rows(&scan->morsels, rows, taker->done,
                                             some, error);
        taker->done += some;
        if (taker->done == rows->count) {
            taker->done = 0;
            taker->next++;
        }
    }
    return status;
}

/* Has the next rows taken: those before are used up. */
static enum vdbq_status take_more(struct scan_rows *scan, struct error *error)
{
    bool more = false;
    enum vdbq_status status = stop_pause(error);
    scan->taker.rows.count = scan->taker.next = 0;
    if (status == VDBQ_OK)
        status = stream_advance(scan->input, &more, error);
    scan->fed = status != VDBQ_OK || !more;
    return status;
}

/* Some more result rows, maybe none; `*more`: they were not the last ones. */
static enum vdbq_status device_rows(struct scan_rows *scan,
                                    struct vdbq_batch *batch, bool *more,
                                    struct error *error)
{
    assert(scan->device != NULL);
    enum vdbq_status status = start_device_rows(scan, error);
    *more = true;
    if (status != VDBQ_OK)
        return status;
    if (host_morsels_in_flight(&scan->morsels) > 0)
        return host_morsels_batch(&scan->morsels, batch, error);
    *more = !scan->fed;
    return *more ? take_more(scan, error) : VDBQ_OK;
}

/* Rows come from the host, or from the device that has them already. */
static enum vdbq_status scan_rows_batch(struct stream *stream,
                                        struct vdbq_batch *batch,
                                        struct error *error)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    enum vdbq_status status = VDBQ_OK;
    bool more = scan->device != NULL;
    batch->rows = 0;
    if (!more)
        status = host_batch(scan, batch, error);
    while (status == VDBQ_OK && more && batch->rows == 0)
        status = device_rows(scan, batch, &more, error);
    if (status == VDBQ_OK && batch->rows > 0)
        stream_retype(stream, batch, scan->vectors);
    return status;
}

static void scan_rows_close_up(struct stream *stream)
{
    launcher_close_up(((struct scan_rows *)stream)->morsels.launcher);
}

static bool scan_rows_stays(const struct stream *stream)
{
    return host_morsels_stay(&((const struct scan_rows *)stream)->morsels);
}

/* ------------------------------------------- result rows that stay there -- */

/* Whose device may take the rows as they are. */
static const struct run_place *scan_rows_place(const struct stream *stream)
{
    const struct scan_rows *scan = (const struct scan_rows *)stream;
    return scan->device != NULL ? &scan->morsels.place : NULL;
}

/* The input's column of integers that a result column is a copy of; -1: it is
 * none. */
static int copied_column(const struct program *program, unsigned number)
{
    struct program_part part = program_part(program);
    int wanted = program_result(program, number).register_;
    for (int pc = part.first; pc < part.converge; pc++) {
        const struct instruction *in = program_at(program, pc);
        if ((in->op == OP_COLUMN_I32 || in->op == OP_COLUMN_I64)
            && in->a == wanted && in->c == 0)
            return in->b;
    }
    return -1;
}

/* A column that the program only copies keeps the input's bounds. */
static struct device_column describe(struct stream *stream, unsigned number,
                                     const struct device_column *inputs)
{
    const struct program *program = &stream->step->scan.program;
    struct device_column column =
        device_column_of(&stream->step->columns[number],
                         program_result(program, number).null_register >= 0,
                         stream_dictionary(stream, number));
    int from = copied_column(program, number);
    if (column.ranged || from < 0 || !inputs[from].ranged)
        return column;
    column.ranged = true;
    column.low = inputs[from].low;
    column.high = inputs[from].high;
    return column;
}

/* The caller frees them; NULL: no memory. */
static struct device_column *scan_rows_columns(struct stream *stream)
{
    unsigned count = stream->step->column_count;
    struct device_column *columns = memory_zeroed(count + 1, sizeof *columns);
    struct device_column *inputs =
        stream_device_columns(((struct scan_rows *)stream)->input);
    for (unsigned i = 0; columns != NULL && inputs != NULL && i < count; i++)
        columns[i] = describe(stream, i, inputs);
    if (inputs == NULL) {
        memory_release(columns);
        columns = NULL;
    }
    memory_release(inputs);
    return columns;
}

/* From now on the sink takes the rows of all launches. */
static void scan_rows_sink(struct stream *stream, struct sink *sink)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    scan->given = sink;
    launcher_sink(scan->morsels.launcher, sink);
}

/* Gives the next rows to the sink. */
static enum vdbq_status scan_rows_advance(struct stream *stream, bool *more,
                                          struct error *error)
{
    assert(((const struct scan_rows *)stream)->given != NULL);
    struct scan_rows *scan = (struct scan_rows *)stream;
    struct vdbq_batch none;
    enum vdbq_status status = device_rows(scan, &none, more, error);
    stream->rows = scan->given->rows;
    return status;
}

static const struct stream_device_calls device_calls = {
    .place = scan_rows_place,
    .columns = scan_rows_columns,
    .sink = scan_rows_sink,
    .advance = scan_rows_advance,
};

/* ------------------------------------------------------------------ rest -- */

/* Text results share one dictionary, but those that are shown. */
static struct dictionary *scan_rows_dictionary(const struct stream *stream,
                                               unsigned column)
{
    const struct scan_rows *scan = (const struct scan_rows *)stream;
    return stream->step->columns[column].type == VDBQ_TEXT
               ? run_dictionary_words(&scan->morsels.dictionary, column)
               : NULL;
}

/* What the build sides and the launches took. */
static void scan_rows_stats(const struct stream *stream,
                            struct vdbq_stats *stats)
{
    const struct scan_rows *scan = (const struct scan_rows *)stream;
    build_side_stats(scan->build_side, stats);
    host_morsels_stats(&scan->morsels, stats);
}

/* The input has few rows to give, and more where the program leaves some out. */
static void scan_rows_few(struct stream *stream, uint64_t rows)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    scan->few = scan->device == NULL;
    if (scan->few)
        stream_few(scan->input, rows);
}

/* Waits for the launches, then frees what they read. */
static void scan_rows_close(struct stream *stream)
{
    struct scan_rows *scan = (struct scan_rows *)stream;
    host_morsels_finish(&scan->morsels);
    held_error_finish(&scan->held);
    build_side_close(scan->build_side);
    vector_finish(&scan->taker.rows);
    memory_release(scan->taker.reads);
    memory_release(scan->vectors);
}

const struct stream_kind scan_rows = {
    .size = sizeof(struct scan_rows),
    .calls = { .batch = scan_rows_batch,
               .stays = scan_rows_stays,
               .close_up = scan_rows_close_up,
               .few = scan_rows_few,
               .dictionary = scan_rows_dictionary,
               .stats = scan_rows_stats,
               .rest = scan_rows_rest,
               .again = scan_rows_again,
               .close = scan_rows_close,
               .device = &device_calls },
    .open = scan_rows_open,
};
