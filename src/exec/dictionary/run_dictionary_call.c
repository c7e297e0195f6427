/* SPDX-License-Identifier: MIT */
/*
 * Functions of words in a run's program. Each different call is computed for
 * every word there is; the program looks up what it gave.
 */
#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "exec/dictionary/run_dictionary_inner.h"

/* The call with this text, or NULL. */
static struct call *find_call(const struct making *making, const char *text)
{
    for (size_t i = 0; i < making->calls.count; i++) {
        struct call *call = vector_at(&making->calls, i);
        if (strcmp(call->text, text) == 0)
            return call;
    }
    return NULL;
}

/* Makes room for one result an entry. */
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

/* A call's words, shared out to threads. */
struct computing {
    const struct dictionary *dictionary;
    struct call *call;
    struct vdbq_text *texts; /* one a word: results that are texts      */
    struct arena *arenas;    /* one a thread: their bytes               */
    bool *starved;           /* one a thread: there was no memory       */
    unsigned threads;
};

/* Computes the call for one word; false: no memory. Why a call fails nobody asks:
 * `refused` is room for it, which takes longer to clear than many a call. */
static bool compute(const struct computing *computing,
                    struct function_value *arguments, uint32_t word,
                    struct arena *arena, struct error *refused)
{
    const struct call *call = computing->call;
    const struct function_lookup *lookup = &call->lookup;
    struct function_value value;
    arguments[lookup->open].text = dictionary_text(computing->dictionary, word);
    enum vdbq_status status = function_call(
        lookup->function, arguments, lookup->count, arena, &value, refused);
    if (status == VDBQ_NO_MEMORY)
        return false;
    call->fails[word] = status != VDBQ_OK;
    call->null[word] = status == VDBQ_OK && value.null;
    if (status != VDBQ_OK || value.null)
        return true;
    call->integers[word] = value.integer;
    call->reals[word] = value.real;
    computing->texts[word] = value.text;
    return true;
}

/* Computes the call for the words of one thread. */
static void compute_share(void *context, unsigned share)
{
    const struct computing *computing = context;
    uint64_t count = computing->call->count;
    uint64_t end = count * (share + 1) / computing->threads;
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX];
    struct error refused = { 0 };
    bool done = true;
    memcpy(arguments, computing->call->lookup.arguments, sizeof arguments);
    for (uint64_t i = count * share / computing->threads; i < end && done; i++)
        done = compute(computing, arguments, (uint32_t)i,
                       &computing->arenas[share], &refused);
    computing->starved[share] = !done;
}

/* Computes the call for all words; false: no memory. */
static bool compute_words(struct computing *computing, unsigned threads)
{
    bool starved[PARALLEL_THREADS_MAX] = { false }, any = false;
    computing->threads = parallel_threads(threads, computing->call->count);
    computing->starved = starved;
    parallel_run(computing->threads, compute_share, computing);
    for (unsigned i = 0; i < computing->threads; i++)
        any |= starved[i];
    return !any;
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
    bool added =
        numbers != NULL && word_grow_by_texts(making, texts, count, numbers);
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
    struct arena arenas[PARALLEL_THREADS_MAX] = { 0 };
    const struct dictionary *dictionary = making->table->dictionary;
    size_t room = (size_t)dictionary->count + 1;
    struct call *call = vector_at(&making->calls, number);
    struct vdbq_text *texts = arena_alloc(&arenas[0], room * sizeof *texts);
    struct computing computing = {
        .dictionary = dictionary, .call = call, .texts = texts, .arenas = arenas
    };
    enum vdbq_status status = VDBQ_OK;
    if (texts == NULL || !call_room(making, call, dictionary->count)
        || !compute_words(&computing, making->params->threads))
        status = error_no_memory(making->error);
    if (status == VDBQ_OK && call->lookup.function->result == VDBQ_TEXT)
        status = take_texts(making, number, texts);
    for (unsigned i = 0; i < PARALLEL_THREADS_MAX; i++)
        arena_finish(&arenas[i]);
    return status;
}

/* The number of an instruction's call, which may be a new one. */
static enum vdbq_status
number_call(struct making *making, const struct instruction *in, size_t *number)
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
    return function_lookup_read(in->name, &making->table->arena, &call->lookup,
                                making->error);
}

/* A call that comes again for another
 * operand, as in upper(upper(s)), is computed again: that may be a word which
 * came in between. */
enum vdbq_status word_call_all(struct making *making)
{
    const struct program *program = making->params->program;
    enum vdbq_status status = VDBQ_OK;
    for (size_t pc = 0; pc < program->code.count && status == VDBQ_OK; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        size_t number;
        if (op_facts(in->op)->form != FORM_LOOKUP)
            continue;
        status = number_call(making, in, &number);
        if (status != VDBQ_OK)
            break;
        struct call *call = vector_at(&making->calls, number);
        if (call->operand == in->b)
            continue;
        call->operand = in->b;
        status = compute_all(making, number);
    }
    return status;
}

/* ----------------------------------------------------------- renumbering -- */

/* An array of items as the words are numbered now; words that were not there
 * before have 0. NULL: no memory. */
static void *moved(struct making *making, const void *items, size_t width,
                   uint32_t count, const uint32_t *numbers, uint32_t now)
{
    char *to = arena_alloc(&making->table->arena, width * ((size_t)now + 1));
    for (uint32_t i = 0; to != NULL && i < count; i++)
        memcpy(to + width * numbers[i], (const char *)items + width * i, width);
    return to;
}

/* The dictionary grew: results move to the entries' new places, and results
   that are texts take their new numbers. */
static bool renumber_call(struct making *making, struct call *call,
                          const uint32_t *numbers, uint32_t now)
{
    if (call->lookup.function->result == VDBQ_TEXT && !call->pending)
        for (uint32_t i = 0; i < call->count; i++)
            if (!call->null[i] && !call->fails[i])
                call->integers[i] = numbers[call->integers[i]];
    assert(now >= call->count);
    call->fails =
        moved(making, call->fails, sizeof(bool), call->count, numbers, now);
    call->null =
        moved(making, call->null, sizeof(bool), call->count, numbers, now);
    call->integers = moved(making, call->integers, sizeof(int64_t), call->count,
                           numbers, now);
    call->reals =
        moved(making, call->reals, sizeof(double), call->count, numbers, now);
    call->count = now;
    return call->fails && call->null && call->integers && call->reals;
}

bool word_call_renumber(struct making *making, const uint32_t *numbers,
                        uint32_t now)
{
    for (size_t i = 0; i < making->calls.count; i++)
        if (!renumber_call(making, vector_at(&making->calls, i), numbers, now))
            return false;
    return true;
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

enum vdbq_status word_call_tables(struct making *making)
{
    for (unsigned i = 0; i < making->pack.slot_count; i++) {
        const struct program_slot *slot = &making->pack.slots[i];
        const struct instruction *in =
            program_at(making->params->program, slot->pc);
        if (op_facts(in->op)->form != FORM_LOOKUP)
            continue;
        const struct call *call = find_call(making, in->name);
        assert(call != NULL);
        unsigned width = type_width(op_facts(in->op)->writes);
        char *values = arena_alloc(&making->table->arena,
                                   width * ((size_t)call->count + 1));
        if (values == NULL)
            return error_no_memory(making->error);
        for (uint32_t word = 0; word < call->count; word++)
            put_value(call, in->op, word, values + (size_t)width * word);
        assert(slot->place < making->pack.lookup_count);
        making->lookups[slot->place] = (struct run_lookup){
            .values = values, .width = width, .count = call->count
        };
    }
    return VDBQ_OK;
}
