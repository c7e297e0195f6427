/* SPDX-License-Identifier: MIT */
/*
 * The planner's door: which kind of statement goes which way.
 */
#include "plan/plan_inner.h"

#include <string.h>

static enum vdbq_status plan_kind_of(const struct ast_statement *statement,
                                     struct binder *binder,
                                     struct plan *plan);
static enum vdbq_status plan_select(const struct ast_select *select,
                                    struct binder *binder,
                                    struct plan *plan);

enum vdbq_status plan_statement(const struct ast_statement *statement,
                                const char *sql, size_t sql_length,
                                const struct catalogue *catalogue,
                                struct arena *arena, struct plan *plan,
                                struct error *error)
{
    struct binder binder = {
        .sql = sql,
        .sql_length = sql_length,
        .catalogue = catalogue,
        .arena = arena,
        .error = error
    };
    enum vdbq_status status;

    memset(plan, 0, sizeof *plan);
    plan->explain = statement->explain;
    status = plan_kind_of(statement, &binder, plan);
    fold_finish(&binder);
    if (status != VDBQ_OK)
        memset(plan, 0, sizeof *plan);
    return status;
}

void plan_finish(struct plan *plan)
{
    if (plan == NULL)
        return;
    if (plan->kind == PLAN_SELECT)
        steps_finish(&plan->steps);
    memset(plan, 0, sizeof *plan);
}

static enum vdbq_status not_there(struct binder *binder, const char *what)
{
    return error_set(binder->error, VDBQ_SYNTAX, "%s is not there yet", what);
}

/* A SELECT of one table, and no more than WHERE. */
static bool is_simple(const struct ast_query *query)
{
    const struct ast_select *select = &query->select;

    return query->kind == AST_QUERY_SELECT && query->with == NULL
           && query->order == NULL && query->limit == NULL
           && !select->distinct && select->group == NULL
           && !select->group_all && select->having == NULL
           && (select->from == NULL || select->from->kind == AST_FROM_TABLE);
}

static bool is_simple_create(const struct ast_create *create)
{
    for (const struct ast_column *column = create->columns; column != NULL;
         column = column->next)
        if (column->type.type > VDBQ_DOUBLE || column->not_null
            || column->unique || column->default_value != NULL)
            return false;
    return create->query == NULL
           && (create->constraints == NULL || create->constraints->primary);
}

static bool is_simple_insert(const struct ast_insert *insert)
{
    return insert->query != NULL && !insert->replace && !insert->ignore
           && insert->query->kind == AST_QUERY_VALUES
           && insert->query->limit == NULL && insert->query->order == NULL;
}

static enum vdbq_status plan_kind_of(const struct ast_statement *statement,
                                     struct binder *binder,
                                     struct plan *plan)
{
    switch (statement->kind) {
    case AST_EMPTY:
        break;
    case AST_SELECT:
        if (!is_simple(statement->query))
            return not_there(binder, "this query");
        return plan_select(&statement->query->select, binder, plan);
    case AST_CREATE_TABLE:
        if (!is_simple_create(&statement->create))
            return not_there(binder, "this table");
        plan->kind = PLAN_CREATE_TABLE;
        return plan_create_table(&statement->create, binder, &plan->create);
    case AST_DROP_TABLE:
        plan->kind = PLAN_DROP_TABLE;
        return plan_drop_table(&statement->drop, binder, &plan->drop);
    case AST_INSERT:
        if (!is_simple_insert(&statement->insert))
            return not_there(binder, "this INSERT");
        plan->kind = PLAN_INSERT;
        return plan_insert_rows(&statement->insert, binder, &plan->insert);
    default:
        return not_there(binder, "this statement");
    }
    plan->kind = PLAN_EMPTY;
    return VDBQ_OK;
}

/* The one step of the query. */
static enum vdbq_status plan_scan(struct bound_select *bound,
                                  struct steps *steps, struct error *error)
{
    struct step *step = steps_add(steps, STEP_SCAN);
    if (step == NULL)
        return error_no_memory(error);
    enum vdbq_status status =
        codegen_select(bound, &step->scan.program, error);
    if (status == VDBQ_OK && !steps_describe(steps, step))
        status = error_no_memory(error);
    return status;
}

static enum vdbq_status plan_select(const struct ast_select *select,
                                    struct binder *binder, struct plan *plan)
{
    struct bound_select bound = {
        .sql = binder->sql,
        .results = VECTOR(struct bound_result)
    };
    enum vdbq_status status = bind_select(binder, select, &bound);

    if (status == VDBQ_OK) {
        plan->kind = PLAN_SELECT;
        steps_init(&plan->steps);
        status = plan_scan(&bound, &plan->steps, binder->error);
        if (status != VDBQ_OK)
            steps_finish(&plan->steps);
    }
    vector_finish(&bound.results);
    return status;
}
