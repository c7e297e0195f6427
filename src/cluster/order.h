/* SPDX-License-Identifier: MIT */
/*
 * What rank 0 orders the others to run: a statement with its parameters.
 */
#ifndef VDBQ_CLUSTER_ORDER_H
#define VDBQ_CLUSTER_ORDER_H

#include "cluster/message.h"

/* The order to run a query, `*size` bytes, which the caller releases; NULL: no
 * memory. */
uint8_t *order_make(const vdbq_query *query, size_t *size);
/* Whether bytes are an order: nothing of it lies outside, and nothing is left. */
bool order_is_whole(const uint8_t *bytes, size_t size);
/* Says in it which share of a table the rank has that it is sent to. */
void order_share(uint8_t *order, uint32_t first, uint32_t end);
/* Gives a query the parameters of an order, which are at `at`. Fails with
 * NO_MEMORY. */
enum vdbq_status order_bind(vdbq_query *query, const struct order *order,
                            const uint8_t *at);

#endif
