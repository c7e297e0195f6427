/* SPDX-License-Identifier: MIT */
/*
 * Crews: several devices of one process run queries together. Each is a rank:
 * rank 0 is the connection itself with the first device, and each other device
 * has a thread with a connection of its own to the same file, so that nothing is
 * shared but messages (memory_link.h). Crews stay until the connection is closed,
 * as stations do, since queries may run on one while the options change.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/threads/parallel.h"
#include "cluster/member.h"
#include "cluster/memory_link.h"
#include "device/several.h"

/* A device but the first. */
struct hand {
    const struct vdbq_link *link;
    struct follow_params params;
    pthread_t thread;
};

struct crew {
    struct session_object head;     /* first */
    char wanted[SETTING_BYTES_MAX]; /* the choice that it is for            */
    struct device_choices choices;
    struct session_cluster *calls; /* NULL: the choice is one device        */
    struct memory_links *links;
    struct hand hands[DEVICES_MAX]; /* by rank, from 1 on                   */
    unsigned hands_started;
    uint64_t probed_most; /* as of struct vdbq; 0: not known yet */
};

static void *work(void *context)
{
    struct hand *hand = context;
    rank_follow(hand->link, &hand->params);
    return NULL;
}

/* The leader is a newer object of the connection, and closed already. */
static void close_crew(struct session_object *object)
{
    struct crew *crew = (struct crew *)object;
    if (crew->links != NULL)
        vdbq_cluster_dismiss(memory_link(crew->links, 0));
    for (unsigned i = 0; i < crew->hands_started; i++)
        pthread_join(crew->hands[i + 1].thread, NULL);
    memory_links_destroy(crew->links);
    session_destroy(object);
}

static struct crew *find_crew(const vdbq *db, const char *wanted)
{
    for (struct session_object *at = db->objects; at != NULL; at = at->next)
        if (at->close == close_crew
            && strcmp(((struct crew *)at)->wanted, wanted) == 0)
            return (struct crew *)at;
    return NULL;
}

/* Starts a thread for each device but the first. */
static enum vdbq_status start_hands(struct crew *crew, vdbq *db)
{
    const char *path = database_path(db->database);
    for (unsigned r = 1; r < crew->choices.count; r++) {
        struct hand *hand = &crew->hands[r];
        *hand = (struct hand){
            .link = memory_link(crew->links, r),
            .params = { .path = path,
                        .device = crew->choices.texts[r],
                        .sharers = crew->choices.count },
        };
        if (parallel_start(&hand->thread, 1, work, hand) == 0)
            return error_no_memory(&db->error);
        crew->hands_started++;
    }
    return VDBQ_OK;
}

/* Why other devices cannot take part, whatever the query; NULL: they can. */
static const char *why_alone(const vdbq *db)
{
    return session_in_memory(db) ? "the database is in memory" : NULL;
}

static enum vdbq_status open_crew(struct crew *crew, vdbq *db)
{
    const char *names[DEVICES_MAX];
    struct lead_params params = { .alone = why_alone(db), .devices = true };
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 0; r < crew->choices.count; r++)
        names[r] = crew->choices.texts[r];
    crew->links = memory_links_create(crew->choices.count, names);
    if (crew->links == NULL)
        return error_no_memory(&db->error);
    if (params.alone == NULL)
        status = start_hands(crew, db);
    return status == VDBQ_OK ? rank_lead(db, memory_link(crew->links, 0),
                                         &params, &crew->calls)
                             : status;
}

/* Makes the crew of the connection's options; it is kept if it is open. */
static enum vdbq_status make_crew(vdbq *db, struct crew **crew)
{
    void *made = NULL;
    enum vdbq_status status =
        session_create(db, sizeof(struct crew), close_crew, &made);
    if (status != VDBQ_OK)
        return status;
    *crew = made;
    strcpy((*crew)->wanted, db->options.settings.device);
    status =
        device_choices_read((*crew)->wanted, &(*crew)->choices, &db->error);
    if (status == VDBQ_OK && (*crew)->choices.count > 1)
        status = open_crew(*crew, db);
    if (status != VDBQ_OK)
        close_crew(&(*crew)->head);
    return status;
}

static enum vdbq_status crew_of(vdbq *db, struct session_cluster **cluster)
{
    const char *wanted = db->options.settings.device;
    struct crew *crew = NULL;
    enum vdbq_status status = VDBQ_OK;
    *cluster = NULL;
    db->sharers = 0;
    db->probed_most = 0;
    if (!device_choice_is_several(wanted))
        return VDBQ_OK;
    crew = find_crew(db, wanted);
    if (crew == NULL)
        status = make_crew(db, &crew);
    if (status != VDBQ_OK)
        return status;
    *cluster = crew->calls;
    if (crew->calls == NULL)
        return VDBQ_OK;
    db->sharers = crew->choices.count;
    if (crew->probed_most == 0)
        crew->probed_most = rank_probed_most(crew->calls);
    db->probed_most = crew->probed_most;
    return VDBQ_OK;
}

__attribute__((constructor)) static void offer_crews(void)
{
    session_crew_finder = crew_of;
}
