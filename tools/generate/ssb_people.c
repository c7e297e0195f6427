/* SPDX-License-Identifier: MIT */
/* Customers and suppliers: 25 nations of 5 regions, 10 cities in each. */
#include "ssb.h"
#include "words.h"

/* Columns of both tables; the market segment is the customers' alone. */
enum { KEY, NAME, ADDRESS, CITY, NATION, REGION, PHONE, SEGMENT, COLUMNS };

static const char *const customer_names[COLUMNS] = {
    "c_custkey", "c_name",   "c_address", "c_city",
    "c_nation",  "c_region", "c_phone",   "c_mktsegment"
};
static const char *const supplier_names[COLUMNS - 1] = {
    "s_suppkey", "s_name",   "s_address", "s_city",
    "s_nation",  "s_region", "s_phone"
};
static const enum vdbq_type types[COLUMNS] = { VDBQ_INTEGER, VDBQ_TEXT,
                                               VDBQ_TEXT,    VDBQ_TEXT,
                                               VDBQ_TEXT,    VDBQ_TEXT,
                                               VDBQ_TEXT,    VDBQ_TEXT };

static uint64_t customers(const void *tables)
{
    return ((const struct ssb *)tables)->customers;
}

static uint64_t suppliers(const void *tables)
{
    return ((const struct ssb *)tables)->suppliers;
}

/* Writes 10 to 25 letters and digits, and a NUL. */
static void draw_address(struct random *random, char *address)
{
    static const char signs[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ ";
    unsigned length = 10 + random_below(random, 16);
    for (unsigned i = 0; i < length; i++)
        address[i] = signs[random_below(random, sizeof signs - 1)];
    address[length] = '\0';
}

/* Fills what both have. */
static void fill_person(struct random *random, const char *what,
                        struct batch *batch, uint64_t row)
{
    char address[26];
    unsigned nation = random_below(random, 25), city = random_below(random, 10);
    int64_t key = (int64_t)(batch->first + row) + 1;
    batch_integer(batch, KEY, row, key);
    batch_print(batch, NAME, row, "%s#%09lld", what, (long long)key);
    draw_address(random, address);
    batch_print(batch, ADDRESS, row, "%s", address);
    batch_print(batch, CITY, row, "%-9.9s%u", words_nations[nation].name, city);
    batch_words(batch, NATION, row, words_nations[nation].name);
    batch_words(batch, REGION, row,
                words_regions.word[words_nations[nation].region]);
    words_phone(random, nation, batch, PHONE, row);
}

static void fill_customers(const void *tables, struct batch *batch)
{
    const struct ssb *ssb = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(ssb->seed, &ssb_customer.output, batch->first + row);
        fill_person(&random, "Customer", batch, row);
        batch_words(batch, SEGMENT, row, words_draw(&random, &words_segments));
    }
}

static void fill_suppliers(const void *tables, struct batch *batch)
{
    const struct ssb *ssb = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(ssb->seed, &ssb_supplier.output, batch->first + row);
        fill_person(&random, "Supplier", batch, row);
    }
}

const struct maker ssb_customer = {
    .output = {
        .name = "customer", .columns = COLUMNS, .names = customer_names,
        .types = types,
        .schema = "(c_custkey integer primary key, c_name text, "
                  "c_address text, c_city text, c_nation text, "
                  "c_region text, c_phone text, c_mktsegment text)",
    },
    .text_bytes = BATCH_TEXT_BYTES,
    .batch_units = SSB_BATCH, .unit_rows = 1, .units = customers, .fill = fill_customers,
};
const struct maker ssb_supplier = {
    .output = {
        .name = "supplier", .columns = COLUMNS - 1, .names = supplier_names,
        .types = types,
        .schema = "(s_suppkey integer primary key, s_name text, "
                  "s_address text, s_city text, s_nation text, "
                  "s_region text, s_phone text)",
    },
    .text_bytes = BATCH_TEXT_BYTES,
    .batch_units = SSB_BATCH, .unit_rows = 1, .units = suppliers, .fill = fill_suppliers,
};
