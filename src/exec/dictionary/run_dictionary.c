/* SPDX-License-Identifier: MIT */
/*
 * Makes the words of a run, in the order of word table rule 1, and what
 * follows from them: constants, parameters, order codes.
 */
#include <assert.h>
#include <string.h>

#include "exec/dictionary/run_dictionary_inner.h"
#include "base/threads/stop.h"
#include "cl/bits.h"

/* Whether a program leaves something open in an instruction. */
static bool is_open(const struct instruction *in)
{
    enum op_form form = op_facts(in->op)->form;
    return form == FORM_TEXT || form == FORM_PARAMETER || form == FORM_LOOKUP
           || in->op == OP_COLUMN_WORD || in->op == OP_ROWID_WORD
           || in->op == OP_COLUMN_AT_WORD || in->op == OP_PROBE_WORD;
}

bool run_dictionary_needed(const struct program *program)
{
    for (size_t pc = 0; pc < program->code.count; pc++)
        if (is_open(program_at(program, (int)pc)))
            return true;
    return false;
}

bool run_dictionary_no_words(const struct program *program)
{
    for (size_t pc = 0; pc < program->code.count; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        if (is_open(in)
            && (op_facts(in->op)->form != FORM_PARAMETER
                || in->op == OP_PARAMETER_WORD))
            return false;
    }
    return true;
}

/* --------------------------------------------------------- build rows -- */

/* Adds the words of columns of build rows. */
static bool add_build(struct making *making)
{
    struct arena *arena = &making->table->arena;
    unsigned count = making->params->build_count;
    making->build_side =
        arena_alloc(arena, (count + 1) * sizeof *making->build_side);
    for (unsigned i = 0; making->build_side != NULL && i < count; i++) {
        struct dictionary *dictionary = making->params->build_side[i];
        if (dictionary == NULL || !word_build_first(making, i))
            continue;
        uint32_t *numbers = arena_alloc_paged(
            arena, (dictionary->count + (size_t)1) * sizeof *numbers);
        if (numbers == NULL || !word_grow_by(making, dictionary, numbers))
            return false;
        making->build_side[i] = numbers;
    }
    return making->build_side != NULL;
}

/* Notes what the codes of columns of build rows stand for. */
static bool make_build_order_codes(struct making *making)
{
    struct dictionary *const *build_side = making->params->build_side;
    unsigned count = making->params->build_count;
    struct order_codes *order_codes =
        arena_alloc(&making->table->arena, (count + 1) * sizeof *order_codes);
    making->table->build_order_codes = order_codes;
    for (unsigned i = 0; order_codes != NULL && i < count; i++) {
        unsigned first = 0;
        while (build_side[first] != build_side[i])
            first++;
        uint32_t dictionary = build_side[i] != NULL ? build_side[i]->count : 0;
        const uint32_t *numbers = making->build_side[first];
        if (dictionary > 0 && numbers[dictionary - 1] != dictionary - 1)
            order_codes[i] =
                (struct order_codes){ .order_codes = (const i32 *)numbers,
                                      .count = dictionary };
    }
    return order_codes != NULL;
}

/* ----------------------------------------------------------- constants -- */

/* The value of a parameter; those that nobody gave are NULL. */
static const struct parameter *parameter_of(const struct making *making,
                                            const struct instruction *in)
{
    static const struct parameter none = { .null = true };
    return (unsigned)in->b < making->params->parameter_count
               ? &making->params->parameters[in->b]
               : &none;
}

struct vdbq_text word_constant_text(const struct making *making,
                                    const struct program_slot *slot)
{
    const struct instruction *in =
        program_at(making->params->program, slot->pc);
    const struct parameter *parameter;
    struct vdbq_text text = { 0 };
    if (in->op == OP_TEXT)
        return (struct vdbq_text){ in->name, strlen(in->name) };
    if (in->op != OP_PARAMETER_WORD)
        return text;
    parameter = parameter_of(making, in);
    if (parameter->null)
        return text;
    text = parameter->text;
    text.bytes = text.bytes != NULL ? text.bytes : "";
    return text;
}

/* The bits of a parameter that is a number. */
static i64 parameter_bits(const struct making *making,
                          const struct instruction *in)
{
    const struct parameter *parameter = parameter_of(making, in);
    bool real = parameter->type == VDBQ_FLOAT || parameter->type == VDBQ_DOUBLE;
    switch (in->op) {
    case OP_PARAMETER_NULL:
        return parameter->null;
    case OP_PARAMETER_F32:
    case OP_PARAMETER_F64:
        return (i64)bits_of_f64(real ? parameter->real
                                     : (double)parameter->integer);
    default:
        return real ? 0 : parameter->integer;
    }
}

/* Whether the number of a slot's text is its place among the constants. */
static bool is_place(const struct making *making,
                     const struct program_slot *slot)
{
    return slot->compared && making->table->constants != NULL;
}

/* Gives every other text constant that is to be a word a number. */
static enum vdbq_status add_constants(struct making *making)
{
    struct arena *arena = &making->table->arena;
    unsigned count = making->pack.slot_count;
    struct vdbq_text *texts = arena_alloc(arena, (count + 1) * sizeof *texts);
    uint32_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    if (texts == NULL || numbers == NULL)
        return stop_or_no_memory(making->error);
    for (unsigned i = 0; i < count; i++)
        if (!is_place(making, &making->pack.slots[i])
            && making->pack.slots[i].fit == FIT_NONE)
            texts[i] = word_constant_text(making, &making->pack.slots[i]);
    return word_grow_by_texts(making, texts, count, numbers)
               ? VDBQ_OK
               : stop_or_no_memory(making->error);
}

/* The number of a text constant: its word's, or what fits where there is none. */
static i64 text_number(const struct making *making,
                       const struct program_slot *slot)
{
    struct vdbq_text text = word_constant_text(making, slot);
    uint32_t number = 0;
    if (text.bytes == NULL)
        return 0;
    if (is_place(making, slot))
        return word_constant_number(making, text);
    if (dictionary_find(making->table->dictionary, text, &number)
        || slot->fit == FIT_NEXT)
        return number;
    assert(slot->fit != FIT_NONE);
    return slot->fit == FIT_LAST ? (i64)number - 1 : -1;
}

/* Writes the slots of constants and parameters, once all words are there. */
static void fill_slots(struct making *making)
{
    for (unsigned i = 0; i < making->pack.slot_count; i++) {
        const struct program_slot *slot = &making->pack.slots[i];
        const struct instruction *in =
            program_at(making->params->program, slot->pc);
        making->slots[i] = op_facts(in->op)->form == FORM_PARAMETER
                                   && in->op != OP_PARAMETER_WORD
                               ? parameter_bits(making, in)
                               : text_number(making, slot);
    }
}

/* -------------------------------------------------------- order codes -- */

/* Ranks of the base, with the numbers that its words have now. */
static bool renumber_order_codes(struct making *making,
                                 const struct order_codes *from,
                                 struct order_codes *to)
{
    uint32_t count = from->order_codes
                         ? from->count
                         : making->params->base->dictionary->count;
    i32 *order_codes = arena_alloc_paged(
        &making->table->arena, (count + (size_t)1) * sizeof *order_codes);
    if (order_codes == NULL)
        return false;
    for (uint32_t i = 0; i < count && !stop_at(i); i++)
        order_codes[i] =
            (i32)making
                ->renumbered[from->order_codes ? (uint32_t)from->order_codes[i]
                                               : i];
    *to = (struct order_codes){ .order_codes = order_codes, .count = count };
    return true;
}

static bool is_left_out(const struct dictionary_base *base, size_t place)
{
    return base->left_out != NULL && base->left_out[place / base->inputs];
}

/* The place of the same input in the morsel before, of those that have words;
 * `place` itself where there is none. */
static size_t place_before(const struct dictionary_base *base, size_t place)
{
    size_t before = place;
    while (before >= base->inputs) {
        before -= base->inputs;
        if (!is_left_out(base, before))
            return before;
    }
    return place;
}

/* Morsels that share an input's order codes in the base share them here, too,
 * where they are neighbours. */
static bool make_order_codes(struct making *making)
{
    const struct dictionary_base *base = making->params->base;
    size_t count = base->morsels * base->inputs;
    making->table->order_codes = base->order_codes;
    if (making->renumbered == NULL && making->table->constants == NULL)
        return true;
    struct order_codes *order_codes =
        arena_alloc(&making->table->arena, (count + 1) * sizeof *order_codes);
    making->table->order_codes = order_codes;
    for (size_t i = 0; order_codes != NULL && i < count; i++) {
        if (!base->is_text[i % base->inputs] || is_left_out(base, i))
            continue;
        size_t last = place_before(base, i);
        if (words_compared(making, (unsigned)(i % base->inputs))) {
            if (!word_places_room(making, i, &order_codes[i]))
                return false;
        } else if (base->apart[i % base->inputs] != NULL
                   || making->renumbered == NULL)
            order_codes[i] = base->order_codes[i];
        else if (last != i
                 && base->order_codes[last].order_codes
                        == base->order_codes[i].order_codes)
            order_codes[i] = order_codes[last];
        else if (!renumber_order_codes(making, &base->order_codes[i],
                                       &order_codes[i]))
            return false;
    }
    if (order_codes != NULL && making->table->constants != NULL)
        word_places(making, order_codes);
    return order_codes != NULL;
}

/* Bytes of the values of a morsel's own words. */
static u64 own_bytes(const struct making *making, size_t morsel)
{
    const struct run_dictionary *table = making->table;
    const struct order_codes *order_codes =
        &table->order_codes[morsel * table->base->inputs];
    u64 size = 0;
    for (unsigned i = 0; i < making->pack.lookup_count; i++) {
        const struct run_lookup *lookup = &making->lookups[i];
        if (lookup->own > 0)
            size += own_table_size(lookup->width,
                                   order_codes[lookup->own - 1].count);
    }
    return size;
}

/* The most bytes that the order codes of a morsel take, and values of its own
 * words; notes whether any code is not its number. */
static u64 order_codes_bytes(const struct making *making)
{
    struct run_dictionary *table = making->table;
    u64 most = 0;
    for (size_t morsel = 0; morsel < table->base->morsels; morsel++) {
        u64 size = 0;
        for (unsigned i = 0; i < table->base->inputs; i++) {
            const struct order_codes *codes =
                &table->order_codes[morsel * table->base->inputs + i];
            size += order_codes_size(codes);
            table->has_order_codes |= codes->count > 0 || codes->before > 0;
        }
        size += own_bytes(making, morsel);
        most = size > most ? size : most;
    }
    return most;
}

struct dictionary *run_dictionary_words(const struct run_dictionary *table,
                                        unsigned result)
{
    int input = table->shown_inputs != NULL ? table->shown_inputs[result] : -1;
    if (input < 0 || !table->base->shown[input])
        return table->dictionary;
    assert(table->base->apart[input]->shown != NULL);
    return table->base->apart[input]->shown;
}

void run_dictionary_range(const struct run_dictionary *table, size_t morsel,
                          unsigned input, int64_t *low, int64_t *high)
{
    assert(morsel < table->base->morsels && input < table->base->inputs);
    size_t place = morsel * table->base->inputs + input;
    const struct order_codes *order_codes = &table->order_codes[place];
    uint32_t count = table->base->counts[place];
    if (count == 0)
        return;
    bool listed = order_codes->order_codes != NULL;
    *low = listed ? order_codes->order_codes[0] : (i64)order_codes->before;
    *high = listed ? order_codes->order_codes[count - 1] : *low + count - 1;
}

const struct order_codes *
run_dictionary_codes(const struct run_dictionary *table, size_t morsel)
{
    assert(morsel < table->base->morsels);
    return table->has_order_codes
               ? &table->order_codes[morsel * table->base->inputs]
               : NULL;
}

/* ---------------------------------------------------------------- init -- */

/* Notes which words apart the registers hold (word table rule 3). */
static bool find_looked_up(struct making *making)
{
    const struct program *program = making->params->program;
    making->looked_up =
        arena_alloc(&making->table->arena, (program->registers + (size_t)1)
                                               * sizeof *making->looked_up);
    for (size_t pc = 0; making->looked_up != NULL && pc < program->code.count;
         pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        if ((in->op == OP_COLUMN_WORD || in->op == OP_ROWID_WORD) && in->c == 0)
            making->looked_up[in->a] =
                making->params->base->apart[making->pack.code[pc].b];
    }
    return making->looked_up != NULL;
}

/* Packs the program, and makes room for the values of its slots. */
static enum vdbq_status find_slots(struct making *making)
{
    struct arena *arena = &making->table->arena;
    enum vdbq_status status = program_pack(making->params->program, arena,
                                           &making->pack, making->error);
    if (status != VDBQ_OK)
        return status;
    making->slots = arena_alloc(arena, (making->pack.slot_count + 1)
                                           * sizeof *making->slots);
    return making->slots != NULL ? VDBQ_OK : error_no_memory(making->error);
}

/* Of a program without words: the values of its parameters. */
static enum vdbq_status make_numbers(struct making *making)
{
    enum vdbq_status status = find_slots(making);
    if (status != VDBQ_OK)
        return status;
    assert(run_dictionary_no_words(making->params->program));
    fill_slots(making);
    making->table->values = (struct run_values){ .slots = making->slots };
    return VDBQ_OK;
}

/* All in order: texts may still come before the tables are written. */
static enum vdbq_status make(struct making *making)
{
    struct run_dictionary *table = making->table;
    enum vdbq_status status = find_slots(making);
    if (status != VDBQ_OK)
        return status;
    making->lookups = arena_alloc(&table->arena, (making->pack.lookup_count + 1)
                                                     * sizeof *making->lookups);
    if (making->lookups == NULL || !find_looked_up(making))
        return error_no_memory(making->error);
    if (!add_build(making))
        return stop_or_no_memory(making->error);
    if (!word_constants(making))
        return stop_or_no_memory(making->error);
    status = add_constants(making);
    if (status == VDBQ_OK)
        status = word_call_all(making);
    if (status == VDBQ_OK)
        status = word_tables(making);
    if (status != VDBQ_OK)
        return status;
    fill_slots(making);
    table->shown_inputs = making->pack.shown_inputs;
    if (!make_order_codes(making) || !make_build_order_codes(making)
        || stop_asked())
        return stop_or_no_memory(making->error);
    table->values =
        (struct run_values){ .slots = making->slots,
                             .lookups = making->lookups,
                             .order_codes_bytes = order_codes_bytes(making) };
    return VDBQ_OK;
}

enum vdbq_status run_dictionary_init(struct run_dictionary *table,
                                     const struct run_dictionary_params *params,
                                     struct error *error)
{
    assert(params->program != NULL);
    struct making making = { .table = table,
                             .params = params,
                             .calls = VECTOR(struct call),
                             .error = error };
    *table = (struct run_dictionary){ 0 };
    if (params->base == NULL)
        return make_numbers(&making);
    table->base = dictionary_base_hold(params->base);
    table->dictionary = dictionary_hold(params->base->dictionary);
    enum vdbq_status status = make(&making);
    vector_finish(&making.calls);
    return status;
}

void run_dictionary_finish(struct run_dictionary *table)
{
    dictionary_release(table->dictionary);
    dictionary_release(table->constants);
    dictionary_base_release(table->base);
    arena_finish(&table->arena);
    *table = (struct run_dictionary){ 0 };
}
