/* SPDX-License-Identifier: MIT */
/*
 * Files in FROM, and the series generate_series(a, b, step), which ends with b, and
 * range(a, b, step), which ends before it: whole numbers that are there while the
 * query is planned, as rows of VALUES are.
 */
#include "plan/bind/from_leaf.h"

#include <string.h>

#include "base/text.h"
#include "plan/make/known.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"

enum { SERIES_ROWS_MAX = 10000000 };

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

/* ---------------------------------------------------------------- series -- */

struct series {
    bool ends;  /* with `end` itself: generate_series */
    bool empty; /* a bound or the step is NULL        */
    int64_t begin, end, step;
};

void leaf_refuse(struct binder *binder, const struct ast_from *tree)
{
    error_at(binder->error, VDBQ_UNKNOWN, tree->name.at,
             "there is no function %s with these arguments in FROM",
             tree->name.text);
    error_hint(binder->error,
               "generate_series(first, last, step) and range(first, end, step) "
               "are there, of constant whole numbers; the first one and the "
               "step may be left out");
}

/* False: an argument is no constant whole number, or the step is 0. */
static bool read_series(struct binder *binder, const struct ast_from *tree,
                        struct expression *const *arguments, unsigned count,
                        struct series *series)
{
    int64_t values[LEAF_ARGUMENTS_MAX] = { 0 };

    for (unsigned i = 0; i < count; i++) {
        const struct expression *e = expression_known(binder, arguments[i]);
        if (e == NULL)
            return false;
        if (e->kind != EXPRESSION_CONSTANT
            || (!e->constant.null && !is_integer(e->type)))
            return leaf_refuse(binder, tree), false;
        series->empty |= e->constant.null;
        values[i] = e->constant.null ? 0 : e->constant.integer;
    }
    series->begin = count > 1 ? values[0] : 0;
    series->end = values[count > 1];
    series->step = count > 2 ? values[2] : 1;
    if (series->step != 0 || series->empty)
        return true;
    error_at(binder->error, VDBQ_RANGE, tree->name.at, "the step of %s is 0",
             tree->name.text);
    return false;
}

/* How many numbers it has. */
static uint64_t series_count(const struct series *series)
{
    bool up = series->step > 0;
    uint64_t from = (uint64_t)(up ? series->begin : series->end),
             to = (uint64_t)(up ? series->end : series->begin),
             step = up ? (uint64_t)series->step : 0 - (uint64_t)series->step;
    bool none = up ? series->begin > series->end : series->begin < series->end;

    if (series->empty || none || (from == to && !series->ends))
        return 0;
    return (to - from - !series->ends) / step + 1;
}

/* The rows; NULL: no memory. */
static struct node *series_node(struct binder *binder,
                                const struct series *series, size_t rows)
{
    struct vdbq_vector *values = arena_alloc(binder->arena, sizeof *values);
    const struct node_column column = { .name = "", .type = VDBQ_BIGINT };
    int64_t *numbers;

    if (values == NULL
        || !constants_room(binder->arena, VDBQ_BIGINT, rows, values))
        return error_no_memory(binder->error), NULL;
    numbers = (int64_t *)(uintptr_t)values->values;
    for (size_t i = 0; i < rows; i++)
        numbers[i] =
            (int64_t)((uint64_t)series->begin + i * (uint64_t)series->step);
    return node_values(binder, &column, 1, values, rows);
}

struct node *leaf_series(struct binder *binder, const struct ast_from *tree,
                         struct expression *const *arguments, unsigned count)
{
    struct series series = { .ends = name_equal(tree->name.text,
                                                "generate_series") };
    uint64_t rows;

    if (!series.ends && !name_equal(tree->name.text, "range"))
        return leaf_refuse(binder, tree), NULL;
    if (!read_series(binder, tree, arguments, count, &series))
        return NULL;
    rows = series_count(&series);
    if (rows <= SERIES_ROWS_MAX)
        return series_node(binder, &series, (size_t)rows);
    error_at(binder->error, VDBQ_LIMIT, tree->name.at,
             "%s has %llu rows; at most %d are allowed", tree->name.text,
             (unsigned long long)rows, SERIES_ROWS_MAX);
    error_hint(binder->error, "two series in FROM have as many rows as their "
                              "product says");
    return NULL;
}
