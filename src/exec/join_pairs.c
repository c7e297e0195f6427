/* SPDX-License-Identifier: MIT */
/*
 * Candidates of a join: for each left row, in order, the right rows with equal
 * keys, or without keys all of them.
 */
#include "exec/join.h"

#include <string.h>

/* ---------------------------------------------------------------- room -- */

enum vdbq_status join_pairs_room(struct join_pairs *pairs, uint64_t room,
                                 struct error *error)
{
    uint32_t *left = memory_resize(pairs->left, room * sizeof *left);
    if (left != NULL)
        pairs->left = left;
    uint32_t *right = memory_resize(pairs->right, room * sizeof *right);
    if (right != NULL)
        pairs->right = right;
    uint8_t *kept = memory_resize(pairs->kept, room);
    if (kept != NULL)
        pairs->kept = kept;
    if (left == NULL || right == NULL || kept == NULL)
        return error_no_memory(error);
    pairs->room = room;
    return VDBQ_OK;
}

void join_pairs_finish(struct join_pairs *pairs)
{
    memory_release(pairs->left);
    memory_release(pairs->right);
    memory_release(pairs->kept);
    *pairs = (struct join_pairs){ 0 };
}

/* --------------------------------------------------------------- texts -- */

static int compare(struct vdbq_text a, struct vdbq_text b)
{
    size_t length = a.length < b.length ? a.length : b.length;
    int order = length > 0 ? memcmp(a.bytes, b.bytes, length) : 0;
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* The numbers in `to` of the words of `from`; RELATION_NO_ROW: it has none.
 * Both are sorted. */
static uint32_t *translate(const struct words *from, const struct words *to)
{
    uint32_t count = from != NULL ? from->count : 0, at = 0;
    uint32_t others = to != NULL ? to->count : 0;
    uint32_t *numbers = memory_zeroed(count, sizeof *numbers);
    for (uint32_t i = 0; numbers != NULL && i < count; i++) {
        struct vdbq_text text = words_text(from, i);
        while (at < others && compare(words_text(to, at), text) < 0)
            at++;
        numbers[i] = at < others && compare(words_text(to, at), text) == 0
                         ? at
                         : RELATION_NO_ROW;
    }
    return numbers;
}

/* Makes what translates the words of the left keys. */
static enum vdbq_status make_texts(struct join_search *search,
                                   const struct stream *left,
                                   struct error *error)
{
    for (unsigned i = 0; i < search->index.key_count; i++) {
        int column = VECTOR_ITEMS(&search->step->left_keys, int)[i];
        struct words *words = stream_words(left, (unsigned)column);
        if (search->right_keys[i].type != VDBQ_TEXT ||
            words == search->right_keys[i].words)
            continue;
        search->texts[i] = translate(words, search->right_keys[i].words);
        if (search->texts[i] == NULL)
            return error_no_memory(error);
    }
    return VDBQ_OK;
}

/* The left rows' numbers of words as those of the right side. */
static enum vdbq_status translate_key(struct join_search *search, unsigned key,
                                      struct error *error)
{
    struct relation_column *column = &search->left_keys[key];
    const uint32_t *from = column->values;
    uint32_t count = column->words != NULL ? column->words->count : 0;
    uint32_t *numbers = memory_resize(
        search->numbers[key], search->left_rows * sizeof *numbers);
    if (numbers == NULL)
        return error_no_memory(error);
    for (uint64_t i = 0; i < search->left_rows; i++)
        numbers[i] = from[i] < count ? search->texts[key][from[i]]
                                     : RELATION_NO_ROW;
    search->numbers[key] = numbers;
    column->values = numbers;
    return VDBQ_OK;
}

/* -------------------------------------------------------- open, finish -- */

static enum vdbq_status make_index(struct join_search *search,
                                   const struct relation *right,
                                   struct error *error)
{
    const struct vector *keys = &search->step->right_keys;
    unsigned count = (unsigned)keys->count;
    search->right_keys = memory_zeroed(count, sizeof *search->right_keys);
    search->left_keys = memory_zeroed(count, sizeof *search->left_keys);
    search->texts = memory_zeroed(count, sizeof *search->texts);
    search->numbers = memory_zeroed(count, sizeof *search->numbers);
    if (!search->right_keys || !search->left_keys || !search->texts ||
        !search->numbers)
        return error_no_memory(error);
    for (unsigned i = 0; i < count; i++)
        search->right_keys[i] = right->columns[VECTOR_ITEMS(keys, int)[i]];
    enum vdbq_status status = row_index_init(
        &search->index, count, search->step->nulls_match, error);
    return status == VDBQ_OK ? row_index_add(&search->index,
                                             search->right_keys, right->rows,
                                             error)
                             : status;
}

enum vdbq_status join_search_init(struct join_search *search,
                                  const struct step_join *step,
                                  const struct relation *right,
                                  const struct stream *left,
                                  unsigned threads, struct error *error)
{
    enum join_kind kind = step->kind;
    bool asks = kind == JOIN_SEMI || kind == JOIN_ANTI || kind == JOIN_MARK;
    *search = (struct join_search){
        .step = step,
        .ends = asks || kind == JOIN_LEFT || kind == JOIN_FULL,
        .once = asks && step->condition == NULL,
        .right_rows = right->rows,
    };
    if (step->band.side != BAND_NONE)
        return join_band_init(&search->band,
                              &(struct join_band_params){
                                  .band = &step->band,
                                  .right = right,
                                  .threads = threads },
                              error);
    if (step->right_keys.count == 0)
        return VDBQ_OK;
    enum vdbq_status status = make_index(search, right, error);
    return status == VDBQ_OK ? make_texts(search, left, error) : status;
}

void join_search_finish(struct join_search *search)
{
    for (unsigned i = 0; i < search->index.key_count; i++) {
        memory_release(search->texts[i]);
        memory_release(search->numbers[i]);
    }
    memory_release(search->right_keys);
    memory_release(search->left_keys);
    memory_release(search->texts);
    memory_release(search->numbers);
    row_index_finish(&search->index);
    join_band_finish(&search->band);
    memory_release(search->starts);
    memory_release(search->counts);
    *search = (struct join_search){ 0 };
}

/* -------------------------------------------------------------- search -- */

/* Looks all rows at hand up. */
static enum vdbq_status begin_band(struct join_search *search,
                                   const struct relation *left,
                                   struct error *error)
{
    size_t size = (left->rows + 1) * sizeof(uint32_t);
    uint32_t *starts = memory_resize(search->starts, size);
    if (starts != NULL)
        search->starts = starts;
    uint32_t *counts = memory_resize(search->counts, size);
    if (counts != NULL)
        search->counts = counts;
    if (starts == NULL || counts == NULL)
        return error_no_memory(error);
    search->rows = left;
    search->given = 0;
    join_band_find(&search->band, left, 0, (unsigned)left->rows, starts,
                   counts);
    return VDBQ_OK;
}

enum vdbq_status join_search_begin(struct join_search *search,
                                   const struct relation *left,
                                   struct error *error)
{
    const struct vector *keys = &search->step->left_keys;
    enum vdbq_status status = VDBQ_OK;
    search->left_rows = left->rows;
    search->left = 0;
    search->started = false;
    if (search->step->band.side != BAND_NONE)
        return begin_band(search, left, error);
    for (unsigned i = 0; i < keys->count && status == VDBQ_OK; i++) {
        search->left_keys[i] = left->columns[VECTOR_ITEMS(keys, int)[i]];
        if (search->texts[i] != NULL)
            status = translate_key(search, i, error);
    }
    return status;
}

/* The next candidate of the left row, or none. */
static uint32_t next_right(struct join_search *search)
{
    unsigned keys = search->index.key_count;
    if (search->started && search->once)
        return RELATION_NO_ROW;
    if (keys == 0) {
        uint32_t next = search->started ? search->right + 1 : 0;
        return next < search->right_rows ? next : RELATION_NO_ROW;
    }
    if (search->started)
        return row_index_find(&search->index, search->left_keys, search->left,
                              search->hash, search->right);
    if (!search->step->nulls_match &&
        row_has_null(search->left_keys, keys, search->left))
        return RELATION_NO_ROW;
    search->hash = row_hash(search->left_keys, keys, search->left);
    return row_index_find(&search->index, search->left_keys, search->left,
                          search->hash, RELATION_NO_ROW);
}

/* The next candidates of the left row, as many as there is room for; true:
 * there are no more. */
static bool next_of_band(struct join_search *search, struct join_pairs *pairs)
{
    uint32_t found = search->counts[search->left];
    uint64_t room = pairs->room - pairs->count;
    struct join_band_run run = {
        .left = search->left,
        .start = search->starts[search->left],
        .count = found,
        .skip = search->given,
    };
    uint32_t wanted = search->once && found > 1 ? 1 : found;
    run.wanted = wanted - search->given;
    run.wanted = run.wanted < room ? run.wanted : (uint32_t)room;
    join_band_write(&search->band, search->rows, &run,
                    pairs->right + pairs->count);
    for (uint32_t i = 0; i < run.wanted; i++)
        pairs->left[pairs->count++] = search->left;
    search->given += run.wanted;
    return search->given == wanted;
}

static void next_by_band(struct join_search *search, struct join_pairs *pairs)
{
    while (search->left < search->left_rows && pairs->count < pairs->room) {
        bool ended = next_of_band(search, pairs);
        if (!ended || (search->ends && pairs->count == pairs->room))
            break;
        if (search->ends) {
            pairs->left[pairs->count] = search->left;
            pairs->right[pairs->count++] = RELATION_NO_ROW;
        }
        search->left++;
        search->given = 0;
    }
}

void join_search_next(struct join_search *search, struct join_pairs *pairs)
{
    pairs->count = 0;
    if (search->step->band.side != BAND_NONE) {
        next_by_band(search, pairs);
        return;
    }
    while (search->left < search->left_rows && pairs->count < pairs->room) {
        uint32_t right = next_right(search);
        search->started = right != RELATION_NO_ROW;
        search->right = right;
        if (search->started || search->ends) {
            pairs->left[pairs->count] = search->left;
            pairs->right[pairs->count++] = right;
        }
        search->left += !search->started;
    }
}
