/* SPDX-License-Identifier: MIT */
/*
 * The list of runs: run_list.h.
 */
#include "data/database/run_list.h"

#include <string.h>

#include "data/catalogue/catalogue_inner.h"
#include "data/database/samples.h"

/* An entry, as the file has it. */
struct entry {
    uint64_t origin, number;
    uint32_t column_count;
    uint32_t columns[RUN_COLUMNS_MAX];
    uint64_t offset, size_bytes, head_bytes, checksum;
};
_Static_assert(sizeof(struct entry) == 64, "layout of an entry");

enum { COUNT_BYTES = 8 };

/* Where the list begins, from the catalogue's start on. */
static uint64_t start_of(const struct file_head *head,
                         const struct catalogue *catalogue)
{
    return list_start(samples_catalogue_size(head, catalogue));
}

static uint64_t list_bytes(uint64_t count)
{
    return COUNT_BYTES + count * sizeof(struct entry) + LIST_SUM_BYTES;
}

uint64_t run_list_end(const struct file_head *head,
                      const struct catalogue *catalogue)
{
    if ((head->features & FILE_RUNS) == 0)
        return samples_catalogue_size(head, catalogue);
    return start_of(head, catalogue) + list_bytes(catalogue->runs_listed);
}

/* -------------------------------------------------------------- writing -- */

uint64_t run_list_add(const struct catalogue *catalogue, struct text *text)
{
    uint64_t count = catalogue->run_count;
    size_t start;
    char *to;

    if (count == 0)
        return 0;
    start = list_begin(text);
    text_add(text, (const char *)&count, sizeof count);
    to = text_room(text, count * sizeof(struct entry));
    for (size_t i = 0; i < count && to != NULL;
         i++, to += sizeof(struct entry)) {
        const struct run_ref *run = &catalogue->runs[i];
        struct entry entry = { .origin = run->tablet.origin,
                               .number = run->tablet.number,
                               .column_count = run->column_count,
                               .offset = run->offset,
                               .size_bytes = run->size_bytes,
                               .head_bytes = run->head_bytes,
                               .checksum = run->checksum };
        for (unsigned k = 0; k < run->column_count; k++)
            entry.columns[k] = run->columns[k];
        memcpy(to, &entry, sizeof entry);
    }
    list_end(text, start);
    return FILE_RUNS;
}

/* -------------------------------------------------------------- reading -- */

/* Whether a run may be where an entry says. */
static bool is_sound(const struct entry *entry, uint64_t end)
{
    return entry->column_count >= 1 && entry->column_count <= RUN_COLUMNS_MAX
           && entry->offset % PAGE_BYTES == 0 && entry->offset >= FILE_FIRST
           && entry->offset <= end && entry->size_bytes > 0
           && entry->size_bytes <= end - entry->offset;
}

/* The runs of a list that is whole. */
static bool take(const struct file_head *head, const struct block *list,
                 uint64_t count, struct catalogue *catalogue)
{
    if (!catalogue_new_runs(catalogue, count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        struct entry entry;
        struct run_ref *run = &catalogue->runs[catalogue->run_count];
        memcpy(&entry,
               (const char *)list->bytes + COUNT_BYTES + i * sizeof entry,
               sizeof entry);
        if (!is_sound(&entry, head->end))
            continue;
        *run = (struct run_ref){ .tablet = { entry.origin, entry.number },
                                 .column_count = entry.column_count,
                                 .offset = entry.offset,
                                 .size_bytes = entry.size_bytes,
                                 .head_bytes = entry.head_bytes,
                                 .checksum = entry.checksum };
        for (unsigned k = 0; k < entry.column_count; k++)
            run->columns[k] = entry.columns[k];
        catalogue->run_count++;
    }
    catalogue_sort_runs(catalogue);
    return true;
}

/* How many runs the list has that begins there; 0: it cannot be. */
static uint64_t count_runs(const struct file *file,
                           const struct file_head *head, uint64_t start)
{
    uint64_t count, room = head->end - head->catalogue;
    struct error ignored;

    if (start > room || room - start < list_bytes(0)
        || file_read(file, &count, sizeof count, head->catalogue + start,
                     &ignored)
               != VDBQ_OK)
        return 0;
    return count <= (room - start - list_bytes(0)) / sizeof(struct entry)
               ? count
               : 0;
}

enum vdbq_status run_list_load(const struct file *file,
                               const struct file_head *head,
                               struct catalogue *catalogue, struct error *error)
{
    uint64_t start = start_of(head, catalogue), count;
    enum vdbq_status status = VDBQ_OK;
    struct error ignored;
    struct block list;

    if ((head->features & FILE_RUNS) == 0)
        return VDBQ_OK;
    count = count_runs(file, head, start);
    if (count == 0)
        return VDBQ_OK;
    list = block_to_read(list_bytes(count));
    if (list.bytes == NULL)
        return error_no_memory(error);
    if (file_read(file, list.bytes, list.size, head->catalogue + start,
                  &ignored)
        == VDBQ_OK) {
        catalogue->runs_listed = count;
        if (list_is_whole(&list) && !take(head, &list, count, catalogue))
            status = error_no_memory(error);
    }
    block_destroy(&list);
    return status;
}
