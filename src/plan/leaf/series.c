/* SPDX-License-Identifier: MIT */
#include "plan/leaf/series.h"

#include "base/text.h"
#include "plan/leaf/series_time.h"
#include "plan/make/known.h"
#include "plan/tree/binder.h"

/* False: an argument is no constant whole number. */
static bool read_numbers(struct binder *binder, const struct ast_from *tree,
                         const struct series_argument *arguments,
                         unsigned count, struct series *series)
{
    int64_t values[SERIES_ARGUMENTS_MAX] = { 0 };

    for (unsigned i = 0; i < count; i++) {
        const struct expression *e =
            arguments[i].value ? expression_known(binder, arguments[i].value)
                               : NULL;
        if (arguments[i].value != NULL && e == NULL)
            return false;
        if (e == NULL || e->kind != EXPRESSION_CONSTANT
            || (!e->constant.null && !is_integer(e->type)))
            return series_refuse(binder, tree), false;
        series->empty |= e->constant.null;
        values[i] = e->constant.null ? 0 : e->constant.integer;
    }
    series->begin = count > 1 ? values[0] : 0;
    series->end = values[count > 1];
    series->step = count > 2 ? values[2] : 1;
    return true;
}

struct node *series_bind(struct binder *binder, const struct ast_from *tree,
                         const struct series_argument *arguments,
                         unsigned count)
{
    struct series series = { .ends = name_equal(tree->name.text,
                                                "generate_series") };

    if (!series.ends && !name_equal(tree->name.text, "range"))
        return series_refuse(binder, tree), NULL;
    if (series_is_time(arguments, count))
        return series_time(binder, tree, arguments);
    return read_numbers(binder, tree, arguments, count, &series)
               ? series_rows(binder, tree, &series)
               : NULL;
}
