/* SPDX-License-Identifier: MIT */
/*
 * The import's course. Types are found before the table is made, so that a
 * file that does not fit changes nothing; a table that was made for rows that
 * then fail is dropped again.
 */
#include "io/import_inner.h"
#include "io/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PART_BYTES = 1 << 20 };

struct csv_reader import_reader(const struct import *import, const char *start,
                                const char *end)
{
    int quote = import->dialect.quote;
    return (struct csv_reader){ .at = start,
                                .end = end,
                                .delimiter = import->dialect.delimiter,
                                .quote =
                                    quote == CSV_UNQUOTED ? 0 : (char)quote,
                                .single = import->columns == 1 };
}

/* Cuts the text after the header into parts of whole records. */
static enum vdbq_status cut(struct import *import)
{
    size_t size = (size_t)(import->end - import->body);
    import->part = calloc(size / PART_BYTES + 1, sizeof *import->part);
    if (!import->part)
        return import_fail(import, VDBQ_NO_MEMORY, "", "out of memory");
    struct csv_reader reader = import_reader(import, import->body, import->end);
    while (reader.at < reader.end) {
        struct import_part *part = &import->part[import->parts++];
        part->start = reader.at;
        reader.at = csv_split(&reader, PART_BYTES);
        part->end = reader.at;
    }
    return VDBQ_OK;
}

/* A new table without types asked for needs to see the values. */
static bool must_infer(const struct import *import)
{
    const struct import_params *params = import->params;
    return !params->types
           && import_table_find(params->db, params->table)
                  == vdbq_tables(params->db);
}

/* What the file's name lets one expect. */
static char usual_delimiter(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && (strcasecmp(dot, ".tsv") == 0 || strcasecmp(dot, ".tab") == 0)
               ? '\t'
               : ',';
}

static void find_dialect(struct import *import)
{
    const struct import_params *params = import->params;
    struct import_report *report = import->report;
    const char usual = usual_delimiter(params->file);
    import->dialect =
        csv_sniff(import->body, import->end, params->dialect, usual);
    report->dialect = import->dialect;
    report->unusual =
        (!params->dialect.delimiter && report->dialect.delimiter != usual)
        || (!params->dialect.quote && report->dialect.quote != '"');
}

static enum vdbq_status run(struct import *import)
{
    enum vdbq_status status = import_file_open(import);
    if (status == VDBQ_OK) {
        import_guard(import);
        find_dialect(import);
        status = import_head(import);
        import->report->header = import->header;
    }
    if (status == VDBQ_OK)
        status = cut(import);
    if (status == VDBQ_OK && import->parts && must_infer(import))
        status = import_infer(import);
    if (status == VDBQ_OK)
        status = import_table(import);
    if (status == VDBQ_OK && import->parts)
        status = import_rows(import);
    return import_is_cut(import) && status != VDBQ_OK ? import_fail_cut(import)
                                                      : status;
}

static void drop(struct import *import)
{
    struct out sql;
    if (!out_open(&sql, -1))
        return;
    out_text(&sql, "DROP TABLE \"");
    for (const char *at = import->params->table; *at; at++) {
        if (*at == '"')
            out_char(&sql, '"');
        out_char(&sql, *at);
    }
    out_bytes(&sql, "\"", 2);
    vdbq_execute(import->params->db, sql.bytes);
    out_close(&sql);
    import->report->created = false;
}

void import_describe(const struct import_report *report, char *room)
{
    const struct csv_dialect dialect = report->dialect;
    char delimiter[8] = "tabs", quote[24] = "no quotes";
    if (dialect.delimiter != '\t')
        snprintf(delimiter, sizeof delimiter, "'%c'", dialect.delimiter);
    if (dialect.quote != CSV_UNQUOTED)
        snprintf(quote, sizeof quote, "quoted by %c", dialect.quote);
    snprintf(room, IMPORT_WORDS_ROOM, "separated by %s, %s, %s", delimiter,
             quote,
             report->header ? "names in the first line"
                            : "no names in the first line");
}

enum vdbq_status import_csv(const struct import_params *params,
                            struct import_report *report)
{
    struct import import = { .params = params, .report = report };
    *report = (struct import_report){ .status = VDBQ_OK };
    report->status = run(&import);
    if (report->status != VDBQ_OK) {
        report->rows = 0;
        if (report->created)
            drop(&import);
    }
    for (unsigned i = 0; i < import.columns; i++)
        free(import.column[i].name);
    free(import.column);
    free(import.part);
    import_unguard(&import);
    import_file_close(&import);
    return report->status;
}
