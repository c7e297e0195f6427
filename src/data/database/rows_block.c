/* SPDX-License-Identifier: MIT */
/*
 * Rows become a tablet: texts are numbered, columns described, then the bytes
 * are written, each on several cores, and their sums behind them. A tablet with an
 * edit over it becomes one without: columns that did not change are taken over.
 */
#include "data/database/rows_block.h"

#include <stdatomic.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "data/database/edited.h"
#include "data/tablet/page_sums.h"
#include "data/tablet/tablet.h"
#include "data/tablet/tablet_inner.h"
#include "data/tablet/tablet_pack.h"

/* What a tablet is made of, as rows give it. */
struct encoded {
    uint32_t rows;
    struct vdbq_vector *vectors;
    struct tablet_column *columns;
    /* of text columns */
    struct dictionary **dictionaries;
    uint32_t **numbers;  /* of text columns: which of the words row i is */
    atomic_bool no_room; /* for those of some column */
};

/* Numbers the texts of a column. */
static void encode_column(void *context, unsigned i)
{
    struct encoded *encoded = context;
    struct vdbq_vector *vector = &encoded->vectors[i];
    if (vector->type != VDBQ_TEXT)
        return;
    encoded->numbers[i] = memory_zeroed(encoded->rows, sizeof(uint32_t));
    if (encoded->numbers[i] != NULL)
        encoded->dictionaries[i] = dictionary_make_shared(
            vector->values, encoded->rows, encoded->numbers[i]);
    if (encoded->dictionaries[i] == NULL)
        atomic_store(&encoded->no_room, true);
    vector->values = encoded->numbers[i];
}

/* False: no memory. Whatever it returns, encoded_finish() is due. */
static bool encode(const struct rows *rows, struct encoded *encoded)
{
    unsigned count = rows->column_count;

    encoded->rows = rows->count;
    encoded->vectors = memory_zeroed(count, sizeof *encoded->vectors);
    encoded->columns = memory_zeroed(count, sizeof *encoded->columns);
    encoded->dictionaries = memory_zeroed(count, sizeof *encoded->dictionaries);
    encoded->numbers = memory_zeroed(count, sizeof *encoded->numbers);
    if (encoded->vectors == NULL || encoded->columns == NULL
        || encoded->dictionaries == NULL || encoded->numbers == NULL)
        return false;
    rows_vectors(rows, encoded->vectors);
    parallel_run_rows(count, rows->count, encode_column, encoded);
    return !atomic_load(&encoded->no_room);
}

static void encoded_finish(struct encoded *encoded, size_t count)
{
    for (size_t i = 0; encoded->dictionaries != NULL && i < count; i++)
        dictionary_release(encoded->dictionaries[i]);
    for (size_t i = 0; encoded->numbers != NULL && i < count; i++)
        memory_release(encoded->numbers[i]);
    memory_release(encoded->numbers);
    memory_release(encoded->dictionaries);
    memory_release(encoded->columns);
    memory_release(encoded->vectors);
}

/* The block of what was encoded; without bytes: no memory, or it is to end. */
static struct block make_block(const struct tablet_source *source,
                               struct tablet_column *columns,
                               struct column_facts *facts)
{
    struct block block = { 0 };
    uint64_t size = tablet_describe(source, columns, facts);

    if (!stop_asked())
        block = block_create(size + page_sums_bytes(size));
    if (block.bytes != NULL) {
        block.size = (size_t)size;
        tablet_build(source, columns, block.bytes);
    }
    if (stop_asked())
        block_destroy(&block);
    return block;
}

/* Packs a tablet's words and adds sums as a file has them; notes the features that
 * the tablet needs. */
static void finish_block(struct block *block, bool packs,
                         const struct packed_words *const *packed,
                         uint64_t *features)
{
    const struct tablet *head = block->bytes;

    for (unsigned i = 0; i < head->columns; i++)
        *features |= encoding_at(tablet_column(head, i)->encoding)->feature;
    if (packs && tablet_pack(block, packed))
        *features |= FEATURE_PACKED_WORDS;
    if (packs && page_sums_add(block))
        *features |= FEATURE_PAGE_SUMS;
}

struct block rows_block(const struct rows *rows, const struct table *table,
                        struct rows_form form, struct column_facts *facts,
                        uint64_t *features)
{
    size_t count = table->column_count;
    struct encoded encoded = { 0 };
    struct block block = { 0 };

    if (encode(rows, &encoded)) {
        const struct tablet_source source = { .table = table,
                                              .rows = rows->count,
                                              .vectors = encoded.vectors,
                                              .dictionaries =
                                                  encoded.dictionaries,
                                              .choice = form.choice };
        block = make_block(&source, encoded.columns, facts);
    }
    encoded_finish(&encoded, count);
    if (block.bytes != NULL)
        finish_block(&block, form.packs, NULL, features);
    return block;
}

/* Finds the packed words of columns that stay as they are. */
static void find_packed(const struct tablet *stored, const struct edit *edit,
                        const struct packed_words **packed)
{
    for (unsigned i = 0; i < stored->columns; i++)
        if (tablet_column(stored, i)->words_packed != 0
            && !edit_changes(edit, i))
            packed[i] = (const void *)((const uint8_t *)stored
                                       + tablet_words_offset(stored, i));
}

struct block edited_block(const void *base, const void *packed,
                          const struct edit *edit, const struct table *table,
                          struct rows_form form, struct column_facts *facts,
                          uint64_t *features)
{
    const struct packed_words **words =
        memory_zeroed(table->column_count, sizeof *words);
    struct block block = { 0 };

    if (words != NULL)
        block = tablet_block_edited(
            &(struct tablet_editing){ .table = table,
                                      .edit = edit,
                                      .base = base,
                                      .choice = form.choice });
    for (unsigned i = 0; block.bytes != NULL && i < table->column_count; i++)
        tablet_facts(block.bytes, i, &facts[i]);
    if (block.bytes != NULL && packed != NULL)
        find_packed(packed, edit, words);
    if (block.bytes != NULL)
        finish_block(&block, form.packs, words, features);
    memory_release(words);
    return block;
}
