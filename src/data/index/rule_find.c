/* SPDX-License-Identifier: MIT */
/*
 * Rows that are found by runs: rule_find.h. Where a tablet has an edit, the run
 * of its base tells of rows whose columns are as they were; those that have new
 * values are looked through.
 */
#include "data/index/rule_find.h"

#include <assert.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/database/database_inner.h"
#include "data/index/index_run.h"
#include "data/index/rule_values.h"
#include "data/index/run_pages.h"
#include "data/tablet/block.h"

enum {
    MEMORY_PART = 8, /* of the host's, for runs ... */
    RUNS_MAX = 1 << 28,
    SEARCHED_ROWS_MAX = 64,
    SEARCHED_TABLE_MIN = HOSTILE(4, 1 << 16), /* rows ... */
    COMPUTED_TABLE_MIN =
        HOSTILE(4, 1 << 12) /* ... of which keys are computed */
};

/* A tablet that is looked into. */
struct looking {
    const struct rule_find *find;
    const unsigned *columns;                  /* of the rule */
    struct run_value values[RUN_COLUMNS_MAX]; /* one a column */
    struct unique_hash hash; /* of the row, by a rule of keys        */
    const struct tablet_ref *tablet;
    struct block base; /* of the tablet; without bytes: it was not needed */
    struct vector *numbers;
    struct error *error;
};

bool rule_findable(const struct unique_rule *rule)
{
    const unsigned *columns = unique_rule_columns(rule);
    bool findable = rule->column_count <= RUN_COLUMNS_MAX;

    for (unsigned i = 0; i < rule->column_count && findable; i++)
        findable =
            rule->keyed != NULL || rule->of[columns[i]].type != VDBQ_TEXT;
    return findable;
}

bool rule_is_searched(const struct rule_find *find, uint64_t rows)
{
    uint64_t least =
        find->rule->keyed != NULL ? COMPUTED_TABLE_MIN : SEARCHED_TABLE_MIN;

    return rows <= SEARCHED_ROWS_MAX && find->table->rows > least;
}

/* --------------------------------------------------------------- values -- */

/* A value that is not NULL. */
static struct run_value value_at(const struct vdbq_vector *vector, uint64_t row)
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
               : value_at(vector, row);
}

/* What is looked for; false: a value is NULL, and no row is like it. */
static bool take_values(struct looking *looking,
                        const struct vdbq_vector *vectors, uint64_t row)
{
    const struct unique_rule *rule = looking->find->rule;

    for (unsigned i = 0; i < rule->column_count; i++) {
        const struct vdbq_vector *vector = &vectors[looking->columns[i]];
        if (vector_null(vector, row))
            return false;
        looking->values[i] =
            rule->keyed != NULL
                ? key_at(&rule->of[looking->columns[i]], vector, row)
                : value_at(vector, row);
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

/* Reads the base of the tablet, once. */
static enum vdbq_status read_base(struct looking *looking)
{
    const struct tablet_ref base = tablet_base(looking->tablet);

    return looking->base.bytes != NULL
               ? VDBQ_OK
               : tablet_load(looking->find->database, looking->find->table,
                             &base, &looking->base, looking->error);
}

/* The keys of a run that rows have which are looked for. */
static struct run_keys keys_in(const struct looking *looking,
                               const struct run *run)
{
    struct run_keys keys = run_keys_all(run);

    for (unsigned i = 0; i < looking->find->rule->column_count; i++)
        keys = run_keys_equal(run, keys, i, looking->values[i]);
    return keys;
}

/* Reads what is needed of a run in the file. NULL: there is nothing of use. */
static enum vdbq_status read_part(const struct looking *looking,
                                  const struct run_ref *ref,
                                  struct run_tablet of, struct run **run)
{
    struct vector keys = VECTOR(struct run_keys);
    struct run_keys some;
    struct run_pages pages;
    bool sound;
    enum vdbq_status status = run_pages_open(looking->find->database, ref, of,
                                             &pages, &sound, looking->error);

    if (status == VDBQ_OK && sound) {
        some = keys_in(looking, &pages.run);
        status = vector_append(&keys, &some, 1)
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
    enum vdbq_status status = read_base(looking);

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

/* The base's run or the part of it that is needed, which the cache keeps, or
 * (`*own`) the caller has to destroy. */
static enum vdbq_status get_run(struct looking *looking, const struct run **run,
                                struct run **own)
{
    struct database *database = looking->find->database;
    struct run_cache *cache = database->runs;
    struct tablet_ref base = tablet_base(looking->tablet);
    const struct run_want want = { .tablet = &base,
                                   .columns = looking->columns,
                                   .count = looking->find->rule->column_count };
    enum vdbq_status status;
    bool whole;

    base.identity = index_identity(looking->find->rule->keyed, base.identity);
    *own = NULL;
    *run = cache != NULL ? run_cache_find(cache, &want) : NULL;
    if (*run != NULL)
        return VDBQ_OK;
    status = bring_run(looking, &want, &whole, own);
    *run = *own;
    if (status == VDBQ_OK && whole && cache != NULL
        && run_cache_keep(cache, &want, *own, most_bytes(database)))
        *own = NULL;
    return status;
}

/* ----------------------------------------------------------------- base -- */

/* The number of the row at a place of the base that is left. */
static uint64_t number_of(const struct looking *looking, uint32_t place)
{
    const struct edit *edit = looking->tablet->edit;
    uint64_t number = looking->tablet->row_first + place;
    bool gone;

    return edit != NULL ? number - edit_gone_before(edit, place, &gone)
                        : number;
}

static bool is_passed_over(const struct looking *looking, uint32_t place)
{
    const uint64_t *except = looking->find->except;

    return except != NULL && *except == number_of(looking, place);
}

/* Adds it. */
static enum vdbq_status add(const struct looking *looking, uint32_t place)
{
    uint64_t number = number_of(looking, place);

    if (is_passed_over(looking, place))
        return VDBQ_OK;
    return vector_append(looking->numbers, &number, 1)
               ? VDBQ_OK
               : error_no_memory(looking->error);
}

/* Whether one of the first columns of the rule has a new value at a place. */
static bool is_new(const struct looking *looking, unsigned columns,
                   uint32_t place)
{
    const struct index *keyed = looking->find->rule->keyed;
    bool found = false;
    uint32_t at;

    if (keyed != NULL)
        return index_is_edited(keyed, looking->tablet->edit, place);

    for (unsigned i = 0; i < columns && !found; i++) {
        const struct edit_column *news =
            edit_column(looking->tablet->edit, looking->columns[i]);
        found = news != NULL && edit_find(news, place, &at);
    }
    return found;
}

/* Whether the row at a place is there, with the values of the base. */
static bool is_left(const struct looking *looking, uint32_t place)
{
    bool gone;

    if (looking->tablet->edit == NULL)
        return true;
    edit_gone_before(looking->tablet->edit, place, &gone);
    return !gone && !is_new(looking, looking->find->rule->column_count, place);
}

/* Whether a row, whose columns are there, has the keys that are looked for. */
static enum vdbq_status compare_keys(const struct looking *looking,
                                     const struct vdbq_vector *vectors,
                                     bool *has)
{
    const struct rule_find *find = looking->find;
    const struct rule_source source = { find->database, find->catalogue,
                                        find->table };
    struct rule_values values;
    struct unique_hash hash;
    enum vdbq_status status = rule_values_make(&source, find->rule, 1, vectors,
                                               &values, looking->error);

    *has = status == VDBQ_OK
           && unique_hash_row(find->rule, values.vectors, 0, &hash)
           && hash.low == looking->hash.low && hash.high == looking->hash.high;
    rule_values_finish(&values);
    return status;
}

/* Whether the row at a place has them, and not only what runs have of them. */
static enum vdbq_status has_keys(struct looking *looking, uint32_t place,
                                 bool *has)
{
    const struct index_keys *keys = looking->find->rule->keyed->keys;
    struct vector places = VECTOR(uint32_t);
    struct values_at at = { .table = looking->find->table,
                            .columns = keys->reads,
                            .column_count = keys->read_count,
                            .edit = looking->tablet->edit,
                            .places = &places };
    struct arena arena = { 0 };
    struct vdbq_vector *vectors =
        memory_zeroed(at.table->column_count, sizeof *vectors);
    enum vdbq_status status = read_base(looking);

    at.block = looking->base.bytes;
    if (status == VDBQ_OK
        && (vectors == NULL || !vector_append(&places, &place, 1)
            || !values_at(&at, &arena, vectors)))
        status = error_no_memory(looking->error);
    if (status == VDBQ_OK)
        status = compare_keys(looking, vectors, has);
    vector_finish(&places);
    arena_finish(&arena);
    memory_release(vectors);
    return status;
}

/* Whether the keys of a rule are in runs as they are. */
static bool is_exact(const struct unique_rule *rule)
{
    bool exact = true;

    for (unsigned i = 0; rule->keyed != NULL && i < rule->column_count; i++)
        exact &= rule->of[i].type != VDBQ_TEXT;
    return exact;
}

/* Adds the row at a place that was found. */
static enum vdbq_status add_found(struct looking *looking, uint32_t place)
{
    bool has = true;
    enum vdbq_status status = VDBQ_OK;

    if (!is_exact(looking->find->rule) && !is_passed_over(looking, place))
        status = has_keys(looking, place, &has);
    return status == VDBQ_OK && has ? add(looking, place) : status;
}

/* Adds rows of the base: those at places of its run. */
static enum vdbq_status find_in_base(struct looking *looking)
{
    const struct run *run;
    struct run *own;
    uint32_t begin, end;
    enum vdbq_status status = get_run(looking, &run, &own);

    if (status != VDBQ_OK)
        return status;
    end = run_find(run, keys_in(looking, run), 0, &begin);
    for (; begin < end && status == VDBQ_OK; begin++)
        if (is_left(looking, run_row(run, begin)))
            status = add_found(looking, run_row(run, begin));
    run_destroy(own);
    return status;
}

/* ----------------------------------------------------------------- edit -- */

/* Whether the base has the value of a column at a place. */
static enum vdbq_status base_has(struct looking *looking, unsigned i,
                                 uint32_t place, bool *has)
{
    unsigned column = looking->columns[i];
    enum vdbq_status status = read_base(looking);
    uint64_t value[1];

    if (status != VDBQ_OK)
        return status;
    *has = !tablet_null(looking->base.bytes, column, place);
    tablet_values_pick(looking->base.bytes, column, &place, 1, value);
    run_order_values(value, 1,
                     type_machine(looking->find->table->columns[column].type));
    *has = *has && value[0] == looking->values[i].value;
    return VDBQ_OK;
}

/* Whether the row at a place has all values. */
static enum vdbq_status has_all(struct looking *looking, uint32_t place,
                                bool *has)
{
    enum vdbq_status status = VDBQ_OK;
    uint32_t at;

    *has = true;
    for (unsigned i = 0;
         i < looking->find->rule->column_count && *has && status == VDBQ_OK;
         i++) {
        const struct edit_column *news =
            edit_column(looking->tablet->edit, looking->columns[i]);
        if (news != NULL && edit_find(news, place, &at))
            *has = !vector_null(&news->values, at)
                   && value_at(&news->values, at).value
                          == looking->values[i].value;
        else
            status = base_has(looking, i, place, has);
    }
    return status;
}

/* Adds rows with new values: those of a column, but where a column before it has
 * one, too. */
static enum vdbq_status find_in_column(struct looking *looking, unsigned i)
{
    const struct edit_column *news =
        edit_column(looking->tablet->edit, looking->columns[i]);
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t at = 0; news != NULL && at < news->count && status == VDBQ_OK;
         at++) {
        bool has =
            !vector_null(&news->values, at)
            && value_at(&news->values, at).value == looking->values[i].value
            && !is_new(looking, i, news->places[at]);
        if (has)
            status = has_all(looking, news->places[at], &has);
        if (has && status == VDBQ_OK)
            status = add(looking, news->places[at]);
    }
    return status;
}

/* The run of rows with new keys, which the cache keeps, or (`*own`) the caller has
 * to destroy. */
static enum vdbq_status get_edited(struct looking *looking,
                                   const struct run **run, struct run **own)
{
    const struct index_of of = index_of(looking->find);
    struct database *database = of.database;
    struct tablet_ref edited = *looking->tablet;
    const struct run_want want = { .tablet = &edited,
                                   .columns = looking->columns,
                                   .count = looking->find->rule->column_count };
    enum vdbq_status status;

    edited.identity = index_identity(of.index, edited.identity);
    *own = NULL;
    *run =
        database->runs != NULL ? run_cache_find(database->runs, &want) : NULL;
    if (*run != NULL)
        return VDBQ_OK;
    status = index_run_edited(&of, looking->tablet, looking->base.bytes,
                              want.count, own, looking->error);
    *run = *own;
    if (status == VDBQ_OK && database->runs != NULL
        && run_cache_keep(database->runs, &want, *own, most_bytes(database)))
        *own = NULL;
    return status;
}

/* Adds rows with new keys. */
static enum vdbq_status find_edited(struct looking *looking)
{
    const struct run *run;
    struct run *own;
    uint32_t begin, end;
    enum vdbq_status status = get_edited(looking, &run, &own);

    if (status != VDBQ_OK)
        return status;
    end = run_find(run, keys_in(looking, run), 0, &begin);
    for (; begin < end && status == VDBQ_OK; begin++)
        status = add_found(looking, run_row(run, begin));
    run_destroy(own);
    return status;
}

static enum vdbq_status find_in_edit(struct looking *looking)
{
    enum vdbq_status status = VDBQ_OK;

    if (looking->find->rule->keyed != NULL)
        return looking->tablet->edit != NULL ? find_edited(looking) : VDBQ_OK;
    for (unsigned i = 0;
         looking->tablet->edit != NULL && i < looking->find->rule->column_count
         && status == VDBQ_OK;
         i++)
        status = find_in_column(looking, i);
    return status;
}

/* ---------------------------------------------------------------- tablets -- */

/* Whether the facts of a tablet leave the values open. */
static bool may_have(const struct looking *looking)
{
    bool open = true;

    if (looking->find->rule->keyed != NULL)
        return true;
    for (unsigned i = 0; i < looking->find->rule->column_count && open; i++) {
        unsigned column = looking->columns[i];
        const struct column_facts *facts = &looking->tablet->facts[column];
        bool real = type_is_real(looking->find->table->columns[column].type);
        struct run_value low = real ? run_value_real(facts->minimum_real)
                                    : run_value_integer(facts->minimum);
        struct run_value high = real ? run_value_real(facts->maximum_real)
                                     : run_value_integer(facts->maximum);
        open = !facts->empty && low.value <= looking->values[i].value
               && looking->values[i].value <= high.value;
    }
    return open;
}

static enum vdbq_status look_into(struct looking *looking)
{
    enum vdbq_status status = edit_check(looking->tablet->edit, looking->error);

    if (status == VDBQ_OK)
        status = find_in_base(looking);
    if (status == VDBQ_OK)
        status = find_in_edit(looking);
    block_destroy(&looking->base);
    looking->base = (struct block){ 0 };
    return status;
}

enum vdbq_status rule_find(const struct rule_find *find,
                           const struct vdbq_vector *vectors, uint64_t row,
                           struct vector *numbers, struct error *error)
{
    struct looking looking = { .find = find,
                               .columns = unique_rule_columns(find->rule),
                               .numbers = numbers,
                               .error = error };
    enum vdbq_status status = VDBQ_OK;

    if (!take_values(&looking, vectors, row))
        return VDBQ_OK;
    for (size_t i = 0; i < find->table->tablet_count && status == VDBQ_OK;
         i++) {
        looking.tablet = &find->table->tablets[i];
        if (may_have(&looking))
            status = look_into(&looking);
    }
    return status;
}
