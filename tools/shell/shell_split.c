/* SPDX-License-Identifier: MIT */
/* Finds the ends of statements without parsing them. */
#include "shell_split.h"

#include <string.h>

/* One step of plain SQL; returns how many bytes it took. */
static size_t step_sql(struct shell_split *split, const char *at, size_t length)
{
    if (length > 1 && at[0] == '-' && at[1] == '-') {
        split->state = SPLIT_LINE_COMMENT;
        return 2;
    }
    if (length > 1 && at[0] == '/' && at[1] == '*') {
        split->state = SPLIT_COMMENT;
        return 2;
    }
    if (*at == '\'' || *at == '"' || *at == '`') {
        split->state = SPLIT_QUOTE;
        split->quote = *at;
    }
    if (!strchr(" \t\r\n\f\v", *at) || !*at)
        split->filled = true;
    return 1;
}

static size_t step(struct shell_split *split, const char *at, size_t length)
{
    switch (split->state) {
    case SPLIT_QUOTE:
        if (*at == split->quote)
            split->state = SPLIT_SQL;
        return 1;
    case SPLIT_LINE_COMMENT:
        if (*at == '\n')
            split->state = SPLIT_SQL;
        return 1;
    case SPLIT_COMMENT:
        if (length < 2 || at[0] != '*' || at[1] != '/')
            return 1;
        split->state = SPLIT_SQL;
        return 2;
    default:
        return step_sql(split, at, length);
    }
}

size_t shell_split(struct shell_split *split, const char *bytes, size_t length,
                   bool *ended)
{
    size_t at = 0;
    *ended = false;
    while (at < length && !*ended) {
        *ended = split->state == SPLIT_SQL && bytes[at] == ';';
        at += *ended ? 1 : step(split, bytes + at, length - at);
    }
    if (*ended)
        *split = (struct shell_split){ .state = SPLIT_SQL };
    return at;
}
