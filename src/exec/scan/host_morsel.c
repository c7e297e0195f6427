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
    /* ... and of any, or of many threads together: a launch is to take longer
     * than waking them all for it */
    ROWS_MAX = 1 << 18,
    ROWS_EACH = 1 << 16,
    REST_ROWS = 1 << 10, /* for which morsels that rest have room at most */
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
    const enum words_use *uses =
        params->texts == NULL
            ? pack.uses
            : dictionary_base_uses(&pack, params->texts, &morsels->arena);
    const struct program_table *table = vector_at(&params->program->tables, 0);
    for (unsigned i = 0; dictionaries != NULL && i < pack.input_count; i++) {
        int column = pack.inputs[i].column;
        if (column >= 0 && table->column_types[column] == TYPE_WORD)
            dictionaries[i] = params->dictionaries[column]
                                  ? params->dictionaries[column]
                                  : none;
    }
    *base = dictionaries != NULL && none != NULL && uses != NULL
                ? dictionary_base_make(&(struct dictionary_base_params){
                    .dictionaries = dictionaries,
                    .morsels = 1,
                    .inputs = pack.input_count,
                    .uses = uses,
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
    bool none =
        params->build_side == NULL && run_dictionary_no_words(params->program);
    enum vdbq_status status =
        none ? VDBQ_OK : make_base(morsels, params, &base, error);
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

/* What the launcher is opened with. */
static struct launcher_params
launcher_params(const struct host_morsels *morsels,
                const struct host_morsels_params *params)
{
    return (struct launcher_params){ .place = &morsels->place,
                                     .program = params->program,
                                     .rows = params->rows,
                                     .most_live = params->most_live,
                                     .build_side =
                                         build_side_run(params->build_side),
                                     .values = &morsels->dictionary.values };
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
    const struct launcher_params launcher = launcher_params(morsels, params);
    return launcher_open(&launcher, &morsels->launcher, error);
}

/* Codes of texts are turned into the program's numbers as morsels are filled
 * where the device has the host's memory: then no launch holds a table of all
 * words, twice. */
static enum vdbq_status take_numbers(struct host_morsels *morsels,
                                     struct error *error)
{
    const struct order_codes *all =
        run_dictionary_codes(&morsels->dictionary, 0);
    unsigned count = morsels->pack->input_count;
    morsels->order_codes = all;
    if (all == NULL || morsels->place.mode != MODE_MAPPED)
        return VDBQ_OK;
    struct order_codes *others =
        arena_alloc(&morsels->arena, (count + 1) * sizeof *others);
    if (others == NULL)
        return error_no_memory(error);
    morsels->order_codes = NULL;
    for (unsigned i = 0; i < count; i++) {
        others[i] = all[i];
        if (all[i].order_codes != NULL) {
            morsels->inputs[i].numbers = all[i].order_codes;
            morsels->inputs[i].number_count = all[i].count;
            others[i] = (struct order_codes){ 0 };
        } else if (all[i].count > 0) {
            morsels->order_codes = others;
        }
    }
    return VDBQ_OK;
}

/* How many rows a morsel has at most: those of all launches take no more than each
 * thing of a step may. */
static uint64_t most_rows(const struct host_morsels *morsels,
                          const struct host_morsels_params *params)
{
    const struct account_share share = { .account = params->stream->account };
    uint64_t bytes = 1; /* of the NULL bits, by far */
    for (unsigned i = 0; i < morsels->pack->input_count; i++)
        bytes += morsels->inputs[i].width;
    uint64_t rows = account_least(&share) / LAUNCHER_RING_MAX / bytes;
    uint64_t most = (uint64_t)ROWS_EACH * morsels->threads;
    most = least(most > ROWS_MAX ? most : ROWS_MAX,
                 launcher_rows_max(morsels->launcher));
    rows = rows - rows % ROWS_STEP;
    return least(rows > ROWS_FIRST ? rows : ROWS_FIRST, most);
}

/* Notes how many rows will be there. */
static void expect(struct host_morsels *morsels,
                   const struct host_morsels_params *params)
{
    morsels->threads = stream_threads(params->stream);
    morsels->rows_room = params->rows + ROWS_STEP - 1
                         - (params->rows + ROWS_STEP - 1) % ROWS_STEP;
    if (params->rows == 0 || params->rows > ROWS_FIRST)
        morsels->rows_room = ROWS_FIRST;
    morsels->rows_room =
        least(morsels->rows_room, launcher_rows_max(morsels->launcher));
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
    expect(morsels, params);
    status = describe(morsels, params->program, error);
    if (status == VDBQ_OK)
        morsels->rows_most = most_rows(morsels, params);
    return status == VDBQ_OK && morsels->dictionary.base != NULL
               ? take_numbers(morsels, error)
               : status;
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

/* --------------------------------------------------------------- rest -- */

bool host_morsels_can_rest(const struct host_morsels *morsels)
{
    bool rest = morsels->launcher != NULL && morsels->dictionary.base == NULL
                && morsels->order_codes == NULL
                && launcher_can_rest(morsels->launcher);
    for (unsigned i = 0; i < LAUNCHER_RING_MAX && rest; i++)
        rest = morsels->ring[i].rows_room <= REST_ROWS;
    return rest;
}

enum vdbq_status host_morsels_again(struct host_morsels *morsels,
                                    const struct host_morsels_params *params,
                                    struct error *error)
{
    assert(host_morsels_can_rest(morsels) && params->build_side == NULL);
    assert(params->place->device == morsels->place.device);
    enum vdbq_status status = VDBQ_OK;
    morsels->place = *params->place;
    run_dictionary_finish(&morsels->dictionary);
    if (run_dictionary_needed(params->program))
        status = make_dictionary(morsels, params, error);
    if (status != VDBQ_OK)
        return status;
    const struct launcher_params launcher = launcher_params(morsels, params);
    launcher_again(morsels->launcher, &launcher);
    expect(morsels, params);
    morsels->rows_started = morsels->bytes_started = 0;
    return VDBQ_OK;
}

/* -------------------------------------------------------------- begin -- */

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
            host_morsel_values_at(morsels, next, morsels->pack->input_count),
            &next->memory, error);
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
        *input = (struct column_input){ .values = host_morsel_values_at(
                                            morsels, morsel, i),
                                        .width = from->width,
                                        .encoding = ENCODING_PLAIN };
        if (morsel->nulls[i])
            input->nulls = host_morsel_nulls_at(morsels, morsel, i);
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
    launched->order_codes = morsels->order_codes;
    if (morsels->place.mode == MODE_MAPPED)
        launched->data = morsel->memory;
    else
        launched->host = device_memory_host(morsel->memory);
    enum vdbq_status status =
        launcher_start(morsels->launcher, &request, error);
    morsels->rows_started += morsel->rows;
    if (morsel->rows == morsel->rows_room)
        morsels->rows_room =
            least(morsel->rows_room * ROWS_GROWTH, morsels->rows_most);
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
