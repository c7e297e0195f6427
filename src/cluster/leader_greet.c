/* SPDX-License-Identifier: MIT */
/*
 * Rank 0 greets the others: one of another build, with another device, or that
 * sees other tables is refused before it is asked for anything.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cluster/leader.h"

enum { STATEMENT_SHOWN = 90 }; /* bytes of it in an error */

static enum vdbq_status other_build(const struct rank_message *message,
                                    unsigned rank, struct error *error)
{
    struct hello own = hello_of_this(), other;
    memcpy(&other, message->bytes, sizeof other);
    error_set(error, VDBQ_MISUSE,
              "rank %u (%.63s) runs another build: vdbq %.31s (%016" PRIx64
              "), rank 0 vdbq %s (%016" PRIx64 ")",
              rank, other.host, other.version, other.build, own.version,
              own.build);
    return error_hint(error, "all ranks must be started from one build");
}

/* Whether a rank has opened the database and the device. */
static enum vdbq_status check_open(const struct leader *leader,
                                   const struct welcome *welcome, unsigned rank,
                                   struct error *error)
{
    if (welcome->error.status == VDBQ_OK)
        return VDBQ_OK;
    if (leader->params.devices) {
        *error = welcome->error; /* which names the device */
        return error->status;
    }
    error_set(error, welcome->error.status, "rank %u (%s): %s", rank,
              welcome->hello.host, welcome->error.message);
    return error_hint(error, "%s", welcome->error.hint);
}

static enum vdbq_status check_device(const char *device,
                                     const struct welcome *welcome,
                                     unsigned rank, struct error *error)
{
    if (device[0] == '\0' || welcome->device[0] == '\0'
        || strcmp(device, welcome->device) == 0)
        return VDBQ_OK;
    error_set(error, VDBQ_DEVICE, "rank %u (%s) runs on %s, rank 0 on %s", rank,
              welcome->hello.host, welcome->device, device);
    return error_hint(error, "name a device (--device) that the machines of "
                             "all ranks have");
}

/* What rank 0 is and sees itself. */
struct own {
    char device[DEVICE_BYTES_MAX];
    struct text sees;
    bool sees_change; /* while ranks look: who sees what cannot be compared */
};

static const char *shown(const char *statement)
{
    return statement != NULL ? statement : "no more tables";
}

/* Whether a rank sees the tables and views that rank 0 sees. */
static enum vdbq_status check_sees(const struct own *own,
                                   const struct rank_message *message,
                                   unsigned rank, struct error *error)
{
    const struct welcome *welcome = (const void *)message->bytes;
    const struct sight here = { own->sees.bytes, own->sees.length };
    const struct sight there = { (const char *)(welcome + 1),
                                 message->size - sizeof *welcome };
    const char *one, *other;
    if (own->sees_change || !greet_differ(here, there, &one, &other))
        return VDBQ_OK;
    error_set(error, VDBQ_MISUSE, "rank %u (%s) sees %.*s, rank 0 %.*s", rank,
              welcome->hello.host, STATEMENT_SHOWN, shown(other),
              STATEMENT_SHOWN, shown(one));
    return error_hint(error, "all ranks must open the same file");
}

/* Whether a rank is like rank 0. */
static enum vdbq_status check(struct leader *leader, const struct own *own,
                              const struct rank_message *message, unsigned rank,
                              struct error *error)
{
    const struct welcome *welcome = (const void *)message->bytes;
    if (message->size >= sizeof(struct hello)
        && !hello_is_ours(message->bytes, message->size))
        return other_build(message, rank, error);
    if (!welcome_is_whole(message->bytes, message->size))
        return link_garbled(leader->link, rank, error);
    enum vdbq_status status = check_open(leader, welcome, rank, error);
    if (status == VDBQ_OK)
        status = check_device(own->device, welcome, rank, error);
    return status == VDBQ_OK && !leader->params.devices
               ? check_sees(own, message, rank, error)
               : status;
}

static void take_welcome(struct leader *leader, unsigned rank,
                         const struct rank_message *message)
{
    const struct welcome *welcome = (const void *)message->bytes;
    struct member *member = &leader->members[rank];
    memcpy(member->host, welcome->hello.host, sizeof member->host);
    member->cores = welcome->cores;
    member->probed_most = welcome->probed_most;
}

/* Sends all others a greeting. */
static enum vdbq_status send_greetings(struct leader *leader,
                                       struct error *error)
{
    const struct vdbq_link *link = leader->link;
    const struct greeting greeting = { .hello = hello_of_this(),
                                       .settings =
                                           leader->db->options.settings };
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 1; status == VDBQ_OK && r < link->ranks; r++)
        if (!message_post(link, r, MESSAGE_HELLO, leader->run, &greeting,
                          sizeof greeting))
            status = link_broken(r, error);
    return status;
}

/* Waits for all answers. */
static enum vdbq_status await_welcomes(struct leader *leader,
                                       struct rank_message *messages,
                                       struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    unsigned kind;
    for (unsigned r = 1; status == VDBQ_OK && r < leader->link->ranks; r++) {
        status = leader_await(leader, r, false, &kind, &messages[r], error);
        if (status == VDBQ_OK && kind != MESSAGE_HELLO)
            status = link_garbled(leader->link, r, error);
    }
    return status;
}

/* Compares all with rank 0: the first one that differs is told. */
static enum vdbq_status compare(struct leader *leader, const struct own *own,
                                const struct rank_message *messages,
                                struct error *error)
{
    enum vdbq_status status = VDBQ_OK;
    for (unsigned r = 1; status == VDBQ_OK && r < leader->link->ranks; r++) {
        status = check(leader, own, &messages[r], r, error);
        if (status == VDBQ_OK)
            take_welcome(leader, r, &messages[r]);
    }
    return status;
}

/* What rank 0 sees, before the others look and after that. */
static void look_again(struct leader *leader, struct own *own)
{
    struct text again = { 0 };
    greet_sees(leader->db, &again);
    own->sees_change =
        own->sees.failed || again.failed || own->sees.length != again.length
        || (again.length > 0
            && memcmp(own->sees.bytes, again.bytes, again.length) != 0);
    text_finish(&again);
}

enum vdbq_status leader_greet(struct leader *leader, struct error *error)
{
    struct own own = { .device = "" };
    struct rank_message *messages =
        memory_zeroed(leader->link->ranks, sizeof *messages);
    enum vdbq_status status =
        messages == NULL ? error_no_memory(error) : VDBQ_OK;
    if (status == VDBQ_OK && !leader->params.devices) {
        greet_sees(leader->db, &own.sees);
        status = greet_device(leader->db, own.device);
    }
    if (status == VDBQ_OK)
        status = send_greetings(leader, error);
    if (status == VDBQ_OK)
        status = await_welcomes(leader, messages, error);
    if (status == VDBQ_OK && !leader->params.devices)
        look_again(leader, &own);
    if (status == VDBQ_OK)
        status = compare(leader, &own, messages, error);
    for (unsigned r = 0; messages != NULL && r < leader->link->ranks; r++)
        memory_release(messages[r].bytes);
    memory_release(messages);
    text_finish(&own.sees);
    return status;
}

/* Whether as many ranks are there as the database has parts. */
enum vdbq_status leader_check_parts(vdbq *db, const struct vdbq_link *link)
{
    uint64_t number;
    const unsigned parts = database_parts(db->database, &number);
    if (parts == 0 || parts == link->ranks)
        return VDBQ_OK;
    error_set(&db->error, VDBQ_MISUSE,
              "%s has %u parts, but the number of ranks is %u",
              database_path(db->database), parts, link->ranks);
    return error_hint(&db->error, "mpirun -n %u vdbq --cluster FOLDER", parts);
}
