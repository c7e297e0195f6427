/* SPDX-License-Identifier: MIT */
/*
 * Ids are numbers of rows where the table has no primary key; else they are
 * keys, of which the tablet that holds them is looked through. Keys come in the
 * order of their rows, so that one walk finds all.
 */
#include "data/transaction/row_numbers.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads/stop.h"
#include "base/type.h"
#include "data/tablet/tablet.h"
#include "data/tablet/tablet_inner.h"

struct row_numbers row_numbers_init(const struct table *table,
                                    const struct row_changes *changes)
{
    return (struct row_numbers){ .table = table,
                                 .ids = changes->ids,
                                 .numbered =
                                     changes->numbered || table->key == NO_KEY,
                                 .count = changes->count,
                                 .found = VECTOR(uint64_t) };
}

void row_numbers_finish(struct row_numbers *numbers)
{
    vector_finish(&numbers->found);
}

/* The value of a whole number. */
static int64_t integer_at(const struct vdbq_vector *ids, uint64_t i)
{
    return type_machine(ids->type) == TYPE_I32
               ? ((const int32_t *)ids->values)[i]
               : ((const int64_t *)ids->values)[i];
}

static double real_at(const struct vdbq_vector *ids, uint64_t i)
{
    return ids->type == VDBQ_FLOAT ? (double)((const float *)ids->values)[i]
                                   : ((const double *)ids->values)[i];
}

bool row_numbers_may_hold(const struct row_numbers *numbers,
                          const struct tablet_ref *tablet)
{
    const struct table *table = numbers->table;
    uint64_t next = numbers->found.count;
    const struct column_facts *facts;

    if (next == numbers->count)
        return false;
    if (numbers->numbered) {
        uint64_t number = (uint64_t)integer_at(numbers->ids, next);
        return number >= tablet->row_first
               && number - tablet->row_first < tablet->rows;
    }
    facts = &tablet->facts[table->key];
    if (numbers->ids->type == VDBQ_TEXT)
        return true;
    if (type_is_real(numbers->ids->type))
        return real_at(numbers->ids, next) >= facts->minimum_real
               && real_at(numbers->ids, next) <= facts->maximum_real;
    return integer_at(numbers->ids, next) >= facts->minimum
           && integer_at(numbers->ids, next) <= facts->maximum;
}

/* Notes that row `place` of the tablet is the next one. */
static bool note(struct row_numbers *numbers, const struct tablet_ref *tablet,
                 uint32_t place, struct vector *places)
{
    uint64_t number = tablet->row_first + place;

    return vector_append(&numbers->found, &number, 1)
           && vector_append(places, &place, 1);
}

/* Numbers that do not ascend end it: they will be missed. */
static bool find_numbers(struct row_numbers *numbers,
                         const struct tablet_ref *tablet, struct vector *places)
{
    uint64_t least = tablet->row_first;

    while (row_numbers_may_hold(numbers, tablet)) {
        uint64_t number =
            (uint64_t)integer_at(numbers->ids, numbers->found.count);
        if (number < least)
            break;
        if (!note(numbers, tablet, (uint32_t)(number - tablet->row_first),
                  places))
            return false;
        least = number + 1;
    }
    return true;
}

/* Whether a key of the tablet is the one of that change. */
static bool is_key(const struct vdbq_vector *ids, uint64_t i,
                   const struct vdbq_vector *keys, uint32_t row)
{
    return type_is_real(ids->type)
               ? real_at(ids, i) == real_at(keys, row)
               : integer_at(ids, i) == integer_at(keys, row);
}

static bool find_keys(struct row_numbers *numbers,
                      const struct tablet_ref *tablet, const void *block,
                      void *room, struct vector *places)
{
    struct vdbq_vector keys = { .type = numbers->ids->type, .values = room };

    tablet_values(block, numbers->table->key, room);
    for (uint32_t i = 0;
         i < tablet->rows && numbers->found.count < numbers->count; i++)
        if (stop_at(i)
            || (is_key(numbers->ids, numbers->found.count, &keys, i)
                && !note(numbers, tablet, i, places)))
            return false;
    return true;
}

static bool find_texts(struct row_numbers *numbers,
                       const struct tablet_ref *tablet, const void *block,
                       int32_t *codes, struct vector *places)
{
    const struct vdbq_text *texts = numbers->ids->values;
    struct dictionary *words = dictionary_of_tablet(block, numbers->table->key);
    bool room = words != NULL;

    tablet_values(block, numbers->table->key, codes);
    for (uint32_t i = 0;
         room && i < tablet->rows && numbers->found.count < numbers->count;
         i++) {
        struct vdbq_text key = dictionary_text(words, (uint32_t)codes[i]);
        const struct vdbq_text *next = &texts[numbers->found.count];
        room = !stop_at(i);
        if (room && key.length == next->length
            && (key.length == 0
                || memcmp(key.bytes, next->bytes, key.length) == 0))
            room = note(numbers, tablet, i, places);
    }
    dictionary_release(words);
    return room;
}

bool row_numbers_find(struct row_numbers *numbers,
                      const struct tablet_ref *tablet, const void *block,
                      struct vector *places)
{
    void *room;
    bool done;

    if (numbers->numbered)
        return find_numbers(numbers, tablet, places);
    room = memory_zeroed(tablet->rows, sizeof(uint64_t));
    if (room == NULL)
        return false;
    done = numbers->ids->type == VDBQ_TEXT
               ? find_texts(numbers, tablet, block, room, places)
               : find_keys(numbers, tablet, block, room, places);
    memory_release(room);
    return done;
}

size_t row_numbers_place(const struct row_numbers *numbers, uint64_t number,
                         bool *found)
{
    size_t place = vector_count_below(&numbers->found, number);

    *found = place < numbers->found.count
             && VECTOR_ITEMS(&numbers->found, uint64_t)[place] == number;
    return place;
}
