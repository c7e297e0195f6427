/* SPDX-License-Identifier: MIT */
/*
 * Statements that change the database. Each is a transaction of its own,
 * durable when it returns, or between BEGIN and COMMIT a part of one: then a
 * failure undoes the statement alone. What a statement promises is decided
 * under the writer's lock: it is planned for the state that it changes.
 */
#include "api/alone/sound_rows.h"
#include "api/query.h"
#include "api/upsert.h"

/* ----------------------------------------------------------------- rows -- */

/* Rows that come change something, but where ON CONFLICT is about a target. */
static void count_rows(vdbq_query *query, uint64_t rows)
{
    const struct plan *plan = &query->plan;
    if (plan->kind != PLAN_INSERT || plan->insert.target.count == 0)
        query->stats.sum.rows_changed += rows;
}

/* Counts the rows of a batch: those that UPDATE's mark says are changed, or
 * all where it is none. */
static void count_batch(vdbq_query *query)
{
    const struct vdbq_batch *batch = &query->batch;
    const struct plan *plan = &query->plan;
    if (plan->kind != PLAN_REWRITE || !plan->rewrite.marked) {
        count_rows(query, batch->rows);
        return;
    }
    const int32_t *marks = batch->column[batch->columns - 1].values;
    for (uint64_t i = 0; i < batch->rows; i++)
        query->stats.sum.rows_changed += marks[i] != 0;
}

/* INSERT OR IGNORE: adds rows of which it has to be known which ones were. */
static enum vdbq_status add_some(vdbq_query *query, struct transaction *to,
                                 uint32_t table_id, uint64_t rows,
                                 const struct vdbq_vector *vectors)
{
    struct error *error = &query->db->error;
    bool returns = query_returns(query);
    uint8_t *added = memory_zeroed((size_t)rows + 1, 1);
    if (added == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        transaction_insert_free(to, table_id, rows, vectors, added, error);
    for (uint64_t i = 0; returns && i < rows && status == VDBQ_OK; i++)
        if (added[i])
            status = query_returned_add(query, vectors, i, 1);
    while (rows > 0 && !added[rows - 1])
        rows--;
    if (status == VDBQ_OK && rows > 0)
        query_note_inserted(query, vectors, rows - 1);
    memory_release(added);
    return status;
}

/* Adds rows, and keeps what is returned of them. */
static enum vdbq_status add_all(vdbq_query *query, struct transaction *to,
                                uint32_t table_id, uint64_t rows,
                                const struct vdbq_vector *vectors,
                                enum conflict conflict)
{
    if (conflict == CONFLICT_IGNORE)
        return add_some(query, to, table_id, rows, vectors);
    enum vdbq_status status = transaction_insert(to, table_id, rows, vectors,
                                                 conflict, &query->db->error);
    if (status == VDBQ_OK && rows > 0)
        query_note_inserted(query, vectors, rows - 1);
    return status == VDBQ_OK ? query_returned_add(query, vectors, 0, rows)
                             : status;
}

/* INSERT OR IGNORE: adds those of the rows that break no rule. */
static enum vdbq_status add_sound(vdbq_query *query, struct transaction *to,
                                  const struct coming_rows *coming)
{
    const struct plan_insert *insert = &query->plan.insert;
    const struct catalogue *now = transaction_catalogue(to);
    const struct rule_source source = {
        database_of(query->db->database, insert->table_id), now,
        catalogue_table_id(now, insert->table_id)
    };
    struct sound_rows sound;
    enum vdbq_status status =
        sound_rows_find(&source, coming, &sound, &query->db->error);
    if (status == VDBQ_OK && sound.count > 0)
        status = add_all(query, to, insert->table_id, sound.count,
                         sound.vectors, CONFLICT_IGNORE);
    sound_rows_finish(&sound);
    return status;
}

/* Adds rows as the plan says, and keeps what is returned of them. */
static enum vdbq_status add_rows(vdbq_query *query, struct transaction *to,
                                 uint32_t table_id, uint64_t rows,
                                 const struct vdbq_vector *vectors,
                                 enum conflict conflict)
{
    const struct plan_insert *insert = &query->plan.insert;
    bool inserts = query->plan.kind == PLAN_INSERT;
    if (inserts && insert->target.count > 0)
        return upsert_free(query, to, rows, vectors);
    if (inserts && insert->ignores_broken) {
        const struct coming_rows coming = { rows, vectors,
                                            insert->from_query
                                                ? query->batch.columns
                                                : insert->column_count };
        return add_sound(query, to, &coming);
    }
    return add_all(query, to, table_id, rows, vectors, conflict);
}

/* Adds the rows of the query's stream to a table. */
static enum vdbq_status add_stream(vdbq_query *query, struct transaction *to,
                                   uint32_t table_id, enum conflict conflict)
{
    struct vdbq_batch *batch = &query->batch;
    enum vdbq_status status = VDBQ_OK;
    *batch = (struct vdbq_batch){ .rows = 1 };
    while (status == VDBQ_OK && batch->rows > 0) {
        status = query_change_batch(query);
        if (status == VDBQ_OK && batch->rows > 0)
            count_batch(query);
        if (status == VDBQ_OK && batch->rows > 0)
            status = add_rows(query, to, table_id, batch->rows, batch->column,
                              conflict);
    }
    *batch = (struct vdbq_batch){ 0 };
    return status;
}

/* Opens what the plan's steps read: the state that is being changed. */
static enum vdbq_status open_stream(vdbq_query *query,
                                    struct transaction *transaction)
{
    enum vdbq_status status =
        transaction_snapshot(transaction, &query->snapshot, &query->db->error);
    uint64_t start = query_clock(query);
    if (status == VDBQ_OK)
        status = query_stream(query);
    query->times.steps_ns += query_clock(query) - start;
    return status;
}

/* Whether INSERT adds one row, or fails, and changes nothing else. */
static bool adds_row(const vdbq_query *query,
                     const struct transaction *transaction)
{
    const struct plan_insert *insert = &query->plan.insert;
    return query->plan.kind == PLAN_INSERT && !insert->from_query
           && insert->rows == 1 && insert->conflict == CONFLICT_FAIL
           && insert->target.count == 0 && !insert->updates
           && !query_returns(query)
           && transaction_takes_row(transaction, insert->table_id);
}

static enum vdbq_status insert(vdbq_query *query,
                               struct transaction *transaction)
{
    const struct plan_insert *insert = &query->plan.insert;
    if (insert->updates)
        return upsert_update(query, transaction);
    if (!insert->from_query)
        count_rows(query, insert->rows);
    if (adds_row(query, transaction)) {
        query_note_inserted(query, insert->vectors, 0);
        return transaction_add_row(transaction, insert->table_id,
                                   insert->vectors, &query->db->error);
    }
    if (!insert->from_query)
        return add_rows(query, transaction, insert->table_id, insert->rows,
                        insert->vectors, insert->conflict);
    enum vdbq_status status = open_stream(query, transaction);
    if (status == VDBQ_OK)
        status =
            add_stream(query, transaction, insert->table_id, insert->conflict);
    return status;
}

/* UPDATE and DELETE of some rows. */
static enum vdbq_status change_some(vdbq_query *query,
                                    struct transaction *transaction)
{
    enum vdbq_status status = open_stream(query, transaction);

    return status == VDBQ_OK ? query_change_some(query, transaction) : status;
}

/* UPDATE and DELETE of most: the stream reads the rows as they were. Where it turns
 * out that nothing changes, nothing is written. */
static enum vdbq_status rewrite(vdbq_query *query,
                                struct transaction *transaction)
{
    uint32_t id = query->plan.rewrite.table_id;
    uint64_t before =
        catalogue_table_id(transaction_catalogue(transaction), id)->rows;
    uint64_t *changed = &query->stats.sum.rows_changed;
    enum vdbq_status status = open_stream(query, transaction);
    if (status == VDBQ_OK)
        status = transaction_clear(transaction, id, &query->db->error);
    if (status == VDBQ_OK)
        status = add_stream(query, transaction, id, CONFLICT_FAIL);
    if (status == VDBQ_OK && !query->plan.rewrite.marked)
        *changed = before - *changed;
    if (status == VDBQ_OK && *changed == 0)
        transaction_undo(transaction);
    return status;
}

/* --------------------------------------------------------------- schema -- */

static enum vdbq_status create_table(vdbq_query *query,
                                     struct transaction *transaction)
{
    const struct plan_create *create = &query->plan.create;
    const struct catalogue *now = transaction_catalogue(transaction);
    struct error *error = &query->db->error;
    if (create->if_not_exists
        && (catalogue_table(now, create->name) != NULL
            || catalogue_view(now, create->name)))
        return VDBQ_OK;
    enum vdbq_status status = VDBQ_OK;
    if (create->from_query)
        status = open_stream(query, transaction);
    if (status == VDBQ_OK && create->replaces
        && catalogue_table(now, create->name) != NULL)
        status = transaction_drop_table(
            transaction, catalogue_table(now, create->name)->id, error);
    if (status == VDBQ_OK)
        status =
            transaction_create_table(transaction, create->name, create->columns,
                                     create->column_count, create->key, error);
    if (status != VDBQ_OK)
        return status;
    uint32_t id =
        catalogue_table(transaction_catalogue(transaction), create->name)->id;
    status = transaction_constrain(transaction, id, create->uniques.items,
                                   (unsigned)create->uniques.count, error);
    if (status == VDBQ_OK)
        status = transaction_add_checks(transaction, id, create->checks.items,
                                        (unsigned)create->checks.count, error);
    if (status == VDBQ_OK && create->from_query)
        status = add_stream(query, transaction, id, CONFLICT_FAIL);
    return status;
}

static enum vdbq_status create_view(vdbq_query *query,
                                    struct transaction *transaction)
{
    const struct plan_view *plan = &query->plan.view;
    const struct catalogue *now = transaction_catalogue(transaction);
    struct view view = { plan->name, plan->sql, plan->temporary };
    if (plan->if_not_exists
        && (catalogue_view(now, plan->name) != NULL
            || catalogue_table(now, plan->name) != NULL))
        return VDBQ_OK;
    enum vdbq_status status = VDBQ_OK;
    if (plan->replaces && catalogue_view(now, plan->name) != NULL)
        status =
            transaction_drop_view(transaction, plan->name, &query->db->error);
    return status == VDBQ_OK
               ? transaction_create_view(transaction, &view, &query->db->error)
               : status;
}

static enum vdbq_status create_index(vdbq_query *query,
                                     struct transaction *transaction)
{
    const struct plan_index *plan = &query->plan.index;
    const struct catalogue *now = transaction_catalogue(transaction);
    struct index index = { .name = plan->name,
                           .table_id = plan->table_id,
                           .unique = plan->unique,
                           .column_count = plan->column_count,
                           .columns = plan->columns,
                           .collations = plan->collations,
                           .keys = plan->keys };
    if (plan->if_not_exists && catalogue_index(now, plan->name) != NULL)
        return VDBQ_OK;
    return transaction_create_index(transaction, &index, &query->db->error);
}

/* No row of the statement's counts as changed. */
static enum vdbq_status alter(vdbq_query *query,
                              struct transaction *transaction)
{
    const struct plan_alter *plan = &query->plan.alter;
    const struct alteration *alteration = &plan->alteration;
    enum vdbq_status status = VDBQ_OK;
    if (plan->nothing)
        return VDBQ_OK;
    if (alteration->from != NULL)
        status = open_stream(query, transaction);
    if (status == VDBQ_OK)
        status = transaction_alter(transaction, alteration, &query->db->error);
    if (status == VDBQ_OK && alteration->from != NULL)
        status =
            add_stream(query, transaction, alteration->table_id, CONFLICT_FAIL);
    query->stats.sum.rows_changed = 0;
    return status;
}

static enum vdbq_status drop(vdbq_query *query, struct transaction *transaction)
{
    const struct plan_drop *plan = &query->plan.drop;
    const struct catalogue *now = transaction_catalogue(transaction);
    struct error *error = &query->db->error;
    const struct table *table;
    switch (query->plan.kind) {
    case PLAN_REINDEX:
        return transaction_reindex(transaction, plan->name, error);
    case PLAN_DROP_VIEW:
        if (plan->if_exists && catalogue_view(now, plan->name) == NULL)
            return VDBQ_OK;
        return transaction_drop_view(transaction, plan->name, error);
    case PLAN_DROP_INDEX:
        if (plan->if_exists && catalogue_index(now, plan->name) == NULL)
            return VDBQ_OK;
        return transaction_drop_index(transaction, plan->name, error);
    default:
        table = catalogue_table(now, plan->name);
        if (table == NULL)
            return plan->if_exists ? VDBQ_OK
                                   : error_set(error, VDBQ_UNKNOWN,
                                               "no table \"%s\"", plan->name);
        return transaction_drop_table(transaction, table->id, error);
    }
}

/* ------------------------------------------------------------------ all -- */

bool query_changes(const vdbq_query *query)
{
    if (query->statement == NULL)
        return false;
    switch (query->statement->kind) {
    case AST_EMPTY:
    case AST_SELECT:
    case AST_COPY:
    case AST_DESCRIBE:
    case AST_SUMMARIZE:
    case AST_CHECK:
    case AST_PRAGMA:
    case AST_ANALYZE:
        return false;
    default:
        return true;
    }
}

static enum vdbq_status change(vdbq_query *query,
                               struct transaction *transaction)
{
    switch (query->plan.kind) {
    case PLAN_CREATE_TABLE:
        return create_table(query, transaction);
    case PLAN_CREATE_VIEW:
        return create_view(query, transaction);
    case PLAN_CREATE_INDEX:
        return create_index(query, transaction);
    case PLAN_ALTER:
        return alter(query, transaction);
    case PLAN_INSERT:
        return insert(query, transaction);
    case PLAN_CHANGE:
        return change_some(query, transaction);
    case PLAN_REWRITE:
        return rewrite(query, transaction);
    case PLAN_COPY_FROM:
        return query_copy_from(query, transaction);
    default:
        return drop(query, transaction);
    }
}

/* Does what the plan says. Of rows that INSERT OR IGNORE leaves out none is
 * counted. */
static enum vdbq_status change_rows(vdbq_query *query,
                                    struct transaction *transaction)
{
    const struct plan_insert *insert = &query->plan.insert;
    uint32_t id = insert->table_id;
    bool some =
        query->plan.kind == PLAN_INSERT && insert->conflict == CONFLICT_IGNORE;
    uint64_t before = 0;
    if (some)
        before =
            catalogue_table_id(transaction_catalogue(transaction), id)->rows;
    enum vdbq_status status = change(query, transaction);
    if (status == VDBQ_OK)
        status = query_returned_end(query);
    if (status == VDBQ_OK && some)
        status = transaction_settle(transaction, &query->db->error);
    if (status == VDBQ_OK && some)
        query->stats.sum.rows_changed =
            catalogue_table_id(transaction_catalogue(transaction), id)->rows
            - before;
    return status;
}

/* Who interrupts a change must hear what became of it. After the commit has
 * begun nothing interrupts it. */
static enum vdbq_status told_unchanged(vdbq *db, enum vdbq_status status)
{
    if (session_ended_by(db, status) != VDBQ_CANCELLED)
        return status;
    error_set(&db->error, VDBQ_CANCELLED, "interrupted: nothing was changed");
    return db->transaction == NULL
               ? VDBQ_CANCELLED
               : error_hint(&db->error, "the transaction is open still, as it "
                                        "was before this statement");
}

/* Plans for what the transaction sees, and changes that. */
static enum vdbq_status change_within(vdbq_query *query,
                                      struct transaction *transaction)
{
    enum vdbq_status status =
        query_plan(query, transaction_catalogue(transaction));
    uint64_t planned = query_clock(query), before = query->times.steps_ns;
    if (status == VDBQ_OK)
        status = change_rows(query, transaction);
    query_end(query);
    query->times.write_ns +=
        query_clock(query) - planned - (query->times.steps_ns - before);
    return status;
}

/* Ends the statement's transaction, or its part of an open one. */
static enum vdbq_status leave(vdbq_query *query,
                              struct transaction *transaction,
                              enum vdbq_status status)
{
    struct query_times *times = &query->times;
    bool own = transaction != *session_place(query->db, query->home_temporary);
    uint64_t start = query_clock(query);
    status = session_leave(query->db, transaction, status);
    *(own ? &times->commit_ns : &times->write_ns) += query_clock(query) - start;
    return status;
}

/* INSERT of one row into the open transaction: it needs no state to go back
 * to. `*done`: that was all. */
static enum vdbq_status insert_row(vdbq_query *query, bool *done)
{
    struct transaction *transaction =
        *session_place(query->db, query->home_temporary);
    *done = false;
    if (query->statement->kind != AST_INSERT || transaction == NULL
        || query->db->append != NULL || query->db->copying
        || query->statement->files != NULL)
        return VDBQ_OK;
    enum vdbq_status status =
        query_plan(query, transaction_catalogue(transaction));
    *done = status != VDBQ_OK || adds_row(query, transaction);
    return status == VDBQ_OK && *done ? insert(query, transaction) : status;
}

/* Enters a transaction for a change, and leaves it. */
static enum vdbq_status change_once(vdbq_query *query)
{
    struct transaction *transaction;
    bool done = false;
    enum vdbq_status status = query_find_home(query);
    if (status == VDBQ_OK)
        status = insert_row(query, &done);
    if (done)
        return status;
    if (status == VDBQ_OK)
        status = query_files_open(query);
    if (status == VDBQ_OK)
        status = query_beside_open(query);
    if (status != VDBQ_OK)
        return status;
    bool apart = query_is_apart(query);
    uint64_t start = query_clock(query);
    if (apart)
        transaction_set_apart(query->db->transaction, true);
    status = session_enter(query->db, query->home_temporary, &transaction);
    query->times.write_ns += query_clock(query) - start;
    if (status == VDBQ_OK)
        status = change_within(query, transaction);
    status = leave(query, transaction, status);
    if (apart)
        transaction_set_apart(query->db->transaction, false);
    return status;
}

/* The same, again with a plan that does not hope where that is due. */
static enum vdbq_status change_surely(vdbq_query *query)
{
    enum vdbq_status status = change_once(query);
    if (!query_hoped(query, status))
        return status;
    query_be_careful(query);
    query_returned_forget(query);
    query->stats.sum.rows_changed = 0;
    return change_once(query);
}

/* Whether it failed since another connection was killed whose commit it followed, and
 * may do what it is to do once more: nothing of it was kept. */
static bool is_unfounded(const vdbq_query *query, enum vdbq_status status)
{
    return status == VDBQ_IO && query->db->transaction == NULL
           && database_unfounded(query->db->database);
}

/* The same, again where it is not its fault that it failed. */
static enum vdbq_status change_steadily(vdbq_query *query)
{
    enum { TRIES = 8 };
    enum vdbq_status status = change_surely(query);
    for (unsigned i = 1; i < TRIES && is_unfounded(query, status); i++) {
        error_clear(&query->db->error);
        query_returned_forget(query);
        query->stats.sum.rows_changed = 0;
        status = change_surely(query);
    }
    return status;
}

/* PREPARE, of a text that can be prepared. */
static enum vdbq_status give_name(vdbq_query *query)
{
    vdbq *db = query->db;
    const struct ast_named *named = &query->statement->named;
    char *text = prepared_text(query->text, named->begin, named->end);
    vdbq_query *tried;
    if (text == NULL)
        return error_no_memory(&db->error);
    enum vdbq_status status =
        vdbq_prepare(db, text, (ptrdiff_t)named->end, &tried, NULL);
    vdbq_query_close(tried);
    if (status == VDBQ_OK)
        status = prepared_add(&db->prepared, named->name.text, text, named->end,
                              &db->error);
    if (status != VDBQ_OK)
        memory_release(text);
    return status;
}

/* DEALLOCATE. */
static enum vdbq_status take_name(vdbq_query *query)
{
    const struct ast_name *name = &query->statement->named.name;
    struct prepared **list = &query->db->prepared;
    if (name->text == NULL)
        prepared_finish(list);
    else if (!prepared_remove(list, name->text))
        return query_no_name(query->db, name);
    return VDBQ_OK;
}

static enum vdbq_status change_any(vdbq_query *query)
{
    vdbq *db = query->db;
    if (db->copying)
        return error_set(&db->error, VDBQ_MISUSE,
                         "a COPY statement runs on this connection");
    switch (query->statement->kind) {
    case AST_BEGIN:
        return session_open(db);
    case AST_COMMIT:
        return session_end(db, true);
    case AST_ROLLBACK:
        return session_end(db, false);
    case AST_SAVEPOINT:
    case AST_RELEASE:
    case AST_ROLLBACK_TO:
        return session_savepoint(db, query->statement->kind,
                                 &query->statement->savepoint);
    case AST_VACUUM:
        return session_vacuum(db, NULL);
    case AST_PREPARE:
        return give_name(query);
    case AST_DEALLOCATE:
        return take_name(query);
    default:
        return change_steadily(query);
    }
}

enum vdbq_status query_unchanged(vdbq_query *query, enum vdbq_status status)
{
    return query_changes(query) ? told_unchanged(query->db, status) : status;
}

enum vdbq_status query_change(vdbq_query *query)
{
    enum vdbq_status status = stop_pause(&query->db->error);
    if (status == VDBQ_OK)
        status = change_any(query);
    query_count_changes(query, status);
    return query_unchanged(query, status);
}
