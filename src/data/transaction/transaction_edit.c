/* SPDX-License-Identifier: MIT */
/*
 * Edits of a transaction: made in memory, merged with what there was, and
 * written by the commit (data/database/edits.h). What is known of the values is
 * from then on what they may be, not what they are.
 */
#include "data/transaction/transaction_edit.h"

#include <string.h>

#include "base/hostile.h"
#include "data/catalogue/facts.h"
#include "data/tablet/tablet_inner.h"

enum {
    EDIT_ROWS = HOSTILE(2, 1 << 12), /* of a tablet less than half full; one
                                        with fewer has few new values       */
    EDIT_FEW = HOSTILE(2, 64),       /* values of an edit of a small tablet:
                                     twenty times the work of one is less
                                     than to write the tablet               */
    EDIT_SMALL = HOSTILE(2, 32),     /* rows for one value of an edit, at least:
                                     each commit writes all of it           */
    EDIT_PAGES = HOSTILE(2, 512), /* ... unless there are so few that it takes
                                     a page or two                       */
    EDIT_LARGE = HOSTILE(2, 8),   /* ... where the change itself is large:
                                     who reads puts each in its place       */
    EDIT_GONE = 4,                /* rows that are gone for one value: they
                                     take as many bytes                     */
    EDIT_GROWTH = 4,              /* a large change is more than that part
                                     of what there is                       */
    EDIT_BYTES = 16,              /* of a value; those of texts are counted */
    EDIT_LEAST = HOSTILE(2, 8),   /* rows of a tablet that is made of the old
                                     one                                    */
    TABLET_LEAST = 4,             /* a tablet with less than that part of its
                                     rows joins its neighbours              */
    EDIT_TABLE_ROWS = 1 << 25,    /* more have small edits alone: all edits
                                     are in memory                          */
    TEXTS_MOST = 256 << 20        /* bytes of a column's texts in a tablet
                                     that is made of another one: more may be
                                     more than one has room for             */
};

/* How many values of an edit rows that are gone and new values are worth. */
static uint64_t worth(uint64_t gone, uint64_t values)
{
    return (gone + EDIT_GONE - 1) / EDIT_GONE + values;
}

/* Bytes of the new texts of a column. */
static uint64_t text_bytes(const struct edit_change *change, unsigned number)
{
    const struct vdbq_vector vector =
        vector_behind(&change->vectors[number], change->first);
    const struct vdbq_text *texts = vector.values;
    uint64_t bytes = 0;

    for (uint32_t k = 0; vector.type == VDBQ_TEXT && k < change->count; k++)
        bytes += vector_null(&vector, k) ? 0 : texts[k].length;
    return bytes;
}

/* ... those of texts by their bytes. */
static uint64_t worth_of(const struct edit_change *change)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < change->column_count; i++)
        bytes += text_bytes(change, i);
    return worth(change->column_count == 0 ? change->count : 0,
                 (uint64_t)change->column_count * change->count)
           + bytes / EDIT_BYTES;
}

static bool changes_texts(const struct table *table,
                          const struct edit_change *change)
{
    bool texts = false;

    for (unsigned i = 0; i < change->column_count; i++)
        texts |= table->columns[change->columns[i]].type == VDBQ_TEXT;
    return texts;
}

/* Whether an edit of so many values is better than a new tablet that is small: rows
 * stay, and words, which an edit does not count. */
static bool pays_for_few(const struct table *table,
                         const struct edit_change *change, uint64_t values)
{
    return values <= EDIT_FEW && change->column_count > 0
           && !changes_texts(table, change);
}

/* Whether an edit is better than a new tablet. */
static bool pays(const struct database *database, const struct table *table,
                 const struct tablet_ref *tablet,
                 const struct edit_change *change)
{
    const struct edit *edit = tablet->edit;
    uint32_t half = database_tablet_rows(database) / 2;
    uint32_t least = half < EDIT_ROWS ? half : EDIT_ROWS;
    uint64_t rows = edit != NULL ? edit->rows : tablet->rows;
    uint64_t gone = edit != NULL ? edit->gone_count : 0;
    uint64_t before = edit != NULL ? worth(gone, edit_size(edit) - gone) : 0;
    uint64_t more = worth_of(change);
    bool large = more * EDIT_GROWTH > before && table->rows <= EDIT_TABLE_ROWS;

    if (rows < least)
        return pays_for_few(table, change, before + more);
    large |= before + more <= EDIT_PAGES;
    return change->count < tablet->rows
           && (before + more) * (large ? EDIT_LARGE : EDIT_SMALL) <= rows;
}

/* Whether a new tablet is better made of the old one than of its rows: most of it
 * stays as it is stored, and it is not that small that neighbours are to join it. */
static bool makes_anew(const struct database *database,
                       const struct table *table,
                       const struct tablet_ref *tablet,
                       const struct edit_change *change)
{
    uint64_t gone = change->column_count == 0 ? change->count : 0;

    return gone < tablet->rows && tablet->rows >= EDIT_LEAST
           && (table->tablet_count == 1
               || (tablet->rows - gone) * TABLET_LEAST
                      >= database_tablet_rows(database));
}

static enum edit_way way_of(const struct database *database,
                            const struct table *table,
                            const struct tablet_ref *tablet,
                            const struct edit_change *change)
{
    if (pays(database, table, tablet, change))
        return EDIT_BESIDE;
    return makes_anew(database, table, tablet, change) ? EDIT_INTO : EDIT_NOT;
}

/* Whether a tablet has room for the new texts of its columns beside those that it
 * has. */
static enum vdbq_status has_room(const struct transaction *transaction,
                                 const struct table *table,
                                 const struct tablet_ref *tablet,
                                 const struct edit_change *change, bool *has,
                                 struct error *error)
{
    const struct tablet_ref base = tablet_base(tablet);
    enum vdbq_status status = VDBQ_OK;

    *has = true;
    for (unsigned i = 0; i < change->column_count && status == VDBQ_OK; i++) {
        uint64_t bytes, more = text_bytes(change, i);
        if (table->columns[change->columns[i]].type != VDBQ_TEXT)
            continue;
        status = tablet_words_told(transaction->writer.database, table, &base,
                                   change->columns[i], &bytes, error);
        *has = *has && bytes < TEXTS_MOST && more < TEXTS_MOST - bytes;
    }
    return status;
}

/* Facts of the new values of a column. */
static struct column_facts facts_of(const struct edit_change *change,
                                    unsigned number)
{
    struct vdbq_vector vector =
        vector_behind(&change->vectors[number], change->first);
    struct column_facts facts = { .empty = true };

    if (vector.type != VDBQ_TEXT) {
        vector = stored_vector(&vector);
        vector_facts(&vector, change->count, &facts);
        return facts;
    }
    for (uint32_t i = 0; i < change->count; i++)
        facts.null_count += vector.nulls != NULL && vector.nulls[i] != 0;
    facts.empty = facts.null_count == change->count;
    return facts;
}

/* Bounds of a column's values among so many rows, of those before and of new
 * ones. False: a catalogue could not tell them from those of a column without
 * values. */
static bool bound(struct column_facts *facts, enum vdbq_type type,
                  const struct column_facts *more, uint32_t rows)
{
    if (more != NULL)
        facts_join(facts, more);
    if (type == VDBQ_TEXT)
        facts->minimum = facts->maximum = 0; /* nobody counts the words */
    if (facts->empty)
        facts->null_count = rows;
    return facts->empty || facts->null_count < rows;
}

static bool bound_all(const struct table *table,
                      const struct tablet_ref *tablet,
                      const struct edit_change *change,
                      struct tablet_ref *edited)
{
    bool told = true;

    memcpy(edited->facts, tablet->facts,
           table->column_count * sizeof *edited->facts);
    for (unsigned i = 0; i < change->column_count; i++) {
        struct column_facts more = facts_of(change, i);
        unsigned column = change->columns[i];
        told = bound(&edited->facts[column], table->columns[column].type, &more,
                     edited->rows)
               && told;
    }
    for (unsigned i = 0; change->column_count == 0 && i < table->column_count;
         i++)
        told =
            bound(&edited->facts[i], table->columns[i].type, NULL, edited->rows)
            && told;
    return told;
}

/* The edit that the tablet has from now on. NULL: no memory. */
static struct edit *make(const struct tablet_ref *tablet,
                         const struct edit_change *change)
{
    struct edit *before = tablet->edit != NULL
                              ? edit_hold(tablet->edit)
                              : edit_create(tablet->identity, tablet->rows);
    uint32_t *places = memory_zeroed(change->count, sizeof *places);
    struct edit_change placed = *change;
    struct edit *edit = NULL;

    for (uint32_t i = 0; before != NULL && places != NULL && i < change->count;
         i++)
        places[i] = edit_place(before, change->places[i]);
    placed.places = places;
    if (before != NULL && places != NULL)
        edit = edit_next(before, &placed);
    memory_release(places);
    edit_release(before);
    return edit;
}

enum vdbq_status transaction_edit(struct transaction *transaction,
                                  const struct table *table,
                                  const struct tablet_ref *tablet,
                                  const struct edit_change *change,
                                  struct arena *arena,
                                  struct tablet_ref *edited, enum edit_way *way,
                                  struct error *error)
{
    enum vdbq_status status = edit_check(tablet->edit, error);
    enum edit_way wanted;
    bool room = true;

    *way = EDIT_NOT;
    if (status != VDBQ_OK)
        return status;
    wanted = way_of(transaction->writer.database, table, tablet, change);
    if (wanted == EDIT_INTO)
        status = has_room(transaction, table, tablet, change, &room, error);
    if (wanted == EDIT_NOT || !room || status != VDBQ_OK)
        return status;
    *edited = *tablet;
    edited->edit = NULL;
    if (change->column_count == 0)
        edited->rows -= change->count;
    edited->facts =
        arena_alloc(arena, table->column_count * sizeof *edited->facts);
    if (edited->facts == NULL)
        return error_no_memory(error);
    if (!bound_all(table, tablet, change, edited))
        return VDBQ_OK;
    edited->edit = make(tablet, change);
    if (edited->edit == NULL)
        return error_no_memory(error);
    edited->identity = identity_give(&transaction->writer.identities);
    edited->edit->name = edited->identity;
    *way = wanted;
    return VDBQ_OK;
}
