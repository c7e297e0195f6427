/* SPDX-License-Identifier: MIT */
/*
 * What the files of the import share. The text is cut into parts of whole
 * records; threads look at parts, the caller's thread takes what they found
 * in the parts' order, so that the first fault of the file is the one told.
 */
#ifndef VDBQ_IO_IMPORT_INNER_H
#define VDBQ_IO_IMPORT_INNER_H

#include "io/csv.h"
#include "io/import.h"
#include "io/import_kind.h"
#include "io/number.h"

struct import_column {
    char *name;          /* as the header has it, or c1, c2 ...        */
    unsigned seen;       /* enum import_seen: of its values, once
                                inferred                                   */
    enum vdbq_type type; /* of the table's column                      */
    unsigned precision;  /* likewise, of DECIMAL                       */
    unsigned scale;
    unsigned target; /* the table's column                         */
};

struct import_part {
    const char *start, *end; /* whole records */
};

struct import {
    const struct import_params *params;
    struct import_report *report;
    const char *text, *end; /* the file                               */
    int fd;                 /* of it, while text is there             */
    bool guarded;           /* import_guard() holds for it            */
    const char *body;       /* after the byte order mark and header   */
    struct csv_dialect dialect;
    bool header;      /* the file has one                       */
    unsigned columns; /* of the file                            */
    struct import_column *column;
    unsigned targets; /* columns of the table                   */
    struct import_part *part;
    unsigned parts;
};

/* What is wrong at a place in the text, found in some thread. */
struct import_fault {
    enum import_fault_kind {
        FAULT_NONE,
        FAULT_TYPE,   /* a value that is not of its column's type */
        FAULT_RANGE,  /* it does not fit the column's type        */
        FAULT_MORE,   /* more fields than columns                 */
        FAULT_FEWER,  /* fewer fields than columns                */
        FAULT_STRAY,  /* text after a closing quote               */
        FAULT_OPEN,   /* a quote that is never closed             */
        FAULT_RETURN, /* a carriage return outside of quotes      */
        FAULT_MEMORY
    } kind;
    const char *place;      /* in the text                        */
    unsigned column;        /* of the file; the field's count for
                               FAULT_MORE and FAULT_FEWER         */
    struct csv_field field; /* with the value                     */
};

/* import.c: a reader of that part of the file. */
struct csv_reader import_reader(const struct import *import, const char *start,
                                const char *end);

/* import_fault.c: the failure's report; each returns its status. */
enum vdbq_status import_fail(struct import *import, enum vdbq_status status,
                             const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
enum vdbq_status import_fail_db(struct import *import);
enum vdbq_status import_fail_at(struct import *import,
                                const struct import_fault *fault);

/* import_file.c: the text of a file, mapped. A file of another kind, told by
 * its name or its first bytes, is refused. */
enum vdbq_status import_file_open(struct import *import);
void import_file_close(struct import *import);

/* import_guard.c: from now on the file may be cut by another program, which is
 * an error and no more; whether it was. */
void import_guard(struct import *import);
void import_unguard(struct import *import);
bool import_is_cut(const struct import *import);
enum vdbq_status import_fail_cut(struct import *import);

/* import_head.c: names and the number of columns, from the first record. */
enum vdbq_status import_head(struct import *import);

/* import_names.c: names that differ, from what the first record holds. */
enum vdbq_status import_names(struct import *import);

/* import_scan.c: finds what each column holds in all of the file. */
enum vdbq_status import_infer(struct import *import);
/* The next record's fields, counted; a fault where they are not as many as
 * the columns. `fields` has room for one a column. */
bool import_record(const struct import *import, struct csv_reader *reader,
                   struct csv_field *fields, struct import_fault *fault);

/* import_table.c: makes the table, or pairs its columns with the file's. */
enum vdbq_status import_table(struct import *import);
/* Its number, or vdbq_tables(). */
unsigned import_table_find(vdbq *db, const char *name);

/* import_rows.c: parses and appends every row. */
enum vdbq_status import_rows(struct import *import);

/* import_work.c: runs `look` on each part in threads and `take` on each in
 * order in the calling thread. Slots are numbered from 0; what look() leaves
 * in a slot is take()'s until it returns. Ends when take() returns false. */
enum { IMPORT_SLOTS_MAX = 18 };
struct import_work {
    unsigned threads; /* that look                  */
    unsigned slots;   /* more than threads, at most IMPORT_SLOTS_MAX */
    unsigned parts;
    void (*look)(void *context, unsigned part, unsigned slot);
    bool (*take)(void *context, unsigned part, unsigned slot);
    void *context;
};
void import_work(const struct import_work *work);
unsigned import_threads(const struct import *import);

#endif
