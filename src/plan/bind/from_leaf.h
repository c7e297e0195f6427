/* SPDX-License-Identifier: MIT */
/*
 * What stands in FROM besides tables and queries: files, and functions that give rows.
 */
#ifndef VDBQ_PLAN_BIND_FROM_LEAF_H
#define VDBQ_PLAN_BIND_FROM_LEAF_H

#include "plan/tree/node.h"

struct binder;

enum { LEAF_ARGUMENTS_MAX = 3 }; /* of a function in FROM */

/* FROM 'file.csv'; NULL: a failure. */
struct node *leaf_file(struct binder *binder, const struct ast_from *tree);
/* A file is called what its name says without folders and ending; NULL: no memory. */
const char *leaf_file_alias(struct binder *binder, const char *file);

/* generate_series and range of constants, as rows of one column; NULL: a failure. */
struct node *leaf_series(struct binder *binder, const struct ast_from *tree,
                         struct expression *const *arguments, unsigned count);
/* That there is no such function in FROM, or none with these arguments. */
void leaf_refuse(struct binder *binder, const struct ast_from *tree);

#endif
