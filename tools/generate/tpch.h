/* SPDX-License-Identifier: MIT */
/*
 * Inside the generator of TPC-H's tables: how many rows they have, and the
 * rules that two tables keep together. Numbers of sections are those of the
 * TPC Benchmark H specification, revision 3.
 */
#ifndef VDBQ_TOOLS_TPCH_H
#define VDBQ_TOOLS_TPCH_H

#include "maker.h"
#include "tpch_text.h"

enum {
    TPCH_PART_SUPPLIERS = 4, /* of each part            */
    TPCH_LINES_MAX = 7,      /* of an order, 1 at least */
    TPCH_BATCH = 8192        /* units made at once      */
};

/* What all rows are made from. */
struct tpch {
    uint64_t seed;
    uint64_t suppliers, customers, parts, orders, clerks;
    struct tpch_text text;
};

extern const struct maker tpch_region, tpch_nation, tpch_supplier,
    tpch_customer, tpch_part, tpch_partsupp, tpch_orders, tpch_lineitem;

/* Sets a column to a piece of text, of so many bytes. */
void tpch_comment(const struct tpch *tpch, struct random *random,
                  struct batch *batch, unsigned column, uint64_t row,
                  unsigned least, unsigned most);

/* In hundredths. */
int64_t tpch_retail_price(uint64_t part);
/* Supplier `number`, from 0, of a part. */
int64_t tpch_supplier_of(const struct tpch *tpch, uint64_t part,
                         unsigned number);

/* What an order and its lines have in common. */
struct tpch_order {
    int64_t key;
    int64_t customer;
    int32_t day; /* since 1970 */
    unsigned lines;
};
/* Order `number`, from 0; leaves the stream behind it in `random`. */
struct tpch_order tpch_draw_order(const struct tpch *tpch, uint64_t number,
                                  struct random *random);

/* What an order tells of its lines; prices and shares in hundredths. */
struct tpch_line {
    int64_t part, supplier;
    int64_t quantity, extended_price, discount, tax;
    int32_t ship_day, commit_day, receipt_day; /* since 1970 */
    bool shipped;                              /* by the current date */
    bool received;
};
/* Line `line`, from 0, of order `number`. */
struct tpch_line tpch_draw_line(const struct tpch *tpch, uint64_t number,
                                const struct tpch_order *order, unsigned line,
                                struct random *random);

#endif
