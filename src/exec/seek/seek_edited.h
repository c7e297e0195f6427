/* SPDX-License-Identifier: MIT */
/*
 * Rows of a tablet whose keys have new values, by its edit: no run of what the
 * edit is over knows of these.
 */
#ifndef VDBQ_EXEC_SEEK_EDITED_H
#define VDBQ_EXEC_SEEK_EDITED_H

#include "exec/seek/seek_terms.h"

/* How many rows at most have a new value in a key. */
uint32_t seek_edited_most(const struct seek_terms *terms,
                          const struct edit *edit);
/* Whether the row at a place is gone, or has a new value in a key. */
bool seek_edited_row(const struct seek_terms *terms, const struct edit *edit,
                     uint32_t place);
/* Adds the places of those that have what is looked for to places that ascend,
 * and none of which is of such a row. `base`: what the edit is over, with its keys
 * in memory where there are several. False: no memory, or the thread is to stop. */
bool seek_edited_find(const struct seek_terms *terms, const struct edit *edit,
                      const void *base, struct vector *found);

#endif
