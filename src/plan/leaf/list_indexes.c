/* SPDX-License-Identifier: MIT */
#include "plan/leaf/list_indexes.h"

#include <stdio.h>
#include <string.h>

#include "base/type.h"
#include "plan/leaf/listing.h"
#include "plan/tree/binder.h"

enum { NAME_ROOM = 2 * NAME_BYTES_MAX };

/* An index, or what stands for one. */
struct shown_index {
    const struct table *table;
    char name[NAME_ROOM];
    bool unique;
    const char *origin; /* c: CREATE INDEX; u: UNIQUE; pk: the primary key */
    const unsigned *columns;
    const enum collation *collations; /* NULL: the columns' own */
    unsigned count;
    const struct index_keys *keys; /* NULL: it is of columns of all rows */
};

typedef void (*index_take)(struct listing *listing,
                           const struct shown_index *index);

/* ---------------------------------------------------------- one by one -- */

/* Adds columns that are unique as an index of SQLite's. */
static bool add_own(struct vector *own, const struct table *table,
                    const unsigned *columns, unsigned count)
{
    bool key = count == 1 && columns[0] == table->key;
    struct shown_index shown = { .table = table,
                                 .unique = true,
                                 .origin = key ? "pk" : "u",
                                 .columns = columns,
                                 .count = count };

    if (key && type_is_integer(table->columns[columns[0]].type))
        return true; /* the row's id */
    snprintf(shown.name, sizeof shown.name, "sqlite_autoindex_%s_%u",
             table->name, (unsigned)own->count + 1);
    return vector_append(own, &shown, 1);
}

/* The numbers of columns that are unique alone are kept in `numbers`. */
static bool add_all_own(struct vector *own, const struct table *table,
                        unsigned *numbers)
{
    bool done = numbers != NULL;

    for (unsigned i = 0; i < table->column_count && done; i++) {
        numbers[i] = i;
        if (i == table->key || table->columns[i].unique)
            done = add_own(own, table, &numbers[i], 1);
    }
    for (unsigned i = 0; i < table->unique_count && done; i++)
        done = add_own(own, table, table->uniques[i].columns,
                       table->uniques[i].column_count);
    return done;
}

/* False: a failure. */
static bool own_of(struct listing *listing, const struct table *table,
                   struct vector *own)
{
    struct arena *arena = listing->binder->arena;
    unsigned *numbers =
        arena_alloc(arena, table->column_count * sizeof *numbers);

    *own = VECTOR_IN(arena, struct shown_index);
    if (add_all_own(own, table, numbers))
        return true;
    listing_starve(listing);
    return false;
}

/* The last one comes first. */
static void each_own(struct listing *listing, const struct table *table,
                     index_take take)
{
    struct vector own;

    if (!own_of(listing, table, &own))
        return;
    for (size_t i = own.count; i > 0; i--)
        take(listing, vector_at(&own, i - 1));
}

static void each_named(struct listing *listing, const struct table *table,
                       index_take take)
{
    const struct catalogue *catalogue = listing->catalogue;

    for (size_t i = catalogue->index_count; i > 0; i--) {
        const struct index *index = &catalogue->indexes[i - 1];
        struct shown_index shown = { .table = table,
                                     .unique = index->unique,
                                     .origin = "c",
                                     .columns = index->columns,
                                     .collations = index->collations,
                                     .keys = index->keys,
                                     .count = index->column_count };
        if (index->table_id != table->id)
            continue;
        snprintf(shown.name, sizeof shown.name, "%s", index->name);
        take(listing, &shown);
    }
}

/* ------------------------------------------------------- of a table -- */

static void show_index(struct listing *listing, const struct shown_index *index)
{
    listing_number(listing, (int64_t)listing_count(listing));
    listing_text(listing, index->name);
    listing_number(listing, index->unique);
    listing_text(listing, index->origin);
    listing_number(listing,
                   index->keys != NULL && index->keys->where_sql != NULL);
}

void list_index_list(struct listing *listing)
{
    const struct catalogue *catalogue = listing->catalogue;

    for (size_t i = 0; i < listing->table_count; i++)
        if (!listing_hides(listing, catalogue->tables[i].name,
                           table_is_temporary(catalogue->tables[i].id))
            && listing_begin(listing, catalogue->tables[i].name)) {
            each_named(listing, &catalogue->tables[i], show_index);
            each_own(listing, &catalogue->tables[i], show_index);
        }
}

/* -------------------------------------------------- columns of an index -- */

/* The column that a key of an index is; NULL: it is an expression. */
static const struct column *column_of(const struct shown_index *index,
                                      unsigned i)
{
    const struct table *table = index->table;
    unsigned number = index->keys == NULL
                          ? index->columns[i]
                          : table_column(table, index->keys->columns[i].name);

    return number < table->column_count ? &table->columns[number] : NULL;
}

/* Expressions have no name, and the number -2. */
static void show_place(struct listing *listing, const struct shown_index *index,
                       unsigned i)
{
    const struct column *column = column_of(index, i);

    listing_number(listing, i);
    listing_number(listing,
                   column != NULL ? column - index->table->columns : -2);
    listing_text(listing, column != NULL ? column->name : NULL);
}

static void show_places(struct listing *listing,
                        const struct shown_index *index)
{
    for (unsigned i = 0; i < index->count; i++)
        show_place(listing, index, i);
}

static enum collation collation_in(const struct shown_index *index, unsigned i)
{
    const struct column *column = column_of(index, i);

    if (index->collations != NULL)
        return index->collations[i];
    if (index->keys != NULL)
        return index->keys->columns[i].collation;
    return column->collation;
}

/* The columns, and behind them the row's id. */
static void show_more(struct listing *listing, const struct shown_index *index)
{
    for (unsigned i = 0; i < index->count; i++) {
        show_place(listing, index, i);
        listing_number(listing, 0);
        listing_text(listing, collation_name(collation_in(index, i)));
        listing_number(listing, 1);
    }
    listing_number(listing, index->count);
    listing_number(listing, -1);
    listing_text(listing, NULL);
    listing_number(listing, 0);
    listing_text(listing, collation_name(COLLATION_BINARY));
    listing_number(listing, 0);
}

static void take_places(struct listing *listing,
                        const struct shown_index *index)
{
    if (listing_begin(listing, index->name))
        show_places(listing, index);
}

static void take_more(struct listing *listing, const struct shown_index *index)
{
    if (listing_begin(listing, index->name))
        show_more(listing, index);
}

static void each_index(struct listing *listing, index_take take)
{
    const struct catalogue *catalogue = listing->catalogue;

    for (size_t i = 0; i < listing->table_count && !listing->failed; i++) {
        each_named(listing, &catalogue->tables[i], take);
        each_own(listing, &catalogue->tables[i], take);
    }
}

void list_index_info(struct listing *listing)
{
    each_index(listing, take_places);
}

void list_index_xinfo(struct listing *listing)
{
    each_index(listing, take_more);
}

/* ------------------------------------------------------- sqlite_master -- */

/* A row; the text is finished. NULL: it has none. */
static void show_made(struct listing *listing, const char *type,
                      const char *name, const char *table, struct text *sql)
{
    listing_text(listing, type);
    listing_text(listing, name);
    listing_text(listing, table);
    listing_number(listing, 0);
    listing_text(listing, sql != NULL ? sql->bytes : NULL);
    if (sql != NULL && sql->failed)
        listing_starve(listing);
    if (sql != NULL)
        text_finish(sql);
}

static void show_table(struct listing *listing, const struct table *table)
{
    struct text sql = { 0 };
    struct vector own;

    table_sql(table, &sql);
    show_made(listing, "table", table->name, table->name, &sql);
    if (!own_of(listing, table, &own))
        return;
    for (size_t i = 0; i < own.count; i++) {
        const struct shown_index *index = vector_at(&own, i);
        show_made(listing, "index", index->name, table->name, NULL);
    }
}

static void show_named(struct listing *listing, const struct index *index)
{
    const struct table *table =
        catalogue_table_id(listing->catalogue, index->table_id);
    struct text sql = { 0 };

    index_sql(listing->catalogue, index, &sql);
    show_made(listing, "index", index->name, table->name, &sql);
}

/* Without the semicolon. */
static void show_view(struct listing *listing, const struct view *view)
{
    size_t length = strlen(view->sql);
    struct text sql = { 0 };

    while (length > 0 && strchr("; \t\r\n", view->sql[length - 1]) != NULL)
        length--;
    text_add(&sql, view->sql, length);
    show_made(listing, "view", view->name, view->name, &sql);
}

/* What is temporary, or what is not. */
static void show_all(struct listing *listing, bool temporary)
{
    const struct catalogue *catalogue = listing->catalogue;

    for (size_t i = 0; i < listing->table_count && !listing->failed; i++)
        if (table_is_temporary(catalogue->tables[i].id) == temporary)
            show_table(listing, &catalogue->tables[i]);
    for (size_t i = 0; i < catalogue->index_count && !listing->failed; i++)
        if (table_is_temporary(catalogue->indexes[i].table_id) == temporary)
            show_named(listing, &catalogue->indexes[i]);
    for (size_t i = 0; i < catalogue->view_count && !listing->failed; i++)
        if (catalogue->views[i].temporary == temporary)
            show_view(listing, &catalogue->views[i]);
}

void list_master(struct listing *listing)
{
    show_all(listing, false);
}

void list_temporary(struct listing *listing)
{
    show_all(listing, true);
}
