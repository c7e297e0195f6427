/* SPDX-License-Identifier: MIT */
/*
 * Memory: one replaceable table of calls under everything that allocates,
 * and the arena, whose blocks live and die together (a query's, a
 * statement's). Sizes are in bytes. NULL means there is no memory.
 */
#ifndef VDBQ_BASE_MEMORY_H
#define VDBQ_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The allocator. A test replaces it to let the n-th call fail. */
struct memory_calls {
    /* As realloc(); `old` NULL allocates. */
    void *(*resize)(void *old, size_t size);
    void (*release)(void *memory);
};
extern struct memory_calls memory_calls;

void *memory_resize(void *old, size_t size);
/* How often there was no memory for this thread, so far: who tries something
 * that may fail for other reasons sees by it whether that was the one. */
unsigned memory_refused(void);
/* Zeroed; count * width may overflow, which gives NULL. */
void *memory_zeroed(size_t count, size_t width);
void memory_release(void *memory);
/* Much of which little will be touched: zeros that take memory a small page at a
 * time, when they are. NULL: there is none. */
void *memory_untouched(uint64_t size);
void memory_untouched_release(void *memory, uint64_t size); /* accepts NULL */
/* As memory_resize(), of memory that is read here and there: where it is
 * large, the system is asked for large pages. */
void *memory_spread(void *old, size_t size);
/* Makes memory larger where it lies; false: it stays as it is, and would have to
 * be moved. */
bool memory_extend(void *memory, size_t size);

/* Gives what was released and the C library keeps back to the system, also where it
 * lies between what is in use: for who has released tens of megabytes. */
void memory_trim(void);

/* Memory that is freed all at once. A zeroed struct is an empty arena. */
struct arena_block;
struct arena {
    struct arena_block *head; /* the block that is being filled */
};

/* Zeroed memory, aligned for any type, that lives until arena_finish(). */
void *arena_alloc(struct arena *arena, size_t size);
/* The same of large arrays, which may lie in a temporary file (paged.h). */
void *arena_alloc_paged(struct arena *arena, size_t size);
/* As arena_alloc(), but the memory may hold anything. */
void *arena_room(struct arena *arena, size_t size);
/* A copy of `length` bytes, ended by a NUL. */
char *arena_copy(struct arena *arena, const char *bytes, size_t length);
void arena_finish(struct arena *arena);
/* The same, but a block that more is to be put into may stay. */
void arena_empty(struct arena *arena);
/* Bytes that it has, without those of arena_alloc_paged(). */
size_t arena_bytes(const struct arena *arena);

#endif
