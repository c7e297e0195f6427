/* SPDX-License-Identifier: MIT */
/* The lines of orders; those of an order are made together. */
#include "tpch.h"
#include "words.h"

enum {
    ORDER,
    PART,
    SUPPLIER,
    LINE,
    QUANTITY,
    EXTENDED_PRICE,
    DISCOUNT,
    TAX,
    RETURN_FLAG,
    STATUS,
    SHIP_DATE,
    COMMIT_DATE,
    RECEIPT_DATE,
    INSTRUCTION,
    MODE,
    COMMENT,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "l_orderkey",    "l_partkey",       "l_suppkey",  "l_linenumber",
    "l_quantity",    "l_extendedprice", "l_discount", "l_tax",
    "l_returnflag",  "l_linestatus",    "l_shipdate", "l_commitdate",
    "l_receiptdate", "l_shipinstruct",  "l_shipmode", "l_comment"
};
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER,
    VDBQ_DECIMAL, VDBQ_DECIMAL, VDBQ_DECIMAL, VDBQ_DECIMAL,
    VDBQ_TEXT,    VDBQ_TEXT,    VDBQ_DATE,    VDBQ_DATE,
    VDBQ_DATE,    VDBQ_TEXT,    VDBQ_TEXT,    VDBQ_TEXT
};

static const char *const instruction_words[] = { "DELIVER IN PERSON",
                                                 "COLLECT COD", "NONE",
                                                 "TAKE BACK RETURN" };
static const struct words instructions = { 4, instruction_words };

static uint64_t orders(const void *tables)
{
    return ((const struct tpch *)tables)->orders;
}

static void fill_numbers(const struct tpch_line *line, struct batch *batch,
                         uint64_t row)
{
    batch_integer(batch, PART, row, line->part);
    batch_integer(batch, SUPPLIER, row, line->supplier);
    batch_hundredths(batch, QUANTITY, row, line->quantity);
    batch_hundredths(batch, EXTENDED_PRICE, row, line->extended_price);
    batch_hundredths(batch, DISCOUNT, row, line->discount);
    batch_hundredths(batch, TAX, row, line->tax);
    batch_integer(batch, SHIP_DATE, row, line->ship_day);
    batch_integer(batch, COMMIT_DATE, row, line->commit_day);
    batch_integer(batch, RECEIPT_DATE, row, line->receipt_day);
}

static void fill_texts(const struct tpch *tpch, const struct tpch_line *line,
                       struct random *random, struct batch *batch, uint64_t row)
{
    const char *back = random_below(random, 2) == 0 ? "R" : "A";
    batch_words(batch, RETURN_FLAG, row, line->received ? back : "N");
    batch_words(batch, STATUS, row, line->shipped ? "F" : "O");
    batch_words(batch, INSTRUCTION, row, words_draw(random, &instructions));
    batch_words(batch, MODE, row, words_draw(random, &words_ship_modes));
    tpch_comment(tpch, random, batch, COMMENT, row, 10, 43);
}

/* Fills the lines of an order from `row` on; returns the row behind them. */
static uint64_t fill_order(const struct tpch *tpch, uint64_t number,
                           struct batch *batch, uint64_t row)
{
    struct random random;
    struct tpch_order order = tpch_draw_order(tpch, number, &random);
    for (unsigned i = 0; i < order.lines; i++, row++) {
        struct tpch_line line =
            tpch_draw_line(tpch, number, &order, i, &random);
        batch_integer(batch, ORDER, row, order.key);
        batch_integer(batch, LINE, row, i + 1);
        fill_numbers(&line, batch, row);
        fill_texts(tpch, &line, &random, batch, row);
    }
    return row;
}

static void fill(const void *tables, struct batch *batch)
{
    uint64_t row = 0;
    for (uint64_t i = 0; i < batch->units; i++)
        row = fill_order(tables, batch->first + i, batch, row);
    batch->rows = row;
}

const struct maker tpch_lineitem = {
    .output = {
        .name = "lineitem", .columns = COLUMNS, .names = names,
        .types = types,
        .schema = "(l_orderkey integer not null, l_partkey integer not null, "
                  "l_suppkey integer not null, l_linenumber integer not null, "
                  "l_quantity decimal(15,2) not null, "
                  "l_extendedprice decimal(15,2) not null, "
                  "l_discount decimal(15,2) not null, "
                  "l_tax decimal(15,2) not null, "
                  "l_returnflag char(1) not null, "
                  "l_linestatus char(1) not null, l_shipdate date not null, "
                  "l_commitdate date not null, l_receiptdate date not null, "
                  "l_shipinstruct char(25) not null, "
                  "l_shipmode char(10) not null, "
                  "l_comment varchar(44) not null)",
    },
    .batch_units = TPCH_BATCH, .unit_rows = TPCH_LINES_MAX, .units = orders,
    .fill = fill,
};
