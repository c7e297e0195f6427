/* SPDX-License-Identifier: MIT */
/*
 * Links between threads of one process: rank 0 and each of the others send one
 * another messages through memory.
 */
#ifndef VDBQ_CLUSTER_MEMORY_LINK_H
#define VDBQ_CLUSTER_MEMORY_LINK_H

#include "cluster/vdbq_cluster.h"

struct memory_links;

/* Links of so many ranks, called by these names, which outlive them. NULL: no
 * memory. */
struct memory_links *memory_links_create(unsigned ranks,
                                         const char *const *names);
/* Messages that nobody took are freed. Accepts NULL. */
void memory_links_destroy(struct memory_links *links);
/* That of one rank, for one thread at a time. */
const struct vdbq_link *memory_link(const struct memory_links *links,
                                    unsigned rank);

#endif
