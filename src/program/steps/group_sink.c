/* SPDX-License-Identifier: MIT */
/*
 * Makes the part of a program that adds rows to groups, and knows it again.
 */
#include "program/steps/group_sink.h"

#include "cl/sum.h"

/* Instructions of a part, at most. */
enum { SINK_MAX = LAUNCH_KEYS + GROUP_SINK_AGGREGATES_MAX + 2 };

struct sink_part {
    struct instruction code[SINK_MAX];
    int count;
};

/* ------------------------------------------------------------- opcodes -- */

/* OPCODES: there is none for that type. */
static enum opcode key_op(int type)
{
    return type == TYPE_I32   ? OP_KEY_I32
           : type == TYPE_I64 ? OP_KEY_I64
                              : OPCODES;
}

static enum opcode sum_op(int type)
{
    static const enum opcode ops[] = { [TYPE_NONE] = OPCODES,
                                       [TYPE_I32] = OP_SUM_I32,
                                       [TYPE_I64] = OP_SUM_I64,
                                       [TYPE_F32] = OP_SUM_F32,
                                       [TYPE_F64] = OP_SUM_F64 };
    return ops[type];
}

static enum opcode best_op(int type)
{
    static const enum opcode ops[] = { [TYPE_NONE] = OPCODES,
                                       [TYPE_I32] = OP_BEST_I32,
                                       [TYPE_I64] = OP_BEST_I64,
                                       [TYPE_F32] = OP_BEST_F32,
                                       [TYPE_F64] = OP_BEST_F64 };
    return ops[type];
}

static enum opcode bits_op(int type)
{
    return type == TYPE_I32   ? OP_BITS_I32
           : type == TYPE_I64 ? OP_BITS_I64
                              : OPCODES;
}

static const struct step_aggregate *aggregate_at(const struct step_group *group,
                                                 size_t number)
{
    return &VECTOR_ITEMS(&group->aggregates, struct step_aggregate)[number];
}

/* What an aggregate takes: a result of the program, or nothing. */
static struct program_result argument(const struct program *program,
                                      const struct step_aggregate *aggregate)
{
    if (aggregate->column < 0)
        return (struct program_result){ .type = TYPE_NONE,
                                        .null_register = -1 };
    return program_result(program, (unsigned)aggregate->column);
}

/* The opcode of an aggregate; OPCODES: there is none. */
static enum opcode aggregate_op(const struct program *program,
                                const struct step_aggregate *aggregate)
{
    int type = argument(program, aggregate).type;
    bool distinct = aggregate->distinct && aggregate->column >= 0;
    switch (aggregate_row(aggregate->function)->keeps) {
    case AGGREGATE_KEEPS_NOTHING:
        return distinct ? OPCODES : OP_COUNT;
    case AGGREGATE_KEEPS_SUM:
        return distinct ? OPCODES : sum_op(type);
    case AGGREGATE_KEEPS_BITS:
        return distinct && !aggregate_takes_once(aggregate->function)
                   ? OPCODES
                   : bits_op(type);
    case AGGREGATE_KEEPS_BEST:
        return best_op(type);
    default:
        return OPCODES;
    }
}

/* Whether there are opcodes for all that the groups need. */
static bool has_opcodes(const struct program *program,
                        const struct step_group *group)
{
    const struct vector *tables = &program->tables;
    bool has = tables->count > 0 && program_axes(program) == 1
               && VECTOR_ITEMS(tables, struct program_table)[0].input == 0
               && group->keys <= LAUNCH_KEYS
               && group->aggregates.count <= GROUP_SINK_AGGREGATES_MAX;
    for (unsigned i = 0; has && i < group->keys; i++)
        has = key_op(program_result(program, i).type) != OPCODES;
    for (size_t i = 0; has && i < group->aggregates.count; i++) {
        const struct step_aggregate *aggregate = aggregate_at(group, i);
        has = aggregate->filter < 0
              && aggregate_op(program, aggregate) != OPCODES;
    }
    return has;
}

/* ------------------------------------------------------------- records -- */

/* Bytes of what an aggregate keeps: first the rows that it passed over. */
static unsigned kept_bytes(const struct program *program,
                           const struct step_aggregate *aggregate)
{
    int type = argument(program, aggregate).type;
    switch (aggregate_row(aggregate->function)->keeps) {
    case AGGREGATE_KEEPS_SUM:
        return type == TYPE_F32 || type == TYPE_F64
                   ? sizeof(u64) + sizeof(struct sum)
                   : 3 * sizeof(u64);
    case AGGREGATE_KEEPS_BITS:
    case AGGREGATE_KEEPS_BEST:
        return 2 * sizeof(u64);
    default:
        return sizeof(u64);
    }
}

/* Where an aggregate's part of a record begins; that of one behind the last is
 * where the record ends. */
static unsigned place_of(const struct program *program,
                         const struct step_group *group, size_t number)
{
    unsigned at = 2 * sizeof(u64);
    for (size_t i = 0; i < number; i++)
        at += kept_bytes(program, aggregate_at(group, i));
    return at;
}

unsigned group_sink_record(const struct program *program,
                           const struct step_group *group)
{
    return place_of(program, group, group->aggregates.count);
}

/* Whether two aggregates keep the same. */
static bool keep_same(const struct step_aggregate *a,
                      const struct step_aggregate *b)
{
    enum aggregate_keeps keeps = aggregate_row(a->function)->keeps;
    return keeps == aggregate_row(b->function)->keeps && a->column == b->column
           && ((keeps != AGGREGATE_KEEPS_BEST && keeps != AGGREGATE_KEEPS_BITS)
               || a->function == b->function);
}

size_t group_sink_same(const struct step_group *group, size_t number)
{
    size_t i = 0;
    while (!keep_same(aggregate_at(group, i), aggregate_at(group, number)))
        i++;
    return i;
}

/* ------------------------------------------------------------ the part -- */

static void append(struct sink_part *part, struct instruction in)
{
    part->code[part->count++] = in;
}

/* Adds an aggregate's instruction, where one before does not do its work and
 * there is something to count beside all rows. */
static void append_aggregate(const struct program *program,
                             const struct step_group *group, size_t number,
                             struct sink_part *part)
{
    const struct step_aggregate *aggregate = aggregate_at(group, number);
    struct program_result value = argument(program, aggregate);
    enum opcode op = aggregate_op(program, aggregate);
    int form = (group->keys == 0 ? ADD_ONLY_GROUP : 0)
               | (aggregate_turn(aggregate->function) != 0 ? ADD_TURNED : 0)
               | (aggregate->function == AGGREGATE_BIT_XOR ? ADD_ODD : 0);
    if (group_sink_same(group, number) < number
        || (op == OP_COUNT && value.null_register < 0))
        return;
    append(part,
           (struct instruction){ .op = op,
                                 .a = op == OP_COUNT ? 0 : value.register_,
                                 .b = value.null_register,
                                 .c = (int)place_of(program, group, number),
                                 .d = form,
                                 .comment = value.name });
}

static void make_part(const struct program *program,
                      const struct step_group *group, struct sink_part *part)
{
    part->count = 0;
    append(part,
           (struct instruction){ .op = OP_GROUP,
                                 .a = (int)group->keys,
                                 .b = (int)group_sink_record(program, group) });
    for (unsigned i = 0; i < group->keys; i++) {
        struct program_result key = program_result(program, i);
        append(part, (struct instruction){ .op = key_op(key.type),
                                           .a = key.register_,
                                           .b = key.null_register,
                                           .c = (int)i,
                                           .comment = key.name });
    }
    for (size_t i = 0; i < group->aggregates.count; i++)
        append_aggregate(program, group, i, part);
    append(part,
           (struct instruction){ .op = OP_GROUPED,
                                 .d = group->keys == 0 ? ADD_ONLY_GROUP : 0 });
}

bool group_sink_add(struct program *program, const struct step_group *group)
{
    struct sink_part part;
    if (program_find(program, OP_GROUP) >= 0 || !has_opcodes(program, group)
        || program->code.count + SINK_MAX > VDBQ_CODE_MAX)
        return true;
    make_part(program, group, &part);
    return program_insert(program, program_find(program, OP_RESULT), part.code,
                          part.count);
}

bool group_sink_fits(const struct program *program,
                     const struct step_group *group)
{
    struct sink_part part;
    int first = program_find(program, OP_GROUP);
    if (first < 0 || !has_opcodes(program, group))
        return false;
    make_part(program, group, &part);
    return program_find(program, OP_RESULT) == first + part.count
           && program_has(program, first, part.code, part.count);
}
