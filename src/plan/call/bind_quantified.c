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
#include "plan/call/bind_quantified.h"

#include "plan/make/expression_new.h"
#include "plan/make/logic.h"
#include "plan/make/coerce.h"
#include "plan/operator/collate.h"
#include "plan/operator/operator.h"
#include "plan/tree/binder.h"
#include "plan/tree/node.h"

/* Each binds the query of the next one some times. */
enum { QUANTIFIED_DEEP_MAX = 4 };

/* A comparison while it is bound. */
struct quantified {
    struct binder *binder;
    const struct ast_expression *tree;
    const struct quantified_calls *calls;
    struct expression *x;
};

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
static struct expression *ask(const struct quantified *quantified,
                              const char *name)
{
    const struct ast_expression *tree = quantified->tree;
    struct asked *asked = arena_alloc(quantified->binder->arena, sizeof *asked);

    if (asked == NULL)
        return error_no_memory(quantified->binder->error), NULL;
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
    return quantified->calls->expression(quantified->binder, &asked->subquery);
}

/* A comparison of x with an extreme. */
static struct expression *compare(const struct quantified *quantified,
                                  enum ast_operator operator,
                                  const char * extreme)
{
    struct expression *e = ask(quantified, extreme);

    return e ? expression_operator(quantified->binder, operator, quantified->x,
                                   e, quantified->tree)
             : NULL;
}

/* Whether the comparison is true of a row. */
static struct expression *holds(const struct quantified *quantified,
                                enum ast_operator operator)
{
    bool greatest = operator== AST_LT || operator== AST_LE;
    struct expression *e, *other;

    if (operator!= AST_NEQ)
        return compare(quantified, operator, greatest ? "max" : "min");
    e = compare(quantified, operator, "min");
    other = e ? compare(quantified, operator, "max") : NULL;
    return other ? expression_logic(quantified->binder, AST_OR, e, other,
                                    quantified->tree)
                 : NULL;
}

/* Whether it is NULL where it is true of none: of a row that is NULL, or of any
 * row where x is. */
static struct expression *is_unknown(const struct quantified *quantified)
{
    struct binder *binder = quantified->binder;
    const struct ast_expression *tree = quantified->tree;
    struct expression *x = quantified->x;
    struct expression *rows = ask(quantified, NULL);
    struct expression *values = rows ? ask(quantified, "count") : NULL;
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

static struct expression *any(const struct quantified *quantified,
                              enum ast_operator operator)
{
    struct binder *binder = quantified->binder;
    struct position at = quantified->tree->at;
    struct expression *yes = expression_truth(binder, true, at);
    struct expression *no = expression_truth(binder, false, at);
    struct expression *null = expression_null(binder, VDBQ_INTEGER, at);
    struct expression *e = holds(quantified, operator), *unknown;

    unknown = e ? is_unknown(quantified) : NULL;
    if (unknown == NULL || yes == NULL || no == NULL || null == NULL)
        return NULL;
    no = expression_choice(binder, unknown, null, no, at);
    return no ? expression_choice(binder, e, yes, no, at) : NULL;
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
static bool check_query(const struct quantified *quantified)
{
    struct binder *binder = quantified->binder;
    const struct ast_expression *tree = quantified->tree;
    const struct node *node = quantified->calls->query(binder, tree->query);

    if (node == NULL)
        return false;
    if (node->column_count != 1)
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "a value is compared with rows of one column; these have %u",
                 node->column_count);
    else if (collation_of(quantified->x) != COLLATION_BINARY
             || node->columns[0].collating.collation != COLLATION_BINARY)
        error_at(binder->error, VDBQ_TYPE, tree->at,
                 "texts that have a COLLATE are not compared with %s rows",
                 tree->negated ? "ALL" : "ANY");
    else
        return true;
    return false;
}

static struct expression *is_in(const struct quantified *quantified)
{
    struct ast_expression in = *quantified->tree;

    in.kind = AST_IN;
    in.operator= AST_EQ;
    return quantified->calls->expression(quantified->binder, &in);
}

struct expression *bind_quantified(struct binder *binder,
                                   const struct ast_expression *tree,
                                   const struct quantified_calls *calls)
{
    struct quantified quantified = { .binder = binder,
                                     .tree = tree,
                                     .calls = calls };
    enum ast_operator operator= tree->negated ? opposite(tree->operator)
                                              : tree->operator;
    struct expression *e = NULL;

    if (operator== AST_EQ)
        return is_in(&quantified);
    if (binder->quantified == QUANTIFIED_DEEP_MAX) {
        error_at(binder->error, VDBQ_LIMIT, tree->at,
                 "ANY and ALL are nested more than %d deep",
                 QUANTIFIED_DEEP_MAX);
        return NULL;
    }
    binder->quantified++;
    quantified.x = calls->expression(binder, tree->left);
    if (quantified.x != NULL && check_query(&quantified))
        e = any(&quantified, operator);
    binder->quantified--;
    return e && tree->negated
               ? expression_operator(binder, AST_NOT, e, NULL, tree)
               : e;
}
