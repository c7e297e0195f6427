/* SPDX-License-Identifier: MIT */
/*
 * What the names in a query's text mean, one after the other as they are bound: two
 * bindings of one text are compared by it, before and after a table is altered.
 */
#ifndef VDBQ_PLAN_CALL_MEANING_H
#define VDBQ_PLAN_CALL_MEANING_H

#include <stdbool.h>

#include "base/vector.h"

struct binder;

enum meant {
    MEANT_COLUMN,
    MEANT_ROW_ID, /* of a table that has no column of the name */
    MEANT_RESULT, /* of the query itself                       */
    MEANT_WORD,   /* current_date and its like                 */
    MEANT_EQUAL   /* a column that USING or NATURAL compares   */
};

struct meaning {
    const char *name;
    enum meant meant;
    const char *table; /* what its table is called there; "": nothing  */
    unsigned outwards; /* how many queries around the one that says it */
};

/* Notes what a name means, where the binder's `meanings` are asked for. False: no
 * memory, which is the binder's failure. */
bool meaning_note(const struct binder *binder, const struct meaning *meaning);

/* The name from which on two bindings differ (vectors of struct meaning); NULL: all
 * names mean the same. */
const char *meanings_differ(const struct vector *before,
                            const struct vector *after);

#endif
