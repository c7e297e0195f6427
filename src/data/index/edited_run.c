/* SPDX-License-Identifier: MIT */
/*
 * Keys of rows with new ones become a tablet of keys, of which a run is made like
 * that of any other tablet: edited_run.h.
 */
#include "data/index/edited_run.h"

#include <assert.h>

#include "base/memory.h"
#include "base/vector.h"
#include "data/index/index_run.h"

/* Names of such runs are apart from those of tablets. */
#define EDITED_ORIGIN UINT64_C(0x6564697465642072)

const struct edit *edited_level(const struct edit *edit,
                                const unsigned *columns, unsigned count,
                                unsigned level)
{
    const struct edit *of = edit;

    assert(level < EDITED_LEVELS);
    if (level > 0 && edit != NULL)
        of = edit->origin;
    return of != NULL && edit_has(of, columns, count) ? of : NULL;
}

bool edited_row_counts(const struct edit *edit, unsigned level, uint32_t place)
{
    bool gone = false;

    if (level > 0)
        edit_gone_before(edit, place, &gone);
    return level == 0 || (!gone && !edit_is_recent(edit, place));
}

struct identity edited_name(const struct edit *edit, unsigned level)
{
    struct identity name = edit->base;

    name.origin ^= EDITED_ORIGIN + level;
    return name;
}

const struct run *edited_run_find(struct run_cache *cache,
                                  const struct run_want *want,
                                  const struct edit *of)
{
    const struct run *run = run_cache_find(cache, want);

    return run != NULL && identity_equal(run->edit, of->name) ? run : NULL;
}

bool edited_run_keep(struct run_cache *cache, const struct run_want *want,
                     const struct edit *of, struct run *run,
                     uint64_t most_bytes)
{
    run->edit = of->name;
    return run_cache_keep(cache, want, run, most_bytes);
}

/* ----------------------------------------------------------------- make -- */

/* The keys of some places, as a tablet; without bytes: no memory, or the thread is
 * to stop. */
static struct block make_block(const struct edited_run_of *of,
                               const struct vector *places)
{
    const struct values_at at = { .table = of->table,
                                  .columns = of->columns,
                                  .column_count = of->count,
                                  .edit = of->edit,
                                  .block = of->base,
                                  .places = places };
    struct column columns[RUN_COLUMNS_MAX];
    struct vdbq_vector keys[RUN_COLUMNS_MAX];
    struct block block = { 0 };
    struct arena arena = { 0 };
    struct vdbq_vector *vectors =
        memory_zeroed(of->table->column_count, sizeof *vectors);

    if (vectors != NULL && values_at(&at, &arena, vectors)) {
        for (unsigned i = 0; i < of->count; i++) {
            columns[i] = of->table->columns[of->columns[i]];
            keys[i] = vectors[of->columns[i]];
        }
        block = keys_block(columns, keys, of->count, (uint32_t)places->count);
    }
    memory_release(vectors);
    arena_finish(&arena);
    return block;
}

static bool has_texts(const struct edited_run_of *of)
{
    bool texts = false;

    for (unsigned i = 0; i < of->count; i++)
        texts |= of->table->columns[of->columns[i]].type == VDBQ_TEXT;
    return texts;
}

/* The run of a tablet of keys, which it takes over where it has texts. */
static struct run *run_of_block(const struct edited_run_of *of,
                                struct block *block,
                                const struct vector *places)
{
    static const unsigned columns[RUN_COLUMNS_MAX] = { 0, 1, 2 };
    struct run *run = run_make(block->bytes, columns, of->count);

    if (run != NULL && !run_name_rows(run, places->items, of->edit->rows)) {
        run_destroy(run);
        return NULL;
    }
    if (run != NULL && has_texts(of)) {
        run->words = *block;
        run->size_bytes += block->size;
        *block = (struct block){ 0 };
    }
    return run;
}

struct run *edited_run(const struct edited_run_of *of)
{
    struct vector places = VECTOR(uint32_t);
    struct block block = { 0 };
    struct run *run = NULL;
    bool done = edit_places(of->edit, of->columns, of->count, &places);

    assert(of->count > 0 && of->count <= RUN_COLUMNS_MAX);
    if (done && places.count == 0)
        run = run_make_empty(of->count, of->edit->rows);
    if (done && places.count > 0)
        block = make_block(of, &places);
    if (block.bytes != NULL)
        run = run_of_block(of, &block, &places);
    block_destroy(&block);
    vector_finish(&places);
    return run;
}
