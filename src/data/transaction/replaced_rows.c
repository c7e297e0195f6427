/* SPDX-License-Identifier: MIT */
/*
 * Rows that others replace: replaced_rows.h. They are looked for by runs, where
 * few rows come; else all rows of the table are looked through.
 */
#include "data/transaction/replaced_rows.h"

#include <stdlib.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/database/rows.h"

enum { SEARCHED_ROWS_MAX = HOSTILE(2, 64) };

/* Sets of the rows that are added, one a rule. */
static bool note_all(const struct replacing *replacing, uint64_t row,
                     struct unique_set *sets)
{
    for (size_t i = 0; i < replacing->rules->count; i++) {
        struct unique_hash hash;
        if (unique_hash_row(vector_at(replacing->rules, i),
                            replacing->values->items[i].vectors, row, &hash)
            && !unique_set_add(&sets[i], hash))
            return false;
    }
    return true;
}

/* Whether a row is like one of the sets' rows. */
static bool is_like(const struct replacing *replacing,
                    const struct rules_values *values, uint64_t row,
                    const struct unique_set *sets)
{
    for (size_t i = 0; i < replacing->rules->count; i++) {
        struct unique_hash hash;
        if (unique_hash_row(vector_at(replacing->rules, i),
                            values->items[i].vectors, row, &hash)
            && unique_set_has(&sets[i], hash))
            return true;
    }
    return false;
}

bool replaced_last(const struct replacing *replacing, uint8_t *stays,
                   struct unique_set *sets)
{
    for (uint64_t i = replacing->rows; i-- > 0;) {
        stays[i] = !is_like(replacing, replacing->values, i, sets);
        if (stop_at(i) || !note_all(replacing, i, sets))
            return false;
    }
    return true;
}

static struct rule_find find_by(const struct replacing *replacing, size_t rule)
{
    return (struct rule_find){ .database =
                                   replacing->transaction->writer.database,
                               .catalogue = replacing->transaction->draft,
                               .table = replacing->table,
                               .rule = vector_at(replacing->rules, rule) };
}

/* Whether rows are looked for by all rules; else all rows of the table are looked
 * through. */
static bool is_searched(const struct replacing *replacing)
{
    bool few = replacing->rows <= SEARCHED_ROWS_MAX, searched = true;

    for (size_t i = 0; i < replacing->rules->count && searched; i++) {
        const struct rule_find find = find_by(replacing, i);
        searched =
            (rule_findable(find.rule) || rule_is_hashed(find.rule))
            && (few || rule_is_searched_together(&find, replacing->rows));
    }
    return searched;
}

/* Looks for the rows that are like those that come. */
static enum vdbq_status look_for(const struct replacing *replacing,
                                 struct vector *numbers)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < replacing->rules->count && status == VDBQ_OK; i++) {
        const struct rule_find find = find_by(replacing, i);
        status = rule_find_rows(&find, replacing->values->items[i].vectors,
                                replacing->rows, numbers, replacing->error);
    }
    return status;
}

/* Adds the numbers of those rows of a tablet that are like one of the sets'. */
static enum vdbq_status list_like(const struct replacing *replacing,
                                  const struct unique_set *sets,
                                  const struct tablet_ref *tablet,
                                  struct vdbq_vector *vectors,
                                  struct vector *numbers)
{
    const struct rule_source source = { replacing->transaction->writer.database,
                                        replacing->transaction->draft,
                                        replacing->table };
    struct rules_values values = { 0 };
    struct rows rows;
    enum vdbq_status status = rows_load(&rows, source.database, source.table,
                                        tablet, replacing->error);

    if (status == VDBQ_OK) {
        rows_vectors(&rows, vectors);
        status = rules_values_make(&source, replacing->rules, rows.count,
                                   vectors, &values, replacing->error);
    }
    for (uint32_t row = 0; row < rows.count && status == VDBQ_OK; row++) {
        uint64_t number = tablet->row_first + row;
        if (stop_at(row))
            status = error_cancelled(replacing->error);
        else if (is_like(replacing, &values, row, sets)
                 && !vector_append(numbers, &number, 1))
            status = error_no_memory(replacing->error);
    }
    rules_values_finish(&values);
    rows_finish(&rows);
    return status;
}

/* The same of all tablets. */
static enum vdbq_status look_through(const struct replacing *replacing,
                                     const struct unique_set *sets,
                                     struct vector *numbers)
{
    const struct table *table = replacing->table;
    struct vdbq_vector *vectors =
        memory_zeroed(table->column_count, sizeof *vectors);
    enum vdbq_status status =
        vectors != NULL ? VDBQ_OK : error_no_memory(replacing->error);

    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++)
        status =
            list_like(replacing, sets, &table->tablets[i], vectors, numbers);
    memory_release(vectors);
    return status;
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Brings numbers in order, each once. */
static void order_numbers(struct vector *numbers)
{
    uint64_t *items = numbers->items;
    size_t kept = 0;

    if (numbers->count > 1)
        qsort(items, numbers->count, sizeof *items, compare_numbers);
    for (size_t i = 0; i < numbers->count; i++)
        if (kept == 0 || items[i] != items[kept - 1])
            items[kept++] = items[i];
    numbers->count = kept;
}

enum vdbq_status replaced_numbers(const struct replacing *replacing,
                                  const struct unique_set *sets,
                                  struct vector *numbers)
{
    enum vdbq_status status = is_searched(replacing)
                                  ? look_for(replacing, numbers)
                                  : look_through(replacing, sets, numbers);

    order_numbers(numbers);
    return status;
}
