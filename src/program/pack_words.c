/* SPDX-License-Identifier: MIT */
/*
 * What a program does with the words of each input: they may be looked up and
 * no more, compared with constants and no more, or results, and looked up, and no
 * more. Such words need no numbers among all others, the last ones unless more is
 * asked of the results. Each register has one writer.
 */
#include "program/pack_words.h"

#include <assert.h>
#include <string.h>

struct looking {
    const struct program *program;
    struct program_pack *pack;
    int *inputs;    /* of each register: 1 + the input whose words it holds */
    int *constants; /* of each register: 1 + the slot of its text           */
    bool *looked_up, *compared; /* of each input: some instruction does so */
};

/* Something else is done with what the register holds. */
static void use(const struct looking *looking, int register_)
{
    int input = looking->inputs[register_];
    int constant = looking->constants[register_];
    if (input > 0)
        looking->pack->uses[input - 1] = WORDS_ANY;
    if (constant > 0) {
        looking->pack->slots[constant - 1].compared = false;
        looking->pack->slots[constant - 1].fit = FIT_NONE;
    }
}

static void look_up(const struct looking *looking, int pc)
{
    int register_ = program_at(looking->program, pc)->b;
    int input = looking->inputs[register_];
    if (input > 0)
        looking->looked_up[input - 1] = true;
    else
        use(looking, register_);
}

static void read_operands(const struct looking *looking, int pc)
{
    const struct instruction *in = program_at(looking->program, pc);
    const int operands[] = { in->a, in->b, in->c, in->d };
    const char *letters = op_operands(in->op);
    assert(strlen(letters) == sizeof operands / sizeof *operands);
    for (int i = 0; i < 4; i++)
        if (letters[i] == 'r' || letters[i] == 'x')
            use(looking, operands[i]);
}

/* --------------------------------------------------------- comparisons -- */

/* A comparison of words with a constant. */
struct comparison {
    int words;                     /* register that holds them */
    struct program_slot *constant; /* that they are compared with */
    enum text_fit fit;             /* of the constant */
};

/* Two registers that an instruction compares, and what fits the one at the right
 * side where it is a constant, and the one at the left. */
struct sides {
    int left, right;
    enum text_fit fit_right, fit_left;
};

static bool find_sides(const struct instruction *in, struct sides *sides)
{
    const int a = in->a, b = in->b, c = in->c;
    switch (in->op) {
    case OP_EQ_I32:
    case OP_NEQ_I32:
        *sides = (struct sides){ a, b, FIT_EQUAL, FIT_EQUAL };
        return true;
    case OP_LT_I32:
    case OP_GE_I32:
        *sides = (struct sides){ a, b, FIT_NEXT, FIT_LAST };
        return true;
    case OP_LE_I32:
    case OP_GT_I32:
        *sides = (struct sides){ a, b, FIT_LAST, FIT_NEXT };
        return true;
    case OP_IS_EQ_I32:
        *sides = (struct sides){ b, c, FIT_EQUAL, FIT_EQUAL };
        return true;
    case OP_IS_LT_I32:
        *sides = (struct sides){ b, c, FIT_NEXT, FIT_LAST };
        return true;
    case OP_IS_LE_I32:
        *sides = (struct sides){ b, c, FIT_LAST, FIT_NEXT };
        return true;
    default:
        return false;
    }
}

/* Whether an instruction compares something with a constant. */
static bool find_comparison(const struct looking *looking, int pc,
                            struct comparison *comparison)
{
    struct sides sides;
    if (!find_sides(program_at(looking->program, pc), &sides))
        return false;
    int left = looking->constants[sides.left];
    int right = looking->constants[sides.right];
    if ((left == 0) == (right == 0))
        return false;
    *comparison = (struct comparison){
        .words = right > 0 ? sides.left : sides.right,
        .constant = &looking->pack->slots[(right > 0 ? right : left) - 1],
        .fit = right > 0 ? sides.fit_right : sides.fit_left
    };
    return true;
}

/* Notes what a comparison asks of its constant, and of an input's words. */
static void compare(const struct looking *looking,
                    const struct comparison *comparison)
{
    struct program_slot *constant = comparison->constant;
    int input = looking->inputs[comparison->words];
    if (input > 0)
        looking->compared[input - 1] = true;
    else
        constant->compared = false;
    if (constant->fit == FIT_UNUSED)
        constant->fit = comparison->fit;
    else if (constant->fit != comparison->fit)
        constant->fit = FIT_NONE;
}

/* Words and constants have numbers among all others where one of them does;
 * whether that is news of some. */
static bool spread(const struct looking *looking)
{
    enum words_use *uses = looking->pack->uses;
    bool news = false;
    for (size_t pc = 0; pc < looking->program->code.count; pc++) {
        struct comparison comparison;
        if (!find_comparison(looking, (int)pc, &comparison)
            || looking->inputs[comparison.words] == 0)
            continue;
        enum words_use *use = &uses[looking->inputs[comparison.words] - 1];
        if ((*use == WORDS_ANY) != comparison.constant->compared)
            continue;
        *use = WORDS_ANY;
        comparison.constant->compared = false;
        news = true;
    }
    return news;
}

/* ---------------------------------------------------------------- uses -- */

/* Whether it loads words of an input. */
static bool loads_words(const struct instruction *in)
{
    return (in->op == OP_COLUMN_WORD || in->op == OP_ROWID_WORD) && in->c == 0;
}

int pack_words_column(const struct program *program, int register_)
{
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        if (in->a == register_ && loads_words(in))
            return in->op == OP_ROWID_WORD ? WORDS_OF_KEY : in->b;
    }
    return WORDS_OF_NONE;
}

static void find_registers(const struct looking *looking)
{
    struct program_pack *pack = looking->pack;
    for (size_t pc = 0; pc < looking->program->code.count; pc++) {
        const struct instruction *in = program_at(looking->program, (int)pc);
        if (!loads_words(in))
            continue;
        int input = pack->code[pc].b;
        looking->inputs[in->a] = 1 + input;
        pack->uses[input] = WORDS_LOOKED_UP;
    }
    for (unsigned i = 0; i < pack->slot_count; i++) {
        struct program_slot *slot = &pack->slots[i];
        const struct instruction *in = program_at(looking->program, slot->pc);
        slot->compared = in->op == OP_TEXT || in->op == OP_PARAMETER_WORD;
        if (slot->compared)
            looking->constants[in->a] = 1 + (int)i;
    }
}

/* Notes which results have words that no other instruction reads but those that
 * look up, once these were all looked at. */
static void find_shown(const struct looking *looking)
{
    struct program_pack *pack = looking->pack;
    for (unsigned i = 0; i < pack->result_count; i++) {
        int register_ = program_result(looking->program, i).register_;
        int input = looking->inputs[register_] - 1;
        bool shown = input >= 0 && pack->uses[input] == WORDS_LOOKED_UP
                     && !looking->compared[input];
        pack->shown_inputs[i] = shown ? input : -1;
    }
}

static void find_uses(const struct looking *looking)
{
    const struct program *program = looking->program;
    for (size_t pc = 0; pc < program->code.count; pc++) {
        struct comparison comparison;
        if (op_facts(program_at(program, (int)pc)->op)->form == FORM_LOOKUP)
            look_up(looking, (int)pc);
        else if (find_comparison(looking, (int)pc, &comparison))
            compare(looking, &comparison);
        else
            read_operands(looking, (int)pc);
    }
    find_shown(looking);
    for (unsigned i = 0; i < looking->pack->result_count; i++)
        use(looking, program_result(program, i).register_);
}

bool pack_word_uses(const struct program *program, struct arena *arena,
                    struct program_pack *pack)
{
    size_t registers = program->registers + (size_t)1;
    size_t inputs = pack->input_count + (size_t)1;
    struct looking looking = {
        .program = program,
        .pack = pack,
        .inputs = arena_alloc(arena, registers * sizeof *looking.inputs),
        .constants = arena_alloc(arena, registers * sizeof *looking.constants),
        .looked_up = arena_alloc(arena, inputs),
        .compared = arena_alloc(arena, inputs),
    };
    if (!looking.inputs || !looking.constants || !looking.looked_up
        || !looking.compared)
        return false;
    find_registers(&looking);
    find_uses(&looking);
    for (unsigned i = 0; i < pack->input_count; i++)
        if (looking.compared[i] && pack->uses[i] != WORDS_ANY)
            pack->uses[i] = looking.looked_up[i] ? WORDS_ANY : WORDS_COMPARED;
    while (spread(&looking))
        ;
    return true;
}
