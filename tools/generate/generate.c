/* SPDX-License-Identifier: MIT */
/*
 * Makes the tables of the benchmarks, as CSV, as columns of bare numbers, or
 * straight into a database: the command line. Equal seeds give equal tables,
 * everywhere. Relies on vdbq.h alone.
 */
#include "generate.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Benchmarks with tables of their own, whose size is a scale or a count. */
static const struct benchmark {
    const char *option;
    int (*write)(const struct tables_options *options);
    double scale_max;
} benchmarks[] = {
    { "--ssb", ssb_write, 250 },
    { "--tpch", tpch_write, 250 },
    { "--hits", hits_write, INT32_MAX },
    { "--log", weblog_write, INT32_MAX },
};

struct options {
    struct output_places places;
    const char *table;
    uint64_t rows;
    uint64_t seed;
    uint64_t first, distinct;
    enum keys_kind keys;
    const struct benchmark *benchmark; /* NULL: one table */
    double scale;                      /* of it           */
    uint64_t threads;
    bool schema; /* print the CREATE TABLE statement instead */
};

static int parse(int argc, char **argv, struct options *options);
static int write_test(const struct options *options);
static int write_keys(const struct options *options);
static int write_benchmark(const struct options *options);

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
        return printf("create table %s %s;\n", options.table, test_schema) < 0;
    if (options.benchmark)
        return write_benchmark(&options);
    return options.keys ? write_keys(&options) : write_test(&options);
}

static int write_test(const struct options *options)
{
    return test_write(&(struct test_options){ .table = options->table,
                                              .rows = options->rows,
                                              .seed = options->seed },
                      &options->places);
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

static int write_benchmark(const struct options *options)
{
    return options->benchmark->write(&(struct tables_options){
        .scale = options->scale,
        .seed = options->seed,
        .places = { .threads = (unsigned)options->threads,
                    .db = options->places.db,
                    .csv = options->places.csv } });
}

/* ------------------------------------------------------- command line -- */

static int usage(void)
{
    fputs("usage: generate [--rows N] [--seed N] --csv FILE | --db FILE | "
          "--raw FOLDER |\n"
          "                --schema\n"
          "       generate --keys KIND [--first N | --distinct N] ...\n"
          "       generate --ssb SCALE | --tpch SCALE | --hits N | --log N "
          "[--seed N]\n"
          "                [--threads N]\n"
          "                [--csv FOLDER] [--db FILE]\n"
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
          "  --tpch SCALE  the eight tables of TPC-H instead\n"
          "  --hits N    a table of N hits on web sites, of ClickBench's "
          "shape, instead\n"
          "  --log N     a web server's log of N lines instead\n"
          "  --threads N   that make their rows (one a core); what they make "
          "is the same\n",
          stderr);
    return 2;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' && *number <= max;
}

static bool parse_scale(const char *text, double most, double *scale)
{
    char *end;
    *scale = strtod(text, &end);
    return *end == '\0' && *scale > 0 && *scale <= most;
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
    for (size_t i = 0; i < sizeof benchmarks / sizeof benchmarks[0]; i++)
        if (strcmp(name, benchmarks[i].option) == 0) {
            bool other = options->benchmark != NULL;
            options->benchmark = &benchmarks[i];
            return !other
                   && parse_scale(value, benchmarks[i].scale_max,
                                  &options->scale);
        }
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
    if (options->benchmark)
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
