/* SPDX-License-Identifier: MIT */
/*
 * CSV text (RFC 4180) in memory, read field by field without copying. A line
 * ends with LF or CRLF, the last one also with the text; a field that starts
 * with a quote ends with one, and may hold delimiters, line ends, and quotes
 * written twice. A quote anywhere else is a character.
 */
#ifndef VDBQ_IO_CSV_H
#define VDBQ_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_reader {
    const char *at; /* what is read next */
    const char *end;
    char delimiter;
    char quote;  /* 0: none                                          */
    bool single; /* a record has one field: an empty line is one, too */
    char escape; /* stands before a quote inside quotes, and before
                    itself; 0: quotes are written twice              */
};

struct csv_field {
    const char *bytes; /* inside the quotes, as they stand in the text */
    size_t length;
    char quote;   /* that it stands in, or 0                      */
    char escape;  /* the reader's, or 0                           */
    bool doubled; /* quotes inside are written twice, or escaped  */
};

enum csv_next {
    CSV_MORE,  /* a field, and another one follows in its record    */
    CSV_LAST,  /* the last field of its record                      */
    CSV_STRAY, /* text after the closing quote, which is at `bytes` */
    CSV_OPEN   /* the quote before `bytes` is never closed          */
};

/* Reads the next field. The caller asks only while csv_record() has said
 * that a record starts, or after CSV_MORE. */
enum csv_next csv_next(struct csv_reader *reader, struct csv_field *field);

/* Whether another record starts; leaves empty lines out, but those that are
 * records. */
bool csv_record(struct csv_reader *reader);

/* Writes a field's text, quotes undoubled, where field->length bytes are
 * free; returns its length. */
size_t csv_undouble(const struct csv_field *field, char *room);

/* Copies a field's text, quotes undoubled, into `room` of `size` bytes, cut
 * where it does not fit, and ends it with a NUL. */
void csv_copy(const struct csv_field *field, char *room, size_t size);

/* Where the first record that starts after `size` bytes begins, or the end;
 * the reader is at the start of a record and stays there. */
const char *csv_split(const struct csv_reader *reader, size_t size);

/* What a text is separated and quoted by. */
struct csv_dialect {
    char delimiter; /* 0: not known                           */
    int quote;      /* 0: not known; CSV_UNQUOTED: by nothing */
    char escape;    /* as of a reader; never looked for       */
};
enum { CSV_UNQUOTED = -1 };
/* Finds what is not known of the dialect from the start of a text: the
 * delimiter under which it reads without a fault and each of its records has
 * as many fields. Where there is none, it is `delimiter` and the double
 * quote. In csv_sniff.c. */
struct csv_dialect csv_sniff(const char *start, const char *end,
                             struct csv_dialect known, char delimiter);
/* Every delimiter that csv_sniff() finds. */
#define CSV_DELIMITERS ",;\t|"

/* Line and column of a place in the text that starts at `start`, from 1. */
void csv_position(const char *start, const char *place, uint64_t *line,
                  uint64_t *column);

#endif
