/* SPDX-License-Identifier: MIT */
/*
 * The rows of INSERT OR IGNORE that break no NOT NULL and no CHECK: the others are
 * passed over.
 */
#ifndef VDBQ_API_SOUND_ROWS_H
#define VDBQ_API_SOUND_ROWS_H

#include "data/rule/rule_values.h"

/* Rows that come, one vector a column of the table, and more behind these. */
struct coming_rows {
    uint64_t count;
    const struct vdbq_vector *vectors;
    unsigned column_count; /* of the vectors */
};

/* Those of them that are sound. */
struct sound_rows {
    uint64_t count;
    const struct vdbq_vector *vectors; /* those that came, if all are sound */
    struct vdbq_vector *own;           /* else those of `rows`              */
    struct rows rows;
};

/* Finds them; sound_rows_finish() is due whatever it returns. Fails as values do that
 * a column cannot have (values.h), NULL aside, as CHECKs that cannot be computed, and
 * with LIMIT, NO_MEMORY, CANCELLED. */
enum vdbq_status sound_rows_find(const struct rule_source *source,
                                 const struct coming_rows *coming,
                                 struct sound_rows *sound, struct error *error);
void sound_rows_finish(struct sound_rows *sound); /* accepts zeroed */

#endif
