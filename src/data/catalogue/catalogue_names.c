/* SPDX-License-Identifier: MIT */
/*
 * What a catalogue holds besides tables: views and indexes, found by their
 * names; and the columns of a table that are unique together.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"

const struct view *catalogue_view(const struct catalogue *catalogue,
                                  const char *name)
{
    for (size_t i = catalogue->view_count; i-- > 0;)
        if (name_equal(catalogue->views[i].name, name))
            return &catalogue->views[i];
    return NULL;
}

const struct index *catalogue_index(const struct catalogue *catalogue,
                                    const char *name)
{
    for (size_t i = catalogue->index_count; i-- > 0;)
        if (name_equal(catalogue->indexes[i].name, name))
            return &catalogue->indexes[i];
    return NULL;
}

const struct index *catalogue_index_of(const struct catalogue *catalogue,
                                       uint64_t origin)
{
    for (size_t i = 0; i < catalogue->index_count; i++)
        if (catalogue->indexes[i].keys != NULL
            && catalogue->indexes[i].keys->origin == origin)
            return &catalogue->indexes[i];
    return NULL;
}

/* ------------------------------------------------------------------ names -- */

struct catalogue_names *names_create(void)
{
    struct catalogue_names *names = memory_zeroed(1, sizeof *names);

    if (names != NULL)
        names->holders = 1;
    return names;
}

struct catalogue_names *names_hold(struct catalogue_names *names)
{
    assert(names->holders > 0);
    names->holders++;
    return names;
}

void names_release(struct catalogue_names *names)
{
    if (names == NULL)
        return;
    assert(names->holders > 0);
    if (--names->holders > 0)
        return;
    arena_finish(&names->arena);
    memory_release(names);
}

/* ---------------------------------------------------------------- indexes -- */

const struct column *index_columns(const struct index *index,
                                   const struct table *table)
{
    return index->keys != NULL ? index->keys->columns : table->columns;
}

bool index_reads(const struct index *index, const bool *columns)
{
    const struct index_keys *keys = index->keys;
    unsigned count = keys != NULL ? keys->read_count : index->column_count;
    bool reads = false;

    for (unsigned i = 0; i < count; i++)
        reads |= columns[keys != NULL ? keys->reads[i] : index->columns[i]];
    return reads;
}

bool index_is_partial(const struct index *index)
{
    return index != NULL && index->keys != NULL
           && index->keys->where_sql != NULL;
}

struct identity index_identity(const struct index *index,
                               struct identity tablet)
{
    if (index != NULL && index->keys != NULL)
        tablet.origin ^= index->keys->origin;
    return tablet;
}

/* ---------------------------------------------------------------- copies -- */

/* Copies column numbers; none is no failure. */
static unsigned *copy_numbers(struct arena *arena, const unsigned *numbers,
                              unsigned count)
{
    unsigned *copy = arena_alloc(arena, count * sizeof *copy);

    if (copy != NULL && count > 0)
        memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

bool copy_uniques(struct arena *arena, const struct unique *uniques,
                  unsigned count, struct table *to)
{
    struct unique *copies = arena_alloc(arena, count * sizeof *copies);

    if (copies == NULL)
        return false;
    for (unsigned i = 0; i < count; i++) {
        copies[i].column_count = uniques[i].column_count;
        copies[i].columns =
            copy_numbers(arena, uniques[i].columns, uniques[i].column_count);
        if (copies[i].columns == NULL)
            return false;
    }
    to->uniques = copies;
    to->unique_count = count;
    return true;
}

bool catalogue_add_view(struct catalogue *catalogue, const struct view *view)
{
    assert(view->name != NULL && view->sql != NULL);
    struct view *place = &catalogue->views[catalogue->view_count];
    struct arena *arena = &catalogue->names->arena;

    place->name = arena_copy(arena, view->name, strlen(view->name));
    place->sql = arena_copy(arena, view->sql, strlen(view->sql));
    place->temporary = view->temporary;
    if (place->name == NULL || place->sql == NULL)
        return false;
    catalogue->view_count++;
    return true;
}

/* False: no memory. */
static bool copy_collations(struct arena *arena, const struct index *from,
                            struct index *to)
{
    size_t size = from->column_count * sizeof *to->collations;

    if (from->collations == NULL)
        return true;
    to->collations = arena_alloc(arena, size);
    if (to->collations != NULL)
        memcpy(to->collations, from->collations, size);
    return to->collations != NULL;
}

/* Copies what keys are; their DEFAULTs are of no use. */
static struct column *
copy_key_columns(struct arena *arena, const struct column *from, unsigned count)
{
    struct column *columns = arena_alloc(arena, count * sizeof *columns);

    for (unsigned i = 0; columns != NULL && i < count; i++) {
        columns[i] = from[i];
        columns[i].name = arena_copy(arena, from[i].name, strlen(from[i].name));
        if (columns[i].name == NULL)
            return NULL;
    }
    return columns;
}

/* False: no memory. */
static bool copy_keys(struct arena *arena, const struct index *from,
                      struct index *to)
{
    const struct index_keys *keys = from->keys;
    struct index_keys *copy = arena_alloc(arena, sizeof *copy);

    if (keys == NULL || copy == NULL)
        return keys == NULL;
    *copy = *keys;
    copy->columns = copy_key_columns(arena, keys->columns, from->column_count);
    copy->reads = copy_numbers(arena, keys->reads, keys->read_count);
    if (keys->where_sql != NULL)
        copy->where_sql =
            arena_copy(arena, keys->where_sql, strlen(keys->where_sql));
    to->keys = copy;
    return copy->columns != NULL && copy->reads != NULL
           && (keys->where_sql == NULL || copy->where_sql != NULL);
}

bool catalogue_add_index(struct catalogue *catalogue, const struct index *index)
{
    assert(index->column_count > 0);
    struct index *place = &catalogue->indexes[catalogue->index_count];
    struct arena *arena = &catalogue->names->arena;

    *place = *index;
    place->name = arena_copy(arena, index->name, strlen(index->name));
    place->columns = copy_numbers(arena, index->columns, index->column_count);
    if (place->name == NULL || place->columns == NULL
        || !copy_collations(arena, index, place)
        || !copy_keys(arena, index, place))
        return false;
    catalogue->index_count++;
    return true;
}

/* Puts the views and indexes that another one has at their places. */
static void share_names(struct catalogue *copy, const struct catalogue *from)
{
    if (from->view_count > 0)
        memcpy(copy->views, from->views,
               from->view_count * sizeof *copy->views);
    if (from->index_count > 0)
        memcpy(copy->indexes, from->indexes,
               from->index_count * sizeof *copy->indexes);
    copy->view_count = from->view_count;
    copy->index_count = from->index_count;
}

bool catalogue_copy_names(struct catalogue *copy, const struct catalogue *from,
                          size_t room)
{
    copy->views = arena_alloc(&copy->arena,
                              (from->view_count + room) * sizeof *copy->views);
    copy->indexes = arena_alloc(&copy->arena, (from->index_count + room)
                                                  * sizeof *copy->indexes);
    if (copy->views == NULL || copy->indexes == NULL)
        return false;
    if (copy->names == from->names) {
        share_names(copy, from);
        return true;
    }
    for (size_t i = 0; i < from->view_count; i++)
        if (!catalogue_add_view(copy, &from->views[i]))
            return false;
    for (size_t i = 0; i < from->index_count; i++)
        if (!catalogue_add_index(copy, &from->indexes[i]))
            return false;
    return true;
}

/* ---------------------------------------------------------------- remove -- */

void catalogue_remove_view(struct catalogue *catalogue, const char *name)
{
    struct view *place = (struct view *)catalogue_view(catalogue, name);
    size_t after;

    assert(place != NULL);
    after = catalogue->view_count - 1 - (size_t)(place - catalogue->views);
    memmove(place, place + 1, after * sizeof *place);
    catalogue->view_count--;
}

void catalogue_remove_index(struct catalogue *catalogue, const char *name)
{
    struct index *place = (struct index *)catalogue_index(catalogue, name);
    size_t after;

    assert(place != NULL);
    after = catalogue->index_count - 1 - (size_t)(place - catalogue->indexes);
    memmove(place, place + 1, after * sizeof *place);
    catalogue->index_count--;
}
