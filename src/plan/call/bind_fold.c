/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of all rows of a group, which no sum and no least value tells: as
 * windows over the group (operator/rows_fold.h). Beside them those that are other
 * aggregates by another name, of a DOUBLE.
 */
#include "plan/call/call.h"

#include "base/vector.h"
#include "plan/make/convert.h"
#include "plan/make/expression_new.h"
#include "plan/operator/collate.h"
#include "plan/operator/rows_fold.h"
#include "plan/tree/binder.h"

/* A number as a DOUBLE. */
static struct expression *number_of(struct binder *binder,
                                    const struct call *call)
{
    struct expression *e = call->arguments[0];

    return is_null_constant(e) || is_number(e->type)
               ? expression_cast_plain(binder, e, VDBQ_DOUBLE, call->tree->at)
               : refuse_argument(binder, call, e);
}

/* ------------------------------------------------------------- of all rows -- */

struct rows_fold fold_of_call(struct binder *binder, const struct call *call,
                              enum window_function function, int type)
{
    const struct ast_expression *tree = call->tree;

    return (struct rows_fold){
        .function = function,
        .type = type,
        .filter = call->filter,
        .order = call->within,
        .partition = tree->over != NULL
                         ? call->partition
                         : VECTOR_IN(binder->arena, struct expression *),
        .of_group = tree->over == NULL,
        .at = tree->at
    };
}

struct expression *fold_given(struct binder *binder, const struct call *call,
                              struct expression *fold)
{
    const struct call first = { .tree = call->tree, .name = call->name };

    return call->tree->over != NULL
               ? fold
               : bind_aggregate_part(binder, &first, AGGREGATE_FIRST, fold);
}

static enum window_function window_of(enum aggregate_function function)
{
    switch (function) {
    case AGGREGATE_PRODUCT:
        return WINDOW_PRODUCT;
    case AGGREGATE_LAST_ROW:
        return WINDOW_LAST;
    default:
        return WINDOW_FIRST; /* of any row, and of MODE */
    }
}

/* A fold's value, and the key that tells values apart where that matters. */
static bool fill_value(struct binder *binder, const struct call *call,
                       enum aggregate_function function, struct rows_fold *fold)
{
    bool folds = window_is_fold(fold->function);
    bool tells_apart =
        function == AGGREGATE_MODE || (folds && call->tree->distinct);

    fold->value = folds ? number_of(binder, call) : call->arguments[0];
    if (tells_apart && fold->value != NULL)
        fold->key = collation_own_key(binder, fold->value);
    return fold->value != NULL && (fold->key != NULL || !tells_apart);
}

static struct expression *fold_rows(struct binder *binder,
                                    const struct call *call,
                                    enum aggregate_function function)
{
    struct rows_fold fold =
        fold_of_call(binder, call, window_of(function), VDBQ_DOUBLE);
    struct expression *e = NULL;

    if (!fill_value(binder, call, function, &fold))
        return NULL;
    e = window_is_fold(fold.function) ? rows_fold_make(binder, &fold)
        : function == AGGREGATE_MODE  ? rows_fold_mode(binder, &fold)
                                      : rows_fold_row(binder, &fold);
    return fold_given(binder, call, e);
}

/* -------------------------------------------------------- of other aggregates -- */

/* COUNT(DISTINCT x). */
static struct expression *count_distinct(struct binder *binder,
                                         const struct call *call)
{
    struct ast_expression tree = *call->tree;
    struct call distinct = *call;
    const struct aggregate_row *row = aggregate_row(AGGREGATE_COUNT);

    tree.distinct = true;
    tree.column.text = row->name;
    distinct.tree = &tree;
    return tree.over != NULL ? bind_window(binder, &distinct)
                             : bind_aggregate(binder, &distinct, row);
}

struct expression *bind_fold(struct binder *binder, const struct call *call,
                             enum aggregate_function function)
{
    struct call known = *call;

    switch (function) {
    case AGGREGATE_APPROX_COUNT_DISTINCT:
        return count_distinct(binder, call);
    case AGGREGATE_FSUM:
        return bind_aggregate_part(binder, call, AGGREGATE_SUM,
                                   number_of(binder, call));
    case AGGREGATE_ANY_VALUE:
        if (!bind_filter_nulls(binder, &known, call->arguments[0]))
            return NULL;
        break;
    default:
        break;
    }
    return call_is_of_partition(binder, call)
               ? fold_rows(binder, &known, function)
               : NULL;
}
