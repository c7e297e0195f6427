/* SPDX-License-Identifier: MIT */
/*
 * Joining (STEP_JOIN) on the device that has the left rows: the right ones are
 * indexed there (cl/join.h); then come left rows, as often as there are some,
 * and after each time output rows, in rounds of bounded size. They are those
 * of exec/join/join.h, in the same order, and so is a pair for which the condition
 * fails: it comes behind the rows before it.
 */
#ifndef VDBQ_EXEC_DEVICE_JOIN_H
#define VDBQ_EXEC_DEVICE_JOIN_H

#include "exec/device_join/device_condition.h"
#include "program/steps/steps.h"

struct device_join_params {
    /* of the plan: a join that device_join_does() */
    const struct step_join *step;
    struct device *device;                    /* holds both sides */
    const struct device_column *left, *right; /* all columns of both       */
    /* columns of the left and of the right side */
    unsigned left_count, right_count;
    struct dictionary *const *left_dictionaries,
        *const *right_dictionaries; /* of each column;
                                                 NULL: no text             */
    enum vdbq_type mark_type; /* in SQL, of the last column of JOIN_MARK     */
    struct device_condition *condition; /* of the step; NULL: it has none   */
    uint64_t round_rows; /* of output at most; 0: as many as are worth it  */
    unsigned threads;    /* that look for words of keys at most; 0: one    */
};
struct device_join;

/* Whether a device has such joins at all. */
bool device_join_does(const struct step_join *step,
                      const struct device *device);
/* Whether so many right rows of these columns, and their index, fit into
 * `bytes` of its memory. `pair_bytes`: what the condition takes for a pair, of which
 * a left row may have as many; 0: there is none. */
bool device_join_fits(const struct device *device,
                      const struct device_column *right, unsigned count,
                      uint64_t pair_bytes, uint64_t rows, uint64_t bytes);

/* What `params` points to outlives it. */
enum vdbq_status device_join_create(const struct device_join_params *params,
                                    struct device_join **join,
                                    struct error *error);
/* Waits for what is in flight; accepts NULL. */
void device_join_destroy(struct device_join *join);

/* Right rows go into the one, and are then indexed; left rows into the other,
 * which is emptied by the caller when it begins with other ones. */
struct device_store *device_join_right(struct device_join *join);
struct device_store *device_join_left(struct device_join *join);
enum vdbq_status device_join_index(struct device_join *join,
                                   struct error *error);

/* The columns that go out: those of the left rows, then, where pairs go out,
 * those of the right ones. */
const struct device_column *device_join_columns(const struct device_join *join,
                                                unsigned *count);
/* From now on only columns of which reads[i] is true are made. */
void device_join_reads(struct device_join *join, const bool *reads);

/* Counts the output rows of the left rows at hand. */
enum vdbq_status device_join_begin(struct device_join *join,
                                   struct error *error);
/* There are no more left rows: counts right ones that go out without one. */
enum vdbq_status device_join_end(struct device_join *join, struct error *error);
/* The next of them, which live until the next call; 0: there are no more. */
enum vdbq_status device_join_next(struct device_join *join,
                                  struct sink_rows *rows, struct error *error);

/* "dense" or "hashed". */
const char *device_join_text(const struct device_join *join);
uint64_t device_join_rounds(const struct device_join *join);
const struct device_times *device_join_times(const struct device_join *join);

#endif
