/* SPDX-License-Identifier: MIT */
/*
 * Where a program is cut in two for tiles that are refilled (cl/sink/refill.cl).
 */
#ifndef VDBQ_PROGRAM_REFILL_H
#define VDBQ_PROGRAM_REFILL_H

#include "program/program.h"

/* Words of a row that waits, at most: what they take of local memory other
 * work-groups do not have. */
enum { REFILL_WORDS_MAX = 4 };

/* A register that the first part writes and the rest reads. */
struct refill_kept {
    int register_;
    bool wide;     /* two words */
    unsigned word; /* the first one */
};

struct refill {
    int pc;         /* of the first instruction of the rest                */
    unsigned words; /* of a row that waits: its number, and what is kept   */
    unsigned count; /* of registers that are kept                          */
    struct refill_kept kept[REFILL_WORDS_MAX];
    unsigned probe_count;
    int probes[REFILL_WORDS_MAX]; /* pc of Probes whose row the first part only
                                     tests: the rest finds it, by the key  */
};

/* Finds where to cut a program that adds rows to groups: behind half of what takes
 * rows away, and what does so by their own columns alone. False where that is
 * nowhere, where a row would jump over the cut, where too much would be kept, or
 * where the rest reads no more columns. */
bool refill_find(const struct program *program, struct refill *refill);

/* Whether an instruction is one of its probes. */
bool refill_probes(const struct refill *refill, int pc);

/* The end of the first part's text, and the beginning of the rest's. */
void refill_print_kept(const struct refill *refill, struct text *text);
void refill_print_taken(const struct refill *refill, struct text *text);

#endif
