/* SPDX-License-Identifier: MIT */
/*
 * A query from text to rows: parse, plan, check, run. query_read.c reads them.
 */
#include "api/query.h"

#include <string.h>

#include "api/alone/query_program.h"
#include "base/hostile.h"

/* ---------------------------------------------------------------- plan -- */

static void forget_plan(vdbq_query *query)
{
    query_stream_forget(query);
    query_round_forget(query);
    if (query->planned)
        plan_finish(&query->plan);
    query_texts_finish(&query->texts);
    catalogue_release(query->planned_for);
    query->planned_for = NULL;
    query->planned = false;
    arena_finish(&query->plan_arena);
}

/* A longer text's tree is not kept once there is a plan: its nodes take several
 * times the memory of the text, of which a list of a million numbers has much. */
enum { TREE_KEPT_BYTES = HOSTILE(0, 1 << 18) };

/* Makes the tree of the statement again, if it was dropped. */
static enum vdbq_status read_tree(vdbq_query *query)
{
    size_t consumed;
    struct ast_statement *statement;
    if (query->statement->kind != AST_SELECT || query->statement->query != NULL)
        return VDBQ_OK;
    enum vdbq_status status =
        sql_parse(query->text, query->length, &query->tree, &statement,
                  &consumed, &query->db->error);
    if (status == VDBQ_OK)
        query->statement = statement;
    return status;
}

/* Frees the tree of a long SELECT; what else the statement says stays. */
static enum vdbq_status drop_tree(vdbq_query *query)
{
    const struct ast_statement *statement = query->statement;
    if (statement == NULL || query->length <= TREE_KEPT_BYTES
        || statement->kind != AST_SELECT || statement->parameter_count > 0
        || statement->files != NULL)
        return VDBQ_OK;
    struct arena tree = { 0 };
    struct ast_statement *left = arena_alloc(&tree, sizeof *left);
    if (left == NULL)
        return error_no_memory(&query->db->error);
    *left = *statement;
    left->query = NULL;
    arena_finish(&query->tree);
    memory_trim();
    query->tree = tree;
    query->statement = left;
    return VDBQ_OK;
}

/* Plans the statement; its plan may refer to nothing of its tree. */
static enum vdbq_status plan_tree(vdbq_query *query,
                                  const struct catalogue *catalogue,
                                  const struct plan_limits *limits)
{
    enum vdbq_status status = read_tree(query);
    if (status == VDBQ_OK)
        status =
            plan_statement(query->statement, query->text, query->length,
                           catalogue, query->parameters, limits,
                           &query->plan_arena, &query->plan, &query->db->error);
    return status;
}

/* Finds who else takes part in the query: before it is planned, since all plan
 * alike. */
static enum vdbq_status find_others(vdbq_query *query)
{
    query->cluster = query->db->cluster;
    if (query->cluster != NULL || query->statement == NULL
        || query->statement->kind != AST_SELECT)
        return VDBQ_OK;
    return session_crew(query->db, &query->cluster);
}

/* Whether a run can go on with another plan where few rows were hoped for in vain. */
static bool may_hope_few(const vdbq_query *query)
{
    if (query->cluster != NULL || query->statement == NULL)
        return false;
    switch (query->statement->kind) {
    case AST_SELECT:
    case AST_INSERT:
    case AST_UPDATE:
    case AST_DELETE:
        return true;
    default:
        return false;
    }
}

/* Plans the statement for a catalogue, and checks its steps. `converts`: as of
 * struct plan_limits. */
static enum vdbq_status
make_plan(vdbq_query *query, const struct catalogue *catalogue, bool converts)
{
    struct error *error = &query->db->error;
    uint64_t started = os_time_ns();
    enum vdbq_status status = find_others(query);
    if (status != VDBQ_OK)
        return status;
    struct plan_limits limits = plan_limits_now(query->db);
    limits.careful = query->careful;
    limits.hopes_few = may_hope_few(query);
    limits.given = query->given;
    limits.now = query->now;
    limits.converts = converts;
    forget_plan(query);
    query->division = (struct query_division){ .gather = -1 };
    if (query->statement == NULL)
        status = query_program(query->text, catalogue, &query->plan, error);
    else
        status = plan_tree(query, catalogue, &limits);
    if (status != VDBQ_OK)
        return status;
    query->planned = true;
    query->replan = false;
    query->planned_for = catalogue_hold((struct catalogue *)catalogue);
    if (query->cluster != NULL)
        status = query->cluster->divide(query, catalogue);
    if (status == VDBQ_OK && query->plan.steps.steps.count > 0)
        status = steps_check(&query->plan.steps, error);
    if (status == VDBQ_OK)
        status = drop_tree(query);
    if (status != VDBQ_OK)
        forget_plan(query);
    query->stats.sum.plan_ns = os_time_ns() - started;
    return status;
}

/* INSERT of a row that has parameters as they are given. */
static bool inserts_parameters(const vdbq_query *query)
{
    return query->planned && query->plan.kind == PLAN_INSERT
           && query->plan.insert.parameter_count > 0;
}

/* Whether the plan that there is is one for that catalogue. */
static bool has_plan(const vdbq_query *query, const struct catalogue *catalogue)
{
    if (!query->planned || query->replan || query->plan.of_now)
        return false;
    return query->planned_for == catalogue
           || plan_holds(&query->plan, query->planned_for, catalogue);
}

bool query_is_apart(const vdbq_query *query)
{
    const struct transaction *within = query->db->transaction;
    const struct plan *plan = &query->plan;
    return within != NULL && query->planned && plan->stands
           && (plan->kind == PLAN_SELECT || plan->kind == PLAN_CHANGE)
           && transaction_waits_apart(within, plan->tables, plan->table_count)
           && has_plan(query, transaction_catalogue(within));
}

/* Gives a planned INSERT the values of its parameters. One that is to be
 * converted, or refused, is the planner's, who plans for these values. */
static enum vdbq_status fill_plan(vdbq_query *query,
                                  const struct catalogue *catalogue)
{
    if (!inserts_parameters(query)
        || plan_insert_fill(&query->plan.insert, query->parameters))
        return VDBQ_OK;
    return make_plan(query, catalogue, true);
}

/* Plans anew a statement whose tables have outgrown its plan: with room for more, if
 * the plan is one for which that makes no other difference. */
static enum vdbq_status plan_outgrown(vdbq_query *query,
                                      const struct catalogue *catalogue)
{
    struct catalogue *wider = catalogue_wider(catalogue);
    if (wider == NULL)
        return error_no_memory(&query->db->error);
    enum vdbq_status status = make_plan(query, wider, false);
    catalogue_release(wider);
    return status == VDBQ_OK && !plan_lasts(&query->plan)
               ? make_plan(query, catalogue, false)
               : status;
}

static enum vdbq_status plan_again(vdbq_query *query,
                                   const struct catalogue *catalogue)
{
    bool outgrown = query->planned && !query->replan && !query->plan.of_now
                    && plan_lasts(&query->plan);
    return outgrown ? plan_outgrown(query, catalogue)
                    : make_plan(query, catalogue, false);
}

enum vdbq_status query_plan(vdbq_query *query,
                            const struct catalogue *catalogue)
{
    struct catalogue *joined;
    enum vdbq_status status = query_join(query, catalogue, &joined);
    if (status != VDBQ_OK)
        return status;
    if (!has_plan(query, joined))
        status = plan_again(query, joined);
    if (status == VDBQ_OK)
        status = fill_plan(query, joined);
    catalogue_release(joined);
    return status;
}

/* The newest snapshot, in which rows that wait apart need not be. */
static enum vdbq_status take_snapshot(vdbq_query *query)
{
    vdbq *db = query->db;
    if (!query_is_apart(query))
        return session_snapshot(db, query->home_temporary, &query->snapshot);
    transaction_set_apart(db->transaction, true);
    enum vdbq_status status = session_snapshot(db, false, &query->snapshot);
    transaction_set_apart(db->transaction, false);
    return status;
}

enum vdbq_status query_snapshot(vdbq_query *query)
{
    enum vdbq_status status = query_files_open(query);
    if (status == VDBQ_OK)
        status = query_beside_open(query);
    if (status == VDBQ_OK)
        status = take_snapshot(query);
    query->opened_ns = os_time_ns();
    if (status == VDBQ_OK)
        status = query_plan(query, query->snapshot.catalogue);
    return status;
}

/* ------------------------------------------------------------- prepare -- */

static void clear_stats(vdbq_query *query);

/* Makes a query of `length` bytes of text, in the connection's list. It takes
 * over `arena`, where the statement lives (NULL: the text is a program). */
static enum vdbq_status query_create(vdbq *db, const char *text, size_t length,
                                     struct ast_statement *statement,
                                     struct arena *arena, vdbq_query **query)
{
    vdbq_query *made = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return error_no_memory(&db->error);
    made->db = db;
    made->statement = statement;
    made->tree = *arena;
    *arena = (struct arena){ 0 };
    made->next = db->queries;
    made->line_texts = VECTOR(struct vdbq_text);
    made->cells = VECTOR(struct text);
    made->timed = VECTOR(struct device *);
    clear_stats(made);
    db->queries = made;
    *query = made;
    made->text = arena_copy(&made->arena, text, length);
    made->length = length;
    return made->text ? query_parameters_open(made)
                      : error_no_memory(&db->error);
}

/* Whether what is wrong may come right with values for the parameters, which
 * are NULL before: it is then told by the run. */
static bool waits_for_values(const vdbq_query *query, enum vdbq_status status)
{
    return query_parameter_count(query) > 0
           && (status == VDBQ_TYPE || status == VDBQ_CONSTRAINT
               || status == VDBQ_RANGE);
}

/* Whether a statement is about a transaction alone, and no EXPLAIN: it has no plan. */
static bool ends_or_begins(const struct ast_statement *statement)
{
    return statement != NULL && statement->explain == AST_RUN
           && (statement->kind == AST_BEGIN || statement->kind == AST_COMMIT
               || statement->kind == AST_ROLLBACK);
}

/* Plans a new query; the snapshot is only looked at, and not asked for where
 * rows of the open transaction would be written for it alone. */
static enum vdbq_status query_prepare(vdbq_query *query)
{
    enum vdbq_status status = VDBQ_OK;
    if (query->db->cluster != NULL && query->db->cluster->follows)
        return VDBQ_OK;
    if (ends_or_begins(query->statement))
        return VDBQ_OK;
    bool inserts = query->statement != NULL
                   && query->statement->kind == AST_INSERT
                   && query->statement->files == NULL;
    status = query_find_home(query);
    const struct transaction *within =
        *session_place(query->db, query->home_temporary);
    if (status == VDBQ_OK)
        status = inserts && within != NULL
                     ? query_plan(query, transaction_catalogue(within))
                     : query_snapshot(query);
    snapshot_close(&query->snapshot);
    query_files_close(query);
    if (!waits_for_values(query, status))
        return query_unchanged(query, status);
    error_clear(&query->db->error);
    return VDBQ_OK;
}

/* Reports a failure of a statement with its text, and frees the query. */
static enum vdbq_status prepared(vdbq *db, enum vdbq_status status,
                                 const char *text, size_t length,
                                 vdbq_query **query)
{
    status = session_report(db, session_ended_by(db, status), text, length);
    if (status != VDBQ_OK) {
        vdbq_query_close(*query);
        *query = NULL;
    }
    return status;
}

/* A text of SQL that failures have places in. */
struct told {
    const char *text;
    size_t length;
};

/* Whether EXECUTE has as many values as the statement has parameters. */
static enum vdbq_status check_values(vdbq *db, const struct ast_named *named,
                                     const struct ast_statement *statement)
{
    if (named->values == statement->parameter_count)
        return VDBQ_OK;
    return error_at(&db->error, VDBQ_TYPE, named->name.at,
                    "\"%s\" has %u parameters, and EXECUTE %u values",
                    named->name.text, statement->parameter_count,
                    named->values);
}

/* One row of the values of EXECUTE, to be closed; NULL: there are none. */
static enum vdbq_status compute_values(vdbq *db, const struct ast_named *named,
                                       const char *sql, vdbq_query **values)
{
    *values = NULL;
    if (named->values == 0)
        return VDBQ_OK;
    char *text = prepared_text(sql, named->begin, named->end);
    if (text == NULL)
        return error_no_memory(&db->error);
    memcpy(text + named->word, "select", strlen("select"));
    enum vdbq_status status =
        vdbq_prepare(db, text, (ptrdiff_t)named->end, values, NULL);
    memory_release(text);
    if (status == VDBQ_OK)
        status = vdbq_query_row(*values);
    return status == VDBQ_ROW ? VDBQ_OK : status;
}

/* Gives one parameter the value of the row at hand. */
static enum vdbq_status give_value(vdbq_query *values, unsigned column,
                                   vdbq_query *query)
{
    unsigned parameter = column + 1;
    const char *text;
    if (vdbq_query_is_null(values, column))
        return vdbq_bind_null(query, parameter);
    switch (vdbq_query_column_type(values, column)) {
    case VDBQ_BOOLEAN:
    case VDBQ_SMALLINT:
    case VDBQ_INTEGER:
    case VDBQ_BIGINT:
        return vdbq_bind_int64(query, parameter,
                               vdbq_query_int64(values, column));
    case VDBQ_FLOAT:
    case VDBQ_DOUBLE:
    case VDBQ_DECIMAL:
        return vdbq_bind_double(query, parameter,
                                vdbq_query_double(values, column));
    default:
        return query_text(values, column, &text)
                   ? vdbq_bind_text(query, parameter, text, -1)
                   : error_no_memory(&query->db->error);
    }
}

static enum vdbq_status give_values(vdbq_query *values, vdbq_query *query)
{
    unsigned count = values != NULL ? vdbq_query_columns(values) : 0;
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 0; i < count && status == VDBQ_OK; i++)
        status = give_value(values, i, query);
    query->executes = true;
    return status;
}

enum vdbq_status query_no_name(vdbq *db, const struct ast_name *name)
{
    error_at(&db->error, VDBQ_UNKNOWN, name->at,
             "there is no prepared statement \"%s\"", name->text);
    return error_hint(&db->error,
                      "PREPARE %s AS ... makes one, which this "
                      "connection alone has",
                      name->text);
}

/* EXECUTE: the query is that of the statement which has the name. `told`: the text
 * that a failure is in. */
static enum vdbq_status prepare_named(vdbq *db, const char *sql,
                                      const struct ast_statement *execute,
                                      vdbq_query **query, struct told *told)
{
    const struct ast_named *named = &execute->named;
    const struct prepared *prepared =
        prepared_find(db->prepared, named->name.text);
    struct arena arena = { 0 };
    struct ast_statement *statement;
    vdbq_query *values;
    size_t consumed;
    if (prepared == NULL)
        return query_no_name(db, &named->name);
    enum vdbq_status status = compute_values(db, named, sql, &values);
    if (status == VDBQ_OK)
        status = sql_parse(prepared->text, prepared->length, &arena, &statement,
                           &consumed, &db->error);
    if (status == VDBQ_OK)
        status = check_values(db, named, statement);
    if (status == VDBQ_OK) {
        *told = (struct told){ prepared->text, prepared->length };
        statement->explain = execute->explain;
        status = query_create(db, prepared->text, prepared->length, statement,
                              &arena, query);
    }
    if (status == VDBQ_OK)
        status = query_prepare(*query);
    if (status == VDBQ_OK)
        status = give_values(values, *query);
    vdbq_query_close(values);
    arena_finish(&arena);
    return status;
}

/* Prepares the first statement of the text, `*consumed` bytes of it. */
static enum vdbq_status prepare_sql(vdbq *db, const char *sql, size_t size,
                                    vdbq_query **query, size_t *consumed,
                                    struct told *told)
{
    struct arena arena = { 0 };
    struct ast_statement *statement = NULL;
    enum vdbq_status status = session_begin(db);
    session_hear_cancel(db);
    if (status == VDBQ_OK)
        status = sql_parse(sql, size, &arena, &statement, consumed, &db->error);
    *told = (struct told){ sql, *consumed };
    if (status == VDBQ_OK && statement->kind == AST_EXECUTE) {
        status = prepare_named(db, sql, statement, query, told);
    } else if (status == VDBQ_OK && statement->kind != AST_EMPTY) {
        status = query_create(db, sql, *consumed, statement, &arena, query);
        if (status == VDBQ_OK)
            status = query_prepare(*query);
    }
    arena_finish(&arena);
    return status;
}

enum vdbq_status vdbq_prepare(vdbq *db, const char *sql, ptrdiff_t length,
                              vdbq_query **query, const char **tail)
{
    if (tail != NULL)
        *tail = sql;
    if (query == NULL)
        return session_misuse(db, "the place for the query");
    *query = NULL;
    if (db == NULL || sql == NULL)
        return session_misuse(db, "the SQL text");
    size_t size = length < 0 ? strlen(sql) : (size_t)length, consumed = size;
    struct stop_work former = stop_enter(&db->stop);
    struct told told;
    enum vdbq_status status =
        prepare_sql(db, sql, size, query, &consumed, &told);
    if (tail != NULL)
        *tail = sql + consumed;
    status = prepared(db, status, told.text, told.length, query);
    stop_leave(former);
    return status;
}

enum vdbq_status vdbq_prepare_program(vdbq *db, const char *text,
                                      vdbq_query **query)
{
    struct arena arena = { 0 };
    if (query == NULL)
        return session_misuse(db, "the place for the query");
    *query = NULL;
    if (db == NULL || text == NULL)
        return session_misuse(db, "the program's text");
    struct stop_work former = stop_enter(&db->stop);
    enum vdbq_status status = session_begin(db);
    session_hear_cancel(db);
    if (status == VDBQ_OK)
        status = query_create(db, text, strlen(text), NULL, &arena, query);
    if (status == VDBQ_OK)
        status = query_prepare(*query);
    status = prepared(db, status, text, strlen(text), query);
    stop_leave(former);
    return status;
}

/* ----------------------------------------------------------------- run -- */

/* Forgets what the last run has cost, but not what planning has. */
static void clear_stats(vdbq_query *query)
{
    uint64_t plan_ns = query->stats.sum.plan_ns;
    query->times = (struct query_times){ .files_ns = query->times.files_ns };
    vector_finish(&query->counts);
    query->counts = VECTOR(struct step_count);
    stream_stats_init(&query->stats);
    query->device = NULL;
    query->stands_in = STANDS_IN_NOT;
    query->device_text[0] = query->mode_text[0] = '\0';
    query->stats.sum.device = query->device_text;
    query->stats.sum.mode = query->mode_text;
    query->stats.sum.plan_ns = plan_ns;
}

/* Opens the stream of a query's rows, for as many of an order as it takes. */
static enum vdbq_status open_rows(vdbq_query *query)
{
    enum vdbq_status status = query_stream(query);
    while (query_hopes_more(query, status)) {
        clear_stats(query);
        status = query_stream(query);
    }
    return status;
}

/* Runs a query to its end, for EXPLAIN ANALYZE. */
static enum vdbq_status run_once(vdbq_query *query)
{
    struct vdbq_batch batch = { .rows = 1 };
    enum vdbq_status status = open_rows(query);
    while (status == VDBQ_OK && batch.rows > 0) {
        status = stream_batch(query->stream, &batch, &query->db->error);
        query->stats.sum.rows_returned += batch.rows;
    }
    query_end(query);
    return status;
}

static enum vdbq_status run_through(vdbq_query *query)
{
    enum vdbq_status status = run_once(query);
    if (!query_hoped(query, status))
        return status;
    clear_stats(query);
    query_be_careful(query);
    status = query_snapshot(query);
    return status == VDBQ_OK ? run_once(query) : status;
}

/* The same, if need be without hope. */
static enum vdbq_status start_rows(vdbq_query *query)
{
    enum vdbq_status status = open_rows(query);
    return query_hoped(query, status) ? query_stream_carefully(query) : status;
}

/* Starts the statement; changes and explanations are done when it returns. */
static enum vdbq_status start(vdbq_query *query)
{
    bool runs = query->statement == NULL || query->statement->explain == AST_RUN
                || query->statement->explain == AST_EXPLAIN_ANALYZE;
    if (query_changes(query) && runs) {
        enum vdbq_status status = query_change(query);
        return status == VDBQ_OK && query_explains(query) ? explain_lines(query)
                                                          : status;
    }
    enum vdbq_status status = stop_pause(&query->db->error);
    if (status == VDBQ_OK)
        status = query_snapshot(query);
    if (status != VDBQ_OK)
        return status;
    if (query->plan.kind == PLAN_CHECK && runs)
        return query_check(query);
    if (query->plan.explain == AST_EXPLAIN_ANALYZE)
        status = run_through(query);
    if (status == VDBQ_OK && query_explains(query))
        return explain_lines(query);
    if (status == VDBQ_OK && query->plan.kind == PLAN_SELECT)
        status = start_rows(query);
    return status;
}

/* A cancel is for the first run from when the query was prepared, for each
 * later one from its start. */
static void hear_cancel(vdbq_query *query)
{
    if (query->begun)
        session_hear_cancel(query->db);
    query->begun = true;
}

static enum vdbq_status run_query(vdbq_query *query)
{
    vdbq *db = query->db;
    enum vdbq_status status = session_begin(db);
    if (session_is_inherited(db))
        return session_report(db, status, NULL, 0);
    query_clock_start(query);
    query_end(query);
    query_hope_again(query);
    clear_stats(query);
    query_returned_forget(query);
    query->batch = (struct vdbq_batch){ 0 };
    query->reading = READING_NOT;
    query->row = 0;
    query->failed = false;
    query->settings = db->options.settings;
    hear_cancel(query);
    stations_settle(db);
    if (status == VDBQ_OK)
        status = start(query);
    query_clock_count(query);
    query->state = QUERY_RUNNING;
    query->failed = status != VDBQ_OK;
    if (status != VDBQ_OK
        || (query->plan.kind != PLAN_SELECT && !query_has_lines(query)
            && !query_returns(query)))
        query_end(query);
    status = session_ended_by(db, status);
    return session_report(db, status, query->text, query->length);
}

enum vdbq_status vdbq_query_run(vdbq_query *query)
{
    if (query == NULL)
        return VDBQ_MISUSE;
    struct stop_work former = stop_enter(&query->db->stop);
    enum vdbq_status status = run_query(query);
    stop_leave(former);
    return status;
}

void vdbq_query_close(vdbq_query *query)
{
    if (query == NULL || session_is_inherited(query->db))
        return;
    struct vdbq_query **at = &query->db->queries;
    query_end(query);
    for (size_t i = 0; i < query->cells.count; i++)
        text_finish(vector_at(&query->cells, i));
    vector_finish(&query->cells);
    vector_finish(&query->counts);
    query_returned_forget(query);
    query_hope_again(query);
    forget_plan(query);
    query_parameters_close(query);
    while (*at != query)
        at = &(*at)->next;
    *at = query->next;
    text_finish(&query->lines);
    vector_finish(&query->line_texts);
    arena_finish(&query->arena);
    arena_finish(&query->tree);
    memory_release(query);
}
