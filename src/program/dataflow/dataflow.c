/* SPDX-License-Identifier: MIT */
/*
 * Whether a program could do anything for rows of which only the ranges of
 * their columns are known. The rows' part is run once with ranges in the
 * registers, for all rows at a time:
 *
 * Dataflow rule 1. An instruction is noted as reached if some row may be live at
 *   it, and as reached by a valid row if such a row may be valid. A row that
 *   lost its validity never gets it back, so only valid rows count for Result,
 *   but every live row for an instruction that fails.
 * Dataflow rule 2. A register's range holds every value that a live row may
 *   have in it (interval.h). It is written by one instruction only, before every
 *   read: machine rule 1, and the checker.
 * Dataflow rule 3. A jump is taken unless its condition can hold for no value in
 *   the ranges, and not taken unless it can fail for none. An opcode that is
 *   not known here gives any value, and fails if one that may fail.
 *
 * Dataflow rule 4. Behind a jump that is not taken its condition does not hold,
 *   and a range may be narrowed by that: up to the next place where rows come
 *   in that took this jump, or another one over it. Where only results are
 *   asked for, rows that are not valid do not count as such.
 *
 * So by induction over the program counter, which only grows, every path of
 * every row is among the paths noted; where none of these gives a result or
 * fails, no row does.
 */
#include <assert.h>
#include <string.h>

#include "program/program.h"
#include "cl/bits.h"

enum { WORDS_MAX = 1 << 16 }; /* that a lookup is tried for */

/* A register whose range is narrowed up to an instruction. */
struct narrowed {
    int register_;
    int end;
    struct interval wide; /* the range from there on */
};
enum { NARROWED_MAX = 2 * VDBQ_CURSORS_MAX };

struct dataflow {
    const struct program *program;
    const struct program_pack *pack;
    const struct run_values *values; /* NULL: not known */
    const struct input_range *ranges;
    struct interval *registers;
    bool *live; /* one an instruction */
    bool *valid;
    bool only_results;
    bool fails; /* an instruction may fail for a live row */
    struct narrowed narrowed[NARROWED_MAX];
    unsigned narrowed_count;
};

static void evaluate(struct dataflow *dataflow, int pc);
static void jump(struct dataflow *dataflow, int pc);
static void narrow(struct dataflow *dataflow, const struct instruction *in,
                   int pc);
static void widen(struct dataflow *dataflow, int pc);
static struct verdict condition(const struct dataflow *dataflow,
                                const struct instruction *in);

static size_t instructions(const struct program *program)
{
    return program->code.count + 1;
}

size_t program_dataflow_room(const struct program *program)
{
    return (program->registers + 1) * sizeof(struct interval)
           + 2 * instructions(program) * sizeof(bool);
}

/* Goes on at `pc`. */
static void go_on(struct dataflow *dataflow, int pc, bool valid)
{
    dataflow->live[pc] = true;
    dataflow->valid[pc] |= valid;
}

/* Notes what may follow an instruction that may be reached; true: it can be
 * noticed. */
static bool step(struct dataflow *dataflow, int pc)
{
    enum op_effect effect =
        op_facts(program_at(dataflow->program, pc)->op)->effect;
    bool valid = dataflow->valid[pc];
    if (effect == EFFECT_JUMP) {
        jump(dataflow, pc);
        return false;
    }
    if (effect == EFFECT_OUTPUT && valid)
        return true;
    if (effect == EFFECT_PURE || effect == EFFECT_CONSTANT
        || effect == EFFECT_FAULT)
        evaluate(dataflow, pc);
    go_on(dataflow, pc + 1, valid && effect != EFFECT_VALIDITY);
    return dataflow->fails;
}

/* Runs the rows' part until something can be noticed, or only a result. */
static bool run(const struct program *program, const struct program_pack *pack,
                const struct run_values *values,
                const struct input_range *ranges, bool only_results, void *room)
{
    size_t count = instructions(program);
    struct program_part part = program_part(program);
    struct dataflow dataflow = { .program = program,
                                 .pack = pack,
                                 .values = values,
                                 .ranges = ranges,
                                 .registers = room,
                                 .only_results = only_results };
    dataflow.live = (bool *)(dataflow.registers + program->registers + 1);
    dataflow.valid = dataflow.live + count;
    memset(dataflow.live, 0, 2 * count * sizeof(bool));
    for (unsigned i = 0; i < program->registers; i++)
        dataflow.registers[i] = interval_any(TYPE_I64);
    go_on(&dataflow, part.first, true);
    for (int pc = part.first; pc < part.converge; pc++) {
        enum op_effect effect = op_facts(program_at(program, pc)->op)->effect;
        widen(&dataflow, pc);
        if (dataflow.live[pc] && step(&dataflow, pc)
            && (!only_results || effect == EFFECT_OUTPUT))
            return true;
    }
    return false;
}

bool program_reaches(const struct program *program,
                     const struct program_pack *pack,
                     const struct run_values *values,
                     const struct input_range *ranges, void *room)
{
    return run(program, pack, values, ranges, false, room);
}

bool program_dataflow_results(const struct program *program,
                              const struct program_pack *pack,
                              const struct run_values *values,
                              const struct input_range *ranges, void *room)
{
    return run(program, pack, values, ranges, true, room);
}

/* -------------------------------------------------------------- jumps -- */

static void jump(struct dataflow *dataflow, int pc)
{
    const struct instruction *in = program_at(dataflow->program, pc);
    struct verdict verdict = condition(dataflow, in);
    bool valid = dataflow->valid[pc];
    if (verdict.may_hold)
        go_on(dataflow, in->c, valid && in->d == 1);
    if (verdict.may_hold && verdict.may_fail)
        narrow(dataflow, in, pc);
    if (verdict.may_fail)
        go_on(dataflow, pc + 1, valid);
}

/* The least value that register `r` has where the jump is not taken; what it
 * has anyway where nothing is known. */
static int64_t least_behind(const struct dataflow *dataflow,
                            const struct instruction *in, int r)
{
    const struct interval *a = &dataflow->registers[in->a];
    const struct interval *b = &dataflow->registers[in->b];
    int64_t low = dataflow->registers[r].low;
    if (in->op == OP_LT_I32 && r == in->a)
        return b->low > low ? b->low : low;
    if (in->op == OP_GT_I32 && r == in->b)
        return a->low > low ? a->low : low;
    if (in->op == OP_EQ_I32 && r == in->a && b->low == low && b->high == low)
        return low + 1;
    return low;
}

/* Narrows a register's range from below behind a jump (dataflow rule 4): before
 * what follows it is noted. */
static void narrow(struct dataflow *dataflow, const struct instruction *in,
                   int pc)
{
    const bool *come =
        dataflow->only_results ? dataflow->valid : dataflow->live;
    int r = in->op == OP_GT_I32 ? in->b : in->a, end = pc + 1;
    if (in->op != OP_LT_I32 && in->op != OP_GT_I32 && in->op != OP_EQ_I32)
        return;
    int64_t low = least_behind(dataflow, in, r);
    struct interval *range = &dataflow->registers[r];
    while (end < (int)dataflow->program->code.count && !come[end])
        end++;
    if (low <= range->low || low > range->high || end == pc + 1
        || dataflow->narrowed_count == NARROWED_MAX)
        return;
    dataflow->narrowed[dataflow->narrowed_count++] =
        (struct narrowed){ .register_ = r, .end = end, .wide = *range };
    range->low = low;
}

/* Ends what was narrowed up to here, the last one first: an earlier one of the
 * same register never ends before it. */
static void widen(struct dataflow *dataflow, int pc)
{
    unsigned left = 0;
    for (unsigned i = dataflow->narrowed_count; i > 0; i--) {
        const struct narrowed *narrowed = &dataflow->narrowed[i - 1];
        if (narrowed->end == pc)
            dataflow->registers[narrowed->register_] = narrowed->wide;
    }
    for (unsigned i = 0; i < dataflow->narrowed_count; i++)
        if (dataflow->narrowed[i].end != pc)
            dataflow->narrowed[left++] = dataflow->narrowed[i];
    dataflow->narrowed_count = left;
}

static struct verdict both(struct verdict a, struct verdict b)
{
    return (struct verdict){ .may_hold = a.may_hold && b.may_hold,
                             .may_fail = a.may_fail || b.may_fail };
}

static struct verdict opposite(struct verdict a)
{
    return (struct verdict){ .may_hold = a.may_fail, .may_fail = a.may_hold };
}

static struct verdict either(struct verdict a, struct verdict b)
{
    return opposite(both(opposite(a), opposite(b)));
}

/* The cases of an opcode that comes in every type. */
#define TYPED(name)                                                            \
    case OP_##name##_I32:                                                      \
    case OP_##name##_I64:                                                      \
    case OP_##name##_F32:                                                      \
    case OP_##name##_F64

static struct verdict condition(const struct dataflow *dataflow,
                                const struct instruction *in)
{
    const struct interval *a = &dataflow->registers[in->a];
    const struct interval *b = &dataflow->registers[in->b];
    int type = op_facts(in->op)->reads;
    switch (in->op) {
        TYPED(EQ) : return interval_compare(RELATION_EQ, type, a, b);
        TYPED(NEQ) : return opposite(interval_compare(RELATION_EQ, type, a, b));
        TYPED(LT) : return interval_compare(RELATION_LT, type, a, b);
        TYPED(LE) : return interval_compare(RELATION_LE, type, a, b);
        TYPED(GT) : return interval_compare(RELATION_LT, type, b, a);
        TYPED(GE) : return interval_compare(RELATION_LE, type, b, a);
    case OP_AND_I32:
        return both(interval_verdict(a), interval_verdict(b));
    case OP_OR_I32:
        return either(interval_verdict(a), interval_verdict(b));
    case OP_NOT_I32:
        return opposite(interval_verdict(a));
    default:
        return (struct verdict){ true, true };
    }
}

/* ------------------------------------------------------------- values -- */

/* What a run knows of a constant: its bits. */
static struct interval open_constant(const struct dataflow *dataflow, int pc)
{
    const struct program_pack *pack = dataflow->pack;
    int type = op_facts(program_at(dataflow->program, pc)->op)->writes;
    unsigned low = 0, high = pack->slot_count;
    double real;
    if (dataflow->values == NULL || dataflow->values->slots == NULL)
        return interval_any(type);
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (pack->slots[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    int64_t bits = dataflow->values->slots[low];
    if (type == TYPE_I32)
        bits = (int32_t)bits; /* as the machine does */
    if (type == TYPE_I32 || type == TYPE_I64)
        return (struct interval){ .low = bits, .high = bits };
    real = f64_of_bits((u64)bits);
    return interval_real(type == TYPE_F32 ? (double)(float)real : real);
}

/* The least and the greatest of so many integers, at least one, which lie one behind
 * the other: a loop that compilers make vectors of. */
#define INTEGER_RANGE(name, type)                                              \
    static struct interval name(const void *values, int64_t count)             \
    {                                                                          \
        const type *at = values;                                               \
        type low = at[0], high = at[0];                                        \
        for (int64_t i = 1; i < count; i++) {                                  \
            low = at[i] < low ? at[i] : low;                                   \
            high = at[i] > high ? at[i] : high;                                \
        }                                                                      \
        return (struct interval){ .low = low, .high = high };                  \
    }
INTEGER_RANGE(range_of_flags, char)
INTEGER_RANGE(range_of_i32, int32_t)
INTEGER_RANGE(range_of_i64, int64_t)

/* The same of doubles, some of which may be no number. */
static struct interval range_of_f64(const double *at, int64_t count)
{
    struct interval range = interval_real(at[0]);
    for (int64_t i = 1; i < count; i++) {
        struct interval value = interval_real(at[i]);
        range = interval_join(&range, &value);
    }
    return range;
}

/* What a table has from one word on. */
static struct interval table_range(const struct run_lookup *table, int type,
                                   int64_t word, int64_t count)
{
    const char *at = (const char *)table->values + table->width * word;
    assert(count > 0 && word + count <= table->count);
    assert((uintptr_t)at % table->width == 0);
    if (table->width == 1)
        return range_of_flags(at, count);
    return type == TYPE_F64   ? range_of_f64((const void *)at, count)
           : type == TYPE_I64 ? range_of_i64(at, count)
                              : range_of_i32(at, count);
}

/* What a lookup gives for a range of words, if they are not too many. */
static struct interval lookup(const struct dataflow *dataflow, int pc)
{
    const struct instruction *in = program_at(dataflow->program, pc);
    const struct interval *words = &dataflow->registers[in->b];
    int type = op_facts(in->op)->writes;
    if (dataflow->values == NULL || dataflow->values->lookups == NULL)
        return interval_any(type);
    const struct run_lookup *table =
        &dataflow->values->lookups[dataflow->pack->code[pc].c];
    if (words->low < 0 || words->high >= table->count
        || words->high - words->low >= WORDS_MAX)
        return interval_any(type);
    return table_range(table, type, words->low, words->high - words->low + 1);
}

static struct interval constant(const struct instruction *in)
{
    double real = in->op == OP_FLOAT_F32 ? (double)(float)in->real : in->real;
    if (in->op == OP_INTEGER_I32 || in->op == OP_INTEGER_I64)
        return (struct interval){ .low = in->integer, .high = in->integer };
    return interval_real(real);
}

/* What a choice gives: one value where the condition is known. */
static struct interval choice(const struct interval *condition,
                              const struct interval *then,
                              const struct interval *otherwise)
{
    struct verdict verdict = interval_verdict(condition);
    if (!verdict.may_fail)
        return *then;
    return verdict.may_hold ? interval_join(then, otherwise) : *otherwise;
}

/* The truth values: opcodes that compare and combine. */
static struct verdict truth(const struct dataflow *dataflow,
                            const struct instruction *in)
{
    const struct interval *b = &dataflow->registers[in->b];
    const struct interval *c = &dataflow->registers[in->c];
    int type = op_facts(in->op)->reads;
    switch (in->op) {
        TYPED(IS_EQ) : return interval_compare(RELATION_EQ, type, b, c);
        TYPED(IS_LT) : return interval_compare(RELATION_LT, type, b, c);
        TYPED(IS_LE) : return interval_compare(RELATION_LE, type, b, c);
    case OP_BOTH_I32:
        return both(interval_verdict(b), interval_verdict(c));
    case OP_EITHER_I32:
        return either(interval_verdict(b), interval_verdict(c));
    case OP_NEGATE_I32:
        return opposite(interval_verdict(b));
    default: /* OP_IS_NAN_... */
        return (struct verdict){ .may_hold = b->nan, .may_fail = true };
    }
}

/* What rows go on with: any value where the exact one may not fit the type,
 * for an opcode that does not fail then gives another one; `*fails`: it may
 * not fit. */
static struct interval accepted(struct interval_result result, int type,
                                bool *fails)
{
    *fails = result.overflows;
    result.value.nan |= result.by_zero; /* 0 / 0 */
    return result.overflows ? interval_any(type) : result.value;
}

/* What arithmetic gives; `*fails` where it may not fit. */
static struct interval arithmetic(const struct dataflow *dataflow,
                                  const struct instruction *in, bool *fails)
{
    const struct interval *b = &dataflow->registers[in->b];
    const struct interval *c = &dataflow->registers[in->c];
    int type = op_facts(in->op)->writes;
    enum arithmetic arithmetic;
    switch (in->op) {
        TYPED(ADD) : case OP_ADD_CHECKED_I64 : arithmetic = ARITHMETIC_ADD;
        break;
        TYPED(SUB) : case OP_SUB_CHECKED_I64 : arithmetic = ARITHMETIC_SUB;
        break;
        TYPED(MUL) : case OP_MUL_CHECKED_I64 : arithmetic = ARITHMETIC_MUL;
        break;
        TYPED(DIV) : case OP_DIV_CHECKED_I64 : arithmetic = ARITHMETIC_DIV;
        break;
    case OP_MOD_I32:
    case OP_MOD_I64:
        arithmetic = ARITHMETIC_MOD;
        break;
    case OP_ABS_I32:
    case OP_ABS_I64:
        return accepted(interval_size(type, b), type, fails);
    default: /* an opcode that is not known here */
        *fails = true;
        return interval_any(type);
    }
    return accepted(interval_arithmetic(arithmetic, type, b, c), type, fails);
}

/* A column of a build row: 0 where there is no row, and for NULL. */
static struct interval column_at(const struct dataflow *dataflow, int pc)
{
    const struct instruction *in = program_at(dataflow->program, pc);
    const struct interval *row = &dataflow->registers[in->d];
    const struct input_range *input =
        &dataflow
             ->ranges[dataflow->pack->input_count + dataflow->pack->code[pc].b];
    const struct interval zero = { 0 };
    bool missing = row->low < 0, there = row->high >= 0;
    if (in->op == OP_COLUMN_AT_NULL)
        return interval_truth((struct verdict){ missing || input->null,
                                                there && input->not_null });
    if (!there || !input->not_null)
        return zero;
    return missing || input->null ? interval_join(&zero, &input->value)
                                  : input->value;
}

/* A row, which is found where a key may equal one of the index. */
static struct interval probe(const struct dataflow *dataflow, int pc)
{
    const struct instruction *in = program_at(dataflow->program, pc);
    const struct interval none = { .low = -1, .high = -1 };
    const struct interval *key = &dataflow->registers[in->b];
    const struct input_range *keys =
        &dataflow
             ->ranges[dataflow->pack->input_count + dataflow->pack->build_count
                      + dataflow->pack->code[pc].d];
    bool may_be = keys->not_null && key->low <= keys->value.high
                  && key->high >= keys->value.low;
    return may_be ? keys[dataflow->pack->index_count].value : none;
}

/* The value that an instruction writes. */
static struct interval value(const struct dataflow *dataflow, int pc,
                             bool *fails)
{
    const struct instruction *in = program_at(dataflow->program, pc);
    const struct op_facts *facts = op_facts(in->op);
    const struct interval *registers = dataflow->registers;
    const struct input_range *input;
    switch (facts->form) {
    case FORM_COLUMN:
    case FORM_ROWID:
        input = &dataflow->ranges[dataflow->pack->code[pc].b];
        if (in->op == OP_COLUMN_NULL)
            return interval_truth(
                (struct verdict){ input->null, input->not_null });
        return input->value;
    case FORM_COLUMN_AT:
        return column_at(dataflow, pc);
    case FORM_PROBE:
        return probe(dataflow, pc);
    case FORM_CONSTANT:
        return constant(in);
    case FORM_TEXT:
    case FORM_PARAMETER:
        return open_constant(dataflow, pc);
    case FORM_LOOKUP:
        return lookup(dataflow, pc);
    case FORM_CHOICE:
        return choice(&registers[in->d], &registers[in->b], &registers[in->c]);
    case FORM_CAST:
        return accepted(
            interval_cast(facts->writes, facts->reads, &registers[in->b]),
            facts->writes, fails);
    default:
        break;
    }
    switch (in->op) {
        TYPED(IS_EQ)
            : TYPED(IS_LT)
            : TYPED(IS_LE)
            : case OP_BOTH_I32 : case OP_EITHER_I32 : case OP_NEGATE_I32
            : case OP_IS_NAN_F32 : case OP_IS_NAN_F64
            : return interval_truth(truth(dataflow, in));
    default:
        return arithmetic(dataflow, in, fails);
    }
}

static void evaluate(struct dataflow *dataflow, int pc)
{
    const struct instruction *in = program_at(dataflow->program, pc);
    const struct op_facts *facts = op_facts(in->op);
    bool fails = false;
    int to = facts->form == FORM_CAST ? in->c : in->a;
    if (facts->form == FORM_FAIL) {
        dataflow->fails |=
            interval_verdict(&dataflow->registers[in->a]).may_hold;
        return;
    }
    struct interval range = value(dataflow, pc, &fails);
    dataflow->registers[to] = range;
    dataflow->fails |= fails && facts->effect == EFFECT_FAULT;
}
