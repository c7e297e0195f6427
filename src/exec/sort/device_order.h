/* SPDX-License-Identifier: MIT */
/*
 * The order of rows that lie on a device, by some of their columns: that of
 * exec/sort/sort.h, as the elements of a radix sort (device_radix.h).
 */
#ifndef VDBQ_EXEC_DEVICE_ORDER_H
#define VDBQ_EXEC_DEVICE_ORDER_H

#include "exec/launch/device_store.h"
#include "exec/sort/device_radix.h"
#include "program/steps/steps.h"

/* As in cl/sort.cl: what is taken of a key, beside its type. */
enum {
    CODE_DESCENDING = 256,
    CODE_HIGH = 512,
    CODE_NULL = 1024,
    CODE_NULLS_LAST = 2048,
    CODE_FIRST = 4096
};

struct device_order {
    const struct device_store *store; /* has the rows and their columns      */
    struct device_radix radix;        /* its elements are the rows           */
    bool fresh;                       /* no element was made yet             */
    struct device_times *times;       /* added to                            */
};

/* Makes room for so many of the store's rows, below 2^32. device_order_finish()
 * is due whatever it returns, and accepts a zeroed struct. */
enum vdbq_status device_order_init(struct device_order *order,
                                   const struct device_store *store,
                                   uint64_t rows, struct device_times *times,
                                   struct error *error);
void device_order_finish(struct device_order *order);
/* Sorts by the last key first: each sort keeps the order of equal ones. Without
 * keys rows are in their own order. */
enum vdbq_status device_order_by(struct device_order *order,
                                 const struct step_key *keys, size_t count,
                                 struct error *error);
/* The least order of a column's values, and the bits of those above it. */
unsigned device_order_bits(const struct device_column *column, uint64_t *base);

#endif
