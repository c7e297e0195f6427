/* SPDX-License-Identifier: MIT */
/*
 * What programs read and give: where columns are, and the results that are
 * needed.
 */
#include "plan/code/codegen.h"
#include "plan/code/emit.h"
#include "plan/lower/lowering.h"
#include "plan/make/expression_new.h"
#include "plan/tree/binder.h"

/* The columns of a table's node as programs number them. */
void lower_number_table(const struct node *node, int *columns)
{
    const struct table *table = node->table;
    int number = 0;

    for (unsigned i = 0; i < table->column_count; i++)
        columns[i] = i == table->key ? -1 : number++;
    columns[table->column_count] = -1;
    if (node->column_count > table->column_count + 1)
        columns[table->column_count + 1] = number; /* node_numbered() */
}

/* The places of an axis' columns: those that `columns` has for them. */
struct column_place *lower_places(struct lowering *lowering, const int *columns,
                                  unsigned count, int cursor)
{
    struct column_place *places =
        arena_alloc(lowering->binder->arena, (count + 1) * sizeof *places);

    if (places == NULL)
        return error_no_memory(lowering->binder->error), NULL;
    for (unsigned i = 0; i < count; i++)
        places[i] = (struct column_place){ .cursor = cursor,
                                           .column = columns[i],
                                           .row = -1 };
    return places;
}

/* What the program gives: the needed results, or just a number. */
struct codegen_result *lower_results(struct lowering *lowering,
                                     struct node *node, const bool *needed,
                                     int *map, unsigned *count)
{
    struct binder *binder = lowering->binder;
    struct codegen_result *results =
        arena_alloc(binder->arena, (node->column_count + 1) * sizeof *results);

    *count = 0;
    if (results == NULL)
        return error_no_memory(binder->error), NULL;
    for (unsigned i = 0; i < node->column_count; i++) {
        if (!needed[i])
            continue;
        map[i] = (int)*count;
        results[(*count)++] =
            (struct codegen_result){ node->columns[i].name, node->results[i] };
    }
    if (*count > 0)
        return results;
    results[0] =
        (struct codegen_result){ "", expression_truth(binder, true,
                                                      (struct position){ 0 }) };
    *count = 1;
    return results[0].expression ? results : NULL;
}

bool lower_describe_results(struct lowering *lowering, int number,
                            const struct codegen_result *results,
                            unsigned count)
{
    bool done = true;

    for (unsigned i = 0; i < count && done; i++) {
        const struct expression *e = results[i].expression;
        struct step_column column = { .name = results[i].name,
                                      .type = (enum vdbq_type)e->type,
                                      .precision = e->precision,
                                      .scale = e->scale };
        done = lower_add_column(lowering, number, &column);
    }
    return done;
}
