/* SPDX-License-Identifier: MIT */
/*
 * The tablets of a table, which the copies of a catalogue share: a transaction
 * makes a catalogue for each statement, and changes the tablets of one table.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"

struct tablets *tablets_create(unsigned columns, size_t count)
{
    size_t each = sizeof(struct tablet_ref)
                  + (size_t)columns * sizeof(struct column_facts);
    struct tablets *tablets =
        count <= (SIZE_MAX - sizeof *tablets) / each
            ? memory_zeroed(1, sizeof *tablets + count * each)
            : NULL;
    struct column_facts *facts;

    if (tablets == NULL)
        return NULL;
    tablets->holders = 1;
    tablets->columns = columns;
    tablets->count = count;
    facts = (struct column_facts *)(void *)&tablets->refs[count];
    for (size_t i = 0; i < count && columns > 0; i++)
        tablets->refs[i].facts = facts + i * columns;
    return tablets;
}

struct tablets *tablets_hold(struct tablets *tablets)
{
    if (tablets != NULL)
        tablets->holders++;
    return tablets;
}

void tablets_release(struct tablets *tablets)
{
    if (tablets == NULL)
        return;
    assert(tablets->holders > 0);
    if (--tablets->holders > 0)
        return;
    for (size_t i = 0; i < tablets->count; i++)
        edit_release(tablets->refs[i].edit);
    memory_release(tablets);
}

void tablets_put(struct tablets *tablets, size_t i,
                 const struct tablet_ref *tablet)
{
    assert(i < tablets->count && tablets->refs[i].edit == NULL);
    struct column_facts *facts = tablets->refs[i].facts;

    tablets->refs[i] = *tablet;
    tablets->refs[i].facts = facts;
    memcpy(facts, tablet->facts, tablets->columns * sizeof *facts);
    edit_hold(tablet->edit);
}

void table_take_tablets(struct table *table, struct tablets *tablets)
{
    tablets_release(table->held);
    table->held = tablets;
    table->tablets = tablets->refs;
    table->tablet_count = tablets->count;
}

bool table_own_tablets(struct table *table)
{
    struct tablets *own =
        tablets_create(table->column_count, table->tablet_count);

    if (own == NULL)
        return false;
    for (size_t i = 0; i < own->count; i++)
        tablets_put(own, i, &table->tablets[i]);
    table_take_tablets(table, own);
    return true;
}

/* The first tablet of which the middle is row `row` or behind it. */
static size_t tablet_from(const struct table *table, uint64_t row)
{
    size_t low = 0, high = table->tablet_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct tablet_ref *tablet = &table->tablets[middle];
        if (tablet->row_first + tablet->rows / 2 < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t table_share(const struct table *table, uint32_t share)
{
    assert(share <= TABLE_SHARE_ALL);
    return tablet_from(table, table->rows * share / TABLE_SHARE_ALL);
}
