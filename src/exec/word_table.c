/* SPDX-License-Identifier: MIT */
/*
 * Makes the words of a run. Word table rules:
 *
 * 1. The words grow in steps: first by those of inner rows, by constants and
 *    parameters, then by the texts that calls give, in the order of
 *    instructions. A call is computed
 *    for all words that are there before it: what a register that it reads
 *    may hold was there, since the register is written before it is read.
 * 2. Each growth gives every word a new number; the order never changes. All
 *    that holds numbers follows: see renumber().
 */
#include "exec/word_table.h"

#include <string.h>

#include "program/function.h"

/* A different call and what it gives, for each word. */
struct call {
    const char *text;
    int operand;       /* register that it was computed for last    */
    struct function_lookup lookup;
    bool *fails, *null;
    int64_t *integers; /* numbers where the result is a text        */
    double *reals;
    uint32_t count;    /* of the words                              */
    bool pending;      /* texts have no numbers yet: take_texts()   */
};

struct making {
    struct word_table *table;
    const struct word_table_params *params;
    struct program_pack pack;
    struct vector calls;    /* of struct call                             */
    uint32_t **inner;       /* numbers of the words of inner columns now  */
    uint32_t *renumbered;   /* base's numbers now; NULL: they are the same */
    i64 *slots;
    struct run_lookup *lookups;
    struct error *error;
};

/* Whether a program leaves something open in an instruction. */
static bool is_open(const struct instruction *in)
{
    enum op_form form = op_facts(in->op)->form;
    return form == FORM_TEXT || form == FORM_PARAMETER ||
           form == FORM_LOOKUP || in->op == OP_COLUMN_WORD ||
           in->op == OP_ROWID_WORD || in->op == OP_COLUMN_AT_WORD ||
           in->op == OP_PROBE_WORD;
}

bool word_table_needed(const struct program *program)
{
    for (size_t pc = 0; pc < program->code.count; pc++)
        if (is_open(program_at(program, (int)pc)))
            return true;
    return false;
}

/* -------------------------------------------------------------- growth -- */

/* An array of items as the words are numbered now; words that were not there
 * before have 0. NULL: no memory. */
static void *moved(struct making *making, const void *items, size_t width,
                   uint32_t count, const uint32_t *numbers, uint32_t now)
{
    char *to = arena_alloc(&making->table->arena, width * ((size_t)now + 1));
    for (uint32_t i = 0; to != NULL && i < count; i++)
        memcpy(to + width * numbers[i], (const char *)items + width * i,
               width);
    return to;
}

static bool renumber_call(struct making *making, struct call *call,
                          const uint32_t *numbers, uint32_t now)
{
    if (call->lookup.function->result == VDBQ_TEXT && !call->pending)
        for (uint32_t i = 0; i < call->count; i++)
            if (!call->null[i] && !call->fails[i])
                call->integers[i] = numbers[call->integers[i]];
    call->fails = moved(making, call->fails, sizeof(bool), call->count,
                        numbers, now);
    call->null = moved(making, call->null, sizeof(bool), call->count, numbers,
                       now);
    call->integers = moved(making, call->integers, sizeof(int64_t),
                           call->count, numbers, now);
    call->reals = moved(making, call->reals, sizeof(double), call->count,
                        numbers, now);
    call->count = now;
    return call->fails && call->null && call->integers && call->reals;
}

/* Whether a column of inner rows is the first one with its words. */
static bool is_first(const struct making *making, unsigned column)
{
    struct words *const *inner = making->params->inner;
    unsigned i = 0;
    while (inner[i] != inner[column])
        i++;
    return i == column && inner[column] != NULL;
}

static void renumber_inner(const struct making *making,
                           const uint32_t *numbers)
{
    for (unsigned i = 0; i < making->params->inner_count; i++) {
        if (making->inner[i] == NULL || !is_first(making, i))
            continue;
        for (uint32_t k = 0; k < making->params->inner[i]->count; k++)
            making->inner[i][k] = numbers[making->inner[i][k]];
    }
}

/* Word i of those before has number numbers[i] now (word table rule 2). */
static bool renumber(struct making *making, const uint32_t *numbers,
                     uint32_t now)
{
    renumber_inner(making, numbers);
    uint32_t count = making->params->base->words->count;
    bool first = making->renumbered == NULL;
    if (first)
        making->renumbered = arena_alloc(&making->table->arena,
                                         (count + (size_t)1) * sizeof(uint32_t));
    if (making->renumbered == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        making->renumbered[i] = numbers[first ? i : making->renumbered[i]];
    for (size_t i = 0; i < making->calls.count; i++)
        if (!renumber_call(making, vector_at(&making->calls, i), numbers, now))
            return false;
    return true;
}

/* Whether all texts are words already; then `numbers` has theirs. */
static bool are_there(const struct words *words, const struct vdbq_text *texts,
                      size_t count, uint32_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i].bytes == NULL)
            numbers[i] = 0;
        else if (!words_find(words, texts[i], &numbers[i]))
            return false;
    return true;
}

/* Joins more words to those that are there. */
static bool join(struct making *making, struct words *more,
                 uint32_t *more_numbers)
{
    struct word_table *table = making->table;
    struct words *parts[2] = { table->words, more };
    uint32_t *numbers[2] = { NULL, more_numbers };
    numbers[0] = memory_resize(NULL, (table->words->count + (size_t)1) *
                                         sizeof **numbers);
    struct words *all =
        numbers[0] != NULL ? words_join(parts, 2, numbers) : NULL;
    bool same = all != NULL && all->count == table->words->count;
    bool joined =
        all != NULL && (same || renumber(making, numbers[0], all->count));
    memory_release(numbers[0]);
    words_release(joined ? table->words : all);
    if (joined)
        table->words = all;
    return joined;
}

/* Adds texts to the words and gives their numbers; those without bytes are
 * none. */
static bool add_words(struct making *making, const struct vdbq_text *texts,
                      size_t count, uint32_t *numbers)
{
    if (are_there(making->table->words, texts, count, numbers))
        return true;
    struct words *more = words_make(texts, count, numbers);
    uint32_t *places = more == NULL
                           ? NULL
                           : memory_resize(NULL, (more->count + (size_t)1) *
                                                     sizeof *places);
    bool added = places != NULL && join(making, more, places);
    for (size_t i = 0; added && i < count; i++)
        if (texts[i].bytes != NULL)
            numbers[i] = places[numbers[i]];
    memory_release(places);
    words_release(more);
    return added;
}

/* --------------------------------------------------------- inner rows -- */

/* Adds the words of columns of inner rows. */
static bool add_inner(struct making *making)
{
    struct arena *arena = &making->table->arena;
    unsigned count = making->params->inner_count;
    making->inner = arena_alloc(arena, (count + 1) * sizeof *making->inner);
    for (unsigned i = 0; making->inner != NULL && i < count; i++) {
        struct words *words = making->params->inner[i];
        if (words == NULL || !is_first(making, i))
            continue;
        uint32_t *numbers =
            arena_alloc(arena, (words->count + (size_t)1) * sizeof *numbers);
        if (numbers == NULL || !join(making, words, numbers))
            return false;
        making->inner[i] = numbers;
    }
    return making->inner != NULL;
}

/* Notes what the codes of columns of inner rows stand for. */
static bool make_inner_ranks(struct making *making)
{
    struct words *const *inner = making->params->inner;
    unsigned count = making->params->inner_count;
    struct run_ranks *ranks =
        arena_alloc(&making->table->arena, (count + 1) * sizeof *ranks);
    making->table->inner_ranks = ranks;
    for (unsigned i = 0; ranks != NULL && i < count; i++) {
        unsigned first = 0;
        while (inner[first] != inner[i])
            first++;
        uint32_t words = inner[i] != NULL ? inner[i]->count : 0;
        const uint32_t *numbers = making->inner[first];
        if (words > 0 && numbers[words - 1] != words - 1)
            ranks[i] = (struct run_ranks){ .ranks = (const i32 *)numbers,
                                           .count = words };
    }
    return ranks != NULL;
}

/* ----------------------------------------------------------- constants -- */

static const struct parameter *parameter_of(const struct making *making,
                                            const struct instruction *in)
{
    static const struct parameter none = { .null = true };
    return (unsigned)in->b < making->params->parameter_count
               ? &making->params->parameters[in->b]
               : &none;
}

/* The text of a constant or a parameter; without bytes: it has none. */
static struct vdbq_text constant_text(const struct making *making,
                                      const struct instruction *in)
{
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

static i64 bits_of_real(double real)
{
    i64 bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
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
        return bits_of_real(real ? parameter->real
                                 : (double)parameter->integer);
    default:
        return real ? 0 : parameter->integer;
    }
}

static enum vdbq_status add_constants(struct making *making)
{
    struct arena *arena = &making->table->arena;
    unsigned count = making->pack.slot_count;
    struct vdbq_text *texts = arena_alloc(arena, (count + 1) * sizeof *texts);
    uint32_t *numbers = arena_alloc(arena, (count + 1) * sizeof *numbers);
    if (texts == NULL || numbers == NULL)
        return error_no_memory(making->error);
    for (unsigned i = 0; i < count; i++)
        texts[i] = constant_text(
            making, program_at(making->params->program, making->pack.slots[i].pc));
    return add_words(making, texts, count, numbers)
               ? VDBQ_OK
               : error_no_memory(making->error);
}

/* Writes the slots of constants and parameters, once all words are there. */
static void fill_slots(struct making *making)
{
    for (unsigned i = 0; i < making->pack.slot_count; i++) {
        const struct instruction *in = program_at(making->params->program,
                                                  making->pack.slots[i].pc);
        struct vdbq_text text = constant_text(making, in);
        uint32_t number = 0;
        if (text.bytes != NULL)
            words_find(making->table->words, text, &number);
        making->slots[i] = op_facts(in->op)->form == FORM_PARAMETER &&
                                   in->op != OP_PARAMETER_WORD
                               ? parameter_bits(making, in)
                               : (i64)number;
    }
}

/* --------------------------------------------------------------- calls -- */

static struct call *find_call(const struct making *making, const char *text)
{
    for (size_t i = 0; i < making->calls.count; i++) {
        struct call *call = vector_at(&making->calls, i);
        if (strcmp(call->text, text) == 0)
            return call;
    }
    return NULL;
}

static bool call_room(struct making *making, struct call *call, uint32_t count)
{
    struct arena *arena = &making->table->arena;
    size_t room = (size_t)count + 1;
    call->fails = arena_alloc(arena, room * sizeof *call->fails);
    call->null = arena_alloc(arena, room * sizeof *call->null);
    call->integers = arena_alloc(arena, room * sizeof *call->integers);
    call->reals = arena_alloc(arena, room * sizeof *call->reals);
    call->count = count;
    return call->fails && call->null && call->integers && call->reals;
}

/* Computes the call for one word. */
static enum vdbq_status compute(struct making *making, struct call *call,
                                uint32_t word, struct arena *arena,
                                struct vdbq_text *text)
{
    struct function_lookup *lookup = &call->lookup;
    struct function_value value;
    struct error refused = { 0 };
    lookup->arguments[lookup->open].text =
        words_text(making->table->words, word);
    enum vdbq_status status =
        function_call(lookup->function, lookup->arguments, lookup->count,
                      arena, &value, &refused);
    if (status == VDBQ_NO_MEMORY)
        return error_no_memory(making->error);
    call->fails[word] = status != VDBQ_OK;
    call->null[word] = status == VDBQ_OK && value.null;
    if (status != VDBQ_OK || value.null)
        return VDBQ_OK;
    call->integers[word] = value.integer;
    call->reals[word] = value.real;
    *text = value.text;
    return VDBQ_OK;
}

/* Makes the texts that a call gave words, and their numbers its values. Until
 * then its values are places in `texts`, which follow as all numbers do. */
static enum vdbq_status take_texts(struct making *making, size_t number,
                                   const struct vdbq_text *texts)
{
    struct call *call = vector_at(&making->calls, number);
    uint32_t count = call->count;
    uint32_t *numbers =
        memory_resize(NULL, (count + (size_t)1) * sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        call->integers[i] = i;
    call->pending = true;
    bool added = numbers != NULL && add_words(making, texts, count, numbers);
    for (uint32_t i = 0; added && i < call->count; i++)
        if (call->integers[i] < count && texts[call->integers[i]].bytes)
            call->integers[i] = numbers[call->integers[i]];
        else
            call->integers[i] = 0;
    call->pending = false;
    memory_release(numbers);
    return added ? VDBQ_OK : error_no_memory(making->error);
}

/* Computes a call for all words that are there. */
static enum vdbq_status compute_all(struct making *making, size_t number)
{
    struct arena results = { 0 };
    uint32_t count = making->table->words->count;
    struct call *call = vector_at(&making->calls, number);
    struct vdbq_text *texts =
        arena_alloc(&results, (count + (size_t)1) * sizeof *texts);
    enum vdbq_status status = VDBQ_OK;
    if (texts == NULL || !call_room(making, call, count))
        status = error_no_memory(making->error);
    for (uint32_t i = 0; i < count && status == VDBQ_OK; i++)
        status = compute(making, call, i, &results, &texts[i]);
    if (status == VDBQ_OK && call->lookup.function->result == VDBQ_TEXT)
        status = take_texts(making, number, texts);
    arena_finish(&results);
    return status;
}

/* The number of an instruction's call, which may be a new one. */
static enum vdbq_status number_call(struct making *making,
                                    const struct instruction *in,
                                    size_t *number)
{
    struct call *call = find_call(making, in->name);
    if (call != NULL) {
        *number = (size_t)(call - VECTOR_ITEMS(&making->calls, struct call));
        return VDBQ_OK;
    }
    *number = making->calls.count;
    call = vector_add(&making->calls);
    if (call == NULL)
        return error_no_memory(making->error);
    call->text = in->name;
    call->operand = -1;
    return function_lookup_read(in->name, &making->table->arena,
                                &call->lookup, making->error);
}

/* Computes the calls of all lookups. One that comes again for another
 * operand, as in upper(upper(s)), is computed again: that may be a word which
 * came in between. */
static enum vdbq_status add_calls(struct making *making)
{
    const struct program *program = making->params->program;
    enum vdbq_status status = VDBQ_OK;
    for (size_t pc = 0; pc < program->code.count && status == VDBQ_OK; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        size_t number;
        if (op_facts(in->op)->form != FORM_LOOKUP)
            continue;
        status = number_call(making, in, &number);
        struct call *call = vector_at(&making->calls, number);
        if (status != VDBQ_OK || call->operand == in->b)
            continue;
        call->operand = in->b;
        status = compute_all(making, number);
    }
    return status;
}

/* -------------------------------------------------------------- tables -- */

/* The value that an opcode looks up, for one word. */
static void put_value(const struct call *call, enum opcode op, uint32_t word,
                      char *to)
{
    i32 narrow = (i32)call->integers[word];
    if (op == OP_LOOKUP_NULL)
        narrow = call->null[word];
    if (op == OP_LOOKUP_FAILS)
        narrow = call->fails[word];
    if (op == OP_LOOKUP_I64)
        memcpy(to, &call->integers[word], sizeof call->integers[word]);
    else if (op == OP_LOOKUP_F64)
        memcpy(to, &call->reals[word], sizeof call->reals[word]);
    else
        memcpy(to, &narrow, sizeof narrow);
}

static enum vdbq_status make_tables(struct making *making)
{
    for (unsigned i = 0; i < making->pack.slot_count; i++) {
        const struct program_slot *slot = &making->pack.slots[i];
        const struct instruction *in =
            program_at(making->params->program, slot->pc);
        if (op_facts(in->op)->form != FORM_LOOKUP)
            continue;
        const struct call *call = find_call(making, in->name);
        unsigned width = type_width(op_facts(in->op)->writes);
        char *values = arena_alloc(&making->table->arena,
                                   width * ((size_t)call->count + 1));
        if (values == NULL)
            return error_no_memory(making->error);
        for (uint32_t word = 0; word < call->count; word++)
            put_value(call, in->op, word, values + (size_t)width * word);
        making->lookups[slot->place] = (struct run_lookup){
            .values = values, .width = width, .count = call->count
        };
    }
    return VDBQ_OK;
}

/* --------------------------------------------------------------- ranks -- */

/* Ranks of the base, with the numbers that its words have now. */
static bool renumber_ranks(struct making *making, const struct run_ranks *from,
                           struct run_ranks *to)
{
    uint32_t count = from->ranks ? from->count
                                 : making->params->base->words->count;
    i32 *ranks = arena_alloc(&making->table->arena,
                             (count + (size_t)1) * sizeof *ranks);
    if (ranks == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ranks[i] = (i32)making->renumbered[from->ranks ? (uint32_t)from->ranks[i]
                                                       : i];
    *to = (struct run_ranks){ .ranks = ranks, .count = count };
    return true;
}

/* Feeds that share ranks in the base share them here, too, where they are
 * neighbours of the same feed. */
static bool make_ranks(struct making *making)
{
    const struct word_base *base = making->params->base;
    size_t count = base->chunks * base->feeds;
    making->table->ranks = base->ranks;
    if (making->renumbered == NULL)
        return true;
    struct run_ranks *ranks =
        arena_alloc(&making->table->arena, (count + 1) * sizeof *ranks);
    making->table->ranks = ranks;
    for (size_t i = 0; ranks != NULL && i < count; i++) {
        size_t last = i < base->feeds ? i : i - base->feeds;
        if (!base->is_text[i % base->feeds])
            continue;
        if (last != i && base->ranks[last].ranks == base->ranks[i].ranks)
            ranks[i] = ranks[last];
        else if (!renumber_ranks(making, &base->ranks[i], &ranks[i]))
            return false;
    }
    return ranks != NULL;
}

/* The most bytes that the ranks of a chunk take. */
static u64 ranks_size(const struct word_table *table)
{
    u64 most = 0;
    for (size_t chunk = 0; chunk < table->base->chunks; chunk++) {
        u64 size = 0;
        for (unsigned i = 0; i < table->base->feeds; i++)
            size += run_ranks_size(
                &table->ranks[chunk * table->base->feeds + i]);
        most = size > most ? size : most;
    }
    return most;
}

void word_table_range(const struct word_table *table, size_t chunk,
                      unsigned feed, int64_t *low, int64_t *high)
{
    size_t place = chunk * table->base->feeds + feed;
    const struct run_ranks *ranks = &table->ranks[place];
    uint32_t count = table->base->counts[place];
    if (count == 0)
        return;
    *low = ranks->ranks != NULL ? ranks->ranks[0] : 0;
    *high = ranks->ranks != NULL ? ranks->ranks[count - 1] : (i64)count - 1;
}

const struct run_ranks *word_table_ranks(const struct word_table *table,
                                         size_t chunk)
{
    return table->values.ranks_size > 0
               ? &table->ranks[chunk * table->base->feeds]
               : NULL;
}

/* ---------------------------------------------------------------- init -- */

static enum vdbq_status make(struct making *making)
{
    struct word_table *table = making->table;
    enum vdbq_status status = program_pack(making->params->program,
                                           &table->arena, &making->pack,
                                           making->error);
    if (status != VDBQ_OK)
        return status;
    making->slots = arena_alloc(&table->arena, (making->pack.slot_count + 1) *
                                                   sizeof *making->slots);
    making->lookups =
        arena_alloc(&table->arena, (making->pack.lookup_count + 1) *
                                       sizeof *making->lookups);
    if (making->slots == NULL || making->lookups == NULL)
        return error_no_memory(making->error);
    if (!add_inner(making))
        return error_no_memory(making->error);
    status = add_constants(making);
    if (status == VDBQ_OK)
        status = add_calls(making);
    if (status == VDBQ_OK)
        status = make_tables(making);
    if (status != VDBQ_OK)
        return status;
    fill_slots(making);
    if (!make_ranks(making) || !make_inner_ranks(making))
        return error_no_memory(making->error);
    table->values = (struct run_values){ .slots = making->slots,
                                         .lookups = making->lookups,
                                         .ranks_size = ranks_size(table) };
    return VDBQ_OK;
}

enum vdbq_status word_table_init(struct word_table *table,
                                 const struct word_table_params *params,
                                 struct error *error)
{
    struct making making = { .table = table,
                             .params = params,
                             .calls = VECTOR(struct call),
                             .error = error };
    *table = (struct word_table){ .base = word_base_hold(params->base),
                                  .words = words_hold(params->base->words) };
    enum vdbq_status status = make(&making);
    vector_finish(&making.calls);
    return status;
}

void word_table_finish(struct word_table *table)
{
    words_release(table->words);
    word_base_release(table->base);
    arena_finish(&table->arena);
    *table = (struct word_table){ 0 };
}
