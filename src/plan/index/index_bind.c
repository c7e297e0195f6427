/* SPDX-License-Identifier: MIT */
#include "plan/index/index_bind.h"

#include <string.h>

#include "plan/bind/bind.h"
#include "plan/bind/scope.h"
#include "plan/tree/binder.h"

enum vdbq_status index_scope(struct binder *binder, const struct table *table,
                             const struct index_rows *rows)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0;
         rows->values == NULL && i < rows->count && status == VDBQ_OK; i++) {
        unsigned number = rows->numbers != NULL ? rows->numbers[i] : i;
        status = scope_add(binder, table->name, table->columns[number].name,
                           (int)(rows->first + i), false);
    }
    return status;
}

/* A text of the catalogue as an expression; NULL: a failure. */
static struct expression *bind_sql(struct binder *binder, const char *sql,
                                   bool condition)
{
    const struct ast_expression *tree;

    binder->sql = sql;
    binder->sql_length = strlen(sql);
    if (sql_parse_expression(sql, binder->sql_length, binder->arena, &tree,
                             binder->error)
        != VDBQ_OK)
        return NULL;
    return condition ? bind_condition(binder, tree)
                     : bind_expression(binder, tree);
}

/* Whether a key is of the type that the catalogue says. */
static bool is_as_said(const struct column *key, const struct expression *e)
{
    return (int)key->type == e->type
           && (key->type != VDBQ_DECIMAL || key->scale == e->scale);
}

static bool bind_all(struct binder *binder, const struct index *index,
                     struct index_bound *bound)
{
    const struct index_keys *keys = index->keys;

    for (unsigned i = 0; i < index->column_count; i++) {
        bound->keys[i] = bind_sql(binder, keys->columns[i].name, false);
        if (bound->keys[i] == NULL)
            return false;
        if (!is_as_said(&keys->columns[i], bound->keys[i]))
            return error_set(binder->error, VDBQ_CORRUPT,
                             "its key %s has another type",
                             keys->columns[i].name),
                   false;
    }
    bound->where = keys->where_sql != NULL
                       ? bind_sql(binder, keys->where_sql, true)
                       : NULL;
    return bound->where != NULL || keys->where_sql == NULL;
}

/* The binder of a text that is none of the statement's. */
static struct binder inner_binder(const struct binder *binder,
                                  struct error *error)
{
    struct binder inner = *binder;

    inner.error = error;
    inner.scope = NULL;
    inner.with = NULL;
    inner.parameters = NULL;
    inner.value_count = inner.parameter_count = 0;
    inner.bound = inner.merges = false;
    inner.trace = NULL;
    inner.views++; /* places are none of the statement's text */
    return inner;
}

/* What binding has made for all who come. */
static void keep_made(struct binder *binder, const struct binder *inner)
{
    binder->machine = inner->machine;
    binder->nodes = inner->nodes;
    binder->lookups = inner->lookups;
}

bool index_bind(struct binder *binder, const struct table *table,
                const struct index *index, const struct index_rows *rows,
                struct index_bound *bound)
{
    struct error why = { 0 };
    struct binder inner = inner_binder(binder, &why);
    struct scope scope;
    bool done;

    bound->keys =
        arena_alloc(binder->arena, index->column_count * sizeof(*bound->keys));
    if (bound->keys == NULL)
        return error_no_memory(binder->error), false;
    scope_enter(&inner, &scope);
    scope.node = rows->node;
    scope.results = rows->values;
    done = index_scope(&inner, table, rows) == VDBQ_OK
           && bind_all(&inner, index, bound);
    scope_leave(&inner, &scope);
    keep_made(binder, &inner);
    if (done)
        return true;
    if (why.status == VDBQ_NO_MEMORY)
        error_no_memory(binder->error);
    else
        error_set(binder->error, VDBQ_CORRUPT, "%s %s is damaged: %s",
                  index->column_count > 0 ? "index" : "CHECK", index->name,
                  why.message);
    return false;
}
