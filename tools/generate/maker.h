/* SPDX-License-Identifier: MIT */
/*
 * Makers of tables: several threads make batches of rows, one writes them,
 * batch after batch in their order, whatever the number of threads.
 */
#ifndef VDBQ_TOOLS_MAKER_H
#define VDBQ_TOOLS_MAKER_H

#include "batch.h"

/* How the rows of a table are made. `tables` is what a benchmark's tables have
 * in common: their seed and sizes. */
struct maker {
    struct output_table output;
    size_t text_bytes;    /* room a row for made texts            */
    uint64_t batch_units; /* units that are made at once          */
    unsigned unit_rows;   /* rows of a unit, at most              */
    uint64_t (*units)(const void *tables); /* that the table has  */
    /* Fills in the rows of the batch's units, on any thread. */
    void (*fill)(const void *tables, struct batch *batch);
};

struct maker_options {
    unsigned threads; /* that make rows; at least 1          */
    const char *db;   /* NULL: none                          */
    const char *csv;  /* folder for a file a table; NULL: none */
};

/* Writes a table; returns the program's exit code, and has said why. */
int maker_write(const struct maker *maker, const void *tables,
                const struct maker_options *options);

/* `each` at the scale 1; one at least. */
uint64_t maker_scaled(double scale, double each);

#endif
