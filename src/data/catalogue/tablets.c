/* SPDX-License-Identifier: MIT */
/*
 * The tablets of a table, which the copies of a catalogue share: a transaction
 * makes a catalogue for each statement, and changes the tablets of one table.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"
#include "data/catalogue/facts.h"

/* How many times facts of so many tablets are put together. */
static size_t count_together(size_t tablets)
{
    return (tablets + TABLETS_TOGETHER - 1) / TABLETS_TOGETHER;
}

/* The facts of the first tablet. */
static struct column_facts *facts_behind(struct tablets *tablets)
{
    return (struct column_facts *)(void *)&tablets->refs[tablets->count];
}

struct tablets *tablets_create(unsigned columns, size_t count)
{
    size_t facts_bytes = columns * sizeof(struct column_facts);
    size_t each = sizeof(struct tablet_ref) + 2 * facts_bytes; /* or less */
    struct tablets *tablets =
        count <= (SIZE_MAX - sizeof *tablets) / each ? memory_resize(
            NULL, sizeof *tablets + count * sizeof *tablets->refs
                      + (count + count_together(count)) * facts_bytes)
                                                     : NULL;
    struct column_facts *facts;

    if (tablets == NULL)
        return NULL;
    *tablets =
        (struct tablets){ .holders = 1, .columns = columns, .count = count };
    memset(tablets->refs, 0, count * sizeof *tablets->refs);
    facts = facts_behind(tablets);
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
    if (tablet->edit != NULL)
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
    tablets_join(own, table->held);
    table_take_tablets(table, own);
    return true;
}

/* ----------------------------------------------------------------- facts -- */

/* Where the facts are put together of the tablets that begin at one. */
static struct column_facts *together_at(struct tablets *tablets, size_t tablet)
{
    size_t at = tablets->count + tablet / TABLETS_TOGETHER;

    return facts_behind(tablets) + at * tablets->columns;
}

/* Whether the tablets [first, end) are the same in both, so that their facts are. */
static bool same_tablets(const struct tablets *a, const struct tablets *b,
                         size_t first, size_t end)
{
    bool same = end <= a->count && end <= b->count;

    for (size_t i = first; i < end && same; i++)
        same = identity_equal(a->refs[i].identity, b->refs[i].identity);
    return same;
}

static void join(struct tablets *tablets, size_t first, size_t end)
{
    struct column_facts *to = together_at(tablets, first);
    const unsigned columns = tablets->columns;

    memcpy(to, tablets->refs[first].facts, columns * sizeof *to);
    for (size_t i = first + 1; i < end; i++)
        for (unsigned k = 0; k < columns; k++)
            facts_join(&to[k], &tablets->refs[i].facts[k]);
}

void tablets_join(struct tablets *tablets, const struct tablets *before)
{
    const unsigned columns = tablets->columns;
    bool known = before != NULL && before->together != NULL
                 && before->columns == columns;

    for (size_t i = 0; i < tablets->count; i += TABLETS_TOGETHER) {
        size_t left = tablets->count - i;
        if (known && same_tablets(tablets, before, i, i + TABLETS_TOGETHER))
            memcpy(together_at(tablets, i),
                   before->together + i / TABLETS_TOGETHER * columns,
                   columns * sizeof *before->together);
        else
            join(tablets, i,
                 i + (left < TABLETS_TOGETHER ? left : TABLETS_TOGETHER));
    }
    tablets->together = together_at(tablets, 0);
}

const struct column_facts *table_facts_together(const struct table *table,
                                                size_t tablet)
{
    const struct tablets *held = table->held;

    assert(tablet < table->tablet_count && tablet % TABLETS_TOGETHER == 0);
    return held != NULL && held->together != NULL
                   && held->count == table->tablet_count
               ? held->together + tablet / TABLETS_TOGETHER * held->columns
               : NULL;
}

struct column_facts table_facts(const struct table *table, unsigned column)
{
    struct column_facts all = { .empty = true };
    size_t step;

    assert(column < table->column_count);
    if (table->bounds != NULL)
        return table->bounds[column];
    for (size_t i = 0; i < table->tablet_count; i += step) {
        const struct column_facts *facts = NULL;
        if (i % TABLETS_TOGETHER == 0)
            facts = table_facts_together(table, i);
        step = facts != NULL ? TABLETS_TOGETHER : 1;
        facts = facts != NULL ? facts : table->tablets[i].facts;
        facts_join(&all, &facts[column]);
    }
    return all;
}

bool table_facts_exact(const struct table *table, unsigned column)
{
    assert(column < table->column_count);
    bool exact = table->bounds == NULL;

    for (size_t i = 0; i < table->tablet_count && exact; i++) {
        const struct edit *edit = table->tablets[i].edit;
        exact = edit == NULL
                || (edit->status == VDBQ_OK && edit->gone_count == 0
                    && edit_column(edit, column) == NULL);
    }
    return exact;
}

/* ---------------------------------------------------------------- tablets -- */

bool table_has_edits(const struct table *table)
{
    bool any = false;

    for (size_t i = 0; i < table->tablet_count && !any; i++)
        any = table->tablets[i].edit != NULL;
    return any;
}

struct tablet_ref tablet_base(const struct tablet_ref *tablet)
{
    struct tablet_ref base = *tablet;

    if (tablet->edit == NULL)
        return base;
    base.identity = tablet->edit->base;
    base.rows = tablet->edit->rows;
    base.facts = NULL;
    base.edit = NULL;
    return base;
}

struct identity tablet_written(const struct tablet_ref *tablet)
{
    return tablet->edit != NULL ? tablet->edit->base : tablet->identity;
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
