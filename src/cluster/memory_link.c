/* SPDX-License-Identifier: MIT */
/*
 * Links between threads: see memory_link.h. Between rank 0 and each other rank
 * are two queues, one a direction. Whoever takes a message is the only one that
 * does, so that the first stays where it is between arrived() and receive().
 */
#include "cluster/memory_link.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "base/os/os.h"

/* A message in a queue. */
struct item {
    unsigned kind, run;
    void *bytes; /* owned */
    size_t size;
    struct item *next;
};

/* Messages of one direction, the oldest first. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t came; /* a message has */
    struct item *first, **last;
    size_t bytes; /* of all */
};

/* One end. */
struct memory_link {
    struct vdbq_link head; /* first */
    struct memory_links *links;
};

struct memory_links {
    unsigned ranks;
    struct memory_link *ends; /* by rank                                 */
    struct queue *queues;     /* [2 * rank]: to a rank, [2 * rank + 1]:
                                 from it; those of rank 0 are not used   */
};

/* The queue from one rank to another. */
static struct queue *queue_of(const struct memory_links *links, unsigned from,
                              unsigned to)
{
    assert((from == 0) != (to == 0) && from + to < links->ranks);
    return &links->queues[2 * (from + to) + (to == 0)];
}

static struct queue *queue_from(const struct memory_link *end, unsigned from)
{
    return queue_of(end->links, from, end->head.rank);
}

/* -------------------------------------------------------------- calls -- */

static bool link_send(void *context, unsigned to, unsigned kind, unsigned run,
                      void *bytes, size_t size)
{
    struct memory_link *end = context;
    struct queue *queue = queue_of(end->links, end->head.rank, to);
    struct item *item = memory_zeroed(1, sizeof *item);
    if (item == NULL) {
        memory_release(bytes);
        return false;
    }
    *item =
        (struct item){ .kind = kind, .run = run, .bytes = bytes, .size = size };
    pthread_mutex_lock(&queue->lock);
    *queue->last = item;
    queue->last = &item->next;
    queue->bytes += size;
    pthread_cond_signal(&queue->came);
    pthread_mutex_unlock(&queue->lock);
    return true;
}

static size_t queue_bytes(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    size_t bytes = queue->bytes;
    pthread_mutex_unlock(&queue->lock);
    return bytes;
}

static size_t link_pending(void *context)
{
    struct memory_link *end = context;
    size_t bytes = 0;
    if (end->head.rank > 0)
        return queue_bytes(queue_of(end->links, end->head.rank, 0));
    for (unsigned r = 1; r < end->links->ranks; r++)
        bytes += queue_bytes(queue_of(end->links, 0, r));
    return bytes;
}

static struct item *first_item(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct item *item = queue->first;
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static bool link_arrived(void *context, unsigned from, unsigned *kind,
                         unsigned *run, size_t *size)
{
    const struct item *item = first_item(queue_from(context, from));
    if (item == NULL)
        return false;
    *kind = item->kind;
    *run = item->run;
    *size = item->size;
    return true;
}

/* Takes the first message out; NULL: there is none. The caller frees it. */
static struct item *take_first(struct queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct item *item = queue->first;
    if (item != NULL) {
        queue->first = item->next;
        queue->bytes -= item->size;
        if (queue->first == NULL)
            queue->last = &queue->first;
    }
    pthread_mutex_unlock(&queue->lock);
    return item;
}

static void item_free(struct item *item)
{
    memory_release(item->bytes);
    memory_release(item);
}

static bool link_receive(void *context, unsigned from, void *bytes, size_t size)
{
    struct item *item = take_first(queue_from(context, from));
    assert(item != NULL && item->size == size);
    if (size > 0)
        memcpy(bytes, item->bytes, size);
    item_free(item);
    return true;
}

static void link_wait(void *context, unsigned from, unsigned milliseconds)
{
    struct queue *queue = queue_from(context, from);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)milliseconds * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&queue->lock);
    if (queue->first == NULL)
        pthread_cond_timedwait(&queue->came, &queue->lock, &until);
    pthread_mutex_unlock(&queue->lock);
}

/* ------------------------------------------------------------- create -- */

static struct vdbq_link calls_of(struct memory_link *end, unsigned rank,
                                 unsigned ranks, const char *name)
{
    return (struct vdbq_link){ .context = end,
                               .rank = rank,
                               .ranks = ranks,
                               .local_rank = rank,
                               .local_ranks = ranks,
                               .cores = os_cores(),
                               .host = name,
                               .notice = "",
                               .send = link_send,
                               .pending = link_pending,
                               .arrived = link_arrived,
                               .receive = link_receive,
                               .wait = link_wait };
}

struct memory_links *memory_links_create(unsigned ranks,
                                         const char *const *names)
{
    struct memory_links *links = memory_zeroed(1, sizeof *links);
    if (links == NULL)
        return NULL;
    links->ends = memory_zeroed(ranks, sizeof *links->ends);
    links->queues = memory_zeroed(2 * (size_t)ranks, sizeof *links->queues);
    if (links->ends == NULL || links->queues == NULL) {
        memory_links_destroy(links);
        return NULL;
    }
    links->ranks = ranks;
    for (unsigned r = 0; r < ranks; r++) {
        links->ends[r].head = calls_of(&links->ends[r], r, ranks, names[r]);
        links->ends[r].links = links;
    }
    for (unsigned i = 0; i < 2 * ranks; i++) {
        pthread_mutex_init(&links->queues[i].lock, NULL);
        pthread_cond_init(&links->queues[i].came, NULL);
        links->queues[i].last = &links->queues[i].first;
    }
    return links;
}

void memory_links_destroy(struct memory_links *links)
{
    struct item *item;
    if (links == NULL)
        return;
    for (unsigned i = 0; i < 2 * links->ranks; i++) {
        while ((item = take_first(&links->queues[i])) != NULL)
            item_free(item);
        pthread_mutex_destroy(&links->queues[i].lock);
        pthread_cond_destroy(&links->queues[i].came);
    }
    memory_release(links->ends);
    memory_release(links->queues);
    memory_release(links);
}

const struct vdbq_link *memory_link(const struct memory_links *links,
                                    unsigned rank)
{
    assert(rank < links->ranks);
    return &links->ends[rank].head;
}
