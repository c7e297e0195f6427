/* SPDX-License-Identifier: MIT */
/*
 * A pass of a join in partitions: a join stream whose right rows are there, and
 * whose left rows come from a file. It is opened, asked for all its rows, and
 * closed like any other, but nobody counts its rows as those of a step.
 */
#include "exec/join/join_partitions.h"

#include <assert.h>
#include <string.h>

/* ------------------------------------------------- left rows of a file -- */

struct rows_stream {
    struct stream head;               /* first */
    struct join_gather gather;        /* of the pass's left rows */
    struct row_set rows;              /* of several blocks, with numbers     */
    struct step_column *columns;      /* of these rows, owned                */
    struct vdbq_vector *vectors;      /* likewise                            */
    const struct row_set *dictionary; /* has those of the columns */
};

/* The left input of a pass: rows that come back from the disk, blocks one behind the
 * other. Behind the columns stand the numbers, if they have some. */
static enum vdbq_status
rows_batch(struct stream *stream, struct vdbq_batch *batch, struct error *error)
{
    struct rows_stream *from = (struct rows_stream *)stream;
    const struct batches *batches = &from->gather.batches;
    enum vdbq_status status =
        join_gather_read(&from->gather, UINT64_MAX, error);
    if (status != VDBQ_OK || batches->count == 0)
        return status;
    batch->rows = batches_rows(batches);
    batch->column = batches->batch[0].column;
    if (batches->count == 1)
        return VDBQ_OK;
    from->rows.rows = 0;
    status =
        row_set_append_all(&from->rows, batches, from->gather.threads, error);
    row_set_vectors(&from->rows, 0, from->vectors);
    batch->column = from->vectors;
    return status;
}

/* The dictionaries of the whole join's left side. */
static struct dictionary *rows_dictionary(const struct stream *stream,
                                          unsigned column)
{
    return ((const struct rows_stream *)stream)
        ->dictionary->columns[column]
        .dictionary;
}

/* Frees the reader; the spilled rows stay. */
static void rows_close(struct stream *stream)
{
    struct rows_stream *from = (struct rows_stream *)stream;
    join_gather_finish(&from->gather);
    row_set_finish(&from->rows);
    memory_release(from->columns);
    memory_release(from->vectors);
}

static const struct stream_calls rows_calls = { .batch = rows_batch,
                                                .dictionary = rows_dictionary,
                                                .close = rows_close };

/* Makes the row set that blocks are put together in. */
static enum vdbq_status make_rows(struct rows_stream *from,
                                  const struct step *step, bool plain,
                                  struct error *error)
{
    size_t count = step->column_count + (plain ? 0 : (size_t)1);
    from->columns = memory_zeroed(count, sizeof *from->columns);
    from->vectors = memory_zeroed(count, sizeof *from->vectors);
    if (from->columns == NULL || from->vectors == NULL)
        return error_no_memory(error);
    memcpy(from->columns, step->columns,
           step->column_count * sizeof *from->columns);
    if (!plain)
        from->columns[step->column_count].type = VDBQ_BIGINT;
    return row_set_init(&from->rows, from->columns, (unsigned)count, error);
}

/* `step` has the columns, and no inputs. */
static enum vdbq_status rows_open(const struct join_pass *pass,
                                  const struct step *step,
                                  struct stream **stream, struct error *error)
{
    const struct join_stream *join = pass->partitions->join;
    struct rows_stream *made = memory_zeroed(1, sizeof *made);
    *stream = NULL;
    if (made == NULL)
        return error_no_memory(error);
    made->head = (struct stream){ .calls = &rows_calls,
                                  .params = join->head.params,
                                  .step = step,
                                  .rows_most = pass->left.rows,
                                  .rescans = true };
    made->dictionary = &join->left;
    *stream = &made->head;
    enum vdbq_status status =
        make_rows(made, step, pass->left.spill->plain, error);
    return status == VDBQ_OK ? join_gather_init(&made->gather, &pass->left,
                                                join->threads, error)
                             : status;
}

/* ---------------------------------------------------------------- rows -- */

/* The steps that the streams of a pass say they are. */
struct pass_steps {
    struct step join, left; /* of the pass, and its left input */
};

/* A pass that is under way. */
struct join_passing {
    struct join_pass pass;    /* which one it is */
    struct pass_steps steps;  /* of its streams */
    struct join_stream *join; /* the join of this pass */
    uint32_t *rows[2];        /* JOIN_MARK: without a partner, with one */
    uint64_t room;            /* rows that `rows` has room for */
};

/* Adds rows of the last batch to the partition that was opened last. */
static enum vdbq_status add(const struct join_passing *passing,
                            struct spill *to, const uint32_t *rows,
                            uint64_t count, struct error *error)
{
    assert(to->partitions.count > 0);
    return spill_add(to, (unsigned)to->partitions.count - 1,
                     &(struct spill_rows){ .from = &passing->join->output,
                                           .rows = rows,
                                           .numbers = passing->join->numbers,
                                           .count = count },
                     error);
}

/* Makes room for the two lists of rows. */
static bool make_lists(struct join_passing *passing, uint64_t rows)
{
    for (unsigned i = 0; i < 2 && rows > passing->room; i++) {
        uint32_t *list = memory_resize(passing->rows[i], rows * sizeof *list);
        if (list == NULL)
            return false;
        passing->rows[i] = list;
    }
    passing->room = rows > passing->room ? rows : passing->room;
    return true;
}

/* Leaves those rows of the last batch that are on a list, which ascends. */
static void keep_rows(struct join_stream *join, const uint32_t *list,
                      uint64_t count)
{
    assert(count <= join->output.rows && join->copies);
    for (uint64_t i = 0; i < count && join->numbered; i++)
        join->numbers[i] = join->numbers[list[i]];
    row_set_keep(&join->output, list, (uint32_t)count);
}

/* Rows that are marked true are done with and stay; the others are the rest. */
static enum vdbq_status take_rest(struct join_passing *passing,
                                  struct vdbq_batch *batch, struct error *error)
{
    const struct row_set *output = &passing->join->output;
    const struct row_set_column *mark =
        &output->columns[output->column_count - 1];
    uint64_t counts[2] = { 0 };
    if (!make_lists(passing, batch->rows))
        return error_no_memory(error);
    for (uint64_t i = 0; i < batch->rows; i++) {
        bool is = !row_set_is_null(mark, i) && row_set_integer(mark, i) != 0;
        assert(i < passing->room);
        passing->rows[is][counts[is]++] = (uint32_t)i;
    }
    enum vdbq_status status =
        add(passing, passing->pass.rest, passing->rows[0], counts[0], error);
    keep_rows(passing->join, passing->rows[1], counts[1]);
    batch->rows = counts[1];
    return status;
}

/* The condition failed for a pair: that ends the pass, and maybe the join. */
static enum vdbq_status note_failure(const struct join_passing *passing,
                                     const struct error *error)
{
    assert(error->status != VDBQ_OK);
    struct join_partitions *partitions = passing->pass.partitions;
    join_partitions_failed(partitions, error, passing->join->failed_left,
                           (unsigned)partitions->output.partitions.count - 1);
    return VDBQ_OK;
}

enum vdbq_status join_pass_batch(struct join_passing *passing,
                                 struct vdbq_batch *batch, struct error *error)
{
    const struct stream *head = &passing->join->head;
    enum vdbq_status status = VDBQ_OK;
    batch->rows = 0;
    while (status == VDBQ_OK && batch->rows == 0 && !head->ended) {
        status = stream_batch(&passing->join->head, batch, error);
        if (status == VDBQ_OK && batch->rows > 0 && passing->pass.rest != NULL)
            status = take_rest(passing, batch, error);
    }
    return status != VDBQ_OK && head->held != NULL
                   && status == head->held->status
               ? note_failure(passing, error)
               : status;
}

/* ---------------------------------------------------------------- pass -- */

/* Whether rows of a pass are joined again. */
static bool goes_again(const struct join_pass *pass)
{
    return pass->rest != NULL || pass->to != &pass->partitions->output;
}

/* What is asked for of the join's rows; of rows that are joined again all left
 * columns that the join has. */
static void copy_reads(const struct join_pass *pass, bool *reads,
                       unsigned count)
{
    const struct join_partitions *partitions = pass->partitions;
    const struct join_cut *left = &partitions->left;
    bool again = goes_again(pass);
    for (unsigned i = 0; i < count; i++)
        reads[i] = again && i < left->spill.column_count
                       ? left->reads[i]
                       : partitions->join->head.reads[i];
}

/* The join of the pass, without its input. */
static struct join_stream *make_join(const struct join_pass *pass,
                                     const struct step *step)
{
    const struct join_stream *whole = pass->partitions->join;
    struct join_stream *join = memory_zeroed(1, sizeof *join);
    if (join == NULL)
        return NULL;
    join->head = (struct stream){
        .calls = &join_stream.calls,
        .params = whole->head.params,
        .step = step,
        .inputs =
            memory_zeroed(step->inputs.count + 1, sizeof *join->head.inputs),
        .reads = memory_zeroed(step->column_count + (size_t)1,
                               sizeof *join->head.reads),
        .rescans = true,
    };
    if (join->head.reads != NULL)
        copy_reads(pass, join->head.reads, step->column_count);
    join->threads = whole->threads;
    join->right = pass->right->rows;
    join->right_numbers = pass->right->numbers;
    join->right_any = whole->right_any;
    join->right_null = whole->right_null;
    join->numbered = !pass->partitions->any_order;
    join->copies = join->numbered || goes_again(pass);
    join->texts = pass->partitions->texts;
    return join;
}

/* Opens the join without reading: both sides are there. */
static enum vdbq_status open_join(struct join_stream *join, struct error *error)
{
    if (join->head.inputs == NULL || join->head.reads == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        join_view_init(&join->left, join->head.inputs[0], error);
    return status == VDBQ_OK ? join_begin(join, error) : status;
}

/* The pass's own steps: they differ from the plan's by kind and columns. */
static struct pass_steps make_steps(const struct join_pass *pass)
{
    const struct join_partitions *partitions = pass->partitions;
    struct pass_steps steps = {
        .join = *partitions->join->head.step,
        .left = { .columns =
                      (struct step_column *)partitions->left.spill.columns,
                  .column_count = partitions->left.spill.column_count },
    };
    steps.join.join.kind = pass->kind;
    if (pass->kind == JOIN_SEMI || pass->kind == JOIN_ANTI)
        steps.join.column_count = steps.left.column_count;
    return steps;
}

/* Opens the streams of a pass. */
static enum vdbq_status open_pass(struct join_passing *passing,
                                  struct error *error)
{
    struct stream *left = NULL;
    passing->steps = make_steps(&passing->pass);
    passing->join = make_join(&passing->pass, &passing->steps.join);
    if (passing->join == NULL)
        return error_no_memory(error);
    passing->pass.partitions->passes++;
    enum vdbq_status status =
        rows_open(&passing->pass, &passing->steps.left, &left, error);
    if (passing->join->head.inputs != NULL)
        passing->join->head.inputs[0] = left;
    else
        stream_close(left);
    return status == VDBQ_OK ? open_join(passing->join, error) : status;
}

enum vdbq_status join_pass_open(const struct join_pass *pass,
                                struct join_passing **passing,
                                struct error *error)
{
    assert(pass->to != NULL);
    *passing = memory_zeroed(1, sizeof **passing);
    if (*passing == NULL)
        return error_no_memory(error);
    (*passing)->pass = *pass;
    return open_pass(*passing, error);
}

void join_pass_close(struct join_passing *passing)
{
    if (passing == NULL)
        return;
    if (passing->join != NULL) {
        passing->join->right = (struct row_set){ 0 }; /* it is the caller's */
        stream_close(&passing->join->head);
    }
    memory_release(passing->rows[0]);
    memory_release(passing->rows[1]);
    memory_release(passing);
}

enum vdbq_status join_pass_run(const struct join_pass *pass,
                               struct error *error)
{
    struct join_passing *passing;
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = join_pass_open(pass, &passing, error);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = join_pass_batch(passing, &batch, error);
        if (status == VDBQ_OK && batch.rows > 0)
            status = add(passing, pass->to, NULL, batch.rows, error);
    }
    join_pass_close(passing);
    return status;
}
