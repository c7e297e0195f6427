/* SPDX-License-Identifier: MIT */
/*
 * Lookup tables: one for each opcode and call, with a value for each word. A
 * call that gives numbers is computed here, once for all its tables.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/dictionary/device_words.h"
#include "exec/dictionary/run_dictionary_inner.h"
#include "exec/dictionary/words_call.h"
#include "exec/launch/column_input.h"

enum { CALL_ROWS = 16 /* that one call takes as long as */ };

/* Filling the tables of a call, words shared out to threads. */
struct filling {
    const struct call *call;
    struct word_list words;
    unsigned threads;
    char *at_once;  /* values of many words at once; NULL: of each alone */
    unsigned width; /* of such a value */
    uint32_t *bits; /* that the device set; NULL: it was not asked */
    bool starved[PARALLEL_THREADS_MAX]; /* of a thread: there was no memory */
};

/* Puts what a call gives for one word in one of its tables; what it does not give
 * is 0. */
static void put_value(const struct call_table *table, uint32_t word,
                      enum vdbq_status status,
                      const struct function_value *value)
{
    bool given = status == VDBQ_OK && !value->null;
    char *to = table->values + (size_t)table->width * word;
    int32_t narrow = given ? (int32_t)value->integer : 0;
    if (table->op == OP_LOOKUP_NULL)
        narrow = status == VDBQ_OK && value->null;
    if (table->op == OP_LOOKUP_FAILS)
        narrow = status != VDBQ_OK;
    if (table->op == OP_LOOKUP_I64 && given)
        memcpy(to, &value->integer, sizeof value->integer);
    else if (table->op == OP_LOOKUP_F64 && given)
        memcpy(to, &value->real, sizeof value->real);
    else if (table->width == 1)
        *to = (char)narrow;
    else if (table->width == sizeof narrow)
        memcpy(to, &narrow, sizeof narrow);
}

/* The same in all of them. */
static void put_result(const struct call *call, uint32_t word,
                       enum vdbq_status status,
                       const struct function_value *value)
{
    for (unsigned i = 0; i < call->table_count; i++)
        put_value(&call->tables[i], word, status, value);
}

/* What one thread works with. */
struct working {
    const struct filling *filling;
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX];
    struct arena arena;   /* of texts on the way */
    struct error refused; /* why a call fails, which nobody asks */
    bool starved;         /* there was no memory */
};

/* Computes the call for a word, and puts it into its tables. */
static void compute_word(struct working *working, uint32_t word,
                         struct vdbq_text text)
{
    const struct function_lookup *lookup = &working->filling->call->lookup;
    struct function_value value;
    enum vdbq_status status =
        function_lookup_call(lookup, working->arguments, text, &working->arena,
                             &value, &working->refused);
    put_result(working->filling->call, word, status, &value);
    arena_empty(&working->arena);
    working->starved = status == VDBQ_NO_MEMORY;
}

/* Computes the call for words [first, end) of the list, each. */
static void compute_list(struct working *working, uint32_t first, uint32_t end)
{
    uint64_t since = 0;
    size_t part = 0;
    for (uint32_t i = first;
         i < end && !working->starved && !stop_after(&since, CALL_ROWS); i++)
        compute_word(working, i,
                     word_list_text(&working->filling->words, i, &part));
}

/* Computes the call for words [first, end) of the list, dictionary by dictionary. */
static void compute_at_once(const struct filling *filling, uint32_t first,
                            uint32_t end)
{
    const struct word_list *list = &filling->words;
    for (size_t i = 0; i < list->count; i++) {
        uint32_t from = list->firsts[i], to = list->firsts[i + 1];
        uint32_t low = first > from ? first : from, high = end < to ? end : to;
        if (low < high)
            words_call(&filling->call->lookup, list->parts[i], low - from,
                       high - from,
                       filling->at_once + (size_t)filling->width * from);
    }
}

/* Computes a call that gives numbers for the words of one thread. */
static void compute_share(void *context, unsigned share)
{
    struct filling *filling = context;
    const struct function_lookup *lookup = &filling->call->lookup;
    uint64_t count = word_list_count(&filling->words);
    uint32_t first = (uint32_t)(count * share / filling->threads);
    uint32_t end = (uint32_t)(count * (share + 1) / filling->threads);
    struct working working = { .filling = filling };
    memcpy(working.arguments, lookup->arguments, sizeof working.arguments);
    if (filling->at_once != NULL)
        compute_at_once(filling, first, end);
    else
        compute_list(&working, first, end);
    filling->starved[share] = working.starved;
    arena_finish(&working.arena);
}

/* The table that alone is filled by a call which is computed for many words at once,
 * whose others stay 0; NULL: the call is none, or its words are not in one place. */
static char *at_once_of(const struct filling *filling)
{
    const struct call *call = filling->call;
    if (filling->width == 0)
        return NULL;
    for (size_t i = 0; i < filling->words.count; i++)
        if (filling->words.parts[i]->parts != NULL)
            return NULL;
    for (unsigned i = 0; i < call->table_count; i++)
        if ((call->tables[i].op == OP_LOOKUP_I32
             || call->tables[i].op == OP_LOOKUP_I64)
            && call->tables[i].width == filling->width)
            return call->tables[i].values;
    return NULL;
}

/* The number now of word `i` of a share. */
static uint32_t word_of(const struct call *call, const struct call_share *share,
                        uint32_t i)
{
    uint32_t word = share->first + i;
    return call->places != NULL ? call->places[word] : word;
}

/* Puts what a call that gives texts has for the words of a share into a table. */
static void put_texts(const struct call *call, const struct call_share *share,
                      const struct call_table *table)
{
    for (uint32_t i = 0; i < share->count && !stop_at(i); i++) {
        uint32_t code = share->codes[i];
        struct function_value value = { .null = code == CALL_NULL };
        if (code < share->numbered)
            value.integer = share->numbers[code];
        put_value(table, word_of(call, share, i),
                  code == CALL_FAILS ? VDBQ_RANGE : VDBQ_OK, &value);
    }
}

/* The same of their numbers alone, as nearly all tables have. */
static void put_numbers(const struct call *call, const struct call_share *share,
                        const struct call_table *table)
{
    uint32_t *numbers = (uint32_t *)(void *)table->values;
    assert(table->op == OP_LOOKUP_WORD && table->width == sizeof *numbers);
    for (uint32_t i = 0; i < share->count && !stop_at(i); i++) {
        uint32_t code = share->codes[i];
        numbers[word_of(call, share, i)] =
            code < share->numbered ? share->numbers[code] : 0;
    }
}

/* Puts the numbers of texts that a share of the words has. */
static void put_share(void *context, unsigned number)
{
    const struct filling *filling = context;
    const struct call *call = filling->call;
    for (unsigned i = 0; i < call->table_count; i++)
        (call->tables[i].op == OP_LOOKUP_WORD ? put_numbers : put_texts)(
            call, &call->shares[number], &call->tables[i]);
}

/* 1 + the input whose own words a call is for; 0: it is for all, or for those that
 * are shown, whose numbers stay from launch to launch. */
static unsigned own_of(const struct making *making, const struct call *call)
{
    const struct dictionary_base *base = making->params->base;
    for (unsigned i = 0; call->looked_up != NULL && i < base->inputs; i++)
        if (base->apart[i] == call->looked_up && !base->shown[i])
            return 1 + i;
    return 0;
}

/* ------------------------------------------------------------- device -- */

/* Puts what the device said of a share of the words: a set bit for each that the
 * call gives 1 for. */
static void put_bits(void *context, unsigned share)
{
    const struct filling *filling = context;
    const struct function_value one = { .integer = 1 };
    uint64_t count = (word_list_count(&filling->words) + UINT64_C(31)) / 32;
    uint64_t end = count * (share + 1) / filling->threads;
    for (uint64_t at = count * share / filling->threads; at < end; at++)
        for (uint32_t bits = filling->bits[at]; bits != 0; bits &= bits - 1)
            put_result(filling->call,
                       (uint32_t)(at * 32 + (unsigned)__builtin_ctz(bits)),
                       VDBQ_OK, &one);
}

/* Asks the device; false: it is not worth it, or the device has not done it, and
 * then the host asks, which says of memory itself and of who is to stop. */
static bool ask_device(const struct making *making, const struct call *call,
                       struct filling *filling)
{
    struct words_asked asked = { .where = making->params->where,
                                 .base = making->params->base };
    unsigned own = own_of(making, call);
    struct words_pattern pattern;
    struct error ignored;
    if (asked.where == NULL || own == 0
        || !function_lookup_literals(&call->lookup, &pattern))
        return false;
    asked.input = own - 1;
    asked.column = column_input_number(asked.where->table,
                                       making->pack.inputs[asked.input].column);
    if (!device_words_pays(&asked))
        return false;
    filling->bits = arena_alloc_paged(
        &making->table->arena, (word_list_count(&filling->words) + UINT64_C(31))
                                   / 32 * sizeof *filling->bits);
    return filling->bits != NULL
           && device_words_ask(&asked, &pattern, filling->bits, &ignored)
                  == VDBQ_OK;
}

/* Fills the tables of a call; false: no memory. */
static bool fill_tables(const struct making *making, const struct call *call)
{
    struct word_list_room room;
    struct filling filling = { .call = call,
                               .words = word_call_words(making, call, &room) };
    bool filled = true;
    if (call->lookup.function->result == VDBQ_TEXT) {
        parallel_run(call->share_count, put_share, &filling);
        return true;
    }
    filling.width = function_words_width(&call->lookup);
    filling.at_once = at_once_of(&filling);
    filling.threads = parallel_threads(making->params->threads,
                                       word_list_count(&filling.words));
    parallel_run(filling.threads,
                 ask_device(making, call, &filling) ? put_bits : compute_share,
                 &filling);
    for (unsigned i = 0; i < filling.threads; i++)
        filled &= !filling.starved[i];
    return filled;
}

/* Bytes of a value that an instruction looks up. */
static unsigned width_of(const struct instruction *in, const struct call *call)
{
    bool flag = in->op == OP_LOOKUP_NULL || in->op == OP_LOOKUP_FAILS
                || (in->op == OP_LOOKUP_I32
                    && call->lookup.function->result == VDBQ_BOOLEAN);
    return flag ? 1 : type_width(op_facts(in->op)->writes);
}

/* The values that a call has for an opcode by now; NULL: none. Inputs whose words
 * are not apart share them. */
static char *values_there(const struct call *call, enum opcode op)
{
    for (unsigned i = 0; i < call->table_count; i++)
        if (call->tables[i].op == op)
            return call->tables[i].values;
    return NULL;
}

/* Makes a table for an instruction that is the first to look it up. */
static bool make_table(struct making *making, const struct instruction *in,
                       struct run_lookup *lookup)
{
    struct call *call = word_call_find(making, in);
    struct word_list_room room;
    struct word_list words = word_call_words(making, call, &room);
    uint32_t count = word_list_count(&words);
    unsigned width = width_of(in, call);
    char *values = values_there(call, in->op);
    if (values == NULL) {
        values = arena_alloc_paged(&making->table->arena,
                                   width * ((size_t)count + 1));
        assert(call->table_count < CALL_TABLES_MAX);
        call->tables[call->table_count++] = (struct call_table){
            .op = in->op, .width = width, .values = values
        };
    }
    *lookup = (struct run_lookup){ .values = values,
                                   .width = width,
                                   .count = count,
                                   .own = own_of(making, call) };
    return values != NULL;
}

enum vdbq_status word_tables(struct making *making)
{
    for (unsigned i = 0; i < making->pack.slot_count; i++) {
        const struct program_slot *slot = &making->pack.slots[i];
        const struct instruction *in =
            program_at(making->params->program, slot->pc);
        assert(op_facts(in->op)->form != FORM_LOOKUP
               || slot->place < making->pack.lookup_count);
        if (op_facts(in->op)->form == FORM_LOOKUP
            && !make_table(making, in, &making->lookups[slot->place]))
            return error_no_memory(making->error);
    }
    for (size_t i = 0; i < making->calls.count; i++)
        if (!fill_tables(making, vector_at(&making->calls, i)))
            return error_no_memory(making->error);
    return VDBQ_OK;
}
