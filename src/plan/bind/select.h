/* SPDX-License-Identifier: MIT */
/*
 * A SELECT while it becomes nodes. Everything in it is bound over the columns
 * of FROM first; then one node is put over the other, and what is left to
 * compute is made to name the columns of the uppermost one.
 */
#ifndef VDBQ_PLAN_BIND_SELECT_H
#define VDBQ_PLAN_BIND_SELECT_H

#include "parser/ast.h"
#include "plan/make/replace.h"
#include "plan/tree/node.h"

struct binder;

/* select.c */
struct result {
    const char *name;
    bool alias; /* the name was given by AS */
    struct expression *expression;
};

/* Binds a list of results: each becomes a struct result, `*` several. */
enum vdbq_status bind_result_list(struct binder *binder,
                                  const struct ast_result *list,
                                  struct vector *results);

/* The keys of a grouping, by their numbers among those of the SELECT. */
struct key_set {
    const int *keys;
    unsigned count;
};

struct selecting {
    struct binder *binder;
    const struct ast_query *query;
    const struct ast_select *select;
    struct vector results;     /* of struct result                         */
    struct vector order;       /* of struct order_term                     */
    struct vector distinct_on; /* of struct expression *: DISTINCT ON */
    struct vector keys;        /* of struct expression *: GROUP BY         */
    struct vector written;     /* ... as they are written: texts may be
                               grouped by keys made of them             */
    struct vector terms;       /* of const struct ast_expression *: what several
                               groupings name                           */
    struct vector sets;        /* of struct key_set: groupings; none: there
                               is one, by all keys                      */
    struct vector aggregates;  /* of struct expression *: those in use     */
    struct expression *having; /* NULL: none, or it was tested            */
    struct expression *qualify; /* NULL: none                              */
    struct expression *random;  /* what WHERE asks of random(); NULL: nothing */
    struct node *node;          /* the uppermost one so far                 */
};

/* select_group.c: the rows at hand become groups, one for each combination of
 * the keys' values, and all expressions are over these. */
enum vdbq_status select_group(struct selecting *selecting);

/* ... all expressions over the rows at hand are replaced. */
enum vdbq_status select_replace(struct selecting *selecting,
                                expression_replacer replacer);

/* ... the places of these, `*count` of them. In the arena; NULL: no memory. */
struct expression ***select_places(struct selecting *selecting, size_t *count);

/* star.c: the columns that `*` or `t.*` stands for, as results; `bind` makes those of
 * what stands in the place of one. */
enum vdbq_status select_star(
    struct binder *binder, const struct ast_result *result,
    struct expression *(*bind)(struct binder *, const struct ast_expression *),
    struct vector *results);
enum vdbq_status select_add_result(struct binder *binder,
                                   struct vector *results,
                                   const struct result *result);

/* key_sets.c: whether GROUP BY has several groupings; what they are, by the numbers of
 * `terms`, which are to be bound; and, when they are, by those of keys, of which
 * `keys` has one for each term. */
bool select_has_sets(const struct ast_select *select);
enum vdbq_status select_read_sets(struct selecting *selecting);
enum vdbq_status select_number_sets(struct selecting *selecting,
                                    const int *keys);

/* grouping_sets.c: whether there are several groupings, or a GROUPING() of one, which
 * is noted then. */
enum vdbq_status select_find_grouping(struct selecting *selecting, bool *found);
/* ... the rows of grouping `number` alone; NULL: a failure. */
struct node *select_one_set(struct selecting *selecting, unsigned number);
/* ... as select_group(), of the rows of all groupings, one behind the other. */
enum vdbq_status select_join_sets(struct selecting *selecting,
                                  struct node *const *parts);

/* select_output.c: the results of the rows at hand, and all that follows them.
 * NULL: a failure. */
struct node *select_output(struct selecting *selecting);
/* select_output.c: the rows for which the last column is true, without it. */
struct node *select_where_last(struct binder *binder, struct node *node);

/* select_output.c: the number of a result that is this expression, or -1. */
int select_result_of(const struct selecting *selecting,
                     const struct expression *e);

/* select_group.c: a column outside of aggregates and keys, or what all rows of a
 * group have: that of the group's first row. NULL: a failure. */
struct expression *select_first(struct binder *binder,
                                struct expression *column);
/* select_group.c: notes what groups are to give for an expression that is no key: it,
 * where it is an aggregate, else what `visit` does with its operands. False: a
 * failure. */
bool select_collect(struct selecting *selecting, struct expression *e,
                    bool (*visit)(void *context, struct expression **operand));

/* quantile.c: the expression with what the symbols of bind_quantile() are made
 * of, once the keys of the groups are known. NULL: a failure. */
struct expression *quantile_expand(struct selecting *selecting,
                                   struct expression *e);

#endif
