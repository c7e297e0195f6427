/* SPDX-License-Identifier: MIT */
/*
 * Ranges: joins whose conditions bound a value of one side by values of the
 * other. The executor sorts it and looks for the bounds, so that most pairs
 * are never looked at. Of what can be bounded, that which has both bounds is
 * the best, and then what is on the right.
 *
 * A pair that a range finds costs as much as many cells of a grid, for it is
 * written as two row numbers, by which its columns are fetched: a range pays
 * where it leaves few pairs.
 */
#include "plan/condition/range_join.h"

#include "base/vector.h"
#include "plan/make/node_select.h"
#include "plan/make/replace.h"
#include "plan/condition/bounds.h"
#include "plan/tree/binder.h"

/* In units of cl/opcodes.h: a row that is sorted or looks for its bounds, a
 * pair that is found, and a grid's launch, whatever its size. As measured on
 * two cores; a GPU's cells cost still less. */
static const double PRICE_ROW = 2048, PRICE_PAIR = 512, PRICE_LAUNCH = 1 << 20;

static const struct bound *bound_at(const struct bounds *bounds, int i)
{
    return vector_at(&bounds->found, (size_t)i);
}

/* -------------------------------------------------------------- choice -- */

static void choose_bound(const struct bounds *bounds, int i, int *best)
{
    bool is_better =
        *best < 0
        || (bound_at(bounds, i)->exact && !bound_at(bounds, *best)->exact);

    if (is_better)
        *best = i;
}

/* The bounds of what number `i` bounds. */
static struct range_choice choice_of(const struct bounds *bounds, int i)
{
    const struct bound *bound = bound_at(bounds, i), *other;
    struct range_choice choice = { .low = -1, .high = -1 };

    for (int k = 0; k < (int)bounds->found.count; k++) {
        other = bound_at(bounds, k);
        if (other->is_right == bound->is_right
            && expression_same(other->bounded, bound->bounded))
            choose_bound(bounds, k, other->is_low ? &choice.low : &choice.high);
    }
    choice.score = 4 * ((choice.low >= 0) + (choice.high >= 0))
                   + 2 * bound->is_right
                   + (bound->bounded->kind == EXPRESSION_COLUMN);
    return choice;
}

struct range_choice range_choose(const struct bounds *bounds)
{
    struct range_choice best = { .low = -1, .high = -1 };

    for (int i = 0; i < (int)bounds->found.count; i++) {
        struct range_choice choice = choice_of(bounds, i);
        if (choice.score > best.score)
            best = choice;
    }
    return best;
}

/* Whether the bounds say all of a part. */
static bool says_all(const struct bounds *bounds,
                     const struct range_choice *choice, size_t part)
{
    const int chosen[2] = { choice->low, choice->high };
    int halves = 0;

    for (int i = 0; i < 2; i++) {
        const struct bound *bound =
            chosen[i] < 0 ? NULL : bound_at(bounds, chosen[i]);
        if (bound != NULL && bound->part == part && bound->exact)
            halves += bound->half ? 1 : 2;
    }
    return halves >= 2;
}

/* --------------------------------------------------------------- price -- */

double range_share(const struct bounds *bounds,
                   const struct range_choice *choice,
                   const struct range_sides *sides)
{
    const int chosen[2] = { choice->low, choice->high };
    struct column_estimate estimates[2], value;
    const struct bound *any = NULL;

    for (int i = 0; i < 2; i++)
        if (chosen[i] >= 0) {
            any = bound_at(bounds, chosen[i]);
            estimates[i] = estimate_expression(&sides->columns, any->by);
        }
    if (any == NULL)
        return 1;
    value = estimate_expression(&sides->columns, any->bounded);
    return estimate_between(&value, choice->low < 0 ? NULL : &estimates[0],
                            choice->high < 0 ? NULL : &estimates[1],
                            sides->bases[any->is_right]);
}

static void set_price(const struct bounds *bounds, const struct vector *parts,
                      const struct range_sides *sides,
                      struct range_price *price)
{
    struct range_choice best = range_choose(bounds);
    double pairs = estimate_rows(sides->rows[0] * sides->rows[1]), cell = 0;

    for (size_t i = 0; i < parts->count; i++) {
        const struct expression *part =
            VECTOR_ITEMS(parts, struct expression *)[i];
        cell += part != NULL ? (double)part->size : 0;
    }
    price->share = range_share(bounds, &best, sides);
    price->range = (sides->rows[0] + sides->rows[1]) * PRICE_ROW
                   + pairs * price->share * PRICE_PAIR;
    price->grid = PRICE_LAUNCH + pairs * cell;
}

/* -------------------------------------------------------------- finding -- */

enum { BOUNDS_MAX = 256 }; /* each is compared with each */

enum vdbq_status range_find(struct bounds *bounds, const struct vector *parts)
{
    enum vdbq_status status = VDBQ_OK;

    for (size_t i = 0; i < parts->count && status == VDBQ_OK
                       && bounds->found.count < BOUNDS_MAX;
         i++) {
        struct expression *part = VECTOR_ITEMS(parts, struct expression *)[i];
        if (part != NULL)
            status = bounds_add(bounds, i, part);
    }
    return status;
}

/* The column of a side that is such an expression; -1: a failure. */
static int column_for(struct bounds *bounds, struct node *nodes[2],
                      bool is_right, struct expression *e)
{
    if (is_right)
        e = expression_moved_by(bounds->binder, e, -(int)bounds->middle);
    return e ? node_column_for(bounds->binder, &nodes[is_right], e) : -1;
}

enum vdbq_status range_make(struct bounds *bounds,
                            const struct range_choice *choice,
                            struct node *nodes[2],
                            struct step_range_join *range)
{
    const struct bound *low =
        choice->low < 0 ? NULL : bound_at(bounds, choice->low);
    const struct bound *high =
        choice->high < 0 ? NULL : bound_at(bounds, choice->high);
    const struct bound *any = low ? low : high;
    bool is_right = any->is_right;

    *range =
        (struct step_range_join){ .side = is_right ? RANGE_JOIN_RIGHT
                                                   : RANGE_JOIN_LEFT,
                                  .low = -1,
                                  .high = -1,
                                  .low_open = low != NULL && low->is_open,
                                  .high_open = high != NULL && high->is_open };
    range->column = column_for(bounds, nodes, is_right, any->bounded);
    if (low != NULL)
        range->low = column_for(bounds, nodes, !is_right, low->by);
    if (high != NULL)
        range->high = column_for(bounds, nodes, !is_right, high->by);
    return range->column < 0 || (low != NULL && range->low < 0)
                   || (high != NULL && range->high < 0)
               ? bounds->binder->error->status
               : VDBQ_OK;
}

static enum vdbq_status add_best(struct bounds *bounds, struct node *nodes[2],
                                 struct vector *parts,
                                 struct step_range_join *range)
{
    struct range_choice best = range_choose(bounds);

    if (best.low < 0 && best.high < 0)
        return VDBQ_OK;
    for (size_t i = 0; i < parts->count; i++)
        if (says_all(bounds, &best, i))
            VECTOR_ITEMS(parts, struct expression *)[i] = NULL;
    return range_make(bounds, &best, nodes, range);
}

enum vdbq_status join_add_range(struct binder *binder, struct node *nodes[2],
                                unsigned middle, struct vector *parts,
                                struct step_range_join *range)
{
    struct bounds bounds = { .binder = binder,
                             .middle = middle,
                             .found = VECTOR_IN(binder->arena, struct bound) };
    enum vdbq_status status = range_find(&bounds, parts);

    if (status == VDBQ_OK)
        status = add_best(&bounds, nodes, parts, range);
    return status;
}

enum vdbq_status join_price_range(struct binder *binder, unsigned middle,
                                  const struct vector *parts,
                                  const struct range_sides *sides,
                                  struct range_price *price)
{
    struct bounds bounds = { .binder = binder,
                             .middle = middle,
                             .found = VECTOR_IN(binder->arena, struct bound) };
    enum vdbq_status status = range_find(&bounds, parts);

    set_price(&bounds, parts, sides, price);
    return status;
}

enum vdbq_status join_has_range(struct binder *binder, unsigned middle,
                                const struct vector *parts, bool *has)
{
    struct bounds bounds = { .binder = binder,
                             .middle = middle,
                             .found = VECTOR_IN(binder->arena, struct bound) };
    enum vdbq_status status = range_find(&bounds, parts);

    *has = bounds.found.count > 0;
    return status;
}
