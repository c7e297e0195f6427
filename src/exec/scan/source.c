/* SPDX-License-Identifier: MIT */
/*
 * Brings tablets to where a mode reads them. What the device has needs no
 * slot in host memory; of what it lacks only the columns that are read are
 * copied, each once.
 */
#include "exec/scan/source.h"

#include <assert.h>

#include "data/tablet/tablet.h"
#include "exec/launch/column_input.h"

/* Of the device's budget tablets may take one part of so many, where they are never
 * to make room for what is computed of them. */
enum { ROOM_SHARE = 2 };

static enum vdbq_status open_slot(struct source *source,
                                  struct source_params *params,
                                  struct error *error);
static enum vdbq_status open_resident(struct source *source,
                                      struct source_params *params,
                                      struct vector *copies,
                                      struct error *error);
static bool lacks_any(const struct resident_tablet *resident,
                      const struct source_params *params);

enum vdbq_status source_open(struct source *source,
                             struct source_params *params,
                             const struct tablet_ref *ref,
                             struct vector *copies, struct error *error)
{
    enum vdbq_status status;
    *source = (struct source){ .ref = ref };
    if (params->place->mode == MODE_CACHED) {
        status = open_resident(source, params, copies, error);
    } else {
        status = open_slot(source, params, error);
        if (status == VDBQ_OK)
            source->tablet = source->slot->tablet;
    }
    if (status != VDBQ_OK)
        source_close(source, params, status == VDBQ_NO_MEMORY);
    return status;
}

void source_close(struct source *source, const struct source_params *params,
                  bool failed)
{
    assert(source->slot == NULL || source->ref != NULL);
    if (failed)
        resident_forget(source->resident);
    if (source->slot != NULL)
        pool_release(params->place->pool, source->slot);
    if (source->resident != NULL)
        resident_release(params->place->resident, source->resident);
    *source = (struct source){ 0 };
}

bool source_reached(const struct run_place *place,
                    const struct catalogue *catalogue)
{
    uint64_t bytes = 0;

    if (place->mode != MODE_CACHED)
        return true;
    for (size_t i = 0; i < catalogue->table_count; i++)
        for (size_t j = 0; j < catalogue->tables[i].tablet_count; j++)
            bytes += catalogue->tables[i].tablets[j].size_bytes;
    return bytes > resident_budget(place->resident) / ROOM_SHARE;
}

/* Whether the device has not been told yet where the columns of a tablet with
 * an edit are: that is known when all of them are in the pool. */
static bool wants_all(const struct source_params *params,
                      const struct tablet_ref *ref)
{
    const struct resident_tablet *known;

    if (params->place->mode != MODE_CACHED || ref->edit == NULL)
        return false;
    known = resident_find(params->place->resident, ref);
    return known == NULL || known->tablet == NULL;
}

/* Puts those columns into `lacking` that are to come from the pool; returns how
 * many. */
static unsigned lacking_columns(const struct source_params *params,
                                const struct tablet_ref *ref)
{
    const struct resident_tablet *known =
        params->place->mode == MODE_CACHED
            ? resident_find(params->place->resident, ref)
            : NULL;
    unsigned count = 0;

    for (unsigned i = 0; i < params->column_count; i++)
        if (known == NULL || known->tablet == NULL
            || !resident_has(known, params->columns[i]))
            params->lacking[count++] = params->columns[i];
    return count;
}

/* What the pool is asked for. */
static struct pool_want want_of(const struct source_params *params,
                                const struct tablet_ref *ref)
{
    struct pool_want want = { .table = params->table,
                              .tablet = ref,
                              .codes = true,
                              .reached = params->reached,
                              .moved = !params->reached,
                              .yields = params->yields };
    if (wants_all(params, ref))
        return want;
    want.columns = params->lacking;
    want.column_count = lacking_columns(params, ref);
    return want;
}

bool source_is_there(const struct source_params *params,
                     const struct tablet_ref *ref)
{
    return params->place->mode == MODE_CACHED
           && !lacks_any(resident_find(params->place->resident, ref), params);
}

bool source_ahead(const struct source_params *params,
                  const struct tablet_ref *ref)
{
    struct pool_want want = want_of(params, ref);
    if (source_is_there(params, ref))
        return true;
    return pool_ahead(params->place->pool, &want);
}

/* Pins the tablet in the pool; the host holds it unless it is mapped. */
static enum vdbq_status open_slot(struct source *source,
                                  struct source_params *params,
                                  struct error *error)
{
    uint64_t before = pool_load_ns(params->place->pool);
    struct pool_want want = want_of(params, source->ref);
    enum vdbq_status status =
        pool_pin(params->place->pool, &want, &source->slot, error);
    params->load_ns += pool_load_ns(params->place->pool) - before;
    if (status == VDBQ_OK && params->place->mode != MODE_MAPPED)
        status = device_memory_take(source->slot->memory, params->times, error);
    return status;
}

/* ------------------------------------------------------------- columns -- */

bool source_mapped(const struct source *source)
{
    return source->slot != NULL && source->slot->in_place;
}

void source_inputs(const struct source *source,
                   const struct source_params *params, uint64_t row,
                   struct column_input *inputs)
{
    assert(row < source->ref->rows);
    for (unsigned i = 0; i < params->pack->input_count; i++) {
        unsigned column =
            column_input_number(params->table, params->pack->inputs[i].column);
        inputs[i] = column == NO_KEY
                        ? column_input_numbers(source->ref->row_first + row)
                        : column_input_of(source->tablet, column, row);
    }
}

struct device_memory *source_data(const struct source *source,
                                  const struct source_params *params)
{
    if (params->place->mode == MODE_CACHED)
        return source->resident->memory;
    return params->place->mode == MODE_MAPPED ? source->slot->memory : NULL;
}

u8 *source_host(const struct source *source, const struct source_params *params)
{
    const enum run_mode mode = params->place->mode;
    assert(mode == MODE_CACHED || source->slot != NULL);
    return mode == MODE_SERIAL || mode == MODE_STREAMED
               ? device_memory_host(source->slot->memory)
               : NULL;
}

/* ------------------------------------------------------------ resident -- */

/* Whether a column that is read is not on the device. */
static bool lacks_any(const struct resident_tablet *resident,
                      const struct source_params *params)
{
    if (resident == NULL || resident->tablet == NULL)
        return true;
    for (unsigned i = 0; i < params->column_count; i++)
        if (!resident_has(resident, params->columns[i]))
            return true;
    return false;
}

/* Bytes [from, from + size) of the slot are to go to `to` there. */
static bool add_copy(const struct source *source, u64 from, u64 to, u64 size,
                     struct vector *copies)
{
    struct device_copy copy = {
        .memory = source->resident->memory,
        .offset = to,
        .bytes = (u8 *)device_memory_host(source->slot->memory) + from,
        .size = size,
        .plain = !device_memory_is_reached(source->slot->memory),
    };
    return size == 0 || vector_append(copies, &copy, 1);
}

/* Has all of a column copied, once. */
static bool copy_column(const struct source *source, unsigned column,
                        struct vector *copies)
{
    assert(source->slot != NULL && source->resident != NULL);
    if (resident_has(source->resident, column))
        return true;
    struct column_input from = column_input_of(source->slot->tablet, column, 0);
    struct column_input to = column_input_of(source->tablet, column, 0);
    uint64_t rows = source->ref->rows;
    resident_add(source->resident, column);
    return add_copy(source, from.values, to.values,
                    column_input_value_bytes(&from, rows), copies)
           && add_copy(source, from.nulls, to.nulls,
                       column_input_null_bytes(&from, rows), copies);
}

/* Bytes of a tablet, of which there is a slot, on the device. */
static uint64_t resident_size(const struct source *source)
{
    return source->ref->edit != NULL && source->slot != NULL
               ? source->slot->whole->size
               : source->ref->size_bytes;
}

/* Keeps the tablet on the device, where there is no room once holders have let
 * go of others. */
static enum vdbq_status pin_resident(struct source *source,
                                     const struct source_params *params,
                                     struct error *error)
{
    struct resident *resident = params->place->resident;
    uint64_t size = resident_size(source);
    struct error refused;
    enum vdbq_status status =
        resident_pin(resident, params->table->id, source->ref, size,
                     &source->resident, &refused);

    if (status == VDBQ_LIMIT && !params->yields) {
        status = pool_ask(params->place->pool, error);
        return status == VDBQ_OK
                   ? resident_pin(resident, params->table->id, source->ref,
                                  size, &source->resident, error)
                   : status;
    }
    if (status != VDBQ_OK)
        *error = refused;
    return status;
}

/* Pins the tablet on the device; columns that it lacks are copied there. */
static enum vdbq_status open_resident(struct source *source,
                                      struct source_params *params,
                                      struct vector *copies,
                                      struct error *error)
{
    struct resident *resident = params->place->resident;
    bool lacks = wants_all(params, source->ref)
                 || lacks_any(resident_find(resident, source->ref), params);
    enum vdbq_status status =
        lacks ? open_slot(source, params, error) : VDBQ_OK;
    if (status == VDBQ_OK)
        status = pin_resident(source, params, error);
    if (status == VDBQ_OK && source->resident->tablet == NULL)
        status =
            resident_describe(source->resident, source->slot->whole, error);
    if (status != VDBQ_OK)
        return status;
    source->tablet = source->resident->tablet;
    for (unsigned i = 0; lacks && i < params->column_count; i++)
        if (!copy_column(source, params->columns[i], copies))
            return error_no_memory(error);
    return VDBQ_OK;
}
