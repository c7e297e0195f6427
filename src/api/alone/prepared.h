/* SPDX-License-Identifier: MIT */
/*
 * Statements that PREPARE gave names: a list of texts, which a connection has.
 */
#ifndef VDBQ_API_PREPARED_H
#define VDBQ_API_PREPARED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct prepared {
    struct prepared *next;
    char *name;
    char
        *text; /* of PREPARE, but for the statement all blank: what is told of a
                   place in it is right there                               */
    size_t length;
};

/* A text up to `end`, of which nothing but line ends is there before `begin`; the
 * caller releases it. NULL: no memory. */
char *prepared_text(const char *sql, size_t begin, size_t end);

/* The statement of that name; NULL: there is none. */
const struct prepared *prepared_find(const struct prepared *list,
                                     const char *name);
/* Gives the text, which becomes the list's, the name, which may be another one's so
 * far. Fails with NO_MEMORY, and the text is the caller's still. */
enum vdbq_status prepared_add(struct prepared **list, const char *name,
                              char *text, size_t length, struct error *error);
/* Forgets the statement of that name, or all of them. False: there is none. */
bool prepared_remove(struct prepared **list, const char *name);
void prepared_finish(struct prepared **list);

#endif
