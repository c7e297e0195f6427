/* SPDX-License-Identifier: MIT */
/*
 * The list of idle things: doubly linked, so that any of them can leave.
 */
#include "base/lru.h"

void lru_add(struct lru *lru, struct lru_link *link)
{
    link->older = lru->newest;
    link->newer = NULL;
    if (lru->newest != NULL)
        lru->newest->newer = link;
    else
        lru->oldest = link;
    lru->newest = link;
}

void lru_add_oldest(struct lru *lru, struct lru_link *link)
{
    link->older = NULL;
    link->newer = lru->oldest;
    if (lru->oldest != NULL)
        lru->oldest->older = link;
    else
        lru->newest = link;
    lru->oldest = link;
}

void lru_remove(struct lru *lru, struct lru_link *link)
{
    if (link->older != NULL)
        link->older->newer = link->newer;
    else
        lru->oldest = link->newer;
    if (link->newer != NULL)
        link->newer->older = link->older;
    else
        lru->newest = link->older;
}
