/* SPDX-License-Identifier: MIT */
/*
 * Cutting of blocks: see exchange_cut.h.
 */
#include "exec/gather/exchange_cut.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

static int key_column(const struct exchange_cut *cut, unsigned key)
{
    return VECTOR_ITEMS(&cut->stream->step->exchange.keys, int)[key];
}

static bool is_text(const struct exchange_cut *cut, unsigned key)
{
    return cut->stream->step->columns[key_column(cut, key)].type == VDBQ_TEXT;
}

enum vdbq_status exchange_cut_init(struct exchange_cut *cut,
                                   const struct stream *stream,
                                   struct error *error)
{
    unsigned keys = (unsigned)stream->step->exchange.keys.count;
    bool made = true;
    *cut = (struct exchange_cut){
        .stream = stream,
        .key_count = keys,
        .keys = memory_zeroed(keys + 1, sizeof *cut->keys),
        .hashes = memory_zeroed(keys + 1, sizeof *cut->hashes),
        .targets = memory_zeroed(EXCHANGE_BLOCK, sizeof *cut->targets),
        .rows = memory_zeroed(EXCHANGE_BLOCK, sizeof *cut->rows),
        .ends =
            memory_zeroed(stream->params->ranks->count + 1, sizeof *cut->ends),
    };
    if (!cut->keys || !cut->hashes || !cut->targets || !cut->rows || !cut->ends)
        return error_no_memory(error);
    for (unsigned i = 0; made && i < keys; i++)
        if (is_text(cut, i)) {
            cut->hashes[i] = memory_zeroed(EXCHANGE_BLOCK, sizeof(uint32_t));
            made = cut->hashes[i] != NULL;
        }
    return made ? VDBQ_OK : error_no_memory(error);
}

void exchange_cut_finish(struct exchange_cut *cut)
{
    for (unsigned i = 0; cut->hashes != NULL && i < cut->key_count; i++)
        memory_release(cut->hashes[i]);
    memory_release(cut->keys);
    memory_release(cut->hashes);
    memory_release(cut->targets);
    memory_release(cut->rows);
    memory_release(cut->ends);
    *cut = (struct exchange_cut){ 0 };
}

/* ---------------------------------------------------------------- keys -- */

/* Has hashes of words stand for a key's texts. */
static void hash_texts(struct exchange_cut *cut, unsigned key, uint64_t count)
{
    struct row_set_column *column = &cut->keys[key];
    const struct dictionary *words = stream_dictionary(
        cut->stream->inputs[0], (unsigned)key_column(cut, key));
    const uint32_t *numbers = column->values;
    assert(column->type == VDBQ_TEXT && count <= EXCHANGE_BLOCK);
    for (uint64_t i = 0; i < count; i++) {
        struct vdbq_text text = dictionary_text(words, numbers[i]);
        cut->hashes[key][i] = (uint32_t)XXH3_64bits(text.bytes, text.length);
    }
    column->values = cut->hashes[key];
}

/* Has the columns of a block that are keys. */
static void take_keys(struct exchange_cut *cut, const struct vdbq_batch *batch,
                      uint64_t first, uint64_t count)
{
    for (unsigned i = 0; i < cut->key_count; i++) {
        const struct vdbq_vector *column = &batch->column[key_column(cut, i)];
        unsigned width = row_set_width(column->type);
        cut->keys[i] = (struct row_set_column){
            .type = column->type,
            .width = width,
            .values = (uint8_t *)column->values + first * width,
            .nulls =
                column->nulls != NULL ? (uint8_t *)column->nulls + first : NULL
        };
        if (cut->hashes[i] != NULL)
            hash_texts(cut, i, count);
    }
}

/* ----------------------------------------------------------------- cut -- */

/* The rank of a row of the block; that of none, how many there are. */
static uint32_t target_of(const struct exchange_cut *cut, uint64_t row)
{
    const struct step_exchange *step = &cut->stream->step->exchange;
    const struct ranks *ranks = cut->stream->params->ranks;
    if (step->nulls != EXCHANGE_NULLS_MATCH
        && row_has_null(cut->keys, cut->key_count, row))
        return step->nulls == EXCHANGE_NULLS_STAY ? ranks->rank : ranks->count;
    /* Joins look at the lower half of the hash. */
    uint64_t high = row_hash(cut->keys, cut->key_count, row) >> 32;
    return (uint32_t)(high * ranks->count >> 32);
}

/* Puts the rows of each rank together, by a counting sort. */
static void sort_rows(struct exchange_cut *cut, uint64_t first, uint64_t count)
{
    unsigned ranks = cut->stream->params->ranks->count;
    uint64_t start = 0;
    memset(cut->ends, 0, (ranks + 1) * sizeof *cut->ends);
    for (uint64_t i = 0; i < count; i++) {
        cut->targets[i] = target_of(cut, i);
        cut->ends[cut->targets[i]]++;
    }
    for (unsigned r = 0; r <= ranks; r++) {
        uint64_t rows = cut->ends[r];
        cut->ends[r] = start;
        start += rows;
    }
    for (uint64_t i = 0; i < count; i++)
        cut->rows[cut->ends[cut->targets[i]]++] = (uint32_t)(first + i);
}

void exchange_cut_block(struct exchange_cut *cut,
                        const struct vdbq_batch *batch, uint64_t first,
                        uint64_t count)
{
    assert(count <= EXCHANGE_BLOCK && first + count <= batch->rows);
    cut->count = count;
    if (cut->key_count > 0) {
        take_keys(cut, batch, first, count);
        sort_rows(cut, first, count);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        cut->rows[i] = (uint32_t)(first + i);
}

const uint32_t *exchange_cut_rows(const struct exchange_cut *cut, unsigned rank,
                                  uint64_t *count)
{
    assert(rank < cut->stream->params->ranks->count);
    if (cut->key_count == 0) {
        *count = cut->count;
        return cut->rows;
    }
    uint64_t first = rank > 0 ? cut->ends[rank - 1] : 0;
    *count = cut->ends[rank] - first;
    return cut->rows + first;
}
