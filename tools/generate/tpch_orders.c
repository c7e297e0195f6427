/* SPDX-License-Identifier: MIT */
/*
 * Orders. An order's status and total follow from its lines, which it draws
 * as the table of lines does: from the order's number.
 */
#include "tpch.h"
#include "words.h"

enum {
    KEY,
    CUSTOMER,
    STATUS,
    TOTAL,
    DATE,
    PRIORITY,
    CLERK,
    SHIP_PRIORITY,
    COMMENT,
    COLUMNS
};
enum {
    FIRST_DAY = 8035,   /* 1992-01-01                                     */
    ORDER_DAYS = 2406,  /* the last order is 151 days before 1998-12-31   */
    CURRENT_DAY = 9298, /* 1995-06-17                                     */
    CLERK_BYTES = 16
};

static const char *const names[COLUMNS] = { "o_orderkey",    "o_custkey",
                                            "o_orderstatus", "o_totalprice",
                                            "o_orderdate",   "o_orderpriority",
                                            "o_clerk",       "o_shippriority",
                                            "o_comment" };
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_TEXT,    VDBQ_DECIMAL, VDBQ_DATE,
    VDBQ_TEXT,    VDBQ_TEXT,    VDBQ_INTEGER, VDBQ_TEXT
};

static uint64_t orders(const void *tables)
{
    return ((const struct tpch *)tables)->orders;
}

/* ---------------------------------------------------------------- draw -- */

/* The first 8 of every 32 keys are there. */
static int64_t sparse_key(uint64_t number)
{
    uint64_t dense = number + 1;
    return (int64_t)((dense >> 3) << 5 | (dense & 7));
}

/* None whose key can be divided by three. */
static int64_t draw_customer(const struct tpch *tpch, struct random *random)
{
    uint64_t with_orders = tpch->customers - tpch->customers / 3;
    uint32_t drawn = random_below(random, (uint32_t)with_orders);
    return (int64_t)drawn / 2 * 3 + drawn % 2 + 1;
}

struct tpch_order tpch_draw_order(const struct tpch *tpch, uint64_t number,
                                  struct random *random)
{
    struct tpch_order order = { .key = sparse_key(number) };
    *random = random_start(tpch->seed, &tpch_orders.output, number);
    order.customer = draw_customer(tpch, random);
    order.day = FIRST_DAY + (int32_t)random_below(random, ORDER_DAYS);
    order.lines = 1 + random_below(random, TPCH_LINES_MAX);
    return order;
}

struct tpch_line tpch_draw_line(const struct tpch *tpch, uint64_t number,
                                const struct tpch_order *order, unsigned line,
                                struct random *random)
{
    struct tpch_line drawn;
    *random = random_start(tpch->seed, &tpch_lineitem.output,
                           number * (TPCH_LINES_MAX + 1) + line);
    drawn.part = random_between(random, 1, (int64_t)tpch->parts);
    drawn.supplier = tpch_supplier_of(
        tpch, (uint64_t)drawn.part, random_below(random, TPCH_PART_SUPPLIERS));
    int64_t quantity = random_between(random, 1, 50);
    drawn.quantity = quantity * 100;
    drawn.extended_price = quantity * tpch_retail_price((uint64_t)drawn.part);
    drawn.discount = random_between(random, 0, 10);
    drawn.tax = random_between(random, 0, 8);
    drawn.ship_day = order->day + (int32_t)random_between(random, 1, 121);
    drawn.commit_day = order->day + (int32_t)random_between(random, 30, 90);
    drawn.receipt_day = drawn.ship_day + (int32_t)random_between(random, 1, 30);
    drawn.shipped = drawn.ship_day <= CURRENT_DAY;
    drawn.received = drawn.receipt_day <= CURRENT_DAY;
    return drawn;
}

/* ---------------------------------------------------------------- rows -- */

/* F: all lines were shipped; O: none was; P: some were. */
static void fill_lines(const struct tpch *tpch, uint64_t number,
                       const struct tpch_order *order, struct batch *batch,
                       uint64_t row)
{
    int64_t total = 0;
    unsigned shipped = 0;
    for (unsigned i = 0; i < order->lines; i++) {
        struct random random;
        struct tpch_line line = tpch_draw_line(tpch, number, order, i, &random);
        total += line.extended_price * (100 - line.discount) * (100 + line.tax);
        shipped += line.shipped;
    }
    batch_words(batch, STATUS, row,
                shipped == order->lines ? "F"
                : shipped == 0          ? "O"
                                        : "P");
    batch_hundredths(batch, TOTAL, row, (total + 5000) / 10000);
}

static void fill_order(const struct tpch *tpch, uint64_t number,
                       struct batch *batch, uint64_t row)
{
    struct random random;
    struct tpch_order order = tpch_draw_order(tpch, number, &random);
    batch_integer(batch, KEY, row, order.key);
    batch_integer(batch, CUSTOMER, row, order.customer);
    fill_lines(tpch, number, &order, batch, row);
    batch_integer(batch, DATE, row, order.day);
    batch_words(batch, PRIORITY, row, words_draw(&random, &words_priorities));
    batch_print(batch, CLERK, row, "Clerk#%09lld",
                (long long)random_between(&random, 1, (int64_t)tpch->clerks));
    batch_integer(batch, SHIP_PRIORITY, row, 0);
    tpch_comment(tpch, &random, batch, COMMENT, row, 19, 78);
}

static void fill(const void *tables, struct batch *batch)
{
    for (uint64_t row = 0; row < batch->rows; row++)
        fill_order(tables, batch->first + row, batch, row);
}

const struct maker tpch_orders = {
    .output = {
        .name = "orders", .columns = COLUMNS, .names = names, .types = types,
        .schema = "(o_orderkey integer primary key, "
                  "o_custkey integer not null, "
                  "o_orderstatus char(1) not null, "
                  "o_totalprice decimal(15,2) not null, "
                  "o_orderdate date not null, "
                  "o_orderpriority char(15) not null, "
                  "o_clerk char(15) not null, "
                  "o_shippriority integer not null, "
                  "o_comment varchar(79) not null)",
    },
    .text_bytes = CLERK_BYTES, .batch_units = TPCH_BATCH, .unit_rows = 1,
    .units = orders, .fill = fill,
};
