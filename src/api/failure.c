/* SPDX-License-Identifier: MIT */
/*
 * How a call on a connection begins and how its failure is told: the message,
 * where in the SQL text it is, and that line of the text.
 */
#include <string.h>

#include "api/session.h"

session_finder *session_crew_finder;

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

void session_hear_cancel(vdbq *db)
{
    if (!db->executing)
        atomic_store(&db->stop.cancelled, false);
}

enum vdbq_status session_ended_by(vdbq *db, enum vdbq_status status)
{
    if (status == VDBQ_DEVICE && atomic_load(&db->stop.cancelled))
        status = error_cancelled(&db->error);
    if (status == VDBQ_CANCELLED)
        session_hear_cancel(db);
    return status;
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
