/* SPDX-License-Identifier: MIT */
/*
 * Rows of the host through a program. The memory of a morsel belongs to its
 * launch until all its result rows were read; then the host takes it back.
 */
#include "exec/scan/host_morsel.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/launch/column_input.h"
#include "exec/stream/stream_inner.h"

enum {
    ROWS_FIRST = 1 << 12, /* of the first morsel, at most */
    ROWS_GROWTH = 4,
    ROWS_MAX = 1 << 18,
    ROWS_STEP = 64
};

/* ---------------------------------------------------------------- open -- */

/* The smaller of two. */
static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Notes which columns the program reads. */
static enum vdbq_status describe(struct host_morsels *morsels,
                                 const struct program *program,
                                 struct error *error)
{
    unsigned count = morsels->pack->input_count;
    struct arena *arena = &morsels->arena;
    morsels->inputs = arena_alloc(arena, (count + 1) * sizeof *morsels->inputs);
    morsels->places = arena_alloc(arena, (count + 1) * sizeof *morsels->places);
    bool made = morsels->inputs != NULL && morsels->places != NULL;
    for (unsigned i = 0; i < LAUNCHER_RING_MAX && made; i++) {
        morsels->ring[i].nulls = arena_alloc(arena, count + 1);
        made = morsels->ring[i].nulls != NULL;
    }
    if (!made)
        return error_no_memory(error);
    for (unsigned i = 0; i < count; i++) {
        int column = morsels->pack->inputs[i].column;
        const struct program_table *table = vector_at(&program->tables, 0);
        morsels->inputs[i].column = column;
        if (column >= 0)
            morsels->inputs[i].width = type_width(table->column_types[column]);
    }
    return VDBQ_OK;
}

/* Dictionaries of the columns that the program reads: the same in all morsels,
 * which count as one. */
static enum vdbq_status make_base(struct host_morsels *morsels,
                                  const struct host_morsels_params *params,
                                  struct dictionary_base **base,
                                  struct error *error)
{
    struct program_pack pack;
    enum vdbq_status status =
        program_pack(params->program, &morsels->arena, &pack, error);
    if (status != VDBQ_OK)
        return status;
    struct dictionary **dictionaries = arena_alloc(
        &morsels->arena, (pack.input_count + 1) * sizeof *dictionaries);
    struct dictionary *none = dictionary_make(NULL, 0, NULL);
    const struct program_table *table = vector_at(&params->program->tables, 0);
    for (unsigned i = 0; dictionaries != NULL && i < pack.input_count; i++) {
        int column = pack.inputs[i].column;
        if (column >= 0 && table->column_types[column] == TYPE_WORD)
            dictionaries[i] = params->dictionaries[column]
                                  ? params->dictionaries[column]
                                  : none;
    }
    *base = dictionaries != NULL && none != NULL
                ? dictionary_base_make(&(struct dictionary_base_params){
                    .dictionaries = dictionaries,
                    .morsels = 1,
                    .inputs = pack.input_count,
                    .uses = pack.uses,
                    .threads = stream_threads(params->stream) })
                : NULL;
    dictionary_release(none);
    return *base != NULL ? VDBQ_OK : stop_or_no_memory(error);
}

/* Collects the words of the run. */
static enum vdbq_status
make_dictionary(struct host_morsels *morsels,
                const struct host_morsels_params *params, struct error *error)
{
    struct dictionary_base *base = NULL;
    enum vdbq_status status = make_base(morsels, params, &base, error);
    struct run_dictionary_params dictionary = {
        .program = params->program,
        .base = base,
        .parameters = params->stream->parameters,
        .parameter_count = params->stream->parameter_count,
        .threads = stream_threads(params->stream),
    };
    dictionary.build_side =
        build_side_dictionaries(params->build_side, &dictionary.build_count);
    if (status == VDBQ_OK)
        status = run_dictionary_init(&morsels->dictionary, &dictionary, error);
    dictionary_base_release(base);
    return status;
}

/* Puts the rows that are probed in place, then opens the launcher. */
static enum vdbq_status open_launcher(struct host_morsels *morsels,
                                      const struct host_morsels_params *params,
                                      struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (params->build_side != NULL)
        status = build_side_put(params->build_side, &morsels->place,
                                &morsels->dictionary, error);
    if (status != VDBQ_OK)
        return status;
    return launcher_open(
        &(struct launcher_params){ .place = &morsels->place,
                                   .program = params->program,
                                   .rows = params->rows,
                                   .most_live = params->most_live,
                                   .build_side =
                                       build_side_run(params->build_side),
                                   .values = &morsels->dictionary.values },
        &morsels->launcher, error);
}

enum vdbq_status host_morsels_init(struct host_morsels *morsels,
                                   const struct host_morsels_params *params,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    *morsels = (struct host_morsels){ .place = *params->place };
    if (run_dictionary_needed(params->program))
        status = make_dictionary(morsels, params, error);
    if (status == VDBQ_OK)
        status = open_launcher(morsels, params, error);
    if (status != VDBQ_OK)
        return status;
    morsels->pack = launcher_pack(morsels->launcher);
    morsels->threads = stream_threads(params->stream);
    morsels->rows_room = params->rows + ROWS_STEP - 1
                         - (params->rows + ROWS_STEP - 1) % ROWS_STEP;
    if (params->rows == 0 || params->rows > ROWS_FIRST)
        morsels->rows_room = ROWS_FIRST;
    morsels->rows_room =
        least(morsels->rows_room, launcher_rows_max(morsels->launcher));
    return describe(morsels, params->program, error);
}

void host_morsels_finish(struct host_morsels *morsels)
{
    launcher_close(morsels->launcher);
    for (unsigned i = 0; i < LAUNCHER_RING_MAX; i++)
        device_memory_release(morsels->ring[i].memory);
    run_dictionary_finish(&morsels->dictionary);
    arena_finish(&morsels->arena);
    *morsels = (struct host_morsels){ 0 };
}

/* ---------------------------------------------------------------- fill -- */

bool host_morsels_have_room(const struct host_morsels *morsels)
{
    return launcher_has_room(morsels->launcher);
}

unsigned host_morsels_in_flight(const struct host_morsels *morsels)
{
    return launcher_in_flight(morsels->launcher);
}

/* The morsel behind those in flight. */
static struct host_morsel *next_morsel(struct host_morsels *morsels)
{
    assert(host_morsels_in_flight(morsels) < launcher_ring(morsels->launcher));
    return &morsels->ring[(morsels->first + host_morsels_in_flight(morsels))
                          % launcher_ring(morsels->launcher)];
}

/* Where an input's values start in a morsel, and behind them its NULL bits; the
 * number of inputs gives the size of all. Offset 0 is left out: it means that
 * there are no NULLs. */
static u64 values_at(const struct host_morsels *morsels,
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
static u64 nulls_at(const struct host_morsels *morsels,
                    const struct host_morsel *morsel, unsigned input)
{
    assert(input < morsels->pack->input_count);
    return values_at(morsels, morsel, input)
           + TABLET_ALIGNED(morsel->rows_room * morsels->inputs[input].width);
}

enum vdbq_status host_morsels_begin(struct host_morsels *morsels,
                                    struct host_morsel **morsel,
                                    struct error *error)
{
    assert(host_morsels_have_room(morsels));
    struct host_morsel *next = next_morsel(morsels);
    enum vdbq_status status = VDBQ_OK;
    *morsel = next;
    if (next->rows_room < morsels->rows_room) {
        device_memory_release(next->memory);
        next->memory = NULL;
        next->rows_room = morsels->rows_room;
        status = device_memory_create(
            morsels->place.device, MEMORY_PINNED,
            values_at(morsels, next, morsels->pack->input_count), &next->memory,
            error);
        if (status != VDBQ_OK)
            next->rows_room = 0;
    } else {
        status = device_memory_take(next->memory,
                                    launcher_times(morsels->launcher), error);
    }
    next->rows = 0;
    memset(next->nulls, 0, morsels->pack->input_count);
    return status;
}

/* The NULL bits of an input of the morsel, 0 where they are new. */
static u8 *null_bits(const struct host_morsels *morsels,
                     struct host_morsel *morsel, unsigned input)
{
    u8 *bits = (u8 *)device_memory_host(morsel->memory)
               + nulls_at(morsels, morsel, input);
    if (!morsel->nulls[input])
        memset(bits, 0, morsel->rows_room / 8);
    morsel->nulls[input] = true;
    return bits;
}

/* Turns the flags of rows into bits, from row `at` of the morsel on. */
static void add_nulls(const struct host_morsels *morsels,
                      struct host_morsel *morsel, unsigned input,
                      const uint8_t *flags, uint64_t rows)
{
    if (flags == NULL || memchr(flags, 1, rows) == NULL)
        return;
    u8 *bits = null_bits(morsels, morsel, input);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t at = morsel->rows + i;
        bits[at / 8] = (u8)(bits[at / 8] | (flags[i] & 1) << at % 8);
    }
}

/* Rows of a batch that come into a morsel. */
struct filling {
    const struct host_morsels *morsels;
    struct host_morsel *morsel; /* grows */
    const struct vdbq_batch *batch;
    uint64_t start; /* the first row of the batch's */
    uint64_t rows;  /* how many come */
};

/* Copies one input's values and NULL bits of a batch. */
static void add_input(void *context, unsigned i)
{
    const struct filling *filling = context;
    const struct host_morsels *morsels = filling->morsels;
    const struct host_morsel_input *input = &morsels->inputs[i];
    struct host_morsel *morsel = filling->morsel;
    if (input->column < 0)
        return;
    const struct vdbq_vector *from = &filling->batch->column[input->column];
    memcpy((u8 *)device_memory_host(morsel->memory)
               + values_at(morsels, morsel, i) + morsel->rows * input->width,
           (const u8 *)from->values + filling->start * input->width,
           filling->rows * input->width);
    add_nulls(morsels, morsel, i,
              from->nulls ? from->nulls + filling->start : NULL, filling->rows);
}

void host_morsel_add(const struct host_morsels *morsels,
                     struct host_morsel *morsel, const struct vdbq_batch *batch,
                     uint64_t first, uint64_t rows)
{
    assert(first + rows <= batch->rows);
    assert(morsel->rows + rows <= morsel->rows_room);
    struct filling filling = { .morsels = morsels,
                               .morsel = morsel,
                               .batch = batch,
                               .start = first,
                               .rows = rows };
    unsigned inputs = morsels->pack->input_count;
    if (parallel_threads(inputs, rows) > 1)
        parallel_run(inputs, add_input, &filling);
    else
        for (unsigned i = 0; i < inputs; i++)
            add_input(&filling, i);
    morsel->rows += rows;
}

/* Rows of a row set, by number, that threads bring into a morsel. */
struct picking {
    const struct host_morsels *morsels;
    struct host_morsel *morsel;
    const struct row_set *from; /* its columns are those from `first` on */
    unsigned first;
    const uint32_t *numbers; /* of its rows */
    uint64_t count;          /* how many come */
    unsigned threads;        /* that share them */
};

/* The row set's column that an input is; NULL: it is not of these. */
static const struct row_set_column *picked(const struct picking *picking,
                                           unsigned input)
{
    int column = picking->morsels->inputs[input].column - (int)picking->first;
    return column >= 0 && column < (int)picking->from->column_count
               ? &picking->from->columns[column]
               : NULL;
}

/* One input's values and NULL bits of rows [start, end) of the morsel. */
static void pick_input(const struct picking *picking, unsigned input,
                       uint64_t start, uint64_t end)
{
    const struct host_morsel *morsel = picking->morsel;
    const struct row_set_column *from = picked(picking, input);
    const uint32_t *rows = picking->numbers;
    u8 *block = device_memory_host(morsel->memory);
    void *values = block + values_at(picking->morsels, morsel, input);
    if (from->width == sizeof(u32))
        for (uint64_t i = start; i < end; i++)
            ((u32 *)values)[i] = ((const u32 *)from->values)[rows[i]];
    else
        for (uint64_t i = start; i < end; i++)
            ((u64 *)values)[i] = ((const u64 *)from->values)[rows[i]];
    if (from->nulls == NULL)
        return;
    u8 *bits = block + nulls_at(picking->morsels, morsel, input);
    for (uint64_t i = start; i < end; i++)
        bits[i / 8] = (u8)(bits[i / 8] | (from->nulls[rows[i]] & 1) << i % 8);
}

/* A thread's first row: no two threads write one byte of NULL bits. */
static uint64_t pick_start(const struct picking *picking, unsigned share)
{
    uint64_t start = picking->count * share / picking->threads;
    return share < picking->threads ? start - start % ROWS_STEP : start;
}

/* Brings a thread's rows into all inputs. */
static void pick_share(void *context, unsigned share)
{
    const struct picking *picking = context;
    for (unsigned i = 0; i < picking->morsels->pack->input_count; i++)
        if (picked(picking, i) != NULL)
            pick_input(picking, i, pick_start(picking, share),
                       pick_start(picking, share + 1));
}

void host_morsel_pick(const struct host_morsels *morsels,
                      struct host_morsel *morsel, unsigned first,
                      const struct row_set *from, const uint32_t *rows,
                      uint64_t count)
{
    struct picking picking = { .morsels = morsels,
                               .morsel = morsel,
                               .from = from,
                               .first = first,
                               .numbers = rows,
                               .count = count,
                               .threads =
                                   parallel_threads(morsels->threads, count) };
    assert(count <= morsel->rows_room);
    for (unsigned i = 0; i < morsels->pack->input_count; i++)
        if (picked(&picking, i) != NULL && picked(&picking, i)->nulls != NULL)
            null_bits(morsels, morsel, i);
    parallel_run(picking.threads, pick_share, &picking);
    morsel->rows = count;
}

/* ------------------------------------------------------------- launch -- */

/* Where the launch finds each column of the morsel. */
static void place_inputs(struct host_morsels *morsels,
                         const struct host_morsel *morsel)
{
    for (unsigned i = 0; i < morsels->pack->input_count; i++) {
        const struct host_morsel_input *from = &morsels->inputs[i];
        struct column_input *input = &morsels->places[i];
        if (from->column < 0) {
            *input = column_input_numbers(morsels->rows_started);
            continue;
        }
        *input = (struct column_input){ .values = values_at(morsels, morsel, i),
                                        .width = from->width,
                                        .encoding = ENCODING_PLAIN };
        if (morsel->nulls[i])
            input->nulls = nulls_at(morsels, morsel, i);
        morsels->bytes_started +=
            column_input_value_bytes(input, morsel->rows)
            + column_input_null_bytes(input, morsel->rows);
    }
}

enum vdbq_status host_morsels_start(struct host_morsels *morsels,
                                    struct error *error)
{
    struct host_morsel *morsel = next_morsel(morsels);
    assert(morsel->rows > 0 && morsel->rows <= morsel->rows_room);
    struct launcher_request request = { .count = 1 };
    struct launcher_morsel *launched = &request.morsels[0];
    place_inputs(morsels, morsel);
    launched->inputs = morsels->places;
    launched->rows = morsel->rows;
    if (morsels->dictionary.base != NULL)
        launched->order_codes = run_dictionary_codes(&morsels->dictionary, 0);
    if (morsels->place.mode == MODE_MAPPED)
        launched->data = morsel->memory;
    else
        launched->host = device_memory_host(morsel->memory);
    enum vdbq_status status =
        launcher_start(morsels->launcher, &request, error);
    morsels->rows_started += morsel->rows;
    if (morsel->rows == morsel->rows_room)
        morsels->rows_room =
            least(morsel->rows_room * ROWS_GROWTH,
                  least(ROWS_MAX, launcher_rows_max(morsels->launcher)));
    return status;
}

/* Where the inputs are among the columns of rows on the device. */
static void place_rows(struct host_morsels *morsels,
                       const struct sink_rows *from, uint64_t first,
                       uint64_t rows)
{
    uint64_t start = from->start + first;
    for (unsigned i = 0; i < morsels->pack->input_count; i++) {
        struct column_input *input = &morsels->places[i];
        int column = morsels->inputs[i].column;
        if (column < 0) {
            *input = column_input_numbers(morsels->rows_started);
            continue;
        }
        const struct output *output = &from->outputs[column];
        *input = (struct column_input){ .values = output->values
                                                  + start * output->width,
                                        .width = output->width,
                                        .encoding = ENCODING_PLAIN };
        if (output->null_register >= 0) {
            input->nulls = output->nulls + start;
            input->bits = 8;
        }
        morsels->bytes_started += column_input_value_bytes(input, rows)
                                  + column_input_null_bytes(input, rows);
    }
}

enum vdbq_status host_morsels_start_rows(struct host_morsels *morsels,
                                         const struct sink_rows *from,
                                         uint64_t first, uint64_t rows,
                                         struct error *error)
{
    assert(rows > 0 && first + rows <= from->count);
    struct launcher_request request = { .count = 1 };
    place_rows(morsels, from, first, rows);
    request.morsels[0] = (struct launcher_morsel){ .inputs = morsels->places,
                                                   .rows = rows,
                                                   .data = from->memory,
                                                   .computed = true };
    if (morsels->dictionary.base != NULL)
        request.morsels[0].order_codes =
            run_dictionary_codes(&morsels->dictionary, 0);
    morsels->rows_started += rows;
    return launcher_start(morsels->launcher, &request, error);
}

enum vdbq_status host_morsels_batch(struct host_morsels *morsels,
                                    struct vdbq_batch *batch,
                                    struct error *error)
{
    enum vdbq_status status = launcher_batch(morsels->launcher, batch, error);
    if (status == VDBQ_OK && batch->rows == 0)
        morsels->first =
            (morsels->first + 1) % launcher_ring(morsels->launcher);
    return status;
}

bool host_morsels_stay(const struct host_morsels *morsels)
{
    return launcher_stays(morsels->launcher);
}

void host_morsels_stats(const struct host_morsels *morsels,
                        struct vdbq_stats *stats)
{
    if (morsels->launcher == NULL)
        return;
    launcher_stats(morsels->launcher, stats);
    stats->bytes_read += morsels->bytes_started;
}
