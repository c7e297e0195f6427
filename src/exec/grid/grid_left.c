/* SPDX-License-Identifier: MIT */
/*
 * Fills morsels with the left rows of a grid. The first one is small and the
 * next are larger, so that few rows cost little.
 */
#include "exec/grid/grid_left.h"

#include <assert.h>
#include <string.h>

#include "cl/tablet.h"
#include "exec/launch/column_input.h"

enum { ROWS_FIRST = 1 << 12, ROWS_GROWTH = 4, ROWS_MAX = 1 << 18 };

enum vdbq_status grid_left_init(struct grid_left *left, struct arena *arena,
                                struct error *error)
{
    unsigned inputs = left->axis->input_count;
    left->rows_room = ROWS_FIRST;
    left->places = arena_alloc(arena, (inputs + 1) * sizeof *left->places);
    bool made = left->places != NULL;
    for (int i = 0; i < 2 && made; i++) {
        left->morsels[i].nulls = arena_alloc(arena, inputs + (size_t)1);
        made = left->morsels[i].nulls != NULL;
    }
    return made ? VDBQ_OK : error_no_memory(error);
}

void grid_left_finish(struct grid_left *left)
{
    for (int i = 0; i < 2; i++)
        device_memory_release(left->morsels[i].memory);
    *left = (struct grid_left){ 0 };
}

struct left_morsel *grid_left_filled(struct grid_left *left)
{
    return &left->morsels[left->now];
}

bool grid_left_has_room(const struct grid_left *left)
{
    return left->morsels[!left->now].in_flight == 0;
}

/* ---------------------------------------------------------------- places -- */

/* Where an input's values start in a morsel, and behind them its NULL bits; the
 * number of inputs gives the size of all. Offset 0 is left out: it means that
 * there are no NULLs. */
static u64 values_at(const struct grid_left *left,
                     const struct left_morsel *morsel, unsigned input)
{
    assert(input <= left->axis->input_count);
    u64 at = TABLET_ALIGN;
    for (unsigned i = 0; i < input; i++)
        at += TABLET_ALIGNED(morsel->rows_room * left->axis->inputs[i].width)
              + TABLET_ALIGNED(morsel->rows_room / 8);
    return at;
}

/* The NULL flags of a column lie behind its values. */
static u64 nulls_at(const struct grid_left *left,
                    const struct left_morsel *morsel, unsigned input)
{
    assert(input < left->axis->input_count);
    return values_at(left, morsel, input)
           + TABLET_ALIGNED(morsel->rows_room
                            * left->axis->inputs[input].width);
}

struct launcher_morsel grid_left_morsel(struct grid_left *left, uint64_t row,
                                        uint64_t rows)
{
    assert(row + rows <= grid_left_filled(left)->rows);
    struct left_morsel *morsel = grid_left_filled(left);
    for (unsigned i = 0; i < left->axis->input_count; i++) {
        const struct axis_input *from = &left->axis->inputs[i];
        struct column_input input = { .values = values_at(left, morsel, i),
                                      .nulls = morsel->nulls[i]
                                                   ? nulls_at(left, morsel, i)
                                                   : 0,
                                      .width = from->width,
                                      .encoding = ENCODING_PLAIN };
        if (from->column < 0)
            input = column_input_numbers(morsel->first);
        left->places[i] = column_input_from(input, row);
    }
    struct launcher_morsel launched = { .inputs = left->places, .rows = rows };
    if (left->place->mode == MODE_MAPPED)
        launched.data = morsel->memory;
    else
        launched.host = device_memory_host(morsel->memory);
    return launched;
}

/* ------------------------------------------------------------------ fill -- */

/* The next morsel, empty and the host's. */
static enum vdbq_status begin(struct grid_left *left,
                              struct device_times *times, struct error *error)
{
    left->now = !left->now;
    struct left_morsel *morsel = grid_left_filled(left);
    enum vdbq_status status = VDBQ_OK;
    morsel->rows = 0;
    morsel->first = left->rows_filled;
    memset(morsel->nulls, 0, left->axis->input_count);
    if (morsel->rows_room == left->rows_room)
        return device_memory_take(morsel->memory, times, error);
    device_memory_release(morsel->memory);
    morsel->memory = NULL;
    morsel->rows_room = left->rows_room;
    status =
        device_memory_create(left->place->device, MEMORY_PINNED,
                             values_at(left, morsel, left->axis->input_count),
                             &morsel->memory, error);
    if (status != VDBQ_OK)
        morsel->rows_room = 0;
    return status;
}

/* Fetches the next rows where all are in morsels; notes their end. */
static enum vdbq_status fetch(struct grid_left *left, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (left->ended || left->pending_next < left->pending.rows)
        return VDBQ_OK;
    left->pending_next = 0;
    status = stop_pause(error);
    if (status == VDBQ_OK)
        status = stream_batch(left->axis->rows, &left->pending, error);
    left->ended = status != VDBQ_OK || left->pending.rows == 0;
    return status;
}

/* Turns the flags of rows into bits, from the morsel's row `rows` on. */
static void add_nulls(struct grid_left *left, struct left_morsel *morsel,
                      unsigned input, const uint8_t *flags, uint64_t rows)
{
    if (flags == NULL || memchr(flags, 1, rows) == NULL)
        return;
    u8 *bits = (u8 *)device_memory_host(morsel->memory)
               + nulls_at(left, morsel, input);
    if (!morsel->nulls[input])
        memset(bits, 0, morsel->rows_room / 8);
    morsel->nulls[input] = true;
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t at = morsel->rows + i;
        bits[at / 8] = (u8)(bits[at / 8] | (flags[i] & 1) << at % 8);
    }
}

/* Puts `rows` of the pending rows into the morsel. */
static void add_rows(struct grid_left *left, struct left_morsel *morsel,
                     uint64_t rows)
{
    u8 *host = device_memory_host(morsel->memory);
    for (unsigned i = 0; i < left->axis->input_count; i++) {
        const struct axis_input *input = &left->axis->inputs[i];
        if (input->column < 0)
            continue;
        const struct vdbq_vector *from = &left->pending.column[input->column];
        memcpy(host + values_at(left, morsel, i) + morsel->rows * input->width,
               (const u8 *)from->values + left->pending_next * input->width,
               rows * input->width);
        add_nulls(left, morsel, i,
                  from->nulls != NULL ? from->nulls + left->pending_next : NULL,
                  rows);
    }
    morsel->rows += rows;
    left->pending_next += rows;
    left->rows_filled += rows;
}

enum vdbq_status grid_left_fill(struct grid_left *left,
                                struct device_times *times, struct error *error)
{
    assert(grid_left_has_room(left));
    enum vdbq_status status = begin(left, times, error);
    struct left_morsel *morsel = grid_left_filled(left);
    if (status == VDBQ_OK)
        status = fetch(left, error);
    while (status == VDBQ_OK && !left->ended
           && morsel->rows < morsel->rows_room) {
        assert(left->pending_next <= left->pending.rows);
        uint64_t more = left->pending.rows - left->pending_next;
        uint64_t room = morsel->rows_room - morsel->rows;
        add_rows(left, morsel, more < room ? more : room);
        if (morsel->rows < morsel->rows_room)
            status = fetch(left, error);
    }
    if (left->rows_room < ROWS_MAX)
        left->rows_room *= ROWS_GROWTH;
    assert(morsel->rows <= morsel->rows_room);
    return status;
}
