/* SPDX-License-Identifier: MIT */
/*
 * Texts that are joined: see window_joined.h. The texts of partitions' rows
 * are looked up some rows at a time, whichever partitions these are of; NULLs are
 * passed over, and a separator that is NULL is empty.
 */
#include "exec/window/window_joined.h"

#include <assert.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_texts.h"
#include "exec/window/window_inner.h"

enum {
    BLOCK_ROWS = 1024,          /* whose texts are looked up together */
    JOINED_BYTES_MAX = 1 << 28, /* of a text, as of all functions     */
    KEPT_BYTES_MAX = 1 << 20    /* ... whose memory is kept for the next one */
};

/* Partitions while their texts are joined. */
struct joining {
    const struct window *window;
    const struct step_window_function *function;
    struct window_joined *joined;
    struct dictionary_texts values, separators; /* of a block of rows        */
    uint32_t block_rows;                        /* it has at most            */
    uint32_t block_at, block_end;               /* its places in the order   */
    uint32_t *numbers; /* ... and the words of one of its columns            */
    struct error *error;
};

/* ---------------------------------------------------------------- rows -- */

static const struct row_set_column *value_column(const struct joining *joining)
{
    return &joining->window->rows->columns[joining->function->aggregate.column];
}

/* NULL: there is none, or it has no words. */
static const struct row_set_column *
separator_column(const struct joining *joining)
{
    int number = joining->function->fallback;
    return number < 0 || joining->joined->separators == NULL
               ? NULL
               : &joining->window->rows->columns[number];
}

/* Looks the texts of a column up in the block's rows; NULLs get any word. */
static bool look_up(struct joining *joining, struct dictionary_texts *texts,
                    const struct dictionary *words,
                    const struct row_set_column *column)
{
    const uint32_t *values = column->values;
    uint32_t count = joining->block_end - joining->block_at;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = joining->window->order[joining->block_at + i];
        joining->numbers[i] = row_set_is_null(column, row) ? 0 : values[row];
    }
    if (dictionary_texts_look_up(texts, words, joining->numbers, count))
        return true;
    error_no_memory(joining->error);
    return false;
}

/* Looks up the texts of the rows from a place of the order on. */
static bool read_block(struct joining *joining, uint32_t at)
{
    const struct row_set_column *between = separator_column(joining);
    uint64_t left = joining->window->rows->rows - at;

    joining->block_at = at;
    joining->block_end =
        at
        + (uint32_t)(left < joining->block_rows ? left : joining->block_rows);
    return stop_pause(joining->error) == VDBQ_OK
           && look_up(joining, &joining->values, joining->joined->values,
                      value_column(joining))
           && (between == NULL
               || look_up(joining, &joining->separators,
                          joining->joined->separators, between));
}

static bool add(struct joining *joining, struct vdbq_text text)
{
    struct text *to = &joining->joined->text;
    if (text.length > JOINED_BYTES_MAX - to->length) {
        error_at(joining->error, VDBQ_LIMIT, joining->function->aggregate.at,
                 "a text would be longer than %d bytes", JOINED_BYTES_MAX);
        return false;
    }
    text_add(to, text.bytes, text.length);
    if (to->failed)
        error_no_memory(joining->error);
    return !to->failed;
}

/* Adds the text of the row at a place of the order. */
static bool add_row(struct joining *joining, uint32_t at)
{
    const struct row_set_column *between = separator_column(joining);
    uint32_t row = joining->window->order[at];

    if (at >= joining->block_end && !read_block(joining, at))
        return false;
    assert(joining->block_at <= at && at < joining->block_end);
    if (row_set_is_null(value_column(joining), row))
        return true;
    at -= joining->block_at;
    if (joining->joined->any && between != NULL
        && !row_set_is_null(between, row)
        && !add(joining, joining->separators.texts[at]))
        return false;
    joining->joined->any = true;
    return add(joining, joining->values.texts[at]);
}

/* Joins the texts of the rows [at, end) of the order: all of a partition, or those
 * behind what was joined of it. */
static bool join_rows(struct joining *joining, uint32_t at, uint32_t end)
{
    struct window_joined *joined = joining->joined;
    bool done = true;

    if (joined->begun) {
        at++; /* a row of those before */
    } else {
        joined->text.length = 0;
        joined->any = false;
    }
    for (; at < end && done; at++)
        done = add_row(joining, at);
    return done;
}

/* ---------------------------------------------------------- partitions -- */

/* The place of a partition's text, all of whose rows came; false: no memory. */
static bool gather_text(struct window_joined *joined, uint32_t *place)
{
    struct vdbq_text text = { "", 0 };

    *place = JOINED_NULL;
    if (!joined->any)
        return true;
    if (joined->text.length > 0)
        text = (struct vdbq_text){ joined->text.bytes,
                                   (uint32_t)joined->text.length };
    if (!gather_add(&joined->gather, text, place) || *place >= JOINED_NULL)
        return false;
    if (text.length > KEPT_BYTES_MAX)
        text_finish(&joined->text);
    return true;
}

/* What rows of a partition are given, of which others came before or come later:
 * the promise of the text, which is kept with the last ones. False: no memory. */
static bool promise_text(struct window_joined *joined, bool more,
                         uint32_t *value)
{
    struct vector *promised = &joined->promised;
    uint32_t place = JOINED_NULL;

    if (!joined->begun && !vector_append(promised, &place, 1))
        return false;
    joined->begun = more;
    *value = JOINED_PROMISED | (uint32_t)(promised->count - 1);
    return more
           || gather_text(joined, vector_at(promised, promised->count - 1));
}

/* Gives all rows of a partition its text; false: a failure. */
static bool write_partition(struct joining *joining, uint32_t at, uint32_t end,
                            struct row_set_column *result)
{
    const struct window *window = joining->window;
    struct window_joined *joined = joining->joined;
    bool more = window->before.more && end == window->rows->rows;
    uint32_t value = 0;

    if (!join_rows(joining, at, end))
        return false;
    if (!(more || joined->begun ? promise_text(joined, more, &value)
                                : gather_text(joined, &value))) {
        error_no_memory(joining->error);
        return false;
    }
    for (; at < end; at++) {
        uint32_t row = window->order[at];
        ((uint32_t *)result->values)[row] = value;
        result->nulls[row] = value == JOINED_NULL;
    }
    return true;
}

static enum vdbq_status write_all(struct joining *joining, bool *nulls,
                                  struct row_set_column *result)
{
    const struct window *window = joining->window;
    uint64_t since = 0;

    for (uint32_t at = 0, end; at < window->rows->rows; at = end) {
        end = window_end(window, at, SORT_PARTITION);
        if (!write_partition(joining, at, end, result))
            return joining->error->status;
        *nulls |= result->nulls[window->order[at]] != 0;
        if (stop_after(&since, end - at))
            return error_cancelled(joining->error);
    }
    return VDBQ_OK;
}

enum vdbq_status window_join_texts(struct window *window,
                                   const struct step_window_function *function,
                                   struct window_joined *joined,
                                   struct row_set_column *result,
                                   struct error *error)
{
    struct joining joining = { .window = window,
                               .function = function,
                               .joined = joined,
                               .block_rows = BLOCK_ROWS,
                               .error = error };
    enum vdbq_status status;

    if (dictionary_in_file(joined->values))
        joining.block_rows = DICTIONARY_TEXTS_ROWS;
    joining.numbers =
        memory_zeroed(joining.block_rows, sizeof *joining.numbers);
    status = joining.numbers != NULL
                 ? write_all(&joining, &window->any_nulls, result)
                 : error_no_memory(error);
    dictionary_texts_finish(&joining.values);
    dictionary_texts_finish(&joining.separators);
    memory_release(joining.numbers);
    return status;
}

/* --------------------------------------------------------------- words -- */

void window_joined_init(struct window_joined *joined)
{
    *joined = (struct window_joined){ .promised = VECTOR(uint32_t) };
    gather_init(&joined->gather);
}

void window_joined_finish(struct window_joined *joined)
{
    text_finish(&joined->text);
    gather_finish(&joined->gather);
    vector_finish(&joined->promised);
    memory_release(joined->followed);
    memory_release(joined->nulls);
    *joined = (struct window_joined){ 0 };
}

struct dictionary *window_joined_words(struct window_joined *joined,
                                       enum texts_use use, unsigned threads)
{
    return gather_together(&joined->gather, 1, use, threads);
}

/* Room for the words and NULLs of a batch; false: no memory. */
static bool follow_room(struct window_joined *joined, uint64_t rows)
{
    if (rows <= joined->followed_room)
        return true;
    uint32_t *more =
        memory_resize(joined->followed, rows * sizeof *joined->followed);
    if (more == NULL)
        return false;
    joined->followed = more;
    uint8_t *nulls = memory_resize(joined->nulls, rows);
    if (nulls == NULL)
        return false;
    joined->nulls = nulls;
    joined->followed_room = rows;
    return true;
}

/* The place of a row's text; JOINED_NULL: it is NULL. */
static uint32_t place_of(const struct window_joined *joined,
                         const struct vdbq_vector *vector, uint64_t row)
{
    uint32_t value = ((const uint32_t *)vector->values)[row];

    if (vector->nulls != NULL && vector->nulls[row] != 0)
        return JOINED_NULL;
    return value & JOINED_PROMISED ? VECTOR_ITEMS(
               &joined->promised, uint32_t)[value & ~JOINED_PROMISED]
                                   : value;
}

bool window_joined_follow(struct window_joined *joined,
                          struct vdbq_vector *vector, uint64_t rows)
{
    bool nulls = false;

    if (!follow_room(joined, rows))
        return false;
    for (uint64_t i = 0; i < rows; i++) {
        uint32_t place = place_of(joined, vector, i);
        joined->nulls[i] = place == JOINED_NULL;
        joined->followed[i] =
            place == JOINED_NULL ? 0 : joined->gather.numbers[place];
        nulls |= place == JOINED_NULL;
    }
    vector->values = joined->followed;
    vector->nulls = nulls ? joined->nulls : NULL;
    return true;
}
