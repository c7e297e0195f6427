/* SPDX-License-Identifier: MIT */
/*
 * Which columns are unique, the hashes of their rows, and the sets that are
 * made of a table's rows.
 */
#include "data/rule/unique.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/tablet/block.h"
#include "data/database/rows.h"
#include "data/rule/rule_values.h"

enum {
    HASHES_MOST = HOSTILE(70, 1 << 16), /* that are computed before they are
                                           added                     */
    FOLDED_ONCE = 256,                  /* bytes of a text's key     */
    HASHES_FEW = 64,                    /* ... without memory for them  */
    HASHES_AHEAD = 16,                  /* whose places are asked for early */
    SETS_MAX = 64,                      /* that are kept                */
    SHOWN_MAX = 64                      /* bytes of a text in a message */
};

static enum vdbq_status fill_set(struct unique_set *set,
                                 const struct rule_source *source,
                                 const struct unique_rule *rule,
                                 struct error *error);

/* ----------------------------------------------------------------- rules -- */

/* A rule of one column has no list. */
const unsigned *unique_rule_columns(const struct unique_rule *rule)
{
    return rule->columns != NULL ? rule->columns : &rule->column;
}

static unsigned rule_column(const struct unique_rule *rule, unsigned i)
{
    assert(i < rule->column_count);
    return unique_rule_columns(rule)[i];
}

enum collation unique_rule_collation(const struct unique_rule *rule, unsigned i)
{
    return rule->collations != NULL ? rule->collations[i]
                                    : rule->of[rule_column(rule, i)].collation;
}

/* In the same order, too. What is computed is another rule each time. */
static bool same_columns(const struct unique_rule *a,
                         const struct unique_rule *b)
{
    bool same = a->column_count == b->column_count && a->keyed == NULL
                && b->keyed == NULL;

    for (unsigned i = 0; same && i < a->column_count; i++)
        same = rule_column(a, i) == rule_column(b, i)
               && unique_rule_collation(a, i) == unique_rule_collation(b, i);
    return same;
}

/* Adds a rule, unless another says the same. */
static bool add_rule(struct vector *rules, const struct unique_rule *rule)
{
    for (size_t i = 0; i < rules->count; i++)
        if (same_columns(vector_at(rules, i), rule))
            return true;
    return vector_append(rules, rule, 1);
}

struct unique_rule unique_rule_of(const struct index *index,
                                  const struct table *table)
{
    return (struct unique_rule){ .index = index->name,
                                 .keyed = index->keys != NULL ? index : NULL,
                                 .column_count = index->column_count,
                                 .columns = index->columns,
                                 .of = index_columns(index, table),
                                 .collations = index->collations };
}

bool unique_rules(const struct catalogue *catalogue, const struct table *table,
                  bool keyed, struct vector *rules)
{
    bool added = true;

    *rules = VECTOR(struct unique_rule);
    for (unsigned i = 0; i < table->column_count && added; i++)
        if (i == table->key ? keyed : table->columns[i].unique)
            added =
                add_rule(rules, &(struct unique_rule){ .column_count = 1,
                                                       .column = i,
                                                       .of = table->columns });
    for (unsigned i = 0; i < table->unique_count && added; i++)
        added =
            add_rule(rules, &(struct unique_rule){
                                .column_count = table->uniques[i].column_count,
                                .columns = table->uniques[i].columns,
                                .of = table->columns });
    for (size_t i = 0; i < catalogue->index_count && added; i++) {
        const struct index *index = &catalogue->indexes[i];
        const struct unique_rule rule = unique_rule_of(index, table);
        if (index->unique && index->table_id == table->id)
            added = add_rule(rules, &rule);
    }
    return added;
}

bool unique_rule_reads(const struct unique_rule *rule, const bool *columns)
{
    bool reads = rule->keyed != NULL && index_reads(rule->keyed, columns);

    for (unsigned i = 0; rule->keyed == NULL && i < rule->column_count; i++)
        reads |= columns[rule_column(rule, i)];
    return reads;
}

/* ------------------------------------------------------------------ hash -- */

/* The bytes of a value; equal values have equal ones. `room` is for those
 * that are not as they are stored. False: it is NULL. */
static bool value_bytes(const struct vdbq_vector *vector, uint64_t row,
                        double *room, struct vdbq_text *bytes)
{
    const void *values = vector->values;

    if (vector->nulls != NULL && vector->nulls[row] != 0)
        return false;
    *bytes = (struct vdbq_text){ (const char *)room, sizeof *room };
    switch (type_machine(vector->type)) {
    case TYPE_WORD:
        *bytes = ((const struct vdbq_text *)values)[row];
        return true;
    case TYPE_I32:
        *bytes = (struct vdbq_text){ (const char *)values + row * 4, 4 };
        return true;
    case TYPE_I64:
        *bytes = (struct vdbq_text){ (const char *)values + row * 8, 8 };
        return true;
    case TYPE_F32:
        *room = (double)((const float *)values)[row];
        break;
    default:
        *room = ((const double *)values)[row];
        break;
    }
    *room = *room == 0 ? 0 : *room;
    return !isnan(*room);
}

/* The hash of a text's key, of which a part is made at a time. */
static XXH128_hash_t hash_folded(enum collation collation, const char *bytes,
                                 size_t length)
{
    XXH128_hash_t parts[2] = { { 0, 0 }, { 0, 0 } };
    char key[FOLDED_ONCE];

    for (size_t at = 0, count; at < length; at += count) {
        count = length - at < sizeof key ? length - at : sizeof key;
        collation_fold(collation, bytes + at, count, key);
        parts[1] = XXH3_128bits(key, count);
        parts[0] = XXH3_128bits(parts, sizeof parts);
    }
    return parts[0];
}

/* The hash of a value; `collation` is BINARY unless it is a text. */
static XXH128_hash_t hash_value(enum collation collation,
                                struct vdbq_text bytes)
{
    size_t length = collation_length(collation, bytes.bytes, bytes.length);

    return collation == COLLATION_NOCASE
               ? hash_folded(collation, bytes.bytes, length)
               : XXH3_128bits(bytes.bytes, length);
}

bool unique_hash_row(const struct unique_rule *rule,
                     const struct vdbq_vector *vectors, uint64_t row,
                     struct unique_hash *hash)
{
    assert(rule->column_count > 0);
    XXH128_hash_t parts[2] = { { 0, 0 }, { 0, 0 } };

    for (unsigned i = 0; i < rule->column_count; i++) {
        struct vdbq_text bytes;
        double room;
        if (!value_bytes(&vectors[rule_column(rule, i)], row, &room, &bytes))
            return false;
        parts[1] = hash_value(unique_rule_collation(rule, i), bytes);
        parts[0] = XXH3_128bits(parts, sizeof parts);
    }
    *hash = (struct unique_hash){ parts[0].low64, parts[0].high64 };
    if (hash->low == 0 && hash->high == 0)
        hash->low = 1;
    return true;
}

int unique_hashed_compare(const void *left, const void *right)
{
    const struct unique_hashed *a = left, *b = right;

    if (a->hash.high != b->hash.high)
        return a->hash.high < b->hash.high ? -1 : 1;
    if (a->hash.low != b->hash.low)
        return a->hash.low < b->hash.low ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* -------------------------------------------------------- of the database -- */

/* What tells the keys of an index from those of others; 0: it has none. */
static uint64_t rule_origin(const struct unique_rule *rule)
{
    return rule->keyed != NULL ? rule->keyed->keys->origin : 0;
}

/* Whether the set holds the hashes of this rule. */
static bool is_for(const struct unique_set *set, const struct table *table,
                   const struct unique_rule *rule)
{
    if (set->table_id != table->id || set->origin != rule_origin(rule))
        return false;
    if (rule->keyed != NULL)
        return true;
    if (set->column_count != rule->column_count)
        return false;
    for (unsigned i = 0; i < rule->column_count; i++)
        if (set->columns[i].number != rule_column(rule, i)
            || set->columns[i].collation != unique_rule_collation(rule, i))
            return false;
    return true;
}

/* The set that was not used for longest, of those that can be made again;
 * NULL: there is none, or there is room for more. */
static struct unique_set *oldest_set(const struct database *database)
{
    struct unique_set *sets = database->unique_sets.items, *oldest = NULL;

    if (database->unique_sets.count < SETS_MAX)
        return NULL;
    for (size_t i = 0; i < database->unique_sets.count; i++)
        if (!sets[i].grown && (oldest == NULL || sets[i].used < oldest->used))
            oldest = &sets[i];
    return oldest;
}

/* What a set is of: the columns that it reads. */
static bool name_set(const struct table *table, const struct unique_rule *rule,
                     struct unique_set *set)
{
    const struct index_keys *keys = rule->keyed ? rule->keyed->keys : NULL;
    unsigned count = keys != NULL ? keys->read_count : rule->column_count;

    set->columns = memory_zeroed(count + (size_t)1, sizeof *set->columns);
    if (set->columns == NULL)
        return false;
    set->table_id = table->id;
    set->origin = rule_origin(rule);
    set->column_count = count;
    for (unsigned i = 0; i < count; i++)
        set->columns[i] =
            keys != NULL
                ? (struct unique_column){ keys->reads[i], COLLATION_BINARY }
                : (struct unique_column){ rule_column(rule, i),
                                          unique_rule_collation(rule, i) };
    return true;
}

/* Takes the place of the set that was not used for longest. */
static struct unique_set *add_set(struct database *database,
                                  const struct table *table,
                                  const struct unique_rule *rule)
{
    struct unique_set *set = oldest_set(database);

    if (set != NULL)
        unique_set_finish(set);
    else
        set = vector_add(&database->unique_sets);
    return set != NULL && name_set(table, rule, set) ? set : NULL;
}

/* The set of this rule, or NULL. */
static struct unique_set *find_set(const struct database *database,
                                   const struct table *table,
                                   const struct unique_rule *rule)
{
    struct unique_set *sets = database->unique_sets.items;

    for (size_t i = 0; i < database->unique_sets.count; i++)
        if (is_for(&sets[i], table, rule))
            return &sets[i];
    return NULL;
}

/* Whether the set holds the rows that the table has now. */
static bool is_of(const struct unique_set *set, const struct table *table)
{
    return set->made && identity_equal(set->of, table->state);
}

bool unique_set_known(const struct database *database,
                      const struct table *table, const struct unique_rule *rule)
{
    const struct unique_set *set = find_set(database, table, rule);

    return set != NULL && is_of(set, table);
}

enum vdbq_status unique_set_of(struct database *database,
                               const struct catalogue *catalogue,
                               const struct table *table,
                               const struct unique_rule *rule,
                               struct unique_set **set, struct error *error)
{
    const struct rule_source source = { database, catalogue, table };
    struct unique_set *found = find_set(database, table, rule);

    *set = NULL;
    if (found == NULL)
        found = add_set(database, table, rule);
    if (found == NULL)
        return error_no_memory(error);
    found->used = ++database->unique_calls;
    *set = found;
    if (is_of(found, table))
        return VDBQ_OK;
    return fill_set(found, &source, rule, error);
}

/* Rows whose hashes threads compute. */
struct hashing {
    const struct unique_rule *rule;
    const struct vdbq_vector *vectors;
    uint64_t first, count;
    unsigned threads;
    struct unique_hash *hashes; /* of each row; both 0: a value is NULL */
};

/* One thread's share of them. */
static void hash_share(void *context, unsigned share)
{
    const struct hashing *hashing = context;
    uint64_t i = hashing->count * share / hashing->threads;
    uint64_t end = hashing->count * (share + 1) / hashing->threads;
    for (; i < end && !stop_at(i); i++)
        if (!unique_hash_row(hashing->rule, hashing->vectors,
                             hashing->first + i, &hashing->hashes[i]))
            hashing->hashes[i] = (struct unique_hash){ 0, 0 };
}

/* Adds hashed rows to a set. */
static enum vdbq_status add_hashed(struct unique_set *set,
                                   const struct table *table,
                                   const struct hashing *hashing, bool grows,
                                   struct error *error)
{
    for (uint64_t i = 0; i < hashing->count; i++) {
        struct unique_hash hash = hashing->hashes[i];
        if (i + HASHES_AHEAD < hashing->count)
            unique_set_fetch(set, hashing->hashes[i + HASHES_AHEAD]);
        if (stop_at(i))
            return error_cancelled(error);
        if (hash.low == 0 && hash.high == 0)
            continue;
        if (unique_set_has(set, hash))
            return unique_twice(table, hashing->rule, hashing->vectors,
                                hashing->first + i, error);
        set->grown |= grows;
        if (!unique_set_add(set, hash))
            return stop_or_no_memory(error);
    }
    return VDBQ_OK;
}

enum vdbq_status unique_set_take(struct unique_set *set,
                                 const struct table *table,
                                 const struct unique_rule *rule,
                                 const struct vdbq_vector *vectors,
                                 uint64_t count, bool grows,
                                 struct error *error)
{
    struct unique_hash few[HASHES_FEW];
    uint64_t room = count < HASHES_MOST ? count : HASHES_MOST;
    struct hashing hashing = { .rule = rule, .vectors = vectors };
    bool many = parallel_threads(PARALLEL_THREADS_MAX, count) > 1;
    unsigned cores =
        many ? os_cores() : 1; /* which reads files of the system */
    enum vdbq_status status = VDBQ_OK;
    hashing.hashes = count <= HASHES_FEW
                         ? few
                         : memory_resize(NULL, room * sizeof *hashing.hashes);
    if (hashing.hashes == NULL)
        return error_no_memory(error);
    for (uint64_t at = 0; at < count && status == VDBQ_OK;
         at += hashing.count) {
        hashing.first = at;
        hashing.count = count - at < room ? count - at : room;
        hashing.threads = parallel_threads(cores, hashing.count);
        parallel_run(hashing.threads, hash_share, &hashing);
        status = stop_pause(error);
        if (status == VDBQ_OK)
            status = add_hashed(set, table, &hashing, grows, error);
    }
    if (hashing.hashes != few)
        memory_release(hashing.hashes);
    return status;
}

/* Adds the rows of a tablet. */
static enum vdbq_status
add_tablet(struct unique_set *set, const struct rule_source *source,
           const struct unique_rule *rule, const struct tablet_ref *tablet,
           struct vdbq_vector *vectors, struct error *error)
{
    struct rule_values values = { 0 };
    struct rows rows;
    enum vdbq_status status =
        rows_load(&rows, source->database, source->table, tablet, error);

    if (status == VDBQ_OK) {
        rows_vectors(&rows, vectors);
        status =
            rule_values_make(source, rule, rows.count, vectors, &values, error);
    }
    if (status == VDBQ_OK)
        status = unique_set_take(set, source->table, rule, values.vectors,
                                 rows.count, false, error);
    rule_values_finish(&values);
    rows_finish(&rows);
    return status;
}

/* Reads the columns of all tablets. */
static enum vdbq_status fill_set(struct unique_set *set,
                                 const struct rule_source *source,
                                 const struct unique_rule *rule,
                                 struct error *error)
{
    const struct table *table = source->table;
    struct vdbq_vector *vectors =
        memory_zeroed(table->column_count, sizeof *vectors);
    enum vdbq_status status = vectors ? VDBQ_OK : error_no_memory(error);

    memory_release(set->slots);
    set->slots = NULL;
    set->capacity = set->count = 0;
    set->made = set->grown = false;
    if (status == VDBQ_OK && !unique_set_reserve(set, table->rows))
        status = stop_or_no_memory(error);
    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++)
        status =
            add_tablet(set, source, rule, &table->tablets[i], vectors, error);
    memory_release(vectors);
    set->made = status == VDBQ_OK;
    set->of = table->state;
    return status;
}

void unique_sets_settle(struct database *database,
                        const struct catalogue *catalogue)
{
    struct unique_set *sets = database->unique_sets.items;

    for (size_t i = 0; i < database->unique_sets.count; i++) {
        const struct table *table =
            catalogue ? catalogue_table_id(catalogue, sets[i].table_id) : NULL;
        if (!sets[i].grown)
            continue;
        sets[i].grown = false;
        sets[i].made &= table != NULL;
        if (table != NULL)
            sets[i].of = table->state;
    }
}

void unique_sets_forget(struct database *database, uint32_t table_id)
{
    struct unique_set *sets = database->unique_sets.items;
    size_t kept = 0;

    for (size_t i = 0; i < database->unique_sets.count; i++)
        if (sets[i].table_id == table_id)
            unique_set_finish(&sets[i]);
        else
            sets[kept++] = sets[i];
    database->unique_sets.count = kept;
}

/* --------------------------------------------------------------- message -- */

void unique_print_value(const struct column *column,
                        const struct vdbq_vector *vector, uint64_t row,
                        struct text *text)
{
    const struct vdbq_text *texts = vector->values;
    char room[TYPE_TEXT_MAX];

    if (vector->type != VDBQ_TEXT) {
        const char *values = vector->values;
        type_print(vector->type, column->scale,
                   values + row * type_bytes(vector->type), room);
        text_print(text, "%s", room);
        return;
    }
    text_add(text, "'", 1);
    text_add(text, texts[row].bytes,
             texts[row].length < SHOWN_MAX ? texts[row].length : SHOWN_MAX);
    text_print(text, "%s", texts[row].length < SHOWN_MAX ? "'" : "' ...");
}

enum vdbq_status unique_twice(const struct table *table,
                              const struct unique_rule *rule,
                              const struct vdbq_vector *vectors, uint64_t row,
                              struct error *error)
{
    struct text names = { 0 }, values = { 0 };
    bool key = rule->columns == NULL && rule->column == table->key;

    for (unsigned i = 0; i < rule->column_count; i++) {
        unsigned column = rule_column(rule, i);
        text_print(&names, "%s%s", i > 0 ? ", " : "", rule->of[column].name);
        text_print(&values, "%s", i > 0 ? ", " : "");
        unique_print_value(&rule->of[column], &vectors[column], row, &values);
    }
    if (names.failed || values.failed)
        error_no_memory(error);
    else if (rule->index != NULL)
        error_set(error, VDBQ_CONSTRAINT,
                  "table %s: the unique index %s has a value of %s twice: %s",
                  table->name, rule->index, names.bytes, values.bytes);
    else
        error_set(error, VDBQ_CONSTRAINT,
                  "table %s: the %s %s is there twice: "
                  "%s",
                  table->name,
                  key                       ? "primary key"
                  : rule->column_count == 1 ? "unique column"
                                            : "unique combination of",
                  names.bytes, values.bytes);
    text_finish(&names);
    text_finish(&values);
    return error->status;
}
