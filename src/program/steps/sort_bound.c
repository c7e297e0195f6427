/* SPDX-License-Identifier: MIT */
/*
 * Makes the part of a program that passes over rows behind a sort's bound, and
 * knows it again.
 */
#include "program/steps/sort_bound.h"

#include <assert.h>

/* Instructions of a part, at most. */
enum { BOUND_MAX = 2 };

struct bound_part {
    struct instruction code[BOUND_MAX];
    int count;
};

static const struct step_key *first_key(const struct step_sort *sort)
{
    return VECTOR_ITEMS(&sort->keys, struct step_key);
}

/* The opcode for values of the key's type; words have numbers in their order. */
static enum opcode behind(const struct program_result *key)
{
    static const enum opcode ops[] = { [TYPE_I32] = OP_BEHIND_I32,
                                       [TYPE_I64] = OP_BEHIND_I64,
                                       [TYPE_F32] = OP_BEHIND_F32,
                                       [TYPE_F64] = OP_BEHIND_F64 };
    return ops[key->type];
}

/* The part in front of instruction `pc`; a NULL jumps over its last one. */
static void make_part(const struct program_result *key, int pc,
                      struct bound_part *part)
{
    int null = key->null_register;
    part->count = 0;
    if (null >= 0)
        part->code[part->count++] = (struct instruction){
            .op = OP_AND_I32, .a = null, .b = null, .c = pc + 2, .d = 1
        };
    part->code[part->count] = (struct instruction){ .op = behind(key),
                                                    .a = key->register_,
                                                    .c = pc + part->count + 1,
                                                    .comment = key->name };
    part->count++;
}

/* The key's result, where the program is one over a table's rows. */
static bool find_key(const struct program *program,
                     const struct step_sort *sort, struct program_result *key)
{
    const struct vector *tables = &program->tables;
    if (tables->count == 0 || program_axes(program) != 1
        || VECTOR_ITEMS(tables, struct program_table)[0].input != 0)
        return false;
    *key = program_result(program, (unsigned)first_key(sort)->column);
    return true;
}

/* Whether the program has some such part. */
static bool has_part(const struct program *program)
{
    return program_find(program, OP_BEHIND_I32) >= 0
           || program_find(program, OP_BEHIND_I64) >= 0
           || program_find(program, OP_BEHIND_F32) >= 0
           || program_find(program, OP_BEHIND_F64) >= 0;
}

/* Leads jumps that make a row invalid over the part, which may read what they
 * left out. */
static void jump_over(struct program *program, int pc, int count)
{
    for (int i = 0; i < pc; i++) {
        struct instruction *in = program_at(program, i);
        if (op_facts(in->op)->effect == EFFECT_JUMP && in->c == pc
            && in->d == 0)
            in->c += count;
    }
}

bool sort_bound_add(struct program *program, const struct step_sort *sort)
{
    struct program_result key;
    struct bound_part part;
    int result = program_find(program, OP_RESULT);
    if (has_part(program) || program_find(program, OP_GROUP) >= 0
        || !find_key(program, sort, &key)
        || program->code.count + BOUND_MAX > VDBQ_CODE_MAX)
        return true;
    make_part(&key, result, &part);
    if (!program_insert(program, result, part.code, part.count))
        return false;
    jump_over(program, result, part.count);
    return true;
}

bool sort_bound_fits(const struct program *program,
                     const struct step_sort *sort)
{
    struct program_result key;
    struct bound_part part;
    if (!has_part(program) || !find_key(program, sort, &key))
        return false;
    int count = key.null_register >= 0 ? 2 : 1;
    int first = program_find(program, OP_RESULT) - count;
    make_part(&key, first, &part);
    assert(part.count == count);
    return program_has(program, first, part.code, count);
}
