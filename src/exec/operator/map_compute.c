/* SPDX-License-Identifier: MIT */
/*
 * Each thread computes neighbouring rows, and makes words of their texts; then
 * the words of all threads are joined. A row whose arguments were met takes the
 * value of that row (map_memo.h). The failure that counts is that of the
 * first row for which there is one, as if one thread had computed all.
 */
#include "exec/operator/map_compute.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/operator/map_memo.h"

/* A call takes as long as so many rows of a loop, or as one of a stop's. */
enum { CALL_ROWS = 16 };

/* Neighbouring rows, which one thread computes. */
struct share {
    uint64_t first, rows;    /* of the batch */
    uint64_t done;           /* of `rows`, before one that failed */
    struct vdbq_text *texts; /* that were computed, whose numbers the
                                      column has; NULL: the result is no text */
    size_t text_count;       /* of them */
    struct map_memo memo;
    struct dictionary *dictionary; /* the different ones; NULL: none */
    uint32_t *numbers;             /* of these, among those of all */
    struct arena arena;            /* of texts */
    struct error error;            /* status OK: all went well */
};

struct computing {
    const struct map_call *call;
    const struct function *function; /* found by the step's name */
    struct row_set_column arguments[FUNCTION_ARGUMENTS_MAX];
    unsigned count; /* of `shares` */
    struct share *shares;
};

static bool makes_texts(const struct map_call *call)
{
    return call->column->type == VDBQ_TEXT;
}

/* ---------------------------------------------------------------- rows -- */

/* The value of an argument; false: it is NULL. */
static bool argument(const struct computing *computing, unsigned i,
                     uint64_t row, struct function_value *value)
{
    const struct row_set_column *column = &computing->arguments[i];
    *value = (struct function_value){ 0 };
    if (row_set_is_null(column, row))
        return false;
    if (column->type == VDBQ_TEXT)
        value->text = dictionary_text(computing->call->words[i],
                                      (uint32_t)row_set_integer(column, row));
    else if (column->type == VDBQ_FLOAT || column->type == VDBQ_DOUBLE)
        value->real = row_set_real(column, row);
    else
        value->integer = row_set_integer(column, row);
    return true;
}

/* Puts a value into row `at` of the results, its text into the share's. */
static void put_value(const struct map_call *call, struct share *share,
                      const struct function_value *value)
{
    struct row_set_column *column = call->column;
    uint64_t at = call->first + share->first + share->done;
    column->nulls[at] = value->null;
    if (column->type == VDBQ_TEXT) {
        share->texts[share->text_count] = value->text;
        ((uint32_t *)column->values)[at] = (uint32_t)share->text_count++;
    } else if (column->type == VDBQ_DOUBLE)
        ((double *)column->values)[at] = value->real;
    else if (column->type == VDBQ_FLOAT)
        ((float *)column->values)[at] = (float)value->real;
    else if (column->width == sizeof(int32_t))
        ((int32_t *)column->values)[at] = (int32_t)value->integer;
    else
        ((int64_t *)column->values)[at] = value->integer;
}

/* Gives the row at hand the value of an earlier one. */
static void copy_value(const struct map_call *call, const struct share *share,
                       uint64_t row)
{
    struct row_set_column *column = call->column;
    uint64_t from = call->first + row;
    uint64_t at = call->first + share->first + share->done;
    assert(from < at);
    column->nulls[at] = column->nulls[from];
    memcpy((uint8_t *)column->values + at * column->width,
           (const uint8_t *)column->values + from * column->width,
           column->width);
}

/* NULL arguments give NULL without a call. */
static enum vdbq_status compute_row(const struct computing *computing,
                                    struct share *share)
{
    const struct map_call *call = computing->call;
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX];
    struct function_value value = { 0 };
    unsigned count = (unsigned)call->step->arguments.count;
    enum vdbq_status status = VDBQ_OK;
    assert(count <= FUNCTION_ARGUMENTS_MAX);
    for (unsigned i = 0; i < count && !value.null; i++)
        value.null =
            !argument(computing, i, share->first + share->done, &arguments[i]);
    if (!value.null)
        status = function_call(computing->function, arguments, count,
                               &share->arena, &value, &share->error);
    if (status != VDBQ_OK) {
        share->error.line = call->step->at.line;
        share->error.column = call->step->at.column;
        return status;
    }
    if (value.null)
        value =
            (struct function_value){ .null = true, .text = { .bytes = "" } };
    put_value(call, share, &value);
    return VDBQ_OK;
}

/* Computes rows up to the first for which the function fails. */
static void compute_rows(const struct computing *computing, struct share *share)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t since = 0;
    for (; share->done < share->rows && status == VDBQ_OK; share->done++) {
        uint64_t row = share->first + share->done;
        uint64_t like = map_memo_find(&share->memo, row);
        if (like != row)
            copy_value(computing->call, share, like);
        else
            status = compute_row(computing, share);
        if (status == VDBQ_OK && stop_after(&since, CALL_ROWS))
            status = error_cancelled(&share->error);
        if (status != VDBQ_OK)
            return;
    }
}

/* Makes words of a share's texts; their numbers go into the column. */
static void make_words(const struct map_call *call, struct share *share)
{
    uint32_t *numbers =
        (uint32_t *)call->column->values + call->first + share->first;
    share->numbers =
        memory_resize(NULL, (share->text_count + 1) * sizeof *share->numbers);
    share->dictionary =
        share->numbers
            ? dictionary_make(share->texts, share->text_count, share->numbers)
            : NULL;
    if (share->dictionary == NULL)
        stop_or_no_memory(&share->error);
    for (uint64_t i = 0; share->dictionary && i < share->done; i++)
        numbers[i] = share->numbers[numbers[i]];
    memory_release(share->numbers);
    share->numbers = NULL;
}

static void compute_share(void *context, unsigned number)
{
    struct computing *computing = context;
    struct share *share = &computing->shares[number];
    bool texts = makes_texts(computing->call);
    if (texts)
        share->texts =
            memory_resize(NULL, (share->rows + 1) * sizeof *share->texts);
    if (!map_memo_init(&share->memo, computing->arguments,
                       (unsigned)computing->call->step->arguments.count)
        || (texts && share->texts == NULL)) {
        error_no_memory(&share->error);
    } else {
        compute_rows(computing, share);
        if (texts)
            make_words(computing->call, share);
    }
    map_memo_finish(&share->memo);
    memory_release(share->texts);
    arena_finish(&share->arena);
}

/* --------------------------------------------------------------- words -- */

/* The numbers of a share's words become those of the words of all. */
static void follow_share(void *context, unsigned number)
{
    const struct computing *computing = context;
    const struct share *share = &computing->shares[number];
    uint32_t *values = (uint32_t *)computing->call->column->values
                       + computing->call->first + share->first;
    for (uint64_t i = 0; i < share->done && !stop_at(i); i++)
        values[i] = share->numbers[values[i]];
}

/* Joins the words of all shares. */
static enum vdbq_status join_words(struct computing *computing,
                                   struct dictionary **dictionary,
                                   struct error *error)
{
    struct dictionary *parts[PARALLEL_THREADS_MAX];
    uint32_t *numbers[PARALLEL_THREADS_MAX];
    for (unsigned i = 0; i < computing->count; i++) {
        struct share *share = &computing->shares[i];
        if (share->dictionary == NULL)
            return stop_or_no_memory(error);
        parts[i] = share->dictionary;
        numbers[i] = share->numbers = memory_resize(
            NULL, (parts[i]->count + (size_t)1) * sizeof **numbers);
        if (numbers[i] == NULL)
            return error_no_memory(error);
    }
    *dictionary = dictionary_join(parts, computing->count, numbers,
                                  computing->call->threads);
    if (*dictionary != NULL && computing->count > 1)
        parallel_run(computing->count, follow_share, computing);
    return *dictionary != NULL && !stop_asked() ? VDBQ_OK
                                                : stop_or_no_memory(error);
}

/* -------------------------------------------------------------- shares -- */

/* Where the arguments are, as columns. */
static void find_arguments(struct computing *computing)
{
    const struct map_call *call = computing->call;
    for (size_t i = 0; i < call->step->arguments.count; i++) {
        int number = VECTOR_ITEMS(&call->step->arguments, int)[i];
        assert((unsigned)number < call->batch->columns);
        const struct vdbq_vector *vector = &call->batch->column[number];
        computing->arguments[i] =
            (struct row_set_column){ .type = vector->type,
                                     .width = row_set_width(vector->type),
                                     .values = (void *)vector->values,
                                     .nulls = (uint8_t *)vector->nulls };
    }
}

/* Deals the rows out; false: no memory. */
static bool deal(struct computing *computing)
{
    uint64_t rows = computing->call->batch->rows;
    computing->count =
        parallel_threads(computing->call->threads, rows * CALL_ROWS);
    computing->shares =
        memory_zeroed(computing->count, sizeof *computing->shares);
    if (computing->shares == NULL)
        return false;
    for (uint64_t i = 0; i < computing->count; i++) {
        uint64_t first = rows * i / computing->count;
        uint64_t end = rows * (i + 1) / computing->count;
        computing->shares[i].first = first;
        computing->shares[i].rows = end - first;
    }
    return true;
}

static void shares_finish(struct computing *computing)
{
    for (unsigned i = 0; i < computing->count; i++) {
        dictionary_release(computing->shares[i].dictionary);
        memory_release(computing->shares[i].numbers);
    }
    memory_release(computing->shares);
}

enum vdbq_status map_compute(const struct map_call *call, uint64_t *rows,
                             struct dictionary **dictionary,
                             struct error *error)
{
    struct computing computing = { .call = call };
    const struct share *failed = NULL;
    enum vdbq_status status = VDBQ_OK;
    computing.function = function_find(call->step->name);
    assert(computing.function != NULL);
    assert(call->step->arguments.count <= FUNCTION_ARGUMENTS_MAX);
    find_arguments(&computing);
    *rows = call->batch->rows;
    *dictionary = NULL;
    if (!deal(&computing))
        return error_no_memory(error);
    parallel_run(computing.count, compute_share, &computing);
    if (makes_texts(call))
        status = join_words(&computing, dictionary, error);
    for (unsigned i = 0; i < computing.count && failed == NULL; i++)
        if (computing.shares[i].error.status != VDBQ_OK)
            failed = &computing.shares[i];
    if (status == VDBQ_OK && failed != NULL) {
        *rows = failed->first + failed->done;
        *error = failed->error;
        status = error->status;
    }
    shares_finish(&computing);
    return status;
}
