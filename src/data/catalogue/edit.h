/* SPDX-License-Identifier: MIT */
/*
 * Edits: rows of a tablet that have changed since it was written, or gone. The
 * tablet, the base of the edit, stays as it is; who reads the rows puts the edit
 * over it (data/database/edited.h). So one row that changes costs what it
 * takes, and not what its tablet does (differential files: Severance, Lohman,
 * Differential Files, ACM TODS 1 (3), 1976; positional deltas: Heman et al.,
 * Positional Update Handling in Column Stores, SIGMOD 2010).
 *
 * Places are numbers of rows in the base, from 0 on; rows are numbers of those
 * that are left. An edit never changes once a catalogue holds it; the next one is
 * made from it.
 *
 * What is made of an edit, as a run of its values, takes as long as the edit is
 * large. So one knows an earlier edit, its origin, and which places got new values
 * since: never so many that their square is more than all values there are.
 */
#ifndef VDBQ_DATA_EDIT_H
#define VDBQ_DATA_EDIT_H

#include <stdbool.h>

#include "api/vdbq.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "data/catalogue/identity.h"

/* New values of one column. */
struct edit_column {
    unsigned column;           /* of the table */
    uint32_t count;            /* rows that have one, at least 1 */
    uint32_t *places;          /* of these, ascending; none is gone */
    struct vdbq_vector values; /* one each, with `nulls`; those that are NULL
                                  are 0 */
};

struct edit {
    unsigned holders;     /* edit_hold() and _release()               */
    struct identity base; /* the tablet's own                         */
    struct identity name; /* of the tablet with it                    */
    uint32_t rows;        /* of the base                              */
    uint32_t gone_count;  /* of `gone`, less than `rows`              */
    uint32_t *gone;       /* places of rows that are gone, ascending  */
    unsigned column_count;
    struct edit_column *columns; /* by their numbers, ascending */
    struct edit *origin;         /* an earlier one, held, without an origin;
                                    NULL: there is none, ...              */
    uint32_t *recent;            /* else places that got new values since,
                                    ascending                             */
    uint32_t recent_count;
    uint64_t offset;     /* of its block in the file; 0: it has none */
    uint64_t size_bytes; /* ... and its size and checksum            */
    uint64_t checksum;
    enum vdbq_status status; /* not OK: its block could not be read, nothing
                                else is known, and who reads fails so ...    */
    const char *fault;       /* ... with this message                        */
    struct arena arena;      /* of all of it                                 */
};

/* Rows that change once more. */
struct edit_change {
    const uint32_t *places; /* ascending, none of them gone             */
    uint32_t count;         /* of `places`, at least 1                  */
    unsigned column_count;  /* that get new values; 0: the rows go      */
    const unsigned *columns;
    const struct vdbq_vector *vectors; /* their values, one a column, ... */
    uint64_t first; /* ... of which that is the first place's           */
};

/* An edit without changes, which the caller alone holds. NULL: no memory. */
struct edit *edit_create(struct identity base, uint32_t rows);
/* Another one, with what `before` says and the change; it has no name yet. NULL: no
 * memory. */
struct edit *edit_next(struct edit *before, const struct edit_change *change);
/* An edit that is made of `before` has new values at these places, ascending, which
 * that had not. False: no memory. */
bool edit_note_recent(struct edit *edit, struct edit *before,
                      const uint32_t *places, uint32_t count);
/* An edit that was read has the origin of another one of the same base, or that itself,
 * where they differ in few places. False: no memory. */
bool edit_follow(struct edit *edit, struct edit *before);
/* Both accept NULL: there is no edit. */
struct edit *edit_hold(struct edit *edit);
void edit_release(struct edit *edit);

/* Fails where the edit could not be read: with CORRUPT, IO. Due before anything
 * below is asked. Accepts NULL. */
enum vdbq_status edit_check(const struct edit *edit, struct error *error);
/* The edit of a tablet of so many rows could not be read, for that reason. False:
 * no memory. */
bool edit_fail(struct edit *edit, struct identity tablet, uint32_t rows,
               const struct error *why);

/* How many values are new, and rows gone. */
uint64_t edit_size(const struct edit *edit);
/* The place of a row that is left; without an edit it is its number. */
uint32_t edit_place(const struct edit *edit, uint32_t row);
/* How many rows before a place are gone; `*gone`: the one there is. */
uint32_t edit_gone_before(const struct edit *edit, uint32_t place, bool *gone);
/* How many of ascending places are less than one, of which the first `from` are known
 * to be: who asks for one after the other passes few between them. */
uint32_t edit_pass(const uint32_t *places, uint32_t count, uint32_t from,
                   uint32_t place);
/* The new values of a column; NULL: it has none. */
const struct edit_column *edit_column(const struct edit *edit, unsigned column);
/* Whether the values of a column's rows are others than the base has. */
bool edit_changes(const struct edit *edit, unsigned column);
/* Which of the new values is that of a place; false: it has none. */
bool edit_find(const struct edit_column *column, uint32_t place, uint32_t *at);
/* Whether one of some columns has a new value anywhere, or at a place. */
bool edit_has(const struct edit *edit, const unsigned *columns, unsigned count);
bool edit_has_at(const struct edit *edit, const unsigned *columns,
                 unsigned count, uint32_t place);
/* Adds the places where one of them has, ascending: those that are recent, or all
 * where there is no origin. False: no memory. */
bool edit_places(const struct edit *edit, const unsigned *columns,
                 unsigned count, struct vector *places);
/* Whether a place got a new value since the origin. */
bool edit_is_recent(const struct edit *edit, uint32_t place);

#endif
