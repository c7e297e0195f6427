/* SPDX-License-Identifier: MIT */
/*
 * Several databases as one catalogue: that of the file, of the connection's temporary
 * tables and of files in FROM; and names in one of them, or in whichever has them.
 * Which database a table is of is told by its id, and of an index by its table's.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"

/* ------------------------------------------------------------------ joining -- */

/* Room for all that these have. */
static size_t room_for(const struct catalogue *temporary,
                       const struct catalogue *files)
{
    size_t room = files != NULL ? files->table_count : 0;

    return temporary == NULL
               ? room
               : room + temporary->table_count + temporary->view_count
                     + temporary->index_count;
}

/* Adds the runs of another one. False: no memory. */
static bool add_runs(struct catalogue *both, const struct catalogue *from)
{
    struct run_ref *runs;
    size_t before = both->run_count;

    if (from->run_count == 0)
        return true;
    if (before == 0) {
        catalogue_share_runs(both, from);
        return true;
    }
    runs = arena_alloc(&both->arena, before * sizeof *runs);
    if (runs == NULL)
        return false;
    memcpy(runs, both->runs, before * sizeof *runs);
    if (!catalogue_new_runs(both, before + from->run_count))
        return false;
    memcpy(both->runs, runs, before * sizeof *runs);
    memcpy(both->runs + before, from->runs, from->run_count * sizeof *runs);
    both->run_count = before + from->run_count;
    catalogue_sort_runs(both);
    return true;
}

static bool add_temporary(struct catalogue *both, const struct catalogue *from)
{
    bool added = add_runs(both, from);

    for (size_t i = 0; i < from->table_count && added; i++) {
        assert(table_is_temporary(from->tables[i].id));
        added = catalogue_add_same(both, &from->tables[i]);
    }
    for (size_t i = 0; i < from->view_count && added; i++)
        added = catalogue_add_view(both, &from->views[i]);
    for (size_t i = 0; i < from->index_count && added; i++)
        added = catalogue_add_index(both, &from->indexes[i]);
    return added;
}

static bool add_files(struct catalogue *both, const struct catalogue *from)
{
    bool added = true;

    for (size_t i = 0; i < from->table_count && added; i++) {
        added = catalogue_add_same(both, &from->tables[i]);
        if (added)
            both->tables[both->table_count - 1].id |= CATALOGUE_FILES;
    }
    return added;
}

struct catalogue *catalogue_join(const struct catalogue *catalogue,
                                 const struct catalogue *temporary,
                                 const struct catalogue *files)
{
    struct catalogue *both =
        catalogue_copy(catalogue, room_for(temporary, files));

    if (both != NULL && (temporary == NULL || add_temporary(both, temporary))
        && (files == NULL || add_files(both, files)))
        return both;
    catalogue_release(both);
    return NULL;
}

/* ------------------------------------------------------------------ schemas -- */

bool table_is_temporary(uint32_t table_id)
{
    return table_id > CATALOGUE_TEMPORARY && table_id < CATALOGUE_COPY;
}

static bool is_temporary(const char *schema)
{
    return name_equal(schema, SCHEMA_TEMPORARY);
}

const struct table *catalogue_file(const struct catalogue *catalogue,
                                   const char *name)
{
    for (size_t i = catalogue->table_count; i-- > 0;)
        if (catalogue->tables[i].id >= CATALOGUE_FILES
            && strcmp(catalogue->tables[i].name, name) == 0)
            return &catalogue->tables[i];
    return NULL;
}

static const struct table *table_in(const struct catalogue *catalogue,
                                    bool temporary, const char *name)
{
    for (size_t i = catalogue->table_count; i-- > 0;) {
        const struct table *table = &catalogue->tables[i];
        if (table->id < CATALOGUE_FILES
            && table_is_temporary(table->id) == temporary
            && name_equal(table->name, name))
            return table;
    }
    return NULL;
}

static const struct view *view_in(const struct catalogue *catalogue,
                                  bool temporary, const char *name)
{
    for (size_t i = catalogue->view_count; i-- > 0;)
        if (catalogue->views[i].temporary == temporary
            && name_equal(catalogue->views[i].name, name))
            return &catalogue->views[i];
    return NULL;
}

const char *catalogue_schema(const struct catalogue *catalogue,
                             const char *name)
{
    return table_in(catalogue, true, name) != NULL
                   || view_in(catalogue, true, name) != NULL
               ? SCHEMA_TEMPORARY
               : SCHEMA_MAIN;
}

const struct table *catalogue_table_in(const struct catalogue *catalogue,
                                       const char *schema, const char *name)
{
    if (schema == NULL)
        schema = catalogue_schema(catalogue, name);
    return table_in(catalogue, is_temporary(schema), name);
}

const struct view *catalogue_view_in(const struct catalogue *catalogue,
                                     const char *schema, const char *name)
{
    if (schema == NULL)
        schema = catalogue_schema(catalogue, name);
    return view_in(catalogue, is_temporary(schema), name);
}

const struct index *catalogue_index_in(const struct catalogue *catalogue,
                                       const char *schema, const char *name)
{
    if (schema == NULL)
        return catalogue_index(catalogue, name);
    for (size_t i = catalogue->index_count; i-- > 0;) {
        const struct index *index = &catalogue->indexes[i];
        if (table_is_temporary(index->table_id) == is_temporary(schema)
            && name_equal(index->name, name))
            return index;
    }
    return NULL;
}
