/* SPDX-License-Identifier: MIT */
#include "plan/statement/row_expression.h"

#include <string.h>

#include "plan/tree/binder.h"
#include "plan/tree/expression.h"

/* Notes the columns that an expression reads, and the first part of it that asks
 * other rows. */
struct looking {
    bool *reads;
    bool any; /* it reads one */
    const struct expression *query;
};

static bool look_at(void *context, struct expression **operand)
{
    struct looking *looking = context;
    struct expression *e = *operand;

    if (e->kind == EXPRESSION_COLUMN) {
        looking->reads[e->column.number] = true;
        looking->any = true;
    }
    if (e->kind == EXPRESSION_SUBQUERY && looking->query == NULL)
        looking->query = e;
    return expression_each(e, look_at, looking);
}

enum vdbq_status row_expression_check(const struct row_expressions *of,
                                      const struct ast_expression *tree,
                                      struct expression *e, bool *any)
{
    struct error *error = of->binder->error;
    struct looking looking = { .reads = of->reads };

    if (!look_at(&looking, &e))
        return error->status;
    *any = looking.any;
    if (looking.query != NULL) {
        error_at(error, VDBQ_SYNTAX, looking.query->at,
                 "%s has no queries in it", of->what);
        return error_hint(error,
                          "what it is of is computed of one row of its table");
    }
    if (*of->binder->now != 0) {
        error_at(error, VDBQ_SYNTAX, tree->at,
                 "%s does not depend on the time of day", of->what);
        return error_hint(error,
                          "what it is of is the same whenever it is computed");
    }
    return VDBQ_OK;
}

const char *row_expression_text(const struct row_expressions *of,
                                const struct ast_expression *tree)
{
    struct binder *binder = of->binder;
    const char *text = arena_copy(binder->arena, binder->sql + tree->begin,
                                  tree->end - tree->begin);

    if (text == NULL)
        error_no_memory(binder->error);
    else if (strlen(text) > STORED_SQL_MAX)
        error_at(binder->error, VDBQ_LIMIT, tree->at,
                 "%s is of expressions of at most %d bytes", of->what,
                 (int)STORED_SQL_MAX);
    return binder->error->status == VDBQ_OK ? text : NULL;
}
