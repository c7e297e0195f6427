/* SPDX-License-Identifier: MIT */
/* Parts: 5 makers, 5 categories of each, 40 brands of each of these. */
#include "ssb.h"
#include "words.h"

enum {
    KEY,
    NAME,
    MFGR,
    CATEGORY,
    BRAND1,
    COLOR,
    TYPE,
    SIZE,
    CONTAINER,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "p_partkey", "p_name", "p_mfgr", "p_category", "p_brand1",
    "p_color",   "p_type", "p_size", "p_container"
};
static const enum vdbq_type types[COLUMNS] = {
    VDBQ_INTEGER, VDBQ_TEXT, VDBQ_TEXT,    VDBQ_TEXT, VDBQ_TEXT,
    VDBQ_TEXT,    VDBQ_TEXT, VDBQ_INTEGER, VDBQ_TEXT
};

static uint64_t row_count(const void *tables)
{
    return ((const struct ssb *)tables)->parts;
}

int64_t ssb_part_price(uint64_t part)
{
    return (int64_t)(90000 + part / 10 % 20001 + part % 1000 * 100);
}

static void fill_names(struct random *random, struct batch *batch, uint64_t row)
{
    const char *color = words_draw(random, &words_colors);
    batch_words(batch, COLOR, row, color);
    batch_print(batch, NAME, row, "%s %s", color,
                words_draw(random, &words_colors));
}

static void fill_type(struct random *random, struct batch *batch, uint64_t row)
{
    const char *metal = words_draw(random, &words_metals);
    const char *finish = words_draw(random, &words_finishes);
    const char *kind = words_draw(random, &words_kinds);
    batch_print(batch, TYPE, row, "%s %s %s", kind, finish, metal);
}

static void fill_container(struct random *random, struct batch *batch,
                           uint64_t row)
{
    const char *vessel = words_draw(random, &words_vessels);
    const char *measure = words_draw(random, &words_measures);
    batch_print(batch, CONTAINER, row, "%s %s", measure, vessel);
}

static void fill_part(struct random *random, struct batch *batch, uint64_t row)
{
    unsigned maker = 1 + random_below(random, 5);
    unsigned group = 1 + random_below(random, 5);
    unsigned brand = 1 + random_below(random, 40);
    batch_integer(batch, KEY, row, (int64_t)(batch->first + row) + 1);
    fill_names(random, batch, row);
    batch_print(batch, MFGR, row, "MFGR#%u", maker);
    batch_print(batch, CATEGORY, row, "MFGR#%u%u", maker, group);
    batch_print(batch, BRAND1, row, "MFGR#%u%u%02u", maker, group, brand);
    fill_type(random, batch, row);
    batch_integer(batch, SIZE, row, 1 + random_below(random, 50));
    fill_container(random, batch, row);
}

static void fill(const void *tables, struct batch *batch)
{
    const struct ssb *ssb = tables;
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct random random =
            random_start(ssb->seed, &ssb_part.output, batch->first + row);
        fill_part(&random, batch, row);
    }
}

const struct maker ssb_part = {
    .output = {
        .name = "part", .columns = COLUMNS, .names = names, .types = types,
        .schema = "(p_partkey integer primary key, p_name text, p_mfgr text, "
                  "p_category text, p_brand1 text, p_color text, "
                  "p_type text, p_size integer, p_container text)",
    },
    .text_bytes = BATCH_TEXT_BYTES,
    .batch_units = SSB_BATCH, .unit_rows = 1, .units = row_count, .fill = fill,
};
