/* SPDX-License-Identifier: MIT */
/*
 * Rank 0: has the other ranks run its queries, and hears what came of it. One
 * query at a time is run by all; another one that is open meanwhile is rank 0's
 * alone, which a divided plan is good for, too.
 */
#include <assert.h>
#include <string.h>
#include <time.h>

#include "base/os/os.h"
#include "cluster/divide/divide.h"
#include "cluster/leader.h"
#include "cluster/order.h"

enum {
    STATE_TRIES = 20,       /* to agree on a state with the other ranks ...   */
    STATE_NAP_NS = 50000000 /* ... so far apart: a network file system may
                               take a second to show a commit            */
};

static struct leader *leader_of(const struct ranks *ranks)
{
    return (struct leader *)((char *)ranks - offsetof(struct leader, ranks));
}

/* ------------------------------------------------------------ messages -- */

static enum vdbq_status post(struct leader *leader, unsigned to,
                             enum message_kind kind, const void *bytes,
                             size_t size, struct error *error)
{
    return message_post(leader->link, to, kind, leader->run, bytes, size)
               ? VDBQ_OK
               : link_broken(to, error);
}

enum vdbq_status leader_await(struct leader *leader, unsigned from, bool heeds,
                              unsigned *kind, struct rank_message *message,
                              struct error *error)
{
    const struct vdbq_link *link = leader->link;
    unsigned naps = 0, run;
    size_t size = 0;
    *message = (struct rank_message){ 0 };
    while (!link->arrived(link->context, from, kind, &run, &size)) {
        if (heeds && stop_asked())
            return error_cancelled(error);
        message_wait(link, from, WAIT_HEEDING_MS, &naps);
    }
    message->bytes = memory_zeroed(size + 1, 1);
    message->size = size;
    if (message->bytes == NULL)
        return error_no_memory(error);
    return link->receive(link->context, from, message->bytes, size)
               ? VDBQ_OK
               : link_broken(from, error);
}

/* Waits for one struct of a rank. */
static enum vdbq_status await_struct(struct leader *leader, unsigned from,
                                     enum message_kind wanted, void *into,
                                     size_t size, struct error *error)
{
    struct rank_message message;
    unsigned kind;
    enum vdbq_status status =
        leader_await(leader, from, false, &kind, &message, error);
    if (status == VDBQ_OK && (kind != wanted || message.size != size))
        status = link_garbled(leader->link, from, error);
    if (status == VDBQ_OK)
        memcpy(into, message.bytes, size);
    memory_release(message.bytes);
    return status;
}

/* Notes that a rank has ended its run. */
static void note_end(struct leader *leader, unsigned rank,
                     const struct rank_message *message)
{
    struct member *member = &leader->members[rank];
    member->ended = true;
    if (message->size == sizeof member->end)
        memcpy(&member->end, message->bytes, sizeof member->end);
    else
        member->end.error.status =
            link_garbled(leader->link, rank, &member->end.error);
}

/* ---------------------------------------------------- for STEP_GATHER -- */

static enum vdbq_status leader_send(struct ranks *ranks, unsigned to,
                                    struct rank_message message,
                                    struct error *error)
{
    struct leader *leader = leader_of(ranks);
    return leader->link->send(leader->link->context, to, MESSAGE_DATA,
                              leader->run, message.bytes, message.size)
               ? VDBQ_OK
               : link_broken(to, error);
}

/* What a rank that has ended ended with. */
static enum vdbq_status end_of(const struct member *member, struct error *error)
{
    if (member->end.error.status == VDBQ_OK)
        return VDBQ_OK;
    *error = member->end.error;
    return error->status;
}

static enum vdbq_status leader_receive(struct ranks *ranks, unsigned from,
                                       struct rank_message *message,
                                       struct error *error)
{
    struct leader *leader = leader_of(ranks);
    struct member *member = &leader->members[from];
    unsigned kind = MESSAGE_END;
    enum vdbq_status status = VDBQ_OK;
    *message = (struct rank_message){ 0 };
    if (member->ended)
        return end_of(member, error);
    status = leader_await(leader, from, true, &kind, message, error);
    if (status == VDBQ_OK && kind != MESSAGE_END)
        return VDBQ_OK;
    if (status == VDBQ_OK) {
        note_end(leader, from, message);
        status = end_of(member, error);
    }
    memory_release(message->bytes);
    *message = (struct rank_message){ 0 };
    return status;
}

/* For STEP_EXCHANGE, in which no rank ends but one that fails. */
static enum vdbq_status leader_poll(struct ranks *ranks, unsigned from,
                                    struct rank_message *message,
                                    struct error *error)
{
    struct leader *leader = leader_of(ranks);
    const struct vdbq_link *link = leader->link;
    unsigned kind, run;
    size_t size;
    *message = (struct rank_message){ 0 };
    if (stop_asked())
        return error_cancelled(error);
    if (!leader->members[from].ended
        && !link->arrived(link->context, from, &kind, &run, &size))
        return VDBQ_OK;
    enum vdbq_status status = leader_receive(ranks, from, message, error);
    return status != VDBQ_OK || message->bytes != NULL
               ? status
               : link_garbled(link, from, error);
}

static bool leader_is_full(struct ranks *ranks)
{
    const struct vdbq_link *link = leader_of(ranks)->link;
    return link->pending(link->context) > WINDOW_BYTES;
}

static void leader_garbled(struct ranks *ranks, unsigned from)
{
    struct error ignored;
    link_garbled(leader_of(ranks)->link, from, &ignored);
}

/* ---------------------------------------------------------------- begin -- */

/* Has all ranks get ready for the query. */
static enum vdbq_status call_ranks(struct leader *leader, vdbq_query *query,
                                   struct error *error)
{
    size_t size;
    uint8_t *order = order_make(query, &size);
    enum vdbq_status status = order != NULL ? VDBQ_OK : error_no_memory(error);
    leader->run = (leader->run + 1) % MESSAGE_RUNS;
    for (unsigned r = 1; status == VDBQ_OK && r < leader->link->ranks; r++) {
        leader->members[r].ended = false;
        leader->members[r].end = (struct end){ 0 };
        order_share(order, leader->shares.first[r],
                    leader->shares.first[r + 1]);
        status = post(leader, r, MESSAGE_RUN, order, size, error);
    }
    memory_release(order);
    for (unsigned r = 1; status == VDBQ_OK && r < leader->link->ranks; r++)
        status =
            await_struct(leader, r, MESSAGE_READY, &leader->members[r].ready,
                         sizeof leader->members[r].ready, error);
    return status;
}

/* Ends the run on all ranks: what still comes of it is thrown away. */
static void end_run(struct leader *leader)
{
    struct error ignored;
    for (unsigned r = 1; r < leader->link->ranks; r++)
        if (!leader->members[r].ended)
            post(leader, r, MESSAGE_STOP, NULL, 0, &ignored);
    for (unsigned r = 1; r < leader->link->ranks; r++)
        while (!leader->members[r].ended) {
            struct rank_message message;
            unsigned kind;
            if (leader_await(leader, r, false, &kind, &message, &ignored)
                    == VDBQ_OK
                && kind == MESSAGE_END)
                note_end(leader, r, &message);
            memory_release(message.bytes);
        }
}

/* Another rank reads another state of the file. */
static enum vdbq_status other_state(const struct leader *leader, unsigned rank,
                                    const vdbq_query *query,
                                    struct error *error)
{
    error_set(error, VDBQ_BUSY,
              "rank %u (%s) sees another state of the database: that of "
              "commit %llu, rank 0 that of %llu",
              rank, leader->members[rank].host,
              (unsigned long long)leader->members[rank].ready.generation,
              (unsigned long long)query->snapshot.catalogue->generation);
    return error_hint(error, "all ranks must see one file: copies of it, or a "
                             "network file system that shows commits late, "
                             "will not do");
}

/* Whether all ranks are ready; `*again`: a newer state may make them so. */
static enum vdbq_status check_ready(const struct leader *leader,
                                    const vdbq_query *query, bool *again,
                                    struct error *error)
{
    uint64_t state = cluster_state(query->snapshot.catalogue);
    uint64_t plan = cluster_plan(&query->plan.steps);
    *again = false;
    for (unsigned r = 1; r < leader->link->ranks; r++)
        if (leader->members[r].ready.error.status == VDBQ_OK
            && leader->members[r].ready.state != state) {
            *again = true;
            return other_state(leader, r, query, error);
        }
    for (unsigned r = 1; r < leader->link->ranks; r++) {
        const struct ready *ready = &leader->members[r].ready;
        if (ready->error.status != VDBQ_OK) {
            *error = ready->error;
            return error->status;
        }
        if (ready->plan != plan) {
            error_set(error, VDBQ_MISUSE,
                      "rank %u (%s) plans the query otherwise than rank 0", r,
                      leader->members[r].host);
            return error_hint(error, "ranks must have the same settings and "
                                     "devices");
        }
    }
    return VDBQ_OK;
}

/* Opens a newer state, and plans for it. */
static enum vdbq_status open_newer(struct leader *leader, vdbq_query *query)
{
    const struct timespec time = { .tv_nsec = STATE_NAP_NS };
    nanosleep(&time, NULL);
    error_clear(&leader->db->error);
    snapshot_close(&query->snapshot);
    query->snapshot = (struct snapshot){ 0 };
    enum vdbq_status status = stop_pause(&leader->db->error);
    return status == VDBQ_OK ? query_snapshot(query) : status;
}

/* Agrees with all ranks on a state and a plan, which may become one that rank 0
 * runs alone. A run that has given rows reads one state. */
static enum vdbq_status agree(struct leader *leader, vdbq_query *query)
{
    struct error *error = &leader->db->error;
    enum vdbq_status status = VDBQ_OK;
    bool again = true;
    const unsigned tries = leader->params.devices ? 1 : STATE_TRIES;
    for (unsigned i = 0; again; i++) {
        status = call_ranks(leader, query, error);
        again = false;
        if (status == VDBQ_OK)
            status = check_ready(leader, query, &again, error);
        again &= i < tries && query->given == 0;
        if (status != VDBQ_OK) {
            struct error kept = *error;
            end_run(leader);
            *error = kept;
        }
        if (again)
            status = open_newer(leader, query);
        again &= status == VDBQ_OK && query->division.gather >= 0;
    }
    return status;
}

/* Devices of one process see what it commits at once; another process that commits
 * all the time is not waited for. */
static bool is_for_first(const struct leader *leader, enum vdbq_status status)
{
    return leader->params.devices && status == VDBQ_BUSY;
}

static enum vdbq_status begin(vdbq_query *query)
{
    struct leader *leader = leader_of_query(query);
    query->division.now =
        leader->running != NULL ? "the others run another query" : NULL;
    if (query->division.now != NULL)
        return VDBQ_OK;
    leader->ranks.cost = (struct rank_cost){ 0 };
    leader->ranks.share_end = leader->shares.first[1];
    leader->ran = 0;
    enum vdbq_status status = agree(leader, query);
    if (is_for_first(leader, status)) {
        error_clear(&leader->db->error);
        query->division.now = "the others see another state of the database";
        return VDBQ_OK;
    }
    if (status != VDBQ_OK || query->division.gather < 0)
        return status;
    leader->running = query;
    leader->ran = leader->link->ranks;
    leader->ranks.begun = rank_now();
    query->params.ranks = &leader->ranks;
    return VDBQ_OK;
}

static void end(vdbq_query *query)
{
    struct leader *leader = leader_of_query(query);
    if (leader->running != query)
        return;
    leader->members[0].end.stats = query->stats.sum;
    rank_spend_run(&leader->ranks, RANK_REST);
    end_run(leader);
    leader_learn(leader);
    leader_add(leader, &query->stats.sum);
    leader->running = NULL;
    query->params.ranks = NULL;
}

/* --------------------------------------------------------------- divide -- */

/* Why a statement is rank 0's alone, whatever its steps; NULL: it is not. */
static const char *why_alone(const vdbq_query *query)
{
    if (query->statement == NULL)
        return "a program is run";
    if (query->plan.kind != PLAN_SELECT)
        return "it changes the database";
    if (query->db->transaction != NULL)
        return "a transaction is open";
    if (query->files.database != NULL)
        return "it reads files";
    if (query->beside.database != NULL)
        return "this connection has temporary tables";
    for (unsigned i = 0; i < query_parameter_count(query); i++)
        if (query->parameters[i].array != NULL)
            return "a parameter is a list";
    return NULL;
}

/* For the other ranks, too: what was divided for rank 0 is so for them. */
static enum vdbq_status divide(vdbq_query *query,
                               const struct catalogue *catalogue)
{
    struct leader *leader = leader_of_query(query);
    query->division.alone =
        leader->params.alone != NULL ? leader->params.alone : why_alone(query);
    if (query->division.alone != NULL
        || steps_divide(
            &query->plan.steps,
            &(struct divide_params){
                .catalogue = catalogue,
                .ranks = leader->link->ranks,
                .exchange = leader->params.devices
                                ? EXCHANGE_OFF
                                : query->db->options.settings.exchange },
            &query->division))
        return VDBQ_OK;
    return error_no_memory(&query->db->error);
}

/* ----------------------------------------------------------------- lead -- */

/* Queries that were planned for the ranks are nobody's any more. */
static void close_leader(struct session_object *object)
{
    struct leader *leader = (struct leader *)object;
    if (leader->running != NULL)
        query_end(leader->running);
    for (vdbq_query *query = leader->db->queries; query != NULL;
         query = query->next)
        if (query->cluster == &leader->calls) {
            query->cluster = NULL;
            query->replan = true;
        }
    if (leader->db->cluster == &leader->calls)
        leader->db->cluster = NULL;
    shares_finish(&leader->shares);
    memory_release(leader->runs);
    memory_release(leader->members);
    session_destroy(object);
}

/* Greets the others, if there are any. */
static enum vdbq_status lead(struct leader *leader, struct error *error)
{
    const struct vdbq_link *link = leader->link;
    leader->members = memory_zeroed(link->ranks, sizeof *leader->members);
    leader->runs = memory_zeroed(link->ranks, sizeof *leader->runs);
    if (leader->members == NULL || leader->runs == NULL
        || !shares_init(&leader->shares, link->ranks))
        return error_no_memory(error);
    leader->members[0].cores =
        host_threads(leader->db, &leader->db->options.settings);
    strncpy(leader->members[0].host, link->host, HOST_BYTES_MAX - 1);
    return leader->params.alone == NULL ? leader_greet(leader, error) : VDBQ_OK;
}

uint64_t rank_probed_most(const struct session_cluster *calls)
{
    const struct leader *leader =
        (const struct leader *)((const char *)calls
                                - offsetof(struct leader, calls));
    uint64_t least = session_probed_most(leader->db);
    for (unsigned r = 1;
         leader->params.alone == NULL && r < leader->link->ranks; r++)
        if (leader->members[r].probed_most < least)
            least = leader->members[r].probed_most;
    return least;
}

enum vdbq_status rank_lead(vdbq *db, const struct vdbq_link *link,
                           const struct lead_params *params,
                           struct session_cluster **calls)
{
    void *made = NULL;
    enum vdbq_status status =
        session_create(db, sizeof(struct leader), close_leader, &made);
    if (status != VDBQ_OK)
        return status;
    struct leader *leader = made;
    leader->db = db;
    leader->link = link;
    leader->params = *params;
    leader->ranks = (struct ranks){ .count = link->ranks,
                                    .send = leader_send,
                                    .receive = leader_receive,
                                    .poll = leader_poll,
                                    .is_full = leader_is_full,
                                    .nap = message_nap,
                                    .garbled = leader_garbled };
    leader->calls = (struct session_cluster){
        .divide = divide, .begin = begin, .end = end, .explain = leader_explain
    };
    status = lead(leader, &db->error);
    if (status != VDBQ_OK)
        close_leader(&leader->head);
    else
        *calls = &leader->calls;
    return status;
}

/* A database that no other process sees. */
static enum vdbq_status in_memory(struct error *error)
{
    error_set(error, VDBQ_MISUSE,
              "a database in memory is of one process alone");
    return error_hint(error, "ranks share a file: vdbq --cluster FILE");
}

enum vdbq_status vdbq_cluster_lead(vdbq *db, const struct vdbq_link *link)
{
    if (db == NULL || link == NULL || link->rank != 0)
        return session_misuse(db, "the link of rank 0");
    enum vdbq_status status = session_begin(db);
    if (status == VDBQ_OK && session_in_memory(db))
        status = in_memory(&db->error);
    if (status == VDBQ_OK)
        status = leader_check_parts(db, link);
    if (status == VDBQ_OK) {
        database_own_part(db->database, link->rank);
        status = database_join_parts(db->database, &db->error);
    }
    if (status == VDBQ_OK)
        status = rank_lead(db, link, &(struct lead_params){ 0 }, &db->cluster);
    for (vdbq_query *query = db->queries; query != NULL; query = query->next)
        query->replan = true;
    return session_report(db, status, NULL, 0);
}

void vdbq_cluster_dismiss(const struct vdbq_link *link)
{
    unsigned naps = 0;
    for (unsigned r = 1; link != NULL && link->rank == 0 && r < link->ranks;
         r++)
        message_post(link, r, MESSAGE_QUIT, 0, NULL, 0);
    while (link != NULL && link->pending(link->context) > 0)
        message_nap(&naps);
}
