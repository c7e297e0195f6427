/* SPDX-License-Identifier: MIT */
/*
 * Programs as text: EXPLAIN's rows and the .prog form, which is the same.
 */
#include <ctype.h>
#include <string.h>

#include "program/program.h"

/* The value of a constant instruction. */
static void print_constant(const struct instruction *in, struct text *text)
{
    char number[64];
    if (in->op == OP_FLOAT_F32)
        text_add(text, number, text_from_float((float)in->real, number));
    else if (in->op == OP_FLOAT_F64)
        text_add(text, number, text_from_double(in->real, number));
    else
        text_print(text, "%lld", (long long)in->integer);
}

static void print_operand(const struct instruction *in, int i,
                          struct text *text)
{
    const int operands[4] = { in->a, in->b, in->c, in->d };
    if (op_operands(in->op)[i] == 'v')
        print_constant(in, text);
    else
        text_print(text, "%d", operands[i]);
}

/* Whether the letter at `at` stands alone, so that it names an operand. */
static bool is_operand(const char *meaning, size_t at)
{
    char before = at > 0 ? meaning[at - 1] : ' ';
    char after = meaning[at + 1];
    return meaning[at] >= 'a' && meaning[at] <= 'd'
           && !isalpha((unsigned char)before) && !isalpha((unsigned char)after);
}

/* The meaning, with operands in place of their letters. */
static void print_meaning(const struct instruction *in, struct text *text)
{
    const char *meaning = op_facts(in->op)->meaning;
    for (size_t at = 0; meaning[at] != '\0'; at++) {
        if (is_operand(meaning, at))
            print_operand(in, meaning[at] - 'a', text);
        else
            text_add(text, meaning + at, 1);
    }
    if (in->comment != NULL)
        text_print(text, "  (%s)", in->comment);
}

/* A name in double quotes, with those inside doubled. It stays on the line:
 * \n stands for a line's end, and two backslashes for one. */
static void print_name(const char *name, struct text *text)
{
    text_add(text, "\"", 1);
    for (; *name != '\0'; name++) {
        if (*name == '"')
            text_add(text, "\"\"", 2);
        else if (*name == '\\')
            text_add(text, "\\\\", 2);
        else if (*name == '\n')
            text_add(text, "\\n", 2);
        else
            text_add(text, name, 1);
    }
    text_add(text, "\"", 1);
}

void instruction_print(const struct program *program, int pc, struct text *name,
                       struct text operands[4], struct text *meaning)
{
    const struct instruction *in = program_at(program, pc);
    const struct op_facts *op = op_facts(in->op);
    text_print(name, "%s", op->mnemonic);
    if (op->type[0] != '-')
        text_print(name, ".%s", op->type);
    for (int i = 0; i < 4; i++)
        print_operand(in, i, &operands[i]);
    if (in->name != NULL) {
        print_name(in->name, meaning);
        text_add(meaning, "  ", 2);
    }
    text_add(meaning, "; ", 2);
    print_meaning(in, meaning);
}

void program_print(const struct program *program, struct text *text)
{
    for (int pc = 0; pc < (int)program->code.count; pc++) {
        struct text name = { 0 }, meaning = { 0 }, operands[4] = { 0 };
        instruction_print(program, pc, &name, operands, &meaning);
        text_print(text, "%4d  %-14s", pc, name.bytes ? name.bytes : "");
        for (int i = 0; i < 4; i++) {
            text_print(text, " %4s",
                       operands[i].bytes ? operands[i].bytes : "");
            text->failed |= operands[i].failed;
            text_finish(&operands[i]);
        }
        text_print(text, "  %s\n", meaning.bytes ? meaning.bytes : "");
        text->failed |= name.failed || meaning.failed;
        text_finish(&name);
        text_finish(&meaning);
    }
}
