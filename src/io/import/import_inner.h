/* SPDX-License-Identifier: MIT */
/*
 * What the files of the import share. The text is cut into parts of whole
 * records as it comes; threads look at parts, the caller's thread takes what
 * they found in the parts' order, so that the first fault of the file is the
 * one told. A text is mapped, or unpacked part by part: parts are the same.
 */
#ifndef VDBQ_IO_IMPORT_INNER_H
#define VDBQ_IO_IMPORT_INNER_H

#include "io/csv.h"
#include "io/import/import.h"
#include "io/import_kind.h"
#include "io/number.h"
#include "io/packed/unpack.h"

#include <stdatomic.h>
#include <string.h>

struct import_column {
    char *name;          /* as the header has it, or c1, c2 ...        */
    unsigned seen;       /* enum import_seen: of its values, once
                                inferred                                   */
    enum vdbq_type type; /* of the table's column                      */
    unsigned precision;  /* likewise, of DECIMAL                       */
    unsigned scale;
    unsigned target; /* the table's column                         */
};

/* Neighbouring whole records. */
struct import_part {
    const char *start, *end;
    char *room;     /* where they lie, to be freed; NULL: in the text's own */
    uint64_t taken; /* bytes of the file up to its end                      */
    bool failed;    /* there is none: text->failure says why                */
};

/* The text of a file. */
struct import_text {
    int fd; /* of the file, while `open` */
    bool open;
    uint64_t file_bytes;
    const char *map, *map_end; /* of a file that is no packed one       */
    bool guarded;              /* import_guard() holds for it            */
    enum packing packing;
    struct unpack *unpack; /* of a packed one                        */
    char *rest;            /* unpacked, of no part yet; its own      */
    size_t rest_length, rest_room;
    bool ended;               /* nothing is left to be unpacked         */
    const char *at;           /* mapped: where the next part starts     */
    size_t left;              /* mapped: bytes whose pages have left    */
    struct import_part first; /* with the mark and the header; its own  */
    size_t first_bytes;       /* of the text up to its end              */
    atomic_bool stop;         /* unpack no more: the import ends          */
    bool shared;              /* other threads than the caller's cut parts */
    struct import_failure {
        enum vdbq_status status;
        const char *hint;
        char message[320];
    } failure; /* where a part should be                    */
};

struct import {
    const struct import_params *params;
    struct import_report *report;
    struct import_text text;
    const char *body; /* in text.first: after the byte order mark and
                         header                                     */
    struct csv_dialect dialect;
    size_t null_length; /* of params->null_text, if there is one  */
    bool header;        /* the file has one                       */
    unsigned columns;   /* of the file                            */
    struct import_column *column;
    bool own_transaction; /* import_make() has begun one            */
    unsigned targets;     /* columns of the table                   */
    const char *counted;  /* places in the part at hand are counted from
                            here ...                                   */
    uint64_t lines;       /* ... and so many lines are before            */
    unsigned pass;        /* over the text, from 0                       */
    unsigned passes;
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

/* import_dialect.c: a reader of that part of the file. */
struct csv_reader import_reader(const struct import *import, const char *start,
                                const char *end);
/* Finds the dialect of a text that starts so. */
void import_dialect(struct import *import, const char *start, const char *end);

/* import_progress.c: so many bytes of the file are done in this pass, and so many rows are in:
 * whether the import is to go on. */
bool import_goes_on(const struct import *import, uint64_t taken, uint64_t rows);

/* Whether the field is what stands for NULL, where that was said. */
static inline bool import_is_null(const struct import *import,
                                  const struct csv_field *field)
{
    const char *text = import->params->null_text;
    return text && !field->quote && field->length == import->null_length
           && memcmp(field->bytes, text, field->length) == 0;
}

/* import_fault.c: the failure's report; each returns its status. */
enum vdbq_status import_fail(struct import *import, enum vdbq_status status,
                             const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
enum vdbq_status import_fail_db(struct import *import);
enum vdbq_status import_fail_stopped(struct import *import);
enum vdbq_status import_fail_at(struct import *import,
                                const struct import_fault *fault);

/* import_file.c: opens the file and maps it, or sees what it is packed by. */
enum vdbq_status import_file_open(struct import *import);
void import_file_close(struct import *import);
/* Refuses a text that starts as no CSV does. */
enum vdbq_status import_file_check(struct import *import, const char *bytes,
                                   size_t size);

/* import_text.c: reads the start of the text, finds how it is separated, and
 * cuts the first part. */
enum vdbq_status import_text_begin(struct import *import);
/* The next part, for one thread at a time: false at the end. Where there
 * should be one and is none, part->failed. */
bool import_text_next(struct import *import, struct import_part *part);
/* The pages of a mapped text up to that part's end leave the process: a part that was
 * taken is read no more, unless to tell of a fault. */
void import_text_leave(struct import *import, const struct import_part *part);
/* The part behind the first one comes next again. */
enum vdbq_status import_text_again(struct import *import);
/* After a failure in a packed file, with its status in the report: where the
 * rest of the file shows that it is damaged, that is what is told. */
enum vdbq_status import_text_verify(struct import *import);
/* Whether anything follows the header. */
bool import_text_has_rows(const struct import *import);
void import_text_end(struct import *import);

/* import_guard.c: from now on a mapped file may be cut by another program,
 * which is an error and no more; whether it was. */
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

/* import_made.c: makes a table with that statement ... */
enum vdbq_status import_make(struct import *import, const char *sql);
/* ... which stays, with its rows; if this fails, too, it is to be forgotten ... */
enum vdbq_status import_keep(struct import *import);
/* ... or is gone, if it was made. */
void import_forget(struct import *import);
/* Adds a name in quotes to a statement. */
struct out;
void import_add_name(struct out *sql, const char *name);

/* import_rows.c: parses and appends every row. */
enum vdbq_status import_rows(struct import *import);

/* import_work.c: runs `look` on each part behind the header in threads and
 * `take` on each in order in the calling thread. Slots are numbered from 0;
 * what look() leaves in a slot is take()'s until it returns. Ends when take()
 * returns anything but OK, which it then returns, and with what the text fails
 * with. */
enum { IMPORT_SLOTS_MAX = 18 };
struct import_work {
    struct import *import;
    unsigned threads; /* that look                  */
    unsigned slots;   /* more than threads, at most IMPORT_SLOTS_MAX */
    void (*look)(void *context, const struct import_part *part, unsigned slot);
    /* Adds the rows that it took. */
    enum vdbq_status (*take)(void *context, unsigned slot, uint64_t *rows);
    void *context;
};
enum vdbq_status import_work(const struct import_work *work);
unsigned import_threads(const struct import *import);

#endif
