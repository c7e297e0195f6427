/* SPDX-License-Identifier: MIT */
/*
 * Tablets with their edits over them (data/catalogue/edit.h).
 */
#ifndef VDBQ_DATA_EDITED_H
#define VDBQ_DATA_EDITED_H

#include "data/tablet/block.h"
#include "data/tablet/tablet.h"

/* The tablet of the rows that a checked tablet, or its wanted columns, has with
 * an edit: `wanted` has one item a column; NULL: all are. A column that is not
 * wanted is not there. Without bytes: no memory, or the thread was asked to
 * stop. */
struct block tablet_edited(const struct table *table, const struct edit *edit,
                           const void *base, const bool *wanted);

#endif
