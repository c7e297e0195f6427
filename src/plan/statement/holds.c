/* SPDX-License-Identifier: MIT */
/*
 * Whether a plan still does, once others or the same transaction have committed.
 *
 * What a plan may take for certain of rows are the facts of their columns (minimum,
 * maximum, NULLs) and how many there are; all else that it knows of them are
 * estimates. So one for wider facts and more rows gives the same rows. But it might
 * give them in another order than a new plan would, whose estimates are others:
 * therefore only one that gives rows of one table in its order, or one row of all of
 * them, is used for other rows than those it was made for; and one whose rows nobody
 * sees in their order, as they are changed. One whose tables outgrow
 * it is made anew with room for more (catalogue_wider()).
 */
#include <string.h>

#include "data/catalogue/facts.h"
#include "plan/plan.h"

static bool same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
}

static bool same_column(const struct column *a, const struct column *b)
{
    return a->type == b->type && a->precision == b->precision
           && a->scale == b->scale && a->collation == b->collation
           && a->not_null == b->not_null && a->unique == b->unique
           && same_text(a->default_sql, b->default_sql)
           && strcmp(a->name, b->name) == 0;
}

static bool same_numbers(const unsigned *a, const unsigned *b, unsigned count)
{
    return count == 0 || memcmp(a, b, count * sizeof *a) == 0;
}

/* Whether two tables are of catalogues that share the names of this one. */
static bool share_names(const struct table *a, const struct table *b)
{
    return a != NULL && b != NULL && a->name == b->name
           && a->columns == b->columns && a->uniques == b->uniques
           && a->key == b->key && a->column_count == b->column_count
           && a->unique_count == b->unique_count;
}

/* Whether two tables, NULL: none, are the same but for their rows. */
static bool same_table(const struct table *a, const struct table *b)
{
    if (share_names(a, b))
        return true;
    bool same = a != NULL && b != NULL && strcmp(a->name, b->name) == 0
                && a->key == b->key && a->column_count == b->column_count
                && a->unique_count == b->unique_count;

    for (unsigned i = 0; same && i < a->column_count; i++)
        same = same_column(&a->columns[i], &b->columns[i]);
    for (unsigned i = 0; same && i < a->unique_count; i++)
        same = a->uniques[i].column_count == b->uniques[i].column_count
               && same_numbers(a->uniques[i].columns, b->uniques[i].columns,
                               a->uniques[i].column_count);
    return same;
}

static bool same_views(const struct catalogue *a, const struct catalogue *b)
{
    bool same = a->view_count == b->view_count;

    for (size_t i = 0; same && i < a->view_count; i++)
        same = strcmp(a->views[i].name, b->views[i].name) == 0
               && strcmp(a->views[i].sql, b->views[i].sql) == 0;
    return same;
}

static bool same_index(const struct index *a, const struct index *b)
{
    bool same = a->table_id == b->table_id && a->unique == b->unique
                && a->column_count == b->column_count
                && strcmp(a->name, b->name) == 0
                && same_numbers(a->columns, b->columns, a->column_count)
                && (a->collations == NULL) == (b->collations == NULL)
                && (a->keys == NULL) == (b->keys == NULL)
                && (a->keys == NULL || a->keys->origin == b->keys->origin);

    for (unsigned i = 0; same && a->collations != NULL && i < a->column_count;
         i++)
        same = a->collations[i] == b->collations[i];
    return same;
}

static bool same_indexes(const struct catalogue *a, const struct catalogue *b)
{
    bool same = a->index_count == b->index_count;

    for (size_t i = 0; same && i < a->index_count; i++)
        same = same_index(&a->indexes[i], &b->indexes[i]);
    return same;
}

/* Whether a column's values are among those that a plan was made for. */
static bool column_within(const struct table *from, const struct table *to,
                          unsigned column)
{
    const struct column_facts facts = table_facts(to, column),
                              bounds = table_facts(from, column);

    return facts_within(to->columns[column].type, &facts, &bounds);
}

/* Fewer rows than this one are few whatever they are a share of. */
enum { ROWS_FEW = 64 };

/* Whether rows are within what a plan was made for, and not so few that another
 * plan is likely to be better. */
static bool rows_within(const struct table *from, const struct table *to)
{
    bool within =
        to->rows <= from->rows && to->rows + ROWS_FEW >= from->rows / 4;

    for (unsigned i = 0; within && i < to->column_count; i++)
        within = column_within(from, to, i);
    return within;
}

/* Whether a step gives rows in the order of its input's, or of the table's; one row
 * of all, as of aggregates without GROUP BY, is in any order. */
static bool step_keeps_order(const struct step *step)
{
    switch (step->kind) {
    case STEP_SEEK:
        return !step->seek.list_fed;
    case STEP_VALUES:
        return true;
    case STEP_SCAN:
        return step->scan.program.tables.count <= 1;
    case STEP_GROUP:
        return step->group.keys == 0;
    default:
        return false;
    }
}

/* Whether all steps are about the only table, and keep its order. */
static bool keeps_order(const struct plan *plan)
{
    bool keeps = plan->table_count == 1;

    for (size_t i = 0; keeps && i < plan->steps.steps.count; i++)
        keeps = step_keeps_order(steps_at(&plan->steps, (int)i));
    return keeps;
}

/* Whether a step's rows are the same in any order of its input's. */
static bool step_keeps_rows(const struct step *step)
{
    return step->kind == STEP_VALUES || step->kind == STEP_SEEK
           || step->kind == STEP_SCAN || step->kind == STEP_JOIN;
}

/* Whether nobody sees the order in which its rows come: what they change is the
 * same. */
static bool hides_order(const struct plan *plan)
{
    return plan->kind == PLAN_UPSERT
           || (plan->kind == PLAN_CHANGE && plan->returned.count == 0);
}

/* Whether all steps give the same rows, in some order. */
static bool keeps_rows(const struct plan *plan)
{
    bool keeps = true;

    for (size_t i = 0; keeps && i < plan->steps.steps.count; i++)
        keeps = step_keeps_rows(steps_at(&plan->steps, (int)i));
    return keeps;
}

bool plan_lasts(const struct plan *plan)
{
    return plan->stands && !plan->exact
           && (keeps_order(plan) || (hides_order(plan) && keeps_rows(plan)));
}

static bool stands(const struct plan *plan, const struct catalogue *from,
                   const struct catalogue *to)
{
    bool may_change = plan_lasts(plan);
    bool same = same_views(from, to) && same_indexes(from, to);

    for (unsigned i = 0; same && i < plan->table_count; i++) {
        const struct table *before = catalogue_table_id(from, plan->tables[i]);
        const struct table *now = catalogue_table_id(to, plan->tables[i]);
        same = same_table(before, now)
               && (identity_equal(before->state, now->state)
                   || (may_change && table_copy(before) == NULL
                       && rows_within(before, now)));
    }
    return same;
}

/* Whether the table of an INSERT takes the same rows. */
static bool takes_rows(const struct plan_insert *insert,
                       const struct catalogue *from, const struct catalogue *to)
{
    return same_table(catalogue_table_id(from, insert->table_id),
                      catalogue_table_id(to, insert->table_id))
           && (insert->target.count == 0 || same_indexes(from, to));
}

/* The temporary table that stands before place `*at`, which then is its own, or NULL:
 * that was the first one. Those of files are passed over. */
static const struct table *temporary_before(const struct catalogue *catalogue,
                                            size_t *at)
{
    while (*at > 0 && catalogue->tables[*at - 1].id >= CATALOGUE_FILES)
        --*at;
    if (*at == 0 || !table_is_temporary(catalogue->tables[*at - 1].id))
        return NULL;
    return &catalogue->tables[--*at];
}

/* Whether the same temporary tables hide others of their names. */
static bool same_temporary(const struct catalogue *from,
                           const struct catalogue *to)
{
    size_t i = from->table_count, k = to->table_count;
    const struct table *a, *b;

    do {
        a = temporary_before(from, &i);
        b = temporary_before(to, &k);
        if (a == NULL || b == NULL)
            return a == b;
    } while (a->id == b->id && strcmp(a->name, b->name) == 0);
    return false;
}

bool plan_holds(const struct plan *plan, const struct catalogue *from,
                const struct catalogue *to)
{
    if (!same_temporary(from, to))
        return false;
    if (plan->kind == PLAN_INSERT && !takes_rows(&plan->insert, from, to))
        return false;
    if (plan->kind == PLAN_INSERT && !plan->insert.from_query)
        return true;
    return plan->stands && stands(plan, from, to);
}
