/* SPDX-License-Identifier: MIT */
/*
 * PRAGMA: what tools that know SQLite ask of tables and indexes, in its columns. Of
 * a table or an index that is not there, there are no rows, as there; a PRAGMA that
 * is not there is refused. What is UNIQUE, and a primary key that is no integer,
 * are shown as the indexes that SQLite would have made for them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/type.h"
#include "base/vector.h"
#include "plan/bind/query.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/plan.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

enum { ANSWER_COLUMNS = 8, NAME_ROOM = 2 * NAME_BYTES_MAX };

/* The rows of an answer, while they are made. */
struct answer {
    struct binder *binder;
    const struct pragma *pragma;
    const char *argument; /* NULL: none was given         */
    struct vector rows;   /* of struct node *             */
    struct expression
        *values[ANSWER_COLUMNS]; /* of the next one              */
    unsigned count;              /* ... that are there           */
    bool failed;
};

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

typedef void (*index_take)(struct answer *answer,
                           const struct shown_index *index);

/* ----------------------------------------------------------------- values -- */

static void add(struct answer *answer, struct expression *e)
{
    answer->failed |= e == NULL;
    answer->values[answer->count++] = e;
}

static void add_number(struct answer *answer, int64_t number)
{
    add(answer,
        expression_integer(answer->binder, number, (struct position){ 0 }));
}

/* NULL: it is NULL. */
static void add_text(struct answer *answer, const char *text)
{
    struct position at = { 0 };
    char *copy = text != NULL
                     ? arena_copy(answer->binder->arena, text, strlen(text))
                     : NULL;

    if (text == NULL)
        add(answer, expression_null(answer->binder, VDBQ_TEXT, at));
    else if (copy != NULL)
        add(answer,
            expression_text(answer->binder,
                            (struct vdbq_text){ copy, strlen(copy) }, at));
    else {
        error_no_memory(answer->binder->error);
        add(answer, NULL);
    }
}

static void end_row(struct answer *answer);

/* ----------------------------------------------------------------- tables -- */

/* The type as CREATE TABLE writes it. */
static void add_type(struct answer *answer, const struct node_column *column)
{
    char room[64];

    snprintf(room, sizeof room, "%s", type_name((enum vdbq_type)column->type));
    if (column->type == VDBQ_DECIMAL)
        snprintf(room, sizeof room, "DECIMAL(%u,%u)", column->precision,
                 column->scale);
    add_text(answer, room);
}

/* A column of a table, or of a view (NULL). */
static void show_column(struct answer *answer, const struct node_column *column,
                        const struct table *table, unsigned number)
{
    const struct column *own = table != NULL ? &table->columns[number] : NULL;

    add_number(answer, number);
    add_text(answer, column->name);
    add_type(answer, column);
    add_number(answer, own != NULL && own->not_null);
    add_text(answer, own != NULL ? own->default_sql : NULL);
    add_number(answer, table != NULL && table->key == number);
}

/* SELECT * FROM it */
static struct node *read_all(struct answer *answer, const char *name)
{
    struct ast_from from = { .kind = AST_FROM_TABLE, .name = { .text = name } };
    struct ast_result all = { .star = true };
    const struct ast_query query = {
        .kind = AST_QUERY_SELECT,
        .select = { .results = &all, .result_count = 1, .from = &from }
    };

    return bind_query(answer->binder, &query);
}

static void show_columns(struct answer *answer, bool hidden)
{
    const struct catalogue *catalogue = answer->binder->catalogue;
    const struct table *table = catalogue_table(catalogue, answer->argument);
    const struct node *node;

    if (table == NULL && catalogue_view(catalogue, answer->argument) == NULL)
        return;
    node = read_all(answer, answer->argument);
    answer->failed |= node == NULL;
    for (unsigned i = 0; !answer->failed && i < node->column_count; i++) {
        show_column(answer, &node->columns[i], table, i);
        if (hidden)
            add_number(answer, 0);
        end_row(answer);
    }
}

static void table_info(struct answer *answer)
{
    show_columns(answer, false);
}

static void table_xinfo(struct answer *answer)
{
    show_columns(answer, true);
}

static void show_table(struct answer *answer, const char *name,
                       const char *type, unsigned columns)
{
    if (answer->argument != NULL && !name_equal(name, answer->argument))
        return;
    add_text(answer, "main");
    add_text(answer, name);
    add_text(answer, type);
    add_number(answer, columns);
    add_number(answer, 0);
    add_number(answer, 0);
    end_row(answer);
}

/* Columns of a view; 0: it reads what is no longer there. */
static unsigned view_columns(struct answer *answer, const struct view *view)
{
    const struct node *node = read_all(answer, view->name);

    answer->failed |= answer->binder->error->status == VDBQ_NO_MEMORY;
    if (node == NULL && !answer->failed)
        error_clear(answer->binder->error);
    return node != NULL ? node->column_count : 0;
}

static void table_list(struct answer *answer)
{
    const struct catalogue *catalogue = answer->binder->catalogue;

    for (size_t i = 0; i < catalogue->table_count && !answer->failed; i++)
        show_table(answer, catalogue->tables[i].name, "table",
                   catalogue->tables[i].column_count);
    for (size_t i = 0; i < catalogue->view_count && !answer->failed; i++)
        show_table(answer, catalogue->views[i].name, "view",
                   view_columns(answer, &catalogue->views[i]));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* SHOW TABLES: names of tables and views, in their order. */
static void show_tables(struct answer *answer)
{
    const struct catalogue *catalogue = answer->binder->catalogue;
    size_t count = 0, all = catalogue->table_count + catalogue->view_count;
    const char **names =
        arena_alloc(answer->binder->arena, (all + 1) * sizeof *names);

    answer->failed |= names == NULL;
    if (names == NULL) {
        error_no_memory(answer->binder->error);
        return;
    }
    for (size_t i = 0; i < catalogue->table_count; i++)
        names[count++] = catalogue->tables[i].name;
    for (size_t i = 0; i < catalogue->view_count; i++)
        names[count++] = catalogue->views[i].name;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count && !answer->failed; i++) {
        add_text(answer, names[i]);
        end_row(answer);
    }
}

static void foreign_key_list(struct answer *answer)
{
    (void)answer; /* there are none */
}

/* ---------------------------------------------------------------- indexes -- */

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

/* The last one comes first. */
static void each_own(struct answer *answer, const struct table *table,
                     index_take take)
{
    struct arena *arena = answer->binder->arena;
    struct vector own = VECTOR_IN(arena, struct shown_index);

    if (!add_all_own(
            &own, table,
            arena_alloc(arena, table->column_count * sizeof(unsigned)))) {
        error_no_memory(answer->binder->error);
        answer->failed = true;
        return;
    }
    for (size_t i = own.count; i > 0; i--)
        take(answer, vector_at(&own, i - 1));
}

static void each_named(struct answer *answer, const struct table *table,
                       index_take take)
{
    const struct catalogue *catalogue = answer->binder->catalogue;

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
        take(answer, &shown);
    }
}

static void show_index(struct answer *answer, const struct shown_index *index)
{
    add_number(answer, (int64_t)answer->rows.count);
    add_text(answer, index->name);
    add_number(answer, index->unique);
    add_text(answer, index->origin);
    add_number(answer, index->keys != NULL && index->keys->where_sql != NULL);
    end_row(answer);
}

static void index_list(struct answer *answer)
{
    const struct table *table =
        catalogue_table(answer->binder->catalogue, answer->argument);

    if (table == NULL)
        return;
    each_named(answer, table, show_index);
    each_own(answer, table, show_index);
}

/* Whether it is the index that is asked for. */
static bool is_asked(const struct answer *answer,
                     const struct shown_index *index)
{
    return name_equal(index->name, answer->argument);
}

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
static void show_place(struct answer *answer, const struct shown_index *index,
                       unsigned i)
{
    const struct column *column = column_of(index, i);

    add_number(answer, i);
    add_number(answer, column != NULL ? column - index->table->columns : -2);
    add_text(answer, column != NULL ? column->name : NULL);
}

static void show_places(struct answer *answer, const struct shown_index *index)
{
    for (unsigned i = 0; is_asked(answer, index) && i < index->count; i++) {
        show_place(answer, index, i);
        end_row(answer);
    }
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
static void show_more(struct answer *answer, const struct shown_index *index)
{
    for (unsigned i = 0; is_asked(answer, index) && i < index->count; i++) {
        show_place(answer, index, i);
        add_number(answer, 0);
        add_text(answer, collation_name(collation_in(index, i)));
        add_number(answer, 1);
        end_row(answer);
    }
    if (!is_asked(answer, index))
        return;
    add_number(answer, index->count);
    add_number(answer, -1);
    add_text(answer, NULL);
    add_number(answer, 0);
    add_text(answer, collation_name(COLLATION_BINARY));
    add_number(answer, 0);
    end_row(answer);
}

static void each_index(struct answer *answer, index_take take)
{
    const struct catalogue *catalogue = answer->binder->catalogue;

    for (size_t i = 0; i < catalogue->table_count; i++) {
        each_named(answer, &catalogue->tables[i], take);
        each_own(answer, &catalogue->tables[i], take);
    }
}

static void index_info(struct answer *answer)
{
    each_index(answer, show_places);
}

static void index_xinfo(struct answer *answer)
{
    each_index(answer, show_more);
}

/* -------------------------------------------------------------------- all -- */

static const struct pragma {
    const char *name;
    bool asks; /* it is one about a table, or an index */
    void (*show)(struct answer *answer);
    unsigned count;
    const char *columns[ANSWER_COLUMNS];
    const char *types; /* of these: i, t */
} pragmas[] = {
    { "table_info",
      true,
      table_info,
      6,
      { "cid", "name", "type", "notnull", "dflt_value", "pk" },
      "ittiti" },
    { "table_xinfo",
      true,
      table_xinfo,
      7,
      { "cid", "name", "type", "notnull", "dflt_value", "pk", "hidden" },
      "ittitii" },
    { "table_list",
      false,
      table_list,
      6,
      { "schema", "name", "type", "ncol", "wr", "strict" },
      "tttiii" },
    { "index_list",
      true,
      index_list,
      5,
      { "seq", "name", "unique", "origin", "partial" },
      "ititi" },
    { "index_info", true, index_info, 3, { "seqno", "cid", "name" }, "iit" },
    { "index_xinfo",
      true,
      index_xinfo,
      6,
      { "seqno", "cid", "name", "desc", "coll", "key" },
      "iititi" },
    { "tables", false, show_tables, 1, { "name" }, "t" },
    { "foreign_key_list",
      true,
      foreign_key_list,
      8,
      { "id", "seq", "table", "from", "to", "on_update", "on_delete", "match" },
      "iitttttt" },
};
enum { PRAGMAS = sizeof pragmas / sizeof *pragmas };

/* One row of values, or where it is none a row that `where` leaves out. */
static void add_row(struct answer *answer, struct expression *where)
{
    const struct pragma *pragma = answer->pragma;
    struct node *once = answer->failed ? NULL : node_once(answer->binder);
    struct node *row =
        once != NULL ? node_select(answer->binder, once, where, answer->values,
                                   pragma->columns, pragma->count)
                     : NULL;

    answer->count = 0;
    if (row != NULL && vector_append(&answer->rows, &row, 1))
        return;
    if (row != NULL)
        error_no_memory(answer->binder->error);
    answer->failed = true;
}

static void end_row(struct answer *answer)
{
    add_row(answer, NULL);
}

/* An answer without rows has columns all the same. */
static void add_none(struct answer *answer)
{
    struct position at = { 0 };
    struct expression *no = expression_truth(answer->binder, false, at);

    for (const char *type = answer->pragma->types; *type != '\0'; type++)
        if (*type == 'i')
            add_number(answer, 0);
        else
            add_text(answer, NULL);
    answer->failed |= no == NULL;
    add_row(answer, no);
}

static const struct pragma *find(struct binder *binder,
                                 const struct ast_pragma *asked)
{
    for (unsigned i = 0; i < PRAGMAS; i++)
        if (name_equal(pragmas[i].name, asked->name.text)) {
            if (!pragmas[i].asks || asked->argument.text != NULL)
                return &pragmas[i];
            error_at(binder->error, VDBQ_SYNTAX, asked->name.at,
                     "PRAGMA %s is asked with a name: PRAGMA %s(name)",
                     pragmas[i].name, pragmas[i].name);
            return NULL;
        }
    error_at(binder->error, VDBQ_UNKNOWN, asked->name.at,
             "there is no PRAGMA %s", asked->name.text);
    error_hint(
        binder->error,
        "there are integrity_check, table_info, table_xinfo, table_list, "
        "index_list, index_info, index_xinfo and foreign_key_list; "
        "options are set by vdbq_set(), and by dot commands of the "
        "shell");
    return NULL;
}

enum vdbq_status plan_pragma(const struct ast_pragma *asked,
                             struct binder *binder, struct plan *plan)
{
    struct answer answer = { .binder = binder,
                             .pragma = find(binder, asked),
                             .argument = asked->argument.text,
                             .rows = VECTOR_IN(binder->arena, struct node *) };
    struct node *node;

    if (answer.pragma == NULL)
        return binder->error->status;
    answer.pragma->show(&answer);
    if (!answer.failed && answer.rows.count == 0)
        add_none(&answer);
    if (answer.failed)
        return binder->error->status;
    node = answer.rows.count == 1 ? VECTOR_ITEMS(&answer.rows, struct node *)[0]
                                  : node_concat(binder, answer.rows.items,
                                                (unsigned)answer.rows.count);
    plan->kind = PLAN_SELECT;
    return plan_steps(binder, node, plan);
}

enum vdbq_status plan_analyze(const struct ast_drop *analyze,
                              struct binder *binder, struct plan *plan)
{
    const struct ast_name *name = &analyze->name;

    plan->kind = PLAN_EMPTY;
    if (name->text == NULL
        || catalogue_table(binder->catalogue, name->text) != NULL
        || catalogue_index(binder->catalogue, name->text) != NULL)
        return VDBQ_OK;
    return error_at(binder->error, VDBQ_UNKNOWN, name->at,
                    "there is no table or index \"%s\"", name->text);
}
