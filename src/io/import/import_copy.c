/* SPDX-License-Identifier: MIT */
/*
 * COPY FROM is an import into a table that is there: what the statement says
 * becomes parameters, and what is wrong with the file the failure of a
 * connection.
 */
#include "io/import/import.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum vdbq_status import_copy_params(vdbq *db, const struct vdbq_copy *copy,
                                    struct import_params *params)
{
    const char *format = copy->format ? copy->format : "csv";
    bool tabs = strcasecmp(format, "tsv") == 0;
    *params = (struct import_params){
        .db = db,
        .file = copy->file,
        .table = copy->table,
        .columns = copy->columns,
        .column_count = copy->column_count,
        .header = copy->header,
        .null_text = copy->null_text,
        .dialect = { .delimiter = copy->delimiter ? *copy->delimiter
                                  : tabs          ? '\t'
                                                  : 0,
                     .escape = copy->escape ? *copy->escape : 0 },
    };
    if (copy->quote)
        params->dialect.quote = *copy->quote ? *copy->quote : CSV_UNQUOTED;
    if (params->dialect.escape == (copy->quote ? *copy->quote : '"'))
        params->dialect.escape = 0; /* quotes are written twice */
    return tabs || strcasecmp(format, "csv") == 0
               ? VDBQ_OK
               : vdbq_fail(db, VDBQ_UNKNOWN,
                           "COPY FROM reads csv and tsv alone", NULL);
}

enum vdbq_status import_copy_fail(vdbq *db, const char *file,
                                  const struct import_report *report)
{
    char message[sizeof report->message + 400];
    if (report->line)
        snprintf(message, sizeof message, "%.300s:%llu:%llu: %s", file,
                 (unsigned long long)report->line,
                 (unsigned long long)report->column, report->message);
    else
        snprintf(message, sizeof message, "%s", report->message);
    return vdbq_fail(db, report->status, message, report->hint);
}

static bool tell(void *db, const struct import_progress *progress)
{
    return vdbq_progressed(db, progress->done, progress->all);
}

enum vdbq_status vdbq_copy_csv(void *context, vdbq *db,
                               const struct vdbq_copy *copy)
{
    struct import_params params;
    struct import_report report;
    (void)context;
    if (!db || !copy || !copy->file || !copy->table)
        return VDBQ_MISUSE;
    enum vdbq_status status = import_copy_params(db, copy, &params);
    if (status != VDBQ_OK)
        return status;
    params.progress = tell;
    params.context = db;
    import_csv(&params, &report);
    return report.status == VDBQ_OK ? VDBQ_OK
                                    : import_copy_fail(db, copy->file, &report);
}
