/* SPDX-License-Identifier: MIT */
/*
 * A query as a tree of nodes. Each has columns, which the expressions of the
 * node above it name by number, and becomes one step (lower.c). Only
 * NODE_SELECT computes: it filters the rows of what is below and makes new
 * columns of them.
 */
#ifndef VDBQ_PLAN_TREE_NODE_H
#define VDBQ_PLAN_TREE_NODE_H

#include "plan/tree/column_estimate.h"
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
    NODE_VALUES,
    NODE_FETCH,   /* as the steps of these names                         */
    NODE_SEEK,    /* rows of a table that an index finds; columns as TABLE  */
    NODE_COMMON,  /* the rows of a common subplan: common.h              */
    NODE_RECURSE, /* a recursive query ...                               */
    NODE_WORKING  /* ... and its rows of the round before: common.h      */
};

struct node_column {
    const char *name;
    int type; /* enum vdbq_type */
    unsigned precision, scale;
    bool affine;                /* as of an expression */
    struct collating collating; /* ... that the column is made of */
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
    unsigned *widths; /* PRODUCT: how many columns of each part are its own,
                         where passes added some behind; NULL: all       */
    struct node *rewritten;  /* what rewriting made of it; NULL: it has not
                                  come here yet                        */
    unsigned readers;        /* places that have it, as they were counted last:
                         node_readers.h                               */
    unsigned counted;        /* ... in that count of the binder's           */
    const struct node *same; /* one that it was found equal to last ... */
    unsigned same_walk;      /* ... in that walk: node_same.h            */
    struct common *common;   /* COMMON: what it reads; of others: what they
                                stand for in the end; NULL: nothing    */
    struct node *stands;     /* JOIN: the SELECT over it that is shared in its
                               places; NULL: none: share.c            */
    bool shared;             /* it stands in several places, of one query: its
                               step is read by all of them               */
    bool alike;              /* it stands for equal ones: share_early()       */
    bool *needs;             /* shared: of each column, whether one of them
                               reads it; NULL: nobody asked: node_needs.c */
    struct step_of *step;    /* shared: ... once it is lowered: lower.c   */
    unsigned column_count;
    struct node_column *columns;
    double rows;        /* about how many: estimate_node(); of
                                     TABLE and VALUES they are counted   */
    double base;        /* ... rows of the tables that they are taken from */
    double read;        /* ... rows of tables that the query reads      */
    bool sampled;       /* ... for it a sample had a say: SELECT, GROUP     */
    bool met;           /* ... which has rows that the condition keeps      */
    bool settled;       /* ... its estimate stays: what is left out below it
                           has no part in its rows                       */
    unsigned estimated; /* ... by which estimate_node() of the binder's  */
    const char *called; /* what FROM calls its rows; NULL: nothing, or it is
                           no longer one of FROM's */
    const struct table *table;         /* TABLE, FETCH, SEEK                  */
    const struct catalogue *catalogue; /* ... that it is of              */
    struct estimate_samples *samples;  /* TABLE: it has a sample; else NULL   */
    struct expression *where;          /* SELECT; NULL: every row             */
    struct expression **results;       /* SELECT: one a column                */
    struct step_group group;           /* columns are those of `left` ...     */
    struct step_sort sort;
    struct step_limit limit; /* ... or what `right` counts; NULL    */
    struct step_join join;   /* ... of `left` and `right`; its condition
                                     is `where`, over both               */
    bool unnested; /* JOIN: it gives rows of `left`, each at most once: what
                      stands beside them is the answer of a subquery     */
    bool asked;    /* ... of one that asks for values of these rows         */
    struct step_apply apply; /* its query is `right`                */
    bool apart;              /* APPLY: its query shares what it can already */
    struct step_window window;
    struct step_map map;
    struct step_fetch fetch;     /* ... from `table`                        */
    struct step_seek seek;       /* ... in `table`                          */
    bool sought;                 /* an index was looked for: use_index.c    */
    struct recursion *recursion; /* RECURSE, WORKING                       */
    struct vdbq_vector *values;  /* VALUES: `value_rows` constants of each
                                   column, and flags of those that are NULL;
                                   their value is 0: constants.h          */
    size_t value_rows;
    bool varies; /* VALUES: they are others in each run                    */
};

/* Whether a join shows rows of a side (0: the left one) with a partner only, so
 * that those that have none may be left out before. */
bool join_needs_partner(const struct node *join, int side);
/* Whether a node is a join that looks at all pairs, and so can be part of a grid:
 * keys and bounds find partners faster. */
bool node_is_pairs(const struct node *node);

/* How many columns of part `number` are the product's. */
unsigned node_part_width(const struct node *product, size_t number);

#endif
