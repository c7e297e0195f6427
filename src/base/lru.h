/* SPDX-License-Identifier: MIT */
/*
 * A list of what is idle, in the order in which it was used last. Its links
 * lie in the structs that are listed.
 */
#ifndef VDBQ_BASE_LRU_H
#define VDBQ_BASE_LRU_H

#include <stddef.h>

struct lru_link {
    struct lru_link *older, *newer;
};

/* A zeroed one is empty. */
struct lru {
    struct lru_link *oldest, *newest;
};

/* Adds what is in no list, as the newest. */
void lru_add(struct lru *lru, struct lru_link *link);
/* Likewise as the oldest, which leaves next. */
void lru_add_oldest(struct lru *lru, struct lru_link *link);
/* Takes it out. */
void lru_remove(struct lru *lru, struct lru_link *link);

/* The struct that has a link at so many bytes from its start; NULL for NULL. */
static inline void *lru_item(struct lru_link *link, size_t offset)
{
    return link != NULL ? (char *)link - offset : NULL;
}

#endif
