/* SPDX-License-Identifier: MIT */
/*
 * STRING_AGG: texts of whatever is joined, by a comma where nothing else is said.
 */
#include "base/vector.h"
#include "plan/call/call.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/collate.h"
#include "plan/operator/rows_fold.h"
#include "plan/tree/binder.h"

static bool check_call(struct binder *binder, const struct call *call)
{
    if (call->count != 1 && call->count != 2) {
        error_at(binder->error, VDBQ_TYPE, call->tree->at,
                 "%s takes a value and a separator, not %u arguments",
                 call->name, call->count);
        return false;
    }
    if (call->tree->over == NULL
        || (call->order.count == 0 && call->frame.unit == FRAME_DEFAULT))
        return true;
    error_at(binder->error, VDBQ_SYNTAX, call->tree->at,
             "%s with OVER takes no frame, and its ORDER BY in the call",
             call->name);
    error_hint(binder->error, "string_agg(x, ',' ORDER BY y) OVER (PARTITION "
                              "BY z) joins all rows of a partition");
    return false;
}

static struct expression *join_texts(struct binder *binder,
                                     const struct call *call)
{
    static const struct vdbq_text comma = { ",", 1 };
    const struct ast_expression *tree = call->tree;
    struct rows_fold joined =
        fold_of_call(binder, call, WINDOW_STRING_AGG, VDBQ_TEXT);
    struct expression *e = NULL;

    joined.value =
        expression_cast_plain(binder, call->arguments[0], VDBQ_TEXT, tree->at);
    joined.separator = call->count > 1
                           ? expression_cast_plain(binder, call->arguments[1],
                                                   VDBQ_TEXT, tree->at)
                           : expression_text(binder, comma, tree->at);
    if (tree->distinct)
        joined.key = collation_own_key(binder, call->arguments[0]);
    if (joined.value != NULL && joined.separator != NULL
        && (joined.key != NULL || !tree->distinct))
        e = rows_fold_make(binder, &joined);
    return fold_given(binder, call, e);
}

struct expression *bind_string_agg(struct binder *binder,
                                   const struct call *call)
{
    return check_call(binder, call) ? join_texts(binder, call) : NULL;
}
