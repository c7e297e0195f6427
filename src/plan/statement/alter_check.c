/* SPDX-License-Identifier: MIT */
/*
 * What names a table that is altered: indexes of expressions, whose texts are kept,
 * and views. Those that would mean nothing afterwards refuse the change.
 */
#include <string.h>

#include "base/vector.h"
#include "plan/bind/query.h"
#include "plan/call/meaning.h"
#include "plan/index/index_bind.h"
#include "plan/make/fold.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_rows.h"
#include "plan/tree/binder.h"

/* --------------------------------------------------------------- indexes -- */

static bool reads_column(const struct index *index, unsigned column,
                         bool by_name)
{
    const struct index_keys *keys = index->keys;
    unsigned count = keys != NULL ? keys->read_count : index->column_count;
    const unsigned *columns = keys != NULL ? keys->reads : index->columns;

    if (by_name && keys == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        if (columns[i] == column)
            return true;
    return false;
}

enum vdbq_status alter_check_indexes(const struct binder *binder,
                                     const struct table *table, unsigned column,
                                     bool by_name, struct position at)
{
    const struct catalogue *catalogue = binder->catalogue;

    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct index *index = &catalogue->indexes[i];
        if (index->table_id != table->id
            || !reads_column(index, column, by_name))
            continue;
        error_at(binder->error, VDBQ_CONSTRAINT, at,
                 "the index %s is of column %s", index->name,
                 table->columns[column].name);
        return error_hint(binder->error, "DROP INDEX %s comes first",
                          index->name);
    }
    return VDBQ_OK;
}

enum vdbq_status alter_check_keys(struct binder *binder,
                                  const struct table *table, const char *name,
                                  struct position at)
{
    const struct catalogue *catalogue = binder->catalogue;
    struct table called = *table;
    struct index_rows rows = { .count = table->column_count };
    struct index_bound bound;

    called.name = name;
    rows.node = table_rows_node(binder, &called, NULL, 0);
    if (rows.node == NULL)
        return binder->error->status;
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct index *index = &catalogue->indexes[i];
        if (index->table_id != table->id || index->keys == NULL
            || index_bind(binder, &called, index, &rows, &bound))
            continue;
        if (binder->error->status == VDBQ_NO_MEMORY)
            return VDBQ_NO_MEMORY;
        error_at(binder->error, VDBQ_CONSTRAINT, at,
                 "the index %s names the table %s", index->name, table->name);
        return error_hint(binder->error, "DROP INDEX %s comes first",
                          index->name);
    }
    return VDBQ_OK;
}

/* ----------------------------------------------------------------- views -- */

/* SELECT * FROM the view; NULL: no memory. */
static const struct ast_query *query_of(const struct binder *binder,
                                        const struct view *view,
                                        struct error *error)
{
    struct ast_statement *statement = NULL;
    struct text sql = { 0 };
    const char *kept;
    size_t consumed;

    text_print(&sql, "FROM %s.",
               view->temporary ? SCHEMA_TEMPORARY : SCHEMA_MAIN);
    name_sql(view->name, &sql);
    kept = sql.failed ? NULL : arena_copy(binder->arena, sql.bytes, sql.length);
    if (kept == NULL)
        error_no_memory(error);
    else
        sql_parse(kept, sql.length, binder->arena, &statement, &consumed,
                  error);
    text_finish(&sql);
    return statement != NULL ? statement->query : NULL;
}

/* Whether a view means something in a state, and what names in it do. */
static enum vdbq_status bind_view(const struct binder *binder,
                                  const struct catalogue *catalogue,
                                  const struct view *view,
                                  struct vector *meanings, struct error *error)
{
    struct binder inner = { .sql = "",
                            .catalogue = catalogue,
                            .arena = binder->arena,
                            .now = binder->now,
                            .meanings = meanings,
                            .error = error };
    const struct ast_query *query = query_of(binder, view, error);

    if (query != NULL)
        bind_query(&inner, query);
    fold_finish(&inner);
    return error->status;
}

static enum vdbq_status refuse_view(const struct binder *binder,
                                    const struct view *view,
                                    const struct error *why, struct position at)
{
    error_at(binder->error, VDBQ_CONSTRAINT, at,
             "the view %s would not work any more: %s", view->name,
             why->message);
    return error_hint(binder->error, "DROP VIEW %s comes first", view->name);
}

static enum vdbq_status refuse_meaning(const struct binder *binder,
                                       const struct view *view,
                                       const char *name, struct position at)
{
    error_at(binder->error, VDBQ_CONSTRAINT, at,
             "the view %s would not mean the same any more: %s would be "
             "something else in it",
             view->name, name);
    return error_hint(binder->error, "DROP VIEW %s comes first", view->name);
}

/* What a view that meant something is like afterwards. */
static enum vdbq_status compare_view(const struct binder *binder,
                                     const struct catalogue *altered,
                                     const struct view *view,
                                     const struct vector *before,
                                     struct position at)
{
    struct vector after = VECTOR_IN(binder->arena, struct meaning);
    struct error why = { 0 };
    enum vdbq_status status = bind_view(binder, altered, view, &after, &why);
    const char *name;

    if (status == VDBQ_NO_MEMORY)
        return error_no_memory(binder->error);
    if (status != VDBQ_OK)
        return refuse_view(binder, view, &why, at);
    name = meanings_differ(before, &after);
    return name != NULL ? refuse_meaning(binder, view, name, at) : VDBQ_OK;
}

/* One that meant nothing before is left alone. */
static enum vdbq_status check_view(const struct binder *binder,
                                   const struct catalogue *altered,
                                   const struct view *view, struct position at)
{
    struct vector before = VECTOR_IN(binder->arena, struct meaning);
    struct error why = { 0 };
    enum vdbq_status status =
        bind_view(binder, binder->catalogue, view, &before, &why);

    if (status == VDBQ_NO_MEMORY)
        return error_no_memory(binder->error);
    return status == VDBQ_OK ? compare_view(binder, altered, view, &before, at)
                             : VDBQ_OK;
}

enum vdbq_status alter_check_views(const struct binder *binder,
                                   const struct alteration *alteration,
                                   struct position at)
{
    const struct catalogue *now = binder->catalogue;
    struct catalogue *altered;
    enum vdbq_status status = VDBQ_OK;

    if (now->view_count == 0)
        return VDBQ_OK;
    altered = catalogue_altered(now, alteration);
    if (altered == NULL)
        return error_no_memory(binder->error);
    for (size_t i = 0; i < now->view_count && status == VDBQ_OK; i++)
        status = check_view(binder, altered, &now->views[i], at);
    catalogue_release(altered);
    return status;
}
