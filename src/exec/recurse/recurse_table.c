/* SPDX-License-Identifier: MIT */
/*
 * Slots are found by the first bits of a hash, and from there on one after the other. So
 * the table grows from its beginning to its end, too.
 */
#include "exec/recurse/recurse_table.h"

#include <assert.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hostile.h"
#include "base/memory.h"
#include "base/paged.h"
#include "base/threads/stop.h"
#include "exec/rows/order.h"
#include "exec/sort/sort.h"

enum {
    BITS_FIRST = HOSTILE(2, 8),
    ROOM_FIRST = HOSTILE(1, 1 << 6),
    ROWS_TOGETHER = HOSTILE(8, 1 << 18), /* that are looked for, at most ... */
    ROWS_LEAST = HOSTILE(4, 1 << 12),    /* ... whatever memory there is */
    THINGS = 8, /* of a step, as much as which rows on their way in may take */
    LOOK_ROWS = 1 << 9, /* between two looks at the pages */
    PREFIX_BITS = 12,   /* of a hash, by which rows are ordered ... */
    PREFIXES = 1 << PREFIX_BITS,
    ORDERED_LEAST = HOSTILE(2, PREFIXES) /* ... if they are so many */
};
/* What a value is. A slot whose first byte is 0 is free. */
enum { IS_NULL = 1, IS_VALUE = 2 };

/* -------------------------------------------------------- init, finish -- */

void recurse_table_init(struct recurse_table *table,
                        const struct row_set_column *columns, unsigned count,
                        uint64_t bytes)
{
    *table =
        (struct recurse_table){ .columns = columns, .column_count = count };
    assert(count > 0);
    for (unsigned i = 0; i < count; i++)
        table->slot_bytes += 1 + columns[i].width;
    uint64_t row =
        table->slot_bytes + sizeof *table->hashes + sizeof *table->order;
    table->together = THINGS * (bytes / row);
    if (table->together < ROWS_LEAST)
        table->together = ROWS_LEAST;
    if (table->together > ROWS_TOGETHER)
        table->together = ROWS_TOGETHER;
}

void recurse_table_finish(struct recurse_table *table)
{
    paged_release(table->slots);
    memory_release(table->packed);
    memory_release(table->hashes);
    memory_release(table->order);
    memory_release(table->places);
    *table = (struct recurse_table){ 0 };
}

/* Room for rows that are looked for together; false: no memory. */
static bool make_row_room(struct recurse_table *table, uint32_t rows)
{
    uint32_t room = table->room > 0 ? table->room : ROOM_FIRST;

    if (rows <= table->room)
        return true;
    while (room < rows)
        room *= 2;
    memory_release(table->packed);
    memory_release(table->hashes);
    memory_release(table->order);
    table->packed = memory_zeroed(room, table->slot_bytes);
    table->hashes = memory_zeroed(room, sizeof *table->hashes);
    table->order = memory_zeroed(room, sizeof *table->order);
    if (table->places == NULL)
        table->places = memory_zeroed(PREFIXES + 1, sizeof *table->places);
    table->room = table->packed != NULL && table->hashes != NULL
                          && table->order != NULL && table->places != NULL
                      ? room
                      : 0;
    return table->room > 0;
}

/* --------------------------------------------------------------- slots -- */

static uint64_t hash_of(const struct recurse_table *table, const uint8_t *row)
{
    return XXH3_64bits(row, table->slot_bytes);
}

/* The slot of a row: that which has it, or a free one. */
static uint8_t *slot_of(const struct recurse_table *table, const uint8_t *row,
                        uint64_t hash)
{
    uint64_t at = hash >> (64 - table->bits);
    uint64_t mask = (UINT64_C(1) << table->bits) - 1;
    uint8_t *slot = table->slots + at * table->slot_bytes;

    while (slot[0] != 0 && memcmp(slot, row, table->slot_bytes) != 0) {
        at = (at + 1) & mask;
        slot = table->slots + at * table->slot_bytes;
    }
    return slot;
}

/* Twice as many slots. */
static bool grow(struct recurse_table *table)
{
    struct recurse_table more = *table;
    size_t width = table->slot_bytes;
    uint64_t count = table->slots != NULL ? UINT64_C(1) << table->bits : 0;
    uint64_t at = 0;

    more.bits = table->slots != NULL ? table->bits + 1 : BITS_FIRST;
    more.slots = paged_zeroed(width << more.bits);
    if (more.slots == NULL)
        return false;
    for (; at < count && !stop_at(at); at++) {
        const uint8_t *row = table->slots + at * width;
        if (row[0] != 0)
            memcpy(slot_of(&more, row, hash_of(table, row)), row, width);
    }
    paged_release(table->slots);
    *table = more;
    return at == count;
}

/* Room for so many more rows: a quarter of the slots stays free. */
static bool make_room(struct recurse_table *table, uint64_t rows)
{
    bool made = true;

    while (made
           && (table->slots == NULL
               || (table->rows + rows) * 4 > UINT64_C(3) << table->bits))
        made = grow(table);
    return made;
}

/* ---------------------------------------------------------------- rows -- */

/* Writes the values of a column's rows, from `first` on, where they are in slots. */
static void pack_column(const struct recurse_table *table,
                        const struct row_set_column *column, uint64_t first,
                        uint32_t rows, uint8_t *to)
{
    int type = sort_type(column->type);

    for (uint32_t i = 0; i < rows; i++, to += table->slot_bytes) {
        bool null = row_set_is_null(column, first + i);
        uint64_t code = null ? 0 : order_at(type, column->values, first + i);
        uint32_t narrow = (uint32_t)code;
        to[0] = null ? IS_NULL : IS_VALUE;
        if (column->width == sizeof narrow)
            memcpy(to + 1, &narrow, sizeof narrow);
        else
            memcpy(to + 1, &code, sizeof code);
    }
}

/* Packs rows, and hashes them. */
static void pack_rows(struct recurse_table *table, uint64_t first,
                      uint32_t rows)
{
    uint8_t *to = table->packed;

    for (unsigned i = 0; i < table->column_count; i++) {
        pack_column(table, &table->columns[i], first, rows, to);
        to += 1 + table->columns[i].width;
    }
    for (uint32_t i = 0; i < rows; i++)
        table->hashes[i] =
            hash_of(table, table->packed + i * table->slot_bytes);
}

/* Lists rows by the first bits of their hashes; those with the same ones stay in their
 * order, and so do all where they are few. */
static void order_rows(struct recurse_table *table, uint32_t rows)
{
    uint32_t *places = table->places;
    const unsigned shift = 64 - PREFIX_BITS;

    for (uint32_t i = 0; i < rows && rows < ORDERED_LEAST; i++)
        table->order[i] = i;
    if (rows < ORDERED_LEAST)
        return;
    memset(places, 0, (PREFIXES + 1) * sizeof *places);
    for (uint32_t i = 0; i < rows; i++)
        places[(table->hashes[i] >> shift) + 1]++;
    for (uint32_t i = 0; i < PREFIXES; i++)
        places[i + 1] += places[i];
    for (uint32_t i = 0; i < rows; i++)
        table->order[places[table->hashes[i] >> shift]++] = i;
}

/* Adds those of the packed rows that are new; false: asked to stop. Pages of the
 * table that come leave again meanwhile. */
static bool add_packed(struct recurse_table *table, uint32_t rows, bool *is_new)
{
    uint32_t i = 0;

    for (; i < rows && !stop_at(i); i++) {
        if (i % LOOK_ROWS == 0)
            paged_put_away();
        uint32_t row = table->order[i];
        const uint8_t *packed = table->packed + row * table->slot_bytes;
        uint8_t *slot = slot_of(table, packed, table->hashes[row]);
        is_new[row] = slot[0] == 0;
        if (!is_new[row])
            continue;
        memcpy(slot, packed, table->slot_bytes);
        table->rows++;
    }
    return i == rows;
}

bool recurse_table_in_file(const struct recurse_table *table)
{
    return table->slots != NULL && paged_lies_in_file(table->slots);
}

bool recurse_table_add(struct recurse_table *table, uint64_t rows, bool *is_new)
{
    bool added = true;

    for (uint64_t first = 0, some; first < rows && added; first += some) {
        some = rows - first < table->together ? rows - first : table->together;
        if (!make_row_room(table, (uint32_t)some) || !make_room(table, some))
            return false;
        pack_rows(table, first, (uint32_t)some);
        order_rows(table, (uint32_t)some);
        added = add_packed(table, (uint32_t)some, is_new + first);
        assert(table->rows < UINT64_C(1) << table->bits);
    }
    return added;
}
