/* SPDX-License-Identifier: MIT */
/*
 * Neighbouring rows of a table on their way from the thread that makes them,
 * and the random numbers that they are made from. A row is made from its
 * number and the seed alone, so any thread may make any rows.
 */
#ifndef VDBQ_TOOLS_BATCH_H
#define VDBQ_TOOLS_BATCH_H

#include "output.h"

enum { BATCH_TEXT_BYTES = 96 }; /* most that batch_print() makes for a value */

/* Rows come in units of one or more: an order with its lines is one. */
struct batch {
    uint64_t first, units; /* the units in it                            */
    uint64_t rows;         /* units; fill() says where they are not that */
    uint64_t room_rows;    /* that there is room for                     */
    struct vdbq_vector vectors[OUTPUT_COLUMNS_MAX];
    void *values[OUTPUT_COLUMNS_MAX];   /* what the vectors point at    */
    uint8_t *nulls[OUTPUT_COLUMNS_MAX]; /* likewise                     */
    char *room;                         /* for texts that are made        */
    size_t used;                        /* of it                          */
};

/* With room for so many rows, and so many bytes of made texts in each. False:
 * no memory; batch_finish() is due all the same. */
bool batch_init(struct batch *batch, const struct output_table *table,
                uint64_t rows, size_t text_bytes);
void batch_finish(struct batch *batch);

/* Empties it, for rows that are other ones. */
void batch_clear(struct batch *batch);

/* Each sets a value of a row. An integer is of any type of whole numbers, a day
 * of a DATE or a microsecond of a TIMESTAMP. */
void batch_integer(struct batch *batch, unsigned column, uint64_t row,
                   int64_t value);
void batch_hundredths(struct batch *batch, unsigned column, uint64_t row,
                      int64_t value);
/* NULL, whatever was set. Only where the table's schema says so itself. */
void batch_null(struct batch *batch, unsigned column, uint64_t row);
/* Of bytes that live on. */
void batch_text(struct batch *batch, unsigned column, uint64_t row,
                struct vdbq_text text);
/* Of a string that lives on. */
void batch_words(struct batch *batch, unsigned column, uint64_t row,
                 const char *words);
/* Of a text that is made. */
void batch_print(struct batch *batch, unsigned column, uint64_t row,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Of `length` bytes that the caller fills in. */
char *batch_room(struct batch *batch, unsigned column, uint64_t row,
                 size_t length);

/* The stream of random numbers of a row. */
struct random {
    uint64_t state;
};
struct random random_start(uint64_t seed, const struct output_table *table,
                           uint64_t row);
uint64_t random_bits(struct random *random);
/* From 0 to limit - 1. */
uint32_t random_below(struct random *random, uint32_t limit);
/* From `low` to `high`, both among them. */
int64_t random_between(struct random *random, int64_t low, int64_t high);

#endif
