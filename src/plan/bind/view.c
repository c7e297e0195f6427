/* SPDX-License-Identifier: MIT */
/*
 * A view is its query, bound with nothing around it.
 */
#include "plan/bind/view.h"

#include <string.h>

#include "base/error.h"
#include "data/catalogue/catalogue.h"
#include "parser/ast.h"
#include "plan/make/fold.h"
#include "plan/tree/binder.h"
#include "plan/tree/node.h"

enum { VIEWS_DEEP_MAX = 64 };

struct node *rename_columns(struct binder *binder, struct node *node,
                            const struct ast_name *names, unsigned count,
                            struct position at)
{
    if (node == NULL || names == NULL)
        return node;
    if (count != node->column_count) {
        error_at(binder->error, VDBQ_TYPE, at, "%u names for %u columns", count,
                 node->column_count);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        node->columns[i].name = names[i].text;
    return node;
}

/* The query of a view's text. CREATE VIEW took it; it comes from the file, so
 * that it may be anything now. NULL: a failure. */
static const struct ast_statement *parse_view(struct binder *binder,
                                              const struct view *view)
{
    size_t length = strlen(view->sql), consumed;
    struct ast_statement *statement;
    enum vdbq_status status = sql_parse(view->sql, length, binder->arena,
                                        &statement, &consumed, binder->error);

    if (status == VDBQ_OK && consumed == length
        && statement->kind == AST_CREATE_VIEW
        && statement->parameter_count == 0)
        return statement;
    if (status != VDBQ_NO_MEMORY)
        error_set(binder->error, VDBQ_CORRUPT,
                  "the file's view %s is no CREATE VIEW: %s", view->name,
                  view->sql);
    return NULL;
}

/* What its CREATE VIEW says, bound. */
static struct node *bind_text(struct binder *inner, const struct view *view,
                              struct position at, query_bind *bind)
{
    const struct ast_statement *statement;
    struct node *node = NULL;

    if (inner->views > VIEWS_DEEP_MAX) {
        error_at(inner->error, VDBQ_LIMIT, at, "the view %s uses itself",
                 view->name);
        return NULL;
    }
    statement = parse_view(inner, view);
    if (statement != NULL)
        node = bind(inner, statement->view.query);
    if (node != NULL)
        node = rename_columns(inner, node, statement->view.columns,
                              statement->view.column_count, at);
    fold_finish(inner);
    return node;
}

/* What binds a view's text, with nothing around it. */
static struct binder binder_of(const struct binder *binder,
                               const struct view *view)
{
    return (struct binder){ .sql = view->sql,
                            .sql_length = strlen(view->sql),
                            .catalogue = binder->catalogue,
                            .schema = view->temporary ? NULL : SCHEMA_MAIN,
                            .arena = binder->arena,
                            .now = binder->now,
                            .limits = binder->limits,
                            .error = binder->error };
}

struct node *bind_view(struct binder *binder, const struct view *view,
                       struct position at, query_bind *bind)
{
    struct binder inner = binder_of(binder, view);
    struct node *node;

    inner.basis = binder->basis;
    inner.parameter_count = binder->parameter_count;
    inner.nodes = binder->nodes;
    inner.commons = binder->commons;
    inner.commons_last = binder->commons_last;
    inner.meanings = binder->meanings;
    inner.views = binder->views + 1;
    inner.columns_only = binder->columns_only;
    inner.replaced = binder->replaced;
    node = bind_text(&inner, view, at, bind);
    binder->parameter_count = inner.parameter_count;
    binder->nodes = inner.nodes;
    binder->commons = inner.commons;
    binder->commons_last = inner.commons_last;
    return node;
}

struct node *bind_view_columns(struct binder *binder, const struct view *view,
                               query_bind *bind)
{
    struct binder inner = binder_of(binder, view);

    inner.views = 1;
    inner.columns_only = true;
    return bind_text(&inner, view, (struct position){ 0 }, bind);
}
