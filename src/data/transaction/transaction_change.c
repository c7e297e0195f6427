/* SPDX-License-Identifier: MIT */
/*
 * Some rows of a table change, or go. Tablets that hold none of them stay as
 * they are, the same bytes at the same place; the others are written anew,
 * neighbours together. Rows stay in the order of the table.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/stop.h"
#include "base/type.h"
#include "data/tablet/tablet_inner.h"
#include "data/tablet/values.h"
#include "data/transaction/changed_rules.h"
#include "data/transaction/changed_sample.h"
#include "data/transaction/row_numbers.h"
#include "data/transaction/transaction_edit.h"
#include "data/transaction/transaction_inner.h"

struct changing {
    struct transaction *transaction;
    const struct table *table;         /* in the draft                     */
    const struct row_changes *changes; /* the caller's                     */
    struct vdbq_vector *values;        /* of each column that gets new ones */
    bool *changed;                     /* whether a column does            */
    struct row_numbers numbers;        /* of the changed rows, so far      */
    struct vector tablets;             /* struct tablet_ref: from then on  */
    struct vector edits;               /* struct edit *: theirs, held      */
    struct table empty;                /* the table without its tablets    */
    struct new_rows run;               /* tablets that are written anew    */
    bool runs;                         /* there are rows in `run`          */
    struct arena arena;                /* the facts of what was written    */
    struct error *error;
};

static enum vdbq_status check_values(struct changing *changing);
static enum vdbq_status keep(struct changing *changing,
                             const struct tablet_ref *tablets, size_t count);
static enum vdbq_status change_tablet(struct changing *changing,
                                      const struct tablet_ref *tablet);
static enum vdbq_status end_run(struct changing *changing);
static enum vdbq_status take_tablets(struct changing *changing, bool changed);
static void finish(struct changing *changing);
static enum vdbq_status check_unique(struct changing *changing,
                                     const struct catalogue *before);

static struct table without_tablets(const struct table *table)
{
    struct table empty = *table;

    empty.tablet_count = 0;
    empty.sample = NULL;
    return empty;
}

/* Room for what is said of each column. */
static enum vdbq_status start(struct changing *changing)
{
    const struct row_changes *changes = changing->changes;
    unsigned count = changing->table->column_count;

    changing->values =
        arena_alloc(&changing->arena, count * sizeof *changing->values);
    changing->changed =
        arena_alloc(&changing->arena, count * sizeof *changing->changed);
    if (changing->values == NULL || changing->changed == NULL)
        return error_no_memory(changing->error);
    memset(changing->changed, 0, count * sizeof *changing->changed);
    for (unsigned i = 0; i < changes->column_count; i++) {
        assert(changes->columns[i] < count);
        changing->values[changes->columns[i]] = changes->vectors[i];
        changing->changed[changes->columns[i]] = true;
    }
    changing->empty = without_tablets(changing->table);
    return VDBQ_OK;
}

/* How many tablets from one on stay as they are. */
static size_t count_kept(const struct changing *changing, size_t tablet)
{
    const struct table *table = changing->table;
    size_t end = tablet;

    if (changing->changes != NULL)
        return row_numbers_without(&changing->numbers, table, tablet);
    while (end < table->tablet_count && table->tablets[end].edit == NULL)
        end++;
    return end - tablet;
}

/* All tablets, in their order. */
static enum vdbq_status change_tablets(struct changing *changing)
{
    const struct table *table = changing->table;
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0, count; i < table->tablet_count && status == VDBQ_OK;
         i += count) {
        count = count_kept(changing, i);
        if (count > 0) {
            status = keep(changing, &table->tablets[i], count);
        } else {
            status = change_tablet(changing, &table->tablets[i]);
            count = 1;
        }
    }
    if (status == VDBQ_OK)
        status = end_run(changing);
    if (status == VDBQ_OK && changing->changes != NULL
        && changing->numbers.found < changing->changes->count)
        status = error_set(changing->error, VDBQ_MISUSE,
                           "table %s: rows to be changed are not there, or "
                           "not in the table's order",
                           table->name);
    return status;
}

static enum vdbq_status change(struct changing *changing)
{
    struct transaction *transaction = changing->transaction;
    struct catalogue *before = catalogue_hold(transaction->draft);
    enum vdbq_status status = start(changing);

    if (status == VDBQ_OK)
        status = check_values(changing);
    if (status == VDBQ_OK)
        status = change_tablets(changing);
    if (status == VDBQ_OK)
        status = take_tablets(changing, true);
    if (status == VDBQ_OK)
        status = check_unique(changing, before);
    catalogue_release(before);
    return status;
}

static void finish(struct changing *changing)
{
    if (changing->runs)
        new_rows_finish(&changing->run);
    for (size_t i = 0; i < changing->edits.count; i++)
        edit_release(VECTOR_ITEMS(&changing->edits, struct edit *)[i]);
    vector_finish(&changing->edits);
    vector_finish(&changing->tablets);
    arena_finish(&changing->arena);
}

enum vdbq_status transaction_change(struct transaction *transaction,
                                    uint32_t table_id,
                                    const struct row_changes *changes,
                                    struct error *error)
{
    struct changing changing = { .transaction = transaction,
                                 .changes = changes,
                                 .tablets = VECTOR(struct tablet_ref),
                                 .edits = VECTOR(struct edit *),
                                 .error = error };
    enum vdbq_status status = transaction_settle(transaction, error);

    if (status != VDBQ_OK || changes->count == 0)
        return status;
    changing.table = transaction_table(transaction, table_id, error);
    if (changing.table == NULL)
        return VDBQ_UNKNOWN;
    changing.numbers = row_numbers_init(changes);
    status = change(&changing);
    finish(&changing);
    return transaction_note(transaction, status);
}

enum vdbq_status transaction_fold(struct transaction *transaction,
                                  uint32_t table_id, struct error *error)
{
    struct changing changing = { .transaction = transaction,
                                 .tablets = VECTOR(struct tablet_ref),
                                 .edits = VECTOR(struct edit *),
                                 .error = error };
    enum vdbq_status status = transaction_settle(transaction, error);

    if (status != VDBQ_OK)
        return status;
    changing.table = transaction_table(transaction, table_id, error);
    if (changing.table == NULL)
        return VDBQ_UNKNOWN;
    if (!table_has_edits(changing.table))
        return VDBQ_OK;
    changing.empty = without_tablets(changing.table);
    status = change_tablets(&changing);
    if (status == VDBQ_OK)
        status = take_tablets(&changing, false);
    finish(&changing);
    return transaction_note(transaction, status);
}

/* What is asked of new values. */
static enum vdbq_status check_values(struct changing *changing)
{
    const struct table *table = changing->table;
    const struct row_changes *changes = changing->changes;
    enum vdbq_status status = VDBQ_OK;

    if (changes->numbers->type != VDBQ_BIGINT)
        return error_set(changing->error, VDBQ_TYPE,
                         "table %s: numbers of rows are not of their type",
                         table->name);
    for (unsigned i = 0; i < changes->column_count && status == VDBQ_OK; i++)
        status = values_check_column(table, changes->columns[i], changes->count,
                                     &changes->vectors[i], changing->error);
    if (status == VDBQ_OK && table->key != NO_KEY
        && changing->changed[table->key])
        status = key_check_nulls(table, changes->count, changing->values,
                                 changing->error);
    return status;
}

/* ---------------------------------------------------------------- tablets -- */

/* Adds rows first .. first + count - 1 to what is written anew. */
static enum vdbq_status add(struct changing *changing, const struct rows *rows,
                            uint32_t first, uint32_t count)
{
    unsigned columns = rows->column_count;
    struct vdbq_vector *vectors;
    enum vdbq_status status;

    if (count == 0)
        return VDBQ_OK;
    vectors = memory_zeroed(columns, sizeof *vectors);
    if (vectors == NULL)
        return error_no_memory(changing->error);
    rows_vectors(rows, vectors);
    for (unsigned i = 0; i < columns; i++) {
        vectors[i].values = (const char *)vectors[i].values
                            + first * type_bytes(vectors[i].type);
        if (vectors[i].nulls != NULL)
            vectors[i].nulls += first;
    }
    status = new_rows_add(&changing->run, &changing->transaction->writer,
                          &changing->empty, count, vectors, changing->error);
    memory_release(vectors);
    return status;
}

/* Adds all rows but those that go: their places in the tablet, ascending. */
static enum vdbq_status add_others(struct changing *changing,
                                   const struct rows *rows,
                                   const uint32_t *places, size_t count)
{
    enum vdbq_status status = VDBQ_OK;
    uint32_t first = 0;

    for (size_t i = 0; i < count && status == VDBQ_OK; i++) {
        status = add(changing, rows, first, places[i] - first);
        first = places[i] + 1;
        if (status == VDBQ_OK && stop_at(i))
            status = error_cancelled(changing->error);
    }
    return status == VDBQ_OK ? add(changing, rows, first, rows->count - first)
                             : status;
}

/* Puts the new values of a column, from change `next` on, into rows. The bytes
 * of texts stay the caller's. False: no memory. */
static bool put_column(const struct vdbq_vector *values, uint64_t next,
                       struct rows *rows, unsigned column,
                       const uint32_t *places, size_t count)
{
    struct rows_column *to = &rows->columns[column];
    size_t width = type_bytes(to->type);

    if (to->nulls == NULL && values->nulls != NULL)
        to->nulls = memory_zeroed(rows->capacity, 1);
    if (to->nulls == NULL && values->nulls != NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)to->values + places[i] * width,
               (const char *)values->values + (next + i) * width, width);
        if (to->nulls != NULL)
            to->nulls[places[i]] =
                values->nulls != NULL && values->nulls[next + i] != 0;
    }
    return true;
}

/* The rows of one tablet, as they are from now on. */
static enum vdbq_status change_rows(struct changing *changing,
                                    struct rows *rows, const uint32_t *places,
                                    size_t count)
{
    uint64_t next = changing->numbers.found - count;

    if (changing->changes->column_count == 0)
        return add_others(changing, rows, places, count);
    for (unsigned i = 0; i < rows->column_count; i++)
        if (changing->changed[i]
            && !put_column(&changing->values[i], next, rows, i, places, count))
            return error_no_memory(changing->error);
    return add(changing, rows, 0, rows->count);
}

/* Begins to write tablets anew, unless the last one was. */
static enum vdbq_status start_run(struct changing *changing)
{
    if (changing->runs)
        return VDBQ_OK;
    changing->runs = true;
    if (!new_rows_init(&changing->run, &changing->empty))
        return error_no_memory(changing->error);
    changing->run.claimed = true;
    return VDBQ_OK;
}

/* A tablet that holds rows which change. */
static enum vdbq_status write_anew(struct changing *changing,
                                   const struct tablet_ref *tablet,
                                   const struct vector *places)
{
    struct rows rows = { 0 };
    enum vdbq_status status = start_run(changing);

    if (status != VDBQ_OK)
        return status;
    status = rows_load(&rows, changing->transaction->writer.database,
                       changing->table, tablet, changing->error);
    if (status == VDBQ_OK && places->count == 0)
        status = add(changing, &rows, 0, rows.count);
    else if (status == VDBQ_OK)
        status = change_rows(changing, &rows, places->items, places->count);
    rows_finish(&rows);
    return status;
}

/* Writes the tablet that comes of an edit. */
static enum vdbq_status edit_into(struct changing *changing,
                                  const struct tablet_ref *tablet,
                                  const struct tablet_ref *edited)
{
    enum vdbq_status status = start_run(changing);

    if (status == VDBQ_OK)
        status = new_rows_add_edited(
            &changing->run, &changing->transaction->writer, &changing->empty,
            tablet, edited, changing->error);
    edit_release(edited->edit);
    return status;
}

/* Keeps the tablet with an edit. */
static enum vdbq_status edit_beside(struct changing *changing,
                                    const struct tablet_ref *edited)
{
    enum vdbq_status status;

    if (!vector_append(&changing->edits, &edited->edit, 1)) {
        edit_release(edited->edit);
        return error_no_memory(changing->error);
    }
    status = end_run(changing);
    if (status == VDBQ_OK && !vector_append(&changing->tablets, edited, 1))
        status = error_no_memory(changing->error);
    return status;
}

/* Changes rows of a tablet in the way that is best. */
static enum vdbq_status edit(struct changing *changing,
                             const struct tablet_ref *tablet,
                             const struct vector *places)
{
    const struct row_changes *changes = changing->changes;
    const struct edit_change change = { .places = places->items,
                                        .count = (uint32_t)places->count,
                                        .column_count = changes->column_count,
                                        .columns = changes->columns,
                                        .vectors = changes->vectors,
                                        .first = changing->numbers.found
                                                 - places->count };
    struct tablet_ref edited;
    enum edit_way way;
    enum vdbq_status status = transaction_edit(
        changing->transaction, changing->table, tablet, &change,
        &changing->arena, &edited, &way, changing->error);

    if (status != VDBQ_OK)
        return status;
    switch (way) {
    case EDIT_BESIDE:
        return edit_beside(changing, &edited);
    case EDIT_INTO:
        return edit_into(changing, tablet, &edited);
    default:
        return write_anew(changing, tablet, places);
    }
}

/* Tablets stay as they are. */
static enum vdbq_status keep(struct changing *changing,
                             const struct tablet_ref *tablets, size_t count)
{
    enum vdbq_status status = end_run(changing);

    if (status == VDBQ_OK && !vector_append(&changing->tablets, tablets, count))
        status = error_no_memory(changing->error);
    return status;
}

static enum vdbq_status change_tablet(struct changing *changing,
                                      const struct tablet_ref *tablet)
{
    struct vector places = VECTOR(uint32_t);
    const struct row_changes *changes = changing->changes;
    enum vdbq_status status = VDBQ_OK;

    if (changes == NULL) /* it has an edit */
        return write_anew(changing, tablet, &places);
    if (!row_numbers_find(&changing->numbers, tablet, &places))
        status = error_no_memory(changing->error);
    else if (places.count == 0)
        status = keep(changing, tablet, 1);
    else if (changes->column_count > 0 || places.count < tablet->rows)
        status = edit(changing, tablet, &places); /* else all of it goes */
    vector_finish(&places);
    return status;
}

/* Notes the tablets that were written anew; their facts are copied. */
static bool take_written(struct changing *changing)
{
    size_t bytes = changing->table->column_count * sizeof(struct column_facts);

    for (size_t i = 0; i < changing->run.written.count; i++) {
        struct tablet_ref tablet =
            VECTOR_ITEMS(&changing->run.written, struct tablet_ref)[i];
        struct column_facts *facts = arena_alloc(&changing->arena, bytes);
        if (facts == NULL)
            return false;
        memcpy(facts, tablet.facts, bytes);
        tablet.facts = facts;
        if (!vector_append(&changing->tablets, &tablet, 1))
            return false;
    }
    return true;
}

/* Writes the rest of neighbours that are written anew. */
static enum vdbq_status end_run(struct changing *changing)
{
    enum vdbq_status status;

    if (!changing->runs)
        return VDBQ_OK;
    status = new_rows_flush(&changing->run, &changing->transaction->writer,
                            &changing->empty, changing->error);
    if (status == VDBQ_OK && !take_written(changing))
        status = error_no_memory(changing->error);
    new_rows_finish(&changing->run);
    changing->runs = false;
    return status;
}

/* -------------------------------------------------------------------- end -- */

/* Makes the state with the tablets as they are from now on the draft; the
 * sample is another one where rows have changed. */
static enum vdbq_status take_tablets(struct changing *changing, bool changed)
{
    struct transaction *transaction = changing->transaction;
    uint32_t id = changing->table->id;
    struct catalogue *next = transaction_next(transaction, 0);
    enum vdbq_status status = VDBQ_OK;

    if (next == NULL
        || !catalogue_extend(next, id, 0, changing->tablets.items,
                             changing->tablets.count))
        status = error_no_memory(changing->error);
    if (status == VDBQ_OK && changed)
        status = changed_sample_take(
            &(struct changed_sample){ .database = transaction->writer.database,
                                      .table = changing->table,
                                      .changes = changing->changes,
                                      .values = changing->values,
                                      .changed = changing->changed,
                                      .numbers = &changing->numbers,
                                      .arena = &changing->arena,
                                      .error = changing->error },
            next);
    if (status != VDBQ_OK) {
        catalogue_release(next);
        return status;
    }
    transaction_take(transaction, next);
    changing->table = catalogue_table_id(transaction->draft, id);
    return VDBQ_OK;
}

/* Proves of rules about columns that changed that they hold still, now that
 * all rows have changed. What was known of others is known on. */
static enum vdbq_status check_unique(struct changing *changing,
                                     const struct catalogue *before)
{
    struct transaction *transaction = changing->transaction;
    struct database *database = transaction->writer.database;
    const struct table *table = changing->table;

    if (changing->changes->column_count == 0)
        return VDBQ_OK;
    unique_sets_follow(&database->unique_sets,
                       catalogue_table_id(before, table->id)->state,
                       table->state, changing->changed);
    return changed_rules_check(
        &(struct changed_rules){ .transaction = transaction,
                                 .table = table,
                                 .changes = changing->changes,
                                 .values = changing->values,
                                 .changed = changing->changed,
                                 .error = changing->error });
}
