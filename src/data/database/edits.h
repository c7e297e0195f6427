/* SPDX-License-Identifier: MIT */
/*
 * Edits in the file: each is a block of its own, which the catalogue names
 * beside its tablet. They are read with the catalogue.
 *
 *   a block   size  field
 *                8  magic: "VDBQEDIT"
 *               16  identity by which the tablet, its base, was written
 *                4  rows of the base
 *                4  rows that are gone: G, less than these
 *                4  columns that have new values: C
 *                4  0
 *              4*G  places of rows that are gone, ascending
 *                .  C columns, by their numbers
 *   a column     4  number in the table
 *                4  rows that have a new value: N, at least 1
 *              4*N  their places, ascending, none of them gone
 *                N  1 where the value is NULL, else 0
 *              w*N  the values, of the type's width; those that are NULL are 0;
 *                   of a text how many bytes it has, in 4 bytes
 *                .  the bytes of texts, one behind the other
 *
 * Numbers are not aligned.
 */
#ifndef VDBQ_DATA_EDITS_H
#define VDBQ_DATA_EDITS_H

#include "data/database/database.h"
#include "data/file/file.h"
#include "data/file/space.h"

#define EDIT_MAGIC "VDBQEDIT"

/* Writes the blocks of edits that have none yet. Fails with IO, NO_MEMORY. */
enum vdbq_status edits_write(struct file *file, struct space *space,
                             const struct catalogue *catalogue,
                             struct error *error);
/* Reads all edits of a catalogue that was read. Those that the current catalogue
 * has of the same tablets are taken from there; one that cannot be read says so
 * (edit_check()). Fails with CORRUPT, NO_MEMORY. */
enum vdbq_status edits_load(const struct database *database,
                            struct catalogue *catalogue, struct error *error);

#endif
