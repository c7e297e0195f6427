/* SPDX-License-Identifier: MIT */
/*
 * Files in FROM.
 */
#ifndef VDBQ_PLAN_LEAF_FILE_H
#define VDBQ_PLAN_LEAF_FILE_H

#include "plan/tree/node.h"

struct binder;

/* FROM 'file.csv'; NULL: a failure. */
struct node *leaf_file(struct binder *binder, const struct ast_from *tree);
/* A file is called what its name says without folders and ending; NULL: no memory. */
const char *leaf_file_alias(struct binder *binder, const char *file);

#endif
