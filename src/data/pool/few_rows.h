/* SPDX-License-Identifier: MIT */
/*
 * Few rows of a tablet that is not in memory: of each column the pages are read that
 * have their values, and of a dictionary the units that have their words. What comes
 * of it is a tablet as memory has it, of which these rows alone may be read; the
 * rest of its room nobody has touched. One thread at a time, as the pool.
 */
#ifndef VDBQ_DATA_FEW_ROWS_H
#define VDBQ_DATA_FEW_ROWS_H

#include "data/database/tablet_pages.h"
#include "data/pool/pool.h"
#include "data/pool/projection.h"

struct few_rows {
    const struct tablet *tablet; /* NULL: there is none                   */
    struct projection projection;
    struct page_reader reader;
    void *block;        /* where the tablet is, all of it is room           */
    uint64_t size;      /* of the block                                     */
    uint64_t row_bytes; /* that a row takes as long as              */
    struct arena arena;
};

/* Whether so many rows of a tablet are few, and the pool has not what is wanted of
 * it: then bringing them in costs less than bringing in all. Of a tablet of which
 * few rows were wanted again and again, all are brought in. */
bool few_rows_pay(const struct pool *pool, const struct pool_want *want,
                  uint64_t count);

/* Reads the head of the tablet, and makes room for the columns that are wanted, for
 * which `pay` said so. Without a tablet there, and OK: it must be brought in as a
 * whole. few_rows_finish() is due whatever it returns. Fails as pool_pin() does. */
enum vdbq_status few_rows_open(struct few_rows *few, struct pool *pool,
                               const struct pool_want *want,
                               struct error *error);
/* Brings in rows, by their numbers in the tablet. Fails likewise. */
enum vdbq_status few_rows_bring(struct few_rows *few, const uint32_t *rows,
                                uint64_t count, struct error *error);
void few_rows_finish(struct few_rows *few); /* accepts a zeroed one */

#endif
