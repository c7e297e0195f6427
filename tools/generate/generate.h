/* SPDX-License-Identifier: MIT */
/* The parts of the data generator, each a kind of table. */
#ifndef VDBQ_TOOLS_GENERATE_H
#define VDBQ_TOOLS_GENERATE_H

#include "maker.h"

#define GENERATE_BATCH 65536 /* rows that are written at once */

/* The table of the Virginian benchmark. */
struct test_options {
    const char *table;
    uint64_t rows;
    uint64_t seed;
};

extern const char *const test_schema;
int test_write(const struct test_options *options,
               const struct output_places *places);

/* Tables with a key and a value, for joins. */
enum keys_kind {
    KEYS_NONE,
    KEYS_UNIQUE,  /* different keys all over the positive integers   */
    KEYS_DENSE,   /* first .. first + rows - 1, each once, shuffled  */
    KEYS_UNIFORM, /* drawn from `distinct`, 0 and above             */
    KEYS_SKEWED   /* likewise, but every other row's is 0            */
};

struct keys_options {
    enum keys_kind kind;
    const char *table;
    uint64_t rows;
    uint64_t seed;
    uint64_t first;    /* number of the first key; tables whose numbers
                          overlap have those keys in common            */
    uint64_t distinct; /* keys */
};

int keys_write(const struct keys_options *options,
               const struct output_places *places);

/* The tables of a benchmark. */
struct tables_options {
    double scale;
    uint64_t seed;
    struct maker_options places;
};

int ssb_write(const struct tables_options *options);
int tpch_write(const struct tables_options *options);
/* Whose scale is a number of rows. */
int hits_write(const struct tables_options *options);
int weblog_write(const struct tables_options *options);

/* Spreads every bit of x over all bits: neighbouring numbers give numbers that
 * look random (splitmix64). */
static inline uint64_t generate_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A number below `limit` that `bits` say, 32 of which count. */
static inline uint32_t generate_below(uint64_t bits, uint32_t limit)
{
    return (uint32_t)(((bits >> 32) * limit) >> 32);
}

#endif
