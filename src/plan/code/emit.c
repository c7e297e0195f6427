/* SPDX-License-Identifier: MIT */
/*
 * Instructions, labels and registers: emit.h has the rules.
 */
#include "plan/code/emit.h"

#include <assert.h>
#include <string.h>

#include "base/os/stack.h"
#include "base/vector.h"
#include "cl/bits.h"
#include "cl/hash.h"

/* A label: where it is, and from where it is first jumped to. */
struct label {
    int validity;
    int pc;     /* in `code`; -1: not placed           */
    int source; /* of the first jump; -1: none so far  */
};

struct made_register {
    int pc;      /* of the instruction that writes it   */
    bool result; /* a result column has it              */
    int number;  /* the final one                       */
};

struct made_value {
    int pc;
    int hash;
    int next; /* the value of that hash before; -1: none */
};

static unsigned hash_of(const struct instruction *in);
static int find_value(const struct generator *generator,
                      const struct instruction *in, unsigned hash);
static int add_instruction(struct generator *generator,
                           const struct instruction *in);
static int add_register(struct generator *generator, int pc);
static void add_value(struct generator *generator, int pc, unsigned hash);
static void drop_values(struct generator *generator, int source);
static void fail_memory(struct generator *generator);
static int *operand(struct instruction *in, int i);
static int destination(enum opcode op);
static struct label *label_at(const struct generator *generator, int label);
static struct made_register *register_at(const struct generator *generator,
                                         int r);

/* The families of opcodes are laid out alike, type after type. */
enum { FAMILY = OP_COLUMN_I64 - OP_COLUMN_I32 };
_Static_assert(OP_COLUMN_F32 == OP_COLUMN_I32 + 2 * FAMILY, "F32 is third");
_Static_assert(OP_COLUMN_F64 == OP_COLUMN_I32 + 3 * FAMILY, "F64 is fourth");
_Static_assert(OP_CHOOSE_F64 == OP_CHOOSE_I32 + 3 * FAMILY, "to its end");

void generator_init(struct generator *generator, struct program *program,
                    const char *sql, struct error *error)
{
    *generator = (struct generator){ .program = program,
                                     .sql = sql,
                                     .error = error,
                                     .code = VECTOR(struct instruction),
                                     .labels = VECTOR(struct label),
                                     .registers = VECTOR(struct made_register),
                                     .values = VECTOR(struct made_value) };
    memset(generator->buckets, -1, sizeof generator->buckets);
}

bool emit_is_too_deep(struct generator *generator, struct position at)
{
    if (generator->status == VDBQ_OK && stack_is_short())
        generator->status = stack_refuse(generator->error, at);
    return generator->status != VDBQ_OK;
}

void generator_finish(struct generator *generator)
{
    vector_finish(&generator->code);
    vector_finish(&generator->labels);
    vector_finish(&generator->registers);
    vector_finish(&generator->values);
}

const char *emit_text(struct generator *generator, const char *bytes,
                      size_t length)
{
    const char *copy = arena_copy(&generator->program->arena, bytes, length);

    if (copy == NULL)
        fail_memory(generator);
    return copy;
}

enum opcode emit_typed(enum opcode op, int type)
{
    return (enum opcode)((int)op + (type - TYPE_I32) * FAMILY);
}

/* -------------------------------------------------------------- values -- */

int emit_value(struct generator *generator,
               const struct instruction *instruction)
{
    struct instruction in = *instruction;
    unsigned hash;
    int pc, r;

    *operand(&in, destination(in.op)) = 0;
    hash = hash_of(&in);
    pc = find_value(generator, &in, hash);
    if (pc >= 0)
        return *operand(vector_at(&generator->code, (size_t)pc),
                        destination(in.op));
    r = add_register(generator, (int)generator->code.count);
    *operand(&in, destination(in.op)) = r;
    pc = add_instruction(generator, &in);
    if (generator->status == VDBQ_OK)
        add_value(generator, pc, hash);
    return r;
}

int emit_result_register(struct generator *generator, int r)
{
    struct instruction in;
    int copy;

    if (generator->status != VDBQ_OK)
        return 0;
    if (register_at(generator, r)->result) {
        in = *(struct instruction *)vector_at(
            &generator->code, (size_t)register_at(generator, r)->pc);
        copy = add_register(generator, (int)generator->code.count);
        *operand(&in, destination(in.op)) = copy;
        add_instruction(generator, &in);
        r = copy;
    }
    if (generator->status == VDBQ_OK)
        register_at(generator, r)->result = true;
    return r;
}

/* What makes two instructions the same, but for the register written. */
static unsigned hash_of(const struct instruction *in)
{
    uint64_t bits = bits_of_f64(in->real), hash = (uint64_t)in->op;

    hash = hash_mix(hash, (unsigned)in->a);
    hash = hash_mix(hash, (unsigned)in->b);
    hash = hash_mix(hash, (unsigned)in->c);
    hash = hash_mix(hash, (unsigned)in->d);
    hash = hash_mix(hash, (uint64_t)in->integer);
    return (unsigned)hash_end(hash_mix(hash, bits)) % EMIT_BUCKETS;
}

static bool same_names(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Constants that keep their place in the statement are the same only there. */
static bool same_place(const struct instruction *in,
                       const struct instruction *other)
{
    return op_facts(in->op)->effect != EFFECT_CONSTANT
           || (in->at.line == other->at.line
               && in->at.column == other->at.column);
}

static bool same(const struct instruction *in, struct instruction other)
{
    *operand(&other, destination(other.op)) = 0;
    return in->op == other.op && same_names(in->name, other.name)
           && same_place(in, &other) && in->a == other.a && in->b == other.b
           && in->c == other.c && in->d == other.d
           && in->integer == other.integer
           && memcmp(&in->real, &other.real, sizeof in->real) == 0;
}

/* The program counter of a usable instruction that does the same, or -1. */
static int find_value(const struct generator *generator,
                      const struct instruction *in, unsigned hash)
{
    int i = generator->buckets[hash];

    while (i >= 0) {
        struct made_value *value = vector_at(&generator->values, (size_t)i);
        const struct instruction *made =
            vector_at(&generator->code, (size_t)value->pc);
        if (same(in, *made))
            return value->pc;
        i = value->next;
    }
    return -1;
}

static void add_value(struct generator *generator, int pc, unsigned hash)
{
    struct made_value *value = vector_add(&generator->values);

    if (value == NULL) {
        fail_memory(generator);
        return;
    }
    value->pc = pc;
    value->hash = (int)hash;
    value->next = generator->buckets[hash];
    generator->buckets[hash] = (int)generator->values.count - 1;
}

/* Forgets the values that were made behind `source` (emit rule 2). The
 * latest of a hash is the first of its list, so they go from the end. */
static void drop_values(struct generator *generator, int source)
{
    while (generator->values.count > 0) {
        struct made_value *last =
            vector_at(&generator->values, generator->values.count - 1);
        if (last->pc < source)
            return;
        generator->buckets[last->hash] = last->next;
        generator->values.count--;
    }
}

/* A new register; any number once something failed. */
static int add_register(struct generator *generator, int pc)
{
    struct made_register *made;

    if (generator->status != VDBQ_OK)
        return 0;
    if (generator->registers.count >= VDBQ_REGISTERS_MAX) {
        generator->status = error_set(
            generator->error, VDBQ_LIMIT,
            "the statement needs more than %d registers", VDBQ_REGISTERS_MAX);
        error_hint(generator->error,
                   "each column and each operation takes one or two: "
                   "ask for fewer columns, or for parts of the condition");
        return 0;
    }
    made = vector_add(&generator->registers);
    if (made == NULL) {
        fail_memory(generator);
        return 0;
    }
    made->pc = pc;
    return (int)generator->registers.count - 1;
}

static int add_instruction(struct generator *generator,
                           const struct instruction *in)
{
    if (generator->status != VDBQ_OK)
        return 0;
    if (generator->code.count >= VDBQ_CODE_MAX) {
        generator->status = error_set(
            generator->error, VDBQ_LIMIT,
            "the statement needs more than %d instructions", VDBQ_CODE_MAX);
        return 0;
    }
    if (!vector_append(&generator->code, in, 1))
        fail_memory(generator);
    return (int)generator->code.count - 1;
}

/* --------------------------------------------------------------- jumps -- */

int emit_label(struct generator *generator, int validity)
{
    struct label *label = vector_add(&generator->labels);

    if (label == NULL) {
        fail_memory(generator);
        return 0;
    }
    *label = (struct label){ .validity = validity, .pc = -1, .source = -1 };
    return (int)generator->labels.count - 1;
}

void emit_place(struct generator *generator, int label)
{
    struct label *place = label_at(generator, label);

    if (place == NULL)
        return;
    assert(place->pc < 0);
    place->pc = (int)generator->code.count;
    if (place->source >= 0)
        drop_values(generator, place->source);
}

void emit_jump(struct generator *generator, enum opcode op, int a, int b,
               int label, struct position at)
{
    struct label *to = label_at(generator, label);
    int pc;

    if (to == NULL)
        return;
    pc = add_instruction(generator,
                         &(struct instruction){ .op = op,
                                                .a = a,
                                                .b = op == OP_NOT_I32 ? 0 : b,
                                                .c = label,
                                                .d = to->validity,
                                                .at = at });
    if (to->source < 0)
        to->source = pc;
}

void emit_invalid(struct generator *generator)
{
    add_instruction(generator, &(struct instruction){ .op = OP_INVALID });
}

void emit_fail(struct generator *generator, int r, const char *message,
               struct position at)
{
    add_instruction(generator,
                    &(struct instruction){
                        .op = OP_FAIL, .a = r, .name = message, .at = at });
}

/* ----------------------------------------------------- the whole program -- */

static void number_registers(struct generator *generator,
                             const struct emit_result *results,
                             unsigned result_count);
static void add_head(struct generator *generator,
                     const struct emit_result *results, unsigned result_count);
static void add_rows_part(struct generator *generator);
static void add_final(struct generator *generator,
                      const struct instruction *in);

enum vdbq_status emit_finish(struct generator *generator,
                             const struct emit_result *results,
                             unsigned result_count)
{
    const struct program *program = generator->program;
    int finish;

    add_instruction(generator, &(struct instruction){ .op = OP_RESULT,
                                                      .b = (int)result_count });
    add_instruction(generator, &(struct instruction){ .op = OP_CONVERGE });
    if (generator->status != VDBQ_OK)
        return generator->status;
    number_registers(generator, results, result_count);
    add_head(generator, results, result_count);
    finish = (int)(program->code.count + 1 + generator->code.count);
    add_final(generator,
              &(struct instruction){ .op = OP_PARALLEL, .c = finish });
    add_rows_part(generator);
    add_final(generator, &(struct instruction){ .op = OP_FINISH });
    return generator->status;
}

/* Result columns are last, in their order; the others come in the order in
 * which they are written. */
static void number_registers(struct generator *generator,
                             const struct emit_result *results,
                             unsigned result_count)
{
    int next = 0;

    for (size_t r = 0; r < generator->registers.count; r++) {
        struct made_register *made = register_at(generator, (int)r);
        if (!made->result)
            made->number = next++;
    }
    for (unsigned i = 0; i < result_count; i++)
        register_at(generator, results[i].value)->number = next++;
}

static void add_head(struct generator *generator,
                     const struct emit_result *results, unsigned result_count)
{
    const struct program *program = generator->program;

    for (size_t i = 0; i < program->tables.count; i++) {
        const struct program_table *table = vector_at(&program->tables, i);
        add_final(generator,
                  &(struct instruction){ .op = OP_TABLE,
                                         .a = (int)table->id,
                                         .c = (int)i,
                                         .name = table->name,
                                         .comment = table->input > 0 ? "input"
                                                                     : NULL });
    }
    for (unsigned i = 0; i < result_count; i++) {
        bool nullable = results[i].null >= 0;
        int null =
            nullable ? register_at(generator, results[i].null)->number : 0;
        add_final(generator, &(struct instruction){ .op = OP_RESULT_COLUMN,
                                                    .a = results[i].type,
                                                    .b = nullable,
                                                    .c = null,
                                                    .name = results[i].name });
    }
}

/* Gives an instruction its final registers and, where it jumps, its target
 * behind the `head` instructions. */
static void settle(const struct generator *generator, struct instruction *in,
                   int head, int first_result)
{
    const char *letters = op_operands(in->op);

    for (int i = 0; i < 4; i++) {
        int *at = operand(in, i);
        if (strchr("wrx", letters[i]) != NULL)
            *at = register_at(generator, *at)->number;
        else if (letters[i] == 's')
            *at = first_result;
        else if (letters[i] == 'j')
            *at = label_at(generator, *at)->pc + head;
    }
}

static void add_rows_part(struct generator *generator)
{
    int head = (int)generator->program->code.count, first_result = 0;

    for (size_t r = 0; r < generator->registers.count; r++)
        first_result += !register_at(generator, (int)r)->result;
    for (size_t pc = 0;
         pc < generator->code.count && generator->status == VDBQ_OK; pc++) {
        struct instruction in =
            *(struct instruction *)vector_at(&generator->code, pc);
        settle(generator, &in, head, first_result);
        add_final(generator, &in);
    }
}

static void add_final(struct generator *generator, const struct instruction *in)
{
    if (generator->status != VDBQ_OK)
        return;
    if (generator->program->code.count >= VDBQ_CODE_MAX)
        generator->status = error_set(
            generator->error, VDBQ_LIMIT,
            "the statement needs more than %d instructions", VDBQ_CODE_MAX);
    else if (program_add(generator->program, in) < 0)
        fail_memory(generator);
}

/* ------------------------------------------------------------- helpers -- */

static void fail_memory(struct generator *generator)
{
    if (generator->status == VDBQ_OK)
        generator->status = error_no_memory(generator->error);
}

/* Operand a, b, c or d. */
static int *operand(struct instruction *in, int i)
{
    int *const operands[] = { &in->a, &in->b, &in->c, &in->d };

    return operands[i];
}

/* Which operand is the register written. */
static int destination(enum opcode op)
{
    const char *found = strchr(op_operands(op), 'w');

    assert(found != NULL);
    return (int)(found - op_operands(op));
}

/* NULL once something failed. */
static struct label *label_at(const struct generator *generator, int label)
{
    if (generator->status != VDBQ_OK)
        return NULL;
    return vector_at(&generator->labels, (size_t)label);
}

static struct made_register *register_at(const struct generator *generator,
                                         int r)
{
    return vector_at(&generator->registers, (size_t)r);
}
