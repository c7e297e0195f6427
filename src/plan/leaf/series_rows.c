/* SPDX-License-Identifier: MIT */
/*
 * A short series is rows of VALUES. Of a long one numbers are made as they are asked
 * for: it is a grid of two short ones, the numbers that blocks of rows begin with and
 * the distances within a block, whose sums come in the series' order.
 */
#include "plan/leaf/series_rows.h"

#include <string.h>

#include "base/hostile.h"
#include "base/vector.h"
#include "plan/make/arithmetic.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/tree/binder.h"
#include "plan/tree/constants.h"

/* Rows of a short one. Of 9 and more no distance in a block is too large for 64 bits. */
enum { VALUES_MAX = HOSTILE(8, 1 << 16) };
/* So that neither part of a grid is longer than 2^20. */
#define ROWS_MAX (UINT64_C(1) << 40)

void series_refuse(struct binder *binder, const struct ast_from *tree)
{
    error_at(binder->error, VDBQ_UNKNOWN, tree->name.at,
             "there is no function %s with these arguments in FROM",
             tree->name.text);
    error_hint(
        binder->error,
        "generate_series(first, last, step) and range(first, end, step) "
        "are there, of constant whole numbers, where the first one and "
        "the step may be left out, or of dates or times and an INTERVAL");
}

/* How many numbers it has; UINT64_MAX, too, where they are one more than that. */
static uint64_t series_count(const struct series *series)
{
    bool up = series->step > 0;
    uint64_t from = (uint64_t)(up ? series->begin : series->end),
             to = (uint64_t)(up ? series->end : series->begin),
             step = up ? (uint64_t)series->step : 0 - (uint64_t)series->step;
    bool none = up ? series->begin > series->end : series->begin < series->end;
    uint64_t steps;

    if (series->empty || none || (from == to && !series->ends))
        return 0;
    steps = (to - from - !series->ends) / step;
    return steps == UINT64_MAX ? steps : steps + 1;
}

struct node *series_listed(struct binder *binder, const int64_t *numbers,
                           size_t rows)
{
    struct vdbq_vector *values = arena_alloc(binder->arena, sizeof *values);
    const struct node_column column = { .name = "", .type = VDBQ_BIGINT };

    if (values == NULL
        || !constants_room(binder->arena, VDBQ_BIGINT, rows, values))
        return error_no_memory(binder->error), NULL;
    if (rows > 0)
        memcpy((void *)(uintptr_t)values->values, numbers,
               rows * sizeof *numbers);
    return node_values(binder, &column, 1, values, rows);
}

/* `begin`, `begin + step` and so on as rows of constants; NULL: no memory. */
static struct node *counted(struct binder *binder, int64_t begin, uint64_t step,
                            size_t rows)
{
    int64_t *numbers = arena_alloc(binder->arena, (rows + 1) * sizeof *numbers);

    if (numbers == NULL)
        return error_no_memory(binder->error), NULL;
    for (size_t i = 0; i < rows; i++)
        numbers[i] = (int64_t)((uint64_t)begin + i * step);
    return series_listed(binder, numbers, rows);
}

/* ---------------------------------------------------------- a long one -- */

struct grid {
    size_t blocks, width; /* rows of a block: a power of two */
    size_t last;          /* ... of the last one, at least 1 */
};

static struct grid grid_of(uint64_t rows)
{
    struct grid grid = { .width = 1 };

    while ((uint64_t)grid.width * grid.width < rows)
        grid.width *= 2;
    grid.blocks = (size_t)((rows - 1) / grid.width + 1);
    grid.last = (size_t)(rows - (uint64_t)(grid.blocks - 1) * grid.width);
    return grid;
}

/* A column of one of both parts, compared with a number of 64 bits. */
static struct expression *compare(struct binder *binder,
                                  const struct node *product, unsigned column,
                                  enum ast_operator operator, uint64_t number,
                                  struct position at)
{
    return expression_calculate(binder, operator,
                                node_column(binder, product, column, at),
                                (int64_t)number, at);
}

/* The rows of the last block that the series has: others are in another block, or at
 * most as far in it as its last one. */
static struct expression *ends_with(struct binder *binder,
                                    const struct node *product,
                                    const struct series *series,
                                    struct grid grid, struct position at)
{
    const struct ast_expression place = { .at = at };
    uint64_t step = (uint64_t)series->step,
             block = (uint64_t)(grid.blocks - 1) * grid.width * step;
    struct expression *before = compare(binder, product, 0, AST_NEQ,
                                        (uint64_t)series->begin + block, at);
    struct expression *within =
        compare(binder, product, 1, series->step > 0 ? AST_LE : AST_GE,
                (grid.last - 1) * step, at);

    return before && within
               ? expression_logic(binder, AST_OR, before, within, &place)
               : NULL;
}

/* Each number that a block begins with beside each distance; NULL: no memory. */
static struct node *grid_product(struct binder *binder,
                                 const struct series *series, struct grid grid)
{
    uint64_t step = (uint64_t)series->step;
    struct node *parts[] = {
        counted(binder, series->begin, grid.width * step, grid.blocks),
        counted(binder, 0, step, grid.width),
    };
    const struct vector both = VECTOR_OF(parts, 2);

    return parts[0] && parts[1]
               ? node_product(binder, &both, &(struct vector){ 0 })
               : NULL;
}

static struct expression *
grid_sum(struct binder *binder, const struct node *product, struct position at)
{
    const struct ast_expression place = { .at = at };
    struct expression *begin = node_column(binder, product, 0, at);
    struct expression *distance = node_column(binder, product, 1, at);

    return begin && distance
               ? expression_arithmetic(binder, AST_ADD, begin, distance, &place)
               : NULL;
}

static struct node *series_grid(struct binder *binder,
                                const struct series *series, uint64_t rows,
                                struct position at)
{
    struct grid grid = grid_of(rows);
    bool whole = grid.last == grid.width;
    struct node *product = grid_product(binder, series, grid);
    struct expression *sum = product ? grid_sum(binder, product, at) : NULL;
    struct expression *where =
        sum && !whole ? ends_with(binder, product, series, grid, at) : NULL;

    return sum && (whole || where)
               ? node_select(binder, product, where, &sum, NULL, 1)
               : NULL;
}

struct node *series_rows(struct binder *binder, const struct ast_from *tree,
                         const struct series *series)
{
    uint64_t rows;

    if (series->step == 0 && !series->empty) {
        error_at(binder->error, VDBQ_RANGE, tree->name.at,
                 "the step of %s is 0", tree->name.text);
        return NULL;
    }
    rows = series_count(series);
    if (rows <= VALUES_MAX)
        return counted(binder, series->begin, (uint64_t)series->step,
                       (size_t)rows);
    if (rows <= ROWS_MAX)
        return series_grid(binder, series, rows, tree->name.at);
    error_at(binder->error, VDBQ_LIMIT, tree->name.at,
             "%s has %llu rows; at most %llu are allowed", tree->name.text,
             (unsigned long long)rows, (unsigned long long)ROWS_MAX);
    return NULL;
}
