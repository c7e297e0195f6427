/* SPDX-License-Identifier: MIT */
/*
 * The rows of a transaction: checked, added, and those that others replace
 * taken out.
 */
#include <string.h>

#include "base/threads/stop.h"
#include "base/type.h"
#include "data/tablet/values.h"
#include "data/transaction/replaced_rows.h"
#include "data/transaction/row_rules.h"

enum {
    CLAIMED_ROWS_MAX = 64,      /* rows added at once whose keys are looked
                                    for in a set of all keys ...           */
    CLAIMED_TABLE_MAX = 1 << 22 /* ... of tables of so many rows          */
};

/* Rows on their way into a table. */
struct adding {
    struct transaction *transaction;
    const struct table *table; /* in the draft                            */
    uint64_t rows;
    const struct vdbq_vector *vectors;
    struct vector rules;        /* struct unique_rule                      */
    struct rules_values values; /* of the rows, by these            */
    bool claims;                /* the primary key is one of them          */
    bool claims_known;          /* ... where the set of all keys is there  */
    uint8_t *added; /* IGNORE: 1 of each row that is added; NULL: nobody
                            asks                                    */
    struct error *error;
};

static enum vdbq_status add(struct adding *adding, uint64_t first,
                            uint64_t rows);
static enum vdbq_status claim_key(struct adding *adding,
                                  enum conflict conflict);
static enum vdbq_status end_search(struct adding *adding);
static enum vdbq_status add_unique(struct adding *adding);
static enum vdbq_status add_unless(struct adding *adding);
static enum vdbq_status replace(struct adding *adding);

enum vdbq_status transaction_append(struct transaction *transaction,
                                    uint32_t table_id, uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    struct error *error)
{
    return transaction_insert(transaction, table_id, rows, vectors,
                              CONFLICT_FAIL, error);
}

/* What the rows have by the rules, and by indexes that are none. */
static enum vdbq_status compute(struct adding *adding)
{
    const struct rule_source source = { adding->transaction->writer.database,
                                        adding->transaction->draft,
                                        adding->table };
    enum vdbq_status status =
        rules_values_make(&source, &adding->rules, adding->rows,
                          adding->vectors, &adding->values, adding->error);

    return status == VDBQ_OK ? index_values_prove(
               &source, adding->rows, adding->vectors, NULL, adding->error)
                             : status;
}

static const struct vdbq_vector *values_by(const struct adding *adding,
                                           size_t rule)
{
    return adding->values.items[rule].vectors;
}

static enum vdbq_status insert(struct adding *adding, uint32_t table_id,
                               enum conflict conflict)
{
    struct transaction *transaction = adding->transaction;
    struct error *error = adding->error;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK)
        return status;
    adding->table = transaction_table(transaction, table_id, error);
    if (adding->table == NULL)
        return VDBQ_UNKNOWN;
    status = values_check(adding->table, adding->rows, adding->vectors, error);
    if (status == VDBQ_OK && adding->table->key != NO_KEY)
        status = key_check_nulls(adding->table, adding->rows, adding->vectors,
                                 error);
    if (status == VDBQ_OK)
        status = claim_key(adding, conflict);
    if (status == VDBQ_OK
        && !unique_rules(transaction->draft, adding->table, adding->claims,
                         &adding->rules))
        status = error_no_memory(error);
    if (status == VDBQ_OK)
        status = end_search(adding);
    if (status == VDBQ_OK)
        status = compute(adding);
    if (status == VDBQ_OK)
        status = conflict == CONFLICT_IGNORE    ? add_unless(adding)
                 : conflict == CONFLICT_REPLACE ? replace(adding)
                                                : add_unique(adding);
    rules_values_finish(&adding->values);
    vector_finish(&adding->rules);
    return transaction_note(transaction, status);
}

enum vdbq_status transaction_insert(struct transaction *transaction,
                                    uint32_t table_id, uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    enum conflict conflict, struct error *error)
{
    struct adding adding = { .transaction = transaction,
                             .rows = rows,
                             .vectors = vectors,
                             .error = error };

    return insert(&adding, table_id, conflict);
}

enum vdbq_status transaction_insert_free(struct transaction *transaction,
                                         uint32_t table_id, uint64_t rows,
                                         const struct vdbq_vector *vectors,
                                         uint8_t *added, struct error *error)
{
    struct adding adding = { .transaction = transaction,
                             .rows = rows,
                             .vectors = vectors,
                             .added = added,
                             .error = error };

    return insert(&adding, table_id, CONFLICT_IGNORE);
}

enum vdbq_status transaction_insert_checked(struct transaction *transaction,
                                            uint32_t table_id, uint64_t rows,
                                            const struct vdbq_vector *vectors,
                                            struct error *error)
{
    struct adding adding = { .transaction = transaction,
                             .rows = rows,
                             .vectors = vectors,
                             .claims_known = true,
                             .error = error };

    return insert(&adding, table_id, CONFLICT_FAIL);
}

/* That of the primary key. */
static struct unique_rule key_rule(const struct table *table)
{
    return (struct unique_rule){ .column_count = 1,
                                 .column = table->key,
                                 .of = table->columns };
}

/* Whether the set of all keys is there. */
static bool knows_keys(const struct adding *adding)
{
    const struct unique_rule rule = key_rule(adding->table);

    return unique_set_known(adding->transaction->writer.database, adding->table,
                            &rule);
}

/* Whether few rows come whose keys are not above all others, or the set of
 * all keys is there anyway. */
static bool claims_few(const struct adding *adding)
{
    const struct table *table = adding->table;
    const struct unique_rule rule = key_rule(table);

    if (adding->rows > CLAIMED_ROWS_MAX
        || (table->rows > CLAIMED_TABLE_MAX && !rule_findable(&rule)))
        return false;
    return !key_grows(table, adding->rows, adding->vectors)
           || knows_keys(adding);
}

/* Who sees to the primary key: the set of all keys, or key.c, which compares
 * bytes. All rows of one new rows go the same way. */
static enum vdbq_status claim_key(struct adding *adding, enum conflict conflict)
{
    const struct new_rows *new_rows =
        transaction_new_rows(adding->transaction, adding->table->id);
    uint32_t id = adding->table->id;
    enum vdbq_status status = VDBQ_OK;

    if (adding->table->key == NO_KEY)
        return VDBQ_OK;
    adding->claims =
        conflict != CONFLICT_FAIL
        || (adding->claims_known && knows_keys(adding))
        || adding->table->columns[adding->table->key].collation
               != COLLATION_BINARY
        || (new_rows != NULL ? new_rows->claimed : claims_few(adding));
    if (!adding->claims || new_rows == NULL || new_rows->claimed)
        return VDBQ_OK;
    status = transaction_settle(adding->transaction, adding->error);
    adding->table = catalogue_table_id(adding->transaction->draft, id);
    return status;
}

/* ------------------------------------------------------------------- add -- */

struct new_rows *transaction_start_rows(struct transaction *transaction,
                                        const struct table *table, bool claimed)
{
    struct new_rows *new_rows = vector_add(&transaction->new_rows);

    if (new_rows == NULL)
        return NULL;
    if (new_rows_init(new_rows, table)) {
        new_rows->claimed = claimed;
        return new_rows;
    }
    new_rows_finish(new_rows);
    transaction->new_rows.count--;
    return NULL;
}

/* The new rows of the table; NULL: no memory. */
static struct new_rows *get_new_rows(const struct adding *adding)
{
    struct transaction *transaction = adding->transaction;
    struct new_rows *new_rows =
        transaction_new_rows(transaction, adding->table->id);

    return new_rows != NULL ? new_rows
                            : transaction_start_rows(transaction, adding->table,
                                                     adding->claims);
}

/* Adds rows that were checked. */
static enum vdbq_status add_checked(const struct adding *adding, uint64_t rows,
                                    const struct vdbq_vector *vectors)
{
    struct new_rows *new_rows = get_new_rows(adding);

    if (new_rows == NULL)
        return error_no_memory(adding->error);
    return new_rows_add(new_rows, &adding->transaction->writer, adding->table,
                        rows, vectors, adding->error);
}

/* Adds rows first .. first + rows - 1. */
static enum vdbq_status add(struct adding *adding, uint64_t first,
                            uint64_t rows)
{
    unsigned count = adding->table->column_count;
    struct vdbq_vector *vectors;
    enum vdbq_status status;

    if (first == 0)
        return add_checked(adding, rows, adding->vectors);
    vectors = memory_zeroed(count, sizeof *vectors);
    if (vectors == NULL)
        return error_no_memory(adding->error);
    for (unsigned i = 0; i < count; i++)
        vectors[i] = vector_behind(&adding->vectors[i], first);
    status = add_checked(adding, rows, vectors);
    memory_release(vectors);
    return status;
}

static struct row_rule rule_of(const struct adding *adding, size_t number)
{
    return row_rule_init(adding->transaction, adding->table,
                         vector_at(&adding->rules, number), adding->rows,
                         adding->error);
}

/* Rules and table as the draft has them now. */
static enum vdbq_status look_again(struct adding *adding, uint32_t id)
{
    const struct catalogue *draft = adding->transaction->draft;

    adding->table = catalogue_table_id(draft, id);
    vector_finish(&adding->rules);
    return unique_rules(draft, adding->table, adding->claims, &adding->rules)
               ? VDBQ_OK
               : error_no_memory(adding->error);
}

/* Whether rows are looked for since others wait that were, and for no other
 * reason. */
static bool searches_on(const struct adding *adding)
{
    bool on = false;

    for (size_t i = 0; i < adding->rules.count && !on; i++) {
        const struct row_rule of = rule_of(adding, i);
        const struct rule_find find = row_rule_find(&of);
        on = of.searched && !rule_is_searched_together(&find, adding->rows);
    }
    return on;
}

/* Writes rows that wait, where so many come that a set of all rows is better: it has
 * those of tablets. */
static enum vdbq_status end_search(struct adding *adding)
{
    uint32_t id = adding->table->id;
    enum vdbq_status status;

    if (!searches_on(adding))
        return VDBQ_OK;
    status = transaction_settle(adding->transaction, adding->error);
    return status == VDBQ_OK ? look_again(adding, id) : status;
}

/* Takes note of a row. */
static enum vdbq_status note(const struct adding *adding,
                             const struct row_rule *of,
                             const struct vdbq_vector *vectors, uint64_t row)
{
    return get_new_rows(adding) != NULL ? row_rule_take(of, vectors, row)
                                        : error_no_memory(adding->error);
}

/* Sees of rows that are looked for, one by one, that they are like none. */
static enum vdbq_status claim_each(const struct adding *adding,
                                   const struct row_rule *of,
                                   const struct vdbq_vector *vectors)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t row = 0; row < adding->rows && status == VDBQ_OK; row++) {
        bool meets;
        if (stop_at(row))
            return error_cancelled(adding->error);
        status = row_rule_meets(of, vectors, row, &meets);
        if (status == VDBQ_OK && meets)
            return unique_twice(adding->table, of->rule, vectors, row,
                                adding->error);
        if (status == VDBQ_OK)
            status = note(adding, of, vectors, row);
    }
    return status;
}

/* The same of rows that are looked for together. */
static enum vdbq_status claim_together(const struct adding *adding,
                                       struct row_rule *of,
                                       const struct vdbq_vector *vectors)
{
    uint8_t *there = memory_zeroed((size_t)adding->rows + 1, 1);
    enum vdbq_status status =
        there != NULL ? row_rule_look(of, vectors, adding->rows, there)
                      : error_no_memory(adding->error);

    if (status == VDBQ_OK)
        status = claim_each(adding, of, vectors);
    memory_release(there);
    return status;
}

/* Sees of all rows that they are like none by a rule. */
static enum vdbq_status claim(const struct adding *adding, size_t number)
{
    struct row_rule of = rule_of(adding, number);
    const struct vdbq_vector *vectors = values_by(adding, number);
    struct unique_set *set;
    enum vdbq_status status;

    if (of.searched)
        return claim_together(adding, &of, vectors);
    status = unique_set_of(adding->transaction->writer.database,
                           adding->transaction->draft, adding->table, of.rule,
                           &set, adding->error);
    return status == VDBQ_OK
               ? unique_set_take(set, adding->table, of.rule, vectors,
                                 adding->rows, true, adding->error)
               : status;
}

static enum vdbq_status add_unique(struct adding *adding)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < adding->rules.count && status == VDBQ_OK; i++)
        status = claim(adding, i);
    return status == VDBQ_OK ? add(adding, 0, adding->rows) : status;
}

/* ---------------------------------------------------------------- ignore -- */

/* Whether a row is like none that is there by all rules; it is noted then. */
static enum vdbq_status claim_row(struct adding *adding,
                                  const struct row_rule *rules, uint64_t row,
                                  bool *free)
{
    enum vdbq_status status = VDBQ_OK;
    bool meets = false;

    for (size_t i = 0; i < adding->rules.count && !meets && status == VDBQ_OK;
         i++)
        status = row_rule_meets(&rules[i], values_by(adding, i), row, &meets);
    *free = !meets;
    for (size_t i = 0; i < adding->rules.count && !meets && status == VDBQ_OK;
         i++)
        status = note(adding, &rules[i], values_by(adding, i), row);
    return status;
}

/* Adds runs of rows that are like none. */
static enum vdbq_status add_free(struct adding *adding,
                                 const struct row_rule *rules)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t first = 0, row = 0;

    for (; row < adding->rows && status == VDBQ_OK; row++) {
        bool free;
        if (stop_at(row))
            return error_cancelled(adding->error);
        status = claim_row(adding, rules, row, &free);
        if (adding->added != NULL)
            adding->added[row] = free;
        if (status != VDBQ_OK || free)
            continue;
        if (row > first)
            status = add(adding, first, row - first);
        first = row + 1;
    }
    if (status == VDBQ_OK && row > first)
        status = add(adding, first, row - first);
    return status;
}

/* INSERT OR IGNORE. */
static enum vdbq_status add_unless(struct adding *adding)
{
    size_t count = adding->rules.count;
    struct row_rule *rules = memory_zeroed(count + 1, sizeof *rules);
    uint8_t *there = memory_zeroed(count + 1, (size_t)adding->rows + 1);
    enum vdbq_status status = rules != NULL && there != NULL
                                  ? VDBQ_OK
                                  : error_no_memory(adding->error);

    for (size_t i = 0; i < count && status == VDBQ_OK; i++) {
        rules[i] = rule_of(adding, i);
        status = row_rule_look(&rules[i], values_by(adding, i), adding->rows,
                               there + i * adding->rows);
    }
    if (status == VDBQ_OK)
        status = add_free(adding, rules);
    memory_release(rules);
    memory_release(there);
    return status;
}

/* --------------------------------------------------------------- replace -- */

static struct replacing replacing_by(const struct adding *adding)
{
    return (struct replacing){ .transaction = adding->transaction,
                               .table = adding->table,
                               .rules = &adding->rules,
                               .values = &adding->values,
                               .rows = adding->rows,
                               .vectors = adding->vectors,
                               .error = adding->error };
}

/* Takes the rows out of the table that have keys of those that come. */
static enum vdbq_status remove_like(struct adding *adding,
                                    const struct unique_set *sets)
{
    const struct replacing replacing = replacing_by(adding);
    struct vector numbers = VECTOR(uint64_t);
    struct vdbq_vector vector = { .type = VDBQ_BIGINT };
    struct row_changes changes = { .numbers = &vector };
    uint32_t id = adding->table->id;
    enum vdbq_status status = replaced_numbers(&replacing, sets, &numbers);

    vector.values = numbers.items;
    changes.count = numbers.count;
    if (status == VDBQ_OK)
        status = transaction_change(adding->transaction, id, &changes,
                                    adding->error);
    adding->table = catalogue_table_id(adding->transaction->draft, id);
    vector_finish(&numbers);
    return status;
}

/* Adds those rows that stay. */
static enum vdbq_status add_marked(struct adding *adding, const uint8_t *stays)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t end;

    for (uint64_t row = 0; row < adding->rows && status == VDBQ_OK; row = end) {
        for (end = row; end < adding->rows && stays[end] == stays[row];)
            end++;
        if (stays[row])
            status = add(adding, row, end - row);
    }
    return status;
}

static enum vdbq_status replace_with(struct adding *adding, uint8_t *stays,
                                     struct unique_set *sets)
{
    struct transaction *transaction = adding->transaction;
    const struct replacing replacing = replacing_by(adding);
    uint32_t id = adding->table->id;
    enum vdbq_status status;

    if (!replaced_last(&replacing, stays, sets))
        return stop_or_no_memory(adding->error);
    status = transaction_settle(transaction, adding->error);
    if (status == VDBQ_OK)
        status = look_again(adding, id);
    if (status == VDBQ_OK)
        status = remove_like(adding, sets);
    if (status != VDBQ_OK)
        return status;
    unique_sets_forget(transaction->writer.database, id);
    return add_marked(adding, stays);
}

/* REPLACE. */
static enum vdbq_status replace(struct adding *adding)
{
    size_t count = adding->rules.count;
    struct unique_set *sets = memory_zeroed(count + 1, sizeof *sets);
    uint8_t *stays = memory_zeroed((size_t)adding->rows + 1, 1);
    enum vdbq_status status = sets != NULL && stays != NULL
                                  ? replace_with(adding, stays, sets)
                                  : error_no_memory(adding->error);

    for (size_t i = 0; sets != NULL && i < count; i++)
        unique_set_finish(&sets[i]);
    memory_release(sets);
    memory_release(stays);
    return status;
}
