/* SPDX-License-Identifier: MIT */
/*
 * The connection: open, close, its last failure, cancel.
 */
#include "api/vdbq.h"

#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "api/session.h"
#include "base/type.h"

const char *vdbq_status_text(enum vdbq_status status)
{
    switch (status) {
#define STATUS_TEXT(name, number, text)                                        \
    case VDBQ_##name:                                                          \
        return text;
        VDBQ_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "an unknown status";
}

const char *vdbq_version(void)
{
    return VDBQ_VERSION;
}

const char *vdbq_type_name(enum vdbq_type type)
{
    static const char *const names[TYPES] = { "NONE",    "INTEGER",  "BIGINT",
                                              "FLOAT",   "DOUBLE",   "TEXT",
                                              "BOOLEAN", "SMALLINT", "DECIMAL",
                                              "DATE",    "TIMESTAMP" };
    return (unsigned)type < TYPES ? names[type] : names[0];
}

_Static_assert((int)VDBQ_VALUE_BYTES == (int)TYPE_TEXT_MAX, "room for values");

static bool is_type(enum vdbq_type type, unsigned precision, unsigned scale)
{
    return type > VDBQ_TYPE_NONE && (unsigned)type < TYPES
           && precision <= DECIMAL_DIGITS_MAX && scale <= DECIMAL_DIGITS_MAX;
}

size_t vdbq_value_print(enum vdbq_type type, unsigned scale, const void *value,
                        char *room)
{
    if (room == NULL)
        return 0;
    room[0] = '\0';
    if (value == NULL || type == VDBQ_TEXT || !is_type(type, 0, scale))
        return 0;
    return type_print(type, scale, value, room);
}

bool vdbq_value_parse(enum vdbq_type type, unsigned precision, unsigned scale,
                      const char *bytes, size_t length, void *value)
{
    if (value == NULL || (bytes == NULL && length > 0)
        || !is_type(type, precision, scale))
        return false;
    bytes = bytes ? bytes : "";
    if (type != VDBQ_TEXT)
        return type_parse(type, precision, scale, bytes, length, value);
    *(struct vdbq_text *)value = (struct vdbq_text){ bytes, length };
    return text_is_utf8(bytes, length);
}

/* --------------------------------------------------------- open, close -- */

static enum vdbq_status open_database(vdbq *db, const char *path,
                                      unsigned flags)
{
    bool in_memory =
        path == NULL || path[0] == '\0' || strcmp(path, ":memory:") == 0;
    struct database_params params = {
        .path = in_memory ? ":memory:" : path,
        .flags = in_memory ? flags | VDBQ_OPEN_CREATE : flags,
        .files = in_memory ? &os_memory_files : &os_files,
        .wait = { options_timeout(db), &db->cancelled },
    };
    return database_open(&params, &db->database, &db->error);
}

enum vdbq_status vdbq_open(const char *path, unsigned flags, vdbq **db)
{
    if (db == NULL)
        return VDBQ_MISUSE;
    vdbq *made = *db = memory_zeroed(1, sizeof *made);
    if (made == NULL)
        return VDBQ_NO_MEMORY;
    made->process = os_process();
    enum vdbq_status status = options_init(made);
    if (status == VDBQ_OK)
        status = open_database(made, path, flags);
    options_apply(made);
    return session_report(made, status, NULL, 0);
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
    while (db->queries != NULL)
        vdbq_query_close(db->queries);
    vdbq_append_close(db->append);
    snapshot_close(&db->schema);
    transaction_abort(db->transaction);
    vdbq_close(db->files);
    stations_close(db);
    if (db->database != NULL)
        database_close(db->database);
    text_finish(&db->source);
    text_finish(&db->schema_text);
    memory_release(db);
}

void vdbq_cancel(vdbq *db)
{
    if (db != NULL)
        atomic_store(&db->cancelled, true);
}

void vdbq_on_progress(vdbq *db, vdbq_progress progress, void *context)
{
    if (db == NULL)
        return;
    db->progress = progress;
    db->progress_context = context;
}

/* ------------------------------------------------------------- failure -- */

/* Copies line `number` of the text into `line`. */
static void copy_line(const char *sql, size_t length, unsigned number,
                      struct text *line)
{
    const char *end = sql + length;
    while (number > 1 && sql < end)
        number -= *sql++ == '\n';
    const char *stop = memchr(sql, '\n', (size_t)(end - sql));
    text_add(line, sql, (size_t)((stop ? stop : end) - sql));
}

enum vdbq_status session_report(vdbq *db, enum vdbq_status status,
                                const char *sql, size_t length)
{
    if (db == NULL)
        return status;
    struct error *error = &db->error;
    text_finish(&db->source);
    if (status == VDBQ_OK)
        error_clear(error);
    else if (error->line > 0 && sql != NULL)
        copy_line(sql, length, error->line, &db->source);
    db->report = (struct vdbq_error){
        .status = status,
        .message = error->message,
        .hint = error->hint,
        .line = error->line,
        .column = error->column,
        .source = db->source.bytes ? db->source.bytes : "",
    };
    return status;
}

void session_move(vdbq *db, const char *text, const char *start)
{
    unsigned lines = 0, column = 0;
    if (db->report.line == 0)
        return;
    for (; text < start; text++) {
        lines += *text == '\n';
        column = *text == '\n' ? 0 : column + 1;
    }
    if (db->report.line == 1)
        db->report.column += column;
    db->report.line += lines;
}

enum vdbq_status session_begin(vdbq *db)
{
    if (db == NULL)
        return VDBQ_MISUSE;
    error_clear(&db->error);
    if (session_is_inherited(db)) {
        error_set(&db->error, VDBQ_MISUSE,
                  "the connection is that of process "
                  "%d, which this one was forked from",
                  db->process);
        return error_hint(&db->error, "open another one here: devices, "
                                      "threads and locks stay with the parent");
    }
    if (db->database == NULL)
        return error_set(&db->error, VDBQ_MISUSE,
                         "the database could not be opened");
    return VDBQ_OK;
}

enum vdbq_status session_ended_by(vdbq *db, enum vdbq_status status)
{
    if (status != VDBQ_DEVICE || !atomic_load(&db->cancelled))
        return status;
    return error_cancelled(&db->error);
}

bool session_is_inherited(const vdbq *db)
{
    return db->process != os_process();
}

enum vdbq_status session_misuse(vdbq *db, const char *what)
{
    if (db == NULL)
        return VDBQ_MISUSE;
    error_clear(&db->error);
    error_set(&db->error, VDBQ_MISUSE, "%s is NULL", what);
    return session_report(db, VDBQ_MISUSE, NULL, 0);
}

const struct vdbq_error *vdbq_error(const vdbq *db)
{
    static const struct vdbq_error no_memory = { .status = VDBQ_NO_MEMORY,
                                                 .message = "out of memory",
                                                 .hint = "",
                                                 .source = "" };
    return db == NULL ? &no_memory : &db->report;
}

void vdbq_free(void *text)
{
    memory_release(text);
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
