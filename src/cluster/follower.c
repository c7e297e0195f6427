/* SPDX-License-Identifier: MIT */
/*
 * Every rank but the first one, a process or a thread with a device of its own:
 * waits for what rank 0 orders, plans the query as that did, and runs its share
 * up to STEP_GATHER. It reads the database and never changes it.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "cluster/divide/divide.h"
#include "cluster/member.h"
#include "cluster/order.h"
#include "device/several.h"

struct follower {
    struct session_cluster calls; /* of the connection */
    const struct vdbq_link *link;
    const struct follow_params *params;
    vdbq *db;
    struct ranks ranks;
    unsigned run;   /* that is under way, or was last */
    bool runs;      /* it is under way                */
    bool stopped;   /* rank 0 wants no more of it     */
    bool dismissed; /* the process is to end          */
};

static struct follower *follower_of(const struct ranks *ranks)
{
    return (struct follower *)((char *)ranks
                               - offsetof(struct follower, ranks));
}

static struct follower *follower_of_query(const vdbq_query *query)
{
    return (struct follower *)((char *)query->cluster
                               - offsetof(struct follower, calls));
}

/* ------------------------------------------------------------ messages -- */

/* Takes a message of a rank, if there is one. */
static bool take(struct follower *follower, unsigned from, unsigned *kind,
                 unsigned *run, struct rank_message *message)
{
    const struct vdbq_link *link = follower->link;
    if (!link->arrived(link->context, from, kind, run, &message->size))
        return false;
    message->bytes = memory_zeroed(message->size + 1, 1);
    return message->bytes != NULL
           && link->receive(link->context, from, message->bytes, message->size);
}

/* Whether a message is of a run that has ended. Another rank may be in the next
 * one already. */
static bool is_past(const struct follower *follower, unsigned run)
{
    unsigned ago = (follower->run + MESSAGE_RUNS - run) % MESSAGE_RUNS;
    return ago < MESSAGE_RUNS / 2 && (ago > 0 || !follower->runs);
}

/* Takes what others than rank 0 have sent for runs that ended before it came, so
 * that it is on its way no more. Devices send nothing to one another. */
static void forget_past(struct follower *follower)
{
    const struct vdbq_link *link = follower->link;
    struct rank_message message = { 0 };
    unsigned kind, run;
    for (unsigned r = 1; follower->params->device == NULL && r < link->ranks;
         r++)
        if (r != link->rank
            && link->arrived(link->context, r, &kind, &run, &message.size)
            && is_past(follower, run)) {
            take(follower, r, &kind, &run, &message);
            memory_release(message.bytes);
            message.bytes = NULL;
        }
}

/* Heeds what ends a run; whether it was that. */
static bool heed(struct follower *follower, unsigned kind, unsigned run)
{
    if (kind == MESSAGE_STOP && run == follower->run)
        follower->stopped = true;
    if (kind == MESSAGE_QUIT)
        follower->stopped = follower->dismissed = true;
    return kind == MESSAGE_STOP || kind == MESSAGE_QUIT;
}

/* Waits for a message of the run under way, or any; no bytes: it was to stop. */
static struct rank_message await(struct follower *follower, unsigned *kind,
                                 unsigned *run)
{
    unsigned naps = 0;
    struct rank_message message = { 0 };
    while (!take(follower, 0, kind, run, &message)) {
        forget_past(follower);
        message_wait(follower->link, 0, WAIT_MS, &naps);
    }
    if (heed(follower, *kind, *run)) {
        memory_release(message.bytes);
        message = (struct rank_message){ 0 };
    }
    return message;
}

static bool post(struct follower *follower, enum message_kind kind,
                 const void *bytes, size_t size)
{
    return message_post(follower->link, 0, kind, follower->run, bytes, size);
}

/* Hears, while a query runs, whether rank 0 still wants it: but for what an
 * exchange takes, nothing else comes that nobody waits for. For
 * vdbq_on_progress(). */
static bool goes_on(void *context, uint64_t done, uint64_t all)
{
    struct follower *follower = context;
    const struct vdbq_link *link = follower->link;
    struct rank_message message = { 0 };
    unsigned kind, run;
    size_t size;
    (void)done;
    (void)all;
    if (link->arrived(link->context, 0, &kind, &run, &size)
        && kind != MESSAGE_DATA && take(follower, 0, &kind, &run, &message))
        heed(follower, kind, run);
    memory_release(message.bytes);
    return !follower->stopped;
}

/* ----------------------------------------------------- for STEP_GATHER -- */

static enum vdbq_status follower_send(struct ranks *ranks, unsigned to,
                                      struct rank_message message,
                                      struct error *error)
{
    struct follower *follower = follower_of(ranks);
    const struct vdbq_link *link = follower->link;
    struct rank_clock clock = rank_start(ranks);
    unsigned naps = 0;
    while (link->pending(link->context) > WINDOW_BYTES
           && goes_on(follower, 0, 0))
        message_nap(&naps);
    rank_spend(ranks, RANK_WAIT, clock);
    if (follower->stopped) {
        memory_release(message.bytes);
        return error_cancelled(error);
    }
    return link->send(link->context, to, MESSAGE_DATA, follower->run,
                      message.bytes, message.size)
               ? VDBQ_OK
               : link_broken(to, error);
}

static enum vdbq_status follower_receive(struct ranks *ranks, unsigned from,
                                         struct rank_message *message,
                                         struct error *error)
{
    struct follower *follower = follower_of(ranks);
    unsigned kind, run;
    assert(from == 0);
    (void)from;
    *message = await(follower, &kind, &run);
    return message->bytes != NULL ? VDBQ_OK : error_cancelled(error);
}

static enum vdbq_status follower_poll(struct ranks *ranks, unsigned from,
                                      struct rank_message *message,
                                      struct error *error)
{
    struct follower *follower = follower_of(ranks);
    unsigned kind = MESSAGE_DATA, run;
    *message = (struct rank_message){ 0 };
    forget_past(follower);
    if (!goes_on(follower, 0, 0))
        return error_cancelled(error);
    if (!take(follower, from, &kind, &run, message))
        return message->size == 0 ? VDBQ_OK : link_broken(from, error);
    if (kind == MESSAGE_DATA)
        return VDBQ_OK;
    heed(follower, kind, run);
    memory_release(message->bytes);
    *message = (struct rank_message){ 0 };
    return follower->stopped ? error_cancelled(error)
                             : link_garbled(follower->link, from, error);
}

static bool follower_is_full(struct ranks *ranks)
{
    const struct vdbq_link *link = follower_of(ranks)->link;
    return link->pending(link->context) > WINDOW_BYTES;
}

static void follower_garbled(struct ranks *ranks, unsigned from)
{
    struct error ignored;
    link_garbled(follower_of(ranks)->link, from, &ignored);
}

/* ------------------------------------------------------------------ run -- */

/* Of several devices the ranks of a machine take one each, in turn. */
static enum vdbq_status take_device(struct follower *follower,
                                    struct settings *own)
{
    struct device_choices choices;
    enum vdbq_status status =
        device_choices_read(own->device, &choices, &follower->db->error);
    if (status == VDBQ_OK)
        strcpy(own->device,
               choices.texts[follower->link->local_rank % choices.count]);
    return status;
}

/* Takes rank 0's settings, but for what is this rank's own. */
static enum vdbq_status take_settings(struct follower *follower,
                                      const struct settings *settings)
{
    struct settings *own = &follower->db->options.settings;
    uint32_t cores = own->cores;
    *own = *settings;
    if (follower->params->device != NULL) {
        strcpy(own->device, follower->params->device);
        return VDBQ_OK;
    }
    own->cores = cores;
    return device_choice_is_several(own->device) ? take_device(follower, own)
                                                 : VDBQ_OK;
}

/* Makes the query of an order, and its plan for the state that is there now. */
static enum vdbq_status prepare(struct follower *follower,
                                const struct rank_message *message,
                                vdbq_query **query)
{
    vdbq *db = follower->db;
    if (!order_is_whole(message->bytes, message->size))
        return link_garbled(follower->link, 0, &db->error);
    const struct order *order = (const void *)message->bytes;
    const char *text = (const char *)(order + 1);
    follower->ranks.share_first = order->share_first;
    follower->ranks.share_end = order->share_end;
    db->probed_most = order->probed_most;
    db->changes = order->changes;
    enum vdbq_status status = take_settings(follower, &order->settings);
    if (status == VDBQ_OK)
        status =
            vdbq_prepare(db, text, (ptrdiff_t)order->text_bytes, query, NULL);
    if (status == VDBQ_OK)
        status = order_bind(*query, order,
                            (const uint8_t *)text + order->text_bytes);
    if (status != VDBQ_OK)
        return status;
    (*query)->settings = db->options.settings;
    (*query)->careful = order->careful != 0;
    (*query)->given = order->given;
    (*query)->now = order->now;
    status = session_begin(db);
    return status == VDBQ_OK ? query_snapshot(*query) : status;
}

/* Waits until rank 0 has heard that this rank is not as it wants it. */
static void await_stop(struct follower *follower)
{
    unsigned kind, run;
    while (!follower->stopped)
        memory_release(await(follower, &kind, &run).bytes);
}

/* Tells rank 0 what was made of its order; whether it is to be run. */
static bool tell_ready(struct follower *follower, enum vdbq_status status,
                       const struct order *order, const vdbq_query *query)
{
    struct ready ready = { 0 };
    if (status != VDBQ_OK)
        ready.error = follower->db->error;
    ready.error.status = status;
    if (status == VDBQ_OK) {
        ready.state = cluster_state(query->snapshot.catalogue);
        ready.generation = query->snapshot.catalogue->generation;
        ready.plan = cluster_plan(&query->plan.steps);
    }
    post(follower, MESSAGE_READY, &ready, sizeof ready);
    if (status == VDBQ_OK && ready.state == order->state
        && ready.plan == order->plan)
        return true;
    await_stop(follower);
    return false;
}

/* Runs this rank's share. */
static enum vdbq_status run_share(struct follower *follower, vdbq_query *query)
{
    struct vdbq_batch batch = { .rows = 1 };
    follower->ranks.begun = rank_now();
    enum vdbq_status status = query_stream(query);
    while (status == VDBQ_OK && batch.rows > 0)
        status = stream_batch(query->stream, &batch, &follower->db->error);
    return status;
}

/* Does what an order says. */
static void obey(struct follower *follower, const struct rank_message *message,
                 unsigned run)
{
    vdbq *db = follower->db;
    vdbq_query *query = NULL;
    struct end end = { 0 };
    struct vdbq_stats stats = { 0 };
    follower->run = run;
    follower->runs = true;
    follower->stopped = false;
    follower->ranks.cost = (struct rank_cost){ 0 };
    struct stop_work former = stop_enter(&db->stop);
    session_hear_cancel(db);
    enum vdbq_status status = prepare(follower, message, &query);
    if (tell_ready(follower, status, (const void *)message->bytes, query))
        status = run_share(follower, query);
    end.error = db->error;
    end.error.status = status;
    if (query != NULL) {
        query_end(query);
        stats = query->stats.sum;
    }
    stop_leave(former);
    vdbq_query_close(query);
    end.cost = follower->ranks.cost;
    end.stats = stats;
    post(follower, MESSAGE_END, &end, sizeof end);
    follower->runs = false;
}

/* --------------------------------------------------------------- follow -- */

static enum vdbq_status divide(vdbq_query *query,
                               const struct catalogue *catalogue)
{
    const struct follower *follower = follower_of_query(query);
    const struct divide_params params = {
        .catalogue = catalogue,
        .ranks = follower->link->ranks,
        .exchange = follower->params->device != NULL
                        ? EXCHANGE_OFF
                        : query->db->options.settings.exchange
    };
    return steps_divide(&query->plan.steps, &params, &query->division)
               ? VDBQ_OK
               : error_no_memory(&query->db->error);
}

static enum vdbq_status begin(vdbq_query *query)
{
    query->params.ranks = &follower_of_query(query)->ranks;
    return VDBQ_OK;
}

static void end(vdbq_query *query)
{
    query->params.ranks = NULL;
}

static void explain(const vdbq_query *query, struct text *lines)
{
    (void)query;
    (void)lines;
}

static struct hello own_hello(const struct follower *follower)
{
    struct hello hello = hello_of_this();
    snprintf(hello.host, sizeof hello.host, "%s", follower->link->host);
    return hello;
}

/* Waits for rank 0's greeting. Of another build, only the hello of the answer is
 * to be read. False: there is none, the process is to end. */
static bool is_greeted(struct follower *follower, struct greeting *greeting)
{
    struct hello own = own_hello(follower);
    unsigned kind, run;
    struct rank_message message = await(follower, &kind, &run);
    bool greeted = kind == MESSAGE_HELLO;
    if (greeted && message.size == sizeof *greeting
        && hello_is_ours(message.bytes, message.size))
        memcpy(greeting, message.bytes, sizeof *greeting);
    else if (greeted) {
        post(follower, MESSAGE_HELLO, &own, sizeof own);
        greeted = false;
    }
    memory_release(message.bytes);
    return greeted;
}

/* Tells rank 0 whether the database is open, and what is in it. */
static void welcome(struct follower *follower, enum vdbq_status status,
                    const char *device)
{
    vdbq *db = follower->db;
    struct welcome welcome = { .hello = own_hello(follower) };
    struct text message = { 0 };
    if (status != VDBQ_OK && db != NULL)
        welcome.error = db->error;
    welcome.error.status = status;
    welcome.cores = db != NULL ? host_threads(db, &db->options.settings) : 0;
    if (status == VDBQ_OK && follower->params->device != NULL)
        welcome.probed_most = session_probed_most(db);
    snprintf(welcome.device, sizeof welcome.device, "%s", device);
    text_add(&message, (const char *)&welcome, sizeof welcome);
    if (status == VDBQ_OK && follower->params->device == NULL)
        greet_sees(db, &message);
    post(follower, MESSAGE_HELLO, message.bytes,
         message.failed ? 0 : message.length);
    text_finish(&message);
}

static void work(struct follower *follower)
{
    while (!follower->dismissed) {
        unsigned kind, run;
        struct rank_message message = await(follower, &kind, &run);
        if (kind == MESSAGE_RUN && message.bytes != NULL)
            obey(follower, &message, run);
        memory_release(message.bytes);
    }
}

/* The cores of this machine that are the rank's. */
static unsigned share_of(const struct vdbq_link *link)
{
    unsigned ranks = link->local_ranks > 0 ? link->local_ranks : 1;
    return link->cores > ranks ? link->cores / ranks : 1;
}

/* Opens the database, and the device that is this rank's own, or that rank 0's
 * settings name. */
static enum vdbq_status open_own(struct follower *follower,
                                 const struct settings *settings, char *device)
{
    const struct follow_params *params = follower->params;
    enum vdbq_status status = vdbq_open(
        params->path, VDBQ_OPEN_READ_ONLY | params->flags, &follower->db);
    if (status != VDBQ_OK)
        return status;
    database_own_part(follower->db->database, follower->link->rank);
    status = database_join_parts(follower->db->database, &follower->db->error);
    if (status != VDBQ_OK)
        return status;
    follower->db->cluster = &follower->calls;
    follower->db->sharers = params->sharers;
    vdbq_on_progress(follower->db, goes_on, follower);
    if (params->device == NULL)
        follower->db->options.settings.cores = params->cores;
    status = take_settings(follower, settings);
    if (status != VDBQ_OK)
        return status;
    return params->device == NULL ? greet_device(follower->db, device)
                                  : vdbq_device_open(follower->db);
}

enum vdbq_status rank_follow(const struct vdbq_link *link,
                             const struct follow_params *params)
{
    struct follower follower = { .link = link, .params = params };
    follower.ranks = (struct ranks){ .rank = link->rank,
                                     .count = link->ranks,
                                     .send = follower_send,
                                     .receive = follower_receive,
                                     .poll = follower_poll,
                                     .is_full = follower_is_full,
                                     .nap = message_nap,
                                     .garbled = follower_garbled };
    follower.calls = (struct session_cluster){ .divide = divide,
                                               .begin = begin,
                                               .end = end,
                                               .explain = explain,
                                               .follows = true };
    struct greeting greeting;
    char device[DEVICE_BYTES_MAX] = "";
    if (!is_greeted(&follower, &greeting))
        return VDBQ_OK;
    enum vdbq_status status = open_own(&follower, &greeting.settings, device);
    welcome(&follower, status, device);
    work(&follower);
    vdbq_close(follower.db);
    return status;
}

enum vdbq_status vdbq_cluster_follow(const struct vdbq_link *link,
                                     const char *path, unsigned flags,
                                     unsigned cores)
{
    if (link == NULL || link->rank == 0 || path == NULL)
        return VDBQ_MISUSE;
    const struct follow_params params = {
        .path = path,
        .flags = flags & ~(unsigned)VDBQ_OPEN_CREATE,
        .cores = cores > 0 ? cores : share_of(link),
    };
    return rank_follow(link, &params);
}
