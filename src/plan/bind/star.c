/* SPDX-License-Identifier: MIT */
/*
 * `*` and `t.*` among the results of a SELECT, but for what EXCLUDE names, and with
 * what REPLACE says.
 */
#include "base/text.h"
#include "base/vector.h"
#include "plan/bind/scope.h"
#include "plan/bind/select.h"
#include "plan/tree/binder.h"

enum vdbq_status select_add_result(struct binder *binder,
                                   struct vector *results,
                                   const struct result *result)
{
    if (result->expression == NULL)
        return binder->error->status;
    return result->name != NULL && vector_append(results, result, 1)
               ? VDBQ_OK
               : error_no_memory(binder->error);
}

/* Whether `*`, or `t.*`, stands for that column, too. */
static bool stands_for(const struct ast_result *result,
                       const struct scope_column *column)
{
    if (column->apart)
        return false;
    return result->table.text == NULL
               ? !column->hidden
               : name_equal(column->table, result->table.text);
}

static bool is_excluded(const struct ast_result *result, const char *name)
{
    for (unsigned i = 0; i < result->excluded_count; i++)
        if (name_equal(result->excluded[i].text, name))
            return true;
    return false;
}

/* What REPLACE says of a column; NULL: nothing. */
static const struct ast_result *replacement(const struct ast_result *result,
                                            const char *name)
{
    const struct ast_result *at = result->replaced;

    while (at != NULL && !name_equal(at->alias.text, name))
        at = at->next;
    return at;
}

/* What EXCLUDE or REPLACE names is a column of `*`. */
static enum vdbq_status check_named(const struct binder *binder,
                                    const struct ast_result *result,
                                    const struct ast_name *name)
{
    const struct vector *columns = &binder->scope->columns;

    for (size_t i = 0; i < columns->count; i++) {
        const struct scope_column *column = vector_at(columns, i);
        if (stands_for(result, column) && name_equal(column->name, name->text))
            return VDBQ_OK;
    }
    return error_at(binder->error, VDBQ_UNKNOWN, name->at, "* has no column %s",
                    name->text);
}

static enum vdbq_status check_changes(const struct binder *binder,
                                      const struct ast_result *result)
{
    enum vdbq_status status = VDBQ_OK;

    for (unsigned i = 0; i < result->excluded_count && status == VDBQ_OK; i++)
        status = check_named(binder, result, &result->excluded[i]);
    for (const struct ast_result *at = result->replaced;
         at != NULL && status == VDBQ_OK; at = at->next) {
        status = check_named(binder, result, &at->alias);
        if (status == VDBQ_OK && is_excluded(result, at->alias.text))
            status = error_at(binder->error, VDBQ_SYNTAX, at->alias.at,
                              "column %s is excluded", at->alias.text);
        if (status == VDBQ_OK && replacement(result, at->alias.text) != at)
            status = error_at(binder->error, VDBQ_SYNTAX, at->alias.at,
                              "column %s is replaced twice", at->alias.text);
    }
    return status;
}

/* That there was nothing to stand for. */
static enum vdbq_status refuse_star(const struct binder *binder,
                                    const struct ast_result *result)
{
    if (result->excluded_count > 0)
        return error_at(binder->error, VDBQ_SYNTAX, result->at,
                        "EXCLUDE leaves no column of *");
    if (result->table.text != NULL)
        return error_at(binder->error, VDBQ_UNKNOWN, result->table.at,
                        "no such table in this statement: %s",
                        result->table.text);
    return error_at(binder->error, VDBQ_UNKNOWN, result->at,
                    "* stands for the columns of a table, and there is no "
                    "FROM");
}

enum vdbq_status select_star(
    struct binder *binder, const struct ast_result *result,
    struct expression *(*bind)(struct binder *, const struct ast_expression *),
    struct vector *results)
{
    enum vdbq_status status = check_changes(binder, result);
    bool any = false;

    for (size_t i = 0; i < binder->scope->columns.count && status == VDBQ_OK;
         i++) {
        const struct scope_column *column =
            vector_at(&binder->scope->columns, i);
        const struct ast_result *other = replacement(result, column->name);
        struct result made = { .name = column->name, .alias = other != NULL };
        if (!stands_for(result, column) || is_excluded(result, column->name))
            continue;
        any = true;
        made.expression = other != NULL ? bind(binder, other->expression)
                                        : scope_value(binder, binder->scope,
                                                      column, result->at);
        status = select_add_result(binder, results, &made);
    }
    return status != VDBQ_OK || any ? status : refuse_star(binder, result);
}
