/* SPDX-License-Identifier: MIT */
/*
 * Messages between ranks: see message.h.
 */
#include "cluster/message.h"

#include <sched.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "base/memory.h"

/* What a table's rows are known by. */
struct table_name {
    uint64_t id, rows;
    struct identity state;
};

enum {
    NAPS_BUSY = 64,       /* that only let others run                  */
    NAP_NS_MAX = 1 << 20, /* a millisecond: what a message waits at most */
    NAP_NS = 1 << 14      /* the first                                 */
};

uint64_t cluster_state(const struct catalogue *catalogue)
{
    uint64_t hash =
        XXH3_64bits(&catalogue->generation, sizeof catalogue->generation);
    for (size_t i = 0; i < catalogue->table_count; i++) {
        const struct table *table = &catalogue->tables[i];
        struct table_name name = { table->id, table->rows, table->state };
        hash = XXH3_64bits_withSeed(&name, sizeof name, hash);
        hash = XXH3_64bits_withSeed(table->name, strlen(table->name), hash);
    }
    return hash;
}

uint64_t cluster_plan(const struct steps *steps)
{
    struct text text = { 0 };
    steps_print(steps, &text);
    uint64_t hash = XXH3_64bits(text.bytes, text.failed ? 0 : text.length);
    text_finish(&text);
    return hash;
}

bool message_post(const struct vdbq_link *link, unsigned to,
                  enum message_kind kind, unsigned run, const void *bytes,
                  size_t size)
{
    uint8_t *copy = memory_zeroed(size + 1, 1);
    if (copy == NULL)
        return false;
    if (size > 0)
        memcpy(copy, bytes, size);
    return link->send(link->context, to, kind, run, copy, size);
}

void message_nap(unsigned *naps)
{
    unsigned more = *naps < NAPS_BUSY ? 0 : *naps - NAPS_BUSY;
    struct timespec time = { .tv_nsec = NAP_NS };
    if (*naps < NAPS_BUSY + 1024)
        ++*naps;
    if (*naps <= NAPS_BUSY) {
        sched_yield();
        return;
    }
    time.tv_nsec += (long)more * NAP_NS / 16;
    if (time.tv_nsec > NAP_NS_MAX)
        time.tv_nsec = NAP_NS_MAX;
    nanosleep(&time, NULL);
}

void message_wait(const struct vdbq_link *link, unsigned from,
                  unsigned milliseconds, unsigned *naps)
{
    if (link->wait != NULL)
        link->wait(link->context, from, milliseconds);
    else
        message_nap(naps);
}

enum vdbq_status link_broken(unsigned rank, struct error *error)
{
    return error_set(error, VDBQ_IO, "rank %u cannot be reached", rank);
}

enum vdbq_status link_garbled(const struct vdbq_link *link, unsigned rank,
                              struct error *error)
{
    if (link->give_up != NULL)
        link->give_up(link->context, rank, "sends garbage");
    return error_set(error, VDBQ_IO, "rank %u answers otherwise", rank);
}
