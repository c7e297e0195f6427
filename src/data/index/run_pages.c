/* SPDX-License-Identifier: MIT */
/*
 * Heads and pages of runs, proven before they are used: run_pages.h. Nothing of
 * them is an offset or a count before it was compared with what is known.
 */
#include "data/index/run_pages.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "data/database/database_inner.h"
#include "data/index/run_block.h"

/* Bytes of a page of so many rows, at most: both columns plain. */
enum { PAGE_FIXED_BYTES = 1 << 10, PAGE_ROW_BYTES = 16 };

/* ----------------------------------------------------------------- head -- */

/* Takes over what the head says of a column; its ranked values follow at
 * `*values`. */
static bool take_column(const struct run_pages *pages, unsigned i,
                        const uint64_t **values, struct run_column *column)
{
    const struct run_block_head *head = pages->head.bytes;
    const struct run_block_column *from = &head->column[i];
    bool ascend = true;

    *column = (struct run_column){ .column = from->column,
                                   .bits = from->bits,
                                   .base = from->base,
                                   .span = from->span };
    if (from->column != pages->ref->columns[i] || from->bits > RUN_KEY_BITS)
        return false;
    if (from->is_ranked == 0)
        return from->ranked == 0 && from->span < UINT64_MAX - 1
               && from->bits == run_bits(from->span + 1);
    column->count = from->ranked;
    column->ranked = (uint64_t *)(uintptr_t)*values;
    *values += from->ranked;
    for (uint32_t k = 1; k < column->count; k++)
        ascend &= column->ranked[k - 1] < column->ranked[k];
    return ascend && from->bits == run_bits(from->ranked);
}

static bool take_columns(struct run_pages *pages)
{
    const struct run_block_head *head = pages->head.bytes;
    const uint64_t *values = (const uint64_t *)(const void *)(head + 1);
    struct run *run = &pages->run;
    bool sound = true;

    run->rows = head->rows;
    run->tablet_rows = head->tablet_rows;
    run->column_count = head->columns;
    for (unsigned i = 0; i < head->columns && sound; i++) {
        sound = take_column(pages, i, &values, &run->columns[i]);
        run->key_bits += run->columns[i].bits;
    }
    pages->pages = (const struct run_block_page *)(const void *)values;
    return sound && run->key_bits <= RUN_KEY_BITS;
}

static bool check_page(const struct run_pages *pages, uint32_t number)
{
    const struct run_block_page *page = &pages->pages[number];
    uint64_t size = pages->ref->size_bytes;

    return page->offset % 64 == 0 && page->offset >= pages->head.size
           && page->offset <= size && page->size <= size - page->offset
           && page->size > 0
           && page->size <= PAGE_FIXED_BYTES + pages->page_rows * PAGE_ROW_BYTES
           && (number == 0 || page[-1].key <= page->key);
}

/* Compares what the head says with the tablet's rows, and its size with what is
 * in it. */
static bool check_counts(struct run_pages *pages, struct run_tablet of)
{
    const struct run_block_head *head = pages->head.bytes;
    uint64_t ranked = 0;

    if (memcmp(head->magic, RUN_MAGIC, sizeof head->magic) != 0
        || head->tablet_rows != of.rows || head->rows > of.rows
        || (head->rows < of.rows && !of.some) || head->page_rows == 0
        || head->page_rows > RUN_PAGE_ROWS_MAX
        || head->columns != pages->ref->column_count)
        return false;
    for (unsigned i = 0; i < RUN_COLUMNS_MAX; i++)
        ranked += head->column[i].ranked;
    pages->page_rows = head->page_rows;
    pages->page_count = (uint32_t)((head->rows + (uint64_t)head->page_rows - 1)
                                   / head->page_rows);
    return pages->head.size == run_head_size(ranked, pages->page_count);
}

static bool check_head(struct run_pages *pages, struct run_tablet of)
{
    bool sound = check_counts(pages, of) && take_columns(pages);

    for (uint32_t i = 0; sound && i < pages->page_count; i++)
        sound = check_page(pages, i);
    return sound;
}

/* Reads bytes of the run's block, and compares their checksum. */
static bool read_bytes(const struct run_pages *pages, struct block *block,
                       uint64_t offset, uint64_t checksum)
{
    struct error ignored;

    return file_read(&pages->database->file, block->bytes, block->size,
                     pages->ref->offset + offset, &ignored)
               == VDBQ_OK
           && block_checksum(block->bytes, block->size) == checksum;
}

enum vdbq_status run_pages_open(struct database *database,
                                const struct run_ref *ref, struct run_tablet of,
                                struct run_pages *pages, bool *sound,
                                struct error *error)
{
    *pages = (struct run_pages){ .database = database, .ref = ref };
    *sound = false;
    if (ref->head_bytes < sizeof(struct run_block_head)
        || ref->head_bytes > ref->size_bytes)
        return VDBQ_OK;
    pages->head = block_to_read(ref->head_bytes);
    if (pages->head.bytes == NULL)
        return error_no_memory(error);
    *sound = read_bytes(pages, &pages->head, 0, ref->checksum)
             && check_head(pages, of);
    return VDBQ_OK;
}

void run_pages_close(struct run_pages *pages)
{
    block_destroy(&pages->head);
}

/* ---------------------------------------------------------------- pages -- */

/* What is read with. */
struct page_reading {
    const struct run_pages *pages;
    struct run *run; /* with what was read so far */
    uint64_t *keys;  /* of it, wide               */
    int64_t *values; /* of a page                 */
    bool sound;      /* so far                    */
};

static uint32_t rows_of(const struct run_pages *pages, uint32_t number)
{
    uint32_t first = number * pages->page_rows;
    uint32_t left = pages->run.rows - first;

    return left < pages->page_rows ? left : pages->page_rows;
}

/* Whether a key, with its row behind it, is more than the one before it. */
static bool is_more(const struct page_reading *reading, uint32_t at)
{
    const uint64_t *keys = reading->keys;
    const uint32_t *order = reading->run->order;

    return at == 0 || keys[at - 1] < keys[at]
           || (keys[at - 1] == keys[at] && order[at - 1] < order[at]);
}

/* Adds the keys and rows of a page's tablet, which is proven. */
static void take_page(struct page_reading *reading, const struct block *block,
                      uint32_t number)
{
    const struct run_pages *pages = reading->pages;
    struct run *run = reading->run;
    uint32_t count = rows_of(pages, number), at = run->rows;

    tablet_values_of(block->bytes, 0, 0, count, reading->values);
    tablet_values_of(block->bytes, 1, 0, count, run->order + at);
    for (uint32_t i = 0; i < count; i++) {
        reading->keys[at + i] =
            (uint64_t)reading->values[i] ^ UINT64_C(1) << 63;
        reading->sound &=
            run->order[at + i] < run->tablet_rows && is_more(reading, at + i);
    }
    reading->sound &=
        reading->keys[at] == pages->pages[number].key
        && (run->key_bits == RUN_KEY_BITS
            || reading->keys[at + count - 1] >> run->key_bits == 0);
    run->rows += count;
}

static enum vdbq_status read_page(struct page_reading *reading, uint32_t number,
                                  struct error *error)
{
    const struct run_pages *pages = reading->pages;
    const struct run_block_page *page = &pages->pages[number];
    const struct table table = run_page_table();
    struct block block = block_to_read(page->size);
    struct error ignored;

    if (block.bytes == NULL)
        return error_no_memory(error);
    reading->sound = read_bytes(pages, &block, page->offset, page->checksum)
                     && tablet_check(&table, block.bytes, block.size,
                                     rows_of(pages, number), &ignored)
                            == VDBQ_OK
                     && tablet_column(block.bytes, 0)->null_count == 0
                     && tablet_column(block.bytes, 1)->null_count == 0;
    if (reading->sound)
        take_page(reading, &block, number);
    block_destroy(&block);
    return VDBQ_OK;
}

/* Copies what the head says of the columns. */
static bool copy_columns(const struct run *from, struct run *to)
{
    for (unsigned i = 0; i < from->column_count; i++) {
        const struct run_column *column = &from->columns[i];
        size_t bytes = column->count * sizeof *column->ranked;
        to->columns[i].ranked = NULL;
        if (column->ranked == NULL)
            continue;
        to->columns[i].ranked = memory_resize(NULL, bytes + 1);
        if (to->columns[i].ranked == NULL)
            return false;
        memcpy(to->columns[i].ranked, column->ranked, bytes);
        to->size_bytes += bytes;
    }
    return true;
}

/* A run with room for so many rows. */
static bool start(struct page_reading *reading, uint64_t rows)
{
    const struct run_pages *pages = reading->pages;
    struct run *run = memory_zeroed(1, sizeof *run);

    reading->run = run;
    if (run == NULL)
        return false;
    *run = pages->run;
    run->rows = 0;
    run->size_bytes = sizeof *run;
    if (!copy_columns(&pages->run, run))
        return false;
    reading->keys = memory_resize(NULL, (size_t)(rows + 1) * sizeof(uint64_t));
    run->order = memory_resize(NULL, (size_t)(rows + 1) * sizeof *run->order);
    reading->values =
        memory_resize(NULL, pages->page_rows * sizeof *reading->values);
    return reading->keys != NULL && run->order != NULL
           && reading->values != NULL;
}

/* Whether no row is there twice: of a run that is read in part this is seen where
 * rows are found (run_terms.c). */
static bool are_different(const struct run *run)
{
    size_t words = run->tablet_rows / 64 + (size_t)1;
    uint64_t *bits = memory_zeroed(words, sizeof *bits);
    bool different = bits != NULL; /* without memory a run is no loss */

    for (uint32_t i = 0; i < run->rows && different; i++) {
        uint64_t bit = UINT64_C(1) << run->order[i] % 64;
        different = (bits[run->order[i] / 64] & bit) == 0;
        bits[run->order[i] / 64] |= bit;
    }
    memory_release(bits);
    return different;
}

/* Rows in the order of the tablet need no numbers. */
static void drop_order(struct run *run)
{
    bool same = run->rows == run->tablet_rows;

    for (uint32_t i = 0; i < run->rows && same; i++)
        same = run->order[i] == i;
    if (!same)
        return;
    memory_release(run->order);
    run->order = NULL;
}

/* Makes a run of the pages that are wanted. */
static enum vdbq_status read_pages(const struct run_pages *pages,
                                   const bool *wanted, uint64_t rows,
                                   struct run **run, struct error *error)
{
    struct page_reading reading = { .pages = pages, .sound = true };
    enum vdbq_status status =
        start(&reading, rows) ? VDBQ_OK : error_no_memory(error);

    for (uint32_t i = 0;
         i < pages->page_count && reading.sound && status == VDBQ_OK; i++) {
        if (wanted[i])
            status = read_page(&reading, i, error);
        if (status == VDBQ_OK && wanted[i])
            status = stop_pause(error);
    }
    memory_release(reading.values);
    if (status == VDBQ_OK && reading.sound
        && reading.run->rows == pages->run.rows)
        reading.sound = are_different(reading.run);
    if (status == VDBQ_OK && reading.sound) {
        drop_order(reading.run);
        run_take_keys(reading.run, reading.keys);
        *run = reading.run;
        return VDBQ_OK;
    }
    memory_release(reading.keys);
    run_destroy(reading.run);
    return status;
}

/* Pages that are to be read of one range of keys. */
struct choosing {
    const struct run_pages *pages;
    struct run_keys keys;
    uint32_t first, end;         /* that can have some of these */
    bool *wanted;                /* one a page of the run       */
    const struct run_ends *ends; /* NULL: all are wanted */
};

/* How many pages begin with a lesser key, or one that is no more than it. */
static uint32_t pages_below(const struct run_pages *pages, uint64_t key,
                            bool or_equal)
{
    uint32_t low = 0, high = pages->page_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t first = pages->pages[middle].key;
        if (first < key || (or_equal && first == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last page that begins with a lesser key may end with some of the range. */
static struct choosing choose(const struct run_pages *pages,
                              struct run_keys keys, const struct run_ends *ends,
                              bool *wanted)
{
    uint32_t below = pages_below(pages, keys.first, false);
    struct choosing choosing = { .pages = pages,
                                 .keys = keys,
                                 .first = below > 0 ? below - 1 : 0,
                                 .wanted = wanted,
                                 .ends = ends };

    choosing.end = keys.first > keys.last ? choosing.first
                                          : pages_below(pages, keys.last, true);
    return choosing;
}

static void want(const struct choosing *choosing, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        choosing->wanted[i] = true;
}

/* Rows of a page that have keys of the range for certain: all, if the range goes
 * on behind it, else at least that which it begins with. */
static uint32_t rows_sure(const struct choosing *choosing, uint32_t page)
{
    if (choosing->pages->pages[page].key < choosing->keys.first)
        return 0;
    return page + 1 < choosing->end ? rows_of(choosing->pages, page) : 1;
}

/* Whether the rows that two pages begin with are equals in the order. */
static bool begin_alike(const struct choosing *choosing, uint32_t a, uint32_t b)
{
    const struct run_block_page *pages = choosing->pages->pages;
    struct run_keys equals =
        run_ends_equals(choosing->ends, &choosing->pages->run, pages[a].key);

    return pages[b].key >= equals.first && pages[b].key <= equals.last;
}

/* From some page on, as many as have so many rows. Returns where they end. */
static uint32_t want_rows(const struct choosing *choosing, uint32_t page,
                          uint32_t rows)
{
    uint64_t sure = 0;
    uint32_t first = page;

    for (; page < choosing->end && sure < rows; page++)
        sure += rows_sure(choosing, page);
    want(choosing, first, page);
    return page;
}

/* Whether of the equals of the row that a page begins with all may be wanted: these
 * are not of one key, in whose rows the tablet's order is seen, or come together. */
static bool wants_all(const struct choosing *choosing, uint32_t page)
{
    const struct run *run = &choosing->pages->run;
    uint64_t key = choosing->pages->pages[page].key;
    struct run_keys equals = run_ends_equals(choosing->ends, run, key);

    return equals.first != equals.last
           || !run_ends_cut(choosing->ends, run, key);
}

/* The first rows, and their equals in the order. */
static void want_first(const struct choosing *choosing)
{
    uint32_t next = want_rows(choosing, choosing->first, choosing->ends->first);
    uint32_t end = next;

    if (next == choosing->end || !wants_all(choosing, next))
        return;
    while (end < choosing->end && begin_alike(choosing, next, end))
        end++;
    want(choosing, next, end);
}

/* The last rows, and of the equals of the first one of them all, or those that
 * come first. */
static void want_last(const struct choosing *choosing)
{
    uint32_t page = choosing->end, equals;
    uint64_t sure = 0;
    bool all;

    while (page > choosing->first && sure < choosing->ends->last)
        sure += rows_sure(choosing, --page);
    if (page == choosing->end)
        return;
    want(choosing, page, choosing->end);
    for (equals = page;
         equals > choosing->first && begin_alike(choosing, page, equals - 1);)
        equals--;
    all = wants_all(choosing, page);
    want(choosing, all ? equals : page, page);
    if (equals > choosing->first)
        choosing->wanted[equals - 1] = true;
    if (!all && equals < page)
        want_rows(choosing, equals, choosing->ends->last);
}

static void want_range(const struct choosing *choosing)
{
    const struct run_ends *ends = choosing->ends;

    if (ends == NULL || (ends->first == 0 && ends->last == 0)) {
        want(choosing, choosing->first, choosing->end);
        return;
    }
    if (ends->first > 0)
        want_first(choosing);
    if (ends->last > 0)
        want_last(choosing);
}

enum vdbq_status run_pages_find(const struct run_pages *pages,
                                const struct vector *keys,
                                const struct run_ends *ends, struct run **run,
                                struct error *error)
{
    bool *wanted = memory_zeroed(pages->page_count + (size_t)1, sizeof *wanted);
    enum vdbq_status status;
    uint64_t rows = 0;

    *run = NULL;
    if (wanted == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < keys->count; i++) {
        const struct run_keys *some = vector_at(keys, i);
        const struct choosing choosing = choose(pages, *some, ends, wanted);
        want_range(&choosing);
    }
    for (uint32_t i = 0; i < pages->page_count; i++)
        rows += wanted[i] ? rows_of(pages, i) : 0;
    status = read_pages(pages, wanted, rows, run, error);
    memory_release(wanted);
    return status;
}

enum vdbq_status run_load(struct database *database, const struct run_ref *ref,
                          struct run_tablet of, const void *block,
                          struct run **run, struct error *error)
{
    struct vector keys = VECTOR(struct run_keys);
    struct run_keys all = { 0, UINT64_MAX };
    struct run_pages pages;
    bool sound;
    enum vdbq_status status =
        run_pages_open(database, ref, of, &pages, &sound, error);

    *run = NULL;
    if (status == VDBQ_OK && !vector_append(&keys, &all, 1))
        status = error_no_memory(error);
    if (status == VDBQ_OK && sound)
        status = run_pages_find(&pages, &keys, NULL, run, error);
    if (*run != NULL && block != NULL)
        run_add_heads(*run, block);
    run_pages_close(&pages);
    vector_finish(&keys);
    return status;
}
