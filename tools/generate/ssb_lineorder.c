/* SPDX-License-Identifier: MIT */
/*
 * The fact table. dbgen draws 1 to 7 lines for each order; here each group of
 * 7 orders has every one of these counts once, so that a row's order is found
 * without making the rows before it. Quantities, discounts, taxes, dates and
 * keys are drawn as dbgen does.
 */
#include "ssb.h"
#include "words.h"

enum {
    ORDERKEY,
    LINENUMBER,
    CUSTKEY,
    PARTKEY,
    SUPPKEY,
    ORDERDATE,
    ORDERPRIORITY,
    SHIPPRIORITY,
    QUANTITY,
    EXTENDEDPRICE,
    ORDTOTALPRICE,
    DISCOUNT,
    REVENUE,
    SUPPLYCOST,
    TAX,
    COMMITDATE,
    SHIPMODE,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "lo_orderkey", "lo_linenumber",    "lo_custkey",       "lo_partkey",
    "lo_suppkey",  "lo_orderdate",     "lo_orderpriority", "lo_shippriority",
    "lo_quantity", "lo_extendedprice", "lo_ordtotalprice", "lo_discount",
    "lo_revenue",  "lo_supplycost",    "lo_tax",           "lo_commitdate",
    "lo_shipmode"
};
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER,
    VDBQ_INTEGER, VDBQ_TEXT,    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER,
    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER,
    VDBQ_INTEGER, VDBQ_TEXT
};

enum {
    ORDER_DAYS = 2406, /* orders end on 1998-08-02        */
    COMMIT_FIRST = 30, /* days from an order to its commit */
    COMMIT_DAYS = 61
};

static uint64_t row_count(const void *tables)
{
    return ((const struct ssb *)tables)->lines;
}

/* How many lines each of the orders of a group has: 1 to 7 in some order. */
static void draw_counts(struct random *random, unsigned *counts)
{
    for (unsigned i = 0; i < SSB_GROUP_ORDERS; i++) {
        unsigned other = random_below(random, i + 1);
        counts[i] = counts[other];
        counts[other] = i + 1;
    }
}

/* A third of the customers have no orders, as in dbgen. */
static int64_t draw_customer(const struct ssb *ssb, struct random *random)
{
    uint64_t with_orders = ssb->customers - ssb->customers / 3;
    uint32_t drawn = random_below(random, (uint32_t)with_orders);
    return drawn / 2 * 3 + drawn % 2 + 1;
}

/* Fills a line; returns its part of the order's total price. */
static int64_t fill_line(const struct ssb *ssb, struct random *random,
                         struct batch *batch, uint64_t row)
{
    int64_t part = random_below(random, (uint32_t)ssb->parts) + 1;
    int64_t quantity = random_below(random, 50) + 1;
    int64_t discount = random_below(random, 11), tax = random_below(random, 9);
    int64_t price = ssb_part_price((uint64_t)part);
    int64_t extended = quantity * price;
    int64_t revenue = extended * (100 - discount) / 100;
    batch_integer(batch, PARTKEY, row, part);
    batch_integer(batch, SUPPKEY, row,
                  random_below(random, (uint32_t)ssb->suppliers) + 1);
    batch_integer(batch, QUANTITY, row, quantity);
    batch_integer(batch, EXTENDEDPRICE, row, extended);
    batch_integer(batch, DISCOUNT, row, discount);
    batch_integer(batch, REVENUE, row, revenue);
    batch_integer(batch, SUPPLYCOST, row, 6 * price / 10);
    batch_integer(batch, TAX, row, tax);
    batch_words(batch, SHIPMODE, row, words_draw(random, &words_ship_modes));
    return revenue * (100 + tax) / 100;
}

/* Fills the lines of an order from `row` on. Order numbers leave three
 * quarters of the keys out, as dbgen's do. */
static void fill_order(const struct ssb *ssb, struct random *random,
                       uint64_t order, unsigned lines, struct batch *batch,
                       uint64_t row)
{
    int64_t key = (int64_t)((order >> 3) << 5 | (order & 7)) + 1;
    int64_t customer = draw_customer(ssb, random), total = 0;
    uint32_t day = random_below(random, ORDER_DAYS);
    const char *priority = words_draw(random, &words_priorities);
    for (unsigned i = 0; i < lines; i++) {
        uint32_t commit =
            day + COMMIT_FIRST + random_below(random, COMMIT_DAYS);
        batch_integer(batch, ORDERKEY, row + i, key);
        batch_integer(batch, LINENUMBER, row + i, i + 1);
        batch_integer(batch, CUSTKEY, row + i, customer);
        batch_integer(batch, ORDERDATE, row + i, ssb->day_key[day]);
        batch_words(batch, ORDERPRIORITY, row + i, priority);
        batch_integer(batch, SHIPPRIORITY, row + i, 0);
        batch_integer(batch, COMMITDATE, row + i, ssb->day_key[commit]);
        total += fill_line(ssb, random, batch, row + i);
    }
    for (unsigned i = 0; i < lines; i++)
        batch_integer(batch, ORDTOTALPRICE, row + i, total);
}

/* A batch has room for whole groups, so the last one is filled, too. */
static void fill(const void *tables, struct batch *batch)
{
    const struct ssb *ssb = tables;
    uint64_t group = batch->first / SSB_GROUP_LINES;
    for (uint64_t row = 0; row < batch->rows; group++) {
        unsigned counts[SSB_GROUP_ORDERS];
        struct random random =
            random_start(ssb->seed, &ssb_lineorder.output, group);
        draw_counts(&random, counts);
        for (unsigned i = 0; i < SSB_GROUP_ORDERS; i++) {
            fill_order(ssb, &random, group * SSB_GROUP_ORDERS + i, counts[i],
                       batch, row);
            row += counts[i];
        }
    }
}

const struct maker ssb_lineorder = {
    .output = {
        .name = "lineorder", .columns = COLUMNS, .names = names,
        .types = types,
        .schema = "(lo_orderkey integer, lo_linenumber integer, "
                  "lo_custkey integer, lo_partkey integer, "
                  "lo_suppkey integer, lo_orderdate integer, "
                  "lo_orderpriority text, lo_shippriority integer, "
                  "lo_quantity integer, lo_extendedprice integer, "
                  "lo_ordtotalprice integer, lo_discount integer, "
                  "lo_revenue integer, lo_supplycost integer, "
                  "lo_tax integer, lo_commitdate integer, lo_shipmode text)",
    },
    .batch_units = SSB_BATCH, .unit_rows = 1, .units = row_count, .fill = fill,
};
