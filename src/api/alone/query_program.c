/* SPDX-License-Identifier: MIT */
/*
 * Steps of a program that was written by hand: a scan of each table that is
 * probed, then the program itself.
 */
#include "api/alone/query_program.h"

#include "base/type.h"

/* The table that a program's table names; NULL: there is none. */
static const struct table *find(const struct catalogue *catalogue,
                                const struct program_table *table,
                                struct error *error)
{
    const struct table *found =
        table->name ? catalogue_table(catalogue, table->name) : NULL;
    if (found == NULL)
        error_set(error, VDBQ_UNKNOWN,
                  "the program's table \"%s\" does not exist",
                  table->name ? table->name : "");
    return found;
}

/* -------------------------------------------------- a scan of all rows -- */

static bool add(struct program *program, struct instruction in)
{
    return program_add(program, &in) >= 0;
}

/* Names the columns: values in the first registers, then their NULL flags. */
static bool add_results(struct program *program, const struct table *table)
{
    bool added = true;
    for (unsigned i = 0; i < table->column_count && added; i++) {
        int type = step_machine_type(table->columns[i].type);
        bool nullable = i != table->key;
        added = add(program, (struct instruction){
                                 .op = OP_RESULT_COLUMN,
                                 .a = type,
                                 .b = nullable,
                                 .c = nullable * (int)(table->column_count + i),
                                 .name = table->columns[i].name });
    }
    return added;
}

/* Reads a column, or the key. */
static bool add_column(struct program *program, const struct table *table,
                       unsigned i)
{
    static const enum opcode columns[] = {
        [TYPE_I32] = OP_COLUMN_I32,   [TYPE_I64] = OP_COLUMN_I64,
        [TYPE_F32] = OP_COLUMN_F32,   [TYPE_F64] = OP_COLUMN_F64,
        [TYPE_WORD] = OP_COLUMN_WORD,
    };
    static const enum opcode keys[] = {
        [TYPE_I32] = OP_ROWID_I32,   [TYPE_I64] = OP_ROWID_I64,
        [TYPE_F32] = OP_ROWID_F32,   [TYPE_F64] = OP_ROWID_F64,
        [TYPE_WORD] = OP_ROWID_WORD,
    };
    int type = type_machine(table->columns[i].type), to = (int)i;
    int column = to - (i > table->key);
    if (i == table->key)
        return add(program, (struct instruction){ .op = keys[type], .a = to });
    return add(program, (struct instruction){ .op = columns[type],
                                              .a = to,
                                              .b = column })
           && add(program,
                  (struct instruction){ .op = OP_COLUMN_NULL,
                                        .a = (int)table->column_count + to,
                                        .b = column });
}

static bool add_scan(struct program *program, const struct table *table)
{
    int columns = (int)table->column_count;
    int reads = 2 * columns - (table->key != NO_KEY);
    bool added =
        add(program,
            (struct instruction){ .op = OP_TABLE, .name = table->name })
        && add_results(program, table)
        && add(program, (struct instruction){ .op = OP_PARALLEL,
                                              .c = columns + reads + 4 });
    for (unsigned i = 0; i < table->column_count && added; i++)
        added = add_column(program, table, i);
    return added
           && add(program,
                  (struct instruction){ .op = OP_RESULT, .b = columns })
           && add(program, (struct instruction){ .op = OP_CONVERGE })
           && add(program, (struct instruction){ .op = OP_FINISH });
}

/* Adds a step that gives all rows of a table. */
static enum vdbq_status
add_table(struct steps *steps, const struct table *table, struct error *error)
{
    struct step *step = steps_add(steps, STEP_SCAN);
    struct program *program = step != NULL ? &step->scan.program : NULL;
    struct program_table *described =
        step != NULL ? vector_add(&program->tables) : NULL;
    if (described == NULL || !add_scan(program, table)
        || !steps_describe(steps, step))
        return error_no_memory(error);
    described->name = table->name;
    for (unsigned i = 0; i < table->column_count; i++) {
        step->columns[i].type = table->columns[i].type;
        step->columns[i].precision = table->columns[i].precision;
        step->columns[i].scale = table->columns[i].scale;
    }
    return plan_describe(table, program, described, error);
}

/* -------------------------------------------------------- the program -- */

/* Describes the table as the rows of the step that was added last. */
static enum vdbq_status describe_input(const struct steps *steps,
                                       struct program *program,
                                       struct program_table *table,
                                       struct error *error)
{
    const struct step *input = steps_last(steps);
    int *types =
        arena_alloc(&program->arena, (input->column_count + 1) * sizeof *types);
    if (types == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < input->column_count; i++)
        types[i] = type_machine(input->columns[i].type);
    table->input = (unsigned)steps->steps.count;
    table->column_count = input->column_count;
    table->column_types = types;
    table->key_type = TYPE_I64;
    return VDBQ_OK;
}

/* Gives the program's tables their columns, and steps to those that it
 * probes. */
static enum vdbq_status resolve(struct steps *steps,
                                const struct catalogue *catalogue,
                                struct program *program, struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned axes = program_axes(program);
    for (size_t i = 0; i < program->tables.count && status == VDBQ_OK; i++) {
        struct program_table *table = vector_at(&program->tables, i);
        const struct table *found = find(catalogue, table, error);
        if (found == NULL)
            return error->status;
        if (i < axes) {
            status = plan_describe(found, program, table, error);
            continue;
        }
        status = add_table(steps, found, error);
        if (status == VDBQ_OK)
            status = describe_input(steps, program, table, error);
    }
    return status;
}

/* Adds the program as the last step, which takes it over. */
static enum vdbq_status
add_program(struct steps *steps, struct program *program, struct error *error)
{
    int inputs = (int)steps->steps.count;
    struct step *step = steps_add(steps, STEP_SCAN);
    if (step == NULL) {
        program_finish(program);
        return error_no_memory(error);
    }
    step->scan.program = *program;
    for (int i = 0; i < inputs; i++)
        if (!vector_append(&step->inputs, &i, 1))
            return error_no_memory(error);
    return steps_describe(steps, step) ? VDBQ_OK : error_no_memory(error);
}

enum vdbq_status query_program(const char *text,
                               const struct catalogue *catalogue,
                               struct plan *plan, struct error *error)
{
    struct program program;
    *plan = (struct plan){ .kind = PLAN_SELECT };
    steps_init(&plan->steps);
    program_init(&program);
    enum vdbq_status status = program_read(text, &program, error);
    if (status == VDBQ_OK)
        status = resolve(&plan->steps, catalogue, &program, error);
    if (status == VDBQ_OK)
        status = add_program(&plan->steps, &program, error);
    else
        program_finish(&program);
    if (status != VDBQ_OK)
        plan_finish(plan);
    return status;
}
