/* SPDX-License-Identifier: MIT */
/*
 * Functions that are computed on the host: those that take or make texts.
 * Where all arguments but one text are constants, the function is computed
 * once for each word of a column and the machine looks its value up (opcode
 * Lookup); elsewhere it is computed row by row (STEP_MAP). A value is NULL
 * where an argument is.
 */
#ifndef VDBQ_PROGRAM_FUNCTION_H
#define VDBQ_PROGRAM_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/memory.h"

struct pattern;
struct words_pattern;
struct regexp_call;

struct function_value {
    bool null;             /* the other fields say nothing */
    int64_t integer;       /* of every type that the machine holds in an
                              integer: DATE its days, DECIMAL its digits */
    double real;           /* of FLOAT and DOUBLE                        */
    struct vdbq_text text; /* of TEXT                                    */
    /* the text as it was read once, for like and glob; NULL: it was not   */
    const struct pattern *pattern;
    /* likewise, of regular expressions, with all that goes with it        */
    const struct regexp_call *regexp;
};

enum { FUNCTION_ARGUMENTS_MAX = 8 };

struct function_call_state;

/* A function: a row of function_table.h. */
struct function {
    const char *name;      /* as SQL writes it */
    unsigned least, most;  /* arguments                                  */
    enum vdbq_type result; /* type */
    const char *takes;     /* T, I or D for each argument, `most` of them */
    bool nulls;            /* it can be NULL where no argument is         */
    bool fails;            /* it can fail; the message says of what value */
    bool only_long;        /* ... of texts that are 256 MB long alone     */
    /* Computes it; see function_inner.h. */
    enum vdbq_status (*compute)(struct function_call_state *state);
};

/* The function of that name (without case), whether SQL has it or the planner
 * alone; NULL: none. */
const struct function *function_find(const char *name);
/* The type of an argument: TEXT, BIGINT or DOUBLE. */
enum vdbq_type function_takes(const struct function *function, unsigned i);

/* What a text is as a number: the one that it starts with, behind blanks, or
 * 0. Too large a whole number is the nearest that there is. */
int64_t text_integer(struct vdbq_text text);
double text_real(struct vdbq_text text);

/* Calls it; no argument is NULL. Texts that it makes live in `arena`. Fails
 * with RANGE or TYPE where the function `fails`, else with NO_MEMORY or
 * CANCELLED. */
enum vdbq_status function_call(const struct function *function,
                               const struct function_value *arguments,
                               unsigned count, struct arena *arena,
                               struct function_value *value,
                               struct error *error);

/*
 * A call that is computed of one text, as Lookup has it: "substr(?, 2, 3)",
 * "like(?, 'it''s %')", "substr(?, 1, instr(?, '.') - 1)". Constants are
 * integers, decimal numbers and texts. Other arguments are the text, calls of it
 * again, and sums of such calls and numbers.
 */
struct function_lookup {
    const struct function *function; /* that is called */
    unsigned count;                  /* of `arguments` */
    unsigned open;                   /* argument i is the text: bit i */
    bool nests;                      /* some of `terms` are there */
    /* of each argument: what it is the sum of, or the call that gives its text;
     * NULL: it is a constant, or the text */
    const struct function_term *terms[FUNCTION_ARGUMENTS_MAX];
    /* constants, and the places of the others */
    struct function_value arguments[FUNCTION_ARGUMENTS_MAX];
};
struct function_term {
    const struct function_term *next;
    bool minus;                   /* it is subtracted */
    struct function_lookup *call; /* NULL: it is `integer` */
    int64_t integer;
};
/* How deep calls may stand in arguments of others. */
enum { FUNCTION_LOOKUP_DEPTH = 8 };
/* Reads it; texts live in `arena`. Fails with PROGRAM, NO_MEMORY. */
enum vdbq_status function_lookup_read(const char *text, struct arena *arena,
                                      struct function_lookup *lookup,
                                      struct error *error);

/* Calls it for a text. `arguments` are a copy of its own, in which it writes.
 * Fails as function_call(). */
enum vdbq_status function_lookup_call(const struct function_lookup *lookup,
                                      struct function_value *arguments,
                                      struct vdbq_text text,
                                      struct arena *arena,
                                      struct function_value *value,
                                      struct error *error);

/* What is said where a call fails for a text, whichever text that is: programs know
 * none. It says which function it is, or which type the text is none of. */
enum { FUNCTION_FAILURE_MAX = 80 };
void function_lookup_failure(const struct function *function,
                             char room[FUNCTION_FAILURE_MAX]);

/* Whether a pattern, with what goes with it, is one that a function takes, as
 * far as it is constant: of the arguments that are none the bytes are NULL.
 * Fails with RANGE and what is wrong, NO_MEMORY. */
enum vdbq_status function_pattern_check(const struct function *function,
                                        const struct vdbq_text *texts,
                                        unsigned count, struct error *error);

/* How many characters a call gives of each text, the first ones, or all where there
 * are fewer; 0: it gives something else. */
size_t function_lookup_first(const struct function_lookup *lookup);

/* Whether a call asks for literals alone that fit into a pattern for devices, which
 * is written then. */
bool function_lookup_literals(const struct function_lookup *lookup,
                              struct words_pattern *pattern);

/* Words [first, end) of many, which lie one behind the other. */
struct function_words {
    const char *bytes;
    const uint32_t
        *ends; /* of each word, in `bytes`: it begins where the one before
                             ends, the first one at 0                          */
    uint32_t first, end;
};
/* Bytes of each value that function_words_call() gives: 1 where a call asks for
 * literals alone of its text, 8 where it counts the text's characters; 0: it is
 * another call, to be computed word by word. Such values are never NULL, and such
 * calls never fail. */
unsigned function_words_width(const struct function_lookup *lookup);
/* Computes it for the words: value `word` of all there are becomes theirs. */
void function_words_call(const struct function_lookup *lookup,
                         const struct function_words *words, void *values);

#endif
