/* SPDX-License-Identifier: MIT */
/*
 * The account of memory (VDBQ_MEMORY): what the steps of running queries hold.
 * The process has one account, each query that runs has one in it, and each of
 * its steps takes bytes before it holds them and gives them back later. Who
 * gets none goes on with temporary files.
 *
 * What a query may hold:
 *   1. All that other queries leave of the limit.
 *   2. In any case its fair part: the limit over the number of queries that run.
 *      So none starves, and n queries hold at most the limit times
 *      1 + 1/2 + ... + 1/n, if each of them was alone with those before it.
 *   3. A step has an eighth of the fair part in any case, whatever the other
 *      steps of its query hold.
 * Its statement and plan count for the process, so that others and the pool give
 * way to them; its own steps have the fair part beside them.
 *
 * Any thread may take and give.
 */
#ifndef VDBQ_BASE_ACCOUNT_H
#define VDBQ_BASE_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A query's. A zeroed one with a limit works, too: it was not opened, and so
 * does not count as one that runs. */
struct account {
    uint64_t limit_bytes;             /* of all queries of the process     */
    atomic_uint_fast64_t used_bytes;  /* by this query's steps             */
    atomic_uint_fast64_t most_bytes;  /* the most that they ever were      */
    atomic_uint_fast64_t spill_bytes; /* written to temporary files        */
    uint64_t plan_bytes;              /* of its statement and plan         */
    bool open;                        /* it counts as one that runs        */
};

/* What one step holds. Zeroed but for `account` it holds nothing. */
struct account_share {
    struct account *account;         /* NULL: there is no limit           */
    atomic_uint_fast64_t used_bytes; /* as above, of this step            */
    atomic_uint_fast64_t most_bytes;
    atomic_uint_fast64_t spill_bytes;
};

/* A query begins to run: nothing is held but its statement and plan. */
void account_open(struct account *account, uint64_t limit_bytes,
                  uint64_t plan_bytes);
/* It ends; its steps have given back what they held. Accepts one that is not
 * open. */
void account_close(struct account *account);

/* Bytes more that a step may take now; UINT64_MAX: there is no limit. */
uint64_t account_room(const struct account_share *share);
/* Bytes that each of a step's structures may hold whatever there is, since with
 * less it would write to files all the time. */
uint64_t account_least(const struct account_share *share);
/* Takes bytes more; false: there is no room for them, and nothing changes. */
bool account_take(struct account_share *share, uint64_t bytes);
/* The same of what is needed in any case. */
void account_take_anyway(struct account_share *share, uint64_t bytes);
void account_give(struct account_share *share, uint64_t bytes);
void account_give_all(struct account_share *share);
/* Notes bytes that were written to a temporary file. */
void account_spilled(struct account_share *share, uint64_t bytes);

/* Bytes that the process holds for queries whichever they are, until they are
 * given back. */
void account_process_take(uint64_t bytes);
void account_process_give(uint64_t bytes);
/* What all queries of the process hold, with those. */
const atomic_uint_fast64_t *account_process_bytes(void);

#endif
