/* SPDX-License-Identifier: MIT */
/*
 * The failure of a call: written once, where the fault is found, into the
 * `struct error` that the caller passed; callers hand the status up and add
 * nothing. A position points into the SQL (or program) text.
 */
#ifndef VDBQ_BASE_ERROR_H
#define VDBQ_BASE_ERROR_H

#include "api/vdbq.h"

enum { ERROR_MESSAGE_MAX = 1024, ERROR_HINT_MAX = 4096 };

struct error {
    enum vdbq_status status;
    unsigned line;   /* in the text, from 1; 0: no position */
    unsigned column; /* in bytes, from 1                    */
    char message[ERROR_MESSAGE_MAX];
    char hint[ERROR_HINT_MAX];
};

/* A place in SQL or program text; line 0: none. */
struct position {
    unsigned line;
    unsigned column;
};

/* Forgets the failure. */
void error_clear(struct error *error);

/* Writes message and status, without a position or hint; returns `status`. */
enum vdbq_status error_set(struct error *error, enum vdbq_status status,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with a position. */
enum vdbq_status error_at(struct error *error, enum vdbq_status status,
                          struct position at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a hint to the failure just set; returns its status. */
enum vdbq_status error_hint(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* VDBQ_NO_MEMORY, and VDBQ_CANCELLED, with their messages. */
enum vdbq_status error_no_memory(struct error *error);
enum vdbq_status error_cancelled(struct error *error);

#endif
