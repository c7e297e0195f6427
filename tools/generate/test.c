/* SPDX-License-Identifier: MIT */
/*
 * The table of the Virginian benchmark. Equal seeds give equal tables,
 * everywhere: the numbers come from GSL's ranlxd2, row by row, column by
 * column in table order; a longer table begins with a shorter one's rows.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

#include "generate.h"

#define COLUMNS 7

static const char *const names[COLUMNS] = { "id",        "uniformi", "normali5",
                                            "normali20", "uniformf", "normalf5",
                                            "normalf20" };
static const enum vdbq_type types[COLUMNS] = { VDBQ_INTEGER, VDBQ_INTEGER,
                                               VDBQ_INTEGER, VDBQ_INTEGER,
                                               VDBQ_FLOAT,   VDBQ_FLOAT,
                                               VDBQ_FLOAT };
const char *const test_schema =
    "(id integer primary key, uniformi integer, normali5 integer, "
    "normali20 integer, uniformf float, normalf5 float, normalf20 float)";

/* Rows in columns, as vdbq_append_rows() takes them. */
struct columns {
    int32_t id[GENERATE_BATCH];
    int32_t whole[3][GENERATE_BATCH]; /* uniformi, normali5, normali20 */
    float real[3][GENERATE_BATCH];    /* uniformf, normalf5, normalf20 */
};

static void draw_row(gsl_rng *random, struct columns *columns, uint64_t row)
{
    columns->whole[0][row] = (int32_t)gsl_ran_flat(random, -100, 100);
    columns->whole[1][row] = (int32_t)gsl_ran_gaussian(random, 5);
    columns->whole[2][row] = (int32_t)gsl_ran_gaussian(random, 20);
    columns->real[0][row] = (float)gsl_ran_flat(random, -100, 100);
    columns->real[1][row] = (float)gsl_ran_gaussian(random, 5);
    columns->real[2][row] = (float)gsl_ran_gaussian(random, 20);
}

static void fill(gsl_rng *random, uint64_t first, uint64_t rows,
                 struct columns *columns)
{
    for (uint64_t row = 0; row < rows; row++) {
        columns->id[row] = (int32_t)(first + row);
        draw_row(random, columns, row);
    }
}

static void point_at(const struct columns *columns, struct vdbq_vector *vectors)
{
    vectors[0] =
        (struct vdbq_vector){ .type = VDBQ_INTEGER, .values = columns->id };
    for (int i = 0; i < 3; i++) {
        vectors[1 + i] = (struct vdbq_vector){ .type = VDBQ_INTEGER,
                                               .values = columns->whole[i] };
        vectors[4 + i] = (struct vdbq_vector){ .type = VDBQ_FLOAT,
                                               .values = columns->real[i] };
    }
}

static int write_rows(const struct test_options *options, gsl_rng *random,
                      struct columns *columns, struct output *output)
{
    struct vdbq_vector vectors[COLUMNS];
    int status = 0;
    point_at(columns, vectors);
    gsl_rng_set(random, (unsigned long)options->seed);
    for (uint64_t row = 0; status == 0 && row < options->rows;
         row += GENERATE_BATCH) {
        uint64_t left = options->rows - row;
        struct output_batch part = {
            .rows = left < GENERATE_BATCH ? left : GENERATE_BATCH,
            .vectors = vectors,
        };
        fill(random, row, part.rows, columns);
        status = output_rows(output, &part);
    }
    return status;
}

int test_write(const struct test_options *options,
               const struct output_places *places)
{
    const struct output_table table = {
        .name = options->table,
        .schema = test_schema,
        .columns = COLUMNS,
        .names = names,
        .types = types,
    };
    struct output output;
    int status = output_open(&output, places, &table);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd2);
    struct columns *columns = malloc(sizeof *columns);
    if (status == 0 && (!random || !columns)) {
        fputs("generate: out of memory\n", stderr);
        status = 1;
    }
    if (status == 0)
        status = write_rows(options, random, columns, &output);
    free(columns);
    if (random)
        gsl_rng_free(random);
    return output_close(&output, status);
}
