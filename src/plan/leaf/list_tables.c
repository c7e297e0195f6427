/* SPDX-License-Identifier: MIT */
#include "plan/leaf/list_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/type.h"
#include "plan/leaf/listing.h"
#include "plan/tree/binder.h"

/* A table or a view. */
struct shown_table {
    const char *name;
    const struct table *table; /* NULL: a view ...                      */
    const struct node *node;   /* ... whose columns these are; NULL: it
                                  reads what is no longer there         */
    unsigned column_count;
    bool temporary;
};

struct shown_column {
    const char *name;
    struct ast_type type;
    const struct column *own; /* of the table; NULL: it is a view's */
};

typedef void (*table_take)(struct listing *listing,
                           const struct shown_table *shown);

/* ---------------------------------------------------------- one by one -- */

static struct shown_column column_of(const struct shown_table *shown,
                                     unsigned number)
{
    const struct node_column *column;
    const struct column *own;

    if (shown->table != NULL) {
        own = &shown->table->columns[number];
        return (struct shown_column){ own->name,
                                      { own->type, own->precision, own->scale },
                                      own };
    }
    column = &shown->node->columns[number];
    return (struct shown_column){ column->name,
                                  { (enum vdbq_type)column->type,
                                    column->precision, column->scale },
                                  NULL };
}

static void take_table(struct listing *listing, const struct table *table,
                       table_take take)
{
    const bool temporary = table_is_temporary(table->id);

    if (!listing_hides(listing, table->name, temporary)
        && listing_begin(listing, table->name))
        take(listing, &(struct shown_table){ table->name, table, NULL,
                                             table->column_count, temporary });
}

static void take_view(struct listing *listing, const struct view *view,
                      table_take take)
{
    const struct node *node;

    if (listing_hides(listing, view->name, view->temporary)
        || !listing_begin(listing, view->name))
        return;
    node = listing_columns(listing, view);
    if (!listing->failed)
        take(listing,
             &(struct shown_table){ view->name, NULL, node,
                                    node != NULL ? node->column_count : 0,
                                    view->temporary });
}

/* Tables that are asked for, then views. */
static void each_table(struct listing *listing, table_take take)
{
    const struct catalogue *catalogue = listing->catalogue;

    for (size_t i = 0; i < listing->table_count && !listing->failed; i++)
        take_table(listing, &catalogue->tables[i], take);
    for (size_t i = 0; i < catalogue->view_count && !listing->failed; i++)
        take_view(listing, &catalogue->views[i], take);
}

/* -------------------------------------------------------------- PRAGMA -- */

static void show_column(struct listing *listing,
                        const struct shown_table *shown, unsigned number)
{
    const struct shown_column column = column_of(shown, number);
    const struct column *own = column.own;

    listing_number(listing, number);
    listing_text(listing, column.name);
    listing_type(listing, &column.type);
    listing_number(listing, own != NULL && own->not_null);
    listing_text(listing, own != NULL ? own->default_sql : NULL);
    listing_number(listing, own != NULL && shown->table->key == number);
}

static void show_columns(struct listing *listing,
                         const struct shown_table *shown)
{
    for (unsigned i = 0; i < shown->column_count; i++)
        show_column(listing, shown, i);
}

static void show_hidden(struct listing *listing,
                        const struct shown_table *shown)
{
    for (unsigned i = 0; i < shown->column_count; i++) {
        show_column(listing, shown, i);
        listing_number(listing, 0);
    }
}

void list_table_info(struct listing *listing)
{
    each_table(listing, show_columns);
}

void list_table_xinfo(struct listing *listing)
{
    each_table(listing, show_hidden);
}

static const char *schema_of(const struct shown_table *shown)
{
    return shown->temporary ? SCHEMA_TEMPORARY : SCHEMA_MAIN;
}

static void show_table(struct listing *listing, const struct shown_table *shown)
{
    listing_text(listing, schema_of(shown));
    listing_text(listing, shown->name);
    listing_text(listing, shown->table != NULL ? "table" : "view");
    listing_number(listing, shown->column_count);
    listing_number(listing, 0);
    listing_number(listing, 0);
}

void list_table_list(struct listing *listing)
{
    each_table(listing, show_table);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void list_names(struct listing *listing)
{
    const struct catalogue *catalogue = listing->catalogue;
    size_t count = 0, all = listing->table_count + catalogue->view_count;
    const char **names =
        arena_alloc(listing->binder->arena, (all + 1) * sizeof *names);

    if (names == NULL) {
        listing_starve(listing);
        return;
    }
    for (size_t i = 0; i < listing->table_count; i++)
        names[count++] = catalogue->tables[i].name;
    for (size_t i = 0; i < catalogue->view_count; i++)
        names[count++] = catalogue->views[i].name;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        listing_text(listing, names[i]);
}

/* -------------------------------------------------- information_schema -- */

/* That it is one of the only catalogue. */
static void show_place(struct listing *listing, const struct shown_table *shown)
{
    listing_text(listing, "main");
    listing_text(listing, schema_of(shown));
    listing_text(listing, shown->name);
}

static void show_information(struct listing *listing,
                             const struct shown_table *shown)
{
    show_place(listing, shown);
    listing_text(listing, shown->table == NULL ? "VIEW"
                          : shown->temporary   ? "LOCAL TEMPORARY"
                                               : "BASE TABLE");
    listing_text(listing, shown->table != NULL ? "YES" : "NO");
}

void list_information_tables(struct listing *listing)
{
    each_table(listing, show_information);
}

/* Digits of numbers, as DuckDB tells them: binary ones but of a DECIMAL. */
static void show_digits(struct listing *listing, const struct ast_type *type)
{
    static const unsigned char bits[] = {
        [VDBQ_SMALLINT] = 16, [VDBQ_INTEGER] = 32, [VDBQ_BIGINT] = 64,
        [VDBQ_FLOAT] = 24,    [VDBQ_DOUBLE] = 53,
    };
    bool decimal = type->type == VDBQ_DECIMAL;
    unsigned known = type->type < sizeof bits ? bits[type->type] : 0;

    if (!decimal && known == 0) {
        for (unsigned i = 0; i < 3; i++)
            listing_text(listing, NULL);
        return;
    }
    listing_number(listing, decimal ? type->precision : known);
    listing_number(listing, decimal ? 10 : 2);
    listing_number(listing, decimal ? type->scale : 0);
}

static void show_information_column(struct listing *listing,
                                    const struct shown_table *shown,
                                    unsigned number)
{
    const struct shown_column column = column_of(shown, number);
    const struct column *own = column.own;
    bool filled = own != NULL && (own->not_null || shown->table->key == number);

    show_place(listing, shown);
    listing_text(listing, column.name);
    listing_number(listing, number + 1);
    listing_text(listing, own != NULL ? own->default_sql : NULL);
    listing_text(listing, filled ? "NO" : "YES");
    listing_type(listing, &column.type);
    show_digits(listing, &column.type);
}

static void show_information_columns(struct listing *listing,
                                     const struct shown_table *shown)
{
    for (unsigned i = 0; i < shown->column_count; i++)
        show_information_column(listing, shown, i);
}

void list_information_columns(struct listing *listing)
{
    each_table(listing, show_information_columns);
}
