/* SPDX-License-Identifier: MIT */
/*
 * Inside the generator of the Star Schema Benchmark: its tables, and what
 * makes their rows. A row is made from its number and the seed alone, so any
 * thread may make any rows.
 */
#ifndef VDBQ_TOOLS_SSB_H
#define VDBQ_TOOLS_SSB_H

#include "generate.h"

enum {
    SSB_GROUP_ORDERS = 7, /* neighbouring orders, with 1 to 7 lines ...    */
    SSB_GROUP_LINES = 28, /* ... in some order, have so many lines         */
    SSB_BATCH = SSB_GROUP_LINES * 2340, /* rows that are made at once      */
    SSB_DAYS = 2556,    /* 1992-01-01 to 1998-12-30                      */
    SSB_TEXT_BYTES = 96 /* most bytes that ssb_print() makes for one row */
};

/* What all rows are made from. */
struct ssb {
    uint64_t seed;
    uint64_t lines, customers, suppliers, parts;
    int32_t day_key[SSB_DAYS]; /* 19920101 ... */
};

/* Neighbouring rows of a table. */
struct ssb_batch {
    uint64_t first, rows;
    struct vdbq_vector vectors[OUTPUT_COLUMNS_MAX];
    void *values[OUTPUT_COLUMNS_MAX]; /* what the vectors point at      */
    char *room;                       /* for texts that are made        */
    size_t used;                      /* of it                          */
};

struct ssb_table {
    struct output_table output;
    size_t text_bytes; /* room a row for ssb_print() */
    uint64_t (*rows)(const struct ssb *ssb);
    void (*fill)(const struct ssb *ssb, struct ssb_batch *batch);
};

extern const struct ssb_table ssb_lineorder, ssb_customer, ssb_supplier,
    ssb_part, ssb_date;

/* The stream of random numbers of a row. */
struct ssb_random {
    uint64_t state;
};
struct ssb_random ssb_random(const struct ssb *ssb,
                             const struct ssb_table *table, uint64_t row);
/* From 0 to limit - 1. */
uint32_t ssb_draw(struct ssb_random *random, uint32_t limit);

void ssb_integer(struct ssb_batch *batch, unsigned column, uint64_t row,
                 int64_t value);
/* Of a string that lives on. */
void ssb_words(struct ssb_batch *batch, unsigned column, uint64_t row,
               const char *words);
void ssb_print(struct ssb_batch *batch, unsigned column, uint64_t row,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* In hundredths. */
int64_t ssb_part_price(uint64_t part);
void ssb_days(int32_t *day_key);

#endif
