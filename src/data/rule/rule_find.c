/* SPDX-License-Identifier: MIT */
/*
 * Rows that are found by runs: rule_find.h. Where a tablet has an edit, the run
 * of its base tells of rows whose columns are as they were, and runs of the edit of
 * those that have new values (data/index/edited_run.h).
 */
#include "data/rule/rule_find.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/database/database_inner.h"
#include "data/index/index_run.h"
#include "data/rule/rule_looking.h"
#include "data/rule/rule_values.h"

bool rule_findable(const struct unique_rule *rule)
{
    const unsigned *columns = unique_rule_columns(rule);
    bool findable = rule->column_count <= RUN_COLUMNS_MAX;

    for (unsigned i = 0; i < rule->column_count && findable; i++)
        findable =
            rule->keyed != NULL || rule->of[columns[i]].type != VDBQ_TEXT;
    return findable;
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

/* Whether the row at a place is there, with the values of the base. */
static bool is_left(const struct looking *looking, uint32_t place)
{
    const struct edit *edit = looking->tablet->edit;
    unsigned count;
    const unsigned *columns = rule_reads(looking->find->rule, &count);
    bool gone;

    if (edit == NULL)
        return true;
    edit_gone_before(edit, place, &gone);
    return !gone && !edit_has_at(edit, columns, count, place);
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
    enum vdbq_status status = rule_read_base(looking);

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
    const struct run *run = looking->run;
    enum vdbq_status status = VDBQ_OK;
    uint32_t begin, end;

    end = run_find(run, rule_keys_in(looking, run), 0, &begin);
    for (; begin < end && status == VDBQ_OK; begin++)
        if (is_left(looking, run_row(run, begin)))
            status = add_found(looking, run_row(run, begin));
    return status;
}

/* Adds rows of the base that hashes tell of all of its rows. */
static enum vdbq_status scan_base(struct looking *looking)
{
    struct vector places = VECTOR(uint32_t);
    enum vdbq_status status = rule_hash_scan(looking, &places);

    for (size_t i = 0; i < places.count && status == VDBQ_OK; i++) {
        uint32_t place = VECTOR_ITEMS(&places, uint32_t)[i];
        if (is_left(looking, place))
            status = add(looking, place);
    }
    vector_finish(&places);
    return status;
}

/* ----------------------------------------------------------------- edit -- */

/* Adds rows that the run of a level has. */
static enum vdbq_status find_in_level(struct looking *looking, unsigned level)
{
    const struct run *run = looking->edited[level];
    enum vdbq_status status = VDBQ_OK;
    uint32_t begin, end;

    end = run_find(run, rule_keys_in(looking, run), 0, &begin);
    for (; begin < end && status == VDBQ_OK; begin++)
        if (edited_row_counts(looking->tablet->edit, level,
                              run_row(run, begin)))
            status = add_found(looking, run_row(run, begin));
    return status;
}

/* Adds rows with new keys. */
static enum vdbq_status find_in_edit(struct looking *looking)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < EDITED_LEVELS && status == VDBQ_OK; i++)
        if (looking->edited[i] != NULL)
            status = find_in_level(looking, i);
    return status;
}

/* ---------------------------------------------------------------- tablets -- */

/* Whether the facts of a tablet leave the values open. */
static bool may_have(const struct looking *looking)
{
    bool open = true;

    if (looking->find->rule->keyed != NULL || looking->hashed)
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

/* Whether they do for one of the rows. */
static bool may_have_any(struct looking *looking)
{
    bool any = false;

    for (uint64_t i = looking->first;
         i < looking->first + looking->count && !any; i++)
        any = rule_take_values(looking, i) && may_have(looking);
    return any;
}

/* Looks for a row, but one that was found already where that is all that is asked. */
static enum vdbq_status find_row(struct looking *looking, uint64_t row)
{
    enum vdbq_status status = VDBQ_OK;

    if ((looking->there != NULL && looking->there[row] != 0)
        || !rule_take_values(looking, row) || !may_have(looking))
        return VDBQ_OK;
    if (looking->run != NULL)
        status = find_in_base(looking);
    if (status == VDBQ_OK)
        status = find_in_edit(looking);
    if (looking->there != NULL) {
        looking->there[row] = looking->numbers->count > 0;
        looking->numbers->count = 0;
    }
    return status;
}

static enum vdbq_status find_each(struct looking *looking)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t i = 0; i < looking->count && status == VDBQ_OK; i++)
        status = stop_at(i) ? error_cancelled(looking->error)
                            : find_row(looking, looking->first + i);
    return status;
}

/* Whether the only row of those that are looked for has been found, where there were
 * so many numbers before. */
static bool has_found(const struct looking *looking, size_t before)
{
    return looking->there != NULL ? looking->there[looking->first] != 0
                                  : looking->numbers->count > before;
}

/* The runs of rows with new keys; `own` has those that no cache keeps. */
static enum vdbq_status take_edited(struct looking *looking,
                                    struct run *own[EDITED_LEVELS])
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < EDITED_LEVELS; i++) {
        looking->edited[i] = NULL;
        if (status == VDBQ_OK)
            status = rule_edited_run(looking, i, &looking->edited[i], &own[i]);
    }
    return status;
}

/* Looks into a tablet for all rows, by runs that are taken once. */
static enum vdbq_status look_into(struct looking *looking)
{
    const size_t before = looking->numbers->count;
    struct run *own = NULL, *own_edited[EDITED_LEVELS] = { NULL };
    enum vdbq_status status = edit_check(looking->tablet->edit, looking->error);

    looking->run = NULL;
    if (status == VDBQ_OK && !looking->lacks)
        status = rule_base_run(looking, &looking->run, &own);
    if (status == VDBQ_OK)
        status = take_edited(looking, own_edited);
    if (status == VDBQ_OK && looking->run == NULL && !looking->lacks)
        status = scan_base(looking);
    if (status == VDBQ_OK)
        status = find_each(looking);
    if (status == VDBQ_OK && looking->run != NULL && own == NULL
        && !has_found(looking, before))
        rule_sieve_note(looking);
    run_destroy(own);
    for (unsigned i = 0; i < EDITED_LEVELS; i++)
        run_destroy(own_edited[i]);
    block_destroy(&looking->base);
    looking->base = (struct block){ 0 };
    return status;
}

static enum vdbq_status look_through(struct looking *looking)
{
    const struct table *table = looking->find->table;
    enum vdbq_status status = VDBQ_OK;

    looking->columns = unique_rule_columns(looking->find->rule);
    looking->hashed = rule_is_hashed(looking->find->rule);
    rule_sieve_ask(looking);
    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++) {
        looking->tablet = &table->tablets[i];
        if (!may_have_any(looking))
            continue;
        looking->lacks = rule_sieve_lacks(looking);
        if (!looking->lacks || looking->tablet->edit != NULL)
            status = look_into(looking);
    }
    return status;
}

enum vdbq_status rule_find(const struct rule_find *find,
                           const struct vdbq_vector *vectors, uint64_t row,
                           struct vector *numbers, struct error *error)
{
    struct looking looking = { .find = find,
                               .vectors = vectors,
                               .first = row,
                               .count = 1,
                               .numbers = numbers,
                               .error = error };

    return look_through(&looking);
}

enum vdbq_status rule_find_rows(const struct rule_find *find,
                                const struct vdbq_vector *vectors,
                                uint64_t rows, struct vector *numbers,
                                struct error *error)
{
    struct looking looking = { .find = find,
                               .vectors = vectors,
                               .count = rows,
                               .numbers = numbers,
                               .error = error };

    return look_through(&looking);
}

enum vdbq_status rule_meet_rows(const struct rule_find *find,
                                const struct vdbq_vector *vectors,
                                uint64_t rows, uint8_t *there,
                                struct error *error)
{
    struct vector numbers = VECTOR(uint64_t);
    struct looking looking = { .find = find,
                               .vectors = vectors,
                               .count = rows,
                               .there = there,
                               .numbers = &numbers,
                               .error = error };
    enum vdbq_status status;

    memset(there, 0, rows);
    rule_count_searched(find, rows);
    status = look_through(&looking);
    vector_finish(&numbers);
    return status;
}
