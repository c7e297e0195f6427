/* SPDX-License-Identifier: MIT */
/*
 * Names to columns: the tree of a SELECT becomes expressions, leaves first,
 * each with its type and range. The column names rowid and _rowid_ give the
 * primary key, or the row's number, where no column is called so.
 */
#include "plan/plan_inner.h"

#include <string.h>

static enum vdbq_status bind_from(struct binder *binder,
                                  const struct ast_from *from);
static enum vdbq_status bind_result(struct binder *binder,
                                    const struct ast_result *result,
                                    struct vector *results);
static enum vdbq_status bind_star(struct binder *binder,
                                  const struct ast_result *result,
                                  struct vector *results);
static enum vdbq_status check_qualifier(const struct binder *binder,
                                        const struct ast_name *table);
static struct expression *bind_column(struct binder *binder,
                                      const struct ast_expression *tree);
static struct expression *bind_operator(struct binder *binder,
                                        const struct ast_expression *tree);
static struct expression *bind_between(struct binder *binder,
                                       const struct ast_expression *tree);
static struct expression *bind_cast(struct binder *binder,
                                    const struct ast_expression *tree);
static struct expression *bind_truth(struct binder *binder,
                                     const struct ast_expression *tree);
static struct expression *column_expression(struct binder *binder,
                                            unsigned number,
                                            struct position at);

enum vdbq_status bind_select(struct binder *binder,
                             const struct ast_select *select,
                             struct bound_select *bound)
{
    enum vdbq_status status = VDBQ_OK;

    if (select->from != NULL)
        status = bind_from(binder, select->from);
    bound->table = binder->table;
    for (const struct ast_result *result = select->results;
         result != NULL && status == VDBQ_OK; result = result->next)
        status = bind_result(binder, result, &bound->results);
    if (status != VDBQ_OK || select->where == NULL)
        return status;
    bound->where = bind_expression(binder, select->where);
    return bound->where != NULL ? VDBQ_OK : binder->error->status;
}

struct expression *bind_expression(struct binder *binder,
                                   const struct ast_expression *tree)
{
    switch (tree->kind) {
    case AST_INTEGER:
        return expression_integer(binder, tree->integer, tree->at);
    case AST_DECIMAL:
        return expression_real(binder, TYPE_F64, tree->decimal, tree->at);
    case AST_NULL:
        return expression_null(binder, TYPE_I32, tree->at);
    case AST_COLUMN:
        return bind_column(binder, tree);
    case AST_OPERATOR:
        return bind_operator(binder, tree);
    case AST_CAST:
        return bind_cast(binder, tree);
    case AST_TRUE:
        return expression_integer(binder, 1, tree->at);
    case AST_FALSE:
        return expression_integer(binder, 0, tree->at);
    case AST_BETWEEN:
        return bind_between(binder, tree);
    case AST_STRING:
        break;
    default:
        error_at(binder->error, VDBQ_SYNTAX, tree->at,
                 "this expression is not there yet");
        return NULL;
    }
    error_at(binder->error, VDBQ_TYPE, tree->at,
             "text values cannot be stored or computed with by this version");
    error_hint(binder->error,
               "CAST('...' AS INTEGER) reads a number from text; names of "
               "columns are written without quotes or in \"double quotes\"");
    return NULL;
}

/* ------------------------------------------------------ FROM and results -- */

static enum vdbq_status bind_from(struct binder *binder,
                                  const struct ast_from *from)
{
    const struct table *table = find_table(binder, &from->name);

    if (table == NULL)
        return binder->error->status;
    binder->table = table;
    binder->alias = from->alias.text != NULL ? from->alias.text : table->name;
    binder->facts = arena_alloc(binder->arena, (table->column_count + 1)
                                                   * sizeof *binder->facts);
    return binder->facts != NULL ? VDBQ_OK : error_no_memory(binder->error);
}

/* The alias; else a column's name; else the expression as it is written. */
static const char *result_name(const struct binder *binder,
                               const struct ast_result *result,
                               const struct expression *expression)
{
    const struct ast_expression *tree = result->expression;

    if (result->alias.text != NULL)
        return result->alias.text;
    if (tree->kind == AST_COLUMN)
        return expression->name;
    return arena_copy(binder->arena, binder->sql + tree->begin,
                      tree->end - tree->begin);
}

static enum vdbq_status add_result(struct binder *binder, const char *name,
                                   struct expression *expression,
                                   struct vector *results)
{
    struct bound_result result = { .name = name, .expression = expression };

    if (name == NULL || !vector_append(results, &result, 1))
        return error_no_memory(binder->error);
    return VDBQ_OK;
}

static enum vdbq_status bind_result(struct binder *binder,
                                    const struct ast_result *result,
                                    struct vector *results)
{
    struct expression *expression;

    if (result->star)
        return bind_star(binder, result, results);
    expression = bind_expression(binder, result->expression);
    if (expression == NULL)
        return binder->error->status;
    return add_result(binder, result_name(binder, result, expression),
                      expression, results);
}

static enum vdbq_status bind_star(struct binder *binder,
                                  const struct ast_result *result,
                                  struct vector *results)
{
    const struct table *table = binder->table;
    enum vdbq_status status = check_qualifier(binder, &result->table);

    if (status == VDBQ_OK && table == NULL)
        status = error_at(binder->error, VDBQ_UNKNOWN, result->at,
                          "* stands for the columns of a table, and there is "
                          "no FROM");
    if (status != VDBQ_OK)
        return status;
    for (unsigned i = 0; i < table->column_count && status == VDBQ_OK; i++) {
        struct expression *column = column_expression(binder, i, result->at);
        status = column == NULL ? binder->error->status
                                : add_result(binder, column->name, column,
                                             results);
    }
    return status;
}

/* -------------------------------------------------------------- columns -- */

/* That a table named in front of a column is the one in FROM. */
static enum vdbq_status check_qualifier(const struct binder *binder,
                                        const struct ast_name *table)
{
    if (table->text == NULL)
        return VDBQ_OK;
    if (binder->table != NULL && name_equal(table->text, binder->alias))
        return VDBQ_OK;
    error_at(binder->error, VDBQ_UNKNOWN, table->at,
             "no such table in this statement: %s", table->text);
    if (binder->table != NULL)
        error_hint(binder->error, "the table in FROM is called %s here",
                   binder->alias);
    else
        error_hint(binder->error, "there is no FROM");
    return binder->error->status;
}

static struct expression *new_column(struct binder *binder, int type,
                                     struct position at)
{
    struct expression *e = arena_alloc(binder->arena, sizeof *e);

    if (e == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    e->kind = EXPRESSION_COLUMN;
    e->type = type;
    e->at = at;
    return e;
}

/* The facts of a column over the whole table, asked for once. */
static const struct column_facts *facts_of(struct binder *binder,
                                           unsigned number)
{
    struct column_facts **facts = &binder->facts[number];

    if (*facts == NULL) {
        *facts = arena_alloc(binder->arena, sizeof **facts);
        if (*facts == NULL)
            error_no_memory(binder->error);
        else
            **facts = table_facts(binder->table, number);
    }
    return *facts;
}

static struct expression *column_expression(struct binder *binder,
                                            unsigned number,
                                            struct position at)
{
    const struct table *table = binder->table;
    const struct column *column = &table->columns[number];
    const struct column_facts *facts = facts_of(binder, number);
    struct expression *e = new_column(binder, (int)column->type, at);

    if (e == NULL || facts == NULL)
        return NULL;
    e->name = column->name;
    e->column = (int)number;
    if (number == table->key)
        e->column = -1;
    else if (table->key != NO_KEY && number > table->key)
        e->column--;
    range_column(e, facts);
    return e;
}

/* The number of a row in a table without a key. */
static struct expression *row_number(struct binder *binder,
                                     struct position at)
{
    struct column_facts facts = { .maximum = (int64_t)binder->table->rows };
    struct expression *e = new_column(binder, TYPE_I64, at);

    if (e == NULL)
        return NULL;
    e->name = "rowid";
    e->column = -1;
    range_column(e, &facts);
    return e;
}

static struct expression *bind_column(struct binder *binder,
                                      const struct ast_expression *tree)
{
    const struct table *table = binder->table;
    const char *name = tree->column.text;
    unsigned number;

    if (check_qualifier(binder, &tree->table) != VDBQ_OK)
        return NULL;
    if (table == NULL) {
        error_at(binder->error, VDBQ_UNKNOWN, tree->column.at,
                 "no such column: %s", name);
        error_hint(binder->error, "there is no table to take it from here");
        return NULL;
    }
    number = table_column(table, name);
    if (number == table->column_count
        && (name_equal(name, "rowid") || name_equal(name, "_rowid_"))) {
        if (table->key == NO_KEY)
            return row_number(binder, tree->at);
        number = table->key;
    }
    if (number == table->column_count) {
        find_column(table, &tree->column, &number, binder->error);
        return NULL;
    }
    return column_expression(binder, number, tree->at);
}

/* ------------------------------------------------------ operators, casts -- */

/* Whether it is minus the one number that fits 64 bits only with its sign. */
static bool is_least_integer(const struct binder *binder,
                             const struct ast_expression *tree)
{
    static const char digits[] = "9223372036854775808";
    const struct ast_expression *operand = tree->left;

    return tree->operator == AST_MINUS && operand->kind == AST_DECIMAL
           && operand->end - operand->begin == sizeof digits - 1
           && memcmp(binder->sql + operand->begin, digits, sizeof digits - 1)
                  == 0;
}

static struct expression *bind_operator(struct binder *binder,
                                        const struct ast_expression *tree)
{
    struct expression *left, *right = NULL;

    if ((tree->operator == AST_IS || tree->operator == AST_IS_NOT)
        && (tree->right->kind == AST_TRUE || tree->right->kind == AST_FALSE))
        return bind_truth(binder, tree);
    if (is_least_integer(binder, tree))
        return expression_integer(binder, INT64_MIN, tree->at);
    left = bind_expression(binder, tree->left);
    if (left == NULL)
        return NULL;
    if (tree->right != NULL) {
        right = bind_expression(binder, tree->right);
        if (right == NULL)
            return NULL;
    }
    return expression_operator(binder, tree->operator, left, right, tree);
}

/* A tree over parts of another, at its place. */
static struct ast_expression *tree_over(struct binder *binder,
                                        const struct ast_expression *at,
                                        enum ast_operator operator,
                                        const struct ast_expression *left,
                                        const struct ast_expression *right)
{
    struct ast_expression *made = arena_alloc(binder->arena, sizeof *made);

    if (made == NULL) {
        error_no_memory(binder->error);
        return NULL;
    }
    *made = *at;
    made->kind = AST_OPERATOR;
    made->operator = operator;
    made->left = (struct ast_expression *)left;
    made->right = (struct ast_expression *)right;
    return made;
}

/* value >= low AND value <= high */
static struct expression *bind_between(struct binder *binder,
                                       const struct ast_expression *tree)
{
    const struct ast_value *low = tree->arguments;
    struct ast_expression *least, *most, *both;

    least = tree_over(binder, tree, AST_GE, tree->left, low->expression);
    most = tree_over(binder, tree, AST_LE, tree->left, low->next->expression);
    both = least != NULL && most != NULL
         ? tree_over(binder, tree, AST_AND, least, most) : NULL;
    if (both != NULL && tree->negated)
        both = tree_over(binder, tree, AST_NOT, both, NULL);
    return both != NULL ? bind_expression(binder, both) : NULL;
}

/* value IS TRUE: value IS NOT NULL AND value <> 0 */
static struct expression *bind_truth(struct binder *binder,
                                     const struct ast_expression *tree)
{
    bool wanted = tree->right->kind == AST_TRUE;
    struct ast_expression *zero = tree_over(binder, tree, AST_IS, NULL, NULL);
    struct ast_expression *null = tree_over(binder, tree, AST_IS, NULL, NULL);
    struct ast_expression *known, *test, *both;

    if (zero == NULL || null == NULL)
        return NULL;
    zero->kind = AST_INTEGER;
    null->kind = AST_NULL;
    known = tree_over(binder, tree, AST_IS_NOT, tree->left, null);
    test = tree_over(binder, tree, wanted ? AST_NEQ : AST_EQ, tree->left,
                     zero);
    both = known != NULL && test != NULL
         ? tree_over(binder, tree, AST_AND, known, test) : NULL;
    if (both != NULL && tree->operator == AST_IS_NOT)
        both = tree_over(binder, tree, AST_NOT, both, NULL);
    return both != NULL ? bind_expression(binder, both) : NULL;
}

/* The number that text holds, blanks around it aside. */
static struct expression *number_in_text(struct binder *binder,
                                         const struct ast_expression *tree)
{
    const char *text = tree->string;
    size_t length = tree->string_length;
    int64_t integer;
    double real;

    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    while (length > 0 && strchr(" \t\r\n", text[0]) != NULL)
        text++, length--;
    if (text_to_int64(text, length, &integer))
        return expression_integer(binder, integer, tree->at);
    if (length > 0 && text_to_double(text, length, &real) && real == real)
        return expression_real(binder, TYPE_F64, real, tree->at);
    error_at(binder->error, VDBQ_TYPE, tree->at, "'%s' is not a number",
             tree->string);
    return NULL;
}

/* What has been cast has a type of its own, even if it had that before. */
static struct expression *bind_cast(struct binder *binder,
                                    const struct ast_expression *tree)
{
    struct expression *operand, *e;

    if (tree->type.type > VDBQ_DOUBLE) {
        error_at(binder->error, VDBQ_SYNTAX, tree->at,
                 "this type is not there yet");
        return NULL;
    }
    if (tree->left->kind == AST_STRING)
        operand = number_in_text(binder, tree->left);
    else
        operand = bind_expression(binder, tree->left);
    e = expression_cast(binder, operand, (int)tree->type.type, tree->at);
    if (e == NULL)
        return NULL;
    e->literal = false;
    if (e->kind == EXPRESSION_CAST) {
        e->begin = tree->begin;
        e->end = tree->end;
    }
    return e;
}
