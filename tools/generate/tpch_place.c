/* SPDX-License-Identifier: MIT */
/* The 5 regions and 25 nations; only their comments are drawn. */
#include "tpch.h"
#include "words.h"

enum { REGION_KEY, REGION_NAME, REGION_COMMENT, REGION_COLUMNS };
enum { KEY, NAME, REGION, COMMENT, COLUMNS };

static const char *const region_names[REGION_COLUMNS] = { "r_regionkey",
                                                          "r_name",
                                                          "r_comment" };
static const enum vdbq_type region_types[REGION_COLUMNS] = { VDBQ_INTEGER,
                                                             VDBQ_TEXT,
                                                             VDBQ_TEXT };
static const char *const names[COLUMNS] = { "n_nationkey", "n_name",
                                            "n_regionkey", "n_comment" };
static const enum vdbq_type types[COLUMNS] = { VDBQ_INTEGER, VDBQ_TEXT,
                                               VDBQ_INTEGER, VDBQ_TEXT };

static uint64_t regions(const void *tables)
{
    (void)tables;
    return words_regions.count;
}

static uint64_t nations(const void *tables)
{
    (void)tables;
    return WORDS_NATIONS;
}

static void fill_regions(const void *tables, struct batch *batch)
{
    const struct tpch *tpch = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(tpch->seed, &tpch_region.output, row);
        batch_integer(batch, REGION_KEY, row, (int64_t)row);
        batch_words(batch, REGION_NAME, row, words_regions.word[row]);
        tpch_comment(tpch, &random, batch, REGION_COMMENT, row, 31, 115);
    }
}

static void fill_nations(const void *tables, struct batch *batch)
{
    const struct tpch *tpch = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(tpch->seed, &tpch_nation.output, row);
        batch_integer(batch, KEY, row, (int64_t)row);
        batch_words(batch, NAME, row, words_nations[row].name);
        batch_integer(batch, REGION, row, words_nations[row].region);
        tpch_comment(tpch, &random, batch, COMMENT, row, 31, 114);
    }
}

const struct maker tpch_region = {
    .output = {
        .name = "region", .columns = REGION_COLUMNS, .names = region_names,
        .types = region_types,
        .schema = "(r_regionkey integer primary key, "
                  "r_name char(25) not null, r_comment varchar(152) not null)",
    },
    .batch_units = TPCH_BATCH, .unit_rows = 1, .units = regions,
    .fill = fill_regions,
};
const struct maker tpch_nation = {
    .output = {
        .name = "nation", .columns = COLUMNS, .names = names, .types = types,
        .schema = "(n_nationkey integer primary key, "
                  "n_name char(25) not null, n_regionkey integer not null, "
                  "n_comment varchar(152) not null)",
    },
    .batch_units = TPCH_BATCH, .unit_rows = 1, .units = nations,
    .fill = fill_nations,
};
