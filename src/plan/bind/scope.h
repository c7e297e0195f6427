/* SPDX-License-Identifier: MIT */
/*
 * Which columns can be named in a query, also those of queries around it.
 */
#ifndef VDBQ_PLAN_BIND_SCOPE_H
#define VDBQ_PLAN_BIND_SCOPE_H

#include "base/vector.h"
#include "plan/tree/expression.h"

struct binder;
struct node;

/* A column that can be named in a query. */
struct scope_column {
    const char *table; /* what its table is called here; "": nothing */
    const char *name;
    int column;    /* of the query's FROM                        */
    int other;     /* FULL or RIGHT JOIN USING: of the next one,
                          which has no name of its own; else -1      */
    bool replaced; /* by the next one: RIGHT JOIN USING          */
    bool hidden;   /* only with its table's name: USING, rowid   */
    bool apart;    /* no `*` stands for it: rowid, and arg of a list */
};

/* The names of one query, inside of those of another one. */
struct scope {
    struct scope *outer;
    struct node *node;            /* FROM: the columns' types             */
    struct vector columns;        /* of struct scope_column               */
    struct vector asked;          /* of struct outer_value: what inner
                               queries use of this one              */
    bool aggregates;              /* they are allowed where it is bound   */
    bool windows;                 /* they are, too                        */
    bool random;                  /* so is random(), which is made of one */
    bool aggregated;              /* it has an aggregate, used or not     */
    bool closed;                  /* columns of the queries around it must
                               not be used: LIMIT, OFFSET           */
    uint64_t used;                /* the number of the look-up that found a
                               column here last; 0: none did        */
    const struct vector *results; /* of struct result: names that may be
                               used where no column has them; or NULL */
    bool results_first;           /* ... and before columns               */
    const struct ast_named_window *windows_named; /* its clause WINDOW    */
};

/* A name of WITH. */
struct with_name {
    const struct ast_with *with;
    struct with_name *outer;         /* those that were there before       */
    struct scope *scope;             /* around the query that has the WITH */
    const struct query_calls *calls; /* that bind parts of its query: query.h */
    struct recursing *recursing;     /* its query is being bound, and may name
                                    it: recursive.h; NULL: it is not   */
};

/* scope.c */
enum vdbq_status scope_add(struct binder *binder, const char *table,
                           const char *name, int column, bool hidden);

/* All columns of `node` from number `first` on, under the table's name. */
enum vdbq_status scope_add_node(struct binder *binder, const char *table,
                                const struct node *node, unsigned first);

/* The next one of the columns that USING made one with this; NULL: none. */
struct scope_column *scope_other(struct scope *scope,
                                 const struct scope_column *column);

/* The column that was added last. */
struct scope_column *scope_last(struct scope *scope);

/* What a column's name alone means: of those that USING made one the first
 * value that there is. */
struct expression *scope_value(struct binder *binder, struct scope *scope,
                               const struct scope_column *column,
                               struct position at);

struct expression *scope_find(struct binder *binder,
                              const struct ast_expression *tree);

/* A parameter for a value of an outer query. */
struct expression *scope_ask(struct binder *binder, struct scope *scope,
                             struct expression *value);

/* The innermost scope, from this one outwards, of which a column was named
 * after look-up number `since`; this one itself where there is none. */
struct scope *scope_user(struct scope *scope, uint64_t since);

/* Forgets what inner queries asked for by parameters from that number on. */
void scope_forget(struct scope *scope, int parameter);

/* The scope of no outer query's and of this one's: to be used by a query. */
void scope_enter(struct binder *binder, struct scope *scope);

void scope_leave(struct binder *binder, struct scope *scope);

#endif
