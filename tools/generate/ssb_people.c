/* SPDX-License-Identifier: MIT */
/* Customers and suppliers: 25 nations of 5 regions, 10 cities in each. */
#include "ssb.h"

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

static const char *const regions[] = { "AFRICA", "AMERICA", "ASIA", "EUROPE",
                                       "MIDDLE EAST" };
static const struct {
    const char *name;
    unsigned region;
} nations[] = {
    { "ALGERIA", 0 },      { "ARGENTINA", 1 },  { "BRAZIL", 1 },
    { "CANADA", 1 },       { "EGYPT", 4 },      { "ETHIOPIA", 0 },
    { "FRANCE", 3 },       { "GERMANY", 3 },    { "INDIA", 2 },
    { "INDONESIA", 2 },    { "IRAN", 4 },       { "IRAQ", 4 },
    { "JAPAN", 2 },        { "JORDAN", 4 },     { "KENYA", 0 },
    { "MOROCCO", 0 },      { "MOZAMBIQUE", 0 }, { "PERU", 1 },
    { "CHINA", 2 },        { "ROMANIA", 3 },    { "SAUDI ARABIA", 4 },
    { "VIETNAM", 2 },      { "RUSSIA", 3 },     { "UNITED KINGDOM", 3 },
    { "UNITED STATES", 1 }
};
static const char *const segments[] = { "AUTOMOBILE", "BUILDING", "FURNITURE",
                                        "HOUSEHOLD", "MACHINERY" };

static uint64_t customers(const struct ssb *ssb)
{
    return ssb->customers;
}

static uint64_t suppliers(const struct ssb *ssb)
{
    return ssb->suppliers;
}

/* Writes 10 to 25 letters and digits, and a NUL. */
static void draw_address(struct ssb_random *random, char *address)
{
    static const char signs[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ ";
    unsigned length = 10 + ssb_draw(random, 16);
    for (unsigned i = 0; i < length; i++)
        address[i] = signs[ssb_draw(random, sizeof signs - 1)];
    address[length] = '\0';
}

/* Fills what both have. */
static void fill_person(struct ssb_random *random, const char *what,
                        struct ssb_batch *batch, uint64_t row)
{
    char address[26];
    unsigned nation = ssb_draw(random, 25), city = ssb_draw(random, 10);
    int64_t key = (int64_t)(batch->first + row) + 1;
    ssb_integer(batch, KEY, row, key);
    ssb_print(batch, NAME, row, "%s#%09lld", what, (long long)key);
    draw_address(random, address);
    ssb_print(batch, ADDRESS, row, "%s", address);
    ssb_print(batch, CITY, row, "%-9.9s%u", nations[nation].name, city);
    ssb_words(batch, NATION, row, nations[nation].name);
    ssb_words(batch, REGION, row, regions[nations[nation].region]);
    ssb_print(batch, PHONE, row, "%u-%u-%u-%u", 10 + nation,
              100 + ssb_draw(random, 900), 100 + ssb_draw(random, 900),
              1000 + ssb_draw(random, 9000));
}

static void fill_customers(const struct ssb *ssb, struct ssb_batch *batch)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct ssb_random random =
            ssb_random(ssb, &ssb_customer, batch->first + row);
        fill_person(&random, "Customer", batch, row);
        ssb_words(batch, SEGMENT, row, segments[ssb_draw(&random, 5)]);
    }
}

static void fill_suppliers(const struct ssb *ssb, struct ssb_batch *batch)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct ssb_random random =
            ssb_random(ssb, &ssb_supplier, batch->first + row);
        fill_person(&random, "Supplier", batch, row);
    }
}

const struct ssb_table ssb_customer = {
    .output = {
        .name = "customer", .columns = COLUMNS, .names = customer_names,
        .types = types,
        .schema = "(c_custkey integer primary key, c_name text, "
                  "c_address text, c_city text, c_nation text, "
                  "c_region text, c_phone text, c_mktsegment text)",
    },
    .text_bytes = SSB_TEXT_BYTES, .rows = customers, .fill = fill_customers,
};
const struct ssb_table ssb_supplier = {
    .output = {
        .name = "supplier", .columns = COLUMNS - 1, .names = supplier_names,
        .types = types,
        .schema = "(s_suppkey integer primary key, s_name text, "
                  "s_address text, s_city text, s_nation text, "
                  "s_region text, s_phone text)",
    },
    .text_bytes = SSB_TEXT_BYTES, .rows = suppliers, .fill = fill_suppliers,
};
