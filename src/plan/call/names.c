/* SPDX-License-Identifier: MIT */
/*
 * Names of tables and columns, and what was probably meant by one that does
 * not exist.
 */
#include "plan/call/names.h"

#include <string.h>

#include "base/text.h"
#include "plan/leaf/lists.h"
#include "plan/tree/binder.h"

/* How many letters may differ in a name that was meant. */
enum { LIKELY_SHORT = 4, LIKELY_EDITS_SHORT = 1, LIKELY_EDITS = 2 };
/* How many names a hint lists. */
enum { LISTED_MAX = 12 };

static void hint_table(const struct catalogue *catalogue, const char *name,
                       struct error *error);
static void list_tables(const struct catalogue *catalogue, struct text *list);
static void list_columns(const struct table *table, struct text *list);
static void list_name(struct text *list, size_t index, const char *name);

const char *named_schema(const struct binder *binder,
                         const struct ast_name *name)
{
    if (name->schema != NULL)
        return name->schema;
    return binder->schema != NULL
               ? binder->schema
               : catalogue_schema(binder->catalogue, name->text);
}

const char *new_schema(const struct ast_name *name)
{
    return name->schema != NULL ? name->schema : SCHEMA_MAIN;
}

/* Another schema has the table. */
static void hint_schema(const struct binder *binder,
                        const struct ast_name *name)
{
    const char *other = name_equal(named_schema(binder, name), SCHEMA_MAIN)
                            ? SCHEMA_TEMPORARY
                            : SCHEMA_MAIN;

    if (binder->schema != NULL)
        error_hint(binder->error, "a view of the file sees no temporary "
                                  "tables; one of CREATE TEMP VIEW does");
    else
        error_hint(binder->error, "there is a table %s.%s", other, name->text);
}

const struct table *find_table(const struct binder *binder,
                               const struct ast_name *name)
{
    const struct table *table = catalogue_table_in(
        binder->catalogue, named_schema(binder, name), name->text);

    if (table == NULL) {
        error_at(binder->error, VDBQ_UNKNOWN, name->at, "no such table: %s",
                 name->text);
        if (catalogue_table(binder->catalogue, name->text) != NULL)
            hint_schema(binder, name);
        else
            hint_table(binder->catalogue, name->text, binder->error);
    }
    return table;
}

enum vdbq_status find_column(const struct table *table,
                             const struct ast_name *name, unsigned *column,
                             struct error *error)
{
    *column = table_column(table, name->text);
    if (*column < table->column_count)
        return VDBQ_OK;
    error_at(error, VDBQ_UNKNOWN, name->at, "table %s has no column %s",
             table->name, name->text);
    hint_column(table, name->text, error);
    return VDBQ_UNKNOWN;
}

void hint_column(const struct table *table, const char *name,
                 struct error *error)
{
    struct likely likely = { 0 };
    struct text list = { 0 };

    for (unsigned i = 0; i < table->column_count; i++)
        likely_name(&likely, name, table->columns[i].name);
    if (likely.name != NULL) {
        error_hint(error, "did you mean \"%s\"?", likely.name);
        return;
    }
    list_columns(table, &list);
    if (list.bytes != NULL)
        error_hint(error, "columns of %s: %s", table->name, list.bytes);
    text_finish(&list);
}

void likely_name(struct likely *likely, const char *name, const char *other)
{
    unsigned most =
        strlen(name) < LIKELY_SHORT ? LIKELY_EDITS_SHORT : LIKELY_EDITS;
    unsigned distance = name_distance(name, other, most);

    if (distance > most || distance >= strlen(name))
        return;
    if (likely->name != NULL && likely->distance <= distance)
        return;
    likely->name = other;
    likely->distance = distance;
}

static void hint_table(const struct catalogue *catalogue, const char *name,
                       struct error *error)
{
    struct likely likely = { 0 };
    struct text list = { 0 };

    if (lists_table(NULL, name) != NULL) {
        error_hint(error, "%s is read, not changed", name);
        return;
    }
    for (size_t i = 0; i < catalogue->table_count; i++)
        likely_name(&likely, name, catalogue->tables[i].name);
    list_tables(catalogue, &list);
    if (likely.name != NULL)
        error_hint(error, "did you mean \"%s\"?", likely.name);
    else if (catalogue->table_count == 0)
        error_hint(error, "the database has no tables yet");
    else if (list.bytes != NULL)
        error_hint(error, "tables: %s", list.bytes);
    text_finish(&list);
}

static void list_tables(const struct catalogue *catalogue, struct text *list)
{
    for (size_t i = 0; i < catalogue->table_count && i <= LISTED_MAX; i++)
        list_name(list, i, catalogue->tables[i].name);
}

static void list_columns(const struct table *table, struct text *list)
{
    for (size_t i = 0; i < table->column_count && i <= LISTED_MAX; i++)
        list_name(list, i, table->columns[i].name);
}

/* Adds name `index` to a list, or that there are more. */
static void list_name(struct text *list, size_t index, const char *name)
{
    text_print(list, "%s%s", index > 0 ? ", " : "",
               index < LISTED_MAX ? name : "...");
}
