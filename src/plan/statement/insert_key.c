/* SPDX-License-Identifier: MIT */
/*
 * Keys that nobody says: see insert_values.h. The rows of the statement become those of
 * a query around them, whose tree is made here:
 *
 *   SELECT *, (SELECT coalesce(max(key), 0) FROM table) + row_number() OVER ()
 *       FROM (rows)
 *
 * Nothing of it is in the statement's text.
 */
#include "plan/statement/insert_values.h"

#include <stdio.h>

#include "base/text.h"
#include "plan/tree/expression.h"
#include "program/parameter.h"

/* Makes parts of a tree; `failed`: there was no memory. */
struct making_key {
    struct arena *arena;
    struct position at;
    bool failed;
};

static void *room(struct making_key *making, size_t size)
{
    void *made = arena_alloc(making->arena, size);

    making->failed |= made == NULL;
    return made;
}

/* ------------------------------------------------------------ expressions -- */

static struct ast_expression *
part(struct making_key *making, enum ast_expression_kind kind, const char *name)
{
    struct ast_expression *made = room(making, sizeof *made);

    if (made == NULL)
        return NULL;
    made->kind = kind;
    made->depth = 1;
    made->at = making->at;
    made->column = (struct ast_name){ .text = name, .at = making->at };
    return made;
}

/* A call of at most two arguments; NULL: it has fewer. */
static struct ast_expression *call(struct making_key *making, const char *name,
                                   struct ast_expression *first,
                                   struct ast_expression *second)
{
    struct ast_expression *made = part(making, AST_FUNCTION, name);
    struct ast_expression *arguments[] = { second, first };

    for (unsigned i = 0; i < 2 && made != NULL; i++) {
        struct ast_value *value;
        if (arguments[i] == NULL)
            continue;
        value = room(making, sizeof *value);
        if (value == NULL)
            return NULL;
        *value = (struct ast_value){ arguments[i], made->arguments };
        made->arguments = value;
        made->argument_count++;
        made->depth = arguments[i]->depth + 1;
    }
    return made;
}

/* SELECT of such results. */
static struct ast_query *query_of(struct making_key *making,
                                  struct ast_result *results, unsigned count,
                                  struct ast_from from)
{
    struct ast_query *made = room(making, sizeof *made);
    struct ast_from *source = room(making, sizeof *source);

    if (made == NULL || source == NULL)
        return NULL;
    *source = from;
    source->at = making->at;
    made->kind = AST_QUERY_SELECT;
    made->depth = from.depth + 2;
    made->at = making->at;
    made->select = (struct ast_select){ .results = results,
                                        .result_count = count,
                                        .from = source };
    return made;
}

static struct ast_result *result_of(struct making_key *making,
                                    struct ast_expression *e, const char *alias)
{
    struct ast_result *made = room(making, sizeof *made);

    if (made == NULL)
        return NULL;
    made->star = e == NULL;
    made->expression = e;
    made->alias = (struct ast_name){ .text = alias, .at = making->at };
    made->at = making->at;
    return made;
}

/* (SELECT coalesce(max(key), 0) FROM table) */
static struct ast_expression *greatest(struct making_key *making,
                                       const struct table *table)
{
    const char *key = table->columns[table->key].name;
    struct ast_expression *e = part(making, AST_SUBQUERY, NULL);
    struct ast_expression *most =
        call(making, "max", part(making, AST_COLUMN, key), NULL);
    struct ast_from from = { .kind = AST_FROM_TABLE,
                             .depth = 1,
                             .schema.text = table_is_temporary(table->id)
                                                ? SCHEMA_TEMPORARY
                                                : SCHEMA_MAIN,
                             .name.text = table->name };

    most = call(making, "coalesce", most, part(making, AST_INTEGER, NULL));
    if (making->failed)
        return NULL;
    e->query = query_of(making, result_of(making, most, key), 1, from);
    e->depth = 8;
    return e;
}

/* The key of a row. */
static struct ast_expression *next_key(struct making_key *making,
                                       const struct table *table)
{
    struct ast_expression *e = part(making, AST_OPERATOR, NULL);
    struct ast_expression *number = call(making, "row_number", NULL, NULL);
    struct ast_expression *most = greatest(making, table);
    struct ast_window *over = room(making, sizeof *over);

    if (making->failed)
        return NULL;
    number->over = over;
    e->operator= AST_ADD;
    e->left = most;
    e->right = number;
    e->depth = most->depth + 1;
    return e;
}

/* ------------------------------------------------------------------- rows -- */

/* Whether a value says nothing: NULL, DEFAULT, or a parameter that is NULL. */
static bool says_nothing(const struct binder *binder,
                         const struct ast_item *item)
{
    const struct ast_expression *e;

    if (item->kind == AST_NULL || item->kind == AST_DEFAULT)
        return true;
    if (item->kind != AST_PARAMETER || binder->parameters == NULL
        || binder->limits == NULL || !binder->limits->converts)
        return false;
    e = item->expression;
    return e->integer <= binder->value_count
           && binder->parameters[e->integer - 1].null;
}

/* Whether all rows of VALUES say nothing in that place. */
static bool say_nothing(const struct binder *binder,
                        const struct ast_query *query, unsigned place)
{
    if (query == NULL || query->kind != AST_QUERY_VALUES)
        return false;
    for (const struct ast_row *row = query->rows; row != NULL;
         row = row->next) {
        const struct ast_item *item = row->items;
        for (unsigned i = 0; i < place && item != NULL; i++)
            item = item->next;
        if (item == NULL || !says_nothing(binder, item))
            return false;
    }
    return true;
}

/* The place of the key among the values of a row; -1: it is left out. */
static int place_of(const struct ast_insert *insert, const struct table *table)
{
    const char *key = table->columns[table->key].name;

    if (insert->columns == NULL)
        return insert->query != NULL ? (int)table->key : -1;
    for (unsigned i = 0; i < insert->column_count; i++)
        if (name_equal(insert->columns[i].text, key))
            return (int)i;
    return -1;
}

/* Whether rows of VALUES have as many values as there are columns; else they are left
 * to who tells. */
static bool fit(const struct ast_insert *insert)
{
    const struct ast_query *query = insert->query;

    if (query == NULL || query->kind != AST_QUERY_VALUES)
        return true;
    for (const struct ast_row *row = query->rows; row != NULL; row = row->next)
        if (row->item_count != insert->column_count)
            return false;
    return true;
}

/* -------------------------------------------------------------- statement -- */

/* SELECT * REPLACE (key AS columnN) FROM (VALUES ...) */
static struct ast_query *replace_key(struct making_key *making,
                                     const struct inserting *inserting,
                                     int place)
{
    struct ast_query *rows = inserting->insert->query;
    struct ast_expression *key = next_key(making, inserting->table);
    struct ast_result *star = result_of(making, NULL, NULL);
    char *name = room(making, sizeof "column" + 12);

    if (making->failed)
        return NULL;
    sprintf(name, "column%d", place + 1);
    star->replaced = result_of(making, key, name);
    return star->replaced ? query_of(making, star, 1,
                                     (struct ast_from){ .kind = AST_FROM_QUERY,
                                                        .depth = rows->depth,
                                                        .query = rows })
                          : NULL;
}

/* SELECT *, key FROM (rows), or SELECT key. */
static struct ast_query *append_key(struct making_key *making,
                                    const struct inserting *inserting)
{
    struct ast_query *rows = inserting->insert->query, *made;
    const char *name = inserting->table->columns[inserting->table->key].name;
    struct ast_result *key =
        result_of(making, next_key(making, inserting->table), name);
    struct ast_result *star = result_of(making, NULL, NULL);
    struct ast_from from = { .kind = AST_FROM_QUERY,
                             .depth = rows ? rows->depth : 0,
                             .query = rows };

    if (making->failed)
        return NULL;
    star->next = key;
    made = rows != NULL ? query_of(making, star, 2, from)
                        : query_of(making, key, 1, from);
    if (made != NULL && rows == NULL)
        made->select.from = NULL;
    return made;
}

/* The names of the columns, and the key's behind them. */
static bool name_key(struct making_key *making, const struct table *table,
                     struct ast_insert *insert)
{
    struct ast_name *names =
        room(making, (insert->column_count + 1) * sizeof *names);

    if (names == NULL)
        return false;
    for (unsigned i = 0; i < insert->column_count; i++)
        names[i] = insert->columns[i];
    names[insert->column_count++] =
        (struct ast_name){ .text = table->columns[table->key].name,
                           .at = making->at };
    insert->columns = names;
    return true;
}

unsigned insert_key_of(const struct table *table)
{
    return table->key != NO_KEY && is_integer(table->columns[table->key].type)
               ? table->key
               : NO_KEY;
}

bool insert_key_fill(struct inserting *inserting, struct ast_insert *made)
{
    const struct ast_insert *insert = inserting->insert;
    struct making_key making = { .arena = inserting->binder->arena,
                                 .at = insert->table.at };
    int place;

    if (insert_key_of(inserting->table) == NO_KEY || insert->by_name
        || inserting->table->columns[inserting->table->key].default_sql != NULL)
        return true;
    place = place_of(insert, inserting->table);
    if (place < 0 && !fit(insert))
        return true;
    if (place >= 0
        && !say_nothing(inserting->binder, insert->query, (unsigned)place))
        return true;
    *made = *insert;
    made->query = place < 0 ? append_key(&making, inserting)
                            : replace_key(&making, inserting, place);
    if (made->query == NULL
        || (place < 0 && !name_key(&making, inserting->table, made)))
        return false;
    inserting->insert = made;
    inserting->adds_key = place < 0;
    return true;
}
