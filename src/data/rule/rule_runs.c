/* SPDX-License-Identifier: MIT */
/*
 * What is looked for of rows, and the runs of a tablet that tell of them: taken from
 * the cache, read or made (rule_find.h).
 */
#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "cl/hash.h"
#include "data/database/database_inner.h"
#include "data/index/index_run.h"
#include "data/rule/rule_looking.h"
#include "data/rule/rule_values.h"
#include "data/index/run_cache.h"
#include "data/index/run_pages.h"

enum {
    MEMORY_PART = 8, /* of the host's, for runs ... */
    RUNS_MAX = 1 << 28,
    HASH_BYTES = 28 /* that a run of hashes takes a row */
};

/* --------------------------------------------------------------- values -- */

struct run_value rule_value_at(const struct vdbq_vector *vector, uint64_t row)
{
    const void *values = vector->values;

    assert(vector->type != VDBQ_TEXT);
    switch (type_machine(vector->type)) {
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

/* The same of a key of an index. */
static struct run_value key_at(const struct column *key,
                               const struct vdbq_vector *vector, uint64_t row)
{
    const struct vdbq_text *texts = vector->values;

    return vector->type == VDBQ_TEXT
               ? run_value_integer(index_digest(key->collation, texts[row]))
               : rule_value_at(vector, row);
}

bool rule_take_values(struct looking *looking, uint64_t row)
{
    const struct unique_rule *rule = looking->find->rule;
    const struct vdbq_vector *vectors = looking->vectors;

    if (looking->hashed)
        return rule_take_hash(looking, row);
    for (unsigned i = 0; i < rule->column_count; i++) {
        const struct vdbq_vector *vector = &vectors[looking->columns[i]];
        if (vector_null(vector, row))
            return false;
        looking->values[i] =
            rule->keyed != NULL
                ? key_at(&rule->of[looking->columns[i]], vector, row)
                : rule_value_at(vector, row);
    }
    return rule->keyed == NULL
           || unique_hash_row(rule, vectors, row, &looking->hash);
}

/* ----------------------------------------------------------------- runs -- */

/* Bytes that runs may take. */
static uint64_t most_bytes(const struct database *database)
{
    uint64_t memory = database->file.settings->memory_bytes;

    return memory > 0 ? memory / MEMORY_PART : RUNS_MAX;
}

enum vdbq_status rule_read_base(struct looking *looking)
{
    const struct tablet_ref base = tablet_base(looking->tablet);

    return looking->base.bytes != NULL
               ? VDBQ_OK
               : tablet_load(looking->find->database, looking->find->table,
                             &base, &looking->base, looking->error);
}

struct run_keys rule_keys_in(const struct looking *looking,
                             const struct run *run)
{
    unsigned count =
        looking->hashed ? RULE_HASH_HALVES : looking->find->rule->column_count;
    struct run_keys keys = run_keys_all(run);

    for (unsigned i = 0; i < count; i++)
        keys = run_keys_equal(run, keys, i, looking->values[i]);
    return keys;
}

/* The same of all rows; false: no memory. */
static bool list_keys(struct looking *looking, const struct run *run,
                      struct vector *keys)
{
    bool done = true;

    for (uint64_t i = looking->first;
         i < looking->first + looking->count && done; i++) {
        struct run_keys some;
        if (!rule_take_values(looking, i))
            continue;
        some = rule_keys_in(looking, run);
        done = vector_append(keys, &some, 1);
    }
    return done;
}

/* Reads what is needed of a run in the file. NULL: there is nothing of use. */
static enum vdbq_status read_part(struct looking *looking,
                                  const struct run_ref *ref,
                                  struct run_tablet of, struct run **run)
{
    struct vector keys = VECTOR(struct run_keys);
    struct run_pages pages;
    bool sound;
    enum vdbq_status status = run_pages_open(looking->find->database, ref, of,
                                             &pages, &sound, looking->error);

    if (status == VDBQ_OK && sound) {
        status = list_keys(looking, &pages.run, &keys)
                     ? run_pages_find(&pages, &keys, NULL, run, looking->error)
                     : error_no_memory(looking->error);
    }
    vector_finish(&keys);
    run_pages_close(&pages);
    return status;
}

static struct index_of index_of(const struct rule_find *find)
{
    return (struct index_of){ .database = find->database,
                              .catalogue = find->catalogue,
                              .table = find->table,
                              .index = find->rule->keyed };
}

/* Makes the run of the base. */
static enum vdbq_status make_run(struct looking *looking,
                                 const struct run_want *want, struct run **run)
{
    const struct index_of of = index_of(looking->find);
    const struct tablet_ref base = tablet_base(looking->tablet);
    enum vdbq_status status;

    if (looking->hashed)
        return rule_hash_run(looking, run);
    status = rule_read_base(looking);
    if (status != VDBQ_OK)
        return status;
    if (of.index != NULL)
        return index_run(&of, &base, looking->base.bytes, want->count, run,
                         looking->error);
    *run = run_make(looking->base.bytes, want->columns, want->count);
    return *run != NULL ? VDBQ_OK : stop_or_no_memory(looking->error);
}

/* Reads or makes a run; `*whole`: it is worth to be kept. */
static enum vdbq_status bring_run(struct looking *looking,
                                  const struct run_want *want, bool *whole,
                                  struct run **run)
{
    const struct rule_find *find = looking->find;
    struct run_cache *cache = find->database->runs;
    const struct run_ref *ref = catalogue_run(
        find->catalogue, want->tablet->identity, want->columns, want->count);
    const struct run_tablet of = { want->tablet->rows,
                                   index_is_partial(find->rule->keyed) };
    enum vdbq_status status = VDBQ_OK;

    *run = NULL;
    *whole =
        ref == NULL || (cache != NULL && run_cache_pays(cache, want, true));
    if (ref != NULL)
        status = *whole ? run_load(find->database, ref, of, NULL, run,
                                   looking->error)
                        : read_part(looking, ref, of, run);
    if (status != VDBQ_OK || *run != NULL)
        return status;
    *whole = true;
    return make_run(looking, want, run);
}

/* Whether to make a run of hashes, four times the work of a look at all rows, pays. */
static bool pays(const struct looking *looking, const struct run_want *want)
{
    struct database *database = looking->find->database;

    return database->runs != NULL
           && (uint64_t)want->tablet->rows * HASH_BYTES <= most_bytes(database)
           && run_cache_pays(database->runs, want, false);
}

/* The tablet's base, by the name that a run has of one that has that identity. */
static struct tablet_ref name_of(const struct looking *looking,
                                 struct identity identity)
{
    const struct unique_rule *rule = looking->find->rule;
    struct tablet_ref base = tablet_base(looking->tablet);

    base.identity = looking->hashed ? rule_hash_identity(rule, identity)
                                    : index_identity(rule->keyed, identity);
    return base;
}

/* ... by the name that its own run has. */
static struct tablet_ref named_base(const struct looking *looking)
{
    return name_of(looking, tablet_base(looking->tablet).identity);
}

enum vdbq_status rule_base_run(struct looking *looking, const struct run **run,
                               struct run **own)
{
    struct database *database = looking->find->database;
    struct run_cache *cache = database->runs;
    const struct tablet_ref base = named_base(looking);
    const struct run_want want = { .tablet = &base,
                                   .columns = looking->columns,
                                   .count = looking->find->rule->column_count };
    enum vdbq_status status;
    bool whole;

    *own = NULL;
    *run = cache != NULL ? run_cache_find(cache, &want) : NULL;
    if (*run != NULL || (looking->hashed && !pays(looking, &want)))
        return VDBQ_OK;
    status = bring_run(looking, &want, &whole, own);
    *run = *own;
    if (status == VDBQ_OK && whole && cache != NULL
        && run_cache_keep(cache, &want, *own, most_bytes(database)))
        *own = NULL;
    return status;
}

/* ---------------------------------------------------------------- edits -- */

const unsigned *rule_reads(const struct unique_rule *rule, unsigned *count)
{
    const struct index_keys *keys =
        rule->keyed != NULL ? rule->keyed->keys : NULL;

    *count = keys != NULL ? keys->read_count : rule->column_count;
    return keys != NULL ? keys->reads : unique_rule_columns(rule);
}

/* Makes the run of rows to which an edit gives other values of columns. */
static enum vdbq_status make_columns(struct looking *looking,
                                     const struct edit *edit, struct run **run)
{
    struct edited_run_of of = { .table = looking->find->table,
                                .columns = looking->columns,
                                .count = looking->find->rule->column_count,
                                .edit = edit };
    enum vdbq_status status = of.count > 1 ? rule_read_base(looking) : VDBQ_OK;

    of.base = looking->base.bytes;
    *run = status == VDBQ_OK ? edited_run(&of) : NULL;
    return status == VDBQ_OK && *run == NULL ? stop_or_no_memory(looking->error)
                                             : status;
}

static enum vdbq_status make_edited(struct looking *looking,
                                    const struct edit *edit, struct run **run)
{
    const struct index_of of = index_of(looking->find);
    const struct tablet_ref base = tablet_base(looking->tablet);

    if (looking->hashed)
        return rule_hash_edited(looking, edit, run);
    if (of.index == NULL)
        return make_columns(looking, edit, run);
    return index_run_edited(&of, &base, edit, looking->base.bytes,
                            looking->find->rule->column_count, run,
                            looking->error);
}

enum vdbq_status rule_edited_run(struct looking *looking, unsigned level,
                                 const struct run **run, struct run **own)
{
    const struct database *database = looking->find->database;
    const struct unique_rule *rule = looking->find->rule;
    unsigned count;
    const unsigned *columns = rule_reads(rule, &count);
    const struct edit *edit =
        edited_level(looking->tablet->edit, columns, count, level);
    struct tablet_ref named;
    const struct run_want want = { .tablet = &named,
                                   .columns = looking->columns,
                                   .count = rule->column_count };
    enum vdbq_status status;

    *own = NULL;
    *run = NULL;
    if (edit == NULL)
        return VDBQ_OK;
    named = name_of(looking, edited_name(edit, level));
    if (database->runs != NULL)
        *run = edited_run_find(database->runs, &want, edit);
    if (*run != NULL)
        return VDBQ_OK;
    status = make_edited(looking, edit, own);
    *run = *own;
    if (status == VDBQ_OK && database->runs != NULL
        && edited_run_keep(database->runs, &want, edit, *own,
                           most_bytes(database)))
        *own = NULL;
    return status;
}

/* -------------------------------------------------------------- sieves -- */

void rule_sieve_ask(struct looking *looking)
{
    struct run_cache *cache = looking->find->database->runs;

    if (cache != NULL && looking->count == 1
        && looking->find->table->tablet_count >= RUN_SIEVED_TABLETS
        && rule_take_values(looking, looking->first)
        && looking->values[0].exact)
        looking->asked = run_cache_ask(
            cache, &(uint64_t){ hash_number(looking->values[0].value) }, 1);
}

bool rule_sieve_lacks(const struct looking *looking)
{
    struct tablet_ref base;
    const struct run_want want = { .tablet = &base,
                                   .columns = looking->columns,
                                   .count = looking->find->rule->column_count };

    if (looking->asked == 0)
        return false;
    base = named_base(looking);
    return run_cache_lacks(looking->find->database->runs, &want,
                           looking->asked);
}

void rule_sieve_note(const struct looking *looking)
{
    const struct database *database = looking->find->database;
    struct tablet_ref base;
    const struct run_want want = { .tablet = &base,
                                   .columns = looking->columns,
                                   .count = looking->find->rule->column_count };

    if (looking->asked == 0)
        return;
    base = named_base(looking);
    run_cache_vain(database->runs, &want, most_bytes(database), run_hash_number,
                   NULL);
}
