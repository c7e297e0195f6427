/* SPDX-License-Identifier: MIT */
/* Parts, and which of the suppliers have them. */
#include "tpch.h"
#include "words.h"

enum { KEY, NAME, MFGR, BRAND, TYPE, SIZE, CONTAINER, PRICE, COMMENT, COLUMNS };
enum { PS_PART, PS_SUPPLIER, PS_AVAILABLE, PS_COST, PS_COMMENT, PS_COLUMNS };
enum {
    COLORS = 5,      /* of a name                */
    PART_BYTES = 120 /* of a row's made texts    */
};

static const char *const names[COLUMNS] = {
    "p_partkey", "p_name",      "p_mfgr",        "p_brand",  "p_type",
    "p_size",    "p_container", "p_retailprice", "p_comment"
};
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_INTEGER, VDBQ_TEXT, VDBQ_TEXT,    VDBQ_TEXT, VDBQ_TEXT,
    VDBQ_INTEGER, VDBQ_TEXT, VDBQ_DECIMAL, VDBQ_TEXT
};
static const char *const partsupp_names[PS_COLUMNS] = {
    "ps_partkey", "ps_suppkey", "ps_availqty", "ps_supplycost", "ps_comment"
};
static const enum vdbq_type partsupp_types[PS_COLUMNS] = {
    VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_INTEGER, VDBQ_DECIMAL, VDBQ_TEXT
};

static uint64_t parts(const void *tables)
{
    return ((const struct tpch *)tables)->parts;
}

int64_t tpch_retail_price(uint64_t part)
{
    return (int64_t)(90000 + part / 10 % 20001 + part % 1000 * 100);
}

int64_t tpch_supplier_of(const struct tpch *tpch, uint64_t part,
                         unsigned number)
{
    uint64_t suppliers = tpch->suppliers;
    uint64_t step = suppliers / TPCH_PART_SUPPLIERS + (part - 1) / suppliers;
    return (int64_t)((part + number * step) % suppliers + 1);
}

/* ---------------------------------------------------------------- part -- */

static bool is_among(const char *color, const char *const *colors,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (colors[i] == color)
            return true;
    return false;
}

static void fill_name(struct random *random, struct batch *batch, uint64_t row)
{
    const char *color[COLORS];
    for (unsigned i = 0; i < COLORS; i++)
        do
            color[i] = words_draw(random, &words_colors);
        while (is_among(color[i], color, i));
    batch_print(batch, NAME, row, "%s %s %s %s %s", color[0], color[1],
                color[2], color[3], color[4]);
}

static void fill_type(struct random *random, struct batch *batch, uint64_t row)
{
    const char *kind = words_draw(random, &words_kinds);
    const char *finish = words_draw(random, &words_finishes);
    const char *metal = words_draw(random, &words_metals);
    batch_print(batch, TYPE, row, "%s %s %s", kind, finish, metal);
}

static void fill_container(struct random *random, struct batch *batch,
                           uint64_t row)
{
    const char *measure = words_draw(random, &words_measures);
    const char *vessel = words_draw(random, &words_vessels);
    batch_print(batch, CONTAINER, row, "%s %s", measure, vessel);
}

static void fill_part(const struct tpch *tpch, struct random *random,
                      struct batch *batch, uint64_t row)
{
    uint64_t key = batch->first + row + 1;
    unsigned maker = 1 + random_below(random, 5);
    batch_integer(batch, KEY, row, (int64_t)key);
    fill_name(random, batch, row);
    batch_print(batch, MFGR, row, "Manufacturer#%u", maker);
    batch_print(batch, BRAND, row, "Brand#%u%u", maker,
                1 + random_below(random, 5));
    fill_type(random, batch, row);
    batch_integer(batch, SIZE, row, random_between(random, 1, 50));
    fill_container(random, batch, row);
    batch_hundredths(batch, PRICE, row, tpch_retail_price(key));
    tpch_comment(tpch, random, batch, COMMENT, row, 5, 22);
}

static void fill_parts(const void *tables, struct batch *batch)
{
    const struct tpch *tpch = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(tpch->seed, &tpch_part.output, batch->first + row);
        fill_part(tpch, &random, batch, row);
    }
}

/* ------------------------------------------------------------ partsupp -- */

/* The rows of a part. */
static void fill_suppliers(const struct tpch *tpch, uint64_t part,
                           struct batch *batch, uint64_t row)
{
    struct random random =
        random_start(tpch->seed, &tpch_partsupp.output, part);
    for (unsigned i = 0; i < TPCH_PART_SUPPLIERS; i++, row++) {
        batch_integer(batch, PS_PART, row, (int64_t)part);
        batch_integer(batch, PS_SUPPLIER, row, tpch_supplier_of(tpch, part, i));
        batch_integer(batch, PS_AVAILABLE, row,
                      random_between(&random, 1, 9999));
        batch_hundredths(batch, PS_COST, row,
                         random_between(&random, 100, 100000));
        tpch_comment(tpch, &random, batch, PS_COMMENT, row, 49, 198);
    }
}

static void fill_partsupp(const void *tables, struct batch *batch)
{
    for (uint64_t i = 0; i < batch->units; i++)
        fill_suppliers(tables, batch->first + i + 1, batch,
                       i * TPCH_PART_SUPPLIERS);
    batch->rows = batch->units * TPCH_PART_SUPPLIERS;
}

const struct maker tpch_part = {
    .output = {
        .name = "part", .columns = COLUMNS, .names = names, .types = types,
        .schema = "(p_partkey integer primary key, "
                  "p_name varchar(55) not null, p_mfgr char(25) not null, "
                  "p_brand char(10) not null, p_type varchar(25) not null, "
                  "p_size integer not null, p_container char(10) not null, "
                  "p_retailprice decimal(15,2) not null, "
                  "p_comment varchar(23) not null)",
    },
    .text_bytes = PART_BYTES, .batch_units = TPCH_BATCH, .unit_rows = 1,
    .units = parts, .fill = fill_parts,
};
const struct maker tpch_partsupp = {
    .output = {
        .name = "partsupp", .columns = PS_COLUMNS, .names = partsupp_names,
        .types = partsupp_types,
        .schema = "(ps_partkey integer not null, ps_suppkey integer not null, "
                  "ps_availqty integer not null, "
                  "ps_supplycost decimal(15,2) not null, "
                  "ps_comment varchar(199) not null)",
    },
    .batch_units = TPCH_BATCH, .unit_rows = TPCH_PART_SUPPLIERS,
    .units = parts, .fill = fill_partsupp,
};
