/* SPDX-License-Identifier: MIT */
/*
 * Calls of lookups that give texts: each different call is computed for every
 * word there is, by several threads. The different texts of each share of the
 * words are sorted; they are joined, and become words.
 */
#include <assert.h>
#include <string.h>

#include "base/paged.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "exec/dictionary/run_dictionary_inner.h"
#include "program/letters/utf8.h"

enum {
    CALL_ROWS = 16, /* that one call takes as long as */
    ROW_BYTES = 16  /* of a text that take as long as one of these */
};

/* The call with this text, for these words, or NULL. */
static struct call *find_call(const struct making *making, const char *text,
                              const struct word_list *looked_up)
{
    for (size_t i = 0; i < making->calls.count; i++) {
        struct call *call = vector_at(&making->calls, i);
        if (call->looked_up == looked_up && strcmp(call->text, text) == 0)
            return call;
    }
    return NULL;
}

struct call *word_call_find(struct making *making, const struct instruction *in)
{
    struct call *call = find_call(making, in->name, making->looked_up[in->b]);
    assert(call != NULL);
    return call;
}

struct word_list word_call_words(const struct making *making,
                                 const struct call *call,
                                 struct word_list_room *room)
{
    return call->looked_up != NULL
               ? *call->looked_up
               : word_list_of(making->table->dictionary, room);
}

/* Its texts are words, or will never be. */
static void call_release(struct call *call)
{
    for (unsigned i = 0; i < call->share_count; i++) {
        dictionary_release(call->shares[i].dictionary);
        call->shares[i].dictionary = NULL;
    }
}

/* ----------------------------------------------------------- computing -- */

/* A call's words, shared out to threads. */
struct computing {
    struct word_list words;
    struct call *call;
};

/* Computes the call for a word; false: no memory. A
 * word without a result has a text without bytes, whose length is why. Why a
 * call fails nobody asks: `refused` is room for it, which takes longer to clear
 * than many a call. */
static bool compute(const struct computing *computing,
                    struct function_value *arguments, struct vdbq_text word,
                    struct arena *arena, struct vdbq_text *text,
                    struct error *refused)
{
    struct function_value value;
    enum vdbq_status status = function_lookup_call(
        &computing->call->lookup, arguments, word, arena, &value, refused);
    if (status == VDBQ_OK && !value.null) {
        assert(value.text.bytes != NULL);
        *text = value.text;
    } else {
        *text = (struct vdbq_text){ .length = status == VDBQ_OK ? CALL_NULL
                                                                : CALL_FAILS };
    }
    return status != VDBQ_NO_MEMORY;
}

/* The texts that a share's words have: neighbours often have the same one. */
struct computed {
    struct vdbq_text *texts; /* those that differ from the one before */
    uint32_t count;          /* of them */
    uint32_t *numbers;       /* of each in the share's dictionary */
    size_t first;            /* the call gives so many characters; 0: see
                                function_lookup_first()                    */
    bool whole; /* the last text has that many, so that another word may begin
                   with it                                                   */
};

static bool is_same(struct vdbq_text a, struct vdbq_text b)
{
    return a.length == b.length && (a.bytes == NULL) == (b.bytes == NULL)
           && (a.bytes == NULL || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* Whether the call gives for a word what it gave for the one before, as can be
 * told without it. */
static bool follows(const struct computed *computed, struct vdbq_text word)
{
    if (!computed->whole)
        return false;
    struct vdbq_text last = computed->texts[computed->count - 1];
    return word.length >= last.length
           && memcmp(word.bytes, last.bytes, last.length) == 0
           && (word.length == last.length
               || !utf8_continues(word.bytes[last.length]));
}

/* Adds a text, unless it is the last one. */
static void add_text(struct computed *computed, struct vdbq_text text)
{
    if (computed->count > 0
        && is_same(computed->texts[computed->count - 1], text))
        return;
    computed->texts[computed->count++] = text;
    computed->whole = computed->first > 0 && text.bytes != NULL
                      && utf8_count(text) == computed->first;
}

/* Computes the call for the words of a share: each one's code becomes
 * the place of its text, which put_codes() follows. */
static bool compute_all(const struct computing *computing,
                        const struct call_share *share,
                        struct computed *computed, struct arena *arena)
{
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX];
    struct error refused = { 0 };
    uint64_t since = 0;
    size_t part = 0;
    bool done = true;
    memcpy(arguments, computing->call->lookup.arguments, sizeof arguments);
    for (uint32_t i = 0; i < share->count && done; i++) {
        struct vdbq_text text,
            word = word_list_text(&computing->words, share->first + i, &part);
        if (!follows(computed, word)) {
            done = compute(computing, arguments, word, arena, &text, &refused);
            if (done)
                add_text(computed, text);
        }
        share->codes[i] = computed->count - 1;
        done = done && !stop_after(&since, CALL_ROWS + word.length / ROW_BYTES);
    }
    return done;
}

/* The code of each word: its text's number, or why it has none. */
static void put_codes(const struct computed *computed,
                      const struct call_share *share)
{
    for (uint32_t i = 0; i < share->count; i++) {
        const struct vdbq_text *text = &computed->texts[share->codes[i]];
        share->codes[i] = text->bytes == NULL
                              ? (uint32_t)text->length
                              : computed->numbers[share->codes[i]];
    }
}

/* Computes the words of one thread; the share has no dictionary where there is
 * no memory for it. */
static void compute_share(void *context, unsigned number)
{
    const struct computing *computing = context;
    struct call_share *share = &computing->call->shares[number];
    struct arena arena = { 0 };
    size_t room = share->count + (size_t)1;
    struct computed computed = {
        .texts = memory_resize(NULL, room * sizeof *computed.texts),
        .numbers = memory_resize(NULL, room * sizeof *computed.numbers),
        .first = function_lookup_first(&computing->call->lookup)
    };
    if (computed.texts != NULL && computed.numbers != NULL
        && compute_all(computing, share, &computed, &arena))
        share->dictionary =
            dictionary_make(computed.texts, computed.count, computed.numbers);
    if (share->dictionary != NULL)
        put_codes(&computed, share);
    memory_release(computed.texts);
    memory_release(computed.numbers);
    arena_finish(&arena);
}

/* Deals the words out to shares. */
static bool make_shares(struct making *making, struct call *call,
                        uint32_t count)
{
    struct arena *arena = &making->table->arena;
    call->share_count = dictionary_shares(
        parallel_threads(making->params->threads, count), count);
    call->shares = arena_alloc(arena, call->share_count * sizeof *call->shares);
    uint32_t *codes =
        arena_alloc_paged(arena, (count + (size_t)1) * sizeof *codes);
    if (call->shares == NULL || codes == NULL)
        return false;
    for (uint64_t i = 0; i < call->share_count; i++) {
        uint64_t first = count * i / call->share_count;
        uint64_t end = count * (i + 1) / call->share_count;
        call->shares[i] = (struct call_share){ .first = (uint32_t)first,
                                               .count = (uint32_t)(end - first),
                                               .codes = codes + first };
    }
    return true;
}

/* -------------------------------------------------------------- words -- */

/* The texts of all shares, and the number that each share's have in it; NULL:
 * no memory. */
static struct dictionary *join_shares(struct making *making, struct call *call)
{
    struct dictionary *parts[PARALLEL_THREADS_MAX];
    uint32_t *numbers[PARALLEL_THREADS_MAX];
    for (unsigned i = 0; i < call->share_count; i++) {
        struct call_share *share = &call->shares[i];
        if (share->dictionary == NULL)
            return NULL;
        parts[i] = share->dictionary;
        numbers[i] = share->numbers =
            arena_alloc_paged(&making->table->arena,
                              (parts[i]->count + (size_t)1) * sizeof **numbers);
        if (numbers[i] == NULL)
            return NULL;
    }
    return dictionary_join(parts, call->share_count, numbers,
                           making->params->threads);
}

/* Makes the texts that a call gave words; until then they have no numbers that
 * could follow. */
static bool take_texts(struct making *making, struct call *call)
{
    struct dictionary *more = join_shares(making, call);
    uint32_t *places =
        more == NULL ? NULL
                     : paged_alloc((more->count + (size_t)1) * sizeof *places);
    bool added = places != NULL && word_grow_by(making, more, places);
    for (unsigned i = 0; added && i < call->share_count; i++) {
        struct call_share *share = &call->shares[i];
        share->numbered = share->dictionary->count;
        word_follow(making, share->numbers, share->numbers, share->numbered,
                    places);
    }
    call_release(call);
    paged_release(places);
    dictionary_release(more);
    return added;
}

/* Computes a call for all words that are there. */
static enum vdbq_status compute_texts(struct making *making, struct call *call)
{
    struct word_list_room room;
    struct computing computing = { .words =
                                       word_call_words(making, call, &room),
                                   .call = call };
    call->places = NULL;
    if (!make_shares(making, call, word_list_count(&computing.words)))
        return stop_or_no_memory(making->error);
    parallel_run(call->share_count, compute_share, &computing);
    return take_texts(making, call) ? VDBQ_OK
                                    : stop_or_no_memory(making->error);
}

/* ---------------------------------------------------------------- calls -- */

/* The call of an instruction, which may be a new one. */
static enum vdbq_status read_call(struct making *making,
                                  const struct instruction *in,
                                  struct call **call)
{
    const struct word_list *looked_up = making->looked_up[in->b];
    *call = find_call(making, in->name, looked_up);
    if (*call != NULL)
        return VDBQ_OK;
    *call = vector_add(&making->calls);
    if (*call == NULL)
        return stop_or_no_memory(making->error);
    (*call)->text = in->name;
    (*call)->looked_up = looked_up;
    (*call)->operand = -1;
    return function_lookup_read(in->name, &making->table->arena,
                                &(*call)->lookup, making->error);
}

/* A call that comes again for another operand, as in upper(upper(s)), is
 * computed again: that may be a word which came in between. */
enum vdbq_status word_call_all(struct making *making)
{
    const struct program *program = making->params->program;
    enum vdbq_status status = VDBQ_OK;
    for (size_t pc = 0; pc < program->code.count && status == VDBQ_OK; pc++) {
        const struct instruction *in = program_at(program, (int)pc);
        struct call *call;
        if (op_facts(in->op)->form != FORM_LOOKUP)
            continue;
        status = read_call(making, in, &call);
        if (status != VDBQ_OK || call->lookup.function->result != VDBQ_TEXT
            || call->operand == in->b)
            continue;
        call->operand = in->b;
        status = compute_texts(making, call);
    }
    return status;
}

/* ----------------------------------------------------------- renumbering -- */

/* Words that are a call's own stay where they are; texts that are none yet have
 * no numbers. */
static bool renumber_call(struct making *making, struct call *call,
                          const uint32_t *numbers)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < call->share_count; i++) {
        struct call_share *share = &call->shares[i];
        count += share->count;
        word_follow(making, share->numbers, share->numbers, share->numbered,
                    numbers);
    }
    if (call->looked_up != NULL || count == 0)
        return true;
    const uint32_t *before = call->places;
    if (before == NULL)
        call->places = arena_alloc_paged(&making->table->arena,
                                         count * sizeof *call->places);
    if (call->places != NULL)
        word_follow(making, call->places, before, count, numbers);
    return call->places != NULL;
}

bool word_call_renumber(struct making *making, const uint32_t *numbers)
{
    for (size_t i = 0; i < making->calls.count; i++)
        if (!renumber_call(making, vector_at(&making->calls, i), numbers))
            return false;
    return true;
}
