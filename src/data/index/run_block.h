/* SPDX-License-Identifier: MIT */
/*
 * Runs in the file. A block has a head, which says what the keys are made of and
 * which one each page begins with, and the pages: neighbouring places of the run,
 * their keys and rows. Each has a checksum of its own, so that a search reads the
 * head and the pages that can have what it looks for, and proves no more.
 *
 *   the head   offset  size  field
 *                   0     8  magic
 *                   8     4  rows of the run, at least 1
 *                  12     4  rows of the tablet
 *                  16     4  columns, 1 to RUN_COLUMNS_MAX
 *                  20     4  rows of a page; the last one has what is left
 *                  24    32  for each column, RUN_COLUMNS_MAX times: struct
 *                            run_block_column; those that are not there are 0
 *                 120     8  for each ranked value of the columns
 *                        24  for each page: struct run_block_page
 *
 * up to the next multiple of 64. Pages are tablets (cl/tablet.h) of two columns
 * without NULLs: a BIGINT, the key with its highest bit turned over, and an
 * INTEGER, the row's number in the tablet.
 */
#ifndef VDBQ_DATA_RUN_BLOCK_H
#define VDBQ_DATA_RUN_BLOCK_H

#include "base/hostile.h"
#include "data/catalogue/catalogue.h"
#include "data/index/run.h"
#include "data/tablet/block.h"

enum {
    RUN_PAGE_ROWS = HOSTILE(2, 1 << 11),
    RUN_PAGE_ROWS_MAX = 1 << 16 /* of a file */
};
#define RUN_MAGIC "VDBQRUNS"

struct run_block_column {
    uint32_t column, bits;
    uint64_t base, span;
    uint32_t ranked; /* values, or 0: codes count from `base` on, or all are
                        NULL                                          */
    uint32_t is_ranked;
};

struct run_block_page {
    uint64_t key; /* the first */
    uint64_t checksum;
    uint32_t offset; /* from the block's start on, a multiple of 64 */
    uint32_t size;
};

struct run_block_head {
    char magic[8];
    uint32_t rows, tablet_rows, columns, page_rows;
    struct run_block_column column[RUN_COLUMNS_MAX];
};
_Static_assert(sizeof(struct run_block_head) == 120, "layout of a run's head");
_Static_assert(sizeof(struct run_block_page) == 24, "layout of a run's page");

/* What a page is a tablet of. */
struct table run_page_table(void);
/* The head's size: without pages, values and the space behind it, that of
 * struct run_block_head. */
uint64_t run_head_size(uint64_t ranked, uint64_t pages);

/* The block of a run, in pages of so many rows; its place but for the offset goes
 * into `*ref`. Without bytes: no memory, or it is to end. */
struct block run_block(const struct run *run, uint32_t page_rows,
                       struct run_ref *ref);

#endif
