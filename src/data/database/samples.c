/* SPDX-License-Identifier: MIT */
/*
 * Samples in the file: samples.h. A block is checked as every tablet is; then
 * its values must lie within what the catalogue says of the columns, for
 * programs are made for values that do.
 */
#include "data/database/samples.h"

#include <assert.h>

#include "base/threads/stop.h"
#include "data/catalogue/catalogue_inner.h"
#include "data/catalogue/facts.h"
#include "data/catalogue/sample.h"
#include "data/database/rows_block.h"
#include "data/tablet/tablet_inner.h"

/* An entry of the list: offset, size and checksum of a block. */
enum { ENTRY_NUMBERS = SAMPLE_ENTRY_BYTES / 8 };

/* What the block of a sample is a tablet of: the columns, and the numbers. */
static bool describe(const struct table *table, struct arena *arena,
                     struct table *described)
{
    unsigned count = table->column_count < SAMPLE_COLUMNS_MAX
                         ? table->column_count
                         : SAMPLE_COLUMNS_MAX;

    *described = (struct table){ .name = table->name,
                                 .key = NO_KEY,
                                 .column_count = count + 1 };
    described->columns =
        arena_alloc(arena, (count + 1) * sizeof *described->columns);
    if (described->columns == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        described->columns[i] = table->columns[i];
    described->columns[count] =
        (struct column){ .name = "rowid", .type = VDBQ_BIGINT };
    return true;
}

/* -------------------------------------------------------------- writing -- */

/* The rows of a sample as the tablet has them. */
static bool add_rows(const struct sample *sample, const struct table *described,
                     struct rows *rows)
{
    unsigned count = sample->column_count;
    struct vdbq_vector *vectors = memory_zeroed(count + 1, sizeof *vectors);
    bool room = vectors != NULL && rows_init(rows, described);

    for (unsigned i = 0; room && i < count; i++)
        vectors[i] = sample->columns[i];
    if (room) {
        vectors[count] =
            (struct vdbq_vector){ VDBQ_BIGINT, sample->numbers, NULL };
        room = rows_add(rows, vectors, 0, sample->rows);
    }
    memory_release(vectors);
    return room;
}

/* The block of a sample; without bytes, there is no memory. */
static struct block encode(const struct sample *sample,
                           const struct table *table)
{
    struct arena arena = { 0 };
    struct rows rows = { 0 };
    struct table described;
    struct block block = { 0 };
    uint64_t features = 0;
    struct column_facts *facts =
        arena_alloc(&arena, (sample->column_count + 1) * sizeof *facts);

    if (facts != NULL && describe(table, &arena, &described)
        && add_rows(sample, &described, &rows))
        block = rows_block(&rows, &described,
                           (struct rows_form){ .choice = CHOOSE_PLAIN }, facts,
                           &features);
    assert(features == 0);
    rows_finish(&rows);
    arena_finish(&arena);
    return block;
}

static enum vdbq_status write_sample(struct file *file, struct space *space,
                                     const struct table *table,
                                     struct error *error)
{
    struct sample *sample = table->sample;
    struct block block = encode(sample, table);
    enum vdbq_status status;

    if (block.bytes == NULL)
        return error_no_memory(error);
    sample->offset = space_take(space, page_round(block.size));
    sample->size_bytes = block.size;
    sample->checksum = block_checksum(block.bytes, block.size);
    status = file_write_block(file, &block, sample->offset, error);
    block_destroy(&block);
    return status;
}

enum vdbq_status samples_write(struct file *file, struct space *space,
                               const struct catalogue *catalogue,
                               struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < catalogue->table_count && status == VDBQ_OK; i++) {
        const struct table *table = &catalogue->tables[i];
        if (table->sample != NULL && table->sample->offset == 0)
            status = write_sample(file, space, table, error);
    }
    return status;
}

uint64_t samples_list(const struct catalogue *catalogue, struct text *text)
{
    bool any = false;
    size_t start;

    for (size_t i = 0; i < catalogue->table_count; i++)
        any |= catalogue->tables[i].sample != NULL;
    if (!any)
        return 0;
    start = list_begin(text);
    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct sample *sample = catalogue->tables[i].sample;
        uint64_t entry[ENTRY_NUMBERS] = { 0 };
        if (sample != NULL) {
            entry[0] = sample->offset;
            entry[1] = sample->size_bytes;
            entry[2] = sample->checksum;
        }
        text_add(text, (const char *)entry, sizeof entry);
    }
    list_end(text, start);
    return FILE_SAMPLES;
}

/* -------------------------------------------------------------- reading -- */

/* Whether the values of a block's column could be some of the table's. */
static bool facts_fit(const struct table *table, unsigned column,
                      const void *block)
{
    const struct column_facts all = table_facts(table, column);
    struct column_facts some;

    tablet_facts(block, column, &some);
    return facts_within(table->columns[column].type, &some, &all);
}

/* Whether these are the numbers of rows that the table has, ascending. */
static bool numbers_fit(const struct table *table, const int64_t *numbers,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] < 0 || (uint64_t)numbers[i] >= table->rows
            || (i > 0 && numbers[i] <= numbers[i - 1]))
            return false;
    return true;
}

/* Whether a block that was read is a sample of the table. */
static bool is_sample(const struct table *table, const struct table *described,
                      const struct block *block)
{
    const struct tablet *head = block->bytes;
    struct error ignored;

    if (block->size < sizeof *head || head->rows > SAMPLE_ROWS
        || tablet_check(described, block->bytes, block->size,
                        (uint32_t)head->rows, &ignored)
               != VDBQ_OK)
        return false;
    for (unsigned i = 0; i + 1 < described->column_count; i++)
        if (!facts_fit(table, i, block->bytes))
            return false;
    return true;
}

/* The rows of a checked block; NULL: there is no memory. `*fits`: their numbers
 * are right. */
static struct sample *take_rows(const struct table *table,
                                const struct rows *rows, bool *fits)
{
    unsigned count = rows->column_count;
    struct vdbq_vector *vectors = memory_zeroed(count, sizeof *vectors);
    struct sample *sample = vectors != NULL ? sample_create(table) : NULL;
    const int64_t *numbers = rows->columns[count - 1].values;
    bool room = sample != NULL;

    *fits = numbers_fit(table, numbers, rows->count);
    if (room)
        rows_vectors(rows, vectors);
    if (room && *fits)
        room = sample_add_all(sample, rows->count, (const uint64_t *)numbers,
                              vectors);
    memory_release(vectors);
    if (room)
        return sample;
    sample_release(sample);
    return NULL;
}

/* A block that was read as the sample of its table; NULL without an error: it
 * is none. */
static enum vdbq_status decode(const struct table *table,
                               const struct block *block,
                               struct sample **sample, struct error *error)
{
    struct arena arena = { 0 };
    struct rows rows = { 0 };
    struct table described;
    bool fits = false, room = describe(table, &arena, &described);

    *sample = NULL;
    if (room && is_sample(table, &described, block)) {
        room = rows_init(&rows, &described)
               && rows_add_tablet(&rows, block->bytes);
        if (room)
            *sample = take_rows(table, &rows, &fits);
        room = room && *sample != NULL;
    }
    if (!fits) {
        sample_release(*sample);
        *sample = NULL;
    }
    rows_finish(&rows);
    arena_finish(&arena);
    return room ? VDBQ_OK : stop_or_no_memory(error);
}

/* Whether a block can be there, before `end`. */
static bool can_be_there(const uint64_t entry[ENTRY_NUMBERS], uint64_t end)
{
    return entry[0] % PAGE_BYTES == 0 && entry[0] >= FILE_FIRST
           && entry[0] <= end && entry[1] > 0 && entry[1] <= end - entry[0];
}

/* Reads a block, if it is where one can be and its checksum is right; else
 * one without bytes. */
static enum vdbq_status read_block(const struct file *file, uint64_t end,
                                   const uint64_t entry[ENTRY_NUMBERS],
                                   struct block *block, struct error *error)
{
    struct error ignored;
    enum vdbq_status status;

    *block = (struct block){ 0 };
    if (!can_be_there(entry, end))
        return VDBQ_OK;
    *block = block_to_read(entry[1]);
    if (block->bytes == NULL)
        return error_no_memory(error);
    status = file_read(file, block->bytes, block->size, entry[0], &ignored);
    if (status == VDBQ_OK
        && block_checksum(block->bytes, block->size) == entry[2])
        return VDBQ_OK;
    block_destroy(block);
    *block = (struct block){ 0 };
    return status == VDBQ_NO_MEMORY ? error_no_memory(error) : VDBQ_OK;
}

/* Whether a table has the columns that another one had, with values within those
 * of that one, or more. */
static bool facts_contain(const struct table *table, const struct table *before)
{
    bool contain = before->column_count == table->column_count;

    for (unsigned i = 0; i < table->column_count && contain; i++) {
        enum vdbq_type type = table->columns[i].type;
        const struct column_facts all = table_facts(table, i),
                                  some = table_facts(before, i);
        contain =
            before->columns[i].type == type && facts_within(type, &some, &all);
    }
    return contain;
}

/* Whether a table has the rows of a sample, whose numbers ascend. */
static bool has_rows(const struct table *table, const struct sample *sample)
{
    return sample->rows == 0 || sample->numbers[sample->rows - 1] < table->rows;
}

/* The sample that the current catalogue has from the same block, if it could be
 * one of the table as it is now; NULL: none. */
static struct sample *find_loaded(const struct database *database,
                                  const struct table *table,
                                  const uint64_t entry[ENTRY_NUMBERS])
{
    const struct catalogue *current = database->current;
    const struct table *before =
        current != NULL ? catalogue_table_id(current, table->id) : NULL;
    struct sample *sample = before != NULL ? before->sample : NULL;

    return sample != NULL && sample->offset != 0 && sample->offset == entry[0]
                   && sample->size_bytes == entry[1]
                   && sample->checksum == entry[2] && has_rows(table, sample)
                   && facts_contain(table, before)
               ? sample
               : NULL;
}

/* A sample without rows, which tells its place alone. */
static enum vdbq_status place(uint64_t end, struct table *table,
                              const uint64_t entry[ENTRY_NUMBERS],
                              struct error *error)
{
    if (!can_be_there(entry, end))
        return VDBQ_OK;
    table->sample = sample_place(entry[0], entry[1]);
    return table->sample != NULL ? VDBQ_OK : error_no_memory(error);
}

static enum vdbq_status load(const struct database *database, uint64_t end,
                             struct table *table,
                             const uint64_t entry[ENTRY_NUMBERS],
                             struct error *error)
{
    struct block block;
    enum vdbq_status status;

    table->sample = sample_hold(find_loaded(database, table, entry));
    if (table->sample != NULL)
        return VDBQ_OK;
    status = read_block(&database->file, end, entry, &block, error);
    if (status == VDBQ_OK && block.bytes != NULL)
        status = decode(table, &block, &table->sample, error);
    if (table->sample != NULL) {
        table->sample->offset = entry[0];
        table->sample->size_bytes = entry[1];
        table->sample->checksum = entry[2];
    }
    block_destroy(&block);
    return status;
}

/* Reads the list; false: it is not whole. */
static bool read_list(const struct file *file, uint64_t offset,
                      struct block *list)
{
    struct error ignored;

    return file_read(file, list->bytes, list->size, offset, &ignored) == VDBQ_OK
           && list_is_whole(list);
}

enum vdbq_status samples_load(const struct database *database,
                              const struct file_head *head, bool places,
                              struct catalogue *catalogue, struct error *error)
{
    const struct file *file = &database->file;
    const uint64_t size =
        catalogue->table_count * SAMPLE_ENTRY_BYTES + LIST_SUM_BYTES;
    const uint64_t end = samples_catalogue_size(head, catalogue);
    size_t count = catalogue->table_count;
    enum vdbq_status status = VDBQ_OK;
    struct block list;

    if ((head->features & FILE_SAMPLES) == 0
        || end > head->end - head->catalogue)
        return VDBQ_OK;
    list = block_to_read(size);
    if (list.bytes == NULL)
        return error_no_memory(error);
    bool whole = read_list(file, head->catalogue + end - size, &list);
    for (size_t i = 0; i < count && status == VDBQ_OK; i++) {
        const uint64_t *entry =
            (const uint64_t *)list.bytes + i * ENTRY_NUMBERS;
        struct table *table = &catalogue->tables[i];
        if (whole && table->rows > 0)
            status = places ? place(head->end, table, entry, error)
                            : load(database, head->end, table, entry, error);
        table->sample_lost = table->rows > 0 && table->sample == NULL
                             && (!whole || entry[0] != 0);
    }
    block_destroy(&list);
    return status;
}
