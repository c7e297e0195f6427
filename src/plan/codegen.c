/* SPDX-License-Identifier: MIT */
/*
 * The program of a SELECT: its tables, the condition, the result columns.
 *
 * The parts of a condition that AND joins are tested one after the other, and
 * a row for which one does not hold goes straight to Result, invalid. The
 * last part is turned round: it lets a row pass over the Invalid that all
 * others run into. What follows is run for these, too, so where it could fail
 * (plan rule 4) the last part is tested like the others.
 */
#include "plan/codegen.h"

#include <string.h>

static enum vdbq_status add_table(const struct table *table,
                                  struct program *program,
                                  struct error *error);
static void add_condition(struct generator *generator,
                          const struct bound_select *select, int result);
static void add_last_part(struct generator *generator,
                          const struct expression *part, int result);
static bool results_fault(const struct bound_select *select);
static struct emit_result *add_results(struct generator *generator,
                                       const struct bound_select *select);

enum vdbq_status codegen_select(const struct bound_select *select,
                                struct program *program, struct error *error)
{
    struct generator generator;
    struct emit_result *results;
    enum vdbq_status status = VDBQ_OK;
    int result;

    if (select->table != NULL)
        status = add_table(select->table, program, error);
    if (status != VDBQ_OK)
        return status;
    generator_init(&generator, program, select->sql, error);
    result = emit_label(&generator, 0);
    if (select->where != NULL)
        add_condition(&generator, select, result);
    results = add_results(&generator, select);
    emit_place(&generator, result);
    status = generator.status;
    if (status == VDBQ_OK)
        status = emit_finish(&generator, results,
                             (unsigned)select->results.count);
    generator_finish(&generator);
    return status;
}

static enum vdbq_status add_table(const struct table *table,
                                  struct program *program,
                                  struct error *error)
{
    struct program_table *added = vector_add(&program->tables);

    if (added == NULL)
        return error_no_memory(error);
    added->name =
        arena_copy(&program->arena, table->name, strlen(table->name));
    if (added->name == NULL)
        return error_no_memory(error);
    return plan_describe(table, program, added, error);
}

enum vdbq_status plan_describe(const struct table *table,
                               struct program *program,
                               struct program_table *described,
                               struct error *error)
{
    int *types = arena_alloc(&program->arena,
                             (table->column_count + 1) * sizeof *types);

    if (types == NULL)
        return error_no_memory(error);
    described->id = table->id;
    described->column_count = 0;
    described->column_types = types;
    described->key_type = TYPE_I64;
    for (unsigned i = 0; i < table->column_count; i++) {
        int type = (int)table->columns[i].type;
        if (i == table->key)
            described->key_type = type;
        else
            types[described->column_count++] = type;
    }
    return VDBQ_OK;
}

/* ----------------------------------------------------------- condition -- */

static void add_condition(struct generator *generator,
                          const struct bound_select *select, int result)
{
    const struct expression *part = select->where;

    if (results_fault(select)) {
        condition_jump(generator, part, WHEN_FALSE, result);
        return;
    }
    while (part->kind == EXPRESSION_OPERATOR && part->operator == AST_AND) {
        condition_jump(generator, part->left, WHEN_FALSE, result);
        part = part->right;
    }
    add_last_part(generator, part, result);
}

static void add_last_part(struct generator *generator,
                          const struct expression *part, int result)
{
    int keep;

    if (part->kind == EXPRESSION_CONSTANT) {
        condition_jump(generator, part, WHEN_FALSE, result);
        return;
    }
    keep = emit_label(generator, 1);
    condition_jump(generator, part, WHEN_TRUE, keep);
    emit_invalid(generator);
    emit_place(generator, keep);
}

static bool results_fault(const struct bound_select *select)
{
    bool faults = false;

    for (size_t i = 0; i < select->results.count; i++) {
        const struct bound_result *result = vector_at(&select->results, i);
        faults |= result->expression->faults;
    }
    return faults;
}

/* ------------------------------------------------------------- results -- */

static void add_result(struct generator *generator,
                       const struct bound_result *bound,
                       struct emit_result *result)
{
    struct program *program = generator->program;
    const struct expression *e = bound->expression;
    struct value value = value_of(generator, e, e->type);

    result->name =
        arena_copy(&program->arena, bound->name, strlen(bound->name));
    if (result->name == NULL && generator->status == VDBQ_OK)
        generator->status = error_no_memory(generator->error);
    result->type = e->type;
    result->value = emit_result_register(generator, value.r);
    result->null = value.null;
}

/* In the program's arena. */
static struct emit_result *add_results(struct generator *generator,
                                       const struct bound_select *select)
{
    size_t count = select->results.count;
    struct emit_result *results =
        arena_alloc(&generator->program->arena, count * sizeof *results);

    if (results == NULL && generator->status == VDBQ_OK)
        generator->status = error_no_memory(generator->error);
    for (size_t i = 0; i < count && generator->status == VDBQ_OK; i++)
        add_result(generator, vector_at(&select->results, i), &results[i]);
    return results;
}
