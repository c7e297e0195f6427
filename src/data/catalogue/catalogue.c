/* SPDX-License-Identifier: MIT */
/*
 * The catalogue in memory: found in, copied, made longer. Only catalogues
 * that nobody else holds are ever changed.
 */
#include "data/catalogue/catalogue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostile.h"
#include "base/type.h"
#include "data/catalogue/catalogue_inner.h"

enum { NAMES_FEW = HOSTILE(2, 16) }; /* that are not sorted to be compared */

static bool copy_table(struct catalogue *copy, const struct table *from,
                       struct table *to);
static void copy_state(const struct table *from, struct table *to);
static struct table *find_id(const struct catalogue *catalogue, uint32_t id);
static int compare_names(const void *a, const void *b);

struct catalogue *catalogue_hold(struct catalogue *catalogue)
{
    assert(catalogue->holders > 0);
    catalogue->holders++;
    return catalogue;
}

void catalogue_release(struct catalogue *catalogue)
{
    if (catalogue == NULL)
        return;
    assert(catalogue->holders > 0);
    if (--catalogue->holders > 0)
        return;
    for (size_t i = 0; i < catalogue->table_count; i++) {
        defaults_release(catalogue->tables[i].defaults);
        sample_release(catalogue->tables[i].sample);
        tablets_release(catalogue->tables[i].held);
    }
    shared_runs_release(catalogue->held_runs);
    names_release(catalogue->names);
    arena_finish(&catalogue->arena);
    memory_release(catalogue);
}

const struct table *catalogue_table(const struct catalogue *catalogue,
                                    const char *name)
{
    for (size_t i = catalogue->table_count; i-- > 0;)
        if (catalogue->tables[i].id < CATALOGUE_FILES
            && name_equal(catalogue->tables[i].name, name))
            return &catalogue->tables[i];
    return NULL;
}

const struct table *catalogue_table_id(const struct catalogue *catalogue,
                                       uint32_t id)
{
    const bool copy = id < CATALOGUE_FILES && (id & CATALOGUE_COPY) != 0;
    const struct table *table =
        find_id(catalogue, copy ? id & ~CATALOGUE_COPY : id);

    return table != NULL && copy ? table_copy(table) : table;
}

unsigned table_column(const struct table *table, const char *name)
{
    unsigned i = 0;

    while (i < table->column_count && !name_equal(table->columns[i].name, name))
        i++;
    return i;
}

bool column_valid(const struct column *column)
{
    if (column->collation != COLLATION_BINARY
        && (column->type != VDBQ_TEXT
            || (unsigned)column->collation >= COLLATIONS))
        return false;
    if (column->type == VDBQ_DECIMAL)
        return column->precision >= 1 && column->precision <= DECIMAL_DIGITS_MAX
               && column->scale <= column->precision;
    return type_machine(column->type) != 0 && column->precision == 0
           && column->scale == 0;
}

/* An empty one with those names, which are held for it; NULL: no memory. */
static struct catalogue *create(struct catalogue_names *names)
{
    struct catalogue *catalogue =
        names != NULL ? memory_zeroed(1, sizeof *catalogue) : NULL;

    if (catalogue == NULL) {
        names_release(names);
        return NULL;
    }
    catalogue->holders = 1;
    catalogue->names = names;
    return catalogue;
}

struct catalogue *catalogue_create(void)
{
    return create(names_create());
}

/* With room for more all names are copied, so that those of what is gone go, too. */
struct catalogue *catalogue_copy(const struct catalogue *from, size_t room)
{
    struct catalogue *copy =
        room > 0 ? catalogue_create() : create(names_hold(from->names));
    size_t count = from->table_count;

    if (copy == NULL)
        return NULL;
    copy->generation = from->generation;
    copy->origin = from->origin;
    copy->next_table_id = from->next_table_id;
    copy->tables =
        arena_alloc(&copy->arena, (count + room) * sizeof *copy->tables);
    catalogue_share_runs(copy, from);
    if (copy->tables == NULL || !catalogue_copy_names(copy, from, room))
        goto release_copy;
    for (; copy->table_count < count; copy->table_count++) {
        const struct table *table = &from->tables[copy->table_count];
        struct table *place = &copy->tables[copy->table_count];
        if (room == 0)
            copy_state(table, place);
        else if (!copy_table(copy, table, place))
            goto release_copy;
    }
    return copy;

release_copy:
    catalogue_release(copy);
    return NULL;
}

bool catalogue_add_same(struct catalogue *catalogue, const struct table *table)
{
    struct table *place = &catalogue->tables[catalogue->table_count];

    if (!copy_table(catalogue, table, place))
        return false;
    catalogue->table_count++;
    return true;
}

bool catalogue_add(struct catalogue *catalogue, const struct table *table)
{
    struct table *place = &catalogue->tables[catalogue->table_count];

    assert(table->tablet_count == 0);
    if (!copy_table(catalogue, table, place))
        return false;
    place->id = catalogue->next_table_id++;
    table_count_rows(place);
    catalogue->table_count++;
    return true;
}

void catalogue_remove(struct catalogue *catalogue, uint32_t id)
{
    struct table *place = find_id(catalogue, id);
    size_t after;

    assert(place != NULL);
    for (size_t i = catalogue->index_count; i-- > 0;)
        if (catalogue->indexes[i].table_id == id)
            catalogue_remove_index(catalogue, catalogue->indexes[i].name);
    defaults_release(place->defaults);
    sample_release(place->sample);
    tablets_release(place->held);
    after = catalogue->table_count - 1 - (size_t)(place - catalogue->tables);
    memmove(place, place + 1, after * sizeof *place);
    catalogue->table_count--;
}

void catalogue_sample(struct catalogue *catalogue, uint32_t id,
                      struct sample *sample)
{
    struct table *table = find_id(catalogue, id);
    struct sample *before = table->sample;

    table->sample = sample_hold(sample);
    sample_release(before);
}

bool catalogue_extend(struct catalogue *catalogue, uint32_t id, size_t kept,
                      const struct tablet_ref *more, size_t count)
{
    struct table *table = find_id(catalogue, id);
    struct tablets *tablets;

    assert(table != NULL && kept <= table->tablet_count);
    tablets = tablets_create(table->column_count, kept + count);
    if (tablets == NULL)
        return false;
    for (size_t i = 0; i < kept + count; i++)
        tablets_put(tablets, i,
                    i < kept ? &table->tablets[i] : &more[i - kept]);
    tablets_join(tablets, table->held);
    table_take_tablets(table, tablets);
    table_count_rows(table);
    return true;
}

bool catalogue_constrain(struct catalogue *catalogue, uint32_t id,
                         const struct unique *uniques, unsigned count)
{
    struct table *table = find_id(catalogue, id);

    assert(table != NULL && table->unique_count == 0);
    return copy_uniques(&catalogue->names->arena, uniques, count, table);
}

int name_order(const char *a, const char *b)
{
    for (;; a++, b++) {
        int low_a = *a >= 'A' && *a <= 'Z' ? *a + 32 : (unsigned char)*a;
        int low_b = *b >= 'A' && *b <= 'Z' ? *b + 32 : (unsigned char)*b;
        if (low_a != low_b || low_a == 0)
            return low_a - low_b;
    }
}

/* The same of few names, each compared with those before it. */
static const char *few_twice(const char *const *names, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (name_order(names[k], names[i]) == 0)
                return names[i];
    return NULL;
}

const char *names_twice(const char **names, size_t count)
{
    if (count <= NAMES_FEW)
        return few_twice(names, count);
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++)
        if (name_order(names[i - 1], names[i]) == 0)
            return names[i];
    return NULL;
}

/* ------------------------------------------------------------ helpers -- */

/* Copies names and defaults too: a catalogue owns its texts. */
static bool copy_columns(struct arena *arena, const struct table *from,
                         struct table *to)
{
    to->columns = arena_alloc(arena, from->column_count * sizeof *to->columns);
    if (to->columns == NULL)
        return false;
    for (unsigned i = 0; i < from->column_count; i++) {
        const struct column *column = &from->columns[i];
        const char *sql = column->default_sql;
        to->columns[i] = *column;
        to->columns[i].name =
            arena_copy(arena, column->name, strlen(column->name));
        if (sql != NULL)
            to->columns[i].default_sql = arena_copy(arena, sql, strlen(sql));
        if (to->columns[i].name == NULL
            || (sql != NULL && to->columns[i].default_sql == NULL))
            return false;
    }
    return true;
}

/* A table with names of its own; false: no memory. */
static bool copy_table(struct catalogue *copy, const struct table *from,
                       struct table *to)
{
    struct arena *arena = &copy->names->arena;
    struct table named = *from;

    named.name = arena_copy(arena, from->name, strlen(from->name));
    if (named.name == NULL || !copy_columns(arena, from, &named)
        || !copy_uniques(arena, from->uniques, from->unique_count, &named)
        || !copy_checks(arena, from->checks, from->check_count, &named))
        return false;
    copy_state(&named, to);
    return true;
}

/* A table with the same names and tablets. */
static void copy_state(const struct table *from, struct table *to)
{
    *to = *from;
    tablets_hold(to->held);
    defaults_hold(to->defaults);
    sample_hold(to->sample);
}

/* The table with this number, or NULL. Numbers ascend, as they were given. */
static struct table *find_id(const struct catalogue *catalogue, uint32_t id)
{
    size_t low = 0, high = catalogue->table_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (catalogue->tables[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < catalogue->table_count && catalogue->tables[low].id == id
               ? &catalogue->tables[low]
               : NULL;
}

/* For qsort(). */
static int compare_names(const void *a, const void *b)
{
    return name_order(*(const char *const *)a, *(const char *const *)b);
}
