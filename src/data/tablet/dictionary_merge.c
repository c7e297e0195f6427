/* SPDX-License-Identifier: MIT */
/*
 * Merging by a tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1):
 * each span has a runner, which stands at its next word; an inner node of the
 * tree keeps the runner that lost there, so that a word costs one comparison
 * a level. Most comparisons are of eight bytes, those behind what all words
 * begin with. A runner that wins again and again is ahead of all others for
 * a while: it is asked how long, and its words are taken together.
 */
#include "data/tablet/dictionary_merge.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary_inner.h"
#include "data/tablet/dictionary_sort.h"

enum {
    WINS = 8, /* in a row, before a runner is asked how far it is ahead */
    TOGETHER_MAX = 16 * STOP_ROWS /* words that are taken or written at once */
};

struct runner {
    uint64_t head; /* eight bytes of its word; when it has none: all 1 */
    struct vdbq_text text; /* its word */
    uint32_t at;           /* number of the word in the dictionary */
    const struct merge_span *span;
};

struct race {
    struct merge *merge;
    struct runner *runners;
    uint32_t count;        /* of the runners: at least two */
    uint32_t *losers;      /* of node 1 to count - 1; node i is below i / 2 */
    size_t depth;          /* bytes that all words begin with */
    uint64_t last_head;    /* of the last word, and ... */
    struct vdbq_text last; /* ... its text */
};

/* ------------------------------------------------------------- runners -- */

static bool is_home(const struct runner *runner)
{
    return runner->at == runner->span->end;
}

static void read_word(const struct race *race, struct runner *runner)
{
    runner->head = UINT64_MAX;
    if (is_home(runner))
        return;
    runner->text = dictionary_text(runner->span->dictionary, runner->at);
    runner->head = text_head(runner->text, race->depth);
}

static bool is_before(const struct runner *a, const struct runner *b)
{
    if (a->head != b->head)
        return a->head < b->head;
    if (is_home(a) || is_home(b))
        return !is_home(a);
    return text_compare(a->text, b->text) < 0;
}

static size_t common_bytes(struct vdbq_text a, struct vdbq_text b, size_t most)
{
    size_t i = 0;
    while (i < most && i < a.length && i < b.length && a.bytes[i] == b.bytes[i])
        i++;
    return i;
}

/* The bytes that all words begin with: the first and the last of each span do. */
static size_t find_depth(const struct race *race)
{
    struct vdbq_text one = race->runners[0].text;
    size_t depth = one.length;
    for (uint32_t i = 0; i < race->count; i++) {
        const struct merge_span *span = race->runners[i].span;
        depth = common_bytes(one, race->runners[i].text, depth);
        depth = common_bytes(
            one, dictionary_text(span->dictionary, span->end - 1), depth);
    }
    return depth;
}

/* A runner for each span that has words; false: no memory. */
static bool line_up(struct race *race)
{
    const struct merge *merge = race->merge;
    race->runners = memory_zeroed(merge->span_count + 1, sizeof *race->runners);
    race->losers = memory_zeroed(merge->span_count + 1, sizeof *race->losers);
    if (race->runners == NULL || race->losers == NULL)
        return false;
    for (size_t i = 0; i < merge->span_count; i++) {
        const struct merge_span *span = &merge->spans[i];
        struct runner *runner = &race->runners[race->count];
        if (span->first == span->end)
            continue;
        *runner = (struct runner){ .at = span->first, .span = span };
        read_word(race, runner);
        race->count++;
    }
    race->depth = race->count > 0 ? find_depth(race) : 0;
    for (uint32_t i = 0; i < race->count; i++)
        read_word(race, &race->runners[i]);
    return true;
}

/* ---------------------------------------------------------------- tree -- */

/* The runners below a node run; returns who won. */
static uint32_t first_race(struct race *race, uint32_t node)
{
    if (node >= race->count)
        return node - race->count;
    uint32_t a = first_race(race, 2 * node), b = first_race(race, 2 * node + 1);
    bool won = is_before(&race->runners[a], &race->runners[b]);
    race->losers[node] = won ? b : a;
    return won ? a : b;
}

/* The winner has another word: who wins now. */
static uint32_t race_again(struct race *race, uint32_t winner)
{
    for (uint32_t node = (winner + race->count) / 2; node > 0; node /= 2) {
        uint32_t other = race->losers[node];
        if (is_before(&race->runners[other], &race->runners[winner])) {
            race->losers[node] = winner;
            winner = other;
        }
    }
    return winner;
}

/* Who comes next after the winner: the best of those that lost to it. */
static const struct runner *second(const struct race *race, uint32_t winner)
{
    const struct runner *best = NULL;
    for (uint32_t node = (winner + race->count) / 2; node > 0; node /= 2) {
        const struct runner *other = &race->runners[race->losers[node]];
        if (best == NULL || is_before(other, best))
            best = other;
    }
    return best;
}

/* --------------------------------------------------------------- words -- */

/* Takes a runner's word, unless it is the last one again. */
static void take(struct race *race, struct runner *runner)
{
    struct merge *merge = race->merge;
    const struct merge_span *span = runner->span;
    bool same = merge->count > 0 && runner->head == race->last_head
                && text_compare(runner->text, race->last) == 0;
    if (!same) {
        merge->sources[merge->count++] = (uint32_t)(span - merge->spans);
        merge->bytes += runner->text.length;
        race->last_head = runner->head;
        race->last = runner->text;
    }
    span->numbers[runner->at - span->first] = merge->count - 1;
    runner->at++;
    read_word(race, runner);
}

/* Takes all words of a runner that are before those of all others. */
static void take_ahead(struct race *race, uint32_t winner)
{
    struct merge *merge = race->merge;
    struct runner *runner = &race->runners[winner];
    const struct runner *next = second(race, winner);
    const struct merge_span *span = runner->span;
    uint32_t end = is_home(next) ? span->end
                                 : dictionary_seek(span->dictionary, runner->at,
                                                   span->end, next->text);
    if (runner->at == end)
        return;
    end = end - runner->at > TOGETHER_MAX ? runner->at + TOGETHER_MAX : end;
    uint32_t last = dictionary_start(span->dictionary, end)
                    - dictionary_start(span->dictionary, runner->at);
    merge->bytes += last;
    for (; runner->at < end; runner->at++) {
        span->numbers[runner->at - span->first] = merge->count;
        merge->sources[merge->count++] = (uint32_t)(span - merge->spans);
    }
    race->last = dictionary_text(span->dictionary, end - 1);
    race->last_head = text_head(race->last, race->depth);
    read_word(race, runner);
}

static void run(struct race *race)
{
    const struct merge *merge = race->merge;
    uint32_t winner = race->count > 1 ? first_race(race, 1) : 0;
    uint32_t before = winner;
    uint64_t since = 0;
    unsigned wins = 0;
    while (!is_home(&race->runners[winner])) {
        uint32_t count = merge->count;
        take(race, &race->runners[winner]);
        wins = winner == before ? wins + 1 : 0;
        before = winner;
        if (wins == WINS && race->count > 1) {
            take_ahead(race, winner);
            wins = 0;
        }
        winner = race_again(race, winner);
        if (stop_after(&since, 1 + merge->count - count))
            return;
    }
}

/* Counts in memory of its own: those of other threads' merges may lie in the same
 * line of the cache. */
bool dictionary_merge(struct merge *merge)
{
    struct merge own = *merge;
    struct race race = { .merge = &own };
    bool ready = line_up(&race);
    own.count = 0;
    own.bytes = 0;
    if (ready && race.count > 0)
        run(&race);
    *merge = own;
    memory_release(race.losers);
    memory_release(race.runners);
    return ready && !stop_asked();
}

/* ------------------------------------------------------------- writing -- */

void dictionary_copy(struct dictionary *to, uint32_t count, uint32_t bytes,
                     const struct dictionary *from, uint32_t first,
                     uint32_t end)
{
    uint32_t *ends = (uint32_t *)to->ends + count;
    uint32_t start = dictionary_start(from, first);
    memcpy((char *)to->bytes + bytes, from->bytes + start,
           dictionary_start(from, end) - start);
    for (uint32_t i = 0; i < end - first; i++)
        ends[i] = from->ends[first + i] - start + bytes;
}

/* How many words from word `at` of a span on are words `number` and those after
 * it, all from this span. */
static uint32_t words_together(const struct merge *merge, uint32_t number,
                               uint32_t at)
{
    const struct merge_span *span = &merge->spans[merge->sources[number]];
    uint32_t count = 1;
    while (count < TOGETHER_MAX && number + count < merge->count
           && at + count < span->end
           && merge->sources[number + count] == merge->sources[number]
           && span->numbers[at + count - span->first] == number + count)
        count++;
    return count;
}

bool dictionary_merge_write(const struct merge *merge,
                            struct dictionary *dictionary, uint32_t count,
                            uint32_t bytes)
{
    /* of each span: how many of its words were passed */
    uint32_t *passed = memory_zeroed(merge->span_count + 1, sizeof *passed);
    uint64_t since = 0;
    uint32_t together = 0;
    for (uint32_t i = 0; passed != NULL && i < merge->count; i += together) {
        const struct merge_span *span = &merge->spans[merge->sources[i]];
        uint32_t *at = &passed[merge->sources[i]];
        while (span->numbers[*at] != i)
            ++*at;
        uint32_t first = span->first + *at;
        together = words_together(merge, i, first);
        dictionary_copy(dictionary, count + i, bytes, span->dictionary, first,
                        first + together);
        bytes += dictionary_start(span->dictionary, first + together)
                 - dictionary_start(span->dictionary, first);
        *at += together;
        if (stop_after(&since, together))
            break;
    }
    memory_release(passed);
    return passed != NULL && !stop_asked();
}
