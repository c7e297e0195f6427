/* SPDX-License-Identifier: MIT */
/*
 * Only the area of words changes, which is the last one: all before it stays
 * where it is.
 */
#include "data/tablet/tablet_pack.h"

#include <assert.h>
#include <string.h>

#include "data/tablet/page_sums.h"
#include "data/tablet/tablet_inner.h"

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

/* Writes the words of a column behind all that is there. */
static void put_words(struct tablet *head, unsigned column,
                      const struct tablet_words *words)
{
    struct tablet_column *to = column_of(head, column);
    uint8_t *place = (uint8_t *)head + head->size;
    uint64_t size = words_pack(words, place);

    to->words = (uint32_t)(head->variable_size / TABLET_ALIGN);
    to->words_packed = size > 0;
    if (size == 0) {
        size = words_size(words);
        memcpy(place, words, (size_t)size);
    }
    head->variable_size += size;
    head->size += size;
}

bool tablet_pack(struct block *block)
{
    const struct tablet *from = block->bytes;
    struct block made = { 0 };
    struct tablet *head;

    if (from->variable_size > 0)
        made = block_create(block->size + page_sums_bytes(block->size));
    if (made.bytes == NULL)
        return false;
    head = made.bytes;
    memcpy(head, from, (size_t)from->variable);
    head->size = from->variable;
    head->variable_size = 0;
    for (unsigned i = 0; i < head->columns; i++)
        if (tablet_column(from, i)->type == TYPE_WORD)
            put_words(head, i, tablet_words(from, i));
    if (!tablet_is_packed(head)) {
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

/* Writes the words of a column behind all that is there; what is wrong. */
static const char *take_words(const struct tablet *from, unsigned column,
                              const struct words_place *place,
                              struct tablet *head)
{
    struct tablet_column *to = column_of(head, column);
    const uint8_t *area = (const uint8_t *)from + place->offset;
    uint8_t *words = (uint8_t *)head + head->size;
    struct words_area packed = { area, area + place->sizes.file };
    const struct words_source source = words_in_memory(&packed);
    const char *fault = NULL;

    if (to->words_packed != 0)
        fault = words_unpack(&source, &place->sizes, 1, words);
    else
        memcpy(words, area, (size_t)place->sizes.memory);
    to->words = (uint32_t)(head->variable_size / TABLET_ALIGN);
    to->words_packed = 0;
    head->variable_size += place->sizes.memory;
    head->size += place->sizes.memory;
    return fault;
}

/* Fills a block for the tablet in memory; what is wrong, or NULL. */
static const char *fill(const struct tablet *from,
                        const struct words_place *places, struct tablet *head)
{
    const char *fault = NULL;

    memcpy(head, from, (size_t)from->variable);
    head->size = from->variable;
    head->variable_size = 0;
    for (unsigned i = 0; i < head->columns && fault == NULL; i++)
        if (tablet_column(from, i)->type == TYPE_WORD)
            fault = take_words(from, i, &places[i], head);
    head->format = tablet_format(tablet_column(head, 0), head->columns);
    return fault;
}

enum vdbq_status tablet_unpack(struct block *block, struct error *error)
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
    block_destroy(block);
    *block = made;
    return VDBQ_OK;
}
