/* SPDX-License-Identifier: MIT */
/*
 * The Star Schema Benchmark's tables (O'Neil, O'Neil, Chen: Star Schema
 * Benchmark, revision 3), of any scale, in their specified order.
 */
#include "ssb.h"

#include <math.h>

#include "generate.h"

int ssb_write(const struct tables_options *options)
{
    static const struct maker *const makers[] = { &ssb_date, &ssb_supplier,
                                                  &ssb_customer, &ssb_part,
                                                  &ssb_lineorder };
    double scale = options->scale;
    struct ssb ssb = {
        .seed = options->seed,
        .lines = maker_scaled(scale, 6000000),
        .customers = maker_scaled(scale, 30000),
        .suppliers = maker_scaled(scale, 2000),
        .parts =
            maker_scaled(scale < 1 ? scale : 1 + floor(log2(scale)), 200000),
    };
    int status = 0;
    ssb_days(ssb.day_key);
    for (size_t i = 0; i < sizeof makers / sizeof makers[0] && !status; i++)
        status = maker_write(makers[i], &ssb, &options->places);
    return status;
}
