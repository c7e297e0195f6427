/* SPDX-License-Identifier: MIT */
/*
 * A tablet that nobody changed has a row with its least value, and no tablet has a
 * row with more than its greatest one. So some values are known of which so many rows
 * have no more; a tablet whose least value is above the one that as many rows reach
 * as are asked for has none of the first rows. With the order turned round this is
 * said of the last ones. Where there are bounds, rows count that are known to be
 * within them.
 */
#include "exec/seek/seek_ends.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* So many rows have no more than a value, beside those of other points. */
struct point {
    uint64_t value;
    uint64_t rows;
};

/* One end. */
struct end {
    const struct seek_terms *terms;
    unsigned key;  /* the first one of the order                          */
    bool turned;   /* the last rows are asked for: the order is turned    */
    uint64_t rows; /* so many                                             */
};

/* The least and the greatest value of a tablet as the end's order has them; false:
 * it has none. */
static bool extremes(const struct end *end, const struct tablet_ref *ref,
                     uint64_t *least, uint64_t *greatest)
{
    uint64_t low, high;

    if (!seek_terms_extremes(end->terms, ref, end->key, &low, &high))
        return false;
    *least = end->turned ? ~high : low;
    *greatest = end->turned ? ~low : high;
    return true;
}

static int by_value(const void *a, const void *b)
{
    const struct point *left = a, *right = b;

    return (left->value > right->value) - (left->value < right->value);
}

/* Whether the step's bounds leave a value of the key that they are about. */
static bool bounds_leave(const struct seek_terms *terms, uint64_t value)
{
    const struct seek_bound *low = &terms->step->low,
                            *high = &terms->step->high;
    uint64_t least = terms->low.value.value, most = terms->high.value.value;

    return (!low->there || value > least || (value == least && !low->open))
           && (!high->there || value < most || (value == most && !high->open));
}

static bool is_within(const struct end *end, uint64_t value)
{
    assert(end->key == end->terms->step->equal_count);
    return bounds_leave(end->terms, end->turned ? ~value : value);
}

/* Writes the points of a tablet; returns how many. What is known of one with an
 * edit are bounds, which no row need have, and none is beyond. */
static size_t add_points(const struct end *end, const struct tablet_ref *ref,
                         struct point points[2])
{
    unsigned column = end->terms->step->keys[end->key];
    uint64_t nulls = ref->facts[column].null_count, rows, least, greatest;
    size_t count = 0;

    if (nulls >= ref->rows || !extremes(end, ref, &least, &greatest))
        return 0;
    rows = ref->rows - nulls;
    bool first = is_within(end, least), last = is_within(end, greatest);
    if (ref->edit != NULL) {
        points[0] = (struct point){ greatest, rows };
        return first && last;
    }
    if (first)
        points[count++] = (struct point){ least, 1 };
    if (last && rows > 1)
        points[count++] = (struct point){ greatest, first ? rows - 1 : 1 };
    return count;
}

/* A value that as many rows as are asked for do not exceed. */
static enum vdbq_status find_limit(const struct end *end, uint64_t *limit,
                                   struct error *error)
{
    const struct table *table = end->terms->table;
    struct point *points =
        memory_zeroed(2 * table->tablet_count + 1, sizeof *points);
    size_t count = 0;
    uint64_t rows = 0;

    if (points == NULL)
        return error_no_memory(error);
    for (size_t i = 0; i < table->tablet_count; i++)
        count += add_points(end, &table->tablets[i], points + count);
    qsort(points, count, sizeof *points, by_value);
    *limit = UINT64_MAX;
    for (size_t i = 0; i < count && rows < end->rows; i++) {
        rows += points[i].rows;
        if (rows >= end->rows)
            *limit = points[i].value;
    }
    memory_release(points);
    return VDBQ_OK;
}

/* Wants the tablets that can have some of an end. */
static enum vdbq_status want_end(const struct end *end, bool *wanted,
                                 struct error *error)
{
    const struct table *table = end->terms->table;
    uint64_t limit = UINT64_MAX, least, greatest;
    enum vdbq_status status;

    if (end->rows == 0)
        return VDBQ_OK;
    status = find_limit(end, &limit, error);
    for (size_t i = 0; i < table->tablet_count && status == VDBQ_OK; i++)
        wanted[i] |= extremes(end, &table->tablets[i], &least, &greatest)
                     && least <= limit;
    return status;
}

/* Whether rows are asked for by the order of a column of numbers alone, none of them
 * NULL (none is that has a bound), and the index has all rows. */
static bool is_told(const struct seek_terms *terms)
{
    const struct step_seek *step = terms->step;
    const struct table *table = terms->table;
    bool bound = step->low.there || step->high.there;
    uint64_t nulls = 0;

    if ((terms->asked.first == 0 && terms->asked.last == 0)
        || terms->index != NULL || step->equal_count > 0
        || seek_terms_is_text(terms, 0))
        return false;
    for (size_t i = 0;
         i < table->tablet_count && !step->ends.not_null && !bound; i++)
        nulls += table->tablets[i].facts[step->keys[0]].null_count;
    return nulls == 0;
}

enum vdbq_status seek_ends_tablets(const struct seek_terms *terms,
                                   bool **wanted, struct error *error)
{
    const struct seek_ends *ends = &terms->asked;
    const struct end first = { terms, 0, false, ends->first };
    const struct end last = { terms, 0, true, ends->last };
    enum vdbq_status status;

    *wanted = NULL;
    if (!is_told(terms))
        return VDBQ_OK;
    *wanted = memory_zeroed(terms->table->tablet_count + 1, sizeof **wanted);
    if (*wanted == NULL)
        return error_no_memory(error);
    status = want_end(&first, *wanted, error);
    return status == VDBQ_OK ? want_end(&last, *wanted, error) : status;
}

uint64_t seek_ends_sure(const struct seek_terms *terms)
{
    const struct step_seek *step = terms->step;
    const struct table *table = terms->table;
    uint64_t rows = 0, least, greatest;

    if (step->equal_count > 0 || step->list_columns > 0 || terms->index != NULL
        || seek_terms_is_text(terms, 0))
        return 0;
    for (size_t i = 0; i < table->tablet_count; i++) {
        const struct tablet_ref *ref = &table->tablets[i];
        uint64_t nulls = ref->facts[step->keys[0]].null_count;
        if (nulls < ref->rows
            && seek_terms_extremes(terms, ref, 0, &least, &greatest)
            && bounds_leave(terms, least) && bounds_leave(terms, greatest))
            rows += ref->rows - nulls;
    }
    return rows;
}
