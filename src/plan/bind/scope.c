/* SPDX-License-Identifier: MIT */
/*
 * Which column a name means: one of the query's own FROM, or of a query
 * around it. The latter is a parameter of the inner query: whatever row the
 * outer one is at gives its value.
 */
#include "plan/bind/scope.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "base/vector.h"
#include "plan/call/call.h"
#include "plan/call/meaning.h"
#include "plan/call/names.h"
#include "plan/bind/select.h"
#include "plan/make/expression_new.h"
#include "plan/make/coerce.h"
#include "plan/make/node.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"

void scope_enter(struct binder *binder, struct scope *scope)
{
    *scope =
        (struct scope){ .outer = binder->scope,
                        .columns =
                            VECTOR_IN(binder->arena, struct scope_column),
                        .asked = VECTOR_IN(binder->arena, struct outer_value) };
    binder->scope = scope;
}

void scope_leave(struct binder *binder, struct scope *scope)
{
    assert(binder->scope == scope);
    binder->scope = scope->outer;
}

enum vdbq_status scope_add(struct binder *binder, const char *table,
                           const char *name, int column, bool hidden)
{
    struct scope_column added = { .table = table,
                                  .name = name,
                                  .column = column,
                                  .other = -1,
                                  .hidden = hidden,
                                  .apart =
                                      hidden && name_equal(name, "rowid") };

    return vector_append(&binder->scope->columns, &added, 1)
               ? VDBQ_OK
               : error_no_memory(binder->error);
}

enum vdbq_status scope_add_node(struct binder *binder, const char *table,
                                const struct node *node, unsigned first)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned ids = node->kind == NODE_TABLE;

    for (unsigned i = 0; i < node->column_count && status == VDBQ_OK; i++)
        status =
            scope_add(binder, table, node->columns[i].name, (int)(first + i),
                      i + ids >= node->column_count && ids > 0);
    return status;
}

struct scope_column *scope_last(struct scope *scope)
{
    return vector_at(&scope->columns, scope->columns.count - 1);
}

/* ------------------------------------------------------------- look-up -- */

static bool is_row_id(const char *name)
{
    return name_equal(name, "rowid") || name_equal(name, "_rowid_");
}

/* Whether a column answers to the name as it is written. */
static bool answers(const struct scope_column *column,
                    const struct ast_expression *tree)
{
    bool named =
        tree->table.text != NULL && name_equal(column->table, tree->table.text);

    if (tree->table.text != NULL && !named)
        return false;
    if (column->hidden && is_row_id(column->name))
        return is_row_id(tree->column.text);
    return (named || !column->hidden)
           && name_equal(column->name, tree->column.text);
}

/* The column of that name in one scope; NULL: none. A column that is called
 * rowid comes before the row's own id. */
static const struct scope_column *look(const struct scope *scope,
                                       const struct ast_expression *tree,
                                       bool *ambiguous)
{
    const struct scope_column *found = NULL;

    for (size_t i = 0; i < scope->columns.count; i++) {
        const struct scope_column *column = vector_at(&scope->columns, i);
        if (!answers(column, tree))
            continue;
        if (found == NULL || (found->hidden && !column->hidden)) {
            found = column;
            *ambiguous = false;
        } else if (found->hidden == column->hidden) {
            *ambiguous = true;
        }
    }
    return found;
}

struct scope_column *scope_other(struct scope *scope,
                                 const struct scope_column *column)
{
    for (size_t i = 0; i < scope->columns.count; i++) {
        struct scope_column *other = vector_at(&scope->columns, i);
        if (column->other >= 0 && other->column == column->other)
            return other;
    }
    return NULL;
}

struct expression *scope_value(struct binder *binder, struct scope *scope,
                               const struct scope_column *column,
                               struct position at)
{
    const struct scope_column *next = scope_other(scope, column);
    struct ast_expression place = { .at = at };
    struct expression *e, *other, *known;

    if (column->replaced && next != NULL)
        return scope_value(binder, scope, next, at);
    e = node_column(binder, scope->node, (unsigned)column->column, at);
    if (e == NULL || next == NULL)
        return e;
    other = scope_value(binder, scope, next, at);
    if (other == NULL
        || expression_coerce(binder, &e, &other, at) == VDBQ_TYPE_NONE)
        return NULL;
    known = expression_null_test(binder, AST_IS_NOT, e, &place);
    return known ? expression_choice(binder, known, e, other, at) : NULL;
}

/* The column of a scope as an expression: with its table's name it is that
 * table's alone. */
static struct expression *column_in(struct binder *binder, struct scope *scope,
                                    const struct scope_column *column,
                                    const struct ast_expression *tree)
{
    if (tree->table.text == NULL)
        return scope_value(binder, scope, column, tree->at);
    return node_column(binder, scope->node, (unsigned)column->column, tree->at);
}

struct expression *scope_ask(struct binder *binder, struct scope *scope,
                             struct expression *value)
{
    struct outer_value asked = { .parameter = binder->parameter_count++,
                                 .value = value };
    struct expression *e =
        expression_new(binder, EXPRESSION_PARAMETER, value->type, value->at);

    if (e == NULL)
        return NULL;
    if (!vector_append(&scope->asked, &asked, 1)) {
        error_no_memory(binder->error);
        return NULL;
    }
    e->parameter.number = asked.parameter;
    e->precision = value->precision;
    e->scale = value->scale;
    e->affine = value->affine;
    e->collating = value->collating;
    e->name = value->name;
    e->nullable = true;
    e->range = range_full(value->type);
    return e;
}

/* --------------------------------------------------------------- errors -- */

static bool knows_table(const struct scope *scope, const char *table)
{
    for (size_t i = 0; i < scope->columns.count; i++) {
        const struct scope_column *column = vector_at(&scope->columns, i);
        if (name_equal(column->table, table))
            return true;
    }
    return false;
}

enum { LISTED_MAX = 12 };

/* The only table that is named in FROM; NULL: there are none, or several. */
static const char *only_table(const struct scope *scope)
{
    const char *table = NULL;

    for (size_t i = 0; i < scope->columns.count; i++) {
        const struct scope_column *column = vector_at(&scope->columns, i);
        if (table != NULL && !name_equal(table, column->table))
            return NULL;
        table = column->table;
    }
    return table != NULL && table[0] != '\0' ? table : NULL;
}

static struct expression *refuse_table(struct binder *binder,
                                       const struct ast_name *table)
{
    error_at(binder->error, VDBQ_UNKNOWN, table->at,
             "no such table in this statement: %s", table->text);
    if (binder->scope->columns.count == 0)
        error_hint(binder->error, "there is no FROM");
    else if (only_table(binder->scope) != NULL)
        error_hint(binder->error, "it is called %s here",
                   only_table(binder->scope));
    return NULL;
}

static void list_columns(const struct scope *scope, struct text *list)
{
    unsigned listed = 0;

    for (size_t i = 0; i < scope->columns.count; i++) {
        const struct scope_column *column = vector_at(&scope->columns, i);
        if (!column->hidden && listed++ <= LISTED_MAX)
            text_print(list, "%s%s", listed > 1 ? ", " : "",
                       listed <= LISTED_MAX ? column->name : "...");
    }
}

/* Names the columns there are, or the one that was meant. */
static void hint_scope(struct binder *binder, const char *name)
{
    const struct scope *scope = binder->scope;
    const char *table = only_table(scope);
    struct likely likely = { 0 };
    struct text list = { 0 };

    for (size_t i = 0; i < scope->columns.count; i++) {
        const struct scope_column *column = vector_at(&scope->columns, i);
        likely_name(&likely, name, column->name);
    }
    list_columns(scope, &list);
    if (scope->columns.count == 0)
        error_hint(binder->error, "there is no table to take it from here");
    else if (likely.name != NULL)
        error_hint(binder->error, "did you mean \"%s\"?", likely.name);
    else if (list.bytes != NULL)
        error_hint(binder->error, "columns%s%s: %s", table ? " of " : "",
                   table ? table : "", list.bytes);
    text_finish(&list);
}

static struct expression *refuse(struct binder *binder,
                                 const struct ast_expression *tree)
{
    const struct ast_name *name = &tree->column;
    const char *table = only_table(binder->scope);

    if (tree->table.text != NULL
        && !knows_table(binder->scope, tree->table.text))
        return refuse_table(binder, &tree->table);
    if (table != NULL)
        error_at(binder->error, VDBQ_UNKNOWN, name->at,
                 "table %s has no column %s", table, name->text);
    else
        error_at(binder->error, VDBQ_UNKNOWN, name->at, "no such column: %s",
                 name->text);
    hint_scope(binder, name->text);
    return NULL;
}

static struct expression *refuse_ambiguous(struct binder *binder,
                                           const struct scope_column *column,
                                           const struct ast_expression *tree)
{
    error_at(binder->error, VDBQ_UNKNOWN, tree->column.at,
             "several tables have a column %s", tree->column.text);
    error_hint(binder->error, "say which: %s.%s", column->table, column->name);
    return NULL;
}

static struct expression *refuse_outer(struct binder *binder,
                                       const struct ast_expression *tree)
{
    error_at(binder->error, VDBQ_UNKNOWN, tree->column.at,
             "%s is a column of a query around this LIMIT or OFFSET",
             tree->column.text);
    error_hint(binder->error, "how many rows are wanted cannot depend on the "
                              "rows of other queries");
    return NULL;
}

/* --------------------------------------------------------------- results -- */

/* A result of the query itself that has the name. */
static struct expression *result_named(const struct scope *scope,
                                       const struct ast_expression *tree)
{
    if (scope->results == NULL || tree->table.text != NULL)
        return NULL;
    for (size_t i = 0; i < scope->results->count; i++) {
        const struct result *result = vector_at(scope->results, i);
        if (result->alias && name_equal(result->name, tree->column.text))
            return result->expression;
    }
    return NULL;
}

/* A result stands where what it is made of may stand. */
static struct expression *use_result(struct binder *binder,
                                     struct expression *e,
                                     const struct ast_expression *tree)
{
    const struct scope *scope = binder->scope;
    bool aggregate =
        !scope->aggregates && expression_has(e, EXPRESSION_AGGREGATE);

    if (!aggregate && (scope->windows || !expression_has(e, EXPRESSION_WINDOW)))
        return e;
    error_at(binder->error, VDBQ_SYNTAX, tree->column.at,
             "%s is %s, which cannot stand here", tree->column.text,
             aggregate ? "an aggregate" : "a window function");
    return NULL;
}

/* Notes that a name means a column of a scope, or (NULL) a result or, outside of all
 * scopes, a word. False: no memory. */
static bool note(const struct binder *binder, const struct scope *in,
                 const struct scope_column *column,
                 const struct ast_expression *tree)
{
    struct meaning meaning = { .name = tree->column.text, .table = "" };

    for (const struct scope *scope = binder->scope; scope != in;
         scope = scope->outer)
        meaning.outwards++;
    if (column != NULL)
        meaning.table = column->table;
    meaning.meant = in == NULL                                  ? MEANT_WORD
                    : column == NULL                            ? MEANT_RESULT
                    : column->hidden && is_row_id(column->name) ? MEANT_ROW_ID
                                                                : MEANT_COLUMN;
    return meaning_note(binder, &meaning);
}

/* What is no column and no result. */
static struct expression *find_word(struct binder *binder,
                                    const struct ast_expression *tree)
{
    bool found;
    struct expression *word = bind_current(binder, tree, &found);

    if (!found)
        return refuse(binder, tree);
    return note(binder, NULL, NULL, tree) ? word : NULL;
}

/* A column that one scope has of a name, for the scope that names it. */
static struct expression *use_column(struct binder *binder, struct scope *scope,
                                     const struct scope_column *column,
                                     const struct ast_expression *tree)
{
    struct expression *e = note(binder, scope, column, tree)
                               ? column_in(binder, scope, column, tree)
                               : NULL;

    return e == NULL || scope == binder->scope ? e
                                               : scope_ask(binder, scope, e);
}

struct expression *scope_find(struct binder *binder,
                              const struct ast_expression *tree)
{
    struct expression *result;
    bool closed = false;

    for (struct scope *scope = binder->scope; scope != NULL;
         closed |= scope->closed, scope = scope->outer) {
        bool ambiguous = false, own = scope == binder->scope;
        const struct scope_column *column = look(scope, tree, &ambiguous);
        result = own && (column == NULL || scope->results_first)
                     ? result_named(scope, tree)
                     : NULL;
        if (column == NULL && result == NULL)
            continue;
        if (closed)
            return refuse_outer(binder, tree);
        scope->used = ++binder->lookups;
        if (result != NULL)
            return note(binder, scope, NULL, tree)
                       ? use_result(binder, result, tree)
                       : NULL;
        if (ambiguous)
            return refuse_ambiguous(binder, column, tree);
        return use_column(binder, scope, column, tree);
    }
    return find_word(binder, tree);
}

/* -------------------------------------------------- whose an aggregate is -- */

struct scope *scope_user(struct scope *scope, uint64_t since)
{
    for (struct scope *user = scope; user != NULL; user = user->outer)
        if (user->used > since)
            return user;
    return scope;
}

void scope_forget(struct scope *scope, int parameter)
{
    for (; scope != NULL; scope = scope->outer)
        while (scope->asked.count > 0) {
            const struct outer_value *last =
                vector_at(&scope->asked, scope->asked.count - 1);
            if (last->parameter < parameter)
                break;
            scope->asked.count--;
        }
}
