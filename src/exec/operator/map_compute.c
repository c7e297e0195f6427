/* SPDX-License-Identifier: MIT */
/*
 * Each thread computes neighbouring rows, and gathers their texts. A row whose
 * arguments were met takes the value of that row (map_memo.h). The failure that
 * counts is that of the first row for which there is one, as if one thread had
 * computed all.
 */
#include "exec/operator/map_compute.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_texts.h"
#include "exec/operator/map_memo.h"

enum {
    CALL_ROWS = 16, /* of a loop, or one of a stop's, take as long as a call */
    ROW_BYTES = 16, /* of a text take as long as one of these                */
    BLOCK_ROWS = 32 /* whose texts are looked up together, in memory         */
};

/* Neighbouring rows, which one thread computes. */
struct share {
    uint64_t first, rows; /* of the batch */
    uint64_t done;        /* of `rows`, before one that failed */
    uint64_t since;       /* for stop_after(): CALL_ROWS, and what texts take */
    struct map_memo memo;
    /* of a call that is looked up: a copy of its arguments */
    struct function_value constants[FUNCTION_ARGUMENTS_MAX];
    /* of each call that is computed with the function: likewise */
    struct function_value (*then)[FUNCTION_ARGUMENTS_MAX];
    /* of each argument, for the block of rows at hand: its texts */
    struct dictionary_texts texts[FUNCTION_ARGUMENTS_MAX];
    struct arena arena; /* of texts, until they are gathered */
    struct error error; /* status OK: all went well */
};

struct computing {
    const struct map_call *call;
    const struct function
        *function; /* found by the step's name, or looked up */
    /* ... behind them the keys of groups of which it makes the first text */
    struct row_set_column arguments[FUNCTION_ARGUMENTS_MAX];
    uint64_t block_rows; /* whose texts a share looks up together */
    unsigned count;      /* of `shares`, and `gathers` */
    struct share *shares;
    struct gather *gathers; /* the texts of each share; NULL: it has numbers */
};

static bool makes_texts(const struct map_call *call)
{
    return call->column->type == VDBQ_TEXT;
}

/* ---------------------------------------------------------------- rows -- */

/* Looks up the texts of the arguments of the next rows, where a block of them
 * begins: memory, or the file, is then waited for once and not at each of them.
 * False: no memory. */
static bool look_up_block(const struct computing *computing,
                          struct share *share)
{
    uint64_t left = share->rows - share->done;
    uint64_t rows = left < computing->block_rows ? left : computing->block_rows;
    bool done = true;
    if (share->done % computing->block_rows != 0)
        return true;
    for (unsigned i = 0; i < computing->call->step->arguments.count && done;
         i++) {
        const uint32_t *numbers = computing->arguments[i].values;
        if (computing->arguments[i].type == VDBQ_TEXT)
            done = dictionary_texts_look_up(
                &share->texts[i], computing->call->words[i],
                numbers + share->first + share->done, rows);
    }
    return done;
}

/* The value of an argument in the row at hand; false: it is NULL. */
static bool argument(const struct computing *computing, struct share *share,
                     unsigned i, struct function_value *value)
{
    const struct row_set_column *column = &computing->arguments[i];
    uint64_t row = share->first + share->done;
    *value = (struct function_value){ 0 };
    if (row_set_is_null(column, row))
        return false;
    if (column->type == VDBQ_TEXT) {
        value->text =
            share->texts[i].texts[share->done % computing->block_rows];
        share->since += value->text.length / ROW_BYTES;
    } else if (column->type == VDBQ_FLOAT || column->type == VDBQ_DOUBLE)
        value->real = row_set_real(column, row);
    else
        value->integer = row_set_integer(column, row);
    return true;
}

/* Puts the place of a text into row `at` of the results; false: no memory. */
static bool put_text(const struct computing *computing, struct share *share,
                     uint64_t at, const struct function_value *value)
{
    size_t number = (size_t)(share - computing->shares);
    struct gather *gather = &computing->gathers[number];
    struct step_firsts wanted = computing->call->step->firsts;
    uint32_t *place = (uint32_t *)computing->call->column->values + at;
    *place = 0;
    if (value->null)
        return true;
    if (wanted.key_count > 0)
        return map_bests_add(
            &computing->call->texts->bests[number], wanted,
            computing->arguments + computing->call->step->arguments.count,
            share->first + share->done, gather, value->text, place);
    return wanted.count > 0
               ? map_firsts_add(&computing->call->texts->firsts[number], wanted,
                                gather, value->text, place)
               : gather_add(gather, value->text, place);
}

/* Puts a number into row `at` of the results. */
static void put_number(struct row_set_column *column, uint64_t at,
                       const struct function_value *value)
{
    if (column->type == VDBQ_DOUBLE)
        ((double *)column->values)[at] = value->real;
    else if (column->type == VDBQ_FLOAT)
        ((float *)column->values)[at] = (float)value->real;
    else if (column->width == sizeof(int32_t))
        ((int32_t *)column->values)[at] = (int32_t)value->integer;
    else
        ((int64_t *)column->values)[at] = value->integer;
}

/* Puts a value into the row of the results that is at hand. */
static enum vdbq_status put_value(const struct computing *computing,
                                  struct share *share,
                                  const struct function_value *value)
{
    struct row_set_column *column = computing->call->column;
    uint64_t at = computing->call->first + share->first + share->done;
    column->nulls[at] = value->null;
    if (!makes_texts(computing->call))
        put_number(column, at, value);
    else if (!put_text(computing, share, at, value))
        return stop_or_no_memory(&share->error);
    return VDBQ_OK;
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

/* Looks a call up for a text. One that fails says what a program says. */
static enum vdbq_status look_up_call(const struct function_lookup *lookup,
                                     struct function_value *constants,
                                     struct vdbq_text text, struct share *share,
                                     struct function_value *value)
{
    enum vdbq_status status = function_lookup_call(
        lookup, constants, text, &share->arena, value, &share->error);
    if (status != VDBQ_RANGE && status != VDBQ_TYPE)
        return status;
    char room[FUNCTION_FAILURE_MAX];
    function_lookup_failure(lookup->function, room);
    return error_set(&share->error, VDBQ_RANGE, "%s", room);
}

/* The calls that are computed with the function, each of what the one before
 * gave. */
static enum vdbq_status compute_then(const struct map_call *call,
                                     struct share *share,
                                     struct function_value *value)
{
    enum vdbq_status status = VDBQ_OK;
    for (size_t i = 0;
         i < call->step->then.count && status == VDBQ_OK && !value->null; i++) {
        struct vdbq_text text = value->text;
        status =
            look_up_call(&call->then[i], share->then[i], text, share, value);
    }
    return status;
}

/* The function of the row's arguments, none of which is NULL. */
static enum vdbq_status call_function(const struct computing *computing,
                                      struct share *share,
                                      const struct function_value *arguments,
                                      struct function_value *value)
{
    const struct map_call *call = computing->call;
    if (call->lookup != NULL)
        return look_up_call(call->lookup, share->constants, arguments[0].text,
                            share, value);
    return function_call(computing->function, arguments,
                         (unsigned)call->step->arguments.count, &share->arena,
                         value, &share->error);
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
        value.null = !argument(computing, share, i, &arguments[i]);
    if (!value.null)
        status = call_function(computing, share, arguments, &value);
    if (status == VDBQ_OK)
        status = compute_then(call, share, &value);
    if (status != VDBQ_OK) {
        share->error.line = call->step->at.line;
        share->error.column = call->step->at.column;
        return status;
    }
    if (value.null)
        value = (struct function_value){ .null = true };
    status = put_value(computing, share, &value);
    arena_empty(&share->arena);
    return status;
}

/* Computes rows up to the first for which the function fails. */
static void compute_rows(const struct computing *computing, struct share *share)
{
    enum vdbq_status status = VDBQ_OK;
    for (; share->done < share->rows && status == VDBQ_OK; share->done++) {
        uint64_t row = share->first + share->done;
        if (!look_up_block(computing, share)) {
            error_no_memory(&share->error);
            return;
        }
        uint64_t like = map_memo_find(&share->memo, row);
        if (like != row)
            copy_value(computing->call, share, like);
        else
            status = compute_row(computing, share);
        if (status == VDBQ_OK && stop_after(&share->since, CALL_ROWS))
            status = error_cancelled(&share->error);
        if (status != VDBQ_OK)
            return;
    }
}

/* Copies of the constants of calls; false: no memory. */
static bool copy_constants(const struct map_call *call, struct share *share)
{
    size_t count = call->step->then.count;
    if (call->lookup != NULL)
        memcpy(share->constants, call->lookup->arguments,
               sizeof share->constants);
    if (count > 0)
        share->then = memory_resize(NULL, count * sizeof *share->then);
    for (size_t i = 0; i < count && share->then != NULL; i++)
        memcpy(share->then[i], call->then[i].arguments, sizeof *share->then);
    return count == 0 || share->then != NULL;
}

static void compute_share(void *context, unsigned number)
{
    struct computing *computing = context;
    struct share *share = &computing->shares[number];
    if (copy_constants(computing->call, share)
        && map_memo_init(&share->memo, computing->arguments,
                         (unsigned)computing->call->step->arguments.count
                             + computing->call->step->firsts.key_count,
                         share->first, share->first + share->rows))
        compute_rows(computing, share);
    else
        error_no_memory(&share->error);
    map_memo_finish(&share->memo);
    for (unsigned i = 0; i < FUNCTION_ARGUMENTS_MAX; i++)
        dictionary_texts_finish(&share->texts[i]);
    arena_finish(&share->arena);
    memory_release(share->then);
}

/* -------------------------------------------------------------- shares -- */

/* A column of the input. */
static struct row_set_column input_column(const struct map_call *call,
                                          int number)
{
    const struct vdbq_vector *vector = &call->batch->column[number];
    assert((unsigned)number < call->batch->columns);
    return (struct row_set_column){ .type = vector->type,
                                    .width = row_set_width(vector->type),
                                    .values = (void *)vector->values,
                                    .nulls = (uint8_t *)vector->nulls };
}

/* Where the arguments and keys are, as columns, and how many rows a block has. */
static void find_arguments(struct computing *computing)
{
    const struct map_call *call = computing->call;
    const struct step_function *step = call->step;
    size_t count = step->arguments.count;
    assert(count + step->firsts.key_count <= FUNCTION_ARGUMENTS_MAX);
    computing->block_rows = BLOCK_ROWS;
    for (size_t i = 0; i < count; i++) {
        computing->arguments[i] =
            input_column(call, VECTOR_ITEMS(&step->arguments, int)[i]);
        if (dictionary_in_file(call->words[i]))
            computing->block_rows = DICTIONARY_TEXTS_ROWS;
    }
    for (size_t i = 0; i < step->firsts.key_count; i++)
        computing->arguments[count + i] =
            input_column(call, step->firsts.keys[i]);
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
    if (makes_texts(computing->call))
        computing->gathers =
            map_texts_gathers(computing->call->texts, computing->count);
    for (uint64_t i = 0; i < computing->count; i++) {
        uint64_t first = rows * i / computing->count;
        uint64_t end = rows * (i + 1) / computing->count;
        computing->shares[i].first = first;
        computing->shares[i].rows = end - first;
    }
    return true;
}

/* The first share that has failed; NULL: none has. */
static const struct share *failed_share(const struct computing *computing)
{
    for (unsigned i = 0; i < computing->count; i++)
        if (computing->shares[i].error.status != VDBQ_OK)
            return &computing->shares[i];
    return NULL;
}

/* Notes whose places the first `rows` rows have; false: no memory. */
static bool note_places(const struct computing *computing, uint64_t rows)
{
    bool noted = true;
    for (unsigned i = 0; i < computing->count && noted; i++) {
        const struct share *share = &computing->shares[i];
        if (share->first < rows)
            noted = map_texts_add(computing->call->texts, i, share->done);
    }
    return noted;
}

enum vdbq_status map_compute(const struct map_call *call, uint64_t *rows,
                             struct error *error)
{
    struct computing computing = { .call = call };
    enum vdbq_status status = VDBQ_OK;
    computing.function = call->lookup != NULL ? call->lookup->function
                                              : function_find(call->step->name);
    assert(computing.function != NULL);
    assert(call->lookup == NULL || call->step->arguments.count == 1);
    assert(call->step->arguments.count <= FUNCTION_ARGUMENTS_MAX);
    assert(!makes_texts(call) || call->texts != NULL);
    find_arguments(&computing);
    *rows = call->batch->rows;
    if (!deal(&computing))
        return error_no_memory(error);
    parallel_run(computing.count, compute_share, &computing);
    const struct share *failed = failed_share(&computing);
    if (failed != NULL) {
        *rows = failed->first + failed->done;
        *error = failed->error;
        status = error->status;
    }
    if (makes_texts(call) && !note_places(&computing, *rows))
        status = error_no_memory(error);
    memory_release(computing.shares);
    return status;
}
