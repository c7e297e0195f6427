/* SPDX-License-Identifier: MIT */
/*
 * Reads programs from the text that print.c writes:
 *
 *     [number]  name[.type]  [operand ...]  ["name"]  [; comment]
 *
 * one instruction a line. Blank lines and lines of comment are passed.
 */
#include <ctype.h>
#include <string.h>

#include "program/program.h"

/* A line that is being read. */
struct reading {
    const char *line; /* its start                       */
    const char *at;   /* what is next                    */
    const char *end;  /* of the line                     */
    unsigned number;  /* of the line, from 1             */
    struct program *program;
    struct error *error;
};

static struct position place(const struct reading *reading)
{
    return (struct position){ .line = reading->number,
                              .column =
                                  (unsigned)(reading->at - reading->line) + 1 };
}

/* The next word, which ends at a blank; its length, 0 at the line's end. */
static size_t next_word(struct reading *reading)
{
    while (reading->at < reading->end && isspace((unsigned char)*reading->at))
        reading->at++;
    if (reading->at < reading->end
        && (*reading->at == ';' || *reading->at == '#'))
        reading->at = reading->end;
    const char *end = reading->at;
    while (end < reading->end && !isspace((unsigned char)*end) && *end != ';')
        end++;
    return (size_t)(end - reading->at);
}

static enum vdbq_status read_operand(struct reading *reading, size_t length,
                                     int i, struct instruction *in)
{
    int *const operands[4] = { &in->a, &in->b, &in->c, &in->d };
    bool is_constant = op_operands(in->op)[i] == 'v';
    bool is_real =
        is_constant && (in->op == OP_FLOAT_F32 || in->op == OP_FLOAT_F64);
    int64_t number = 0;
    if (is_real ? !text_to_double(reading->at, length, &in->real)
                : !text_to_int64(reading->at, length, &number))
        return error_at(reading->error, VDBQ_PROGRAM, place(reading),
                        "\"%.*s\" is not a number", (int)length, reading->at);
    if (is_constant)
        in->integer = number;
    else if (number < INT32_MIN || number > INT32_MAX)
        return error_at(reading->error, VDBQ_PROGRAM, place(reading),
                        "%lld is too large for an operand", (long long)number);
    else
        *operands[i] = (int)number;
    reading->at += length;
    return VDBQ_OK;
}

/* The letter that a backslash and the letter at `at` stand for. */
static char escaped(struct reading *reading)
{
    if (reading->at + 1 < reading->end)
        reading->at++;
    return *reading->at == 'n' ? '\n' : *reading->at;
}

/* Reads the name in double quotes at `at`. */
static enum vdbq_status read_name(struct reading *reading,
                                  struct instruction *in)
{
    struct position start = place(reading);
    size_t room = (size_t)(reading->end - reading->at), length = 0;
    char *name = arena_alloc(&reading->program->arena, room + 1);
    if (name == NULL)
        return error_no_memory(reading->error);
    for (reading->at++; reading->at < reading->end; reading->at++) {
        bool quote = *reading->at == '"';
        if (quote && (reading->at + 1 == reading->end || reading->at[1] != '"'))
            break;
        name[length++] = *reading->at == '\\' ? escaped(reading) : *reading->at;
        reading->at += quote;
    }
    if (reading->at >= reading->end)
        return error_at(reading->error, VDBQ_PROGRAM, start,
                        "the name does not end");
    reading->at++;
    in->name = name;
    return VDBQ_OK;
}

static enum vdbq_status read_opcode(struct reading *reading, size_t length,
                                    struct instruction *in)
{
    int op = op_find(reading->at, length);
    if (op < 0)
        return error_at(reading->error, VDBQ_PROGRAM, place(reading),
                        "there is no opcode \"%.*s\"", (int)length,
                        reading->at);
    in->op = (enum opcode)op;
    in->at = place(reading);
    reading->at += length;
    return VDBQ_OK;
}

/* Reads what follows the opcode. */
static enum vdbq_status read_operands(struct reading *reading,
                                      struct instruction *in)
{
    enum vdbq_status status = VDBQ_OK;
    size_t length;
    for (int i = 0; status == VDBQ_OK && (length = next_word(reading)); i++) {
        if (*reading->at == '"')
            status = read_name(reading, in);
        else if (i >= 4)
            status = error_at(reading->error, VDBQ_PROGRAM, place(reading),
                              "an instruction has four operands");
        else
            status = read_operand(reading, length, i, in);
    }
    return status;
}

/* Reads a line; one without an instruction adds nothing. */
static enum vdbq_status read_line(struct reading *reading)
{
    struct instruction in = { 0 };
    size_t length = next_word(reading);
    if (length > 0 && isdigit((unsigned char)*reading->at)) {
        reading->at += length;
        length = next_word(reading);
    }
    if (length == 0)
        return VDBQ_OK;
    enum vdbq_status status = read_opcode(reading, length, &in);
    if (status == VDBQ_OK)
        status = read_operands(reading, &in);
    if (status == VDBQ_OK && program_add(reading->program, &in) < 0)
        status = error_no_memory(reading->error);
    if (status == VDBQ_OK && in.op == OP_TABLE) {
        struct program_table *table = vector_add(&reading->program->tables);
        if (table == NULL)
            return error_no_memory(reading->error);
        table->name = in.name;
    }
    return status;
}

enum vdbq_status program_read(const char *text, struct program *program,
                              struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    struct reading reading = { .program = program, .error = error };
    while (*text != '\0' && status == VDBQ_OK) {
        const char *end = text + strcspn(text, "\n");
        reading.line = reading.at = text;
        reading.end = end;
        reading.number++;
        status = read_line(&reading);
        text = *end == '\0' ? end : end + 1;
    }
    return status;
}
