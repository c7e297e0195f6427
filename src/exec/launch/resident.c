/* SPDX-License-Identifier: MIT */
/*
 * The resident store. A tablet is known by its identity, which no other has
 * (identity rule 1): bytes that replaced others are never taken for them. One
 * that nobody uses is in the list of idle ones, oldest first, from which room
 * is taken. Their sizes together never exceed the budget.
 *
 * A table that is larger than the budget is mostly walked over again from its
 * beginning: were its oldest tablets to make room for those that come, each would be
 * gone when it is asked for. So other tables' oldest make room, and where there are
 * none its own newest.
 */
#include "exec/launch/resident.h"

#include <assert.h>
#include <string.h>

#include "base/lru.h"
#include "data/pool/pool.h"

enum { BUCKETS = 1024 };

struct entry {
    struct resident_tablet shown; /* first: what callers hold            */
    struct identity identity;     /* of the tablet, or of what was made  */
    struct identity of;           /* ... of this tablet                  */
    uint32_t table_id;            /* where to look for it in a catalogue */
    uint64_t row_first;           /* likewise                            */
    uint64_t size_bytes;  /* of its device memory, counted in used_bytes */
    bool *present;        /* one a column; lies behind the head  */
    unsigned pins;        /* users; 0: it stands in the idle list */
    struct entry *chain;  /* the next in its bucket              */
    struct lru_link idle; /* among those that nobody uses        */
};

struct resident {
    struct device *device;  /* owns the memory */
    uint64_t budget_bytes;  /* used_bytes never passes it */
    uint64_t used_bytes;    /* of tablets and of what resident_reserve() gave */
    uint64_t rows_bytes;    /* ... of it to resident_reserve_rows()           */
    struct catalogue *seen; /* by resident_drop_old() last; held, so that no
                               other has its address; or NULL             */
    struct lru idle;        /* entries that nobody uses                   */
    struct entry *buckets[BUCKETS]; /* chains by identity */
};

static struct entry *find(struct resident *resident, struct identity identity);
static enum vdbq_status make_room(struct resident *resident, uint32_t table_id,
                                  uint64_t size, struct device_memory **memory,
                                  struct error *error);
static struct entry **bucket_of(struct resident *resident,
                                struct identity identity);
static struct device_memory *drop(struct resident *resident,
                                  struct entry *entry);

/* The entry of an idle link; NULL stands for none in both. */
static struct entry *idle_entry(struct lru_link *link)
{
    return lru_item(link, offsetof(struct entry, idle));
}

/* The entry that nobody has used for the longest time, or NULL. */
static struct entry *oldest(const struct resident *resident)
{
    return idle_entry(resident->idle.oldest);
}

enum vdbq_status resident_create(struct device *device, uint64_t budget_bytes,
                                 struct resident **resident,
                                 struct error *error)
{
    struct resident *made = memory_zeroed(1, sizeof *made);

    *resident = made;
    if (made == NULL)
        return error_no_memory(error);
    made->device = device;
    made->budget_bytes = budget_bytes;
    return VDBQ_OK;
}

void resident_destroy(struct resident *resident)
{
    if (resident == NULL)
        return;
    while (oldest(resident) != NULL)
        device_memory_destroy(drop(resident, oldest(resident)));
    assert(resident->used_bytes == 0);
    catalogue_release(resident->seen);
    memory_release(resident);
}

uint64_t resident_budget(const struct resident *resident)
{
    return resident->budget_bytes;
}

uint64_t resident_bytes(const struct resident *resident)
{
    return resident->used_bytes;
}

/* An entry for a tablet that has none, with memory of its own. */
static enum vdbq_status
entry_create(struct resident *resident, uint32_t table_id,
             const struct tablet_ref *tablet, struct identity identity,
             uint64_t size_bytes, struct entry **entry, struct error *error)
{
    struct entry *made = memory_zeroed(1, sizeof *made), **bucket;
    enum vdbq_status status;

    if (made == NULL)
        return error_no_memory(error);
    status =
        make_room(resident, table_id, size_bytes, &made->shown.memory, error);
    if (status != VDBQ_OK) {
        memory_release(made);
        return status;
    }
    made->identity = identity;
    made->of = tablet->identity;
    made->table_id = table_id;
    made->row_first = tablet->row_first;
    made->size_bytes = size_bytes;
    resident->used_bytes += made->size_bytes;
    bucket = bucket_of(resident, made->identity);
    made->chain = *bucket;
    *bucket = made;
    *entry = made;
    return VDBQ_OK;
}

enum vdbq_status resident_pin_made(struct resident *resident, uint32_t table_id,
                                   const struct tablet_ref *tablet,
                                   struct identity identity,
                                   uint64_t size_bytes,
                                   struct resident_tablet **pinned,
                                   struct error *error)
{
    struct entry *entry = find(resident, identity);

    *pinned = NULL;
    if (entry == NULL) {
        enum vdbq_status status = entry_create(
            resident, table_id, tablet, identity, size_bytes, &entry, error);
        if (status != VDBQ_OK)
            return status;
    } else if (entry->pins == 0) {
        lru_remove(&resident->idle, &entry->idle);
    }
    entry->pins++;
    *pinned = &entry->shown;
    return VDBQ_OK;
}

enum vdbq_status resident_pin(struct resident *resident, uint32_t table_id,
                              const struct tablet_ref *tablet,
                              uint64_t size_bytes,
                              struct resident_tablet **pinned,
                              struct error *error)
{
    return resident_pin_made(resident, table_id, tablet, tablet->identity,
                             size_bytes, pinned, error);
}

const struct resident_tablet *resident_find(struct resident *resident,
                                            const struct tablet_ref *tablet)
{
    const struct entry *entry = find(resident, tablet->identity);

    return entry != NULL ? &entry->shown : NULL;
}

void resident_release(struct resident *resident, struct resident_tablet *pinned)
{
    struct entry *entry = (struct entry *)pinned;

    if (pinned == NULL)
        return;
    assert(entry->pins > 0);
    if (--entry->pins == 0)
        lru_add(&resident->idle, &entry->idle);
}

/* ------------------------------------------------------------- columns -- */

enum vdbq_status resident_describe(struct resident_tablet *pinned,
                                   const void *head, struct error *error)
{
    struct entry *entry = (struct entry *)pinned;
    unsigned columns = ((const struct tablet *)head)->columns;
    size_t size =
        sizeof(struct tablet) + columns * sizeof(struct tablet_column);
    char *copy = memory_zeroed(1, size + columns * sizeof *entry->present);

    assert(pinned->tablet == NULL);
    if (copy == NULL)
        return error_no_memory(error);
    memcpy(copy, head, size);
    pinned->tablet = (const struct tablet *)(const void *)copy;
    entry->present = (bool *)(copy + size);
    return VDBQ_OK;
}

bool resident_has(const struct resident_tablet *pinned, unsigned column)
{
    assert(pinned->tablet != NULL && column < pinned->tablet->columns);
    return ((const struct entry *)pinned)->present[column];
}

void resident_add(struct resident_tablet *pinned, unsigned column)
{
    assert(pinned->tablet != NULL && column < pinned->tablet->columns);
    ((struct entry *)pinned)->present[column] = true;
}

void resident_forget(struct resident_tablet *pinned)
{
    struct entry *entry = (struct entry *)pinned;

    if (pinned != NULL && pinned->tablet != NULL)
        memset(entry->present, 0,
               pinned->tablet->columns * sizeof *entry->present);
}

/* ---------------------------------------------------------------- room -- */

/* Says how much was wanted, and which setting gives more. */
static enum vdbq_status no_room(const struct resident *resident, uint64_t size,
                                struct error *error)
{
    return pool_no_room(
        &(struct pool_shortage){ .size_bytes = size,
                                 .used_bytes = resident->used_bytes,
                                 .budget_bytes = resident->budget_bytes,
                                 .whose = " of device memory",
                                 .instead = "choose mode streamed, or ",
                                 .variable = "VDBQ_DEVICE_MEMORY" },
        error);
}

/* Allocates; where the device has less than the budget, idle ones leave. */
static enum vdbq_status allocate(struct resident *resident, uint64_t size,
                                 struct device_memory **memory,
                                 struct error *error)
{
    enum vdbq_status status = device_memory_create(
        resident->device, MEMORY_DEVICE, size, memory, error);

    while (status == VDBQ_DEVICE && oldest(resident) != NULL) {
        device_memory_release(drop(resident, oldest(resident)));
        status = device_memory_create(resident->device, MEMORY_DEVICE, size,
                                      memory, error);
    }
    return status;
}

/* The entry that makes room for a tablet of a table, or NULL. */
static struct entry *victim(const struct resident *resident, uint32_t table_id)
{
    struct entry *entry = oldest(resident);

    while (entry != NULL && entry->table_id == table_id)
        entry = idle_entry(entry->idle.newer);
    return entry != NULL ? entry : idle_entry(resident->idle.newest);
}

/* Memory of that size within the budget: new, or that of an idle tablet. */
static enum vdbq_status make_room(struct resident *resident, uint32_t table_id,
                                  uint64_t size, struct device_memory **memory,
                                  struct error *error)
{
    if (size > resident->budget_bytes)
        return no_room(resident, size, error);
    while (resident->used_bytes > resident->budget_bytes - size) {
        struct entry *idle = victim(resident, table_id);
        if (idle == NULL)
            return no_room(resident, size, error);
        bool fits = idle->size_bytes == size;
        *memory = drop(resident, idle);
        if (fits)
            return VDBQ_OK;
        device_memory_release(*memory);
    }
    return allocate(resident, size, memory, error);
}

enum vdbq_status resident_reserve(struct resident *resident, uint64_t bytes,
                                  struct error *error)
{
    uint64_t budget = resident->budget_bytes;

    while (bytes <= budget && resident->used_bytes > budget - bytes
           && oldest(resident) != NULL)
        device_memory_release(drop(resident, oldest(resident)));
    if (bytes > budget || resident->used_bytes > budget - bytes) {
        error_set(error, VDBQ_LIMIT,
                  "the inner rows of a join take %llu bytes: %llu of %llu "
                  "bytes of device memory are in use",
                  (unsigned long long)bytes,
                  (unsigned long long)resident->used_bytes,
                  (unsigned long long)budget);
        return error_hint(
            error,
            "give more memory: set VDBQ_DEVICE_MEMORY, "
            "for instance to %lluM",
            (unsigned long long)((resident->used_bytes + 2 * bytes) >> 20) + 1);
    }
    resident->used_bytes += bytes;
    assert(resident->used_bytes <= budget);
    return VDBQ_OK;
}

void resident_return(struct resident *resident, uint64_t bytes)
{
    assert(bytes <= resident->used_bytes);
    resident->used_bytes -= bytes;
}

enum vdbq_status resident_reserve_rows(struct resident *resident,
                                       uint64_t bytes, struct error *error)
{
    uint64_t most = resident->budget_bytes / 4 * 3;
    enum vdbq_status status;

    if (bytes > most || resident->rows_bytes > most - bytes)
        return error_set(
            error, VDBQ_LIMIT,
            "rows of a step take %llu bytes beside %llu of others: "
            "%llu bytes of device memory are theirs",
            (unsigned long long)bytes, (unsigned long long)resident->rows_bytes,
            (unsigned long long)most);
    status = resident_reserve(resident, bytes, error);
    if (status == VDBQ_OK)
        resident->rows_bytes += bytes;
    return status;
}

void resident_return_rows(struct resident *resident, uint64_t bytes)
{
    assert(bytes <= resident->rows_bytes);
    resident->rows_bytes -= bytes;
    resident_return(resident, bytes);
}

/* Takes an idle entry out of the store; its memory is the caller's. */
static struct device_memory *drop(struct resident *resident,
                                  struct entry *entry)
{
    assert(entry->pins == 0 && entry->size_bytes <= resident->used_bytes);
    struct device_memory *memory = entry->shown.memory;
    struct entry **at = bucket_of(resident, entry->identity);

    lru_remove(&resident->idle, &entry->idle);
    while (*at != entry)
        at = &(*at)->chain;
    *at = entry->chain;
    resident->used_bytes -= entry->size_bytes;
    memory_release((void *)entry->shown.tablet);
    memory_release(entry);
    return memory;
}

/* Whether the catalogue still has the tablet. */
static bool is_current(const struct entry *entry,
                       const struct catalogue *catalogue)
{
    const struct table *table = catalogue_table_id(catalogue, entry->table_id);
    size_t first = 0, end = table != NULL ? table->tablet_count : 0;

    while (first < end) {
        size_t middle = first + (end - first) / 2;
        const struct tablet_ref *tablet = &table->tablets[middle];
        if (tablet->row_first == entry->row_first)
            return identity_equal(tablet->identity, entry->of);
        if (tablet->row_first < entry->row_first)
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

void resident_drop_old(struct resident *resident,
                       const struct catalogue *catalogue)
{
    struct entry *entry = oldest(resident), *newer;

    if (catalogue == resident->seen)
        return;
    catalogue_release(resident->seen);
    resident->seen = catalogue_hold((struct catalogue *)catalogue);
    for (; entry != NULL; entry = newer) {
        newer = idle_entry(entry->idle.newer);
        if (!is_current(entry, catalogue))
            device_memory_release(drop(resident, entry));
    }
}

/* --------------------------------------------------------------- lists -- */

static struct entry **bucket_of(struct resident *resident,
                                struct identity identity)
{
    return &resident->buckets[identity_hash(identity) % BUCKETS];
}

static struct entry *find(struct resident *resident, struct identity identity)
{
    struct entry *entry = *bucket_of(resident, identity);

    while (entry != NULL && !identity_equal(entry->identity, identity))
        entry = entry->chain;
    return entry;
}
