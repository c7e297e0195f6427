/* SPDX-License-Identifier: MIT */
/*
 * Rows that statements add one at a time. All that can be wrong with a row is
 * found before anything changes, so that a statement needs no state to go back
 * to, and rows of many statements wait for one tablet.
 *
 * What is always true: keys of rows that wait either ascend, above all keys of
 * the table (key.h), or each was looked for and is in `seen`.
 */
#include <assert.h>

#include "base/threads/stop.h"
#include "data/rule/rule_values.h"
#include "data/tablet/values.h"
#include "data/transaction/row_rules.h"

/* A row on its way. */
struct adding_row {
    struct transaction *transaction;
    const struct table *table; /* in the draft */
    const struct vdbq_vector *vectors;
    struct new_rows *new_rows;  /* of the table; NULL: no row waits */
    struct rules_values values; /* of the row, by its rules        */
    struct error *error;
};

/* ----------------------------------------------------------------- keys -- */

/* Whether a rule is that of the primary key. */
static bool is_key(const struct table *table, const struct unique_rule *rule)
{
    return rule->index == NULL && rule->column_count == 1
           && unique_rule_columns(rule)[0] == table->key;
}

/* By a rule of the table; keys are looked for in any case. */
static struct row_rule rule_of(const struct adding_row *adding,
                               const struct unique_rule *rule)
{
    struct row_rule of = row_rule_init(adding->transaction, adding->table, rule,
                                       1, adding->error);

    of.searched |= is_key(adding->table, rule);
    return of;
}

/* Whether the keys that wait ascend, and this one is above them all. */
static bool grows(const struct adding_row *adding)
{
    const struct vdbq_vector *keys = &adding->vectors[adding->table->key];

    if (adding->new_rows == NULL)
        return key_grows(adding->table, 1, adding->vectors);
    return !adding->new_rows->claimed
           && key_watch_grows(&adding->new_rows->keys,
                              (struct key_values){ keys->values, 1 });
}

/* Writes the rows that wait, whose keys were not looked for. */
static enum vdbq_status settle_ascending(struct adding_row *adding)
{
    uint32_t id = adding->table->id;
    enum vdbq_status status = VDBQ_OK;

    if (adding->new_rows != NULL && !adding->new_rows->claimed) {
        status = transaction_settle(adding->transaction, adding->error);
        adding->table = catalogue_table_id(adding->transaction->draft, id);
        adding->new_rows = NULL;
    }
    return status;
}

/* `*looked`: the key has to be looked for. */
static enum vdbq_status check_key(struct adding_row *adding, bool *looked)
{
    enum vdbq_status status;

    *looked = false;
    if (adding->table->key == NO_KEY)
        return VDBQ_OK;
    status = key_check_nulls(adding->table, 1, adding->vectors, adding->error);
    if (status != VDBQ_OK || grows(adding))
        return status;
    *looked = true;
    return settle_ascending(adding);
}

/* ---------------------------------------------------------------- rules -- */

/* Fails where a row is like this one by a rule, by which it has these values. */
static enum vdbq_status check_rule(const struct adding_row *adding,
                                   const struct unique_rule *rule,
                                   const struct vdbq_vector *vectors)
{
    const struct row_rule of = rule_of(adding, rule);
    bool meets;
    enum vdbq_status status = row_rule_meets(&of, vectors, 0, &meets);

    return status == VDBQ_OK && meets
               ? unique_twice(adding->table, rule, vectors, 0, adding->error)
               : status;
}

static enum vdbq_status check_rules(const struct adding_row *adding,
                                    const struct vector *rules)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < rules->count && status == VDBQ_OK; i++)
        status = check_rule(adding, vector_at(rules, i),
                            adding->values.items[i].vectors);
    return status;
}

/* Makes room for what is noted of the row. */
static enum vdbq_status reserve(const struct adding_row *adding,
                                const struct vector *rules)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < rules->count && status == VDBQ_OK; i++) {
        const struct row_rule of = rule_of(adding, vector_at(rules, i));
        status = row_rule_reserve(&of);
    }
    return status;
}

/* ------------------------------------------------------------------ add -- */

/* Takes note of a row that was added, of which its statement has to tell. A
 * failure, for which there is hardly a reason left, is one of the transaction. */
static enum vdbq_status take_note(const struct adding_row *adding,
                                  const struct vector *rules)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < rules->count && status == VDBQ_OK; i++) {
        const struct row_rule of = rule_of(adding, vector_at(rules, i));
        status = row_rule_take(&of, adding->values.items[i].vectors, 0);
    }
    return transaction_note(adding->transaction, status);
}

/* Adds the row, or fails before anything has changed. */
static enum vdbq_status add_row(struct adding_row *adding,
                                const struct vector *rules, bool looked)
{
    struct transaction *transaction = adding->transaction;
    enum vdbq_status status;

    if (adding->new_rows == NULL)
        adding->new_rows =
            transaction_start_rows(transaction, adding->table, looked);
    if (adding->new_rows == NULL)
        return error_no_memory(adding->error);
    assert(adding->new_rows->claimed == looked || adding->table->key == NO_KEY);
    transaction->waiting = true;
    status = reserve(adding, rules);
    if (status == VDBQ_OK)
        status =
            new_rows_add_row(adding->new_rows, &transaction->writer,
                             adding->table, adding->vectors, adding->error);
    return status == VDBQ_OK ? take_note(adding, rules) : status;
}

/* What the row has by its rules, and by indexes that are none. */
static enum vdbq_status compute(struct adding_row *adding,
                                const struct vector *rules)
{
    const struct rule_source source = { adding->transaction->writer.database,
                                        adding->transaction->draft,
                                        adding->table };
    enum vdbq_status status = rules_values_make(
        &source, rules, 1, adding->vectors, &adding->values, adding->error);

    return status == VDBQ_OK ? index_values_prove(&source, 1, adding->vectors,
                                                  NULL, adding->error)
                             : status;
}

/* Likewise, once it is clear that it may come. Nobody stops it: the rows before
 * it, which it may have to write, are those of other statements. */
static enum vdbq_status check_and_add(struct adding_row *adding)
{
    struct vector rules;
    bool looked;
    enum vdbq_status status =
        values_check(adding->table, 1, adding->vectors, adding->error);

    if (status == VDBQ_OK)
        status = check_key(adding, &looked);
    if (status != VDBQ_OK)
        return status;
    if (!unique_rules(adding->transaction->draft, adding->table, looked,
                      &rules))
        status = error_no_memory(adding->error);
    if (status == VDBQ_OK)
        status = compute(adding, &rules);
    if (status == VDBQ_OK)
        status = check_rules(adding, &rules);
    if (status == VDBQ_OK) {
        struct stop_work former = stop_help(&stop_never);
        status = add_row(adding, &rules, looked);
        stop_leave(former);
    }
    rules_values_finish(&adding->values);
    vector_finish(&rules);
    return status;
}

bool transaction_waits_apart(const struct transaction *transaction,
                             const uint32_t *table_ids, unsigned count)
{
    bool apart = transaction->waiting;

    for (unsigned i = 0; i < count && apart; i++)
        apart = transaction_new_rows(transaction, table_ids[i]) == NULL;
    return apart;
}

void transaction_set_apart(struct transaction *transaction, bool apart)
{
    assert(!apart || transaction->waiting);
    transaction->apart = apart;
}

bool transaction_takes_row(const struct transaction *transaction,
                           uint32_t table_id)
{
    const struct table *table =
        catalogue_table_id(transaction->draft, table_id);

    return table != NULL
           && (table->key == NO_KEY
               || table->columns[table->key].type != VDBQ_TEXT);
}

enum vdbq_status transaction_add_row(struct transaction *transaction,
                                     uint32_t table_id,
                                     const struct vdbq_vector *vectors,
                                     struct error *error)
{
    struct adding_row adding = {
        .transaction = transaction,
        .table = catalogue_table_id(transaction->draft, table_id),
        .vectors = vectors,
        .new_rows = transaction_new_rows(transaction, table_id),
        .error = error
    };
    enum vdbq_status status = transaction_check(transaction, error);

    assert(adding.table != NULL);
    return status == VDBQ_OK ? check_and_add(&adding) : status;
}
