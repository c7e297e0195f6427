/* SPDX-License-Identifier: MIT */
/*
 * A recursive query is a chain of UNION or UNION ALL: queries that do not read the
 * name, then terms that do, each once, in its own FROM. Which is the first term is
 * found by binding: the name fails to bind before the types of its columns are
 * known. A column has the type that the first queries and the terms have in
 * common; the terms are bound again until they agree with what they read.
 */
#include "plan/bind/recursive.h"

#include <string.h>

#include "base/vector.h"
#include "plan/bind/query.h"
#include "plan/bind/scope.h"
#include "plan/make/node.h"
#include "plan/operator/sets.h"
#include "plan/tree/binder.h"
#include "plan/tree/range.h"
#include "plan/tree/common.h"

/* A DECIMAL that grows with each binding has the most digits long before. */
enum { BINDINGS_MAX = 64 };

/* A recursive query while it is bound. */
struct recursing {
    const struct ast_with *with;
    const struct query_calls *calls; /* that bind parts of it */
    struct recursion *recursion;
    struct node *first; /* the rows of all first queries; NULL: they are
                            being bound                               */
    bool met;           /* ... and the name was read in one of them  */
    unsigned deep;      /* of the query whose FROM may have the name */
    unsigned reads;     /* of the name, in the term being bound      */
};

/* The parts of a chain and the operators between them, one fewer. */
struct chain {
    const struct ast_query **operators;
    size_t length;
    struct node **parts;
    size_t first; /* the first part that is a term */
};

/* -------------------------------------------------------- the name itself -- */

static struct node *refuse(struct binder *binder, struct position at,
                           const char *what, const char *hint)
{
    error_at(binder->error, VDBQ_SYNTAX, at, "%s", what);
    error_hint(binder->error, "%s", hint);
    return NULL;
}

/* The rows of the round before: any of their values may come. */
static struct node *working(struct binder *binder,
                            const struct recursing *recursing)
{
    const struct node *first = recursing->first;
    struct node *node =
        node_new(binder, NODE_WORKING, NULL, first->column_count);

    if (node == NULL)
        return NULL;
    node->recursion = recursing->recursion;
    for (unsigned i = 0; i < first->column_count; i++) {
        struct node_column *column = &node->columns[i];
        *column = first->columns[i];
        column->nullable = true;
        column->range = range_full(column->type);
        if (recursing->with->columns != NULL)
            column->name = recursing->with->columns[i].text;
    }
    return node;
}

struct node *bind_itself(struct binder *binder, const struct with_name *name,
                         struct position at)
{
    struct recursing *recursing = name->recursing;

    if (recursing->first == NULL) {
        recursing->met = true;
        return refuse(
            binder, at,
            "a recursive query begins with one that does not read it",
            "WITH RECURSIVE t AS (SELECT ... UNION ALL SELECT ... FROM t)");
    }
    if (binder->deep != recursing->deep)
        return refuse(binder, at,
                      "a recursive term reads its own rows in its FROM, not in "
                      "a query inside",
                      "join the name with what the query inside gives");
    if (recursing->reads++ > 0)
        return refuse(binder, at, "a recursive term reads its own rows once",
                      "each round has the rows of the round before alone");
    binder->recursive_reads++;
    return working(binder, recursing);
}

enum vdbq_status bind_recursive_sides(struct binder *binder,
                                      const struct ast_from *tree,
                                      const unsigned reads[3])
{
    bool left = reads[1] > reads[0], right = reads[2] > reads[1];

    if ((left && tree->join != AST_JOIN_LEFT)
        || (right && tree->join != AST_JOIN_RIGHT))
        refuse(binder, tree->at,
               "the rows of a recursive term stand on the side of an outer "
               "join that keeps all its rows",
               "else it would give rows in every round, without end");
    return binder->error->status;
}

/* --------------------------------------------------------------- terms -- */

/* Whether a result, or the condition, is of a window function: they get nodes of their
 * own later. */
static bool has_window(const struct node *select)
{
    for (unsigned i = 0; i < select->column_count; i++)
        if (expression_has(select->results[i], EXPRESSION_WINDOW))
            return true;
    return select->where != NULL
           && expression_has(select->where, EXPRESSION_WINDOW);
}

/* What a term has above what FROM names; NULL: nothing that sees several rows. */
static const char *sees_rows(const struct ast_query *query,
                             const struct node *node)
{
    if (query->kind == AST_QUERY_VALUES || query->kind >= AST_QUERY_UNION)
        return NULL;
    if (query->order != NULL)
        return "ORDER BY";
    if (query->limit != NULL || query->offset != NULL)
        return "LIMIT";
    if (query->select.distinct || query->select.distinct_on != NULL)
        return "DISTINCT";
    for (; node != NULL && node->kind == NODE_SELECT; node = node->left)
        if (has_window(node))
            return "window function";
    return node != NULL && node->kind == NODE_GROUP ? "aggregate" : NULL;
}

static struct node *bind_term(struct binder *binder,
                              struct recursing *recursing,
                              const struct ast_query *query)
{
    struct node *node;
    const char *sees;

    recursing->reads = 0;
    recursing->deep = binder->deep + 1;
    node = recursing->calls->query(binder, query);
    sees = node != NULL ? sees_rows(query, node) : NULL;
    if (sees == NULL)
        return node;
    error_at(binder->error, VDBQ_SYNTAX, query->at,
             "a recursive term has no %s", sees);
    error_hint(binder->error, "the query that reads all rows may have one");
    return NULL;
}

/* All terms have operators of one kind in front. */
static bool check_operators(struct binder *binder, const struct chain *chain)
{
    for (size_t i = chain->first - 1; i < chain->length; i++) {
        const struct ast_query *query = chain->operators[i];
        bool unites = query->kind == AST_QUERY_UNION
                      || query->kind == AST_QUERY_UNION_ALL;
        if (unites && query->kind == chain->operators[chain->first - 1]->kind)
            continue;
        refuse(binder, query->at,
               unites ? "all recursive terms follow UNION, or all UNION ALL"
                      : "a recursive term follows UNION or UNION ALL",
               "a query around it can leave rows out");
        return false;
    }
    return true;
}

/* Binds all terms for rows of the types that are known so far; `*same`: they,
 * and the first queries, have these types. */
static bool bind_terms(struct binder *binder, struct recursing *recursing,
                       struct chain *chain, struct node **sides, bool *same)
{
    size_t count = chain->length + 1 - chain->first;
    const struct node *before = recursing->first;
    const struct ast_query *at = chain->operators[chain->first - 1];

    sides[0] = recursing->first;
    for (size_t i = 0; i < count; i++) {
        sides[i + 1] = bind_term(binder, recursing,
                                 chain->operators[chain->first + i - 1]->right);
        if (sides[i + 1] == NULL)
            return false;
    }
    if (sets_unite(binder, sides, (unsigned)count + 1, at->at) != VDBQ_OK)
        return false;
    *same = true;
    for (unsigned i = 0; i < before->column_count; i++)
        *same &=
            sides[0]->columns[i].type == before->columns[i].type
            && sides[0]->columns[i].scale == before->columns[i].scale
            && sides[0]->columns[i].precision == before->columns[i].precision;
    recursing->first = sides[0];
    return true;
}

/* ---------------------------------------------------------------- chain -- */

/* What binding a query leaves changed where it fails. */
struct before {
    struct scope *scope;
    struct with_name *with;
    struct collating collating;
    unsigned deep, views;
    bool constants;
    int parameters;
};

static struct before note(const struct binder *binder)
{
    return (struct before){ binder->scope,          binder->with,
                            binder->collating,      binder->deep,
                            binder->views,          binder->constants,
                            binder->parameter_count };
}

static void undo(struct binder *binder, const struct before *before)
{
    binder->scope = before->scope;
    binder->with = before->with;
    binder->collating = before->collating;
    binder->deep = before->deep;
    binder->views = before->views;
    binder->constants = before->constants;
    scope_forget(binder->scope, before->parameters);
}

/* Binds the queries of a chain up to the first that reads the name. */
static bool bind_first(struct binder *binder, struct recursing *recursing,
                       struct chain *chain)
{
    for (size_t i = 0; i <= chain->length; i++) {
        struct before before = note(binder);
        chain->parts[i] = recursing->calls->query(
            binder, i == 0 ? chain->operators[0]->left
                           : chain->operators[i - 1]->right);
        if (chain->parts[i] != NULL)
            continue;
        if (!recursing->met || i == 0 || binder->error->status == VDBQ_NO_MEMORY
            || binder->error->status == VDBQ_CANCELLED)
            return false;
        error_clear(binder->error);
        undo(binder, &before);
        chain->first = i;
        return true;
    }
    return true;
}

/* The rows of the queries in front of the first term. */
static bool join_first(struct binder *binder, struct recursing *recursing,
                       struct chain *chain)
{
    const struct ast_with *with = recursing->with;

    recursing->first = chain->first == 1
                           ? chain->parts[0]
                           : sets_join(binder, chain->operators,
                                       chain->first - 1, chain->parts);
    if (recursing->first == NULL)
        return false;
    if (with->columns == NULL
        || with->column_count == recursing->first->column_count)
        return true;
    error_at(binder->error, VDBQ_TYPE, with->name.at, "%u names for %u columns",
             with->column_count, recursing->first->column_count);
    return false;
}

/* UNION compares texts by their bytes here. */
static bool check_collations(struct binder *binder, const struct node *first,
                             struct position at)
{
    for (unsigned i = 0; i < first->column_count; i++) {
        if (first->columns[i].collating.collation == COLLATION_BINARY)
            continue;
        error_at(binder->error, VDBQ_TYPE, at,
                 "UNION of a recursive query compares texts by their bytes, "
                 "and column %s has another collation",
                 first->columns[i].name);
        error_hint(binder->error, "COLLATE BINARY in its first query, or "
                                  "lower(...), makes it one of bytes");
        return false;
    }
    return true;
}

static struct node *bind_rounds(struct binder *binder,
                                struct recursing *recursing,
                                struct chain *chain)
{
    size_t count = chain->length + 1 - chain->first;
    struct node **sides =
        arena_alloc(binder->arena, (count + 1) * sizeof(*sides));
    struct before before = note(binder);
    bool same = false;

    if (sides == NULL)
        return error_no_memory(binder->error), NULL;
    for (int i = 0; !same; i++) {
        undo(binder, &before);
        if (i == BINDINGS_MAX)
            return refuse(binder, chain->operators[chain->first - 1]->at,
                          "the types of a recursive query do not settle",
                          "CAST in the recursive term gives its columns types");
        if (!bind_terms(binder, recursing, chain, sides, &same))
            return NULL;
    }
    if (recursing->recursion->distinct
        && !check_collations(binder, sides[0],
                             chain->operators[chain->first - 1]->at))
        return NULL;
    return node_recurse(binder, recursing->recursion, sides[0],
                        count == 1
                            ? sides[1]
                            : node_concat(binder, sides + 1, (unsigned)count));
}

/* A chain of set operators whose parts may read the name. */
static struct node *bind_chain_of(struct binder *binder,
                                  struct recursing *recursing,
                                  const struct ast_query *query)
{
    struct chain chain = { 0 };
    struct recursion *recursion = recursing->recursion;

    chain.operators = recursing->calls->chain(binder, query, &chain.length);
    chain.parts =
        arena_alloc(binder->arena, (chain.length + 1) * sizeof(*chain.parts));
    if (chain.operators == NULL || chain.parts == NULL)
        return error_no_memory(binder->error), NULL;
    if (!bind_first(binder, recursing, &chain))
        return NULL;
    if (chain.first == 0) /* no part reads it */
        return recursing->calls->body(binder, query);
    recursion->distinct =
        chain.operators[chain.first - 1]->kind == AST_QUERY_UNION;
    if (!check_operators(binder, &chain)
        || !join_first(binder, recursing, &chain))
        return NULL;
    if (query->order != NULL)
        return refuse(binder, query->order->expression->at,
                      "a recursive query has no ORDER BY",
                      "its rows come round by round; the query that reads "
                      "them may have one");
    return bind_rounds(binder, recursing, &chain);
}

struct node *bind_recursive(struct binder *binder, struct with_name *name,
                            bool *recursive)
{
    const struct ast_query *query = name->with->query;
    struct with_name *with = binder->with;
    struct recursing recursing = { .with = name->with, .calls = name->calls };
    struct with_name own = *name;
    struct node *node = NULL;

    *recursive = false;
    own.recursing = &recursing;
    if (query->kind < AST_QUERY_UNION) {
        binder->with = &own;
        node = name->calls->query(binder, query);
        binder->with = with;
        return node;
    }
    recursing.recursion =
        arena_alloc(binder->arena, sizeof *recursing.recursion);
    if (recursing.recursion == NULL)
        return error_no_memory(binder->error), NULL;
    *recursing.recursion = (struct recursion){ 0 };
    binder->with = &own;
    binder->deep++;
    if (name->calls->names(binder, query->with) == VDBQ_OK)
        node = bind_chain_of(binder, &recursing, query);
    if (node != NULL && name->calls->limit(binder, query, &node) != VDBQ_OK)
        node = NULL;
    binder->deep--;
    binder->with = with;
    *recursive = node != NULL && recursing.recursion->node != NULL;
    return node;
}
