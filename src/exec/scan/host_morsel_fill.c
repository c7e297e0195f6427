/* SPDX-License-Identifier: MIT */
/*
 * Fills morsels with rows of the host, by shares of rows, a thread each. Where
 * codes of texts are other words' numbers (host_morsel_input), these are looked
 * up on the way.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "data/tablet/tablet.h"
#include "exec/scan/host_morsel.h"

enum { ROWS_STEP = 64 }; /* no two threads write one byte of NULL bits */

u64 host_morsel_values_at(const struct host_morsels *morsels,
                          const struct host_morsel *morsel, unsigned input)
{
    assert(input <= morsels->pack->input_count && morsel->rows_room % 8 == 0);
    u64 at = TABLET_ALIGN;
    for (unsigned i = 0; i < input; i++)
        at += TABLET_ALIGNED(morsel->rows_room * morsels->inputs[i].width)
              + TABLET_ALIGNED(morsel->rows_room / 8);
    return at;
}

/* NULL bits of a column lie behind its values. */
u64 host_morsel_nulls_at(const struct host_morsels *morsels,
                         const struct host_morsel *morsel, unsigned input)
{
    assert(input < morsels->pack->input_count);
    return host_morsel_values_at(morsels, morsel, input)
           + TABLET_ALIGNED(morsel->rows_room * morsels->inputs[input].width);
}

/* Where an input's values are. */
static void *values_of(const struct host_morsels *morsels,
                       const struct host_morsel *morsel, unsigned input)
{
    return (u8 *)device_memory_host(morsel->memory)
           + host_morsel_values_at(morsels, morsel, input);
}

static u8 *nulls_of(const struct host_morsels *morsels,
                    const struct host_morsel *morsel, unsigned input)
{
    return (u8 *)device_memory_host(morsel->memory)
           + host_morsel_nulls_at(morsels, morsel, input);
}

/* The input is to have NULL bits: at first nothing is NULL. */
static void need_nulls(const struct host_morsels *morsels,
                       struct host_morsel *morsel, unsigned input)
{
    if (!morsel->nulls[input])
        memset(nulls_of(morsels, morsel, input), 0, morsel->rows_room / 8);
    morsel->nulls[input] = true;
}

/* What the program knows a code by; NULLs have any code. */
static inline u32 number_of(const struct host_morsel_input *input, u32 code)
{
    return code < input->number_count ? (u32)input->numbers[code] : 0;
}

/* Rows that come into a morsel, by shares. */
struct filling {
    const struct host_morsels *morsels;
    struct host_morsel *morsel;
    uint64_t at, end; /* of the morsel's rows */
    unsigned threads; /* that share them */
    /* either rows of a batch, from `start` on ... */
    const struct vdbq_batch *batch;
    uint64_t start;
    /* ... or those of a row set, by number: its columns are those from `first`
     * on */
    const struct row_set *from;
    unsigned first;
    const uint32_t *rows;
};

/* Where a share of the morsel's rows begins. */
static uint64_t share_start(const struct filling *filling, unsigned share)
{
    uint64_t count = filling->end - filling->at;
    uint64_t start = filling->at + count * share / filling->threads;
    if (share == 0 || share == filling->threads)
        return start;
    start -= start % ROWS_STEP;
    return start > filling->at ? start : filling->at;
}

/* ------------------------------------------------------ rows of a batch -- */

/* An input's column of the batch; NULL: it is the rows' number. */
static const struct vdbq_vector *added(const struct filling *filling,
                                       unsigned input)
{
    int column = filling->morsels->inputs[input].column;
    return column >= 0 ? &filling->batch->column[column] : NULL;
}

/* Copies one input's values and NULL bits of rows [at, end) of the morsel. */
static void add_input(const struct filling *filling, unsigned i, uint64_t at,
                      uint64_t end)
{
    const struct host_morsel_input *input = &filling->morsels->inputs[i];
    const struct vdbq_vector *from = added(filling, i);
    u8 *values = values_of(filling->morsels, filling->morsel, i);
    uint64_t row = filling->start + at - filling->at;
    if (input->numbers != NULL)
        for (uint64_t k = 0; k < end - at; k++)
            ((u32 *)(void *)values)[at + k] =
                number_of(input, ((const u32 *)from->values)[row + k]);
    else
        memcpy(values + at * input->width,
               (const u8 *)from->values + row * input->width,
               (end - at) * input->width);
    if (from->nulls == NULL || !filling->morsel->nulls[i])
        return;
    u8 *bits = nulls_of(filling->morsels, filling->morsel, i);
    for (uint64_t k = at; k < end; k++)
        bits[k / 8] =
            (u8)(bits[k / 8] | (from->nulls[row + k - at] & 1) << k % 8);
}

static void add_share(void *context, unsigned share)
{
    const struct filling *filling = context;
    for (unsigned i = 0; i < filling->morsels->pack->input_count; i++)
        if (added(filling, i) != NULL)
            add_input(filling, i, share_start(filling, share),
                      share_start(filling, share + 1));
}

void host_morsel_add(const struct host_morsels *morsels,
                     struct host_morsel *morsel, const struct vdbq_batch *batch,
                     uint64_t first, uint64_t rows)
{
    assert(first + rows <= batch->rows);
    assert(morsel->rows + rows <= morsel->rows_room);
    struct filling filling = { .morsels = morsels,
                               .morsel = morsel,
                               .at = morsel->rows,
                               .end = morsel->rows + rows,
                               .threads =
                                   parallel_threads(morsels->threads, rows),
                               .batch = batch,
                               .start = first };
    for (unsigned i = 0; i < morsels->pack->input_count; i++) {
        const struct vdbq_vector *from = added(&filling, i);
        if (from != NULL && from->nulls != NULL
            && memchr(from->nulls + first, 1, rows) != NULL)
            need_nulls(morsels, morsel, i);
    }
    parallel_run(filling.threads, add_share, &filling);
    morsel->rows += rows;
}

/* ---------------------------------------------------- rows of a row set -- */

/* The row set's column that an input is; NULL: it is not of these. */
static const struct row_set_column *picked(const struct filling *filling,
                                           unsigned input)
{
    int column = filling->morsels->inputs[input].column - (int)filling->first;
    return column >= 0 && column < (int)filling->from->column_count
               ? &filling->from->columns[column]
               : NULL;
}

/* Values of one input, of rows [at, end) of the morsel. */
static void pick_values(const struct filling *filling, unsigned i, uint64_t at,
                        uint64_t end)
{
    const struct host_morsel_input *input = &filling->morsels->inputs[i];
    const struct row_set_column *from = picked(filling, i);
    const uint32_t *rows = filling->rows;
    void *values = values_of(filling->morsels, filling->morsel, i);
    if (input->numbers != NULL)
        for (uint64_t k = at; k < end; k++)
            ((u32 *)values)[k] =
                number_of(input, ((const u32 *)from->values)[rows[k]]);
    else if (from->width == sizeof(u32))
        for (uint64_t k = at; k < end; k++)
            ((u32 *)values)[k] = ((const u32 *)from->values)[rows[k]];
    else
        for (uint64_t k = at; k < end; k++)
            ((u64 *)values)[k] = ((const u64 *)from->values)[rows[k]];
}

/* Their NULL bits, too. */
static void pick_input(const struct filling *filling, unsigned i, uint64_t at,
                       uint64_t end)
{
    const struct row_set_column *from = picked(filling, i);
    pick_values(filling, i, at, end);
    if (from->nulls == NULL)
        return;
    u8 *bits = nulls_of(filling->morsels, filling->morsel, i);
    for (uint64_t k = at; k < end; k++)
        bits[k / 8] =
            (u8)(bits[k / 8] | (from->nulls[filling->rows[k]] & 1) << k % 8);
}

static void pick_share(void *context, unsigned share)
{
    const struct filling *filling = context;
    for (unsigned i = 0; i < filling->morsels->pack->input_count; i++)
        if (picked(filling, i) != NULL)
            pick_input(filling, i, share_start(filling, share),
                       share_start(filling, share + 1));
}

void host_morsel_pick(const struct host_morsels *morsels,
                      struct host_morsel *morsel, unsigned first,
                      const struct row_set *from, const uint32_t *rows,
                      uint64_t count)
{
    assert(count <= morsel->rows_room);
    struct filling filling = { .morsels = morsels,
                               .morsel = morsel,
                               .end = count,
                               .threads =
                                   parallel_threads(morsels->threads, count),
                               .from = from,
                               .first = first,
                               .rows = rows };
    for (unsigned i = 0; i < morsels->pack->input_count; i++)
        if (picked(&filling, i) != NULL && picked(&filling, i)->nulls != NULL)
            need_nulls(morsels, morsel, i);
    parallel_run(filling.threads, pick_share, &filling);
    morsel->rows = count;
}
