/* SPDX-License-Identifier: MIT */
/*
 * Where generated tables go: into a database, into a file of CSV, into a
 * folder of bare columns, or several of these at once.
 */
#ifndef VDBQ_TOOLS_OUTPUT_H
#define VDBQ_TOOLS_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "api/vdbq.h"

#define OUTPUT_COLUMNS_MAX 105
#define OUTPUT_SCALE       2 /* digits behind the point of all DECIMALs */

struct output_table {
    const char *name;
    const char *schema; /* columns and keys as CREATE TABLE has them, with
                           the parentheses; NULL: all are NOT NULL        */
    unsigned columns;
    const char *const *names;    /* of the columns                        */
    const enum vdbq_type *types; /* any but DOUBLE and BOOLEAN            */
};

/* NULL: not there. */
struct output_places {
    const char *db;
    const char *csv; /* "-": standard output */
    const char *raw;
};

struct output_batch {
    uint64_t rows;
    const struct vdbq_vector *vectors; /* one for each column */
};

/* Text that grows; {0} is empty. */
struct output_text {
    char *bytes;
    size_t size;
    size_t capacity;
};

struct output {
    const struct output_table *table;
    const struct output_places *places;
    vdbq *db;
    vdbq_append *append;
    FILE *csv;
    FILE *raw[OUTPUT_COLUMNS_MAX];
    struct output_text text; /* of output_rows() */
};

/* Makes the table and the files. All calls return the program's exit code,
 * and have said on standard error what is wrong where it is not 0;
 * output_close() is due whatever they return. */
int output_open(struct output *output, const struct output_places *places,
                const struct output_table *table);

/* Adds rows everywhere. */
int output_rows(struct output *output, const struct output_batch *batch);

/* The same in two parts, so that any thread may make the text: adds rows to
 * all but the CSV, and text, which it empties, to the CSV alone. */
int output_values(struct output *output, const struct output_batch *batch);
int output_csv(struct output *output, struct output_text *text);

/* Adds the batch as lines of CSV to `text`. False: no memory. */
bool output_format(const struct output_table *table,
                   const struct output_batch *batch, struct output_text *text);
void output_text_finish(struct output_text *text);

/* Keeps what was added if `status` is 0, and returns it, or why that failed. */
int output_close(struct output *output, int status);

#endif
