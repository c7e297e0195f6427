/* SPDX-License-Identifier: MIT */
/*
 * Numbers of rows: see divide_numbers.h.
 */
#include "cluster/divide/divide_numbers.h"

#include <assert.h>
#include <string.h>

#include "base/type.h"
#include "cluster/divide/divide.h"

/* Instructions that a program gets. */
enum { CODE_MORE = 2 };

/* ------------------------------------------------------------- columns -- */

/* Puts the numbers in front of column `at` of a step, or behind the last one. */
static bool add_column(struct steps *steps, struct step *step, unsigned at)
{
    unsigned count = step->column_count;
    struct step_column *columns =
        arena_alloc(&steps->arena, (count + 1) * sizeof *columns);
    assert(at <= count);
    if (columns == NULL)
        return false;
    memcpy(columns, step->columns, at * sizeof *columns);
    memcpy(columns + at + 1, step->columns + at,
           (count - at) * sizeof *columns);
    columns[at] = (struct step_column){ .name = "row", .type = VDBQ_BIGINT };
    step->columns = columns;
    step->column_count = count + 1;
    return true;
}

/* The place of a column when there are numbers in front of column `at`. */
static int place(int column, unsigned at)
{
    return column + (column >= (int)at);
}

/* Has a program find the numbers in front of column `at` of the first table. */
static bool widen_table(struct program *program, unsigned at)
{
    struct program_table *table = vector_at(&program->tables, 0);
    unsigned count = table->column_count;
    int *types = arena_alloc(&program->arena, (count + 1) * sizeof *types);
    assert(at <= count);
    if (types == NULL)
        return false;
    memcpy(types, table->column_types, at * sizeof *types);
    memcpy(types + at + 1, table->column_types + at,
           (count - at) * sizeof *types);
    types[at] = TYPE_I64;
    table->column_types = types;
    table->column_count = count + 1;
    for (size_t pc = 0; pc < program->code.count; pc++) {
        struct instruction *in = program_at(program, (int)pc);
        if (op_facts(in->op)->form == FORM_COLUMN && in->c == 0)
            in->b = place(in->b, at);
    }
    return true;
}

/* --------------------------------------------------------------- steps -- */

bool divide_can_number(const struct step *step)
{
    if (step->kind != STEP_SCAN) /* twice as many registers, by put_last() */
        return step->column_count < VDBQ_REGISTERS_MAX / 2;
    const struct program *program = &step->scan.program;
    const struct instruction *output =
        program_at(program, program_find(program, OP_RESULT));
    return program->code.count + CODE_MORE <= VDBQ_CODE_MAX
           && output->a + output->b < VDBQ_REGISTERS_MAX;
}

/* Has a program output column `at` of its first table behind its results, which
 * are in the last registers. */
static bool output_column(struct program *program, unsigned at)
{
    int result = program_find(program, OP_RESULT);
    struct instruction *output = program_at(program, result);
    const struct instruction column = { .op = OP_RESULT_COLUMN,
                                        .a = TYPE_I64,
                                        .name = "row" };
    const struct instruction load = { .op = OP_COLUMN_I64,
                                      .a = output->a + output->b,
                                      .b = (int)at,
                                      .comment = "row" };
    output->b++;
    return program_insert(program, result, &load, 1)
           && program_insert(program, program_find(program, OP_PARALLEL),
                             &column, 1);
}

/* A scan over rows with numbers in column `at`; they are its last one, too. */
static bool carry_scan(struct steps *steps, struct step *step, unsigned *at)
{
    struct program *program = &step->scan.program;
    assert(VECTOR_ITEMS(&program->tables, struct program_table)[0].input > 0);
    if (!widen_table(program, *at) || !output_column(program, *at))
        return false;
    *at = step->column_count;
    return add_column(steps, step, *at);
}

/* A join whose left rows have numbers in column `at`: so have its own. */
static bool carry_join(struct steps *steps, struct step *step, unsigned at)
{
    struct step_join *join = &step->join;
    struct step_range_join *range = &join->range;
    for (size_t i = 0; i < join->left_keys.count; i++) {
        int *key = vector_at(&join->left_keys, i);
        *key = place(*key, at);
    }
    if (range->side == RANGE_JOIN_LEFT)
        range->column = place(range->column, at);
    if (range->side == RANGE_JOIN_RIGHT) {
        range->low = place(range->low, at);
        range->high = place(range->high, at);
    }
    return (join->condition == NULL || widen_table(join->condition, at))
           && add_column(steps, step, at);
}

/* ----------------------------------------------------------- last of all -- */

/* The opcode that loads a column. */
static enum opcode load_op(enum vdbq_type type)
{
    static const enum opcode ops[] = { [TYPE_I32] = OP_COLUMN_I32,
                                       [TYPE_I64] = OP_COLUMN_I64,
                                       [TYPE_F32] = OP_COLUMN_F32,
                                       [TYPE_F64] = OP_COLUMN_F64 };
    return type == VDBQ_TEXT ? OP_COLUMN_WORD : ops[step_machine_type(type)];
}

/* The table of a program over all rows of a step. */
static bool read_step(struct program *program, const struct step *from)
{
    int *types =
        arena_alloc(&program->arena, (from->column_count + 1) * sizeof *types);
    struct program_table table = { .name = "input",
                                   .input = 1,
                                   .column_count = from->column_count,
                                   .column_types = types,
                                   .key_type = TYPE_I64 };
    for (unsigned i = 0; types != NULL && i < from->column_count; i++)
        types[i] = type_machine(from->columns[i].type);
    return types != NULL && vector_append(&program->tables, &table, 1)
           && program_add(program, &(struct instruction){ .op = OP_TABLE,
                                                          .name = "input" })
                  >= 0;
}

/* Adds what loads column `column` of the rows, as result `number` of `count`. */
static bool load_column(struct program *program, enum vdbq_type type,
                        int column, int number, int count)
{
    const struct instruction code[] = {
        { .op = OP_COLUMN_NULL, .a = number, .b = column },
        { .op = load_op(type), .a = count + number, .b = column },
    };
    return program_add(program, &code[0]) >= 0
           && program_add(program, &code[1]) >= 0;
}

/* The column of a step that comes as number `number`, when column `at` is last. */
static int moved(unsigned number, unsigned at, unsigned count)
{
    return number + 1 == count ? (int)at : place((int)number, at);
}

/* A program that gives a step's columns, column `at` last. */
static bool move_columns(struct program *program, const struct step *from,
                         unsigned at)
{
    const int count = (int)from->column_count;
    const struct instruction parallel = { .op = OP_PARALLEL,
                                          .c = 4 + 3 * count };
    const struct instruction end[] = {
        { .op = OP_RESULT, .a = count, .b = count },
        { .op = OP_CONVERGE },
        { .op = OP_FINISH }
    };
    bool done = read_step(program, from);
    for (int i = 0; done && i < count; i++) {
        const struct step_column *column =
            &from->columns[moved((unsigned)i, at, from->column_count)];
        const struct instruction told = { .op = OP_RESULT_COLUMN,
                                          .a = step_machine_type(column->type),
                                          .b = 1,
                                          .c = i,
                                          .name = column->name };
        done = program_add(program, &told) >= 0;
    }
    done = done && program_add(program, &parallel) >= 0;
    for (int i = 0; done && i < count; i++) {
        int column = moved((unsigned)i, at, from->column_count);
        done =
            load_column(program, from->columns[column].type, column, i, count);
    }
    for (size_t i = 0; done && i < sizeof end / sizeof *end; i++)
        done = program_add(program, &end[i]) >= 0;
    return done;
}

/* Puts a scan behind a step that gives its columns, those of the numbers last. */
static bool put_last(struct steps *steps, int *top, unsigned at)
{
    struct step *scan = steps_insert(steps, *top, STEP_SCAN);
    if (scan == NULL)
        return false;
    const struct step *from = steps_at(steps, *top);
    unsigned count = from->column_count;
    struct step_column *columns =
        arena_alloc(&steps->arena, count * sizeof *columns);
    if (columns == NULL || !move_columns(&scan->scan.program, from, at))
        return false;
    for (unsigned i = 0; i < count; i++)
        columns[i] = from->columns[moved(i, at, count)];
    scan->columns = columns;
    ++*top;
    return true;
}

/* ----------------------------------------------------------------- all -- */

/* Has the steps above one, whose column `at` are numbers, bring them along. */
static bool carry(struct steps *steps, int number, unsigned at, int *top)
{
    bool done = true;
    while (done && number != *top) {
        size_t input;
        number = divide_reader(steps, number, &input);
        struct step *step = steps_at(steps, number);
        assert(step->kind == STEP_SCAN
               || (step->kind == STEP_JOIN && input == 0));
        done = step->kind == STEP_SCAN ? carry_scan(steps, step, &at)
                                       : carry_join(steps, step, at);
    }
    return done
           && (at + 1 == steps_at(steps, *top)->column_count
               || put_last(steps, top, at));
}

bool divide_number_part(struct steps *steps, int scan, unsigned column,
                        int *top)
{
    struct step *step = steps_at(steps, scan);
    const unsigned at = step->column_count;
    return output_column(&step->scan.program, column)
           && add_column(steps, step, at) && carry(steps, scan, at, top);
}

/* Adds the numbers to the rows of an exchange. */
static bool number_exchange(struct steps *steps, int exchange)
{
    struct step *step = steps_at(steps, exchange);
    step->exchange.numbered = true;
    return add_column(steps, step, step->column_count);
}

bool divide_number_rows(struct steps *steps, int exchange, int *top)
{
    unsigned at = steps_at(steps, exchange)->column_count;
    return number_exchange(steps, exchange) && carry(steps, exchange, at, top);
}

/* Has groups of rows whose last column are numbers give the least, as theirs. */
static bool add_least(struct steps *steps, int group)
{
    struct step *step = steps_at(steps, group);
    const struct step *rows =
        steps_at(steps, VECTOR_ITEMS(&step->inputs, int)[0]);
    const struct step_aggregate least = { .function = AGGREGATE_MIN,
                                          .column = (int)rows->column_count - 1,
                                          .filter = -1 };
    assert(rows->columns[least.column].type == VDBQ_BIGINT);
    step->group.combinations = 0;
    return vector_append(&step->group.aggregates, &least, 1)
           && add_column(steps, step, step->column_count);
}

bool divide_number_groups(struct steps *steps, int group)
{
    steps_at(steps, group)->group.numbered = true;
    return add_least(steps, group);
}

bool divide_number_least(struct steps *steps, int group, int *top)
{
    unsigned at = steps_at(steps, group)->column_count;
    return add_least(steps, group) && carry(steps, group, at, top);
}

bool divide_number_whole(struct steps *steps, int exchange, int group, int *top)
{
    return number_exchange(steps, exchange)
           && divide_number_least(steps, group, top);
}

/* Adds the numbers to the keys of a sort, as the last one. */
static bool add_key(struct step *sort, unsigned numbers)
{
    const struct step_key key = { .column = (int)numbers };
    return vector_append(&sort->sort.keys, &key, 1);
}

bool divide_order(struct steps *steps, int gather)
{
    unsigned numbers = steps_at(steps, gather)->column_count - 1;
    size_t input;
    int reader = divide_reader(steps, gather, &input);
    if (reader >= 0 && steps_at(steps, reader)->kind == STEP_SORT)
        return add_key(steps_at(steps, reader), numbers);
    const struct step *from =
        steps_at(steps, VECTOR_ITEMS(&steps_at(steps, gather)->inputs, int)[0]);
    if (from->kind != STEP_GROUP || !from->group.apart) {
        steps_at(steps, gather)->gather.ordered = true;
        steps_at(steps, gather)->column_count = numbers;
        return true;
    }
    struct step *sort = steps_insert(steps, gather, STEP_SORT);
    if (sort == NULL)
        return false;
    sort->column_count = numbers;
    sort->sort.limit = UINT64_MAX;
    return add_key(sort, numbers);
}
