/* SPDX-License-Identifier: MIT */
/*
 * Makes the table `test` of the Virginian benchmark, as CSV, as columns of
 * bare numbers, or straight into a database. Equal seeds give equal tables,
 * everywhere: the numbers come from GSL's ranlxd2, row by row, column by
 * column in table order; a longer table begins with a shorter one's rows.
 * Relies on vdbq.h alone.
 */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vdbq.h>

#define BATCH_ROWS 65536
#define COLUMNS 7

static const char schema[] =
    "create table test (id integer primary key, uniformi integer, "
    "normali5 integer, normali20 integer, uniformf float, normalf5 float, "
    "normalf20 float)";

/* Rows in columns, as vdbq_append_rows() takes them. */
struct batch {
    uint64_t rows;
    int32_t id[BATCH_ROWS];
    int32_t whole[3][BATCH_ROWS]; /* uniformi, normali5, normali20 */
    float real[3][BATCH_ROWS];    /* uniformf, normalf5, normalf20 */
};

struct options {
    const char *csv; /* file to write, "-": standard output */
    const char *raw; /* folder to write columns into        */
    const char *db;  /* database to make the table in       */
    uint64_t rows;
    unsigned long seed;
    bool schema; /* print the CREATE TABLE statement instead */
};

/* Takes one batch; returns the program's exit code. */
typedef int (*sink)(void *context, const struct batch *batch);

static int parse(int argc, char **argv, struct options *options);
static int write_csv(const struct options *options);
static int write_db(const struct options *options);
static int write_raw(const struct options *options);

int main(int argc, char **argv)
{
    struct options options = {.rows = 8000000, .seed = 42};
    int status = parse(argc, argv, &options);
    if (status != 0)
        return status;
    if (options.schema)
        return printf("%s;\n", schema) < 0;
    if (options.raw)
        return write_raw(&options);
    return options.csv ? write_csv(&options) : write_db(&options);
}

static int usage(void)
{
    fputs("usage: generate [--rows N] [--seed N] --csv FILE | --db FILE | "
          "--raw FOLDER |\n"
          "                --schema\n"
          "  --csv FILE  write CSV with a header (- is standard output)\n"
          "  --db FILE   make the table `test` in a database\n"
          "  --raw FOLDER  write each column's values, 4 bytes each, into a "
          "file of its name\n"
          "  --schema    print the table's CREATE TABLE statement\n"
          "  --rows N    how many rows (8000000)\n"
          "  --seed N    of the random numbers (42)\n", stderr);
    return 2;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *number <= max;
}

static bool parse_option(const char *name, const char *value,
                         struct options *options)
{
    uint64_t seed;
    if (strcmp(name, "--csv") == 0)
        return options->csv = value, true;
    if (strcmp(name, "--db") == 0)
        return options->db = value, true;
    if (strcmp(name, "--raw") == 0)
        return options->raw = value, true;
    if (strcmp(name, "--rows") == 0)
        return parse_number(value, INT32_MAX, &options->rows);
    if (strcmp(name, "--seed") == 0 && parse_number(value, UINT32_MAX, &seed))
        return options->seed = (unsigned long)seed, true;
    return false;
}

static int parse(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--schema") == 0)
            options->schema = true;
        else if (i + 1 == argc ||
                 !parse_option(argv[i], argv[i + 1], options))
            return usage();
        else
            i++;
    }
    int targets = options->schema + !!options->csv + !!options->raw +
                  !!options->db;
    return targets == 1 ? 0 : usage();
}

/* ------------------------------------------------------------ numbers -- */

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
    batch->rows = rows < BATCH_ROWS ? rows : BATCH_ROWS;
    for (uint64_t row = 0; row < batch->rows; row++) {
        batch->id[row] = (int32_t)(first + row);
        draw_row(random, batch, row);
    }
}

static int generate(const struct options *options, sink take, void *context)
{
    gsl_rng *random = gsl_rng_alloc(gsl_rng_ranlxd2);
    struct batch *batch = malloc(sizeof *batch);
    int status = batch && random ? 0 : 1;
    if (status != 0)
        fputs("generate: out of memory\n", stderr);
    else
        gsl_rng_set(random, options->seed);
    for (uint64_t row = 0; status == 0 && row < options->rows;
         row += BATCH_ROWS) {
        fill(random, row, options->rows - row, batch);
        status = take(context, batch);
    }
    free(batch);
    if (random)
        gsl_rng_free(random);
    return status;
}

/* ---------------------------------------------------------------- CSV -- */

/* Writes the shortest text that reads back as the same float. */
static void write_real(FILE *file, float value)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            break;
    }
    fputc(',', file);
    fputs(text, file);
}

static int csv_batch(void *context, const struct batch *batch)
{
    FILE *file = context;
    for (uint64_t row = 0; row < batch->rows; row++) {
        fprintf(file, "%" PRId32, batch->id[row]);
        for (int column = 0; column < 3; column++)
            fprintf(file, ",%" PRId32, batch->whole[column][row]);
        for (int column = 0; column < 3; column++)
            write_real(file, batch->real[column][row]);
        fputc('\n', file);
    }
    return ferror(file) ? 3 : 0;
}

static int write_csv(const struct options *options)
{
    bool to_file = strcmp(options->csv, "-") != 0;
    FILE *file = to_file ? fopen(options->csv, "w") : stdout;
    if (!file)
        return perror(options->csv), 3;
    fputs("id,uniformi,normali5,normali20,uniformf,normalf5,normalf20\n",
          file);
    int status = generate(options, csv_batch, file);
    if (fflush(file) != 0 || (to_file && fclose(file) != 0) || status == 3)
        return perror(options->csv), 3;
    return status;
}

/* -------------------------------------------------------------- columns -- */

static const char *const column_names[COLUMNS] = {
    "id", "uniformi", "normali5", "normali20", "uniformf", "normalf5",
    "normalf20"
};

/* The values of a column of the batch; all are 4 bytes wide. */
static const void *column_values(const struct batch *batch, int column)
{
    if (column == 0)
        return batch->id;
    return column <= 3 ? (const void *)batch->whole[column - 1]
                       : (const void *)batch->real[column - 4];
}

static int raw_batch(void *context, const struct batch *batch)
{
    FILE **files = context;
    for (int column = 0; column < COLUMNS; column++)
        if (fwrite(column_values(batch, column), 4, batch->rows,
                   files[column]) != batch->rows)
            return 3;
    return 0;
}

static int write_raw(const struct options *options)
{
    FILE *files[COLUMNS] = {0};
    char path[4096];
    int status = 0;
    for (int column = 0; column < COLUMNS && status == 0; column++) {
        snprintf(path, sizeof path, "%s/%s", options->raw,
                 column_names[column]);
        files[column] = fopen(path, "wb");
        status = files[column] ? 0 : 3;
    }
    if (status == 0)
        status = generate(options, raw_batch, files);
    for (int column = 0; column < COLUMNS; column++)
        if (files[column] && fclose(files[column]) != 0)
            status = 3;
    if (status == 3)
        perror(options->raw);
    return status;
}

/* ----------------------------------------------------------- database -- */

static int complain(vdbq *db)
{
    const struct vdbq_error *error = vdbq_error(db);
    fprintf(stderr, "generate: %s\n", error->message);
    if (error->hint && *error->hint)
        fprintf(stderr, "hint: %s\n", error->hint);
    return 3;
}

static int append_batch(void *context, const struct batch *batch)
{
    struct vdbq_vector vectors[COLUMNS] = {
        {.type = VDBQ_INTEGER, .values = batch->id},
    };
    for (int column = 0; column < 3; column++) {
        vectors[1 + column] = (struct vdbq_vector){
            .type = VDBQ_INTEGER, .values = batch->whole[column]};
        vectors[4 + column] = (struct vdbq_vector){
            .type = VDBQ_FLOAT, .values = batch->real[column]};
    }
    return vdbq_append_rows(context, batch->rows, vectors) == VDBQ_OK ? 0 : 3;
}

static int append_all(const struct options *options, vdbq *db)
{
    vdbq_append *append;
    if (vdbq_execute(db, schema) != VDBQ_OK ||
        vdbq_append_open(db, "test", &append) != VDBQ_OK)
        return complain(db);
    int status = generate(options, append_batch, append);
    if (status == 3 ||
        (status == 0 && vdbq_append_commit(append) != VDBQ_OK))
        status = complain(db);
    vdbq_append_close(append);
    return status;
}

static int write_db(const struct options *options)
{
    vdbq *db;
    int status = vdbq_open(options->db, VDBQ_OPEN_CREATE, &db) == VDBQ_OK
                     ? append_all(options, db)
                     : complain(db);
    vdbq_close(db);
    return status;
}
