/* SPDX-License-Identifier: MIT */
/*
 * A query as a tree of nodes. Each has columns, which the expressions of the
 * node above it name by number, and becomes one step (lower.c). Only
 * NODE_SELECT computes: it filters the rows of what is below and makes new
 * columns of them.
 */
#ifndef VDBQ_PLAN_NODE_H
#define VDBQ_PLAN_NODE_H

#include "plan/tree/estimate.h"
#include "plan/tree/expression.h"

enum node_kind {
    /* What FROM says, as it is bound; rewriting makes joins of both. */
    NODE_PRODUCT, /* all rows of the parts for which the conditions hold */
    NODE_OUTER,   /* an outer join of `left` and `right` on the conditions */
    NODE_ONCE,    /* one row without columns: there is no FROM        */
    NODE_TABLE,   /* the table's columns, and behind them the row id  */
    NODE_SELECT,  /* the results for each row that the condition keeps */
    NODE_JOIN,
    NODE_GROUP,
    NODE_SORT,
    NODE_LIMIT,
    NODE_CONCAT,
    NODE_APPLY,
    NODE_WINDOW,
    NODE_MAP,
    NODE_VALUES /* as the steps of these names                        */
};

struct node_column {
    const char *name;
    int type; /* enum vdbq_type */
    unsigned precision, scale;
    bool affine; /* as of an expression */
    bool nullable;
    struct interval range;
    struct column_estimate estimate; /* of estimate_node() */
};

struct node {
    enum node_kind kind;
    struct node *left, *right; /* what is below; right: of some       */
    struct vector parts;       /* of struct node *: CONCAT's, PRODUCT's */
    struct vector conditions;  /* of struct expression *: of PRODUCT and OUTER,
                                  over all their columns; all must hold */
    struct node *rewritten;    /* what rewriting made of it; NULL: it has not
                                  come here yet                        */
    unsigned column_count;
    struct node_column *columns;
    double rows;                       /* about how many: estimate_node(); of
                                     TABLE and VALUES they are counted   */
    const struct table *table;         /* TABLE                               */
    const struct catalogue *catalogue; /* ... that it is of              */
    struct expression *where;          /* SELECT; NULL: every row             */
    struct expression **results;       /* SELECT: one a column                */
    struct step_group group;           /* columns are those of `left` ...     */
    struct step_sort sort;
    struct step_limit limit; /* ... or what `right` counts; NULL    */
    struct step_join join;   /* ... of `left` and `right`; its condition
                                     is `where`, over both               */
    struct step_apply apply; /* its query is `right`                */
    struct step_window window;
    struct step_map map;
    struct expression **values; /* VALUES: constants, `value_rows` of each
                                     column behind those of the one before */
    size_t value_rows;
};

struct binder;

/* Functions that return a pointer return NULL where they fail, with the
 * failure in the binder's error. A node shares its columns' names. */
/* Of any kind, with so many columns, which are to be filled. */
struct node *node_new(struct binder *binder, enum node_kind kind,
                      struct node *below, unsigned column_count);
struct node *node_once(struct binder *binder);
struct node *node_table(struct binder *binder, const struct table *table);
/* Results are copied, `count` of them, named by `names` (may be NULL). */
struct node *node_select(struct binder *binder, struct node *below,
                         struct expression *where,
                         struct expression *const *results,
                         const char *const *names, unsigned count);
/* One node that computes, over another one, becomes one with it where nothing
 * is computed twice by that. */
struct node *node_merge(struct binder *binder, struct node *node);
/* Keeps rows; the same columns. */
struct node *node_filter(struct binder *binder, struct node *below,
                         struct expression *where);
/* Adds a column for each expression behind those of `below`. */
struct node *node_extend(struct binder *binder, struct node *below,
                         struct expression *const *added, unsigned count);
/* What FROM names, `parts` of struct node *, in its order. */
struct node *node_product(struct binder *binder, const struct vector *parts,
                          const struct vector *conditions);
struct node *node_outer(struct binder *binder, enum join_kind kind,
                        struct node *const sides[2],
                        const struct vector *conditions);
/* With no keys and no condition yet. */
struct node *node_join(struct binder *binder, enum join_kind kind,
                       struct node *left, struct node *right);
/* Columns of aggregates get the type that `aggregate_type` says. */
struct node *node_group(struct binder *binder, struct node *below,
                        unsigned keys, const struct vector *aggregates);
struct node *node_distinct(struct binder *binder, struct node *below);
/* The first `columns` columns stay. */
struct node *node_sort(struct binder *binder, struct node *below,
                       const struct vector *keys, unsigned columns);
struct node *node_limit(struct binder *binder, struct node *below,
                        uint64_t offset, uint64_t limit);
/* The only row of `counts` says how many, as STEP_LIMIT's second input. */
struct node *node_limit_by(struct binder *binder, struct node *below,
                           struct node *counts);
/* Parts have columns of equal types. */
struct node *node_concat(struct binder *binder, struct node *const *parts,
                         unsigned count);
/* Rows of constants, which have the types of `columns` or are NULL; `values`
 * are those of the first column, then of the second ... */
struct node *node_values(struct binder *binder,
                         const struct node_column *columns, unsigned count,
                         struct expression **values, size_t rows);
/* A node over `below` with its columns and `added` more, to be filled. */
struct node *node_wider(struct binder *binder, enum node_kind kind,
                        struct node *below, unsigned added);

/* An expression that is column `column` of `node`. */
struct expression *node_column(struct binder *binder, const struct node *node,
                               unsigned column, struct position at);
/* Columns of `below`, `count` of them, by their numbers. */
struct node *node_columns(struct binder *binder, struct node *below,
                          const int *columns, unsigned count);
/* The expression over another node, whose column columns[i] (NULL: i - first)
 * is its i. */
struct expression *expression_over(struct binder *binder, struct expression *e,
                                   const struct node *node, const int *columns,
                                   unsigned first);
/* A copy whose columns' numbers are higher by so much. */
struct expression *expression_moved_by(struct binder *binder,
                                       struct expression *e, int by);
/* Whether no two rows of the node can have equal values in all of these
 * columns; of rows with a NULL among them nothing is said, and without a
 * column it is whether there is at most one row. False: it is not known.
 * unique_key.c. */
bool node_is_unique(const struct node *node, const int *columns,
                    unsigned count);
/* The number of a column of `*node` that holds the expression: its own one,
 * or one that is added. -1: a failure. */
int node_column_for(struct binder *binder, struct node **node,
                    struct expression *e);
/* The type and range of an aggregate's value over a column (NULL: rows). */
void aggregate_column(enum aggregate_function function,
                      const struct node_column *argument,
                      struct node_column *column);

#endif
