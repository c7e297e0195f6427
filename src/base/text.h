/* SPDX-License-Identifier: MIT */
/*
 * Text that grows, names that are compared without case, and numbers to and
 * from text. A failure to grow sticks: it is asked for once, at the end.
 */
#ifndef VDBQ_BASE_TEXT_H
#define VDBQ_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *bytes;   /* ended by a NUL; NULL while empty */
    size_t length; /* without the NUL                  */
    size_t capacity;
    bool failed; /* there was no memory at some time */
};

/* Takes memory for so many bytes more, which are likely to come. */
void text_expect(struct text *text, size_t length);
void text_add(struct text *text, const char *bytes, size_t length);
/* Adds so many bytes, which the caller writes at once; NULL: there is no memory. */
char *text_room(struct text *text, size_t length);
/* Adds the same bytes so many times. */
void text_add_times(struct text *text, const char *bytes, size_t length,
                    size_t times);
void text_print(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_finish(struct text *text);

/* A hash of bytes, the same in every process: the lock of a file depends on it
 * (os/lock.c). */
uint64_t text_hash(const char *bytes, size_t length);

/* A letter of ASCII in lower case; any other byte as it is. */
char letter_lower(char letter);

/* Whether two names are the same; ASCII letters compare without case. */
bool name_equal(const char *a, const char *b);
/* How many single-letter edits apart two names are, without case; two
 * neighbours swapped count as one. For "did you mean". Counts to `limit` and
 * returns limit + 1 beyond it. */
unsigned name_distance(const char *a, const char *b, unsigned limit);

/* Writes a number in `width` characters at least, 24 at most, with `fill` before its
 * digits and no NUL behind them; how many. printf() takes ten times as long, and
 * results have many. */
size_t text_from_digits(uint64_t number, unsigned width, char fill, char *room);
/* Shortest text that reads back as the same value, always with a '.', an
 * exponent, or a name ("inf"); at least 32 bytes of room. Returns length. */
size_t text_from_double(double value, char *room);
size_t text_from_float(float value, char *room);

/* Reads a whole number; false where the text is none or does not fit. */
bool text_to_int64(const char *bytes, size_t length, int64_t *value);
/* Reads a decimal number, or "inf", whatever the locale; false where it is
 * none. */
bool text_to_double(const char *bytes, size_t length, double *value);
/* Reads a size like "512M" or "4G" (1024-based) in bytes. */
bool text_to_size(const char *text, uint64_t *size_bytes);

#endif
