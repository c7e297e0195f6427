/* SPDX-License-Identifier: MIT */
/*
 * The resident store: tablets that stay on a device between queries, under
 * one budget. A tablet takes its own size there, and its columns come as they
 * are first read, each to its own offset. Tablets that nobody uses leave when
 * the room is needed, the least recently used first.
 */
#ifndef VDBQ_EXEC_RESIDENT_H
#define VDBQ_EXEC_RESIDENT_H

#include "data/database/database.h"
#include "device/device.h"

struct resident;

enum vdbq_status resident_create(struct device *device, uint64_t budget_bytes,
                                 struct resident **resident,
                                 struct error *error);
/* Every tablet must have been released. */
void resident_destroy(struct resident *resident);
uint64_t resident_budget(const struct resident *resident);
/* Bytes that tablets take. */
uint64_t resident_bytes(const struct resident *resident);

/* A tablet on the device; the store's. */
struct resident_tablet {
    /* the whole tablet; columns fill as they are asked for */
    struct device_memory *memory;
    const struct tablet *tablet; /* its head; NULL: nothing of it is there */
    bool filled; /* of what was made of a tablet: all of it is there       */
};

/* Finds a tablet or makes room for its `size_bytes`, and keeps it until
 * resident_release(). Fails with LIMIT (the budget cannot hold it beside what
 * is in use), DEVICE, NO_MEMORY. */
enum vdbq_status resident_pin(struct resident *resident, uint32_t table_id,
                              const struct tablet_ref *tablet,
                              uint64_t size_bytes,
                              struct resident_tablet **pinned,
                              struct error *error);
/* The same of what was made of a tablet, which has an identity of its own; it goes
 * when the tablet does. Who finds it not filled fills it, and says so. */
enum vdbq_status resident_pin_made(struct resident *resident, uint32_t table_id,
                                   const struct tablet_ref *tablet,
                                   struct identity identity,
                                   uint64_t size_bytes,
                                   struct resident_tablet **pinned,
                                   struct error *error);
void resident_release(struct resident *resident,
                      struct resident_tablet *pinned);

/* Looks whether a tablet is there, and leaves it as it is; NULL: it is not. */
const struct resident_tablet *resident_find(struct resident *resident,
                                            const struct tablet_ref *tablet);

/* Keeps the head of a tablet of which nothing was there: a block, or a copy
 * of its head with the descriptions of the columns. */
enum vdbq_status resident_describe(struct resident_tablet *pinned,
                                   const void *head, struct error *error);
/* Whether the column of a described tablet is there. */
bool resident_has(const struct resident_tablet *pinned, unsigned column);
/* It is, for what is launched from now on. */
void resident_add(struct resident_tablet *pinned, unsigned column);
/* Its columns may not be there: what should have brought them failed. */
void resident_forget(struct resident_tablet *pinned);

/* Takes bytes out of the budget for what else lies on the device, and gives
 * them back. Fails with LIMIT. */
enum vdbq_status resident_reserve(struct resident *resident, uint64_t bytes,
                                  struct error *error);
void resident_return(struct resident *resident, uint64_t bytes);

/* The same for rows of steps, which could lie on the host as well: together they
 * leave a quarter of the budget to what cannot. */
enum vdbq_status resident_reserve_rows(struct resident *resident,
                                       uint64_t bytes, struct error *error);
void resident_return_rows(struct resident *resident, uint64_t bytes);

/* Drops what is not in the catalogue, if that is another one than before,
 * and not in use. Keeps the catalogue until it sees the next. */
void resident_drop_old(struct resident *resident,
                       const struct catalogue *catalogue);

#endif
