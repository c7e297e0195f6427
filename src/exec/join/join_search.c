/* SPDX-License-Identifier: MIT */
/*
 * Candidates of a join: for each left row, in order, the right rows with equal
 * keys, or what its bounds find, or all of them. What rows give is counted
 * first, a block of rows a number, so that any range of slots can be written by
 * itself: a row of many candidates is shared out like many rows of one.
 */
#include "exec/join/join.h"

#include <assert.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "base/threads/stop.h"

/* -------------------------------------------------------- open, finish -- */

/* Without keys every right row is a candidate. */
static void find_all(const struct join_search *search, uint64_t first,
                     unsigned rows)
{
    memset(search->starts + first, 0, rows * sizeof *search->starts);
    for (unsigned i = 0; i < rows; i++)
        search->counts[first + i] = (uint32_t)search->right_rows;
}
const struct join_finder join_find_all = { .find = find_all };

/* Candidates are rows with equal keys. */
static void find_equal(const struct join_search *search, uint64_t first,
                       unsigned rows)
{
    join_index_find(&search->index, first, rows, search->starts + first,
                    search->counts + first);
}
const struct join_finder join_find_equal = { .find = find_equal };

/* Candidates are rows in the range. */
static void find_range_join(const struct join_search *search, uint64_t first,
                            unsigned rows)
{
    range_join_find(&search->range, search->left, first, rows,
                    search->starts + first, search->counts + first);
}

/* Writes some of the candidates of a left row. */
static void write_range_join(const struct join_search *search, uint64_t row,
                             uint32_t skip, uint32_t count, uint32_t *right)
{
    range_join_write(&search->range, search->left,
                     &(struct range_join_run){ .left = row,
                                               .start = search->starts[row],
                                               .count = search->counts[row],
                                               .skip = skip,
                                               .wanted = count },
                     right);
}
const struct join_finder range_join_search = { .find = find_range_join,
                                               .write = write_range_join };

/* How many rows a left row has in the result, or pairs to judge. */
static enum join_slots slots_of_kind(const struct step_join *step)
{
    bool judged = step->condition != NULL;
    switch (step->kind) {
    case JOIN_LEFT:
    case JOIN_FULL:
        return judged ? SLOTS_PAIRS_END : SLOTS_OUTER;
    case JOIN_SEMI:
        return judged ? SLOTS_PAIRS_END : SLOTS_WITH;
    case JOIN_ANTI:
        return judged ? SLOTS_PAIRS_END : SLOTS_WITHOUT;
    case JOIN_MARK:
        return SLOTS_ONE;
    default:
        return SLOTS_PAIRS;
    }
}

/* Indexes the right side by its keys. */
static enum vdbq_status make_index(struct join_search *search,
                                   const struct join_search_params *params,
                                   struct error *error)
{
    const struct step_join *step = params->step;
    const struct key_counts *counted = params->counted;
    struct join_range range = { 0 };
    if (counted != NULL)
        range = (struct join_range){ .low = counted->low,
                                     .values = counted->values,
                                     .codes = counted->values };
    enum vdbq_status status = join_keys_init(
        &search->keys,
        &(struct join_keys_params){ .range = counted != NULL ? &range : NULL,
                                    .indexed = params->right,
                                    .indexed_keys = &step->right_keys,
                                    .asking = params->left,
                                    .asking_keys = &step->left_keys,
                                    .texts = params->texts,
                                    .nulls_match = step->nulls_match,
                                    .threads = params->threads },
        error);
    if (status == VDBQ_OK)
        status = join_index_init(
            &search->index,
            &(struct join_index_params){ .keys = &search->keys,
                                         .rows = params->right->rows,
                                         .once = search->slots >= SLOTS_WITH,
                                         .which = params->which,
                                         .counted = counted,
                                         .threads = params->threads },
            error);
    search->list = search->index.list;
    search->single = search->index.unique;
    return status;
}

/* A range goes before keys, and keys before nothing. */
static const struct join_finder *finder_of(const struct step_join *step)
{
    if (step->range.side != RANGE_JOIN_NONE)
        return &range_join_search;
    return step->right_keys.count > 0 ? &join_find_equal : &join_find_all;
}

enum vdbq_status join_search_init(struct join_search *search,
                                  const struct join_search_params *params,
                                  struct error *error)
{
    *search = (struct join_search){
        .step = params->step,
        .finder = finder_of(params->step),
        .slots = slots_of_kind(params->step),
        .threads = params->threads,
        .right_rows = params->right->rows,
    };
    if (search->finder == &join_find_equal)
        return make_index(search, params, error);
    if (search->finder == &join_find_all)
        return VDBQ_OK;
    return range_join_init(
        &search->range,
        &(struct range_join_params){ .range = &params->step->range,
                                     .right = params->right,
                                     .threads = params->threads },
        error);
}

void join_search_finish(struct join_search *search)
{
    join_index_finish(&search->index);
    join_keys_finish(&search->keys);
    range_join_finish(&search->range);
    memory_release(search->starts);
    memory_release(search->counts);
    memory_release(search->before);
    *search = (struct join_search){ 0 };
}

/* --------------------------------------------------------------- count -- */

/* How many slots a row with so many candidates has. */
static inline uint64_t slots_of(enum join_slots slots, uint32_t count)
{
    switch (slots) {
    case SLOTS_PAIRS:
        return count;
    case SLOTS_PAIRS_END:
        return (uint64_t)count + 1;
    case SLOTS_OUTER:
        return count > 0 ? count : 1;
    case SLOTS_WITH:
        return count > 0;
    case SLOTS_WITHOUT:
        return count == 0;
    default:
        return 1;
    }
}

/* Blocks of left rows. */
static uint64_t block_count(const struct join_search *search)
{
    return (search->left->rows + JOIN_BLOCK - 1) / JOIN_BLOCK;
}

struct searching {
    struct join_search *search;
    unsigned threads; /* that share the blocks */
};

/* Finds the candidates of a block; its slots. */
static uint64_t find_block(const struct join_search *search, uint64_t block)
{
    assert(block < block_count(search));
    uint64_t first = block * JOIN_BLOCK, sum = 0;
    uint64_t left = search->left->rows - first;
    unsigned rows = left < JOIN_BLOCK ? (unsigned)left : JOIN_BLOCK;
    search->finder->find(search, first, rows);
    for (unsigned i = 0; i < rows; i++)
        sum += slots_of(search->slots, search->counts[first + i]);
    return sum;
}

/* One thread's blocks of left rows. */
static void find_share(void *context, unsigned share)
{
    const struct searching *all = context;
    uint64_t blocks = block_count(all->search);
    uint64_t end = blocks * (share + 1) / all->threads, since = 0;
    for (uint64_t i = blocks * share / all->threads; i < end; i++) {
        all->search->before[i] = find_block(all->search, i);
        if (stop_after(&since, JOIN_BLOCK))
            return;
    }
}

/* Makes an array of row numbers larger; false: no memory, and it is as it
   was. */
static bool grow(uint32_t **numbers, uint64_t count)
{
    uint32_t *larger = memory_resize(*numbers, count * sizeof *larger);
    if (larger != NULL)
        *numbers = larger;
    return larger != NULL;
}

/* Makes room for so many left rows. */
static enum vdbq_status make_room(struct join_search *search, uint64_t rows,
                                  struct error *error)
{
    if (rows <= search->left_room)
        return VDBQ_OK;
    uint64_t *before =
        memory_resize(search->before, (rows / JOIN_BLOCK + 2) * sizeof *before);
    if (before != NULL)
        search->before = before;
    if (before == NULL || !grow(&search->starts, rows)
        || !grow(&search->counts, rows))
        return error_no_memory(error);
    search->left_room = rows;
    return VDBQ_OK;
}

enum vdbq_status join_search_begin(struct join_search *search,
                                   const struct row_set *left,
                                   struct error *error)
{
    struct searching all = { .search = search,
                             .threads = parallel_threads(search->threads,
                                                         left->rows) };
    search->left = left;
    assert(left->rows <= ROW_SET_ROWS_MAX);
    search->slot_count = 0;
    enum vdbq_status status = make_room(search, left->rows, error);
    if (status == VDBQ_OK && search->keys.count > 0)
        status = join_keys_begin(&search->keys, left, error);
    if (status != VDBQ_OK)
        return status;
    parallel_run(all.threads, find_share, &all);
    if (stop_asked())
        return error_cancelled(error);
    for (uint64_t i = 0; i < block_count(search); i++) {
        uint64_t slots = search->before[i];
        search->before[i] = search->slot_count;
        search->slot_count += slots;
    }
    search->before[block_count(search)] = search->slot_count;
    return VDBQ_OK;
}

bool join_search_plain(const struct join_search *search)
{
    bool one = search->slots == SLOTS_ONE || search->slots == SLOTS_WITH
               || search->slots == SLOTS_WITHOUT
               || (search->single && search->slots != SLOTS_PAIRS_END);
    return one && search->slot_count == search->left->rows;
}

/* --------------------------------------------------------------- write -- */

/* The slots that are to be written. */
struct writing {
    uint64_t row;           /* the next left row               */
    uint64_t skip;          /* slots of it that come before    */
    uint64_t count;         /* slots to write */
    uint32_t *left, *right; /* row numbers, one a slot */
};

/* The last block with no more than `slot` slots before it. */
static uint64_t seek_block(const struct join_search *search, uint64_t slot)
{
    uint64_t low = 0, high = block_count(search);
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (search->before[middle] <= slot)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The left row that a slot belongs to, and the row's slots before it. */
static void seek_row(const struct join_search *search, uint64_t slot,
                     struct writing *writing)
{
    uint64_t block = seek_block(search, slot);
    uint64_t at = search->before[block], row = block * JOIN_BLOCK;
    assert(at <= slot);
    for (;; row++) {
        uint64_t slots = slots_of(search->slots, search->counts[row]);
        assert(row < search->left->rows);
        if (at + slots > slot)
            break;
        at += slots;
    }
    writing->row = row;
    writing->skip = slot - at;
}

/* Rows that stand alone, with a candidate or without. */
static void write_rows(const struct join_search *search,
                       const struct writing *writing)
{
    enum join_slots slots = search->slots;
    uint64_t row = writing->row;
    for (uint64_t n = 0; n < writing->count; row++) {
        writing->left[n] = (uint32_t)row;
        n += slots == SLOTS_ONE
             || (search->counts[row] > 0) == (slots == SLOTS_WITH);
    }
}

/* One candidate a row at most, whose number is ROW_SET_NO_ROW for none. */
static void write_single(const struct join_search *search,
                         const struct writing *writing)
{
    bool outer = search->slots == SLOTS_OUTER;
    const uint32_t *starts = search->starts;
    uint64_t row = writing->row;
    for (uint64_t n = 0; n < writing->count; row++) {
        writing->left[n] = (uint32_t)row;
        writing->right[n] = starts[row];
        n += outer || starts[row] != ROW_SET_NO_ROW;
    }
}

/* Candidates [skip, skip + count) of a row. */
static void write_candidates(const struct join_search *search, uint64_t row,
                             uint32_t skip, uint32_t count, uint32_t *right)
{
    assert(count == 0 || skip + count <= search->counts[row]);
    uint32_t start = search->starts[row] + skip;
    if (search->finder->write != NULL) {
        search->finder->write(search, row, skip, count, right);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        right[i] = search->list != NULL ? search->list[start + i] : start + i;
}

/* The slots of one row from slot `skip` of it on, `most` at most: how
 * many. */
static uint64_t write_row(const struct join_search *search, uint64_t row,
                          uint64_t skip, uint64_t most, uint32_t *right)
{
    assert(row < search->left->rows);
    uint64_t n = search->counts[row] > skip ? search->counts[row] - skip : 0;
    uint64_t slots = slots_of(search->slots, search->counts[row]) - skip;
    slots = slots < most ? slots : most;
    n = n < slots ? n : slots;
    write_candidates(search, row, (uint32_t)skip, (uint32_t)n, right);
    if (n < slots)
        right[n++] = ROW_SET_NO_ROW;
    return n;
}

/* Writes the slots of row after row. */
static void write_pairs(const struct join_search *search,
                        const struct writing *writing)
{
    uint64_t row = writing->row, skip = writing->skip;
    for (uint64_t n = 0; n < writing->count; row++, skip = 0) {
        uint64_t slots = write_row(search, row, skip, writing->count - n,
                                   writing->right + n);
        for (uint64_t i = n; i < n + slots; i++)
            writing->left[i] = (uint32_t)row;
        n += slots;
    }
}

void join_search_slots(const struct join_search *search, uint64_t from,
                       uint64_t count, uint32_t *left, uint32_t *right)
{
    assert(from + count <= search->slot_count);
    struct writing writing = { .count = count, .left = left, .right = right };
    if (count == 0)
        return;
    seek_row(search, from, &writing);
    if (search->slots >= SLOTS_WITH)
        write_rows(search, &writing);
    else if (search->single && search->slots != SLOTS_PAIRS_END)
        write_single(search, &writing);
    else
        write_pairs(search, &writing);
}
