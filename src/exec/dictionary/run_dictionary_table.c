/* SPDX-License-Identifier: MIT */
/*
 * Lookup tables: one for each opcode and call, with a value for each word. A
 * call that gives numbers is computed here, once for all its tables.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/dictionary/run_dictionary_inner.h"

/* Filling the tables of a call, words shared out to threads. */
struct filling {
    const struct call *call;
    const struct dictionary *dictionary; /* the words */
    unsigned threads;
    bool starved[PARALLEL_THREADS_MAX]; /* of a thread: there was no memory */
};

/* Puts what a call gives for one word in all its tables; what it does not give
 * is 0. */
static void put_result(const struct call *call, uint32_t word,
                       enum vdbq_status status,
                       const struct function_value *value)
{
    bool given = status == VDBQ_OK && !value->null;
    for (unsigned i = 0; i < call->table_count; i++) {
        const struct call_table *table = &call->tables[i];
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
        else if (table->width == sizeof narrow)
            memcpy(to, &narrow, sizeof narrow);
    }
}

/* Computes a call that gives numbers for the words of one thread. */
static void compute_share(void *context, unsigned share)
{
    struct filling *filling = context;
    const struct function_lookup *lookup = &filling->call->lookup;
    uint64_t count = filling->dictionary->count;
    uint64_t end = count * (share + 1) / filling->threads;
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX], value;
    struct arena arena = { 0 };
    struct error refused = { 0 };
    enum vdbq_status status = VDBQ_OK;
    memcpy(arguments, lookup->arguments, sizeof arguments);
    for (uint64_t i = count * share / filling->threads;
         i < end && status != VDBQ_NO_MEMORY; i++) {
        arguments[lookup->open].text =
            dictionary_text(filling->dictionary, (uint32_t)i);
        status = function_call(lookup->function, arguments, lookup->count,
                               &arena, &value, &refused);
        put_result(filling->call, (uint32_t)i, status, &value);
    }
    filling->starved[share] = status == VDBQ_NO_MEMORY;
    arena_finish(&arena);
}

/* Puts the numbers of texts that a share of the words has. */
static void put_share(void *context, unsigned number)
{
    const struct filling *filling = context;
    const struct call *call = filling->call;
    const struct call_share *share = &call->shares[number];
    for (uint32_t i = 0; i < share->count; i++) {
        uint32_t word = share->first + i, code = share->codes[i];
        struct function_value value = { .null = code == CALL_NULL };
        if (code < share->numbered)
            value.integer = share->numbers[code];
        put_result(call, call->places != NULL ? call->places[word] : word,
                   code == CALL_FAILS ? VDBQ_RANGE : VDBQ_OK, &value);
    }
}

/* Fills the tables of a call; false: no memory. */
static bool fill_tables(const struct making *making, const struct call *call)
{
    struct filling filling = {
        .call = call,
        .dictionary = call->looked_up != NULL ? call->looked_up
                                              : making->table->dictionary,
    };
    bool filled = true;
    if (call->lookup.function->result == VDBQ_TEXT) {
        parallel_run(call->share_count, put_share, &filling);
        return true;
    }
    filling.threads =
        parallel_threads(making->params->threads, filling.dictionary->count);
    parallel_run(filling.threads, compute_share, &filling);
    for (unsigned i = 0; i < filling.threads; i++)
        filled &= !filling.starved[i];
    return filled;
}

/* Makes a table for an instruction that is the first to look it up. */
static bool make_table(struct making *making, const struct instruction *in,
                       struct run_lookup *lookup)
{
    struct call *call = word_call_find(making, in);
    const struct dictionary *words =
        call->looked_up != NULL ? call->looked_up : making->table->dictionary;
    unsigned width = type_width(op_facts(in->op)->writes);
    char *values =
        arena_alloc(&making->table->arena, width * ((size_t)words->count + 1));
    assert(call->table_count < CALL_TABLES_MAX);
    call->tables[call->table_count++] =
        (struct call_table){ .op = in->op, .width = width, .values = values };
    *lookup = (struct run_lookup){ .values = values,
                                   .width = width,
                                   .count = words->count };
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
