/* SPDX-License-Identifier: MIT */
/*
 * Suppliers and customers. Of every 2,000 suppliers one has a comment like
 * 'Customer%Complaints' and another one like 'Customer%Recommends'; where
 * there are fewer suppliers, of all of them.
 */
#include <string.h>

#include "tpch.h"
#include "words.h"

/* Columns of both tables; customers have a segment before the comment. */
enum {
    KEY,
    NAME,
    ADDRESS,
    NATION,
    PHONE,
    BALANCE,
    SUPPLIER_COMMENT,
    SEGMENT = SUPPLIER_COMMENT,
    SUPPLIER_COLUMNS,
    COMMENT = SUPPLIER_COLUMNS,
    COLUMNS
};
enum {
    ADDRESS_MIN = 10,
    ADDRESS_MAX = 40,
    SUPPLIER_COMMENT_MIN = 25,
    SUPPLIER_COMMENT_MAX = 100,
    TOLD_EACH = 2000,  /* suppliers, of which one is complained of  */
    PERSON_BYTES = 80, /* of a row's texts but for comments         */
};

static const char *const names[COLUMNS] = { "c_custkey",    "c_name",
                                            "c_address",    "c_nationkey",
                                            "c_phone",      "c_acctbal",
                                            "c_mktsegment", "c_comment" };
static const enum vdbq_type types[COLUMNS] = { VDBQ_INTEGER, VDBQ_TEXT,
                                               VDBQ_TEXT,    VDBQ_INTEGER,
                                               VDBQ_TEXT,    VDBQ_DECIMAL,
                                               VDBQ_TEXT,    VDBQ_TEXT };
/* Their types are the customers' first. */
static const char *const supplier_names[SUPPLIER_COLUMNS] = {
    "s_suppkey", "s_name",    "s_address", "s_nationkey",
    "s_phone",   "s_acctbal", "s_comment"
};

static uint64_t customers(const void *tables)
{
    return ((const struct tpch *)tables)->customers;
}

static uint64_t suppliers(const void *tables)
{
    return ((const struct tpch *)tables)->suppliers;
}

/* A random text of 64 signs (4.2.2.7). */
static void fill_address(struct random *random, struct batch *batch,
                         uint64_t row)
{
    static const char signs[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ, ";
    size_t length = (size_t)random_between(random, ADDRESS_MIN, ADDRESS_MAX);
    char *to = batch_room(batch, ADDRESS, row, length);
    uint64_t bits = 0;
    for (size_t i = 0; i < length; i++, bits >>= 6) {
        if (i % 10 == 0)
            bits = random_bits(random);
        to[i] = signs[bits % 64];
    }
}

/* Fills what both have. */
static void fill_person(struct random *random, const char *what,
                        struct batch *batch, uint64_t row)
{
    int64_t key = (int64_t)(batch->first + row) + 1;
    unsigned nation = random_below(random, WORDS_NATIONS);
    batch_integer(batch, KEY, row, key);
    batch_print(batch, NAME, row, "%s#%09lld", what, (long long)key);
    fill_address(random, batch, row);
    batch_integer(batch, NATION, row, nation);
    words_phone(random, nation, batch, PHONE, row);
    batch_hundredths(batch, BALANCE, row,
                     random_between(random, -99999, 999999));
}

static void fill_customers(const void *tables, struct batch *batch)
{
    const struct tpch *tpch = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(tpch->seed, &tpch_customer.output, batch->first + row);
        fill_person(&random, "Customer", batch, row);
        batch_words(batch, SEGMENT, row, words_draw(&random, &words_segments));
        tpch_comment(tpch, &random, batch, COMMENT, row, 29, 116);
    }
}

/* What is told of a supplier; NULL: nothing. */
static const char *told(const struct tpch *tpch, uint64_t supplier)
{
    uint64_t each = tpch->suppliers < TOLD_EACH ? tpch->suppliers : TOLD_EACH;
    struct random random = random_start(tpch->seed, &tpch_supplier.output,
                                        tpch->suppliers + supplier / each);
    uint64_t bad = random_below(&random, (uint32_t)each);
    uint64_t good = bad + 1 + random_below(&random, (uint32_t)each - 1);
    if (supplier % each == bad)
        return "Complaints";
    return supplier % each == good % each ? "Recommends" : NULL;
}

/* Puts "Customer", and behind it what is told, anywhere in a comment. */
static void fill_told(const char *what, struct random *random,
                      struct batch *batch, uint64_t row)
{
    static const char who[] = "Customer";
    struct vdbq_text *text =
        (struct vdbq_text *)batch->values[SUPPLIER_COMMENT] + row;
    const char *bytes = text->bytes;
    size_t length = text->length, who_size = sizeof who - 1;
    size_t spare = length - who_size - strlen(what);
    size_t between = (size_t)random_between(random, 0, (int64_t)spare);
    size_t before =
        (size_t)random_between(random, 0, (int64_t)(spare - between));
    char *to = batch_room(batch, SUPPLIER_COMMENT, row, length);
    memcpy(to, bytes, length);
    memcpy(to + before, who, who_size);
    memcpy(to + before + who_size + between, what, strlen(what));
}

static void fill_suppliers(const void *tables, struct batch *batch)
{
    const struct tpch *tpch = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(tpch->seed, &tpch_supplier.output, batch->first + row);
        const char *what = told(tpch, batch->first + row);
        fill_person(&random, "Supplier", batch, row);
        tpch_comment(tpch, &random, batch, SUPPLIER_COMMENT, row,
                     SUPPLIER_COMMENT_MIN, SUPPLIER_COMMENT_MAX);
        if (what)
            fill_told(what, &random, batch, row);
    }
}

const struct maker tpch_customer = {
    .output = {
        .name = "customer", .columns = COLUMNS, .names = names,
        .types = types,
        .schema = "(c_custkey integer primary key, "
                  "c_name varchar(25) not null, "
                  "c_address varchar(40) not null, "
                  "c_nationkey integer not null, c_phone char(15) not null, "
                  "c_acctbal decimal(15,2) not null, "
                  "c_mktsegment char(10) not null, "
                  "c_comment varchar(117) not null)",
    },
    .text_bytes = PERSON_BYTES, .batch_units = TPCH_BATCH, .unit_rows = 1,
    .units = customers, .fill = fill_customers,
};
const struct maker tpch_supplier = {
    .output = {
        .name = "supplier", .columns = SUPPLIER_COLUMNS,
        .names = supplier_names, .types = types,
        .schema = "(s_suppkey integer primary key, s_name char(25) not null, "
                  "s_address varchar(40) not null, "
                  "s_nationkey integer not null, s_phone char(15) not null, "
                  "s_acctbal decimal(15,2) not null, "
                  "s_comment varchar(101) not null)",
    },
    .text_bytes = PERSON_BYTES + SUPPLIER_COMMENT_MAX,
    .batch_units = TPCH_BATCH, .unit_rows = 1,
    .units = suppliers, .fill = fill_suppliers,
};
