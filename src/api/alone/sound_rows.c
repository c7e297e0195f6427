/* SPDX-License-Identifier: MIT */
#include "api/alone/sound_rows.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/database/rows_gather.h"
#include "data/tablet/values.h"

/* Takes runs of rows that are not marked together. */
static enum vdbq_status gather(const struct coming_rows *coming,
                               const uint8_t *broken, struct rows *rows,
                               struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t first = 0, end; first < coming->count && status == VDBQ_OK;
         first = end) {
        end = first + 1;
        while (end < coming->count && broken[end] == broken[first])
            end++;
        if (!broken[first])
            status = rows_gather(rows, coming->vectors, coming->column_count,
                                 first, end - first, error);
    }
    return status;
}

/* Puts those that are not marked in the place of all. */
static enum vdbq_status keep_sound(const struct coming_rows *coming,
                                   const uint8_t *broken,
                                   struct sound_rows *sound,
                                   struct error *error)
{
    enum vdbq_status status = gather(coming, broken, &sound->rows, error);

    sound->count = sound->rows.count;
    if (status != VDBQ_OK || sound->count == 0)
        return status;
    sound->own = memory_zeroed(coming->column_count, sizeof *sound->own);
    if (sound->own == NULL)
        return error_no_memory(error);
    assert(sound->count < coming->count);
    rows_vectors(&sound->rows, sound->own);
    sound->vectors = sound->own;
    return VDBQ_OK;
}

/* Marks rows that break a rule. */
static enum vdbq_status mark(const struct rule_source *source,
                             const struct coming_rows *coming, uint8_t *broken,
                             struct error *error)
{
    enum vdbq_status status = values_check_others(source->table, coming->count,
                                                  coming->vectors, error);

    if (status != VDBQ_OK)
        return status;
    values_mark_nulls(source->table, coming->count, coming->vectors, broken);
    return row_checks_mark(source, coming->count, coming->vectors, broken,
                           error);
}

enum vdbq_status sound_rows_find(const struct rule_source *source,
                                 const struct coming_rows *coming,
                                 struct sound_rows *sound, struct error *error)
{
    uint8_t *broken = memory_zeroed((size_t)coming->count + 1, sizeof *broken);
    enum vdbq_status status = broken != NULL
                                  ? mark(source, coming, broken, error)
                                  : error_no_memory(error);

    assert(coming->column_count >= source->table->column_count);
    *sound = (struct sound_rows){ .count = coming->count,
                                  .vectors = coming->vectors };
    if (status == VDBQ_OK && memchr(broken, 1, (size_t)coming->count) != NULL)
        status = keep_sound(coming, broken, sound, error);
    memory_release(broken);
    return status;
}

void sound_rows_finish(struct sound_rows *sound)
{
    rows_finish(&sound->rows);
    memory_release(sound->own);
    *sound = (struct sound_rows){ 0 };
}
