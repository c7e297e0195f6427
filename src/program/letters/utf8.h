/* SPDX-License-Identifier: MIT */
/*
 * Characters of a text. Texts are UTF-8: all doors look (base/utf8.h). What only
 * counts characters goes by the bytes that continue one, which is quicker and in
 * such texts the same; in others it stays inside of the text all the same.
 */
#ifndef VDBQ_PROGRAM_UTF8_H
#define VDBQ_PROGRAM_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/type.h"
#include "base/utf8.h"

/* Whether the byte continues a character of UTF-8. */
bool utf8_continues(char byte);
/* Bytes of the character at `at`, up to `end`; at least 1. */
size_t utf8_length(const char *at, const char *end);
/* Whether all characters of a text have one byte. */
bool utf8_is_plain(struct vdbq_text text);
/* Characters of a text, and bytes of its first `count` ones. */
size_t utf8_count(struct vdbq_text text);
size_t utf8_offset(struct vdbq_text text, size_t count);

/* Bytes of the first characters of a text, so few that a message can show them:
 * the precision of "%.*s". */
int utf8_shown(struct vdbq_text text);

/* Writes a character, at most 4 bytes; those that are none become UTF8_NONE. */
size_t utf8_write(int64_t character, char *bytes);

#endif
