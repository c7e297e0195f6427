/* SPDX-License-Identifier: MIT */
/*
 * Proves programs well formed before anything runs them. The machine relies
 * on what is checked here and checks nothing itself.
 */
#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "program/program.h"

/* Choices of rows within one another that are looked through. */
enum { CHOICES_MAX = 4 };

/* What is known of a register. */
struct writer {
    int pc;      /* of the instruction that writes it; 0: none does, for a
                    program begins with other ones                          */
    int type;    /* of the value written last */
    int skipped; /* the first later instruction that a row may reach without
                    having run the writer                                   */
    int skipped_valid; /* ... and valid: a row that lost its validity never
                    gets it back                                            */
};

/* The first jumps that lead to an instruction, or INT_MAX. */
struct arrival {
    int any;   /* of all jumps */
    int valid; /* of those that leave the row valid */
};

struct checking {
    const struct program *program; /* that is checked */
    int count;                     /* of instructions */
    int parallel;                  /* program counters of these two */
    int converge;                  /* where the part of rows ends */
    int results;                   /* Result instructions met */
    unsigned axes;                 /* of the program */
    struct arrival *arrivals;      /* for each program counter */
    int registers;                 /* the highest one written, and one more */
    struct writer *writers;        /* what each of these holds now */
    struct error *error;           /* where the first fault is written */
};

static enum vdbq_status refuse(const struct checking *check, int pc,
                               const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Every message names the instruction. */
static enum vdbq_status refuse(const struct checking *check, int pc,
                               const char *format, ...)
{
    const struct instruction *in = program_at(check->program, pc);
    char fact[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fact, sizeof fact, format, arguments);
    va_end(arguments);
    return error_at(check->error, VDBQ_PROGRAM, in->at,
                    "instruction %d (%s): %s", pc, op_facts(in->op)->mnemonic,
                    fact);
}

/* ---------------------------------------------------------- the frame -- */

/* Cursors have tables that are there. */
static enum vdbq_status check_table(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    if (in->c != pc)
        return refuse(check, pc, "its cursor is %d, but must be %d", in->c, pc);
    if ((size_t)pc >= check->program->tables.count)
        return refuse(check, pc, "there is no such table");
    if (in->name == NULL)
        return refuse(check, pc, "it has no name");
    return VDBQ_OK;
}

/* Columns come before the instructions. */
static enum vdbq_status check_result_column(const struct checking *check,
                                            int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    if (in->a < TYPE_I32 || in->a > TYPE_F64)
        return refuse(check, pc, "there is no type %d", in->a);
    if (in->b != 0 && in->b != 1)
        return refuse(check, pc, "whether it can be NULL must be 0 or 1");
    if (in->b == 0 && in->c != 0)
        return refuse(check, pc, "it names NULL flags, but cannot be NULL");
    if (in->name == NULL)
        return refuse(check, pc, "it has no name");
    return VDBQ_OK;
}

/* The number of instructions of one kind from `pc` on. */
static int run_of(const struct checking *check, int pc, enum opcode op)
{
    int end = pc;
    while (end < check->count && program_at(check->program, end)->op == op)
        end++;
    return end - pc;
}

/* Checks what surrounds the rows' part. */
static enum vdbq_status check_frame(struct checking *check)
{
    int tables = run_of(check, 0, OP_TABLE);
    int columns = run_of(check, tables, OP_RESULT_COLUMN);
    enum vdbq_status status = VDBQ_OK;
    check->parallel = tables + columns;
    check->converge = check->count - 2;
    if (check->parallel >= check->converge
        || program_at(check->program, check->parallel)->op != OP_PARALLEL
        || program_at(check->program, check->count - 1)->op != OP_FINISH)
        return error_set(check->error, VDBQ_PROGRAM,
                         "a program is Table, ResultColumn, Parallel, the "
                         "rows' part, Converge and Finish");
    if (program_at(check->program, check->parallel)->c != check->count - 1)
        return refuse(check, check->parallel, "it must lead to Finish");
    if (columns == 0)
        return refuse(check, check->parallel, "there is no result column");
    if (tables > VDBQ_CURSORS_MAX)
        return error_set(check->error, VDBQ_LIMIT,
                         "%d tables in one program; this version runs over %d",
                         tables, VDBQ_CURSORS_MAX);
    if ((size_t)tables != check->program->tables.count)
        return error_set(check->error, VDBQ_PROGRAM, "%d tables, %zu described",
                         tables, check->program->tables.count);
    check->axes = program_axes(check->program);
    if (check->axes > VDBQ_AXES_MAX || (tables > 0 && check->axes == 0))
        return error_set(check->error, VDBQ_PROGRAM,
                         "%u of %d cursors are not probed; 1 to %d must be, "
                         "the first ones",
                         check->axes, tables, VDBQ_AXES_MAX);
    for (int pc = 0; pc < tables && status == VDBQ_OK; pc++)
        status = check_table(check, pc);
    for (int pc = tables; pc < check->parallel && status == VDBQ_OK; pc++)
        status = check_result_column(check, pc);
    return status;
}

/* ----------------------------------------------------- the rows' part -- */

/* Registers are below the limit. */
static enum vdbq_status check_register(const struct checking *check, int pc,
                                       int r)
{
    if (r < 0 || r >= VDBQ_REGISTERS_MAX)
        return refuse(check, pc, "there is no register %d (limit %d)", r,
                      VDBQ_REGISTERS_MAX);
    return VDBQ_OK;
}

/* Jumps go forward, and not over the end of the rows' part. */
static enum vdbq_status check_jump(const struct checking *check, int pc,
                                   int target)
{
    if (target <= pc || target > check->converge)
        return refuse(check, pc, "a jump to %d; jumps go forward, up to %d",
                      target, check->converge);
    struct arrival *arrival = &check->arrivals[target];
    if (arrival->any > pc)
        arrival->any = pc;
    if (arrival->valid > pc && program_at(check->program, pc)->d != 0)
        arrival->valid = pc;
    return VDBQ_OK;
}

/* The cursor has a table. */
static enum vdbq_status check_cursor(const struct checking *check, int pc,
                                     int cursor)
{
    if (cursor < 0 || (size_t)cursor >= check->program->tables.count)
        return refuse(check, pc, "there is no cursor %d", cursor);
    return VDBQ_OK;
}

/* Whether the opcode's column is one of texts. */
static bool is_of_words(enum opcode op)
{
    return op == OP_COLUMN_WORD || op == OP_ROWID_WORD
           || op == OP_COLUMN_AT_WORD || op == OP_PROBE_WORD;
}

/* Checks that a cursor is used as an axis, or as a probed one. */
static enum vdbq_status check_use(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    enum op_form form = op_facts(in->op)->form;
    bool probed = (unsigned)in->c >= check->axes;
    if (probed != (form == FORM_PROBE || form == FORM_COLUMN_AT))
        return refuse(check, pc, "cursor %d is %s", in->c,
                      probed ? "a probed one" : "an axis");
    return VDBQ_OK;
}

/* Checks a column, or with ROWID the key, of a cursor that exists. */
static enum vdbq_status check_column(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    const struct op_facts *op = op_facts(in->op);
    const struct program_table *table =
        &VECTOR_ITEMS(&check->program->tables, struct program_table)[in->c];
    int type = table->key_type;
    int column = op->form == FORM_PROBE ? in->d : in->b;
    if (op->form != FORM_ROWID) {
        if (column < 0 || (unsigned)column >= table->column_count)
            return refuse(check, pc, "table %s has no column %d", table->name,
                          column);
        type = table->column_types[column];
    }
    int wanted = is_of_words(in->op)      ? TYPE_WORD
                 : op->form == FORM_PROBE ? op->reads
                                          : op->writes;
    bool flags = in->op == OP_COLUMN_NULL || in->op == OP_COLUMN_AT_NULL;
    if (!flags && wanted != type)
        return refuse(check, pc, "the column is of type %s", type_text(type));
    return check_use(check, pc);
}

/* Notes that the instruction writes register r. */
static enum vdbq_status check_written(struct checking *check, int pc, int r)
{
    enum vdbq_status status = check_register(check, pc, r);
    if (status != VDBQ_OK)
        return status;
    if (check->writers[r].pc > 0)
        return refuse(check, pc, "instruction %d writes register %d, too",
                      check->writers[r].pc, r);
    assert(pc > 0 && r < check->registers);
    check->writers[r].pc = pc;
    check->writers[r].type =
        op_facts(program_at(check->program, pc)->op)->writes;
    return VDBQ_OK;
}

/* Checks that a constant fits its register. */
static enum vdbq_status check_constant(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    if (in->op == OP_INTEGER_I32
        && (in->integer < INT32_MIN || in->integer > INT32_MAX))
        return refuse(check, pc, "%lld does not fit type I32",
                      (long long)in->integer);
    return VDBQ_OK;
}

/* Checks what an instruction's number or name is to be. */
static enum vdbq_status check_facts(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    enum op_form form = op_facts(in->op)->form;
    if (form == FORM_PARAMETER && in->b < 0)
        return refuse(check, pc, "there is no parameter %d", in->b);
    if (form == FORM_PART && (in->c < 0 || in->c >= DATE_PARTS))
        return refuse(check, pc, "a date has no part %d", in->c);
    if (in->name == NULL
        && (form == FORM_TEXT || form == FORM_LOOKUP || form == FORM_FAIL))
        return refuse(check, pc, "it has no text");
    return VDBQ_OK;
}

/* Checks one operand, whose letter is of VDBQ_FORMS; reads come later. */
static enum vdbq_status check_operand(struct checking *check, int pc,
                                      char letter, int operand)
{
    switch (letter) {
    case 'w':
        return check_written(check, pc, operand);
    case 'r':
    case 'x':
    case 's':
        return check_register(check, pc, operand);
    case 'j':
        return check_jump(check, pc, operand);
    case 'k':
        return check_cursor(check, pc, operand);
    case 'y':
        if (operand != 0 && operand != 1)
            return refuse(check, pc, "validity %d; it is 0 or 1", operand);
        return VDBQ_OK;
    case 'v':
        return check_constant(check, pc);
    case 't':
        if (operand != op_facts(program_at(check->program, pc)->op)->writes)
            return refuse(check, pc, "type %d is not the opcode's", operand);
        return VDBQ_OK;
    case '-':
        if (operand != 0)
            return refuse(check, pc, "an operand without a use is %d, not 0",
                          operand);
        return VDBQ_OK;
    default:
        return VDBQ_OK;
    }
}

/* All operands of one instruction. */
static enum vdbq_status check_row_instruction(struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    const char *letters = op_operands(in->op);
    const int operands[4] = { in->a, in->b, in->c, in->d };
    enum vdbq_status status = VDBQ_OK;
    if (op_facts(in->op)->effect == EFFECT_HOST)
        return refuse(check, pc, "it is not allowed in the rows' part");
    if ((in->op == OP_CONVERGE) != (pc == check->converge))
        return refuse(check, pc, "Converge must end the rows' part");
    check->results += in->op == OP_RESULT;
    for (int i = 0; i < 4 && status == VDBQ_OK; i++)
        status = check_operand(check, pc, letters[i], operands[i]);
    enum op_form form = op_facts(in->op)->form;
    if (status == VDBQ_OK
        && (form == FORM_COLUMN || form == FORM_ROWID || form == FORM_PROBE
            || form == FORM_COLUMN_AT))
        status = check_column(check, pc);
    return status == VDBQ_OK ? check_facts(check, pc) : status;
}

/* -------------------------------------------------------------- reads -- */

/* Finds, for each writer, the first instruction that may be reached past it:
 * every jump is conditional, so that is the least target behind the writer
 * of a jump that stands before it. Result reads registers of valid rows
 * only, so that a jump that takes the validity may lead there. */
static void find_skipped(struct checking *check)
{
    for (int r = 0; r < check->registers; r++) {
        struct writer *writer = &check->writers[r];
        int pc = writer->pc + 1, valid = pc;
        while (writer->pc > 0 && pc < check->count
               && check->arrivals[pc].any >= writer->pc)
            pc++;
        while (writer->pc > 0 && valid < check->count
               && check->arrivals[valid].valid >= writer->pc)
            valid++;
        writer->skipped = pc;
        writer->skipped_valid = valid;
    }
}

/* The register was written, with the type that is read. */
static enum vdbq_status check_read(const struct checking *check, int pc, int r,
                                   int type)
{
    enum vdbq_status status = check_register(check, pc, r);
    if (status != VDBQ_OK)
        return status;
    const struct writer *writer = &check->writers[r];
    if (r >= check->registers || writer->pc == 0 || writer->pc >= pc)
        return refuse(check, pc, "register %d is read before it is written", r);
    enum op_effect effect =
        op_facts(program_at(check->program, pc)->op)->effect;
    bool valid_only = effect == EFFECT_OUTPUT || effect == EFFECT_GROUP;
    if ((valid_only ? writer->skipped_valid : writer->skipped) <= pc)
        return refuse(check, pc,
                      "register %d is not written on every path to here", r);
    if (writer->type != type)
        return refuse(check, pc, "register %d is of type %s, not %s", r,
                      type_text(writer->type), type_text(type));
    return VDBQ_OK;
}

/* Checks what Result reads: a register for each result column. */
static enum vdbq_status check_result(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    int first = (int)check->program->tables.count;
    int columns = check->parallel - first;
    enum vdbq_status status = VDBQ_OK;
    if (in->b != columns)
        return refuse(check, pc, "it outputs %d columns, but there are %d",
                      in->b, columns);
    for (int i = 0; i < columns && status == VDBQ_OK; i++) {
        const struct instruction *column =
            program_at(check->program, first + i);
        status = check_read(check, pc, in->a + i, column->a);
        if (status == VDBQ_OK && column->b)
            status = check_read(check, pc, column->c, TYPE_I32);
    }
    return status;
}

/* Whether register r, which is written, has a row of the cursor or none: what
 * a Probe gave, a number below 0, or a choice of these. */
static bool is_row(const struct checking *check, int r, int cursor,
                   unsigned depth)
{
    const struct instruction *in =
        program_at(check->program, check->writers[r].pc);
    if (op_facts(in->op)->form == FORM_PROBE)
        return in->c == cursor;
    if (in->op == OP_INTEGER_I32)
        return in->integer < 0;
    return in->op == OP_CHOOSE_I32 && depth > 0
           && is_row(check, in->b, cursor, depth - 1)
           && is_row(check, in->c, cursor, depth - 1);
}

/* Checks that ColumnAt reads a row that exists. */
static enum vdbq_status check_row(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    if (is_row(check, in->d, in->c, CHOICES_MAX))
        return VDBQ_OK;
    return refuse(check, pc, "register %d is no row of cursor %d", in->d,
                  in->c);
}

/* All registers that an instruction reads. */
static enum vdbq_status check_reads(const struct checking *check, int pc)
{
    const struct instruction *in = program_at(check->program, pc);
    const char *letters = op_operands(in->op);
    const int operands[4] = { in->a, in->b, in->c, in->d };
    enum vdbq_status status = VDBQ_OK;
    if (in->op == OP_RESULT)
        return check_result(check, pc);
    for (int i = 0; i < 4 && status == VDBQ_OK; i++) {
        if (letters[i] == 'r')
            status =
                check_read(check, pc, operands[i], op_facts(in->op)->reads);
        if (letters[i] == 'x' || (letters[i] == 'u' && operands[i] >= 0))
            status = check_read(check, pc, operands[i], TYPE_I32);
    }
    if (status == VDBQ_OK && op_facts(in->op)->form == FORM_COLUMN_AT)
        status = check_row(check, pc);
    return status;
}

/* The part that runs once a row has one Result. */
static enum vdbq_status check_rows_part(struct checking *check)
{
    enum vdbq_status status = VDBQ_OK;
    for (int pc = check->parallel + 1;
         pc <= check->converge && status == VDBQ_OK; pc++)
        status = check_row_instruction(check, pc);
    if (status != VDBQ_OK)
        return status;
    if (check->results != 1)
        return refuse(check, check->parallel,
                      "%d Result instructions; there must be one",
                      check->results);
    find_skipped(check);
    for (int pc = check->parallel + 1;
         pc < check->converge && status == VDBQ_OK; pc++)
        status = check_reads(check, pc);
    return status;
}

/* Frame and rows' part, where no jump is known yet. */
static enum vdbq_status check_all(struct checking *check)
{
    for (int i = 0; i <= check->count; i++)
        check->arrivals[i] = (struct arrival){ INT_MAX, INT_MAX };
    error_clear(check->error);
    enum vdbq_status status = check_frame(check);
    return status == VDBQ_OK ? check_rows_part(check) : status;
}

/* One more than the highest register that is written, of those that there are. */
static int count_registers(const struct program *program)
{
    int registers = 0;
    for (int pc = 0; (size_t)pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, pc);
        const char *letters = op_operands(in->op);
        const int operands[4] = { in->a, in->b, in->c, in->d };
        for (int i = 0; i < 4; i++)
            if (letters[i] == 'w' && operands[i] >= registers
                && operands[i] < VDBQ_REGISTERS_MAX)
                registers = operands[i] + 1;
    }
    return registers;
}

enum vdbq_status program_check(struct program *program, struct error *error)
{
    if (program->code.count > VDBQ_CODE_MAX)
        return error_set(error, VDBQ_LIMIT,
                         "the program has %zu instructions; the limit is %d",
                         program->code.count, VDBQ_CODE_MAX);
    struct checking check = { .program = program,
                              .count = (int)program->code.count,
                              .registers = count_registers(program),
                              .error = error };
    check.arrivals =
        memory_zeroed(program->code.count + 1, sizeof *check.arrivals);
    check.writers =
        memory_zeroed((size_t)check.registers + 1, sizeof *check.writers);
    enum vdbq_status status = check.arrivals && check.writers
                                  ? check_all(&check)
                                  : error_no_memory(error);
    program->registers = (unsigned)check.registers;
    memory_release(check.writers);
    memory_release(check.arrivals);
    return status;
}
