/* SPDX-License-Identifier: MIT */
/*
 * Who reads or writes the database's file, for programs to list.
 */
#include "api/session.h"
#include "data/database/users.h"

/* Puts what was found in the place of what vdbq_connections() found before. */
static enum vdbq_status find(vdbq *db)
{
    db->users.count = 0;
    return database_users(db->database, &db->users, &db->error);
}

unsigned vdbq_connections(vdbq *db)
{
    enum vdbq_status status = session_begin(db);
    if (db == NULL)
        return 0;
    if (status == VDBQ_OK)
        status = find(db);
    session_report(db, status, NULL, 0);
    return status == VDBQ_OK ? (unsigned)db->users.count : 0;
}

static double seconds_since(uint64_t since_ms)
{
    uint64_t now_ms = (uint64_t)os_clock_us() / 1000;
    return since_ms == 0 || since_ms > now_ms
               ? 0
               : (double)(now_ms - since_ms) / 1000;
}

const struct vdbq_connection *vdbq_connection(vdbq *db, unsigned number)
{
    if (db == NULL || number >= db->users.count)
        return NULL;
    const struct database_user *user = vector_at(&db->users, number);
    db->user_name[0] = '\0';
    if (user->process != 0)
        os_process_name(user->process, db->user_name);
    db->user = (struct vdbq_connection){
        .process = user->process,
        .program = db->user_name,
        .own = user->own,
        .writes = user->writes,
        .state = user->generation,
        .newer_states = user->behind,
        .seconds = seconds_since(user->since_ms),
    };
    return &db->user;
}
