/* SPDX-License-Identifier: MIT */
/*
 * Memory that may lie in temporary files: of large arrays that are written once
 * and then read from their beginning to their end, as a query's words are. What
 * is beyond a limit lies there. Such pages leave the process again when they
 * are many: they are the system's, which keeps them in memory as long as it has
 * nothing better to do with it.
 *
 * Any thread may use all of these.
 */
#ifndef VDBQ_BASE_PAGED_H
#define VDBQ_BASE_PAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PAGED_MUCH = 1 << 20 }; /* bytes that are copied at a time */

/* From now on no more than so many bytes are to lie in memory; what is there
 * stays. At first there is no limit. It is the process's, as that memory is: it
 * outlives queries, and connections share it. */
void paged_limit(uint64_t bytes);

/* Whether an array of that size would lie in memory now. */
bool paged_fits(size_t size);

/* Memory, with anything in it; NULL: there is none. Where a file is wanted but
 * there is no room for it, it lies in memory. */
void *paged_alloc(size_t size);
void *paged_zeroed(size_t size);  /* the same, zeroed */
void paged_release(void *memory); /* accepts NULL */

/* Copies, and lets pages leave meanwhile if it is much. */
void paged_copy_much(void *to, const void *from, size_t size);
static inline void paged_copy(void *to, const void *from, size_t size)
{
    if (size >= PAGED_MUCH)
        paged_copy_much(to, from, size);
    else if (size > 0)
        memcpy(to, from, size);
}

/* Lets pages leave, if many came since the last ones left. stop_asked() calls it:
 * what works with large arrays asks every millisecond or so. */
void paged_put_away(void);
/* Whether memory of paged_alloc() lies in a file. */
bool paged_lies_in_file(const void *memory);
/* Lets the pages of some bytes of such memory leave at once: who used them does
 * not use them again soon. */
void paged_leave(const void *memory, const void *bytes, size_t size);
/* After how many bytes that a thread read in order these are to leave. */
uint64_t paged_stay_bytes(void);
/* Bytes that lie in files now. */
uint64_t paged_in_files(void);

#endif
