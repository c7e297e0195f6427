/* SPDX-License-Identifier: MIT */
#include "plan/leaf/listing.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "plan/make/basis.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"

/* A value of a row. */
struct cell {
    bool null;
    int64_t number;
    struct vdbq_text text;
};

/* ---------------------------------------------------------------- values -- */

void listing_starve(struct listing *listing)
{
    error_no_memory(listing->binder->error);
    listing->failed = true;
}

static unsigned width_of(const struct listing *listing)
{
    return (unsigned)strlen(listing->of->types);
}

static void add(struct listing *listing, const struct cell *cell)
{
    bool begins = listing->cells.count % width_of(listing) == 0;

    if ((begins && !vector_append(&listing->subjects, &listing->subject, 1))
        || !vector_append(&listing->cells, cell, 1))
        listing_starve(listing);
}

void listing_number(struct listing *listing, int64_t number)
{
    add(listing, &(struct cell){ .number = number });
}

void listing_text(struct listing *listing, const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    const char *copy =
        text != NULL ? arena_copy(listing->binder->arena, text, length) : NULL;

    if (text != NULL && copy == NULL)
        listing_starve(listing);
    add(listing,
        &(struct cell){ .null = copy == NULL, .text = { copy, length } });
}

void listing_type(struct listing *listing, const struct ast_type *type)
{
    char room[64];

    snprintf(room, sizeof room, "%s", type_name(type->type));
    if (type->type == VDBQ_DECIMAL)
        snprintf(room, sizeof room, "DECIMAL(%u,%u)", type->precision,
                 type->scale);
    listing_text(listing, room);
}

bool listing_begin(struct listing *listing, const char *name)
{
    if (listing->failed
        || (listing->asked != NULL && !name_equal(name, listing->asked)))
        return false;
    listing->first = listing->subjects.count;
    listing->subject = arena_copy(listing->binder->arena, name, strlen(name));
    if (listing->subject == NULL)
        listing_starve(listing);
    return !listing->failed;
}

bool listing_hides(const struct listing *listing, const char *name,
                   bool temporary)
{
    return listing->of->asks && !temporary
           && name_equal(catalogue_schema(listing->catalogue, name),
                         SCHEMA_TEMPORARY);
}

size_t listing_count(const struct listing *listing)
{
    return listing->subjects.count - listing->first;
}

const struct node *listing_columns(struct listing *listing,
                                   const struct view *view)
{
    struct error *error = listing->binder->error;
    const struct node *node = listing->view(listing->binder, view);

    listing->failed |=
        error->status == VDBQ_NO_MEMORY
        || (node == NULL && listing->of->asks && listing->asked != NULL);
    if (node == NULL && !listing->failed)
        error_clear(error);
    return node;
}

/* ------------------------------------------------------------------ rows -- */

/* Where the texts of a column are, or its numbers. */
static void *values_of(const struct vdbq_vector *vector)
{
    return (void *)(uintptr_t)vector->values;
}

static void fill_column(const struct listing *listing, unsigned column,
                        struct vdbq_vector *vector)
{
    uint8_t *nulls = (uint8_t *)(uintptr_t)vector->nulls;
    unsigned width = width_of(listing);

    for (size_t i = 0; i < listing->subjects.count; i++) {
        const struct cell *cell =
            vector_at(&listing->cells, i * width + column);
        nulls[i] = cell->null;
        if (vector->type == VDBQ_TEXT)
            ((struct vdbq_text *)values_of(vector))[i] = cell->text;
        else
            ((int64_t *)values_of(vector))[i] = cell->number;
    }
}

static void fill_subjects(const struct listing *listing,
                          struct vdbq_vector *vector)
{
    struct vdbq_text *texts = values_of(vector);

    for (size_t i = 0; i < listing->subjects.count; i++) {
        const char *subject = VECTOR_ITEMS(&listing->subjects, char *)[i];
        texts[i] = (struct vdbq_text){ subject, strlen(subject) };
    }
}

static void fill(const struct listing *listing,
                 const struct node_column *columns, unsigned count,
                 struct vdbq_vector *vectors, bool *done)
{
    unsigned width = width_of(listing);

    for (unsigned i = 0; i < count && *done; i++) {
        *done = constants_room(listing->binder->arena, columns[i].type,
                               listing->subjects.count, &vectors[i]);
        if (*done && i < width)
            fill_column(listing, i, &vectors[i]);
        else if (*done)
            fill_subjects(listing, &vectors[i]);
    }
}

/* All that was listed as constants. */
static struct node *rows_of(const struct listing *listing)
{
    const struct listed *of = listing->of;
    struct node_column columns[LISTED_COLUMNS_MAX + 1] = { 0 };
    unsigned width = width_of(listing),
             count = width + (of->asks && listing->asked == NULL);
    struct vdbq_vector *vectors =
        arena_alloc(listing->binder->arena, count * sizeof *vectors);
    bool done = vectors != NULL;

    assert(listing->cells.count == listing->subjects.count * width);
    for (unsigned i = 0; i < count; i++) {
        columns[i].name = i < width ? of->columns[i] : "arg";
        columns[i].type =
            i < width && of->types[i] == 'i' ? VDBQ_BIGINT : VDBQ_TEXT;
    }
    fill(listing, columns, count, vectors, &done);
    if (!done)
        return error_no_memory(listing->binder->error), NULL;
    return node_values(listing->binder, columns, count, vectors,
                       listing->subjects.count);
}

/* Tables that stand for files are behind all others. */
static size_t count_tables(const struct catalogue *catalogue)
{
    size_t count = catalogue->table_count;

    while (count > 0
           && (catalogue->tables[count - 1].id & CATALOGUE_FILES) != 0)
        count--;
    return count;
}

struct node *listing_node(struct binder *binder, const struct listed *of,
                          const char *asked, listing_view view)
{
    struct listing listing = { .binder = binder,
                               .catalogue = binder->catalogue,
                               .table_count = count_tables(binder->catalogue),
                               .of = of,
                               .asked = asked,
                               .view = view,
                               .cells = VECTOR_IN(binder->arena, struct cell),
                               .subjects =
                                   VECTOR_IN(binder->arena, const char *) };

    basis_never(binder);
    if (!binder->columns_only)
        of->list(&listing);
    return listing.failed ? NULL : rows_of(&listing);
}
