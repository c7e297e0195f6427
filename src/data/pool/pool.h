/* SPDX-License-Identifier: MIT */
/*
 * The pool: tablets in pinned slots of host memory, under one budget; of each
 * the columns that were asked for. Slots that nobody uses keep what they hold
 * until the room is needed; the least recently used leave first. A pool serves
 * one database, with the temporary tables beside it, and one device.
 */
#ifndef VDBQ_DATA_POOL_H
#define VDBQ_DATA_POOL_H

#include <stdatomic.h>

#include "data/database/database.h"
#include "device/device.h"

struct pool;

enum vdbq_status pool_create(struct database *database, struct device *device,
                             uint64_t budget_bytes, struct pool **pool,
                             struct error *error);
/* The budget is shared: `used_bytes` of it, which changes and outlives the
 * pool, are others'. Slots that nobody uses make room for them when others are
 * brought in; what must be pinned finds room in any case. */
void pool_share(struct pool *pool, const atomic_uint_fast64_t *used_bytes);
/* From now on columns are used where they lie in the file, where that has such
 * a place, as far as projection_may_stay() says; the device shares the host's
 * memory. They count as if they were brought in. */
void pool_map(struct pool *pool);
/* Whether they are: then values may be other ones than those that were
 * proven. */
bool pool_maps(const struct pool *pool);
/* Every slot must have been released. */
void pool_destroy(struct pool *pool);
/* The database whose tablets it has. */
const struct database *pool_database(const struct pool *pool);
/* Lets all tablets go that nobody works on. */
void pool_empty(struct pool *pool);
/* Has the pool serve another device from now on, within another budget; both
 * devices share the host's memory, and the former one is closed later. Tablets
 * stay where they lie, as far as the device can reach them. False: somebody
 * works on some; then nothing has changed. */
bool pool_move(struct pool *pool, struct device *device, uint64_t budget_bytes);

/* Columns of a tablet in memory; the pool's. */
struct pool_slot {
    struct device_memory *memory; /* that the tablet lies in */
    const struct tablet *tablet;  /* its head, as the columns that were wanted
                                    lie here: a checked copy that stays
                                    readable while the device holds the
                                    memory, columns included              */
    bool in_place;                /* they lie in the file: the memory has no
                                    host pointer, and cannot be written   */
    const struct tablet *whole;   /* the head as it is in the file         */
    /* one a column: of a text that was wanted so, its words; held */
    struct dictionary *const *dictionaries;
};

/* Somebody who may keep slots while others bring tablets in. */
struct pool_holder {
    /* Releases the slots that it can do without from now on; it may wait for
     * launches that read them. */
    enum vdbq_status (*let_go)(struct pool_holder *holder, struct error *error);
    struct pool_holder *next; /* the pool's */
};
/* From now on a holder is asked to let go where there is no room for what is
 * to be pinned, and until it leaves; to leave twice, or without having joined,
 * does nothing. */
void pool_join(struct pool *pool, struct pool_holder *holder);
void pool_leave(struct pool *pool, struct pool_holder *holder);
/* Asks all holders. Fails as they do. */
enum vdbq_status pool_ask(struct pool *pool, struct error *error);

/* What is to be brought in. */
struct pool_want {
    const struct table *table;       /* of the tablet */
    const struct tablet_ref *tablet; /* to load */
    const unsigned *columns;         /* of the table; NULL: all of them */
    unsigned column_count;           /* of `columns` */
    bool codes; /* of texts their codes are enough: who asks has the words */
    bool
        apart; /* of texts their words alone come, as dictionaries, and codes */
    bool reached; /* by the device: they must lie in memory that is not plain */
    bool moved; /* to the device's own memory, once: plain memory will do, where
                   host and device share theirs, too                     */
    bool copied; /* not where they lie in the file: the host reads them */
    bool yields; /* where there is no room, holders are not asked: who wants it
                    can go on without it                                  */
};

/* Memory for tablets, the host's or a device's, that has no room for one. */
struct pool_shortage {
    uint64_t size_bytes; /* that are wanted                               */
    uint64_t used_bytes, budget_bytes; /* in use, and allowed */
    const char *whose;    /* what memory it is, or ""                     */
    const char *instead;  /* what else may be done, or ""                 */
    const char *variable; /* that sets the budget                         */
};
/* Says so: LIMIT, with a budget that is enough in the hint. */
enum vdbq_status pool_no_room(const struct pool_shortage *shortage,
                              struct error *error);

/* Brings columns of a tablet in and keeps them there until pool_release().
 * They are checked as tablet_load() says. Fails with LIMIT (the budget cannot
 * hold it beside what is in use, once holders have let go: the hint names
 * VDBQ_MEMORY), CORRUPT, IO, DEVICE, NO_MEMORY, and as holders do. */
enum vdbq_status pool_pin(struct pool *pool, const struct pool_want *want,
                          struct pool_slot **slot, struct error *error);
void pool_release(struct pool *pool, struct pool_slot *slot);

/* Starts to bring in, on other threads, what a pool_pin() will soon ask for.
 * It takes no room from what was started like this before, and says false
 * where it can start no more. What fails is told by pool_pin(). */
bool pool_ahead(struct pool *pool, const struct pool_want *want);
/* Ends what is under way: the tables of pool_ahead() may go. */
void pool_settle(struct pool *pool);

/* Nanoseconds spent loading so far, those of all threads together, and bytes
 * in slots. */
uint64_t pool_load_ns(const struct pool *pool);
uint64_t pool_bytes(const struct pool *pool);

#endif
