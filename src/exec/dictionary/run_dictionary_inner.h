/* SPDX-License-Identifier: MIT */
/*
 * The words of a run while they are made. Word table rules:
 *
 * 1. The words grow in steps: first by those of build rows, by constants and
 *    parameters, then by the texts that calls give, in the order of
 *    instructions. A call that gives texts is computed for all words that are
 *    there before it: what a register that it reads may hold was there, since
 *    the register is written before it is read. Calls that give numbers are
 *    computed last, straight into their tables: nothing moves any more.
 * 2. Each growth gives every word a new number; the order never changes. All
 *    that holds numbers follows: the base's words, those of build rows, and
 *    what calls gave.
 * 3. Words of an input that are apart are none of these. The calls for those that
 *    are looked up or shown are computed for them alone, and their numbers stay; the
 *    number of one that is compared is odd if it is one of the constants, and
 *    even between two of them. The constants are none of the words either.
 */
#ifndef VDBQ_EXEC_RUN_DICTIONARY_INNER_H
#define VDBQ_EXEC_RUN_DICTIONARY_INNER_H

#include "exec/dictionary/run_dictionary.h"
#include "program/functions/function.h"

/* The texts that a call gives for some words, which one thread computed. */
struct call_share {
    uint32_t first, count; /* words */
    uint32_t *codes;       /* of each word: its text in `dictionary`, or why it
                              has none: CALL_NULL, CALL_FAILS               */
    struct dictionary
        *dictionary;   /* the different texts, until they are words */
    uint32_t *numbers; /* of these, among the words now */
    uint32_t numbered; /* how many have a number */
};
#define CALL_NULL  0xffffffffu
#define CALL_FAILS 0xfffffffeu

/* What instructions of one opcode look up. */
struct call_table {
    enum opcode op;
    unsigned width; /* bytes of a value */
    char *values;   /* one a word       */
};
enum { CALL_TABLES_MAX = 8 }; /* at least the opcodes that look up */

/* A different call, and what it gives. */
struct call {
    const char *text; /* of the call as the program has it, and ... */
    /* ... the words that are its own (rule 3), NULL: all; both find it again */
    const struct word_list *looked_up;
    int operand;                   /* register that it was computed for last */
    struct function_lookup lookup; /* the function and its arguments */
    /* where the result is a text */
    struct call_share *shares;
    unsigned share_count;
    uint32_t *places; /* numbers now of the words it was computed for; NULL:
                         they have not changed */
    struct call_table tables[CALL_TABLES_MAX];
    unsigned table_count;
};

struct making {
    struct run_dictionary *table;               /* that is made */
    const struct run_dictionary_params *params; /* of the caller */
    struct program_pack pack;                   /* of the program */
    /* of each register: the words apart that it holds; NULL: it has others */
    const struct word_list **looked_up;
    struct vector calls;   /* of struct call                             */
    uint32_t **build_side; /* numbers of the words of inner columns now  */
    uint32_t *renumbered;  /* base's numbers now; NULL: they are the same */
    i64 *slots;            /* values of the open constants */
    struct run_lookup *lookups; /* one a place: results by word */
    struct error *error;        /* where the first failure is written */
};

/* --------------------------------------------------- run_dictionary.c -- */

/* The text of a slot's constant or parameter; without bytes: it has none. */
struct vdbq_text word_constant_text(const struct making *making,
                                    const struct program_slot *slot);

/* ---------------------------------------------- run_dictionary_grow.c -- */

/* Joins more words to those that are there and gives their numbers. False: no
 * memory. */
bool word_grow_by(struct making *making, struct dictionary *more,
                  uint32_t *more_numbers);
/* Adds texts to the words and gives their numbers; those without bytes are
 * none. False: no memory. */
bool word_grow_by_texts(struct making *making, const struct vdbq_text *texts,
                        size_t count, uint32_t *numbers);
/* Number i becomes numbers[from[i]], or numbers[i] where `from` is NULL. */
void word_follow(const struct making *making, uint32_t *to,
                 const uint32_t *from, uint32_t count, const uint32_t *numbers);
/* Whether a column of build rows is the first one with its words. */
bool word_build_first(const struct making *making, unsigned column);

/* ------------------------------------------- run_dictionary_compare.c -- */

/* Whether an input's words are numbered by the constants that they are compared
 * with. */
bool words_compared(const struct making *making, unsigned input);
/* Collects these constants. False: no memory. */
bool word_constants(struct making *making);
/* The number of one. */
i64 word_constant_number(const struct making *making, struct vdbq_text text);
/* Room for the numbers of such words of an input in a morsel: `place` is theirs in
 * the base. False: no memory. */
bool word_places_room(const struct making *making, size_t place,
                      struct order_codes *order_codes);
/* Writes all these numbers, once there is room for them. */
void word_places(const struct making *making,
                 const struct order_codes *order_codes);

/* ---------------------------------------------- run_dictionary_call.c -- */

/* Reads the calls of all lookups and computes those that give texts, which
 * become words. */
enum vdbq_status word_call_all(struct making *making);
/* Word i of those before has number numbers[i] (rule 2). False: no memory. */
bool word_call_renumber(struct making *making, const uint32_t *numbers);
/* The call of an instruction that looks up; it was read. */
struct call *word_call_find(struct making *making,
                            const struct instruction *in);
/* The words that a call is computed for, those of the run in `room`. */
struct word_list word_call_words(const struct making *making,
                                 const struct call *call,
                                 struct word_list_room *room);

/* ---------------------------------------------- run_dictionary_table.c -- */

/* Makes the lookup tables, once all words are there. */
enum vdbq_status word_tables(struct making *making);

#endif
