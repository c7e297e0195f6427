/* SPDX-License-Identifier: MIT */
/*
 * Samples in the file. Each is a block of its own: a tablet of the rows, with
 * their numbers as one column more. The list of these blocks stands behind
 * the catalogue, from the next multiple of 8 on: of each table, offset, size
 * and checksum of its block, 8 bytes each and 0 where it has none; then the
 * list's checksum. FILE_SAMPLES, among the features of the head that may be
 * ignored, says that the list is there. So a vdbq that does not know samples
 * reads the file, and leaves them out of a state that it writes.
 *
 * What is wrong with a sample costs the sample alone: no answer depends on it.
 */
#ifndef VDBQ_DATA_SAMPLES_H
#define VDBQ_DATA_SAMPLES_H

#include "base/text.h"
#include "data/database/database_inner.h"
#include "data/database/list.h"
#include "data/file/space.h"

enum { SAMPLE_ENTRY_BYTES = 24 }; /* of the list */

/* Bytes of a head's catalogue and of the list behind it, if there is one. */
static inline uint64_t samples_catalogue_size(const struct file_head *head,
                                              const struct catalogue *catalogue)
{
    if ((head->features & FILE_SAMPLES) == 0)
        return head->catalogue_size;
    return list_start(head->catalogue_size)
           + catalogue->table_count * SAMPLE_ENTRY_BYTES + LIST_SUM_BYTES;
}

/* Gives the tables of a catalogue, which was read with that head, their
 * samples. Those that the current catalogue has from the same blocks are not read
 * again; with `places`, none is: they tell where their blocks are. Fails with
 * NO_MEMORY alone. */
enum vdbq_status samples_load(const struct database *database,
                              const struct file_head *head, bool places,
                              struct catalogue *catalogue, struct error *error);

/* Writes the samples that have no block yet. */
enum vdbq_status samples_write(struct file *file, struct space *space,
                               const struct catalogue *catalogue,
                               struct error *error);
/* Adds the list behind the catalogue's bytes. The features that it needs: 0, and
 * nothing is added, where no table has a sample. */
uint64_t samples_list(const struct catalogue *catalogue, struct text *text);

#endif
