/* SPDX-License-Identifier: MIT */
/*
 * COPY FROM: who reads the file is told of a table and columns that are there.
 * And what columns have that no file names: their defaults.
 */
#include <string.h>

#include "plan/bind/assign.h"
#include "plan/call/names.h"
#include "plan/make/fold.h"
#include "plan/plan.h"
#include "plan/statement/statement.h"
#include "plan/tree/binder.h"

enum vdbq_status plan_copy_from(const struct ast_copy *copy,
                                struct binder *binder, struct plan *plan)
{
    const struct table *table = find_table(binder, &copy->table);
    enum vdbq_status status = VDBQ_OK;
    bool *named;

    if (table == NULL)
        return binder->error->status;
    plan->kind = PLAN_COPY_FROM;
    plan->copy = (struct plan_copy){ table->id, copy->said.file };
    named = arena_alloc(binder->arena, table->column_count * sizeof *named);
    if (named == NULL)
        return error_no_memory(binder->error);
    for (unsigned i = 0; i < copy->column_count && status == VDBQ_OK; i++) {
        const struct ast_name *name = &copy->columns[i];
        unsigned number = 0;
        status = find_column(table, name, &number, binder->error);
        if (status == VDBQ_OK && named[number])
            status = error_at(binder->error, VDBQ_EXISTS, name->at,
                              "column %s is in the list twice", name->text);
        if (status == VDBQ_OK)
            named[number] = true;
    }
    return status;
}

/* One value of the column, or a NULL; false: a failure. */
static bool make_default(struct binder *binder, const struct column *column,
                         struct vdbq_vector *vector)
{
    struct expression *e =
        expression_default(binder, column, (struct position){ 0 });
    uint8_t *null = arena_alloc(binder->arena, 1);
    void *value = arena_alloc(binder->arena, sizeof(struct vdbq_text));

    if (e != NULL && (null == NULL || value == NULL))
        error_no_memory(binder->error);
    if (e == NULL || null == NULL || value == NULL)
        return false;
    if (e->constant.null)
        *null = 1;
    else
        store_constant(column->type, value, 0, e);
    *vector = (struct vdbq_vector){ .type = column->type,
                                    .values = value,
                                    .nulls = e->constant.null ? null : NULL };
    return true;
}

enum vdbq_status plan_defaults(const struct catalogue *catalogue,
                               const struct table *table, struct arena *arena,
                               struct vdbq_vector *vectors, struct error *error)
{
    int64_t now = 0;
    struct binder binder = { .sql = "",
                             .catalogue = catalogue,
                             .arena = arena,
                             .error = error,
                             .constants = true,
                             .now = &now };
    bool good = true;

    for (unsigned i = 0; i < table->column_count && good; i++)
        good = make_default(&binder, &table->columns[i], &vectors[i]);
    fold_finish(&binder);
    return good ? VDBQ_OK : error->status;
}
