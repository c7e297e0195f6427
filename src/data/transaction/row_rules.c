/* SPDX-License-Identifier: MIT */
/*
 * Rules of rows that come: row_rules.h.
 */
#include "data/transaction/row_rules.h"

#include <assert.h>

#include "base/threads/stop.h"
#include "cl/hash.h"

struct rule_find row_rule_find(const struct row_rule *of)
{
    return (struct rule_find){ .database = of->transaction->writer.database,
                               .catalogue = of->transaction->draft,
                               .table = of->table,
                               .rule = of->rule };
}

static struct unique_set *seen_by(const struct row_rule *of)
{
    struct new_rows *new_rows =
        transaction_new_rows(of->transaction, of->table->id);

    return new_rows != NULL ? &new_rows->seen : NULL;
}

/* Whether rows are looked for: also more than are worth it, where some wait that
 * are in no set. */
static bool is_searched(const struct row_rule *of, uint64_t rows)
{
    const struct rule_find find = row_rule_find(of);
    const struct unique_set *seen = seen_by(of);

    if (!rule_findable(of->rule)
        || unique_set_known(find.database, find.table, find.rule))
        return false;
    return rule_is_searched_together(&find, rows)
           || (seen != NULL && seen->count > 0);
}

struct row_rule row_rule_init(struct transaction *transaction,
                              const struct table *table,
                              const struct unique_rule *rule, uint64_t rows,
                              struct error *error)
{
    struct row_rule of = {
        .transaction = transaction, .table = table, .rule = rule, .error = error
    };

    of.searched = is_searched(&of, rows);
    return of;
}

/* Rows that wait, by all rules: another hash for other columns. */
static struct unique_hash seen_hash(const struct unique_rule *rule,
                                    struct unique_hash hash)
{
    const unsigned *columns = unique_rule_columns(rule);
    uint64_t of = rule->column_count;

    if (rule->keyed != NULL)
        of = hash_number(rule->keyed->keys->origin);
    for (unsigned i = 0; i < rule->column_count; i++)
        of = hash_number(of + columns[i]);
    return (struct unique_hash){ hash.low ^ of, hash.high };
}

static enum vdbq_status set_of(const struct row_rule *of,
                               struct unique_set **set)
{
    return unique_set_of(of->transaction->writer.database,
                         of->transaction->draft, of->table, of->rule, set,
                         of->error);
}

enum vdbq_status row_rule_look(struct row_rule *of,
                               const struct vdbq_vector *vectors, uint64_t rows,
                               uint8_t *there)
{
    const struct rule_find find = row_rule_find(of);

    if (!of->searched)
        return VDBQ_OK;
    of->there = there;
    return rule_meet_rows(&find, vectors, rows, there, of->error);
}

/* Whether a row of a tablet is like this one. */
static enum vdbq_status look_for(const struct row_rule *of,
                                 const struct vdbq_vector *vectors,
                                 uint64_t row, bool *found)
{
    const struct rule_find find = row_rule_find(of);
    struct vector numbers = VECTOR(uint64_t);
    enum vdbq_status status;

    if (of->there != NULL) {
        *found = of->there[row] != 0;
        return VDBQ_OK;
    }
    status = rule_find(&find, vectors, row, &numbers, of->error);
    *found = numbers.count > 0;
    vector_finish(&numbers);
    return status;
}

enum vdbq_status row_rule_meets(const struct row_rule *of,
                                const struct vdbq_vector *vectors, uint64_t row,
                                bool *meets)
{
    const struct unique_set *seen = seen_by(of);
    struct unique_set *set;
    struct unique_hash hash;
    enum vdbq_status status;

    *meets = false;
    if (!unique_hash_row(of->rule, vectors, row, &hash))
        return VDBQ_OK;
    if (of->searched) {
        *meets =
            seen != NULL && unique_set_has(seen, seen_hash(of->rule, hash));
        return *meets ? VDBQ_OK : look_for(of, vectors, row, meets);
    }
    status = set_of(of, &set);
    *meets = status == VDBQ_OK && unique_set_has(set, hash);
    return status;
}

enum vdbq_status row_rule_reserve(const struct row_rule *of)
{
    struct unique_set *set = NULL;
    enum vdbq_status status = VDBQ_OK;

    if (of->searched)
        set = seen_by(of);
    else
        status = set_of(of, &set);
    if (status != VDBQ_OK)
        return status;
    assert(set != NULL);
    return unique_set_reserve(set, set->count + 1)
               ? VDBQ_OK
               : stop_or_no_memory(of->error);
}

enum vdbq_status row_rule_take(const struct row_rule *of,
                               const struct vdbq_vector *vectors, uint64_t row)
{
    struct unique_set *set = NULL;
    struct unique_hash hash;
    enum vdbq_status status = VDBQ_OK;

    if (!unique_hash_row(of->rule, vectors, row, &hash))
        return VDBQ_OK;
    if (of->searched) {
        set = seen_by(of);
        hash = seen_hash(of->rule, hash);
    } else {
        status = set_of(of, &set);
    }
    if (status != VDBQ_OK)
        return status;
    assert(set != NULL);
    set->grown |= !of->searched;
    return unique_set_add(set, hash) ? VDBQ_OK : stop_or_no_memory(of->error);
}
