/* SPDX-License-Identifier: MIT */
/*
 * The list of runs in the file (struct run_ref). It stands behind the catalogue,
 * and behind the list of samples where there is one, from the next multiple of 8
 * on: how many there are (8 bytes), an entry for each, and the list's checksum
 * (8 bytes). FILE_RUNS, among the features of the head that may be ignored, says
 * that it is there. A vdbq that does not know runs reads the file, and leaves the
 * list out of a state that it writes; it may take their space.
 *
 *   an entry  offset  size  field
 *                  0    16  identity of the tablet: origin and number
 *                 16     4  columns, 1 to RUN_COLUMNS_MAX
 *                 20    12  their numbers in the table; the others are 0
 *                 32     8  offset of the run's block in the file
 *                 40     8  size
 *                 48     8  size of its head
 *                 56     8  checksum of the head
 *
 * What is wrong with the list or a run costs the run alone: it is made anew.
 */
#ifndef VDBQ_DATA_RUN_LIST_H
#define VDBQ_DATA_RUN_LIST_H

#include "base/text.h"
#include "data/database/database_inner.h"

/* Bytes of a head's catalogue and of the lists behind it. */
uint64_t run_list_end(const struct file_head *head,
                      const struct catalogue *catalogue);
/* Gives a catalogue, which was read with that head, its runs. Fails with
 * NO_MEMORY alone. */
enum vdbq_status run_list_load(const struct file *file,
                               const struct file_head *head,
                               struct catalogue *catalogue,
                               struct error *error);
/* Adds the list behind the catalogue's bytes. The features that it needs: 0, and
 * nothing is added, where there is no run. */
uint64_t run_list_add(const struct catalogue *catalogue, struct text *text);

#endif
