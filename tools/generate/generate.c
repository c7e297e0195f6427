/* SPDX-License-Identifier: MIT */
/*
 * Makes the tables of the benchmarks, as CSV, as columns of bare numbers, or
 * straight into a database; here, the table `test` of the Virginian benchmark.
 * Equal seeds give equal tables, everywhere: the numbers come from GSL's
 * ranlxd2, row by row, column by column in table order; a longer table begins
 * with a shorter one's rows. Relies on vdbq.h alone.
 */
#include "generate.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 7

static const char *const names[COLUMNS] = { "id",        "uniformi", "normali5",
                                            "normali20", "uniformf", "normalf5",
                                            "normalf20" };
static const enum vdbq_type types[COLUMNS] = { VDBQ_INTEGER, VDBQ_INTEGER,
                                               VDBQ_INTEGER, VDBQ_INTEGER,
                                               VDBQ_FLOAT,   VDBQ_FLOAT,
                                               VDBQ_FLOAT };
static const char schema[] =
    "(id integer primary key, uniformi integer, normali5 integer, "
    "normali20 integer, uniformf float, normalf5 float, normalf20 float)";

/* Rows in columns, as vdbq_append_rows() takes them. */
struct batch {
    int32_t id[GENERATE_BATCH];
    int32_t whole[3][GENERATE_BATCH]; /* uniformi, normali5, normali20 */
    float real[3][GENERATE_BATCH];    /* uniformf, normalf5, normalf20 */
};

struct options {
    struct output_places places;
    const char *table;
    uint64_t rows;
    uint64_t seed;
    uint64_t first, distinct;
    enum keys_kind keys;
    double scale; /* of SSB; 0: another table */
    uint64_t threads;
    bool schema; /* print the CREATE TABLE statement instead */
};

static int parse(int argc, char **argv, struct options *options);
static int write_test(const struct options *options);
static int write_keys(const struct options *options);
static int write_ssb(const struct options *options);

int main(int argc, char **argv)
{
    struct options options = {
        .table = "test",
        .rows = 8000000,
        .seed = 42,
        .distinct = 1000,
        .threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
    };
    int status = parse(argc, argv, &options);
    if (status != 0)
        return status;
    if (options.schema)
        return printf("create table %s %s;\n", options.table, schema) < 0;
    if (options.scale > 0)
        return write_ssb(&options);
    return options.keys ? write_keys(&options) : write_test(&options);
}

static int write_keys(const struct options *options)
{
    return keys_write(&(struct keys_options){ .kind = options->keys,
                                              .table = options->table,
                                              .rows = options->rows,
                                              .seed = options->seed,
                                              .first = options->first,
                                              .distinct = options->distinct },
                      &options->places);
}

static int write_ssb(const struct options *options)
{
    return ssb_write(
        &(struct ssb_options){ .scale = options->scale,
                               .seed = options->seed,
                               .threads = (unsigned)options->threads,
                               .db = options->places.db,
                               .csv = options->places.csv });
}

/* ------------------------------------------------------- command line -- */

static int usage(void)
{
    fputs("usage: generate [--rows N] [--seed N] --csv FILE | --db FILE | "
          "--raw FOLDER |\n"
          "                --schema\n"
          "       generate --keys KIND [--first N | --distinct N] ...\n"
          "       generate --ssb SCALE [--threads N] [--csv FOLDER] "
          "[--db FILE]\n"
          "  --csv FILE  write CSV with a header (- is standard output)\n"
          "  --db FILE   make the table `test` in a database\n"
          "  --raw FOLDER  write each column's values, 4 bytes each, into a "
          "file of its name\n"
          "  --schema    print the table's CREATE TABLE statement\n"
          "  --table NAME  of the table, instead of test\n"
          "  --rows N    how many rows (8000000)\n"
          "  --seed N    of the random numbers (42)\n"
          "  --keys KIND   a table of a key k and a value v instead; the keys "
          "are\n"
          "              unique: different and far apart, numbers N and above "
          "of --first N\n"
          "              dense: N of --first N and above, each once\n"
          "              uniform: drawn from --distinct N, 0 and above "
          "(1000)\n"
          "              skewed: likewise, but every other one is 0\n"
          "  --ssb SCALE   the Star Schema Benchmark's five tables instead\n"
          "  --threads N   that make their rows (one a core)\n",
          stderr);
    return 2;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *number <= max;
}

static bool parse_scale(const char *text, double *scale)
{
    char *end;
    *scale = strtod(text, &end);
    return *end == '\0' && *scale > 0 && *scale <= 250;
}

static bool parse_keys(const char *text, enum keys_kind *kind)
{
    static const char *const kinds[] = { "", "unique", "dense", "uniform",
                                         "skewed" };
    for (int i = KEYS_UNIQUE; i <= KEYS_SKEWED; i++)
        if (strcmp(text, kinds[i]) == 0)
            return *kind = (enum keys_kind)i, true;
    return false;
}

/* An option whose value is text. */
static bool parse_text(const char *name, const char *value,
                       struct options *options)
{
    const struct {
        const char *name, **value;
    } texts[] = {
        { "--csv", &options->places.csv },
        { "--db", &options->places.db },
        { "--raw", &options->places.raw },
        { "--table", &options->table },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(name, texts[i].name) == 0)
            return *texts[i].value = value, true;
    return false;
}

static bool parse_option(const char *name, const char *value,
                         struct options *options)
{
    const struct {
        const char *name;
        uint64_t max, *value;
    } numbers[] = {
        { "--rows", INT32_MAX, &options->rows },
        { "--seed", UINT32_MAX, &options->seed },
        { "--first", INT32_MAX, &options->first },
        { "--distinct", INT32_MAX, &options->distinct },
        { "--threads", 1024, &options->threads },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return parse_number(value, numbers[i].max, numbers[i].value);
    if (strcmp(name, "--keys") == 0)
        return parse_keys(value, &options->keys);
    if (strcmp(name, "--ssb") == 0)
        return parse_scale(value, &options->scale);
    return parse_text(name, value, options);
}

/* Whether what was asked for can be written where it was asked for. */
static bool is_possible(const struct options *options)
{
    const struct output_places *places = &options->places;
    int targets =
        options->schema + !!places->csv + !!places->raw + !!places->db;
    if (options->threads == 0 || options->distinct == 0)
        return false;
    if (options->scale > 0)
        return targets > 0 && !options->schema && !places->raw
               && !options->keys;
    return options->schema ? targets == 1 && !options->keys : targets > 0;
}

static int parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--schema") == 0)
            options->schema = true;
        else if (i + 1 == argc || !parse_option(argv[i], argv[i + 1], options))
            return usage();
        else
            i++;
    }
    return is_possible(options) ? 0 : usage();
}

/* ---------------------------------------------------------------- test -- */

static void draw_row(gsl_rng *random, struct batch *batch, uint64_t row)
{
    batch->whole[0][row] = (int32_t)gsl_ran_flat(random, -100, 100);
    batch->whole[1][row] = (int32_t)gsl_ran_gaussian(random, 5);
    batch->whole[2][row] = (int32_t)gsl_ran_gaussian(random, 20);
    batch->real[0][row] = (float)gsl_ran_flat(random, -100, 100);
    batch->real[1][row] = (float)gsl_ran_gaussian(random, 5);
    batch->real[2][row] = (float)gsl_ran_gaussian(random, 20);
}

static void fill(gsl_rng *random, uint64_t first, uint64_t rows,
                 struct batch *batch)
{
    for (uint64_t row = 0; row < rows; row++) {
        batch->id[row] = (int32_t)(first + row);
        draw_row(random, batch, row);
    }
}

static void point_at(const struct batch *batch, struct vdbq_vector *vectors)
{
    vectors[0] =
        (struct vdbq_vector){ .type = VDBQ_INTEGER, .values = batch->id };
    for (int i = 0; i < 3; i++) {
        vectors[1 + i] = (struct vdbq_vector){ .type = VDBQ_INTEGER,
                                               .values = batch->whole[i] };
        vectors[4 + i] = (struct vdbq_vector){ .type = VDBQ_FLOAT,
                                               .values = batch->real[i] };
    }
}

static int write_rows(const struct options *options, gsl_rng *random,
                      struct batch *batch, struct output *output)
{
    struct vdbq_vector vectors[COLUMNS];
    int status = 0;
    point_at(batch, vectors);
    gsl_rng_set(random, (unsigned long)options->seed);
    for (uint64_t row = 0; status == 0 && row < options->rows;
         row += GENERATE_BATCH) {
        uint64_t left = options->rows - row;
        struct output_batch part = {
            .rows = left < GENERATE_BATCH ? left : GENERATE_BATCH,
            .vectors = vectors,
        };
        fill(random, row, part.rows, batch);
        status = output_rows(output, &part);
    }
    return status;
}

static int write_test(const struct options *options)
{
    const struct output_table table = {
        .name = options->table,
        .schema = schema,
        .columns = COLUMNS,
        .names = names,
        .types = types,
    };
    struct output output;
    int status = output_open(&output, &options->places, &table);
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd2);
    struct batch *batch = malloc(sizeof *batch);
    if (status == 0 && (!random || !batch)) {
        fputs("generate: out of memory\n", stderr);
        status = 1;
    }
    if (status == 0)
        status = write_rows(options, random, batch, &output);
    free(batch);
    if (random)
        gsl_rng_free(random);
    return output_close(&output, status);
}
