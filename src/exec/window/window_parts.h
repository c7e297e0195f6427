/* SPDX-License-Identifier: MIT */
/*
 * Windows over more rows than fit into memory, of functions that give each partition
 * one value: rows go to a temporary file by the hash of what they are parted by, and
 * what shares a hash is computed together, in memory. All rows are wanted, or of each
 * partition the first. Rows are
 * neither sorted nor merged all together. Where one hash has too many rows, quantiles
 * of one partition are selected (window_apart.h), and windows of the other rows are
 * computed in runs (window_spill.h).
 */
#ifndef VDBQ_EXEC_WINDOW_PARTS_H
#define VDBQ_EXEC_WINDOW_PARTS_H

#include "exec/window/window_spill.h"

struct window_parts;

/* Whether all functions give one value, of the same partitions. */
bool window_parts_can(const struct step_window *step);

/* What `params` points to outlives it; none of its functions joins texts. */
enum vdbq_status window_parts_create(const struct window_spill_params *params,
                                     struct window_parts **parts,
                                     struct error *error);
void window_parts_destroy(struct window_parts *parts); /* accepts NULL */

/* Takes rows of the input, in their order. */
enum vdbq_status window_parts_add(struct window_parts *parts,
                                  const struct vdbq_batch *batch,
                                  struct error *error);
/* All rows were added: computes the windows. Fails as window_run(), and with IO. */
enum vdbq_status window_parts_end(struct window_parts *parts,
                                  struct error *error);
/* How many rows are wanted. */
uint64_t window_parts_rows(const struct window_parts *parts);
/* The next of them, with all columns; rows 0: the end. They live until the next
 * call. */
enum vdbq_status window_parts_batch(struct window_parts *parts,
                                    struct vdbq_batch *batch,
                                    struct error *error);

#endif
