/* SPDX-License-Identifier: MIT */
/*
 * The planner's door: which kind of statement goes which way.
 */
#include <string.h>

#include "base/text.h"
#include "data/catalogue/catalogue.h"
#include "plan/bind/query.h"
#include "plan/make/basis.h"
#include "plan/make/fold.h"
#include "plan/make/node.h"
#include "plan/plan.h"
#include "plan/rewrite/trace.h"
#include "plan/sample/samples.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

static enum vdbq_status plan_query(const struct ast_query *query,
                                   struct binder *binder, struct plan *plan)
{
    struct node *node = bind_query(binder, query);

    plan->kind = PLAN_SELECT;
    if (node != NULL && binder->limits != NULL && binder->limits->given > 0)
        node = node_limit(binder, node, binder->limits->given, UINT64_MAX);
    return plan_steps(binder, node, plan);
}

/* Of statements that their kind says all of. */
static enum plan_kind plain_kind(enum ast_statement_kind kind)
{
    switch (kind) {
    case AST_BEGIN:
        return PLAN_BEGIN;
    case AST_COMMIT:
        return PLAN_COMMIT;
    case AST_ROLLBACK:
        return PLAN_ROLLBACK;
    case AST_SAVEPOINT:
        return PLAN_SAVEPOINT;
    case AST_RELEASE:
        return PLAN_RELEASE;
    case AST_ROLLBACK_TO:
        return PLAN_ROLLBACK_TO;
    case AST_VACUUM:
        return PLAN_VACUUM;
    case AST_CHECK:
        return PLAN_CHECK;
    default:
        return PLAN_EMPTY;
    }
}

/* INSERT, UPDATE, DELETE. */
static enum vdbq_status plan_rows_change(const struct ast_statement *statement,
                                         struct binder *binder,
                                         struct plan *plan)
{
    enum vdbq_status status = bind_with_names(binder, statement->with);

    if (status != VDBQ_OK)
        return status;
    if (statement->kind == AST_INSERT)
        return plan_insert_rows(statement, binder, plan);
    return statement->kind == AST_UPDATE ? plan_update(statement, binder, plan)
                                         : plan_delete(statement, binder, plan);
}

static enum vdbq_status plan_kind_of(const struct ast_statement *statement,
                                     struct binder *binder, struct plan *plan)
{
    switch (statement->kind) {
    case AST_EMPTY:
        break;
    case AST_COPY:
        plan->copy_to = statement->copy.said.file;
        return plan_query(statement->copy.query, binder, plan);
    case AST_COPY_FROM:
        return plan_copy_from(&statement->copy, binder, plan);
    case AST_SELECT:
        return plan_query(statement->query, binder, plan);
    case AST_DESCRIBE:
        return plan_description(statement->query, binder, plan);
    case AST_SUMMARIZE:
        return plan_summary(statement->query, binder, plan);
    case AST_PRAGMA:
        return plan_pragma(&statement->pragma, binder, plan);
    case AST_ANALYZE:
        return plan_analyze(&statement->drop, binder, plan);
    case AST_CREATE_TABLE:
        return plan_create_table(&statement->create, binder, plan);
    case AST_CREATE_VIEW:
        return plan_create_view(&statement->view, binder, plan);
    case AST_CREATE_INDEX:
        return plan_create_index(&statement->index, binder, plan);
    case AST_ALTER:
        return plan_alter(&statement->alter, binder, plan);
    case AST_DROP_TABLE:
        return plan_drop(&statement->drop, PLAN_DROP_TABLE, binder, plan);
    case AST_DROP_VIEW:
        return plan_drop(&statement->drop, PLAN_DROP_VIEW, binder, plan);
    case AST_DROP_INDEX:
        return plan_drop(&statement->drop, PLAN_DROP_INDEX, binder, plan);
    case AST_REINDEX:
        return plan_drop(&statement->drop, PLAN_REINDEX, binder, plan);
    case AST_INSERT:
    case AST_UPDATE:
    case AST_DELETE:
        return plan_rows_change(statement, binder, plan);
    case AST_BEGIN:
    case AST_COMMIT:
    case AST_ROLLBACK:
    case AST_SAVEPOINT:
    case AST_RELEASE:
    case AST_ROLLBACK_TO:
    case AST_VACUUM:
    case AST_CHECK:
    case AST_PREPARE:
    case AST_EXECUTE:
    case AST_DEALLOCATE:
        break;
    }
    plan->kind = plain_kind(statement->kind);
    return VDBQ_OK;
}

/* What is kept in the catalogue has no parameters, and no files. */
static enum vdbq_status check_kept(const struct ast_statement *statement,
                                   struct binder *binder)
{
    if (statement->kind == AST_CREATE_VIEW && statement->files != NULL) {
        error_at(binder->error, VDBQ_SYNTAX, statement->files->at,
                 "a view cannot read a file");
        return error_hint(binder->error, "CREATE TABLE ... AS keeps its rows");
    }
    if (statement->parameter_count == 0)
        return VDBQ_OK;
    if (statement->kind == AST_CREATE_VIEW)
        return error_at(binder->error, VDBQ_SYNTAX, statement->view.name.at,
                        "a view has no parameters");
    if (statement->kind == AST_CREATE_INDEX)
        return error_at(binder->error, VDBQ_SYNTAX, statement->index.name.at,
                        "an index has no parameters");
    if (statement->kind == AST_CREATE_TABLE && statement->create.query == NULL)
        return error_at(binder->error, VDBQ_SYNTAX, statement->create.table.at,
                        "the definition of a table has no parameters");
    if (statement->kind == AST_ALTER)
        return error_at(binder->error, VDBQ_SYNTAX, statement->alter.table.at,
                        "the definition of a table has no parameters");
    return VDBQ_OK;
}

/* What EXPLAIN (TREE) shows outlives the planner. */
static enum vdbq_status keep_trace(const struct binder *binder,
                                   struct plan *plan)
{
    const struct text *text = &binder->trace->text;

    plan->tree =
        text->failed
            ? NULL
            : arena_copy(binder->arena, text->bytes != NULL ? text->bytes : "",
                         text->length);
    return plan->tree != NULL ? VDBQ_OK : error_no_memory(binder->error);
}

/* Whether plan_holds() can tell of such a statement's plan what it stands on. */
static bool has_basis(const struct ast_statement *statement)
{
    return (statement->kind == AST_SELECT || statement->kind == AST_INSERT
            || statement->kind == AST_UPDATE || statement->kind == AST_DELETE)
           && statement->explain == AST_RUN && statement->files == NULL;
}

/* Keeps what the plan stands on, if all of it was noted. */
static void keep_basis(const struct binder *binder, struct plan *plan)
{
    const struct plan_basis *basis = binder->basis;
    size_t count = basis->tables.count;
    uint32_t *tables = arena_alloc(binder->arena, (count + 1) * sizeof *tables);

    if (basis->failed || tables == NULL)
        return;
    if (count > 0)
        memcpy(tables, basis->tables.items, count * sizeof *tables);
    plan->tables = tables;
    plan->table_count = (unsigned)count;
    plan->exact = basis->exact;
    plan->stands = true;
}

enum vdbq_status plan_statement(const struct ast_statement *statement,
                                const char *sql, size_t sql_length,
                                const struct catalogue *catalogue,
                                const struct parameter *parameters,
                                const struct plan_limits *limits,
                                struct arena *arena, struct plan *plan,
                                struct error *error)
{
    struct binder binder = { .sql = sql,
                             .sql_length = sql_length,
                             .catalogue = catalogue,
                             .parameters = parameters,
                             .value_count = (int)statement->parameter_count,
                             .parameter_count = (int)statement->parameter_count,
                             .limits = limits,
                             .arena = arena,
                             .error = error };
    struct trace trace = { 0 };
    struct plan_basis basis = { .tables = VECTOR(uint32_t) };
    struct samples samples;
    enum vdbq_status status;
    int64_t now = limits != NULL ? limits->now : 0;

    memset(plan, 0, sizeof *plan);
    steps_init(&plan->steps);
    plan->explain = statement->explain;
    binder.now = &now;
    samples_init(&samples, &binder);
    if (statement->explain == AST_EXPLAIN_TREE)
        binder.trace = &trace;
    if (has_basis(statement))
        binder.basis = &basis;
    status = check_kept(statement, &binder);
    if (status == VDBQ_OK)
        status = plan_kind_of(statement, &binder, plan);
    if (status == VDBQ_OK && binder.trace != NULL)
        status = keep_trace(&binder, plan);
    text_finish(&trace.text);
    if (status == VDBQ_OK && binder.basis != NULL)
        keep_basis(&binder, plan);
    vector_finish(&basis.tables);
    if (status == VDBQ_OK && samples.starved)
        status = error_no_memory(error);
    samples_finish(&samples);
    plan->of_values = binder.values_used;
    plan->of_now = now != 0;
    plan->now = now;
    plan->hopes = binder.hoped;
    plan->hopes_few = binder.hoped_few;
    fold_finish(&binder);
    if (status != VDBQ_OK)
        plan_finish(plan);
    return status;
}

void plan_finish(struct plan *plan)
{
    if (plan == NULL)
        return;
    steps_finish(&plan->steps);
    memset(plan, 0, sizeof *plan);
}

/* ------------------------------------------------------------- temporary -- */

/* Whether a name of a table or view, which is there, is that of a temporary one. */
static bool names_temporary(const struct ast_name *name,
                            const struct catalogue *temporary)
{
    if (name->schema != NULL)
        return name_equal(name->schema, SCHEMA_TEMPORARY);
    return temporary != NULL
           && (catalogue_table(temporary, name->text) != NULL
               || catalogue_view(temporary, name->text) != NULL);
}

/* The same of an index, or else of a table: that of DROP INDEX and REINDEX. */
static bool indexes_temporary(const struct ast_name *name,
                              const struct catalogue *temporary)
{
    if (name->text == NULL)
        return false;
    return names_temporary(name, temporary)
           || (name->schema == NULL && temporary != NULL
               && catalogue_index(temporary, name->text) != NULL);
}

bool plan_is_temporary(const struct ast_statement *statement,
                       const struct catalogue *temporary)
{
    switch (statement->kind) {
    case AST_CREATE_TABLE:
        return names_temporary(&statement->create.table, NULL);
    case AST_CREATE_VIEW:
        return names_temporary(&statement->view.name, NULL);
    case AST_CREATE_INDEX:
        return names_temporary(&statement->index.table, temporary);
    case AST_ALTER:
        return names_temporary(&statement->alter.table, temporary);
    case AST_DROP_TABLE:
    case AST_DROP_VIEW:
        return names_temporary(&statement->drop.name, temporary);
    case AST_DROP_INDEX:
    case AST_REINDEX:
        return indexes_temporary(&statement->drop.name, temporary);
    case AST_INSERT:
        return names_temporary(&statement->insert.table, temporary);
    case AST_UPDATE:
        return names_temporary(&statement->update.table, temporary);
    case AST_DELETE:
        return names_temporary(&statement->delete.table, temporary);
    case AST_COPY_FROM:
        return names_temporary(&statement->copy.table, temporary);
    default:
        return false;
    }
}
