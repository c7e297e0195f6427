/* SPDX-License-Identifier: MIT */
/*
 * The words of a run while they are made. Word table rules:
 *
 * 1. The words grow in steps: first by those of build rows, by constants and
 *    parameters, then by the texts that calls give, in the order of
 *    instructions. A call is computed for all words that are there before it:
 *    what a register that it reads may hold was there, since the register is
 *    written before it is read.
 * 2. Each growth gives every word a new number; the order never changes. All
 *    that holds numbers follows: the base's words, those of build rows, and
 *    what calls gave.
 */
#ifndef VDBQ_EXEC_RUN_DICTIONARY_INNER_H
#define VDBQ_EXEC_RUN_DICTIONARY_INNER_H

#include "exec/dictionary/run_dictionary.h"
#include "program/functions/function.h"

/* A different call and what it gives, for each word. */
struct call {
    const char *text; /* of the call as the program has it; finds it again */
    int operand;      /* register that it was computed for last    */
    struct function_lookup lookup; /* the function and its arguments */
    /* one an entry: the call has no answer, or it is NULL */
    bool *fails, *null;
    int64_t *integers; /* numbers where the result is a text        */
    double *reals;     /* results, where they are floats */
    uint32_t count;    /* of the words                              */
    bool pending;      /* texts have no numbers yet                 */
};

struct making {
    struct run_dictionary *table;               /* that is made */
    const struct run_dictionary_params *params; /* of the caller */
    struct program_pack pack;                   /* of the program */
    struct vector calls;   /* of struct call                             */
    uint32_t **build_side; /* numbers of the words of inner columns now  */
    uint32_t *renumbered;  /* base's numbers now; NULL: they are the same */
    i64 *slots;            /* values of the open constants */
    struct run_lookup *lookups; /* one a place: results by entry */
    struct error *error;        /* where the first failure is written */
};

/* ---------------------------------------------- run_dictionary_grow.c -- */

/* Joins more words to those that are there and gives their numbers. False: no
 * memory. */
bool word_grow_by(struct making *making, struct dictionary *more,
                  uint32_t *more_numbers);
/* Adds texts to the words and gives their numbers; those without bytes are
 * none. False: no memory. */
bool word_grow_by_texts(struct making *making, const struct vdbq_text *texts,
                        size_t count, uint32_t *numbers);
/* Whether a column of build rows is the first one with its words. */
bool word_build_first(const struct making *making, unsigned column);

/* ---------------------------------------------- run_dictionary_call.c -- */

/* Computes the calls of all lookups, whose texts become words. */
enum vdbq_status word_call_all(struct making *making);
/* Makes the lookup tables of what calls gave, once all words are there. */
enum vdbq_status word_call_tables(struct making *making);
/* Word i of those before has number numbers[i] of `now` (rule 2). False: no
 * memory. */
bool word_call_renumber(struct making *making, const uint32_t *numbers,
                        uint32_t now);

#endif
