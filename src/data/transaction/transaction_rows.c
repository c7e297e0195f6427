/* SPDX-License-Identifier: MIT */
/*
 * The rows of a transaction: checked, added, and those that others replace
 * taken out.
 */
#include <string.h>

#include "base/type.h"
#include "base/threads/stop.h"
#include "data/transaction/transaction_inner.h"
#include "data/index/unique.h"
#include "data/tablet/values.h"

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
    struct vector rules; /* struct unique_rule                      */
    bool claims;         /* the primary key is one of them          */
    bool claims_known;   /* ... where the set of all keys is there  */
    uint8_t *added;      /* IGNORE: 1 of each row that is added; NULL: nobody
                            asks                                    */
    struct error *error;
};

static enum vdbq_status add(struct adding *adding, uint64_t first,
                            uint64_t rows);
static enum vdbq_status claim_key(struct adding *adding,
                                  enum conflict conflict);
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
        status = conflict == CONFLICT_IGNORE    ? add_unless(adding)
                 : conflict == CONFLICT_REPLACE ? replace(adding)
                                                : add_unique(adding);
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

/* Whether the set of all keys is there. */
static bool knows_keys(const struct adding *adding)
{
    const struct table *table = adding->table;
    const struct unique_rule rule = { .column_count = 1,
                                      .column = table->key,
                                      .of = table->columns };

    return unique_set_known(adding->transaction->writer.database, table, &rule);
}

/* Whether few rows come whose keys are not above all others, or the set of
 * all keys is there anyway. */
static bool claims_few(const struct adding *adding)
{
    const struct table *table = adding->table;

    if (adding->rows > CLAIMED_ROWS_MAX || table->rows > CLAIMED_TABLE_MAX)
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

/* Adds rows that were checked. */
static enum vdbq_status add_checked(const struct adding *adding, uint64_t rows,
                                    const struct vdbq_vector *vectors)
{
    struct transaction *transaction = adding->transaction;
    struct new_rows *new_rows =
        transaction_new_rows(transaction, adding->table->id);

    if (new_rows == NULL)
        new_rows =
            transaction_start_rows(transaction, adding->table, adding->claims);
    if (new_rows == NULL)
        return error_no_memory(adding->error);
    return new_rows_add(new_rows, &transaction->writer, adding->table, rows,
                        vectors, adding->error);
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

static enum vdbq_status set_of(struct adding *adding, size_t rule,
                               struct unique_set **set)
{
    return unique_set_of(adding->transaction->writer.database, adding->table,
                         vector_at(&adding->rules, rule), set, adding->error);
}

/* Adds the hashes of all rows to the set of one rule. */
static enum vdbq_status claim(struct adding *adding, size_t number)
{
    const struct unique_rule *rule = vector_at(&adding->rules, number);
    struct unique_set *set;
    enum vdbq_status status = set_of(adding, number, &set);

    return status == VDBQ_OK
               ? unique_set_take(set, adding->table, rule, adding->vectors,
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

/* Whether a row is like none that is there; it is noted then. */
static enum vdbq_status claim_row(struct adding *adding, uint64_t row,
                                  bool *free)
{
    struct unique_set *set;
    struct unique_hash hash;
    enum vdbq_status status = VDBQ_OK;

    *free = true;
    for (size_t i = 0; i < adding->rules.count && *free; i++) {
        status = set_of(adding, i, &set);
        if (status != VDBQ_OK)
            return status;
        *free = !unique_hash_row(vector_at(&adding->rules, i), adding->vectors,
                                 row, &hash)
                || !unique_set_has(set, hash);
    }
    for (size_t i = 0; i < adding->rules.count && *free; i++) {
        if (!unique_hash_row(vector_at(&adding->rules, i), adding->vectors, row,
                             &hash))
            continue;
        status = set_of(adding, i, &set);
        if (status != VDBQ_OK)
            return status;
        set->grown = true;
        if (!unique_set_add(set, hash))
            return stop_or_no_memory(adding->error);
    }
    return VDBQ_OK;
}

/* INSERT OR IGNORE: adds runs of rows that are like none. */
static enum vdbq_status add_unless(struct adding *adding)
{
    enum vdbq_status status = VDBQ_OK;
    uint64_t first = 0, row = 0;

    for (; row < adding->rows && status == VDBQ_OK; row++) {
        bool free;
        if (stop_at(row))
            return error_cancelled(adding->error);
        status = claim_row(adding, row, &free);
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

/* --------------------------------------------------------------- replace -- */

/* Sets of the rows that are added, one a rule. */
static bool note_all(const struct adding *adding, uint64_t row,
                     struct unique_set *sets)
{
    for (size_t i = 0; i < adding->rules.count; i++) {
        struct unique_hash hash;
        if (unique_hash_row(vector_at(&adding->rules, i), adding->vectors, row,
                            &hash)
            && !unique_set_add(&sets[i], hash))
            return false;
    }
    return true;
}

/* Whether a row is like one of the sets' rows. */
static bool is_like(const struct adding *adding,
                    const struct vdbq_vector *vectors, uint64_t row,
                    const struct unique_set *sets)
{
    for (size_t i = 0; i < adding->rules.count; i++) {
        struct unique_hash hash;
        if (unique_hash_row(vector_at(&adding->rules, i), vectors, row, &hash)
            && unique_set_has(&sets[i], hash))
            return true;
    }
    return false;
}

/* Which rows stay: those that no later one replaces. The sets get the keys of
 * all. False: no memory, or it is to end. */
static bool last_of_each(const struct adding *adding, uint8_t *stays,
                         struct unique_set *sets)
{
    for (uint64_t i = adding->rows; i-- > 0;) {
        stays[i] = !is_like(adding, adding->vectors, i, sets);
        if (stop_at(i) || !note_all(adding, i, sets))
            return false;
    }
    return true;
}

/* Whether rows of the table go. */
static enum vdbq_status any_goes(struct adding *adding, bool *goes)
{
    enum vdbq_status status = VDBQ_OK;

    *goes = false;
    for (size_t i = 0; i < adding->rules.count && status == VDBQ_OK; i++) {
        struct unique_set *set;
        status = set_of(adding, i, &set);
        for (uint64_t k = 0; k < adding->rows && status == VDBQ_OK; k++) {
            struct unique_hash hash;
            if (stop_at(k))
                return error_cancelled(adding->error);
            *goes |= unique_hash_row(vector_at(&adding->rules, i),
                                     adding->vectors, k, &hash)
                     && unique_set_has(set, hash);
        }
    }
    return status;
}

/* Adds runs of the rows of a tablet that are like none of the sets'. */
static enum vdbq_status keep_others(const struct adding *adding,
                                    const struct rows *rows,
                                    const struct unique_set *sets)
{
    struct vdbq_vector *vectors =
        memory_zeroed(adding->table->column_count, sizeof *vectors);
    struct adding kept = *adding;
    enum vdbq_status status = VDBQ_OK;
    uint32_t first = 0, row = 0;

    if (vectors == NULL)
        return error_no_memory(adding->error);
    rows_vectors(rows, vectors);
    kept.vectors = vectors;
    for (; row < rows->count && status == VDBQ_OK; row++) {
        if (stop_at(row))
            status = error_cancelled(adding->error);
        if (!is_like(adding, vectors, row, sets))
            continue;
        if (row > first)
            status = add(&kept, first, row - first);
        first = row + 1;
    }
    if (status == VDBQ_OK && row > first)
        status = add(&kept, first, row - first);
    memory_release(vectors);
    return status;
}

/* Takes the rows out of the table that are like one of the sets': all of it
 * is written anew. */
static enum vdbq_status remove_like(struct adding *adding,
                                    const struct unique_set *sets)
{
    struct transaction *transaction = adding->transaction;
    struct database *database = transaction->writer.database;
    struct catalogue *before = catalogue_hold(transaction->draft);
    const struct table *from = adding->table;
    enum vdbq_status status =
        transaction_clear(transaction, from->id, adding->error);

    adding->table = catalogue_table_id(transaction->draft, from->id);
    for (size_t i = 0; i < from->tablet_count && status == VDBQ_OK; i++) {
        struct rows rows;
        status =
            rows_load(&rows, database, from, &from->tablets[i], adding->error);
        if (status == VDBQ_OK)
            status = keep_others(adding, &rows, sets);
        rows_finish(&rows);
    }
    unique_sets_forget(database, from->id);
    catalogue_release(before);
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

/* Rules and table as the draft has them now. */
static enum vdbq_status look_again(struct adding *adding, uint32_t id)
{
    const struct catalogue *draft = adding->transaction->draft;

    adding->table = catalogue_table_id(draft, id);
    vector_finish(&adding->rules);
    return unique_rules(draft, adding->table, true, &adding->rules)
               ? VDBQ_OK
               : error_no_memory(adding->error);
}

static enum vdbq_status replace_with(struct adding *adding, uint8_t *stays,
                                     struct unique_set *sets)
{
    struct transaction *transaction = adding->transaction;
    uint32_t id = adding->table->id;
    enum vdbq_status status;
    bool goes;

    if (!last_of_each(adding, stays, sets))
        return stop_or_no_memory(adding->error);
    status = transaction_settle(transaction, adding->error);
    if (status == VDBQ_OK)
        status = look_again(adding, id);
    if (status == VDBQ_OK)
        status = any_goes(adding, &goes);
    if (status == VDBQ_OK && goes)
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

/* ----------------------------------------------------------------- clear -- */

enum vdbq_status transaction_clear(struct transaction *transaction,
                                   uint32_t table_id, struct error *error)
{
    enum vdbq_status status = transaction_check(transaction, error);
    struct catalogue *next;

    if (status == VDBQ_OK
        && transaction_table(transaction, table_id, error) == NULL)
        status = error->status;
    if (status != VDBQ_OK)
        return status;
    next = transaction_next(transaction, 0);
    if (next == NULL || !catalogue_extend(next, table_id, 0, NULL, 0)) {
        catalogue_release(next);
        return transaction_note(transaction, error_no_memory(error));
    }
    catalogue_sample(next, table_id, NULL);
    transaction_forget(transaction, table_id);
    transaction_take(transaction, next);
    return VDBQ_OK;
}
