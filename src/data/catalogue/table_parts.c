/* SPDX-License-Identifier: MIT */
/*
 * The rows of a table as they lie in parts by hash (struct table_parts): one table
 * of those that the parts have.
 */
#include <assert.h>
#include <string.h>

#include "base/type.h"
#include "data/catalogue/catalogue_inner.h"

bool column_has_hash(const struct column *column)
{
    return type_is_integer(column->type)
           || (column->type == VDBQ_TEXT
               && column->collation == COLLATION_BINARY);
}

uint64_t part_place(unsigned part, uint64_t offset)
{
    assert(offset < TABLE_PART_BYTES);
    return ((uint64_t)part + 1) * TABLE_PART_BYTES + offset;
}

bool part_of_place(uint64_t place, unsigned *part, uint64_t *offset)
{
    const uint64_t number = place / TABLE_PART_BYTES;

    *part = number > 0 ? (unsigned)(number - 1) : 0;
    *offset = place % TABLE_PART_BYTES;
    return number > 0;
}

const struct table *table_copy(const struct table *table)
{
    const struct table_parts *parts = table->parts;

    return parts != NULL && parts->copy != NULL
                   && identity_equal(parts->state, table->state)
               ? parts->copy
               : NULL;
}

const char *table_parts_left(const struct table *table)
{
    const struct table_parts *parts = table->parts;

    return parts != NULL && parts->key_count > 0 && parts->copy != table
                   && !identity_equal(parts->state, table->state)
               ? "it has changed since its parts were made"
               : NULL;
}

bool table_is_copy(const struct table *table)
{
    return table->parts != NULL && table->parts->copy == table;
}

void table_parts_finish(struct table_parts *parts)
{
    if (parts->copy != NULL)
        tablets_release(parts->copy->held);
    arena_finish(&parts->arena);
    parts->copy = NULL;
    parts->first = NULL;
}

/* What the parts' catalogues have may go before the copy does. */
static struct column *copy_columns(struct arena *arena,
                                   const struct table *from)
{
    struct column *columns =
        arena_alloc(arena, from->column_count * sizeof *columns);

    for (unsigned i = 0; columns != NULL && i < from->column_count; i++) {
        const char *name = from->columns[i].name;
        columns[i] = from->columns[i];
        columns[i].default_sql = NULL;
        columns[i].default_tree = NULL;
        columns[i].name = arena_copy(arena, name, strlen(name));
        if (columns[i].name == NULL)
            return NULL;
    }
    return columns;
}

/* The copy without rows; NULL: no memory. */
static struct table *make_copy(struct table_parts *parts,
                               const struct table *table,
                               const struct table *of_part)
{
    struct arena *arena = &parts->arena;
    struct table *copy = arena_alloc(arena, sizeof *copy);

    if (copy == NULL)
        return NULL;
    *copy = (struct table){ .id = table->id | CATALOGUE_COPY,
                            .name = arena_copy(arena, table->name,
                                               strlen(table->name)),
                            .column_count = of_part->column_count,
                            .columns = copy_columns(arena, of_part),
                            .key = of_part->key,
                            .parts = parts };
    return copy->name != NULL && copy->columns != NULL ? copy : NULL;
}

/* Puts the tablets of all parts, and notes where each part's begin. */
static void put_tablets(struct table_parts *parts, struct tablets *tablets,
                        const struct table *const *of_parts)
{
    size_t count = 0;

    for (unsigned k = 0; k < parts->parts; k++) {
        parts->first[k] = count;
        for (size_t i = 0; i < of_parts[k]->tablet_count; i++) {
            struct tablet_ref tablet = of_parts[k]->tablets[i];
            assert(tablet.edit == NULL);
            tablet.offset = part_place(k, tablet.offset);
            tablets_put(tablets, count++, &tablet);
        }
    }
    parts->first[parts->parts] = count;
    assert(count == tablets->count);
}

bool table_parts_join(struct table_parts *parts, const struct table *table,
                      const struct table *const *of_parts)
{
    struct table *copy = make_copy(parts, table, of_parts[0]);
    struct tablets *tablets;
    size_t count = 0;

    assert(parts->copy == NULL && parts->key_count > 0);
    parts->first = arena_alloc(&parts->arena, ((size_t)parts->parts + 1)
                                                  * sizeof *parts->first);
    for (unsigned k = 0; k < parts->parts; k++)
        count += of_parts[k]->tablet_count;
    if (copy == NULL || parts->first == NULL)
        return false;
    tablets = tablets_create(copy->column_count, count);
    if (tablets == NULL)
        return false;
    put_tablets(parts, tablets, of_parts);
    tablets_join(tablets, NULL);
    table_take_tablets(copy, tablets);
    table_count_rows(copy);
    parts->copy = copy;
    return true;
}
