/* SPDX-License-Identifier: MIT */
/*
 * Rows by a rule with texts: rule_find.h. What a text is in a run of its column
 * only the tablet's words tell, and equal texts are several words in most
 * collations. So such a rule has runs of its own, of the rows' hashes: two rows are
 * alike where 128 bits of them are (unique_set.h).
 */
#include <assert.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/hash.h"
#include "data/index/index_run.h"
#include "data/rule/rule_looking.h"

enum { HALVES = RULE_HASH_HALVES };

/* Names of such runs are apart from those of columns. */
#define HASHES_ORIGIN UINT64_C(0x68617368656420ab)

bool rule_is_hashed(const struct unique_rule *rule)
{
    const unsigned *columns = unique_rule_columns(rule);
    bool text = false;

    for (unsigned i = 0; i < rule->column_count; i++)
        text |= rule->keyed == NULL && rule->of[columns[i]].type == VDBQ_TEXT;
    return text && rule->column_count <= RUN_COLUMNS_MAX;
}

struct identity rule_hash_identity(const struct unique_rule *rule,
                                   struct identity tablet)
{
    uint64_t of = HASHES_ORIGIN;

    assert(rule_is_hashed(rule));
    for (unsigned i = 0; i < rule->column_count; i++)
        of = hash_number(of + (uint64_t)unique_rule_collation(rule, i));
    tablet.origin ^= of;
    return tablet;
}

/* The halves of a hash, as the columns of a run have them. */
static void take_halves(struct unique_hash hash, int64_t halves[HALVES])
{
    halves[0] = (int64_t)hash.low;
    halves[1] = (int64_t)hash.high;
}

bool rule_take_hash(struct looking *looking, uint64_t row)
{
    int64_t halves[HALVES];

    if (!unique_hash_row(looking->find->rule, looking->vectors, row,
                         &looking->hash))
        return false;
    take_halves(looking->hash, halves);
    for (unsigned i = 0; i < HALVES; i++)
        looking->values[i] = run_value_integer(halves[i]);
    return true;
}

/* ----------------------------------------------------------------- base -- */

/* Hashes of those rows of a tablet of which no column is NULL. */
struct hashes {
    int64_t *numbers;        /* of these rows, ascending   */
    int64_t *halves[HALVES]; /* of the hash of each of them */
    uint32_t count;
};

static bool hashes_init(struct hashes *hashes, uint32_t rows)
{
    size_t size = rows + (size_t)1;

    *hashes = (struct hashes){ .numbers = memory_resize(
                                   NULL, size * sizeof *hashes->numbers) };
    for (unsigned i = 0; i < HALVES; i++)
        hashes->halves[i] = memory_resize(NULL, size * sizeof(int64_t));
    return hashes->numbers != NULL && hashes->halves[0] != NULL
           && hashes->halves[1] != NULL;
}

static void hashes_finish(struct hashes *hashes)
{
    memory_release(hashes->numbers);
    for (unsigned i = 0; i < HALVES; i++)
        memory_release(hashes->halves[i]);
}

/* False: it is to stop. */
static bool hash_rows(const struct unique_rule *rule, uint32_t rows,
                      const struct vdbq_vector *vectors, struct hashes *hashes)
{
    for (uint32_t row = 0; row < rows; row++) {
        struct unique_hash hash;
        int64_t halves[HALVES];
        if (stop_at(row))
            return false;
        if (!unique_hash_row(rule, vectors, row, &hash))
            continue;
        take_halves(hash, halves);
        hashes->numbers[hashes->count] = row;
        for (unsigned i = 0; i < HALVES; i++)
            hashes->halves[i][hashes->count] = halves[i];
        hashes->count++;
    }
    return true;
}

/* The run of hashes as that of the keys of an index. */
static struct run *run_of_hashes(const struct hashes *hashes,
                                 const uint32_t *places, uint32_t tablet_rows)
{
    struct column halves[HALVES] = { { .name = "low", .type = VDBQ_BIGINT },
                                     { .name = "high", .type = VDBQ_BIGINT } };
    struct index_keys keys = { .columns = halves };
    const struct index index = { .name = "hashes",
                                 .column_count = HALVES,
                                 .keys = &keys };
    const struct index_of of = { .index = &index };
    struct vdbq_vector vectors[HALVES + 1] = {
        { .type = VDBQ_BIGINT, .values = hashes->numbers },
        { .type = VDBQ_BIGINT, .values = hashes->halves[0] },
        { .type = VDBQ_BIGINT, .values = hashes->halves[1] },
    };
    const struct index_values values = { .rows = { .count = hashes->count },
                                         .vectors = vectors };

    return index_values_run(&of, &values, HALVES, places, tablet_rows);
}

/* Makes the run of rows at places of a tablet; NULL: these are all of them. */
static struct run *make_run(const struct unique_rule *rule,
                            const struct vdbq_vector *vectors, uint32_t rows,
                            const uint32_t *places, uint32_t tablet_rows)
{
    struct hashes hashes;
    struct run *run = NULL;

    if (hashes_init(&hashes, rows) && hash_rows(rule, rows, vectors, &hashes))
        run = run_of_hashes(&hashes, places, tablet_rows);
    hashes_finish(&hashes);
    return run;
}

enum vdbq_status rule_hash_run(const struct looking *looking, struct run **run)
{
    const struct rule_find *find = looking->find;
    const struct tablet_ref base = tablet_base(looking->tablet);
    struct vdbq_vector *vectors =
        memory_zeroed(find->table->column_count, sizeof *vectors);
    struct rows rows;
    enum vdbq_status status =
        rows_load(&rows, find->database, find->table, &base, looking->error);

    *run = NULL;
    if (status == VDBQ_OK && vectors != NULL) {
        rows_vectors(&rows, vectors);
        *run = make_run(find->rule, vectors, rows.count, NULL, rows.count);
    }
    rows_finish(&rows);
    memory_release(vectors);
    if (status == VDBQ_OK && *run == NULL)
        status = stop_or_no_memory(looking->error);
    return status;
}

/* The hashes that are looked for. False: no memory. */
static bool list_wanted(struct looking *looking, struct unique_set *wanted)
{
    bool done = true;

    for (uint64_t i = looking->first;
         i < looking->first + looking->count && done; i++)
        if (rule_take_hash(looking, i))
            done = unique_set_add(wanted, looking->hash);
    return done;
}

/* Lists those of the rows that have one of them. */
static enum vdbq_status list_places(const struct looking *looking,
                                    const struct rows *rows,
                                    const struct unique_set *wanted,
                                    struct vector *places)
{
    struct vdbq_vector *vectors =
        memory_zeroed(rows->column_count, sizeof *vectors);
    struct unique_hash hash;
    bool done = vectors != NULL;

    if (done)
        rows_vectors(rows, vectors);
    for (uint32_t row = 0; row < rows->count && done; row++) {
        done = !stop_at(row);
        if (done && unique_hash_row(looking->find->rule, vectors, row, &hash)
            && unique_set_has(wanted, hash))
            done = vector_append(places, &row, 1);
    }
    memory_release(vectors);
    return done ? VDBQ_OK : stop_or_no_memory(looking->error);
}

enum vdbq_status rule_hash_scan(struct looking *looking, struct vector *places)
{
    const struct rule_find *find = looking->find;
    const struct tablet_ref base = tablet_base(looking->tablet);
    struct unique_set wanted = { 0 };
    struct rows rows;
    enum vdbq_status status =
        rows_load(&rows, find->database, find->table, &base, looking->error);

    assert(looking->there == NULL);
    if (status == VDBQ_OK && !list_wanted(looking, &wanted))
        status = error_no_memory(looking->error);
    if (status == VDBQ_OK)
        status = list_places(looking, &rows, &wanted, places);
    unique_set_finish(&wanted);
    rows_finish(&rows);
    return status;
}

/* ----------------------------------------------------------------- edit -- */

/* The base, where rows with a new value may have others of it. */
static enum vdbq_status read_others(struct looking *looking)
{
    return looking->find->rule->column_count > 1 ? rule_read_base(looking)
                                                 : VDBQ_OK;
}

/* Makes the run of rows at places with an edit over them. NULL: no memory, or it is
 * to stop. */
static struct run *make_edited(const struct looking *looking,
                               const struct edit *edit,
                               const struct vector *places)
{
    const struct unique_rule *rule = looking->find->rule;
    const struct values_at at = { .table = looking->find->table,
                                  .columns = looking->columns,
                                  .column_count = rule->column_count,
                                  .edit = edit,
                                  .block = looking->base.bytes,
                                  .places = places };
    struct arena arena = { 0 };
    struct run *run = NULL;
    struct vdbq_vector *vectors =
        memory_zeroed(at.table->column_count, sizeof *vectors);

    if (vectors != NULL && values_at(&at, &arena, vectors))
        run = make_run(rule, vectors, (uint32_t)places->count, places->items,
                       edit->rows);
    arena_finish(&arena);
    memory_release(vectors);
    return run;
}

enum vdbq_status rule_hash_edited(struct looking *looking,
                                  const struct edit *edit, struct run **run)
{
    struct vector places = VECTOR(uint32_t);
    enum vdbq_status status = read_others(looking);

    *run = NULL;
    if (status == VDBQ_OK
        && edit_places(edit, looking->columns,
                       looking->find->rule->column_count, &places))
        *run = places.count > 0 ? make_edited(looking, edit, &places)
                                : run_make_empty(HALVES, edit->rows);
    vector_finish(&places);
    return status == VDBQ_OK && *run == NULL ? stop_or_no_memory(looking->error)
                                             : status;
}
