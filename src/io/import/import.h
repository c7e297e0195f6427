/* SPDX-License-Identifier: MIT */
/*
 * CSV into a table, as one transaction: the table is made with types that
 * hold every value of the file, or is appended to. Built on vdbq.h alone.
 */
#ifndef VDBQ_IO_IMPORT_H
#define VDBQ_IO_IMPORT_H

#include "api/vdbq.h"
#include "io/csv.h"

#include <stdbool.h>
#include <stdint.h>

/* How far an import is: bytes of the file, in all passes over it, and rows. */
struct import_progress {
    uint64_t done, all; /* all 0: not known yet            */
    uint64_t rows;      /* that were read in this pass      */
};

struct import_params {
    vdbq *db;
    const char *file;  /* its path; "-": standard input                  */
    const char *table; /* made where there is none of that name          */
    struct csv_dialect dialect; /* what is not known of it is found      */
    const char *null_text;      /* stands for NULL without quotes, and nothing
                          else does; NULL: fields without a text do     */
    const char *const *columns; /* of the table, those of the file in its
                               order; NULL: by the header's names, or all */
    unsigned column_count;
    int header;        /* the first record holds names: 1, 0; -1: look   */
    const char *key;   /* column that a new table's key is, or NULL      */
    const char *types; /* a new table's types, "INTEGER,FLOAT", or NULL  */
    unsigned threads;  /* that read and parse; 0: as many as there are cores */
    /* Called twenty times a second at least; false stops; or NULL. */
    bool (*progress)(void *context, const struct import_progress *progress);
    void *context; /* for it                                      */
};

struct import_report {
    enum vdbq_status status;
    uint64_t rows; /* appended                                     */
    bool created;  /* the table was made                           */
    struct csv_dialect dialect; /* of the file                          */
    bool header;       /* its first record holds names                 */
    bool unusual;      /* found, and not what the file's name lets one
                           expect: it is worth telling                  */
    uint64_t line;     /* in the file, from 1; 0: no position          */
    uint64_t column;   /* in bytes, from 1; 0: the line as a whole     */
    char message[600]; /* of the failure, or ""                        */
    char hint[400];    /* what to do about it, or ""                   */
};

/* What the file was read as, in words: "separated by ';', ...". */
enum { IMPORT_WORDS_ROOM = 120 };
void import_describe(const struct import_report *report, char *room);

/* Imports the file; returns report->status. After a failure the database is
 * as it was. Fails with IO, TYPE, RANGE, UNKNOWN (a column), CANCELLED, and
 * with what the table and its constraints refuse. */
enum vdbq_status import_csv(const struct import_params *params,
                            struct import_report *report);

/* import_copy.c: the parameters of a COPY FROM on `db`; fails with UNKNOWN (a
 * format), which is the connection's failure then. */
enum vdbq_status import_copy_params(vdbq *db, const struct vdbq_copy *copy,
                                    struct import_params *params);
/* Makes what the report says the last failure of the connection. */
enum vdbq_status import_copy_fail(vdbq *db, const char *file,
                                  const struct import_report *report);

#endif
