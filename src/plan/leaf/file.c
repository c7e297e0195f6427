/* SPDX-License-Identifier: MIT */
/*
 * Files in FROM.
 */
#include "plan/leaf/file.h"

#include <string.h>

#include "plan/make/node.h"
#include "plan/tree/binder.h"

struct node *leaf_file(struct binder *binder, const struct ast_from *tree)
{
    const struct table *table = catalogue_file(binder->catalogue, tree->file);

    if (table != NULL)
        return node_table(binder, table);
    error_at(binder->error, VDBQ_UNKNOWN, tree->at,
             "files cannot be read from here");
    error_hint(binder->error, "the shell reads them; a program that uses the "
                              "library gives it a reader with vdbq_on_file()");
    return NULL;
}

const char *leaf_file_alias(struct binder *binder, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash != NULL ? slash + 1 : file;
    const char *dot = strchr(name, '.');
    size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);

    return arena_copy(binder->arena, name, length);
}
