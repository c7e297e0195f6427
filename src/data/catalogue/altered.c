/* SPDX-License-Identifier: MIT */
/*
 * ALTER TABLE in a catalogue: other names, or other columns. Indexes and rules have
 * columns by their numbers, which change with these.
 */
#include <assert.h>
#include <string.h>

#include "data/catalogue/catalogue_inner.h"

/* The number from then on of a column that stays. */
static unsigned number_of(const struct alteration *alteration, unsigned before)
{
    unsigned i = 0;

    while (alteration->from[i] != (int)before) {
        i++;
        assert(i < alteration->column_count);
    }
    return i;
}

static void renumber(const struct alteration *alteration, unsigned *columns,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        columns[i] = number_of(alteration, columns[i]);
}

static void renumber_index(const struct alteration *alteration,
                           struct index *index)
{
    if (index->keys == NULL)
        renumber(alteration, index->columns, index->column_count);
    else
        renumber(alteration, index->keys->reads, index->keys->read_count);
}

/* What is of the table by numbers of columns. */
static void renumber_all(struct catalogue *catalogue, struct table *table,
                         const struct alteration *alteration)
{
    if (table->key != NO_KEY)
        table->key = number_of(alteration, table->key);
    for (unsigned i = 0; i < table->unique_count; i++)
        renumber(alteration, table->uniques[i].columns,
                 table->uniques[i].column_count);
    for (unsigned i = 0; i < table->check_count; i++)
        renumber(alteration, table->checks[i].reads,
                 table->checks[i].read_count);
    for (size_t i = 0; i < catalogue->index_count; i++)
        if (catalogue->indexes[i].table_id == table->id)
            renumber_index(alteration, &catalogue->indexes[i]);
}

/* Copies of the columns, with names of the catalogue's. NULL: no memory. */
static struct column *copy_columns(struct arena *arena,
                                   const struct alteration *alteration)
{
    unsigned count = alteration->column_count;
    struct column *columns = arena_alloc(arena, count * sizeof *columns);

    for (unsigned i = 0; columns != NULL && i < count; i++) {
        const struct column *column = &alteration->columns[i];
        const char *sql = column->default_sql;
        columns[i] = *column;
        columns[i].default_tree = NULL;
        columns[i].name = arena_copy(arena, column->name, strlen(column->name));
        if (sql != NULL)
            columns[i].default_sql = arena_copy(arena, sql, strlen(sql));
        if (columns[i].name == NULL
            || (sql != NULL && columns[i].default_sql == NULL))
            return NULL;
    }
    return columns;
}

static bool take_columns(struct catalogue *catalogue, struct table *table,
                         const struct alteration *alteration)
{
    struct column *columns = copy_columns(&catalogue->names->arena, alteration);

    if (columns == NULL)
        return false;
    defaults_release(table->defaults);
    table->defaults = NULL;
    table->columns = columns;
    table->column_count = alteration->column_count;
    if (alteration->from == NULL)
        return true;
    renumber_all(catalogue, table, alteration);
    if (!catalogue_add_checks(catalogue, table->id, alteration->checks,
                              alteration->check_count))
        return false;
    catalogue_sample(catalogue, table->id, NULL);
    return catalogue_extend(catalogue, table->id, 0, NULL, 0);
}

bool catalogue_alter(struct catalogue *catalogue,
                     const struct alteration *alteration)
{
    struct table *table =
        (struct table *)catalogue_table_id(catalogue, alteration->table_id);
    const char *name = alteration->name;

    assert(table != NULL);
    if (name != NULL)
        table->name = arena_copy(&catalogue->names->arena, name, strlen(name));
    return table->name != NULL
           && (alteration->columns == NULL
               || take_columns(catalogue, table, alteration));
}

struct catalogue *catalogue_altered(const struct catalogue *catalogue,
                                    const struct alteration *alteration)
{
    struct catalogue *made = catalogue_copy(catalogue, 1);

    if (made == NULL || catalogue_alter(made, alteration))
        return made;
    catalogue_release(made);
    return NULL;
}
