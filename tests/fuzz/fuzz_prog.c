/* SPDX-License-Identifier: MIT */
/*
 * Programs, in their text form, run over tables. A program is made from the
 * input's bytes by the table of opcodes so that most are accepted: each
 * instruction writes a register of its own and reads some that are written on
 * every path to it. Where the first byte is 255, the rest is the text.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/functions/function.h"
#include "program/functions/function_table.h"
#include "program/program.h"

enum {
    BODY_MAX = 48, /* instructions before Result              */
    TRIES = 12,    /* of an opcode that has what it reads     */
    TEXT_ROOM = 1 << 14,
    CURSORS = 3,
    COLUMNS_MAX = 10,
    AS_TEXT = 255
};

/* A table as a program sees it; WORD are texts. */
struct table {
    const char *name;
    int key; /* type of the primary key, or of row numbers */
    unsigned count;
    int types[COLUMNS_MAX];
};

/* Those of fuzz_open_filled(): as axes, without their keys, and as they are
 * probed, with them. */
static const struct table axes[] = {
    { "t",
      TYPE_I32,
      9,
      { TYPE_I32, TYPE_I64, TYPE_I32, TYPE_F64, TYPE_F32, TYPE_WORD, TYPE_I32,
        TYPE_I64, TYPE_I64 } },
    { "u", TYPE_I64, 4, { TYPE_I32, TYPE_WORD, TYPE_F64, TYPE_I64 } },
    { "e", TYPE_I32, 2, { TYPE_WORD, TYPE_F64 } },
};
static const struct table probed[] = {
    { "t",
      TYPE_I32,
      10,
      { TYPE_I32, TYPE_I32, TYPE_I64, TYPE_I32, TYPE_F64, TYPE_F32, TYPE_WORD,
        TYPE_I32, TYPE_I64, TYPE_I64 } },
    { "u", TYPE_I64, 4, { TYPE_I32, TYPE_WORD, TYPE_F64, TYPE_I64 } },
    { "e", TYPE_I32, 3, { TYPE_I32, TYPE_WORD, TYPE_F64 } },
};
enum { TABLES = sizeof axes / sizeof *axes };

/* An instruction, which writes the register of its own number. */
struct made {
    enum opcode op;
    int operand[4];
    int target;    /* of a jump: a place in the body; BODY_MAX: Result */
    int cursor;    /* of a Probe: whose rows; else -1                  */
    bool text;     /* the register has the number of a text            */
    char name[96]; /* or ""                                            */
    double real;
};

struct making {
    struct fuzz_bytes bytes;
    const struct table *cursor[CURSORS];
    unsigned cursors, axes;
    struct made body[BODY_MAX];
    int count;
    char text[TEXT_ROOM];
    size_t length;
};

/* ------------------------------------------------------------- operands -- */

/* Whether a row may come to `pc` and leave instruction `w` out. */
static bool is_skipped(const struct making *making, int w, int pc,
                       bool valid_only)
{
    for (int j = 0; j < w; j++) {
        const struct made *jump = &making->body[j];
        if (strchr(op_operands(jump->op), 'j') == NULL)
            continue;
        if (jump->target > w && jump->target <= pc
            && !(valid_only && jump->operand[3] == 0))
            return true;
    }
    return false;
}

static int type_of(const struct made *made)
{
    return op_facts(made->op)->writes;
}

/* A register of a type that may be read here, of texts or of rows of a
 * cursor where that is asked for; -1: none. */
static int pick(struct making *making, int type, bool text, int cursor)
{
    int found[BODY_MAX], count = 0;

    for (int w = 0; w < making->count; w++) {
        const struct made *made = &making->body[w];
        if (type_of(made) == type && (!text || made->text)
            && (cursor < 0 || made->cursor == cursor)
            && !is_skipped(making, w, making->count, false))
            found[count++] = w;
    }
    return count == 0 ? -1 : found[fuzz_take(&making->bytes, (unsigned)count)];
}

/* A column of the cursor of that type (0: any); -1: none. */
static int pick_column(struct making *making, unsigned cursor, int type)
{
    const struct table *table = making->cursor[cursor];
    int found[COLUMNS_MAX], count = 0;

    for (unsigned c = 0; c < table->count; c++)
        if (type == 0 || table->types[c] == type)
            found[count++] = (int)c;
    return count == 0 ? -1 : found[fuzz_take(&making->bytes, (unsigned)count)];
}

static bool is_of_words(enum opcode op)
{
    return op == OP_COLUMN_WORD || op == OP_ROWID_WORD
           || op == OP_COLUMN_AT_WORD || op == OP_PROBE_WORD
           || op == OP_PARAMETER_WORD || op == OP_LOOKUP_WORD || op == OP_TEXT;
}

/* The cursor and column of one of the instructions that have them. */
static bool make_column(struct making *making, struct made *made)
{
    const struct op_facts *op = op_facts(made->op);
    bool probes = op->form == FORM_PROBE || op->form == FORM_COLUMN_AT;
    unsigned first = probes ? making->axes : 0;
    unsigned count = probes ? making->cursors - making->axes : making->axes;
    int type = is_of_words(made->op)    ? TYPE_WORD
               : op->form == FORM_PROBE ? op->reads
                                        : op->writes;

    if (count == 0)
        return false;
    unsigned cursor = first + fuzz_take(&making->bytes, count);
    made->operand[2] = (int)cursor;
    if (op->form == FORM_ROWID)
        return making->cursor[cursor]->key == type;
    if (made->op == OP_COLUMN_NULL || made->op == OP_COLUMN_AT_NULL)
        type = 0;
    int column = pick_column(making, cursor, type);
    made->operand[op->form == FORM_PROBE ? 3 : 1] = column;
    if (op->form == FORM_PROBE)
        made->cursor = (int)cursor;
    return column >= 0;
}

static void make_constant(struct making *making, struct made *made)
{
    static const int64_t numbers[] = {
        0, 1, -1, 2, 10, 100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
    };
    static const double reals[] = {
        0.0, -0.0, 1.0, 0.5, -2.25, 1e300, 1e-300, 9.3e18, -9.3e18, 2147483648.0
    };
    bool small = made->op == OP_INTEGER_I32;

    made->real = reals[fuzz_take(&making->bytes, 10)];
    snprintf(made->name, sizeof made->name, "%lld",
             (long long)numbers[fuzz_take(&making->bytes, small ? 8 : 10)]);
}

static void make_text(struct making *making, struct made *made)
{
    static const char *const texts[] = { "",  "a",        "it's 10", "aB%",
                                         "b", "\xc3\xa4", "10",      "zz" };

    made->text = true;
    snprintf(made->name, sizeof made->name, "%s",
             texts[fuzz_take(&making->bytes, 8)]);
}

/* ---------------------------------------------------------------- calls -- */

/* What the machine has a result of a function in. */
static int held_in(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_TEXT:
        return TYPE_WORD;
    case VDBQ_DOUBLE:
        return TYPE_F64;
    case VDBQ_BIGINT:
    case VDBQ_DECIMAL:
    case VDBQ_TIMESTAMP:
        return TYPE_I64;
    default:
        return TYPE_I32;
    }
}

static bool gives(const struct function *function, enum opcode op)
{
    if (op == OP_LOOKUP_NULL || op == OP_LOOKUP_FAILS)
        return true;
    return held_in(function->result)
           == (op == OP_LOOKUP_WORD ? TYPE_WORD : op_facts(op)->writes);
}

/* The functions that SQL has names for and the host computes, but those of
 * moments, which are in the range that the planner's casts give them. */
static const struct function *pick_function(struct making *making,
                                            enum opcode op)
{
#define NAME(name, ...) #name,
    static const char *const names[] = { SCALAR_FUNCTIONS(NAME, NAME, NAME) };
    const size_t known = sizeof names / sizeof *names;
    const struct function *found = NULL;
    unsigned count = 0, wanted = fuzz_take(&making->bytes, 200);

    for (size_t i = 0; i < 2 * known; i++) {
        const struct function *f = function_find(names[i % known]);
        if (f != NULL && function_takes(f, 0) == VDBQ_TEXT && gives(f, op)
            && strcmp(f->name, "strftime") != 0 && count++ <= wanted)
            found = f;
    }
    return found;
}

/* A call whose first argument is open, the others constants. */
static bool make_call(struct making *making, struct made *made)
{
    static const char *const values[3][4] = {
        { "1", "0", "-2", "9223372036854775807" },
        { "'a'", "''", "'%b_'", "'it''s'" },
        { "1.5", "0.5", "-1e3", "1.0" }
    };
    const struct function *function = pick_function(making, made->op);

    if (function == NULL)
        return false;
    unsigned more = function->most - function->least;
    unsigned count = function->least + fuzz_take(&making->bytes, more + 1);
    int length =
        snprintf(made->name, sizeof made->name, "%s(?", function->name);
    for (unsigned i = 1; i < count; i++) {
        enum vdbq_type type = function_takes(function, i);
        unsigned kind = type == VDBQ_TEXT ? 1 : type == VDBQ_DOUBLE ? 2 : 0;
        length +=
            snprintf(made->name + length, sizeof made->name - (size_t)length,
                     ", %s", values[kind][fuzz_take(&making->bytes, 4)]);
    }
    snprintf(made->name + length, sizeof made->name - (size_t)length, ")");
    made->text = made->op == OP_LOOKUP_WORD;
    return true;
}

/* ---------------------------------------------------------- instructions -- */

static bool make_facts(struct making *making, struct made *made)
{
    switch (op_facts(made->op)->form) {
    case FORM_COLUMN:
    case FORM_ROWID:
    case FORM_PROBE:
    case FORM_COLUMN_AT:
        made->text =
            is_of_words(made->op) && op_facts(made->op)->form != FORM_PROBE;
        return make_column(making, made);
    case FORM_CONSTANT:
        return make_constant(making, made), true;
    case FORM_TEXT:
        return make_text(making, made), true;
    case FORM_FAIL:
        return snprintf(made->name, sizeof made->name, "it fails") > 0
               && fuzz_take(&making->bytes, 8) == 1;
    case FORM_LOOKUP:
        return make_call(making, made);
    case FORM_PARAMETER:
        made->operand[1] = (int)fuzz_take(&making->bytes, 3);
        made->text = is_of_words(made->op);
        return true;
    case FORM_PART:
        made->operand[2] = (int)fuzz_take(&making->bytes, DATE_PARTS);
        return true;
    default:
        return true;
    }
}

/* Sets what the form's letter i wants; false: there is nothing of the kind. */
static bool make_operand(struct making *making, struct made *made, int i)
{
    const struct op_facts *op = op_facts(made->op);
    char letter = op_operands(made->op)[i];
    int *operand = &made->operand[i];

    if (letter == 'w')
        *operand = making->count;
    else if (letter == 't')
        *operand = op->writes;
    else if (letter == 'r')
        *operand = pick(
            making, op->reads,
            op->form == FORM_LOOKUP && fuzz_take(&making->bytes, 10) != 1, -1);
    else if (letter == 'x')
        *operand = pick(making, TYPE_I32, false,
                        op->form == FORM_COLUMN_AT ? made->operand[2] : -1);
    else if (letter == 'y')
        *operand = (int)fuzz_take(&making->bytes, 2);
    else if (letter == 'j')
        made->target =
            fuzz_take(&making->bytes, 3)
                ? BODY_MAX
                : making->count + 1 + (int)fuzz_take(&making->bytes, 5);
    return *operand >= 0;
}

static bool make_one(struct making *making)
{
    struct made made = { .cursor = -1 };

    made.op = (enum opcode)fuzz_take(&making->bytes, OPCODES);
    enum op_effect effect = op_facts(made.op)->effect;
    if (effect == EFFECT_HOST || effect == EFFECT_OUTPUT || effect == EFFECT_END
        || !make_facts(making, &made))
        return false;
    for (int i = 0; i < 4; i++)
        if (!make_operand(making, &made, i))
            return false;
    /* Texts that are made of texts that were made grow without end. */
    if (made.op == OP_LOOKUP_WORD)
        made.text = making->body[made.operand[1]].op != OP_LOOKUP_WORD;
    making->body[making->count++] = made;
    return true;
}

/* ------------------------------------------------------------- the text -- */

static void put(struct making *making, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct making *making, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(making->text + making->length,
                           TEXT_ROOM - making->length, format, arguments);
    va_end(arguments);
    making->length += (size_t)length;
    if (making->length >= TEXT_ROOM)
        abort();
}

static void put_name(struct making *making, enum opcode op)
{
    const struct op_facts *facts = op_facts(op);

    put(making, "%s%s%s", facts->mnemonic, *facts->type == '-' ? "" : ".",
        *facts->type == '-' ? "" : facts->type);
}

/* `first` is the number of the body's first instruction. */
static void put_made(struct making *making, const struct made *made, int first)
{
    enum op_form form = op_facts(made->op)->form;
    int target = made->target > making->count ? making->count : made->target;
    bool real = made->op == OP_FLOAT_F32 || made->op == OP_FLOAT_F64;

    put_name(making, made->op);
    for (int i = 0; i < 4; i++) {
        char letter = op_operands(made->op)[i];
        if (letter == 'v' && real)
            put(making, " %.17g", made->real);
        else if (letter == 'v')
            put(making, " %s", made->name);
        else
            put(making, " %d",
                letter == 'j' ? first + target : made->operand[i]);
    }
    if (form == FORM_TEXT || form == FORM_LOOKUP || form == FORM_FAIL)
        put(making, " \"%s\"", made->name);
    put(making, "\n");
}

/* Registers side by side that are written on every path of a valid row. */
static int results(const struct making *making, int first)
{
    int end = first;

    while (end < making->count && end < first + 4
           && type_of(&making->body[end]) != 0
           && !is_skipped(making, end, BODY_MAX, true))
        end++;
    return end - first;
}

static bool put_program(struct making *making)
{
    int from = (int)fuzz_take(&making->bytes, (unsigned)making->count + 1);
    int at = from, columns = 0;

    do {
        at = at + 1 < making->count ? at + 1 : 0;
        columns = results(making, at);
    } while (columns == 0 && at != from && (at || from < making->count));
    if (columns == 0)
        return false;
    int first = (int)making->cursors + columns + 1;
    for (unsigned i = 0; i < making->cursors; i++)
        put(making, "Table 0 0 %u 0 \"%s\"\n", i, making->cursor[i]->name);
    for (int i = 0; i < columns; i++)
        put(making, "ResultColumn %d 0 0 0 \"c%d\"\n",
            type_of(&making->body[at + i]), i);
    put(making, "Parallel 0 0 %d 0\n", first + making->count + 2);
    for (int i = 0; i < making->count; i++)
        put_made(making, &making->body[i], first);
    put(making, "Result %d %d 0 0\nConverge\nFinish\n", at, columns);
    return true;
}

static bool make_program(struct making *making)
{
    making->axes = fuzz_take(&making->bytes, 3);
    making->cursors =
        making->axes + (making->axes ? fuzz_take(&making->bytes, 2) : 0);
    for (unsigned i = 0; i < making->cursors; i++) {
        unsigned which = fuzz_take(&making->bytes, TABLES);
        making->cursor[i] = i < making->axes ? &axes[which] : &probed[which];
    }
    unsigned wanted = 2 + fuzz_take(&making->bytes, BODY_MAX - 2);
    for (unsigned i = 0; i < TRIES * wanted; i++)
        if ((unsigned)making->count < wanted)
            make_one(making);
    return put_program(making);
}

/* ------------------------------------------------------------------ run -- */

static unsigned long made_count, accepted_count;

static void tell_accepted(void)
{
    fprintf(stderr, "%lu of %lu programs were accepted\n", accepted_count,
            made_count);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct making making;
    static vdbq *db;
    vdbq_query *query = NULL;
    bool as_text = size > 0 && data[0] == AS_TEXT;

    if (db == NULL) {
        db = fuzz_open_filled();
        atexit(tell_accepted);
    }
    making = (struct making){ .bytes = { data, data + size } };
    if (as_text && size < TEXT_ROOM)
        memcpy(making.text, data + 1, size - 1);
    else if (!make_program(&making))
        return 0;
    enum vdbq_status status = vdbq_prepare_program(db, making.text, &query);
    made_count += !as_text;
    accepted_count += !as_text && status == VDBQ_OK;
    if (getenv("VDBQ_FUZZ_SHOW"))
        fprintf(stderr, "%s%s\n", making.text, vdbq_error(db)->message);
    fuzz_read(db, query, status);
    return 0;
}
