/* SPDX-License-Identifier: MIT */
/* The columns of hits, and those whose values say nothing of one another. */
#include "hits.h"
#include "line.h"

#define NAME(name, type, rule, number) #name,
const char *const hits_names[HITS_COLUMNS] = { HITS_COLUMN_LIST(NAME) };

#define TYPE(name, type, rule, number) VDBQ_##type,
const enum vdbq_type hits_types[HITS_COLUMNS] = { HITS_COLUMN_LIST(TYPE) };

#define RULE(name, type, rule, number) { HITS_##rule, number },
static const struct {
    enum hits_rule rule;
    uint32_t number;
} rules[HITS_COLUMNS] = { HITS_COLUMN_LIST(RULE) };

enum { SOME_ROWS = 64, WORDS = 40 }; /* of WORD: different ones in a column */

static int64_t draw(struct random *random, enum hits_rule rule, uint32_t number)
{
    switch (rule) {
    case HITS_FLAG:
        return random_below(random, 1000) < number;
    case HITS_EVEN:
        return random_below(random, number);
    case HITS_SKEW:
        return (int64_t)line_skewed(random, number);
    case HITS_SOME:
        return random_below(random, SOME_ROWS) == 0
                   ? (int64_t)line_skewed(random, number)
                   : 0;
    default:
        return number;
    }
}

static void fill_word(struct random *random, struct batch *batch,
                      unsigned column, uint64_t row)
{
    struct line line = { 0 };
    bool is_empty = random_below(random, 1000) >= rules[column].number;
    if (!is_empty)
        line_add_words(&line, column * WORDS + line_skewed(random, WORDS), 1,
                       "");
    line_take(&line, batch, column, row);
}

void hits_fill_simple(struct random *random, struct batch *batch, uint64_t row)
{
    for (unsigned i = 0; i < HITS_COLUMNS; i++)
        if (rules[i].rule == HITS_WORD)
            fill_word(random, batch, i, row);
        else if (rules[i].rule != HITS_MADE)
            batch_integer(batch, i, row,
                          draw(random, rules[i].rule, rules[i].number));
}
