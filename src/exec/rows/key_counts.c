/* SPDX-License-Identifier: MIT */
/*
 * Counts of integers: see key_counts.h. Every thread goes over all rows that are
 * added, and takes those whose codes are in its range, so that no two threads
 * write one word. Where a value comes again while there are bits alone, what was
 * added of these rows is taken back: they are added to bytes then, or not at all.
 */
#include "exec/rows/key_counts.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/hash.h"
#include "exec/rows/row_bounds.h"

enum {
    BLOCK = 1 << 10,   /* rows whose codes are made at once                */
    WORD_BITS = 64,    /* codes of a word of bits                          */
    THREADS_MOST = 8,  /* with more, going over all rows costs each too much */
    BYTE_HALF = 128,   /* what moves from a byte that is full to `more`    */
    MORE_SLOTS = 1024, /* at first */
    GRANULE_MIN = 1 << 10, /* values that room is made for at once, at least */
    GRANULE_PART = 8       /* ... and this part of all values              */
};
#define VALUES_MAX (UINT64_C(1) << 31)

/* Of a row that is NULL: in no range. */
#define CODE_NONE UINT32_MAX

/* ----------------------------------------------------------------- more -- */

/* The slot of a value: its own, or the free one that it would have. */
static struct key_counts_more *slot_of(const struct key_counts *counts,
                                       int64_t value)
{
    uint32_t mask = counts->more_slots - 1;
    assert(counts->more_slots > 0 && (counts->more_slots & mask) == 0);
    uint32_t at = (uint32_t)hash_number((uint64_t)value) & mask;
    while (counts->more[at].count > 0 && counts->more[at].value != value)
        at = (at + 1) & mask;
    return &counts->more[at];
}

/* Twice the slots; false: no memory. */
static bool grow_more(struct key_counts *counts)
{
    struct key_counts larger = { .more_slots = counts->more_slots > 0
                                                   ? counts->more_slots * 2
                                                   : MORE_SLOTS };
    larger.more = memory_zeroed(larger.more_slots, sizeof *larger.more);
    if (larger.more == NULL)
        return false;
    for (uint32_t i = 0; i < counts->more_slots; i++)
        if (counts->more[i].count > 0)
            *slot_of(&larger, counts->more[i].value) = counts->more[i];
    memory_release(counts->more);
    counts->more = larger.more;
    counts->more_slots = larger.more_slots;
    return true;
}

/* Moves half of a byte that is full; false: no memory. */
static bool add_more(struct key_counts *counts, uint32_t code)
{
    assert(counts->counts[code] == UINT8_MAX);
    if (counts->more_used * 2 >= counts->more_slots && !grow_more(counts))
        return false;
    int64_t value = (int64_t)((uint64_t)counts->low + code);
    struct key_counts_more *slot = slot_of(counts, value);
    counts->more_used += slot->count == 0;
    slot->value = value;
    slot->count += BYTE_HALF;
    counts->counts[code] -= BYTE_HALF;
    return true;
}

/* How often the value of a code came. */
static inline uint32_t count_of(const struct key_counts *counts, uint64_t code)
{
    assert(code <= counts->values);
    if (counts->bits != NULL)
        return counts->bits[code / WORD_BITS] >> code % WORD_BITS & 1;
    uint32_t count = counts->counts[code];
    if (count >= BYTE_HALF && counts->more_slots > 0)
        count +=
            slot_of(counts, (int64_t)((uint64_t)counts->low + code))->count;
    return count;
}

/* ----------------------------------------------------------------- room -- */

uint64_t key_counts_bytes(const struct key_counts *counts)
{
    uint64_t more = (uint64_t)counts->more_slots * sizeof *counts->more;
    uint64_t each = counts->counts != NULL ? counts->values : 0;
    return more + each + (counts->bits != NULL ? counts->values / 8 : 0);
}

void key_counts_finish(struct key_counts *counts)
{
    memory_release(counts->bits);
    memory_release(counts->counts);
    memory_release(counts->more);
    *counts = (struct key_counts){ .once = counts->once };
}

/* Values as numbers in the same order, from 0 on, and back. */
static uint64_t above_least(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

/* The codes that hold these values and those that came: whole granules, so that
 * room is not made anew whenever a value lies outside. False: too many. */
static bool choose_codes(const struct key_counts *counts,
                         struct row_bounds bounds, int64_t *low,
                         uint64_t *values)
{
    uint64_t first = above_least(bounds.low), last = above_least(bounds.high);
    uint64_t granule = GRANULE_MIN;
    assert(first <= last);
    if (counts->values > 0) {
        uint64_t least = above_least(counts->low);
        uint64_t most = least + counts->values - 1;
        first = first < least ? first : least;
        last = last > most ? last : most;
    }
    if (last - first >= VALUES_MAX)
        return false;
    while (granule < (last - first) / GRANULE_PART / 2)
        granule *= 2;
    first &= ~(granule - 1);
    last |= granule - 1;
    *low = (int64_t)(first ^ (UINT64_C(1) << 63));
    *values = last - first + 1;
    return *values <= VALUES_MAX;
}

/* Makes an array larger, whose `size` bytes move up by `shift`. */
static void *make_larger(const void *array, uint64_t size, uint64_t shift,
                         uint64_t larger)
{
    char *made = memory_zeroed(larger, 1);
    assert(shift + size <= larger);
    if (made != NULL && size > 0)
        memcpy(made + shift, array, size);
    return made;
}

/* Makes room for values within bounds. `*fits` false: it stays as it is. */
static enum vdbq_status make_room(struct key_counts *counts,
                                  struct row_bounds bounds, uint64_t most,
                                  bool *fits, struct error *error)
{
    uint64_t values = 0, part = counts->counts != NULL ? 1 : 8;
    int64_t low = 0;
    *fits =
        choose_codes(counts, bounds, &low, &values) && values / part <= most;
    if (!*fits || (values == counts->values && low == counts->low))
        return VDBQ_OK;
    uint64_t shift =
        counts->values > 0 ? above_least(counts->low) - above_least(low) : 0;
    void *old = counts->counts != NULL ? (void *)counts->counts : counts->bits;
    void *made = make_larger(old, counts->values / part, shift / part,
                             values / part + sizeof(uint64_t));
    if (made == NULL)
        return error_no_memory(error);
    memory_release(old);
    if (counts->counts != NULL)
        counts->counts = made;
    else
        counts->bits = made;
    counts->low = low;
    counts->values = values;
    return VDBQ_OK;
}

/* Bytes in place of bits. */
static enum vdbq_status make_counts(struct key_counts *counts,
                                    struct error *error)
{
    assert(counts->bits != NULL && counts->counts == NULL);
    counts->counts = memory_zeroed(counts->values + 1, 1);
    if (counts->counts == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < counts->values && !stop_at(i); i++)
        counts->counts[i] = counts->bits[i / WORD_BITS] >> i % WORD_BITS & 1;
    memory_release(counts->bits);
    counts->bits = NULL;
    return stop_pause(error);
}

/* ------------------------------------------------------------------ add -- */

/* Rows that are added. */
struct adding {
    struct key_counts *counts;           /* that they are added to */
    const struct row_set_column *column; /* has their values */
    uint64_t rows;                       /* of the column */
    unsigned threads;                    /* each has a range of the codes */
    uint64_t done[THREADS_MOST];         /* rows that each went over */
    atomic_bool ended;    /* a value came again, or there is no memory */
    pthread_mutex_t lock; /* of `more` */
};

/* Adds those of a block's rows that are selected, until one cannot be: how many
 * were. */
typedef unsigned take_rows(struct adding *adding, const uint32_t *codes,
                           const uint16_t *selected, unsigned count);

static unsigned set_bits(struct adding *adding, const uint32_t *codes,
                         const uint16_t *selected, unsigned count)
{
    uint64_t *bits = adding->counts->bits;
    bool once = adding->counts->once;
    for (unsigned i = 0; i < count; i++) {
        uint64_t *word = &bits[codes[selected[i]] / WORD_BITS];
        uint64_t bit = UINT64_C(1) << codes[selected[i]] % WORD_BITS;
        if ((*word & bit) != 0 && !once)
            return i;
        *word |= bit;
    }
    return count;
}

/* Takes back what set_bits() did for the first time. */
static unsigned clear_bits(struct adding *adding, const uint32_t *codes,
                           const uint16_t *selected, unsigned count)
{
    uint64_t *bits = adding->counts->bits;
    assert(!adding->counts->once);
    for (unsigned i = 0; i < count; i++)
        bits[codes[selected[i]] / WORD_BITS] &=
            ~(UINT64_C(1) << codes[selected[i]] % WORD_BITS);
    return count;
}

static unsigned count_up(struct adding *adding, const uint32_t *codes,
                         const uint16_t *selected, unsigned count)
{
    uint8_t *counts = adding->counts->counts;
    for (unsigned i = 0; i < count; i++) {
        uint32_t code = codes[selected[i]];
        bool good = true;
        if (counts[code] == UINT8_MAX) {
            pthread_mutex_lock(&adding->lock);
            good = add_more(adding->counts, code);
            pthread_mutex_unlock(&adding->lock);
        }
        if (!good)
            return i;
        counts[code]++;
    }
    return count;
}

/* The codes of rows [first, first + count). */
static void make_codes(const struct adding *adding, uint64_t first,
                       unsigned count, uint32_t *codes)
{
    const struct row_set_column *column = adding->column;
    uint64_t low = (uint64_t)adding->counts->low;
    if (column->width == sizeof(int32_t)) {
        const int32_t *values = (const int32_t *)column->values + first;
        for (unsigned i = 0; i < count; i++)
            codes[i] = (uint32_t)values[i] - (uint32_t)low;
    } else {
        const int64_t *values = (const int64_t *)column->values + first;
        for (unsigned i = 0; i < count; i++)
            codes[i] = (uint32_t)((uint64_t)values[i] - low);
    }
    for (unsigned i = 0; i < count && column->nulls != NULL; i++)
        codes[i] = column->nulls[first + i] != 0 ? CODE_NONE : codes[i];
}

/* Goes over the rows before `end` for one thread's codes, a word's together. */
static void go_over(struct adding *adding, unsigned share, uint64_t end,
                    take_rows *take)
{
    uint64_t words = adding->counts->values / WORD_BITS;
    uint64_t first = words * share / adding->threads * WORD_BITS;
    uint64_t range = words * (share + 1) / adding->threads * WORD_BITS - first;
    uint32_t codes[BLOCK];
    uint16_t selected[BLOCK];
    uint64_t at = 0;
    for (; at < end && !atomic_load(&adding->ended) && !stop_at(at);
         at += BLOCK) {
        unsigned rows = end - at < BLOCK ? (unsigned)(end - at) : BLOCK;
        unsigned count = 0;
        make_codes(adding, at, rows, codes);
        for (unsigned i = 0; i < rows; i++) {
            selected[count] = (uint16_t)i;
            count += codes[i] - (uint32_t)first < (uint32_t)range;
        }
        unsigned taken = take(adding, codes, selected, count);
        if (taken < count) {
            atomic_store(&adding->ended, true);
            adding->done[share] = at + selected[taken];
            return;
        }
    }
    adding->done[share] = at < end ? at : end;
}

static void set_share(void *context, unsigned share)
{
    struct adding *adding = context;
    go_over(adding, share, adding->rows, set_bits);
}

static void clear_share(void *context, unsigned share)
{
    struct adding *adding = context;
    go_over(adding, share, adding->done[share], clear_bits);
}

static void count_share(void *context, unsigned share)
{
    struct adding *adding = context;
    go_over(adding, share, adding->rows, count_up);
}

/* Adds to bits. `*again`: a value came again, and none was added. */
static enum vdbq_status add_bits(struct adding *adding, bool *again,
                                 struct error *error)
{
    assert(adding->counts->bits != NULL);
    parallel_run(adding->threads, set_share, adding);
    if (stop_asked())
        return error_cancelled(error);
    *again = atomic_exchange(&adding->ended, false);
    if (*again)
        parallel_run(adding->threads, clear_share, adding);
    return stop_pause(error);
}

/* Adds to bytes. */
static enum vdbq_status add_counts(struct adding *adding, struct error *error)
{
    assert(adding->counts->counts != NULL);
    parallel_run(adding->threads, count_share, adding);
    return atomic_load(&adding->ended) ? error_no_memory(error)
                                       : stop_pause(error);
}

/* Adds rows whose codes have room; `*fits` as of key_counts_add(). */
static enum vdbq_status add_rows(struct adding *adding, uint64_t most,
                                 bool *fits, struct error *error)
{
    struct key_counts *counts = adding->counts;
    enum vdbq_status status = VDBQ_OK;
    bool again = false;
    if (counts->bits != NULL) {
        status = add_bits(adding, &again, error);
        if (status != VDBQ_OK || !again)
            return status;
        *fits = counts->values <= most;
        if (*fits)
            status = make_counts(counts, error);
    }
    return status == VDBQ_OK && *fits ? add_counts(adding, error) : status;
}

/* How many of a column's rows have a value. */
static uint64_t values_of(const struct row_set_column *column, uint64_t rows)
{
    uint64_t count = rows;
    for (uint64_t i = 0; i < rows && column->nulls != NULL; i++)
        count -= column->nulls[i] != 0;
    return count;
}

enum vdbq_status key_counts_add(struct key_counts *counts,
                                const struct row_set_column *column,
                                uint64_t rows,
                                const struct key_counts_limits *limits,
                                bool *fits, struct error *error)
{
    struct row_bounds bounds = row_bounds(column, rows, limits->threads);
    struct adding adding = { .counts = counts, .column = column, .rows = rows };
    uint64_t added = values_of(column, rows);
    *fits = true;
    if (stop_asked())
        return error_cancelled(error); /* not all bounds are known */
    if (added == 0)
        return VDBQ_OK;
    *fits = added <= ROW_SET_ROWS_MAX - counts->rows;
    enum vdbq_status status = VDBQ_OK;
    if (*fits)
        status = make_room(counts, bounds, limits->bytes, fits, error);
    if (status != VDBQ_OK || !*fits)
        return status;
    adding.threads = parallel_threads(limits->threads, rows);
    if (adding.threads > THREADS_MOST)
        adding.threads = THREADS_MOST;
    pthread_mutex_init(&adding.lock, NULL);
    status = add_rows(&adding, limits->bytes, fits, error);
    pthread_mutex_destroy(&adding.lock);
    counts->rows += status == VDBQ_OK && *fits ? added : 0;
    return status;
}

/* ------------------------------------------------------------------ ask -- */

void key_counts_find(const struct key_counts *counts, const uint32_t *codes,
                     unsigned rows, uint32_t *starts, uint32_t *found)
{
    for (unsigned i = 0; i < rows; i++) {
        bool known = codes[i] < counts->values;
        found[i] = known ? count_of(counts, codes[i]) : 0;
        starts[i] = found[i] > 0 ? 0 : ROW_SET_NO_ROW;
    }
}

uint64_t key_counts_give(const struct key_counts *counts,
                         struct key_counts_place *place,
                         const struct row_set_column *column, uint64_t room)
{
    uint64_t written = 0;
    while (written < room && place->code < counts->values
           && !stop_at(place->code)) {
        int64_t value = (int64_t)((uint64_t)counts->low + place->code);
        uint64_t left = count_of(counts, place->code) - place->given;
        uint64_t some = left < room - written ? left : room - written;
        for (uint64_t i = written; i < written + some; i++)
            if (column->width == sizeof(int32_t))
                ((int32_t *)column->values)[i] = (int32_t)value;
            else
                ((int64_t *)column->values)[i] = value;
        written += some;
        place->given += (uint32_t)some;
        if (some == left)
            *place = (struct key_counts_place){ .code = place->code + 1 };
    }
    return written;
}
