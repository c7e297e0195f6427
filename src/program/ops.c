/* SPDX-License-Identifier: MIT */
/*
 * The table of opcodes as data, expanded from cl/opcodes.h, and the types.
 */
#include <strings.h>

#include <string.h>

#include "program/program.h"

static const char *const form_operands[OP_FORMS] = {
#define OPERANDS(name, operands) operands,
    VDBQ_FORMS(OPERANDS)
#undef OPERANDS
};

static const struct op_facts facts[OPCODES] = {
#define FACTS(name, mnemonic_, type_, form_, writes_, reads_, effect_, cost_,  \
              meaning_)                                                        \
    [OP_##name] = { .enum_name = #name,                                        \
                    .mnemonic = mnemonic_,                                     \
                    .type = type_,                                             \
                    .form = FORM_##form_,                                      \
                    .writes = TYPE_##writes_,                                  \
                    .reads = TYPE_##reads_,                                    \
                    .effect = EFFECT_##effect_,                                \
                    .cost = cost_,                                             \
                    .meaning = meaning_ },
    VDBQ_OPS(FACTS)
#undef FACTS
};

const struct op_facts *op_facts(enum opcode op)
{
    return &facts[op];
}

const char *op_operands(enum opcode op)
{
    return form_operands[facts[op].form];
}

/* Whether `name` is the mnemonic, then a dot and the type if it has one. */
static bool is_named(const struct op_facts *op, const char *name, size_t length)
{
    size_t stem = strlen(op->mnemonic);
    if (length < stem || strncasecmp(name, op->mnemonic, stem) != 0)
        return false;
    if (op->type[0] == '-')
        return length == stem;
    return length == stem + 1 + strlen(op->type) && name[stem] == '.'
           && strncasecmp(name + stem + 1, op->type, strlen(op->type)) == 0;
}

int op_find(const char *name, size_t length)
{
    for (int op = 0; op < OPCODES; op++)
        if (is_named(&facts[op], name, length))
            return op;
    return -1;
}

const char *type_text(int type)
{
    static const char *const texts[] = {
        "-", "I32", "I64", "F32", "F64", "WORD"
    };
    return texts[type];
}

unsigned type_width(int type)
{
    switch (type) {
    case TYPE_I32:
    case TYPE_F32:
    case TYPE_WORD:
        return 4;
    case TYPE_I64:
    case TYPE_F64:
        return 8;
    default:
        return 0;
    }
}
