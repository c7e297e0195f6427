/* SPDX-License-Identifier: MIT */
/*
 * The layout of part files: see part_files.h. It is text, a line each:
 *
 *     vdbq parts 4
 *     database ID           16 hexadecimal digits
 *     state GENERATION      of the database when the folder was made
 *     parts N
 *     part SUM              of each, in their order
 *     table ID 0            of each that is whole in all parts
 *     table ID N KEY... STATE   of each that lies in them by the hash of N columns,
 *                           once more: the state of its rows (identity rule 3), two
 *                           times 16 hexadecimal digits. Where the database has
 *                           another state, what the parts have does not count
 *     range OFFSET SIZE P   of each, whole pages, by their offsets, none within
 *                           another; P is the number of parts where each part
 *                           has it
 *     end SUM               XXH3 of all bytes before this line
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "data/file/file.h"
#include "data/file/part_files.h"

static const char magic[] = "vdbq parts 4\n";

enum { LINE_LEAST = 10 }; /* bytes of the shortest line of a range or table */

void part_layout_finish(struct part_layout *layout)
{
    for (size_t i = 0; i < layout->table_count; i++)
        table_parts_finish(&layout->tables[i]);
    memory_release(layout->tables);
    memory_release(layout->heads);
    memory_release(layout->ranges);
    *layout = (struct part_layout){ 0 };
}

void part_path(const char *folder, const char *name, char *path)
{
    snprintf(path, PART_PATH_MAX, "%s/%s", folder, name);
}

void part_path_of(const char *folder, unsigned part, char *path)
{
    snprintf(path, PART_PATH_MAX, "%s/part.%u", folder, part);
}

size_t part_range_at(const struct part_layout *layout, uint64_t offset)
{
    size_t low = 0, high = layout->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct part_range *range = &layout->ranges[middle];
        if (range->offset + range->size <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t part_layout_end(const struct part_layout *layout)
{
    const size_t count = layout->range_count;
    return count == 0 ? 0
                      : layout->ranges[count - 1].offset
                            + layout->ranges[count - 1].size;
}

/* ---------------------------------------------------------------- print -- */

static void print_table(const struct table_parts *table, struct text *text)
{
    text_print(text, "table %" PRIu32 " %u", table->table, table->key_count);
    for (unsigned i = 0; i < table->key_count; i++)
        text_print(text, " %u", table->keys[i]);
    if (table->key_count > 0)
        text_print(text, " %016" PRIx64 " %016" PRIx64, table->state.origin,
                   table->state.number);
    text_print(text, "\n");
}

void part_layout_print(const struct part_layout *layout, struct text *text)
{
    text_print(text, "%sdatabase %016" PRIx64 "\nstate %" PRIu64 "\nparts %u\n",
               magic, layout->database, layout->state, layout->parts);
    for (unsigned k = 0; k < layout->parts; k++)
        text_print(text, "part %016" PRIx64 "\n", layout->heads[k]);
    for (size_t i = 0; i < layout->table_count; i++)
        print_table(&layout->tables[i], text);
    for (size_t i = 0; i < layout->range_count; i++)
        text_print(text, "range %" PRIu64 " %" PRIu64 " %" PRIu32 "\n",
                   layout->ranges[i].offset, layout->ranges[i].size,
                   layout->ranges[i].part);
    if (!text->failed)
        text_print(text, "end %016" PRIx64 "\n",
                   (uint64_t)XXH3_64bits(text->bytes, text->length));
}

/* ----------------------------------------------------------------- read -- */

/* Text that is read. */
struct reader {
    const char *at;
    bool wrong; /* something was not as it should be */
};

/* Takes a word, and a number of that base behind it. */
static uint64_t take(struct reader *reader, const char *word, int base)
{
    size_t length = strlen(word);
    char *end = NULL;
    uint64_t number = 0;
    if (!reader->wrong && strncmp(reader->at, word, length) == 0) {
        reader->at += length;
        number = strtoull(reader->at, &end, base);
    }
    reader->wrong |= end == NULL || end == reader->at;
    if (!reader->wrong)
        reader->at = end;
    return number;
}

static void take_table(struct reader *reader, struct table_parts *table)
{
    table->table = (uint32_t)take(reader, "\ntable ", 10);
    const uint64_t keys = take(reader, " ", 10);
    reader->wrong |= keys > PART_KEYS_MAX;
    table->key_count = reader->wrong ? 0 : (unsigned)keys;
    for (unsigned i = 0; i < table->key_count; i++)
        table->keys[i] = (unsigned)take(reader, " ", 10);
    if (table->key_count == 0)
        return;
    table->state.origin = take(reader, " ", 16);
    table->state.number = take(reader, " ", 16);
}

static void take_tables(struct reader *reader, struct part_layout *layout)
{
    while (!reader->wrong && strncmp(reader->at, "\ntable ", 7) == 0) {
        struct table_parts *table = &layout->tables[layout->table_count++];
        table->parts = layout->parts;
        take_table(reader, table);
    }
}

static void take_ranges(struct reader *reader, struct part_layout *layout)
{
    uint64_t end = FILE_FIRST;
    while (!reader->wrong && strncmp(reader->at, "\nrange ", 7) == 0) {
        struct part_range *range = &layout->ranges[layout->range_count++];
        range->offset = take(reader, "\nrange ", 10);
        range->size = take(reader, " ", 10);
        range->part = (uint32_t)take(reader, " ", 10);
        reader->wrong |= range->offset < end || range->part > layout->parts
                         || range->offset > INT64_MAX
                         || range->size > INT64_MAX - range->offset
                         || range->offset % PAGE_BYTES != 0 || range->size == 0
                         || range->size % PAGE_BYTES != 0;
        end = range->offset + range->size;
    }
}

/* Room for all that text of so many bytes can have; false: no memory. */
static bool make_room(struct part_layout *layout, size_t length)
{
    const size_t lines = length / LINE_LEAST + 1;
    layout->heads = memory_zeroed(layout->parts, sizeof *layout->heads);
    layout->ranges = memory_zeroed(lines, sizeof *layout->ranges);
    layout->tables = memory_zeroed(lines, sizeof *layout->tables);
    return layout->heads != NULL && layout->ranges != NULL
           && layout->tables != NULL;
}

/* Takes a layout of so many bytes. Fails with CORRUPT, NO_MEMORY, and tells nothing. */
static enum vdbq_status take_layout(const char *text, size_t length,
                                    struct part_layout *layout)
{
    struct reader reader = { .at = text + sizeof magic - 1 };
    if (strncmp(text, magic, sizeof magic - 1) != 0)
        return VDBQ_CORRUPT;
    layout->database = take(&reader, "database ", 16);
    layout->state = take(&reader, "\nstate ", 10);
    const uint64_t parts = take(&reader, "\nparts ", 10);
    reader.wrong |= parts == 0 || parts > PARTS_MAX;
    if (reader.wrong)
        return VDBQ_CORRUPT;
    layout->parts = (unsigned)parts;
    if (!make_room(layout, length))
        return VDBQ_NO_MEMORY;
    for (unsigned k = 0; k < layout->parts; k++)
        layout->heads[k] = take(&reader, "\npart ", 16);
    take_tables(&reader, layout);
    take_ranges(&reader, layout);
    const size_t before = (size_t)(reader.at - text) + 1;
    const uint64_t sum = take(&reader, "\nend ", 16);
    return !reader.wrong && strcmp(reader.at, "\n") == 0
                   && sum == XXH3_64bits(text, before)
               ? VDBQ_OK
               : VDBQ_CORRUPT;
}

/* The bytes of a file with a NUL behind them, which the caller releases. */
static int read_all(const char *path, char **bytes, size_t *length)
{
    struct os_file *file = NULL;
    uint64_t size = 0;
    *bytes = NULL;
    int failure = os_files.open(path, OS_OPEN_READ_ONLY, &file);
    if (failure == 0)
        failure = os_files.size(file, &size);
    if (failure == 0) {
        *bytes = memory_zeroed((size_t)size + 1, 1);
        failure = *bytes == NULL ? ENOMEM
                                 : os_files.read(file, *bytes, (size_t)size, 0);
    }
    os_files.close(file);
    *length = (size_t)size;
    if (failure == 0)
        return 0;
    memory_release(*bytes);
    *bytes = NULL;
    return failure;
}

/* Why text is no layout. */
static enum vdbq_status no_layout(const char *path, const char *text,
                                  struct error *error)
{
    static const char others[] = "vdbq parts ";
    if (strncmp(text, others, sizeof others - 1) != 0)
        return error_set(error, VDBQ_CORRUPT, "%s: not a layout of part files",
                         path);
    error_set(error, VDBQ_CORRUPT,
              "%s: a layout of part files of another version of vdbq", path);
    return error_hint(error, "distribute the database again");
}

enum vdbq_status part_layout_read(const char *folder,
                                  struct part_layout *layout,
                                  struct error *error)
{
    char path[PART_PATH_MAX], *text;
    size_t length;
    *layout = (struct part_layout){ 0 };
    part_path(folder, "layout", path);
    int failure = read_all(path, &text, &length);
    if (failure != 0)
        return failure == ENOMEM
                   ? error_no_memory(error)
                   : error_set(error, VDBQ_IO, "%s: cannot read it: %s", path,
                               strerror(failure));
    enum vdbq_status status = take_layout(text, length, layout);
    if (status == VDBQ_CORRUPT && strncmp(text, magic, sizeof magic - 1) != 0)
        no_layout(path, text, error);
    else if (status == VDBQ_CORRUPT)
        error_set(error, VDBQ_CORRUPT, "%s: it is damaged", path);
    else if (status == VDBQ_NO_MEMORY)
        error_no_memory(error);
    memory_release(text);
    if (status != VDBQ_OK)
        part_layout_finish(layout);
    return status;
}
