/* SPDX-License-Identifier: MIT */
/*
 * Only the area of words changes, which is the last one: all before it stays
 * where it is.
 */
#include "data/tablet/tablet_pack.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "data/tablet/page_sums.h"
#include "data/tablet/tablet_inner.h"

enum {
    UNPACK_THREADS = 8, /* of a column's words, at most */
    WORD_BYTES = 32     /* of one, about                */
};

uint64_t tablet_features(void)
{
    return encoding_features() | FEATURE_PACKED_WORDS | FEATURE_PAGE_SUMS;
}

uint32_t tablet_version(uint64_t features)
{
    uint32_t version = encoding_version(features);
    uint32_t now = ENCODING_VERSION(0, 3);
    bool needs = (features & (FEATURE_PACKED_WORDS | FEATURE_PAGE_SUMS)) != 0;

    return needs && now > version ? now : version;
}

static struct tablet_column *column_of(struct tablet *head, unsigned column)
{
    return (struct tablet_column *)(head + 1) + column;
}

/* ---------------------------------------------------------------- pack -- */

/* Words on their way from a tablet into another. */
struct packing {
    const struct tablet *from;
    const struct packed_words *const *packed; /* before; or NULL */
    struct tablet *to;
    uint64_t *sizes; /* of each column's, packed; 0: they are not */
};

/* Takes words over that were packed before; their bytes. */
static uint64_t take_packed(const struct packed_words *packed, void *to)
{
    struct words_sizes sizes;
    bool told = words_sizes(packed, true, &sizes);

    assert(told);
    if (told)
        memcpy(to, packed, (size_t)sizes.file);
    return told ? sizes.file : 0;
}

/* Packs the words of a column to where they lay. */
static void pack_words(void *context, unsigned column)
{
    const struct packing *packing = context;
    const struct tablet *from = packing->from;
    const struct packed_words *packed =
        packing->packed != NULL ? packing->packed[column] : NULL;
    const struct tablet_words *words = tablet_words(from, column);
    void *to = (uint8_t *)packing->to
               + ((const uint8_t *)words - (const uint8_t *)from);

    if (packed != NULL)
        packing->sizes[column] = take_packed(packed, to);
    else if (tablet_column(from, column)->type == TYPE_WORD)
        packing->sizes[column] = words_pack(words, to);
}

/* Moves the words of a column behind all that is there, packed or not. */
static void put_words(const struct packing *packing, unsigned column)
{
    struct tablet *head = packing->to;
    struct tablet_column *to = column_of(head, column);
    const struct tablet_words *words = tablet_words(packing->from, column);
    uint64_t size = packing->sizes[column];
    uint8_t *place = (uint8_t *)head + head->size;

    to->words = (uint32_t)(head->variable_size / TABLET_ALIGN);
    to->words_packed = size > 0;
    if (size > 0)
        memmove(place,
                (uint8_t *)head
                    + ((const uint8_t *)words - (const uint8_t *)packing->from),
                (size_t)size);
    else
        memcpy(place, words, (size_t)(size = words_size(words)));
    head->variable_size += size;
    head->size += size;
}

/* Packs all words, of which each column's are packed apart. */
static void pack_all(const struct packing *packing)
{
    struct tablet *head = packing->to;

    parallel_run_rows(head->columns, head->rows, pack_words, (void *)packing);
    head->size = head->variable;
    head->variable_size = 0;
    for (unsigned i = 0; i < head->columns; i++)
        if (tablet_column(packing->from, i)->type == TYPE_WORD)
            put_words(packing, i);
}

bool tablet_pack(struct block *block, const struct packed_words *const *packed)
{
    const struct tablet *from = block->bytes;
    uint64_t *sizes = memory_zeroed(from->columns, sizeof *sizes);
    struct block made = { 0 };
    struct tablet *head = NULL;

    if (from->variable_size > 0 && sizes != NULL)
        made = block_create(block->size + page_sums_bytes(block->size));
    if (made.bytes != NULL) {
        head = memcpy(made.bytes, from, (size_t)from->variable);
        pack_all(&(struct packing){ from, packed, head, sizes });
    }
    memory_release(sizes);
    if (head == NULL || !tablet_is_packed(head)) {
        block_destroy(&made);
        return false;
    }
    head->format = TABLET_FORMAT;
    made.size = (size_t)head->size;
    memset((uint8_t *)head + made.size, 0,
           (size_t)(page_round(made.size) - made.size));
    block_destroy(block);
    *block = made;
    return true;
}

/* -------------------------------------------------------------- unpack -- */

bool tablet_is_packed(const struct tablet *head)
{
    for (unsigned i = 0; i < head->columns; i++)
        if (tablet_column(head, i)->words_packed != 0)
            return true;
    return false;
}

uint64_t tablet_words_offset(const struct tablet *head, unsigned column)
{
    const struct tablet_column *of = tablet_column(head, column);
    uint64_t at = (uint64_t)of->words * TABLET_ALIGN;

    return of->type == TYPE_WORD && at < head->variable_size
                   && head->variable_size - at >= sizeof(struct packed_words)
               ? head->variable + at
               : 0;
}

bool tablet_words_place(const struct tablet *head, unsigned column,
                        const void *start, uint64_t *at,
                        struct words_place *place)
{
    uint64_t end = head->variable + head->variable_size;

    place->offset = tablet_words_offset(head, column);
    if (place->offset < *at || tablet_column(head, column)->words_packed > 1
        || !words_sizes(start, tablet_column(head, column)->words_packed != 0,
                        &place->sizes)
        || place->sizes.file > end - place->offset)
        return false;
    *at = place->offset + place->sizes.file;
    return true;
}

/* Finds the words of all columns; the bytes of the tablet in memory, or 0: they
 * do not lie inside, one behind the other. */
static uint64_t find_words(const struct tablet *head,
                           struct words_place *places)
{
    uint64_t at = head->variable, size = head->variable;

    for (unsigned i = 0; i < head->columns; i++) {
        uint64_t offset = tablet_words_offset(head, i);
        if (tablet_column(head, i)->type != TYPE_WORD)
            continue;
        if (offset == 0
            || !tablet_words_place(head, i, (const uint8_t *)head + offset, &at,
                                   &places[i]))
            return 0;
        size += places[i].sizes.memory;
    }
    return size;
}

/* Words on their way into memory. */
struct unpacking {
    const struct tablet *from;
    const struct words_place *places;
    struct tablet *to;
    _Atomic(const char *) fault; /* of some column's, or NULL */
};

/* Unpacks the words of a column to where they are to lie. */
static void take_words(void *context, unsigned column)
{
    struct unpacking *unpacking = context;
    const struct words_place *place = &unpacking->places[column];
    const uint8_t *area = (const uint8_t *)unpacking->from + place->offset;
    struct words_area packed = { area, area + place->sizes.file };
    const struct words_source source = words_in_memory(&packed);
    void *words = (void *)(uintptr_t)tablet_words(unpacking->to, column);
    const char *fault = NULL;

    if (tablet_column(unpacking->from, column)->type != TYPE_WORD)
        return;
    if (tablet_column(unpacking->from, column)->words_packed != 0)
        fault = words_unpack(
            &source, &place->sizes,
            parallel_threads(UNPACK_THREADS, place->sizes.memory / WORD_BYTES),
            words);
    else
        memcpy(words, area, (size_t)place->sizes.memory);
    if (fault != NULL)
        atomic_store(&unpacking->fault, fault);
}

/* Fills a block for the tablet in memory; what is wrong, or NULL. */
static const char *fill(const struct tablet *from,
                        const struct words_place *places, struct tablet *head)
{
    struct unpacking unpacking = { from, places, head, NULL };

    memcpy(head, from, (size_t)from->variable);
    head->variable_size = 0;
    for (unsigned i = 0; i < head->columns; i++) {
        struct tablet_column *to = column_of(head, i);
        if (to->type != TYPE_WORD)
            continue;
        to->words = (uint32_t)(head->variable_size / TABLET_ALIGN);
        to->words_packed = 0;
        head->variable_size += places[i].sizes.memory;
    }
    head->size = head->variable + head->variable_size;
    head->format = tablet_format(tablet_column(head, 0), head->columns);
    parallel_run_rows(head->columns, head->rows, take_words, &unpacking);
    return atomic_load(&unpacking.fault);
}

enum vdbq_status tablet_unpack(struct block *block, struct block *packed,
                               struct error *error)
{
    const struct tablet *from = block->bytes;
    struct words_place *places = memory_zeroed(from->columns, sizeof *places);
    struct block made = { 0 };
    const char *fault = "the words do not lie inside";
    uint64_t size;

    if (places == NULL)
        return error_no_memory(error);
    size = find_words(from, places);
    if (size > 0)
        made = block_create(size);
    if (made.bytes != NULL)
        fault = fill(from, places, made.bytes);
    memory_release(places);
    if (size > 0 && made.bytes == NULL)
        return error_no_memory(error);
    if (fault != NULL) {
        block_destroy(&made);
        return error_set(error, VDBQ_CORRUPT, "a tablet is damaged: %s", fault);
    }
    if (packed != NULL)
        *packed = *block;
    else
        block_destroy(block);
    *block = made;
    return VDBQ_OK;
}
