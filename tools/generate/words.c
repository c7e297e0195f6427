/* SPDX-License-Identifier: MIT */
#include "words.h"

/* clang-format off */
#define WORDS(name, ...)                                                     \
    static const char *const name[] = { __VA_ARGS__ };                       \
    const struct words words_##name = { sizeof name / sizeof name[0], name };

WORDS(colors,
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
    "white",     "yellow")
WORDS(kinds, "STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
WORDS(finishes, "ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
WORDS(metals, "TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
WORDS(measures, "SM", "MED", "LG", "JUMBO", "WRAP")
WORDS(vessels, "CASE", "BOX", "JAR", "PKG", "PACK", "CAN", "DRUM", "BAG")
WORDS(segments, "AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
WORDS(priorities, "1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
WORDS(ship_modes, "REG AIR", "AIR", "RAIL", "TRUCK", "MAIL", "FOB", "SHIP")
WORDS(regions, "AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")

const struct words_nation words_nations[WORDS_NATIONS] = {
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
/* clang-format on */

const char *words_draw(struct random *random, const struct words *words)
{
    return words->word[random_below(random, words->count)];
}

void words_phone(struct random *random, unsigned nation, struct batch *batch,
                 unsigned column, uint64_t row)
{
    unsigned last = 1000 + random_below(random, 9000);
    unsigned middle = 100 + random_below(random, 900);
    unsigned area = 100 + random_below(random, 900);
    batch_print(batch, column, row, "%u-%u-%u-%u", 10 + nation, area, middle,
                last);
}
