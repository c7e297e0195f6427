/* SPDX-License-Identifier: MIT */
/*
 * The order of rows: their keys become one long number (sort_fields.h), of which
 * rows are sorted by 32 bits at a time, the highest first: rows that are equal
 * there make a run, and only runs are sorted by the word below. Rows that are
 * equal keep their order.
 */
#include "exec/sort/sort.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/sort/sort_fields.h"
#include "exec/sort/sort_radix.h"

enum {
    MORSEL_ROWS =
        HOSTILE(40, 1 << 14),         /* whose runs a thread sorts at a time */
    LONG_RUN = HOSTILE(300, 1 << 16), /* of so many rows: all threads sort it */
    RADIX_RUN =
        HOSTILE(50, 1 << 12), /* ... by digits; shorter ones are merged */
    FEW_ROWS = HOSTILE(3, 16) /* ... so few by insertion */
};

/* Rows that are equal so far, side by side in the order. */
struct run {
    uint32_t first, end;
};

struct sorting {
    struct sort_fields fields;
    uint32_t count;     /* rows */
    unsigned threads;   /* that share the rows */
    unsigned word;      /* which is being sorted    */
    uint32_t first;     /* of the rows at hand, which are sorted next */
    uint32_t end;       /* one behind the last of them */
    uint64_t *elements; /* number of the row, and above it the word */
    uint64_t *other;    /* as much room */
    uint8_t *starts;    /* of each row in the order: enum sort_start; or NULL */
    uint32_t *order;    /* what comes of it: numbers of rows */
    atomic_uint_fast32_t next;  /* morsel that no thread has taken yet */
    uint32_t *morsels;          /* where runs begin: of each the first row */
    uint32_t morsel_count;      /* of them; one more tells the end */
    atomic_uint_fast32_t longs; /* long runs that were met */
    struct run *long_runs;      /* these */
    atomic_bool no_memory;      /* a thread found none */
};

int sort_type(enum vdbq_type type)
{
    if (type == VDBQ_FLOAT)
        return TYPE_F32;
    if (type == VDBQ_DOUBLE)
        return TYPE_F64;
    return row_set_width(type) == 8 ? TYPE_I64 : TYPE_I32;
}

void sort_keys(const struct row_set *row_set, const struct step_key *keys,
               unsigned count, struct sort_key *made)
{
    assert(count == 0 || keys != NULL);
    for (unsigned i = 0; i < count; i++) {
        const struct row_set_column *column = &row_set->columns[keys[i].column];
        made[i] = (struct sort_key){ .type = sort_type(column->type),
                                     .values = column->values,
                                     .nulls = column->nulls,
                                     .descending = keys[i].descending,
                                     .nulls_last = keys[i].nulls_last };
    }
}

/* ------------------------------------------------------------ elements -- */

/* Sorts few elements; no two are equal. */
static void sort_few(uint64_t *elements, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t element = elements[i];
        uint32_t at = i;
        for (; at > 0 && elements[at - 1] > element; at--)
            elements[at] = elements[at - 1];
        elements[at] = element;
    }
}

/* Merges the sorted halves of `from`. */
static void merge_halves(const uint64_t *from, uint32_t half, uint32_t count,
                         uint64_t *to)
{
    uint32_t a = 0, b = half;
    assert(half > 0 && half < count);
    for (uint32_t i = 0; i < count; i++) {
        bool left = b == count || (a < half && from[a] < from[b]);
        to[i] = from[left ? a : b];
        a += left;
        b += !left;
    }
}

/* Sorts fewer than RADIX_RUN elements, with as much room at `other`, in halves down
 * to FEW_ROWS: some ten calls deep. */
static void sort_short(uint64_t *elements, uint64_t *other, uint32_t count)
{
    uint32_t half = count / 2;
    if (count <= FEW_ROWS) {
        sort_few(elements, count);
        return;
    }
    sort_short(elements, other, half);
    sort_short(elements + half, other + half, count - half);
    memcpy(other, elements, count * sizeof *elements);
    merge_halves(other, half, count, elements);
}

/* Sorts elements, those with equal words by their rows, with as much room at
 * `other`. Where of the two they are then; NULL: no memory. */
static uint64_t *sort_elements(uint64_t *elements, uint64_t *other,
                               uint32_t count, unsigned threads)
{
    if (count >= RADIX_RUN)
        return radix_sort(elements, other, count, threads);
    sort_short(elements, other, count);
    return elements;
}

/* ------------------------------------------------------ all rows at hand -- */

/* The first row at hand of a thread's share. */
static uint32_t share_first(const struct sorting *sorting, unsigned share)
{
    uint64_t rows = sorting->end - sorting->first;
    return sorting->first + (uint32_t)(rows * share / sorting->threads);
}

/* One thread's share: puts the word over the row numbers. */
static void put_word(void *context, unsigned share)
{
    struct sorting *sorting = context;
    uint32_t end = share_first(sorting, share + 1);

    for (uint32_t at = share_first(sorting, share), count;
         at < end && !stop_asked(); at += count) {
        count = end - at < STOP_ROWS ? end - at : STOP_ROWS;
        sort_fields_put(&sorting->fields, sorting->word, sorting->elements + at,
                        count);
    }
}

/* Marks where rows [first, end) differ from the one before them. */
static void mark_rows(const struct sorting *sorting, uint32_t first,
                      uint32_t end)
{
    uint64_t parting = sort_fields_parting(&sorting->fields, sorting->word);
    assert(first > 0 && sorting->starts != NULL);
    for (uint32_t i = first; i < end; i++) {
        uint64_t differs =
            (sorting->elements[i] ^ sorting->elements[i - 1]) >> 32;
        sorting->starts[i] |= (differs & parting ? SORT_PARTITION : 0)
                              | (differs ? SORT_PEERS : 0);
    }
}

/* One thread's share of that; the first row at hand is marked. */
static void mark_share(void *context, unsigned share)
{
    struct sorting *sorting = context;
    uint32_t first = share_first(sorting, share);
    mark_rows(sorting, first > sorting->first ? first : first + 1,
              share_first(sorting, share + 1));
}

/* All threads sort the rows at hand by the word. */
static bool sort_at_hand(struct sorting *sorting)
{
    uint64_t *elements = sorting->elements + sorting->first;
    uint32_t count = sorting->end - sorting->first;

    parallel_run(sorting->threads, put_word, sorting);
    uint64_t *sorted = sort_elements(elements, sorting->other + sorting->first,
                                     count, sorting->threads);
    if (sorted == NULL)
        return false;
    if (sorted != elements && count == sorting->count) {
        sorting->other = sorting->elements;
        sorting->elements = sorted;
    } else if (sorted != elements) {
        memcpy(elements, sorted, count * sizeof *elements);
    }
    if (sorting->starts != NULL)
        parallel_run(sorting->threads, mark_share, sorting);
    return true;
}

/* ---------------------------------------------------------------- runs -- */

/* Sorts a run by the word, and marks the runs in it. */
static void sort_run(struct sorting *sorting, uint32_t first, uint32_t end)
{
    uint64_t *elements = sorting->elements + first;
    uint64_t *other = sorting->other + first;
    uint32_t count = end - first;

    sort_fields_put(&sorting->fields, sorting->word, elements, count);
    uint64_t *sorted = sort_elements(elements, other, count, 1);
    if (sorted == NULL)
        sorting->no_memory = true;
    else if (sorted != elements)
        memcpy(elements, other, count * sizeof *elements);
    mark_rows(sorting, first + 1, end);
}

/* The first row from `at` on, or `end`, that begins a run. */
static uint32_t next_run(const struct sorting *sorting, uint32_t at,
                         uint32_t end)
{
    while (at < end && sorting->starts[at] == 0)
        at++;
    return at;
}

/* Sorts the runs of rows [at, end); long ones are noted. */
static void sort_morsel(struct sorting *sorting, uint32_t at, uint32_t end)
{
    for (uint32_t behind; at < end; at = behind) {
        behind = next_run(sorting, at + 1, end);
        if (behind - at >= LONG_RUN)
            sorting->long_runs[sorting->longs++] = (struct run){ at, behind };
        else if (behind - at > 1)
            sort_run(sorting, at, behind);
    }
}

/* One thread: takes morsels from those that are left. */
static void sort_runs_share(void *context, unsigned share)
{
    struct sorting *sorting = context;
    (void)share;
    while (!stop_asked() && !sorting->no_memory) {
        uint32_t at = (uint32_t)atomic_fetch_add(&sorting->next, 1);
        if (at >= sorting->morsel_count)
            return;
        sort_morsel(sorting, sorting->morsels[at], sorting->morsels[at + 1]);
    }
}

/* Morsels of whole runs: who sorts one marks rows in it and looks at no others. */
static void cut_morsels(struct sorting *sorting)
{
    uint32_t at = 0;
    sorting->morsel_count = 0;
    while (at < sorting->count) {
        uint64_t next = (uint64_t)at + MORSEL_ROWS;
        sorting->morsels[sorting->morsel_count++] = at;
        at = next < sorting->count
                 ? next_run(sorting, (uint32_t)next, sorting->count)
                 : sorting->count;
    }
    sorting->morsels[sorting->morsel_count] = at;
}

/* Sorts all runs by the word: threads share the short ones, then all of them
 * take one long one after the other. */
static bool sort_all_runs(struct sorting *sorting)
{
    bool done = true;
    cut_morsels(sorting);
    sorting->next = 0;
    sorting->longs = 0;
    parallel_run(sorting->threads, sort_runs_share, sorting);
    for (uint32_t i = 0; done && i < sorting->longs && !stop_asked(); i++) {
        sorting->first = sorting->long_runs[i].first;
        sorting->end = sorting->long_runs[i].end;
        assert(sorting->end <= sorting->count);
        done = sort_at_hand(sorting);
    }
    return done && !sorting->no_memory;
}

/* ----------------------------------------------------------- the order -- */

/* One thread's share: rows in the order in which they are. */
static void number_rows(void *context, unsigned share)
{
    struct sorting *sorting = context;
    uint32_t end = share_first(sorting, share + 1);
    for (uint32_t i = share_first(sorting, share); i < end; i++)
        sorting->elements[i] = i;
}

/* One thread's share: the numbers of the sorted rows. */
static void take_order(void *context, unsigned share)
{
    struct sorting *sorting = context;
    uint32_t end = share_first(sorting, share + 1);
    for (uint32_t i = share_first(sorting, share); i < end; i++)
        sorting->order[i] = (uint32_t)sorting->elements[i];
}

/* Sorts by the highest word, then runs by those below. */
static bool sort_words(struct sorting *sorting)
{
    bool done = true;
    parallel_run(sorting->threads, number_rows, sorting);
    for (unsigned left = sorting->fields.words; done && left > 0; left--) {
        sorting->word = left - 1;
        done = left == sorting->fields.words ? sort_at_hand(sorting)
                                             : sort_all_runs(sorting);
        if (stop_asked())
            return true;
    }
    sorting->first = 0;
    sorting->end = sorting->count;
    if (done)
        parallel_run(sorting->threads, take_order, sorting);
    return done;
}

/* Room for what is marked, where somebody asks or there are runs. */
static bool make_starts(struct sorting *sorting, uint8_t **starts)
{
    *starts = NULL;
    if (sorting->starts == NULL && sorting->fields.words > 1)
        sorting->starts = *starts = memory_resize(NULL, sorting->count);
    else if (sorting->starts == NULL)
        return true;
    if (sorting->starts == NULL)
        return false;
    memset(sorting->starts, 0, sorting->count);
    sorting->starts[0] = SORT_PARTITION | SORT_PEERS;
    return true;
}

/* Sorts rows whose fields are known. */
static enum vdbq_status sort_rows(struct sorting *sorting, struct error *error)
{
    uint8_t *starts;
    uint64_t *room = memory_resize(NULL, (size_t)sorting->count * 16);
    bool done = make_starts(sorting, &starts) && room != NULL;

    sorting->long_runs = memory_resize(NULL, (sorting->count / LONG_RUN + 1)
                                                 * sizeof *sorting->long_runs);
    sorting->morsels = memory_resize(NULL, (sorting->count / MORSEL_ROWS + 2)
                                               * sizeof *sorting->morsels);
    done = done && sorting->long_runs != NULL && sorting->morsels != NULL;
    if (done) {
        sorting->elements = room;
        sorting->other = room + sorting->count;
        done = sort_words(sorting);
    }
    memory_release(room);
    memory_release(starts);
    memory_release(sorting->long_runs);
    memory_release(sorting->morsels);
    return done ? stop_pause(error) : error_no_memory(error);
}

enum vdbq_status sort_order_marked(const struct sort_key *keys,
                                   unsigned key_count, uint32_t count,
                                   unsigned threads, uint32_t *order,
                                   unsigned partition, uint8_t *starts,
                                   struct error *error)
{
    struct sorting sorting = { .count = count,
                               .end = count,
                               .threads = parallel_threads(threads, count),
                               .order = order,
                               .starts = starts };
    if (count == 0)
        return VDBQ_OK;
    enum vdbq_status status =
        sort_fields_init(&sorting.fields, keys, key_count, partition, count,
                         sorting.threads, error);
    if (status == VDBQ_OK)
        status = sort_rows(&sorting, error);
    sort_fields_finish(&sorting.fields);
    return status;
}

enum vdbq_status sort_order(const struct sort_key *keys, unsigned key_count,
                            uint32_t count, unsigned threads, uint32_t *order,
                            struct error *error)
{
    return sort_order_marked(keys, key_count, count, threads, order, 0, NULL,
                             error);
}
