/* SPDX-License-Identifier: MIT */
/*
 * Tables for joins: a key k and a value v, 0 to 999. A row is made from its
 * number and the seed alone.
 */
#include <stdlib.h>

#include "generate.h"

static const char *const names[] = { "k", "v" };
static const enum vdbq_type types[] = { VDBQ_INTEGER, VDBQ_INTEGER };

struct columns {
    int32_t k[GENERATE_BATCH];
    int32_t v[GENERATE_BATCH];
};

/* A bijection of the numbers of so many bits. */
static uint64_t scramble(uint64_t x, unsigned bits)
{
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    unsigned half = (bits + 1) / 2;
    for (int i = 0; i < 3; i++) {
        x = (x * 0x9e3779b97f4a7c15u + 0x7f4a7c15u) & mask;
        x ^= x >> half;
    }
    return x;
}

/* A bijection of the numbers below `rows`: those outside go another round. */
static uint64_t shuffle(uint64_t row, uint64_t rows)
{
    unsigned bits = 1;
    while (UINT64_C(1) << bits < rows)
        bits++;
    do
        row = scramble(row, bits);
    while (row >= rows);
    return row;
}

static int32_t draw_key(const struct keys_options *options, uint64_t row)
{
    uint64_t bits = generate_mix(generate_mix(options->seed) + row);
    switch (options->kind) {
    case KEYS_UNIQUE:
        return (int32_t)scramble(options->first + shuffle(row, options->rows),
                                 31);
    case KEYS_DENSE:
        return (int32_t)(options->first + shuffle(row, options->rows));
    default:
        if (options->kind == KEYS_SKEWED && (bits & 1) != 0)
            return 0;
        return (int32_t)generate_below(bits, (uint32_t)options->distinct);
    }
}

static void fill(const struct keys_options *options, uint64_t first,
                 uint64_t rows, struct columns *columns)
{
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t bits = generate_mix(~generate_mix(options->seed) + first + i);
        columns->k[i] = draw_key(options, first + i);
        columns->v[i] = (int32_t)generate_below(bits, 1000);
    }
}

static int write_rows(const struct keys_options *options,
                      struct columns *columns, struct output *output)
{
    const struct vdbq_vector vectors[] = {
        { .type = VDBQ_INTEGER, .values = columns->k },
        { .type = VDBQ_INTEGER, .values = columns->v },
    };
    int status = 0;
    for (uint64_t row = 0; row < options->rows && status == 0;
         row += GENERATE_BATCH) {
        uint64_t left = options->rows - row;
        struct output_batch part = {
            .rows = left < GENERATE_BATCH ? left : GENERATE_BATCH,
            .vectors = vectors,
        };
        fill(options, row, part.rows, columns);
        status = output_rows(output, &part);
    }
    return status;
}

int keys_write(const struct keys_options *options,
               const struct output_places *places)
{
    const struct output_table table = {
        .name = options->table,
        .schema = "(k integer, v integer)",
        .columns = 2,
        .names = names,
        .types = types,
    };
    struct output output;
    struct columns *columns = malloc(sizeof *columns);
    if (!columns)
        return fputs("generate: out of memory\n", stderr), 1;
    int status = output_open(&output, places, &table);
    if (status == 0)
        status = write_rows(options, columns, &output);
    free(columns);
    return output_close(&output, status);
}
