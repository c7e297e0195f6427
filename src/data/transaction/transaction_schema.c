/* SPDX-License-Identifier: MIT */
/*
 * Tables, views and indexes of a transaction: made and dropped. Each change
 * makes another draft, so that whoever reads an older one goes on.
 */
#include <assert.h>
#include <string.h>

#include "base/os/os.h"
#include "data/transaction/transaction_inner.h"
#include "data/index/index_values.h"
#include "data/rule/unique.h"

static enum vdbq_status check_name(const char *name, const char *what,
                                   struct error *error);
static enum vdbq_status check_free(const struct catalogue *draft,
                                   const char *name, struct error *error);
static enum vdbq_status check_columns(const struct table *table,
                                      struct error *error);
static enum vdbq_status check_new_table(const struct transaction *transaction,
                                        const struct table *table,
                                        struct error *error);

/* The next draft is the transaction's, if what it was to get is in it. */
static enum vdbq_status take_made(struct transaction *transaction,
                                  struct catalogue *next, bool made,
                                  struct error *error)
{
    if (!made) {
        catalogue_release(next); /* NULL: there was no memory for it */
        return error_no_memory(error);
    }
    transaction_take(transaction, next);
    return VDBQ_OK;
}

enum vdbq_status transaction_create_table(struct transaction *transaction,
                                          const char *name,
                                          const struct column *columns,
                                          unsigned column_count, unsigned key,
                                          struct error *error)
{
    const struct table table = { .name = name,
                                 .columns = (struct column *)columns,
                                 .column_count = column_count,
                                 .key = key };
    const struct database *database = transaction->writer.database;
    struct catalogue *next;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status == VDBQ_OK)
        status = check_new_table(transaction, &table, error);
    if (status != VDBQ_OK)
        return status;
    next = transaction_next(transaction, 1);
    if (next == NULL || !catalogue_add(next, &table)) {
        catalogue_release(next);
        return error_no_memory(error);
    }
    status = defaults_parse(database->parse_default,
                            &next->tables[next->table_count - 1], error);
    if (status != VDBQ_OK) {
        catalogue_release(next);
        return status;
    }
    transaction_take(transaction, next);
    return VDBQ_OK;
}

enum vdbq_status transaction_constrain(struct transaction *transaction,
                                       uint32_t table_id,
                                       const struct unique *uniques,
                                       unsigned count, struct error *error)
{
    struct catalogue *next;

    assert(catalogue_table_id(transaction->draft, table_id)->rows == 0);
    if (count == 0)
        return VDBQ_OK;
    next = transaction_next(transaction, 0);
    return take_made(transaction, next,
                     next != NULL
                         && catalogue_constrain(next, table_id, uniques, count),
                     error);
}

enum vdbq_status transaction_add_checks(struct transaction *transaction,
                                        uint32_t table_id,
                                        const struct row_check *checks,
                                        unsigned count, struct error *error)
{
    struct catalogue *next;

    assert(catalogue_table_id(transaction->draft, table_id)->rows == 0);
    if (count == 0)
        return VDBQ_OK;
    next = transaction_next(transaction, 0);
    return take_made(transaction, next,
                     next != NULL
                         && catalogue_add_checks(next, table_id, checks, count),
                     error);
}

enum vdbq_status transaction_drop_table(struct transaction *transaction,
                                        uint32_t table_id, struct error *error)
{
    struct catalogue *next;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK)
        return status;
    if (transaction_table(transaction, table_id, error) == NULL)
        return error->status;
    next = transaction_next(transaction, 0);
    if (next == NULL)
        return error_no_memory(error);
    catalogue_remove(next, table_id);
    transaction_take(transaction, next);
    transaction_forget(transaction, table_id);
    unique_sets_forget(transaction->writer.database, table_id);
    return VDBQ_OK;
}

/* That the file can have the table as it is to be. */
static enum vdbq_status check_alteration(const struct transaction *transaction,
                                         const struct alteration *alteration,
                                         struct error *error)
{
    const struct table *now =
        transaction_table(transaction, alteration->table_id, error);
    struct table table;
    enum vdbq_status status = VDBQ_OK;

    if (now == NULL)
        return error->status;
    table = *now;
    if (alteration->name != NULL)
        status = check_name(alteration->name, "table", error);
    if (alteration->name != NULL && status == VDBQ_OK)
        status = check_free(transaction->draft, alteration->name, error);
    if (alteration->columns == NULL || status != VDBQ_OK)
        return status;
    table.columns = (struct column *)alteration->columns;
    table.column_count = alteration->column_count;
    return check_columns(&table, error);
}

enum vdbq_status transaction_alter(struct transaction *transaction,
                                   const struct alteration *alteration,
                                   struct error *error)
{
    struct database *database = transaction->writer.database;
    uint32_t id = alteration->table_id;
    struct catalogue *next;
    enum vdbq_status status = transaction_settle(transaction, error);

    if (status == VDBQ_OK)
        status = check_alteration(transaction, alteration, error);
    if (status != VDBQ_OK)
        return status;
    next = transaction_next(transaction, 1);
    if (next == NULL || !catalogue_alter(next, alteration)) {
        catalogue_release(next);
        return transaction_note(transaction, error_no_memory(error));
    }
    if (alteration->columns != NULL)
        status =
            defaults_parse(database->parse_default,
                           (struct table *)catalogue_table_id(next, id), error);
    if (status != VDBQ_OK) {
        catalogue_release(next);
        return status;
    }
    transaction_forget(transaction, id);
    transaction_take(transaction, next);
    unique_sets_forget(database, id);
    return VDBQ_OK;
}

/* ------------------------------------------------------ views, indexes -- */

enum vdbq_status transaction_create_view(struct transaction *transaction,
                                         const struct view *view,
                                         struct error *error)
{
    struct catalogue *next;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status == VDBQ_OK)
        status = check_name(view->name, "view", error);
    if (status == VDBQ_OK)
        status = check_free(transaction->draft, view->name, error);
    if (status == VDBQ_OK && strlen(view->sql) > STORED_SQL_MAX)
        status = error_set(error, VDBQ_LIMIT,
                           "view %s has %zu bytes of SQL, "
                           "at most %d are allowed",
                           view->name, strlen(view->sql), (int)STORED_SQL_MAX);
    if (status == VDBQ_OK && transaction->draft->view_count >= TABLES_MAX)
        status = error_set(error, VDBQ_LIMIT,
                           "a database has at most %d "
                           "views",
                           (int)TABLES_MAX);
    if (status != VDBQ_OK)
        return status;
    next = transaction_next(transaction, 1);
    return take_made(transaction, next,
                     next != NULL && catalogue_add_view(next, view), error);
}

enum vdbq_status transaction_drop_view(struct transaction *transaction,
                                       const char *name, struct error *error)
{
    struct catalogue *next;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK)
        return status;
    if (catalogue_view(transaction->draft, name) == NULL)
        return error_set(error, VDBQ_UNKNOWN, "no view \"%s\"", name);
    next = transaction_next(transaction, 0);
    if (next == NULL)
        return error_no_memory(error);
    catalogue_remove_view(next, name);
    transaction_take(transaction, next);
    return VDBQ_OK;
}

/* That the rows that are there keep to a unique index. */
static enum vdbq_status check_unique(struct transaction *transaction,
                                     const struct table *table,
                                     const struct index *index,
                                     struct error *error)
{
    const struct unique_rule rule = unique_rule_of(index, table);
    struct unique_set *set;

    return unique_set_of(transaction->writer.database, transaction->draft,
                         table, &rule, &set, error);
}

/* That the rows of a tablet have keys. */
static enum vdbq_status check_tablet(const struct index_of *of,
                                     const struct tablet_ref *tablet,
                                     struct vdbq_vector *vectors,
                                     struct error *error)
{
    struct index_values values = { 0 };
    struct rows rows;
    enum vdbq_status status =
        rows_load(&rows, of->database, of->table, tablet, error);

    if (status == VDBQ_OK) {
        rows_vectors(&rows, vectors);
        status = index_values_compute(of, rows.count, vectors, &values, error);
    }
    index_values_finish(&values);
    rows_finish(&rows);
    return status;
}

/* That all rows of the table have. */
static enum vdbq_status check_keys(struct transaction *transaction,
                                   const struct table *table,
                                   const struct index *index,
                                   struct error *error)
{
    const struct index_of of = { transaction->writer.database,
                                 transaction->draft, table, index };
    struct vdbq_vector *vectors =
        memory_zeroed(table->column_count, sizeof *vectors);
    enum vdbq_status status =
        vectors != NULL ? VDBQ_OK : error_no_memory(error);

    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++)
        status = check_tablet(&of, &table->tablets[i], vectors, error);
    memory_release(vectors);
    return status;
}

static enum vdbq_status check_new_index(struct transaction *transaction,
                                        const struct index *index,
                                        struct error *error)
{
    const struct table *table;
    enum vdbq_status status = check_name(index->name, "index", error);

    if (status == VDBQ_OK)
        status = check_free(transaction->draft, index->name, error);
    if (status == VDBQ_OK && transaction->draft->index_count >= TABLES_MAX)
        status = error_set(error, VDBQ_LIMIT,
                           "a database has at most %d "
                           "indexes",
                           (int)TABLES_MAX);
    if (status == VDBQ_OK)
        status = transaction_settle(transaction, error);
    if (status != VDBQ_OK)
        return status;
    table = transaction_table(transaction, index->table_id, error);
    if (table == NULL)
        return error->status;
    if (index->unique)
        return check_unique(transaction, table, index, error);
    return index->keys != NULL ? check_keys(transaction, table, index, error)
                               : VDBQ_OK;
}

/* Adds an index to the draft, whose rows were looked at. */
static enum vdbq_status add_index(struct transaction *transaction,
                                  const struct index *index,
                                  struct error *error)
{
    struct catalogue *next;
    enum vdbq_status status = check_new_index(transaction, index, error);

    if (status != VDBQ_OK)
        return status;
    next = transaction_next(transaction, 1);
    return take_made(transaction, next,
                     next != NULL && catalogue_add_index(next, index), error);
}

enum vdbq_status transaction_create_index(struct transaction *transaction,
                                          const struct index *index,
                                          struct error *error)
{
    struct index made = *index;
    struct index_keys keys;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK || index->keys == NULL)
        return status == VDBQ_OK ? add_index(transaction, index, error)
                                 : status;
    keys = *index->keys;
    made.keys = &keys;
    if (os_random(&keys.origin) != 0)
        return error_set(error, VDBQ_IO, "the system gives no random numbers");
    return add_index(transaction, &made, error);
}

enum vdbq_status transaction_drop_index(struct transaction *transaction,
                                        const char *name, struct error *error)
{
    struct catalogue *next;
    enum vdbq_status status = transaction_check(transaction, error);

    if (status != VDBQ_OK)
        return status;
    if (catalogue_index(transaction->draft, name) == NULL)
        return error_set(error, VDBQ_UNKNOWN, "no index \"%s\"", name);
    next = transaction_next(transaction, 0);
    if (next == NULL)
        return error_no_memory(error);
    catalogue_remove_index(next, name);
    transaction_take(transaction, next);
    return VDBQ_OK;
}

/* -------------------------------------------------------------- checks -- */

/* That nothing has the name. */
static enum vdbq_status check_free(const struct catalogue *draft,
                                   const char *name, struct error *error)
{
    const char *what = catalogue_table(draft, name)   ? "a table"
                       : catalogue_view(draft, name)  ? "a view"
                       : catalogue_index(draft, name) ? "an index"
                                                      : NULL;

    if (what == NULL)
        return VDBQ_OK;
    return error_set(error, VDBQ_EXISTS, "there is %s %s already", what, name);
}

static enum vdbq_status check_name(const char *name, const char *what,
                                   struct error *error)
{
    size_t length = strlen(name);

    if (length > 0 && length <= NAME_BYTES_MAX)
        return VDBQ_OK;
    return error_set(error, VDBQ_LIMIT,
                     "the name of a %s has %zu bytes, it may have 1 to %d",
                     what, length, (int)NAME_BYTES_MAX);
}

/* That the file can hold the DEFAULT. */
static enum vdbq_status check_default(const struct column *column,
                                      struct error *error)
{
    const char *sql = column->default_sql;

    if (sql == NULL || strlen(sql) <= STORED_SQL_MAX)
        return VDBQ_OK;
    return error_set(error, VDBQ_LIMIT,
                     "the default of column %s has %zu bytes of SQL, at most "
                     "%d are allowed",
                     column->name, strlen(sql), (int)STORED_SQL_MAX);
}

static enum vdbq_status check_columns(const struct table *table,
                                      struct error *error)
{
    const char **names = memory_zeroed(table->column_count, sizeof *names);
    const char *twice;
    enum vdbq_status status = VDBQ_OK;

    if (names == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++) {
        names[i] = table->columns[i].name;
        status = check_name(names[i], "column", error);
        if (status == VDBQ_OK && !column_valid(&table->columns[i]))
            status = error_set(error, VDBQ_TYPE,
                               "column %s cannot be stored: its type has no "
                               "place in a table",
                               names[i]);
        if (status == VDBQ_OK)
            status = check_default(&table->columns[i], error);
    }
    twice = status == VDBQ_OK ? names_twice(names, table->column_count) : NULL;
    if (twice != NULL)
        status =
            error_set(error, VDBQ_EXISTS, "table %s has two columns named %s",
                      table->name, twice);
    memory_release(names);
    return status;
}

static enum vdbq_status check_new_table(const struct transaction *transaction,
                                        const struct table *table,
                                        struct error *error)
{
    const struct catalogue *draft = transaction->draft;
    enum vdbq_status status = check_name(table->name, "table", error);

    if (status != VDBQ_OK)
        return status;
    if (check_free(draft, table->name, error) != VDBQ_OK)
        return error->status;
    if (table->column_count == 0 || table->column_count > COLUMNS_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "table %s has %u columns, it may have 1 to %d",
                         table->name, table->column_count, (int)COLUMNS_MAX);
    if (draft->table_count >= TABLES_MAX
        || draft->next_table_id == CATALOGUE_TEMPORARY
        || draft->next_table_id == CATALOGUE_COPY)
        return error_set(error, VDBQ_LIMIT,
                         "there is no room for table %s: %zu tables are there",
                         table->name, draft->table_count);
    assert(table->key == NO_KEY || table->key < table->column_count);
    return check_columns(table, error);
}

/* -------------------------------------------------- rows that are coming -- */

const struct table *transaction_table(const struct transaction *transaction,
                                      uint32_t table_id, struct error *error)
{
    const struct table *table =
        catalogue_table_id(transaction->draft, table_id);

    if (table == NULL)
        error_set(error, VDBQ_UNKNOWN, "there is no table with id %u",
                  (unsigned)table_id);
    return table;
}

struct new_rows *transaction_new_rows(const struct transaction *transaction,
                                      uint32_t table_id)
{
    struct new_rows *new_rows = transaction->new_rows.items;

    for (size_t i = 0; i < transaction->new_rows.count; i++)
        if (new_rows[i].table_id == table_id)
            return &new_rows[i];
    return NULL;
}

void transaction_forget(struct transaction *transaction, uint32_t table_id)
{
    struct new_rows *new_rows = transaction_new_rows(transaction, table_id);

    if (new_rows == NULL)
        return;
    new_rows_finish(new_rows);
    *new_rows = *(struct new_rows *)vector_at(&transaction->new_rows,
                                              transaction->new_rows.count - 1);
    transaction->new_rows.count--;
}

enum vdbq_status transaction_clear(struct transaction *transaction,
                                   uint32_t table_id, struct error *error)
{
    return transaction_keep(transaction, table_id, 0, 0, error);
}

enum vdbq_status transaction_keep(struct transaction *transaction,
                                  uint32_t table_id, size_t first, size_t end,
                                  struct error *error)
{
    enum vdbq_status status = transaction_check(transaction, error);
    const struct table *table =
        status == VDBQ_OK ? transaction_table(transaction, table_id, error)
                          : NULL;
    struct catalogue *next;

    if (table == NULL)
        return error->status;
    assert(first <= end && end <= table->tablet_count);
    next = transaction_next(transaction, 0);
    if (next == NULL
        || !catalogue_extend(next, table_id, 0,
                             first < end ? &table->tablets[first] : NULL,
                             end - first)) {
        catalogue_release(next);
        return transaction_note(transaction, error_no_memory(error));
    }
    catalogue_sample(next, table_id, NULL);
    transaction_forget(transaction, table_id);
    transaction_take(transaction, next);
    return VDBQ_OK;
}
