/* SPDX-License-Identifier: MIT */
/*
 * What the files that lower nodes share. Functions that return a number of a
 * step return -1 where they fail, those that return bool false and those that
 * return a pointer NULL, with the failure in the binder's error.
 */
#ifndef VDBQ_PLAN_LOWER_LOWERING_H
#define VDBQ_PLAN_LOWER_LOWERING_H

#include "plan/code/codegen.h"
#include "plan/tree/binder.h"
#include "plan/tree/node.h"

struct lowering {
    struct binder *binder;
    struct steps *steps;
};

/* The step of a node: `needed` says which of its columns are read, `map` gets
 * where they are in the step's rows, -1: nowhere. */
int lower_node(struct lowering *lowering, struct node *node, const bool *needed,
               int *map);
/* A NODE_SELECT that becomes one program with joins below it; where it does
 * not, LOWER_NOT_FUSED, and nothing is done. lower_fuse.c. */
enum { LOWER_NOT_FUSED = -2 };
int lower_fused(struct lowering *lowering, struct node *node,
                const bool *needed, int *map);
int lower_join(struct lowering *lowering, struct node *node, const bool *needed,
               int *map); /* lower_join.c  */
/* A SELECT over inner joins without keys (grid.c). */
bool lower_is_grid(const struct node *node);
int lower_grid(struct lowering *lowering, struct node *node, const bool *needed,
               int *map);
int lower_group(struct lowering *lowering, struct node *node,
                const bool *needed, int *map); /* lower_over.c */
int lower_sort(struct lowering *lowering, struct node *node, const bool *needed,
               int *map);
int lower_limit(struct lowering *lowering, struct node *node,
                const bool *needed, int *map);
int lower_concat(struct lowering *lowering, struct node *node, int *map);
int lower_apply(struct lowering *lowering, struct node *node,
                const bool *needed, int *map);
int lower_window(struct lowering *lowering, struct node *node,
                 const bool *needed, int *map);
int lower_map(struct lowering *lowering, struct node *node, const bool *needed,
              int *map);

/* lower_values.c */
int lower_values(struct lowering *lowering, struct node *node,
                 const bool *needed, int *map);

/* lower_column.c */

/* One flag, or one number -1, a column; in the arena. */
bool *lower_flags(struct lowering *lowering, unsigned count);
int *lower_numbers(struct lowering *lowering, unsigned count);
/* Sets the flags of the columns that an expression reads; a visitor. */
bool lower_mark_columns(void *needed, struct expression **operand);
/* lower_result.c: what the program of a SELECT gives, the needed results, or just a
 * number; its columns; the columns of a table as programs number them; the
 * places of the columns of a cursor that is an axis. */
struct codegen_result *lower_results(struct lowering *lowering,
                                     struct node *node, const bool *needed,
                                     int *map, unsigned *count);
bool lower_describe_results(struct lowering *lowering, int number,
                            const struct codegen_result *results,
                            unsigned count);
void lower_number_table(const struct table *table, int *columns);
struct column_place *lower_places(struct lowering *lowering, const int *columns,
                                  unsigned count, int cursor);
struct step_column lower_column(const struct node_column *column);
/* A new step, with room for `columns` columns and with `inputs`. */
int lower_add_step(struct lowering *lowering, enum step_kind kind,
                   unsigned columns, const int *inputs, unsigned count);
/* Adds a column to a step; its name lives as long. */
bool lower_add_column(struct lowering *lowering, int number,
                      const struct step_column *column);
/* Adds all columns of one of its inputs. */
bool lower_add_columns_of(struct lowering *lowering, int number, int input);
/* Copies of numbers of columns and of keys, as the step has them. */
bool lower_move_numbers(struct lowering *lowering, const struct vector *from,
                        const int *map, struct vector *to);
bool lower_move_keys(struct lowering *lowering, const struct vector *from,
                     const int *map, struct vector *to);

#endif
