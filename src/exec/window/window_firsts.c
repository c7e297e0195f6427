/* SPDX-License-Identifier: MIT */
/*
 * First rows of partitions: see window_firsts.h. Threads share the rows in their
 * order; each counts the partitions that begin in its share, and finds the least
 * row of each. A partition that begins in one share may go on in others, which
 * say what they have of it.
 */
#include "exec/window/window_firsts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/rows/order.h"

enum { PIECE_ROWS = 1 << 14 }; /* that are looked at at once */

struct listing {
    const struct window *window;
    uint32_t *begins;
    int64_t *least; /* row of each partition: of the share that it begins in */
    uint32_t before[PARALLEL_THREADS_MAX + 1]; /* partitions that begin before
                                                  each share               */
    int64_t head[PARALLEL_THREADS_MAX]; /* least row of the partition that goes
                                           on in a share; INT64_MAX: none   */
};

/* The end of rows of one partition: of those up to `stop`, PIECE_ROWS at most. */
static uint32_t end_in(const struct window *window, uint32_t at, uint32_t stop)
{
    uint32_t end = at + 1;

    assert(at < stop);
    stop = stop - at < PIECE_ROWS ? stop : at + PIECE_ROWS;
    while (stop - end >= 8 && window_is_plain(window, end, SORT_PARTITION))
        end += 8;
    while (end < stop && !(window->starts[end] & SORT_PARTITION))
        end++;
    return end;
}

static bool begins_at(const struct window *window, uint32_t at)
{
    return at == 0 || (window->starts[at] & SORT_PARTITION) != 0;
}

/* One thread: counts those that begin in its share. */
static void count_share(void *context, unsigned share)
{
    struct listing *listing = context;
    const struct window *window = listing->window;
    uint32_t stop = window_share(window, share + 1), count = 0;
    uint64_t since = 0;

    for (uint32_t at = window_share(window, share), end;
         at < stop && !stop_after(&since, 1); at = end) {
        end = end_in(window, at, stop);
        count += begins_at(window, at);
    }
    listing->before[share + 1] = count;
}

PARALLEL_CLONES
static uint32_t least_of(const uint32_t *rows, uint32_t count)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        least = rows[i] < least ? rows[i] : least;
    return least;
}

static void lower(int64_t *least, int64_t row)
{
    if (row < *least)
        *least = row;
}

/* One thread: lists those of its share. */
static void list_share(void *context, unsigned share)
{
    struct listing *listing = context;
    const struct window *window = listing->window;
    uint32_t stop = window_share(window, share + 1);
    uint32_t partition = listing->before[share];
    uint64_t since = 0;

    listing->head[share] = INT64_MAX;
    for (uint32_t at = window_share(window, share), end; at < stop; at = end) {
        end = end_in(window, at, stop);
        int64_t least = least_of(window->order + at, end - at);
        if (stop_after(&since, end - at))
            return;
        if (begins_at(window, at)) {
            listing->begins[partition] = at;
            listing->least[partition++] = least;
        } else {
            lower(partition > listing->before[share]
                      ? &listing->least[partition - 1]
                      : &listing->head[share],
                  least);
        }
    }
}

/* Partitions that go on in a share may have their first row there. */
static void take_heads(struct listing *listing)
{
    for (unsigned i = 1; i < listing->window->threads; i++) {
        assert(listing->before[i] > 0);
        lower(&listing->least[listing->before[i] - 1], listing->head[i]);
    }
}

/* Counts them; how many. */
static uint32_t count_all(struct listing *listing)
{
    unsigned threads = listing->window->threads;

    parallel_run(threads, count_share, listing);
    for (unsigned i = 0; i < threads; i++)
        listing->before[i + 1] += listing->before[i];
    return listing->before[threads];
}

/* Puts partitions in the order of their first rows. */
static enum vdbq_status order_firsts(struct window_firsts *firsts,
                                     const int64_t *least, unsigned threads,
                                     struct error *error)
{
    const struct sort_key key = { .type = TYPE_I64, .values = least };
    enum vdbq_status status =
        sort_order(&key, 1, firsts->count, threads, firsts->partitions, error);

    for (uint32_t i = 0; status == VDBQ_OK && i < firsts->count; i++)
        firsts->rows[i] = (uint32_t)least[firsts->partitions[i]];
    return status;
}

enum vdbq_status window_firsts_init(struct window_firsts *firsts,
                                    const struct window *window,
                                    struct error *error)
{
    struct listing listing = { .window = window };
    uint32_t count = count_all(&listing);
    enum vdbq_status status = stop_pause(error);

    *firsts = (struct window_firsts){ .count = count };
    if (status != VDBQ_OK)
        return status;
    assert(count > 0 && window->rows->rows > 0);
    listing.begins = firsts->begins =
        memory_resize(NULL, (count + 1) * sizeof *firsts->begins);
    firsts->partitions =
        memory_resize(NULL, count * sizeof *firsts->partitions);
    firsts->rows = memory_resize(NULL, count * sizeof *firsts->rows);
    listing.least = memory_resize(NULL, count * sizeof *listing.least);
    if (firsts->begins && firsts->partitions && firsts->rows && listing.least) {
        firsts->begins[count] = (uint32_t)window->rows->rows;
        parallel_run(window->threads, list_share, &listing);
        status = stop_pause(error);
        if (status == VDBQ_OK) {
            take_heads(&listing);
            status =
                order_firsts(firsts, listing.least, window->threads, error);
        }
    } else {
        status = error_no_memory(error);
    }
    memory_release(listing.least);
    return status;
}

void window_firsts_finish(struct window_firsts *firsts)
{
    memory_release(firsts->begins);
    memory_release(firsts->partitions);
    memory_release(firsts->rows);
    *firsts = (struct window_firsts){ 0 };
}

/* ------------------------------------------------------ one first row alone -- */

struct finding {
    const struct sort_key *keys;
    unsigned key_count;
    uint32_t rows;
    unsigned threads;
    uint32_t first[PARALLEL_THREADS_MAX]; /* of each share */
};

/* Less than 0: row a is before row b by a key. */
static int compare_by(const struct sort_key *key, uint32_t a, uint32_t b)
{
    bool null = key->nulls != NULL && key->nulls[a] != 0;
    bool other = key->nulls != NULL && key->nulls[b] != 0;
    if (null || other)
        return null == other ? 0 : null == key->nulls_last ? 1 : -1;
    uint64_t x = order_at(key->type, key->values, a);
    uint64_t y = order_at(key->type, key->values, b);
    int order = (x > y) - (x < y);
    return key->descending ? -order : order;
}

/* Whether a row behind another one is before it by the keys. */
static bool is_before(const struct finding *finding, uint32_t row,
                      uint32_t other)
{
    int order = 0;
    for (unsigned i = 0; i < finding->key_count && order == 0; i++)
        order = compare_by(&finding->keys[i], row, other);
    return order < 0;
}

static void find_share(void *context, unsigned share)
{
    struct finding *finding = context;
    uint64_t rows = finding->rows, since = 0;
    uint32_t first = (uint32_t)(rows * share / finding->threads);
    uint32_t end = (uint32_t)(rows * (share + 1) / finding->threads);
    for (uint32_t i = first; i < end && !stop_after(&since, 1); i++)
        if (is_before(finding, i, first))
            first = i;
    finding->first[share] = first;
}

void window_first_alone(struct window *window, const struct sort_key *keys,
                        unsigned count)
{
    struct finding finding = { .keys = keys,
                               .key_count = count,
                               .rows = (uint32_t)window->rows->rows,
                               .threads = window->threads };
    parallel_run(finding.threads, find_share, &finding);
    uint32_t first = finding.first[0];
    for (unsigned i = 1; i < finding.threads; i++)
        if (finding.first[i] < finding.rows
            && is_before(&finding, finding.first[i], first))
            first = finding.first[i];
    for (uint32_t i = 0; i < finding.rows; i++)
        window->order[i] = i;
    window->order[0] = first;
    window->order[first] = 0;
    memset(window->starts, 0, finding.rows);
}
