/* SPDX-License-Identifier: MIT */
/*
 * Keys that are looked for one by one: key_find.h.
 */
#include "data/index/key_find.h"

#include <assert.h>

#include "base/threads/stop.h"
#include "base/type.h"
#include "data/database/database_inner.h"
#include "data/index/unique.h"
#include "data/tablet/block.h"

enum { MEMORY_PART = 8, RUNS_MAX = 1 << 28 }; /* of the host's, for runs */

bool key_findable(const struct table *table)
{
    return table->key != NO_KEY && table->columns[table->key].type != VDBQ_TEXT;
}

struct run_value key_value(const struct vdbq_vector *keys, uint64_t row)
{
    const void *values = keys->values;

    assert(keys->type != VDBQ_TEXT);
    switch (type_machine(keys->type)) {
    case TYPE_I32:
        return run_value_integer(((const int32_t *)values)[row]);
    case TYPE_I64:
        return run_value_integer(((const int64_t *)values)[row]);
    case TYPE_F32:
        return run_value_real((double)((const float *)values)[row]);
    default:
        return run_value_real(((const double *)values)[row]);
    }
}

/* ----------------------------------------------------------------- runs -- */

/* Bytes that runs may take. */
static uint64_t most_bytes(const struct database *database)
{
    uint64_t memory = database->file.settings->memory_bytes;

    return memory > 0 ? memory / MEMORY_PART : RUNS_MAX;
}

/* A run, which the cache keeps, or (`*own`) the caller has to destroy. */
static enum vdbq_status get_run(struct database *database,
                                const struct table *table,
                                const struct run_want *want,
                                const struct run **run, struct run **own,
                                struct error *error)
{
    struct run_cache *cache = database->runs;
    struct block block;
    enum vdbq_status status;

    *own = NULL;
    *run = cache != NULL ? run_cache_find(cache, want) : NULL;
    if (*run != NULL)
        return VDBQ_OK;
    status = tablet_load(database, table, want->tablet, &block, error);
    if (status == VDBQ_OK) {
        *own = run_make(block.bytes, want->columns, want->count);
        *run = *own;
        if (*own == NULL)
            status = stop_or_no_memory(error);
    }
    block_destroy(&block);
    if (status == VDBQ_OK && cache != NULL
        && run_cache_keep(cache, want, *own, most_bytes(database)))
        *own = NULL;
    return status;
}

/* -------------------------------------------------------------- looking -- */

/* Whether the facts of a tablet leave the key open. */
static bool may_have(const struct tablet_ref *tablet, const struct table *table,
                     struct run_value key)
{
    const struct column_facts *facts = &tablet->facts[table->key];
    bool real = type_is_real(table->columns[table->key].type);
    struct run_value low = real ? run_value_real(facts->minimum_real)
                                : run_value_integer(facts->minimum);
    struct run_value high = real ? run_value_real(facts->maximum_real)
                                 : run_value_integer(facts->maximum);

    return !facts->empty && low.value <= key.value && key.value <= high.value;
}

/* Whether the row at a place of a tablet's base has its key still. */
static bool is_left(const struct edit *edit, unsigned key, uint32_t place)
{
    const struct edit_column *changed;
    uint32_t at;
    bool gone;

    if (edit == NULL)
        return true;
    edit_gone_before(edit, place, &gone);
    changed = edit_column(edit, key);
    return !gone && (changed == NULL || !edit_find(changed, place, &at));
}

/* Whether one of the new keys of an edit is that one. */
static bool has_changed_to(const struct edit *edit, unsigned column,
                           struct run_value key)
{
    const struct edit_column *changed =
        edit != NULL ? edit_column(edit, column) : NULL;
    bool found = false;

    for (uint32_t i = 0; changed != NULL && i < changed->count && !found; i++)
        found = key_value(&changed->values, i).value == key.value;
    return found;
}

/* Looks into a tablet: by the run of its base, and its edit. */
static enum vdbq_status look_into(struct database *database,
                                  const struct table *table,
                                  const struct tablet_ref *tablet,
                                  struct run_value key, bool *found,
                                  struct error *error)
{
    const struct tablet_ref base = tablet_base(tablet);
    const struct run_want want = { .tablet = &base,
                                   .columns = &table->key,
                                   .count = 1 };
    const struct run *run;
    struct run *own;
    struct run_keys keys;
    uint32_t begin, end;
    enum vdbq_status status = edit_check(tablet->edit, error);

    if (status == VDBQ_OK)
        status = get_run(database, table, &want, &run, &own, error);
    if (status != VDBQ_OK)
        return status;
    keys = run_keys_equal(run, run_keys_all(run), 0, key);
    end = run_find(run, keys, 0, &begin);
    *found = has_changed_to(tablet->edit, table->key, key);
    for (; begin < end && !*found; begin++)
        *found = is_left(tablet->edit, table->key, run_row(run, begin));
    run_destroy(own);
    return VDBQ_OK;
}

enum vdbq_status key_find(struct database *database, const struct table *table,
                          struct run_value key, bool *found,
                          struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    *found = false;
    for (size_t i = table->tablet_count; i > 0 && status == VDBQ_OK && !*found;
         i--)
        if (may_have(&table->tablets[i - 1], table, key))
            status = look_into(database, table, &table->tablets[i - 1], key,
                               found, error);
    return status;
}

enum vdbq_status key_twice(const struct table *table,
                           const struct vdbq_vector *keys, uint64_t row,
                           struct error *error)
{
    const struct unique_rule rule = { .column_count = 1,
                                      .column = table->key,
                                      .of = table->columns };

    return unique_twice(table, &rule, keys - table->key, row, error);
}
