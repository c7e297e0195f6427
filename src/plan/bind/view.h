/* SPDX-License-Identifier: MIT */
/*
 * Views in FROM.
 */
#ifndef VDBQ_PLAN_BIND_VIEW_H
#define VDBQ_PLAN_BIND_VIEW_H

#include "base/error.h"

struct ast_name;
struct ast_query;
struct binder;
struct node;
struct view;

/* bind_query(), which binds views in its turn. */
typedef struct node *query_bind(struct binder *binder,
                                const struct ast_query *query);

/* A view's rows. */
struct node *bind_view(struct binder *binder, const struct view *view,
                       struct position at, query_bind *bind);
/* The same of which nobody asks but for the columns: nothing of the statement that is
 * being bound knows of it. */
struct node *bind_view_columns(struct binder *binder, const struct view *view,
                               query_bind *bind);
/* Gives columns other names: alias(a, b), WITH t(a, b). `node` and `names` may be
 * NULL. */
struct node *rename_columns(struct binder *binder, struct node *node,
                            const struct ast_name *names, unsigned count,
                            struct position at);

#endif
