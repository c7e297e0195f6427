/* SPDX-License-Identifier: MIT */
/*
 * The growing array: capacity doubles.
 */
#include "base/vector.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

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

bool vector_append(struct vector *vector, const void *items, size_t count)
{
    if (!reserve(vector, count))
        return false;
    if (count > 0)
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
    memory_release(vector->items);
    vector->items = NULL;
    vector->count = vector->capacity = 0;
}

bool arena_vector_copy(struct arena *arena, const struct vector *from,
                       struct vector *to)
{
    struct vector copy = { .width = from->width, .count = from->count };

    copy.items = arena_alloc(arena, (from->count + 1) * from->width);
    if (copy.items == NULL)
        return false;
    if (from->count > 0)
        memcpy(copy.items, from->items, from->count * from->width);
    *to = copy;
    return true;
}

bool arena_vector(struct arena *arena, struct vector *vector)
{
    struct vector own;
    bool done = arena_vector_copy(arena, vector, &own);

    vector_finish(vector);
    if (done)
        *vector = own;
    return done;
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
    items = memory_resize(vector->items, capacity * vector->width);
    if (items == NULL)
        return false;
    vector->items = items;
    vector->capacity = capacity;
    return true;
}
