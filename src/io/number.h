/* SPDX-License-Identifier: MIT */
/*
 * Numbers to and from text, fast, exact and whatever the locale. The forms
 * are those of SQL and CSV: 12, -3.5, 1e-9, inf, nan.
 */
#ifndef VDBQ_IO_NUMBER_H
#define VDBQ_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_ROOM = 40 }; /* bytes that the longest number takes */

/* Writes a number at `at`, where NUMBER_ROOM bytes are free, and returns its
 * end. A float is written with the fewest digits that read back as the same
 * value of its type, always with a '.', an 'e', or as inf, -inf, nan. */
char *number_from_int(int64_t value, char *at);
char *number_from_double(double value, char *at);
char *number_from_float(float value, char *at);

/* What a text is as a number, from the narrowest kind to the widest. */
enum number_kind {
    NUMBER_NOTHING, /* empty, only blanks, or nan: a NULL */
    NUMBER_INT32,
    NUMBER_INT64,
    NUMBER_DOUBLE, /* also a whole number that needs more than 64 bits */
    NUMBER_TEXT    /* none at all */
};
enum number_kind number_kind(const char *bytes, size_t length);

enum number_status {
    NUMBER_OK,
    NUMBER_NULL,  /* NUMBER_NOTHING                     */
    NUMBER_WRONG, /* not a number of the type asked for */
    NUMBER_RANGE  /* a number, but it does not fit      */
};
/* Read a number of `length` bytes, blanks around it left out; floats are
 * rounded once, to their own width. `*value` is set with NUMBER_OK only. */
enum number_status number_to_int32(const char *bytes, size_t length,
                                   int32_t *value);
enum number_status number_to_int64(const char *bytes, size_t length,
                                   int64_t *value);
enum number_status number_to_double(const char *bytes, size_t length,
                                    double *value);
enum number_status number_to_float(const char *bytes, size_t length,
                                   float *value);

#endif
