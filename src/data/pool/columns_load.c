/* SPDX-License-Identifier: MIT */
/*
 * Loading columns once: a projection that nobody shares. What is proven of the
 * tablet on the way is forgotten.
 */
#include "data/pool/columns_load.h"

#include <assert.h>

#include "base/memory.h"
#include "data/pool/projection.h"
#include "data/tablet/tablet_inner.h"

/* Rooms for what a projection points to, in an arena. False: no memory. */
static bool make_rooms(struct projection *projection, struct arena *arena)
{
    unsigned count = projection->table->column_count;
    uint64_t head = tablet_head_size(count);
    struct tablet_proof *proof =
        arena_alloc(arena, sizeof *proof + count * sizeof proof->column[0]);

    projection->wanted = arena_alloc(arena, count * sizeof(bool));
    projection->apart = arena_alloc(arena, count * sizeof(bool));
    projection->dictionaries =
        arena_alloc(arena, count * sizeof *projection->dictionaries);
    projection->words = arena_alloc(arena, count * sizeof *projection->words);
    projection->head = arena_alloc(arena, (size_t)head);
    projection->here = arena_alloc(arena, (size_t)head);
    projection->proof = proof;
    return proof != NULL && projection->wanted != NULL
           && projection->apart != NULL && projection->dictionaries != NULL
           && projection->words != NULL && projection->head != NULL
           && projection->here != NULL;
}

static enum vdbq_status load(const struct projection *projection,
                             struct block *block, struct error *error)
{
    enum vdbq_status status = projection_read_head(projection, error);

    if (status == VDBQ_OK)
        status = projection_find_words(projection, error);
    if (status != VDBQ_OK)
        return status;
    *block = block_create(projection_lay_out(projection));
    if (block->bytes == NULL)
        return error_no_memory(error);
    return projection_put(projection, block->bytes, error);
}

enum vdbq_status columns_load(struct database *database,
                              const struct table *table,
                              const struct tablet_ref *tablet,
                              const unsigned *columns, unsigned count,
                              struct block *block, struct error *error)
{
    struct arena arena = { 0 };
    struct projection projection = { .database = database,
                                     .table = table,
                                     .tablet = tablet,
                                     .codes = true,
                                     .counted = true,
                                     .copied = true };
    enum vdbq_status status;

    assert(tablet->edit == NULL);
    *block = (struct block){ 0 };
    if (!make_rooms(&projection, &arena)) {
        arena_finish(&arena);
        return error_no_memory(error);
    }
    for (unsigned i = 0; i < count; i++) {
        assert(columns[i] < table->column_count);
        projection.wanted[columns[i]] = true;
    }
    status = load(&projection, block, error);
    memory_release(projection.proof->sums);
    arena_finish(&arena);
    return status;
}
