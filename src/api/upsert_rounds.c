/* SPDX-License-Identifier: MIT */
/*
 * DO UPDATE: what becomes of the rows that others meet, round by round. Each
 * round is a query (plan/statement/upsert.c), planned for its rows; where it is but
 * one row, which meets one of the table, for any such row, and the plan is kept.
 */
#include "api/upsert.h"

#include <assert.h>
#include <string.h>

#include "base/type.h"
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
        query_join(query, query->snapshot.catalogue, &joined);

    if (status != VDBQ_OK)
        return status;
    status = plan_for(query, joined, conflicts, arena, plan);
    catalogue_release(joined);
    return status;
}

/* What a round of one row of the table is planned for. */
static const struct plan_conflicts any_row = { .rows = 1, .any = true };

enum vdbq_status upsert_explain(vdbq_query *query, struct text *text)
{
    const struct plan_insert *insert = &query->plan.insert;
    const struct plan_conflicts conflicts = { .rows = insert->rows,
                                              .coming = insert->vectors };
    bool any = insert->rows == 1 && !insert->from_query;
    struct arena arena = { 0 };
    struct plan made;
    enum vdbq_status status = plan_for(
        query, query->planned_for, any ? &any_row : &conflicts, &arena, &made);

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

/* Adds to `outputs` the rows of a plan. */
static enum vdbq_status run_plan(struct upsert *upsert, const struct plan *plan)
{
    vdbq_query *query = upsert->query;
    const struct plan own = query->plan;

    query->plan = *plan;
    enum vdbq_status status = upsert_gather(query, &upsert->outputs);
    query_texts_finish(&query->texts);
    query->plan = own;
    return status;
}

/* Adds to `outputs` what becomes of the rows that these meet. */
static enum vdbq_status compute(struct upsert *upsert,
                                const struct plan_conflicts *conflicts)
{
    struct plan made;
    struct arena arena = { 0 };
    enum vdbq_status status = reopen(upsert->query, upsert->transaction);

    if (status == VDBQ_OK)
        status = plan_round(upsert->query, conflicts, &arena, &made);
    if (status == VDBQ_OK) {
        status = run_plan(upsert, &made);
        plan_finish(&made);
    }
    arena_finish(&arena);
    return status;
}

/* ----------------------------------------------------------------- one row -- */

void query_round_forget(vdbq_query *query)
{
    struct query_round *round = &query->round;

    if (round->planned_for != NULL)
        plan_finish(&round->plan);
    catalogue_release(round->planned_for);
    arena_finish(&round->arena);
    *round = (struct query_round){ 0 };
}

/* Plans for any row, in place of the plan that there was: with room for more, where
 * rows have outgrown that. */
static enum vdbq_status plan_any(vdbq_query *query, struct catalogue *joined)
{
    struct query_round *round = &query->round;
    bool outgrown = round->planned_for != NULL && plan_lasts(&round->plan);
    struct catalogue *from =
        outgrown ? catalogue_wider(joined) : catalogue_hold(joined);

    query_round_forget(query);
    if (from == NULL)
        return error_no_memory(&query->db->error);
    enum vdbq_status status =
        plan_for(query, from, &any_row, &round->arena, &round->plan);
    if (status == VDBQ_OK) {
        round->planned_for = from;
        return VDBQ_OK;
    }
    catalogue_release(from);
    arena_finish(&round->arena);
    return status;
}

/* Sees to it that there is a plan for any row of what the query sees. */
static enum vdbq_status need_any(vdbq_query *query)
{
    const struct query_round *round = &query->round;
    struct catalogue *joined;
    enum vdbq_status status =
        query_join(query, query->snapshot.catalogue, &joined);

    if (status != VDBQ_OK)
        return status;
    if (round->planned_for == NULL
        || (round->planned_for != joined
            && !plan_holds(&round->plan, round->planned_for, joined)))
        status = plan_any(query, joined);
    catalogue_release(joined);
    return status;
}

/* Writes a value where the plan reads it; that of NULL is 0. */
static void put_value(const struct vdbq_vector *from, uint32_t row,
                      struct vdbq_vector *to)
{
    size_t width = type_bytes(from->type);
    bool null = vector_null(from, row);

    assert(from->type == to->type);
    *(uint8_t *)(uintptr_t)to->nulls = null;
    if (null)
        memset((void *)(uintptr_t)to->values, 0, width);
    else
        memcpy((void *)(uintptr_t)to->values,
               (const char *)from->values + row * width, width);
}

/* Adds to `outputs` what becomes of the row of the table that one row meets. */
static enum vdbq_status compute_any(struct upsert *upsert, uint32_t row)
{
    vdbq_query *query = upsert->query;
    const struct plan *plan = &query->round.plan;
    enum vdbq_status status = reopen(query, upsert->transaction);

    if (status == VDBQ_OK)
        status = need_any(query);
    if (status != VDBQ_OK)
        return status;
    for (unsigned i = 0; i < upsert->plan->column_count; i++)
        put_value(&upsert->coming[i], row, &plan->upsert.coming[i]);
    status = run_plan(upsert, plan);
    if (plan->of_values || plan->of_now || query->statement->files != NULL)
        query_round_forget(query);
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

/* Several rows, or one that an earlier row made. */
static enum vdbq_status compute_rows(struct upsert *upsert, uint32_t number)
{
    struct rows coming = { 0 }, before = { 0 };
    enum vdbq_status status =
        gather_round(upsert, number > 0, &coming, &before);

    if (status == VDBQ_OK)
        status = compute_round(upsert, number > 0, &coming, &before);
    rows_finish(&coming);
    rows_finish(&before);
    return status;
}

/* One round: the rows that are the `number`-th of their key. */
static enum vdbq_status run_round(struct upsert *upsert, uint32_t number)
{
    uint32_t begin = upsert->outputs.count;
    bool one = number == 0 && upsert->round_count == 1;
    enum vdbq_status status = one ? compute_any(upsert, upsert->round[0])
                                  : compute_rows(upsert, number);

    return status == VDBQ_OK ? note_round(upsert, begin, number == 0) : status;
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
