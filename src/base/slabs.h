/* SPDX-License-Identifier: MIT */
/*
 * Large slabs of memory that stay mapped when they are given back, for the
 * next that asks: a query's arrays are as large as those of the one before, and
 * to have the system make and clear their pages anew, on all cores at once,
 * takes longer than many a query.
 */
#ifndef VDBQ_BASE_SLABS_H
#define VDBQ_BASE_SLABS_H

#include <stdbool.h>
#include <stddef.h>

/* As realloc() and free(), of slabs or of the C library's memory: each has
 * what it had. What is large becomes a slab, which has large pages and grows
 * without being copied. For struct memory_calls; any thread. */
void *slabs_resize(void *old, size_t size);
void slabs_release(void *memory);
/* Makes a slab larger where it lies, if there is room; false: it stays as it is. */
bool slabs_extend(void *memory, size_t size);

/* Keeps no more than so many bytes of slabs that nobody has; the system gets
 * the others. At first it is a thirty-second part of the machine's memory. */
void slabs_keep(size_t bytes);
/* Gives the system all that is kept now. */
void slabs_forget(void);
/* Bytes that are kept now. */
size_t slabs_kept(void);

#endif
