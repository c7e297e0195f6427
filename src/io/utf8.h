/* SPDX-License-Identifier: MIT */
/* How wide UTF-8 text is on a terminal, whatever the locale. */
#ifndef VDBQ_IO_UTF8_H
#define VDBQ_IO_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Reads the character at `bytes`, `length` > 0 bytes before the end, and
 * returns how many bytes it takes; a byte that is not UTF-8 counts as one
 * character of one byte. */
size_t utf8_read(const char *bytes, size_t length, uint32_t *character);

/* Columns that a character takes: 0 for a combining mark, 2 for a wide one. */
unsigned utf8_character_width(uint32_t character);

/* Columns that text takes. */
size_t utf8_width(const char *bytes, size_t length);

#endif
