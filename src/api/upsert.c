/* SPDX-License-Identifier: MIT */
/*
 * INSERT ... ON CONFLICT, as if each row came after the ones before it.
 *
 * Rows that have one key among them go in rounds: the first of each key, then
 * the second ones, and so on. The first meets a row of the table, or becomes a
 * new row; a later one meets what the one before it made or left. What a row
 * becomes is computed for a whole round at once, by a query that is planned for
 * it, and is kept in memory: the table changes once, at the end.
 *
 * That is the same as row by row as long as no SET makes a row meet others than
 * before. Where one may (`moves`), a row that meets another one is done before
 * the next one is looked at.
 */
#include "api/upsert.h"

#include "data/database/rows_gather.h"
#include "data/transaction/match.h"
#include "data/transaction/row_conflicts.h"

enum { MOVING_ROWS = 1024 }; /* that are looked at at once where keys change */

/* ------------------------------------------------------------------- table -- */

/* Whether a row is the first of its key and its key's row is new. */
static bool is_new(const struct upsert *upsert, uint32_t at)
{
    return upsert->conflicts[at].before == 0 && !upsert->conflicts[at].there;
}

/* Adds a changed row's id and its values of the columns that SET names. */
static enum vdbq_status gather_change(const struct upsert *upsert,
                                      const struct upsert_state *state,
                                      struct vdbq_vector *parts,
                                      struct rows *ids, struct rows *values)
{
    const struct plan_insert *plan = upsert->plan;
    enum vdbq_status status = rows_gather(ids, &upsert->output[UPSERT_MET], 1,
                                          state->met, 1, upsert->error);

    for (unsigned i = 0; i < plan->set_count; i++)
        parts[i] = upsert->output[UPSERT_BEFORE + plan->sets[i]];
    return status == VDBQ_OK ? rows_gather(values, parts, plan->set_count,
                                           state->output, 1, upsert->error)
                             : status;
}

/* The same, both in rows of one. */
static enum vdbq_status gather_changes(const struct upsert *upsert,
                                       struct rows *changes)
{
    unsigned count = upsert->plan->set_count + 1;
    struct vdbq_vector *parts = memory_zeroed(count, sizeof *parts);
    struct rows ids = { 0 }, values = { 0 };
    enum vdbq_status status =
        parts != NULL ? VDBQ_OK : error_no_memory(upsert->error);

    for (uint32_t i = 0; i < upsert->count && status == VDBQ_OK; i++)
        if (upsert->conflicts[i].before == 0 && upsert->conflicts[i].there
            && upsert->states[i].changed)
            status =
                gather_change(upsert, &upsert->states[i], parts, &ids, &values);
    if (status == VDBQ_OK && ids.count > 0) {
        rows_vectors(&ids, parts);
        rows_vectors(&values, parts + 1);
        status =
            rows_gather(changes, parts, count, 0, ids.count, upsert->error);
    }
    memory_release(parts);
    rows_finish(&ids);
    rows_finish(&values);
    return status;
}

static enum vdbq_status change_rows(const struct upsert *upsert,
                                    const struct rows *changes)
{
    const struct plan_insert *plan = upsert->plan;
    struct vdbq_vector *vectors =
        memory_zeroed(changes->column_count, sizeof *vectors);
    enum vdbq_status status;

    if (vectors == NULL)
        return error_no_memory(upsert->error);
    rows_vectors(changes, vectors);
    status = transaction_change(
        upsert->transaction, plan->table_id,
        &(struct row_changes){ .count = changes->count,
                               .numbers = vectors,
                               .column_count = plan->set_count,
                               .columns = plan->sets,
                               .vectors = vectors + 1 },
        upsert->error);
    memory_release(vectors);
    return status;
}

/* Changes the rows of the table that were met. */
static enum vdbq_status write_changes(const struct upsert *upsert)
{
    struct rows changes = { 0 };
    enum vdbq_status status = gather_changes(upsert, &changes);

    if (status == VDBQ_OK && changes.count > 0)
        status = match_rows(&changes, 0, upsert->error);
    if (status == VDBQ_OK && changes.count > 0)
        status = change_rows(upsert, &changes);
    rows_finish(&changes);
    return status;
}

/* Adds the new rows, as they are after all that came. */
static enum vdbq_status write_new(const struct upsert *upsert)
{
    const struct plan_insert *plan = upsert->plan;
    struct rows made = { 0 };
    struct vdbq_vector *vectors =
        memory_zeroed(plan->column_count, sizeof *vectors);
    enum vdbq_status status =
        vectors != NULL ? VDBQ_OK : error_no_memory(upsert->error);

    for (uint32_t i = 0; i < upsert->count && status == VDBQ_OK; i++) {
        uint32_t row;
        const struct vdbq_vector *values;
        if (!is_new(upsert, i))
            continue;
        values = upsert_values(upsert, i, &row);
        status = rows_gather(&made, values, plan->column_count, row, 1,
                             upsert->error);
    }
    if (status == VDBQ_OK && made.count > 0) {
        rows_vectors(&made, vectors);
        status = transaction_insert_checked(upsert->transaction, plan->table_id,
                                            made.count, vectors, upsert->error);
        query_note_inserted(upsert->query, vectors, made.count - 1);
    }
    upsert->query->stats.sum.rows_changed += made.count;
    memory_release(vectors);
    rows_finish(&made);
    return status;
}

/* What is returned of each row, in the order in which they came. */
static enum vdbq_status return_rows(const struct upsert *upsert)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t i = 0; i < upsert->count && status == VDBQ_OK; i++)
        if (is_new(upsert, i))
            status = query_returned_add(upsert->query, upsert->coming, i, 1);
        else if (upsert->returned[i] > 0)
            status = query_returned_add(upsert->query,
                                        upsert->output + UPSERT_BEFORE,
                                        upsert->returned[i] - 1, 1);
    return status;
}

/* ------------------------------------------------------------------- slice -- */

/* Room for what is known of each of so many rows. */
static enum vdbq_status start(struct upsert *upsert, uint32_t count)
{
    upsert->coming =
        memory_zeroed(upsert->source->column_count, sizeof *upsert->coming);
    upsert->conflicts = memory_zeroed(count, sizeof *upsert->conflicts);
    upsert->states = memory_zeroed(count, sizeof *upsert->states);
    upsert->returned = memory_zeroed(count, sizeof *upsert->returned);
    upsert->round = memory_zeroed(count, sizeof *upsert->round);
    upsert->count = count;
    if (upsert->coming == NULL || upsert->conflicts == NULL
        || upsert->states == NULL || upsert->returned == NULL
        || upsert->round == NULL)
        return error_no_memory(upsert->error);
    rows_vectors(upsert->source, upsert->coming);
    for (unsigned i = 0; i < upsert->source->column_count; i++)
        upsert->coming[i] = vector_behind(&upsert->coming[i], upsert->first);
    return transaction_row_conflicts(
        upsert->transaction, upsert->plan->table_id, &upsert->plan->target,
        count, upsert->coming, CONFLICTS_LIKELY, upsert->conflicts,
        upsert->error);
}

static void finish(struct upsert *upsert)
{
    memory_release(upsert->coming);
    memory_release(upsert->conflicts);
    memory_release(upsert->states);
    memory_release(upsert->returned);
    memory_release(upsert->round);
    memory_release(upsert->output);
    rows_finish(&upsert->outputs);
}

/* Where keys change: how many of the first rows can be done together. They are
 * new, or there is one. */
static uint32_t together(const struct upsert *upsert)
{
    uint32_t count = 0;

    while (count < upsert->count && is_new(upsert, count))
        count++;
    return count > 0 ? count : 1;
}

/* Does some of the rows from `first` on, and moves that behind them. */
static enum vdbq_status do_slice(vdbq_query *query,
                                 struct transaction *transaction,
                                 struct rows *source, uint32_t *first)
{
    const struct plan_insert *plan = &query->plan.insert;
    struct upsert upsert = { .query = query,
                             .transaction = transaction,
                             .plan = plan,
                             .source = source,
                             .first = *first,
                             .error = &query->db->error };
    uint32_t left = source->count - *first;
    enum vdbq_status status =
        start(&upsert, plan->moves && left > MOVING_ROWS ? MOVING_ROWS : left);

    if (status == VDBQ_OK && plan->moves)
        upsert.count = together(&upsert);
    if (status == VDBQ_OK)
        status = upsert_rounds(&upsert);
    if (status == VDBQ_OK)
        status = write_changes(&upsert);
    if (status == VDBQ_OK)
        status = write_new(&upsert);
    if (status == VDBQ_OK)
        status = return_rows(&upsert);
    *first += upsert.count;
    finish(&upsert);
    return status;
}

/* All rows that come. */
static enum vdbq_status gather_source(vdbq_query *query, struct rows *rows)
{
    const struct plan_insert *plan = &query->plan.insert;

    return plan->from_query
               ? upsert_gather(query, rows)
               : rows_gather(rows, plan->vectors, plan->column_count, 0,
                             plan->rows, &query->db->error);
}

enum vdbq_status upsert_update(vdbq_query *query,
                               struct transaction *transaction)
{
    struct rows source = { 0 };
    enum vdbq_status status =
        transaction_snapshot(transaction, &query->snapshot, &query->db->error);
    uint32_t first = 0;

    if (status == VDBQ_OK)
        status = gather_source(query, &source);
    query->stats.sum.rows_changed = 0;
    while (status == VDBQ_OK && first < source.count) {
        status = do_slice(query, transaction, &source, &first);
        if (status == VDBQ_OK)
            status = stop_pause(&query->db->error);
    }
    rows_finish(&source);
    return status;
}

/* ------------------------------------------------------------- DO NOTHING -- */

/* Adds rows first .. end - 1 of the vectors. */
static enum vdbq_status add_run(vdbq_query *query,
                                struct transaction *transaction,
                                const struct vdbq_vector *vectors,
                                uint64_t first, uint64_t end)
{
    const struct plan_insert *plan = &query->plan.insert;
    struct vdbq_vector *run = memory_zeroed(plan->column_count, sizeof *run);
    enum vdbq_status status;

    if (run == NULL)
        return error_no_memory(&query->db->error);
    for (unsigned i = 0; i < plan->column_count; i++)
        run[i] = vector_behind(&vectors[i], first);
    status = transaction_insert_checked(transaction, plan->table_id,
                                        end - first, run, &query->db->error);
    memory_release(run);
    query_note_inserted(query, vectors, end - 1);
    if (status == VDBQ_OK)
        status = query_returned_add(query, vectors, first, end - first);
    query->stats.sum.rows_changed += end - first;
    return status;
}

/* Adds runs of rows that meet no other. */
static enum vdbq_status add_free(vdbq_query *query,
                                 struct transaction *transaction, uint32_t rows,
                                 const struct vdbq_vector *vectors,
                                 const struct row_conflict *conflicts)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t first = 0, end; first < rows && status == VDBQ_OK;
         first = end) {
        bool free = !conflicts[first].there && conflicts[first].before == 0;
        for (end = first + 1; end < rows; end++)
            if (free != (!conflicts[end].there && conflicts[end].before == 0))
                break;
        if (free)
            status = add_run(query, transaction, vectors, first, end);
    }
    return status;
}

enum vdbq_status upsert_free(vdbq_query *query, struct transaction *transaction,
                             uint64_t rows, const struct vdbq_vector *vectors)
{
    const struct plan_insert *plan = &query->plan.insert;
    struct error *error = &query->db->error;
    struct row_conflict *conflicts;
    enum vdbq_status status;

    if (rows > UINT32_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "one statement changes at most %u rows", UINT32_MAX);
    conflicts = memory_zeroed((size_t)rows + 1, sizeof *conflicts);
    if (conflicts == NULL)
        return error_no_memory(error);
    status = transaction_row_conflicts(transaction, plan->table_id,
                                       &plan->target, (uint32_t)rows, vectors,
                                       CONFLICTS_SURE, conflicts, error);
    if (status == VDBQ_OK)
        status =
            add_free(query, transaction, (uint32_t)rows, vectors, conflicts);
    memory_release(conflicts);
    return status;
}
