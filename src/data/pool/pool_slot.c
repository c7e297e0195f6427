/* SPDX-License-Identifier: MIT */
/*
 * Slots: made for the columns of a tablet that are wanted, loaded on the
 * threads of the pool's thread pool, and dropped. A slot that fails on this way
 * is none.
 */
#include "data/pool/pool_inner.h"

#include <assert.h>

#include "base/account.h"
#include "data/tablet/block.h"
#include "data/tablet/tablet_inner.h"

static struct slot *slot_create(const struct pool *pool,
                                const struct pool_want *want, bool ahead);
static enum vdbq_status slot_prepare(struct pool *pool,
                                     const struct pool_want *want,
                                     struct slot *slot, struct error *error);
static void slot_destroy(struct pool *pool, struct slot *slot);

/* --------------------------------------------------------------- start -- */

enum vdbq_status pool_slot_start(struct pool *pool,
                                 const struct pool_want *want, bool ahead,
                                 struct slot **slot, struct error *error)
{
    struct slot *loading, *made;
    struct error ignored;
    enum vdbq_status status;

    pool_sweep(pool);
    loading = pool_names_find_idle(&pool->names, want, true);
    if (loading != NULL)
        pool_slot_arrive(pool, loading, &ignored);
    made = slot_create(pool, want, ahead);
    if (made == NULL)
        return error_no_memory(error);
    status = slot_prepare(pool, want, made, error);
    if (status != VDBQ_OK) {
        slot_destroy(pool, made);
        return status;
    }
    pool_names_add(&pool->names, made);
    lru_add(&pool->idle, &made->idle);
    pool->ahead_count += ahead;
    *slot = made;
    return VDBQ_OK;
}

/* Whether a slot's memory had better be plain, which comes sooner. */
static bool is_plain(const struct pool *pool, const struct pool_want *want)
{
    return !want->reached
           && (want->moved || !device_facts(pool->device)->shares_memory);
}

/* A slot of a tablet, without memory, in no list. */
static struct slot *slot_create(const struct pool *pool,
                                const struct pool_want *want, bool ahead)
{
    unsigned columns = want->table->column_count;
    size_t head = tablet_head_size(columns);
    struct slot *made = memory_zeroed(
        1, sizeof *made + 2 * head
               + columns
                     * (sizeof made->words[0] + sizeof made->dictionaries[0]
                        + sizeof made->wanted[0] + sizeof made->apart[0]));

    if (made == NULL)
        return NULL;
    made->head = (struct tablet *)(void *)(made + 1);
    made->here = (struct tablet *)(void *)((char *)made->head + head);
    made->words = (struct words_place *)(void *)((char *)made->here + head);
    made->dictionaries = (struct dictionary **)(made->words + columns);
    made->wanted = (bool *)(made->dictionaries + columns);
    made->apart = made->wanted + columns;
    made->shown.tablet = made->here;
    made->shown.whole = made->head;
    made->shown.dictionaries = made->dictionaries;
    made->identity = want->tablet->identity;
    made->ahead = ahead;
    made->plain = is_plain(pool, want);
    made->moved = want->moved;
    made->column_count = columns;
    made->codes = want->codes || want->apart;
    for (unsigned i = 0; i < want->column_count; i++)
        made->wanted[want->columns[i]] = true;
    for (unsigned i = 0; want->columns == NULL && i < columns; i++)
        made->wanted[i] = true;
    for (unsigned i = 0; want->apart && i < columns; i++)
        made->apart[i] =
            made->wanted[i] && want->table->columns[i].type == VDBQ_TEXT;
    return made;
}

/* Several edits may be over it. */
enum vdbq_status pool_find_proof(struct pool *pool,
                                 struct projection *projection,
                                 struct error *error)
{
    unsigned columns = projection->table->column_count;

    projection->proof = proofs_find(&pool->proofs, projection->tablet, columns);
    if (projection->proof != NULL && projection->proof->users > 0) {
        pool_settle(pool);
        projection->proof =
            proofs_find(&pool->proofs, projection->tablet, columns);
    }
    return projection->proof != NULL ? VDBQ_OK : error_no_memory(error);
}

/* Words come with codes that were not compared with them. */
static enum vdbq_status choose_codes(struct pool *pool, struct slot *slot,
                                     struct projection *projection,
                                     struct error *error)
{
    enum vdbq_status status = pool_find_proof(pool, projection, error);

    if (status == VDBQ_OK)
        status = projection_learn_told(projection, error);
    if (status != VDBQ_OK)
        return status;
    projection->proof->few_bytes = 0; /* if it leaves, few rows pay again */
    projection->codes = slot->codes;
    slot->codes &= projection_codes_known(projection);
    projection->codes = slot->codes;
    return VDBQ_OK;
}

/* While there is room for both, the columns that another slot of the tablet
 * has are wanted, too, and that slot leaves: a table that fits comes together
 * column by column, for the device to reach where it reached some of them. What was
 * moved to the device is let alone. */
static void take_over(struct pool *pool, const struct pool_want *want,
                      struct slot *slot, struct projection *projection)
{
    struct slot *other = pool_names_find_idle(&pool->names, want, false);
    uint64_t most = pool->used_bytes + page_round(want->tablet->size_bytes);

    if (other == NULL || other->moved || want->moved
        || most > pool->budget_bytes)
        return;
    slot->plain &= other->plain;
    for (unsigned i = 0; i < want->table->column_count; i++) {
        projection->wanted[i] |= other->wanted[i];
        slot->apart[i] |= other->apart[i];
        if (other->load == NULL)
            slot->dictionaries[i] = dictionary_hold(other->dictionaries[i]);
    }
    slot->codes &= other->codes;
    pool_slot_drop(pool, other);
}

/* Starts the load of a slot that has its memory. */
static enum vdbq_status start_load(struct pool *pool, struct slot *slot,
                                   struct projection *projection,
                                   struct error *error)
{
    struct device_times times = { 0 };
    enum vdbq_status status = VDBQ_OK;
    uint8_t *block = (uint8_t *)slot->mapped;

    if (!projection->in_place) {
        status = device_memory_take(slot->shown.memory, &times, error);
        block = device_memory_host(slot->shown.memory);
    }
    if (status != VDBQ_OK)
        return status;
    return load_start(pool->workers, projection, block, &slot->load, error);
}

static struct projection projection_of(struct pool *pool,
                                       const struct pool_want *want,
                                       struct slot *slot)
{
    return (struct projection){ .database = database_of(pool->database,
                                                        want->table->id),
                                .table = want->table,
                                .tablet = want->tablet,
                                .wanted = slot->wanted,
                                .copied = want->copied,
                                .head = slot->head,
                                .here = slot->here,
                                .words = slot->words,
                                .apart = slot->apart,
                                .dictionaries = slot->dictionaries,
                                .threads = pool->threads };
}

/* Starts the load of a slot with an edit, once there is memory beside it. */
static enum vdbq_status start_edited(struct pool *pool,
                                     const struct pool_want *want,
                                     const struct projection *base,
                                     const struct projection_bound *bound,
                                     struct slot *slot, struct error *error)
{
    struct device_times times = { 0 };
    enum vdbq_status status =
        pool_memory_copied(pool, slot, bound->most, error);

    if (status == VDBQ_OK)
        status = device_memory_take(slot->shown.memory, &times, error);
    return status == VDBQ_OK
               ? load_start_edited(pool->workers, base, want->tablet, bound,
                                   device_memory_host(slot->shown.memory),
                                   &slot->load, error)
               : status;
}

/* Makes a slot of a tablet that has an edit: its base's columns are brought in,
 * and what comes of them with the edit is written to the slot, on another
 * thread if there are some. Until then the account has the memory of both. */
static enum vdbq_status prepare_edited(struct pool *pool,
                                       const struct pool_want *want,
                                       struct slot *slot, struct error *error)
{
    struct projection projection = projection_of(pool, want, slot);
    const struct tablet_ref base = tablet_base(want->tablet);
    struct projection_bound bound;
    enum vdbq_status status = edit_check(want->tablet->edit, error);

    projection.tablet = &base;
    slot->codes = false;
    if (status == VDBQ_OK)
        status = pool_find_proof(pool, &projection, error);
    if (status == VDBQ_OK)
        status =
            projection_bound(&projection, want->tablet->edit, &bound, error);
    if (status != VDBQ_OK)
        return status;
    account_process_take(bound.work);
    status = start_edited(pool, want, &projection, &bound, slot, error);
    if (status != VDBQ_OK)
        account_process_give(bound.work);
    return status;
}

/* Finds out what a new slot takes, gives it memory and starts its load. */
static enum vdbq_status slot_prepare(struct pool *pool,
                                     const struct pool_want *want,
                                     struct slot *slot, struct error *error)
{
    struct projection projection = projection_of(pool, want, slot);
    enum vdbq_status status;

    if (want->tablet->edit != NULL)
        return prepare_edited(pool, want, slot, error);
    status = projection_read_head(&projection, error);
    if (status != VDBQ_OK)
        return status;
    take_over(pool, want, slot, &projection);
    status = choose_codes(pool, slot, &projection, error);
    if (status == VDBQ_OK)
        status = projection_find_words(&projection, error);
    if (status == VDBQ_OK)
        status = pool_memory_give(pool, slot, &projection, error);
    return status == VDBQ_OK ? start_load(pool, slot, &projection, error)
                             : status;
}

/* ----------------------------------------------------------------- end -- */

/* Waits for the load of a slot and takes note of its end. */
static enum vdbq_status finish(struct pool *pool, struct slot *slot,
                               struct error *error)
{
    struct load *load = slot->load;

    if (load == NULL)
        return VDBQ_OK;
    slot->load = NULL;
    return load_finish(load, &pool->load_ns, error);
}

/* Somebody has come for it, or nobody will. */
static void not_ahead(struct pool *pool, struct slot *slot)
{
    pool->ahead_count -= slot->ahead;
    slot->ahead = false;
}

/* Copies words that are wanted apart and came in the block. */
static enum vdbq_status copy_words(struct slot *slot, unsigned column,
                                   struct error *error)
{
    struct device_times times = { 0 };
    enum vdbq_status status =
        device_memory_take(slot->shown.memory, &times, error);

    if (status != VDBQ_OK)
        return status;
    slot->dictionaries[column] =
        dictionary_of_tablet(device_memory_host(slot->shown.memory), column);
    return slot->dictionaries[column] != NULL ? VDBQ_OK
                                              : error_no_memory(error);
}

/* Counts what words have arrived in a slot. */
static void count_words(struct pool *pool, struct slot *slot)
{
    pool->words_bytes -= slot->words_bytes;
    slot->words_bytes = 0;
    for (unsigned i = 0; i < slot->column_count; i++)
        if (slot->dictionaries[i] != NULL)
            slot->words_bytes += tablet_dictionary_size(slot->dictionaries[i]);
    pool->words_bytes += slot->words_bytes;
}

/* The words that are wanted apart are there. */
static enum vdbq_status take_words(struct slot *slot, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < slot->column_count && status == VDBQ_OK; i++) {
        struct dictionary *words = slot->dictionaries[i];
        if (words == NULL && slot->apart[i])
            status = copy_words(slot, i, error);
        else if (words != NULL && !dictionary_has_arrived(words))
            dictionary_arrived(words);
    }
    return status;
}

enum vdbq_status pool_slot_arrive(struct pool *pool, struct slot *slot,
                                  struct error *error)
{
    bool loading = slot->load != NULL;
    enum vdbq_status status = finish(pool, slot, error);

    not_ahead(pool, slot);
    if (loading && status == VDBQ_OK)
        status = take_words(slot, error);
    if (loading && status == VDBQ_OK)
        count_words(pool, slot);
    if (status != VDBQ_OK)
        pool_slot_drop(pool, slot);
    return status;
}

void pool_slot_drop(struct pool *pool, struct slot *slot)
{
    struct error ignored;

    finish(pool, slot, &ignored);
    not_ahead(pool, slot);
    lru_remove(&pool->idle, &slot->idle);
    pool_names_remove(&pool->names, slot);
    slot_destroy(pool, slot);
}

void pool_slot_let_words_go(struct pool *pool, struct slot *slot)
{
    assert(slot->load == NULL && pool->words_bytes >= slot->words_bytes);
    pool->words_bytes -= slot->words_bytes;
    slot->words_bytes = 0;
    for (unsigned i = 0; i < slot->column_count; i++) {
        dictionary_release(slot->dictionaries[i]);
        slot->dictionaries[i] = NULL;
        slot->apart[i] = false;
    }
}

/* Frees a slot that is in no list. */
static void slot_destroy(struct pool *pool, struct slot *slot)
{
    pool_slot_let_words_go(pool, slot);
    pool_memory_release(pool, slot);
    memory_release(slot);
}
