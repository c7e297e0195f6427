/* SPDX-License-Identifier: MIT */
/*
 * Some entries; the least recently used one leaves. An entry is known by the
 * state of the table's rows, which says what its tablets and their words are
 * (identity rule 3), and by the columns that are read. It serves programs that read
 * other columns, too, if the texts are the same: they see its words by a view, which
 * is an entry of its own. Those of states that nobody can ask for any more leave when
 * another entry comes.
 */
#include "exec/dictionary/dictionary_cache.h"

#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"
#include "data/tablet/tablet.h"
#include "exec/launch/column_input.h"

enum { ENTRIES = 64 };

struct entry {
    struct identity state;        /* of the table's rows */
    uint32_t table;               /* its id              */
    unsigned input_count;         /* of the program that asked */
    unsigned *columns;            /* of the inputs        */
    struct dictionary_base *base; /* NULL: a free entry  */
    uint64_t used;                /* the clock when it was last asked for */
};

struct dictionary_cache {
    struct entry entries[ENTRIES];
    uint64_t clock; /* counts what was asked */
};

struct dictionary_cache *dictionary_cache_create(void)
{
    return memory_zeroed(1, sizeof(struct dictionary_cache));
}

static void entry_finish(struct entry *entry)
{
    memory_release(entry->columns);
    dictionary_base_release(entry->base);
    *entry = (struct entry){ 0 };
}

void dictionary_cache_destroy(struct dictionary_cache *cache)
{
    for (int i = 0; cache != NULL && i < ENTRIES; i++)
        entry_finish(&cache->entries[i]);
    memory_release(cache);
}

/* ---------------------------------------------------------------- keys -- */

/* The column of the table that a column input of the program reads. */
static unsigned column_of(const struct dictionary_cache_params *params,
                          unsigned input)
{
    assert(input < params->pack->input_count);
    return column_input_number(params->table,
                               params->pack->inputs[input].column);
}

/* Whether the column input reads texts; row numbers never are. */
static bool is_text(const struct dictionary_cache_params *params,
                    unsigned input)
{
    unsigned column = column_of(params, input);
    return column != NO_KEY && params->table->columns[column].type == VDBQ_TEXT;
}

static bool is_unread(const struct dictionary_cache_params *params,
                      size_t tablet)
{
    return params->unread != NULL && params->unread[tablet];
}

/* Whether it has the words of all tablets that are read. */
static bool has_read(const struct dictionary_base *base,
                     const struct dictionary_cache_params *params)
{
    for (size_t i = 0; base->left_out != NULL && i < base->morsels; i++)
        if (base->left_out[i] && !is_unread(params, i))
            return false;
    return true;
}

/* Whether the entry has words of this state of the table, of all tablets that are
   read. */
static bool is_of_state(const struct entry *entry,
                        const struct dictionary_cache_params *params)
{
    return entry->base != NULL
           && identity_equal(entry->state, params->table->state)
           && has_read(entry->base, params);
}

/* The input of the entry that reads the same column; -1: there is none. */
static int input_of(const struct entry *entry, unsigned column)
{
    for (unsigned i = 0; i < entry->input_count; i++)
        if (entry->columns[i] == column)
            return (int)i;
    return -1;
}

/* Where the entry has the words of what a program reads; `from` is its inputs'.
   false: it lacks some, or has them for other uses. */
static bool find_view(const struct entry *entry,
                      const struct dictionary_cache_params *params, int *from)
{
    unsigned inputs = params->pack->input_count;
    if (!is_of_state(entry, params))
        return false;
    for (unsigned f = 0; f < inputs; f++) {
        bool text = is_text(params, f);
        from[f] = text ? input_of(entry, column_of(params, f)) : -1;
        if (text && from[f] < 0)
            return false;
    }
    return dictionary_base_fits(
        entry->base, &(struct dictionary_view){ .inputs = inputs,
                                                .from = from,
                                                .uses = params->uses });
}

/* Whether inputs are numbered alike. */
static bool has_same_inputs(const struct entry *entry,
                            const struct dictionary_cache_params *params)
{
    bool same = entry->input_count == params->pack->input_count;
    for (unsigned i = 0; same && i < entry->input_count; i++)
        same = entry->columns[i] == column_of(params, i);
    return same;
}

/* The first entry that has the words, if its inputs are the same or need not be. */
static struct entry *find_any(struct dictionary_cache *cache,
                              const struct dictionary_cache_params *params,
                              bool same, int *from)
{
    for (int i = 0; cache != NULL && i < ENTRIES; i++) {
        struct entry *entry = &cache->entries[i];
        if ((!same || has_same_inputs(entry, params))
            && find_view(entry, params, from))
            return entry;
    }
    return NULL;
}

/* The entry that has the words, one with the same inputs if there is any. NULL:
   there is none. */
static struct entry *find_entry(struct dictionary_cache *cache,
                                const struct dictionary_cache_params *params,
                                int *from)
{
    struct entry *entry = find_any(cache, params, true, from);
    return entry != NULL ? entry : find_any(cache, params, false, from);
}

/* Whether it has the words of some tablets only. */
static bool is_partial(const struct entry *entry)
{
    return entry->base != NULL && entry->base->left_out != NULL;
}

/* The place for a new entry: a free one, or the least recently used. Those with
 * the words of some tablets have half of the places at most: they are made again
 * soon, and queries of single rows would need one for each tablet. */
static struct entry *place_for(struct dictionary_cache *cache, bool partial)
{
    unsigned partials = 0;
    struct entry *place = NULL;
    for (int i = 0; i < ENTRIES; i++)
        partials += is_partial(&cache->entries[i]);
    bool full = partial && partials >= ENTRIES / 2;
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *entry = &cache->entries[i];
        if ((!full || is_partial(entry))
            && (place == NULL || entry->used < place->used))
            place = entry;
    }
    assert(place != NULL);
    return place;
}

static void forget_former(struct dictionary_cache *cache,
                          const struct database *database)
{
    for (int i = 0; i < ENTRIES; i++) {
        struct entry *entry = &cache->entries[i];
        if (entry->base != NULL
            && !database_has_state(database, entry->table, entry->state))
            entry_finish(entry);
    }
}

/* Keeps the words, if there is memory for it. */
static void keep(const struct dictionary_cache_params *params,
                 struct dictionary_base *base)
{
    forget_former(params->place->dictionaries,
                  pool_database(params->place->pool));
    struct entry *place =
        place_for(params->place->dictionaries, base->left_out != NULL);
    struct entry made = { .state = params->table->state,
                          .table = params->table->id,
                          .input_count = params->pack->input_count,
                          .used = ++params->place->dictionaries->clock };
    made.columns =
        memory_zeroed(made.input_count + (size_t)1, sizeof *made.columns);
    if (made.columns == NULL)
        return;
    for (unsigned i = 0; i < made.input_count; i++)
        made.columns[i] = column_of(params, i);
    made.base = dictionary_base_hold(base);
    entry_finish(place);
    *place = made;
}

/* ------------------------------------------------------------- reading -- */

static bool has_texts(const struct dictionary_cache_params *params)
{
    bool any = false;
    for (unsigned i = 0; i < params->pack->input_count; i++)
        any |= is_text(params, i);
    return any;
}

/* The text columns of a tablet, named in `columns`. */
static struct pool_want want_of(const struct dictionary_cache_params *params,
                                size_t tablet, unsigned *columns)
{
    struct pool_want want = { .table = params->table,
                              .tablet = &params->table->tablets[tablet],
                              .columns = columns,
                              .apart = true };
    for (unsigned i = 0; i < params->pack->input_count; i++)
        if (is_text(params, i))
            columns[want.column_count++] = column_of(params, i);
    return want;
}

/* Starts to bring in tablets from `*next` on, on other threads, as many as go. */
static void read_ahead(const struct dictionary_cache_params *params,
                       size_t *next)
{
    unsigned columns[COLUMNS_MAX];
    for (; *next < params->table->tablet_count; ++*next) {
        if (is_unread(params, *next))
            continue;
        struct pool_want want = want_of(params, *next, columns);
        if (!pool_ahead(params->place->pool, &want))
            return;
    }
}

/* Reads the dictionaries of one tablet. */
static enum vdbq_status
read_tablet(const struct dictionary_cache_params *params, size_t tablet,
            struct dictionary **dictionaries, struct error *error)
{
    struct pool_slot *slot;
    unsigned columns[COLUMNS_MAX];
    struct pool_want want = want_of(params, tablet, columns);
    enum vdbq_status status = stop_pause(error);
    if (status == VDBQ_OK)
        status = pool_pin(params->place->pool, &want, &slot, error);
    if (status != VDBQ_OK)
        return status;
    for (unsigned i = 0; i < params->pack->input_count; i++)
        if (is_text(params, i))
            dictionaries[i] =
                dictionary_hold(slot->dictionaries[column_of(params, i)]);
    pool_release(params->place->pool, slot);
    return VDBQ_OK;
}

/* Reads those of all tablets, and joins them. */
static enum vdbq_status read_base(const struct dictionary_cache_params *params,
                                  struct dictionary_base **base,
                                  struct error *error)
{
    unsigned inputs = params->pack->input_count;
    size_t tablets = params->table->tablet_count, count = tablets * inputs;
    struct dictionary **dictionaries =
        memory_zeroed(count + 1, sizeof *dictionaries);
    enum vdbq_status status =
        dictionaries == NULL ? error_no_memory(error) : VDBQ_OK;
    bool any = has_texts(params);
    for (size_t i = 0, next = 0; any && i < tablets && status == VDBQ_OK; i++) {
        next = next > i ? next : i + 1;
        if (is_unread(params, i))
            continue;
        read_ahead(params, &next);
        status = read_tablet(params, i, dictionaries + i * inputs, error);
    }
    if (status == VDBQ_OK) {
        *base = dictionary_base_make(
            &(struct dictionary_base_params){ .dictionaries = dictionaries,
                                              .left_out = params->unread,
                                              .morsels = tablets,
                                              .inputs = inputs,
                                              .uses = params->uses,
                                              .threads = params->threads });
        if (*base == NULL)
            status = stop_or_no_memory(error);
    }
    for (size_t i = 0; dictionaries != NULL && i < count; i++)
        dictionary_release(dictionaries[i]);
    memory_release(dictionaries);
    return status;
}

bool dictionary_cache_has(const struct dictionary_cache_params *params)
{
    int from[COLUMNS_MAX + 1];
    struct dictionary_cache_params all = *params;
    all.unread = NULL;
    return !has_texts(params)
           || find_entry(params->place->dictionaries, &all, from) != NULL;
}

/* The words of an entry for a program whose inputs may be others. */
static enum vdbq_status view_entry(const struct entry *entry,
                                   const struct dictionary_cache_params *params,
                                   const int *from,
                                   struct dictionary_base **base,
                                   struct error *error)
{
    const struct dictionary_view view = { .inputs = params->pack->input_count,
                                          .from = from,
                                          .uses = params->uses };
    *base = has_same_inputs(entry, params)
                ? dictionary_base_hold(entry->base)
                : dictionary_base_view(entry->base, &view);
    return *base != NULL ? VDBQ_OK : error_no_memory(error);
}

enum vdbq_status
dictionary_cache_base(const struct dictionary_cache_params *params,
                      struct dictionary_base **base, struct error *error)
{
    int from[COLUMNS_MAX + 1];
    struct dictionary_cache *cache = params->place->dictionaries;
    assert(params->pack->input_count <= COLUMNS_MAX + 1);
    struct entry *entry = find_entry(cache, params, from);
    enum vdbq_status status = entry != NULL
                                  ? view_entry(entry, params, from, base, error)
                                  : read_base(params, base, error);
    if (status == VDBQ_OK && entry != NULL)
        entry->used = ++cache->clock;
    if (status == VDBQ_OK && cache != NULL
        && (entry == NULL || *base != entry->base))
        keep(params, *base);
    return status;
}
