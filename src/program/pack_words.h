/* SPDX-License-Identifier: MIT */
/* What a program does with words. */
#ifndef VDBQ_PROGRAM_PACK_WORDS_H
#define VDBQ_PROGRAM_PACK_WORDS_H

#include "program/program.h"

/* The column of the first cursor whose words a register holds. */
enum { WORDS_OF_KEY = -1, WORDS_OF_NONE = -2 };
int pack_words_column(const struct program *program, int register_);

/* Sets the uses of inputs of a pack whose slots are made, and which slots are
 * only compared. False: no memory. */
bool pack_word_uses(const struct program *program, struct arena *arena,
                    struct program_pack *pack);

#endif
