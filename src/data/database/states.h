/* SPDX-License-Identifier: MIT */
/*
 * Older states of the database that somebody still reads, and what of the file
 * they need (file rules 6 and 7). A writer finds them by the readers' marks,
 * and the commit lists them in the file for the writers that come after it.
 *
 * The list stands behind the catalogue's bytes and the lists of samples and
 * runs, from the next multiple of 8 on, where a head has FILE_STATES:
 *
 *   size  field
 *      8  how many states
 *   * 56  each: generation, catalogue, catalogue_size, catalogue_checksum,
 *         end, features and features_read of the head that led there
 *      8  XXH3 of all before it
 *
 * What is wrong with the list costs space alone: a state that is read and that
 * nobody can find keeps all free space from being used.
 */
#ifndef VDBQ_DATA_STATES_H
#define VDBQ_DATA_STATES_H

#include "base/text.h"
#include "data/database/database_inner.h"

/* A state that is not the current one. */
struct older_state {
    struct file_head head;       /* that leads, or led, there */
    struct catalogue *catalogue; /* held                      */
};

/* Takes note of what the current catalogue lists, whose other bytes end
 * `size_bytes` behind its start. Fails with NO_MEMORY alone. */
enum vdbq_status states_load(struct database *database, uint64_t size_bytes,
                             struct error *error);
/* As the writer, finds the states that are read: the database's `older`.
 * `*all`: nobody reads anything but these and the current one; before it, whether
 * all who read tell what (file_alone()). Fails with IO, NO_MEMORY. */
enum vdbq_status states_find(struct database *database, bool *all,
                             struct error *error);
/* Adds what the states found need of the file; false: no memory. */
bool states_add_extents(const struct database *database,
                        struct vector *extents);
/* Whether the state that a head leads to is among those found. */
bool states_found(const struct database *database,
                  const struct file_head *head);
/* Adds the list behind the catalogue's bytes. The features that it needs: 0, and
 * nothing is added, where there are no such states. */
uint64_t states_list(const struct database *database, struct text *text);
/* Keeps in mind the state before a commit, of which the other head tells now.
 * Without memory for it, it is read from the file when it is looked for. */
void states_pass(struct database *database, struct catalogue *before);
void states_finish(struct database *database);

#endif
