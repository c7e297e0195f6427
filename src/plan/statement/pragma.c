/* SPDX-License-Identifier: MIT */
/*
 * PRAGMA: what tools that know SQLite ask of tables and indexes, in its columns. Of
 * a table or an index that is not there, there are no rows, as there; a PRAGMA that
 * is not there is refused.
 */
#include "plan/bind/from.h"
#include "plan/call/names.h"
#include "plan/leaf/listing.h"
#include "plan/leaf/lists.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

/* The list that is asked for, NULL: a failure. */
static const struct listed *find(struct binder *binder,
                                 const struct ast_pragma *asked)
{
    const struct listed *listed = lists_pragma(asked->name.text);

    if (listed == NULL) {
        error_at(binder->error, VDBQ_UNKNOWN, asked->name.at,
                 "there is no PRAGMA %s", asked->name.text);
        error_hint(
            binder->error,
            "there are integrity_check, table_info, table_xinfo, table_list, "
            "index_list, index_info, index_xinfo and foreign_key_list; "
            "options are set by vdbq_set(), and by dot commands of the "
            "shell");
    } else if (listed->asks && asked->argument.text == NULL) {
        error_at(binder->error, VDBQ_SYNTAX, asked->name.at,
                 "PRAGMA %s is asked with a name: PRAGMA %s(name)",
                 asked->name.text, asked->name.text);
        return NULL;
    }
    return listed;
}

enum vdbq_status plan_pragma(const struct ast_pragma *asked,
                             struct binder *binder, struct plan *plan)
{
    const struct listed *listed = find(binder, asked);

    if (listed == NULL)
        return binder->error->status;
    plan->kind = PLAN_SELECT;
    return plan_steps(
        binder,
        listing_node(binder, listed, asked->argument.text, from_view_columns),
        plan);
}

enum vdbq_status plan_analyze(const struct ast_drop *analyze,
                              struct binder *binder, struct plan *plan)
{
    const struct ast_name *name = &analyze->name;

    plan->kind = PLAN_EMPTY;
    if (name->text == NULL
        || catalogue_table_in(binder->catalogue, name->schema, name->text)
        || catalogue_index_in(binder->catalogue, name->schema, name->text))
        return VDBQ_OK;
    return error_at(binder->error, VDBQ_UNKNOWN, name->at,
                    "there is no table or index \"%s\"", name->text);
}
