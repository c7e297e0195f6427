/* SPDX-License-Identifier: MIT */
/*
 * Rules of rows that have changed: changed_rules.h. Few rows of a large table are
 * looked for one by one, and are to find themselves alone; else a set is made of
 * all rows.
 */
#include "data/transaction/changed_rules.h"

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/database/rows_gather.h"
#include "data/index/rule_find.h"
#include "data/index/rule_values.h"
#include "data/transaction/row_numbers.h"

/* ----------------------------------------------------------------- rows -- */

/* Whether all columns of a rule have new values. */
static bool has_all(const struct changed_rules *of,
                    const struct unique_rule *rule)
{
    const unsigned *columns = unique_rule_columns(rule);
    bool all = rule->keyed == NULL;

    for (unsigned i = 0; i < rule->column_count && all; i++)
        all = of->changed[columns[i]];
    return all;
}

/* Adds the rows at some places of a tablet. */
static enum vdbq_status gather_tablet(const struct changed_rules *of,
                                      const struct tablet_ref *tablet,
                                      const struct vector *places,
                                      struct vdbq_vector *vectors,
                                      struct rows *gathered)
{
    struct rows rows;
    enum vdbq_status status = rows_load(&rows, of->transaction->writer.database,
                                        of->table, tablet, of->error);

    if (status == VDBQ_OK)
        rows_vectors(&rows, vectors);
    for (size_t i = 0; i < places->count && status == VDBQ_OK; i++)
        status = rows_gather(gathered, vectors, of->table->column_count,
                             VECTOR_ITEMS(places, uint32_t)[i], 1, of->error);
    rows_finish(&rows);
    return status;
}

/* All rows that changed, as they are now, with all their columns. */
static enum vdbq_status gather(const struct changed_rules *of,
                               struct vdbq_vector *vectors,
                               struct rows *gathered)
{
    struct row_numbers numbers = row_numbers_init(of->changes);
    struct vector places = VECTOR(uint32_t);
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < of->table->tablet_count && status == VDBQ_OK; i++) {
        const struct tablet_ref *tablet = &of->table->tablets[i];
        places.count = 0;
        if (!row_numbers_find(&numbers, tablet, &places))
            status = error_no_memory(of->error);
        else if (places.count > 0)
            status = gather_tablet(of, tablet, &places, vectors, gathered);
    }
    vector_finish(&places);
    return status;
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

/* Fails where a changed row is like another one. `vectors`: the rows' values. */
static enum vdbq_status check_row(const struct changed_rules *of,
                                  const struct unique_rule *rule,
                                  const struct vdbq_vector *vectors,
                                  uint64_t row)
{
    const struct rule_find find = find_by(of, rule);
    uint64_t own = ((const uint64_t *)of->changes->numbers->values)[row];
    struct vector found = VECTOR(uint64_t);
    enum vdbq_status status = rule_find(&find, vectors, row, &found, of->error);

    for (size_t i = 0; i < found.count && status == VDBQ_OK; i++)
        if (VECTOR_ITEMS(&found, uint64_t)[i] != own)
            status = unique_twice(of->table, rule, vectors, row, of->error);
    vector_finish(&found);
    return status;
}

static enum vdbq_status check_rows(const struct changed_rules *of,
                                   const struct unique_rule *rule,
                                   const struct vdbq_vector *vectors)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t i = 0; i < of->changes->count && status == VDBQ_OK; i++)
        status = stop_at(i) ? error_cancelled(of->error)
                            : check_row(of, rule, vectors, i);
    return status;
}

static struct rule_source source_of(const struct changed_rules *of)
{
    return (struct rule_source){ .database = of->transaction->writer.database,
                                 .catalogue = of->transaction->draft,
                                 .table = of->table };
}

/* By values that are perhaps computed of the rows'. */
static enum vdbq_status check_values(const struct changed_rules *of,
                                     const struct unique_rule *rule,
                                     const struct vdbq_vector *vectors)
{
    const struct rule_source source = source_of(of);
    struct rule_values values;
    enum vdbq_status status = rule_values_make(
        &source, rule, of->changes->count, vectors, &values, of->error);

    if (status == VDBQ_OK)
        status = check_rows(of, rule, values.vectors);
    rule_values_finish(&values);
    return status;
}

/* Also by columns that have no new values. `rule` NULL: that the rows have keys by
 * indexes that no rule is about. */
static enum vdbq_status check_gathered(const struct changed_rules *of,
                                       const struct unique_rule *rule)
{
    const struct rule_source source = source_of(of);
    struct vdbq_vector *vectors =
        memory_zeroed(of->table->column_count, sizeof *vectors);
    struct rows rows = { 0 };
    enum vdbq_status status = vectors != NULL ? gather(of, vectors, &rows)
                                              : error_no_memory(of->error);

    if (status == VDBQ_OK) {
        rows_vectors(&rows, vectors);
        status = rule != NULL ? check_values(of, rule, vectors)
                              : index_values_prove(&source, rows.count, vectors,
                                                   of->changed, of->error);
    }
    rows_finish(&rows);
    memory_release(vectors);
    return status;
}

/* Whether an index that no rule is about reads a column that changed. */
static bool reads_keys(const struct changed_rules *of)
{
    const struct catalogue *catalogue = of->transaction->draft;
    bool reads = false;

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
    return has_all(of, rule) ? check_rows(of, rule, of->values)
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
