/* SPDX-License-Identifier: MIT */
/* Texts of the web's tables: pieces that are put together, words, addresses of
 * pages. Every text follows from a number alone. */
#ifndef VDBQ_TOOLS_LINE_H
#define VDBQ_TOOLS_LINE_H

#include "tools/generate/batch.h"

enum { LINE_BYTES = 640 }; /* most that a line has */

/* A text that grows; a piece that does not fit is left out. */
struct line {
    size_t length;
    char bytes[LINE_BYTES];
};

void line_add(struct line *line, const char *words);
void line_add_number(struct line *line, uint64_t number);
/* So many words of one language, blanks or `between` between them. */
void line_add_words(struct line *line, uint64_t bits, unsigned count,
                    const char *between);
/* The address of page `page` of site `site`: /path alone where `whole` is false. */
void line_add_address(struct line *line, uint64_t site, uint64_t page,
                      bool whole);

/* Makes it a value of a row, and empties it. */
void line_take(struct line *line, struct batch *batch, unsigned column,
               uint64_t row);

/* A number below `limit` whose logarithm is as likely to be anywhere, so that
 * the first ones are drawn far more often than others: Zipf's law. */
uint64_t line_skewed(struct random *random, uint64_t limit);
/* ... or, once in `share` times, one as likely as any other. */
uint64_t line_mixed(struct random *random, uint64_t limit, unsigned share);

#endif
