/* SPDX-License-Identifier: MIT */
/*
 * Rows whose keys are asked for are constants of a node; the index's condition
 * is tested first, so that no key is computed of a row that the index does not
 * have.
 */
#include "plan/statement/index_rows.h"

#include <string.h>

#include "plan/index/index_bind.h"
#include "plan/make/fold.h"
#include "plan/make/node.h"
#include "plan/make/node_select.h"
#include "plan/statement/statement.h"
#include "plan/statement/table_rows.h"
#include "plan/tree/binder.h"

/* The rows: the columns that are read, and behind them their numbers. */
static struct node *given_rows(struct binder *binder,
                               const struct plan_index_rows *of)
{
    const struct index_keys *keys = of->index->keys;
    unsigned count = keys->read_count;
    struct node_column *columns =
        arena_alloc(binder->arena, (count + (size_t)1) * sizeof *columns);
    struct vdbq_vector *values =
        arena_alloc(binder->arena, (count + (size_t)1) * sizeof *values);

    if (columns == NULL || values == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < count; i++) {
        table_rows_column(of->table, keys->reads[i], &columns[i]);
        if (!table_rows_clean(binder, &of->vectors[keys->reads[i]], of->rows,
                              &values[i]))
            return NULL;
    }
    columns[count] = (struct node_column){ .name = "", .type = VDBQ_BIGINT };
    return table_rows_numbers(binder, of->rows, &values[count]) ? node_values(
               binder, columns, count + 1, values, (size_t)of->rows)
                                                                : NULL;
}

/* Numbers and keys of the rows that are kept. */
static struct node *results_over(struct binder *binder, struct node *node,
                                 const struct plan_index_rows *of,
                                 const struct index_bound *bound)
{
    unsigned count = of->index->column_count;
    struct expression **results =
        arena_alloc(binder->arena, (count + (size_t)1) * sizeof(*results));

    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    if (bound->where != NULL)
        node = node_filter(binder, node, bound->where);
    if (node == NULL)
        return NULL;
    results[0] = node_column(binder, node, of->index->keys->read_count,
                             (struct position){ 0 });
    if (results[0] == NULL)
        return NULL;
    memcpy(results + 1, bound->keys, count * sizeof(*results));
    return node_select(binder, node, NULL, results, NULL, count + 1);
}

static struct node *bind_rows(struct binder *binder,
                              const struct plan_index_rows *of)
{
    struct node *node = given_rows(binder, of);
    struct index_bound bound;
    const struct index_rows rows = { .node = node,
                                     .count = of->index->keys->read_count,
                                     .numbers = of->index->keys->reads };

    return node != NULL
                   && index_bind(binder, of->table, of->index, &rows, &bound)
               ? results_over(binder, node, of, &bound)
               : NULL;
}

enum vdbq_status plan_index_rows(const struct plan_index_rows *of,
                                 const struct plan_limits *limits,
                                 struct arena *arena, struct plan *plan,
                                 struct error *error)
{
    int64_t now = 0;
    struct binder binder = { .sql = "",
                             .catalogue = of->catalogue,
                             .limits = limits,
                             .arena = arena,
                             .error = error,
                             .now = &now };
    enum vdbq_status status;

    error_clear(error); /* of a wait for memory that came to an end */
    memset(plan, 0, sizeof *plan);
    steps_init(&plan->steps);
    plan->kind = PLAN_SELECT;
    status = plan_steps(&binder, bind_rows(&binder, of), plan);
    fold_finish(&binder);
    if (status != VDBQ_OK)
        plan_finish(plan);
    return status;
}
