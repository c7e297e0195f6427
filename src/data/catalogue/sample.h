/* SPDX-License-Identifier: MIT */
/*
 * A sample of a table's rows: those whose numbers have the smallest hashes. It
 * follows from the rows and their order alone, however they came in. The planner
 * tries conditions on it; no answer depends on it, but for the order of rows.
 */
#ifndef VDBQ_DATA_SAMPLE_H
#define VDBQ_DATA_SAMPLE_H

#include "base/memory.h"
#include "base/type.h"

struct table;

enum {
    SAMPLE_ROWS = 64, /* at most: a share of 1/10 is seen as 0.06 to 0.14, and
                         a condition is tried on all of them in some
                         microseconds                                      */
    SAMPLE_COLUMNS_MAX = 256, /* of a table that has more, the first ones  */
    SAMPLE_TEXT_MAX = 256     /* bytes of a text that is kept whole        */
};

struct sample {
    unsigned holders;              /* sample_hold() and _release()            */
    unsigned column_count;         /* of `columns`: the table's first ones    */
    uint32_t rows;                 /* SAMPLE_ROWS at most                     */
    uint64_t numbers[SAMPLE_ROWS]; /* of the rows in the table, ascending  */
    struct vdbq_vector *columns;   /* each with room for SAMPLE_ROWS values
                                    and, never NULL, their `nulls`         */
    uint64_t offset;     /* of its block in the file; 0: it has none */
    uint64_t size_bytes; /* ... and its size and checksum           */
    uint64_t checksum;
    struct arena arena; /* of all values                                   */
};

/* A sample of no rows, whose only holder is the caller. NULL: no memory. */
struct sample *sample_create(const struct table *table);
/* One of no rows that tells where a block is. NULL: no memory. */
struct sample *sample_place(uint64_t offset, uint64_t size_bytes);
/* An equal one with memory of its own, and no place in the file. NULL: no
 * memory. */
struct sample *sample_copy(const struct sample *from);
/* Both accept NULL: there is no sample. */
struct sample *sample_hold(struct sample *sample);
void sample_release(struct sample *sample);

/* Rows whose numbers have hashes below it are the sample's. */
uint64_t sample_limit(const struct sample *sample);
/* Adds row `at` of vectors whose number is above all that are there, where a
 * full sample's last one by the hash goes. False: no memory. */
bool sample_add(struct sample *sample, uint64_t number,
                const struct vdbq_vector *vectors, uint64_t at);
/* Adds rows to one that has none: SAMPLE_ROWS at most, their numbers ascending.
 * False: no memory. */
bool sample_add_all(struct sample *sample, uint32_t rows,
                    const uint64_t *numbers, const struct vdbq_vector *vectors);
/* Gives a row that is there the value of row `at` of a vector. False: no memory. */
bool sample_put(struct sample *sample, uint32_t row, unsigned column,
                const struct vdbq_vector *vector, uint64_t at);
/* Whether a text may go on behind what a sample has of it. */
bool sample_cuts(struct vdbq_text text);

/* Gathers the sample of a table while rows come to it. */
struct sampler {
    struct sample *sample; /* so far; NULL: rows came before anybody sampled,
                              or none has come                             */
    bool grown;            /* it has rows that the table's own has not, and
                              is the sampler's alone                       */
    bool lost;             /* there is none to go on from                  */
    uint64_t next;         /* number of the next row                       */
    uint64_t limit;        /* sample_limit()                               */
};

/* Goes on from the table's sample. */
struct sampler sampler_init(const struct table *table);
void sampler_finish(struct sampler *sampler); /* accepts a zeroed one */
/* Takes note of rows first .. first + count - 1 of vectors. False: no memory. */
bool sampler_add(struct sampler *sampler, const struct table *table,
                 const struct vdbq_vector *vectors, uint64_t first,
                 uint32_t count);

#endif
