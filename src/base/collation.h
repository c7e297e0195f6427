/* SPDX-License-Identifier: MIT */
/*
 * Collations: in what two texts are equal, and which of them is less. Each is a
 * key that is made of a text; keys are compared by their bytes. What SQL
 * computes of it, a call of a function, is in plan/operator/collate.c.
 */
#ifndef VDBQ_BASE_COLLATION_H
#define VDBQ_BASE_COLLATION_H

#include <stdbool.h>
#include <stddef.h>

/* The numbers are those that a file has. */
enum collation {
    COLLATION_BINARY, /* the text itself                          */
    COLLATION_NOCASE, /* ASCII letters in one case, as of lower() */
    COLLATION_RTRIM   /* without the blanks at its end            */
};
enum { COLLATIONS = COLLATION_RTRIM + 1 };

const char *collation_name(enum collation collation);
/* False: there is none of that name. */
bool collation_named(const char *name, enum collation *collation);

/* Of how many bytes, its first ones, the key of a text is made. */
size_t collation_length(enum collation collation, const char *bytes,
                        size_t length);
/* Writes what so many of these become. */
void collation_fold(enum collation collation, const char *bytes, size_t length,
                    char *key);

#endif
