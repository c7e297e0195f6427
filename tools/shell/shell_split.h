/* SPDX-License-Identifier: MIT */
/*
 * Where a statement ends: at the semicolon that stands outside of quotes and
 * comments. Text is fed line by line; a comment's sign never spans two lines.
 */
#ifndef VDBQ_TOOLS_SHELL_SPLIT_H
#define VDBQ_TOOLS_SHELL_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

struct shell_split {
    enum { SPLIT_SQL, SPLIT_QUOTE, SPLIT_LINE_COMMENT, SPLIT_COMMENT } state;
    char quote;  /* that ends SPLIT_QUOTE                       */
    bool filled; /* more than blanks and comments has been seen */
};

/* Reads up to and with the semicolon that ends a statement, or all; returns
 * how many bytes, and sets `ended`. A new statement begins after that. */
size_t shell_split(struct shell_split *split, const char *bytes, size_t length,
                   bool *ended);

#endif
