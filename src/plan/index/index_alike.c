/* SPDX-License-Identifier: MIT */
#include "plan/index/index_alike.h"

#include <assert.h>
#include <math.h>

#include "data/catalogue/facts.h"
#include "data/index/index_values.h"
#include "plan/estimate/estimate.h"
#include "plan/make/call.h"
#include "plan/make/expression_new.h"
#include "plan/make/node.h"
#include "plan/tree/binder.h"

/* The first bytes of a text, as hexadecimal digits. NULL: a failure. */
static struct expression *head_of(struct binder *binder,
                                  const struct expression *text)
{
    struct expression *arguments[3] = { (struct expression *)text };
    struct position at = text->at;

    arguments[0] = expression_call(binder, "hex", arguments, 1, at);
    if (arguments[0] == NULL)
        return NULL;
    arguments[1] = expression_integer(binder, 1, at);
    arguments[2] = expression_integer(binder, 2 * INDEX_HEAD_BYTES, at);
    return arguments[1] != NULL && arguments[2] != NULL
               ? expression_call(binder, "substr", arguments, 3, at)
               : NULL;
}

/* How many values a column, or a key, has as far as the index knows. False: a
 * failure. */
static bool count_values(struct binder *binder,
                         const struct index_candidates *of,
                         const struct index_candidate *candidate,
                         unsigned number, double *values)
{
    const struct node *table = of->table;
    const struct estimate_nodes nodes = { table, NULL };
    const struct estimate_source source = estimate_of_nodes(&nodes);
    const struct index_key *key = index_key_of(of, number);
    const struct expression *e;

    *values = fmax(index_estimate(of, number).distinct, 1);
    if (!index_is_inexact(of, candidate, number))
        return true;
    if (source.samples == NULL) {
        *values = 1;
        return true;
    }
    e = key != NULL ? key->expression
                    : node_column(binder, (struct node *)table, number,
                                  (struct position){ 0 });
    e = e != NULL ? head_of(binder, e) : NULL;
    if (e == NULL)
        return false;
    *values = fmax(
        source.samples->distinct(source.samples, table->table, e, *values, 1),
        1);
    return true;
}

bool index_alike(struct binder *binder, const struct index_candidates *of,
                 const struct index_ordered *ordered, double *rows)
{
    const struct index_candidate *candidate = ordered->candidate;
    const unsigned *columns = candidate->columns;
    unsigned end = ordered->equal_count + ordered->count;
    double all = (double)of->table->table->rows, values = 1, own, nulls = 0;

    assert(ordered->count > 0 && end <= candidate->count);
    *rows = 0;
    if (!ordered->alike && !index_is_inexact(of, candidate, columns[end - 1]))
        return true;
    for (unsigned i = 0; i < end; i++) {
        if (!count_values(binder, of, candidate, columns[i], &own))
            return false;
        values *= own;
        if (i >= ordered->equal_count && ordered->alike && ordered->nulls)
            nulls = fmax(nulls, index_estimate(of, columns[i]).nulls);
    }
    *rows = estimate_rows(fmax(all / fmin(values, all), all * nulls));
    return true;
}

/* How far the values of a tablet's column are apart; NaN: nobody knows. */
static double width_of(const struct column *column,
                       const struct column_facts *facts)
{
    if (column->type == VDBQ_TEXT)
        return NAN;
    if (facts->empty)
        return 0;
    return type_is_real(column->type)
               ? facts->maximum_real - facts->minimum_real
               : (double)facts->maximum - (double)facts->minimum;
}

double index_tablets(const struct index_candidates *of,
                     const struct index_ordered *ordered)
{
    const struct table *table = of->table->table;
    unsigned number = ordered->candidate->columns[ordered->equal_count];
    struct column_facts facts;
    double widths = 0, all = (double)table->tablet_count, width;

    if (ordered->equal_count > 0 || number >= table->column_count)
        return fmax(all, 1);
    facts = table_facts(table, number);
    width = width_of(&table->columns[number], &facts);
    for (size_t i = 0; i < table->tablet_count; i++)
        widths +=
            width_of(&table->columns[number], &table->tablets[i].facts[number]);
    return widths >= 0 && width > 0 ? fmax(fmin(1 + widths / width, all), 1)
                                    : fmax(all, 1);
}
