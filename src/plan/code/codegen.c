/* SPDX-License-Identifier: MIT */
/*
 * The program of a NODE_SELECT: what it reads, the condition, the results.
 *
 * The parts of a condition that AND joins are tested one after the other, and
 * a row for which one does not hold goes straight to Result, invalid. The
 * last part is turned round: it lets a row pass over the Invalid that all
 * others run into. What follows is run for these, too, so where it could fail
 * (plan rule 4) the last part is tested like the others.
 */
#include "plan/code/codegen.h"

#include <string.h>

#include "plan/code/value.h"
#include "plan/plan.h"
#include "plan/tree/expression.h"

/* What one program is made of. */
struct selection {
    const struct expression *where;
    const struct codegen_result *results;
    unsigned result_count;
};

static void add_condition(struct generator *generator,
                          const struct selection *selection, int result);
static void add_last_part(struct generator *generator,
                          const struct expression *part, int result);
static bool results_fault(const struct selection *selection);

enum vdbq_status codegen_select(const struct binder *binder,
                                const struct codegen_source *source,
                                const struct expression *where,
                                const struct codegen_result *results,
                                unsigned result_count, struct program *program)
{
    struct selection selection = { where, results, result_count };
    struct generator generator;
    enum vdbq_status status =
        codegen_add_source(source, program, binder->error);
    int result;

    for (unsigned i = 0; i < source->other_count && status == VDBQ_OK; i++)
        status = codegen_add_source(&source->others[i], program, binder->error);
    if (status != VDBQ_OK)
        return status;
    generator_init(&generator, program, binder->sql, binder->error);
    generator.columns = source->columns;
    generator.idle = -1;
    result = emit_label(&generator, 0);
    if (where != NULL)
        add_condition(&generator, &selection, result);
    codegen_finish(&generator, results, result_count, result);
    status = generator.status;
    generator_finish(&generator);
    return status;
}

/* The rows of another step, as a table of the program. */
static enum vdbq_status describe_input(const struct codegen_source *source,
                                       struct program *program,
                                       struct program_table *described,
                                       struct error *error)
{
    const struct step *input = source->input;
    int *types =
        arena_alloc(&program->arena, (input->column_count + 1) * sizeof *types);

    if (types == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < input->column_count; i++)
        types[i] = type_machine(input->columns[i].type);
    described->input = source->input_number;
    described->column_count = input->column_count;
    described->column_types = types;
    described->key_type = TYPE_I64;
    return VDBQ_OK;
}

static const char *name_of(const struct codegen_source *source)
{
    if (source->table != NULL)
        return source->table->name;
    return source->name ? source->name : "input";
}

enum vdbq_status codegen_add_source(const struct codegen_source *source,
                                    struct program *program,
                                    struct error *error)
{
    const char *name = name_of(source);
    struct program_table *added;

    if (source->table == NULL && source->input == NULL)
        return VDBQ_OK;
    added = vector_add(&program->tables);
    if (added == NULL)
        return error_no_memory(error);
    added->name = arena_copy(&program->arena, name, strlen(name));
    if (added->name == NULL)
        return error_no_memory(error);
    return source->table ? plan_describe(source->table, program, added, error)
                         : describe_input(source, program, added, error);
}

enum vdbq_status plan_describe(const struct table *table,
                               struct program *program,
                               struct program_table *described,
                               struct error *error)
{
    int *types =
        arena_alloc(&program->arena, (table->column_count + 1) * sizeof *types);

    if (types == NULL)
        return error_no_memory(error);
    described->id = table->id;
    described->column_count = 0;
    described->column_types = types;
    described->key_type = TYPE_I64;
    for (unsigned i = 0; i < table->column_count; i++) {
        int type = type_machine(table->columns[i].type);
        if (i == table->key)
            described->key_type = type;
        else
            types[described->column_count++] = type;
    }
    if (table->key != NO_KEY) /* behind them the numbers of the rows */
        types[described->column_count++] = TYPE_I64;
    return VDBQ_OK;
}

/* ----------------------------------------------------------- condition -- */

static void add_condition(struct generator *generator,
                          const struct selection *selection, int result)
{
    const struct expression *part = selection->where;

    if (results_fault(selection)) {
        condition_jump(generator, part, WHEN_FALSE, result);
        return;
    }
    while (part->kind == EXPRESSION_OPERATOR && part->operation.op == AST_AND) {
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

static bool results_fault(const struct selection *selection)
{
    bool faults = false;

    for (unsigned i = 0; i < selection->result_count; i++)
        faults |= selection->results[i].expression->faults;
    return faults;
}

/* ------------------------------------------------------------- results -- */

static void add_result(struct generator *generator,
                       const struct codegen_result *bound,
                       struct emit_result *result)
{
    const struct expression *e = bound->expression;
    int type = step_machine_type((enum vdbq_type)e->type);
    struct value value = value_of(generator, e, type);

    result->name = emit_text(generator, bound->name, strlen(bound->name));
    result->type = type;
    result->value = emit_result_register(generator, value.r);
    result->null = value.null;
}

/* In the program's arena. */
static struct emit_result *add_results(struct generator *generator,
                                       const struct codegen_result *bound,
                                       size_t count)
{
    struct emit_result *results =
        arena_alloc(&generator->program->arena, count * sizeof *results);

    if (results == NULL && generator->status == VDBQ_OK)
        generator->status = error_no_memory(generator->error);
    for (size_t i = 0; i < count && generator->status == VDBQ_OK; i++)
        add_result(generator, &bound[i], &results[i]);
    return results;
}

void codegen_finish(struct generator *generator,
                    const struct codegen_result *results, unsigned count,
                    int end)
{
    struct emit_result *places = add_results(generator, results, count);

    emit_place(generator, end);
    if (generator->status == VDBQ_OK)
        generator->status = emit_finish(generator, places, count);
}
