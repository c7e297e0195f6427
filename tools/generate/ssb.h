/* SPDX-License-Identifier: MIT */
/* Inside the generator of the Star Schema Benchmark: its tables. */
#ifndef VDBQ_TOOLS_SSB_H
#define VDBQ_TOOLS_SSB_H

#include "maker.h"

enum {
    SSB_GROUP_ORDERS = 7, /* neighbouring orders, with 1 to 7 lines ...    */
    SSB_GROUP_LINES = 28, /* ... in some order, have so many lines         */
    SSB_BATCH = SSB_GROUP_LINES * 2340, /* rows that are made at once      */
    SSB_DAYS = 2556 /* 1992-01-01 to 1998-12-30                      */
};

/* What all rows are made from. */
struct ssb {
    uint64_t seed;
    uint64_t lines, customers, suppliers, parts;
    int32_t day_key[SSB_DAYS]; /* 19920101 ... */
};

extern const struct maker ssb_lineorder, ssb_customer, ssb_supplier, ssb_part,
    ssb_date;

/* In hundredths. */
int64_t ssb_part_price(uint64_t part);
void ssb_days(int32_t *day_key);

#endif
