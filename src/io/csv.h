/* SPDX-License-Identifier: MIT */
/*
 * CSV text (RFC 4180) in memory, read field by field without copying. A line
 * ends with LF or CRLF, the last one also with the text; a quoted field may
 * hold delimiters, line ends, and quotes written twice.
 */
#ifndef VDBQ_IO_CSV_H
#define VDBQ_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv_reader {
    const char *at;  /* what is read next */
    const char *end;
    char delimiter;
};

struct csv_field {
    const char *bytes; /* inside the quotes, as they stand in the text */
    size_t length;
    bool quoted;       /* it stands in quotes                          */
    bool doubled;      /* quotes inside are written twice              */
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

/* Whether another record starts; leaves empty lines out. */
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

/* Line and column of a place in the text that starts at `start`, from 1. */
void csv_position(const char *start, const char *place, uint64_t *line,
                  uint64_t *column);

#endif
