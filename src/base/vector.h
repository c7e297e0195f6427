/* SPDX-License-Identifier: MIT */
/*
 * A growing array of items of one width. A struct initialised with
 * VECTOR(type) is an empty one. The items move when it grows.
 */
#ifndef VDBQ_BASE_VECTOR_H
#define VDBQ_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct vector {
    void *items;
    size_t count;
    size_t capacity;
    size_t width;        /* of one item, in bytes                     */
    struct arena *arena; /* that the items live in; NULL: they are the
                            vector's own, freed by vector_finish()    */
};

#define VECTOR(type) ((struct vector){ .width = sizeof(type) })
/* One that nobody finishes: its items end with the arena. */
#define VECTOR_IN(arena_, type)                                                \
    ((struct vector){ .width = sizeof(type), .arena = (arena_) })
/* One that shows `count_` items of somebody's array; nobody adds to it. */
#define VECTOR_OF(array, count_)                                               \
    ((struct vector){ .items = (array),                                        \
                      .count = (count_),                                       \
                      .capacity = (count_),                                    \
                      .width = sizeof *(array) })
/* The items as an array of `type`. */
#define VECTOR_ITEMS(vector, type) ((type *)(vector)->items)

/* Adds a zeroed item and returns it; NULL: no memory, nothing changed. */
void *vector_add(struct vector *vector);
/* Adds a copy of `count` items; false: no memory, nothing changed. */
bool vector_append(struct vector *vector, const void *items, size_t count);
void *vector_at(const struct vector *vector, size_t index);
/* How many items of a vector of uint64_t, which ascend, are less than `value`. */
size_t vector_count_below(const struct vector *sorted, uint64_t value);
/* Whether two vectors of uint64_t, which ascend, have a value in common. */
bool vectors_meet(const struct vector *a, const struct vector *b);
void vector_finish(struct vector *vector);

/* Copies a vector into an arena; false: no memory. */
bool arena_vector_copy(struct arena *arena, const struct vector *from,
                       struct vector *to);

#endif
