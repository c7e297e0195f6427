/* SPDX-License-Identifier: MIT */
/*
 * The text that TPC-H's comments are cut from: sentences of a grammar with
 * weights (TPC-H 4.2.2.10 and 4.2.2.14), so that a comment begins and ends
 * anywhere in a word, and LIKE finds as many as the specification means.
 */
#ifndef VDBQ_TOOLS_TPCH_TEXT_H
#define VDBQ_TOOLS_TPCH_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "batch.h"

struct tpch_text {
    char *bytes;
    size_t size;
};

/* Makes `size` bytes, the same ones whatever the number of threads. Returns
 * the program's exit code, and has said why; tpch_text_finish() is due. */
int tpch_text_make(struct tpch_text *text, size_t size, uint64_t seed,
                   unsigned threads);
void tpch_text_finish(struct tpch_text *text);

/* A piece of `least` to `most` bytes that begins anywhere. */
struct vdbq_text tpch_text_cut(const struct tpch_text *text,
                               struct random *random, unsigned least,
                               unsigned most);

#endif
