/* SPDX-License-Identifier: MIT */
#include "data/pool/few_rows.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/bits.h"
#include "data/database/database_inner.h"
#include "data/pool/few_words.h"
#include "data/pool/pool_inner.h"
#include "data/pool/projection_inner.h"
#include "data/tablet/page_sums.h"

enum {
    TABLET_SMALL = HOSTILE(1, 1 << 20), /* bytes: so few come whole anyway */
    /* Bytes that a value takes as long as, which is read by itself: its page, and
     * its word's unit, in small reads. */
    VALUE_BYTES = HOSTILE(0, 4 * SUM_PAGE_BYTES),
    /* When few rows took such a part of what all of a tablet take, others will be
     * wanted, too, and all are brought in; not where that makes others leave. */
    AGAIN_SHARE = 32,
    NEAR_ROWS = 64 /* that are read together */
};

/* ------------------------------------------------------------------ open -- */

/* Bytes that take as long as so many rows. */
static uint64_t bytes_for(const struct pool_want *want, uint64_t count)
{
    return count * want->column_count * VALUE_BYTES;
}

/* Whether few rows of the tablet were wanted so often that all are worth it. */
static bool wanted_again(const struct pool *pool, const struct pool_want *want)
{
    uint64_t size = want->tablet->size_bytes;
    const struct tablet_proof *proof =
        proofs_known(&pool->proofs, want->tablet, want->table->column_count);
    bool room = pool->used_bytes + size <= pool->budget_bytes;

    return proof != NULL && size <= pool->budget_bytes / 2
           && proof->few_bytes >= size / (room ? AGAIN_SHARE : 1);
}

bool few_rows_pay(const struct pool *pool, const struct pool_want *want,
                  uint64_t count)
{
    uint64_t size = want->tablet->size_bytes;

    return size > TABLET_SMALL && count > 0 && want->tablet->edit == NULL
           && want->columns != NULL && bytes_for(want, count) <= size
           && pool_names_find(&pool->names, want) == NULL
           && !wanted_again(pool, want);
}

/* A projection of what is wanted, with words, in no slot. */
static bool make_projection(struct few_rows *few, struct pool *pool,
                            const struct pool_want *want)
{
    size_t columns = want->table->column_count;
    size_t head = (size_t)tablet_head_size((unsigned)columns);
    struct projection *projection = &few->projection;
    bool *wanted = arena_alloc(&few->arena, columns);

    *projection = (struct projection){
        .database = database_of(pool->database, want->table->id),
        .table = want->table,
        .tablet = want->tablet,
        .copied = true,
        .wanted = wanted,
        .apart = arena_alloc(&few->arena, columns),
        .dictionaries = arena_alloc(&few->arena,
                                    columns * sizeof *projection->dictionaries),
        .words = arena_alloc(&few->arena, columns * sizeof *projection->words),
        .head = arena_alloc(&few->arena, head),
        .here = arena_alloc(&few->arena, head)
    };
    for (unsigned i = 0; wanted != NULL && i < want->column_count; i++)
        wanted[want->columns[i]] = true;
    return wanted != NULL && projection->apart != NULL
           && projection->dictionaries != NULL && projection->words != NULL
           && projection->head != NULL && projection->here != NULL;
}

/* Makes the block, which has the head alone. */
static enum vdbq_status make_block(struct few_rows *few, struct error *error)
{
    struct projection *projection = &few->projection;
    enum vdbq_status status = projection_find_words(projection, error);

    if (status != VDBQ_OK)
        return status;
    few->size = projection_lay_out(projection);
    few->block = memory_untouched(few->size);
    if (few->block == NULL)
        return error_no_memory(error);
    return projection_put_head(projection, few->block, error);
}

enum vdbq_status few_rows_open(struct few_rows *few, struct pool *pool,
                               const struct pool_want *want,
                               struct error *error)
{
    struct projection *projection = &few->projection;
    struct tablet_pages pages;
    enum vdbq_status status;

    *few = (struct few_rows){ .row_bytes = bytes_for(want, 1) };
    if (!make_projection(few, pool, want))
        return error_no_memory(error);
    status = projection_read_head(projection, error);
    if (status == VDBQ_OK)
        status = pool_find_proof(pool, projection, error);
    if (status == VDBQ_OK)
        status = projection_learn_told(projection, error);
    if (status != VDBQ_OK || !projection_proven(projection))
        return status;
    status = make_block(few, error);
    if (status != VDBQ_OK)
        return status;
    pages = projection_pages(projection);
    few->reader = page_reader_start(&pages);
    few->tablet = few->block;
    projection->proof->users++;
    return VDBQ_OK;
}

void few_rows_finish(struct few_rows *few)
{
    if (few->tablet != NULL)
        few->projection.proof->users--;
    page_reader_finish(&few->reader);
    memory_untouched_release(few->block, few->size);
    arena_finish(&few->arena);
    *few = (struct few_rows){ .tablet = NULL };
}

/* ---------------------------------------------------------------- values -- */

/* A column whose values are brought in. */
struct bringing {
    struct few_rows *few;
    unsigned column;
    struct encoded_column found;        /* in the block         */
    const struct tablet_column *stored; /* ... in the file */
    uint32_t near; /* of rows that were brought in last: the first one       */
    struct error *error;
};

/* Brings in bytes of an area of the column, which begins there in the file and in
 * the block. */
static enum vdbq_status bring_bytes(const struct bringing *bringing,
                                    uint64_t stored, const uint8_t *here,
                                    struct encoding_part part)
{
    uint8_t *block = bringing->few->block;

    return page_reader_copy(&bringing->few->reader, stored + part.offset,
                            part.size, block + (here - block) + part.offset,
                            bringing->error);
}

/* Brings in what rows [first, first + count) need, and says which are NULL. */
static enum vdbq_status bring_near(const struct bringing *bringing,
                                   uint32_t first, uint32_t count)
{
    const struct encoded_column *found = &bringing->found;
    const struct encoding *encoding = encoding_at(found->column->encoding);
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; encoding->part != NULL && status == VDBQ_OK; i++) {
        struct encoding_part part = encoding->part(found, first, count, i);
        if (part.size == 0)
            break;
        status = bring_bytes(bringing, bringing->stored->values, found->values,
                             part);
    }
    if (status == VDBQ_OK && found->null_bits != NULL)
        status = bring_bytes(
            bringing, bringing->stored->nulls, found->null_bits,
            (struct encoding_part){ first / 8,
                                    (first + count - 1) / 8 - first / 8 + 1 });
    return status;
}

/* Whether a value is none that the column says it has. */
static bool is_outside(const struct bringing *bringing, const void *value)
{
    const struct tablet_column *column = bringing->found.column;
    double least = f64_of_bits((u64)column->minimum), real;
    int64_t number;

    switch (bringing->found.type) {
    case VDBQ_FLOAT:
        real = (double)*(const float *)value;
        break;
    case VDBQ_DOUBLE:
        real = *(const double *)value;
        break;
    default:
        number = column->width == sizeof(int32_t) ? *(const int32_t *)value
                                                  : *(const int64_t *)value;
        return number < column->minimum || number > column->maximum;
    }
    return !(real >= least && real <= f64_of_bits((u64)column->maximum));
}

static enum vdbq_status tell_outside(const struct bringing *bringing)
{
    const struct table *table = bringing->few->projection.table;

    return error_set(bringing->error, VDBQ_CORRUPT,
                     "table %s, column %s: in a tablet the minimum or maximum "
                     "is wrong",
                     table->name, table->columns[bringing->column].name);
}

/* Brings in the rows that are read with a row, unless that was done for the row
 * before it. */
static enum vdbq_status bring_around(struct bringing *bringing, uint32_t row)
{
    uint32_t first = row / NEAR_ROWS * NEAR_ROWS;
    uint32_t left = bringing->found.rows - first;
    enum vdbq_status status = VDBQ_OK;

    if (first != bringing->near)
        status =
            bring_near(bringing, first, left < NEAR_ROWS ? left : NEAR_ROWS);
    bringing->near = first;
    return status;
}

/* Brings in the value of a row, and of a text its word. */
static enum vdbq_status bring_row(struct bringing *bringing, uint32_t row,
                                  struct few_words *words)
{
    const struct few_rows *few = bringing->few;
    enum vdbq_status status = bring_around(bringing, row);
    uint64_t value = 0;

    if (status != VDBQ_OK || tablet_null(few->tablet, bringing->column, row))
        return status;
    tablet_values_pick(few->tablet, bringing->column, &row, 1, &value);
    if (is_outside(bringing, &value))
        return tell_outside(bringing);
    return words != NULL
               ? few_words_bring(words, (uint32_t)value, bringing->error)
               : VDBQ_OK;
}

/* Brings in what rows need of a column. */
static enum vdbq_status bring_column(struct bringing *bringing,
                                     const uint32_t *rows, uint64_t count)
{
    struct few_rows *few = bringing->few;
    const struct projection *projection = &few->projection;
    bool text = projection_has_words(projection, bringing->column);
    struct few_words words = { .reader = &few->reader };
    enum vdbq_status status =
        tablet_check_shape(projection->table, few->tablet, few->tablet,
                           bringing->column, &bringing->found, bringing->error);

    bringing->stored = tablet_column(projection->head, bringing->column);
    if (status == VDBQ_OK && text)
        status = few_words_open(&words, projection, bringing->column,
                                few->block, bringing->error);
    for (uint64_t i = 0; i < count && status == VDBQ_OK; i++)
        status = stop_asked()
                     ? error_cancelled(bringing->error)
                     : bring_row(bringing, rows[i], text ? &words : NULL);
    few_words_finish(&words);
    return status;
}

enum vdbq_status few_rows_bring(struct few_rows *few, const uint32_t *rows,
                                uint64_t count, struct error *error)
{
    const struct projection *projection = &few->projection;
    enum vdbq_status status = VDBQ_OK;

    assert(few->tablet != NULL);
    for (unsigned i = 0; i < projection->table->column_count; i++) {
        struct bringing bringing = {
            .few = few, .column = i, .near = UINT32_MAX, .error = error
        };
        if (!projection->wanted[i] || status != VDBQ_OK)
            continue;
        status = bring_column(&bringing, rows, count);
        if (status == VDBQ_OK)
            status =
                tablet_check_facts(projection->database, projection->table,
                                   projection->tablet, few->tablet, i, error);
    }
    projection->proof->few_bytes += count * few->row_bytes;
    return status;
}
