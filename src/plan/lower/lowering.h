/* SPDX-License-Identifier: MIT */
/*
 * What the files that lower nodes share. Every failure is in the binder's error:
 * functions that make a step return the status and set `*number`, that of the
 * step; those that return bool say false, those that return a pointer NULL.
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

/* The failure that is in the binder's error; OK where `done`. */
enum vdbq_status lower_status(const struct lowering *lowering, bool done);

/* The step of a node: `needed` says which of its columns are read, `map` gets
 * where they are in the step's rows, -1: nowhere. */
enum vdbq_status lower_node(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number);
/* A NODE_SELECT that becomes one program with joins below it; where it does
 * not, `*number` is LOWER_NOT_FUSED, and nothing is done. lower_fuse.c. */
enum { LOWER_NOT_FUSED = -1 };
enum vdbq_status lower_fused(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number);
enum vdbq_status lower_join(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map,
                            int *number); /* lower_join.c  */
/* A SELECT over inner joins without keys: node_is_pairs() (grid.c). */
enum vdbq_status lower_grid(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number);

/* lower_over.c */
enum vdbq_status lower_group(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number);
enum vdbq_status lower_sort(struct lowering *lowering, struct node *node,
                            const bool *needed, int *map, int *number);
enum vdbq_status lower_limit(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number);
enum vdbq_status lower_concat(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number);
enum vdbq_status lower_apply(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number);
enum vdbq_status lower_window(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number);
enum vdbq_status lower_map(struct lowering *lowering, struct node *node,
                           const bool *needed, int *map, int *number);
enum vdbq_status lower_fetch(struct lowering *lowering, struct node *node,
                             const bool *needed, int *map, int *number);

/* lower_values.c */
enum vdbq_status lower_values(struct lowering *lowering, struct node *node,
                              const bool *needed, int *map, int *number);

/* lower_recurse.c: all columns, whichever are needed. */
enum vdbq_status lower_recurse(struct lowering *lowering, struct node *node,
                               int *map, int *number);
enum vdbq_status lower_working(struct lowering *lowering, struct node *node,
                               int *map, int *number);

/* The rows whose keys an index is asked for; of a node that asks for none it is
 * of no use. */
struct lower_keys {
    int step;
    int columns[SEEK_FROM_MAX]; /* of the step: those that the node names */
};
/* lower_over.c */
enum vdbq_status lower_seek_keys(struct lowering *lowering,
                                 const struct node *seek,
                                 struct lower_keys *keys);
/* lower_seek.c: rows that an index finds; and a SELECT that does nothing but
 * name columns of them. */
enum vdbq_status lower_seek(struct lowering *lowering, struct node *node,
                            const bool *needed, const struct lower_keys *keys,
                            int *map, int *number);
bool lower_is_sought(const struct node *select, const bool *needed);
enum vdbq_status lower_sought(struct lowering *lowering, struct node *select,
                              const bool *needed, const struct lower_keys *keys,
                              int *map, int *number);

/* lower_column.c */

/* One flag, or one number -1, a column; in the arena. */
bool *lower_flags(struct lowering *lowering, unsigned count);
int *lower_numbers(struct lowering *lowering, unsigned count);
/* lower_result.c: what the program of a SELECT gives, the needed results, or just a
 * number; its columns; the columns of a table as programs number them; the
 * places of the columns of a cursor that is an axis. */
struct codegen_result *lower_results(struct lowering *lowering,
                                     struct node *node, const bool *needed,
                                     int *map, unsigned *count);
bool lower_describe_results(struct lowering *lowering, int number,
                            const struct codegen_result *results,
                            unsigned count);
void lower_number_table(const struct node *node, int *columns);
struct column_place *lower_places(struct lowering *lowering, const int *columns,
                                  unsigned count, int cursor);
struct step_column lower_column(const struct node_column *column);
/* The step of all columns of a node, which keep their places. */
enum vdbq_status lower_whole(struct lowering *lowering, struct node *node,
                             int *number); /* lower_over.c */
/* A new step, with room for `columns` columns and with `inputs`. */
enum vdbq_status lower_add_step(struct lowering *lowering, enum step_kind kind,
                                unsigned columns, const int *inputs,
                                unsigned count, int *number);
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

/* lower_firsts.c: tells functions that make texts of which the first by a sort
 * with a LIMIT, the least or the greatest alone is wanted. */
void lower_firsts(struct steps *steps);

#endif
