/* SPDX-License-Identifier: MIT */
/*
 * The layout of part files: see part_files.h. It is text, a line each:
 *
 *     vdbq parts 3
 *     database ID           16 hexadecimal digits
 *     parts N
 *     part SUM              of each, in their order
 *     table ID 0            of each that is whole in all parts
 *     table ID N KEY... STATE   of each that lies in them by the hash of N columns,
 *                           once more: the state of its rows (identity rule 3), two
 *                           times 16 hexadecimal digits. Where the database has
 *                           another state, the parts have none of it
 *     range OFFSET SIZE P   of each, by their offsets, none within another; P is
 *                           the number of parts where each part has it
 *     end SUM               XXH3 of all bytes before this line
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/memory.h"
#include "data/file/part_files.h"

static const char magic[] = "vdbq parts 3\n";

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
    text_print(text, "%sdatabase %016" PRIx64 "\nparts %u\n", magic,
               layout->database, layout->parts);
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
    uint64_t end = 0;
    while (!reader->wrong && strncmp(reader->at, "\nrange ", 7) == 0) {
        struct part_range *range = &layout->ranges[layout->range_count++];
        range->offset = take(reader, "\nrange ", 10);
        range->size = take(reader, " ", 10);
        range->part = (uint32_t)take(reader, " ", 10);
        reader->wrong |= range->offset < end || range->part > layout->parts
                         || range->size > UINT64_MAX - range->offset;
        end = range->offset + range->size;
    }
}

/* Whether text is a layout, which is taken then; `length` of it. */
static bool take_layout(const char *text, size_t length,
                        struct part_layout *layout)
{
    struct reader reader = { .at = text + sizeof magic - 1 };
    layout->database = take(&reader, "database ", 16);
    const uint64_t parts = take(&reader, "\nparts ", 10);
    reader.wrong |= parts == 0 || parts > PARTS_MAX;
    if (reader.wrong)
        return false;
    layout->parts = (unsigned)parts;
    layout->heads = memory_zeroed(layout->parts, sizeof *layout->heads);
    layout->ranges =
        memory_zeroed(length / LINE_LEAST + 1, sizeof *layout->ranges);
    layout->tables =
        memory_zeroed(length / LINE_LEAST + 1, sizeof *layout->tables);
    if (layout->heads == NULL || layout->ranges == NULL
        || layout->tables == NULL)
        return false;
    for (unsigned k = 0; k < layout->parts; k++)
        layout->heads[k] = take(&reader, "\npart ", 16);
    take_tables(&reader, layout);
    take_ranges(&reader, layout);
    const size_t before = (size_t)(reader.at - text) + 1;
    const uint64_t sum = take(&reader, "\nend ", 16);
    return !reader.wrong && strcmp(reader.at, "\n") == 0
           && sum == XXH3_64bits(text, before);
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
    enum vdbq_status status = VDBQ_OK;
    if (failure != 0)
        status = error_set(error, VDBQ_IO, "%s: cannot read it: %s", path,
                           strerror(failure));
    else if (strncmp(text, magic, sizeof magic - 1) != 0)
        status = no_layout(path, text, error);
    else if (!take_layout(text, length, layout))
        status = error_set(error, VDBQ_CORRUPT, "%s: it is damaged", path);
    memory_release(text);
    if (status != VDBQ_OK)
        part_layout_finish(layout);
    return status;
}
