/* SPDX-License-Identifier: MIT */
/*
 * The import's course. Types are found before the table is made, so that a
 * file that does not fit changes nothing; a table that is made for rows comes with
 * them or not at all (import_made.c).
 */
#include "io/import/import_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new table without types asked for needs to see the values. */
static bool must_infer(const struct import *import)
{
    const struct import_params *params = import->params;
    return !params->types
           && import_table_find(params->db, params->table)
                  == vdbq_tables(params->db);
}

/* The first pass, where the types are not known. */
static enum vdbq_status infer(struct import *import)
{
    import->passes = 2;
    enum vdbq_status status = import_infer(import);
    if (status == VDBQ_OK)
        status = import_text_again(import);
    import->pass = 1;
    return status;
}

static enum vdbq_status run(struct import *import)
{
    enum vdbq_status status = import_file_open(import);
    if (status == VDBQ_OK) {
        import_guard(import);
        status = import_text_begin(import);
    }
    if (status == VDBQ_OK) {
        status = import_head(import);
        import->report->header = import->header;
    }
    bool rows = status == VDBQ_OK && import_text_has_rows(import);
    if (rows && must_infer(import))
        status = infer(import);
    if (status == VDBQ_OK)
        status = import_table(import);
    if (status == VDBQ_OK && rows)
        status = import_rows(import);
    return import_is_cut(import) && status != VDBQ_OK ? import_fail_cut(import)
                                                      : status;
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
    struct import import = { .params = params, .report = report, .passes = 1 };
    if (params->null_text)
        import.null_length = strlen(params->null_text);
    *report = (struct import_report){ .status = VDBQ_OK };
    report->status = run(&import);
    if (report->line && import.text.unpack)
        report->status = import_text_verify(&import);
    if (report->status == VDBQ_OK)
        report->status = import_keep(&import);
    if (report->status != VDBQ_OK) {
        report->rows = 0;
        import_forget(&import);
    }
    for (unsigned i = 0; i < import.columns; i++)
        free(import.column[i].name);
    free(import.column);
    import_unguard(&import);
    import_text_end(&import);
    import_file_close(&import);
    return report->status;
}
