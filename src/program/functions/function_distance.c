/* SPDX-License-Identifier: MIT */
/*
 * How far two texts are from each other. All count characters; a byte that is
 * none of UTF-8 is UTF8_NONE. What takes the product of the lengths asks now
 * and then whether to stop.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads/stop.h"
#include "program/functions/function_inner.h"

/* The characters of two texts, and rows of numbers as long as the second one is
 * and two more. */
struct pair {
    uint32_t *a, *b;
    size_t a_count, b_count;
    uint32_t *rows; /* zeroed */
    uint32_t *room; /* of all of it */
};

static size_t read_characters(struct vdbq_text text, uint32_t *to)
{
    const char *at = text.bytes, *end = at + text.length;
    size_t count = 0;

    while (at < end) {
        unsigned bytes;
        to[count++] = utf8_character(at, end, &bytes);
        at += bytes;
    }
    return count;
}

/* Reads the arguments, and makes so many rows. */
static enum vdbq_status pair_init(struct function_call_state *state,
                                  struct pair *pair, unsigned rows)
{
    struct vdbq_text a = state->arguments[0].text, b = state->arguments[1].text;
    size_t count = a.length + b.length + rows * (b.length + 2);

    pair->room = memory_zeroed(count + 1, sizeof *pair->room);
    if (pair->room == NULL)
        return error_no_memory(state->error);
    pair->a = pair->room;
    pair->b = pair->a + a.length;
    pair->rows = pair->b + b.length;
    pair->a_count = read_characters(a, pair->a);
    pair->b_count = read_characters(b, pair->b);
    assert(pair->a_count <= a.length && pair->b_count <= b.length);
    return VDBQ_OK;
}

/* Gives the result, unless the work was left half done. */
static enum vdbq_status pair_finish(struct function_call_state *state,
                                    struct pair *pair, int64_t integer,
                                    double real)
{
    memory_release(pair->room);
    state->value->integer = integer;
    state->value->real = real;
    return stop_pause(state->error);
}

/* Leaves out what both begin and end with: it is no part of any distance. */
static void cut_same_ends(struct pair *pair)
{
    while (pair->a_count > 0 && pair->b_count > 0 && *pair->a == *pair->b) {
        pair->a++;
        pair->b++;
        pair->a_count--;
        pair->b_count--;
    }
    while (pair->a_count > 0 && pair->b_count > 0
           && pair->a[pair->a_count - 1] == pair->b[pair->b_count - 1]) {
        pair->a_count--;
        pair->b_count--;
    }
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* --------------------------------------------------------- edit distance -- */

/* The row of the distances of the first characters of `a` to all beginnings of
 * `b` becomes that of one character more. */
static void next_row(const struct pair *pair, uint32_t character)
{
    uint32_t *row = pair->rows, before = row[0]++;

    for (size_t j = 1; j <= pair->b_count; j++) {
        uint32_t above = row[j];
        uint32_t edited = least_of(above, row[j - 1]) + 1;
        row[j] = least_of(edited, before + (pair->b[j - 1] != character));
        before = above;
    }
}

FUNCTION_BODY(levenshtein)
{
    struct pair pair;
    uint64_t since = 0;
    enum vdbq_status status = pair_init(state, &pair, 1);

    if (status != VDBQ_OK)
        return status;
    cut_same_ends(&pair);
    for (size_t j = 0; j <= pair.b_count; j++)
        pair.rows[j] = (uint32_t)j;
    for (size_t i = 0;
         i < pair.a_count && !stop_after(&since, pair.b_count / 8 + 1); i++)
        next_row(&pair, pair.a[i]);
    return pair_finish(state, &pair, pair.rows[pair.b_count], 0);
}

/*
 * With transpositions, between which there may be other edits (Damerau 1964), in
 * the time and room of a few rows (Zhao and Sahni, String correction using the
 * Damerau-Levenshtein distance, 2019). A transposition ends at characters i of
 * `a` and j of `b`. It began at k, where `a` last had the character j of `b`,
 * and l, where `b` last had the character i of `a`. Only those count between
 * whose two places there is nothing in one of the texts.
 */
struct damerau {
    const struct pair *pair;
    uint32_t *row,
        *above;       /* distances; [1 + j]: of the beginning of length j */
    uint32_t *before; /* [j]: in the row of before the last match in
                              column j, the distance two columns to the left  */
    uint32_t *last;   /* [j]: k of character j, 0 where there is none yet */
    uint32_t far;     /* more than any distance */
};

static void damerau_row(const struct damerau *d, uint32_t i)
{
    const struct pair *pair = d->pair;
    uint32_t *row = d->row + 1;
    const uint32_t *above = d->above + 1;
    uint32_t old = row[0]; /* of two rows above, a column to the left */
    uint32_t at_match = d->far, l = 0; /* `old` at the last match in this row */

    row[0] = i;
    for (uint32_t j = 1; j <= pair->b_count; j++) {
        bool same = pair->a[i - 1] == pair->b[j - 1];
        uint32_t edited = least_of(row[j - 1], above[j]) + 1;
        uint32_t best = least_of(edited, above[j - 1] + !same);
        if (same) {
            l = j;
            d->before[j] = d->above[j - 1];
            at_match = old;
            d->last[j] = i;
        } else if (l > 0 && j - l == 1 && d->last[j] > 0) {
            best = least_of(best, d->before[j] + i - d->last[j]);
        } else if (l > 0 && d->last[j] > 0 && i - d->last[j] == 1) {
            best = least_of(best, at_match + j - l);
        }
        old = row[j];
        row[j] = best;
    }
}

FUNCTION_BODY(damerau_levenshtein)
{
    struct pair pair;
    struct damerau d = { .pair = &pair };
    uint64_t since = 0;
    enum vdbq_status status = pair_init(state, &pair, 4);
    size_t width = state->arguments[1].text.length + 2;

    if (status != VDBQ_OK)
        return status;
    d.row = pair.rows;
    d.above = d.row + width;
    d.before = d.above + width;
    d.last = d.before + width;
    cut_same_ends(&pair);
    d.far = (uint32_t)(pair.a_count + pair.b_count) + 1;
    d.row[0] = d.above[0] = d.far;
    for (uint32_t j = 0; j <= pair.b_count; j++) {
        d.row[j + 1] = j;
        d.above[j + 1] = d.far;
    }
    for (size_t i = 0;
         i < pair.a_count && !stop_after(&since, pair.b_count / 8 + 1); i++) {
        uint32_t *former = d.above;
        d.above = d.row;
        d.row = former;
        damerau_row(&d, (uint32_t)i + 1);
    }
    return pair_finish(state, &pair, d.row[pair.b_count + 1], 0);
}

/* ---------------------------------------------------- place by place -- */

FUNCTION_BODY(hamming)
{
    struct pair pair;
    int64_t other = 0;
    enum vdbq_status status = pair_init(state, &pair, 0);

    if (status != VDBQ_OK)
        return status;
    if (pair.a_count != pair.b_count) {
        memory_release(pair.room);
        return error_set(state->error, VDBQ_RANGE,
                         "texts of %zu and %zu characters cannot be compared "
                         "place by place",
                         pair.a_count, pair.b_count);
    }
    for (size_t i = 0; i < pair.a_count; i++)
        other += pair.a[i] != pair.b[i];
    return pair_finish(state, &pair, other, 0);
}

/* ------------------------------------------------------------- similarity -- */

static int compare_characters(const void *a_, const void *b_)
{
    uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;

    return (a > b) - (a < b);
}

/* Sorts characters, and leaves each once; how many they are. */
static size_t make_set(uint32_t *characters, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(characters, count, sizeof *characters, compare_characters);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || characters[kept - 1] != characters[i])
            characters[kept++] = characters[i];
    return kept;
}

/* Characters that both have, of those that one has; of two empty texts 1. */
FUNCTION_BODY(jaccard)
{
    struct pair pair;
    size_t a_count, b_count, both = 0, all;
    enum vdbq_status status = pair_init(state, &pair, 0);

    if (status != VDBQ_OK)
        return status;
    a_count = make_set(pair.a, pair.a_count);
    b_count = make_set(pair.b, pair.b_count);
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        int order = compare_characters(&pair.a[i], &pair.b[j]);
        both += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    all = a_count + b_count - both;
    return pair_finish(state, &pair, 0,
                       all == 0 ? 1 : (double)both / (double)all);
}

/* Pairs of characters that are the same, each with the first one that is free no
 * further away than that: `rows` notes those of `b`, and what of `a` has one
 * moves to the front. */
static size_t find_matches(struct pair *pair)
{
    size_t longest =
        pair->a_count > pair->b_count ? pair->a_count : pair->b_count;
    size_t away = longest > 3 ? longest / 2 - 1 : 0, matches = 0;
    uint64_t since = 0;

    for (size_t i = 0; i < pair->a_count && !stop_after(&since, away / 8 + 1);
         i++) {
        size_t j = i > away ? i - away : 0;
        while (j < pair->b_count && j <= i + away
               && (pair->rows[j] != 0 || pair->b[j] != pair->a[i]))
            j++;
        if (j < pair->b_count && j <= i + away) {
            pair->rows[j] = 1;
            pair->a[matches++] = pair->a[i];
        }
    }
    assert(matches <= pair->b_count);
    return matches;
}

/* Of the matches, whose characters `a` begins with, those in another order. */
static size_t out_of_order(const struct pair *pair)
{
    size_t count = 0, match = 0;

    for (size_t j = 0; j < pair->b_count; j++)
        if (pair->rows[j] != 0)
            count += pair->a[match++] != pair->b[j];
    return count;
}

static double jaro(struct pair *pair)
{
    double a_count = (double)pair->a_count, b_count = (double)pair->b_count;
    size_t matches = find_matches(pair);
    double same = (double)matches;

    if (matches == 0)
        return 0;
    return (same / a_count + same / b_count
            + (same - (double)(out_of_order(pair) / 2)) / same)
           / 3;
}

FUNCTION_BODY(jaro_similarity)
{
    struct pair pair;
    enum vdbq_status status = pair_init(state, &pair, 1);

    return status == VDBQ_OK ? pair_finish(state, &pair, 0, jaro(&pair))
                             : status;
}

/* As much nearer to 1 as both begin with the same characters, up to 4. */
FUNCTION_BODY(jaro_winkler_similarity)
{
    struct pair pair;
    size_t same = 0;
    double similarity;
    enum vdbq_status status = pair_init(state, &pair, 1);

    if (status != VDBQ_OK)
        return status;
    while (same < 4 && same < pair.a_count && same < pair.b_count
           && pair.a[same] == pair.b[same])
        same++;
    similarity = jaro(&pair);
    if (similarity > 0.7)
        similarity += (double)same * 0.1 * (1 - similarity);
    return pair_finish(state, &pair, 0, similarity);
}
