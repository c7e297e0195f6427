/* SPDX-License-Identifier: MIT */
/*
 * The pool: tablets in pinned slots of host memory, under one budget. Slots
 * that nobody uses keep their tablet until the room is needed; the least
 * recently used leave first. A pool serves one database and one device.
 */
#ifndef VDBQ_DATA_POOL_H
#define VDBQ_DATA_POOL_H

#include "data/database.h"
#include "device/device.h"

struct pool;

enum vdbq_status pool_create(struct database *database, struct device *device,
                             uint64_t budget_bytes, struct pool **pool,
                             struct error *error);
/* Every slot must have been released. */
void pool_destroy(struct pool *pool);

/* A tablet in memory; the pool's. */
struct pool_slot {
    struct device_memory *memory;
    const struct tablet *tablet; /* its head, a checked copy that stays
                                    readable while the device holds the
                                    memory, columns included              */
};

/* Brings a tablet in and keeps it there until pool_release(). Loading it is
 * checked as tablet_load() says. Fails with LIMIT (the budget cannot hold
 * it beside what is in use: the hint names VDBQ_MEMORY), CORRUPT, IO,
 * DEVICE, NO_MEMORY. */
enum vdbq_status pool_pin(struct pool *pool, const struct table *table,
                          const struct tablet_ref *tablet,
                          struct pool_slot **slot, struct error *error);
void pool_release(struct pool *pool, struct pool_slot *slot);

/* Nanoseconds spent loading so far, and bytes in slots. */
uint64_t pool_load_ns(const struct pool *pool);
uint64_t pool_bytes(const struct pool *pool);

#endif
