/* SPDX-License-Identifier: MIT */
/*
 * The connection: open, close, its last failure, cancel.
 */
#include "api/vdbq.h"

#include <stdlib.h>
#include <string.h>

#include "api/alone/opener.h"
#include "api/query.h"
#include "api/session.h"
#include "base/slabs.h"
#include "data/database/users.h"
#include "data/file/part_files.h"
#include "data/index/run_cache.h"

/* --------------------------------------------------------- open, close -- */

static enum vdbq_status open_database(vdbq *db, const char *path,
                                      unsigned flags)
{
    const struct database_params params = session_params(db, path, flags);
    enum vdbq_status status =
        params.files == &part_files
            ? part_check(path, (flags & VDBQ_OPEN_READ_ONLY) != 0, &db->error)
            : VDBQ_OK;
    if (status != VDBQ_OK)
        return status;
    return database_open(&params, &db->database, &db->error);
}

/* What the data floor needs for the keys of indexes. */
static void open_keys(vdbq *db)
{
    database_use_runs(db->database, db->runs);
    database_use_computer(db->database, session_compute_keys, db);
}

enum vdbq_status vdbq_open(const char *path, unsigned flags, vdbq **db)
{
    if (db == NULL)
        return VDBQ_MISUSE;
    vdbq *made = *db = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return VDBQ_NO_MEMORY;
    opener_guard();
    made->process = os_process();
    made->users = VECTOR(struct database_user);
    made->faults = VECTOR(struct text);
    enum vdbq_status status = options_init(made);
    if (status == VDBQ_OK)
        status = open_database(made, path, flags);
    made->runs = run_cache_create(); /* or does without */
    if (status == VDBQ_OK)
        open_keys(made);
    return session_report(made, status, NULL, 0);
}

bool session_in_memory(const vdbq *db)
{
    return strcmp(database_path(db->database), ":memory:") == 0;
}

const char *vdbq_warning(const vdbq *db)
{
    return db != NULL && db->database != NULL ? database_warning(db->database)
                                              : "";
}

void vdbq_close(vdbq *db)
{
    if (db == NULL || session_is_inherited(db))
        return;
    while (db->objects != NULL)
        db->objects->close(db->objects);
    while (db->queries != NULL)
        vdbq_query_close(db->queries);
    vdbq_append_close(db->append);
    prepared_finish(&db->prepared);
    catalogue_release(db->schema);
    transaction_abort(db->transaction);
    vdbq_close(db->files);
    stations_close(db);
    if (db->database != NULL) {
        session_temporary_close(db);
        database_close(db->database);
    }
    run_cache_destroy(db->runs);
    text_finish(&db->source);
    text_finish(&db->schema_text);
    vector_finish(&db->users);
    session_forget_faults(db);
    vector_finish(&db->faults);
    memory_release(db);
    slabs_forget();
}

enum vdbq_status session_create(vdbq *db, size_t size,
                                void (*close)(struct session_object *object),
                                void **object)
{
    enum vdbq_status status = session_begin(db);
    if (status != VDBQ_OK)
        return session_report(db, status, NULL, 0);
    struct session_object *made = *object = memory_zeroed(1, size);
    if (made == NULL)
        return session_report(db, error_no_memory(&db->error), NULL, 0);
    made->close = close;
    made->next = db->objects;
    made->before = &db->objects;
    if (made->next != NULL)
        made->next->before = &made->next;
    db->objects = made;
    return VDBQ_OK;
}

void session_destroy(struct session_object *object)
{
    *object->before = object->next;
    if (object->next != NULL)
        object->next->before = object->before;
    memory_release(object);
}

void vdbq_cancel(vdbq *db)
{
    if (db != NULL)
        atomic_store(&db->stop.cancelled, true);
}

const char *vdbq_waits_for(const vdbq *db)
{
    return db != NULL ? db->stop.waits : NULL;
}

void vdbq_on_progress(vdbq *db, vdbq_progress progress, void *context)
{
    if (db == NULL)
        return;
    db->stop.progress = progress;
    db->stop.progress_context = context;
}

char *vdbq_devices(unsigned *devices)
{
    struct text text = { 0 };
    unsigned count = device_list(&text);
    if (devices != NULL)
        *devices = count;
    if (text.failed)
        text_finish(&text);
    return text.bytes;
}
