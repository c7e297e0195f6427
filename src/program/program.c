/* SPDX-License-Identifier: MIT */
/*
 * Programs: their making and what can be asked of them.
 */
#include "program/program.h"

#include <assert.h>
#include <string.h>

void program_init(struct program *program)
{
    *program = (struct program){ .code = VECTOR(struct instruction),
                                 .tables = VECTOR(struct program_table) };
}

void program_finish(struct program *program)
{
    vector_finish(&program->code);
    vector_finish(&program->tables);
    arena_finish(&program->arena);
    *program = (struct program){ 0 };
}

int program_add(struct program *program, const struct instruction *added)
{
    assert(program->packed == NULL);
    struct instruction *room = vector_add(&program->code);
    if (room == NULL)
        return -1;
    *room = *added;
    return (int)program->code.count - 1;
}

struct instruction *program_at(const struct program *program, int pc)
{
    return &VECTOR_ITEMS(&program->code, struct instruction)[pc];
}

bool program_insert(struct program *program, int pc,
                    const struct instruction *added, int count)
{
    int end = (int)program->code.count;
    for (int i = 0; i < count; i++)
        if (program_add(program, &added[i]) < 0)
            return false;
    for (int i = 0; i < end; i++) {
        struct instruction *in = program_at(program, i);
        if (op_operands(in->op)[2] == 'j' && in->c > pc)
            in->c += count;
    }
    memmove(program_at(program, pc + count), program_at(program, pc),
            (size_t)(end - pc) * sizeof *added);
    memcpy(program_at(program, pc), added, (size_t)count * sizeof *added);
    return true;
}

bool program_has(const struct program *program, int pc,
                 const struct instruction *wanted, int count)
{
    bool has = pc >= 0 && pc + count <= (int)program->code.count;
    for (int i = 0; has && i < count; i++) {
        const struct instruction *in = program_at(program, pc + i);
        has = in->op == wanted[i].op && in->a == wanted[i].a
              && in->b == wanted[i].b && in->c == wanted[i].c
              && in->d == wanted[i].d;
    }
    return has;
}

bool instruction_reads(const struct instruction *in, int register_)
{
    const int operands[] = { in->a, in->b, in->c, in->d };
    const char *letters = op_operands(in->op);
    for (int i = 0; i < 4; i++)
        if (operands[i] == register_ && strchr("rxu", letters[i]) != NULL)
            return true;
    return false;
}

int instruction_writes(const struct instruction *in)
{
    const int operands[] = { in->a, in->b, in->c, in->d };
    const char *letters = op_operands(in->op);
    for (int i = 0; i < 4; i++)
        if (letters[i] == 'w')
            return operands[i];
    return -1;
}

int program_find(const struct program *program, enum opcode op)
{
    for (int pc = 0; pc < (int)program->code.count; pc++)
        if (program_at(program, pc)->op == op)
            return pc;
    return -1;
}

struct program_part program_part(const struct program *program)
{
    int pc = 0;
    while (program_at(program, pc)->op != OP_PARALLEL)
        pc++;
    return (struct program_part){ .first = pc + 1,
                                  .converge = program_at(program, pc)->c - 1 };
}

unsigned program_axes(const struct program *program)
{
    int axes = (int)program->tables.count;
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        if (op_facts(in->op)->form == FORM_PROBE && in->c < axes)
            axes = in->c;
    }
    return axes > 0 ? (unsigned)axes : 0;
}

unsigned program_results(const struct program *program)
{
    unsigned count = 0;
    for (int pc = 0; program_at(program, pc)->op != OP_PARALLEL; pc++)
        count += program_at(program, pc)->op == OP_RESULT_COLUMN;
    return count;
}

/* The first register that Result outputs. */
static int first_result_register(const struct program *program)
{
    int pc = program_part(program).first;
    while (program_at(program, pc)->op != OP_RESULT)
        pc++;
    return program_at(program, pc)->a;
}

struct program_result program_result(const struct program *program,
                                     unsigned column)
{
    const struct instruction *at =
        program_at(program, (int)(program->tables.count + column));
    return (struct program_result){
        .name = at->name,
        .type = at->a,
        .register_ = first_result_register(program) + (int)column,
        .null_register = at->b ? at->c : -1,
    };
}

unsigned program_cost(const struct program *program)
{
    struct program_part part = program_part(program);
    unsigned cost = 1;
    for (int pc = part.first; pc < part.converge; pc++)
        cost += op_facts(program_at(program, pc)->op)->cost;
    return cost;
}
