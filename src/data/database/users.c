/* SPDX-License-Identifier: MIT */
/*
 * Who reads or writes: users.h. Others are told of by their marks, in which a
 * generation has its lowest bits alone: it is the one nearest to the newest.
 */
#include "data/database/users.h"

#include "data/database/database_inner.h"

/* The generation of a state that was marked by that key. */
static uint64_t generation_of(uint64_t key, uint64_t newest)
{
    uint64_t low = key >> FILE_KEY_SUM_BITS;
    uint64_t round = UINT64_C(1) << FILE_KEY_GENERATION_BITS;
    uint64_t generation = newest - newest % round + low;

    if (generation > newest + round / 2 && generation >= round)
        return generation - round;
    return generation + round / 2 < newest ? generation + round : generation;
}

static struct database_user reader(uint64_t generation, uint64_t newest)
{
    return (struct database_user){ .generation = generation,
                                   .behind = newest > generation
                                                 ? newest - generation
                                                 : 0 };
}

/* What this connection does. */
static bool add_own(const struct database *database, uint64_t newest,
                    struct vector *users)
{
    const struct reading *open = database->snapshots.items;
    struct database_user user = { .process = os_process(),
                                  .own = true,
                                  .writes = true,
                                  .generation = newest,
                                  .since_ms = database->file.writer_ms };
    bool added =
        database->transaction == NULL || vector_append(users, &user, 1);

    for (size_t i = 0; i < database->snapshots.count && added; i++) {
        if (open[i].head.catalogue_size == 0)
            continue; /* what the transaction has made */
        user = reader(open[i].head.generation, newest);
        user.process = os_process();
        user.own = true;
        user.since_ms = database->file.since_ms;
        added = vector_append(users, &user, 1);
    }
    return added;
}

enum vdbq_status database_users(struct database *database, struct vector *users,
                                struct error *error)
{
    struct vector uses = VECTOR(struct file_use);
    const struct file_use *use;
    struct file_head newest;
    enum vdbq_status status = file_uses(&database->file, &uses, error);

    if (status == VDBQ_OK)
        status = database_newest(database, &newest, error);
    if (status == VDBQ_OK && !add_own(database, newest.generation, users))
        status = error_no_memory(error);
    use = uses.items;
    for (size_t i = 0; i < uses.count && status == VDBQ_OK; i++) {
        struct database_user user =
            reader(use[i].writes ? newest.generation
                                 : generation_of(use[i].key, newest.generation),
                   newest.generation);
        user.process = use[i].who.near ? use[i].who.process : 0;
        user.writes = use[i].writes;
        user.since_ms = use[i].who.since_ms;
        if (!vector_append(users, &user, 1))
            status = error_no_memory(error);
    }
    vector_finish(&uses);
    return status;
}
