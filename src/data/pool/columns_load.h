/* SPDX-License-Identifier: MIT */
/*
 * Columns of a tablet of the file for who reads them once: no other is read, and
 * no pool keeps them.
 */
#ifndef VDBQ_DATA_COLUMNS_LOAD_H
#define VDBQ_DATA_COLUMNS_LOAD_H

#include "data/database/database.h"
#include "data/tablet/block.h"

/* A tablet without an edit as it would be with these columns alone; they keep their
 * numbers. Of texts it has the codes and no words. What there is was checked as
 * tablet_load() does. Fails with CORRUPT, IO, NO_MEMORY. */
enum vdbq_status columns_load(struct database *database,
                              const struct table *table,
                              const struct tablet_ref *tablet,
                              const unsigned *columns, unsigned count,
                              struct block *block, struct error *error);

#endif
