/* SPDX-License-Identifier: MIT */
/*
 * Primary keys as codes, sorted by their bytes (least significant first,
 * bytes that are the same in all codes are skipped).
 */
#include "data/index/key.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "cl/order.h"
#include "data/tablet/block.h"
#include "data/catalogue/facts.h"
#include "data/index/key_text.h"
#include "data/tablet/tablet_inner.h"

enum { CODES_AT_ONCE = 1024 };

static void encode(enum vdbq_type type, const void *values, uint64_t first,
                   uint64_t count, uint64_t *codes);
static bool keep_codes(struct key_watch *watch, struct key_values keys);
static bool sort_codes(uint64_t *codes, size_t count);
static enum vdbq_status twice(const struct table *table, uint64_t code,
                              struct error *error);
static enum vdbq_status compare_tablet(struct database *database,
                                       const struct table *table,
                                       const struct tablet_ref *tablet,
                                       const struct vector *codes,
                                       struct error *error);

/* Codes are those of cl/order.h: -0.0 and 0.0 are one key. */
static uint64_t code_of_real(double value)
{
    return order_code(order_f64(value));
}

struct key_watch key_watch_init(const struct table *table)
{
    assert(table->key < table->column_count);
    struct key_watch watch = { .codes = VECTOR(uint64_t) };
    struct column_facts facts = table_facts(table, table->key);

    watch.texts = VECTOR(struct vdbq_text);
    watch.type = table->columns[table->key].type;
    watch.loose = watch.type == VDBQ_TEXT;
    watch.any = !facts.empty;
    watch.last = type_is_real(watch.type) ? code_of_real(facts.maximum_real)
                                          : order_code(facts.maximum);
    return watch;
}

void key_watch_finish(struct key_watch *watch)
{
    vector_finish(&watch->codes);
    vector_finish(&watch->texts);
    dictionary_release(watch->dictionary);
    arena_finish(&watch->arena);
}

size_t key_count(const struct key_watch *watch)
{
    return watch->type == VDBQ_TEXT ? watch->texts.count : watch->codes.count;
}

enum vdbq_status key_check_nulls(const struct table *table, uint64_t rows,
                                 const struct vdbq_vector *vectors,
                                 struct error *error)
{
    const struct vdbq_vector *keys = &vectors[table->key];
    const float *narrow = keys->type == VDBQ_FLOAT ? keys->values : NULL;
    const double *wide = keys->type == VDBQ_DOUBLE ? keys->values : NULL;

    if (keys->nulls == NULL && narrow == NULL && wide == NULL)
        return VDBQ_OK;
    for (uint64_t i = 0; i < rows; i++) {
        bool null = keys->nulls != NULL && keys->nulls[i] != 0;
        null |= narrow != NULL && isnan(narrow[i]);
        null |= wide != NULL && isnan(wide[i]);
        if (null)
            return error_set(error, VDBQ_CONSTRAINT,
                             "table %s: the primary key %s is NULL in row "
                             "%llu of those to be added",
                             table->name, table->columns[table->key].name,
                             (unsigned long long)i + 1);
    }
    return VDBQ_OK;
}

/* Whether the keys grow, from the last one on; goes as far as they do. */
static bool in_order(struct key_watch *watch, struct key_values keys)
{
    uint64_t codes[CODES_AT_ONCE], last = watch->last;
    bool any = watch->any;

    for (uint64_t at = 0; at < keys.count; at += CODES_AT_ONCE) {
        uint64_t count = keys.count - at;
        count = count < CODES_AT_ONCE ? count : CODES_AT_ONCE;
        encode(watch->type, keys.values, at, count, codes);
        for (uint64_t i = 0; i < count; i++) {
            if (any && codes[i] <= last)
                return false;
            last = codes[i];
            any = true;
        }
    }
    watch->last = last;
    watch->any = any;
    return true;
}

bool key_grows(const struct table *table, uint64_t rows,
               const struct vdbq_vector *vectors)
{
    struct key_watch watch = key_watch_init(table);

    return !watch.loose
           && in_order(&watch,
                       (struct key_values){ vectors[table->key].values, rows });
}

bool key_watch_grows(const struct key_watch *watch, struct key_values more)
{
    struct key_watch trial = *watch;

    return !trial.loose && in_order(&trial, more);
}

bool key_watch_add(struct key_watch *watch, struct key_values more,
                   struct key_values waiting, size_t tablets)
{
    if (watch->type == VDBQ_TEXT)
        return key_text_add(watch, more);
    if (!watch->loose && in_order(watch, more))
        return true;
    if (!watch->loose) {
        watch->loose = true;
        watch->tablets_before = tablets;
        if (!keep_codes(watch, waiting))
            return false;
    }
    return keep_codes(watch, more);
}

/* Keeps the codes of all keys: they are sorted at the end. */
static bool keep_codes(struct key_watch *watch, struct key_values keys)
{
    uint64_t codes[CODES_AT_ONCE];

    for (uint64_t at = 0; at < keys.count; at += CODES_AT_ONCE) {
        uint64_t count = keys.count - at;
        count = count < CODES_AT_ONCE ? count : CODES_AT_ONCE;
        encode(watch->type, keys.values, at, count, codes);
        if (!vector_append(&watch->codes, codes, (size_t)count))
            return false;
    }
    return true;
}

enum vdbq_status key_sort(struct key_watch *watch, const struct table *table,
                          struct error *error)
{
    uint64_t *codes = watch->codes.items;

    if (watch->type == VDBQ_TEXT)
        return key_text_sort(watch, table, error);
    if (!sort_codes(codes, watch->codes.count))
        return stop_or_no_memory(error);
    for (size_t i = 1; i < watch->codes.count; i++)
        if (codes[i - 1] == codes[i])
            return twice(table, codes[i], error);
    return VDBQ_OK;
}

enum vdbq_status key_compare(const struct key_watch *watch,
                             struct database *database,
                             const struct table *table,
                             const struct tablet_ref *tablets, size_t count,
                             struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    if (watch->type == VDBQ_TEXT)
        return key_text_compare(watch, database, table, tablets, count, error);
    for (size_t i = 0; i < count && status == VDBQ_OK; i++) {
        const struct column_facts *facts = &tablets[i].facts[table->key];
        bool real = type_is_real(watch->type);
        uint64_t low = real ? code_of_real(facts->minimum_real)
                            : order_code(facts->minimum);
        uint64_t high = real ? code_of_real(facts->maximum_real)
                             : order_code(facts->maximum);
        struct vector within = watch->codes;
        size_t first = vector_count_below(&watch->codes, low);
        size_t end = high == UINT64_MAX
                         ? watch->codes.count
                         : vector_count_below(&watch->codes, high + 1);
        if (facts->empty || end <= first)
            continue;
        within.items = VECTOR_ITEMS(&watch->codes, uint64_t) + first;
        within.count = end - first;
        status = stop_pause(error);
        if (status == VDBQ_OK)
            status =
                compare_tablet(database, table, &tablets[i], &within, error);
    }
    return status;
}

/* ------------------------------------------------------------ tablets -- */

/* The first code that is in both sorted lists; false: there is none. */
static bool find_common(const uint64_t *a, size_t a_count,
                        const struct vector *codes, uint64_t *common)
{
    const uint64_t *b = codes->items;
    size_t i = 0, k = 0;

    while (i < a_count && k < codes->count) {
        if (a[i] == b[k]) {
            *common = a[i];
            return true;
        }
        if (a[i] < b[k])
            i++;
        else
            k++;
    }
    return false;
}

/* The codes of a tablet's keys, in order; values and codes are written into
 * `room`, 8 bytes each a row. False: no memory. */
static bool codes_of_tablet(const struct table *table,
                            const struct block *block, uint32_t rows,
                            uint64_t *codes, void *room)
{
    tablet_values(block->bytes, table->key, room);
    encode(table->columns[table->key].type, room, 0, rows, codes);
    for (uint32_t i = 1; i < rows; i++)
        if (codes[i - 1] > codes[i])
            return sort_codes(codes, rows);
    return true;
}

/* Looks for a key that a tablet has already. */
static enum vdbq_status compare_tablet(struct database *database,
                                       const struct table *table,
                                       const struct tablet_ref *tablet,
                                       const struct vector *codes,
                                       struct error *error)
{
    struct block block = { 0 };
    uint64_t *own = memory_zeroed(tablet->rows, sizeof *own);
    void *room = memory_zeroed(tablet->rows, sizeof(uint64_t));
    enum vdbq_status status;
    uint64_t common;

    if (own == NULL || room == NULL) {
        status = error_no_memory(error);
        goto release_all;
    }
    status = tablet_load(database, table, tablet, &block, error);
    if (status != VDBQ_OK)
        goto release_all;
    if (!codes_of_tablet(table, &block, tablet->rows, own, room))
        status = stop_or_no_memory(error);
    else if (find_common(own, tablet->rows, codes, &common))
        status = twice(table, common, error);

release_all:
    memory_release(room);
    memory_release(own);
    block_destroy(&block);
    return status;
}

/* -------------------------------------------------------------- codes -- */

/* The codes of a run of keys. */
static void encode(enum vdbq_type type, const void *values, uint64_t first,
                   uint64_t count, uint64_t *codes)
{
    const int32_t *narrow = values;
    const int64_t *wide = values;
    const float *floats = values;
    const double *doubles = values;

    switch (type_machine(type)) {
    case TYPE_I32:
        for (uint64_t i = 0; i < count; i++)
            codes[i] = order_code(narrow[first + i]);
        break;
    case TYPE_I64:
        for (uint64_t i = 0; i < count; i++)
            codes[i] = order_code(wide[first + i]);
        break;
    case TYPE_F32:
        for (uint64_t i = 0; i < count; i++)
            codes[i] = code_of_real((double)floats[first + i]);
        break;
    default:
        for (uint64_t i = 0; i < count; i++)
            codes[i] = code_of_real(doubles[first + i]);
        break;
    }
}

/* One step of the sort, by one byte; false: all codes agree in it. */
static bool sort_byte(const uint64_t *from, uint64_t *to, size_t count,
                      unsigned shift)
{
    assert(count > 0 && shift < 64);
    size_t places[257] = { 0 };

    for (size_t i = 0; i < count; i++) {
        if (stop_at(i))
            return false; /* there is no place for those not counted */
        places[(from[i] >> shift & 255) + 1]++;
    }
    if (places[(from[0] >> shift & 255) + 1] == count)
        return false;
    for (unsigned i = 1; i < 256; i++)
        places[i] += places[i - 1];
    for (size_t i = 0; i < count && !stop_at(i); i++)
        to[places[from[i] >> shift & 255]++] = from[i];
    return true;
}

/* A radix sort by bytes; those that all codes share cost one look. False: no
 * memory, or it is to end. */
static bool sort_codes(uint64_t *codes, size_t count)
{
    uint64_t *room, *from = codes, *to;

    if (count < 2)
        return true;
    room = memory_zeroed(count, sizeof *room);
    if (room == NULL)
        return false;
    to = room;
    for (unsigned shift = 0; shift < 64; shift += 8)
        if (sort_byte(from, to, count, shift)) {
            uint64_t *sorted = to;
            to = from;
            from = sorted;
        }
    if (from != codes)
        memcpy(codes, from, count * sizeof *codes);
    memory_release(room);
    return !stop_asked();
}

/* Says which key is there twice. */
static enum vdbq_status twice(const struct table *table, uint64_t code,
                              struct error *error)
{
    const struct column *column = &table->columns[table->key];
    int64_t wide = order_of_code(code);
    int32_t narrow = (int32_t)wide;
    double real = order_to_f64(wide);
    float single = (float)real;
    char text[TYPE_TEXT_MAX];

    if (column->type == VDBQ_FLOAT)
        type_print(column->type, 0, &single, text);
    else if (type_bytes(column->type) == sizeof narrow)
        type_print(column->type, 0, &narrow, text);
    else if (type_is_real(column->type))
        type_print(column->type, 0, &real, text);
    else
        type_print(column->type, column->scale, &wide, text);
    return error_set(error, VDBQ_CONSTRAINT,
                     "table %s: the primary key %s is there twice: %s",
                     table->name, column->name, text);
}
