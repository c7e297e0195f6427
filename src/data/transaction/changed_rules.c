/* SPDX-License-Identifier: MIT */
/*
 * Rules of rows that have changed: changed_rules.h. Few rows of a large table are
 * looked for one by one, and are to find themselves alone; else a set is made of
 * all rows.
 */
#include "data/transaction/changed_rules.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/index/index_run.h"
#include "data/rule/rule_find.h"
#include "data/rule/rule_values.h"
#include "data/tablet/block.h"
#include "data/transaction/row_numbers.h"

/* Whether all columns that a rule reads have new values. */
static bool has_all(const struct changed_rules *of,
                    const struct unique_rule *rule)
{
    const struct index_keys *keys = rule->keyed ? rule->keyed->keys : NULL;
    const unsigned *columns = keys ? keys->reads : unique_rule_columns(rule);
    unsigned count = keys != NULL ? keys->read_count : rule->column_count;
    bool all = true;

    for (unsigned i = 0; i < count; i++)
        all &= of->changed[columns[i]];
    return all;
}

/* ---------------------------------------------------------------- check -- */

static struct rule_find find_by(const struct changed_rules *of,
                                const struct unique_rule *rule)
{
    return (struct rule_find){ .database = of->transaction->writer.database,
                               .catalogue = of->transaction->draft,
                               .table = of->table,
                               .rule = rule };
}

/* Fails where a changed row, `number` of all, is like another one. `vectors`: the
 * values of rows, of which it is `row`. */
static enum vdbq_status check_row(const struct changed_rules *of,
                                  const struct unique_rule *rule,
                                  const struct vdbq_vector *vectors,
                                  uint64_t row, uint64_t number)
{
    const uint64_t *numbers = of->changes->numbers->values;
    struct rule_find find = find_by(of, rule);
    struct vector found = VECTOR(uint64_t);
    enum vdbq_status status;

    find.except = &numbers[number];
    status = rule_find(&find, vectors, row, &found, of->error);
    if (status == VDBQ_OK && found.count > 0)
        status = unique_twice(of->table, rule, vectors, row, of->error);
    vector_finish(&found);
    return status;
}

/* The same of changed rows from number `first` on. */
static enum vdbq_status check_rows(const struct changed_rules *of,
                                   const struct unique_rule *rule,
                                   const struct vdbq_vector *vectors,
                                   uint64_t first, uint64_t count)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t i = 0; i < count && status == VDBQ_OK; i++)
        status = stop_at(i) ? error_cancelled(of->error)
                            : check_row(of, rule, vectors, i, first + i);
    return status;
}

static struct rule_source source_of(const struct changed_rules *of)
{
    return (struct rule_source){ .database = of->transaction->writer.database,
                                 .catalogue = of->transaction->draft,
                                 .table = of->table };
}

/* Checks changed rows from number `first` on; `rule` NULL: that they have keys by
 * indexes that no rule is about. */
static enum vdbq_status check_values(const struct changed_rules *of,
                                     const struct unique_rule *rule,
                                     const struct vdbq_vector *vectors,
                                     uint64_t first, uint64_t count)
{
    const struct rule_source source = source_of(of);
    struct rule_values values;
    enum vdbq_status status;

    if (rule == NULL)
        return index_values_prove(&source, count, vectors, of->changed,
                                  of->error);
    status =
        rule_values_make(&source, rule, count, vectors, &values, of->error);
    if (status == VDBQ_OK)
        status = check_rows(of, rule, values.vectors, first, count);
    rule_values_finish(&values);
    return status;
}

/* Rows that changed in one tablet. */
struct gathering {
    const struct changed_rules *of;
    const struct unique_rule *rule; /* as above */
    unsigned *columns;              /* that are read of the rows */
    unsigned column_count;
    struct vdbq_vector *vectors; /* one a column of the table */
    struct vector places;        /* of the rows, then in its base */
    uint64_t first;              /* of the rows */
};

static enum vdbq_status check_tablet(struct gathering *gathering,
                                     const struct tablet_ref *tablet)
{
    const struct changed_rules *of = gathering->of;
    const struct tablet_ref base = tablet_base(tablet);
    uint32_t *places = VECTOR_ITEMS(&gathering->places, uint32_t);
    struct values_at at = { .table = of->table,
                            .columns = gathering->columns,
                            .column_count = gathering->column_count,
                            .edit = tablet->edit,
                            .places = &gathering->places };
    struct arena arena = { 0 };
    struct block block;
    enum vdbq_status status = tablet_load(of->transaction->writer.database,
                                          of->table, &base, &block, of->error);

    at.block = block.bytes;
    for (size_t i = 0; tablet->edit != NULL && i < at.places->count; i++)
        places[i] = edit_place(tablet->edit, places[i]);
    if (status == VDBQ_OK && !values_at(&at, &arena, gathering->vectors))
        status = error_no_memory(of->error);
    if (status == VDBQ_OK)
        status = check_values(of, gathering->rule, gathering->vectors,
                              gathering->first, at.places->count);
    gathering->first += at.places->count;
    block_destroy(&block);
    arena_finish(&arena);
    return status;
}

/* The columns that are read: those of the rule, or all that some index reads. */
static void list_columns(struct gathering *gathering)
{
    const struct changed_rules *of = gathering->of;
    const struct unique_rule *rule = gathering->rule;
    unsigned count = of->table->column_count;

    if (rule == NULL) {
        for (unsigned i = 0; i < count; i++)
            gathering->columns[i] = i;
        gathering->column_count = count;
        return;
    }
    gathering->column_count = rule->keyed != NULL
                                  ? rule->keyed->keys->read_count
                                  : rule->column_count;
    memcpy(gathering->columns,
           rule->keyed != NULL ? rule->keyed->keys->reads
                               : unique_rule_columns(rule),
           gathering->column_count * sizeof *gathering->columns);
}

static enum vdbq_status check_tablets(struct gathering *gathering)
{
    const struct changed_rules *of = gathering->of;
    struct row_numbers numbers = row_numbers_init(of->changes);
    enum vdbq_status status = VDBQ_OK;

    list_columns(gathering);
    for (size_t i = 0; i < of->table->tablet_count && status == VDBQ_OK; i++) {
        const struct tablet_ref *tablet = &of->table->tablets[i];
        gathering->places.count = 0;
        if (!row_numbers_find(&numbers, tablet, &gathering->places))
            status = error_no_memory(of->error);
        else if (gathering->places.count > 0)
            status = check_tablet(gathering, tablet);
    }
    return status;
}

/* Also by columns that have no new values. */
static enum vdbq_status check_gathered(const struct changed_rules *of,
                                       const struct unique_rule *rule)
{
    unsigned count = of->table->column_count;
    struct gathering gathering = {
        .of = of,
        .rule = rule,
        .columns = memory_zeroed(count, sizeof *gathering.columns),
        .vectors = memory_zeroed(count, sizeof *gathering.vectors),
        .places = VECTOR(uint32_t)
    };
    enum vdbq_status status =
        gathering.columns != NULL && gathering.vectors != NULL
            ? check_tablets(&gathering)
            : error_no_memory(of->error);

    vector_finish(&gathering.places);
    memory_release(gathering.columns);
    memory_release(gathering.vectors);
    return status;
}

/* Whether a CHECK, or an index that no rule is about, reads a column that changed. */
static bool reads_keys(const struct changed_rules *of)
{
    const struct catalogue *catalogue = of->transaction->draft;
    bool reads = false;

    for (unsigned i = 0; i < of->table->check_count && !reads; i++)
        reads = row_check_reads(&of->table->checks[i], of->changed);
    for (size_t i = 0; i < catalogue->index_count && !reads; i++) {
        const struct index *index = &catalogue->indexes[i];
        reads = index->table_id == of->table->id && index->keys != NULL
                && !index->unique && index_reads(index, of->changed);
    }
    return reads;
}

static enum vdbq_status check_rule(const struct changed_rules *of,
                                   const struct unique_rule *rule)
{
    const struct rule_find find = find_by(of, rule);
    struct unique_set *set;

    if (!rule_findable(rule) || !rule_is_searched(&find, of->changes->count))
        return unique_set_of(find.database, find.catalogue, of->table, rule,
                             &set, of->error);
    return has_all(of, rule)
               ? check_values(of, rule, of->values, 0, of->changes->count)
               : check_gathered(of, rule);
}

enum vdbq_status changed_rules_check(const struct changed_rules *of)
{
    struct vector rules;
    enum vdbq_status status = VDBQ_OK;

    if (!unique_rules(of->transaction->draft, of->table, true, &rules))
        status = error_no_memory(of->error);
    for (size_t i = 0; i < rules.count && status == VDBQ_OK; i++)
        if (unique_rule_reads(vector_at(&rules, i), of->changed))
            status = check_rule(of, vector_at(&rules, i));
    vector_finish(&rules);
    if (status == VDBQ_OK && reads_keys(of))
        status = check_gathered(of, NULL);
    return status;
}
