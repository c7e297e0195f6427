/* SPDX-License-Identifier: MIT */
/* Names that the Star Schema Benchmark has from TPC-H. */
#ifndef VDBQ_TOOLS_WORDS_H
#define VDBQ_TOOLS_WORDS_H

#include "batch.h"

struct words {
    unsigned count;
    const char *const *word;
};

/* A part's type is a kind, a finish and a metal; its container a measure and a
 * vessel. */
extern const struct words words_colors, words_kinds, words_finishes,
    words_metals, words_measures, words_vessels, words_segments,
    words_priorities, words_ship_modes, words_regions;

enum { WORDS_NATIONS = 25 };
extern const struct words_nation {
    const char *name;
    unsigned region; /* of words_regions */
} words_nations[WORDS_NATIONS];

/* Each word as likely as any other. */
const char *words_draw(struct random *random, const struct words *words);

/* Draws a phone number: country-area-three digits-four digits. */
void words_phone(struct random *random, unsigned nation, struct batch *batch,
                 unsigned column, uint64_t row);

#endif
