/* SPDX-License-Identifier: MIT */
/*
 * The tables of TPC-H as section 4.2 of its specification describes them, in
 * an order in which keys come before what refers to them. Random numbers are
 * our own, not those of the TPC's program, so no row is the same as there;
 * columns, ranges, shares, key rules and texts are.
 */
#include "tpch.h"

#include <stdio.h>

#include "generate.h"

enum {
    TEXT_BYTES = 300 << 20, /* that comments are cut from, at the scale 1 ... */
    TEXT_BYTES_MIN = 1 << 20, /* ... and below, in proportion                 */
    STEPS = 20 /* parts are so many times as many as suppliers          */
};

/* Whether all suppliers of each part differ: few suppliers can make the rule
 * of 4.2.3 give one of them twice. */
static bool suppliers_differ(const struct tpch *tpch)
{
    for (uint64_t part = 1; part <= tpch->parts; part += tpch->suppliers)
        for (unsigned i = 1; i < TPCH_PART_SUPPLIERS; i++)
            if (tpch_supplier_of(tpch, part, i)
                == tpch_supplier_of(tpch, part, 0))
                return false;
    return true;
}

static int write_tables(struct tpch *tpch, const struct tables_options *options)
{
    static const struct maker *const makers[] = {
        &tpch_region, &tpch_nation,   &tpch_supplier, &tpch_customer,
        &tpch_part,   &tpch_partsupp, &tpch_orders,   &tpch_lineitem
    };
    double text = options->scale < 1 ? TEXT_BYTES * options->scale : TEXT_BYTES;
    int status = tpch_text_make(
        &tpch->text, text < TEXT_BYTES_MIN ? TEXT_BYTES_MIN : (size_t)text,
        tpch->seed, options->places.threads);
    for (size_t i = 0; i < sizeof makers / sizeof makers[0] && !status; i++)
        status = maker_write(makers[i], tpch, &options->places);
    tpch_text_finish(&tpch->text);
    return status;
}

int tpch_write(const struct tables_options *options)
{
    double scale = options->scale;
    struct tpch tpch = {
        .seed = options->seed,
        .suppliers = maker_scaled(scale, 10000),
        .customers = maker_scaled(scale, 150000),
        .parts = maker_scaled(scale, 200000),
        .orders = maker_scaled(scale, 1500000),
        .clerks = maker_scaled(scale, 1000),
    };
    if (suppliers_differ(&tpch))
        return write_tables(&tpch, options);
    fprintf(stderr,
            "generate: at the scale %g, with %llu suppliers, TPC-H's rule "
            "gives parts the same supplier twice\n"
            "hint: 0.01 is a small scale that works\n",
            scale, (unsigned long long)tpch.suppliers);
    return 2;
}

void tpch_comment(const struct tpch *tpch, struct random *random,
                  struct batch *batch, unsigned column, uint64_t row,
                  unsigned least, unsigned most)
{
    batch_text(batch, column, row,
               tpch_text_cut(&tpch->text, random, least, most));
}
