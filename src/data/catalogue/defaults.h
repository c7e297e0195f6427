/* SPDX-License-Identifier: MIT */
/*
 * The DEFAULTs of a table as trees. The file keeps their text; it is parsed
 * once, when a catalogue is read or a table is made, and nobody changes a tree
 * afterwards. This floor knows no parser: who opens a database brings one.
 */
#ifndef VDBQ_DATA_DEFAULTS_H
#define VDBQ_DATA_DEFAULTS_H

#include "base/error.h"
#include "base/memory.h"

struct ast_expression;
struct table;

/* Parses the text of a DEFAULT; the tree lives in `arena`. Fails with SYNTAX
 * or LIMIT where the text is no expression, and with NO_MEMORY. */
typedef enum vdbq_status (*default_parser)(const char *sql, struct arena *arena,
                                           const struct ast_expression **tree,
                                           struct error *error);

/* Where the trees of one table live. The table and its copies, in whatever
 * catalogues, share them. */
struct defaults {
    unsigned holders;   /* tables: defaults_hold() and _release() */
    struct arena arena; /* of the trees                           */
};

/* Gives each column that has a DEFAULT its tree, and the table what holds
 * them; `parse` NULL: texts stay texts. CORRUPT: one is no expression. */
enum vdbq_status defaults_parse(default_parser parse, struct table *table,
                                struct error *error);

/* Both accept NULL: no column has a tree. */
struct defaults *defaults_hold(struct defaults *defaults);
void defaults_release(struct defaults *defaults);

#endif
