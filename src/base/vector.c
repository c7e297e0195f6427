/* SPDX-License-Identifier: MIT */
/*
 * The growing array: capacity doubles. In a hostile build a small one never has
 * room to spare.
 */
#include "base/vector.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/hostile.h"
#include "base/memory.h"

static bool reserve(struct vector *vector, size_t more);

void *vector_add(struct vector *vector)
{
    void *item;

    if (!reserve(vector, 1))
        return NULL;
    item = (char *)vector->items + vector->count++ * vector->width;
    return memset(item, 0, vector->width);
}

size_t vector_count_below(const struct vector *sorted, uint64_t value)
{
    assert(sorted->count == 0 || sorted->items != NULL);
    const uint64_t *items = sorted->items;
    size_t low = 0, high = sorted->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool vectors_meet(const struct vector *a, const struct vector *b)
{
    const struct vector *few = a->count < b->count ? a : b;
    const struct vector *many = few == a ? b : a;
    const uint64_t *values = few->items, *others = many->items;
    bool meet = false;

    for (size_t i = 0; i < few->count && !meet; i++) {
        size_t at = vector_count_below(many, values[i]);
        meet = at < many->count && others[at] == values[i];
    }
    return meet;
}

bool vector_append(struct vector *vector, const void *items, size_t count)
{
    if (count == 0) /* also to a list that is zeroed, and so never made */
        return true;
    if (!reserve(vector, count))
        return false;
    memcpy((char *)vector->items + vector->count * vector->width, items,
           count * vector->width);
    vector->count += count;
    return true;
}

void *vector_at(const struct vector *vector, size_t index)
{
    assert(index < vector->count);
    return (char *)vector->items + index * vector->width;
}

void vector_finish(struct vector *vector)
{
    if (vector->arena == NULL)
        memory_release(vector->items);
    vector->items = NULL;
    vector->count = vector->capacity = 0;
}

bool arena_vector_copy(struct arena *arena, const struct vector *from,
                       struct vector *to)
{
    struct vector copy = { .width = from->width, .arena = arena };

    /* a zeroed vector has no width, and may be copied */
    if (from->count > 0 && !vector_append(&copy, from->items, from->count))
        return false;
    *to = copy;
    return true;
}

/* The items in a larger place; NULL: no memory, nothing changed. */
static void *resize(const struct vector *vector, size_t bytes)
{
    void *items;

    if (vector->arena == NULL)
        return memory_resize(vector->items, bytes);
    items = arena_alloc(vector->arena, bytes);
    if (items != NULL && vector->count > 0)
        memcpy(items, vector->items, vector->count * vector->width);
    return items;
}

/* Up to so many items, and bytes, a vector has no room to spare: larger ones would
 * be copied whole for each item. */
enum { EXACT_MAX = HOSTILE(1000, 0), EXACT_BYTES = 1 << 15 };

static bool is_exact(const struct vector *vector, size_t count)
{
    return count <= EXACT_MAX && count * vector->width <= EXACT_BYTES;
}

/* Makes room for `more` items behind those there are. */
static bool reserve(struct vector *vector, size_t more)
{
    size_t capacity = vector->capacity > 0 ? vector->capacity : 8;
    size_t most;
    void *items;

    assert(vector->width > 0);
    most = SIZE_MAX / 2 / vector->width;
    if (more <= vector->capacity - vector->count)
        return true;
    if (vector->count > most || more > most - vector->count)
        return false;
    while (capacity < vector->count + more)
        capacity = capacity > most / 2 ? most : capacity * 2;
    if (is_exact(vector, vector->count + more))
        capacity = vector->count + more;
    items = resize(vector, capacity * vector->width);
    if (items == NULL)
        return false;
    vector->items = items;
    vector->capacity = capacity;
    return true;
}
