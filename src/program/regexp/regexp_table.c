/* SPDX-License-Identifier: MIT */
/*
 * Whether a text has a match, by a table: what ways through the code are open at a
 * place is a state, and a character leads from one to the next (Thompson 1968;
 * subset construction, Rabin and Scott 1959). All states are made at once, for
 * patterns that are short and lead to few of them; others have no table. Nor have
 * those that ask for lines or words around a place.
 *
 * Characters beyond ASCII are all alike to most patterns. To others the table does
 * not say where they lead.
 */
#include "program/regexp/regexp.h"

#include <assert.h>
#include <string.h>

#include "program/letters/utf8.h"

enum {
    CODE_MAX = 128,
    WORDS = CODE_MAX / 64,
    STATES_MAX = 128,
    BEYOND = 128, /* the class of characters beyond ASCII */
    CHARACTERS = 129,
    LAST_CHARACTER = 0x10ffff,
    KELVIN = 0x212a, /* what alone of characters beyond ASCII folds to ... */
    LONG_S = 0x17f   /* ... letters of ASCII                               */
};

/* States that are none of ways. */
enum { NEVER, FOUND, UNKNOWN, FIRST };

struct regexp_table {
    bool whole;            /* a match is all of the text          */
    uint8_t start[2];      /* the state at the text's begin, and
                                           elsewhere                           */
    bool ends[STATES_MAX]; /* there is a match if the text ends   */
    uint8_t next[STATES_MAX][CHARACTERS];
};

/* Instructions: those that take a character, END and MATCH. */
struct ways {
    uint64_t bits[WORDS];
};

struct making {
    const struct regexp *regexp;
    struct regexp_table *table;
    struct ways states[STATES_MAX]; /* from FIRST on               */
    unsigned count;                 /* of states                   */
    struct ways takers[CHARACTERS]; /* instructions that take it   */
    unsigned char same[CHARACTERS]; /* the first that is taken by the
                                            same instructions           */
    struct ways restart; /* ways that begin behind the text's begin */
    bool failed;         /* it is not for a table                   */
};

static bool has(const struct ways *ways, uint32_t code)
{
    return (ways->bits[code / 64] >> code % 64 & 1) != 0;
}

static void set(struct ways *ways, uint32_t code)
{
    ways->bits[code / 64] |= (uint64_t)1 << code % 64;
}

/* ------------------------------------------------------------ characters -- */

/* Whether an instruction takes all characters beyond ASCII, or none: `*takes`. */
static bool is_alike(const struct regexp *regexp,
                     const struct regexp_code *code, bool *takes)
{
    const struct regexp_set *of = &regexp->sets[code->a];
    uint32_t high = 0, low = 0;

    *takes = code->op == REGEXP_ANY || code->op == REGEXP_NO_BREAK;
    if (code->op == REGEXP_CHAR)
        return code->a < BEYOND;
    if (code->op == REGEXP_FOLDED)
        return code->a < BEYOND && !regexp_takes(regexp, code, KELVIN)
               && !regexp_takes(regexp, code, LONG_S);
    if (code->op != REGEXP_SET)
        return *takes;
    if (of->count > 0) {
        low = of->ranges[of->count - 1].low;
        high = of->ranges[of->count - 1].high;
    }
    *takes = (high >= LAST_CHARACTER) != of->inverted;
    return high < BEYOND || (low <= BEYOND && high >= LAST_CHARACTER);
}

/* Notes which characters an instruction takes. */
static void note_takers(struct making *making, uint32_t number)
{
    const struct regexp *regexp = making->regexp;
    const struct regexp_code *code = &regexp->code[number];
    bool takes;

    for (uint32_t i = 0; i < BEYOND; i++)
        if (regexp_takes(regexp, code, i))
            set(&making->takers[i], number);
    if (!is_alike(regexp, code, &takes))
        making->same[BEYOND] = UNKNOWN;
    else if (takes)
        set(&making->takers[BEYOND], number);
}

/* Notes for each character the first that leads wherever it does. */
static void find_same(struct making *making)
{
    for (unsigned i = 0; i < CHARACTERS; i++) {
        unsigned same = 0;
        while (memcmp(&making->takers[same], &making->takers[i],
                      sizeof making->takers[i])
               != 0)
            same++;
        making->same[i] = (unsigned char)same;
    }
}

/* ------------------------------------------------------------------ ways -- */

/* Adds what an instruction leads to without a character. */
static void follow(struct making *making, struct ways *ways, uint32_t first,
                   bool begin, bool end)
{
    uint32_t jobs[2 * CODE_MAX], count = 0;
    struct ways seen = { { 0 } };

    jobs[count++] = first;
    while (count > 0) {
        uint32_t at = jobs[--count];
        const struct regexp_code *code = &making->regexp->code[at];
        if (has(&seen, at))
            continue;
        set(&seen, at);
        if (code->op == REGEXP_SPLIT)
            jobs[count++] = code->b;
        if (code->op == REGEXP_SPLIT || code->op == REGEXP_JUMP)
            jobs[count++] = code->a;
        else if (code->op == REGEXP_SAVE || (code->op == REGEXP_BEGIN && begin)
                 || (code->op == REGEXP_END && end))
            jobs[count++] = at + 1;
        else if (code->op == REGEXP_BEGIN)
            making->failed |= end; /* of an empty text it holds */
        else
            set(ways, at);
        assert(count <= 2 * CODE_MAX - 2);
    }
}

/* Whether there is a match; if the text ends, for `end`. */
static bool is_match(struct making *making, const struct ways *ways, bool end)
{
    struct ways more = *ways;

    for (uint32_t i = 0; end && i < making->regexp->count; i++)
        if (has(ways, i) && making->regexp->code[i].op == REGEXP_END)
            follow(making, &more, i, false, true);
    for (uint32_t i = 0; i < making->regexp->count; i++)
        if (has(&more, i) && making->regexp->code[i].op == REGEXP_MATCH)
            return true;
    return false;
}

/* The state of these ways, which may be a new one. */
static uint8_t state_of(struct making *making, const struct ways *ways)
{
    static const struct ways none = { { 0 } };
    unsigned state = FIRST;

    if (memcmp(ways, &none, sizeof none) == 0)
        return NEVER;
    if (!making->table->whole && is_match(making, ways, false))
        return FOUND;
    while (state < making->count
           && memcmp(&making->states[state], ways, sizeof *ways) != 0)
        state++;
    if (state == STATES_MAX) {
        making->failed = true;
        return UNKNOWN;
    }
    if (state == making->count) {
        making->states[making->count++] = *ways;
        making->table->ends[state] = is_match(making, ways, true);
    }
    return (uint8_t)state;
}

/* Where a character leads. */
static uint8_t next_of(struct making *making, unsigned state,
                       unsigned character)
{
    const struct ways *from = &making->states[state];
    struct ways to = { { 0 } };

    if (!making->table->whole)
        to = making->restart;
    for (uint32_t i = 0; i < making->regexp->count; i++)
        if (has(from, i) && has(&making->takers[character], i))
            follow(making, &to, i + 1, false, false);
    return state_of(making, &to);
}

/* Makes all states that the first ones lead to. */
static void make_states(struct making *making)
{
    struct regexp_table *table = making->table;
    bool unknown = making->same[BEYOND] == UNKNOWN;

    find_same(making);
    for (unsigned state = FIRST; state < making->count && !making->failed;
         state++)
        for (unsigned i = 0; i < CHARACTERS; i++)
            table->next[state][i] = i == BEYOND && unknown ? UNKNOWN
                                    : making->same[i] < i
                                        ? table->next[state][making->same[i]]
                                        : next_of(making, state, i);
}

/* Whether all its instructions are for a table. */
static bool is_simple(const struct regexp *regexp)
{
    bool simple = regexp->count <= CODE_MAX;

    for (unsigned i = 0; simple && i < regexp->count; i++)
        simple = regexp->code[i].op <= REGEXP_END
                 || regexp->code[i].op == REGEXP_MATCH;
    return simple;
}

bool regexp_make_table(struct regexp *regexp, bool whole, struct arena *arena)
{
    struct making making = { .regexp = regexp, .count = FIRST };
    struct ways begin = { { 0 } };

    if (!is_simple(regexp))
        return true;
    making.table = arena_alloc(arena, sizeof *making.table);
    if (making.table == NULL)
        return false;
    making.table->whole = whole;
    making.table->ends[FOUND] = true;
    for (uint32_t i = 0; i < regexp->count; i++)
        if (regexp->code[i].op <= REGEXP_NO_BREAK)
            note_takers(&making, i);
    follow(&making, &begin, 0, true, false);
    follow(&making, &making.restart, 0, false, false);
    making.table->start[0] = state_of(&making, &begin);
    making.table->start[1] = state_of(&making, &making.restart);
    make_states(&making);
    regexp->table = making.failed ? NULL : making.table;
    return true;
}

/* ------------------------------------------------------------------ find -- */

bool regexp_table_find(const struct regexp *regexp, struct vdbq_text text,
                       size_t from, bool whole, bool *found)
{
    const struct regexp_table *table = regexp->table;
    const unsigned char *at = (const unsigned char *)text.bytes + from;
    const unsigned char *end = (const unsigned char *)text.bytes + text.length;
    unsigned state;

    if (table == NULL || table->whole != whole)
        return false;
    state = table->start[from > 0];
    while (state >= FIRST && at < end) {
        unsigned bytes = 1;
        unsigned character = *at < BEYOND ? *at : BEYOND;
        if (character == BEYOND)
            utf8_character((const char *)at, (const char *)end, &bytes);
        state = table->next[state][character];
        at += bytes;
    }
    *found = table->ends[state];
    return state != UNKNOWN;
}
