/* SPDX-License-Identifier: MIT */
/*
 * The rows and the programs of the self-test. Programs are made from the
 * forms of the opcode table, so that a new opcode is tested without a word
 * here.
 */
#include "trial/selftest_data.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "data/tablet/encoding.h"

/* Each column has room for 8-byte values; NULL bits come behind them. */
#define COLUMN_BYTES ((u64)SELFTEST_ROWS * 8)
#define NULLS_AT     (SELFTEST_COLUMNS * COLUMN_BYTES + TABLET_ALIGN)

/* Lines of codes, for any width and with some rows in front. */
#define LINES_AT   TABLET_ALIGNED(NULLS_AT + SELFTEST_ROWS / 8 + 1)
#define LINES_SIZE PACKED_SIZE(SELFTEST_ROWS + PACKED_ROWS, PACKED_BITS_MAX)
enum { ITEMS = 500 }; /* that an encoding which counts them finds there */

_Static_assert(LINES_AT + LINES_SIZE <= SELFTEST_BYTES,
               "the self-test's rows need more room");

static const i64 integer_edges[] = { 0,
                                     1,
                                     -1,
                                     2,
                                     -2,
                                     7,
                                     -7,
                                     127,
                                     INT32_MAX,
                                     INT32_MIN,
                                     (i64)INT32_MAX + 1,
                                     (i64)INT32_MIN - 1,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT64_MAX - 1,
                                     INT64_MIN + 1,
                                     4294967296,
                                     3037000500 };
static const f64 real_edges[] = {
    0.0,      -0.0,      1.0,          -1.0,          0.5,
    1.5,      -2.5,      0.1,          FLT_MAX,       -FLT_MAX,
    FLT_MIN,  1e-40,     DBL_MAX,      DBL_MIN,       5e-324,
    INFINITY, -INFINITY, 2147483647.0, -2147483648.5, 9223372036854775808.0,
    1e300
};
enum {
    INTEGER_EDGES = sizeof integer_edges / sizeof *integer_edges,
    REAL_EDGES = sizeof real_edges / sizeof *real_edges
};

/* A fixed sequence of random bits (Marsaglia's xorshift64). */
static u64 random_bits(u64 *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static i64 integer_value(bool tame, u64 bits)
{
    return tame ? (i64)(bits % 2001) - 1000 : (i64)bits;
}

static f64 real_value(bool tame, u64 bits)
{
    f64 scale = tame ? 100.0 : 1e12;
    return ((f64)(bits >> 11) / 9007199254740992.0 - 0.5) * scale;
}

/* The value of row `i` of an x column (or a y column). */
static i64 integer_at(bool tame, unsigned i, bool is_y, u64 bits)
{
    if (!tame && i < INTEGER_EDGES * INTEGER_EDGES)
        return integer_edges[is_y ? i % INTEGER_EDGES : i / INTEGER_EDGES];
    return integer_value(tame, bits);
}

static f64 real_at(bool tame, unsigned i, bool is_y, u64 bits)
{
    if (!tame && i < REAL_EDGES * REAL_EDGES)
        return real_edges[is_y ? i % REAL_EDGES : i / REAL_EDGES];
    return real_value(tame, bits);
}

static void fill_row(u8 *block, bool tame, unsigned i, bool is_y, u64 bits)
{
    u8 *column =
        block + TABLET_ALIGN + (is_y ? SELFTEST_Y : SELFTEST_X) * COLUMN_BYTES;
    i64 integer = integer_at(tame, i, is_y, bits);
    f64 real = real_at(tame, i, is_y, bits);
    i32 narrow = (i32)(u32)(u64)integer;
    f32 single = (f32)real;
    memcpy(column + (u64)i * 4, &narrow, 4);
    memcpy(column + COLUMN_BYTES + (u64)i * 8, &integer, 8);
    memcpy(column + 2 * COLUMN_BYTES + (u64)i * 4, &single, 4);
    memcpy(column + 3 * COLUMN_BYTES + (u64)i * 8, &real, 8);
}

void selftest_fill(u8 *block, bool tame)
{
    u64 state = 88172645463325252u;
    memset(block, 0, SELFTEST_BYTES);
    for (unsigned i = 0; i < SELFTEST_ROWS; i++) {
        fill_row(block, tame, i, false, random_bits(&state));
        fill_row(block, tame, i, true, random_bits(&state));
        if (i % 3 == 0)
            block[NULLS_AT + i / 8] |= (u8)(1 << i % 8);
    }
    for (u64 at = 0; at < LINES_SIZE; at += sizeof(u64)) {
        u64 bits = random_bits(&state);
        memcpy(block + LINES_AT + at, &bits, sizeof bits);
    }
}

struct column_input selftest_input(int column, int type)
{
    if (column < 0)
        return (struct column_input){ .base = -5,
                                      .width = 8,
                                      .encoding = ENCODING_SEQUENCE };
    if (column == SELFTEST_WORD)
        column = SELFTEST_X;
    return (struct column_input){ .values =
                                      TABLET_ALIGN + (u64)column * COLUMN_BYTES,
                                  .nulls = NULLS_AT,
                                  .width = type_width(type),
                                  .encoding = ENCODING_PLAIN };
}

struct column_input selftest_encoded(int column, int type,
                                     struct selftest_encoding encoding)
{
    if (column == SELFTEST_WORD)
        return selftest_input(column, type);
    struct column_input input = { .values = LINES_AT,
                                  .nulls =
                                      column % 2 ? NULLS_AT : INPUT_ALL_NULL,
                                  .base =
                                      type == TYPE_I32 ? -70000 : -(1LL << 40),
                                  .width = type_width(type),
                                  .encoding = encoding.encoding };
    if (type == TYPE_F32 || type == TYPE_F64)
        input.encoding = ENCODING_CONSTANT;
    if (type == TYPE_F32)
        input.base = 0x80000001; /* the least below 0: bits must be kept */
    if (encoding_at(input.encoding)->counts)
        input.base = ITEMS;
    if (encoding_at(input.encoding)->bytes == NULL)
        input.values = 0;
    input.bits = input.values != 0 ? encoding.bits : 0;
    input.row = input.values != 0 ? encoding.row : 0;
    return input;
}

/* ----------------------------------------------------------- programs -- */

bool selftest_gives_value(enum opcode op)
{
    enum op_form form = op_facts(op)->form;
    return op_facts(op)->writes != TYPE_NONE
           && op_facts(op)->effect != EFFECT_HOST && form != FORM_PROBE
           && form != FORM_COLUMN_AT;
}

bool selftest_jumps(enum opcode op)
{
    return op_facts(op)->effect == EFFECT_JUMP;
}

/* Whether the opcode reads codes of words. */
static bool is_word(enum opcode op)
{
    return op == OP_COLUMN_WORD || op == OP_ROWID_WORD;
}

/* Types of the columns, and the table that has them. */
static bool add_table(struct program *program, int key_type)
{
    static const int types[] = { TYPE_I32, TYPE_I64, TYPE_F32,
                                 TYPE_F64, TYPE_I32, TYPE_I64,
                                 TYPE_F32, TYPE_F64, TYPE_WORD };
    struct program_table *table = vector_add(&program->tables);
    if (table == NULL)
        return false;
    *table = (struct program_table){ .name = "selftest",
                                     .column_count = SELFTEST_WORD + 1,
                                     .column_types = types,
                                     .key_type = key_type };
    return program_add(program, &(struct instruction){ .op = OP_TABLE,
                                                       .name = "selftest" })
           >= 0;
}

static bool add(struct program *program, enum opcode op, int a, int b, int c,
                int d)
{
    return program_add(program, &(struct instruction){ .op = op,
                                                       .a = a,
                                                       .b = b,
                                                       .c = c,
                                                       .d = d,
                                                       .integer = -3,
                                                       .real = 0.1,
                                                       .name = "value" })
           >= 0;
}

/* Loads x and y of every type into registers `first` to `first` + 7. */
static bool add_loads(struct program *program, int first)
{
    static const enum opcode ops[4] = { OP_COLUMN_I32, OP_COLUMN_I64,
                                        OP_COLUMN_F32, OP_COLUMN_F64 };
    bool added = true;
    for (int i = 0; i < SELFTEST_COLUMNS; i++)
        added &= add(program, ops[i % 4], first + i, i, 0, 0);
    return added;
}

/* The register of those that holds x (or y) of a type. */
static int loaded(int first, int type, bool is_y)
{
    return first + (is_y ? SELFTEST_Y : SELFTEST_X) + type - TYPE_I32;
}

/* Adds the opcode so that register `to` gets its value. */
static bool add_value(struct program *program, enum opcode op, int to,
                      int first)
{
    const struct op_facts *facts = op_facts(op);
    int x = facts->reads ? loaded(first, facts->reads, false) : 0;
    int y = facts->reads ? loaded(first, facts->reads, true) : 0;
    switch (facts->form) {
    case FORM_COLUMN:
        return add(program, op, to,
                   is_word(op) ? SELFTEST_WORD
                               : SELFTEST_Y + facts->writes - TYPE_I32,
                   0, 0);
    case FORM_UNARY:
    case FORM_LOOKUP:
        return add(program, op, to, x, 0, 0);
    case FORM_PART:
        return add(program, op, to, x, DATE_WEEK, 0);
    case FORM_SCALED:
        return add(program, op, to, x, loaded(first, TYPE_I32, true), 0);
    case FORM_BINARY:
        return add(program, op, to, x, y, 0);
    case FORM_CHOICE:
        return add(program, op, to, x, y, loaded(first, TYPE_I32, false));
    case FORM_CAST:
        return add(program, op, facts->writes, x, to, 0);
    default: /* constants, keys */
        return add(program, op, to, 0, 0, 0);
    }
}

/* What follows the result columns, up to the rows' part. */
static bool add_parallel(struct program *program, int rows_part)
{
    int finish = (int)program->code.count + rows_part + 1;
    return add(program, OP_PARALLEL, 0, 0, finish, 0);
}

static bool add_end(struct program *program, int columns)
{
    return add(program, OP_RESULT, 0, columns, 0, 0)
           && add(program, OP_CONVERGE, 0, 0, 0, 0)
           && add(program, OP_FINISH, 0, 0, 0, 0);
}

bool selftest_values(struct program *program, const enum opcode *ops,
                     unsigned count)
{
    int columns = (int)count, key = TYPE_I64;
    for (unsigned i = 0; i < count; i++)
        if (op_facts(ops[i])->form == FORM_ROWID)
            key = is_word(ops[i]) ? TYPE_WORD : op_facts(ops[i])->writes;
    bool added = add_table(program, key);
    for (unsigned i = 0; i < count; i++)
        added &=
            add(program, OP_RESULT_COLUMN, op_facts(ops[i])->writes, 0, 0, 0);
    added &= add_parallel(program, SELFTEST_COLUMNS + columns + 2);
    added &= add_loads(program, columns);
    for (unsigned i = 0; i < count; i++)
        added &= add_value(program, ops[i], (int)i, columns);
    return added && add_end(program, columns);
}

bool selftest_jump(struct program *program, enum opcode op, int validity)
{
    const struct op_facts *facts = op_facts(op);
    bool added = add_table(program, TYPE_I64);
    int x = loaded(1, facts->reads, false), y = loaded(1, facts->reads, true);
    added &= add(program, OP_RESULT_COLUMN, TYPE_I64, 0, 0, 0);
    int rows_part = SELFTEST_COLUMNS + (validity ? 5 : 4);
    int target = (int)program->code.count + rows_part - 1;
    added &= add_parallel(program, rows_part);
    added &= add(program, OP_ROWID_I64, 0, 0, 0, 0);
    added &= add_loads(program, 1);
    added &=
        add(program, op, x, facts->form == FORM_TEST ? 0 : y, target, validity);
    if (validity)
        added &= add(program, OP_INVALID, 0, 0, 0, 0);
    return added && add_end(program, 1);
}

bool selftest_fail(struct program *program)
{
    bool added = add_table(program, TYPE_I64);
    added &= add(program, OP_RESULT_COLUMN, TYPE_I64, 0, 0, 0);
    added &= add_parallel(program, SELFTEST_COLUMNS + 4);
    added &= add(program, OP_ROWID_I64, 0, 0, 0, 0);
    added &= add_loads(program, 1);
    added &= add(program, OP_FAIL, loaded(1, TYPE_I32, true), 0, 0, 0);
    return added && add_end(program, 1);
}

/* ------------------------------------------------------------- values -- */

/* Random values, and how many of them a table or the order codes have: x
 * columns have words that are there and others. */
enum { TABLE_VALUES = 600 };

bool selftest_open(const struct program *program,
                   const struct program_pack *pack, struct arena *arena,
                   struct run_values *values, struct order_codes *order_codes)
{
    u64 state = 362436069;
    i64 *bits = arena_alloc(arena, TABLE_VALUES * sizeof *bits);
    u8 *flags = arena_alloc(arena, TABLE_VALUES);
    struct run_lookup *lookups =
        arena_alloc(arena, (pack->lookup_count + 1) * sizeof *lookups);
    if (bits == NULL || flags == NULL || lookups == NULL)
        return false;
    for (unsigned i = 0; i < TABLE_VALUES; i++) {
        bits[i] = (i64)random_bits(&state) >> i % 64;
        flags[i] = bits[i] & 1;
    }
    *values = (struct run_values){ .slots = bits, .lookups = lookups };
    for (unsigned i = 0; i < pack->slot_count; i++) {
        const struct program_slot *slot = &pack->slots[i];
        enum opcode op = program_at(program, slot->pc)->op;
        bool flag = op == OP_LOOKUP_NULL || op == OP_LOOKUP_FAILS;
        if (op_facts(op)->form == FORM_LOOKUP)
            lookups[slot->place] = (struct run_lookup){
                .values = flag ? (const void *)flags : bits,
                .width = flag ? 1 : type_width(op_facts(op)->writes),
                .count = TABLE_VALUES
            };
    }
    for (unsigned i = 0; i < pack->input_count; i++) {
        const struct program_table *table = vector_at(&program->tables, 0);
        int column = pack->inputs[i].column;
        int type = column < 0 ? table->key_type : table->column_types[column];
        order_codes[i] = (struct order_codes){ 0 };
        if (type == TYPE_WORD)
            order_codes[i] =
                (struct order_codes){ .order_codes = (const i32 *)bits,
                                      .count = TABLE_VALUES };
        values->order_codes_bytes += order_codes_size(&order_codes[i]);
    }
    return true;
}
