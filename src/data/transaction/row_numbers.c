/* SPDX-License-Identifier: MIT */
/*
 * Numbers come in the order of their rows, so that one walk over the tablets
 * finds all.
 */
#include "data/transaction/row_numbers.h"

#include <assert.h>

struct row_numbers row_numbers_init(const struct row_changes *changes)
{
    return (struct row_numbers){ .numbers = VECTOR_OF(
                                     (uint64_t *)changes->numbers->values,
                                     changes->count) };
}

bool row_numbers_find(struct row_numbers *numbers,
                      const struct tablet_ref *tablet, struct vector *places)
{
    const uint64_t *all = numbers->numbers.items;
    uint64_t least = tablet->row_first, end = least + tablet->rows;

    for (; numbers->found < numbers->numbers.count; numbers->found++) {
        uint64_t number = all[numbers->found];
        uint32_t place = (uint32_t)(number - tablet->row_first);
        if (number < least || number >= end)
            break;
        if (!vector_append(places, &place, 1))
            return false;
        least = number + 1;
    }
    return true;
}

size_t row_numbers_without(const struct row_numbers *numbers,
                           const struct table *table, size_t tablet)
{
    const uint64_t *all = numbers->numbers.items;
    size_t low = tablet, high = table->tablet_count;

    assert(tablet <= table->tablet_count);
    if (numbers->found == numbers->numbers.count)
        return high - tablet;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tablet_ref *ref = &table->tablets[middle];
        if (ref->row_first + ref->rows <= all[numbers->found])
            low = middle + 1;
        else
            high = middle;
    }
    return low - tablet;
}

size_t row_numbers_place(const struct row_numbers *numbers, uint64_t number,
                         bool *found)
{
    size_t place = vector_count_below(&numbers->numbers, number);

    *found = place < numbers->numbers.count
             && VECTOR_ITEMS(&numbers->numbers, uint64_t)[place] == number;
    return place;
}
