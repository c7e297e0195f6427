/* SPDX-License-Identifier: MIT */
/* Parts: 5 makers, 5 categories of each, 40 brands of each of these. */
#include "ssb.h"

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

static const char *const colors[] = {
    "almond",    "antique",   "aquamarine", "azure",      "beige",
    "bisque",    "black",     "blanched",   "blue",       "blush",
    "brown",     "burlywood", "burnished",  "chartreuse", "chiffon",
    "chocolate", "coral",     "cornflower", "cornsilk",   "cream",
    "cyan",      "dark",      "deep",       "dim",        "dodger",
    "drab",      "firebrick", "floral",     "forest",     "frosted",
    "gainsboro", "ghost",     "goldenrod",  "green",      "grey",
    "honeydew",  "hot",       "indian",     "ivory",      "khaki",
    "lace",      "lavender",  "lawn",       "lemon",      "light",
    "lime",      "linen",     "magenta",    "maroon",     "medium",
    "metallic",  "midnight",  "mint",       "misty",      "moccasin",
    "navajo",    "navy",      "olive",      "orange",     "orchid",
    "pale",      "papaya",    "peach",      "peru",       "pink",
    "plum",      "powder",    "puff",       "purple",     "red",
    "rose",      "rosy",      "royal",      "saddle",     "salmon",
    "sandy",     "seashell",  "sienna",     "sky",        "slate",
    "smoke",     "snow",      "spring",     "steel",      "tan",
    "thistle",   "tomato",    "turquoise",  "violet",     "wheat",
    "white",     "yellow"
};
enum { COLORS = sizeof colors / sizeof colors[0] };

static const char *const kinds[] = { "STANDARD", "SMALL",   "MEDIUM",
                                     "LARGE",    "ECONOMY", "PROMO" };
static const char *const finishes[] = { "ANODIZED", "BURNISHED", "PLATED",
                                        "POLISHED", "BRUSHED" };
static const char *const metals[] = { "TIN", "NICKEL", "BRASS", "STEEL",
                                      "COPPER" };
static const char *const measures[] = { "SM", "MED", "LG", "JUMBO", "WRAP" };
static const char *const vessels[] = { "CASE", "BOX", "JAR",  "PKG",
                                       "PACK", "CAN", "DRUM", "BAG" };

static uint64_t row_count(const struct ssb *ssb)
{
    return ssb->parts;
}

int64_t ssb_part_price(uint64_t part)
{
    return (int64_t)(90000 + part / 10 % 20001 + part % 1000 * 100);
}

static void fill_part(struct ssb_random *random, struct ssb_batch *batch,
                      uint64_t row)
{
    unsigned maker = 1 + ssb_draw(random, 5), group = 1 + ssb_draw(random, 5);
    unsigned brand = 1 + ssb_draw(random, 40);
    const char *color = colors[ssb_draw(random, COLORS)];
    ssb_integer(batch, KEY, row, (int64_t)(batch->first + row) + 1);
    ssb_print(batch, NAME, row, "%s %s", color,
              colors[ssb_draw(random, COLORS)]);
    ssb_print(batch, MFGR, row, "MFGR#%u", maker);
    ssb_print(batch, CATEGORY, row, "MFGR#%u%u", maker, group);
    ssb_print(batch, BRAND1, row, "MFGR#%u%u%02u", maker, group, brand);
    ssb_words(batch, COLOR, row, color);
    ssb_print(batch, TYPE, row, "%s %s %s", kinds[ssb_draw(random, 6)],
              finishes[ssb_draw(random, 5)], metals[ssb_draw(random, 5)]);
    ssb_integer(batch, SIZE, row, 1 + ssb_draw(random, 50));
    ssb_print(batch, CONTAINER, row, "%s %s", measures[ssb_draw(random, 5)],
              vessels[ssb_draw(random, 8)]);
}

static void fill(const struct ssb *ssb, struct ssb_batch *batch)
{
    for (uint64_t row = 0; row < batch->rows; row++) {
        struct ssb_random random =
            ssb_random(ssb, &ssb_part, batch->first + row);
        fill_part(&random, batch, row);
    }
}

const struct ssb_table ssb_part = {
    .output = {
        .name = "part", .columns = COLUMNS, .names = names, .types = types,
        .schema = "(p_partkey integer primary key, p_name text, p_mfgr text, "
                  "p_category text, p_brand1 text, p_color text, "
                  "p_type text, p_size integer, p_container text)",
    },
    .text_bytes = SSB_TEXT_BYTES, .rows = row_count, .fill = fill,
};
