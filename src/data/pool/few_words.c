/* SPDX-License-Identifier: MIT */
#include "data/pool/few_words.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/type.h"
#include "data/pool/projection_inner.h"

static enum vdbq_status tell_fault(const struct few_words *words,
                                   const char *fault, struct error *error)
{
    const struct table *table = words->projection->table;

    return error_set(error, VDBQ_CORRUPT, "table %s, column %s: in a tablet %s",
                     table->name, table->columns[words->column].name, fault);
}

static uint64_t place_of(const struct few_words *words)
{
    return words->projection->words[words->column].offset;
}

static bool is_packed(const struct few_words *words)
{
    return tablet_column(words->projection->head, words->column)->words_packed
           != 0;
}

static uint32_t *ends_of(const struct few_words *words)
{
    return (uint32_t *)(words->here + 1);
}

static char *bytes_of(const struct few_words *words)
{
    return (char *)(ends_of(words) + words->head.count);
}

/* ------------------------------------------------------------------ open -- */

/* Room for what is known of the units, which are read. */
static enum vdbq_status read_units(struct few_words *words, struct error *error)
{
    uint32_t count = words->head.units;
    size_t size = count * sizeof *words->units;

    words->units = memory_resize(NULL, size + 1);
    words->there = memory_zeroed(count + (size_t)1, sizeof *words->there);
    if (words->units == NULL || words->there == NULL)
        return error_no_memory(error);
    return page_reader_copy(words->reader, place_of(words) + sizeof words->head,
                            size, words->units, error);
}

enum vdbq_status few_words_open(struct few_words *words,
                                const struct projection *projection,
                                unsigned column, uint8_t *block,
                                struct error *error)
{
    const struct words_place *place = &projection->words[column];
    const struct tablet_column *here = tablet_column(projection->here, column);
    struct words_sizes sizes;
    enum vdbq_status status;

    words->projection = projection;
    words->column = column;
    words->here = (void *)(block + projection->here->variable
                           + (uint64_t)here->words * TABLET_ALIGN);
    status = page_reader_copy(words->reader, place->offset, sizeof words->head,
                              &words->head, error);
    if (status != VDBQ_OK)
        return status;
    if (!words_sizes(&words->head, is_packed(words), &sizes)
        || sizes.file != place->sizes.file
        || sizes.memory != place->sizes.memory)
        return tell_fault(words, "the size of words is not what it was", error);
    *words->here = (struct tablet_words){ .count = words->head.count,
                                          .bytes = words->head.bytes };
    return is_packed(words) ? read_units(words, error) : VDBQ_OK;
}

void few_words_finish(struct few_words *words)
{
    memory_release(words->units);
    memory_release(words->there);
    memory_release(words->packed);
    unit_room_finish(&words->room);
}

/* ---------------------------------------------------------------- packed -- */

/* Where a unit is, and what is before it. */
struct unit_at {
    uint32_t unit;
    uint64_t word, start, packed; /* words, their bytes, and packed ones */
};

/* Finds the unit of a word; false: the units are not what the head says. */
static bool find_unit(const struct few_words *words, uint32_t code,
                      struct unit_at *at)
{
    const struct packed_words *head = &words->head;

    *at = (struct unit_at){ 0 };
    for (; at->unit < head->units; at->unit++) {
        const struct words_unit *unit = &words->units[at->unit];
        const struct units_left left = { head->count - at->word,
                                         head->bytes - at->start,
                                         head->packed - at->packed };
        if (!unit_is_sound(unit, left))
            return false;
        if (code < at->word + unit->words)
            return true;
        at->word += unit->words;
        at->start += unit->bytes;
        at->packed += unit->packed;
    }
    return false;
}

/* Unpacks a unit whose bytes are there. */
static enum vdbq_status unpack(struct few_words *words,
                               const struct unit_at *at, struct error *error)
{
    const struct unit_place place = { .ends = ends_of(words),
                                      .bytes = bytes_of(words),
                                      .word = (uint32_t)at->word,
                                      .start = (uint32_t)at->start };
    const char *fault;

    if (at->word > 0)
        place.ends[at->word - 1] = (uint32_t)at->start;
    fault = unit_unpack(&words->units[at->unit], words->packed, &place,
                        &words->room);
    if (fault != NULL)
        return tell_fault(words, fault, error);
    words->there[at->unit] = true;
    return VDBQ_OK;
}

static enum vdbq_status bring_unit(struct few_words *words, uint32_t code,
                                   struct error *error)
{
    struct unit_at at;
    const struct words_unit *unit;
    uint8_t *packed;
    enum vdbq_status status;

    if (!find_unit(words, code, &at))
        return tell_fault(words, "a unit of packed words does not fit", error);
    if (words->there[at.unit])
        return VDBQ_OK;
    unit = &words->units[at.unit];
    packed = memory_resize(words->packed, unit->packed + (size_t)1);
    if (packed == NULL)
        return error_no_memory(error);
    words->packed = packed;
    status =
        page_reader_copy(words->reader,
                         place_of(words) + sizeof words->head
                             + words->head.units * sizeof *unit + at.packed,
                         unit->packed, packed, error);
    return status == VDBQ_OK ? unpack(words, &at, error) : status;
}

/* ----------------------------------------------------------------- plain -- */

/* Brings in where a word begins and ends, and its bytes. */
static enum vdbq_status bring_plain(struct few_words *words, uint32_t code,
                                    struct error *error)
{
    uint64_t ends = place_of(words) + sizeof *words->here;
    uint64_t bytes = ends + words->head.count * sizeof(uint32_t);
    uint32_t *here = ends_of(words), before = code > 0 ? code - 1 : 0, start;
    enum vdbq_status status = page_reader_copy(
        words->reader, ends + before * sizeof *here,
        (code - before + 1) * sizeof *here, here + before, error);

    if (status != VDBQ_OK)
        return status;
    start = code > 0 ? here[before] : 0;
    if (here[code] < start || here[code] > words->head.bytes)
        return tell_fault(words, "a word does not lie inside", error);
    status = page_reader_copy(words->reader, bytes + start, here[code] - start,
                              bytes_of(words) + start, error);
    return status == VDBQ_OK
                   && !text_is_utf8(bytes_of(words) + start, here[code] - start)
               ? tell_fault(words, "a word is not UTF-8", error)
               : status;
}

enum vdbq_status few_words_bring(struct few_words *words, uint32_t code,
                                 struct error *error)
{
    if (code >= words->head.count)
        return tell_fault(words, "a code has no word", error);
    return is_packed(words) ? bring_unit(words, code, error)
                            : bring_plain(words, code, error);
}
