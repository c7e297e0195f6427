/* SPDX-License-Identifier: MIT */
/*
 * Runs become blocks: run_block.h.
 */
#include "data/index/run_block.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/vector.h"
#include "data/tablet/tablet.h"

enum { PAGE_COLUMNS = 2, LINE_BYTES = 64 };

/* A block on its way. */
struct making {
    const struct run *run;
    uint32_t page_rows;
    struct vector heads; /* struct run_block_page */
    struct vector pages; /* bytes */
    uint64_t head_size;
    int64_t *keys; /* of a page */
    int32_t *rows;
};

struct table run_page_table(void)
{
    static const struct column columns[PAGE_COLUMNS] = {
        { .name = "key", .type = VDBQ_BIGINT },
        { .name = "row", .type = VDBQ_INTEGER }
    };

    return (struct table){ .name = "run",
                           .column_count = PAGE_COLUMNS,
                           .columns = (struct column *)(uintptr_t)columns,
                           .key = NO_KEY };
}

uint64_t run_head_size(uint64_t ranked, uint64_t pages)
{
    uint64_t size = sizeof(struct run_block_head) + ranked * sizeof(uint64_t)
                    + pages * sizeof(struct run_block_page);

    return (size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
}

/* Reads the keys and rows of a page. */
static void read_page(const struct making *making, uint32_t first,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = run_key(making->run, first + i);
        making->keys[i] = (int64_t)(key ^ UINT64_C(1) << 63);
        making->rows[i] = (int32_t)run_row(making->run, first + i);
    }
}

/* Adds a page of so many rows. */
static bool add_page(struct making *making, uint32_t first, uint32_t count)
{
    const struct table table = run_page_table();
    const struct vdbq_vector vectors[PAGE_COLUMNS] = {
        { VDBQ_BIGINT, making->keys, NULL },
        { VDBQ_INTEGER, making->rows, NULL }
    };
    const struct tablet_source source = { .table = &table,
                                          .rows = count,
                                          .vectors = vectors,
                                          .choice = CHOOSE_AUTO };
    struct tablet_column columns[PAGE_COLUMNS];
    struct column_facts facts[PAGE_COLUMNS];
    struct run_block_page page = { .key = run_key(making->run, first) };
    struct block block;
    bool added;

    read_page(making, first, count);
    block = block_create(tablet_describe(&source, columns, facts));
    if (block.bytes == NULL)
        return false;
    tablet_build(&source, columns, block.bytes);
    assert(block.size % LINE_BYTES == 0);
    page.checksum = block_checksum(block.bytes, block.size);
    page.offset = (uint32_t)(making->head_size + making->pages.count);
    page.size = (uint32_t)block.size;
    added = vector_append(&making->heads, &page, 1)
            && vector_append(&making->pages, block.bytes, block.size);
    block_destroy(&block);
    return added;
}

static uint64_t count_ranked(const struct run *run)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < run->column_count; i++)
        count += run->columns[i].count;
    return count;
}

/* Writes the head, whose bytes are all 0. */
static void put_head(const struct making *making, char *to)
{
    const struct run *run = making->run;
    struct run_block_head head = { .rows = run->rows,
                                   .tablet_rows = run->tablet_rows,
                                   .columns = run->column_count,
                                   .page_rows = making->page_rows };

    memcpy(head.magic, RUN_MAGIC, sizeof head.magic);
    for (unsigned i = 0; i < run->column_count; i++)
        head.column[i] =
            (struct run_block_column){ .column = run->columns[i].column,
                                       .bits = run->columns[i].bits,
                                       .base = run->columns[i].base,
                                       .span = run->columns[i].span,
                                       .ranked = run->columns[i].count,
                                       .is_ranked =
                                           run->columns[i].ranked != NULL };
    memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (unsigned i = 0; i < run->column_count; i++) {
        size_t bytes = run->columns[i].count * sizeof(uint64_t);
        if (bytes > 0)
            memcpy(to, run->columns[i].ranked, bytes);
        to += bytes;
    }
    if (making->heads.count > 0) /* there is none of a run without rows */
        memcpy(to, making->heads.items,
               making->heads.count * sizeof(struct run_block_page));
}

static bool add_pages(struct making *making)
{
    const struct run *run = making->run;
    bool added = making->keys != NULL && making->rows != NULL;

    for (uint32_t at = 0, count; at < run->rows && added; at += count) {
        count = run->rows - at < making->page_rows ? run->rows - at
                                                   : making->page_rows;
        added = add_page(making, at, count) && !stop_asked();
    }
    return added;
}

/* Head and pages together. */
static struct block put_together(const struct making *making,
                                 struct run_ref *ref)
{
    struct block block = block_create(making->head_size + making->pages.count);

    if (block.bytes == NULL)
        return block;
    memset(block.bytes, 0, (size_t)making->head_size);
    put_head(making, block.bytes);
    if (making->pages.count > 0)
        memcpy((char *)block.bytes + making->head_size, making->pages.items,
               making->pages.count);
    ref->size_bytes = block.size;
    ref->head_bytes = making->head_size;
    ref->checksum = block_checksum(block.bytes, (size_t)making->head_size);
    return block;
}

struct block run_block(const struct run *run, uint32_t page_rows,
                       struct run_ref *ref)
{
    uint64_t pages = (run->rows + (uint64_t)page_rows - 1) / page_rows;
    struct making making = {
        .run = run,
        .page_rows = page_rows,
        .heads = VECTOR(struct run_block_page),
        .pages = VECTOR(char),
        .head_size = run_head_size(count_ranked(run), pages),
        .keys = memory_resize(NULL, page_rows * sizeof *making.keys),
        .rows = memory_resize(NULL, page_rows * sizeof *making.rows)
    };
    struct block block = { 0 };

    if (add_pages(&making))
        block = put_together(&making, ref);
    memory_release(making.keys);
    memory_release(making.rows);
    vector_finish(&making.heads);
    vector_finish(&making.pages);
    return block;
}
