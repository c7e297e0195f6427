/* SPDX-License-Identifier: MIT */
/*
 * Values that are there before the program computes anything: constants,
 * columns, parameters, and functions of words, which were called for all words
 * and are looked up.
 */
#include <assert.h>
#include <string.h>

#include "plan/code/emit.h"
#include "plan/code/registers.h"
#include "plan/code/value.h"
#include "plan/code/value_inner.h"
#include "plan/tree/expression.h"

/* ----------------------------------------------------------- constants -- */

/* A program's texts end at their NUL: one inside cannot be kept. */
static int text(struct generator *generator, const struct expression *e,
                struct position at)
{
    struct instruction in = { .op = OP_TEXT, .at = at };

    if (memchr(e->constant.text.bytes, '\0', e->constant.text.length) != NULL)
        generator->status = error_at(generator->error, VDBQ_TYPE, e->at,
                                     "a constant text has a NUL byte");
    in.name =
        emit_text(generator, e->constant.text.bytes, e->constant.text.length);
    return emit_value(generator, &in);
}

static int number(struct generator *generator, const struct expression *e,
                  int machine, struct position at)
{
    static const enum opcode ops[] = { [TYPE_I32] = OP_INTEGER_I32,
                                       [TYPE_I64] = OP_INTEGER_I64,
                                       [TYPE_F32] = OP_FLOAT_F32,
                                       [TYPE_F64] = OP_FLOAT_F64 };
    struct instruction in = { .op = ops[machine], .at = at };

    if (is_float(e->type))
        in.real = e->constant.real;
    else
        in.integer = e->constant.integer;
    return emit_value(generator, &in);
}

struct value value_constant(struct generator *generator,
                            const struct expression *e, int machine,
                            struct position at)
{
    struct value value = { .null = -1 };

    if (e->constant.null) {
        value.r = register_zero(generator, machine);
        value.null = register_integer(generator, TYPE_I32, 1);
    } else if (e->type == VDBQ_TEXT) {
        value.r = text(generator, e, at);
    } else {
        value.r = number(generator, e, machine, at);
    }
    return value;
}

/* ------------------------------------------------------------- columns -- */

/* Opcodes that fill a register for values of a type of SQL. */
struct op_family {
    enum opcode i32, i64, f32, f64, word;
};
static const struct op_family columns = { OP_COLUMN_I32, OP_COLUMN_I64,
                                          OP_COLUMN_F32, OP_COLUMN_F64,
                                          OP_COLUMN_WORD };
static const struct op_family keys = { OP_ROWID_I32, OP_ROWID_I64, OP_ROWID_F32,
                                       OP_ROWID_F64, OP_ROWID_WORD };
static const struct op_family found = { OP_COLUMN_AT_I32, OP_COLUMN_AT_I64,
                                        OP_COLUMN_AT_F32, OP_COLUMN_AT_F64,
                                        OP_COLUMN_AT_WORD };
static const struct op_family parameters = { OP_PARAMETER_I32, OP_PARAMETER_I64,
                                             OP_PARAMETER_F32, OP_PARAMETER_F64,
                                             OP_PARAMETER_WORD };
/* No function gives a FLOAT. */
static const struct op_family lookups = { OP_LOOKUP_I32, OP_LOOKUP_I64,
                                          OP_LOOKUP_F64, OP_LOOKUP_F64,
                                          OP_LOOKUP_WORD };

static enum opcode op_of(const struct op_family *family, int type)
{
    switch (type_machine((enum vdbq_type)type)) {
    case TYPE_I32:
        return family->i32;
    case TYPE_I64:
        return family->i64;
    case TYPE_F32:
        return family->f32;
    case TYPE_F64:
        return family->f64;
    default:
        return family->word;
    }
}

/* What an opcode gives of the place of a column. */
static int column_in(struct generator *generator, const struct expression *e,
                     enum opcode op)
{
    const struct column_place *place = &generator->columns[e->column.number];

    assert(place->column >= 0 || place->row < 0);
    return emit_value(generator, &(struct instruction){
                                     .op = op,
                                     .b = place->column < 0 ? 0 : place->column,
                                     .c = place->cursor,
                                     .d = place->row < 0 ? 0 : place->row,
                                     .comment = value_comment(generator, e),
                                     .at = e->at });
}

/* The value of a column that is computed. */
static struct value made_column(struct generator *generator,
                                const struct expression *e)
{
    const struct column_place *columns = generator->columns;
    const struct made_column *made = columns[e->column.number].made;
    struct value value = { made->r, made->null };

    if (made->expression == NULL)
        return value;
    generator->columns = made->columns;
    value = value_of(generator, made->expression, e->machine);
    generator->columns = columns;
    return value;
}

struct value value_column(struct generator *generator,
                          const struct expression *e)
{
    const struct column_place *place = &generator->columns[e->column.number];
    const struct op_family *family = place->row >= 0     ? &found
                                     : place->column < 0 ? &keys
                                                         : &columns;
    struct value value = { .null = -1 };

    if (place->made != NULL)
        return made_column(generator, e);
    value.r = column_in(generator, e, op_of(family, e->type));
    if (e->nullable)
        value.null = value_column_null(generator, e);
    return value;
}

int value_column_null(struct generator *generator, const struct expression *e)
{
    const struct column_place *place = &generator->columns[e->column.number];

    if (place->made != NULL)
        return made_column(generator, e).null;
    if (place->column < 0)
        return -1;
    return column_in(generator, e,
                     place->row < 0 ? OP_COLUMN_NULL : OP_COLUMN_AT_NULL);
}

struct value value_parameter(struct generator *generator,
                             const struct expression *e)
{
    struct instruction in = { .op = op_of(&parameters, e->type),
                              .b = e->parameter.number,
                              .comment = value_comment(generator, e),
                              .at = e->at };
    struct value value = { .r = emit_value(generator, &in) };

    in.op = OP_PARAMETER_NULL;
    value.null = emit_value(generator, &in);
    return value;
}

/* ------------------------------------------------------------- lookups -- */

/* What is said where a call fails for a text; NULL: no memory. */
static const char *failure_of(struct generator *generator,
                              const struct function *function)
{
    char room[FUNCTION_FAILURE_MAX];

    function_lookup_failure(function, room);
    return emit_text(generator, room, strlen(room));
}

/* Fails where the call fails for a value that matters. */
static void fail_lookup(struct generator *generator, const struct expression *e,
                        int word, int harmless)
{
    struct instruction in = {
        .op = OP_LOOKUP_FAILS, .b = word, .name = e->lookup.call, .at = e->at
    };
    int fails = emit_value(generator, &in);

    fails = register_unless(generator, fails, harmless);
    emit_fail(generator, fails, failure_of(generator, e->lookup.function),
              e->at);
}

struct value value_lookup(struct generator *generator,
                          const struct expression *e)
{
    struct value word = value_of(generator, e->left, TYPE_I32), value;
    struct instruction in = { .op = op_of(&lookups,
                                          (int)e->lookup.function->result),
                              .b = word.r,
                              .at = e->at };

    in.name = emit_text(generator, e->lookup.call, strlen(e->lookup.call));
    if (e->lookup.fails)
        fail_lookup(generator, e, word.r,
                    register_any(generator, word.null, generator->idle));
    value.r = emit_value(generator, &in);
    value.null = word.null;
    in.op = OP_LOOKUP_NULL;
    if (e->lookup.nulls)
        value.null =
            register_any(generator, value.null, emit_value(generator, &in));
    return value;
}

/* Fails where the condition is true of a value that matters. */
