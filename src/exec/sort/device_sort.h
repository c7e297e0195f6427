/* SPDX-License-Identifier: MIT */
/*
 * Sorting (STEP_SORT) on the device that scans: result rows are kept in
 * its memory, sorted there, and come to the host in their order. It is that
 * of exec/sort/sort.h.
 */
#ifndef VDBQ_EXEC_DEVICE_SORT_H
#define VDBQ_EXEC_DEVICE_SORT_H

#include "exec/rows/row_set.h"
#include "exec/launch/sink.h"
#include "program/steps/steps.h"

struct device_sort_params {
    const struct step_sort *step;        /* keys, limit and offset */
    const struct device_column *columns; /* of the input                  */
    unsigned column_count;               /* of the input */
    unsigned out_count;                  /* of which so many go out       */
    struct device *device;               /* holds the input's rows */
    uint64_t rows;                       /* that there may be at most     */
};
struct device_sort;

/* Whether its memory has room. */
bool device_sort_can(const struct device_sort_params *params);

/* `params`' pointers outlive it. */
enum vdbq_status device_sort_create(const struct device_sort_params *params,
                                    struct device_sort **sort,
                                    struct error *error);
void device_sort_destroy(struct device_sort *sort); /* accepts NULL */
struct sink *device_sort_sink(struct device_sort *sort);

/* The rows that it took, as they came; they live as long as the sort. */
struct sink_rows device_sort_rows(const struct device_sort *sort);
/* Sorts, and points an empty row set's columns to the rows that are asked
 * for: they live as long as the sort, which takes them back when it is
 * destroyed. */
enum vdbq_status device_sort_finish(struct device_sort *sort,
                                    struct row_set *row_set,
                                    struct error *error);
void device_sort_take_back(struct device_sort *sort, struct row_set *row_set);
const struct device_times *device_sort_times(const struct device_sort *sort);

#endif
