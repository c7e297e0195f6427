/* SPDX-License-Identifier: MIT */
/*
 * What the files of the planner share. A query goes through them so:
 *
 *   names.c          names of tables and columns are looked up
 *   scope.c          which columns can be named, also those of outer queries
 *   from.c           FROM becomes joined nodes
 *   bind.c           the tree becomes expressions, leaves first ...
 *   bind_function.c  ... calls of functions, aggregates and windows, too
 *   bind_scalar.c    ... of functions that have a name here ...
 *   bind_math.c      ... of numbers ...
 *   bind_date.c      ... of dates and times
 *   expression_new.c new ones are made, folded where they are constant
 *   meet.c           operands of different types are brought to one
 *   compare.c        ... or, in comparisons, to what SQLite's rule says ...
 *   compare_number.c ... exactly, where no type holds both numbers
 *   type.c           each operator gets its type
 *   convert.c        casts between the types of SQL
 *   values.c         constants that are rows: VALUES, long lists of IN
 *   range.c          what its register can hold, and so which opcode will do
 *   fold.c           what is constant is computed, by the machine itself
 *   select.c         a SELECT becomes nodes ...
 *   select_group.c   ... those of its groups, too
 *   query.c          ... and what stands around it: UNION, ORDER BY, LIMIT
 *   node.c           a node is made, with its columns
 *   node_select.c    ... and those that compute are put together
 *   lift.c           what the machine cannot compute gets its own node
 *   unnest.c         ... unless it is a subquery that a join can answer ...
 *   pull.c           ... by what can be taken out of it ...
 *   pull_group.c     ... also where it groups
 *   split.c          conditions are taken apart
 *   push.c           ... and tested as far down as they can be
 *   estimate.c       how many rows a condition keeps, and pairs there are ...
 *   estimate_node.c  ... and so how many rows each node gives
 *   unique_key.c     proof that a row has at most one partner
 *   join_problem.c   what is known of leaves and conditions between them ...
 *   join_order.c     ... and the order of joins that costs least
 *   order.c          joins are made in it, conditions get their places
 *   outer.c          ... but outer ones stay where they are
 *   bounds.c         what comparisons of two sides bound ...
 *   band.c           ... is sorted and searched by the join
 *   outer_lift.c     ... with what the machine cannot compute done first
 *   lower.c          nodes become steps, without the columns nobody needs
 *   grid.c           ... inner joins without keys programs of several axes ...
 *   lower_fuse.c     ... and joins that can be probed parts of a program ...
 *   fuse.c           ... whose code finds rows by their keys ...
 *   probe.c          ... where one number tells which one
 *   codegen.c        a program: its head, the condition, the result columns
 *   condition.c      conditions become jumps
 *   value.c          expressions become registers ...
 *   value_load.c     ... what is loaded ...
 *   value_operator.c ... and what operators make of it
 *   registers.c      registers that are made of others
 *   emit.c           instructions, labels, registers (emit.h)
 *
 * ddl.c, insert.c and change.c plan the other statements; assign.c makes values
 * for columns of what they are given.
 */
#ifndef VDBQ_PLAN_PLAN_INNER_H
#define VDBQ_PLAN_PLAN_INNER_H

#include "base/os/stack.h"
#include "plan/code/emit.h"
#include "plan/make/expression_new.h"
#include "plan/tree/node.h"
#include "plan/plan.h"

struct machine;

/* A column that can be named in a query. */
struct scope_column {
    const char *table; /* what its table is called here; "": nothing */
    const char *name;
    int column;    /* of the query's FROM                        */
    int other;     /* FULL or RIGHT JOIN USING: of the next one,
                          which has no name of its own; else -1      */
    bool replaced; /* by the next one: RIGHT JOIN USING          */
    bool hidden;   /* only with its table's name: USING, rowid   */
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
    bool aggregated;              /* it has an aggregate, used or not     */
    bool closed;                  /* columns of the queries around it must
                               not be used: LIMIT, OFFSET           */
    uint64_t used;                /* the number of the look-up that found a
                               column here last; 0: none did        */
    const struct vector *results; /* of struct result: names that may be
                               used where no column has them; or NULL */
    bool results_first;           /* ... and before columns               */
};

/* A name of WITH. */
struct with_name {
    const struct ast_with *with;
    struct with_name *outer; /* those that were there before       */
    struct scope *scope;     /* around the query that has the WITH */
};

/* What binding needs to know. */
struct binder {
    const char *sql; /* the statement's text             */
    size_t sql_length;
    const struct catalogue *catalogue;
    struct arena *arena; /* of all that is made              */
    struct error *error;
    struct scope *scope; /* of the query being bound         */
    struct with_name *with;
    const struct parameter *parameters; /* of `?`; may be NULL      */
    int value_count;                    /* of these                         */
    int parameter_count;                /* numbers given so far             */
    bool constants;                     /* parameters are constants here    */
    bool values_used;                   /* ... and there was one            */
    unsigned views;                     /* that are open, in one another    */
    unsigned deep;                      /* queries, in one another          */
    unsigned nodes;                     /* that were made                   */
    const struct plan_limits *limits;   /* NULL: none                 */
    uint64_t lookups;                   /* of names, so far                 */
    struct machine *machine;            /* for folding, once needed         */
    int64_t *now; /* the statement's time, in the units of a
                                   TIMESTAMP; 0: not asked for yet  */
};

/*
 * Functions of the planner that return a pointer return NULL where they
 * fail, with the failure in the binder's error.
 */

/* names.c */
const struct table *find_table(const struct binder *binder,
                               const struct ast_name *name);
/* Number of the column; UNKNOWN with a hint where there is none. */
enum vdbq_status find_column(const struct table *table,
                             const struct ast_name *name, unsigned *column,
                             struct error *error);
/* A hint to a failure just set: the column that was meant. */
void hint_column(const struct table *table, const char *name,
                 struct error *error);
/* The name most like `name`, if it is like enough. */
struct likely {
    const char *name; /* NULL: none */
    unsigned distance;
};
void likely_name(struct likely *likely, const char *name, const char *other);

/* scope.c */
enum vdbq_status scope_add(struct binder *binder, const char *table,
                           const char *name, int column, bool hidden);
/* All columns of `node` from number `first` on, under the table's name. */
enum vdbq_status scope_add_node(struct binder *binder, const char *table,
                                const struct node *node, unsigned first);
/* The next one of the columns that USING made one with this; NULL: none. */
struct scope_column *scope_other(struct scope *scope,
                                 const struct scope_column *column);
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

/* from.c: fills the scope. What is joined, and `conditions` (what ON and WHERE
 * say), become a NODE_PRODUCT. */
struct from {
    struct vector leaves;     /* of struct node *: what is joined         */
    struct vector conditions; /* of struct expression *, over all columns */
    unsigned first;           /* the scope's number of the first of these */
};
enum vdbq_status bind_from(struct binder *binder, const struct ast_from *tree,
                           struct from *from);

/* bind.c */
struct expression *bind_expression(struct binder *binder,
                                   const struct ast_expression *tree);
/* known.c: the value of a parameter as if it were written in its place. */
struct expression *expression_given(struct binder *binder, int number,
                                    struct position at);
/* A parameter of the statement as the constant that it stands for, so that the
 * plan holds for its value; other expressions as they are. */
struct expression *expression_known(struct binder *binder,
                                    struct expression *e);
/* LIKE or GLOB: a text, a pattern, maybe an escape, which must be one
 * character. */
struct expression *expression_like(struct binder *binder, const char *name,
                                   struct expression **operands, unsigned count,
                                   struct position at);
/* An expression, if it may be a condition: a number. */
struct expression *expression_condition(struct binder *binder,
                                        struct expression *e,
                                        struct position at);
struct expression *bind_condition(struct binder *binder,
                                  const struct ast_expression *tree);
/* bind_function.c */
struct expression *bind_function(struct binder *binder,
                                 const struct ast_expression *tree);
bool is_aggregate_call(const struct ast_expression *tree);
/* bind_date.c: CURRENT_DATE and its like, which look like columns; not
 * `*found`: it is none. */
struct expression *bind_current(struct binder *binder,
                                const struct ast_expression *tree, bool *found);
/* A call of a host function: a constant, a lookup, or one to be lifted. */
struct expression *expression_call(struct binder *binder, const char *name,
                                   struct expression *const *arguments,
                                   unsigned count, struct position at);

/* select.c */
struct result {
    const char *name;
    bool alias; /* the name was given by AS */
    struct expression *expression;
};
/* ORDER BY belongs to the SELECT: it may use what results do not have. */
struct node *bind_select(struct binder *binder, const struct ast_query *query);
/* query.c */
struct node *bind_query(struct binder *binder, const struct ast_query *query);
/* ASC or DESC, and where NULLs go. */
struct order_term order_term(const struct ast_order *order,
                             struct expression *expression);
enum vdbq_status bind_limit(struct binder *binder,
                            const struct ast_query *query, struct node **node);

/* type.c: an operator with its type. `tree` gives the place, and may be any. */
struct expression *expression_operator(struct binder *binder,
                                       enum ast_operator operator,
                                       struct expression * left,
                                       struct expression *right,
                                       const struct ast_expression *tree);

/* arithmetic.c: + - * / % of operands that are no NULLs of their own; a minus. */
struct expression *expression_arithmetic(struct binder *binder,
                                         enum ast_operator operator,
                                         struct expression * left,
                                         struct expression *right,
                                         const struct ast_expression *tree);
struct expression *expression_minus(struct binder *binder,
                                    struct expression *operand,
                                    const struct ast_expression *tree);
/* logic.c: AND, OR, NOT (`right` NULL). What is false AND anything, or true OR
 * anything, is so at once. */
struct expression *expression_logic(struct binder *binder,
                                    enum ast_operator operator,
                                    struct expression * left,
                                    struct expression *right,
                                    const struct ast_expression *tree);
/* One whose operands have their types, and that gives the one that is named. */
struct expression *expression_operation(struct binder *binder,
                                        enum ast_operator operator, int type,
                                        struct expression *left,
                                        struct expression *right,
                                        const struct ast_expression *tree);

/* convert.c: a part of a date or a time. */
struct expression *expression_part(struct binder *binder,
                                   struct expression *operand,
                                   enum ast_unit unit, struct position at);
/* A date or a time moved by an interval, or `back` by it. */
struct expression *expression_moved(struct binder *binder,
                                    struct expression *operand,
                                    const struct ast_expression *interval,
                                    bool back, struct position at);

/* CAST. */
struct expression *expression_cast(struct binder *binder,
                                   struct expression *operand,
                                   struct ast_type type, struct position at);
struct expression *expression_cast_plain(struct binder *binder,
                                         struct expression *operand, int type,
                                         struct position at);
/* What a literal text is read as where a number is wanted. */
struct expression *expression_text_number(struct binder *binder,
                                          const struct expression *e);
/* A DECIMAL, or an integer, with another scale. */
struct expression *expression_scale(struct binder *binder,
                                    struct expression *operand, unsigned scale,
                                    struct position at);

/* range.c: sets range, machine, nullable and the flags after it, from the
 * operands'. */
void range_constant(struct expression *expression);
void range_column(struct node_column *column, const struct column_facts *facts);
/* Whatever the type can hold. */
struct interval range_full(int type);
/* Of any expression: once more, after operands were replaced. */
void range_update(struct expression *expression);

/* fold.c: replaces an expression of constants by its value. */
enum vdbq_status fold(struct binder *binder, struct expression *expression);
void fold_finish(struct binder *binder);

/* values.c */
/* Whether the parts of a VALUES are all constants, and the node of those. */
bool values_are_constant(struct node *const *parts, size_t count);
struct node *values_node(struct binder *binder, struct node *const *parts,
                         size_t count);
/* The items of a long list, which the operand is to be compared with, as rows
 * of one column, without those that it never equals; NULL: it is to be compared
 * with one after the other. */
enum vdbq_status values_of_list(struct binder *binder,
                                struct expression *operand,
                                struct expression **items, size_t count,
                                struct node **node);

/* lift.c */
/* What of the expressions is a function of the host or a subquery gets a node
 * over `*node` and becomes a column of it. */
enum vdbq_status lift(struct binder *binder, struct node **node,
                      struct expression **const *expressions, size_t count);
enum vdbq_status lift_windows(struct binder *binder, struct node **node,
                              struct expression **const *expressions,
                              size_t count);

/* rewrite.c: what a query becomes before it is lowered. */
struct node *rewrite(struct binder *binder, struct node *node);

/* split.c: adds the parts of a condition that must all hold. */
enum vdbq_status split_condition(struct binder *binder, struct expression *e,
                                 struct vector *parts);
/* push.c: a condition is tested as far down as it can be. The same columns;
 * the node may have changed. */
struct node *node_push(struct binder *binder, struct node *node,
                       struct expression *e);

/* unnest.c */
/* The rows of a node that a condition keeps, by a join. NULL: a failure, or
 * where not `*done`, it is not a condition like that. */
struct node *unnest_filter(struct binder *binder, struct node *below,
                           const struct expression *e, bool *done);
/* The rows of a node with the value of a subquery beside; `*value`: over the
 * columns of what is returned. NULL: likewise. */
struct node *unnest_value(struct binder *binder, struct node *below,
                          const struct expression *e, struct expression **value,
                          bool *done);

/* order.c: joins the parts of a NODE_PRODUCT. The columns of the result are
 * the product's, in order. */
struct node *join_in_order(struct binder *binder, const struct node *product);
/* Keeps the rows of a node for which something holds that may have to be
 * lifted first. */
enum vdbq_status filter_by(struct binder *binder, struct node **node,
                           struct expression *e);
/* Both sides of an equality become columns of one machine type, which the
 * nodes get where they lack them, and keys of a join. */
enum vdbq_status join_add_key(struct binder *binder, struct node *nodes[2],
                              struct expression *left, struct expression *right,
                              struct step_join *join);
/* band.c: gives a join the best band that the parts of its condition make.
 * They are over the columns of both sides, those of the right one from number
 * `middle` on; where the band says all of a part, it becomes NULL. There is
 * no band where there is nothing of that kind. */
enum vdbq_status join_add_band(struct binder *binder, struct node *nodes[2],
                               unsigned middle, struct vector *parts,
                               struct step_band *band);
/* What a band costs beside a grid, in units of cl/opcodes.h. */
struct band_price {
    double share; /* of all pairs, that are in the band; 1: there is none */
    double band, grid;
};
/* What is known of both sides of a join: their rows, and those of the tables
 * that these are taken from. */
struct band_sides {
    struct estimate_source columns; /* that the parts are over */
    double rows[2], bases[2];
};
enum vdbq_status join_price_band(struct binder *binder, unsigned middle,
                                 const struct vector *parts,
                                 const struct band_sides *sides,
                                 struct band_price *price);
/* Whether there would be one. */
enum vdbq_status join_has_band(struct binder *binder, unsigned middle,
                               const struct vector *parts, bool *has);

/* Which sides' columns an expression needs, where those of the right one are
 * the columns from `middle` on. */
enum { SIDE_LEFT = 1, SIDE_RIGHT = 2 };
int expression_sides(struct expression *e, unsigned middle);
/* outer.c: two sides joined by the parts of ON, which are over the columns of
 * both; so is what is returned. */
struct node *join_on(struct binder *binder, enum join_kind kind,
                     struct node *const nodes[2], const struct vector *parts);

/* outer_lift.c: the same where a part about both sides has something to be
 * lifted. */
struct node *join_lifted(struct binder *binder, enum join_kind kind,
                         struct node *const nodes[2],
                         const struct vector *parts);

/* lower.c */
enum vdbq_status lower(struct binder *binder, struct node *node,
                       struct steps *steps);

/* codegen.c: the program of a NODE_SELECT whose rows come from a table, from
 * a step's columns or from nowhere. */
struct codegen_source {
    const struct table *table;           /* NULL: none                     */
    const struct step *input;            /* NULL: none                     */
    unsigned input_number;               /* of it, as in program_table     */
    const char *name;                    /* of the input; NULL: "input"    */
    const struct column_place *columns;  /* by the number that expressions
                                          have for them                  */
    const struct codegen_source *others; /* further axes of a grid; their
                                          columns are not looked at      */
    unsigned other_count;
};
struct codegen_result {
    const char *name;
    struct expression *expression;
};
enum vdbq_status codegen_select(const struct binder *binder,
                                const struct codegen_source *source,
                                const struct expression *where,
                                const struct codegen_result *results,
                                unsigned result_count, struct program *program);

/* ------------------------------------------------- other statements -- */

/* A bound query (NULL: binding failed) is rewritten and becomes the steps of
 * the plan. */
enum vdbq_status plan_steps(struct binder *binder, struct node *node,
                            struct plan *plan);

enum vdbq_status plan_create_table(const struct ast_create *create,
                                   struct binder *binder, struct plan *plan);
enum vdbq_status plan_drop(const struct ast_drop *drop, enum plan_kind kind,
                           struct binder *binder, struct plan *plan);
enum vdbq_status plan_create_view(const struct ast_view *view,
                                  struct binder *binder, struct plan *plan);
enum vdbq_status plan_create_index(const struct ast_index *index,
                                   struct binder *binder, struct plan *plan);
enum vdbq_status plan_insert_rows(const struct ast_insert *insert,
                                  struct binder *binder, struct plan *plan);
enum vdbq_status plan_update(const struct ast_update *update,
                             struct binder *binder, struct plan *plan);
enum vdbq_status plan_delete(const struct ast_delete *delete,
                             struct binder *binder, struct plan *plan);
/* DESCRIBE and SUMMARIZE: rows about the columns of a query. */
enum vdbq_status plan_description(const struct ast_query *query,
                                  struct binder *binder, struct plan *plan);
enum vdbq_status plan_summary(const struct ast_query *query,
                              struct binder *binder, struct plan *plan);

#endif
