/* SPDX-License-Identifier: MIT */
/*
 * The account of memory: see account.h. Sums are kept where they are asked
 * for: of the process, of each query and of each step. Two threads that ask at
 * once may both get what is there once.
 */
#include "base/account.h"

#include <assert.h>
#include <stddef.h>

/* Of a query's fair part: what a step always has, and each thing in it. */
enum { STEP_PART = 8, THING_PART = 32 };

static struct {
    atomic_uint_fast64_t used_bytes;
    atomic_uint queries; /* that run */
} process;

void account_open(struct account *account, uint64_t limit_bytes,
                  uint64_t plan_bytes)
{
    assert(!account->open && account->used_bytes == 0);
    *account = (struct account){ .limit_bytes = limit_bytes,
                                 .plan_bytes = plan_bytes,
                                 .open = true };
    atomic_fetch_add(&process.queries, 1);
    atomic_fetch_add(&process.used_bytes, plan_bytes);
}

void account_close(struct account *account)
{
    if (!account->open)
        return;
    assert(account->used_bytes == 0 && process.queries > 0);
    account->open = false;
    atomic_fetch_sub(&process.queries, 1);
    atomic_fetch_sub(&process.used_bytes, account->plan_bytes);
}

void account_process_take(uint64_t bytes)
{
    atomic_fetch_add(&process.used_bytes, bytes);
}

void account_process_give(uint64_t bytes)
{
    atomic_fetch_sub(&process.used_bytes, bytes);
}

const atomic_uint_fast64_t *account_process_bytes(void)
{
    return &process.used_bytes;
}

/* What is left of `most` beside what is used. */
static uint64_t left_of(uint64_t most, uint64_t used)
{
    return used < most ? most - used : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t account_room(const struct account_share *share)
{
    const struct account *account = share->account;
    if (account == NULL)
        return UINT64_MAX;
    unsigned queries = atomic_load(&process.queries);
    uint64_t limit = account->limit_bytes;
    uint64_t fair = limit / (queries > 0 ? queries : 1);
    uint64_t room = left_of(limit, atomic_load(&process.used_bytes));
    room = larger(room, left_of(fair, atomic_load(&account->used_bytes)));
    return larger(room,
                  left_of(fair / STEP_PART, atomic_load(&share->used_bytes)));
}

uint64_t account_least(const struct account_share *share)
{
    unsigned queries = atomic_load(&process.queries);
    if (share->account == NULL)
        return UINT64_MAX;
    return share->account->limit_bytes / THING_PART
           / (queries > 0 ? queries : 1);
}

/* Adds to a sum, and keeps the most that it was. */
static void add(atomic_uint_fast64_t *sum, atomic_uint_fast64_t *most,
                uint64_t bytes)
{
    uint64_t now = atomic_fetch_add(sum, bytes) + bytes;
    uint_fast64_t before = atomic_load(most);
    while (before < now && !atomic_compare_exchange_weak(most, &before, now))
        ;
}

void account_take_anyway(struct account_share *share, uint64_t bytes)
{
    struct account *account = share->account;
    if (account == NULL || bytes == 0)
        return;
    atomic_fetch_add(&process.used_bytes, bytes);
    add(&account->used_bytes, &account->most_bytes, bytes);
    add(&share->used_bytes, &share->most_bytes, bytes);
}

bool account_take(struct account_share *share, uint64_t bytes)
{
    if (bytes > account_room(share))
        return false;
    account_take_anyway(share, bytes);
    return true;
}

void account_give(struct account_share *share, uint64_t bytes)
{
    struct account *account = share->account;
    if (account == NULL || bytes == 0)
        return;
    assert(share->used_bytes >= bytes && account->used_bytes >= bytes);
    atomic_fetch_sub(&share->used_bytes, bytes);
    atomic_fetch_sub(&account->used_bytes, bytes);
    atomic_fetch_sub(&process.used_bytes, bytes);
}

void account_give_all(struct account_share *share)
{
    account_give(share, atomic_load(&share->used_bytes));
}

void account_spilled(struct account_share *share, uint64_t bytes)
{
    if (share == NULL)
        return;
    atomic_fetch_add(&share->spill_bytes, bytes);
    if (share->account != NULL)
        atomic_fetch_add(&share->account->spill_bytes, bytes);
}
