/* SPDX-License-Identifier: MIT */
#include "data/database/tablet_pages.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "data/database/database_inner.h"
#include "data/tablet/page_sums.h"

/* Bytes that are read and summed up at a time, a multiple of a page: few enough to
 * be in a core's own cache when they are summed up. */
enum { READ_BYTES = 256 << 10 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum vdbq_status read_bytes(const struct tablet_pages *pages,
                                   uint64_t at, uint64_t size, void *to,
                                   struct error *error)
{
    return file_read(&pages->database->file, to, (size_t)size,
                     pages->tablet->offset + at, error);
}

/* --------------------------------------------------------------- learning -- */

enum vdbq_status tablet_check_sum(const struct database *database,
                                  const struct table *table,
                                  const struct tablet_ref *tablet,
                                  uint64_t checksum, struct error *error)
{
    if (checksum == tablet->checksum)
        return VDBQ_OK;
    return error_set(
        error, VDBQ_CORRUPT,
        "%s: table %s: the tablet at byte %llu is damaged: "
        "checksum %016llx, expected %016llx",
        database->file.path, table->name, (unsigned long long)tablet->offset,
        (unsigned long long)checksum, (unsigned long long)tablet->checksum);
}

bool tablet_pages_told(const struct tablet_pages *pages)
{
    return pages->tablet->size_bytes > pages->size
           || page_sums_count(pages->size) == 1;
}

/* Reads the sums that stand behind the tablet. */
static enum vdbq_status read_sums(const struct tablet_pages *pages,
                                  uint64_t *sums, struct error *error)
{
    struct block block = block_to_read(page_sums_bytes(pages->size));
    enum vdbq_status status;

    assert(pages->size + block.size == pages->tablet->size_bytes);
    if (block.bytes == NULL)
        return error_no_memory(error);
    status = read_bytes(pages, pages->size, block.size, block.bytes, error);
    if (status == VDBQ_OK)
        status =
            tablet_check_sum(pages->database, pages->table, pages->tablet,
                             block_checksum(block.bytes, block.size), error);
    if (status == VDBQ_OK)
        memcpy(sums, block.bytes, page_sums_count(pages->size) * sizeof *sums);
    block_destroy(&block);
    return status;
}

/* Sums up the pages of a tablet that has no sums behind it: all of it is read. */
static enum vdbq_status sum_up(const struct tablet_pages *pages, uint64_t *sums,
                               struct error *error)
{
    uint8_t *room = memory_resize(NULL, READ_BYTES);
    enum vdbq_status status = room != NULL ? VDBQ_OK : error_no_memory(error);
    struct checksum whole;

    checksum_begin(&whole);
    for (uint64_t at = 0; at < pages->size && status == VDBQ_OK;
         at += READ_BYTES) {
        uint64_t size = least(pages->size - at, READ_BYTES);
        status = read_bytes(pages, at, size, room, error);
        if (status != VDBQ_OK)
            break;
        checksum_add(&whole, room, (size_t)size);
        page_sums_of(room, size, sums + at / SUM_PAGE_BYTES);
    }
    memory_release(room);
    return status == VDBQ_OK
               ? tablet_check_sum(pages->database, pages->table, pages->tablet,
                                  checksum_end(&whole), error)
               : status;
}

enum vdbq_status tablet_pages_learn(const struct tablet_pages *pages,
                                    uint64_t *sums, struct error *error)
{
    if (pages->tablet->size_bytes > pages->size)
        return read_sums(pages, sums, error);
    assert(pages->tablet->size_bytes == pages->size);
    if (page_sums_count(pages->size) > 1)
        return sum_up(pages, sums, error);
    sums[0] = pages->tablet->checksum;
    return VDBQ_OK;
}

/* ---------------------------------------------------------------- reading -- */

struct page_reader page_reader_start(const struct tablet_pages *pages)
{
    assert(pages->sums != NULL);
    return (struct page_reader){ .pages = *pages };
}

void page_reader_finish(struct page_reader *reader)
{
    memory_release(reader->room);
    reader->room = NULL;
}

static enum vdbq_status is_damaged(const struct tablet_pages *pages,
                                   uint64_t at, uint64_t sum,
                                   struct error *error)
{
    return error_set(
        error, VDBQ_CORRUPT,
        "%s: table %s: the tablet at byte %llu is damaged: the checksum of its "
        "page at byte %llu is %016llx, expected %016llx",
        pages->database->file.path, pages->table->name,
        (unsigned long long)pages->tablet->offset, (unsigned long long)at,
        (unsigned long long)sum,
        (unsigned long long)pages->sums[at / SUM_PAGE_BYTES]);
}

/* Compares the bytes of whole pages with their sums. */
static enum vdbq_status compare_pages(const struct tablet_pages *pages,
                                      uint64_t at, uint64_t size,
                                      const uint8_t *bytes, struct error *error)
{
    assert(at % SUM_PAGE_BYTES == 0 && at + size <= pages->size);
    for (uint64_t done = 0; done < size; done += SUM_PAGE_BYTES) {
        uint64_t sum = block_checksum(
            bytes + done, (size_t)least(size - done, SUM_PAGE_BYTES));
        if (sum != pages->sums[(at + done) / SUM_PAGE_BYTES])
            return is_damaged(pages, at + done, sum, error);
    }
    return VDBQ_OK;
}

enum vdbq_status tablet_pages_compare(const struct tablet_pages *pages,
                                      const void *bytes, struct error *error)
{
    return compare_pages(pages, 0, pages->size, bytes, error);
}

static enum vdbq_status read_pages(const struct tablet_pages *pages,
                                   uint64_t at, uint64_t size, uint8_t *to,
                                   struct error *error)
{
    enum vdbq_status status = read_bytes(pages, at, size, to, error);

    return status == VDBQ_OK ? compare_pages(pages, at, size, to, error)
                             : status;
}

/* Reads into the room the page that a byte lies in, and the next ones up to
 * `end`. */
static enum vdbq_status fill_room(struct page_reader *reader, uint64_t at,
                                  uint64_t end, struct error *error)
{
    uint64_t first = at / SUM_PAGE_BYTES * SUM_PAGE_BYTES;
    uint64_t pages = (end - first + SUM_PAGE_BYTES - 1) / SUM_PAGE_BYTES;
    enum vdbq_status status;

    if (reader->room == NULL)
        reader->room =
            memory_resize(NULL, (size_t)least(reader->pages.size, READ_BYTES));
    if (reader->room == NULL)
        return error_no_memory(error);
    end = least(first + least(pages * SUM_PAGE_BYTES, READ_BYTES),
                reader->pages.size);
    reader->first = reader->end = first;
    status =
        read_pages(&reader->pages, first, end - first, reader->room, error);
    if (status == VDBQ_OK)
        reader->end = end;
    return status;
}

/* How many bytes from `at` on are whole pages, which may be read into their place. */
static uint64_t whole_pages(const struct page_reader *reader, uint64_t at,
                            uint64_t size)
{
    if (at % SUM_PAGE_BYTES != 0)
        return 0;
    if (at + size < reader->pages.size)
        size = size / SUM_PAGE_BYTES * SUM_PAGE_BYTES;
    return least(size, READ_BYTES);
}

/* Copies bytes that the room has; returns how many. */
static uint64_t copy_room(const struct page_reader *reader, uint64_t at,
                          uint64_t size, uint8_t *to)
{
    uint64_t some = least(size, reader->end - at);

    if (to != NULL)
        memcpy(to, reader->room + (at - reader->first), (size_t)some);
    return some;
}

enum vdbq_status page_reader_copy(struct page_reader *reader, uint64_t at,
                                  uint64_t size, void *to, struct error *error)
{
    uint64_t end = at + size, some;
    enum vdbq_status status = VDBQ_OK;

    assert(at <= reader->pages.size && size <= reader->pages.size - at);
    for (uint8_t *next = to; at < end && status == VDBQ_OK; at += some) {
        uint64_t whole = next != NULL ? whole_pages(reader, at, end - at) : 0;
        some = 0;
        if (at >= reader->first && at < reader->end)
            some = copy_room(reader, at, end - at, next);
        else if (whole > 0)
            status = read_pages(&reader->pages, at, some = whole, next, error);
        else
            status = fill_room(reader, at, next != NULL ? at + 1 : end, error);
        next = next != NULL ? next + some : NULL;
    }
    return status;
}
