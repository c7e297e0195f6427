/* SPDX-License-Identifier: MIT */
/*
 * Runs become blocks, and blocks runs: run_block.h.
 */
#include "data/index/run_block.h"

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/database/rows_block.h"
#include "data/tablet/tablet_inner.h"

/* What the block is a tablet of. */
static const struct column row_column = { .name = "row", .type = VDBQ_INTEGER };

static struct table described(void)
{
    return (struct table){ .name = "run",
                           .column_count = 1,
                           .columns = (struct column *)(uintptr_t)&row_column,
                           .key = NO_KEY };
}

/* The order as rows of the table. */
static bool add_order(const struct run *run, const struct table *table,
                      struct rows *rows)
{
    int32_t *numbers = memory_resize(NULL, run->rows * sizeof *numbers);
    struct vdbq_vector vector = { VDBQ_INTEGER, numbers, NULL };
    bool room = numbers != NULL && rows_init(rows, table);

    for (uint32_t i = 0; room && i < run->rows; i++)
        numbers[i] = (int32_t)run_row(run, i);
    room = room && rows_add(rows, &vector, 0, run->rows);
    memory_release(numbers);
    return room;
}

struct block run_block(const struct run *run)
{
    struct table table = described();
    struct rows rows = { 0 };
    struct block block = { 0 };
    struct column_facts facts;
    uint64_t features = 0; /* who knows runs knows all encodings */

    if (add_order(run, &table, &rows))
        block = rows_block(&rows, &table,
                           (struct rows_form){ .choice = CHOOSE_AUTO }, &facts,
                           &features);
    rows_finish(&rows);
    return block;
}

/* The numbers of a checked block; NULL: no memory. */
static uint32_t *read_order(const struct block *block)
{
    const struct tablet *head = block->bytes;
    uint32_t *order = memory_resize(NULL, head->rows * sizeof *order);

    if (order != NULL)
        tablet_values(head, 0, order);
    return order;
}

enum vdbq_status run_load(struct database *database, const struct run_ref *ref,
                          const void *tablet, struct run **run,
                          struct error *error)
{
    const struct tablet *head = tablet;
    struct table table = described();
    struct column_facts facts = { .maximum = (int64_t)head->rows - 1 };
    struct tablet_ref place = { .offset = ref->offset,
                                .size_bytes = ref->size_bytes,
                                .checksum = ref->checksum,
                                .rows = (uint32_t)head->rows,
                                .facts = &facts };
    unsigned refused = memory_refused();
    struct error ignored;
    struct block block;
    uint32_t *order = NULL;

    *run = NULL;
    if (tablet_load(database, &table, &place, &block, &ignored) == VDBQ_OK)
        order = read_order(&block);
    block_destroy(&block);
    if (order != NULL)
        *run = run_restore(tablet, ref->columns, ref->column_count, order);
    if (*run == NULL && memory_refused() != refused)
        return error_no_memory(error);
    return stop_pause(error);
}
