/* SPDX-License-Identifier: MIT */
/*
 * Matching. In a short text the ways through the code are tried one after the
 * other; an instruction that led nowhere at a place is not tried there again,
 * from whatever start (RE2's BitState). In a long one all ways are followed at
 * once, character by character, the best first (Pike's machine). Both find the
 * same match. Whether there is one a table may say first (regexp_table.c).
 */
#include "program/regexp/regexp.h"

#include <assert.h>
#include <string.h>

#include "base/hostile.h"
#include "base/threads/stop.h"
#include "program/letters/letter.h"
#include "program/letters/utf8.h"

bool regexp_in_set(const struct regexp_set *set, uint32_t character)
{
    unsigned low = 0, behind = set->count;

    if (character < 128)
        return set->ascii[character / 32] >> character % 32 & 1;
    while (low < behind) {
        unsigned middle = low + (behind - low) / 2;
        if (set->ranges[middle].high < character)
            low = middle + 1;
        else
            behind = middle;
    }
    return (low < set->count && set->ranges[low].low <= character)
           != set->inverted;
}

/* What is looked for, and where. */
struct search {
    const struct regexp *regexp;
    const char *bytes;
    size_t from, length; /* of the text */
    bool whole;
    size_t places[2 * REGEXP_GROUPS]; /* of the match, as SAVE numbers them */
};

/* ------------------------------------------------------------- one step -- */

static bool is_word(const struct search *search, size_t at)
{
    unsigned char byte;

    if (at >= search->length)
        return false;
    byte = (unsigned char)search->bytes[at];
    return (byte >= '0' && byte <= '9') || byte == '_'
           || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z' && byte < 128);
}

/* Whether what an instruction asks of a place holds there. */
static bool holds(const struct search *search, enum regexp_op op, size_t at)
{
    bool begin = at == 0, end = at == search->length;
    bool edge = is_word(search, at) != (at > 0 && is_word(search, at - 1));

    switch (op) {
    case REGEXP_BEGIN:
        return begin;
    case REGEXP_END:
        return end;
    case REGEXP_LINE_BEGIN:
        return begin || search->bytes[at - 1] == '\n';
    case REGEXP_LINE_END:
        return end || search->bytes[at] == '\n';
    case REGEXP_WORD:
        return edge;
    default:
        assert(op == REGEXP_NO_WORD);
        return !edge;
    }
}

bool regexp_takes(const struct regexp *regexp, const struct regexp_code *code,
                  uint32_t character)
{
    switch (code->op) {
    case REGEXP_CHAR:
        return character == code->a;
    case REGEXP_FOLDED:
        return (character < 128 ? character | 0x20
                                : letter_changed(character, LETTER_FOLD))
               == code->a;
    case REGEXP_SET:
        return regexp_in_set(&regexp->sets[code->a], character);
    case REGEXP_ANY:
        return true;
    default:
        assert(code->op == REGEXP_NO_BREAK);
        return character != '\n';
    }
}

/* Bytes of the character at a place that an instruction takes; 0: it does
 * not. */
static unsigned step(const struct search *search,
                     const struct regexp_code *code, size_t at)
{
    unsigned bytes;
    uint32_t character;

    if (at >= search->length)
        return 0;
    character = utf8_character(search->bytes + at,
                               search->bytes + search->length, &bytes);
    return regexp_takes(search->regexp, code, character) ? bytes : 0;
}

/* The next place, from `at` on, where a match may begin; `length`: none, or the
 * end of the text. */
static size_t next_start(const struct search *search, size_t at)
{
    const struct regexp *regexp = search->regexp;

    while (!regexp->empty && at < search->length
           && !regexp->first[(unsigned char)search->bytes[at]])
        at++;
    return at;
}

/* Where the character behind a place begins. */
static size_t behind(const struct search *search, size_t at)
{
    unsigned bytes = 1;

    if (at < search->length)
        utf8_character(search->bytes + at, search->bytes + search->length,
                       &bytes);
    return at + bytes;
}

/* ------------------------------------------------------- one at a time -- */

/* Instructions times places that are tried so, and ways that wait; a hostile
 * build leaves more to the other machine. */
enum { VISITS_MAX = HOSTILE(1 << 8, 1 << 16), JOBS_MAX = HOSTILE(4, 1024) };

/* A way that is still to be tried; or a place that is to be what it was. */
struct job {
    uint32_t code; /* or RESTORE and the place's number */
    size_t at;
};
#define RESTORE 0x80000000u

struct trying {
    struct search *search;
    uint32_t visited[VISITS_MAX / 32]; /* instructions at places */
    struct job jobs[JOBS_MAX];
    unsigned count;
    bool overflown; /* there were more jobs */
};

static bool fits(const struct search *search)
{
    uint64_t places = search->length - search->from + 1;

    return places <= VISITS_MAX / search->regexp->count;
}

static void push(struct trying *trying, uint32_t code, size_t at)
{
    if (trying->count == JOBS_MAX)
        trying->overflown = true;
    else
        trying->jobs[trying->count++] = (struct job){ code, at };
}

/* Whether an instruction is at a place for the first time. */
static bool visit(struct trying *trying, uint32_t code, size_t at)
{
    const struct search *search = trying->search;
    size_t places = search->length - search->from + 1;
    size_t bit = code * places + (at - search->from);
    bool first = (trying->visited[bit / 32] >> bit % 32 & 1) == 0;

    trying->visited[bit / 32] |= 1u << bit % 32;
    return first;
}

/* Follows a way until it ends; whether in a match. */
static bool follow(struct trying *trying, uint32_t at_code, size_t at)
{
    struct search *search = trying->search;

    while (visit(trying, at_code, at)) {
        const struct regexp_code *code = &search->regexp->code[at_code++];
        unsigned bytes;
        switch (code->op) {
        case REGEXP_MATCH:
            search->places[1] = at;
            return !search->whole || at == search->length;
        case REGEXP_JUMP:
            at_code = code->a;
            break;
        case REGEXP_SPLIT:
            push(trying, code->b, at);
            at_code = code->a;
            break;
        case REGEXP_SAVE:
            push(trying, RESTORE | code->a, search->places[code->a]);
            search->places[code->a] = at;
            break;
        case REGEXP_CHAR:
        case REGEXP_FOLDED:
        case REGEXP_SET:
        case REGEXP_ANY:
        case REGEXP_NO_BREAK:
            bytes = step(search, code, at);
            if (bytes == 0)
                return false;
            at += bytes;
            break;
        default:
            if (!holds(search, code->op, at))
                return false;
        }
    }
    return false;
}

/* Tries all ways from a place on. */
static bool try_from(struct trying *trying, size_t at)
{
    struct search *search = trying->search;

    search->places[0] = at;
    push(trying, 0, at);
    while (trying->count > 0 && !trying->overflown) {
        struct job job = trying->jobs[--trying->count];
        if ((job.code & RESTORE) != 0)
            search->places[job.code & ~RESTORE] = job.at;
        else if (follow(trying, job.code, job.at))
            return true;
    }
    return false;
}

/* Tries all starts; whether there is a match. `*overflown`: there were too many
 * ways, so that nobody knows. */
static bool try_all(struct search *search, bool *overflown)
{
    struct trying trying;
    size_t bits = search->regexp->count * (search->length - search->from + 1);
    size_t at = search->from;
    bool found = false;

    trying.search = search;
    trying.count = 0;
    trying.overflown = false;
    memset(trying.visited, 0, (bits + 31) / 32 * sizeof *trying.visited);
    for (; !found && at <= search->length && !trying.overflown;
         at = search->whole ? search->length + 1 : behind(search, at)) {
        at = search->whole ? at : next_start(search, at);
        found = try_from(&trying, at);
    }
    *overflown = trying.overflown;
    return found && !trying.overflown;
}

/* --------------------------------------------------------- all at once -- */

/* Instructions that are tried at a place, the best first; each once. */
struct ways {
    uint32_t *list;  /* of instructions */
    uint32_t *where; /* of an instruction: its number in the list, maybe */
    size_t *places;  /* of each in the list: 2 * REGEXP_GROUPS */
    uint32_t count;
};

struct pike {
    struct search *search;
    struct ways ways[2];
    size_t *jobs; /* pairs: an instruction, or RESTORE and a place's number,
                     and what the place was */
    size_t job_count;
    size_t *room;
};

enum { PLACES = 2 * REGEXP_GROUPS };

static bool is_listed(const struct ways *ways, uint32_t code)
{
    uint32_t where = ways->where[code];

    return where < ways->count && ways->list[where] == code;
}

static void add_job(struct pike *pike, size_t code, size_t place)
{
    pike->jobs[2 * pike->job_count] = code;
    pike->jobs[2 * pike->job_count++ + 1] = place;
}

/* Adds an instruction and all that it leads to without a character, the best
 * first; `places` are what they were when it is done. */
static void add_way(struct pike *pike, struct ways *ways, uint32_t first,
                    size_t at, size_t *places)
{
    const struct regexp *regexp = pike->search->regexp;

    add_job(pike, first, 0);
    while (pike->job_count > 0) {
        size_t job = pike->jobs[2 * --pike->job_count];
        size_t was = pike->jobs[2 * pike->job_count + 1];
        uint32_t code_at = (uint32_t)job;
        const struct regexp_code *code;
        if ((job & RESTORE) != 0) {
            places[job & ~RESTORE] = was;
            continue;
        }
        if (is_listed(ways, code_at))
            continue;
        code = &regexp->code[code_at];
        ways->where[code_at] = ways->count;
        ways->list[ways->count] = code_at;
        memcpy(ways->places + (size_t)ways->count++ * PLACES, places,
               PLACES * sizeof *places);
        if (code->op == REGEXP_SPLIT)
            add_job(pike, code->b, 0);
        if (code->op == REGEXP_SPLIT || code->op == REGEXP_JUMP) {
            add_job(pike, code->a, 0);
        } else if (code->op == REGEXP_SAVE) {
            add_job(pike, RESTORE | code->a, places[code->a]);
            places[code->a] = at;
            add_job(pike, code_at + 1, 0);
        } else if (code->op >= REGEXP_BEGIN && code->op < REGEXP_MATCH
                   && holds(pike->search, code->op, at)) {
            add_job(pike, code_at + 1, 0);
        }
    }
}

/* Moves all ways over the character at a place; whether one is a match there,
 * which ends those behind it. */
static bool move_ways(struct pike *pike, struct ways *from, struct ways *to,
                      size_t at)
{
    struct search *search = pike->search;
    size_t next = behind(search, at);

    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        const struct regexp_code *code = &search->regexp->code[from->list[i]];
        size_t *places = from->places + (size_t)i * PLACES;
        if (code->op == REGEXP_MATCH
            && (!search->whole || at == search->length)) {
            memcpy(search->places, places, sizeof search->places);
            search->places[1] = at;
            return true;
        }
        if (code->op <= REGEXP_NO_BREAK && step(search, code, at) > 0)
            add_way(pike, to, from->list[i] + 1, next, places);
    }
    return false;
}

/* Leaves early where it is to stop. */
static bool run_pike(struct pike *pike)
{
    struct search *search = pike->search;
    uint64_t since = 0; /* instructions */
    struct ways *now = &pike->ways[0], *then = &pike->ways[1], *other;
    bool found = false;

    for (size_t at = search->from; at <= search->length;
         at = behind(search, at)) {
        size_t start[PLACES];
        bool begins = !found && (!search->whole || at == search->from);
        if ((now->count == 0 && !begins)
            || stop_after(&since, now->count + (uint64_t)1))
            break;
        for (unsigned i = 0; i < PLACES; i++)
            start[i] = REGEXP_NOWHERE;
        start[0] = at;
        if (begins)
            add_way(pike, now, 0, at, start);
        found |= move_ways(pike, now, then, at);
        other = now;
        now = then;
        then = other;
    }
    return found;
}

/* As try_all(), for any text. */
static enum vdbq_status try_pike(struct search *search, bool *found,
                                 struct error *error)
{
    size_t count = search->regexp->count;
    struct pike pike = { .search = search };
    /* Each list, and jobs: two for an instruction that is listed. */
    size_t *room =
        memory_zeroed(2 * count * (PLACES + 1) + 4 * count + 4, sizeof *room);
    uint32_t *numbers = memory_zeroed(2 * count, sizeof *numbers);

    if (room == NULL || numbers == NULL) {
        memory_release(room);
        memory_release(numbers);
        return error_no_memory(error);
    }
    for (unsigned i = 0; i < 2; i++) {
        pike.ways[i].places = room + i * count * PLACES;
        pike.ways[i].list = numbers + i * count;
        pike.ways[i].where =
            (uint32_t *)(void *)(room + 2 * count * PLACES + i * count);
    }
    pike.jobs = room + 2 * count * (PLACES + 1);
    *found = run_pike(&pike);
    memory_release(room);
    memory_release(numbers);
    return stop_pause(error);
}

/* ----------------------------------------------------------------- find -- */

enum vdbq_status regexp_find(const struct regexp *regexp, struct vdbq_text text,
                             size_t from, bool whole,
                             struct regexp_match *match, bool *found,
                             struct error *error)
{
    struct search search = { .regexp = regexp,
                             .bytes = text.bytes,
                             .from = from,
                             .length = text.length,
                             .whole = whole };
    enum vdbq_status status = VDBQ_OK;
    bool again = !fits(&search), known;

    assert(from <= text.length);
    known = regexp_table_find(regexp, text, from, whole, found);
    if (known && match == NULL)
        return VDBQ_OK;
    for (unsigned i = 0; i < PLACES; i++)
        search.places[i] = REGEXP_NOWHERE;
    if (known && !*found)
        again = false;
    else if (!again)
        *found = try_all(&search, &again);
    for (unsigned i = 0; again && i < PLACES; i++)
        search.places[i] = REGEXP_NOWHERE;
    if (again)
        status = try_pike(&search, found, error);
    for (unsigned i = 0; i < REGEXP_GROUPS && match != NULL; i++) {
        bool there = search.places[2 * i + 1] != REGEXP_NOWHERE;
        match->begin[i] = there ? search.places[2 * i] : REGEXP_NOWHERE;
        match->end[i] = search.places[2 * i + 1];
    }
    return status;
}
