/* SPDX-License-Identifier: MIT */
/*
 * Rows are compared by their hashes, which are sorted, with one another; with
 * those of the table by the rule (row_rules.h).
 */
#include "data/transaction/row_conflicts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "data/rule/rule_values.h"
#include "data/tablet/values.h"
#include "data/transaction/row_rules.h"

bool conflict_targets(const struct conflict_target *target,
                      const struct unique_rule *rule)
{
    const unsigned *columns = unique_rule_columns(rule);
    bool same = target->count == rule->column_count && rule->keyed == NULL;

    if (target->origin != 0)
        return rule->keyed != NULL
               && rule->keyed->keys->origin == target->origin;

    for (unsigned i = 0; i < target->count && same; i++) {
        bool found = false;
        for (unsigned k = 0; k < rule->column_count; k++)
            found |= target->columns[i] == columns[k];
        same = found;
    }
    return same;
}

/* The first rule about the target's columns. */
static const struct unique_rule *rule_of(const struct vector *rules,
                                         const struct conflict_target *target)
{
    for (size_t i = 0; i < rules->count; i++)
        if (conflict_targets(target, vector_at(rules, i)))
            return vector_at(rules, i);
    return NULL;
}

/* Tells of rows with one hash, in their order, what they meet. */
static void tell(const struct unique_hashed *hashed, uint32_t count, bool there,
                 struct row_conflict *conflicts)
{
    for (uint32_t i = 0; i < count; i++)
        conflicts[hashed[i].row] = (struct row_conflict){
            .first = (uint32_t)hashed[0].row, .before = i, .there = there
        };
}

/* Rows without NULLs in the columns, by their hashes; the others meet nothing. */
static uint32_t hash_rows(const struct unique_rule *rule,
                          const struct vdbq_vector *vectors, uint32_t rows,
                          struct unique_hashed *hashed,
                          struct row_conflict *conflicts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rows; i++) {
        conflicts[i] = (struct row_conflict){ .first = i };
        hashed[count].row = i;
        count += unique_hash_row(rule, vectors, i, &hashed[count].hash);
    }
    qsort(hashed, count, sizeof *hashed, unique_hashed_compare);
    return count;
}

/* Tells of rows, hashed and sorted, what they meet; `sure`: each is looked up,
 * else all may be there. */
static enum vdbq_status find(const struct row_rule *of, bool sure,
                             const struct vdbq_vector *vectors,
                             const struct unique_hashed *hashed, uint32_t count,
                             struct row_conflict *conflicts)
{
    enum vdbq_status status = VDBQ_OK;
    uint32_t first = 0, end;

    for (; first < count && status == VDBQ_OK; first = end) {
        bool there = true;
        for (end = first + 1;
             end < count && hashed[end].hash.low == hashed[first].hash.low
             && hashed[end].hash.high == hashed[first].hash.high;)
            end++;
        if (sure)
            status = row_rule_meets(of, vectors, hashed[first].row, &there);
        tell(hashed + first, end - first, there, conflicts);
    }
    return status;
}

/* Whether rows have to be looked up, or are by what is there; else a set would have
 * to be made of a large table for few rows, which the search of who asks finds
 * at less cost. */
static bool is_sure(const struct row_rule *of, uint32_t rows,
                    enum conflict_sureness sureness)
{
    const struct rule_find find = row_rule_find(of);

    return sureness == CONFLICTS_SURE || of->searched
           || unique_set_known(find.database, of->table, of->rule)
           || !rule_is_searched(&find, rows);
}

/* Looks for the rows together, where each is looked up, and then tells. */
static enum vdbq_status find_together(struct row_rule *of, bool sure,
                                      const struct vdbq_vector *vectors,
                                      uint32_t rows,
                                      struct unique_hashed *hashed,
                                      struct row_conflict *conflicts)
{
    uint8_t *there = memory_zeroed((size_t)rows + 1, 1);
    enum vdbq_status status =
        there != NULL ? VDBQ_OK : error_no_memory(of->error);

    if (status == VDBQ_OK && sure)
        status = row_rule_look(of, vectors, rows, there);
    if (status == VDBQ_OK)
        status = find(of, sure, vectors, hashed,
                      hash_rows(of->rule, vectors, rows, hashed, conflicts),
                      conflicts);
    memory_release(there);
    return status;
}

static enum vdbq_status
find_by_rule(struct transaction *transaction, const struct table *table,
             const struct unique_rule *rule, uint32_t rows,
             const struct vdbq_vector *vectors, enum conflict_sureness sureness,
             struct row_conflict *conflicts, struct error *error)
{
    const struct rule_source source = { transaction->writer.database,
                                        transaction->draft, table };
    struct rule_values values;
    struct unique_hashed *hashed;
    struct row_rule of;
    enum vdbq_status status;

    if (rule == NULL)
        return error_set(error, VDBQ_MISUSE,
                         "table %s: no rule says that these columns are unique",
                         table->name);
    hashed = memory_zeroed((size_t)rows + 1, sizeof *hashed);
    if (hashed == NULL)
        return error_no_memory(error);
    of = row_rule_init(transaction, table, rule, rows, error);
    status = rule_values_make(&source, rule, rows, vectors, &values, error);
    if (status == VDBQ_OK)
        status = find_together(&of, is_sure(&of, rows, sureness),
                               values.vectors, rows, hashed, conflicts);
    rule_values_finish(&values);
    memory_release(hashed);
    return status;
}

/* Rows that are not in the sets yet are in no tablet either: they are written,
 * so that sets hold them. */
static enum vdbq_status settle_unclaimed(struct transaction *transaction,
                                         uint32_t table_id, struct error *error)
{
    const struct new_rows *new_rows =
        transaction_new_rows(transaction, table_id);

    return new_rows != NULL && !new_rows->claimed
               ? transaction_settle(transaction, error)
               : transaction_check(transaction, error);
}

enum vdbq_status
transaction_row_conflicts(struct transaction *transaction, uint32_t table_id,
                          const struct conflict_target *target, uint32_t rows,
                          const struct vdbq_vector *vectors,
                          enum conflict_sureness sureness,
                          struct row_conflict *conflicts, struct error *error)
{
    const struct table *table;
    struct vector rules = { 0 };
    enum vdbq_status status = settle_unclaimed(transaction, table_id, error);

    if (status != VDBQ_OK)
        return status;
    table = transaction_table(transaction, table_id, error);
    if (table == NULL)
        return VDBQ_UNKNOWN;
    status = values_check(table, rows, vectors, error);
    if (status == VDBQ_OK && table->key != NO_KEY)
        status = key_check_nulls(table, rows, vectors, error);
    if (status == VDBQ_OK)
        status = row_checks_prove(
            &(struct rule_source){ transaction->writer.database,
                                   transaction->draft, table },
            rows, vectors, NULL, error);
    if (status == VDBQ_OK
        && !unique_rules(transaction->draft, table, true, &rules))
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = find_by_rule(transaction, table, rule_of(&rules, target), rows,
                              vectors, sureness, conflicts, error);
    vector_finish(&rules);
    return transaction_note(transaction, status);
}
