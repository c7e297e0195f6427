/* SPDX-License-Identifier: MIT */
/* What the files of projections share. */
#ifndef VDBQ_DATA_PROJECTION_INNER_H
#define VDBQ_DATA_PROJECTION_INNER_H

#include "data/database/tablet_pages.h"
#include "data/pool/projection.h"
#include "data/tablet/tablet_inner.h"

static inline uint64_t projection_head_size(const struct projection *projection)
{
    return tablet_head_size(projection->table->column_count);
}

static inline bool projection_has_words(const struct projection *projection,
                                        unsigned column)
{
    return projection->table->columns[column].type == VDBQ_TEXT;
}

/* Whether a text column is wanted. */
static inline bool projection_wants_texts(const struct projection *projection)
{
    for (unsigned i = 0; i < projection->table->column_count; i++)
        if (projection->wanted[i] && projection_has_words(projection, i))
            return true;
    return false;
}

/* Whether the words of a column are brought into the block. */
static inline bool projection_puts_words(const struct projection *projection,
                                         unsigned column)
{
    return !projection->codes && projection->wanted[column]
           && projection_has_words(projection, column);
}

/* Whether they are brought in apart. */
static inline bool projection_parts_words(const struct projection *projection,
                                          unsigned column)
{
    const struct dictionary *words = projection->dictionaries[column];

    return projection->codes && projection->apart[column]
           && (words == NULL || !dictionary_has_arrived(words));
}

/* Whether words are brought in. */
static inline bool projection_wants_words(const struct projection *projection)
{
    for (unsigned i = 0; i < projection->table->column_count; i++)
        if (projection_puts_words(projection, i)
            || projection_parts_words(projection, i))
            return true;
    return false;
}

/* The pages of the tablet, whose head was read. */
struct tablet_pages projection_pages(const struct projection *projection);

/* Finds the words of text columns, which lie one behind the other. Fails with
 * CORRUPT, IO. */
enum vdbq_status projection_place_words(const struct projection *projection,
                                        struct error *error);

#endif
