/* SPDX-License-Identifier: MIT */
/*
 * A growing array of items of one width. A struct initialised with
 * VECTOR(type) is an empty one. The items move when it grows.
 */
#ifndef VDBQ_BASE_VECTOR_H
#define VDBQ_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

struct vector {
    void *items;
    size_t count;
    size_t capacity;
    size_t width; /* of one item, in bytes */
};

#define VECTOR(type) ((struct vector){ .width = sizeof(type) })
/* The items as an array of `type`. */
#define VECTOR_ITEMS(vector, type) ((type *)(vector)->items)

/* Adds a zeroed item and returns it; NULL: no memory, nothing changed. */
void *vector_add(struct vector *vector);
/* Adds a copy of `count` items; false: no memory, nothing changed. */
bool vector_append(struct vector *vector, const void *items, size_t count);
void *vector_at(const struct vector *vector, size_t index);
void vector_finish(struct vector *vector);

/* A vector whose items live in an arena: nobody finishes it, and nothing is
 * added to it. One moves what a vector has there, the other copies it. False:
 * no memory. */
struct arena;
bool arena_vector(struct arena *arena, struct vector *vector);
bool arena_vector_copy(struct arena *arena, const struct vector *from,
                       struct vector *to);

#endif
