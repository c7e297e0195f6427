/* SPDX-License-Identifier: MIT */
/*
 * Tables of words: see dictionary_table.h. Where one lies in a file, rows are taken
 * by the part of it that their word is in, which leaves when all of these were: else
 * rows in any order would have all of it in memory at once.
 */
#include "exec/dictionary/dictionary_table.h"

#include <assert.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/stop.h"
#include "data/tablet/dictionary.h"

enum {
    PART_BITS = HOSTILE(1, 16),   /* of the words of a part of the table */
    ROWS_LEAST = HOSTILE(1, 1024) /* with fewer, most parts have none    */
};

/* Rows in the order of the parts: those of part p, of `parts` and one more for
 * words that the table does not have, are [starts[p], starts[p + 1]). */
struct parted {
    const struct dictionary_table *table;
    const uint32_t *words; /* of the rows */
    uint64_t parts;
    uint32_t *starts;
    uint32_t *rows;
};

static uint64_t part_of(const struct parted *parted, uint32_t word)
{
    return word < parted->table->count ? word >> PART_BITS : parted->parts;
}

/* False: no memory. */
static bool make_room(struct parted *parted, uint64_t rows)
{
    assert(rows <= UINT32_MAX);
    parted->parts = ((uint64_t)parted->table->count >> PART_BITS) + 1;
    parted->starts = memory_zeroed(parted->parts + 2, sizeof *parted->starts);
    parted->rows = memory_resize(NULL, (rows + 1) * sizeof *parted->rows);
    return parted->starts != NULL && parted->rows != NULL;
}

static void finish(struct parted *parted)
{
    memory_release(parted->starts);
    memory_release(parted->rows);
}

/* A counting sort: a part's start moves to its end, where that of the next is. */
static void sort_rows(struct parted *parted, uint64_t rows)
{
    uint32_t before = 0;
    for (uint64_t i = 0; i < rows; i++)
        parted->starts[part_of(parted, parted->words[i])]++;
    for (uint64_t p = 0; p <= parted->parts; p++) {
        uint32_t count = parted->starts[p];
        parted->starts[p] = before;
        before += count;
    }
    for (uint64_t i = 0; i < rows; i++)
        parted->rows[parted->starts[part_of(parted, parted->words[i])]++] =
            (uint32_t)i;
    for (uint64_t p = parted->parts + 1; p > 0; p--)
        parted->starts[p] = parted->starts[p - 1];
    parted->starts[0] = 0;
    assert(parted->starts[parted->parts + 1] == rows);
}

static uint32_t follow(const struct dictionary_table *table, uint32_t word)
{
    return word < table->count ? table->numbers[word] : DICTIONARY_NONE;
}

/* The rows of a part, which is of no more use then. */
static void follow_part(const struct parted *parted, uint64_t part,
                        uint32_t *numbers)
{
    const struct dictionary_table *table = parted->table;
    uint64_t first = part << PART_BITS, words = UINT64_C(1) << PART_BITS;
    uint32_t from = parted->starts[part], end = parted->starts[part + 1];
    for (uint32_t i = from; i < end; i++) {
        uint32_t row = parted->rows[i];
        numbers[row] = follow(table, parted->words[row]);
    }
    if (first >= table->count || from == end)
        return;
    words = words < table->count - first ? words : table->count - first;
    paged_leave(table->numbers, table->numbers + first,
                words * sizeof *table->numbers);
}

/* Follows rows part by part; false: there is no memory for that. */
static bool follow_parts(const struct dictionary_table *table,
                         const uint32_t *words, uint64_t rows,
                         uint32_t *numbers)
{
    struct parted parted = { .table = table, .words = words };
    bool made = make_room(&parted, rows);
    if (made)
        sort_rows(&parted, rows);
    for (uint64_t p = 0; made && p <= parted.parts && !stop_asked(); p++)
        follow_part(&parted, p, numbers);
    finish(&parted);
    return made;
}

bool dictionary_table_parts(const struct dictionary_table *table)
{
    return table->count > 0 && paged_lies_in_file(table->numbers);
}

void dictionary_follow(const struct dictionary_table *table,
                       const uint32_t *words, uint64_t rows, uint32_t *numbers)
{
    if (rows >= ROWS_LEAST && dictionary_table_parts(table)
        && follow_parts(table, words, rows, numbers))
        return;
    for (uint64_t i = 0; i < rows && !stop_at(i); i++)
        numbers[i] = follow(table, words[i]);
}
