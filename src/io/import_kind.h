/* SPDX-License-Identifier: MIT */
/* What values of a file look like, and the type of a column that holds them. */
#ifndef VDBQ_IO_IMPORT_KIND_H
#define VDBQ_IO_IMPORT_KIND_H

#include "api/vdbq.h"
#include "io/csv.h"

/* What a value looks like; a set where several are seen. */
enum import_seen {
    SEEN_INT32 = 1,
    SEEN_INT64 = 2, /* one that a double holds, too                   */
    SEEN_LONG = 4,  /* one that a double would round                  */
    SEEN_DOUBLE = 8,
    SEEN_DATE = 16,
    SEEN_TIMESTAMP = 32,
    SEEN_BOOLEAN = 64, /* true or false                                  */
    SEEN_QUOTES = 128, /* nothing between quotes: a text, or a NULL      */
    SEEN_CODE = 256,   /* a number that as one would lose something: 007,
                            +49, more digits than 64 bits hold             */
    SEEN_TEXT = 512    /* none of the others                             */
};
/* One of them, or 0 for a value that is a NULL in every column but TEXT. */
unsigned import_seen(const struct csv_field *field);
/* The narrowest type that holds all that were seen; TEXT for nothing. */
enum vdbq_type import_seen_type(unsigned seen);

#endif
