/* SPDX-License-Identifier: MIT */
/*
 * Rows of the host through a program. The memory of a chunk belongs to its
 * launch until all its result rows were read; then the host takes it back.
 */
#include "exec/scan/chunk.h"

#include <string.h>

#include "exec/launch/column_input.h"

enum {
    ROWS_FIRST = 1 << 12, /* of the first chunk, at most */
    ROWS_GROWTH = 4,
    ROWS_MAX = 1 << 18,
    ROWS_STEP = 64
};

/* ---------------------------------------------------------------- open -- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Notes which columns the program reads. */
static enum vdbq_status describe(struct chunks *chunks,
                                 const struct program *program,
                                 struct error *error)
{
    unsigned count = chunks->pack->input_count;
    struct arena *arena = &chunks->arena;
    chunks->inputs = arena_alloc(arena, (count + 1) * sizeof *chunks->inputs);
    chunks->places = arena_alloc(arena, (count + 1) * sizeof *chunks->places);
    bool made = chunks->inputs != NULL && chunks->places != NULL;
    for (unsigned i = 0; i < LAUNCHER_RING_MAX && made; i++) {
        chunks->ring[i].nulls = arena_alloc(arena, count + 1);
        made = chunks->ring[i].nulls != NULL;
    }
    if (!made)
        return error_no_memory(error);
    for (unsigned i = 0; i < count; i++) {
        int column = chunks->pack->inputs[i].column;
        const struct program_table *table = vector_at(&program->tables, 0);
        chunks->inputs[i].column = column;
        if (column >= 0)
            chunks->inputs[i].width = type_width(table->column_types[column]);
    }
    return VDBQ_OK;
}

/* Dictionaries of the columns that the program reads: the same in all chunks,
 * which count as one. */
static enum vdbq_status make_base(struct chunks *chunks,
                                  const struct chunk_params *params,
                                  struct dictionary_base **base,
                                  struct error *error)
{
    struct program_pack pack;
    enum vdbq_status status =
        program_pack(params->program, &chunks->arena, &pack, error);
    if (status != VDBQ_OK)
        return status;
    struct dictionary **dictionaries = arena_alloc(
        &chunks->arena, (pack.input_count + 1) * sizeof *dictionaries);
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
                ? dictionary_base_make(dictionaries, 1, pack.input_count)
                : NULL;
    dictionary_release(none);
    return *base != NULL ? VDBQ_OK : error_no_memory(error);
}

/* Collects the words of the run. */
static enum vdbq_status make_dictionary(struct chunks *chunks,
                                        const struct chunk_params *params,
                                        struct error *error)
{
    struct dictionary_base *base = NULL;
    enum vdbq_status status = make_base(chunks, params, &base, error);
    struct run_dictionary_params dictionary = {
        .program = params->program,
        .base = base,
        .parameters = params->stream->parameters,
        .parameter_count = params->stream->parameter_count,
    };
    dictionary.build_side =
        build_side_dictionaries(params->build_side, &dictionary.build_count);
    if (status == VDBQ_OK)
        status = run_dictionary_init(&chunks->dictionary, &dictionary, error);
    dictionary_base_release(base);
    return status;
}

/* Puts the rows that are probed in place, then opens the launcher. */
static enum vdbq_status open_launcher(struct chunks *chunks,
                                      const struct chunk_params *params,
                                      const struct stream_place *place,
                                      struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    if (params->build_side != NULL)
        status = build_side_put(
            params->build_side,
            &(struct build_side_place){ .device = place->device,
                                        .resident = place->resident,
                                        .dictionary = &chunks->dictionary },
            error);
    if (status != VDBQ_OK)
        return status;
    return launcher_open(
        &(struct launcher_params){ .device = place->device,
                                   .program = params->program,
                                   .mode = place->mode,
                                   .build = place->build,
                                   .adaptive = place->adaptive,
                                   .rows = params->rows,
                                   .most_live = params->most_live,
                                   .build_side =
                                       build_side_run(params->build_side),
                                   .values = &chunks->dictionary.values },
        &chunks->launcher, error);
}

enum vdbq_status chunks_init(struct chunks *chunks,
                             const struct chunk_params *params,
                             struct error *error)
{
    const struct stream_params *stream = params->stream;
    struct stream_place place;
    *chunks = (struct chunks){ 0 };
    enum vdbq_status status = stream->choose(stream->choose_context, NULL,
                                             params->rows, &place, error);
    if (status != VDBQ_OK)
        return status;
    chunks->mode = place.mode;
    chunks->device = place.device;
    chunks->takes = place.takes;
    if (run_dictionary_needed(params->program))
        status = make_dictionary(chunks, params, error);
    if (status == VDBQ_OK)
        status = open_launcher(chunks, params, &place, error);
    if (status != VDBQ_OK)
        return status;
    chunks->pack = launcher_pack(chunks->launcher);
    chunks->rows_room = params->rows + ROWS_STEP - 1
                        - (params->rows + ROWS_STEP - 1) % ROWS_STEP;
    if (params->rows == 0 || params->rows > ROWS_FIRST)
        chunks->rows_room = ROWS_FIRST;
    chunks->rows_room =
        least(chunks->rows_room, launcher_rows_max(chunks->launcher));
    return describe(chunks, params->program, error);
}

void chunks_finish(struct chunks *chunks)
{
    launcher_close(chunks->launcher);
    for (unsigned i = 0; i < LAUNCHER_RING_MAX; i++)
        device_memory_release(chunks->ring[i].memory);
    run_dictionary_finish(&chunks->dictionary);
    arena_finish(&chunks->arena);
    *chunks = (struct chunks){ 0 };
}

/* ---------------------------------------------------------------- fill -- */

bool chunks_have_room(const struct chunks *chunks)
{
    return launcher_has_room(chunks->launcher);
}

unsigned chunks_in_flight(const struct chunks *chunks)
{
    return launcher_in_flight(chunks->launcher);
}

/* The chunk behind those in flight. */
static struct chunk *next_chunk(struct chunks *chunks)
{
    return &chunks->ring[(chunks->first + chunks_in_flight(chunks))
                         % launcher_ring(chunks->launcher)];
}

/* Where an input's values start in a chunk, and behind them its NULL bits; the
 * number of inputs gives the size of all. Offset 0 is left out: it means that
 * there are no NULLs. */
static u64 values_at(const struct chunks *chunks, const struct chunk *chunk,
                     unsigned input)
{
    u64 at = TABLET_ALIGN;
    for (unsigned i = 0; i < input; i++)
        at += TABLET_ALIGNED(chunk->rows_room * chunks->inputs[i].width)
              + TABLET_ALIGNED(chunk->rows_room / 8);
    return at;
}

static u64 nulls_at(const struct chunks *chunks, const struct chunk *chunk,
                    unsigned input)
{
    return values_at(chunks, chunk, input)
           + TABLET_ALIGNED(chunk->rows_room * chunks->inputs[input].width);
}

enum vdbq_status chunks_begin(struct chunks *chunks, struct chunk **chunk,
                              struct error *error)
{
    struct chunk *next = next_chunk(chunks);
    enum vdbq_status status = VDBQ_OK;
    *chunk = next;
    if (next->rows_room < chunks->rows_room) {
        device_memory_release(next->memory);
        next->memory = NULL;
        next->rows_room = chunks->rows_room;
        status = device_memory_create(
            chunks->device, MEMORY_PINNED,
            values_at(chunks, next, chunks->pack->input_count), &next->memory,
            error);
        if (status != VDBQ_OK)
            next->rows_room = 0;
    } else {
        status = device_memory_take(next->memory,
                                    launcher_times(chunks->launcher), error);
    }
    next->rows = 0;
    memset(next->nulls, 0, chunks->pack->input_count);
    return status;
}

/* The NULL bits of an input of the chunk, 0 where they are new. */
static u8 *null_bits(const struct chunks *chunks, struct chunk *chunk,
                     unsigned input)
{
    u8 *bits = (u8 *)device_memory_host(chunk->memory)
               + nulls_at(chunks, chunk, input);
    if (!chunk->nulls[input])
        memset(bits, 0, chunk->rows_room / 8);
    chunk->nulls[input] = true;
    return bits;
}

/* Turns the flags of rows into bits, from row `at` of the chunk on. */
static void add_nulls(const struct chunks *chunks, struct chunk *chunk,
                      unsigned input, const uint8_t *flags, uint64_t rows)
{
    if (flags == NULL || memchr(flags, 1, rows) == NULL)
        return;
    u8 *bits = null_bits(chunks, chunk, input);
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t at = chunk->rows + i;
        bits[at / 8] = (u8)(bits[at / 8] | (flags[i] & 1) << at % 8);
    }
}

void chunk_add(const struct chunks *chunks, struct chunk *chunk,
               const struct vdbq_batch *batch, uint64_t first, uint64_t rows)
{
    u8 *host = device_memory_host(chunk->memory);
    for (unsigned i = 0; i < chunks->pack->input_count; i++) {
        const struct chunk_input *input = &chunks->inputs[i];
        if (input->column < 0)
            continue;
        const struct vdbq_vector *from = &batch->column[input->column];
        memcpy(host + values_at(chunks, chunk, i) + chunk->rows * input->width,
               (const u8 *)from->values + first * input->width,
               rows * input->width);
        add_nulls(chunks, chunk, i, from->nulls ? from->nulls + first : NULL,
                  rows);
    }
    chunk->rows += rows;
}

/* One input's values and NULL bits, by row numbers. */
static void pick_input(const struct chunks *chunks, struct chunk *chunk,
                       unsigned input, const struct row_set_column *from,
                       const uint32_t *rows, uint64_t count)
{
    void *values = (u8 *)device_memory_host(chunk->memory)
                   + values_at(chunks, chunk, input);
    if (from->width == sizeof(u32))
        for (uint64_t i = 0; i < count; i++)
            ((u32 *)values)[i] = ((const u32 *)from->values)[rows[i]];
    else
        for (uint64_t i = 0; i < count; i++)
            ((u64 *)values)[i] = ((const u64 *)from->values)[rows[i]];
    if (from->nulls == NULL)
        return;
    u8 *bits = null_bits(chunks, chunk, input);
    for (uint64_t i = 0; i < count; i++)
        bits[i / 8] = (u8)(bits[i / 8] | (from->nulls[rows[i]] & 1) << i % 8);
}

void chunk_pick(const struct chunks *chunks, struct chunk *chunk,
                unsigned first, const struct row_set *from,
                const uint32_t *rows, uint64_t count)
{
    for (unsigned i = 0; i < chunks->pack->input_count; i++) {
        int column = chunks->inputs[i].column - (int)first;
        if (column >= 0 && column < (int)from->column_count)
            pick_input(chunks, chunk, i, &from->columns[column], rows, count);
    }
    chunk->rows = count;
}

/* ------------------------------------------------------------- launch -- */

static void place_inputs(struct chunks *chunks, const struct chunk *chunk)
{
    for (unsigned i = 0; i < chunks->pack->input_count; i++) {
        const struct chunk_input *from = &chunks->inputs[i];
        struct column_input *input = &chunks->places[i];
        if (from->column < 0) {
            *input = column_input_numbers(chunks->rows_started);
            continue;
        }
        *input = (struct column_input){ .values = values_at(chunks, chunk, i),
                                        .width = from->width,
                                        .encoding = ENCODING_PLAIN };
        if (chunk->nulls[i])
            input->nulls = nulls_at(chunks, chunk, i);
        chunks->bytes_started += column_input_value_bytes(input, chunk->rows)
                                 + column_input_null_bytes(input, chunk->rows);
    }
}

enum vdbq_status chunks_start(struct chunks *chunks, struct error *error)
{
    struct chunk *chunk = next_chunk(chunks);
    struct launcher_request request = { .count = 1 };
    struct launcher_morsel *morsel = &request.morsels[0];
    place_inputs(chunks, chunk);
    morsel->inputs = chunks->places;
    morsel->rows = chunk->rows;
    if (chunks->dictionary.base != NULL)
        morsel->order_codes = run_dictionary_codes(&chunks->dictionary, 0);
    if (chunks->mode == MODE_MAPPED)
        morsel->data = chunk->memory;
    else
        morsel->host = device_memory_host(chunk->memory);
    enum vdbq_status status = launcher_start(chunks->launcher, &request, error);
    chunks->rows_started += chunk->rows;
    if (chunk->rows == chunk->rows_room)
        chunks->rows_room =
            least(chunk->rows_room * ROWS_GROWTH,
                  least(ROWS_MAX, launcher_rows_max(chunks->launcher)));
    return status;
}

/* Where the inputs are among the columns of rows on the device. */
static void place_rows(struct chunks *chunks, const struct sink_rows *from,
                       uint64_t first, uint64_t rows)
{
    uint64_t start = from->start + first;
    for (unsigned i = 0; i < chunks->pack->input_count; i++) {
        struct column_input *input = &chunks->places[i];
        int column = chunks->inputs[i].column;
        if (column < 0) {
            *input = column_input_numbers(chunks->rows_started);
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
        chunks->bytes_started += column_input_value_bytes(input, rows)
                                 + column_input_null_bytes(input, rows);
    }
}

enum vdbq_status chunks_start_rows(struct chunks *chunks,
                                   const struct sink_rows *from, uint64_t first,
                                   uint64_t rows, struct error *error)
{
    struct launcher_request request = { .count = 1 };
    place_rows(chunks, from, first, rows);
    request.morsels[0] = (struct launcher_morsel){ .inputs = chunks->places,
                                                   .rows = rows,
                                                   .data = from->memory };
    if (chunks->dictionary.base != NULL)
        request.morsels[0].order_codes =
            run_dictionary_codes(&chunks->dictionary, 0);
    chunks->rows_started += rows;
    return launcher_start(chunks->launcher, &request, error);
}

enum vdbq_status chunks_batch(struct chunks *chunks, struct vdbq_batch *batch,
                              struct error *error)
{
    enum vdbq_status status = launcher_batch(chunks->launcher, batch, error);
    if (status == VDBQ_OK && batch->rows == 0)
        chunks->first = (chunks->first + 1) % launcher_ring(chunks->launcher);
    return status;
}

void chunks_stats(const struct chunks *chunks, struct vdbq_stats *stats)
{
    if (chunks->launcher == NULL)
        return;
    launcher_stats(chunks->launcher, stats);
    stats->bytes_read += chunks->bytes_started;
}
