/* SPDX-License-Identifier: MIT */
/*
 * The order of rows: their keys become one long number, the first key in its
 * highest bits, of as many bits as its values need; it is sorted 32 bits at a
 * time, the lowest first, and rows that are equal there keep their order.
 */
#include "exec/sort/sort.h"

#include <assert.h>

#include "base/memory.h"
#include "base/threads/parallel.h"
#include "base/threads/stop.h"
#include "cl/types.h"
#include "exec/rows/order.h"
#include "exec/sort/sort_radix.h"

/* A key, or whether it is NULL, as bits of the number. */
struct field {
    struct sort_key key; /* that it codes */
    bool null;           /* only whether it is NULL               */
    unsigned shift;      /* of its lowest bit in the number       */
    unsigned bits;       /* that its values take */
    uint64_t least;      /* code of the values: least, greatest   */
    uint64_t most;       /* greatest order of a value */
    uint64_t if_null;    /* what stands for NULL */
    uint64_t add;        /* to the value's distance from `least`  */
};

struct sorting {
    struct field *fields; /* one or two a key */
    unsigned field_count; /* of `fields` */
    unsigned bits;        /* of the whole number      */
    uint32_t count;       /* rows */
    unsigned threads;     /* that share the rows */
    unsigned word;        /* which is being sorted    */
    uint64_t *elements;   /* number of the row, and above it the word */
    uint32_t *order;      /* what comes of it: numbers of rows */
};

int sort_type(enum vdbq_type type)
{
    if (type == VDBQ_FLOAT)
        return TYPE_F32;
    if (type == VDBQ_DOUBLE)
        return TYPE_F64;
    return row_set_width(type) == 8 ? TYPE_I64 : TYPE_I32;
}

void sort_keys(const struct row_set *row_set, const struct step_key *keys,
               unsigned count, struct sort_key *made)
{
    assert(count == 0 || keys != NULL);
    for (unsigned i = 0; i < count; i++) {
        const struct row_set_column *column = &row_set->columns[keys[i].column];
        made[i] = (struct sort_key){ .type = sort_type(column->type),
                                     .values = column->values,
                                     .nulls = column->nulls,
                                     .descending = keys[i].descending,
                                     .nulls_last = keys[i].nulls_last };
    }
}

/* ------------------------------------------------------------ fields ---- */

/* Whether the key of a row is NULL. */
static bool null_at(const struct sort_key *key, uint32_t row)
{
    return key->nulls != NULL && key->nulls[row] != 0;
}

/* Bits that a value takes. */
static unsigned bits_of(uint64_t value)
{
    unsigned bits = 0;
    for (; value > 0; value >>= 1)
        bits++;
    return bits;
}

/* The range of a key's values, as threads find it. */
struct range {
    const struct sort_key *key; /* whose values are looked at */
    uint32_t count;             /* rows */
    unsigned threads;           /* that share the rows */
    struct {
        uint64_t least, most; /* orders that a thread found */
        bool nulls;           /* it found one */
    } shares[PARALLEL_THREADS_MAX];
};

/* One thread's share: least and greatest order, and whether a NULL is there. */
static void find_range(void *context, unsigned share)
{
    struct range *range = context;
    const struct sort_key *key = range->key;
    uint64_t count = range->count, least = UINT64_MAX, most = 0;
    uint32_t first = (uint32_t)(count * share / range->threads);
    uint32_t end = (uint32_t)(count * (share + 1) / range->threads);
    bool nulls = false;

    for (uint32_t i = first; key->nulls != NULL && i < end; i++)
        nulls |= key->nulls[i] != 0;
    for (uint32_t i = first; i < end && !stop_at(i); i++) {
        uint64_t code = order_at(key->type, key->values, i);
        if (nulls && key->nulls[i] != 0)
            continue;
        least = code < least ? code : least;
        most = code > most ? code : most;
    }
    range->shares[share].least = least;
    range->shares[share].most = most;
    range->shares[share].nulls = nulls;
}

/* Sets a field's range; whether its key has values. */
static bool range_of(struct field *field, const struct sorting *sorting,
                     bool *nulls)
{
    struct range range = { .key = &field->key,
                           .count = sorting->count,
                           .threads = sorting->threads };

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

/* There is room for two fields a key. */
static struct field *add_field(struct sorting *sorting, unsigned bits)
{
    assert(bits > 0 && bits <= 64);
    struct field *field = &sorting->fields[sorting->field_count++];
    field->bits = bits;
    return field;
}

/* Adds a key's field, or two where value and NULL together need more than
 * 64 bits. None where all rows are equal. */
static void add_key(struct sorting *sorting, const struct sort_key *key)
{
    struct field value = { .key = *key }, *added;
    bool nulls, any = range_of(&value, sorting, &nulls);
    uint64_t range = any ? value.most - value.least : 0;

    if (!any || (!nulls && range == 0))
        return;
    if (nulls && range == UINT64_MAX) {
        added = add_field(sorting, 1);
        *added = (struct field){ .key = *key,
                                 .null = true,
                                 .bits = 1,
                                 .if_null = key->nulls_last,
                                 .add = !key->nulls_last };
        nulls = false;
    }
    value.add = nulls && !key->nulls_last;
    value.if_null = nulls && key->nulls_last ? range + 1 : 0;
    value.bits = bits_of(range + nulls);
    *add_field(sorting, value.bits) = value;
}

/* Gives the fields their places: the last one has the lowest bits. */
static void place_fields(struct sorting *sorting)
{
    for (unsigned i = sorting->field_count; i-- > 0;) {
        sorting->fields[i].shift = sorting->bits;
        sorting->bits += sorting->fields[i].bits;
        assert(sorting->fields[i].bits > 0);
    }
}

/* ------------------------------------------------------------- words ---- */

/* The value of a row in the field: smaller goes first. */
static inline uint64_t value_of(const struct field *field, uint32_t row)
{
    const struct sort_key *key = &field->key;
    uint64_t code;

    if (null_at(key, row))
        return field->if_null;
    if (field->null)
        return field->add;
    code = order_at(key->type, key->values, row);
    return field->add
           + (key->descending ? field->most - code : code - field->least);
}

/* Adds the bits of a field that lie in the word to elements. */
static void put_field(const struct field *field, unsigned word,
                      uint64_t *elements, uint32_t count)
{
    int shift = (int)field->shift - (int)word * 32;

    if (shift >= 32 || shift + (int)field->bits <= 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = value_of(field, (uint32_t)elements[i]);
        value = shift >= 0 ? value << shift : value >> -shift;
        elements[i] |= value << 32;
    }
}

/* One thread's share: puts 32 bits of all fields over the row numbers. */
static void put_word(void *context, unsigned share)
{
    struct sorting *sorting = context;
    uint64_t rows = sorting->count, threads = sorting->threads;
    uint32_t first = (uint32_t)(rows * share / threads);
    uint32_t end = (uint32_t)(rows * (share + 1) / threads);
    uint64_t *elements = sorting->elements;

    for (uint32_t at = first, count; at < end && !stop_asked(); at += count) {
        count = end - at < STOP_ROWS ? end - at : STOP_ROWS;
        for (uint32_t i = at; i < at + count; i++)
            elements[i] = sorting->word == 0 ? i : (uint32_t)elements[i];
        for (unsigned i = 0; i < sorting->field_count; i++)
            put_field(&sorting->fields[i], sorting->word, elements + at, count);
    }
}

/* One thread's share: the numbers of the sorted rows. */
static void take_order(void *context, unsigned share)
{
    struct sorting *sorting = context;
    uint64_t count = sorting->count, threads = sorting->threads;
    uint32_t first = (uint32_t)(count * share / threads);
    uint32_t end = (uint32_t)(count * (share + 1) / threads);

    for (uint32_t i = first; i < end; i++)
        sorting->order[i] =
            sorting->bits == 0 ? i : (uint32_t)sorting->elements[i];
}

/* Sorts by 32 bits at a time, the lowest first. */
static enum vdbq_status sort_dictionary(struct sorting *sorting,
                                        struct error *error)
{
    uint64_t *room = memory_resize(NULL, ((size_t)sorting->count + 1) * 16);
    uint64_t *other;
    enum vdbq_status status = VDBQ_OK;

    if (room == NULL)
        return error_no_memory(error);
    sorting->elements = room;
    for (sorting->word = 0;
         status == VDBQ_OK && sorting->word * 32 < sorting->bits;
         sorting->word++) {
        parallel_run(sorting->threads, put_word, sorting);
        other = sorting->elements == room ? room + sorting->count : room;
        sorting->elements = radix_sort(sorting->elements, other, sorting->count,
                                       sorting->threads);
        if (sorting->elements == NULL)
            status = error_no_memory(error);
    }
    if (status == VDBQ_OK)
        parallel_run(sorting->threads, take_order, sorting);
    memory_release(room);
    return status == VDBQ_OK ? stop_pause(error) : status;
}

enum vdbq_status sort_order(const struct sort_key *keys, unsigned key_count,
                            uint32_t count, unsigned threads, uint32_t *order,
                            struct error *error)
{
    struct sorting sorting = { .count = count,
                               .threads = parallel_threads(threads, count),
                               .order = order };
    enum vdbq_status status;

    sorting.fields =
        memory_zeroed(2 * (size_t)key_count + 1, sizeof *sorting.fields);
    if (sorting.fields == NULL)
        return error_no_memory(error);
    for (unsigned i = 0; i < key_count; i++)
        add_key(&sorting, &keys[i]);
    place_fields(&sorting);
    status = sort_dictionary(&sorting, error);
    memory_release(sorting.fields);
    return status;
}
