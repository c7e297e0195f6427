/* SPDX-License-Identifier: MIT */
/*
 * A comparison with ANY or ALL rows of a query, of one column v.
 *
 * x op ANY is true where it is true of the least or the greatest v, the one that
 * op is the most likely to be true of. Else it is NULL where a v is NULL, or where
 * x is and there are rows; else it is false. x op ALL is NOT (x other ANY), `other`
 * being what op is not. = ANY and <> ALL are IN and NOT IN.
 *
 * So no row of the query meets a row around it: it is read for the extreme, and once
 * more to see whether there are rows and NULLs, each a query of its own.
 */
#include "plan/bind/quantified.h"

#include "plan/bind/bind.h"
#include "plan/bind/query.h"
#include "plan/bind/scope.h"
#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/operator/collate.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/node.h"

/* Each binds the query of the next one some times. */
enum { QUANTIFIED_DEEP_MAX = 4 };

/* What the query is asked for, in the tree of a query around it. */
struct asked {
    struct ast_query query;
    struct ast_from from;
    struct ast_name column;
    struct ast_result result;
    struct ast_expression value, function, subquery;
    struct ast_value argument;
};

/* (SELECT name(v) FROM (query) AS any (v)), or count(*). */
static struct expression *
ask(struct binder *binder, const struct ast_expression *tree, const char *name)
{
    struct asked *asked = arena_alloc(binder->arena, sizeof *asked);

    if (asked == NULL)
        return error_no_memory(binder->error), NULL;
    *asked = (struct asked){ 0 };
    asked->column = (struct ast_name){ .text = "v", .at = tree->at };
    asked->value = (struct ast_expression){ .kind = AST_COLUMN,
                                            .at = tree->at,
                                            .column = asked->column };
    asked->argument.expression = &asked->value;
    asked->function = (struct ast_expression){
        .kind = AST_FUNCTION,
        .at = tree->at,
        .column = { .text = name != NULL ? name : "count", .at = tree->at },
        .star = name == NULL,
        .arguments = name != NULL ? &asked->argument : NULL,
        .argument_count = name != NULL
    };
    asked->result = (struct ast_result){ .expression = &asked->function,
                                         .alias = asked->column };
    asked->from = (struct ast_from){ .kind = AST_FROM_QUERY,
                                     .alias = { .text = "any" },
                                     .query = tree->query,
                                     .columns = &asked->column,
                                     .column_count = 1,
                                     .at = tree->at };
    asked->query =
        (struct ast_query){ .kind = AST_QUERY_SELECT, .at = tree->at };
    asked->query.select = (struct ast_select){ .results = &asked->result,
                                               .result_count = 1,
                                               .from = &asked->from };
    asked->subquery = (struct ast_expression){ .kind = AST_SUBQUERY,
                                               .at = tree->at,
                                               .query = &asked->query };
    return bind_expression(binder, &asked->subquery);
}

/* A comparison of x with an extreme. */
static struct expression *compare(struct binder *binder,
                                  const struct ast_expression *tree,
                                  enum ast_operator operator,
                                  struct expression * x, const char *extreme)
{
    struct expression *e = ask(binder, tree, extreme);

    return e ? expression_operator(binder, operator, x, e, tree) : NULL;
}

/* Whether the comparison is true of a row. */
static struct expression *holds(struct binder *binder,
                                const struct ast_expression *tree,
                                enum ast_operator operator,
                                struct expression * x)
{
    bool greatest = operator== AST_LT || operator== AST_LE;
    struct expression *e, *other;

    if (operator!= AST_NEQ)
        return compare(binder, tree, operator, x, greatest ? "max" : "min");
    e = compare(binder, tree, operator, x, "min");
    other = e ? compare(binder, tree, operator, x, "max") : NULL;
    return other ? expression_logic(binder, AST_OR, e, other, tree) : NULL;
}

/* Whether it is NULL where it is true of none: of a row that is NULL, or of any
 * row where x is. */
static struct expression *is_unknown(struct binder *binder,
                                     const struct ast_expression *tree,
                                     struct expression *x)
{
    struct expression *rows = ask(binder, tree, NULL);
    struct expression *values = rows ? ask(binder, tree, "count") : NULL;
    struct expression *zero = expression_integer(binder, 0, tree->at);
    struct expression *null = expression_null(binder, x->type, tree->at), *some;

    if (values == NULL || zero == NULL || null == NULL)
        return NULL;
    values = expression_operator(binder, AST_LT, values, rows, tree);
    some = expression_operator(binder, AST_GT, rows, zero, tree);
    null = expression_operator(binder, AST_IS, x, null, tree);
    some = some && null ? expression_logic(binder, AST_AND, null, some, tree)
                        : NULL;
    return values && some ? expression_logic(binder, AST_OR, values, some, tree)
                          : NULL;
}

static struct expression *any(struct binder *binder,
                              const struct ast_expression *tree,
                              enum ast_operator operator, struct expression * x)
{
    struct expression *yes = expression_truth(binder, true, tree->at);
    struct expression *no = expression_truth(binder, false, tree->at);
    struct expression *null = expression_null(binder, VDBQ_INTEGER, tree->at);
    struct expression *e = holds(binder, tree, operator, x), *unknown;

    unknown = e ? is_unknown(binder, tree, x) : NULL;
    if (unknown == NULL || yes == NULL || no == NULL || null == NULL)
        return NULL;
    no = expression_choice(binder, unknown, null, no, tree->at);
    return no ? expression_choice(binder, e, yes, no, tree->at) : NULL;
}

/* Where `op` is not true and not NULL. */
static enum ast_operator opposite(enum ast_operator operator)
{
    switch (operator) {
    case AST_EQ:
        return AST_NEQ;
    case AST_NEQ:
        return AST_EQ;
    case AST_LT:
        return AST_GE;
    case AST_LE:
        return AST_GT;
    case AST_GT:
        return AST_LE;
    default:
        return AST_LT;
    }
}

/* The extreme of texts is that of their own collation, which another might not
 * agree with. */
static bool check_query(struct binder *binder,
                        const struct ast_expression *tree,
                        const struct expression *x)
{
    struct vector *values = &binder->scope->asked;
    size_t asked = values->count;
    const struct node *node = bind_query(binder, tree->query);

    values->count = asked;
    if (node == NULL)
        return false;
    if (node->column_count != 1)
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "a value is compared with rows of one column; these have %u",
                 node->column_count);
    else if (collation_of(x) != COLLATION_BINARY
             || node->columns[0].collating.collation != COLLATION_BINARY)
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "texts that have a COLLATE are not compared with %s rows",
                 tree->negated ? "ALL" : "ANY");
    else
        return true;
    return false;
}

static struct expression *is_in(struct binder *binder,
                                const struct ast_expression *tree)
{
    struct ast_expression in = *tree;

    in.kind = AST_IN;
    in.operator= AST_EQ;
    return bind_expression(binder, &in);
}

struct expression *bind_quantified(struct binder *binder,
                                   const struct ast_expression *tree)
{
    enum ast_operator operator= tree->negated ? opposite(tree->operator)
                                              : tree->operator;
    struct expression *x, *e = NULL;

    if (operator== AST_EQ)
        return is_in(binder, tree);
    if (binder->quantified == QUANTIFIED_DEEP_MAX) {
        error_at(binder->error, VDBQ_LIMIT, tree->at,
                 "ANY and ALL are nested more than %d deep",
                 QUANTIFIED_DEEP_MAX);
        return NULL;
    }
    binder->quantified++;
    x = bind_expression(binder, tree->left);
    if (x != NULL && check_query(binder, tree, x))
        e = any(binder, tree, operator, x);
    binder->quantified--;
    return e && tree->negated
               ? expression_operator(binder, AST_NOT, e, NULL, tree)
               : e;
}
