/* SPDX-License-Identifier: MIT */
/*
 * Windows in files: see window_spill.h.
 */
#include "exec/window/window_spill.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "exec/rows/order.h"
#include "exec/rows/reorder.h"
#include "exec/sort/sort_runs.h"
#include "exec/window/window_joined.h"

enum {
    PIECE_ROWS = 1 << 12, /* that are numbered, or merged, at once        */
    ROWS_MIN = 16,        /* that are sorted or computed at once          */
    SORT_BYTES = 20,      /* of a row, while it is sorted                 */
    RESULT_BYTES = 64,    /* ... while its windows are computed           */
    SORT_PART = 2,        /* of the memory: rows that are sorted          */
    OTHER_PART = 4        /* ... that are computed; that are put back     */
};

/* Functions with the same window. */
struct stage {
    unsigned first, count;       /* functions                              */
    unsigned before;             /* columns of its rows; then their number */
    struct step_column *columns; /* these, and the number                  */
    struct step_key *keys;       /* partition, then order */
    unsigned partition_count;    /* of `keys` */
    unsigned key_count;          /* ... of all */
    bool goes_on;                /* all functions do */
    bool last;                   /* there are no others                    */
    bool *keeps; /* of each column of its rows: it goes into the runs      */
    uint64_t rows_most;  /* that are sorted at once                */
    uint64_t chunk_most; /* ... computed */
    struct row_set rows; /* to be sorted next */
    struct sort_runs runs;
    struct row_set chunk;      /* rows in their order, to be computed    */
    struct window_carry carry; /* where `chunk` goes on */
};

struct window_spill {
    struct window_spill_params params;
    struct stage stage; /* that takes rows, or runs                   */
    uint64_t rows;      /* of the input; while rows are put back: of
                                those that the stage took                  */
    uint64_t *numbers;  /* of a piece of rows                         */
    struct vdbq_vector *vectors; /* of it */
    struct reorder done;  /* the last stage's rows                      */
    struct error failure; /* the first of the stage, by its functions   */
    unsigned failed;      /* ... the function */
};

static const struct step_window_function *
function_at(const struct window_spill *spill, unsigned number)
{
    return vector_at(&spill->params.step->functions, number);
}

/* --------------------------------------------------------------- stage -- */

/* Functions from `first` on that have the same window. */
static unsigned count_same(const struct window_spill *spill, unsigned first)
{
    unsigned count = 1;
    while (first + count < spill->params.step->functions.count
           && window_same(function_at(spill, first),
                          function_at(spill, first + count)))
        count++;
    return count;
}

/* The keys that rows are sorted by; without any they need not be sorted. */
static bool make_keys(const struct window_spill *spill, struct stage *stage)
{
    const struct step_window_function *function =
        function_at(spill, stage->first);
    size_t most = function->partition.count + function->order.count;
    stage->keys = memory_zeroed(most + 1, sizeof *stage->keys);
    if (stage->keys == NULL)
        return false;
    stage->partition_count = (unsigned)function->partition.count;
    stage->key_count = window_keys(function, stage->keys);
    if (stage->key_count == 0) /* in the order in which they came */
        stage->keys[stage->key_count++] =
            (struct step_key){ .column = (int)stage->before };
    return true;
}

/* Its rows' columns, and their number. */
static bool make_columns(const struct window_spill *spill, struct stage *stage)
{
    size_t count = stage->before;
    stage->columns = memory_zeroed(count + 1, sizeof *stage->columns);
    if (stage->columns == NULL)
        return false;
    memcpy(stage->columns, spill->params.columns,
           count * sizeof *stage->columns);
    stage->columns[count] =
        (struct step_column){ .name = "", .type = VDBQ_BIGINT };
    return true;
}

/* Whether of each partition nobody wants another row than the first. */
static bool wants_firsts(const struct window_spill *spill)
{
    return spill->params.step->firsts;
}

/* Notes which columns go into the runs: all that somebody reads later. */
static bool choose_columns(const struct window_spill *spill,
                           struct stage *stage)
{
    const struct window_spill_params *params = &spill->params;
    bool sorts = stage->keys[0].column != (int)stage->before;
    stage->keeps = memory_zeroed(stage->before + (size_t)1, 1);
    if (stage->keeps == NULL)
        return false;
    for (unsigned i = 0; i < stage->before; i++)
        stage->keeps[i] =
            !stage->last || params->reads == NULL || params->reads[i];
    for (unsigned i = 0; i < stage->key_count; i++)
        stage->keeps[stage->keys[i].column] = true;
    for (unsigned i = 0; i < stage->count; i++) {
        const struct step_window_function *function =
            function_at(spill, stage->first + i);
        const int columns[] = { function->aggregate.column,
                                function->aggregate.filter,
                                function->fallback };
        for (unsigned k = 0; k < sizeof columns / sizeof *columns; k++)
            if (columns[k] >= 0)
                stage->keeps[columns[k]] = true;
    }
    stage->keeps[stage->before] =
        !sorts || !stage->last || !params->any_order || wants_firsts(spill);
    return true;
}

static uint64_t at_least(uint64_t rows)
{
    return rows > ROWS_MIN ? rows : ROWS_MIN;
}

/* Begins the stage of function `first`. */
static enum vdbq_status begin_stage(struct window_spill *spill, unsigned first,
                                    struct error *error)
{
    const struct window_spill_params *params = &spill->params;
    struct stage *stage = &spill->stage;
    *stage = (struct stage){ .first = first,
                             .count = count_same(spill, first),
                             .before = params->input_count + first,
                             .goes_on = true };
    for (unsigned i = 0; i < stage->count; i++)
        stage->goes_on &=
            window_goes_on(function_at(spill, first + i)->function);
    stage->last = first + stage->count == params->step->functions.count;
    if (!make_keys(spill, stage) || !make_columns(spill, stage)
        || !choose_columns(spill, stage))
        return error_no_memory(error);
    uint64_t row = spill_row_bytes(stage->columns, stage->before + 1, NULL);
    stage->rows_most =
        at_least(params->room_bytes / SORT_PART / (row + SORT_BYTES));
    stage->chunk_most =
        at_least(params->room_bytes / OTHER_PART / (2 * row + RESULT_BYTES));
    enum vdbq_status status =
        row_set_init(&stage->rows, stage->columns, stage->before + 1, error);
    if (status == VDBQ_OK)
        status = row_set_init(&stage->chunk, stage->columns, stage->before + 1,
                              error);
    if (status != VDBQ_OK)
        return status;
    return sort_runs_init(&stage->runs,
                          &(struct sort_runs_params){
                              .files = params->files,
                              .memory = params->memory,
                              .columns = stage->columns,
                              .column_count = stage->before + 1,
                              .reads = stage->keeps,
                              .keys = stage->keys,
                              .key_count = stage->key_count,
                              .room_bytes = params->room_bytes / SORT_PART },
                          error);
}

static void finish_stage(struct stage *stage)
{
    row_set_finish(&stage->rows);
    row_set_finish(&stage->chunk);
    sort_runs_finish(&stage->runs);
    memory_release(stage->keys);
    memory_release(stage->columns);
    memory_release(stage->keeps);
    *stage = (struct stage){ 0 };
}

/* ----------------------------------------------------- create, destroy -- */

enum vdbq_status window_spill_create(const struct window_spill_params *params,
                                     struct window_spill **spill,
                                     struct error *error)
{
    struct window_spill *made = memory_zeroed(1, sizeof *made);
    size_t columns = params->input_count + params->step->functions.count + 1;
    *spill = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->params = *params;
    made->numbers = memory_zeroed(PIECE_ROWS, sizeof *made->numbers);
    made->vectors = memory_zeroed(columns, sizeof *made->vectors);
    enum vdbq_status status = made->numbers != NULL && made->vectors != NULL
                                  ? begin_stage(made, 0, error)
                                  : error_no_memory(error);
    if (status == VDBQ_OK)
        *spill = made;
    else
        window_spill_destroy(made);
    return status;
}

void window_spill_destroy(struct window_spill *spill)
{
    if (spill == NULL)
        return;
    finish_stage(&spill->stage);
    reorder_finish(&spill->done);
    memory_release(spill->numbers);
    memory_release(spill->vectors);
    memory_release(spill);
}

/* ----------------------------------------------------------------- add -- */

/* Sorts the stage's rows and puts them aside. */
static enum vdbq_status put_aside(const struct window_spill *spill,
                                  struct stage *stage, struct error *error)
{
    uint32_t rows = (uint32_t)stage->rows.rows;
    uint32_t *order = memory_resize(NULL, rows * sizeof *order);
    struct sort_key *keys = memory_zeroed(stage->key_count, sizeof *keys);
    enum vdbq_status status =
        order != NULL && keys != NULL ? VDBQ_OK : error_no_memory(error);
    if (status == VDBQ_OK) {
        sort_keys(&stage->rows, stage->keys, stage->key_count, keys);
        status = sort_order(keys, stage->key_count, rows, spill->params.threads,
                            order, error);
    }
    if (status == VDBQ_OK)
        status = sort_runs_add(&stage->runs, &stage->rows, order, rows, error);
    memory_release(order);
    memory_release(keys);
    stage->rows.rows = 0;
    return status;
}

/* Adds rows of a batch, no more than a piece, with their numbers. */
static enum vdbq_status add_piece(struct window_spill *spill,
                                  const struct vdbq_batch *batch,
                                  uint64_t first, uint64_t rows,
                                  struct error *error)
{
    struct stage *stage = &spill->stage;
    struct vdbq_batch piece = { .rows = rows,
                                .columns = stage->before + 1,
                                .column = spill->vectors };
    assert(rows <= PIECE_ROWS);
    for (unsigned i = 0; i < stage->before; i++) {
        const struct vdbq_vector *from = &batch->column[i];
        unsigned width = row_set_width(stage->columns[i].type);
        spill->vectors[i] = (struct vdbq_vector){
            .type = from->type,
            .values = (const char *)from->values + first * width,
            .nulls = from->nulls != NULL ? from->nulls + first : NULL
        };
    }
    for (uint64_t i = 0; i < rows; i++)
        spill->numbers[i] = spill->rows + i;
    spill->vectors[stage->before] =
        (struct vdbq_vector){ .type = VDBQ_BIGINT, .values = spill->numbers };
    spill->rows += rows;
    return row_set_append(&stage->rows, &piece, 1, error);
}

enum vdbq_status window_spill_add(struct window_spill *spill,
                                  const struct vdbq_batch *batch,
                                  struct error *error)
{
    struct stage *stage = &spill->stage;
    enum vdbq_status status = VDBQ_OK;
    for (uint64_t at = 0, rows; at < batch->rows && status == VDBQ_OK;
         at += rows) {
        uint64_t room = stage->rows_most - stage->rows.rows;
        rows = batch->rows - at;
        rows = rows < room ? rows : room;
        rows = rows < PIECE_ROWS ? rows : PIECE_ROWS;
        status = add_piece(spill, batch, at, rows, error);
        if (status == VDBQ_OK && stage->rows.rows == stage->rows_most)
            status = put_aside(spill, stage, error);
    }
    return status;
}

/* ------------------------------------------------------------- compute -- */

/* Notes a failure, if its function comes before that of others. */
static enum vdbq_status note_failure(struct window_spill *spill,
                                     enum vdbq_status status, unsigned failed,
                                     struct error *error)
{
    if (status != VDBQ_RANGE)
        return status;
    if (spill->failure.status == VDBQ_OK || failed < spill->failed) {
        spill->failure = *error;
        spill->failed = failed;
    }
    error_clear(error);
    return VDBQ_OK;
}

/* Puts rows of the chunk back from row `skip` on, with their results. */
static enum vdbq_status put_back(struct window_spill *spill,
                                 const struct row_set *rows,
                                 const struct row_set *results, uint64_t skip,
                                 struct error *error)
{
    unsigned before = rows->column_count, count = results->column_count;
    struct row_set_column *columns =
        memory_zeroed(before + count, sizeof *columns);
    const uint64_t *numbers = spill->stage.chunk.columns[before].values;
    struct row_set both = { .rows = rows->rows - skip,
                            .column_count = before + count,
                            .columns = columns };
    if (columns == NULL)
        return error_no_memory(error);
    memcpy(columns, rows->columns, before * sizeof *columns);
    memcpy(columns + before, results->columns, count * sizeof *columns);
    for (unsigned i = 0; i < before + count; i++) {
        columns[i].values = (char *)columns[i].values + skip * columns[i].width;
        if (columns[i].nulls != NULL)
            columns[i].nulls += skip;
    }
    enum vdbq_status status =
        reorder_add(&spill->done, &both, numbers + skip, error);
    memory_release(columns);
    return status;
}

/* Whether two rows of the chunk are of one partition. */
static bool same_partition(const struct stage *stage, uint64_t a, uint64_t b)
{
    for (unsigned i = 0; i < stage->partition_count; i++) {
        const struct row_set_column *column =
            &stage->chunk.columns[stage->keys[i].column];
        bool null_a = row_set_is_null(column, (uint32_t)a);
        bool null_b = row_set_is_null(column, (uint32_t)b);
        int type = sort_type(column->type);
        if (null_a != null_b)
            return false;
        if (!null_a
            && order_at(type, column->values, a)
                   != order_at(type, column->values, b))
            return false;
    }
    return true;
}

/* Lists of each partition of the rows in their order that which came first;
 * returns how many there are. */
static uint32_t list_firsts(const struct stage *stage, uint32_t count,
                            uint32_t *list)
{
    const uint64_t *numbers = stage->chunk.columns[stage->before].values;
    uint32_t partitions = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || !same_partition(stage, i - 1, i))
            list[partitions++] = i;
        else if (numbers[i] < numbers[list[partitions - 1]])
            list[partitions - 1] = i;
    }
    return partitions;
}

/* Leaves of rows that were computed the first of each partition. */
static enum vdbq_status keep_firsts(struct window_spill *spill,
                                    struct row_set *rows,
                                    struct row_set *results,
                                    struct error *error)
{
    struct row_set numbered = *rows;
    uint32_t *list = memory_resize(NULL, rows->rows * sizeof *list), count;
    if (list == NULL)
        return error_no_memory(error);
    numbered.column_count++; /* the last column of the chunk is the number */
    count = list_firsts(&spill->stage, (uint32_t)rows->rows, list);
    row_set_keep(&numbered, list, count);
    row_set_keep(results, list, count);
    rows->rows = count;
    memory_release(list);
    return VDBQ_OK;
}

/* Computes the first rows of the chunk, which are whole partitions unless the
 * stage goes on. */
static enum vdbq_status compute(struct window_spill *spill, uint64_t count,
                                struct error *error)
{
    struct stage *stage = &spill->stage;
    const struct step_window_function *first = function_at(spill, stage->first);
    struct step_window step = { .functions =
                                    *(&spill->params.step->functions) };
    struct row_set rows = stage->chunk, results;
    unsigned failed = 0;
    uint64_t skip = stage->carry.any ? 1 : 0;
    step.functions.items = (void *)(uintptr_t)first;
    step.functions.count = stage->count;
    rows.rows = count;
    rows.column_count = stage->before;
    enum vdbq_status status = row_set_init(
        &results, spill->params.columns + stage->before, stage->count, error);
    if (status == VDBQ_OK)
        status = window_run(
            &(struct window_params){
                .step = &step,
                .rows = &rows,
                .columns = spill->params.columns,
                .threads = spill->params.threads,
                .joined = spill->params.joined != NULL
                              ? spill->params.joined + stage->first
                              : NULL,
                .carry = stage->goes_on ? &stage->carry : NULL,
                .sorted = true,
                .failed = &failed },
            &results, error);
    if (status == VDBQ_OK && stage->last && wants_firsts(spill))
        status = keep_firsts(spill, &rows, &results, error);
    status = status == VDBQ_OK ? put_back(spill, &rows, &results, skip, error)
                               : note_failure(spill, status, failed, error);
    row_set_finish(&results);
    return status;
}

/* --------------------------------------------------------------- chunks -- */

/* Rows of the chunk before its last partition, which may go on: found by halves,
 * since rows of a partition lie together. */
static uint64_t rows_whole(const struct stage *stage)
{
    uint64_t rows = stage->chunk.rows, low = 0;
    uint64_t high = rows > 0 ? rows - 1 : 0;
    if (stage->goes_on)
        return rows;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (same_partition(stage, middle, rows - 1))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Moves the rows from `first` on to the chunk's start. */
static void keep_rest(struct stage *stage, uint64_t first)
{
    struct row_set *chunk = &stage->chunk;
    uint64_t rows = chunk->rows - first;
    for (unsigned i = 0; i < chunk->column_count; i++) {
        struct row_set_column *column = &chunk->columns[i];
        memmove(column->values, (char *)column->values + first * column->width,
                rows * column->width);
        if (column->nulls != NULL)
            memmove(column->nulls, column->nulls + first, rows);
    }
    chunk->rows = rows;
}

/* Computes what is whole. */
static enum vdbq_status compute_whole(struct window_spill *spill, bool last,
                                      struct error *error)
{
    struct stage *stage = &spill->stage;
    uint64_t rows = last ? stage->chunk.rows : rows_whole(stage);
    enum vdbq_status status = VDBQ_OK;
    if (rows == 0) { /* a partition that is larger than the chunk */
        stage->chunk_most += stage->chunk_most / 2;
        return VDBQ_OK;
    }
    stage->carry.more = stage->goes_on && !last;
    status = compute(spill, rows, error);
    keep_rest(stage, stage->carry.more ? rows - 1 : rows);
    return status;
}

/* Takes rows in their order, and computes them chunk by chunk. */
static enum vdbq_status compute_all(struct window_spill *spill,
                                    struct error *error)
{
    struct stage *stage = &spill->stage;
    struct row_set piece;
    enum vdbq_status status =
        row_set_init(&piece, stage->columns, stage->before + 1, error);
    do {
        struct vdbq_batch batch = { .columns = stage->before + 1,
                                    .column = spill->vectors };
        piece.rows = 0;
        if (status == VDBQ_OK)
            status = sort_runs_rows(&stage->runs, PIECE_ROWS, &piece, error);
        row_set_vectors(&piece, 0, spill->vectors);
        batch.rows = piece.rows;
        if (status == VDBQ_OK)
            status = row_set_append(&stage->chunk, &batch, 1, error);
        if (status == VDBQ_OK
            && (piece.rows == 0 || stage->chunk.rows >= stage->chunk_most))
            status = compute_whole(spill, piece.rows == 0, error);
    } while (status == VDBQ_OK && piece.rows > 0);
    row_set_finish(&piece);
    return status;
}

/* Runs the stage, all of whose rows were added. */
static enum vdbq_status run_stage(struct window_spill *spill,
                                  struct error *error)
{
    const struct window_spill_params *params = &spill->params;
    struct stage *stage = &spill->stage;
    enum vdbq_status status = put_aside(spill, stage, error);
    row_set_finish(&stage->rows);
    reorder_finish(&spill->done);
    if (status == VDBQ_OK)
        status = sort_runs_begin(&stage->runs, error);
    if (status == VDBQ_OK)
        status = reorder_init(&spill->done,
                              &(struct reorder_params){
                                  .files = params->files,
                                  .columns = params->columns,
                                  .column_count = stage->before + stage->count,
                                  .reads = stage->last ? params->reads : NULL,
                                  .any_order = stage->last && params->any_order,
                                  .numbers = spill->rows,
                                  .threads = params->threads,
                                  .room_bytes = params->room_bytes / OTHER_PART,
                                  .memory = params->memory },
                              error);
    if (status == VDBQ_OK)
        status = compute_all(spill, error);
    if (status == VDBQ_OK && spill->failure.status != VDBQ_OK) {
        *error = spill->failure;
        status = error->status;
    }
    return status == VDBQ_OK ? reorder_end(&spill->done, error) : status;
}

/* Gives the rows of the stage that has run to the next one. */
static enum vdbq_status next_stage(struct window_spill *spill, unsigned first,
                                   struct error *error)
{
    struct vdbq_batch batch = { .rows = 1 };
    finish_stage(&spill->stage);
    enum vdbq_status status = begin_stage(spill, first, error);
    spill->rows = 0;
    while (status == VDBQ_OK && batch.rows > 0) {
        status = reorder_batch(&spill->done, &batch, error);
        if (status == VDBQ_OK)
            status = window_spill_add(spill, &batch, error);
    }
    return status;
}

enum vdbq_status window_spill_end(struct window_spill *spill,
                                  struct error *error)
{
    unsigned count = (unsigned)spill->params.step->functions.count;
    enum vdbq_status status = run_stage(spill, error);
    unsigned next = spill->stage.first + spill->stage.count;
    while (status == VDBQ_OK && next < count) {
        status = next_stage(spill, next, error);
        if (status == VDBQ_OK)
            status = run_stage(spill, error);
        next = spill->stage.first + spill->stage.count;
    }
    finish_stage(&spill->stage);
    return status;
}

uint64_t window_spill_rows(const struct window_spill *spill)
{
    return spill->done.rows;
}

enum vdbq_status window_spill_batch(struct window_spill *spill,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    return reorder_batch(&spill->done, batch, error);
}
