/* SPDX-License-Identifier: MIT */
/*
 * Rows become a tablet: texts are numbered, columns described, then the bytes
 * are written, and their sums behind them. A tablet with an edit over it becomes
 * one without: columns that did not change are taken over.
 */
#include "data/database/rows_block.h"

#include "base/threads/stop.h"
#include "data/database/edited.h"
#include "data/tablet/page_sums.h"
#include "data/tablet/tablet.h"
#include "data/tablet/tablet_inner.h"
#include "data/tablet/tablet_pack.h"

/* What a tablet is made of, as rows give it. */
struct encoded {
    struct vdbq_vector *vectors;
    struct tablet_column *columns;
    /* of text columns */
    struct dictionary **dictionaries;
    uint32_t **numbers; /* of text columns: which of the words row i is */
};

/* False: no memory. Whatever it returns, encoded_finish() is due. */
static bool encode(const struct rows *rows, struct encoded *encoded)
{
    size_t count = rows->column_count;

    encoded->vectors = memory_zeroed(count, sizeof *encoded->vectors);
    encoded->columns = memory_zeroed(count, sizeof *encoded->columns);
    encoded->dictionaries = memory_zeroed(count, sizeof *encoded->dictionaries);
    encoded->numbers = memory_zeroed(count, sizeof *encoded->numbers);
    if (encoded->vectors == NULL || encoded->columns == NULL
        || encoded->dictionaries == NULL || encoded->numbers == NULL)
        return false;
    rows_vectors(rows, encoded->vectors);
    for (size_t i = 0; i < count; i++) {
        struct vdbq_vector *vector = &encoded->vectors[i];
        if (vector->type != VDBQ_TEXT)
            continue;
        encoded->numbers[i] = memory_zeroed(rows->count, sizeof(uint32_t));
        if (encoded->numbers[i] == NULL)
            return false;
        encoded->dictionaries[i] =
            dictionary_make(vector->values, rows->count, encoded->numbers[i]);
        if (encoded->dictionaries[i] == NULL)
            return false;
        vector->values = encoded->numbers[i];
    }
    return true;
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
static void finish_block(struct block *block, bool packs, uint64_t *features)
{
    const struct tablet *head = block->bytes;

    for (unsigned i = 0; i < head->columns; i++)
        *features |= encoding_at(tablet_column(head, i)->encoding)->feature;
    if (packs && tablet_pack(block))
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
        finish_block(&block, form.packs, features);
    return block;
}

struct block edited_block(const void *base, const struct edit *edit,
                          const struct table *table, struct rows_form form,
                          struct column_facts *facts, uint64_t *features)
{
    struct block block = tablet_block_edited(&(struct tablet_editing){
        .table = table, .edit = edit, .base = base, .choice = form.choice });

    if (block.bytes == NULL)
        return block;
    for (unsigned i = 0; i < table->column_count; i++)
        tablet_facts(block.bytes, i, &facts[i]);
    finish_block(&block, form.packs, features);
    return block;
}
