/* SPDX-License-Identifier: MIT */
/*
 * Parses a statement and prints its syntax tree as a text, for tests:
 * (+ a (* 2 3)).
 */
#ifndef VDBQ_TESTS_TREE_FIXTURE_H
#define VDBQ_TESTS_TREE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "parser/ast.h"

static void print_tree(struct text *out, const struct ast_expression *tree);
static void print_query(struct text *out, const struct ast_query *query);

/* ------------------------------------------------------- expressions -- */

static void print_values(struct text *out, const struct ast_value *values)
{
    for (; values != NULL; values = values->next) {
        text_print(out, " ");
        print_tree(out, values->expression);
    }
}

static void print_part(struct text *out, const char *before,
                       const struct ast_expression *tree)
{
    if (tree == NULL)
        return;
    text_print(out, "%s", before);
    print_tree(out, tree);
}

static void print_orders(struct text *out, const struct ast_order *order)
{
    static const char *const nulls[] = { "", " first", " last" };

    if (order != NULL)
        text_print(out, " order");
    for (; order != NULL; order = order->next) {
        print_part(out, " ", order->expression);
        text_print(out, "%s%s", order->descending ? " desc" : "",
                   nulls[order->nulls]);
    }
}

static void print_type(struct text *out, const struct ast_type *type)
{
    static const char *const names[] = { "none",    "integer",  "bigint",
                                         "float",   "double",   "text",
                                         "boolean", "smallint", "decimal",
                                         "date",    "timestamp" };

    text_print(out, "%s", names[type->type]);
    if (type->type == VDBQ_DECIMAL)
        text_print(out, ":%u,%u", type->precision, type->scale);
}

static void print_function(struct text *out, const struct ast_expression *tree)
{
    text_print(out, "(%s%s%s", tree->column.text, tree->star ? " *" : "",
               tree->distinct ? " distinct" : "");
    print_values(out, tree->arguments);
    print_part(out, " filter ", tree->filter);
    if (tree->over != NULL) {
        text_print(out, " over(");
        print_values(out, tree->over->partition);
        print_orders(out, tree->over->order);
        text_print(out, ")");
    }
    text_print(out, ")");
}

static void print_case(struct text *out, const struct ast_expression *tree)
{
    text_print(out, "(case");
    print_part(out, " ", tree->left);
    for (const struct ast_when *when = tree->whens; when; when = when->next) {
        print_part(out, " when ", when->when);
        print_part(out, " then ", when->then);
    }
    print_part(out, " else ", tree->right);
    text_print(out, ")");
}

static void print_operator(struct text *out, const struct ast_expression *tree)
{
    static const char *const names[] = { "+",  "-",   "*",     "/",   "%",
                                         "=",  "<>",  "<",     "<=",  ">",
                                         ">=", "is",  "isnot", "and", "or",
                                         "||", "not", "neg",   "pos" };

    text_print(out, "(%s", names[tree->operator]);
    print_part(out, " ", tree->left);
    print_part(out, " ", tree->right);
    text_print(out, ")");
}

/* BETWEEN, IN, LIKE, CAST and what has a query. */
static void print_test(struct text *out, const struct ast_expression *tree)
{
    static const char *const names[] = {
        [AST_BETWEEN] = "between", [AST_CAST] = "cast",
        [AST_IN] = "in",           [AST_LIKE] = "like",
        [AST_SUBQUERY] = "query",  [AST_EXISTS] = "exists"
    };

    text_print(out, "(%s%s%s", tree->negated ? "not" : "",
               tree->folds ? "i" : "", names[tree->kind]);
    if (tree->kind == AST_CAST) {
        text_print(out, " ");
        print_type(out, &tree->type);
    }
    print_part(out, " ", tree->left);
    print_part(out, " ", tree->right);
    print_part(out, " escape ", tree->escape);
    print_values(out, tree->arguments);
    if (tree->query != NULL) {
        text_print(out, " ");
        print_query(out, tree->query);
    }
    text_print(out, ")");
}

static void print_leaf(struct text *out, const struct ast_expression *tree)
{
    static const char *const units[] = { "year", "month",  "day",
                                         "hour", "minute", "second" };
    bool named = tree->column.text != NULL;

    if (tree->kind == AST_INTEGER)
        text_print(out, "%lld", (long long)tree->integer);
    else if (tree->kind == AST_DECIMAL)
        text_print(out, "%gd", tree->decimal);
    else if (tree->kind == AST_STRING)
        text_print(out, "'%.*s'", (int)tree->string_length, tree->string);
    else if (tree->kind == AST_INTERVAL)
        text_print(out, "%lld%s", (long long)tree->integer, units[tree->unit]);
    else if (tree->kind == AST_PARAMETER)
        text_print(out, "?%lld%s%s", (long long)tree->integer, named ? ":" : "",
                   named ? tree->column.text : "");
    else if (tree->kind == AST_COLUMN)
        text_print(out, "%s%s%s", tree->table.text ? tree->table.text : "",
                   tree->table.text ? "." : "", tree->column.text);
    else
        text_print(out, "%s",
                   tree->kind == AST_NULL   ? "null"
                   : tree->kind == AST_TRUE ? "true"
                                            : "false");
}

static void print_tree(struct text *out, const struct ast_expression *tree)
{
    switch (tree->kind) {
    case AST_OPERATOR:
        print_operator(out, tree);
        break;
    case AST_FUNCTION:
        print_function(out, tree);
        break;
    case AST_CASE:
        print_case(out, tree);
        break;
    case AST_BETWEEN:
    case AST_CAST:
    case AST_IN:
    case AST_LIKE:
    case AST_SUBQUERY:
    case AST_EXISTS:
        print_test(out, tree);
        break;
    default:
        print_leaf(out, tree);
        break;
    }
}

/* ------------------------------------------------------------ queries -- */

static void print_names(struct text *out, const struct ast_name *names,
                        unsigned count)
{
    if (count == 0)
        return;
    for (unsigned i = 0; i < count; i++)
        text_print(out, "%s%s", i == 0 ? "(" : " ", names[i].text);
    text_print(out, ")");
}

static void print_alias(struct text *out, const struct ast_name *alias)
{
    if (alias->text != NULL)
        text_print(out, " as %s", alias->text);
}

static void print_from(struct text *out, const struct ast_from *from)
{
    static const char *const joins[] = { "comma", "cross", "inner",
                                         "left",  "right", "full" };

    if (from->kind == AST_FROM_JOIN) {
        text_print(out, "(%s%s ", from->natural ? "natural" : "",
                   joins[from->join]);
        print_from(out, from->left);
        text_print(out, " ");
        print_from(out, from->right);
        print_part(out, " on ", from->on);
        if (from->column_count > 0)
            text_print(out, " using");
        print_names(out, from->columns, from->column_count);
        text_print(out, ")");
        return;
    }
    if (from->kind == AST_FROM_TABLE)
        text_print(out, "%s", from->name.text);
    else if (from->kind == AST_FROM_FILE)
        text_print(out, "'%s'", from->file);
    else
        print_query(out, from->query);
    print_alias(out, &from->alias);
    print_names(out, from->columns, from->column_count);
}

static void print_results(struct text *out, const struct ast_result *result)
{
    for (; result != NULL; result = result->next) {
        text_print(out, " ");
        if (result->table.text != NULL)
            text_print(out, "%s.", result->table.text);
        if (result->star)
            text_print(out, "*");
        print_part(out, "", result->expression);
        print_alias(out, &result->alias);
    }
}

static void print_select(struct text *out, const struct ast_select *select)
{
    text_print(out, "select%s", select->distinct ? " distinct" : "");
    print_results(out, select->results);
    if (select->from != NULL) {
        text_print(out, " from ");
        print_from(out, select->from);
    }
    print_part(out, " where ", select->where);
    if (select->group != NULL || select->group_all)
        text_print(out, " group%s", select->group_all ? " all" : "");
    print_values(out, select->group);
    print_part(out, " having ", select->having);
}

static void print_rows(struct text *out, const struct ast_row *row)
{
    text_print(out, "values");
    for (; row != NULL; row = row->next) {
        text_print(out, " [");
        print_values(out, row->values);
        text_print(out, " ]");
    }
}

static void print_withs(struct text *out, const struct ast_with *with)
{
    for (; with != NULL; with = with->next) {
        text_print(out, "with %s", with->name.text);
        print_names(out, with->columns, with->column_count);
        text_print(out, " ");
        print_query(out, with->query);
        text_print(out, " ");
    }
}

static void print_query(struct text *out, const struct ast_query *query)
{
    static const char *const kinds[] = { "select",   "values",    "union",
                                         "unionall", "intersect", "except" };

    text_print(out, "{");
    print_withs(out, query->with);
    if (query->kind == AST_QUERY_SELECT) {
        print_select(out, &query->select);
    } else if (query->kind == AST_QUERY_VALUES) {
        print_rows(out, query->rows);
    } else {
        text_print(out, "%s ", kinds[query->kind]);
        print_query(out, query->left);
        text_print(out, " ");
        print_query(out, query->right);
    }
    print_orders(out, query->order);
    print_part(out, " limit ", query->limit);
    print_part(out, " offset ", query->offset);
    text_print(out, "}");
}

/* --------------------------------------------------------- statements -- */

static void print_columns(struct text *out, const struct ast_column *column)
{
    for (; column != NULL; column = column->next) {
        text_print(out, " [%s ", column->name.text);
        print_type(out, &column->type);
        text_print(out, "%s%s%s", column->primary_key ? " key" : "",
                   column->not_null ? " notnull" : "",
                   column->unique ? " unique" : "");
        print_part(out, " default ", column->default_value);
        text_print(out, "]");
    }
}

static void print_create(struct text *out, const struct ast_create *create)
{
    const struct ast_constraint *constraint = create->constraints;

    text_print(out, "create %s%s", create->table.text,
               create->if_not_exists ? "?" : "");
    print_columns(out, create->columns);
    for (; constraint != NULL; constraint = constraint->next) {
        text_print(out, constraint->primary ? " key" : " unique");
        print_names(out, constraint->columns, constraint->column_count);
    }
    if (create->query != NULL)
        print_query(out, create->query);
}

static void print_insert(struct text *out, const struct ast_insert *insert)
{
    text_print(out, "insert%s%s %s", insert->replace ? " replace" : "",
               insert->ignore ? " ignore" : "", insert->table.text);
    print_names(out, insert->columns, insert->column_count);
    text_print(out, " ");
    if (insert->query != NULL)
        print_query(out, insert->query);
    else
        text_print(out, "default");
}

static void print_update(struct text *out, const struct ast_update *update)
{
    text_print(out, "update %s", update->table.text);
    print_alias(out, &update->alias);
    for (const struct ast_set *set = update->sets; set; set = set->next) {
        text_print(out, " %s=", set->column.text);
        print_tree(out, set->expression);
    }
    print_part(out, " where ", update->where);
}

static void print_delete(struct text *out, const struct ast_delete *delete)
{
    text_print(out, "delete %s", delete->table.text);
    print_alias(out, &delete->alias);
    print_part(out, " where ", delete->where);
}

static void print_view(struct text *out, const struct ast_view *view)
{
    text_print(out, "view %s%s", view->name.text,
               view->if_not_exists ? "?" : "");
    print_names(out, view->columns, view->column_count);
    print_query(out, view->query);
}

static void print_index(struct text *out, const struct ast_index *index)
{
    text_print(out, "index%s %s%s on %s", index->unique ? " unique" : "",
               index->name.text, index->if_not_exists ? "?" : "",
               index->table.text);
    print_orders(out, index->terms);
}

static void print_drop(struct text *out, const struct ast_drop *drop,
                       const char *what)
{
    text_print(out, "drop %s %s%s", what, drop->name.text,
               drop->if_exists ? "?" : "");
}

static void print_kind(struct text *out, const struct ast_statement *made)
{
    switch (made->kind) {
    case AST_EMPTY:
        text_print(out, "empty");
        break;
    case AST_SELECT:
        print_query(out, made->query);
        break;
    case AST_CREATE_TABLE:
        print_create(out, &made->create);
        break;
    case AST_DROP_TABLE:
        print_drop(out, &made->drop, "table");
        break;
    case AST_CREATE_VIEW:
        print_view(out, &made->view);
        break;
    case AST_DROP_VIEW:
        print_drop(out, &made->drop, "view");
        break;
    case AST_CREATE_INDEX:
        print_index(out, &made->index);
        break;
    case AST_DROP_INDEX:
        print_drop(out, &made->drop, "index");
        break;
    case AST_INSERT:
        print_insert(out, &made->insert);
        break;
    case AST_UPDATE:
        print_update(out, &made->update);
        break;
    case AST_DELETE:
        print_delete(out, &made->delete);
        break;
    case AST_BEGIN:
        text_print(out, "begin");
        break;
    case AST_COMMIT:
        text_print(out, "commit");
        break;
    case AST_ROLLBACK:
        text_print(out, "rollback");
        break;
    case AST_COPY:
        text_print(out, "copy '%s' ", made->copy.file);
        print_query(out, made->copy.query);
        break;
    case AST_DESCRIBE:
    case AST_SUMMARIZE:
        text_print(out,
                   made->kind == AST_DESCRIBE ? "describe " : "summarize ");
        print_query(out, made->query);
        break;
    }
}

static inline void print_statement(struct text *out,
                                   const struct ast_statement *made)
{
    static const char *const explains[] = { "", "explain ", "analyze " };

    text_print(out, "%s", explains[made->explain]);
    print_kind(out, made);
    if (made->parameter_count > 0)
        text_print(out, " %u parameters", made->parameter_count);
}
/* ------------------------------------------------------------ parsing -- */

/* One parse and what it gave. */
static struct arena arena;
static struct ast_statement *statement;
static size_t consumed;
static struct error error;

static enum vdbq_status parse_bytes(const char *sql, size_t length)
{
    arena_finish(&arena);
    return sql_parse(sql, length, &arena, &statement, &consumed, &error);
}

static enum vdbq_status parse(const char *sql)
{
    return parse_bytes(sql, strlen(sql));
}

static int finish(void **state)
{
    (void)state;
    memory_calls.resize = realloc;
    arena_finish(&arena);
    return 0;
}

static struct ast_expression *first_expression(const char *sql)
{
    if (parse(sql) != VDBQ_OK)
        fail_msg("%s: %s", sql, error.message);
    assert_int_equal(statement->kind, AST_SELECT);
    return statement->query->select.results->expression;
}

/* Whether `select SQL` has the tree. */
static void check_tree(const char *sql, const char *expected)
{
    struct text select = { 0 }, tree = { 0 };

    text_print(&select, "select %s", sql);
    print_tree(&tree, first_expression(select.bytes));
    assert_string_equal(tree.bytes, expected);
    text_finish(&select);
    text_finish(&tree);
}

#endif
