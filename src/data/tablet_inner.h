/* SPDX-License-Identifier: MIT */
/*
 * Reading checked tablets on the host, for the data floor itself.
 */
#ifndef VDBQ_DATA_TABLET_INNER_H
#define VDBQ_DATA_TABLET_INNER_H

#include "data/tablet.h"

/* `size` up to a multiple of TABLET_ALIGN. */
static inline uint64_t tablet_round(uint64_t size)
{
    return (size + TABLET_ALIGN - 1) / TABLET_ALIGN * TABLET_ALIGN;
}

/* The bits of a column's NULLs, or NULL: there are none. */
const uint8_t *tablet_nulls(const void *block, unsigned column);
/* Writes the tablet's values as a plain array, whatever their encoding. */
void tablet_values(const void *block, unsigned column, void *values);

/* The facts that a checked tablet keeps of a column. */
void tablet_facts(const void *block, unsigned column,
                  struct column_facts *facts);

#endif
