/* SPDX-License-Identifier: MIT */
/*
 * Which gather the place of a row's text is in follows from the row's number: a
 * stretch ends where the next row is another gather's.
 */
#include "exec/operator/map_texts.h"

#include <assert.h>

#include "base/threads/stop.h"

void map_texts_finish(struct map_texts *texts)
{
    for (unsigned i = 0; i < texts->count; i++) {
        gather_finish(&texts->gathers[i]);
        map_firsts_finish(&texts->firsts[i]);
        map_bests_finish(&texts->bests[i]);
    }
    if (texts->stretches.width > 0)
        vector_finish(&texts->stretches);
    texts->stretches = (struct vector){ 0 };
    texts->count = 0;
    texts->rows = texts->followed = 0;
    texts->stretch = 0;
}

struct gather *map_texts_gathers(struct map_texts *texts, unsigned count)
{
    assert(count > 0 && count <= PARALLEL_THREADS_MAX);
    for (; texts->count < count; texts->count++) {
        gather_init(&texts->gathers[texts->count]);
        texts->gathers[texts->count].is_given = texts->is_given;
    }
    return texts->gathers;
}

bool map_texts_add(struct map_texts *texts, unsigned gather, uint64_t rows)
{
    struct vector *stretches = &texts->stretches;
    assert(gather < texts->count);
    texts->rows += rows;
    if (stretches->width == 0)
        *stretches = VECTOR(struct map_stretch);
    struct map_stretch *last = stretches->count > 0
                                   ? vector_at(stretches, stretches->count - 1)
                                   : NULL;
    if (rows == 0)
        return true;
    if (last != NULL && last->gather == gather) {
        last->end = texts->rows;
        return true;
    }
    return vector_append(
        stretches,
        &(struct map_stretch){ .end = texts->rows, .gather = gather }, 1);
}

struct dictionary *map_texts_words(struct map_texts *texts, enum texts_use use,
                                   struct step_firsts wanted, unsigned threads)
{
    struct gather *gathers = map_texts_gathers(texts, 1);
    assert(texts->followed == 0);
    for (unsigned i = 0; i < texts->count && wanted.key_count == 0; i++)
        map_firsts_end(&texts->firsts[i], wanted, &gathers[i]);
    return gather_together(gathers, texts->count, use, threads);
}

/* Makes numbers of places in one gather. */
static void follow(const struct gather *gather, uint32_t *values,
                   const uint8_t *nulls, uint64_t rows)
{
    const uint32_t *numbers = gather->numbers;
    for (uint64_t i = 0; i < rows && !stop_at(i); i++)
        if (nulls == NULL || nulls[i] == 0)
            values[i] = numbers[values[i]];
}

void map_texts_follow(struct map_texts *texts, uint32_t *values,
                      const uint8_t *nulls, uint64_t rows)
{
    assert(texts->followed + rows <= texts->rows);
    for (uint64_t at = 0, some; at < rows; at += some) {
        const struct map_stretch *stretch =
            vector_at(&texts->stretches, texts->stretch);
        uint64_t left = stretch->end - texts->followed;
        some = left < rows - at ? left : rows - at;
        follow(&texts->gathers[stretch->gather], values + at,
               nulls != NULL ? nulls + at : NULL, some);
        texts->followed += some;
        texts->stretch += some == left;
    }
}
