/* SPDX-License-Identifier: MIT */
/*
 * DO UPDATE: what becomes of the rows that others meet, round by round. Each
 * round is a query (plan/statement/upsert.c), planned for its rows.
 */
#include "api/upsert.h"

#include "data/database/rows_gather.h"

/* ------------------------------------------------------------------ query -- */

/* Ends the query that ran, to run another one in the same transaction. */
static enum vdbq_status reopen(vdbq_query *query,
                               struct transaction *transaction)
{
    stream_close(query->stream);
    query->stream = NULL;
    query_texts_finish(&query->texts);
    catalogue_release(query->joined);
    query->joined = NULL;
    snapshot_close(&query->snapshot);
    query->snapshot = (struct snapshot){ 0 };
    query->stats.counts = NULL;
    return transaction_snapshot(transaction, &query->snapshot,
                                &query->db->error);
}

/* Plans DO UPDATE for rows, in `arena`, and a catalogue with the query's files. */
static enum vdbq_status plan_for(vdbq_query *query,
                                 const struct catalogue *joined,
                                 const struct plan_conflicts *conflicts,
                                 struct arena *arena, struct plan *plan)
{
    struct plan_limits limits = plan_limits_now(query->db);
    enum vdbq_status status;

    error_clear(
        &query->db->error); /* of a wait for memory that came to an end */
    limits.careful = true;
    limits.now = query->now != 0 ? query->now : query->plan.now;
    limits.conflicts = conflicts;
    status = plan_statement(query->statement, query->text, query->length,
                            joined, query->parameters, &limits, arena, plan,
                            &query->db->error);
    if (status != VDBQ_OK)
        return status;
    plan->explain = AST_RUN;
    if (plan->now != 0)
        query->now = plan->now;
    status = steps_check(&plan->steps, &query->db->error);
    if (status != VDBQ_OK)
        plan_finish(plan);
    return status;
}

/* ... of what the query sees. */
static enum vdbq_status plan_round(vdbq_query *query,
                                   const struct plan_conflicts *conflicts,
                                   struct arena *arena, struct plan *plan)
{
    struct catalogue *joined;
    enum vdbq_status status =
        query_files_join(query, query->snapshot.catalogue, &joined);

    if (status != VDBQ_OK)
        return status;
    status = plan_for(query, joined, conflicts, arena, plan);
    catalogue_release(joined);
    return status;
}

enum vdbq_status upsert_explain(vdbq_query *query, struct text *text)
{
    const struct plan_insert *insert = &query->plan.insert;
    const struct plan_conflicts conflicts = { .rows = insert->rows,
                                              .coming = insert->vectors };
    struct arena arena = { 0 };
    struct plan made;
    enum vdbq_status status =
        plan_for(query, query->planned_for, &conflicts, &arena, &made);

    if (status == VDBQ_OK) {
        if (query->plan.explain == AST_EXPLAIN_TREE)
            steps_print_names(&made.steps, text);
        else
            steps_print(&made.steps, text);
        plan_finish(&made);
    }
    arena_finish(&arena);
    return status;
}

enum vdbq_status upsert_gather(vdbq_query *query, struct rows *rows)
{
    struct vdbq_batch *batch = &query->batch;
    enum vdbq_status status = query_stream(query);

    *batch = (struct vdbq_batch){ .rows = 1 };
    while (status == VDBQ_OK && batch->rows > 0) {
        status = query_change_batch(query);
        if (status == VDBQ_OK && batch->rows > 0)
            status = rows_gather(rows, batch->column, batch->columns, 0,
                                 batch->rows, &query->db->error);
    }
    *batch = (struct vdbq_batch){ 0 };
    stream_close(query->stream);
    query->stream = NULL;
    return status;
}

/* Adds to `outputs` what becomes of the rows that these meet. */
static enum vdbq_status compute(struct upsert *upsert,
                                const struct plan_conflicts *conflicts)
{
    vdbq_query *query = upsert->query;
    struct plan own = query->plan, made;
    struct arena arena = { 0 };
    enum vdbq_status status = reopen(query, upsert->transaction);

    if (status == VDBQ_OK)
        status = plan_round(query, conflicts, &arena, &made);
    if (status == VDBQ_OK) {
        query->plan = made;
        status = upsert_gather(query, &upsert->outputs);
        query_texts_finish(&query->texts);
        query->plan = own;
        plan_finish(&made);
    }
    arena_finish(&arena);
    return status;
}

/* ------------------------------------------------------------------ rounds -- */

const struct vdbq_vector *upsert_values(const struct upsert *upsert,
                                        uint32_t first, uint32_t *row)
{
    const struct upsert_state *state = &upsert->states[first];

    *row = state->computed ? state->output : first;
    return state->computed ? upsert->output + UPSERT_BEFORE : upsert->coming;
}

/* Which rows that meet others are the `number`-th of their key. */
static void list_round(struct upsert *upsert, uint32_t number)
{
    upsert->round_count = 0;
    for (uint32_t i = 0; i < upsert->count; i++) {
        const struct row_conflict *conflict = &upsert->conflicts[i];
        if (conflict->before == number && (number > 0 || conflict->there))
            upsert->round[upsert->round_count++] = i;
    }
}

/* The rows of a round, and what they meet where that is not in the table. */
static enum vdbq_status gather_round(const struct upsert *upsert, bool meets,
                                     struct rows *coming, struct rows *before)
{
    unsigned count = upsert->plan->column_count;
    enum vdbq_status status = VDBQ_OK;

    for (uint32_t i = 0; i < upsert->round_count && status == VDBQ_OK; i++) {
        uint32_t at = upsert->round[i], row;
        const struct vdbq_vector *values =
            upsert_values(upsert, upsert->conflicts[at].first, &row);
        status =
            rows_gather(coming, upsert->coming, count, at, 1, upsert->error);
        if (status == VDBQ_OK && meets)
            status = rows_gather(before, values, count, row, 1, upsert->error);
    }
    return status;
}

static enum vdbq_status compute_round(struct upsert *upsert, bool meets,
                                      const struct rows *coming,
                                      const struct rows *before)
{
    struct plan_conflicts conflicts = { .rows = coming->count };
    struct vdbq_vector *vectors =
        memory_zeroed(2 * (size_t)coming->column_count, sizeof *vectors);
    enum vdbq_status status;

    if (vectors == NULL)
        return error_no_memory(upsert->error);
    rows_vectors(coming, vectors);
    conflicts.coming = vectors;
    if (meets) {
        rows_vectors(before, vectors + coming->column_count);
        conflicts.before = vectors + coming->column_count;
    }
    status = compute(upsert, &conflicts);
    memory_release(vectors);
    return status;
}

/* The outputs, which have moved, as vectors. */
static enum vdbq_status view_outputs(struct upsert *upsert)
{
    if (upsert->outputs.count == 0)
        return VDBQ_OK;
    if (upsert->output == NULL)
        upsert->output =
            memory_zeroed(upsert->outputs.column_count, sizeof *upsert->output);
    if (upsert->output == NULL)
        return error_no_memory(upsert->error);
    rows_vectors(&upsert->outputs, upsert->output);
    return VDBQ_OK;
}

/* Notes what became of the rows that a round met: outputs from `begin` on. */
static enum vdbq_status note_round(struct upsert *upsert, uint32_t begin,
                                   bool in_table)
{
    enum vdbq_status status = view_outputs(upsert);
    uint64_t *changed = &upsert->query->stats.sum.rows_changed;

    for (uint32_t i = begin; i < upsert->outputs.count && status == VDBQ_OK;
         i++) {
        const int64_t *numbers = upsert->output[UPSERT_NUMBER].values;
        const int32_t *kept = upsert->output[UPSERT_KEPT].values;
        uint32_t at = upsert->round[numbers[i]];
        struct upsert_state *state =
            &upsert->states[upsert->conflicts[at].first];
        if (in_table)
            state->met = i;
        state->output = i;
        state->computed = true;
        state->changed |= kept[i] != 0;
        *changed += kept[i] != 0;
        if (kept[i] != 0)
            upsert->returned[at] = i + 1;
    }
    return status;
}

/* One round: the rows that are the `number`-th of their key. */
static enum vdbq_status run_round(struct upsert *upsert, uint32_t number)
{
    struct rows coming = { 0 }, before = { 0 };
    uint32_t begin = upsert->outputs.count;
    enum vdbq_status status =
        gather_round(upsert, number > 0, &coming, &before);

    if (status == VDBQ_OK)
        status = compute_round(upsert, number > 0, &coming, &before);
    if (status == VDBQ_OK)
        status = note_round(upsert, begin, number == 0);
    rows_finish(&coming);
    rows_finish(&before);
    return status;
}

/* What was thought to be in the table and is not. */
static void note_free(struct upsert *upsert)
{
    for (uint32_t i = 0; i < upsert->count; i++)
        if (upsert->conflicts[i].before == 0 && upsert->conflicts[i].there
            && !upsert->states[i].computed)
            upsert->conflicts[i].there = false;
}

enum vdbq_status upsert_rounds(struct upsert *upsert)
{
    enum vdbq_status status = VDBQ_OK;
    uint32_t number = 0;

    list_round(upsert, 0);
    if (upsert->round_count > 0)
        status = run_round(upsert, 0);
    note_free(upsert);
    while (status == VDBQ_OK) {
        list_round(upsert, ++number);
        if (upsert->round_count == 0)
            break;
        status = stop_pause(upsert->error);
        if (status == VDBQ_OK)
            status = run_round(upsert, number);
    }
    return status;
}
