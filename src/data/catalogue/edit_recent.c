/* SPDX-License-Identifier: MIT */
/*
 * What an edit has that its origin has not: edit.h.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/type.h"
#include "data/catalogue/edit.h"

/* Merges places, each list ascending, into one of the edit's. */
static bool merge_recent(struct edit *edit, const struct edit *before,
                         const uint32_t *places, uint32_t count)
{
    uint32_t a = 0, b = 0, olds = before->recent_count;

    edit->recent =
        arena_alloc(&edit->arena, (olds + (size_t)count) * sizeof(uint32_t));
    while (edit->recent != NULL && (a < olds || b < count)) {
        uint32_t old = a < olds ? before->recent[a] : UINT32_MAX;
        uint32_t new = b < count ? places[b] : UINT32_MAX;
        edit->recent[edit->recent_count++] = old < new ? old : new;
        a += old <= new;
        b += new <= old;
    }
    return edit->recent != NULL;
}

bool edit_note_recent(struct edit *edit, struct edit *before,
                      const uint32_t *places, uint32_t count)
{
    uint64_t most = (uint64_t)count + before->recent_count;

    if (most * most >= edit_size(edit))
        return true;
    if (!merge_recent(edit, before, places, count))
        return false;
    edit->origin = edit_hold(before->origin != NULL ? before->origin : before);
    return true;
}

static bool same_text(const void *a, const void *b)
{
    const struct vdbq_text *left = a, *right = b;

    return left->length == right->length
           && (left->length == 0
               || memcmp(left->bytes, right->bytes, left->length) == 0);
}

/* Whether a column of two edits has the same value at places of theirs. */
static bool same_value(const struct edit_column *a, uint32_t i,
                       const struct edit_column *b, uint32_t k)
{
    size_t width = type_bytes(a->values.type);
    const char *left = (const char *)a->values.values + i * width;
    const char *right = (const char *)b->values.values + k * width;

    if (vector_null(&a->values, i) != vector_null(&b->values, k))
        return false;
    return a->values.type == VDBQ_TEXT ? same_text(left, right)
                                       : memcmp(left, right, width) == 0;
}

/* Adds places of a column where one edit has a new value, and another one has none, or
 * another one. NULL: it has none anywhere. */
static bool list_others(const struct edit_column *news,
                        const struct edit_column *olds, struct vector *places)
{
    uint32_t k = 0, count = olds != NULL ? olds->count : 0;
    bool done = true;

    for (uint32_t i = 0; i < news->count && done; i++) {
        while (k < count && olds->places[k] < news->places[i])
            k++;
        if (k == count || olds->places[k] != news->places[i]
            || !same_value(news, i, olds, k))
            done = vector_append(places, &news->places[i], 1);
    }
    return done;
}

static int compare_places(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* ... of all columns. */
static bool list_all_others(const struct edit *edit, const struct edit *other,
                            struct vector *places)
{
    bool done = true;

    for (unsigned i = 0; i < edit->column_count && done; i++)
        done = list_others(&edit->columns[i],
                           edit_column(other, edit->columns[i].column), places);
    return done;
}

/* Whichever of them came first, where they differ is not what the origin has. */
bool edit_follow(struct edit *edit, struct edit *before)
{
    struct vector places = VECTOR(uint32_t);
    uint32_t *items, kept = 0;
    bool done;

    assert(identity_equal(edit->base, before->base) && edit->origin == NULL);
    done = list_all_others(edit, before, &places)
           && list_all_others(before, edit, &places);
    items = places.items;
    if (places.count > 1)
        qsort(items, places.count, sizeof *items, compare_places);
    for (size_t i = 0; i < places.count; i++)
        if (i == 0 || items[i] != items[i - 1])
            items[kept++] = items[i];
    done = done && edit_note_recent(edit, before, items, kept);
    vector_finish(&places);
    return done;
}
