/* SPDX-License-Identifier: MIT */
/*
 * How many rows a query's nodes give, guessed from what the catalogue knows of
 * the tables: rows, minimum and maximum, NULLs, words of texts, keys, samples. The
 * planner chooses by it in which order tables are joined, and EXPLAIN shows
 * it; no answer depends on it, but for the order of rows.
 *
 * Estimate rule 1. It follows from the statement and the catalogue: no
 *   device, no clock, no memory of earlier queries.
 * Estimate rule 2. All numbers are finite, and none is negative.
 * Estimate rule 3. Columns are independent of one another, and values are
 *   spread evenly between minimum and maximum, where the table's sample does
 *   not say otherwise.
 * Estimate rule 4. Of two columns that are compared in a join, the values of
 *   the one with fewer are all among those of the other.
 * Estimate rule 5. While joins are ordered, nothing is thought of a query that
 *   rows ask: neither whether it is unnested, nor how, changes their order.
 * Estimate rule 6. Columns that rise or fall together in a table's sample do so in the
 *   table, too: what bounds one bounds the other.
 */
#ifndef VDBQ_PLAN_ESTIMATE_ESTIMATE_H
#define VDBQ_PLAN_ESTIMATE_ESTIMATE_H

#include "plan/tree/column_estimate.h"

struct binder;
struct column_facts;
struct expression;
struct node;
struct node_column;
struct table;

/* A condition of those that AND joins. */
struct estimate_conjunct {
    const struct expression *condition;
    const struct expression *with; /* the other end of a range; NULL: none  */
    double kept;                   /* the share of rows that both keep      */
    bool guess;                    /* the facts say nothing of it           */
    bool sampled;                  /* the sample said it                    */
    bool unmet;                    /* ... and has no row that it keeps      */
};

/* What the sample said of the parts of a condition. */
struct estimate_said {
    bool sampled; /* something                                             */
    bool met;     /* ... and each part that it spoke of keeps a row of it  */
};

/* What samples of tables tell: src/plan/sample. */
struct estimate_samples {
    /* Looks what conditions over a table's columns keep of its sample: of each
     * the share of the rows that those before it keep. */
    void (*conjuncts)(struct estimate_samples *samples,
                      const struct table *table,
                      struct estimate_conjunct *conjuncts, unsigned count);
    /* How many values an expression has, `most` at most; `unknown`: the sample does
     * not have what it is made of. */
    double (*distinct)(struct estimate_samples *samples,
                       const struct table *table, const struct expression *e,
                       double most, double unknown);
};

/* Whose columns an expression is over. */
struct estimate_source {
    const struct column_estimate *(*column)(const void *context, int column);
    const void *context;
    const struct table *table; /* they are the table's, and ...              */
    struct estimate_samples *samples; /* ... it has a sample; NULL: it has
                                         none, or there is no one table      */
};

struct column_estimate estimate_expression(const struct estimate_source *source,
                                           const struct expression *e);
/* estimate_condition.c: the share of rows that a condition keeps. */
double estimate_kept(const struct estimate_source *source,
                     const struct expression *e);
/* Likewise; and each of the `count` columns' `kept` is multiplied with the
 * share that the parts about it alone keep. */
double estimate_column_kept(const struct estimate_source *source,
                            const struct expression *e, double *kept,
                            unsigned count, struct estimate_said *said);
/* estimate_range.c: narrows what is thought of the columns of a SELECT over a table that has a
 * sample to where its condition leaves their values. */
void estimate_narrow(const struct estimate_source *source,
                     const struct expression *where, struct node *node);
/* Likewise, of the columns that a side of a join gives, to where the values of its key's
 * partners lie. */
void estimate_narrow_partner(const struct node *side, unsigned key,
                             const struct column_estimate *partner,
                             struct node_column *columns);
/* Whether both conditions say between which values the same column lies. */
bool estimate_bound_alike(const struct estimate_source *source,
                          const struct expression *a,
                          const struct expression *b);
/* Two columns that are to be equal: of all pairs of rows, `possible` have
 * values that the other side could have, and of these one of `values` matches,
 * at least 1. `within`: of the left and the right side, whether its values seem
 * to be among the other's, for it has no more. */
struct pair_estimate {
    double possible, values;
    bool within[2];
};
struct pair_estimate estimate_pairs(const struct column_estimate *left,
                                    const struct column_estimate *right);
/* The share of all pairs of rows in which a value lies between two bounds of
 * the other side's (NULL: there is no such bound); the value's table has so
 * many rows. */
double estimate_between(const struct column_estimate *value,
                        const struct column_estimate *low,
                        const struct column_estimate *high, double rows);
/* estimate_answer.c: a number that an expression over the only row of a node is
 * thought to be about; NaN: nothing is known of it. */
double estimate_answer(const struct node *node, const struct expression *e);
/* The columns of two nodes, one after the other, or of one. */
struct estimate_nodes {
    const struct node *left, *right; /* right: NULL where there is one */
};
struct estimate_source estimate_of_nodes(const struct estimate_nodes *nodes);
/* A column of a table that has such facts, or behind the last one its row
 * number. */
struct column_estimate estimate_row_id(double rows);
struct column_estimate estimate_table(const struct table *table,
                                      unsigned column,
                                      const struct column_facts *facts);
/* Sets the rows of a node and of all below it, and what is thought of their
 * columns; tables have all that from the start. Each node once, in however many
 * places it stands. estimate_node.c. */
void estimate_node(struct binder *binder, struct node *node);

/* Finite and not negative, whatever it was; a share is 1 at most. */
double estimate_rows(double rows);
double estimate_share(double value);
/* Whether it is known between which numbers a column's values lie. */
bool estimate_has_range(const struct column_estimate *column);
/* How many values fit between two: for floats (`unit` 0), how wide that is. */
double estimate_width(double low, double high, double unit);

#endif
