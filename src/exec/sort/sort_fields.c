/* SPDX-License-Identifier: MIT */
/*
 * Fields of keys: see sort_fields.h.
 */
#include "exec/sort/sort_fields.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/rows/order.h"

enum { WORD_BITS = 32 };

/* A key, or whether it is NULL, as bits of the number. */
struct sort_field {
    struct sort_key key; /* that it codes */
    bool null;           /* only whether it is NULL               */
    unsigned shift;      /* of its lowest bit in the number       */
    unsigned bits;       /* that its values take */
    uint64_t least;      /* code of the values: least, greatest   */
    uint64_t most;       /* greatest order of a value */
    uint64_t if_null;    /* what stands for NULL */
    uint64_t add;        /* to the value's distance from `least`  */
};

/* ------------------------------------------------------------- ranges -- */

/* The range of a key's values, as threads find it. */
struct range {
    const struct sort_key *key; /* whose values are looked at */
    uint32_t count;             /* rows */
    unsigned threads;           /* that share the rows */
    struct sort_extent shares[PARALLEL_THREADS_MAX];
};

/* Looks at rows [first, end) of a key whose values are of a type. */
static inline void look_at(const struct sort_key *key, int type, uint32_t first,
                           uint32_t end, struct sort_extent *extent)
{
    uint64_t least = extent->least, most = extent->most;
    for (uint32_t i = first; i < end; i++) {
        uint64_t code = order_at(type, key->values, i);
        if (extent->nulls && key->nulls[i] != 0)
            continue;
        least = code < least ? code : least;
        most = code > most ? code : most;
    }
    extent->least = least;
    extent->most = most;
}

void sort_extent_add(struct sort_extent *extent, const struct sort_key *key,
                     uint32_t first, uint32_t end)
{
    for (uint32_t i = first; key->nulls != NULL && i < end; i++)
        extent->nulls |= key->nulls[i] != 0;
    switch (key->type) {
    case TYPE_I32:
        look_at(key, TYPE_I32, first, end, extent);
        return;
    case TYPE_I64:
        look_at(key, TYPE_I64, first, end, extent);
        return;
    case TYPE_F32:
        look_at(key, TYPE_F32, first, end, extent);
        return;
    default:
        assert(key->type == TYPE_F64);
        look_at(key, TYPE_F64, first, end, extent);
    }
}

/* One thread's share: least and greatest order, and whether a NULL is there. */
static void find_range(void *context, unsigned share)
{
    struct range *range = context;
    uint64_t rows = range->count;
    uint32_t end = (uint32_t)(rows * (share + 1) / range->threads);
    struct sort_extent extent = { .least = UINT64_MAX };

    for (uint32_t at = (uint32_t)(rows * share / range->threads), count;
         at < end && !stop_asked(); at += count) {
        count = end - at < STOP_ROWS ? end - at : STOP_ROWS;
        sort_extent_add(&extent, range->key, at, at + count);
    }
    range->shares[share] = extent;
}

/* Sets a field's range, and whether there are NULLs; whether its key has
 * values. */
static bool range_of(struct sort_field *field, uint32_t rows, unsigned threads,
                     bool *nulls)
{
    struct range range = { .key = &field->key,
                           .count = rows,
                           .threads = threads };

    parallel_run(range.threads, find_range, &range);
    field->least = UINT64_MAX;
    field->most = 0;
    *nulls = false;
    for (unsigned i = 0; i < range.threads; i++) {
        if (range.shares[i].least < field->least)
            field->least = range.shares[i].least;
        if (range.shares[i].most > field->most)
            field->most = range.shares[i].most;
        *nulls |= range.shares[i].nulls;
    }
    return field->least <= field->most;
}

/* ------------------------------------------------------------- making -- */

/* Bits that a value takes. */
static unsigned bits_of(uint64_t value)
{
    unsigned bits = 0;
    for (; value > 0; value >>= 1)
        bits++;
    return bits;
}

/* There is room for two fields a key. */
static struct sort_field *add_field(struct sort_fields *fields, unsigned bits)
{
    assert(bits > 0 && bits <= 64);
    struct sort_field *field = &fields->fields[fields->count++];
    field->bits = bits;
    return field;
}

/* Adds a key's field, or two where value and NULL together need more than
 * 64 bits. None where all rows are equal. */
static void add_key(struct sort_fields *fields, const struct sort_key *key,
                    uint32_t rows, unsigned threads)
{
    struct sort_field value = { .key = *key }, *added;
    bool nulls, any = range_of(&value, rows, threads, &nulls);
    uint64_t range = any ? value.most - value.least : 0;

    if (!any || (!nulls && range == 0))
        return;
    if (nulls && range == UINT64_MAX) {
        added = add_field(fields, 1);
        *added = (struct sort_field){ .key = *key,
                                      .null = true,
                                      .bits = 1,
                                      .if_null = key->nulls_last,
                                      .add = !key->nulls_last };
        nulls = false;
    }
    value.add = nulls && !key->nulls_last;
    value.if_null = nulls && key->nulls_last ? range + 1 : 0;
    value.bits = bits_of(range + nulls);
    *add_field(fields, value.bits) = value;
}

/* Gives the fields their places: the last one has the lowest bits. The highest
 * word is full where there are several, so that it tells as much as it can. */
static void place_fields(struct sort_fields *fields, unsigned parting)
{
    unsigned bits = 0, at;
    for (unsigned i = 0; i < fields->count; i++)
        bits += fields->fields[i].bits;
    fields->words = (bits + WORD_BITS - 1) / WORD_BITS;
    fields->highest_bits = fields->words > 1 ? WORD_BITS : bits;
    at = fields->words > 1 ? fields->words * WORD_BITS - bits : 0;
    for (unsigned i = fields->count; i-- > 0;) {
        if (i + 1 == parting)
            fields->partition = at;
        fields->fields[i].shift = at;
        at += fields->fields[i].bits;
        assert(fields->fields[i].bits > 0);
    }
    if (parting == 0)
        fields->partition = at;
}

enum vdbq_status sort_fields_init(struct sort_fields *fields,
                                  const struct sort_key *keys,
                                  unsigned key_count, unsigned partition,
                                  uint32_t rows, unsigned threads,
                                  struct error *error)
{
    unsigned parting = 0;
    assert(partition <= key_count);
    *fields = (struct sort_fields){ 0 };
    fields->fields =
        memory_zeroed(2 * (size_t)key_count + 1, sizeof *fields->fields);
    if (fields->fields == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < key_count; i++) {
        add_key(fields, &keys[i], rows, threads);
        if (i + 1 == partition)
            parting = fields->count;
    }
    place_fields(fields, parting);
    return VDBQ_OK;
}

void sort_fields_finish(struct sort_fields *fields)
{
    memory_release(fields->fields);
    fields->fields = NULL;
}

/* -------------------------------------------------------------- words -- */

/* The value of a row in the field: smaller goes first. `type` is its key's. */
static inline uint64_t value_of(const struct sort_field *field, int type,
                                uint32_t row)
{
    const struct sort_key *key = &field->key;
    uint64_t code;

    if (key->nulls != NULL && key->nulls[row] != 0)
        return field->if_null;
    if (field->null)
        return field->add;
    code = order_at(type, key->values, row);
    return field->add
           + (key->descending ? field->most - code : code - field->least);
}

/* Adds the bits of a field whose values are of a type, moved so far, to
 * elements. */
static inline void put_values(const struct sort_field *field, int type,
                              int shift, uint64_t *elements, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = value_of(field, type, (uint32_t)elements[i]);
        value = shift >= 0 ? value << shift : value >> -shift;
        elements[i] |= value << WORD_BITS;
    }
}

/* Adds the bits of a field that lie in the word to elements. */
static void put_field(const struct sort_field *field, unsigned word,
                      uint64_t *elements, uint32_t count)
{
    int shift = (int)field->shift - (int)word * WORD_BITS;

    if (shift >= WORD_BITS || shift + (int)field->bits <= 0)
        return;
    switch (field->key.type) {
    case TYPE_I32:
        put_values(field, TYPE_I32, shift, elements, count);
        return;
    case TYPE_I64:
        put_values(field, TYPE_I64, shift, elements, count);
        return;
    case TYPE_F32:
        put_values(field, TYPE_F32, shift, elements, count);
        return;
    default:
        assert(field->key.type == TYPE_F64);
        put_values(field, TYPE_F64, shift, elements, count);
    }
}

void sort_fields_put(const struct sort_fields *fields, unsigned word,
                     uint64_t *elements, uint32_t count)
{
    assert(word < fields->words);
    for (uint32_t i = 0; i < count; i++)
        elements[i] = (uint32_t)elements[i];
    for (unsigned i = 0; i < fields->count; i++)
        put_field(&fields->fields[i], word, elements, count);
}

uint32_t sort_fields_parting(const struct sort_fields *fields, unsigned word)
{
    unsigned below = word * WORD_BITS;
    if (fields->partition <= below)
        return UINT32_MAX;
    return fields->partition - below >= WORD_BITS
               ? 0
               : UINT32_MAX << (fields->partition - below);
}
