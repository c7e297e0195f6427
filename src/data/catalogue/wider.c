/* SPDX-License-Identifier: MIT */
/*
 * Catalogues for plans that are to last: their tables have more rows than there are,
 * of values farther apart. How much farther is a matter of how often a plan is to be
 * made anew while a table grows evenly: each time it has doubled.
 */
#include <assert.h>
#include <float.h>

#include "base/type.h"
#include "data/catalogue/catalogue_inner.h"
#include "data/catalogue/facts.h"

enum { ROWS_MORE = 64 };

/* The sum of values of a type, or the last one on that side. */
static int64_t within(enum vdbq_type type, int64_t value, int64_t more)
{
    int64_t least, greatest;

    type_limits(type, &least, &greatest);
    assert(value >= least && value <= greatest);
    if (more > 0)
        return value > greatest - more ? greatest : value + more;
    return value < least - more ? least : value + more;
}

/* Integers: by as much as they are apart, or large. */
static void widen_integers(enum vdbq_type type, struct column_facts *facts)
{
    int64_t least = facts->minimum / 2, greatest = facts->maximum / 2;
    int64_t more = greatest - least;

    assert(facts->minimum <= facts->maximum);

    more = greatest > more ? greatest : more;
    more = -least > more ? -least : more;
    more = more < INT64_MAX / 4 ? 2 * more + ROWS_MORE : INT64_MAX / 2;
    facts->minimum = within(type, facts->minimum, -more);
    facts->maximum = within(type, facts->maximum, more);
}

static double more_real(enum vdbq_type type, double value)
{
    return type == VDBQ_FLOAT ? (double)(float)value : value;
}

static void widen_reals(enum vdbq_type type, struct column_facts *facts)
{
    double most = type == VDBQ_FLOAT ? (double)FLT_MAX : DBL_MAX;
    double more = facts->maximum_real / 2 - facts->minimum_real / 2;

    more = more < most / 4 ? 2 * more + ROWS_MORE : most / 2;
    if (facts->minimum_real > more - most)
        facts->minimum_real = more_real(type, facts->minimum_real - more);
    if (facts->maximum_real < most - more)
        facts->maximum_real = more_real(type, facts->maximum_real + more);
}

static struct column_facts widened(enum vdbq_type type,
                                   struct column_facts facts)
{
    if (facts.null_count > 0)
        facts.null_count = 2 * facts.null_count + ROWS_MORE;
    if (facts.empty || type == VDBQ_TEXT)
        return facts;
    if (type_is_real(type))
        widen_reals(type, &facts);
    else
        widen_integers(type, &facts);
    return facts;
}

static bool widen_table(struct arena *arena, struct table *table)
{
    struct column_facts *bounds =
        arena_alloc(arena, table->column_count * sizeof *bounds);

    if (bounds == NULL)
        return false;
    for (unsigned i = 0; i < table->column_count; i++)
        bounds[i] = widened(table->columns[i].type, table_facts(table, i));
    table->bounds = bounds;
    table->rows = 2 * table->rows + ROWS_MORE;
    return true;
}

struct catalogue *catalogue_wider(const struct catalogue *catalogue)
{
    struct catalogue *wider = catalogue_copy(catalogue, 0);

    for (size_t i = 0; wider != NULL && i < wider->table_count; i++)
        if (!widen_table(&wider->arena, &wider->tables[i])) {
            catalogue_release(wider);
            return NULL;
        }
    return wider;
}
